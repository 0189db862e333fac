"""Task repetition with grid-stride loops (dissertation section 4.1.2).

A kernel written one task a thread has no loop to collect tasks over. Here its body becomes one over
*virtual* blocks: some of the blocks that the host launches run them all, the others leave at once,
and the host's launch stays as it is. :mod:`ccc.passes.virtual_grid` says which blocks run what.

Before:

            ld.param.u64 %rd1, [k_param_0];
            mov.u32 %r1, %ctaid.x;
            ...
            @%p bra DONE;
            <body>
    DONE:   ret;

After, in short, where only x is read:

            mov.u32 %x, %ctaid.x;
            ...                          // %row, %number: this block's number
            setp.lt.u64 %works, %number, %resident;
            @!%works bra LEAVE;
            ...                          // %resident as digits: %step_x, %step_row
            ld.param.u64 %rd1, [k_param_0];
    BLOCK:  // ccc.for                   // so that paths in the body are those of this loop
            mov.u32 %r1, %x;
            ...
            @%p bra DONE;
            <body>
    DONE:   barrier.sync 0;              // only in a kernel with barriers or shared memory
            add.s32 %x, %x, %step_x;
            add.s32 %row, %row, %step_row;
            setp.ge.u32 %carry, %x, %width;
            @%carry sub.s32 %x, %x, %width;
            @%carry add.s32 %row, %row, 1;
            setp.lt.u32 %more, %row, %rows;
            @%more bra BLOCK;
    LEAVE:  ret;

All else is as in the original: ``%nctaid``, ``%tid`` and the parameters do not change. What a
thread has in its registers when it begins a block is undefined in the original too.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import ClassVar

from ccc import cost
from ccc.analysis.paths import Refused
from ccc.analysis.repetition import check_repetition, needs_block_barrier, needs_warp_barrier
from ccc.errors import CccError
from ccc.ir.edit import Emitter, add_block, remove_jumps_to_next, substitute
from ccc.ir.nodes import Block, Guard, Instruction, MarkerNote, Register, Symbol
from ccc.passes.virtual_grid import Room, Schedule, make_schedule
from ccc.pipeline import Kernel, KernelRecord, Pass
from ccc.ptx.opcodes import Effect
from ccc.ptx.types import GRID, LANE

ALL_LANES = -1
_ZEROS = {1: "mov.pred", 16: "mov.b16", 32: "mov.b32", 64: "mov.b64"}
"""How to set a register of so many bits to zero."""


@dataclass(frozen=True)
class GridStride(Pass):
    """Make annotated kernels loop over the blocks of the grid.

    ``multiprocessors`` is how many the device has; without it, the kernel asks the device.
    """

    multiprocessors: int | None = None

    name: ClassVar[str] = "grid-stride"

    def run(self, kernel: Kernel) -> None:
        """Do so where it is asked for and allowed."""
        for record in kernel.annotations:
            if record.marker.kind != "grid_stride" or record.reason is not None:
                continue
            try:
                check_repetition(kernel.facts, kernel.load)
                room = self._room(kernel)
            except Refused as refusal:
                record.reason = str(refusal)
            except CccError as error:  # an architecture that is not known
                record.reason = error.message
            else:
                _Repetition(kernel, record, room).run()

    def _room(self, kernel: Kernel) -> Room:
        limits = cost.limits(kernel.arch)
        warps = limits.threads // cost.WARP
        if kernel.registers:
            warps = min(warps, cost.warps_with_registers(kernel.registers))
        return Room(self.multiprocessors, warps, limits)


class _Repetition:
    """Rewrites one kernel."""

    def __init__(self, kernel: Kernel, record: KernelRecord, room: Room):
        self.kernel = kernel
        self.function = kernel.function
        self.record = record
        text = record.marker.clauses.get("schedule", "static")
        read = {special for i in self.function.instructions for special in i.specials()}
        self.schedule: Schedule = make_schedule(text, room, read)
        self.undefined = kernel.facts.liveness.live_in(kernel.facts.entry)
        self.for_block = needs_block_barrier(kernel.facts, kernel.load)
        self.for_warp = needs_warp_barrier(kernel.facts)
        self.head: list[Block] = []

    def run(self) -> None:
        """Do it."""
        following = add_block(self.function, "next")
        leave = add_block(self.function, "leave")
        self._return_to(following.label)
        self._emitter(leave).emit("ret")
        self.schedule.begin(self._open_head, leave.label)
        self._hoist(self._open_head())
        self._rename_blocks()
        self._begin_block(self._open_head("block"))
        self._end_block(self._emitter(following), self.head[-1].label)
        self.function.blocks[:0] = self.head
        remove_jumps_to_next(self.function)
        self.kernel.changed()
        self.record.applied = True
        meeting = "block" if self.for_block else "warp" if self.for_warp else None
        self.record.details = {**self.schedule.describe(), "barrier": meeting}

    def _open_head(self, hint: str = "start") -> Emitter:
        """One more block before the body."""
        self.head.append(Block(self.function.fresh_label(hint), named=False))
        return self._emitter(self.head[-1])

    def _emitter(self, block: Block) -> Emitter:
        return Emitter(self.function, block, self.record.marker.span)

    def _return_to(self, label: str) -> None:
        """Where the kernel ended, the next virtual block begins."""
        for instruction in self.function.instructions:
            if instruction.effects & (Effect.RETURN | Effect.EXIT):
                instruction.opcode, instruction.operands = "bra", (Symbol(label),)

    def _hoist(self, emit: Emitter) -> None:
        """What a thread computes first, the same for every block, is computed once.

        Above all, these are the parameters. In the loop they would look like a task's own values.
        """
        counts = Counter(r for i in self.function.instructions for r in i.defined())
        first = self.function.blocks[0]
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

    def _rename_blocks(self) -> None:
        """The body sees the virtual block's number, and no annotation of the kernel any more."""
        for block in self.function.blocks:
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
        for register in sorted(self.undefined, key=lambda register: register.name):
            if register.bits in _ZEROS and self.function.registers.find(register.name):
                emit.emit(_ZEROS[register.bits], register, 0)

    def _end_block(self, emit: Emitter, again: str) -> None:
        """Meet where that is needed, and begin the next virtual block if there is one."""
        if self.for_block is not None:
            Emitter(self.function, emit.block, self.for_block.span).emit("barrier.sync", 0)
        elif self.for_warp is not None:
            Emitter(self.function, emit.block, self.for_warp.span).emit("bar.warp.sync", ALL_LANES)
        emit.emit("bra", again, guard=Guard(self.schedule.advance(emit)))
