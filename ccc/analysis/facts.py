"""The analyses of one function, computed when asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from ccc.analysis.callees import Callees
from ccc.analysis.cfg import EXIT, control_flow_graph, reachable
from ccc.analysis.defuse import Definition, ReachingDefinitions, makers, only_maker
from ccc.analysis.divergence import Divergence
from ccc.analysis.dominators import (
    Dominators,
    Loop,
    control_dependence,
    dominators,
    is_reducible,
    natural_loops,
    post_dominators,
)
from ccc.analysis.graphs import FlowGraph
from ccc.analysis.liveness import Liveness
from ccc.analysis.local_memory import LocalMemory
from ccc.analysis.memory import VisibleMemory
from ccc.analysis.spinning import Spin, find_spins
from ccc.ir.nodes import Block, Function, Instruction
from ccc.ir.operands import Immediate, Operand, Register

if TYPE_CHECKING:
    from ccc.analysis.origins import Pointer
    from ccc.ir.reannotated import Reannotated

_BEGIN = "<begin>"
_Thing = TypeVar("_Thing", bound=Hashable)
_Found = TypeVar("_Found")


class Facts:
    """Analyses of ``function``. Whoever changes the function makes a new object.

    ``callees`` knows the functions that it may call; ``files`` the names of the source files that
    ``.loc`` directives number; ``supposed`` are parameters that are taken to be ``__restrict__``,
    to see what that would do.
    """

    def __init__(
        self,
        function: Function,
        callees: Callees | None = None,
        files: Mapping[int, str] | None = None,
    ):
        self.function = function
        self.callees = callees or Callees(lambda _name: None)
        self.files = files or {}
        self.supposed: frozenset[Pointer] = frozenset()
        self._before_joining: dict[str, frozenset[str]] = {}
        self._found: dict[Hashable, Any] = {}

    def supposing(self, restricted: frozenset[Pointer]) -> Facts:
        """Those of the same function, if some parameters were ``__restrict__``, too."""
        other = type(self)(self.function, self.callees, self.files)
        other.supposed = restricted
        return other

    def reannotated(self, annotations: Reannotated) -> Facts:
        """Those of the same function, if its annotations were other ones: its code is the same."""
        other = copy(self)
        other.function = replace(self.function, blocks=annotations.blocks_of(self.function))
        vars(other).pop("blocks", None)
        other._found = {}
        return other

    def once(self, find: Callable[[_Thing, Facts], _Found], thing: _Thing) -> _Found:
        """What is found of a thing by these facts, which is looked for only once."""
        key = find, thing
        if key not in self._found:
            self._found[key] = find(thing, self)
        found: _Found = self._found[key]
        return found

    @cached_property
    def blocks(self) -> dict[str, Block]:
        """The blocks by label."""
        return {block.label: block for block in self.function.blocks}

    @cached_property
    def unknown(self) -> Instruction | None:
        """The first instruction whose opcode is not known."""
        return next((i for i in self.function.instructions if i.row is None), None)

    def is_of_pass(self, instruction: Instruction) -> bool:
        """Whether a pass has put an instruction in; those have no place in the PTX."""
        return instruction.span.file != self.function.span.file

    @cached_property
    def graph(self) -> FlowGraph:
        """The control-flow graph."""
        return control_flow_graph(self.function)

    @cached_property
    def entry(self) -> str:
        """The label of the first block."""
        return self.function.blocks[0].label

    @cached_property
    def dominators(self) -> Dominators:
        """The dominator tree."""
        return dominators(self.graph, self.entry)

    @cached_property
    def post_dominators(self) -> Dominators:
        """The post-dominator tree."""
        return post_dominators(self.graph)

    @cached_property
    def controllers(self) -> dict[str, set[str]]:
        """For each block those whose branches decide whether it is reached."""
        return control_dependence(self.graph, self.post_dominators)

    @cached_property
    def is_reducible(self) -> bool:
        """Whether every loop is entered at one block only."""
        return is_reducible(self.graph, self.dominators)

    @cached_property
    def loops(self) -> list[Loop]:
        """The natural loops, inner before outer."""
        return natural_loops(self.graph, self.dominators)

    def turns_agree(self, loop: Loop) -> bool:
        """Whether all lanes that begin a loop go round as often: all come to one decision."""
        return self.deciding(loop).isdisjoint(self.divergence.divergent_branches)

    def deciding(self, loop: Loop) -> set[str]:
        """The blocks whose branches decide how often lanes go round in a loop."""
        ends = {source for source, _ in loop.exits(self.graph)}
        return reachable(lambda label: self.controllers[label] & loop.blocks, ends)

    def before_joining(self, branch: str) -> frozenset[str]:
        """What lanes that part at a branch may come to before all its ways have joined."""
        if branch not in self._before_joining:
            join = self.post_dominators.immediate(branch) or EXIT
            met = reachable(self.graph.successors, [branch], stops=[join])
            self._before_joining[branch] = frozenset(met - {join})
        return self._before_joining[branch]

    @cached_property
    def liveness(self) -> Liveness:
        """Live registers."""
        return Liveness.of(self.function, self.graph)

    @cached_property
    def reaching(self) -> ReachingDefinitions:
        """Reaching definitions."""
        return ReachingDefinitions(self.function, self.graph)

    @cached_property
    def makers(self) -> dict[Register, list[Instruction]]:
        """For each register the instructions that write it, as far as control can reach them."""
        blocks = [block for block in self.function.blocks if block.label in self.graph]
        return makers(i for block in blocks for i in block.instructions)

    @cached_property
    def _writers(self) -> dict[Register, list[tuple[str, Instruction]]]:
        """For each register the instructions that write it, with their blocks."""
        found: dict[Register, list[tuple[str, Instruction]]] = {}
        for label, block in self.blocks.items():
            for instruction in block.instructions:
                for register in dict.fromkeys(instruction.defined()):
                    found.setdefault(register, []).append((label, instruction))
        return found

    def written_in(
        self, labels: Collection[str], register: Register
    ) -> list[tuple[str, Instruction]]:
        """What writes a register in some blocks, with its block, in the order of the function."""
        return [one for one in self._writers.get(register, ()) if one[0] in labels]

    def begins(self, loop: Loop, register: Register) -> list[Definition] | None:
        """What may have made the value of a register where a loop is begun; None where that may be
        the loop itself, since one around it goes on with what an earlier run has left."""
        before = loop.entered_from(self.graph)
        every = (self.reaching.at_bottom(label, register) for label in before)
        found = list(dict.fromkeys(one for some in every for one in some))
        return None if any(one.label in loop.blocks for one in found) else found

    def maker(self, operand: Operand) -> Instruction | None:
        """The only instruction that writes what an operand holds, if it always does."""
        return only_maker(operand, self.makers)

    def literal(self, operand: Operand) -> Immediate | None:
        """The literal that an operand is, or a register holds wherever it is defined, if any."""
        if isinstance(operand, Immediate):
            return operand
        made = self.maker(operand)
        return _moved(made) if made else None

    def literal_in(self, instruction: Instruction, operand: Operand) -> Immediate | None:
        """The literal that an instruction gets in an operand, whatever that holds elsewhere: where
        a flag is set by the way, one register may hold it and what a swap expects."""
        literal = self.literal(operand)
        if literal is not None or not isinstance(operand, Register):
            return literal
        home = self.homes.get(instruction)
        found = self.reaching.of_uses(home).get((instruction, operand), ()) if home else ()
        made = {_moved(one.instruction) for one in found}
        return made.pop() if len(made) == 1 else None

    @cached_property
    def homes(self) -> dict[Instruction, str]:
        """The blocks in which instructions stand, as far as control can reach them."""
        return {
            i: label
            for label in self.blocks
            if label in self.graph
            for i in self.blocks[label].instructions
        }

    def reaching_within(self, labels: Collection[str]) -> ReachingDefinitions:
        """Reaching definitions inside some blocks, as far as control does not leave them."""
        return self.once(_reaching_within, frozenset(labels))

    @cached_property
    def divergence(self) -> Divergence:
        """Which registers differ between lanes."""
        return Divergence(self.function, self.graph, self.loops, self.liveness)

    @cached_property
    def local(self) -> LocalMemory:
        """Who uses which bytes of local memory."""
        return LocalMemory(self)

    @cached_property
    def memory(self) -> VisibleMemory:
        """What instructions may do to memory that other threads see, too."""
        return VisibleMemory(self)

    @cached_property
    def spins(self) -> list[Spin]:
        """Where lanes may wait for what other lanes do."""
        return find_spins(self)


def _reaching_within(labels: frozenset[str], facts: Facts) -> ReachingDefinitions:
    within = FlowGraph()
    within.add_edges((_BEGIN, label) for label in labels)
    within.add_edges(facts.graph.edges_within(labels))
    return ReachingDefinitions(facts.function, within)


def _moved(instruction: Instruction) -> Immediate | None:
    """The literal that an instruction surely makes, if it is one."""
    source = instruction.operands[1] if instruction.name == "mov" else None
    return source if isinstance(source, Immediate) and instruction.guard is None else None
