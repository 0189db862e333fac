"""Which registers may differ between the lanes of a warp.

A value differs if it comes from a lane-dependent special register, from memory that the kernel may
write, from another lane, or from an operand that differs; if a divergent branch decided which of
several definitions it is (sync dependence); or if lanes left the loop that made it in different
iterations (temporal divergence).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import or_

from ccc.analysis.cfg import EXIT
from ccc.analysis.dataflow import Problem, members, solve
from ccc.analysis.dominators import Loop
from ccc.analysis.graphs import FlowGraph
from ccc.analysis.joins import JoinFinder
from ccc.analysis.literals import Literals
from ccc.analysis.liveness import Liveness
from ccc.ir.nodes import Function, Instruction
from ccc.ir.operands import Register
from ccc.ptx.opcodes import ALL_LANES_MASKS, BROADCASTS, EXCHANGES, Effect
from ccc.ptx.types import LANE, TIME

_LANE_MADE = Effect.READ | Effect.COLLECTIVE | Effect.CALL | Effect.OPAQUE
"""Of what may make another result for each lane, whatever its operands are."""


@dataclass(frozen=True, slots=True)
class _Step:
    """What one instruction does to the set of registers that differ, as masks."""

    is_source: bool
    used: int
    defined: int
    is_terminator: bool

    def apply(self, fact: int) -> int:
        """The set behind the instruction."""
        if self.is_source or fact & self.used:
            return fact | self.defined
        return fact & ~self.defined


def meets_all_lanes(instruction: Instruction, literals: Literals) -> bool:
    """Whether all lanes of the warp meet in it to exchange values, and nothing but values."""
    return (
        instruction.name in EXCHANGES
        and instruction.guard is None
        and "sync" in instruction.modifiers
        and literals.of(instruction, instruction.operands[-1]) in ALL_LANES_MASKS
    )


def is_broadcast(instruction: Instruction, literals: Literals) -> bool:
    """Whether all lanes of the warp meet in it, and all get the same from it.

    That is a ``vote`` or ``redux`` over all lanes, or a ``shfl.idx`` from a certain one (PTX ISA
    section 9.7.9 and 9.7.13).
    """
    name, operands = instruction.name, instruction.operands
    if name not in BROADCASTS or not meets_all_lanes(instruction, literals):
        return False
    certain = operands[2:] if name == "shfl" else operands[-1:]
    values = [literals.of(instruction, operand) for operand in certain]
    return (name != "shfl" or "idx" in instruction.modifiers) and all(
        value is not None and (wanted is None or value in wanted)
        for value, wanted in zip(values, BROADCASTS[name], strict=True)
    )


class Divergence:
    """``divergent_branches`` are the blocks whose branch lanes may take differently.

    ``literals`` are those that operands hold.
    """

    def __init__(self, function: Function, graph: FlowGraph, loops: list[Loop], liveness: Liveness):
        self._function = function
        self._graph = graph
        self._loops = loops
        self._liveness = liveness
        self.literals = Literals(function)
        self._parameters = {parameter.name for parameter in function.parameters}
        self._blocks = {block.label: block for block in function.blocks if block.label in graph}
        self._bits: dict[Register, int] = {}
        self.divergent_branches: set[str] = set()
        self._added: dict[str, int] = {}
        self._top: dict[str, int] = {}
        self._run()

    def _run(self) -> None:
        """Grow the set of divergent branches until it says of itself what it is."""
        self._steps = {
            label: [self._step_of(instruction) for instruction in block.instructions]
            for label, block in self._blocks.items()
        }
        self._written = {label: self._written_in(label) for label in self._blocks}
        self._finder = JoinFinder(self._graph, self._loops, self._written.__getitem__)
        while True:
            before, _ = solve(self._graph, {self._entry()}, self._problem(self._added))
            added = self._added
            self._top = {label: fact | added.get(label, 0) for label, fact in before.items()}
            found = {label for label in self._blocks if self._is_branch_divergent(label)}
            if found <= self.divergent_branches:
                return
            for label in sorted(found - self.divergent_branches):
                self._add_joins(label)
            self.divergent_branches |= found

    def _entry(self) -> str:
        return self._function.blocks[0].label

    def _arguments(self) -> int:
        """The parameters of a function that are registers: its callers set them as they like."""
        mask = 0
        for parameter in self._function.parameters:
            register = self._function.registers.find(parameter.name)
            if register is not None and parameter.space == "reg":
                mask |= self._bit(register)
        return mask

    def _problem(self, added: dict[str, int]) -> Problem[int]:
        def transfer(label: str, fact: int) -> int:
            return self._transfer(label, fact | added.get(label, 0))

        return Problem(True, self._arguments(), 0, or_, transfer)

    def _bit(self, register: Register) -> int:
        return self._bits.setdefault(register, 1 << len(self._bits))

    def _transfer(self, label: str, fact: int) -> int:
        if label != EXIT:
            for step in self._steps[label]:
                fact = step.apply(fact)
        return fact

    def _step_of(self, instruction: Instruction) -> _Step:
        return _Step(
            self.is_source(instruction),
            0 if self.agrees(instruction) else self._mask(instruction.used()),
            self._mask(instruction.defined()),
            instruction.is_terminator,
        )

    def _mask(self, registers: Iterable[Register]) -> int:
        return reduce(or_, map(self._bit, registers), 0)

    def is_source(self, instruction: Instruction) -> bool:
        """Whether the result may differ although all operands agree."""
        if is_broadcast(instruction, self.literals):
            return False
        if any(special.register.varies in (LANE, TIME) for special in instruction.specials()):
            return True
        if instruction.name == "ld" and instruction.space == "param":
            is_parameter = any(symbol.name in self._parameters for symbol in instruction.symbols())
            return self._function.kind != "entry" or not is_parameter
        return bool(instruction.effects & _LANE_MADE)

    def agrees(self, instruction: Instruction) -> bool:
        """Whether the result agrees although operands differ."""
        return is_broadcast(instruction, self.literals)

    def _is_branch_divergent(self, label: str) -> bool:
        fact = self._top.get(label, 0)
        for step in self._steps[label]:
            if step.is_terminator and fact & step.used:
                return True
            fact = step.apply(fact)
        return False

    def _add_joins(self, branch: str) -> None:
        """Note what a divergent branch makes differ at the tops of blocks."""
        joins = self._finder.joins(branch)
        for join, written in joins.written.items():
            live = sum(self._bit(register) for register in self._liveness.live_in(join))
            self._added[join] = self._added.get(join, 0) | (written & live)
        for loop in joins.left:
            written = 0
            for label in loop.blocks:
                written |= self._written[label]
            for _, target in loop.exits(self._graph):
                self._added[target] = self._added.get(target, 0) | written

    def _written_in(self, label: str) -> int:
        return reduce(or_, (step.defined for step in self._steps[label]), 0)

    def differing(self, label: str) -> Iterator[Instruction]:
        """The instructions of a block that use what may differ between lanes."""
        fact = self._top.get(label, 0)
        for instruction, step in zip(
            self._blocks[label].instructions, self._steps[label], strict=True
        ):
            if fact & self._mask(instruction.used()):
                yield instruction
            fact = step.apply(fact)

    def differ(self, label: str, instruction: Instruction, registers: Iterable[Register]) -> bool:
        """Whether some registers may differ between lanes where they come to an instruction."""
        fact = self._top.get(label, 0)
        for one, step in zip(self._blocks[label].instructions, self._steps[label], strict=True):
            if one is instruction:
                return bool(fact & self._mask(registers))
            fact = step.apply(fact)
        return False

    def divergent_at(self, label: str) -> frozenset[Register]:
        """The registers that may differ between lanes at the top of a block."""
        fact = self._top.get(label, 0)
        return frozenset(members(fact, list(self._bits)))
