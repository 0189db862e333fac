"""What strategies add to a kernel, in issue slots of a warp: the constants of the cost model.

``ccc bench --calibrate`` measures those of ``ARMS`` and ``TURNS``, on the card below, and others of
which that is said: branches with 20, 64 and 256 operations, 1 to 31 lanes, and loops of 4 to 160
instructions a turn. The model is then off by 1 to 2 % of the times of branches, 5 to 9 % of
``merge`` and ``flatten``, 16 to 25 % of ``cases``, ``engage`` and ``engage_block``. Those of
``ARMS``, but for ``cases``, are the least squares of what was expected of the 51 points of the
studies of lanes and lengths in docs/results.md, in relation to what was measured: a mean of 2 %
off, where it was 3.5 % with those of the calibration, and with ``PARTING`` 0. What a word of a
context takes is not measured by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from ccc.passes.choice.work import Work
from ccc.ptx.throughput import Pipe

CARD = "NVIDIA H200, 2026-11-23"


@dataclass(frozen=True, slots=True)
class OfArms:
    """What collecting the tasks of a branch takes.

    Args:
        visit: for each iteration of the annotated loop, whether or not there is a task.
        task: for each full warp of tasks, besides the words of their contexts.
    """

    visit: float
    task: float


@dataclass(frozen=True, slots=True)
class OfTurns:
    """What it takes to have lanes do turns of an inner loop for one another.

    Args:
        turn: for each turn.
        meeting: each time that lanes meet; that is shared by the turns between.
        start: for each full warp of tasks, or, where tasks are shared out, for each time that lanes
            come to the loop.
    """

    turn: float
    meeting: float
    start: float


ARMS: dict[str, OfArms] = {
    "queue": OfArms(24, 0),
    "merge": OfArms(27.5, 3),
    "batch7": OfArms(7.5, 4),
    "batch3": OfArms(14, 3),
    "cases": OfArms(104, 193),
}
ADAPTIVE = {"adaptive(7)": "batch7", "adaptive(3)": "batch3"}
"""What a warp does as the latter, or leaves as it was, whichever costs less for its lanes."""
SAMPLED = 0.05
"""The share of iterations in which it collects where that costs more: 7 of 135."""
WEIGHED = 1.5
"""Issue slots for each iteration in which it collects, to know that it should. On an H200
(2026-11-22), original / ccc as it collects and without weighing, 1 and 8 lanes: 20 operations 1.54,
1.70 and 1.19, 1.27; 64 operations 2.80, 2.94 and 1.93, 1.96; 256 operations 8.10, 8.22 and 3.01,
3.02."""
TURNS: dict[str, OfTurns] = {
    "merge": OfTurns(3, 55, 0),
    "engage": OfTurns(20, 0, 26),
    "engage_block": OfTurns(43, 0, 353),
    "flatten": OfTurns(3, 84, 0),
}
PARTING = 1.5
"""Each time that some lanes of a warp take a branch while others pass it by, and meet again: they
come to the place where they meet apart. On an H200 (2026-11-24) samples/synthetic with 20
operations took 1.326 to 1.334 ms with 1 to 31 lanes, and 1.280 ms with all; an operation takes
0.033 ms."""
ASKED = 25.0
"""Each time that lanes ask whether to share out their lists, and do not. Counted in machine code of
sm_90, not measured."""
WORD = Work.of(Pipe.MEMORY, 2) + Work.of(Pipe.LOGIC, 1)
"""A word of a context, of a full warp of tasks: a copy, a store and a load."""
LATENCY = 800.0
"""Cycles that a lane waits for memory where a turn reads what nobody has read. On an H200
(2026-11-23) samples/nested/diagonal took 1.76 ms for an R-MAT graph, the longest of whose lists has
61,996 entries: 51 cycles a turn at 1.8 GHz, and nvcc's loop has 16 of them in a row."""
STEP = 1.7
"""Cycles that such a lane waits, besides, for each issue slot of an exchange. On an H200
(2026-11-27) the same took 2.34 ms with ``merge``: 68 cycles a turn, of which 10 slots are
exchange."""
DRIFT = 1.12
"""How many times as many sectors lanes read by way of an index if they are no more at the same turn
of neighbouring lists, so that less of it is in the first level cache. On an H200 (2026-11-27)
samples/nested/u_list (equal leaves, Q=10) asked the second level cache for 2,286 million sectors,
and for 2,566 million with ``merge``, of as many asked of the first."""
STREAMED = 2.5
"""How many times as long a sector takes that each lane reads or writes once, and so comes from
memory; others take 4 slots. ``ccc bench --calibrate`` measured 2.56 on an H200 (2026-11-28), by
loops that read an array of 2^24 floats, and write one or four."""
GATHERED = 0.5
"""The share of the sectors that lanes read by way of an index, once in an iteration, that is not in
the first level cache, or takes as long there. On an H200 (2026-11-30) two branches were expected to
be 2.1 and 1.5 times as fast without that, and measured with 18 inputs each: points in circles, four
read by an index, 0.74 to 1.04; buckets of a cache 0.81 to 1.02. With all such sectors one that was
1.10 times as fast in the mean, and up to 2.4, would be left. Of 341 kernels the two are all that it
changes."""
IN_PARTS = 2.0
"""How many times as long a sector takes that is written in parts, at times far from one another.
``ccc bench --calibrate`` measured 1.72, 2.27 and 2.28 on an H200 (2026-11-28), 15 to 18 % off in
the mean, with 1, 4 and 13 lanes of 32 that do 128 operations, and one or four arrays that are
written behind the branch.
Of samples/patterns/streams the model expects less than is measured."""
BLOCK_LEAVES = 675.0
"""Issue slots of a multiprocessor for each block of a launch that finds a loop over blocks at work,
and leaves. ``ccc bench --calibrate`` measured 671 to 677 on an H200 (2026-11-28, three runs), with
2^17 blocks of 256 threads and 64 operations; 2^17 blocks of other loops took 430 to 560 more by
``ccc grid_stride`` (2026-11-27)."""
NEARBY = 0.8
"""The share of the sectors that are read by way of an index and remain where lanes run neighbouring
turns of one list: these read 0.63 to 0.76 of what lanes with lists of their own read in
samples/nested/u_list, whose lists name leaves side by side, and all in random graphs (sectors as
the emulator counts them, 2026-11-23)."""
BEGIN = 20.0
"""Each time that a warp enters the loop, and leaves it. By this and what is left on the stacks
then, the figures of ``ON_REQUEST`` in ``thresholds.py`` for 8 lanes and a queue are expected to be
0.63, 1.14, 1.32 for 0.70, 1.21, 1.23, and 0.84, 1.85, 2.28 for 0.86, 1.99, 2.40."""
LEFT = 0.5
"""Full warps of tasks that are left then, in the mean, and take a round of their own."""
LOGIC_SHARE = 0.5
"""How much of an exchange the pipe of logic does."""


def exchange(slots: float) -> Work:
    """The work of an exchange that takes so many issue slots."""
    logic = LOGIC_SHARE * slots
    return Work.of(Pipe.LOGIC, logic) + Work.of(Pipe.ISSUE, slots - logic)
