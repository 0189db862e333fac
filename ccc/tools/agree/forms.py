"""All forms that are compared."""

from __future__ import annotations

from ccc.tools.agree.arithmetic import arithmetic
from ccc.tools.agree.asynchronous import addresses, barriers, copies
from ccc.tools.agree.case import Case
from ccc.tools.agree.control import control
from ccc.tools.agree.exchange import exchanges
from ccc.tools.agree.fetches import fetches
from ccc.tools.agree.matrices import matrices
from ccc.tools.agree.memory import accesses, atomics
from ccc.tools.agree.selection import comparisons, conversions, logic, moves
from ccc.tools.agree.surfaces import surfaces
from ccc.tools.agree.video import video

FAMILIES = (
    arithmetic, comparisons, logic, moves, conversions, video, exchanges, matrices, accesses,
    atomics, addresses, copies, barriers, fetches, surfaces, control,
)  # fmt: skip


def all_cases() -> list[Case]:
    """Every form, each once; those that access memory last."""
    found: dict[str, Case] = {}
    for family in FAMILIES:
        for case in family():
            found.setdefault(case.form, case)
    return list(found.values())
