"""Code that counts, put into one function.

Each lane counts for itself (``counts.py`` says where). At the points where lanes may have
come together or parted, the highest of those that are there counts the warp instructions that
follow; what lanes run is counted in one place for all blocks that they come to equally often, less
what a guard may switch them off in, which is counted where it stands:

    selp.b64       %more, 7, 0, %last;       // seven instructions follow; %last: see LAST
    add.u64        %warps, %warps, %more;
    add.u64        %threads, %threads, 12;   // and five more, later in the same iteration
    ...
    selp.b64       %more, 1, 0, %p;
    add.u64        %threads, %threads, %more;
    @%p st.global.u32 [%a], %v;

A path has two such counts for how often it was entered, and two more if not all of its points and
blocks are entered just as often. In original code iterations of annotated loops, entries of inner
ones and calls have counts, too (``surroundings.py``). Lanes that leave the function add theirs to
the counters in global memory (``DELIVER`` of counts.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from ccc.analysis.cfg import EXIT
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.ir.edit import add_block, jump, remove_jumps_to_next, retarget
from ccc.ir.nodes import Block, Function, Instruction
from ccc.pipeline import PathRecord
from ccc.profile.instrument.counts import Counts, Site
from ccc.profile.instrument.places import (
    CountedRegion,
    count_for_lanes,
    counted_blocks,
    find_points,
    guarded_groups,
    leaves,
    prepare,
)
from ccc.profile.instrument.surroundings import CountedCalls, Surroundings
from ccc.profile.model import FUNCTION_COUNTERS, PATH_COUNTERS


@dataclass(eq=False)
class CountedFunction:
    """What is counted of a function.

    ``root`` is what is outside its paths; of ``paths`` those are None that are no places of their
    own; ``entered`` counts its calls, None if that is not wanted; ``calls`` are those it does.
    """

    root: CountedRegion
    paths: list[CountedRegion | None]
    entered: int | None = None
    calls: list[CountedCalls] = field(default_factory=list)


def instrument(
    function: Function,
    records: Sequence[PathRecord],
    take: Callable[[int], int],
    called: Collection[str] | None = None,
) -> CountedFunction:
    """Make a function count what it issues, and what runs in the paths of ``records``.

    Args:
        function: all its opcodes are in the table; it is changed.
        records: what became of its paths.
        take: gives the number of the first of some counters that nobody has yet.
        called: the functions that are counted, too, if iterations around paths and calls are to be
            counted: that is of use in the original only.
    """
    counted = prepare(function)
    instrumenter = _Instrumenter(function)
    paths = [instrumenter.add_path(record, take) for record in records]
    made = CountedFunction(CountedRegion(take(len(FUNCTION_COUNTERS)), (), set()), paths)
    instrumenter.run(made, records, take, called, counted)
    remove_jumps_to_next(function)
    return made


class _Instrumenter:
    """The work on one function. ``regions`` are ordered: those inside others come behind them."""

    def __init__(self, function: Function):
        self.function = function
        self.facts = Facts(function)
        self.regions: list[CountedRegion] = []
        self.tops: dict[Block, Site] = {}
        self.before: dict[Instruction, Site] = {}
        self.behind: dict[Instruction, Site] = {}
        self.passing: dict[str, Counter[int]] = {}

    def add_path(self, record: PathRecord, take: Callable[[int], int]) -> CountedRegion | None:
        """Count a path apart; None if nothing is left of it."""
        graph, repeats = self.facts.graph, record.path.repeats
        heads = record.heads if record.applied else (record.path.entry,)
        entries = tuple(entry for entry in heads if entry in graph)
        if not entries:
            return None
        found = [
            counted_blocks(entry, repeats and not record.applied, self.facts) for entry in entries
        ]
        blocks = set().union(*(blocks for blocks, _ in found))
        turns = any(label in blocks for entry in entries for label in graph.predecessors(entry))
        is_loop = any(is_loop for _, is_loop in found)
        at_top = is_loop or len(heads) > 1 or not turns
        region = CountedRegion(take(len(PATH_COUNTERS)), entries, blocks, at_top, is_loop)
        self.regions.append(region)
        self.regions.sort(key=lambda region: -len(region.blocks))
        return region

    def run(
        self,
        made: CountedFunction,
        records: Sequence[PathRecord],
        take: Callable[[int], int],
        called: Collection[str] | None,
        counted: set[Instruction],
    ) -> None:
        """Write all code."""
        reachable = [label for label in self.facts.graph if label != EXIT]
        made.root.blocks |= set(reachable)
        self.regions.insert(0, made.root)
        begun: list[CountedRegion] = []
        if called is not None:
            around = Surroundings(self.facts, self.regions, take)
            markers = {p: r.marker for p, r in zip(made.paths, records, strict=True) if p}
            begun = around.of_paths(markers)
            made.calls = around.of_calls(called)
            made.entered = around.entered
            self.passing = around.passing
        self._find_sites(reachable, counted)
        entries = [
            self._enter(region, region.counter)
            for region in self.regions[1:]
            if not region.counts_at_top
        ]
        entries += [self._enter(loop, loop.begun) for loop in begun if loop.begun is not None]
        sites = [*self.tops.values(), *self.before.values(), *self.behind.values()]
        counts = Counts(self.function, self.facts, sites)
        for block in [*map(self.facts.blocks.__getitem__, reachable), *entries]:
            self._write(block, counts)
            self._deliver_at_exit(block, counts)
        counts.start()
        counts.check_turns()

    # -- counting -------------------------------------------------------------------------------

    def _find_sites(self, labels: Iterable[str], counted: set[Instruction]) -> None:
        """What to count in these blocks."""
        innermost = {label: self._innermost(label) for label in labels}
        points = find_points(innermost, self.facts, counted)
        lanes = count_for_lanes(innermost, self.facts, counted)
        places = Counter(counter for mine in self.passing.values() for counter in mine.elements())
        for label, region in innermost.items():
            block, loop = self.facts.blocks[label], self._loop({label})
            site = self.tops[block] = Site(loop)
            top, *others = points[label]
            arriving = [r for r in self.regions if label in r.entries and r.counts_at_top]
            here = Counter({entered.counter: 1 for entered in arriving})
            here.update(self.passing.get(label, {}))
            for counter, times in here.items():
                site.add(counter, times, times)
            alone = [region.counter] if region in arriving and len(region.entries) == 1 else []
            alone += [counter for counter in here if places[counter] == 1]
            if alone:
                region.each.append((alone[0], top.count, lanes[label]))
            else:
                site.add(region.issued, top.count, lanes[label])
            for point in others:
                assert point.after is not None
                self.behind[point.after] = Site(loop)
                self.behind[point.after].add(region.issued, point.count, 0)
            for first, (guard, count) in guarded_groups(block, counted).items():
                self.before[first] = Site(loop, guard=guard)
                self.before[first].add(region.issued, 0, count)

    def _innermost(self, label: str) -> CountedRegion:
        """The region that a block is in."""
        return [region for region in self.regions if label in region.blocks][-1]

    def _loop(self, labels: set[str]) -> Loop | None:
        """The innermost loop that all of these blocks are in."""
        return next((loop for loop in self.facts.loops if loop.blocks >= labels), None)

    def _enter(self, path: CountedRegion, counter: int) -> Block:
        """Where lanes come back to the first block, count entries in one before it."""
        others = [block for block in self.function.blocks if block.label not in path.blocks]
        (entry,) = path.entries
        block = add_block(self.function, "enter")
        block.statements = [jump(entry)]
        for other in others:
            retarget(self.function, other, entry, block.label)
        sources = set(self.facts.graph.predecessors(entry)) - path.blocks
        self.tops[block] = Site(self._loop({entry, *sources}))
        self.tops[block].add(counter, 1, 1)
        return block

    def _write(self, block: Block, counts: Counts) -> None:
        """Put the counting code of one block into it."""
        code = counts.code(self.tops[block])
        for statement in block.statements:
            if isinstance(statement, Instruction) and statement in self.before:
                code += counts.code(self.before[statement])
            code.append(statement)
            if isinstance(statement, Instruction) and statement in self.behind:
                code += counts.code(self.behind[statement])
        block.statements[:] = code

    def _deliver_at_exit(self, block: Block, counts: Counts) -> None:
        """Before lanes leave the function."""
        exits = [i for i in block.instructions if leaves(i)]
        if not exits:
            return
        (ending,) = exits
        position = block.statements.index(ending)
        if ending.guard is None:
            block.statements[position:position] = counts.deliver()
        else:
            apart = add_block(self.function, "leave")
            branch = jump(apart.label)
            branch.guard, ending.guard = ending.guard, None
            block.statements[position] = branch
            apart.statements = [*counts.deliver(), ending]
