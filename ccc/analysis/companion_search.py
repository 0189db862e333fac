"""Finding a minimum or maximum with its companions among the registers of a loop.

Each block is followed instruction by instruction: which registers hold the value, and each of its
companions, as they are now. All that may happen to them is that they are copied, that the value is
compared, and that all are given something new together. Whatever else there is, they are none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ccc.analysis.cfg import EXIT
from ccc.analysis.companions import ORDER, Companions, ComparedValue, Replacement
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.ir.nodes import Block, Instruction
from ccc.ir.operands import Operand, Register
from ccc.ptx.opcodes import LOADS, Effect
from ccc.ptx.operations import EXTREMES, INVERSE, OPPOSITE_OF_FLOATS, SOUGHT, SWAPPED
from ccc.ptx.types import NUMBERS

BITS = (16, 32, 64)
"""Sizes of what can be kept for the lane of an iteration."""


class _Unfit(Exception):
    """It is something else than a value with companions."""


def find_companions(carried: Register, loop: Loop, facts: Facts) -> Companions | None:
    """A value and its companions; None of a register that is no such value, or is one alone.

    Args:
        carried: the register that goes from iteration to iteration.
        loop: the loop.
        facts: the function's analyses.
    """
    if not facts.is_reducible:
        return None  # what comes first in an iteration is not known
    return facts.once(_companions, (carried, loop))  # reasons ask for each value that is made


def _companions(asked: tuple[Register, Loop], facts: Facts) -> Companions | None:
    try:
        return _FollowedValue(*asked, facts).run()
    except _Unfit:
        return None


class Misfit(NamedTuple):
    """What keeps a register from being a value with companions, whether that is to read memory
    where they are set, and the registers that the loop makes of that one."""

    instruction: Instruction
    is_read: bool
    registers: frozenset[Register]


def find_misfit(carried: Register, loop: Loop, facts: Facts) -> Misfit | None:
    """What keeps a register that takes what it is compared with from being such a value; None if it
    is no such register, or it is not known what does.

    Args:
        carried: the register that goes from iteration to iteration.
        loop: the loop.
        facts: the function's analyses.
    """
    value = _FollowedValue(carried, loop, facts)
    if not facts.is_reducible or not value.takes_compared:
        return None
    try:
        value.run()
    except _Unfit:
        at = value.asking() or value.at
        registers = frozenset(value.classes[0])
        return Misfit(at, value.reads_where_set(at), registers) if at else None
    return None


class _FollowedValue:
    """``classes`` are the registers of the value, and of each companion; ``at`` is the instruction
    that is looked at."""

    at: Instruction | None = None

    def __init__(self, carried: Register, loop: Loop, facts: Facts):
        self.loop = loop
        self.facts = facts
        self.blocks = [facts.blocks[label] for label in sorted(loop.blocks)]
        self.body = [i for block in self.blocks for i in block.instructions]
        values, self.predicates = self._value_and_predicates(carried)
        self.classes = [values]
        self.compared: dict[Instruction, ComparedValue] = {}
        self.updates: dict[tuple[str, Register], Replacement] = {}
        self.ends: dict[str, list[set[Register]]] = {}

    def run(self) -> Companions:
        """The value with its companions; raises ``_Unfit`` if it is none."""
        exits = (target for _, target in self.loop.exits(self.facts.graph))
        if not self.predicates or self.predicates & self._live(*self.loop.blocks, *exits):
            raise _Unfit
        for block in self.blocks:
            self._find_updates(block)
        self.at = None
        self._find_classes()
        registers = [register for one in self.classes for register in one]
        if len(self.classes) == 1 or len(set(registers)) < len(registers):
            raise _Unfit
        if any(register.bits not in BITS for register in registers):
            raise _Unfit
        arms = {update.arm for update in self.updates.values()}
        for block in self.blocks:
            if block.label not in arms:
                self._follow(block)
        kinds = {(update.relation, update.comparison.kind) for update in self.updates.values()}
        if len(kinds) != 1:
            raise _Unfit
        found = Companions(
            *kinds.pop(), tuple(map(frozenset, self.classes)), tuple(self.updates.values()),
            self._places(), self.loop, self.facts,
        )  # fmt: skip
        if any(update.grown - {found.order} for update in found.updates):
            raise _Unfit
        return found

    @property
    def takes_compared(self) -> bool:
        """Whether it is ever given what it is compared with."""
        (values, *_) = self.classes
        compared = {
            operand
            for i in self.body
            if i.name == "setp" and not values.isdisjoint(i.operands[1:])
            for operand in i.operands[1:]
            if operand not in values
        }
        takers = (i for i in self.body if i.name in ("mov", "selp", *EXTREMES))
        return any(i.operands[0] in values and compared & {*i.operands[1:]} for i in takers)

    def asking(self) -> Instruction | None:
        """What only asks for the value, where the branch by that goes to what compares it again:
        it is found to be in the way where the value is set, which is right as it is."""
        comparisons = {update.arm: update.comparison.setp for update in self.updates.values()}
        for arm, setp in comparisons.items():
            inside = self.facts.blocks[arm].instructions if arm is not None else ()
            if any(one.name == "setp" and self._asks(one) for one in inside):
                return setp
        return None

    def reads_where_set(self, instruction: Instruction) -> bool:
        """Whether it reads memory in a block that is come to where the value is taken."""
        arms = (self.facts.blocks[u.arm].instructions for u in self.updates.values() if u.arm)
        return _reads(instruction) and any(instruction in arm for arm in arms)

    def _asks(self, setp: Instruction) -> bool:
        return not self.classes[0].isdisjoint(setp.operands[1:])

    def _live(self, *labels: str) -> set[Register]:
        live = (self.facts.liveness.live_in(label) for label in labels if label != EXIT)
        return set().union(*live)

    def _value_and_predicates(self, carried: Register) -> tuple[set[Register], set[Register]]:
        """The registers that hold the value, and the predicates made of comparisons with it."""
        values, predicates = {carried}, set[Register]()
        size = 0
        while size != len(values) + len(predicates):
            size = len(values) + len(predicates)
            for instruction in self.body:
                name, sources = instruction.name, instruction.operands[1:]
                mine = not values.isdisjoint(sources[:2])
                if name in ("mov", "selp", *EXTREMES) and mine:
                    values.update(instruction.defined())
                elif (name == "setp" and mine) or (
                    name in ("and", "or") and not predicates.isdisjoint(sources)
                ):
                    predicates.update(instruction.defined())
        return values, predicates

    # -- where the value is taken ---------------------------------------------------------------

    def _find_updates(self, block: Block) -> None:
        known: dict[Register, ComparedValue] = {}
        for instruction in block.instructions:
            self.at = instruction
            comparison = self._comparison(instruction, known)
            if comparison is None:
                self._find_update(instruction, block, known)
            for register in instruction.defined():
                known = {p: c for p, c in known.items() if register not in (p, c.new, c.old)}
            if comparison is not None:
                (predicate,) = instruction.defined()
                known[predicate] = self.compared[instruction] = comparison

    def _comparison(
        self, instruction: Instruction, known: Mapping[Register, ComparedValue]
    ) -> ComparedValue | None:
        """What an instruction makes a predicate of, if that is a comparison of the value."""
        made = instruction.defined()
        if len(made) != 1 or made[0] not in self.predicates:
            return None
        if instruction.guard is not None or len(self.facts.makers[made[0]]) != 1:
            raise _Unfit
        if instruction.name == "setp":
            return self._setp(instruction)
        sources = instruction.operands[1:]
        mine = [known[one] for one in sources if isinstance(one, Register) and one in known]
        if len(mine) != 1 or len(self.predicates.intersection(instruction.used())) != 1:
            raise _Unfit
        # "and" with another condition is a better value still, "or" none where neither is.
        way = instruction.name == "and"
        return ComparedValue(mine[0].setp, mine[0].new, mine[0].old, {way: mine[0].ways.get(way)})

    def _setp(self, setp: Instruction) -> ComparedValue:
        compared = setp.operands[1:]
        olds = [one for one in compared if isinstance(one, Register) and one in self.classes[0]]
        plain = set(setp.modifiers[1:]) <= {"ftz", *setp.types}
        if len(compared) != 2 or len(olds) != 1 or setp.types[0] not in NUMBERS or not plain:
            raise _Unfit
        new = next(one for one in compared if one != olds[0])
        how = setp.modifiers[0]
        if compared[0] == olds[0]:
            how = SWAPPED.get(how.removesuffix("u"), "") + "u" * how.endswith("u")
        opposite = OPPOSITE_OF_FLOATS if setp.types[0][0] == "f" else INVERSE
        passed = opposite.get(how)
        ways = {True: how if how in SOUGHT else None, False: passed if passed in SOUGHT else None}
        return ComparedValue(setp, new, olds[0], ways)

    def _find_update(
        self, instruction: Instruction, block: Block, known: Mapping[Register, ComparedValue]
    ) -> None:
        name, guard, operands = instruction.name, instruction.guard, instruction.operands
        if guard is not None and guard.register in known and name == "bra":
            self._find_arm(instruction, block, known[guard.register])
        elif name == "selp" and guard is None and operands[0] in self.classes[0]:
            predicate = operands[3]
            comparison = known.get(predicate) if isinstance(predicate, Register) else None
            if comparison is not None and isinstance(predicate, Register):
                both = comparison.new, comparison.old
                way = {both: True, both[::-1]: False}.get((operands[1], operands[2]))
                self._add(block.label, instruction, comparison, predicate, way)
        elif name in EXTREMES and guard is None and operands[0] in self.classes[0]:
            for predicate, comparison in known.items():
                if {comparison.new, comparison.old} == set(operands[1:]):
                    way = self._way_of_extreme(instruction, comparison)
                    self._add(block.label, instruction, comparison, predicate, way)
                    return

    def _way_of_extreme(self, extreme: Instruction, comparison: ComparedValue) -> bool | None:
        """Where ``min`` or ``max`` of integers takes what is new: of equals, either is the same."""
        (kind,) = comparison.kind[-1:]
        if extreme.modifiers != (kind,) or kind[0] == "f":
            return None
        ways = comparison.ways.items()
        return next((way for way, how in ways if SOUGHT.get(how or "") == extreme.name), None)

    def _add(
        self,
        label: str,
        instruction: Instruction,
        comparison: ComparedValue,
        predicate: Register,
        way: bool | None,
        arm: str | None = None,
    ) -> None:
        if way is None or comparison.ways.get(way) is None or (label, predicate) in self.updates:
            raise _Unfit
        update = Replacement(label, instruction, comparison, predicate, way, arm)
        self.updates[label, predicate] = update

    def _find_arm(self, branch: Instruction, block: Block, comparison: ComparedValue) -> None:
        """A branch round copies."""
        graph, guard, target = self.facts.graph, branch.guard, str(branch.target)
        ways = set(graph.successors(block.label))
        assert guard is not None
        if target not in ways or len(ways) != 2:
            raise _Unfit
        (other,) = ways - {target}
        for label, skip, way in (
            (target, other, not guard.negated),
            (other, target, guard.negated),
        ):
            alone = list(graph.predecessors(label)) == [block.label]
            if alone and list(graph.successors(label)) == [skip] and comparison.ways.get(way):
                self._add(block.label, branch, comparison, guard.register, way, label)
                return
        raise _Unfit

    # -- what goes with it ----------------------------------------------------------------------

    def _find_classes(self) -> None:
        for block in self.blocks:
            for instruction in block.instructions:
                if instruction.name == "selp" and instruction.operands[3] in self.predicates:
                    target = instruction.operands[0]
                    if isinstance(target, Register) and target not in self.classes[0]:
                        self._join(target, self._sides(instruction, block)[1])
        for update in self.updates.values():
            if update.arm is not None:
                (skip,) = self.facts.graph.successors(update.arm)
                for instruction in self.facts.blocks[update.arm].instructions:
                    for register in instruction.defined():
                        if register in self._live(skip) and register not in self.classes[0]:
                            self._join(register, register)
        copies = [i for i in self.body if i.name == "mov" and isinstance(i.operands[0], Register)]
        size = 0
        while size != sum(map(len, self.classes)):
            size = sum(map(len, self.classes))
            for target, source, *_ in (i.operands for i in copies):
                if any(source in one for one in self.classes[1:]):
                    self._join(target, source)

    def _sides(self, selp: Instruction, block: Block) -> tuple[Operand, Operand]:
        """What a companion is given there, and what it was before."""
        _, first, second, predicate = selp.operands
        assert isinstance(predicate, Register)
        update = self.updates.get((block.label, predicate))
        if update is None or update.arm is not None:
            raise _Unfit
        return (first, second) if update.way else (second, first)

    def _join(self, one: Operand, other: Operand) -> None:
        if not isinstance(one, Register) or not isinstance(other, Register):
            raise _Unfit
        mine = [c for c in self.classes[1:] if one in c or other in c]
        joined = {one, other}.union(*mine)
        self.classes = [self.classes[0], *(c for c in self.classes[1:] if c not in mine), joined]

    # -- that nothing else is done with them ----------------------------------------------------

    def _class_of(self, operand: Operand) -> int | None:
        return next((n for n, one in enumerate(self.classes) if operand in one), None)

    def _at(self, label: str) -> list[set[Register]]:
        """The register of each class that is asked for at the top of a block, if one is."""
        live = self._live(label)
        found = [live & one for one in self.classes]
        if any(len(one) > 1 for one in found):
            raise _Unfit
        return found

    def _follow(self, block: Block) -> None:
        """Which registers hold the value, and each companion, after each instruction."""
        current = self._at(block.label)
        sequences: list[list[Replacement]] = [[] for _ in self.classes]
        own = {u.instruction: u for u in self.updates.values() if u.label == block.label}
        for instruction in block.instructions:
            self.at = instruction
            registers = {*instruction.used(), *instruction.defined()}
            update = own.get(instruction)
            if update is not None and update.arm is not None:
                self._follow_arm(update)
            elif instruction in self.compared:
                comparison = self.compared[instruction]
                if instruction.name == "setp" and comparison.old not in current[0]:
                    raise _Unfit
            elif self.predicates.intersection(registers) or any(
                not one.isdisjoint(registers) for one in self.classes
            ):
                self._touch(instruction, block, update, current, sequences)
        if any(one != sequences[0] for one in sequences):
            raise _Unfit
        self._end(block.label, current)

    def _touch(
        self,
        instruction: Instruction,
        block: Block,
        update: Replacement | None,
        current: list[set[Register]],
        sequences: list[list[Replacement]],
    ) -> None:
        """An instruction that reads or writes one of the registers."""
        target = instruction.operands[0]
        number = self._class_of(target)
        if number is None or instruction.guard is not None or not isinstance(target, Register):
            raise _Unfit
        if update is not None:
            kept: Operand = update.comparison.old
        elif instruction.name == "mov" and self._class_of(instruction.operands[1]) == number:
            if instruction.operands[1] not in current[number]:
                raise _Unfit
            current[number].add(target)
            return
        elif instruction.name == "selp" and number > 0:
            given, kept = self._sides(instruction, block)
            update = self.updates[block.label, instruction.operands[3]]  # type: ignore[index]
            if self._class_of(given) is not None or number in update.taken:
                raise _Unfit
            update.taken[number] = given
        else:
            raise _Unfit
        if kept not in current[number]:
            raise _Unfit
        current[number] = {target}
        sequences[number].append(update)

    def _follow_arm(self, update: Replacement) -> None:
        """A block that is come to where the value is taken, and does nothing else."""
        assert update.arm is not None
        (skip,) = self.facts.graph.successors(update.arm)
        current: list[set[Register]] = [set() for _ in self.classes]
        for instruction in self.facts.blocks[update.arm].instructions:
            if instruction.is_terminator:
                continue
            self.at = instruction
            grows = self._grows(instruction)
            if not grows:
                self._check_pure(instruction, update)
            for register in instruction.defined():
                number = self._class_of(register)
                if number is None and register in self._live(skip):
                    raise _Unfit
                if number is None:
                    continue
                is_copy = instruction.name == "mov"
                source = instruction.operands[2 if grows else 1] if is_copy or grows else register
                if grows:
                    update.grown.add(number)
                if number == 0 and source != update.comparison.new:
                    raise _Unfit
                if number > 0:
                    if current[number]:
                        raise _Unfit
                    update.taken[number] = source
                current[number].add(register)
        if not all(current):
            raise _Unfit
        self._end(update.arm, current)

    def _grows(self, instruction: Instruction) -> bool:
        """Whether a companion is given what is more than what it was, if it is a number that tells
        the order."""
        target, *sources = instruction.operands
        number = self._class_of(target)
        own = number is not None and number > 0 and sources[:1] == [target]
        return own and instruction.opcode == f"max.{ORDER}" and instruction.guard is None

    def _check_pure(self, instruction: Instruction, update: Replacement) -> None:
        """It only computes, and nothing from the value and its companions as they were."""
        is_pure = instruction.effects == Effect.NONE and not _reads(instruction)
        if not is_pure or instruction.guard is not None:
            raise _Unfit
        made = set(instruction.defined())
        if self.predicates.union(*self.classes) & set(instruction.used()):
            raise _Unfit
        if self.predicates & made or update.comparison.new in made:
            raise _Unfit

    def _end(self, label: str, current: list[set[Register]]) -> None:
        """Behind a block, what is asked for is what there is now."""
        self.ends[label] = current
        for after in self.facts.graph.successors(label):
            live = self._at(after) if after != EXIT else []
            if any(not one <= now for one, now in zip(live, current, strict=False)):
                raise _Unfit

    def _places(self) -> dict[str, tuple[Register, ...]]:
        """Where all of them are, at the top of each block where one is asked for."""
        if any(len(u.taken) != len(self.classes) - 1 for u in self.updates.values()):
            raise _Unfit
        exits = {target for _, target in self.loop.exits(self.facts.graph)}
        found: dict[str, tuple[Register, ...]] = {}
        for label in sorted((self.loop.blocks | exits) - {EXIT}):
            live = self._at(label)
            before = [self.ends[b] for b in self.facts.graph.predecessors(label) if b in self.ends]
            places = []
            for number, one in enumerate(live) if any(live) else ():
                held = set.intersection(*(end[number] for end in before)) if before else set()
                held = one or held
                if not held:
                    raise _Unfit
                places.append(min(held, key=lambda register: register.name))
            if places:
                found[label] = tuple(places)
        return found


def _reads(instruction: Instruction) -> bool:
    """Whether it reads memory that may be written."""
    return instruction.name in LOADS and instruction.space != "param"
