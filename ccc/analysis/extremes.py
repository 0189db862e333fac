"""Extremes: accumulators that the loop updates by ``if (x < best) best = x``.

nvcc makes of that, for floating-point numbers,

    setp.lt.f32 %p1, %f2, %f1;           // best
    selp.f32 %f1, %f2, %f1, %p1;

or a branch round a copy. It is a minimum, but for what is no number: that is neither taken nor
replaced. Of two zeros, either may be the least. With ``.ftz`` it is none: which of many tiny
numbers is kept, or whether it becomes a zero, depends on the order. Of integers it makes a minimum
itself, ``min.s32``, unless something else has to hold as well.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.ir.nodes import Block, Instruction
from ccc.ir.operands import Operand, Register
from ccc.ptx.operations import EXTREMES, INVERSE, SOUGHT, SWAPPED, UNSIGNED
from ccc.ptx.types import INTEGERS, NUMBERS


@dataclass(frozen=True, slots=True)
class _Comparison:
    """``setp`` of a new value with the one so far: which way, and what is sought if that holds."""

    setp: Instruction
    new: Operand
    old: Register
    if_true: str | None
    if_false: str | None


def extreme_operation(
    web: set[Register],
    mine: Collection[Instruction],
    loop: Loop,
    facts: Facts,
    *,
    has_no_nan: bool = False,
) -> tuple[str, str] | None:
    """By what a register is updated, and its type; None of what is no extreme.

    Args:
        web: all registers that the loop makes of it.
        mine: the instructions of the loop that read or write them.
        loop: the loop.
        facts: the function's analyses.
        has_no_nan: whether to ask for what would be one if no NaN came.
    """
    values = {register for register in web if register.bits > 1}
    ends = {*loop.blocks, *(target for _, target in loop.exits(facts.graph))}
    if not web & frozenset[Register]().union(*map(facts.liveness.live_in, ends)) <= values:
        return None
    blocks = [facts.blocks[label] for label in sorted(loop.blocks)]
    update = _Updates(values, mine, facts, has_no_nan)
    for block in blocks:
        update.look_at(block)
    types = {c.setp.types[0] for c in update.comparisons.values()} | update.types
    if update.found.keys() != set(mine) or len(update.operations) != 1 or len(types) != 1:
        return None
    return update.operations.pop(), types.pop()


class _Updates:
    """``found`` are the instructions that are part of an update, ``operations`` what they do."""

    def __init__(
        self, values: set[Register], mine: Collection[Instruction], facts: Facts, has_no_nan: bool
    ):
        self.values = values
        self.mine = set(mine)
        self.facts = facts
        self.has_no_nan = has_no_nan
        self.comparisons: dict[Operand, _Comparison] = {}
        self.found: dict[Instruction, None] = {}
        self.operations: set[str] = set()
        self.types: set[str] = set()

    def look_at(self, block: Block) -> None:
        """Find the updates that begin in a block."""
        known: dict[Operand, _Comparison] = {}
        for instruction in block.instructions:
            comparison = self._compared(instruction, known)
            if comparison is None and instruction in self.mine:
                self._update(instruction, block, known)
            self._forget(instruction, known)
            if comparison is not None:
                known[instruction.operands[0]] = comparison
                self.comparisons[instruction.operands[0]] = comparison
                self.found[instruction] = None

    def _compared(
        self, instruction: Instruction, known: Mapping[Operand, _Comparison]
    ) -> _Comparison | None:
        if instruction.name == "setp":
            return self._comparison(instruction)
        return self._derived(instruction, known) if instruction.name in ("and", "or") else None

    def _update(
        self, instruction: Instruction, block: Block, known: Mapping[Operand, _Comparison]
    ) -> None:
        name, guard = instruction.name, instruction.guard
        if name == "selp" and instruction.operands[3] in known:
            self._choose(instruction, known[instruction.operands[3]])
        elif name == "bra" and guard is not None and guard.register in known:
            self._branch(block, instruction, known[guard.register])
        elif name in EXTREMES and guard is None and instruction.types[0] in INTEGERS:
            if sum(one in self.values for one in instruction.operands[1:]) == 1:
                self.types.add(instruction.types[0])
                self._take(name, [instruction])
        elif name == "mov" and guard is None and instruction.operands[1] in self.values:
            self.found[instruction] = None

    def _forget(self, instruction: Instruction, known: dict[Operand, _Comparison]) -> None:
        """What was compared is another value from here on."""
        for register in instruction.defined():
            for predicate, comparison in list(known.items()):
                if register in (predicate, comparison.new, comparison.old):
                    del known[predicate]

    def _comparison(self, setp: Instruction) -> _Comparison | None:
        """A comparison of what is no value with one."""
        predicate, *compared = setp.operands
        olds = [one for one in compared if isinstance(one, Register) and one in self.values]
        is_plain = setp.guard is None and len(compared) == 2
        if not is_plain or len(olds) != 1 or setp.types[0] not in NUMBERS:
            return None
        if set(setp.modifiers[1:]) - set(setp.types) or len(self._makers(predicate)) != 1:
            return None
        how = UNSIGNED.get(setp.modifiers[0], setp.modifiers[0])
        plain, unordered = how.removesuffix("u"), how.endswith("u")
        if compared[0] == olds[0]:
            plain = SWAPPED.get(plain, "")
        is_either = self.has_no_nan or setp.types[0] in INTEGERS
        taken = SOUGHT.get(plain) if is_either or not unordered else None
        passed = SOUGHT.get(INVERSE.get(plain, "")) if is_either or unordered else None
        new = next(one for one in compared if one != olds[0])
        return _Comparison(setp, new, olds[0], taken, passed)

    def _derived(
        self, combination: Instruction, known: Mapping[Operand, _Comparison]
    ) -> _Comparison | None:
        """``and`` with another condition is a better value still, ``or`` none where neither is."""
        predicate, *sources = combination.operands
        compared = [known[source] for source in sources if source in known]
        if combination.guard is not None or len(compared) != 1:
            return None
        if len(self._makers(predicate)) != 1:
            return None
        if combination.name == "and":
            return replace(compared[0], if_false=None)
        return replace(compared[0], if_true=None)

    def _makers(self, register: Operand) -> Collection[Instruction]:
        return self.facts.makers.get(register, ()) if isinstance(register, Register) else ()

    def _choose(self, selp: Instruction, comparison: _Comparison) -> None:
        """``selp``: the new value where it is better, else the one so far."""
        target, first, second, _ = selp.operands
        if target not in self.values or selp.guard is not None:
            return
        ways = {
            (comparison.new, comparison.old): comparison.if_true,
            (comparison.old, comparison.new): comparison.if_false,
        }
        self._take(ways.get((first, second)), [selp])

    def _branch(self, block: Block, branch: Instruction, comparison: _Comparison) -> None:
        """A branch round copies of the new value."""
        guard = branch.guard
        ways = set(self.facts.graph.successors(block.label))
        if guard is None or branch.target not in ways or len(ways) != 2:
            return
        (other,) = ways - {branch.target}
        target = str(branch.target)
        on_true, on_false = (other, target) if guard.negated else (target, other)
        for label, skip, operation in (
            (on_true, on_false, comparison.if_true),
            (on_false, on_true, comparison.if_false),
        ):
            copies = self._copies(label, skip, block, comparison)
            if operation is not None and copies:
                self._take(operation, [branch, *copies])

    def _copies(
        self, label: str, skip: str, before: Block, comparison: _Comparison
    ) -> list[Instruction]:
        """The copies in a block that is nothing but these; none if there is more, or if something
        else than the value so far is kept where they are passed by."""
        graph = self.facts.graph
        if list(graph.predecessors(label)) != [before.label]:
            return []
        if list(graph.successors(label)) != [skip]:
            return []
        inside = [i for i in self.facts.blocks[label].instructions if not i.is_terminator]
        are_copies = all(
            i.name == "mov"
            and i.guard is None
            and i.operands[0] in self.values
            and i.operands[1] == comparison.new
            and _holds(i.operands[0], comparison.old, before)
            for i in inside
        )
        return inside if are_copies else []

    def _take(self, operation: str | None, instructions: list[Instruction]) -> None:
        if operation is not None:
            self.operations.add(operation)
            self.found.update(dict.fromkeys(instructions))


def _holds(register: Operand, value: Register, block: Block) -> bool:
    """Whether a register is a value, or holds a copy of it, at the end of a block."""
    made = [i for i in block.instructions if {register, value}.intersection(i.defined())]
    return register == value or (
        bool(made)
        and made[-1].name == "mov"
        and made[-1].guard is None
        and made[-1].operands == (register, value)
    )
