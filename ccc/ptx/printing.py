"""What ``printf`` prints: the host's C library does it, with the arguments that a thread packed."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

_SPECIFIER = re.compile(
    r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d*))?(hh|h|ll|l|j|z|t|L)?([diouxXcsfFeEgGaAp%])"
)
_LONG = ("ll", "l", "j", "z", "t")


class _Arguments:
    """The packed arguments: each at a multiple of its size."""

    def __init__(self, take: Callable[[int, int], int]):
        self.take = take
        self.at = 0
        self.count = 0

    def bits(self, size: int) -> int:
        """The next argument, of 4 or 8 bytes."""
        place = -(-self.at // size) * size
        self.at = place + size
        self.count += 1
        return self.take(place, size)

    def integer(self, size: int, bits: int, is_signed: bool) -> int:
        """The next argument, cut to so many bits."""
        value = self.bits(size) & ((1 << bits) - 1)
        return value - (1 << bits) if is_signed and value >> (bits - 1) else value

    def number(self) -> float:
        """The next argument, a double."""
        value: float = struct.unpack("<d", self.bits(8).to_bytes(8, "little"))[0]
        return value


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
    arguments = _Arguments(take)
    shown = _SPECIFIER.sub(lambda match: _one(match, arguments, text), template)
    return shown, arguments.count


def packed_bytes(template: str) -> int | None:
    """Which bytes of packed arguments a format takes, as bits; None if that is not known.

    Between a number of 4 bytes and one of 8 lie four that nobody writes.

    >>> bin(packed_bytes("%d: %f")), packed_bytes("done"), packed_bytes("%n")
    ('0b1111111100001111', 0, None)
    """
    taken = 0

    def take(place: int, size: int) -> int:
        nonlocal taken
        taken |= ((1 << size) - 1) << place
        return 0

    printed(template, take, lambda _address: "")
    return None if "%" in _SPECIFIER.sub("", template) else taken


def _one(match: re.Match[str], arguments: _Arguments, text: Callable[[int], str]) -> str:
    flags, width, precision, length, kind = match.groups()
    if kind == "%":
        return "%"
    if width == "*":
        width = str(arguments.integer(4, 32, is_signed=True))
        flags, width = (flags + "-", width[1:]) if width.startswith("-") else (flags, width)
    if precision == "*":
        given = arguments.integer(4, 32, is_signed=True)
        precision = str(given) if given >= 0 else None
    dotted = "" if precision is None else f".{precision or 0}"
    if kind == "s":
        address = arguments.bits(8)
        shown = text(address) if address else "(null)"
        return f"%{flags.strip('0 +#')}{width or ''}{dotted}s" % shown
    if kind in "diouxX":
        return _integer(flags, width or "", dotted, length, kind, arguments)
    if kind in "aA":
        return _pad(_hexadecimal(arguments.number(), kind), flags, width)
    if kind in "cp":
        value = arguments.bits(4 if kind == "c" else 8)
        return _pad(chr(value & 255) if kind == "c" else f"{value:#x}", flags, width)
    return f"%{flags}{width or ''}{dotted}{kind}" % arguments.number()


def _integer(
    flags: str, width: str, dotted: str, length: str | None, kind: str, arguments: _Arguments
) -> str:
    size = 8 if length in _LONG else 4
    bits = {"hh": 8, "h": 16}.get(length or "", 8 * size)
    value = arguments.integer(size, bits, kind in "di")
    if kind not in "di":
        flags = flags.replace("+", "").replace(" ", "")
    if dotted:  # a precision switches the padding with zeros off
        flags = flags.replace("0", "")
    if "#" in flags and kind in "oxX":
        flags = flags.replace("#", "")
        digits = f"%{dotted}{kind}" % value
        prefix = {"o": "0", "x": "0x", "X": "0X"}[kind] if value else ""
        return _pad(digits if digits.startswith("0") else prefix + digits, flags, width)
    flags = flags.replace("#", "")
    return f"%{flags}{width}{dotted}{'d' if kind in 'diu' else kind}" % value


def _hexadecimal(value: float, kind: str) -> str:
    shown = re.sub(r"\.?0*p", "p", value.hex())
    return shown.upper() if kind == "A" else shown


def _pad(shown: str, flags: str, width: str | None) -> str:
    room = int(width or 0)
    if "-" in flags:
        return shown.ljust(room)
    if "0" in flags and shown[:2] in ("0x", "0X"):
        return shown[:2] + shown[2:].rjust(room - 2, "0")
    return shown.rjust(room)
