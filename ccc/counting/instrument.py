"""Code that counts, put into one function.

At each point where lanes may have come together or parted, one of those that are there adds to
registers how many warp instructions follow, and how many lanes run them:

    activemask.b32 %here;
    and.b32        %lower, %here, %below;       // lanes below this one that are here
    setp.eq.b32    %first, %lower, 0;
    popc.b32       %lanes, %here;
    @%first add.u64        %warps, %warps, 7;   // seven instructions follow
    @%first mad.wide.u32   %threads, %lanes, 7, %threads;

The function itself and each path have registers of their own. Lanes that leave a path or the
function add them to the counters:

    setp.ne.s64    %some, %warps, 0;
    @%some red.global.add.u64 [%base+512], %warps;
    @%some red.global.add.u64 [%base+768], %threads;
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ccc.analysis.cfg import EXIT
from ccc.analysis.facts import Facts
from ccc.counting.places import Point, extent, find_points, leaves, prepare
from ccc.ir.edit import Emitter, add_block, jump, remove_jumps_to_next, retarget
from ccc.ir.nodes import Address, Block, Function, Guard, Instruction, Register, Special, Statement
from ccc.pipeline import PathRecord
from ccc.profile import COPIES, COUNTERS, FUNCTION_COUNTERS, PATH_COUNTERS

_STEP = 8 * COPIES
"""Bytes from one counter to the next."""


@dataclass(eq=False)
class _Region:
    """What is counted apart: a path, or (without an ``entry``) the function outside its paths.

    ``counter`` is the first of its counters. ``warps`` and ``threads`` hold what is not added to
    them yet. Lanes may ``turn`` inside a path, back to its first block; if it is a loop, each turn
    is an execution.
    """

    counter: int
    entry: str
    blocks: set[str]
    is_loop: bool
    turns: bool
    warps: Register
    threads: Register

    @property
    def counts_at_top(self) -> bool:
        """Whether each run of the first block is an execution."""
        return self.is_loop or not self.turns


def instrument(
    function: Function, records: Sequence[PathRecord], take: Callable[[int], int]
) -> tuple[int, list[int | None]]:
    """Make a function count what it issues, and what runs in the paths of ``records``.

    Args:
        function: all its opcodes are in the table; it is changed.
        records: what became of its paths.
        take: gives the number of the first of some counters that nobody has yet.

    Returns:
        The first counter of the function, and of each path, None where it is no place of its own.
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
        self.regions: list[_Region] = []
        self.base = function.registers.fresh("b64")
        self.below = function.registers.fresh("b32")

    def add_path(self, record: PathRecord, take: Callable[[int], int]) -> int | None:
        """Count a path apart; None if nothing is left of it."""
        entry = record.run if record.applied else record.path.entry
        if entry is None or entry not in self.facts.graph:
            return None
        is_loop = record.path.repeats and not record.applied
        blocks, is_loop = extent(entry, is_loop, self.facts)
        counter = take(len(PATH_COUNTERS))
        self.regions.append(self._region(counter, entry, blocks, is_loop))
        self.regions.sort(key=lambda region: -len(region.blocks))
        return counter

    def _region(self, counter: int, entry: str, blocks: set[str], is_loop: bool) -> _Region:
        fresh = self.function.registers.fresh
        sources = self.facts.graph.predecessors(entry) if entry else ()
        turns = any(label in blocks for label in sources)
        return _Region(counter, entry, blocks, is_loop, turns, fresh("b64"), fresh("b64"))

    def run(self, counter: int, counted: set[Instruction]) -> None:
        """Write all code; ``counter`` is the function's first one."""
        reachable = [label for label in self.facts.graph if label != EXIT]
        root = self._region(counter, "", set(reachable), False)
        self.regions.insert(0, root)
        innermost = {label: self._around(label)[-1] for label in reachable}
        for label, points in find_points(innermost, self.facts, counted).items():
            self._count(self.facts.blocks[label], innermost[label], points)
        for label in reachable:
            self._flush_at_exit(self.facts.blocks[label])
        for region in reversed(self.regions[1:]):
            self._flush_where_lanes_leave(region)
        for region in self.regions[1:]:
            self._enter(region)
        self._start(root)

    def _around(self, label: str) -> list[_Region]:
        """The regions that a block is in, from the outermost."""
        return [region for region in self.regions if label in region.blocks]

    # -- counting -------------------------------------------------------------------------------

    def _count(self, block: Block, region: _Region, points: Sequence[Point]) -> None:
        """Put the counting code of one block into it."""
        arriving = [r for r in self.regions if r.entry == block.label and r.counts_at_top]
        top, *others = points
        code: dict[Statement, list[Statement]] = {}
        for point in others:
            assert point.after is not None
            code[point.after] = self._add(region, point.count, ())
        statements = self._add(region, top.count, arriving)
        for statement in block.statements:
            statements += [statement, *code.get(statement, ())]
        block.statements[:] = statements

    def _add(self, region: _Region, count: int, arriving: Sequence[_Region]) -> list[Statement]:
        """Code that counts instructions, and lanes that arrive at paths."""
        emit = self._emitter(Block(""))
        if count or arriving:
            first, lanes = self._census(emit)
            for path in arriving:
                if not path.turns:
                    self._clear(emit, path)
                self._arrive(emit, path, first, lanes)
        if count:
            emit.emit("add.u64", region.warps, region.warps, count, guard=first)
            emit.emit("mad.wide.u32", region.threads, lanes, count, region.threads, guard=first)
        return emit.block.statements

    def _census(self, emit: Emitter) -> tuple[Guard, Register]:
        """Whether this lane is the first of those that are here, and how many are."""
        here = emit.define("activemask.b32", "b32")
        lower = emit.define("and.b32", "b32", here, self.below)
        first = emit.define("setp.eq.b32", "pred", lower, 0)
        return Guard(first), emit.define("popc.b32", "b32", here)

    def _arrive(self, emit: Emitter, path: _Region, first: Guard, lanes: Register) -> None:
        """Count an execution of a path."""
        wide = emit.define("cvt.u64.u32", "b64", lanes)
        for name, value in (("executions", 1), ("lanes", wide)):
            counter = path.counter + PATH_COUNTERS.index(name)
            emit.emit("red.global.add.u64", self._address(counter), value, guard=first)

    def _clear(self, emit: Emitter, region: _Region) -> None:
        emit.emit("mov.b64", region.warps, 0)
        emit.emit("mov.b64", region.threads, 0)

    def _flush(self, emit: Emitter, region: _Region) -> None:
        """Add what this lane has counted to the counters."""
        some = Guard(emit.define("setp.ne.s64", "pred", region.warps, 0))
        names = PATH_COUNTERS if region.entry else FUNCTION_COUNTERS
        for name, register in zip(FUNCTION_COUNTERS, (region.warps, region.threads), strict=True):
            address = self._address(region.counter + names.index(name))
            emit.emit("red.global.add.u64", address, register, guard=some)

    def _address(self, counter: int) -> Address:
        return Address(self.base, counter * _STEP)

    def _emitter(self, block: Block) -> Emitter:
        return Emitter(self.function, block, self.function.span)

    # -- ways in and out ------------------------------------------------------------------------

    def _flush_at_exit(self, block: Block) -> None:
        """Before lanes leave the function."""
        exits = [i for i in block.instructions if leaves(i)]
        if not exits:
            return
        (ending,) = exits
        emit = self._emitter(Block(""))
        for region in reversed(self._around(block.label)):
            self._flush(emit, region)
        place = block.statements.index(ending)
        if ending.guard is None:
            block.statements[place:place] = emit.block.statements
        else:
            apart = add_block(self.function, "leave")
            branch = jump(apart.label)
            branch.guard, ending.guard = ending.guard, None
            block.statements[place] = branch
            apart.statements = [*emit.block.statements, ending]

    def _flush_where_lanes_leave(self, path: _Region) -> None:
        """On the edges out of a path."""
        graph = self.facts.graph
        inside = [label for label in path.blocks if label in graph]
        targets = {target for label in inside for target in graph[label]}
        for target in sorted(targets - path.blocks - {EXIT}):
            block = add_block(self.function, "left")
            emit = self._emitter(block)
            self._flush(emit, path)
            emit.emit("bra", target)
            for source in self.function.blocks:
                if source.label in path.blocks:
                    retarget(self.function, source, target, block.label)
            for outer in self.regions:
                if outer is not path and path.entry in outer.blocks:
                    outer.blocks.add(block.label)

    def _enter(self, path: _Region) -> None:
        """Where lanes come back to the first block, clear the registers in one before it."""
        if not path.turns:
            return
        others = [block for block in self.function.blocks if block.label not in path.blocks]
        block = add_block(self.function, "enter")
        emit = self._emitter(block)
        self._clear(emit, path)
        if not path.counts_at_top:
            self._arrive(emit, path, *self._census(emit))
        emit.emit("bra", path.entry)
        for other in others:
            retarget(self.function, other, path.entry, block.label)

    def _start(self, root: _Region) -> None:
        """A first block, which finds this multiprocessor's copies of the counters."""
        block = Block(self.function.fresh_label("start"), named=False)
        emit = self._emitter(block)
        emit.emit("mov.u32", self.below, Special("%lanemask_lt"))
        here = emit.define("mov.u32", "b32", Special("%smid"))
        copy = emit.define("and.b32", "b32", here, COPIES - 1)
        counters = emit.define("mov.u64", "b64", COUNTERS)
        emit.emit("mad.wide.u32", self.base, copy, 8, counters)
        self._clear(emit, root)
        emit.emit("bra", self.facts.entry)
        self.function.blocks.insert(0, block)
