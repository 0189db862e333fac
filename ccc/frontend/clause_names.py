"""The variables that clauses name: whether they are there, and whether naming them has an effect.

A clause is written into the source as inline assembly, so that nvcc would complain of a misspelt
name in code that the user has not written.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from ccc.errors import nearest
from ccc.frontend.syntax import (
    body_of,
    declarations,
    declared_in,
    every_node,
    function_around,
    identifiers_in,
    type_of,
)

if TYPE_CHECKING:
    from ccc.frontend.placement import Placed
    from ccc.frontend.syntax import Node

_ACCESS = re.compile(r"\.|->")
_PRAGMA = re.compile(rb"#[ \t]*pragma[^\n]*|_Pragma[ \t]*\([^)]*\)")
_NUMBERS = frozenset(b"bool char short int long float double signed unsigned size_t".split())
"""Words of types whose variables are no pointers."""


class ClauseNames:
    """Looks at the names in the clauses of one text.

    Args:
        root: the text's syntax tree.
        code: the text.
        blank: the same with spaces for whatever is not the user's and for pragmas.
        macros: the macros that it may use, None where they are expanded.
    """

    def __init__(self, root: Node, code: bytes, blank: bytes, macros: Collection[str] | None):
        self._root = root
        self._code = code
        self._blank = blank
        self._macros = {macro.encode() for macro in macros or ()}

    def wrong(self, placed: Placed) -> str | None:
        """What is wrong with a name in a clause, and what to do about it."""
        return (
            self._unknown_reduction(placed)
            or self._unknown_pointer(placed)
            or self._no_pointer(placed)
            or self._shadowed(placed)
        )

    def idle(self, placed: Placed) -> str | None:
        """Why naming a variable has no effect."""
        unused = self._unused_reduction(placed, placed.statement)
        if unused:
            return f'the reduction has no effect on "{unused}", which is not in the loop'
        idle = self._read_reduction(placed)
        return idle and f'the reduction has no effect on "{idle}", which the loop only reads'

    def _unknown_reduction(self, placed: Placed) -> str | None:
        """What is wrong with a reduction of a variable that its function does not know."""
        function = function_around(placed.statement) or self._root
        unused = self._unused_reduction(placed, function)
        return unused and (
            f'the reduction is of "{unused}", and there is no such variable here'
            + (_near(unused, function) or "; name one that the loop updates")
        )

    def _unknown_pointer(self, placed: Placed) -> str | None:
        """What is wrong with a ``noalias`` of a variable that its function does not know."""
        names = [name for group in placed.pragma.apart for name in group]
        if not names:
            return None
        function = _whole_function(placed.statement) or self._root
        known = {node.text or b"" for node in (*identifiers_in(function), *self._outside())}
        if not known.isdisjoint(self._macros):
            return None  # which may hold any name
        unknown = next((one for one in names if not self._is_known(one, known)), None)
        return unknown and (
            f'noalias speaks of "{unknown}", and there is no such variable here'
            + (_near(unknown, function) or "; name pointers that are declared before the loop")
        )

    def _is_known(self, name: str, known: Collection[bytes]) -> bool:
        """Whether a variable is among those that are known, and a member anywhere in the code."""
        variable, *members = _parts(name)
        return variable in known and all(
            member in known or re.search(rb"\b%s\b" % member, _PRAGMA.sub(b"", self._code))
            for member in members
        )

    def _outside(self) -> Iterator[Node]:
        """The names in a text that stand in no function."""
        pending = [self._root]
        while pending:
            node = pending.pop()
            if node.type.endswith("identifier"):
                yield node
            pending += [one for one in node.children if one.type != "function_definition"]

    def _no_pointer(self, placed: Placed) -> str | None:
        """What is wrong with a ``noalias`` of a number."""
        is_kernel = placed.name == "grid_stride"
        place = body_of(placed.statement, "body") if is_kernel else placed.statement
        names = [name for group in placed.pragma.apart for name in group]
        kinds = ((name, type_of(place, name.encode()) if place else None) for name in names)
        found = next((name for name, kind in kinds if kind and _is_number(kind)), None)
        return found and (
            f'noalias speaks of "{found}", which is no pointer; '
            "name pointers: noalias(a, s.b, t->c)"
        )

    def _shadowed(self, placed: Placed) -> str | None:
        """What is wrong with a ``noalias`` of a pointer whose name the loop gives to another, or
        that is declared in the loop only."""
        body = placed.statement.child_by_field_name("body")
        if body is None or not placed.pragma.apart:
            return None
        function = _whole_function(placed.statement) or self._root
        statement = range(placed.statement.start_byte, placed.statement.end_byte)
        head = range(statement.start, body.start_byte)
        declared = list(declarations(function))
        if placed.name == "grid_stride":  # whose head has the parameters
            statement, head = range(body.start_byte, statement.stop), range(0)
        before = {node.text for node in declared if node.start_byte not in statement}
        before |= {node.text for node in self._outside()}
        own = {
            node.text
            for node in declared
            if node.start_byte in head or (node.start_byte in statement and node.text not in before)
        }
        names = [name for group in placed.pragma.apart for name in group]
        found = next((name for name in names if _parts(name)[0] in own), None)
        return found and (
            f'noalias speaks of "{found}", and the loop itself declares what is called so; '
            "name pointers that are declared before it"
        )

    def _read_reduction(self, placed: Placed) -> str | None:
        """The first variable of a reduction that the statement reads and cannot change."""
        uses: dict[bytes, list[Node]] = {}
        for one in identifiers_in(placed.statement) if placed.pragma.reductions else ():
            uses.setdefault(one.text or b"", []).append(one)
        if not uses.keys().isdisjoint(self._macros):
            return None  # which may hold any name
        names = [name for _, name in placed.pragma.reductions]
        read = (name for name in names if all(map(_is_read, uses.get(name.encode(), [None]))))
        return next(read, None)

    def _unused_reduction(self, placed: Placed, where: Node) -> str | None:
        """The first variable of a reduction whose name, or whose member's, is not in some code."""
        names = [name for _, name in placed.pragma.reductions]
        if not names:
            return None
        used = {node.text or b"" for node in identifiers_in(where)}
        if not used.isdisjoint(self._macros):
            return None  # which may hold any name
        return next((name for name in names if not used.issuperset(_parts(name))), None)


def _parts(name: str) -> list[bytes]:
    """A variable, and its members."""
    return [part.strip().encode() for part in _ACCESS.split(name)]


def _near(name: str, function: Node) -> str:
    """A hint at a name of the function's that is much like one that is not there."""
    variables = _texts(text for text, _ in declared_in(function))
    members = _texts(n.text or b"" for n in every_node(function) if n.type == "field_identifier")
    variable, *rest = _ACCESS.split(name)
    if variable.strip() not in variables:
        return nearest(variable.strip(), variables)
    return next(filter(None, (nearest(one.strip(), members) for one in rest)), "")


def _texts(names: Iterable[bytes]) -> list[str]:
    return [name.decode(errors="replace") for name in dict.fromkeys(names)]


def _whole_function(statement: Node) -> Node | None:
    """The outermost function around a statement: a lambda knows what is around it."""
    found, node = None, function_around(statement)
    while node is not None:
        found, node = node, function_around(node.parent) if node.parent else None
    return found


def _is_number(kind: bytes) -> bool:
    return _NUMBERS.issuperset(kind.split())


def _is_read(use: Node | None) -> bool:
    """Whether a variable certainly is read only, by a calculation or a comparison."""
    around = use.parent if use is not None else None
    return around is not None and around.type == "binary_expression"
