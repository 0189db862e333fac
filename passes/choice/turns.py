"""Turns of an inner loop: what memory they ask for, and what turns in a row save.

A lane that runs its own list reads each element of it from another piece of memory than its
neighbours do; lanes that run neighbouring turns of one list read neighbouring elements. What is
read by way of an index lies anywhere, or nearly so.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from ccc.analysis.facts import Facts
from ccc.analysis.lane_strides import (
    address_stride,
    lane_strides,
    turn_strides,
)
from ccc.analysis.paths.induction import Induction, find_counter
from ccc.analysis.paths.model import Path, instructions_of
from ccc.passes.choice.exchange import NEARBY
from ccc.passes.choice.streams import accessed, read_by_all, streams
from ccc.passes.choice.work import Work, times, total, work_of
from ccc.passes.context_collection.own_lists import own_at_once
from ccc.ptx.occupancy import KB, likely_limits
from ccc.ptx.throughput import LINE, SECTOR
from ccc.ptx.types import WARP_SIZE

NOTHING = Work()


@dataclass(frozen=True, slots=True)
class Turn:
    """What is known of a turn; sectors are of memory, for each lane.

    Args:
        anywhere: the sectors that are nobody's neighbours.
        along: those of elements that lie one behind the other, as the turns do, if each takes one.
        shared: the same where turns that are neighbours share them.
        abreast: those of elements that lie side by side as the lanes do, where these are together;
            each takes one where they are not, or run neighbouring turns of one list: ``spread``.
        spread: see there.
        alike: those that all lanes read at once as long as they are at the same turn.
        streams: the pieces of memory in which a lane reads at a time.
        strewn: those of the rest of the iteration that lanes share with their neighbours as long as
            they come to it together.
        steps: the work that only leads to the next turn, which turns in a row share.
        in_a_row: how many nvcc and ptxas put in a row, where a list is long enough.
    """

    anywhere: float = 0.0
    along: float = 0.0
    shared: float = 0.0
    abreast: float = 0.0
    spread: float = 0.0
    alike: float = 0.0
    streams: float = 0.0
    strewn: float = 0.0
    steps: Work = NOTHING
    in_a_row: int = 1

    @staticmethod
    def of(path: Path, blocks: Collection[str], facts: Facts) -> Turn:
        """That of a path, in some blocks of it."""
        if not path.repeats:
            return Turn()
        found = replace(reads(path.entry, blocks, facts), strewn=_strewn(path, facts))
        counter = find_counter(path, facts)
        if counter is not None:
            steps, row = _steps(path, counter, facts), own_at_once(path, facts)
            found = replace(found, steps=steps, in_a_row=row)
        return found

    def scaled(self, factor: float) -> Turn:
        """The same where loops in it make it so many times as long."""
        return replace(self, anywhere=self.anywhere * factor)

    def saved(self, turns: float) -> Work:
        """The work that a turn does not take in nvcc's loop, of so many turns."""
        row = max(1.0, min(self.in_a_row, turns))
        return self.steps * (1 - 1 / row)

    def apart(self, lanes: float, in_a_row: int, arch: str) -> float:
        """The sectors where ``lanes`` of each warp are in lists of their own.

        What a lane reads along its list it finds in the first level cache, as long as there is a
        line for each piece that some lane reads; if not, only turns in a row share a sector.
        """
        lines = likely_limits(arch).shared_kb * KB / LINE
        wanted = self.streams * lanes * likely_limits(arch).threads / WARP_SIZE
        kept = min(1.0, lines / wanted) if wanted else 1.0
        alone = max(self.shared, self.along / in_a_row)
        return self.anywhere + self.abreast + kept * self.shared + (1 - kept) * alone

    @property
    def together(self) -> float:
        """The sectors where lanes run neighbouring turns of one list."""
        return NEARBY * self.anywhere + self.spread + self.shared


def reads(header: str, blocks: Collection[str], facts: Facts) -> Turn:
    """What a turn of the loop with this header reads and writes in some blocks of it."""
    lanes = lane_strides(facts)
    strides = turn_strides(next(o for o in facts.loops if o.header == header), facts)
    anywhere = along = shared = streams = abreast = spread = alike = 0.0
    for label, often in times(blocks, facts, header, header).items():
        inside = [loop for loop in facts.loops if label in loop.blocks]
        loop = min(inside, key=lambda one: len(one.blocks))
        code = list(facts.blocks[label].instructions)
        alike += often * sum(address_stride(one, strides) != 0 for one in read_by_all(code, lanes))
        for one in accessed(code, lanes):
            if address_stride(one, strides) == 0:
                continue  # each turn reads it again
            streams += min(1.0, often)
            size = often * -(-one.accessed_bytes // SECTOR)
            side = address_stride(one, lanes)
            if side is not None and abs(side) < SECTOR * size:
                abreast, spread = abreast + often * abs(side) / SECTOR, spread + size
                continue
            stride = address_stride(one, turn_strides(loop, facts))
            near = size if stride is None else min(size, often * abs(stride) / SECTOR)
            if stride is None or loop.header != header:
                anywhere += near
            else:
                along, shared = along + size, shared + near
    return Turn(anywhere, along, shared, abreast, spread, alike, streams)


def _strewn(path: Path, facts: Facts) -> float:
    """The sectors of the rest of an iteration that neighbours share, if it goes with the task."""
    if not path.continuation or path.join is None:
        return 0.0
    return sum(one.shared for one in streams(path.rest, facts, path.loop.loop, path.join))


def _steps(path: Path, counter: Induction, facts: Facts) -> Work:
    """What of a turn steps its counters, and asks whether it was the last."""
    ends = list(facts.blocks[counter.end].instructions)
    branch = next(one for one in ends if one.is_terminator)
    tests = {branch.guard.register} if branch.guard else set()
    stepped = {*counter.steps, *tests}
    own = [one for one in instructions_of(path.blocks, facts) if stepped & {*one.defined()}]
    return total(map(work_of, [*own, branch]))
