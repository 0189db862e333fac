"""What types are: which members a structure has, and of which numbers."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from ccc.frontend.remembered import remembered
from ccc.frontend.syntax import closing_brace, is_number, type_of
from ccc.ir.markers import FLOATING_LETTERS

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_FLOATING = {kind.encode(): letter for kind, letter in FLOATING_LETTERS.items()}
_INNER = re.compile(rb"\{[^{}]*\}")
"""A block that holds no other."""
_VALUE = re.compile(rb"\s*=[^;,]*(?=[;,])")
_ARGUMENTS = re.compile(rb"<[^<>]*>")
_VECTOR = re.compile(rb"(u?(?:char|short|int|long|longlong)|float|double)([1-4])")
"""The structures that CUDA declares, of so many numbers."""
_ELEMENTS = {
    b"longlong": b"long", b"ulonglong": b"unsigned", b"uchar": b"unsigned", b"ushort": b"unsigned",
    b"uint": b"unsigned", b"ulong": b"unsigned",
}  # fmt: skip
_PAIR = re.compile(rb"(?:const\s+)?(?:(?:cuda::)?std|thrust)::pair\s*<([\w\s]+),([\w\s]+)>")
"""The structure that C++ has of two."""
_XYZW = (b"x", b"y", b"z", b"w")
_COMPLEX = {b"cuFloatComplex": b"float2", b"cuComplex": b"float2", b"cuDoubleComplex": b"double2"}
"""The names that a header of CUDA gives to some of them."""
_HALF = re.compile(rb"(?:(?:__)?half|(?:__)?nv_bfloat16)(2?)")
_PARAMETER = re.compile(rb"\b(?:class|typename)\s+(\w+)\b")
_NAMING = re.compile(
    rb"\btypedef\s+([\w:<>, ]+?)\s+(\w+)\s*;|\busing\s+(\w+)\s*=\s*([\w:<>, ]+?)\s*;"
)
_NAMED_BODY = re.compile(rb"\btypedef\s+struct\b[^;{}()]*\{")
_BEHIND = re.compile(rb"\s*(\w+)\s*[,;]")
_HEAD = re.compile(rb"\b(?:struct|class)\s+(\w+)\b(?!\s*[>,=])(?=([^;{}()]*\{))")
"""Heads of classes, also those in which there is another."""
_MOST_NAMES = 4
"""So many names of a type, each given by the one before, are followed."""


def floating_type(statement: Node, name: bytes, code: bytes) -> str | None:
    """What inline assembly calls the type of a variable, if that is ``float`` or ``double``.

    Args:
        statement: where it is used.
        name: the variable, or a member of one: ``hit.distance``.
        code: the text of all declarations, without comments.
    """
    return _FLOATING.get(type_by_name(statement, name, code) or b"")


def may_be_floating(statement: Node, name: bytes, code: bytes) -> bool:
    """Whether a variable is one of these, or may be: a template's parameter is any type."""
    kind = type_by_name(statement, name, code) or b""
    declared = _declared_in(code)
    return kind in _FLOATING or (kind in declared.parameters and kind not in declared.heads)


def type_by_name(statement: Node, name: bytes, code: bytes) -> bytes | None:
    """The type of a plain variable, or of a plain member of one, if it is known."""
    variable, *members = name.split(b".")
    kind = type_of(statement, variable)
    for member in members:
        kind = _type_of_member(kind, member, code) if kind else None
    return kind


def _type_of_member(kind: bytes, member: bytes, code: bytes) -> bytes | None:
    """The type of a plain member of a structure, if that is one word."""
    body = _outer_members(kind, code)
    declared = rb"(?:^|[;:])\s*(\w+)\s[^;()*&\[\]=]*\b" + re.escape(member) + rb"\b\s*[,;=]"
    found = re.search(declared, body)
    return found[1] if found else None


@remembered
def _outer_members(kind: bytes, code: bytes) -> bytes:
    """What a structure declares, but for what stands in braces there."""
    body = members_of(kind, code)
    while (plain := _INNER.sub(b";", body)) != body:
        body = plain
    return body


class _Declared:
    """What some code declares, by names, found by going through it once.

    Attributes:
        parameters: the names of classes, and of parameters of templates.
        named: to what ``typedef`` and ``using`` give a name.
        heads: where structures are declared: the beginning, and the brace.
    """

    def __init__(self, code: bytes):
        self.parameters = set(_PARAMETER.findall(code))
        self.named: dict[bytes, set[bytes]] = defaultdict(set)
        for kind, name, other, plain in _NAMING.findall(code):
            self.named[name or other].add(kind or plain)
        for begin in _NAMED_BODY.finditer(code):
            end = closing_brace(code, begin.end() - 1)
            if name := _BEHIND.match(code, end):
                self.named[name[1]].add(b"struct " + code[begin.end() - 1 : end])
        self.heads: dict[bytes, list[tuple[int, int]]] = defaultdict(list)
        for head in _HEAD.finditer(code):
            self.heads[head[1]].append((head.start(), head.end(2)))


@remembered
def _declared_in(code: bytes) -> _Declared:
    return _Declared(code)


def meant(kind: bytes, code: bytes) -> bytes:
    """The type to which some code gives a name by ``typedef`` or ``using``; the name where it gives
    none, or several."""
    declared = _declared_in(code)
    for _ in range(_MOST_NAMES):
        *_, name = [b"", *kind.split()]
        if not re.fullmatch(rb"\w+", name) or name in declared.parameters:
            break
        found = declared.named.get(name, set())
        if len(found) != 1:
            return kind if found else _COMPLEX.get(name, kind)
        (kind,) = found
    return kind


def are_two_halves(kind: bytes) -> bool | None:
    """Whether a type of half precision is of two numbers; None of any other."""
    match = _HALF.fullmatch(kind.split()[-1]) if kind.split() else None
    return bool(match[1]) if match else None


def is_pair(kind: bytes, code: bytes) -> bool:
    """Whether a type is the structure that C++ has of two."""
    return _PAIR.fullmatch(meant(kind, code)) is not None


def members_of(kind: bytes, code: bytes) -> bytes:
    """What a structure declares, which may be declared with its variable; empty if that is not
    known, or there are several of a name."""
    return _members(kind, code, len(code))


@remembered
def _members(kind: bytes, code: bytes, end: int) -> bytes:
    """The same of what is declared before some place."""
    if is_number(kind):
        return b""
    kind = meant(kind, code)
    if kind.endswith(b"}"):
        return kind[kind.index(b"{") + 1 : -1]
    if pair := _PAIR.fullmatch(kind):
        return b"%s first; %s second;" % pair.groups()
    name = kind.split()[-1]
    if vector := _VECTOR.fullmatch(name):
        return b"%s %s;" % (
            _ELEMENTS.get(vector[1], vector[1]),
            b", ".join(_XYZW[: int(vector[2])]),
        )
    found = [one for one in _declared_in(code).heads.get(name, ()) if one[1] <= end]
    if len(found) != 1:
        return b""
    ((start, begin),) = found
    own = code[begin : closing_brace(code, begin - 1) - 1]
    # what it is made of is declared before
    bases = (_members(one, code, start) for one in _open_bases(code[start:begin]))
    return b";".join([own, *bases])


def _open_bases(head: bytes) -> list[bytes]:
    """The classes that one is made of, by its head, whose members everybody may name as its own."""
    _, _, listed = head.replace(b"::", b"  ").partition(b":")
    every = [one.split() for one in _ARGUMENTS.sub(b"", listed.strip(b"{ ")).split(b",")]
    is_open = head.startswith(b"struct")
    return [
        one[-1]
        for one in every
        if one and (is_open or b"public" in one) and {b"private", b"protected"}.isdisjoint(one)
    ]


def numbers_in(kind: bytes, code: bytes) -> list[bytes]:
    """The members of a structure that are declared as plain numbers; none of what is no such."""
    return numbers_of(members_of(kind, code))


def numbers_of(declared_there: bytes) -> list[bytes]:
    """The same of what a structure declares."""
    body = b";" + declared_there
    while (plain := _INNER.sub(b";", body)) != body:
        body = plain
    body = _VALUE.sub(b"", body)
    declared = re.findall(rb"(?<=[;:])\s*((?:\w+\s+)*?\w+)\s+(\w+(?:\s*,\s*\w+)*)(?=\s*;)", body)
    plain_ones = (names for kind, names in declared if is_number(kind) or kind in _FLOATING)
    return [name.strip() for names in plain_ones for name in names.split(b",")]
