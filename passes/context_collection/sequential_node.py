"""A path of sequential dispatch on its way into new code (no pass; the collector uses it)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from ccc.ir.operands import Register
from ccc.passes.context_collection.engagement import Engagement
from ccc.passes.context_collection.loop_chain import LoopChain
from ccc.passes.context_collection.node import Node
from ccc.passes.context_collection.shared_tasks import SharedTasks


@dataclass(eq=False)
class SequentialNode(Node):
    """A path with a stack: ``top`` is its address, ``pending`` whether the lane has a task."""

    pending: Register
    top: Register
    collect: str
    pop: str
    engagement: Engagement | SharedTasks | None = None
    chain: LoopChain | None = None

    @property
    def entrance(self) -> str:
        """Where to go for the saved tasks, without fresh ones."""
        if self.chain:
            return self.chain.entrance
        return self.engagement.entrance if self.engagement else self.collect

    @property
    def fresh(self) -> str:
        """Where to go with fresh tasks."""
        return self.engagement.label if self.engagement else self.collect

    @property
    def sharing(self) -> Register | None:
        """Says that a long task is shared out, whose turns lead back to the collection point."""
        return self.engagement.sharing if isinstance(self.engagement, Engagement) else None

    @property
    def outermost_loop(self) -> SequentialNode | None:
        """The outermost path that repeats, or is in a chain with such, among those that it lies in,
        and itself."""
        around = cast("list[SequentialNode]", self.around)
        return next((node for node in around if node.path.repeats or node.chain), None)
