"""Task repetition with grid-stride loops (dissertation section 4.1.2).

A kernel written one task a thread has no loop to collect tasks over. Here its body becomes one over
*virtual* blocks: some of the blocks that the host launches run them all, the others leave at once,
and the host's launch stays as it is. :mod:`ccc.passes.grid_stride.virtual_grid` and
:mod:`ccc.passes.grid_stride.dynamic_schedule` say which blocks run what.

Before:

            ld.param.u64 %rd1, [k_param_0];
            mov.u32 %r1, %ctaid.x;
            ...
            @%p bra DONE;
            <body>
    DONE:   ret;

After, in short; the snippets are those of virtual_grid.py or dynamic_schedule.py:

            <leave, if this launched block has nothing to do>
            ld.param.u64 %rd1, [k_param_0];
    BLOCK:  // ccc.for                   // so that paths in the body are those of this loop
            <the number of the virtual block, %x, where it comes from a counter>
            mov.u32 %r1, %x;
            ...
            @%p bra DONE;
            <body>
    DONE:   barrier.sync 0;              // only in a kernel with barriers or shared memory
            <the next virtual block; while there is one, to BLOCK>
    LEAVE:  ret;

All else is as in the original: ``%nctaid``, ``%tid`` and the parameters do not change. What a
thread has in its registers when it begins a block is undefined in the original too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from ccc.analysis.paths.model import Refused
from ccc.analysis.paths.repetition import check_repetition, needs_block_barrier, needs_warp_barrier
from ccc.errors import CccError
from ccc.ir.edit import Emitter, remove_jumps_to_next, substitute
from ccc.ir.nodes import Block, Instruction, MarkerNote, Variable
from ccc.ir.operands import Register, Symbol
from ccc.passes.grid_stride.dynamic_schedule import SHARED_BYTES, Dynamic, shared_name
from ccc.passes.grid_stride.task_counter import CounterTable
from ccc.passes.grid_stride.virtual_grid import Launched, Room, Schedule, Static, Y, Z
from ccc.passes.launch_shape import filled, known_block_size, shared_bytes, static_room
from ccc.passes.strategies.leave import LEAVE
from ccc.pipeline import Kernel, KernelRecord, Pass
from ccc.ptx import occupancy
from ccc.ptx.opcodes import Effect
from ccc.ptx.types import ALL_LANES, GRID, LANE, WARP_SIZE

NO_ROOM = (
    "in shared memory there may be no room for the number that schedule(dynamic) tells the threads "
    "of a block, 4 bytes; say with --ccc-dynamic-shared=N how many bytes a launch asks for at most"
)


class GridStride(Pass):
    """Make annotated kernels loop over the blocks of the grid.

    ``multiprocessors`` is how many the device has; without it, the kernel asks the device.
    """

    name: ClassVar[str] = "grid-stride"

    def run(self, kernel: Kernel) -> None:
        """Do so where it is asked for and allowed."""
        for record in kernel.annotations:
            if record.marker.kind != "grid_stride" or record.reason is not None:
                continue
            if str(kernel.tuned_request(record.marker)) == LEAVE.name:
                record.leave(LEAVE.name)
                continue
            try:
                check_repetition(kernel.facts, kernel.load)
                repetition = _Repetition(kernel, record, self._room(kernel))
            except Refused as refusal:
                record.reason = str(refusal)
            except CccError as error:  # an architecture that is not known
                record.reason = error.message
            else:
                repetition.run()

    def _room(self, kernel: Kernel) -> Room:
        limits = occupancy.limits(kernel.arch)
        warps = limits.threads // WARP_SIZE
        if kernel.registers:
            warps = min(warps, occupancy.warps_with_registers(kernel.registers))
        return Room(kernel.options.multiprocessors, warps, limits)


class _Repetition:
    """Rewrites one kernel."""

    def __init__(self, kernel: Kernel, record: KernelRecord, room: Room):
        self.kernel = kernel
        self.function = kernel.function
        self.record = record
        self.undefined = kernel.facts.liveness.live_in(kernel.facts.entry)
        meets = not kernel.blocks_stay  # no thread goes on to a further block
        self.for_block = needs_block_barrier(kernel.facts, kernel.load) if meets else None
        self.for_warp = needs_warp_barrier(kernel.facts) if meets else None
        self.schedule = self._make_schedule(room)

    def _make_schedule(self, room: Room) -> Schedule:
        kind, _, chunk = self.record.marker.clauses.get("schedule", "static").partition(":")
        read = {special for i in self.function.instructions for special in i.specials()}
        by_rows = not {Y, Z} & read
        if self.kernel.blocks_stay:
            return Launched(room, by_rows)
        if kind == "static":
            return Static(room, by_rows)
        together = self.for_block is not None
        warps = -(-known_block_size(self.function, self.kernel.options.max_block) // WARP_SIZE)
        name = self.function.names.free(f"ccc_counters_{self.function.name}")
        table = CounterTable(name, 1 if together else warps)
        self._declare(table, together)
        return Dynamic(room, by_rows, table, together, int(chunk) if chunk else None)

    def _declare(self, table: CounterTable, together: bool) -> None:
        """Declare the counters, and what is needed to tell a block of threads what was taken."""
        if together:
            if shared_bytes(self.kernel) is None or static_room(self.kernel) < SHARED_BYTES:
                raise Refused(NO_ROOM)
            name = shared_name(self.function)
            size = filled(self.kernel, SHARED_BYTES)
            text = f".shared .align {SHARED_BYTES} .b32 {name}"
            text += "" if size == SHARED_BYTES else f"[{size // SHARED_BYTES}]"
            self.function.variables.append(
                Variable(name, "shared", "b32", size, SHARED_BYTES, text)
            )
        self.kernel.declarations.append(table.declaration())

    def run(self) -> None:
        """Do it."""
        start, again, following, leave = map(
            self.function.fresh_label, ("start", "block", "next", "leave")
        )
        body, self.function.blocks = self.function.blocks, []
        self._return_to(body, following)
        emit = self._emitter(start)
        self.schedule.begin(emit, leave)
        self._hoist(body, emit)
        emit.start(again)
        self._begin_block(emit)
        self.schedule.next_block(emit)
        self._rename_blocks(body)
        self.function.blocks += body
        emit = self._emitter(following)
        self._end_block(emit, again)
        self.schedule.finish(emit, leave)
        emit.start(leave)
        emit.emit("ret")
        remove_jumps_to_next(self.function)
        self.kernel.changed()
        if isinstance(self.schedule, Static):
            self.kernel.grids[self.record.marker.identifier] = self.schedule.place
        meeting = "block" if self.for_block else "warp" if self.for_warp else None
        self.record.apply("grid_stride", {**self.schedule.describe(), "barrier": meeting})

    def _emitter(self, label: str) -> Emitter:
        """An emitter for a new block behind all others."""
        self.function.blocks.append(Block(label, named=False))
        return Emitter(self.function, self.function.blocks[-1], self.record.marker.span)

    def _return_to(self, body: list[Block], label: str) -> None:
        """Where the kernel ended, the next virtual block begins."""
        for instruction in _instructions(body):
            if instruction.effects & (Effect.RETURN | Effect.EXIT):
                instruction.opcode, instruction.operands = "bra", (Symbol(label),)

    def _hoist(self, body: list[Block], emit: Emitter) -> None:
        """What a thread computes first, the same for every block, is computed once.

        Above all, these are the parameters. In the loop they would look like a task's own values.
        """
        counts = Counter(r for i in _instructions(body) for r in i.defined())
        first = body[0]
        fixed: set[Register] = set()
        for instruction in list(first.instructions):
            defined = instruction.defined()
            if (
                self._is_fixed(instruction)
                and fixed.issuperset(instruction.used())
                and all(counts[register] == 1 for register in defined)
                and self.undefined.isdisjoint(defined)
            ):
                fixed.update(defined)
                first.statements.remove(instruction)
                emit.block.statements.append(instruction)

    def _is_fixed(self, instruction: Instruction) -> bool:
        """Whether it only computes, and for equal operands always the same."""
        parameters = {parameter.name for parameter in self.function.parameters}
        of_a_call = instruction.space == "param" and any(
            symbol.name not in parameters for symbol in instruction.symbols()
        )
        return (
            instruction.effects == Effect.NONE
            and bool(instruction.defined())
            and not of_a_call
            and all(special.register.varies in (GRID, LANE) for special in instruction.specials())
        )

    def _rename_blocks(self, body: list[Block]) -> None:
        """The body sees the virtual block's number, and no annotation of the kernel any more."""
        for block in body:
            block.statements = [
                substitute(s, {}, self.schedule.coordinates) if isinstance(s, Instruction) else s
                for s in block.statements
                if not (isinstance(s, MarkerNote) and s.marker.kind == self.record.marker.kind)
            ]

    def _begin_block(self, emit: Emitter) -> None:
        """Mark the loop, and let nothing be carried from one virtual block to the next.

        Where some way through the body reads a register that it did not write, that would else
        look like a value of the last block.
        """
        loop = replace(self.record.marker, kind="for", clauses={})
        emit.block.statements.append(MarkerNote(loop))
        emit.clear(self.undefined)

    def _end_block(self, emit: Emitter, again: str) -> None:
        """Meet where that is needed, and begin the next virtual block if there is one."""
        if self.for_block is not None:
            Emitter(self.function, emit.block, self.for_block.span).emit("barrier.sync", 0)
        elif self.for_warp is not None:
            Emitter(self.function, emit.block, self.for_warp.span).emit("bar.warp.sync", ALL_LANES)
        self.schedule.advance(emit, again)


def _instructions(blocks: list[Block]) -> Iterator[Instruction]:
    return (instruction for block in blocks for instruction in block.instructions)
