"""What random kernels use besides arithmetic: the time, locks, and symbols of odd names.

Nothing that is stored depends on how long something takes, or on who comes first.
"""

from __future__ import annotations

from ccc.tools.fuzz.expressions import Template
from ccc.tools.fuzz.symbols import SYMBOLS

LOCKS = 40
"""From here on, words of ``work`` are locks, each with the word behind it that it guards."""


def symbols() -> list[Template]:
    """Forms that use them."""
    arrays = [name for name, said in SYMBOLS.items() if f"{name}[4]" in said]
    forms = [Template("u", f"{name}[$0 & 3]", "u", 3) for name in arrays]
    return [
        *forms,
        Template("u", "f_named($0, $1)", "uu", 4),
        Template("u", "ccc_path($0)", "u", 3),
    ]


def time(start: str) -> list[Template]:
    """Forms that look at the time, and compare it with the earlier one in a variable."""
    names = (start,)
    return [
        Template("u", f"(unsigned)(clock64() >= {start})", "", 6, names),
        Template("b", f"(clock64() - {start} >= 0)", "", 4, names),
        Template("b", "f_ticks($0)", "u", 2),
        Template("", "f_wait($0);", "u", 5),
        Template("", "f_pause($0);", "u", 2),
    ]


def locked() -> list[Template]:
    """Forms that enter a critical section and leave it."""
    return [
        Template("", f"f_locked(work + {LOCKS}, $0);", "u", 5),
        Template("", f"f_locked(work + {LOCKS + 2}, $0);", "u", 3),
    ]


ENTER = """\
while (atomicCAS(work + {lock}, 0u, 1u)) {{}}
__threadfence();
unsigned {held} = *(volatile unsigned *)(work + {lock} + 1) + $0;"""
LEAVE = """\
*(volatile unsigned *)(work + {lock} + 1) = {held};
__threadfence();
atomicExch(work + {lock}, 0u);"""
"""A critical section around statements that may add to ``{held}``."""
