"""What a launch cost, counted warp by warp."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from operator import attrgetter

Line = tuple[str, int]
"""A source line: file and number."""


@dataclass(slots=True)
class Counters:
    """Counts of one launch, or of one source line of it; ``+`` adds two launches up.

    ``instructions`` are warp instructions issued; ``thread_instructions`` counts the lanes that
    executed them, predicated-off lanes not among them. A transaction is one 32-byte sector that
    one warp instruction touches. ``shared_bank_conflicts`` are the wavefronts of shared accesses
    beyond the least possible. ``branches`` counts ``bra`` and ``brx`` per warp, and
    ``divergent_branches`` those whose lanes went different ways. ``lines`` holds the same by
    source line: of the ``.loc`` directive where there is one, of the PTX otherwise.
    """

    instructions: int = 0
    thread_instructions: int = 0
    global_load_transactions: int = 0
    global_store_transactions: int = 0
    shared_bank_conflicts: int = 0
    branches: int = 0
    divergent_branches: int = 0
    lines: dict[Line, Counters] = field(default_factory=dict)

    @property
    def warp_execution_efficiency(self) -> float:
        """Active lanes per issued instruction, of 32; 1.0 when nothing was issued."""
        slots = 32 * self.instructions
        return self.thread_instructions / slots if slots else 1.0

    @classmethod
    def total(cls, lines: dict[Line, Counters]) -> Counters:
        """Those of all lines, none of which has lines of its own."""
        total = cls(lines=lines)
        for name in _NUMBERS:
            setattr(total, name, sum(map(attrgetter(name), lines.values())))
        return total

    def __add__(self, other: Counters) -> Counters:
        """Both together, line by line."""
        total = Counters()
        for name in _NUMBERS:
            setattr(total, name, getattr(self, name) + getattr(other, name))
        total.lines = dict(self.lines)
        for line, counts in other.lines.items():
            mine = total.lines.get(line)
            total.lines[line] = mine + counts if mine else counts
        return total


_NUMBERS = tuple(each.name for each in fields(Counters) if each.name != "lines")
