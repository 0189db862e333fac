"""The arrays of a thread's own that code uses: variables, or members of variables."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ccc.frontend import updates
from ccc.frontend.structures import arrays_in
from ccc.frontend.syntax import (
    DECLARING,
    declared_in,
    every_node,
    identifiers_in,
    innermost,
    parameters_of_kernel,
)

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_VOLATILE = re.compile(rb"^[^=;({]*\bvolatile\b")


class OwnArrays:
    """Tells of those that a function declares, or gets.

    Args:
        function: the function.
        code: the text of all declarations, without comments.
    """

    def __init__(self, function: Node, code: bytes):
        read = _only_read(function, code)
        self._arrays = {name for name, is_array in declared_in(function) if is_array} - read
        self._members = {
            name: arrays_in(kind, code)
            for name, kind in _structures(function).items()
            if name not in self._arrays | read
        }

    def used_in(self, path: Node) -> list[Node]:
        """Where a path uses arrays, or structures that have some."""
        return [one for one in identifiers_in(path) if self._is_array(one) or self._named(one)]

    def names(self, uses: Iterable[Node]) -> list[str]:
        """What is spoken of at some uses, each once: of a whole structure the array in it, if it
        has no other."""
        every = (self._named(one) or updates.name_of(one) for one in uses)
        return list(dict.fromkeys(name.decode(errors="replace") for name in every))

    def _is_array(self, use: Node) -> bool:
        return use.text in self._arrays

    def _named(self, use: Node) -> bytes | None:
        """The array in a structure that is spoken of where that stands, or the structure if it has
        several; None where it is another member."""
        name = updates.name_of(use)
        members = self._members.get(use.text or b"")
        if not members or use.type != "identifier":
            return None
        base, _, member = name.partition(b".")
        if member:
            return name if member in members else None
        return b"%s.%s" % (base, *members) if len(members) == 1 else base


def _only_read(function: Node, code: bytes) -> set[bytes]:
    """The parameters of a kernel that it changes nothing of, which stay where launches put them."""
    body = function.child_by_field_name("body") or function
    given = {name for one in parameters_of_kernel(body, code) for name, _ in declared_in(one)}
    places = (one.child_by_field_name(updates.CHANGES[one.type])
              for one in updates.assignments(body))  # fmt: skip
    return given - {root.text for one in places if (root := updates.root_of(one)) is not None}


def volatile_in(path: Node, function: Node) -> list[Node]:
    """Where a path uses plain variables of its function that are volatile, and so lie in memory."""
    declared = {
        name.text or b""
        for node in every_node(function)
        if node.type == "declaration" and _VOLATILE.search(node.text or b"")
        for one in node.children_by_field_name("declarator")
        if (name := _plain(one)) is not None
    }
    return [one for one in identifiers_in(path) if one.text in declared]


def _plain(declarator: Node) -> Node | None:
    """What is declared to be no pointer, no reference and no array."""
    name, is_array = innermost(declarator)
    is_other = is_array or _is_pointer(declarator) or declarator.type == "reference_declarator"
    return None if is_other else name


def _structures(function: Node) -> dict[bytes, bytes]:
    """The types of the variables of a function that are no pointers, as they are written; not of
    those of which there are several of a name."""
    found: dict[bytes, set[bytes]] = {}
    for node in every_node(function):
        kind = node.child_by_field_name("type") if node.type in DECLARING else None
        for one in node.children_by_field_name("declarator") if kind else ():
            name, _ = innermost(one)
            if kind is not None and name is not None and not _is_pointer(one):
                found.setdefault(name.text or b"", set()).add(kind.text or b"")
    return {name: kinds.pop() for name, kinds in found.items() if len(kinds) == 1}


def _is_pointer(declarator: Node | None) -> bool:
    while declarator is not None and declarator.type != "pointer_declarator":
        declarator = declarator.child_by_field_name("declarator")
    return declarator is not None
