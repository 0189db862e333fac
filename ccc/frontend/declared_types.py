"""What types are: which members a structure has, and of which numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ccc.frontend.syntax import closing_brace, is_number, type_of
from ccc.ir.markers import FLOATING_LETTERS

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_FLOATING = {kind.encode(): letter for kind, letter in FLOATING_LETTERS.items()}
_INNER = re.compile(rb"\{[^{}]*\}")
"""A block that holds no other."""
_VALUE = re.compile(rb"\s*=[^;,]*(?=[;,])")
_VECTOR = re.compile(rb"(u?(?:char|short|int|long|longlong)|float|double)([1-4])")
"""The structures that CUDA declares, of so many numbers."""
_ELEMENTS = {
    b"longlong": b"long", b"ulonglong": b"unsigned", b"uchar": b"unsigned", b"ushort": b"unsigned",
    b"uint": b"unsigned", b"ulong": b"unsigned",
}  # fmt: skip
_XYZW = (b"x", b"y", b"z", b"w")


def floating_type(statement: Node, name: bytes, code: bytes) -> str | None:
    """What inline assembly calls the type of a variable, if that is ``float`` or ``double``.

    Args:
        statement: where it is used.
        name: the variable, or a member of one: ``hit.distance``.
        code: the text of all declarations, without comments.
    """
    variable, *members = name.split(b".")
    kind = type_of(statement, variable)
    for member in members:
        kind = _type_of_member(kind, member, code) if kind else None
    return _FLOATING.get(kind or b"")


def _type_of_member(kind: bytes, member: bytes, code: bytes) -> bytes | None:
    """The type of a plain member of a structure, if that is one word."""
    body = members_of(kind, code)
    while (plain := _INNER.sub(b";", body)) != body:
        body = plain
    declared = rb"(?:^|[;:])\s*(\w+)\s[^;()*&\[\]=]*\b" + re.escape(member) + rb"\b\s*[,;=]"
    found = re.search(declared, body)
    return found[1] if found else None


def members_of(kind: bytes, code: bytes) -> bytes:
    """What a structure declares, which may be declared with its variable; empty if that is not
    known, or there are several of a name."""
    if kind.endswith(b"}"):
        return kind[kind.index(b"{") + 1 : -1]
    if vector := _VECTOR.fullmatch(kind.split()[-1]):
        return b"%s %s;" % (
            _ELEMENTS.get(vector[1], vector[1]),
            b", ".join(_XYZW[: int(vector[2])]),
        )
    name = re.escape(kind.split()[-1])
    head = re.compile(rb"\b(?:struct|class)\s+" + name + rb"\b(?!\s*[>,=])[^;{}()]*\{")
    found = [match.end() for match in head.finditer(code)]
    return code[found[0] : closing_brace(code, found[0] - 1) - 1] if len(found) == 1 else b""


def numbers_in(kind: bytes, code: bytes) -> list[bytes]:
    """The members of a structure that are declared as plain numbers; none of what is no such."""
    body = b";" + members_of(kind, code)
    while (plain := _INNER.sub(b";", body)) != body:
        body = plain
    body = _VALUE.sub(b"", body)
    declared = re.findall(rb"(?<=[;:])\s*((?:\w+\s+)*?\w+)\s+(\w+(?:\s*,\s*\w+)*)(?=\s*;)", body)
    plain_ones = (names for kind, names in declared if is_number(kind) or kind in _FLOATING)
    return [name.strip() for names in plain_ones for name in names.split(b",")]
