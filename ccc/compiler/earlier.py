"""What is kept while one source is compiled several times."""

from __future__ import annotations

from dataclasses import dataclass, field

from ccc.compiler.outcome import Outcomes
from ccc.compiler.registers import Assembler


@dataclass(frozen=True, slots=True)
class Earlier:
    """What became of kernels, and what ptxas said of them."""

    outcomes: Outcomes = field(default_factory=Outcomes)
    assembler: Assembler = field(default_factory=Assembler)
