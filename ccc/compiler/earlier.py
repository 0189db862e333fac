"""What is kept while one source is compiled several times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ccc.compiler.outcome import Outcomes
from ccc.compiler.registers import Assembler
from ccc.compiler.said import Remarks


def _nobody(_: Remarks) -> None:
    """Is told, and does nothing."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """What became of kernels, and what ptxas said of them.

    ``tried`` is how many registers a thread of each kernel takes before and after what was chosen
    in it first, as long as the compiler's code is the same, and ``keeping`` which of them have the
    warps that they had. ``foresee`` is told what becomes of
    annotations before ptxas is asked, which takes as long as compiling what is refused already.
    """

    outcomes: Outcomes = field(default_factory=Outcomes)
    assembler: Assembler = field(default_factory=Assembler)
    tried: dict[str, tuple[int, int]] = field(default_factory=dict)
    keeping: set[str] = field(default_factory=set)
    foresee: Callable[[Remarks], None] = _nobody

    def anew(self) -> Earlier:
        """The same where kernels have other annotations: nobody is told of these."""
        return Earlier(self.outcomes, self.assembler)

    def forget(self) -> None:
        """What is compiled next takes other registers."""
        self.tried.clear()
        self.keeping.clear()
