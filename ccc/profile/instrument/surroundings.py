"""What is counted around paths: iterations in which warps come by, entries of loops, and calls.

That says how often a path is not taken at all, and how uneven the turns of a loop are. Most of it
costs next to nothing: the iterations of a loop are counted in the block with its marker, where
instructions would be counted otherwise, whose number then follows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from ccc.analysis.callees import callee
from ccc.analysis.cfg import EXIT
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.visits import share_of_visits
from ccc.analysis.stray_markers import is_stray
from ccc.ir.markers import Marker
from ccc.profile.instrument.places import CountedRegion
from ccc.ptx.opcodes import Effect

_PAIR = 2
"""Counters of something that lanes do together."""


@dataclass(eq=False)
class CountedCalls:
    """The calls of one function that a region does, and the counter of iterations around them."""

    callee: str
    region: CountedRegion
    counter: int
    visits: int | None


class Surroundings:
    """What to count around the paths of a function.

    Args:
        facts: of the function.
        regions: what is counted apart in it; larger ones stand before those inside them.
        take: gives the number of the first of some counters that nobody has yet.

    Attributes:
        passing: for each block, the counters that whoever comes to its top adds to, and how much.
        entered: the counter of the function's calls, None as long as nobody wants it.
    """

    def __init__(self, facts: Facts, regions: Sequence[CountedRegion], take: Callable[[int], int]):
        self.facts = facts
        self.regions = regions
        self.take = take
        self.passing: dict[str, Counter[int]] = {}
        self.entered: int | None = None
        self.marked = self._marked()
        self.iterations: dict[Loop, int] = {}
        self.starts: dict[Loop, int] = {}
        if facts.function.kind != "entry":
            self._of_function()

    def of_paths(self, markers: Mapping[CountedRegion, Marker]) -> list[CountedRegion]:
        """Count visits and entries of paths.

        Args:
            markers: of each path.

        Returns:
            The inner loops whose entries have to be counted on the way to their first block.
        """
        apart = []
        copies: dict[Marker, list[str]] = {}
        for region, marker in markers.items():
            copies.setdefault(marker, []).append(region.entries[0])
        for region, marker in markers.items():
            if marker.kind == "recursion" and not region.is_loop:
                continue  # the calls of other functions tell
            region.visits = self._around(region.entries[0], region)
            region.starts = self._starts(region.entries[0])
            region.share = share_of_visits(region.entries[0], copies[marker], self.facts)
            region.begun = region.counter
            if region.is_loop:
                region.begun = self.take(_PAIR)
                (entry,) = region.entries
                before = self._before(entry, region.blocks)
                if before is None:
                    apart.append(region)
                else:
                    self._pass(before, region.begun)
        return apart

    def of_calls(self, called: Collection[str]) -> list[CountedCalls]:
        """Count the calls of these functions."""
        found: dict[tuple[CountedRegion, str], CountedCalls] = {}
        for label in self._labels():
            for instruction in self.facts.blocks[label].instructions:
                name = callee(instruction) if instruction.effects & Effect.CALL else None
                if name is None or name not in called:
                    continue
                region = next(r for r in reversed(self.regions) if label in r.blocks)
                if (region, name) not in found:
                    visits = self._around(label, None)
                    calls = CountedCalls(name, region, self.take(_PAIR), visits)
                    found[region, name] = calls
                self._pass(label, found[region, name].counter)
        return list(found.values())

    def _labels(self) -> list[str]:
        return [label for label in self.facts.graph if label != EXIT]

    def _marked(self) -> dict[Loop, list[str]]:
        """The annotated loops, as far as they are loops, and the blocks with their markers."""
        found: dict[Loop, list[str]] = {}
        for label in self._labels():
            for marker in self.facts.blocks[label].markers:
                loop = self._loop(label)
                if marker.kind == "for" and loop and not is_stray(self.facts, loop, marker):
                    found.setdefault(loop, []).append(label)
        return found

    def _loop(self, label: str) -> Loop | None:
        """The innermost loop around a block."""
        return next((loop for loop in self.facts.loops if label in loop.blocks), None)

    def _around(self, label: str, path: CountedRegion | None) -> int:
        """The counter of the iterations that a block is in; of calls where there is no loop.

        Args:
            label: the block.
            path: whose first block it is, if any; a loop that begins there is in the path.
        """
        around = (loop for loop in self.facts.loops if label in loop.blocks)
        loop = next((one for one in around if path is None or one.header != label), None)
        if loop is None:
            return self._of_function()
        turns = (r.counter for r in self.regions if r.is_loop and loop.header in r.entries)
        counter = next(turns, None)
        return self._of_loop(loop) if counter is None else counter

    def _of_loop(self, loop: Loop) -> int:
        if loop not in self.iterations:
            self.iterations[loop] = self.take(_PAIR)
            for label in self.marked.get(loop, [loop.header]):
                self._pass(label, self.iterations[loop])
        return self.iterations[loop]

    def _of_function(self) -> int:
        if self.entered is None:
            self.entered = self.take(_PAIR)
            self._pass(self.facts.entry, self.entered)
        return self.entered

    def _starts(self, label: str) -> int | None:
        """The counter of how often the innermost annotated loop around a block is entered; None
        where there is none, or no place to count that."""
        around = (loop for loop in self.facts.loops if label in loop.blocks)
        loop = next((one for one in around if one in self.marked), None)
        if loop is None or (before := self._before(loop.header, loop.blocks)) is None:
            return None
        if loop not in self.starts:
            self.starts[loop] = self.take(_PAIR)
            self._pass(before, self.starts[loop])
        return self.starts[loop]

    def _before(self, entry: str, blocks: Collection[str]) -> str | None:
        """The block from which a loop is entered, if that leads nowhere else."""
        sources = set(self.facts.graph.predecessors(entry)).difference(blocks)
        if len(sources) != 1 or entry == self.facts.entry:
            return None
        (source,) = sources
        return source if len(list(self.facts.graph.successors(source))) == 1 else None

    def _pass(self, label: str, counter: int) -> None:
        self.passing.setdefault(label, Counter())[counter] += 1
