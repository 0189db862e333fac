"""Booleans that nvcc keeps in registers of 16 bits become predicates.

nvcc has a ``bool`` that is handed on, as ``alive`` in ``while (alive) alive = step();``, in a
register of 16 bits. ``ptxas`` makes of that four instructions where one would do: it puts 0 into
the register, then what a predicate says, and tests it. In a loop of twenty instructions that is a
tenth or more: `samples/patterns/random_walk` became 2.95 times as fast as the original instead of
2.45 (H200, 2026-11-23).

Before:

            mov.u16 %rs4, 0;
            @%p7 bra DONE;
            setp.lt.u32 %p8, %r46, %r47;
            selp.u16 %rs4, 1, 0, %p8;
    DONE:
            setp.ne.s16 %p9, %rs4, 0;
            @%p9 bra AGAIN;

After:

            mov.pred %ccc_boolean_0, 0;
            @%p7 bra DONE;
            setp.lt.u32 %p8, %r46, %r47;
            mov.pred %ccc_boolean_0, %p8;
    DONE:
            mov.pred %p9, %ccc_boolean_0;
            @%p9 bra AGAIN;

A register is one of these if it is never made but of 0, of 1, of a predicate, or of another one,
and never read but by a comparison with 0 or by a copy. All that are copied from one another go
together, or none does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ccc.ir.nodes import Function, Instruction
from ccc.ir.operands import Immediate, Operand, Register
from ccc.pipeline import Kernel, Pass

_BITS = 16
_TESTS = frozenset(f"setp.{way}.{kind}16" for way in ("ne", "eq") for kind in "sub")
_BOTH = ((1, 0), (0, 1))
_MASKS = (1, 255)
"""A boolean with one of these is what it was: nvcc masks the byte that a ``bool`` is in C++."""


class Booleans(Pass):
    """Keep booleans in predicates."""

    name: ClassVar[str] = "booleans"

    def run(self, kernel: Kernel) -> None:
        """Rewrite what makes, copies and tests them."""
        function = kernel.function
        # Parameters of other functions may be registers, which callers set.
        may_have = function.kind == "entry" and any(map(_is_test, function.instructions))
        found = _booleans(function) if may_have else set()
        if not found:
            return
        fresh = function.registers.fresh
        predicates = {register: fresh("pred", "boolean") for register in sorted(found, key=str)}
        for block in function.blocks:
            block.statements = [
                _rewritten(one, predicates)
                if isinstance(one, Instruction) and not predicates.keys().isdisjoint(_named(one))
                else one
                for one in block.statements
            ]
        kernel.changed()


def _booleans(function: Function) -> set[Register]:
    """The registers that are nothing but booleans, wherever they stand."""
    copies: dict[Register, set[Register]] = {}
    tested: set[Register] = set()
    others: set[Register] = set()
    for instruction in function.instructions:
        mine = [register for register in _named(instruction) if register.bits == _BITS]
        source = _copied(instruction)
        if source is not None:
            target, *_ = mine
            copies.setdefault(target, set()).add(source)
            copies.setdefault(source, set()).add(target)
        elif _is_test(instruction):
            tested.update(mine)
        elif not _is_made(instruction):
            others.update(mine)
    found: set[Register] = set()
    for register in tested:
        web = {register}
        left = [register]
        while left:
            more = copies.get(left.pop(), set()) - web
            web |= more
            left += more
        if web.isdisjoint(others):
            found |= web
    return found


def _named(instruction: Instruction) -> Iterator[Register]:
    """The registers that it writes or reads, results first."""
    yield from instruction.defined()
    yield from instruction.used()


def _copied(instruction: Instruction) -> Register | None:
    """The register of which it makes a copy, if it does only that."""
    sources = instruction.operands[1:]
    if not sources or not isinstance(sources[0], Register) or sources[0].bits != _BITS:
        return None
    is_masked = instruction.opcode == "and.b16" and _integer(sources[1]) in _MASKS
    is_moved = instruction.name == "mov" and len(sources) == 1
    return sources[0] if is_moved or is_masked else None


def _is_made(instruction: Instruction) -> bool:
    """Whether it makes a boolean of a number, or of a predicate."""
    sources = [_integer(source) for source in instruction.operands[1:]]
    if instruction.name == "mov":
        return sources in ([0], [1])
    return instruction.name == "selp" and tuple(sources[:2]) in _BOTH


def _is_test(instruction: Instruction) -> bool:
    """Whether it makes a predicate of a boolean, or of its opposite."""
    operands = instruction.operands
    return (
        instruction.opcode in _TESTS
        and len(operands) == 3
        and isinstance(operands[0], Register)
        and isinstance(operands[1], Register)
        and _integer(operands[2]) == 0
    )


def _rewritten(one: Instruction, predicates: dict[Register, Register]) -> Instruction:
    """The same with predicates."""
    target, source, *others = one.operands
    assert isinstance(target, Register)
    result = predicates.get(target, target)
    opcode = "mov.pred"
    value: Operand = predicates.get(source, source) if isinstance(source, Register) else source
    if one.name == "selp":
        opcode = "mov.pred" if _integer(source) == 1 else "not.pred"
        value = others[1]
    elif one.name == "setp" and "eq" in one.modifiers:
        opcode = "not.pred"
    return Instruction(opcode, (result, value), one.guard, one.span, one.location)


def _integer(operand: Operand) -> int | None:
    return operand.integer if isinstance(operand, Immediate) else None
