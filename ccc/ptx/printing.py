"""What the format of a ``printf`` takes of the arguments that a thread packed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

_SPECIFIER = re.compile(
    r"(%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d*))?)(hh|h|ll|l|j|z|t|L)?([diouxXcsfFeEgGaAp%])"
)
_LONG = ("ll", "l", "j", "z", "t")
INTEGERS, FLOATS = "diouxX", "fFeEgGaA"


class Conversion(NamedTuple):
    """One argument as it is to be shown.

    ``specifier`` is C's, in which ``ll`` is the length of all that has 8 bytes; its last letter is
    the ``kind``. ``stars`` are the numbers that stand for the stars in it.
    """

    specifier: str
    kind: str
    stars: tuple[int, ...]
    bits: int


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

    def number(self) -> int:
        """The next argument, an ``int``."""
        value = self.bits(4) & 0xFFFFFFFF
        return value - (value >> 31 << 32)


def filled_in(
    template: str, take: Callable[[int, int], int], shown: Callable[[Conversion], str]
) -> tuple[str, int]:
    """A format with its arguments.

    Args:
        template: the format.
        take: gives the bits at a place in the packed arguments, of a size in bytes.
        shown: makes text of an argument.

    Returns:
        The text, and how many arguments it took.
    """
    arguments = _Arguments(take)

    def one(match: re.Match[str]) -> str:
        return "%" if match[3] == "%" else shown(_conversion(match, arguments))

    return _SPECIFIER.sub(one, template), arguments.count


def _conversion(match: re.Match[str], arguments: _Arguments) -> Conversion:
    before, length, kind = match[1], match[2] or "", match[3]
    stars = tuple(arguments.number() for _ in range(before.count("*")))
    is_long = length in _LONG if kind in INTEGERS else kind != "c"
    length = "" if kind not in INTEGERS else "ll" if is_long else length
    return Conversion(f"{before}{length}{kind}", kind, stars, arguments.bits(8 if is_long else 4))


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

    filled_in(template, take, lambda _: "")
    return None if "%" in _SPECIFIER.sub("", template) else taken
