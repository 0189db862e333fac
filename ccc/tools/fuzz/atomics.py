"""Atomic operations that random kernels may use: those whose order does not matter."""

from __future__ import annotations

ATOMICS = ("Add", "Max", "Xor", "Or")
"""Operations whose order does not matter; each has four counters of its own."""


def atomic(name: str, kind: str, index: str, value: str) -> str:
    """An atomic operation on one of its four counters of 32 or 64 bits."""
    array = "sums" if kind == "l" else "counters"
    return f"atomic{name}(&{array}[{index} + {4 * ATOMICS.index(name)}], {value});"
