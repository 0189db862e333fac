"""Equivalence by comparison: two versions of a kernel, the same inputs, all memory afterwards.

A *launch* says how to run a kernel and on what, in one line of text:

    grid=3 block=(16,6) shared=256 args=s32:1500 f32[1500]~-1:1 u32[16]=0

``s32:1500`` is a scalar; ``f32[n]~low:high`` an array of n random values, ``u32[n]=value`` one of
equal values.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ccc.errors import CccError

_FIELD = re.compile(r"(grid|block|shared|args)=")
_ARGUMENT = re.compile(r"([usf]\d+)(?:\[(\d+)\])?([:=~])([^\s]+)")
_KINDS = {"u": "uint", "s": "int", "f": "float"}


@dataclass(frozen=True, slots=True)
class Launch:
    """How to run a kernel; ``grid`` and ``block`` have three sizes, ``shared`` is in bytes."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    argument_text: str

    @staticmethod
    def parse(text: str) -> Launch:
        """Read a launch line.

        Raises:
            CccError: it is not of that form.
        """
        parts = _FIELD.split(text)[1:]
        fields = {name: value.strip() for name, value in zip(parts[::2], parts[1::2], strict=True)}
        if not {"grid", "block", "args"} <= set(fields):
            raise CccError(f'a launch needs "grid=", "block=" and "args=": {text.strip()}')
        return Launch(
            _sizes(fields["grid"]),
            _sizes(fields["block"]),
            int(fields.get("shared", "0")),
            fields["args"],
        )

    def arguments(self, seed: int = 0) -> list[Any]:
        """Fresh arguments: NumPy arrays and scalars, the same for the same seed."""
        generator = np.random.default_rng(seed)
        return [_argument(match, generator) for match in _ARGUMENT.finditer(self.argument_text)]


def _sizes(text: str) -> tuple[int, int, int]:
    numbers = [int(number) for number in text.strip("()").split(",")]
    x, y, z = [*numbers, 1, 1][:3]
    return x, y, z


def _argument(match: re.Match[str], generator: np.random.Generator) -> Any:
    name, count, how, value = match.groups()
    dtype = np.dtype(f"{_KINDS[name[0]]}{name[1:]}")
    if count is None:
        return dtype.type(float(value) if dtype.kind == "f" else int(value))
    if how == "=":
        return np.full(int(count), float(value) if dtype.kind == "f" else int(value), dtype)
    low, high = value.split(":")
    if dtype.kind == "f":
        return generator.uniform(float(low), float(high), int(count)).astype(dtype)
    return generator.integers(int(low), int(high), int(count)).astype(dtype)


def run(
    module: Any, kernel: str, launch: Launch, seed: int = 0, **options: Any
) -> tuple[list[Any], Any]:
    """Launch ``kernel`` of an emulator module (or one of the same shape) on fresh arguments.

    Returns the arguments after the launch, and what the launch returned.
    """
    arguments = launch.arguments(seed)
    result = module.get_function(kernel)(
        launch.grid, launch.block, tuple(arguments), shared_mem=launch.shared, **options
    )
    return arguments, result


def differing(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Where two arrays of one dtype and shape differ, bit for bit: indices into them, flattened."""
    if not one.size or not one.dtype.itemsize:
        return np.zeros(0, np.intp)
    bits = [np.ascontiguousarray(a).reshape(-1, 1).view(np.uint8) for a in (one, other)]
    if np.array_equal(bits[0], bits[1]):  # by far the fastest way, and the usual case
        return np.zeros(0, np.intp)
    return np.flatnonzero((bits[0] != bits[1]).any(axis=1))


def difference(first: list[Any], second: list[Any]) -> str | None:
    """The first place where two lists of arguments differ, bit for bit; None if none does."""
    for number, (one, other) in enumerate(zip(first, second, strict=True)):
        if not isinstance(one, np.ndarray):
            continue
        places = differing(one, other)
        if places.size:
            at = int(places[0])
            return (
                f"argument {number}, element {at}: {one.flat[at]} and {other.flat[at]} "
                f"({places.size} of {one.size} differ)"
            )
    return None
