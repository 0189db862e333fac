"""What adaptive collection weighs, in issue slots (no pass; the numbers are the cost model's).

An exchange takes so many for each iteration; as it was, the loop would have run the path in each
iteration in which some lane takes it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.last_test import find_last_test
from ccc.analysis.paths.model import Path
from ccc.passes.choice.exchange import ARMS, WORD, exchange
from ccc.passes.choice.work import Work, work_of_blocks
from ccc.passes.strategies.strategy import context_words, instruction_count
from ccc.passes.thresholds import (
    IDLE,
    LOSS,
    PLAIN_IN_A_ROW,
    PLAIN_ITERATIONS,
    PLAIN_LENGTH,
    PLAIN_WITH_END,
    SLOTS_TO_FIND_OUT,
    SLOTS_TO_LOOK,
)
from ccc.pipeline import Kernel

MOST_SLOTS = 1 << 16
"""Issue slots that a path is taken to have, at most, so that scores stay in 32 bits."""


@dataclass(frozen=True, slots=True)
class PathWeights:
    """What ``adaptive`` adds to its score for a path, or takes away.

    Args:
        exchange: for an exchange with tasks.
        run: for a run of the path with all lanes.
        plain: what the path takes where it is run at once, by however many lanes.
    """

    exchange: int
    run: int
    plain: int


@dataclass(frozen=True, slots=True)
class Weights:
    """What ``adaptive`` goes by.

    Args:
        paths: what it adds for each path.
        idle: what it adds where nobody has a task.
        limit: the score above which the loop runs as it was; the lowest one is as far below 0.
        again: the score after that, and at first: a round without a task brings it above.
        iterations: how many of a lane's then run as they were.
        in_a_row: how many of them stand in a row.
        few: so many iterations are too few to find out anything, where they can be counted.
    """

    paths: tuple[PathWeights, ...]
    idle: int
    limit: int
    again: int
    iterations: int
    in_a_row: int
    few: int


def weights(paths: Sequence[Path], kernel: Kernel, iterations: int) -> Weights:
    """What to go by for the paths of a loop of which so many iterations come to each exchange."""
    own = tuple(_path_weights(path, kernel, iterations) for path in paths)
    limit = 2 * max(one.plain for one in own) + max(one.exchange for one in own)
    idle = IDLE[0] * (iterations - 1) + IDLE[1]
    return Weights(
        paths=own,
        idle=idle,
        limit=limit,
        again=limit - idle + 1,
        iterations=PLAIN_ITERATIONS,
        in_a_row=_in_a_row(paths[0].loop.loop, kernel.facts),
        few=_few(paths, kernel),
    )


def _few(paths: Sequence[Path], kernel: Kernel) -> int:
    """The iterations in which finding out what pays costs more than may be lost.

    Where nobody takes a path, one look tells, and twice as much may be lost, of far less.
    """
    loop, facts = paths[0].loop.loop, kernel.facts
    inside = {label for path in paths for label in path.blocks}
    entire, outside = (
        work_of_blocks(blocks, facts, loop.header).slots(kernel.arch)
        for blocks in (loop.blocks, loop.blocks - inside)
    )
    asked, idle = SLOTS_TO_FIND_OUT / entire, SLOTS_TO_LOOK / (2 * outside)
    return min(PLAIN_ITERATIONS, math.ceil(max(asked, idle) / (1 - LOSS)))


def _path_weights(path: Path, kernel: Kernel, iterations: int) -> PathWeights:
    facts, cost = kernel.facts, ARMS[f"batch{iterations}" if iterations > 1 else "queue"]
    own = work_of_blocks(path.blocks, facts, path.entry)
    rest = Work()
    if path.continuation and path.join is not None:
        rest = work_of_blocks(path.rest, facts, path.join)
    run = own + rest + exchange(cost.task) + WORD * context_words(path)

    def slots(work: Work) -> int:
        return min(MOST_SLOTS, round(work.slots(kernel.arch)))

    return PathWeights(slots(exchange(cost.visit) * iterations), slots(run), slots(own))


def _in_a_row(loop: Loop, facts: Facts) -> int:
    """How many copies of a loop as it was pay."""
    length = instruction_count(loop.blocks, facts)
    most = PLAIN_WITH_END if find_last_test(loop, facts) else PLAIN_IN_A_ROW
    return max(n for n in (1, 2, 4) if n == 1 or (n <= most and n * length <= PLAIN_LENGTH))
