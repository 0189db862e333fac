"""Loop-invariant code motion of what a launch has only one value of.

nvcc loads a kernel's parameters where they are used first, and so does the body of a kernel that
``ccc grid_stride`` puts into a loop. What is computed in a loop looks as if it changed from one
iteration to the next, and would be saved with every task, although all tasks have the same.

Before, %rd2 and %rd3 are in the context of a path that reads them:

    LOOP:
            ld.param.u64 %rd1, [k_param_0];
            cvta.to.global.u64 %rd2, %rd1;
            mov.u64 %rd3, table;
            ...
            @!%p bra JOIN;
            <path>

After, the three stand at the top of the kernel. Parameters of a device function are not touched:
its callers may give each thread another one.
"""

from __future__ import annotations

from typing import ClassVar

from ccc.analysis.facts import Facts
from ccc.ir.nodes import Function, Instruction
from ccc.ir.operands import Address, Register, Symbol
from ccc.pipeline import Kernel, Pass
from ccc.ptx.opcodes import LOADS, Effect
from ccc.ptx.types import GRID


class InvariantMotion(Pass):
    """Compute before annotated loops what is the same for the whole launch."""

    name: ClassVar[str] = "invariant-motion"

    def run(self, kernel: Kernel) -> None:
        """Move the instructions, with those that their operands are made by."""
        function, facts = kernel.function, kernel.facts
        around = [loop for loop in facts.loops if facts.entry in loop.blocks]
        if function.kind != "entry" or around:
            return
        known = invariants(facts)
        moved = _wanted(facts, known)
        if not moved:
            return
        for block in function.blocks:
            block.statements = [one for one in block.statements if one not in moved]
        in_order = dict.fromkeys(one for one in known.values() if one in moved)
        facts.blocks[facts.entry].statements[:0] = in_order
        kernel.changed()


def invariants(facts: Facts) -> dict[Register, Instruction]:
    """The registers with one value for the whole launch, and what makes each, operands first."""
    single = {register for register, made in facts.makers.items() if len(made) == 1}
    waiting: dict[Instruction, set[Register]] = {}
    readers: dict[Register, list[Instruction]] = {}
    for instruction in dict.fromkeys(made[0] for made in facts.makers.values()):
        if single.issuperset(instruction.defined()) and _can_be_moved(instruction, facts.function):
            waiting[instruction] = set(instruction.used())
            for operand in waiting[instruction]:
                readers.setdefault(operand, []).append(instruction)
    found: dict[Register, Instruction] = {}
    ready = [instruction for instruction, needed in waiting.items() if not needed]
    for instruction in ready:  # it grows
        for register in instruction.defined():
            found[register] = instruction
            for reader in readers.get(register, ()):
                waiting[reader].remove(register)
                if not waiting[reader]:
                    ready.append(reader)
    return found


def _can_be_moved(instruction: Instruction, function: Function) -> bool:
    """Whether it makes one value for the whole launch of operands that are such, wherever it is."""
    if instruction.guard is not None or instruction.effects != Effect.NONE:
        return False
    if instruction.name in LOADS and not _is_parameter(instruction, function):
        return False
    return all(special.register.varies == GRID for special in instruction.specials())


def _is_parameter(load: Instruction, function: Function) -> bool:
    """Whether it loads what the launch gave the kernel; a call's results are parameters, too."""
    address = load.operands[1]
    names = {parameter.name for parameter in function.parameters}
    return (
        load.space == "param"
        and isinstance(address, Address)
        and isinstance(address.base, Symbol)
        and address.base.name in names
    )


def _wanted(facts: Facts, known: dict[Register, Instruction]) -> set[Instruction]:
    """What stands in annotated loops, and what its operands are made by."""
    annotated = (
        loop.blocks
        for loop in facts.loops
        if any(m.kind == "for" for label in loop.blocks for m in facts.blocks[label].markers)
    )
    inside = frozenset().union(*annotated)
    # A literal is known for one wherever it stands.
    made = {i for r, i in known.items() if facts.literal(r) is None}
    left = [i for label in inside for i in facts.blocks[label].instructions if i in made]
    wanted: set[Instruction] = set()
    while left:
        instruction = left.pop()
        if instruction not in wanted:
            wanted.add(instruction)
            left += [known[register] for register in instruction.used()]
    return wanted
