"""The context stack: where a warp keeps the tasks that wait (no pass; the collector uses it).

One stack a path and warp, in shared memory: for each 32-bit context word an array with one entry a
task, so that the lanes of a warp touch neighbouring words and no two of them the same bank. It is
static, or where that does not suffice dynamic, if launches add it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ccc.analysis.local_memory import Word
from ccc.ir.edit import Emitter, rename
from ccc.ir.nodes import Block, Function, Instruction, Variable
from ccc.ir.operands import Address, Immediate, Register, Symbol, Vector
from ccc.passes.launch_shape import filled, static_room
from ccc.pipeline import Kernel
from ccc.ptx.dynamic_stack import ALIGNMENT, added, note
from ccc.ptx.types import WARP_SIZE
from ccc.remark import STACK_THREADS
from ccc.snippet import Snippet

NAME = "ccc_context_stack"

FROM_THE_END = Snippet(
    """
    .reg .pred %short;
    .reg .b32 %warp, %share, %size, %needed, %end, %stack;
        mov.u32 %size, %dynamic_smem_size;
        mad.lo.s32 %needed, %warp, %share, %share;
        setp.lt.u32 %short, %size, %needed;
        @%short trap;                         // a launch that has not added them
        and.b32 %end, %size, ALIGNED;
        sub.s32 %end, %end, %share;
        add.s32 %stack, %stack, %end;         // of the first warp; the others lie before it
""",
    ALIGNED=-ALIGNMENT,
)
"""The stacks are the last bytes of dynamic shared memory, whatever the launch asked for besides."""


def words(register: Register) -> int:
    """The 32-bit words that a register takes on the stack."""
    return max(1, register.bits // 32)


@dataclass(frozen=True, slots=True)
class Stack:
    """One path's stack: byte ``offset`` in the warp's share, ``entries`` tasks of ``context``.

    ``context`` lists the registers that tasks are pushed from and popped to, ``frame`` the words of
    the lane's own memory.
    """

    context: tuple[Register, ...]
    entries: int
    offset: int
    frame: tuple[Word, ...] = ()

    @property
    def bytes(self) -> int:
        """Its size for one warp."""
        return self.words * self.entries * 4

    @property
    def words(self) -> int:
        """The words of a task."""
        return sum(map(words, self.context)) + len(self.frame)

    def clear_frame(self, emit: Emitter) -> None:
        """Write the words of the lane's own memory, which an iteration may only write in part."""
        for place in self._places:
            emit.emit("st.local.b32", place, 0)

    @property
    def _places(self) -> list[Address]:
        return [Address(Symbol(name), offset) for name, offset in self.frame]

    def of(self, others: Mapping[Register, Register]) -> Stack:
        """It, for tasks in other registers."""
        return replace(self, context=tuple(others.get(r, r) for r in self.context))

    def store(self, emit: Emitter, address: Register) -> None:
        """Write a task to the entry at ``address`` (of its first word, without the offset)."""
        offset = self.offset
        for value in self.context:
            for word in split(emit, value):
                emit.emit("st.shared.b32", Address(address, offset), word)
                offset += 4 * self.entries
        for place in self._places:
            word = emit.define("ld.local.b32", "b32", place)
            emit.emit("st.shared.b32", Address(address, offset), word)
            offset += 4 * self.entries

    def load(self, emit: Emitter, address: Register) -> None:
        """Read the task of the entry at ``address``."""
        offset = self.offset
        for target in self.context:
            parts = []
            for _ in range(words(target)):
                parts.append(emit.define("ld.shared.b32", "b32", Address(address, offset)))
                offset += 4 * self.entries
            join(emit, target, parts)
        for place in self._places:
            word = emit.define("ld.shared.b32", "b32", Address(address, offset))
            emit.emit("st.local.b32", place, word)
            offset += 4 * self.entries

    def copy(self, emit: Emitter, address: Register, other: Stack, target: Register) -> None:
        """Copy the task of an entry to an entry of another stack of the same context."""
        for word in range(self.words):
            source = Address(address, self.offset + 4 * self.entries * word)
            value = emit.define("ld.shared.b32", "b32", source)
            place = Address(target, other.offset + 4 * other.entries * word)
            emit.emit("st.shared.b32", place, value)


def split(emit: Emitter, value: Register) -> list[Register]:
    """The 32-bit words of a register."""
    if value.bits == 1:
        return [emit.define("selp.b32", "b32", 1, 0, value)]
    if value.bits == 16:
        word = emit.function.registers.fresh("b32")
        emit.emit("mov.b32", word, Vector((value, value)))
        return [word]
    if value.bits == 32:
        return [value]
    if value.bits == 64:
        parts = [emit.function.registers.fresh("b32") for _ in range(2)]
        emit.emit("mov.b64", Vector(tuple(parts)), value)
        return parts
    halves = [emit.function.registers.fresh("b64") for _ in range(2)]
    emit.emit("mov.b128", Vector(tuple(halves)), value)
    return [word for half in halves for word in split(emit, half)]


def join(emit: Emitter, target: Register, parts: list[Register]) -> None:
    """Put 32-bit words back into a register."""
    if target.bits == 1:
        emit.emit("setp.ne.b32", target, parts[0], 0)
    elif target.bits == 16:
        unused = emit.function.registers.fresh("b16")
        emit.emit("mov.b32", Vector((target, unused)), parts[0])
    elif target.bits == 32:
        emit.emit("mov.b32", target, parts[0])
    elif target.bits == 64:
        emit.emit("mov.b64", target, Vector(tuple(parts)))
    else:
        halves = [emit.function.registers.fresh("b64") for _ in range(2)]
        join(emit, halves[0], parts[:2])
        join(emit, halves[1], parts[2:])
        emit.emit("mov.b128", target, Vector(tuple(halves)))


def stack_name(function: Function) -> str:
    """The variable that all stacks of a function are in."""
    return function.names.free(NAME)


def reserve_stack(
    kernel: Kernel, share: int, warps: int, users: Sequence[Instruction]
) -> dict[str, Any]:
    """Declare ``share`` bytes for each warp, and tell the instructions that compute its base.

    Loops that follow one another use the same memory. The share must be the same for all of them,
    since one warp may still be in the first loop while another is in the second.

    Returns:
        For the report: where the stacks are, and how many bytes of a block.
    """
    total = share * warps
    is_dynamic = total > static_room(kernel)
    for user in users:
        base, warp, _, stack = user.operands
        user.operands = (base, warp, Immediate(str(-share if is_dynamic else share)), stack)
    if is_dynamic:
        _put_at_the_end(kernel, share, users)
    elif total:
        _declare(kernel, filled(kernel, total))
    is_limited = bool(total) and kernel.stack_warps is not None
    return {
        "placement": "dynamic" if is_dynamic else "static",
        "stack_bytes": total,
        "dynamic_bytes_added": added(share, warps * WARP_SIZE) if is_dynamic else 0,
        **({STACK_THREADS: warps * WARP_SIZE} if is_limited else {}),
    }


def _declare(kernel: Kernel, size: int) -> None:
    """Declare the stacks, of so many bytes of a block.

    Of a ``.weak`` kernel, as each file has that uses a template's, the linker keeps one, but adds
    up what all of them declare inside. So nvcc declares their shared memory beside them, weak, too.
    Other files may need more for theirs, or less: the size is part of the name.
    """
    function, name = kernel.function, stack_name(kernel.function)
    is_weak = ".weak" in function.header.split(".entry")[0]
    if is_weak:
        own = function.names.free(f"{name}_{size}_{function.name}")
        rename(function, name, own)
        name = own
    text = f".shared .align {ALIGNMENT} .b8 {name}[{size}]"
    stacks = Variable(name, "shared", "b8", size, ALIGNMENT, text)
    if is_weak:
        kernel.declarations.append(f".weak {text};\n")
        kernel.shared += (stacks,)
    else:
        function.variables.append(stacks)


def _put_at_the_end(kernel: Kernel, share: int, users: Sequence[Instruction]) -> None:
    """Put the stacks at the end of what a launch gives.

    All arrays without a size begin at the same place if none is aligned to more than the others.
    """
    function, alignment = kernel.function, kernel.dynamic_alignment
    array = f".extern .shared .align {alignment} .b8 {stack_name(function)}[];\n"
    kernel.declarations += [array, note(function.name, share)]
    for block in function.blocks:
        for user in [one for one in block.instructions if one in users]:
            _, warp, _, stack = user.operands
            assert isinstance(warp, Register)
            assert isinstance(stack, Register)
            before = Block("", [], False)
            emit = Emitter(function, before, user.span)
            FROM_THE_END.emit(emit, warp=warp, stack=stack, share=share)
            at = block.statements.index(user)
            block.statements[at:at] = before.statements
