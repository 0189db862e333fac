"""Arguments of a launch: arrays become device memory, scalars the parameter buffer."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ccc.emulator.base.errors import EmulatorError
from ccc.emulator.base.forms import Array
from ccc.emulator.memory.images import Surface
from ccc.emulator.memory.spaces import Arena
from ccc.emulator.run.structures import ADDRESS_BYTES, AddressOf, Structure, arrays, pointers
from ccc.emulator.translate.variables import parameter_offsets
from ccc.ir.nodes import Function, Variable

_NUMBERS = (1, 2, 4, 8)
"""The bytes that numbers and addresses have."""
_BY_MEMBERS = ": a structure, which is passed with all its members"


class Buffers:
    """The arrays of a launch, with those that overlap merged into one stretch of memory."""

    def __init__(self, arguments: tuple[Any, ...]):
        self.arrays: list[Array] = []
        self.pointers = [pointer for argument in arguments for pointer in pointers(argument)]
        for position, argument in enumerate(arguments):
            for array in arrays(argument):
                if not array.flags.c_contiguous:
                    raise EmulatorError(f"argument {position + 1} is not C-contiguous")
                if not array.dtype.isnative:
                    raise EmulatorError(f"argument {position + 1} has its bytes in the other order")
                self.arrays.append(array)
        self.stretches: list[list[int]] = []
        for start, end in sorted(map(_extent, self.arrays)):
            if self.stretches and start < self.stretches[-1][1]:
                self.stretches[-1][1] = max(self.stretches[-1][1], end)
            else:
                self.stretches.append([start, end])
        self.sizes = [end - start for start, end in self.stretches]

    def place(self, array: Array) -> tuple[int, int]:
        """The stretch that an array lies in, and its offset there."""
        begin, end = _extent(array)
        for index, (start, stop) in enumerate(self.stretches):
            if start <= begin and end <= stop:
                return index, begin - start
        raise AssertionError("an array lies in no stretch")

    def upload(self, arena: Arena, first: int) -> None:
        """Copy the arrays in; stretch k is allocation ``first + k``."""
        address_of = functools.partial(self.address, arena, first)
        for pointer in self.pointers:
            content = pointer.target.pack(address_of)
            pointer.memory[:] = np.frombuffer(content, np.uint8)
        for array in self.arrays:
            self._bytes(arena, first, array)[:] = _raw(array)

    def download(self, arena: Arena, first: int) -> None:
        """Copy the arrays back."""
        for array in self.arrays:
            content = self._bytes(arena, first, array)
            if array.flags.writeable:
                _raw(array)[:] = content
            elif (_raw(array) != content).any():
                raise EmulatorError("the kernel wrote to an array that is read-only")

    def address(self, arena: Arena, first: int, array: Array) -> int:
        """The device address of an array."""
        index, offset = self.place(array)
        return arena.address(first + index) + offset

    def _bytes(self, arena: Arena, first: int, array: Array) -> Array:
        index, offset = self.place(array)
        return arena.bytes_of(first + index)[offset : offset + array.nbytes]


def _extent(array: Array) -> tuple[int, int]:
    start = int(array.__array_interface__["data"][0])
    return start, start + array.nbytes


def _raw(array: Array) -> Array:
    return array.reshape(-1).view(np.uint8)


def pack_parameters(kernel: Function, arguments: tuple[Any, ...], address_of: Any) -> bytes:
    """The parameter buffer of a launch.

    As CuPy takes them: arguments beyond the last parameter are ignored.

    Args:
        kernel: its parameters give the sizes.
        arguments: NumPy arrays (pointers; by value where the parameter is a structure of their
            size), structures and pointers to them, NumPy and Python scalars, ``bytes``,
            ``np.void`` or None (null).
        address_of: the device address of an array.

    Raises:
        EmulatorError: there are too few, or one does not fit its parameter.
    """
    wanted, given = len(kernel.parameters), len(arguments)
    if given < wanted:
        raise EmulatorError(f"{kernel.name} takes {wanted} arguments, not {given}", kernel.span)
    offsets = parameter_offsets(kernel.parameters)
    content = bytearray()
    for position, (parameter, argument) in enumerate(
        zip(kernel.parameters, arguments, strict=False)
    ):
        content = content.ljust(offsets[parameter.name], b"\0")
        value = _encode(parameter, argument, address_of)
        if len(value) != parameter.bytes:
            raise EmulatorError(
                f"argument {position + 1} of {kernel.name} {_takes(argument)} {len(value)} bytes"
                f"{_in_members(argument)}, its parameter {parameter.name} {parameter.bytes}"
                f"{'' if parameter.bytes in _NUMBERS else _BY_MEMBERS}",
                kernel.span,
            )
        content += value
    return bytes(content)


def _takes(argument: Any) -> str:
    """What has the bytes that are passed: of a buffer these are not its own."""
    return "is a buffer, whose address has" if isinstance(argument, np.ndarray) else "has"


def _in_members(argument: Any) -> str:
    """What a structure takes, for who has forgotten one of its members."""
    if not isinstance(argument, Structure):
        return ""
    count = len(argument.members)
    return f" in {count} member{'s' * (count != 1)}"


def _encode(parameter: Variable, argument: Any, address_of: Any) -> bytes:
    size = parameter.bytes or 0
    if by_value(parameter, argument):
        return bytes(argument.tobytes())
    if isinstance(argument, Structure):
        return argument.pack(address_of)
    if isinstance(argument, AddressOf):
        argument = argument.memory
    if isinstance(argument, (np.ndarray, Surface)):
        return int(address_of(argument)).to_bytes(8, "little")
    if isinstance(argument, (bytes, bytearray)):
        return bytes(argument)
    if isinstance(argument, np.generic):
        return argument.tobytes()
    if argument is None:
        return bytes(size)
    if isinstance(argument, int):
        return (argument & (1 << 8 * size) - 1).to_bytes(size, "little")
    if isinstance(argument, float):
        return np.array(argument, f"f{size}").tobytes() if size in (2, 4, 8) else b""
    if isinstance(argument, complex):
        return np.array(argument, f"c{size}").tobytes() if size in (8, 16) else b""
    raise EmulatorError(f"an argument of type {type(argument).__name__} cannot be passed")


def by_value(parameter: Variable, argument: Any) -> bool:
    """Whether an array is the content of a structure, and no buffer whose address is passed."""
    return (
        isinstance(argument, np.ndarray)
        and parameter.bytes != ADDRESS_BYTES
        and argument.nbytes == parameter.bytes
    )
