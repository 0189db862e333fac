"""Reaching definitions, and the def-use graph of figure 4.11 of the dissertation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import or_
from typing import TYPE_CHECKING, TypeAlias

from ccc.analysis.dataflow import Problem, members, solve
from ccc.analysis.graphs import FlowGraph
from ccc.ir.nodes import Function, Instruction
from ccc.ir.operands import Operand, Register

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, slots=True)
class Definition:
    """One place where a register gets a value: an instruction in the block ``label``."""

    register: Register
    instruction: Instruction
    label: str


class ReachingDefinitions:
    """Which definitions may have made the value that a register holds at a place.

    A guarded instruction does not kill: where its guard fails, the earlier value stays.
    """

    def __init__(self, function: Function, graph: FlowGraph):
        self.definitions: list[Definition] = []
        self.of_register: dict[Register, int] = {}
        self._of_uses: dict[str, dict[tuple[Instruction, Register], list[Definition]]] = {}
        self._of_instruction: dict[tuple[Instruction, Register], int] = {}
        self._blocks = {block.label: block for block in function.blocks if block.label in graph}
        for label, block in self._blocks.items():
            for instruction in block.instructions:
                for register in instruction.defined():
                    self._add(Definition(register, instruction, label))
        effect = {label: self._generate_kill(label) for label in self._blocks}

        def transfer(label: str, reaching: int) -> int:
            generated, killed = effect.get(label, (0, 0))
            return generated | (reaching & ~killed)

        self._in, self._out = solve(graph, set(), Problem(True, 0, 0, or_, transfer))

    def _add(self, definition: Definition) -> None:
        bit = 1 << len(self.definitions)
        self.definitions.append(definition)
        register = definition.register
        self.of_register[register] = self.of_register.get(register, 0) | bit
        self._of_instruction[definition.instruction, register] = bit

    def _generate_kill(self, label: str) -> tuple[int, int]:
        generated = killed = 0
        for instruction in self._blocks[label].instructions:
            for register in instruction.defined():
                if instruction.guard is None:
                    generated &= ~self.of_register[register]
                    killed |= self.of_register[register]
                generated |= self._of_instruction[instruction, register]
        return generated, killed

    def _definitions(self, mask: int) -> list[Definition]:
        return list(members(mask, self.definitions))

    def at_top(self, label: str, register: Register) -> list[Definition]:
        """The definitions of ``register`` that may hold at the top of a block."""
        return self._definitions(self._in.get(label, 0) & self.of_register.get(register, 0))

    def at_bottom(self, label: str, register: Register) -> list[Definition]:
        """The definitions of ``register`` that may hold at the bottom of a block."""
        return self._definitions(self.bottom_mask(label, register))

    def bottom_mask(self, label: str, register: Register) -> int:
        """The same as a bit set, to compare."""
        return self._out.get(label, 0) & self.of_register.get(register, 0)

    def of_uses(self, label: str) -> dict[tuple[Instruction, Register], list[Definition]]:
        """For each use in a block, the definitions that may have made the value."""
        reaching = self._in.get(label, 0)
        if label in self._of_uses:
            return self._of_uses[label]
        found = self._of_uses[label] = {}
        for instruction in self._blocks[label].instructions:
            for register in instruction.used():
                mask = reaching & self.of_register.get(register, 0)
                found[instruction, register] = self._definitions(mask)
            for register in instruction.defined():
                if instruction.guard is None:
                    reaching &= ~self.of_register[register]
                reaching |= self._of_instruction[instruction, register]
        return found


Makers: TypeAlias = Mapping[Register, Sequence[Instruction]]
"""For each register the instructions that write it."""


def makers(instructions: Iterable[Instruction]) -> dict[Register, list[Instruction]]:
    """Those of some instructions that write each register, in their order."""
    found: dict[Register, list[Instruction]] = {}
    for instruction in instructions:
        for register in instruction.defined():
            found.setdefault(register, []).append(instruction)
    return found


def only_maker(
    value: Operand, made: Makers | Mapping[Register | str, Sequence[Instruction]]
) -> Instruction | None:
    """The instruction that alone writes a register, whatever comes; None of other operands, and
    where a guard may keep an earlier value."""
    makers = made.get(value, ()) if isinstance(value, Register) else ()
    return makers[0] if len(makers) == 1 and makers[0].guard is None else None


def trace(
    values: Iterable[Operand],
    made: Makers,
    parts: Callable[[Instruction, Register], Iterable[Operand] | None],
) -> frozenset[Operand] | None:
    """All that some values may be made from, the values among it.

    Args:
        values: where to begin.
        made: the instructions that write each register.
        parts: what an instruction makes a register from, None if that is not known; registers
            among it are followed.

    Returns:
        None if anything is not known.
    """
    found: set[Operand] = set()
    worklist = list(values)
    while worklist:
        value = worklist.pop()
        known = value in found
        found.add(value)
        if isinstance(value, Register) and not known:
            for maker in made.get(value, ()):
                more = parts(maker, value)
                if more is None:
                    return None
                worklist += more
    return frozenset(found)


def def_use_graph(function: Function, path: Collection[str] = ()) -> nx.DiGraph[str]:
    """The def-use graph: an edge a -> b says that some instruction reads a and defines b.

    Nodes are the names of virtual and special registers; a node's ``special`` attribute tells them
    apart. An edge's ``inside`` attribute is true if such an instruction lies in a block of ``path``
    (labels), ``outside`` if one lies elsewhere, and ``opcodes`` lists them.
    """
    import networkx as nx  # noqa: PLC0415 - for drawing only

    graph: nx.DiGraph[str] = nx.DiGraph()
    for block in function.blocks:
        inside = block.label in path
        for instruction in block.instructions:
            for target in instruction.defined():
                graph.add_node(target.name, special=False)
                names = [(r.name, False) for r in instruction.used() if r != target]
                names += [(s.name, True) for s in instruction.specials()]
                for name, special in names:
                    graph.add_node(name, special=special)
                    _link(graph, name, target.name, inside, instruction.opcode)
    return graph


def _link(graph: nx.DiGraph[str], source: str, target: str, inside: bool, opcode: str) -> None:
    if not graph.has_edge(source, target):
        graph.add_edge(source, target, inside=False, outside=False, opcodes=[])
    edge = graph.edges[source, target]
    edge["inside" if inside else "outside"] = True
    if opcode not in edge["opcodes"]:
        edge["opcodes"].append(opcode)
