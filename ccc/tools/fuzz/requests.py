"""Strategies that random kernels ask for: those that the registry has, with the numbers they take.

A kernel is drawn without knowing which there are, so that a new strategy changes what clauses say
and nothing else of the kernels of a seed.
"""

from __future__ import annotations

from functools import cache

from ccc.errors import CccError
from ccc.frontend.marking import mark
from ccc.options import AUTO
from ccc.passes.strategies.registry import NUMBERED, STRATEGY_NAMES

MANY = 1 << 20
"""From how many numbers a request is drawn."""

FILES = tuple(name for name in STRATEGY_NAMES if name != "leave")
"""What files ask for as a whole, in turn."""


def request(number: int) -> str:
    """What a clause asks for, by a number below ``MANY``; ``auto`` is nothing to ask for."""
    names = [name for name in STRATEGY_NAMES if name != AUTO]
    return _numbered(names[number % len(names)], number // len(names))


def request_of_file(number: int) -> str:
    """What the file of a number asks for."""
    return _numbered(FILES[number % len(FILES)], number // len(FILES))


def request_alone(number: int) -> str:
    """What an inner loop asks for where no annotated loop is around it; empty if nothing may."""
    names = _alone()
    return _numbered(names[number % len(names)], number // len(names)) if names else ""


@cache
def _alone() -> tuple[str, ...]:
    """The strategies of which the front end demands no annotated loop."""
    return tuple(name for name in STRATEGY_NAMES if _may_stand_alone(_numbered(name, 0)))


def _may_stand_alone(strategy: str) -> bool:
    loop = f"#pragma ccc while strategy({strategy})\nwhile (i < j * 3) ++i;"
    try:
        mark(f"__global__ void k(int i) {{\nfor (int j = 0; j < 9; ++j) {{\n{loop}\n}}\n}}", "k.cu")
    except CccError:
        return False
    return True


def _numbered(name: str, number: int) -> str:
    """A strategy's name, with one of its numbers if it takes one."""
    numbers = NUMBERED.get(name)
    return name if not numbers else f"{name}({numbers[number % len(numbers)]})"
