"""What is counted around paths: iterations in which warps come by, entries of loops, and calls.

That says how often a path is not taken at all, and how uneven the turns of a loop are. Most of it
costs next to nothing: the iterations of a loop are counted in the block with its marker, where
instructions would be counted otherwise, whose number then follows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ccc.analysis.callees import callee
from ccc.analysis.cfg import EXIT
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.find import is_stray
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


@dataclass(eq=False)
class _IterationCounter:
    """An annotated loop, the blocks with its marker, and the counter of its iterations."""

    loop: Loop
    labels: list[str] = field(default_factory=list)
    counter: int | None = None


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
        self.annotated = self._annotated()
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
        for region, marker in markers.items():
            if marker.kind == "recursion" and not region.is_loop:
                continue  # the calls of other functions tell
            region.visits = self._around(region.entries[0], region)
            region.begun = region.counter
            if region.is_loop:
                region.begun = self.take(_PAIR)
                before = self._before(region)
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

    def _annotated(self) -> list[_IterationCounter]:
        """The annotated loops, as far as they are loops."""
        found: dict[str, _IterationCounter] = {}
        for label in self._labels():
            for marker in self.facts.blocks[label].markers:
                loop = next((loop for loop in self.facts.loops if label in loop.blocks), None)
                if marker.kind == "for" and loop and not is_stray(self.facts, loop, marker):
                    found.setdefault(loop.header, _IterationCounter(loop)).labels.append(label)
        return list(found.values())

    def _around(self, label: str, path: CountedRegion | None) -> int:
        """The counter of the iterations that a block is in: of an annotated loop, or of a path that
        is one, whichever is smaller; of calls of the function where there is neither.

        Args:
            label: the block.
            path: whose first block it is, if any; that is not around itself.
        """
        inner = [r for r in self.regions if r.is_loop and r is not path and label in r.blocks]
        if path is not None:
            inner = [region for region in inner if len(region.blocks) > len(path.blocks)]
        around = min(
            (one for one in self.annotated if label in one.loop.blocks),
            key=lambda one: len(one.loop.blocks),
            default=None,
        )
        if inner and (around is None or len(inner[-1].blocks) < len(around.loop.blocks)):
            return inner[-1].counter
        return self._of_loop(around) if around else self._of_function()

    def _of_loop(self, one: _IterationCounter) -> int:
        if one.counter is None:
            one.counter = self.take(_PAIR)
            for label in one.labels:
                self._pass(label, one.counter)
        return one.counter

    def _of_function(self) -> int:
        if self.entered is None:
            self.entered = self.take(_PAIR)
            self._pass(self.facts.entry, self.entered)
        return self.entered

    def _before(self, loop: CountedRegion) -> str | None:
        """The block from which a loop is entered, if that leads nowhere else."""
        (entry,) = loop.entries
        sources = set(self.facts.graph.predecessors(entry)) - loop.blocks
        if len(sources) != 1 or entry == self.facts.entry:
            return None
        (source,) = sources
        return source if len(list(self.facts.graph[source])) == 1 else None

    def _pass(self, label: str, counter: int) -> None:
        self.passing.setdefault(label, Counter())[counter] += 1
