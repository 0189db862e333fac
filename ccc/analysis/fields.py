"""Accesses that never meet since they go to different fields of an array's elements.

    mul.wide.u32 %rd2, %r1, 8;
    add.s64 %rd3, %rd1, %rd2;               // cells + i
    atom.global.cas.b32 %r2, [%rd3], ...;   // cells[i].key, of any i
    st.global.u32 [%rd3+4], %r3;            // cells[i].value

Both are so many steps of one size behind the same pointer, and a fixed distance further. All
threads of a launch have the pointer alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

from ccc.analysis.indices import ADDRESS
from ccc.analysis.origins import Pointer
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Address, Immediate, Operand, Register
from ccc.ptx.opcodes import PLAIN_ACCESSES, RENAMES
from ccc.ptx.types import TYPES, VECTORS

if TYPE_CHECKING:
    from ccc.analysis.facts import Facts


@dataclass(frozen=True, slots=True)
class _Distance:
    """``offset``, and any number of steps of so many bytes more or less; none if ``step`` is 0."""

    step: int
    offset: int

    def __add__(self, other: _Distance) -> _Distance:
        return _Distance(gcd(self.step, other.step), self.offset + other.offset)

    def __neg__(self) -> _Distance:
        return _Distance(self.step, -self.offset)

    @property
    def wrapped(self) -> _Distance:
        """What is left of it where numbers wrap around: steps of powers of two."""
        return _Distance(self.step & -self.step, self.offset) if self.step else self


_ANY = _Distance(1, 0)
_NONE = _Distance(0, 0)
_DEPTH = 5
"""Instructions in a row that make an index, at most."""


def are_other_fields(first: Instruction, second: Instruction, facts: Facts) -> bool:
    """Whether two accesses, of any two threads, never touch the same bytes."""
    if facts.function.kind != "entry" or not {first.name, second.name} <= PLAIN_ACCESSES:
        return False
    places = [_place(one, facts) for one in (first, second)]
    sizes = [_bytes(one) for one in (first, second)]
    if places[0] is None or places[1] is None or places[0][0] != places[1][0]:
        return False
    apart = places[0][1] + -places[1][1]
    if not apart.step:
        return apart.offset >= sizes[1] or -apart.offset >= sizes[0]
    distance = apart.offset % apart.step
    return distance >= sizes[1] and distance + sizes[0] <= apart.step


def are_one_place(first: Instruction, second: Instruction, facts: Facts) -> bool:
    """Whether two accesses begin at the same address for certain, whatever registers hold it."""
    mine, others = (_place(one, facts) for one in (first, second))
    return mine is not None and mine == others and not mine[1].step


def _bytes(access: Instruction) -> int:
    words = [VECTORS[word] for word in access.modifiers if word in VECTORS]
    return TYPES[access.types[-1]].bits // 8 * (words[0] if words else 1)


def _place(access: Instruction, facts: Facts) -> tuple[Pointer, _Distance] | None:
    """The pointer behind which an access lies, and how far; None if that is not known.

    Each value on the way there has one distance to the access, but for a number of steps; where two
    ways lead to one, what they differ by is a step as well.
    """
    addresses = [one for one, role in access.roles() if role == "addr"]
    if len(addresses) != 1 or not isinstance(addresses[0], Address) or not access.types:
        return None
    seen: dict[Operand, int] = {}
    found: dict[Pointer, int] = {}
    step = 0
    base = addresses[0].base
    worklist: list[tuple[Operand, int]] = [(base, addresses[0].offset)]
    while worklist:
        value, offset = worklist.pop()
        if value in seen:
            step = gcd(step, offset - seen[value])
            continue
        seen[value] = offset
        pointer = facts.memory.apart.origins.exactly(value)
        if pointer is not None:
            step = gcd(step, offset - found.setdefault(pointer, offset))
            continue
        makers = facts.makers.get(value) if isinstance(value, Register) else None
        for maker in makers or ():
            source, moved = _moved(maker, facts)
            if source is None:
                return None
            step = gcd(step, moved.step)
            worklist.append((source, offset + moved.offset))
        if not makers:
            return None
    if len(found) != 1:
        return None
    ((root, offset),) = found.items()
    distance = _Distance(step, offset)
    if root.is_loaded:
        return None
    is_wide = isinstance(base, Register) and base.bits == ADDRESS
    return root, distance if is_wide else distance.wrapped


def _moved(maker: Instruction, facts: Facts) -> tuple[Operand | None, _Distance]:
    """The address that another one is made from, and how far that lies behind it."""
    sources = maker.operands[1:]
    if maker.name in RENAMES and len(sources) == 1:
        return sources[0], _NONE
    if maker.name == "mad" and _leads_somewhere(sources[2], facts):
        return sources[2], _product(maker, facts)
    if maker.name not in ("add", "sub") or len(sources) != 2:
        return None, _ANY
    base, other = sources if _leads_somewhere(sources[0], facts) else sources[::-1]
    if _leads_somewhere(other, facts) or (maker.name == "sub" and base != sources[0]):
        return None, _ANY
    distance = _distance(other, facts)
    return base, -distance if maker.name == "sub" else distance


def _leads_somewhere(value: Operand, facts: Facts) -> bool:
    return not isinstance(value, Immediate) and facts.memory.apart.origins.of(value) is not None


def _distance(value: Operand, facts: Facts, deep: int = _DEPTH) -> _Distance:
    """What is known of a number of bytes, whatever makes it."""
    if isinstance(value, Immediate):
        return _ANY if value.integer is None else _Distance(0, value.integer)
    makers = facts.makers.get(value, ()) if isinstance(value, Register) else ()
    made = [_made(maker, facts, deep - 1) for maker in makers if deep]
    if not made:
        return _ANY
    first = made[0]
    apart = (gcd(one.step, one.offset - first.offset) for one in made)
    return _Distance(gcd(first.step, *apart), first.offset)


def _made(maker: Instruction, facts: Facts, deep: int) -> _Distance:
    """The same of what an instruction makes."""
    sources = maker.operands[1:]
    if maker.guard is not None:
        return _ANY
    if maker.name in ("mul", "shl"):
        return _product(maker, facts, deep)
    if maker.name == "and" and (mask := facts.literal(sources[1])) and mask.integer:
        return _Distance(mask.integer & -mask.integer, 0)
    if maker.name == "mov":
        return _distance(sources[0], facts, deep)
    if maker.name not in ("add", "sub") or len(sources) != 2:
        return _ANY
    one, other = (_distance(source, facts, deep).wrapped for source in sources)
    return one + (-other if maker.name == "sub" else other)


def _product(maker: Instruction, facts: Facts, deep: int = _DEPTH) -> _Distance:
    """Some number of steps as large as the literal by which it is multiplied."""
    factor = facts.literal(maker.operands[2])
    if factor is None or factor.integer is None or "hi" in maker.modifiers:
        return _ANY
    times = factor.integer
    if maker.name == "shl":
        times = 1 << times if 0 <= times < ADDRESS else 1
    source = _distance(maker.operands[1], facts, deep).wrapped
    if not source.step and not 0 <= source.offset < 1 << 31:
        source = _ANY  # with a sign it is another number
    product = _Distance(abs(source.step * times), source.offset * times)
    is_small = abs(times) < 1 << 31 and _is_widened(maker.operands[1], facts)
    is_exact = "wide" in maker.modifiers or is_small
    return product if is_exact else product.wrapped


def _is_widened(value: Operand, facts: Facts) -> bool:
    """Whether a number of 64 bits was one of 32, so that a product does not wrap around."""
    makers = facts.makers.get(value, ()) if isinstance(value, Register) else ()
    return bool(makers) and all(
        one.opcode in ("cvt.u64.u32", "cvt.s64.s32") and one.guard is None for one in makers
    )
