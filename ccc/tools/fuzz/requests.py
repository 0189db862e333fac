"""Strategies that random kernels ask for: those that the registry has, with the numbers they take.

A kernel is drawn without knowing which there are, so that a new strategy changes what clauses say
and nothing else of the kernels of a seed.
"""

from __future__ import annotations

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


def _numbered(name: str, number: int) -> str:
    """A strategy's name, with one of its numbers if it takes one."""
    numbers = NUMBERED.get(name)
    return name if not numbers else f"{name}({numbers[number % len(numbers)]})"
