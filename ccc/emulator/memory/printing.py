"""What ``printf`` prints: the host's C library does it, as it does for a device."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any

from ccc.ptx.printing import FLOATS, Conversion, filled_in

_print: Any = ctypes.CDLL(None).snprintf


def printed(
    template: str, take: Callable[[int, int], int], text: Callable[[int], str]
) -> tuple[str, int]:
    """What a thread prints.

    Args:
        template: the format.
        take: gives the bits at a place in the packed arguments, of a size in bytes.
        text: the string at an address.

    Returns:
        The text, and how many arguments it took.
    """
    return filled_in(template, take, lambda one: _shown(one, text))


def _shown(one: Conversion, text: Callable[[int], str]) -> str:
    arguments = one.specifier.encode(), *map(ctypes.c_int, one.stars), _value(one, text)
    size = _print(None, ctypes.c_size_t(0), *arguments) + 1
    buffer = ctypes.create_string_buffer(size)
    _print(buffer, ctypes.c_size_t(size), *arguments)
    return buffer.raw[:-1].decode("latin1")


def _value(one: Conversion, text: Callable[[int], str]) -> Any:
    """An argument as C takes it."""
    if one.kind == "s":
        return text(one.bits).encode("latin1", "replace") if one.bits else None
    if one.kind in FLOATS:
        return ctypes.c_double(struct.unpack("<d", one.bits.to_bytes(8, "little"))[0])
    if one.kind == "p" or "ll" in one.specifier:
        return ctypes.c_longlong(one.bits)
    return ctypes.c_int(one.bits)
