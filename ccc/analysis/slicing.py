"""Slices: the instructions of a region that some results need.

Mark and sweep over a region of blocks: from the roots, everything that makes their operands, the
branches that decide whether they run, and what those need. It is dead-code elimination that also
drops branches (Cytron et al., 1991, section 7.1), asked for particular results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ccc.analysis.defuse import ReachingDefinitions
from ccc.analysis.dominators import Dominators, connect, control_dependence
from ccc.analysis.graphs import FlowGraph
from ccc.ir.nodes import Block, Instruction
from ccc.ir.operands import Register

_END = "<end>"


@dataclass
class Region:
    """Some blocks, and the edges that leave them, each to a *sink*.

    It never matters to which of several sinks control leaves that are ``alike``.
    """

    blocks: frozenset[str]
    graph: FlowGraph
    alike: frozenset[str] = frozenset()
    sinks: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.sinks = frozenset(
            target
            for label in self.blocks
            for target in self.graph.successors(label)
            if target not in self.blocks
        )

    def end(self, sink: str) -> str:
        """The node that stands for a sink, and for those like it."""
        return f"{_END}{min(self.alike) if sink in self.alike else sink}"

    def _flow(self) -> FlowGraph:
        """The region alone; edges out of it lead to nodes for their sinks, and those to an end."""
        flow = FlowGraph()
        for label in self.blocks:
            for target in self.graph.successors(label):
                inside = target in self.blocks
                flow.add_edge(label, target if inside else self.end(target))
        for sink in self.sinks:
            flow.add_edge(self.end(sink), _END)
        return flow


@dataclass(frozen=True, slots=True)
class Slice:
    """``instructions`` are needed. ``skips`` says of a block with a branch that nobody needs where
    control goes on instead: a label of the region, or the sink (``to_sink``)."""

    instructions: frozenset[Instruction]
    skips: dict[str, tuple[str, bool]]

    def skipped(self, labels: Mapping[str, str], sinks: Mapping[str, str]) -> dict[str, str]:
        """Where such blocks go on in a copy of the region with these labels and sinks."""
        return {
            label: sinks[target] if is_sink else labels[target]
            for label, (target, is_sink) in self.skips.items()
        }


def slice_region(
    region: Region,
    blocks: dict[str, Block],
    reaching: ReachingDefinitions,
    roots: Iterable[Instruction],
    live_at_sink: Callable[[str], frozenset[Register]],
    decide_sinks: bool,
) -> Slice:
    """The slice for ``roots``, the registers live at the sinks, and which sink is reached.

    Args:
        region: the blocks to look at.
        blocks: the function's blocks by label.
        reaching: reaching definitions of the function.
        roots: instructions that are needed in any case.
        live_at_sink: the registers whose values are needed where control leaves to a sink.
        decide_sinks: whether it matters to which of several sinks control leaves.
    """
    marker = _Marker(region, blocks, reaching)
    for instruction in roots:
        marker.need(instruction)
    for label in region.blocks:
        for sink in region.graph.successors(label):
            if sink in region.sinks:
                marker.need_values(label, live_at_sink(sink))
                if decide_sinks and len(region.sinks) > 1:
                    marker.need_decision(region.end(sink))
    return marker.finish()


class _Marker:
    def __init__(self, region: Region, blocks: dict[str, Block], reaching: ReachingDefinitions):
        self.region = region
        self.blocks = {label: blocks[label] for label in region.blocks}
        self.reaching = reaching
        self.flow = region._flow()
        reverse = self.flow.reverse()
        if _END not in reverse:
            reverse.add_node(_END)
        connect(reverse, _END)
        self.post = Dominators(reverse, _END)
        self.home = {i: label for label, block in self.blocks.items() for i in block.instructions}
        self.uses = {label: reaching.of_uses(label) for label in self.blocks}
        self.controllers = control_dependence(self.flow, self.post)
        self.needed: set[Instruction] = set()
        self.worklist: list[Instruction] = []
        self.decided: set[str] = set()

    def need(self, instruction: Instruction) -> None:
        if instruction in self.home and instruction not in self.needed:
            self.needed.add(instruction)
            self.worklist.append(instruction)

    def need_values(self, label: str, registers: frozenset[Register]) -> None:
        for register in registers:
            for definition in self.reaching.at_bottom(label, register):
                self.need(definition.instruction)

    def need_decision(self, label: str) -> None:
        if label in self.decided:
            return
        self.decided.add(label)
        for controller in self.controllers[label]:
            for instruction in self.blocks[controller].instructions:
                if instruction.is_terminator:
                    self.need(instruction)

    def finish(self) -> Slice:
        while self.worklist:
            instruction = self.worklist.pop()
            label = self.home[instruction]
            self.need_decision(label)
            for register in instruction.used():
                for definition in self.uses[label][instruction, register]:
                    self.need(definition.instruction)
        return Slice(frozenset(self.needed), self._skips())

    def _skips(self) -> dict[str, tuple[str, bool]]:
        skips = {}
        for label, block in self.blocks.items():
            ends = [i for i in block.instructions if i.is_terminator]
            # Also one whose ways all lead to one place reads what nobody may make any more.
            if not any(i.used() for i in ends) or any(i in self.needed for i in ends):
                continue
            ways = list(self.flow.successors(label))
            target = ways[0] if len(ways) == 1 else self.post.immediate(label)
            if target is None or target == _END:
                target = next(iter(s for s in self.flow if s.startswith(_END) and s != _END))
            is_sink = target.startswith(_END)
            skips[label] = (target.removeprefix(_END), is_sink)
        return skips
