"""The paths of one loop as a tree, on their way into new code (no pass; the collector uses it)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ccc.analysis.local_memory import WORD
from ccc.analysis.paths.model import Path
from ccc.analysis.paths.reductions import WITH
from ccc.ir.edit import Copy
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Register
from ccc.passes.context_collection.layout import Plan
from ccc.passes.strategies.uniform import UNIFORM
from ccc.ptx.types import WARP_SIZE
from ccc.remark import ENDS_LATER, MAY_LOSE, TIMES_WAITING


def move(register: Register) -> str:
    """The opcode that copies a register."""
    return "mov.pred" if register.type == "pred" else f"mov.b{register.bits}"


@dataclass(eq=False)
class Node:
    """A path of the loop on its way into new code: a node of the tree that the paths are.

    ``number`` counts them in the order in which they are served, each before those inside it. A
    task that was fetched begins at the label ``run``; from ``to_end`` on it runs to its end.
    ``heads`` are the labels at which what the path does begins, once or again. ``copy`` says how
    its blocks were copied, behind the ``prelude``. To its ``followers``
    tasks come in the rest of their iteration.
    """

    plan: Plan
    number: int
    parent: Node | None
    run: str
    to_end: str = field(init=False)
    children: list[Node] = field(default_factory=list, init=False)
    followers: list[Node] = field(default_factory=list, init=False)
    heads: tuple[str, ...] = field(default=(), init=False)
    copy: Copy | None = field(default=None, init=False)
    prelude: tuple[Instruction, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        """Unless told otherwise, a task that shall run to its end begins as any other."""
        self.to_end = self.run

    @property
    def path(self) -> Path:
        """The path as the analyses know it."""
        return self.plan.path

    @property
    def inside(self) -> Iterator[Node]:
        """The paths that lie in it, in their order, also those inside others."""
        for child in self.children:
            yield child
            yield from child.inside

    @property
    def handed_on(self) -> frozenset[str]:
        """The blocks of other paths that are no part of its tasks, though these come to them."""
        others = (*self.children, *self.followers)
        return frozenset[str]().union(*(other.path.blocks for other in others))

    @property
    def around(self) -> list[Node]:
        """The paths that it lies in, from the outermost on, and itself."""
        return [*(self.parent.around if self.parent else []), self]

    @property
    def is_leaf_loop(self) -> bool:
        """Whether its tasks come back, and no other path lies in it."""
        return self.path.repeats and not self.children

    def settle(self) -> None:
        """Write down what was done with the path."""
        plan, path = self.plan, self.path
        plan.record.heads = self.heads or (self.run,)
        shared = plan.engage.sums if plan.engage is not None else ()
        details: dict[str, Any] = {
            "context": [{"register": r.name, "type": r.type} for r in path.context]
            + [{"register": s.name, "type": s.register.type} for s in path.specials],
            "compressed": [{"register": r.name, "type": r.type} for r in path.compressed],
            "continuation": path.continuation,
            "reductions": [
                f"{a.operation}.{a.type}"
                for a in (*path.accumulators, *shared)
                if a.operation != WITH
            ],
            "placement": "static",
            "shared_bytes_per_thread": plan.stack.bytes // WARP_SIZE,
        }
        if path.frame:
            details["local_bytes"] = WORD * len(path.frame)
        if plan.results is not None:
            results = plan.results.context
            details["returned"] = [{"register": r.name, "type": r.type} for r in results]
        if path.repeats and not plan.shares_all:
            details["turns"] = plan.turns if self.is_leaf_loop else 1
        if path.marker.kind == "variable":
            details["shared_out"] = plan.engage is not None
            details["shared_out_reason"] = plan.unshared
        if path.ends_later is not None:
            details[ENDS_LATER] = path.ends_later
        shares = plan.engage is not None or path.marker.kind != "variable"
        lost = path.may_lose or (path.turns_may_lose if shares else None)
        if lost is not None and plan.strategy != UNIFORM.name:
            details[MAY_LOSE] = lost
        if path.timed is not None and plan.strategy != UNIFORM.name:
            details[TIMES_WAITING] = path.timed
        plan.record.apply(plan.strategy, details)


N = TypeVar("N", bound=Node)
