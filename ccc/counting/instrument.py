"""Code that counts, put into one function.

Each lane counts for itself, in registers. At the points where lanes may have come together or
parted, the highest of those that are there counts the warp instructions that follow; what lanes
run is counted in one place for all blocks that they come to equally often, less what a guard may
switch them off in, which is counted where it stands:

    activemask.b32 %here;
    setp.le.u32    %last, %here, %upto;      // no lane above this one is here
    selp.b64       %more, 7, 0, %last;       // seven instructions follow
    add.u64        %warps, %warps, %more;
    add.u64        %threads, %threads, 12;   // and five more, later in the same iteration
    ...
    selp.b64       %more, 1, 0, %p;
    add.u64        %threads, %threads, %more;
    @%p st.global.u32 [%a], %v;

A path has two such counts for how often it was entered, and two more if not all of its points and
blocks are entered just as often. Lanes that leave the function add theirs to the counters in global
memory:

    setp.ne.s64 %some, %warps, 0;
    @%some red.global.add.u64 [%base+512], %warps;
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ccc.analysis.cfg import EXIT
from ccc.analysis.facts import Facts
from ccc.counting.places import (
    Point,
    count_for_lanes,
    extent,
    find_points,
    guarded_groups,
    leaves,
    prepare,
)
from ccc.ir.edit import Emitter, add_block, jump, remove_jumps_to_next, retarget
from ccc.ir.nodes import (
    Address,
    Block,
    Function,
    Guard,
    Instruction,
    Register,
    Special,
    Statement,
    Symbol,
    Variable,
)
from ccc.pipeline import PathRecord
from ccc.profile import COPIES, COUNTERS, FUNCTION_COUNTERS, PATH_COUNTERS

_STEP = 8 * COPIES
"""Bytes from one counter to the next."""

_REGISTERS = 10
"""How many counts, of 64 bits, a lane keeps in registers, those in inner loops first."""

_VARIABLE = "ccc_profile_counts"
"""Where the others are, in the thread's own memory."""

_Counts = Sequence[tuple["Region", int]]


@dataclass(eq=False)
class Region:
    """What is counted apart: a path, or (without an ``entry``) the function outside its paths.

    Attributes:
        counter: the first of its counters.
        entry: its first block.
        blocks: all its blocks, those of paths inside it among them.
        counts_at_top: whether each run of the first block is an execution. Otherwise lanes may
            come back to that block within one.
        places: where each lane counts, by the name of the counter.
        per_execution: warp instructions that each execution issues; its counter leaves them out.
        per_lane: instructions that each lane runs in an execution; likewise.
    """

    counter: int
    entry: str
    blocks: set[str]
    counts_at_top: bool = True
    places: dict[str, Register | Address] = field(default_factory=dict)
    per_execution: int = 0
    per_lane: int = 0


def instrument(
    function: Function, records: Sequence[PathRecord], take: Callable[[int], int]
) -> tuple[int, list[Region | None]]:
    """Make a function count what it issues, and what runs in the paths of ``records``.

    Args:
        function: all its opcodes are in the table; it is changed.
        records: what became of its paths.
        take: gives the number of the first of some counters that nobody has yet.

    Returns:
        The first counter of the function, and each path, None where it is no place of its own.
    """
    counted = prepare(function)
    instrumenter = _Instrumenter(function)
    paths = [instrumenter.add_path(record, take) for record in records]
    root = take(len(FUNCTION_COUNTERS))
    instrumenter.run(root, counted)
    remove_jumps_to_next(function)
    return root, paths


class _Instrumenter:
    """The work on one function. ``regions`` are ordered: those inside others come behind them."""

    def __init__(self, function: Function):
        self.function = function
        self.facts = Facts(function)
        self.regions: list[Region] = []
        self.upto = function.registers.fresh("b32")

    def add_path(self, record: PathRecord, take: Callable[[int], int]) -> Region | None:
        """Count a path apart; None if nothing is left of it."""
        entry = record.run if record.applied else record.path.entry
        graph = self.facts.graph
        if entry is None or entry not in graph:
            return None
        is_loop = record.path.repeats and not record.applied
        blocks, is_loop = extent(entry, is_loop, self.facts)
        turns = any(label in blocks for label in graph.predecessors(entry))
        region = Region(take(len(PATH_COUNTERS)), entry, blocks, is_loop or not turns)
        self.regions.append(region)
        self.regions.sort(key=lambda region: -len(region.blocks))
        return region

    def run(self, counter: int, counted: set[Instruction]) -> None:
        """Write all code; ``counter`` is the function's first one."""
        reachable = [label for label in self.facts.graph if label != EXIT]
        root = Region(counter, "", set(reachable))
        self.regions.insert(0, root)
        for name in FUNCTION_COUNTERS:
            self._place(root, name)
        innermost = {label: self._innermost(label) for label in reachable}
        points = find_points(innermost, self.facts, counted)
        lanes = count_for_lanes(innermost, self.facts, counted)
        for label in sorted(reachable, key=self._depth, reverse=True):
            block = self.facts.blocks[label]
            groups = guarded_groups(block, counted)
            self._count(block, innermost[label], points[label], lanes[label], groups)
        for region in self.regions[1:]:
            self._enter(region)
        for label in reachable:
            self._flush_at_exit(self.facts.blocks[label])
        self._start()

    def _innermost(self, label: str) -> Region:
        """The region that a block is in."""
        return [region for region in self.regions if label in region.blocks][-1]

    def _depth(self, label: str) -> int:
        """How many loops a block is in."""
        return sum(label in loop.blocks for loop in self.facts.loops)

    # -- counting -------------------------------------------------------------------------------

    def _count(
        self,
        block: Block,
        region: Region,
        points: Sequence[Point],
        lanes: int,
        groups: Mapping[Instruction, tuple[Guard, int]],
    ) -> None:
        """Put the counting code of one block into it."""
        top, *others = points
        arriving = [r for r in self.regions if r.entry == block.label and r.counts_at_top]
        warps, threads = [(region, top.count)], [(region, lanes)]
        if region in arriving:
            region.per_execution, region.per_lane = top.count, lanes
            warps, threads = [], []
        code = self._add(arriving, warps, threads)
        behind = {point.after: self._add([], [(region, point.count)], []) for point in others}
        before = {first: self._add_guarded(region, *group) for first, group in groups.items()}
        for statement in block.statements:
            if isinstance(statement, Instruction):
                code += [*before.get(statement, []), statement, *behind.get(statement, [])]
            else:
                code.append(statement)
        block.statements[:] = code

    def _add(self, arriving: Sequence[Region], warps: _Counts, threads: _Counts) -> list[Statement]:
        """Code that counts executions of paths, what the warp issues, and what each lane runs."""
        executions, lanes, instructions, thread_instructions = PATH_COUNTERS
        by_warp = [(r, executions, 1) for r in arriving]
        by_warp += [(r, instructions, count) for r, count in warps if count]
        by_lane = [(r, lanes, 1) for r in arriving]
        by_lane += [(r, thread_instructions, count) for r, count in threads if count]
        emit = Emitter(self.function, Block(""), self.function.span)
        if by_warp:
            here = emit.define("activemask.b32", "b32")
            last = emit.define("setp.le.u32", "pred", here, self.upto)
            for region, name, count in by_warp:
                # Were the addition guarded, ptxas would keep both values in registers.
                more = emit.define("selp.b64", "b64", count, 0, last)
                self._increase(emit, region, name, more)
        for region, name, count in by_lane:
            self._increase(emit, region, name, count)
        return emit.block.statements

    def _add_guarded(self, region: Region, guard: Guard, count: int) -> list[Statement]:
        """Code that counts so many instructions for the lanes in which a guard holds."""
        emit = Emitter(self.function, Block(""), self.function.span)
        values = (0, count) if guard.negated else (count, 0)
        more = emit.define("selp.b64", "b64", *values, guard.register)
        self._increase(emit, region, FUNCTION_COUNTERS[1], more)
        return emit.block.statements

    def _increase(self, emit: Emitter, region: Region, name: str, more: Register | int) -> None:
        place = region.places.get(name) or self._place(region, name)
        if isinstance(place, Register):
            emit.emit("add.u64", place, place, more)
        else:
            old = emit.define("ld.local.u64", "b64", place)
            emit.emit("st.local.u64", place, emit.define("add.u64", "b64", old, more))

    def _place(self, region: Region, name: str) -> Register | Address:
        """A register, while there are some, or a place in the thread's own memory."""
        used = sum(len(region.places) for region in self.regions)
        if used < _REGISTERS:
            region.places[name] = self.function.registers.fresh("b64")
        else:
            region.places[name] = Address(Symbol(_VARIABLE), 8 * (used - _REGISTERS))
        return region.places[name]

    # -- ways in and out ------------------------------------------------------------------------

    def _enter(self, path: Region) -> None:
        """Where lanes come back to the first block, count executions in one before it."""
        if path.counts_at_top:
            return
        others = [block for block in self.function.blocks if block.label not in path.blocks]
        block = add_block(self.function, "enter")
        block.statements = [*self._add([path], [], []), jump(path.entry)]
        for other in others:
            retarget(self.function, other, path.entry, block.label)

    def _flush_at_exit(self, block: Block) -> None:
        """Before lanes leave the function."""
        exits = [i for i in block.instructions if leaves(i)]
        if not exits:
            return
        (ending,) = exits
        place = block.statements.index(ending)
        if ending.guard is None:
            block.statements[place:place] = self._flush()
        else:
            apart = add_block(self.function, "leave")
            branch = jump(apart.label)
            branch.guard, ending.guard = ending.guard, None
            block.statements[place] = branch
            apart.statements = [*self._flush(), ending]

    def _flush(self) -> list[Statement]:
        """Add what this lane has counted to the counters.

        Lanes of a warp, and first lanes of several multiprocessors, use different copies of them.
        """
        emit = Emitter(self.function, Block(""), self.function.span)
        lane = emit.define("mov.u32", "b32", Special("%laneid"))
        processor = emit.define("mov.u32", "b32", Special("%smid"))
        either = emit.define("add.u32", "b32", lane, processor)
        copy = emit.define("and.b32", "b32", either, COPIES - 1)
        counters = emit.define("mov.u64", "b64", COUNTERS)
        base = emit.define("mad.wide.u32", "b64", copy, 8, counters)
        for region in self.regions:
            names = PATH_COUNTERS if region.entry else FUNCTION_COUNTERS
            for name, place in region.places.items():
                value = place
                if isinstance(place, Address):
                    value = emit.define("ld.local.u64", "b64", place)
                some = Guard(emit.define("setp.ne.s64", "pred", value, 0))
                address = Address(base, (region.counter + names.index(name)) * _STEP)
                emit.emit("red.global.add.u64", address, value, guard=some)
        return emit.block.statements

    def _start(self) -> None:
        """A first block, in which all counts of a lane become 0."""
        block = Block(self.function.fresh_label("start"), named=False)
        emit = Emitter(self.function, block, self.function.span)
        emit.emit("mov.u32", self.upto, Special("%lanemask_le"))
        places = [place for region in self.regions for place in region.places.values()]
        for place in places:
            emit.emit("mov.b64" if isinstance(place, Register) else "st.local.u64", place, 0)
        size = 8 * (len(places) - _REGISTERS)
        if size > 0:
            text = f".local .align 8 .b8 {_VARIABLE}[{size}]"
            self.function.variables.append(Variable(_VARIABLE, "local", "b8", size, 8, text))
        emit.emit("bra", self.facts.entry)
        self.function.blocks.insert(0, block)
