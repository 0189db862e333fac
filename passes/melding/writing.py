"""What columns of aligned steps become: one instruction for each, with its operands chosen.

Where the arms of a column have different operands, a register gets the right one: by a selection
for each further value, or, where all are literals, from a table in memory with an entry for each
arm. What it is that tells lanes of one arm from others is a predicate, made when it is first asked
for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ccc.ir.nodes import Guard, Instruction
from ccc.ir.operands import Address, Immediate, Operand, Register, leaves, map_leaves
from ccc.passes.melding.alignment import Column
from ccc.passes.melding.renaming import COMMUTE, Renamed, RenamedArm, is_float, literal_type
from ccc.ptx.types import TYPES

LINE_BYTES = 16
"""Of a line of a table, for each arm: what one load fetches at most."""
Arms = frozenset[int]
Chosen = list[tuple[str | None, dict[int, Operand], Operand]]
"""Operands that were selected: the type that the instruction gives them, those of arms, and the one
that stands for them."""
Fresh = Callable[[str, str], Register]
"""Gives a new register of a type, named for what it holds."""


@dataclass(eq=False)
class Line:
    """A line of a table: for each value its literals by arm, and the register that it goes to."""

    type: str
    values: list[Mapping[int, Immediate]] = field(default_factory=list)
    targets: list[Register] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        """Whether nothing more fits into it."""
        return len(self.values) * TYPES[self.type].bytes == LINE_BYTES


@dataclass(eq=False)
class Stretch:
    """Statements, or a piece with its registers, for the lanes of some arms.

    Its ``guard`` tells these lanes from others, if there are others.
    """

    arms: Arms
    guard: Guard | None = None
    statements: list[Instruction | Line] = field(default_factory=list)
    piece: Renamed | None = None
    registers: dict[Register, Register] = field(default_factory=dict)
    chosen: Chosen = field(default_factory=list)
    moved: dict[tuple[Register, int], Register] = field(default_factory=dict)


@dataclass(eq=False)
class Melded:
    """The melded code of some arms, in ``runs``.

    ``predicates`` are those that tell arms apart; ``lines`` those of the table, if there is one,
    and ``base`` its address for the lane's own arm. ``results`` are the instructions that write
    what is read after the join. ``aligned`` counts the instructions that stand for several.
    """

    runs: list[Stretch] = field(default_factory=list)
    predicates: dict[Arms, Register] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    results: list[Instruction] = field(default_factory=list)
    aligned: int = 0
    selections: int = 0


class Writer:
    """Writes the melded code of some arms.

    Args:
        arms: the arms.
        fresh: gives registers.
        known: predicates that tell arms apart already.
        share: of the literals of 64 bits that arms have different ones of, what a table holds.
    """

    def __init__(
        self,
        arms: Sequence[RenamedArm],
        fresh: Fresh,
        known: Mapping[Arms, Guard],
        share: float,
    ):
        self.arms = arms
        self.fresh = fresh
        self.guards = dict(known)
        self.share = share
        self.literals = 0
        self.melded = Melded()
        self.values: list[dict[Register, Register]] = [{} for _ in arms]
        self.everybody = frozenset(range(len(arms)))
        self.chosen: Chosen = []
        self.moved: dict[tuple[Register, int], Register] = {}

    def write(self, columns: Sequence[Column[Renamed]], live: frozenset[Register]) -> Melded:
        """Write the columns, and what makes ``live`` what the arms leave in it."""
        for column in columns:
            self._write_column(column)
        self._write_results(live)
        for run in self.melded.runs:
            if run.arms != self.everybody:
                run.guard = self.guard(run.arms, self.everybody)
        return self.melded

    def guard(self, arms: Arms, within: Arms) -> Guard:
        """What holds in lanes of some arms and not in others; only ``within`` matters."""
        for known, guard in self.guards.items():
            if known & within == arms:
                return guard
            if within - known == arms:
                return guard.inverted()
        outside = frozenset(range(len(self.arms))) - within
        for chosen in (arms, within - arms, arms | outside, (within - arms) | outside):
            if len(chosen) == 1:
                break
        else:
            chosen = arms
        predicate = self.fresh("pred", "mine")
        self.melded.predicates[chosen] = predicate
        self.guards[chosen] = Guard(predicate)
        return self.guard(arms, within)

    def _write_column(self, column: Column[Renamed]) -> None:
        steps = {arm: step for arm, step in enumerate(column) if step is not None}
        arms = frozenset(steps)
        first_arm, first = next(iter(steps.items()))
        if first.step.blocks:
            self._write_piece(first_arm, first)
            return
        run = self._run(arms)
        self.melded.aligned += len(steps) > 1
        instruction = first.instruction
        operands = self._operands(run, steps)
        guard = instruction.guard
        if guard is not None:
            guard = Guard(self._value(first_arm, guard.register), guard.negated)
        targets: dict[Register, Register] = {}
        for place, register in enumerate(instruction.defined()):
            targets[register] = self.fresh(register.type, "")
            for arm, step in steps.items():
                self.values[arm][step.instruction.defined()[place]] = targets[register]
        self._keep(run, first_arm, first, targets)

        def change(leaf: Operand) -> Operand:
            return targets.get(leaf, leaf) if isinstance(leaf, Register) else leaf

        written = tuple(
            map_leaves(operand, change) if role == "def" else operands[place]
            for place, (operand, role) in enumerate(instruction.roles())
        )
        run.statements.append(
            Instruction(instruction.opcode, written, guard, instruction.span, instruction.location)
        )

    def _keep(
        self, run: Stretch, arm: int, step: Renamed, targets: Mapping[Register, Register]
    ) -> None:
        for register, before in step.kept:
            target = targets[register]
            run.statements.append(_move(target, self._value(arm, before)))

    def _write_piece(self, arm: int, step: Renamed) -> None:
        targets = {register: self.fresh(register.type, "") for register in step.made}
        run = Stretch(frozenset({arm}), piece=step)
        self._keep(run, arm, step, targets)
        self.values[arm].update(targets)
        run.registers = {
            register: self._value(arm, new) for register, new in step.registers.items()
        }
        self.melded.runs.append(run)

    def _run(self, arms: Arms) -> Stretch:
        """The run that goes on for these arms, or a new one."""
        runs = self.melded.runs
        if not runs or runs[-1].arms != arms or runs[-1].piece is not None:
            runs.append(Stretch(arms))
        return runs[-1]

    def _value(self, arm: int, register: Register) -> Register:
        return self.values[arm].get(register, register)

    def _mapped(self, arm: int, operand: Operand) -> Operand:
        def change(leaf: Operand) -> Operand:
            return self._value(arm, leaf) if isinstance(leaf, Register) else leaf

        return map_leaves(operand, change)

    def _operands(self, run: Stretch, steps: Mapping[int, Renamed]) -> list[Operand]:
        """The operands of a column's instruction; what it writes is not among what counts."""
        mapped = {
            arm: [self._mapped(arm, operand) for operand in step.instruction.operands]
            for arm, step in steps.items()
        }
        first = next(iter(steps.values())).instruction
        if first.name in COMMUTE:
            _swap(mapped)
        return [
            operand
            if role == "def"
            else self._chosen(
                run, literal_type(first, place), {a: m[place] for a, m in mapped.items()}
            )
            for place, (operand, role) in enumerate(first.roles())
        ]

    def _chosen(
        self, run: Stretch, type_name: str | None, by_arm: Mapping[int, Operand]
    ) -> Operand:
        """One operand for those of several arms, which have the same shape."""
        first = next(iter(by_arm.values()))
        if all(operand == first for operand in by_arm.values()):
            return first
        if isinstance(first, Address):
            return self._chosen_address(run, by_arm)
        parts = {arm: list(leaves(operand)) for arm, operand in by_arm.items()}
        places = iter(range(len(next(iter(parts.values())))))

        def change(_leaf: Operand) -> Operand:
            place = next(places)
            return self._selected(run, type_name, {arm: leaf[place] for arm, leaf in parts.items()})

        return map_leaves(first, change)

    def _chosen_address(self, run: Stretch, by_arm: Mapping[int, Operand]) -> Address:
        """The address of the lane's arm, with the offset of the first arm."""
        bases: dict[int, Operand] = {}
        offset: int | None = None
        for arm, address in by_arm.items():
            assert isinstance(address, Address)
            assert isinstance(address.base, Register)
            offset = address.offset if offset is None else offset
            bases[arm] = address.base
            if address.offset != offset:
                bases[arm] = self._moved(run, address.base, address.offset - offset)
        base = self._selected(run, None, bases)
        assert isinstance(base, Register)
        return Address(base, offset or 0)

    def _moved(self, run: Stretch, base: Register, distance: int) -> Register:
        """The address so many bytes further on."""
        for known in (self.moved, run.moved):
            if (base, distance) in known:
                return known[base, distance]
        known = self.moved if run.arms == self.everybody else run.moved
        target = known[base, distance] = self.fresh(base.type, "address")
        operands = (target, base, Immediate(str(distance)))
        run.statements.append(Instruction(f"add.s{base.bits}", operands))
        return target

    def _selected(
        self, run: Stretch, type_name: str | None, by_arm: Mapping[int, Operand]
    ) -> Operand:
        """A register with the value of the lane's arm, or what is the same for all."""
        if len(set(by_arm.values())) == 1:
            return next(iter(by_arm.values()))
        if not any(isinstance(value, Immediate) for value in by_arm.values()):
            type_name = None
        items = by_arm.items()
        for kind, chosen, operand in (*self.chosen, *run.chosen):
            if kind == type_name and items <= chosen.items():
                return operand
        operand = self._select_anew(run, type_name, by_arm)
        known = self.chosen if run.arms == self.everybody else run.chosen
        known.append((type_name, dict(by_arm), operand))
        return operand

    def _select_anew(
        self, run: Stretch, type_name: str | None, by_arm: Mapping[int, Operand]
    ) -> Operand:
        groups: dict[Operand, set[int]] = {}
        for arm, value in by_arm.items():
            groups.setdefault(value, set()).add(arm)
        literals = {a: v for a, v in by_arm.items() if isinstance(v, Immediate)}
        if type_name and len(literals) == len(by_arm):
            type_name = f"{'f' if type_name[0] == 'f' else 'b'}{type_name[1:]}"
            known = all(bits_of(literal) is not None for literal in literals.values())
            if known and TYPES[type_name].bits == 64 and self._next_goes_to_table():
                return self._from_table(run, type_name, literals)
        (chosen, _), *others = groups.items()
        register = next((v for v in groups if isinstance(v, Register)), None)
        kind = register.type if register is not None else type_name
        assert kind is not None
        for value, arms in others:
            guard = self.guard(frozenset(arms), run.arms)
            chosen = self._select(run, kind, value, chosen, guard)
        return chosen

    def _select(
        self, run: Stretch, kind: str, value: Operand, other: Operand, guard: Guard
    ) -> Register:
        """``value`` where the guard holds, else ``other``."""
        self.melded.selections += 1
        target = self.fresh(kind, "chosen")
        if TYPES[kind].bits == 1:
            run.statements.append(Instruction("mov.pred", (target, other)))
            run.statements.append(Instruction("mov.pred", (target, value), guard))
            return target
        if guard.negated:
            value, other = other, value
        letter = (
            "f" if any(isinstance(v, Immediate) and is_float(v) for v in (value, other)) else "b"
        )
        opcode = f"selp.{letter}{TYPES[kind].bits}"
        run.statements.append(Instruction(opcode, (target, value, other, guard.register)))
        return target

    def _next_goes_to_table(self) -> bool:
        """Whether one more literal keeps the table's share."""
        self.literals += 1
        return int(self.literals * self.share) > int((self.literals - 1) * self.share)

    def _from_table(
        self, run: Stretch, type_name: str, literals: Mapping[int, Immediate]
    ) -> Register:
        """A register that gets the literal of the lane's arm from the table."""
        target = self.fresh(type_name, "entry")
        for one in run.statements:
            if isinstance(one, Line) and one.type == type_name and not one.is_full:
                line = one
                break
        else:
            line = Line(type_name)
            run.statements.append(line)
            self.melded.lines.append(line)
        line.values.append(literals)
        line.targets.append(target)
        return target

    def _write_results(self, live: frozenset[Register]) -> None:
        """Copy what is live behind the join; at first to other registers, since it may be read."""
        written = [r for r in sorted(live, key=str) if any(r in arm.results for arm in self.arms)]
        chosen: dict[Register, Operand] = {}
        for register in written:
            by_arm: dict[int, Operand] = {}
            for number, arm in enumerate(self.arms):
                value = arm.results.get(register, register)
                by_arm[number] = self._mapped(number, value)
            run = self._run(self.everybody)
            kind = TYPES[register.type]
            literal = f"{'f' if any(_is_float(v) for v in by_arm.values()) else 'b'}{kind.bits}"
            chosen[register] = self._selected(run, literal, by_arm)
        moves = [(r, value) for r, value in chosen.items() if r != value]
        for register, value in moves:
            if isinstance(value, Register) and value in chosen and value != register:
                saved = self.fresh(value.type, "")
                self._run(self.everybody).statements.append(_move(saved, value))
                chosen[register] = saved
        self.melded.results = [_move(r, chosen[r]) for r, _ in moves]


def bits_of(literal: Immediate) -> int | None:
    """What a literal is in memory, as a number; None if it is written in another way."""
    if literal.text[:2].lower() in ("0d", "0f"):
        return int(literal.text[2:], 16)
    return literal.integer


def _is_float(value: Operand) -> bool:
    return isinstance(value, Immediate) and is_float(value)


def _move(target: Register, source: Operand) -> Instruction:
    if target.bits == 1:
        return Instruction("mov.pred", (target, source))
    letter = "f" if _is_float(source) else "b"
    return Instruction(f"mov.{letter}{target.bits}", (target, source))


def _swap(mapped: Mapping[int, list[Operand]]) -> None:
    """Exchange the first two operands where more of them are then those of the first arm."""
    first, *others = mapped.values()
    for other in others:
        straight = (first[1] == other[1]) + (first[2] == other[2])
        crossed = (first[1] == other[2]) + (first[2] == other[1])
        if crossed > straight:
            other[1], other[2] = other[2], other[1]
