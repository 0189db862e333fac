"""What is kept while one source is compiled several times."""

from __future__ import annotations

from dataclasses import dataclass, field

from ccc.compiler.outcome import Outcomes
from ccc.compiler.registers import Assembler


@dataclass(frozen=True, slots=True)
class Earlier:
    """What became of kernels, and what ptxas said of them.

    ``tried`` is how many registers a thread of each kernel takes before and after what was chosen
    in it first, as long as the compiler's code is the same.
    """

    outcomes: Outcomes = field(default_factory=Outcomes)
    assembler: Assembler = field(default_factory=Assembler)
    tried: dict[str, tuple[int, int]] = field(default_factory=dict)
