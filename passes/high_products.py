"""High halves of products that are added again and again are taken from whole products.

``ptxas`` 13.0 makes one instruction of a product's high half and its addition, and where the same
half is added three times or more in a row, it keeps two of the additions: wrong code, of which
docs/soundness.md tells more. nvcc multiplies instead of adding so often; but several turns that
stand one behind the other, as strategies lay them out, add again what is the same in all turns.

Before:

    mul.hi.u32 %r5, %r3, %r3;
    add.s32 %r7, %r5, %r7;
    ...                                 // both twice more, %r3 being the same

After, each product is a whole one, which is never fused with an addition of its half:

    mul.wide.u32 %ccc_product_0, %r3, %r3;
    mov.b64 {%ccc_low_0, %r5}, %ccc_product_0;
    add.s32 %r7, %r5, %r7;
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import ClassVar

from ccc.analysis.facts import Facts
from ccc.ir.nodes import Block, Function, Instruction
from ccc.ir.operands import Immediate, Operand, Register, Vector
from ccc.pipeline import Kernel, Pass
from ccc.ptx.operations import ADDITIONS, HIGH_HALVES

_KEPT = 2
"""Additions of one half in a row that ptxas keeps."""

Value = tuple[object, ...]
"""What tells a product from another: operands, each with the number of times it was set."""


class HighProducts(Pass):
    """Take halves of products that ptxas would add too seldom from whole products."""

    name: ClassVar[str] = "high-products"

    def run(self, kernel: Kernel) -> None:
        """Rewrite what is added too often in a row."""
        if not any(i.opcode in HIGH_HALVES for i in kernel.function.instructions):
            return
        known = _only_definitions(kernel.function)
        endangered = {
            half for blocks in _runs(kernel.facts) for half in _added_too_often(blocks, known)
        }
        if endangered:
            for block in kernel.function.blocks:
                _rewrite(block, endangered, kernel.function)
            kernel.changed()


def _runs(facts: Facts) -> Iterator[list[Block]]:
    """Blocks that are always run in a row: ptxas makes one of them."""
    graph = facts.graph

    def follows(label: str) -> str | None:
        after = list(graph.successors(label))
        before = list(graph.predecessors(after[0])) if len(after) == 1 else []
        return after[0] if len(before) == 1 else None

    goes_on = {after for label in graph if (after := follows(label)) is not None}
    for start in graph:
        label: str | None = start if start not in goes_on else None
        run = []
        while label is not None:
            if label in facts.blocks:
                run.append(facts.blocks[label])
            label = follows(label)
        yield run


def _only_definitions(function: Function) -> dict[Register, Instruction]:
    """High halves whose register is set nowhere else."""
    found: dict[Register, list[Instruction]] = defaultdict(list)
    for instruction in function.instructions:
        for register in instruction.defined():
            found[register].append(instruction)
    return {
        register: made[0]
        for register, made in found.items()
        if len(made) == 1 and made[0].opcode in HIGH_HALVES
    }


def _added_too_often(blocks: list[Block], known: dict[Register, Instruction]) -> set[Instruction]:
    """The halves that are added more often in these blocks than ptxas would keep."""
    times_set: Counter[Register] = Counter()
    held: dict[Register, Value] = {register: (register,) for register in known}
    made: dict[Value, set[Instruction]] = {(one,): {half} for one, half in known.items()}
    added: Counter[Value] = Counter()

    def value(half: Instruction) -> Value:
        factors = half.operands[1:3]
        return (
            half.opcode[4:],
            *(
                (str(one), times_set[one]) if isinstance(one, Register) else str(one)
                for one in factors
            ),
        )

    for instruction in (i for block in blocks for i in block.instructions):
        is_half = instruction.opcode in HIGH_HALVES
        of = value(instruction) if is_half else ()
        if is_half:
            made.setdefault(of, set()).add(instruction)
            added[of] += instruction.name == "mad"
        elif instruction.opcode in ADDITIONS:
            added.update(held[one] for one in instruction.used() if one in held)
        for register in instruction.defined():
            times_set[register] += 1
            held.pop(register, None)
            if is_half and instruction.name == "mul":
                held[register] = of
    often = [of for of, times in added.items() if times > _KEPT]
    return {half for of in often for half in made[of]}


def _rewrite(block: Block, endangered: set[Instruction], function: Function) -> None:
    """Put whole products in the place of the halves among a block's instructions."""
    if not endangered.intersection(block.instructions):
        return
    statements, block.statements = block.statements, []
    for statement in statements:
        if isinstance(statement, Instruction) and statement in endangered:
            block.statements += _whole(statement, function)
        else:
            block.statements.append(statement)


def _whole(half: Instruction, function: Function) -> Iterator[Instruction]:
    """The product, its half, and, of a ``mad``, the addition."""
    kind = HIGH_HALVES[half.opcode]
    result, *factors = half.operands[:3]
    product = function.registers.fresh("b64", "product")
    low = function.registers.fresh("b32", "low")
    high = result if half.name == "mul" else function.registers.fresh("b32", "high")

    def like(opcode: str, *operands: Operand) -> Instruction:
        return Instruction(opcode, operands, half.guard, half.span, half.location)

    yield like(f"mul.wide.{kind}", product, *(_unsigned(one, kind) for one in factors))
    yield like("mov.b64", Vector((low, high)), product)
    if half.name == "mad":
        yield like(f"add.{kind}", result, high, half.operands[3])


def _unsigned(factor: Operand, kind: str) -> Operand:
    """A literal as the number that its bits are: ``mul.wide.u32`` takes no negative ones."""
    return factor.unsigned(32) if kind == "u32" and isinstance(factor, Immediate) else factor
