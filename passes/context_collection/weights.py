"""What adaptive collection weighs, in issue slots (no pass; the numbers are the policy's).

An exchange takes some slots for each iteration, and some once; as it was, the loop would have run
the path in each iteration in which some lane takes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import Path, instructions_of
from ccc.passes.strategies.strategy import context_words
from ccc.passes.thresholds import (
    EXCHANGE,
    EXCHANGE_WORD,
    FETCH,
    IDLE,
    PARTING,
    PLAIN_IN_A_ROW,
    PLAIN_ITERATIONS,
    PLAIN_LENGTH,
    TURNS_UNKNOWN,
)
from ccc.ptx.opcodes import Unit

MOST_SLOTS = 1 << 16
"""Issue slots that a path is taken to have, at most, so that scores stay in 32 bits."""


@dataclass(frozen=True, slots=True)
class PathWeights:
    """What ``adaptive`` adds to its score for a path: what collecting costs beyond the loop as it
    was.

    Args:
        some: of an exchange with tasks, in each of whose iterations some lane has one.
        none: the same where in most iterations nobody has one.
        run: of a run of the path with all lanes.
    """

    some: int
    none: int
    run: int


@dataclass(frozen=True, slots=True)
class Weights:
    """What ``adaptive`` goes by.

    Args:
        paths: what it adds for each path.
        idle: what it adds where nobody has a task.
        limit: the score above which the loop runs as it was; the lowest one is as far below 0.
        again: the score after that, and at first.
        iterations: how many of a lane's then run as they were.
        in_a_row: how many of them stand in a row.
    """

    paths: tuple[PathWeights, ...]
    idle: int
    limit: int
    again: int
    iterations: int
    in_a_row: int


def weights(paths: Sequence[Path], facts: Facts, iterations: int) -> Weights:
    """What to go by for the paths of a loop of which so many iterations come to each exchange."""
    lengths = [_length(path, facts) for path in paths]
    each, once = EXCHANGE
    costs = [iterations * (each + EXCHANGE_WORD * (context_words(p) - 1)) + once for p in paths]
    limit = 2 * (max(lengths) + PARTING) + max(costs)
    loop = paths[0].loop.loop.blocks
    length = sum(i.unit != Unit.NOTHING for i in instructions_of(loop, facts))
    in_a_row = max(n for n in (1, 2, PLAIN_IN_A_ROW) if n == 1 or n * length <= PLAIN_LENGTH)
    return Weights(
        paths=tuple(
            PathWeights(cost - iterations * (length + PARTING), cost, length + FETCH)
            for cost, length in zip(costs, lengths, strict=True)
        ),
        idle=IDLE[0] * (iterations - 1) + IDLE[1],
        limit=limit,
        again=limit - limit // 8,
        iterations=PLAIN_ITERATIONS,
        in_a_row=in_a_row,
    )


def _length(path: Path, facts: Facts) -> int:
    """The issue slots of a path, its loops with as many turns as they are taken to have."""
    inside = [loop.blocks for loop in facts.loops if loop.blocks <= path.region]

    def slots(label: str) -> int:
        length = sum(i.unit != Unit.NOTHING for i in instructions_of([label], facts))
        return length * prod(TURNS_UNKNOWN for blocks in inside if label in blocks)

    return min(MOST_SLOTS, sum(map(slots, path.region)))
