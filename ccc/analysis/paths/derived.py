"""Derived induction variables: registers that a loop steps beside its counter.

``values[k]`` in a loop over ``k`` is a pointer that nvcc steps by itself (strength reduction):

        mul.wide.s32 %rd2, %r1, 4;      // %r1 is k where the loop begins
        add.s64 %rd3, %rd1, %rd2;       // %rd1, the array, is the same for all lanes
    TURN:
        ld.global.f32 %f1, [%rd3];
        add.s64 %rd3, %rd3, 4;
        add.s32 %r1, %r1, 1;
        setp.lt.s32 %p1, %r1, %r2;
        @%p1 bra TURN;

A lane that runs a turn of another one's loop has to be told each register that steps. Of several
arrays that is the counter alone, if the pointers are made of it again.

(A. V. Aho, M. S. Lam, R. Sethi, J. D. Ullman, "Compilers", section 9.1.7.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ccc.analysis.between import written_behind, written_between
from ccc.analysis.defuse import Definition
from ccc.analysis.facts import Facts
from ccc.analysis.paths.induction import Induction
from ccc.analysis.paths.model import Path
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Immediate, Operand, Register
from ccc.ptx.operations import ORDERED
from ccc.ptx.types import number_of_type


@dataclass(frozen=True, slots=True)
class Derived:
    """At the beginning of each turn a register is ``base``, which all lanes of the warp have, and
    ``factor`` times the counter, as the multiplication ``mad`` extends that."""

    base: Register
    factor: int
    mad: str


@dataclass(frozen=True, slots=True)
class _Product:
    """A multiple of the counter: what makes it, and as what it extends the counter."""

    made: tuple[Definition, ...]
    factor: int
    extends: str


def find_derived(
    registers: Iterable[Register], path: Path, induction: Induction, facts: Facts
) -> dict[Register, Derived]:
    """Those of some registers that a loop steps beside its counter, and how they come of it.

    A counter of 32 bits has to stay on one side of the numbers that it is extended as: those that
    it is compared as where the loop ends, since turns are shared out only if it comes to its bound
    without going on at the other end of them.
    """
    found = {}
    for register in registers:
        step = induction.steps.get(register)
        if register.bits != 64 or register == induction.counter or not isinstance(step, int):
            continue
        derived = _derived(register, path, induction, facts)
        if derived and number_of_type(derived.factor * induction.stride - step, "s64") == 0:
            found[register] = derived
    return found


def _derived(register: Register, path: Path, induction: Induction, facts: Facts) -> Derived | None:
    """How a register begins, as far as it is a sum of something and a multiple of the counter."""
    made = _before_the_loop(register, path, facts)
    if made is None or made.instruction.guard:
        return None
    instruction = made.instruction
    if instruction.name == "mad" and len(instruction.operands) == 4:
        _, *factors, base = instruction.operands
        product = _scaled(instruction, factors, induction, (made,))
        return _sum(base, product, path, induction, facts)
    if instruction.name != "add" or instruction.modifiers[0] not in ("s64", "u64", "b64"):
        return None
    _, first, second = instruction.operands
    for base, part in ((first, second), (second, first)):
        product = _product(part, made, induction, facts)
        derived = _sum(base, product, path, induction, facts)
        if derived:
            return derived
    return None


def _before_the_loop(register: Register, path: Path, facts: Facts) -> Definition | None:
    """The one definition that the loop begins with."""
    found = [
        one for one in facts.reaching.at_top(path.entry, register) if one.label not in path.blocks
    ]
    return found[0] if len(found) == 1 and _is_before(found[0], path, facts) else None


def _product(
    part: Operand, user: Definition, induction: Induction, facts: Facts
) -> _Product | None:
    """A summand that is a multiple of the counter."""
    if not isinstance(part, Register):
        return None
    if part == induction.counter and part.bits == 64:
        return _Product((user,), 1, "")
    makers = facts.reaching.of_uses(user.label)[user.instruction, part]
    if len(makers) != 1 or not _comes_before(makers[0], user, facts):
        return None
    instruction = makers[0].instruction
    if instruction.guard:
        return None
    if instruction.name in ("mul", "shl") and len(instruction.operands) == 3:
        return _scaled(instruction, instruction.operands[1:], induction, (makers[0], user))
    return None


def _scaled(
    instruction: Instruction,
    factors: Iterable[Operand],
    induction: Induction,
    made: tuple[Definition, ...],
) -> _Product | None:
    """The counter times a literal, in 64 bits."""
    counter, literal = factors
    if counter != induction.counter or not isinstance(literal, Immediate):
        return None
    number, (*how, type_name) = literal.integer, instruction.modifiers
    if number is None:
        return None
    if how == ["wide"] and type_name in ("s32", "u32"):
        return _Product(made, number_of_type(number, type_name), type_name)
    if how == ["lo"] and type_name in ("s64", "u64"):
        return _Product(made, number_of_type(number, "s64"), "")
    if instruction.name == "shl" and type_name == "b64" and 0 <= number < 64:
        return _Product(made, number_of_type(1 << number, "s64"), "")
    return None


def _sum(
    base: Operand, product: _Product | None, path: Path, induction: Induction, facts: Facts
) -> Derived | None:
    """What is added to a multiple of the counter has to be the same for all lanes, and the counter
    what it was when that was made."""
    if product is None or not isinstance(base, Register) or not _is_of_all(base, path, facts):
        return None
    if product.extends and not _stays(induction, product.extends):
        return None
    ends = [one for one in facts.graph.predecessors(path.entry) if one not in path.blocks]
    for one in product.made:
        written = written_behind(one.instruction, one.label, facts)
        written |= written_between(one.label, ends, facts)
        if induction.counter in written:
            return None
    mad = f"mad.wide.{product.extends}" if product.extends else "mad.lo.s64"
    return Derived(base, product.factor, mad)


def _is_of_all(register: Register, path: Path, facts: Facts) -> bool:
    """Whether it is the same for all lanes, and made before the annotated loop."""
    made = facts.reaching.at_top(path.entry, register)
    if len(made) != 1 or made[0].label in path.loop.loop.blocks:
        return False
    divergent = facts.divergence.divergent_at(path.entry)
    return _is_before(made[0], path, facts) and register not in divergent


def _comes_before(first: Definition, second: Definition, facts: Facts) -> bool:
    """Whether nobody comes to the second without the first, of the same iteration."""
    if first.label != second.label:
        return facts.dominators.dominates(first.label, second.label)
    own = list(facts.blocks[first.label].instructions)
    return own.index(first.instruction) < own.index(second.instruction)


def _is_before(definition: Definition, path: Path, facts: Facts) -> bool:
    """Whether nobody comes to the loop without it."""
    return facts.dominators.dominates(definition.label, path.entry)


def _stays(induction: Induction, type_name: str) -> bool:
    """Whether the counter never goes on at the other end of the numbers of a type."""
    return induction.type == type_name and induction.relation in ORDERED
