"""The structures that variables may be of, and which of their members a clause may name."""

from __future__ import annotations

import re
from typing import NamedTuple

from ccc.frontend.declared_types import meant, members_of, numbers_in
from ccc.frontend.syntax import closing_brace

_ARGUMENTS = re.compile(rb"<.*>$", re.DOTALL)
_ACCESS = re.compile(rb"\b(public|private|protected)\s*:(?!:)")
_INNER = re.compile(rb"\{[^{}]*\}")
_ARRAY = re.compile(rb"\b(\w+)\s*(?:\[[^\[\]]*\]\s*)+(?=[,;=])")


class DeclaredStructure(NamedTuple):
    """A structure that some code declares.

    Attributes:
        open: the members that are plain numbers and that everybody may name, as far as known.
        private: what only its methods may name.
        arrays: the members that are arrays, whose elements no clause names.
    """

    open: list[str]
    private: bytes
    arrays: tuple[str, ...] = ()

    def hides(self, member: str) -> bool:
        """Whether only its methods may name a member."""
        return re.search(rb"\b%s\b" % re.escape(member.encode()), self.private) is not None


def structure_of(kind: bytes, code: bytes) -> DeclaredStructure | None:
    """The structure that a type is; None if it is none, or is not known.

    Args:
        kind: the type, as it is written.
        code: the text of all declarations, without comments.
    """
    kind = meant(kind, code)
    if kind.endswith(b"}"):
        return DeclaredStructure([one.decode() for one in numbers_in(kind, code)], b"")
    *_, name = [b"", *_ARGUMENTS.sub(b"", kind).split()]
    name = name.rpartition(b"::")[2]
    head = re.compile(rb"\b(struct|class)\s+" + re.escape(name) + rb"\b(?!\s*[>,=])[^;{}()]*\{")
    found = list(head.finditer(code))
    if name.isalnum() and not found and (numbers := numbers_in(name, code)):  # of CUDA
        return DeclaredStructure([one.decode() for one in numbers], b"")
    if not name or len(found) != 1:
        return None
    begin = found[0].end()
    body = code[begin : closing_brace(code, begin - 1) - 1]
    while (plain := _INNER.sub(b";", body)) != body:
        body = plain
    private: list[bytes] = []
    access = b"private" if found[0][1] == b"class" else b"public"
    for number, part in enumerate(_ACCESS.split(body)):
        if number % 2:
            access = part
        elif access != b"public":
            private.append(part)
    whole = DeclaredStructure([], b";".join(private).strip(b"; \t\r\n"))
    members = (one.decode(errors="replace") for one in numbers_in(kind, code))
    arrays = tuple(one.decode(errors="replace") for one in arrays_in(kind, code))
    return whole._replace(open=[one for one in members if not whole.hides(one)], arrays=arrays)


def arrays_in(kind: bytes, code: bytes) -> list[bytes]:
    """The members of a structure that are arrays; none of what is no such, or is not known."""
    body = members_of(_ARGUMENTS.sub(b"", kind).rpartition(b"::")[2] or kind, code)
    while (plain := _INNER.sub(b";", body)) != body:
        body = plain
    return [match[1] for match in _ARRAY.finditer(body)]
