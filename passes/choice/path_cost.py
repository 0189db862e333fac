"""What is known of one annotated path, for the cost model."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ccc.analysis.cfg import reachable
from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import Path
from ccc.passes.choice.exchange import PARTING
from ccc.passes.choice.lanes import Lanes
from ccc.passes.choice.streams import Stream, streams, streams_by_block
from ccc.passes.choice.turns import Turn
from ccc.passes.choice.work import USUAL, Guess, Passage, Work, passage, work_of_blocks
from ccc.passes.policy import turns_of
from ccc.passes.strategies.strategy import context_words
from ccc.ptx.throughput import Pipe
from ccc.ptx.types import WARP_SIZE


@dataclass(frozen=True)
class PathCost:
    """What is known of one path.

    Args:
        path: the path.
        lanes: how many are expected on it.
        own: one execution, or turn, without the paths in it.
        rest: what of the iteration goes with its tasks.
        words: of its context.
        turns: that a task does before lanes meet.
        turn: if it is an inner loop, what is known of its turns besides.
        streams: what it reads and writes if it is a branch.
        rest_streams: what the rest does each time.
        last_streams: what it does behind the loop around the path, once in an iteration.
    """

    path: Path
    lanes: Lanes
    own: Work
    rest: Work
    words: int
    turns: int
    turn: Turn
    streams: tuple[Stream, ...] = ()
    rest_streams: tuple[Stream, ...] = ()
    last_streams: tuple[Stream, ...] = ()

    @staticmethod
    def of(
        path: Path,
        lanes: Lanes,
        inner: Collection[Path],
        facts: Facts,
        unknown: Guess = USUAL,
    ) -> PathCost:
        """That of a path that has others ``inner`` to it.

        So much is supposed of what is ``unknown`` of its ways and of loops in it.
        """
        blocks = path.blocks.difference(*(one.blocks for one in inner))
        counted = lanes.length is not None
        found = facts.once(_code, (path, blocks, counted, unknown))
        through, rest, turn, *every = found
        own, turn = through.scaled_to(lanes.length), turn.scaled(through.scale(lanes.length))
        words, turns = context_words(path), turns_of(path, facts)
        return PathCost(path, lanes, own, rest, words, turns, turn, *every)

    @property
    def plain(self) -> Work:
        """One execution, or turn, as nvcc makes it where nothing is marked."""
        return self.own + self.turn.saved(self.lanes.most_turns) * -1

    def taken(self, entered: float) -> Work:
        """A branch as it was, taken so often, and what it takes that lanes part."""
        return self.own * entered + Work.of(Pipe.ISSUE, PARTING * min(entered, self.lanes.parted))

    def memory(self, entered: float) -> float:
        """The sectors of a branch that a warp enters so often."""
        if not entered:
            return 0.0
        lanes = min(self.lanes.lanes / entered, WARP_SIZE)
        return entered * sum(one.together(lanes) for one in self.streams)

    def parted(self, entered: float) -> float:
        """The sectors more where tasks come to the rest of the iteration by themselves."""
        if not entered:
            return 0.0
        lanes = min(self.lanes.lanes / entered, WARP_SIZE)
        each = sum(one.parted(lanes) for one in self.rest_streams)
        once = sum(one.parted(lanes) for one in self.last_streams)
        return entered * each + min(entered, 1) * once

    @property
    def full_turn(self) -> Work:
        """A turn of a full warp whose lanes run neighbouring turns of one list."""
        return self.own + Work.sectors(self.turn.together * WARP_SIZE)

    @property
    def saving(self) -> float:
        """The instructions that are run with lanes waiting: length times rarity."""
        full = self.lanes.lanes * self.lanes.turns / WARP_SIZE
        return (self.lanes.executions - full) * self.own.instructions


_Streams = tuple[Stream, ...]


def _code(
    part: tuple[Path, frozenset[str], bool, Guess], facts: Facts
) -> tuple[Passage, Work, Turn, _Streams, _Streams, _Streams]:
    """What a path does in some blocks, in the rest of the iteration, and as an inner loop, whatever
    its lanes are. Where its length was ``counted``, it is a mixture of all that lies in it."""
    path, blocks, counted, unknown = part
    once = path.entry if path.repeats else ""
    through = passage(
        blocks, facts, path.entry, once, saves=True, all_ways=counted, unknown=unknown
    )
    rest, rest_streams, last_streams = Work(), _Streams(), _Streams()
    if path.continuation and path.join is not None:
        own_rest = _own_rest(path, path.join, facts)
        rest = work_of_blocks(own_rest, facts, path.join)
        around = _turn_around(path) or own_rest
        every = streams_by_block(own_rest, facts, path.loop.loop, path.join)
        rest_streams = tuple(s for label in every if label in around for s in every[label])
        last_streams = tuple(s for label in every if label not in around for s in every[label])
    own_streams = () if path.repeats else streams(blocks, facts, path.loop.loop, path.entry)
    turn = Turn.of(path, blocks, facts)
    return through, rest, turn, own_streams, rest_streams, last_streams


def _turn_around(path: Path) -> frozenset[str]:
    """The blocks of the inner loop that a path lies in, whose turns come by it; none if in none."""
    around = path.parent
    while around is not None and not around.repeats:
        around = around.parent
    return frozenset() if around is None else around.blocks


def _own_rest(path: Path, join: str, facts: Facts) -> frozenset[str]:
    """What of the rest a path's tasks run themselves: up to where they go on as those of others."""
    own = path.rest.difference(*(one.blocks for one in path.followers))
    return own & reachable(lambda label: own.intersection(facts.graph.successors(label)), {join})
