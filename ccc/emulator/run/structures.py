"""Structures as arguments: pointers and numbers, laid out as C++ does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ccc.emulator.base.errors import EmulatorError
from ccc.emulator.base.forms import Array
from ccc.emulator.memory.images import Surface

ADDRESS_BYTES = 8


class Structure:
    """A structure by value.

    Args:
        members: in their order, each a NumPy array or None (a pointer), a texture or a surface (a
            handle), a NumPy scalar, another structure, or an :class:`AddressOf` one. An array of
            C++ is a structure of its elements.

    Raises:
        EmulatorError: there are none, or one is of another type.
    """

    def __init__(self, *members: Any):
        if not members:
            raise EmulatorError("a structure has at least one member")
        self.members = members
        self.offsets: list[int] = []
        self.alignment = 1
        end = 0
        for member in members:
            size, alignment = _shape(member)
            at = -(-end // alignment) * alignment
            self.offsets.append(at)
            self.alignment = max(self.alignment, alignment)
            end = at + size
        self.bytes = -(-end // self.alignment) * self.alignment

    def pack(self, address_of: Callable[[Any], int]) -> bytes:
        """Its content, as ``address_of`` knows the addresses of arrays and pointers."""
        content = bytearray(self.bytes)
        for offset, member in zip(self.offsets, self.members, strict=True):
            value = _content(member, address_of)
            content[offset : offset + len(value)] = value
        return bytes(content)


@dataclass(frozen=True, eq=False)
class AddressOf:
    """The address of a structure that lies in global memory during the launch."""

    target: Structure
    memory: Array = field(init=False)
    """What the kernel leaves in that memory."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "memory", np.zeros(self.target.bytes, np.uint8))


def pointers(argument: Any) -> Iterator[AddressOf]:
    """All that an argument holds, in structures of structures, too."""
    if isinstance(argument, AddressOf):
        yield argument
        yield from pointers(argument.target)
    elif isinstance(argument, Structure):
        for member in argument.members:
            yield from pointers(member)


def arrays(argument: Any) -> Iterator[Array]:
    """The memory that an argument points to."""
    if isinstance(argument, np.ndarray):
        yield argument
    elif isinstance(argument, AddressOf):
        yield argument.memory
        yield from arrays(argument.target)
    elif isinstance(argument, Structure):
        for member in argument.members:
            yield from arrays(member)


def _shape(member: Any) -> tuple[int, int]:
    """The size and the alignment of a member."""
    if isinstance(member, Structure):
        return member.bytes, member.alignment
    if member is None or isinstance(member, (np.ndarray, Surface, AddressOf)):
        return ADDRESS_BYTES, ADDRESS_BYTES
    if isinstance(member, np.generic) and not isinstance(member, np.void):
        return member.itemsize, member.itemsize  # of complex numbers, too, in CUDA
    raise EmulatorError(f"a member of type {type(member).__name__} has no size that C++ knows")


def _content(member: Any, address_of: Callable[[Any], int]) -> bytes:
    if isinstance(member, Structure):
        return member.pack(address_of)
    if member is None:
        return bytes(ADDRESS_BYTES)
    if isinstance(member, np.generic):
        return member.tobytes()
    array = member.memory if isinstance(member, AddressOf) else member
    return address_of(array).to_bytes(ADDRESS_BYTES, "little")
