"""Which registers may still be read."""

from __future__ import annotations

from operator import or_

import networkx as nx

from ccc.analysis.dataflow import Problem, solve
from ccc.ir.nodes import Block, Function, Register


class Liveness:
    """Registers live at the top of each block (``live_in``) and at its bottom (``live_out``)."""

    def __init__(self, function: Function, graph: nx.DiGraph[str]):
        self.registers: list[Register] = []
        self.bits: dict[Register, int] = {}
        effect = {block.label: self._use_define(block) for block in function.blocks}

        def transfer(label: str, live: int) -> int:
            used, defined = effect.get(label, (0, 0))
            return used | (live & ~defined)

        problem = Problem(False, 0, 0, or_, transfer)
        self._out, self._in = solve(graph, set(), problem)

    def _bit(self, register: Register) -> int:
        if register not in self.bits:
            self.bits[register] = 1 << len(self.registers)
            self.registers.append(register)
        return self.bits[register]

    def _use_define(self, block: Block) -> tuple[int, int]:
        """The registers read before they are written in a block, and those surely written."""
        used = defined = 0
        for instruction in block.instructions:
            for register in instruction.used():
                used |= self._bit(register) & ~defined
            if instruction.guard is None:
                for register in instruction.defined():
                    defined |= self._bit(register)
        return used, defined

    def _registers(self, mask: int) -> frozenset[Register]:
        return frozenset(r for r, bit in self.bits.items() if mask & bit)

    def live_in(self, label: str) -> frozenset[Register]:
        """Registers whose value at the top of the block may still be read."""
        return self._registers(self._in.get(label, 0))

    def live_out(self, label: str) -> frozenset[Register]:
        """Registers whose value at the bottom of the block may still be read."""
        return self._registers(self._out.get(label, 0))
