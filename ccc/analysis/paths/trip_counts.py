"""How often a loop inside a path turns, as far as that is known where lanes come to the path.

A loop that ends by comparing a counter with a bound turns about as often as the steps between the
two, wherever both can be had: here at the beginning of the path, by pure instructions, and by plain
loads that the path begins with anyway. What is found is an estimate. The loop may end before its
bound, nvcc may have taken turns out of it, and what is loaded may be another value when the path
runs: who asks must be right whatever it says.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ccc.analysis.defuse import Definition
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.induction import Induction, find_bound
from ccc.analysis.paths.model import Path, Refused, instructions_of
from ccc.ir.edit import rewritten
from ccc.ir.nodes import Instruction
from ccc.ir.operands import CARRY, Immediate, Operand, Register
from ccc.ptx.opcodes import CHEAP, Effect, Unit
from ccc.ptx.types import LANE, STRONG, TYPES, number_of_type

NONE_LEFT = "no loop is left in the path"
NO_LOOP = "no loop lies in the path that compares a counter with a bound read before it"
NOT_KNOWN = "how often the loop in it turns is not known where the path begins"
CONSTANT = "the loop in it turns equally often in every task"

_READ = ("global", "param", "const")
_MOST = 32
"""Instructions, at most, that make a counter or its bound."""


@dataclass(frozen=True, eq=False)
class TripCount:
    """How often a loop turns.

    Args:
        begin: what its counter begins with, but for the turns that nvcc took out of it.
        bound: what it is compared with.
        step: what it gains in a turn of the source; negative where it counts down.
        made: what makes the two where the path begins, in order; what it writes are registers that
            no function has, each written once.
        bits: of the counter.
        includes_bound: whether there is a turn in which the counter is the bound.
    """

    begin: Register | int
    bound: Register | int
    step: int
    made: tuple[Instruction, ...]
    bits: int
    includes_bound: bool


def find_trip_count(path: Path, facts: Facts) -> TripCount:
    """That of the longest loop in a path of which it is known.

    Raises:
        Refused: there is none; the message says why.
    """
    inside = [loop for loop in facts.loops if loop.header in path.blocks - {path.entry}]
    outer = [one for one in inside if not any(one.blocks < other.blocks for other in inside)]
    refusals = []
    for loop in sorted(outer, key=lambda one: (-_length(one.blocks, facts), one.header)):
        induction = find_bound(loop, facts)
        if induction is None:
            continue
        try:
            return _Sources(path, loop, facts).of(induction)
        except Refused as refusal:
            refusals.append(refusal)
    if refusals:
        raise refusals[0]
    if not inside:
        raise Refused(NONE_LEFT)
    raise Refused(NO_LOOP)


def _length(blocks: Iterable[str], facts: Facts) -> int:
    return sum(one.unit != Unit.NOTHING for one in instructions_of(blocks, facts))


@dataclass
class _Sources:
    """Looks for what the counter of a loop begins with, and for its bound.

    ``made`` is what makes them, in order, and ``values`` the registers that it writes instead of
    those of the path's own instructions, of which one may write what another one wrote.
    """

    path: Path
    loop: Loop
    facts: Facts
    made: list[Instruction] = field(default_factory=list)
    values: dict[Instruction, dict[Register, Register]] = field(default_factory=dict)

    def of(self, induction: Induction) -> TripCount:
        """How often the loop turns.

        Raises:
            Refused: it is not known where the path begins.
        """
        stride = induction.stride
        begin, ways = self._first(induction)
        bound = induction.bound
        if isinstance(bound, Register):
            bound = self._value(bound, self._before(bound))
        if self._is_same(begin) and self._is_same(bound):
            raise Refused(CONSTANT)
        step = math.gcd(stride, *ways)
        if self._is_masked(abs(stride) - 1):
            step = 1
        return TripCount(
            begin,
            bound,
            step if stride > 0 else -step,
            tuple(self.made),
            induction.counter.bits,
            induction.relation in ("le", "ge"),
        )

    def _is_same(self, value: Register | int) -> bool:
        """Whether a number is the same in all tasks of a warp, as what a parameter says is.

        So is what is read from one place: nothing is lost if it is written between two tasks.
        """
        loop = self.path.loop.loop
        divergent = self.facts.divergence.divergent_at(self.path.entry)
        made = {register: one for one in self.made for register in one.defined()}
        left = [value] if isinstance(value, Register) else []
        while left:
            register = left.pop()
            if register in made:
                maker = made[register]
                if any(special.register.varies == LANE for special in maker.specials()):
                    return False
                left += maker.used()
                continue
            before = self.facts.reaching.at_top(self.path.entry, register)
            if register in divergent or any(one.label in loop.blocks for one in before):
                return False
        return True

    def _before(self, register: Register) -> list[Definition]:
        """What may have made the value that a register has when the loop is entered."""
        found = self.facts.reaching.at_top(self.loop.header, register)
        return [one for one in found if one.label not in self.loop.blocks]

    def _first(self, induction: Induction) -> tuple[Register | int, Sequence[int]]:
        """What a counter begins with, in the turns that nvcc took out of the loop, or behind them;
        and how many numbers lie between what it may begin with.

        Raises:
            Refused: it begins with several values.
        """
        counter = induction.counter
        found = self._before(counter)
        roots = [self._root(one, counter) for one in found]
        own = [root for root in roots if root is not None and root[0] != counter]
        bases = {base for base, _ in own}
        if own and len(bases) == 1 and None not in roots:
            begins = [offset for _, offset in own]
            first = min(begins) if induction.stride > 0 else max(begins)
            (base,) = bases
            if base is None:
                return first, [one - first for one in begins]
            if len(found) > 1:
                made = self._before(base)
                is_there = base in self.facts.liveness.live_in(self.path.entry)
                if not is_there and all(one.label not in self.path.blocks for one in made):
                    raise Refused(NOT_KNOWN)
                return self._value(base, made), begins
        return self._value(counter, found), [0]

    def _root(
        self, definition: Definition, counter: Register
    ) -> tuple[Register | None, int] | None:
        """What an instruction makes a counter of, over moves and constants that are added: another
        register, if any, and what is added to that. None if it does something else."""
        offset, seen, value = 0, set[Instruction](), definition
        while (moved := _moved(value.instruction, counter.bits)) is not None:
            source, added = moved
            offset += added
            seen.add(value.instruction)
            if source is None or source == counter:
                return source, offset
            sources = self._sources(value, source)
            if len(sources) != 1 or sources[0].instruction in seen:
                return source, offset
            if _moved(sources[0].instruction, counter.bits) is None:
                return source, offset
            (value,) = sources
        return None

    def _sources(self, definition: Definition, register: Register) -> list[Definition]:
        """What in the path may have made a register that an instruction there uses."""
        if definition.label not in self.path.blocks:
            return []
        uses = self.facts.reaching.of_uses(definition.label)
        found = uses[definition.instruction, register]
        return [one for one in found if one.label in self.path.blocks]

    def _value(self, register: Register, found: Sequence[Definition]) -> Register:
        """Where the value is that some definitions give a register, after what is ``made``.

        Raises:
            Refused: it is made in several ways, or by too much.
        """
        inside = [one for one in found if one.label in self.path.blocks]
        if not inside:
            return register  # it is there before the path
        if len(found) > 1:
            raise Refused(NOT_KNOWN)
        (definition,) = inside
        maker = definition.instruction
        if maker not in self.values:
            self._make(definition)
        return self.values[maker][register]

    def _make(self, definition: Definition) -> None:
        maker = definition.instruction
        if not self._can_be_early(maker) or self._is_in_loop(definition.label):
            raise Refused(NOT_KNOWN)
        uses = self.facts.reaching.of_uses(definition.label)
        read = {source: self._value(source, uses[maker, source]) for source in maker.used()}
        if len(self.made) == _MOST:
            raise Refused(NOT_KNOWN)
        prefix = f"%%{len(self.made)}_"
        new = {one: Register(f"{prefix}{one.name}", one.type) for one in maker.defined()}
        self.values[maker] = new
        self.made.append(rewritten(maker, read, new))

    def _can_be_early(self, instruction: Instruction) -> bool:
        """Whether it can be done where the path begins, too, without harm."""
        if instruction.guard is not None or instruction.reads_time:
            return False
        if CARRY in (*instruction.used(), *instruction.defined()):
            return False
        if instruction.loads:
            return instruction in self.facts.once(_first_loads, self.path.entry)
        return instruction.effects == Effect.NONE and instruction.unit in CHEAP

    def _is_in_loop(self, block: str) -> bool:
        """Whether a block of the path lies in a loop there."""
        inner = self.path.blocks - {self.path.entry}
        return any(one.header in inner and block in one.blocks for one in self.facts.loops)

    def _is_masked(self, mask: int) -> bool:
        """Whether turns are left for a loop behind this one, which nvcc made of the same: then the
        counter is one of turns."""
        return mask > 0 and any(
            one.name == "and" and any(_number(operand) in (mask, ~mask) for operand in one.operands)
            for one in self.made
        )


def _moved(maker: Instruction, bits: int) -> tuple[Register | None, int] | None:
    """The register that an instruction moves to another one, if any, and what it adds."""
    if maker.guard is not None or maker.name not in ("mov", "add") or len(maker.defined()) != 1:
        return None
    source, *more = maker.operands[1:]
    added = [source, *more] if isinstance(source, Immediate) else more
    numbers = [_number(one) for one in added]
    if None in numbers or not isinstance(source, Register | Immediate):
        return None
    total = sum(number for number in numbers if number is not None)
    begin = source if isinstance(source, Register) else None
    if begin is not None and TYPES[begin.type].kind == "f":
        return None
    return begin, number_of_type(total, f"s{bits}")


def _number(operand: Operand) -> int | None:
    return operand.integer if isinstance(operand, Immediate) else None


def _first_loads(label: str, facts: Facts) -> frozenset[Instruction]:
    """The plain loads of a block that nothing with another effect comes before: whoever comes to
    the block does them."""
    found = []
    for one in facts.blocks[label].instructions:
        if one.effects & ~Effect.READ:
            break
        is_plain = one.name == "ld" and STRONG.isdisjoint(one.modifiers)
        found += [one] if is_plain and one.space in _READ else []
    return frozenset(found)
