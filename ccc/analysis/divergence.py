"""Which registers may differ between the lanes of a warp.

A value differs if it comes from a lane-dependent special register, from memory that the kernel may
write, from another lane, or from an operand that differs; if a divergent branch decided which of
several definitions it is (sync dependence); or if lanes left the loop that made it in different
iterations (temporal divergence).
"""

from __future__ import annotations

from operator import or_

import networkx as nx

from ccc.analysis.cfg import EXIT
from ccc.analysis.dataflow import Problem, solve
from ccc.analysis.defuse import ReachingDefinitions
from ccc.analysis.dominators import Dominators, Loop
from ccc.analysis.liveness import Liveness
from ccc.ir.nodes import Function, Instruction, Register
from ccc.ptx.opcodes import Effect
from ccc.ptx.types import LANE, TIME


class Divergence:
    """``divergent_branches`` are the blocks whose branch lanes may take differently."""

    def __init__(
        self,
        function: Function,
        graph: nx.DiGraph[str],
        post: Dominators,
        loops: list[Loop],
        reaching: ReachingDefinitions,
        liveness: Liveness,
    ):
        self._function = function
        self._graph = graph
        self._post = post
        self._loops = loops
        self._reaching = reaching
        self._liveness = liveness
        self._parameters = {parameter.name for parameter in function.parameters}
        self._blocks = {block.label: block for block in function.blocks if block.label in graph}
        self._bits: dict[Register, int] = {}
        self.divergent_branches: set[str] = set()
        self._top: dict[str, int] = {}
        self._run()

    def _run(self) -> None:
        """Grow the set of divergent branches until it says of itself what it is."""
        while True:
            added = self._added_at_tops()
            before, _ = solve(self._graph, set(), self._problem(added))
            self._top = {label: fact | added.get(label, 0) for label, fact in before.items()}
            found = {label for label in self._blocks if self._is_branch_divergent(label)}
            if found <= self.divergent_branches:
                return
            self.divergent_branches |= found

    def _problem(self, added: dict[str, int]) -> Problem[int]:
        def transfer(label: str, fact: int) -> int:
            return self._transfer(label, fact | added.get(label, 0))

        return Problem(True, 0, 0, or_, transfer)

    def _bit(self, register: Register) -> int:
        return self._bits.setdefault(register, 1 << len(self._bits))

    def _transfer(self, label: str, fact: int) -> int:
        if label != EXIT:
            for instruction in self._blocks[label].instructions:
                fact = self._step(instruction, fact)
        return fact

    def _step(self, instruction: Instruction, fact: int) -> int:
        differs = self._is_source(instruction) or any(
            fact & self._bit(register) for register in instruction.used()
        )
        for register in instruction.defined():
            fact = fact | self._bit(register) if differs else fact & ~self._bit(register)
        return fact

    def _is_source(self, instruction: Instruction) -> bool:
        """Whether the result may differ although all operands agree."""
        if any(special.register.varies in (LANE, TIME) for special in instruction.specials()):
            return True
        if instruction.name == "ld" and instruction.space == "param":
            is_parameter = any(symbol.name in self._parameters for symbol in instruction.symbols())
            return self._function.kind != "entry" or not is_parameter
        lane_made = Effect.READ | Effect.COLLECTIVE | Effect.CALL | Effect.OPAQUE
        return bool(instruction.effects & lane_made)

    def _is_branch_divergent(self, label: str) -> bool:
        fact = self._top.get(label, 0)
        for instruction in self._blocks[label].instructions:
            if instruction.is_terminator and any(
                fact & self._bit(register) for register in instruction.used()
            ):
                return True
            fact = self._step(instruction, fact)
        return False

    def _added_at_tops(self) -> dict[str, int]:
        """The registers that divergent branches make differ at the tops of blocks."""
        added: dict[str, int] = {}
        for label in self.divergent_branches:
            for join in self._divergent_joins(label):
                added[join] = added.get(join, 0) | self._merged_at(join)
            for loop in self._loops:
                if label in loop.blocks and self._leaves(label, loop):
                    made = self._defined_in(loop)
                    for _, target in loop.exits(self._graph):
                        added[target] = added.get(target, 0) | made
        return added

    def _divergent_joins(self, label: str) -> set[str]:
        """Blocks that lanes may enter by ways which parted at ``label``'s branch."""
        end = self._post.immediate(label) or EXIT
        seen: set[str] = set()
        joins: set[str] = set()
        for target in self._graph.successors(label):
            reached = self._reachable_before(target, end)
            joins |= reached & seen
            seen |= reached
        return joins - {EXIT}

    def _reachable_before(self, start: str, end: str) -> set[str]:
        reached, worklist = {start}, [start]
        while worklist:
            label = worklist.pop()
            if label == end:
                continue
            for target in self._graph.successors(label):
                if target not in reached:
                    reached.add(target)
                    worklist.append(target)
        return reached

    def _merged_at(self, join: str) -> int:
        """The registers that hold different definitions on different ways into ``join``."""
        sources = list(self._graph.predecessors(join))
        merged = 0
        for register in self._liveness.live_in(join):
            if len({self._reaching.bottom_mask(source, register) for source in sources}) > 1:
                merged |= self._bit(register)
        return merged

    def _leaves(self, label: str, loop: Loop) -> bool:
        return (self._post.immediate(label) or EXIT) not in loop.blocks

    def _defined_in(self, loop: Loop) -> int:
        defined = 0
        for label in loop.blocks:
            for instruction in self._blocks[label].instructions:
                for register in instruction.defined():
                    defined |= self._bit(register)
        return defined

    def divergent_at(self, label: str) -> frozenset[Register]:
        """The registers that may differ between lanes at the top of a block."""
        fact = self._top.get(label, 0)
        return frozenset(register for register, bit in self._bits.items() if fact & bit)
