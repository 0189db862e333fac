"""The structures that variables may be of, and which of their members a clause may name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from ccc.frontend.declared_types import meant, members_of, numbers_in, numbers_of
from ccc.frontend.reductions import clauses_of
from ccc.frontend.remembered import remembered
from ccc.frontend.syntax import closing_brace, is_number

_ARGUMENTS = re.compile(rb"<.*>$", re.DOTALL)
_ACCESS = re.compile(rb"\b(public|private|protected)\s*:(?!:)")
_WORDS = (b"public", b"private", b"protected")
_TEMPLATE = re.compile(rb"\btemplate\s*<([^<>]*)>\s*$")
_ANGLES = re.compile(rb"<[^<>]*>")
_INNER = re.compile(rb"\{[^{}]*\}")
_ARRAY = re.compile(rb"\b(\w+)\s*(?:\[[^\[\]]*\]\s*)+(?=[,;=])")

_INSTEAD_OF_HIDDEN = (
    "update plain variables in place of its members, or make them public, and name these"
)


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

    def named_instead(self, name: str, by: str, updated: Collection[tuple[str, str]]) -> str:
        """What to name in a clause in place of a variable that is one.

        Args:
            name: the variable.
            by: the operation with which it is named.
            updated: what the loop updates, and by which operations.
        """
        every = [f"{name}.{one}" for one in self.open]
        clauses = [one for one in updated if one[1] in every]
        if clauses or len(every) == 1 or (every and (by, name) in updated):
            told = clauses_of(clauses or [(by, one) for one in every])
            return f"name the members that the loop updates: {told}"
        if every:
            return f"name those of {', '.join(every)} that the loop updates by {by}, in its place"
        return _INSTEAD_OF_HIDDEN


@remembered
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
    beginning = rb"\b(?:enum\s+)?(struct|class)\s+" + re.escape(name)
    head = re.compile(beginning + rb"\b(?!\s*[>,=])[^;{}()]*\{")
    found = [one for one in head.finditer(code) if not one[0].startswith(b"enum")]
    if name and not found and (numbers := numbers_in(name, code) or numbers_in(kind, code)):
        return DeclaredStructure([one.decode() for one in numbers], b"")
    if not name or len(found) != 1:
        return None
    begin = found[0].end()
    body = _plain(code[begin : closing_brace(code, begin - 1) - 1])
    access = b"private" if found[0][1] == b"class" else b"public"
    private = list(_hidden_in_bases(found[0][0], access, code[: found[0].start()]))
    for number, part in enumerate(_ACCESS.split(body)):
        if number % 2:
            access = part
        elif access != b"public":
            private.append(part)
    whole = DeclaredStructure([], b";".join(private).strip(b"; \t\r\n"))
    made_of = _made_of(kind, found[0][0], code[: found[0].start()], code)
    numbers = numbers_in(kind, code) or numbers_of(_with_types(body, made_of))
    members = (one.decode(errors="replace") for one in numbers)
    arrays = tuple(one.decode(errors="replace") for one in arrays_in(kind, code))
    return whole._replace(open=[one for one in members if not whole.hides(one)], arrays=arrays)


def _made_of(kind: bytes, head: bytes, before: bytes, code: bytes) -> dict[bytes, bytes]:
    """The types of numbers that a template is made of, by the names of its parameters.

    Args:
        kind: the type, as it is written.
        head: the text of the template up to its brace.
        before: what stands before that.
        code: the text of all declarations, in which numbers may have other names.
    """
    given, listed = _ARGUMENTS.search(kind), _TEMPLATE.search(before)
    if given is None or listed is None or b"<" in head:
        return {}
    names = [(one.partition(b"=")[0].split() or [b""])[-1] for one in listed[1].split(b",")]
    types = [meant(one.strip(), code) for one in given[0][1:-1].split(b",")]
    both = zip(names, types, strict=False)
    return {name: one for name, one in both if is_number(one) and name.isalnum()}


def _with_types(body: bytes, made_of: Mapping[bytes, bytes]) -> bytes:
    for name, kind in made_of.items():
        body = re.sub(rb"\b%s\b" % name, kind, body)
    return body


def _hidden_in_bases(head: bytes, access: bytes, before: bytes) -> Iterator[bytes]:
    """What is hidden of the classes that one is made of, by its head: all that those declare that
    it is made of for itself.

    Args:
        head: the text up to its brace.
        access: how it is made of classes where nothing is said.
        before: the text in which these are declared.
    """
    _, _, listed = head.replace(b"::", b"  ").partition(b":")
    for one in _outside_of_arguments(listed.strip(b"{ ")).split(b","):
        *words, name = one.split() or [b""]
        base = structure_of(name, before) if name else None
        said = next((word for word in words if word in _WORDS), access)
        if base is not None:
            yield base.private
        if said != b"public":
            yield _plain(members_of(name, before)) if name else b""


def _outside_of_arguments(text: bytes) -> bytes:
    while (plain := _ANGLES.sub(b"", text)) != text:
        text = plain
    return text


def _plain(body: bytes) -> bytes:
    """A class without what stands in its methods."""
    while (plain := _INNER.sub(b";", body)) != body:
        body = plain
    return body


def arrays_in(kind: bytes, code: bytes) -> list[bytes]:
    """The members of a structure that are arrays; none of what is no such, or is not known."""
    body = _plain(members_of(_ARGUMENTS.sub(b"", kind).rpartition(b"::")[2] or kind, code))
    return [match[1] for match in _ARRAY.finditer(body)]
