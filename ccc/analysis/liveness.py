"""Which registers may still be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import or_
from typing import TypeAlias

from ccc.analysis.dataflow import Problem, members, solve
from ccc.analysis.graphs import FlowGraph
from ccc.ir.nodes import Function, Instruction
from ccc.ir.operands import Register

ReadsAndWrites: TypeAlias = tuple[set[Register], set[Register]]


def reads_and_writes(block: Iterable[Instruction]) -> ReadsAndWrites:
    """The registers that a block reads before it writes them, and those that it surely writes."""
    reads: set[Register] = set()
    writes: set[Register] = set()
    for instruction in block:
        reads.update(register for register in instruction.used() if register not in writes)
        if instruction.guard is None:
            writes.update(instruction.defined())
    return reads, writes


class Liveness:
    """Registers live at the top of each block (``live_in``) and at its bottom (``live_out``).

    Args:
        effects: for each label what :func:`reads_and_writes` says of its block.
        graph: which block may follow which; its first node is the entry.
    """

    def __init__(self, effects: Mapping[str, ReadsAndWrites], graph: FlowGraph):
        self.registers: list[Register] = []
        self.bits: dict[Register, int] = {}
        self._sets: dict[int, frozenset[Register]] = {}
        effect = {label: tuple(map(self._mask, both)) for label, both in effects.items()}

        def transfer(label: str, live: int) -> int:
            used, defined = effect.get(label, (0, 0))
            return used | (live & ~defined)

        problem = Problem(False, 0, 0, or_, transfer)
        self._out, self._in = solve(graph, set(), problem)

    @classmethod
    def of(cls, function: Function, graph: FlowGraph) -> Liveness:
        """That of a function and its control-flow graph."""
        blocks = function.blocks
        return cls({block.label: reads_and_writes(block.instructions) for block in blocks}, graph)

    def _bit(self, register: Register) -> int:
        if register not in self.bits:
            self.bits[register] = 1 << len(self.registers)
            self.registers.append(register)
        return self.bits[register]

    def _mask(self, registers: Iterable[Register]) -> int:
        mask = 0
        for register in registers:
            mask |= self._bit(register)
        return mask

    def _registers(self, mask: int) -> frozenset[Register]:
        if mask not in self._sets:
            self._sets[mask] = frozenset(members(mask, self.registers))
        return self._sets[mask]

    def live_in(self, label: str) -> frozenset[Register]:
        """Registers whose value at the top of the block may still be read."""
        return self._registers(self._in.get(label, 0))

    def live_out(self, label: str) -> frozenset[Register]:
        """Registers whose value at the bottom of the block may still be read."""
        return self._registers(self._out.get(label, 0))
