"""Sequential dispatch as a strategy: what ``queue`` and ``merge`` both do (none itself)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import Path
from ccc.passes.context_collection.carried_tasks import CarriedDispatch
from ccc.passes.context_collection.layout import lay_out
from ccc.passes.context_collection.sequential_dispatch import SequentialDispatch
from ccc.passes.strategies.strategy import Choice, Estimate, Rewritten, collecting_cost
from ccc.pipeline import Kernel


@dataclass(frozen=True, slots=True)
class Sequential:
    """Serve one path after the other, each from a stack of its own."""

    name: str
    entries: int
    together: bool = False
    mixes: bool = True
    iterations: int = 1
    returns: bool = False

    def applies(self, paths: Sequence[Path], facts: Facts) -> str | None:  # noqa: ARG002
        """It always does."""
        return None

    def cost(self, paths: Sequence[Path], facts: Facts) -> Estimate:
        """As if every task went over the stack; a lane that keeps its own moves nothing."""
        return collecting_cost(paths, facts)

    def rewrite(self, kernel: Kernel, choice: Choice) -> Rewritten | None:
        """Rewrite the loop."""
        layout = lay_out(kernel.function, choice)
        carried = any(one.path.carries_parent for one in choice.decision.paths)
        kind = CarriedDispatch if carried else SequentialDispatch
        collector = kind(kernel, choice.decision.loop, layout)
        base = collector.run()
        return Rewritten(collector.enter, base, layout.share, tuple(collector.users))
