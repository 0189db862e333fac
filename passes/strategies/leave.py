"""``leave``: a loop's paths stay as the compiler made them, and their annotations get a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import Path
from ccc.passes.strategies.strategy import Choice, Estimate, Rewritten, run_slots
from ccc.pipeline import Kernel


@dataclass(frozen=True, slots=True)
class Leave:
    """Change nothing."""

    name: str = "leave"
    together: bool = False
    mixes: bool = False
    entries: int = 0
    iterations: int = 1
    returns: bool = False

    def applies(self, paths: Sequence[Path], facts: Facts) -> str | None:  # noqa: ARG002
        """It always does."""
        return None

    def cost(self, paths: Sequence[Path], facts: Facts) -> Estimate:
        """The paths run for as many lanes as come to them; nothing is exchanged."""
        return Estimate(run_slots(paths, facts, as_tasks=False), exchange_slots=0)

    def rewrite(self, kernel: Kernel, choice: Choice) -> Rewritten | None:  # noqa: ARG002
        """Say why."""
        for record, reason in choice.reasons:
            record.reason = reason
        return None


LEAVE = Leave()
