"""Whether a profile speaks for melding a branch, or for flattening a loop.

Nothing need be annotated around these, and no task moves: so what is asked is only whether the
code itself gets shorter, for the lanes that were counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from ccc.analysis.cfg import reachable
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import FoundPath
from ccc.analysis.paths.nests import Nest
from ccc.passes.choice.exchange import TURNS, exchange
from ccc.passes.choice.lanes import ALL, UNKNOWN, Lanes, most
from ccc.passes.choice.turns import reads
from ccc.passes.choice.work import Work, work_of_blocks
from ccc.passes.policy import turns_apart
from ccc.passes.strategies.strategy import Hints
from ccc.passes.thresholds import UNKNOWN_TURNS
from ccc.pipeline import Kernel
from ccc.ptx.types import WARP_SIZE
from ccc.remark import BY_ITS_CODE


def counted(paths: Sequence[FoundPath], kernel: Kernel) -> list[Lanes] | None:
    """What a profile tells of each of some paths; None if it does not know all of them."""
    known = [kernel.known(path) for path in paths]
    found = [Lanes.counted(one) for one in known if one is not None]
    return found if len(found) == len(paths) else None


def said_or_guessed(path: FoundPath) -> Lanes:
    """What is taken of an inner loop that nobody has counted: what ``prob`` says, or that all lanes
    come to it."""
    prob = Hints.of(path.marker).prob
    if prob is not None:
        return Lanes.said(path, prob, ALL)
    longest = most(UNKNOWN_TURNS, WARP_SIZE)
    return Lanes(UNKNOWN, 1.0, WARP_SIZE, UNKNOWN_TURNS, longest, is_known=False)


def melding(lengths: Sequence[int], lanes: Sequence[Lanes], around: int, after: int) -> float:
    """How many times as fast a loop is expected if the arms of a branch in it are melded.

    Args:
        lengths: the issue slots of each arm.
        lanes: what a profile tells of each.
        around: the issue slots of the loop without them.
        after: those of the melded arms.
    """
    before = sum(one.entered * length for one, length in zip(lanes, lengths, strict=True))
    come = min(1.0, sum(one.entered for one in lanes))
    return _ratio(around + before, around + come * after)


def flattening(nest: Nest, lanes: Lanes, kernel: Kernel, *, pooled: bool = False) -> float:
    """How many times as fast a nest of loops is expected if its lanes begin iterations apart.

    They are at turns of their own then, and what lanes read side by side, or all at once, each
    reads by itself. If iterations are ``pooled``, who is through takes another; else a lane keeps
    its own, and is idle when it has left the outer loop.
    """
    turn, rest = _turn_and_rest(nest, kernel)
    in_a_row = turns_apart(round(turn.instructions))
    cost = TURNS["flatten"]
    full = lanes.lanes / (WARP_SIZE if pooled else lanes.came)
    turns = full * (lanes.turns + (in_a_row - 1) / 2) + (0.0 if pooled else _ahead(lanes))
    before = turn * lanes.executions + rest * lanes.entered
    after = (turn + exchange(cost.turn + cost.meeting / in_a_row)) * turns
    after += (rest + exchange(cost.start)) * full
    read = reads(nest.inner.header, nest.inner.blocks, kernel.facts)
    by_all, spread = read.alike * lanes.executions, read.spread - read.abreast + read.alike
    together = read.apart(lanes.together, 1, kernel.arch) * lanes.active + by_all
    apart = (read.apart(WARP_SIZE, 1, kernel.arch) + spread) * lanes.active
    before, after = before + Work.sectors(together), after + Work.sectors(apart)
    return _ratio(before.slots(kernel.arch), after.slots(kernel.arch))


def _ahead(lanes: Lanes) -> float:
    """How many turns more than the mean lane the one with most does in an iteration: in the sum of
    several the difference grows with their root only, as deviations do."""
    if not lanes.iterations:
        return 0.0
    more = lanes.entered * (lanes.most_turns - lanes.turns)
    return max(0.0, more) / math.sqrt(lanes.iterations)


def flattening_at_worst(nest: Nest, kernel: Kernel) -> float:
    """The same if lanes never wait for one another, and each turn ends the iteration of a lane as
    soon as it may: a loop that asks first whether to go on may do nothing else."""
    turn, rest = _turn_and_rest(nest, kernel)
    ways = _ways_out(nest.inner, kernel.facts)
    turn = min(ways, key=lambda one: one.slots(kernel.arch), default=turn)
    cost = TURNS["flatten"]
    after = turn + exchange(cost.turn + cost.meeting + cost.start) + rest
    return _ratio(turn.slots(kernel.arch), after.slots(kernel.arch))


def _ways_out(loop: Loop, facts: Facts) -> Iterator[Work]:
    """What a turn takes that leaves a loop, for each place where it may."""
    for source in {source for source, _ in loop.exits(facts.graph)}:
        before = reachable(facts.graph.predecessors, [source], stops={loop.header})
        yield work_of_blocks(before & loop.blocks, facts, loop.header, loop.header)


def _turn_and_rest(nest: Nest, kernel: Kernel) -> tuple[Work, Work]:
    """What a turn of the inner loop takes, and what of an iteration is around it."""
    facts, inner, outer = kernel.facts, nest.inner, nest.outer
    around = outer.blocks - inner.blocks
    turn = work_of_blocks(inner.blocks, facts, inner.header, inner.header)
    return turn, work_of_blocks(around, facts, outer.header, outer.header)


def _ratio(before: float, after: float) -> float:
    """How many times as fast; what was never run does not become faster."""
    return before / after if after else 1.0


def details(
    name: str,
    expected: float,
    lanes: Sequence[Lanes],
    instructions: float,
    at_worst: float | None = None,
) -> dict[str, Any]:
    """What the report says of such a choice; ``at_worst`` counts where nobody told the lanes."""
    is_known = all(one.is_known for one in lanes)
    ran = [one for one in lanes if one.executions]
    together = sum(one.together for one in ran) / max(1, len(ran))
    return {
        "expected": round(expected, 3),
        "expected_lanes": round(together, 2) if is_known else None,
        "expected_from": lanes[0].source,
        "path_instructions": round(instructions),
        "instructions_from": BY_ITS_CODE,
        "considered": {name: round(expected, 3)},
        "at_worst": {} if is_known or at_worst is None else {name: round(at_worst, 3)},
    }
