"""The variables that clauses name: whether they are there, and whether naming them has an effect.

A clause is written into the source as inline assembly, so that nvcc would complain of a misspelt
name in code that the user has not written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ccc.errors import short
from ccc.frontend import reductions, updates
from ccc.frontend.classes import class_of, fields_beside, knows_members, type_of_field
from ccc.frontend.declared_types import are_two_halves, members_of, type_by_name
from ccc.frontend.lambdas import outermost, own_names
from ccc.frontend.naming import is_asked_for, is_index
from ccc.frontend.near_names import members_used, near_name, parts_of
from ccc.frontend.one_use import is_pointed_from, is_read, is_whole, leads_elsewhere, update_of
from ccc.frontend.structures import structure_of
from ccc.frontend.syntax import (
    body_of,
    declarations,
    declared_in,
    function_around,
    identifiers_in,
    is_number,
    type_of,
)
from ccc.frontend.targets import handed_anyhow
from ccc.frontend.uses import of_all

if TYPE_CHECKING:
    from ccc.frontend.placement import Placed
    from ccc.frontend.pragmas import Pragma
    from ccc.frontend.structures import DeclaredStructure
    from ccc.frontend.syntax import Node

_ACCESS = re.compile(r"\.|->")
_PRAGMA = re.compile(rb"#[ \t]*pragma[^\n]*|_Pragma[ \t]*\([^)]*\)")
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include\b", re.M)
_MEMBER = "field_expression"
_SUMS = ("+", "^")
"""The operations whose variables no branch may ask for to update them."""
_FLAGS = ("&", "|")
"""Those by which flags are cleared and set."""
_BRANCHES = ("if_statement", "switch_statement")
_NO_VARIABLE = "the loop uses as a pointer or an array; name variables, one for each element"

_OF_OTHERS = "other threads update, too; remove it from the clause, and update it by an atomic"


class WrongName(NamedTuple):
    """What is wrong with a name in a clause, or why it has no effect, and the name."""

    message: str
    name: str


class ClauseNames:
    """Looks at the names in the clauses of one text.

    Args:
        root: the text's syntax tree.
        code: the text.
        blank: the same with spaces for whatever is not the user's and for pragmas.
        macros: the macros that it may use, None where they are expanded.
        functions: gives those of the text that have a plain name.
    """

    def __init__(
        self,
        root: Node,
        code: bytes,
        blank: bytes,
        macros: Mapping[str, str] | None,
        functions: Callable[[bytes], Sequence[Node]],
    ):
        self._root = root
        self._code = code
        self._functions = functions
        self._blank = blank
        self._macros = {macro.encode() for macro in macros or ()}
        self._has_headers = macros is not None and _INCLUDE.search(blank) is not None

    def wrong(self, placed: Placed) -> list[WrongName]:
        """What is wrong with names in clauses, and what to do about it."""
        unknown = [*self._unknown_reductions(placed), *self._unknown_pointers(placed)]
        others = (self._no_pointer, self._shadowed, self._hidden)
        found = (one(placed) for one in others) if not unknown else ()
        other = next(filter(None, found), None)
        return [other] if other else unknown

    def idle(self, placed: Placed) -> list[WrongName]:
        """Why naming variables has no effect, or does not fit; one reason for each."""
        reasons = (
            self._without_effect, self._whole_structure,
            self._other_operation, self._set_otherwise, self._read_in_between, self._set_along,
        )  # fmt: skip
        wrong: dict[str, WrongName] = {}
        for one in (one for reason in reasons for one in reason(placed)):
            wrong.setdefault(one.name, one)
        return list(wrong.values())

    def _without_effect(self, placed: Placed) -> Iterator[WrongName]:
        """What the loop does not update."""
        unused = self._unused_reductions(placed, placed.statement)
        kinds = {
            "is not in the loop": self._unless_reached(placed, unused),
            "counts the iterations": self._counting_reductions(placed),
            "each iteration declares anew": self.local_reductions(placed),
            "the loop only reads": self._unless_reached(placed, self._of_uses(placed, is_read)),
            _OF_OTHERS: self._reductions_of_others(placed),
            _NO_VARIABLE: self._of_uses(placed, is_pointed_from),
        }
        for why, names in kinds.items():
            for name in names:
                yield WrongName(f'the reduction has no effect on "{name}", which {why}', name)

    def _unknown_reductions(self, placed: Placed) -> Iterator[WrongName]:
        """What is wrong with a reduction of variables that its function does not know."""
        function = outermost(placed.statement) or self._root
        known = {node.text or b"" for node in identifiers_in(function)}
        hidden = set() if knows_members(function) else own_names(function, placed.at)
        hidden -= {node.text for node in self._outside if node.type == "identifier"}
        known -= hidden
        names = (name for _, name in placed.pragma.reductions)
        out_of_sight = [name for name in names if parts_of(name)[0] in hidden]
        fields = fields_beside(function)
        for unused in dict.fromkeys([*self._unused_reductions(placed, function), *out_of_sight]):
            if parts_of(unused)[0] in fields:
                continue  # other methods may name them
            if not _ACCESS.search(unused) or not self._is_known(unused, known, function):
                near = "" if unused in out_of_sight else near_name(unused, function)
                yield WrongName(  # functions that get a variable may name its members
                    f'the reduction is of "{unused}", and there is no such variable here'
                    + (near or "; name one that the loop updates"),
                    unused,
                )

    def _unknown_pointers(self, placed: Placed) -> Iterator[WrongName]:
        """What is wrong with a ``noalias`` of variables that its function does not know."""
        names = [name for group in placed.pragma.apart for name in group]
        if not names:
            return
        function = outermost(placed.statement) or self._root
        nodes = [*identifiers_in(function), *self._outside]
        known = {node.text or b"" for node in nodes}
        if not known.isdisjoint(self._macros):
            return  # which may hold any name
        is_method = knows_members(function)
        if is_method and self._has_headers:
            return  # whose classes may be bases
        if not is_method:
            known = {node.text or b"" for node in nodes if node.type == "identifier"}
        for unknown in names:
            if not self._is_known(unknown, known, function):
                near = near_name(unknown, function)
                yield WrongName(
                    f'noalias speaks of "{unknown}", and there is no such variable here'
                    + (near or "; name pointers that are declared before the loop"),
                    unknown,
                )

    def _is_known(self, name: str, known: Collection[bytes], function: Node) -> bool:
        """Whether a variable is among those that are known, and a member anywhere in the code, by
        the sign with which the function asks for members."""
        variable, *members = parts_of(name)
        code = _PRAGMA.sub(b"", self._code) if members else b""
        signs = {sign for base, sign, _ in members_used(function) if base.encode() == variable}
        return (
            (variable in known or variable == b"this")
            and all(re.search(rb"\b%s\b" % member, code) for member in members)
            and (not members or not signs or _ACCESS.findall(name)[0] in signs)
        )

    @cached_property
    def _outside(self) -> list[Node]:
        """The names in a text that stand in no function; each clause asks for them."""
        found, pending = [], [self._root]
        while pending:
            node = pending.pop()
            if node.type.endswith("identifier"):
                found.append(node)
            pending += [one for one in node.children if one.type != "function_definition"]
        return found

    def _no_pointer(self, placed: Placed) -> WrongName | None:
        """What is wrong with a ``noalias`` of a number, or of a structure."""
        is_kernel = placed.name == "grid_stride"
        place = body_of(placed.statement, "body") if is_kernel else placed.statement
        names = [name for group in placed.pragma.apart for name in group]
        kinds = ((name, type_of(place, name.encode()) if place else None) for name in names)
        found = next((name for name, kind in kinds if kind and self._is_value(kind)), None)
        if found is None:
            return None
        return WrongName(
            f'noalias speaks of "{found}", which is no pointer; '
            "name pointers: noalias(a, s.b, t->c)",
            found,
        )

    def _is_value(self, kind: bytes) -> bool:
        """Whether variables of a type are numbers, or structures of this text, in which nothing
        else has that name, as what a template gets has."""
        if is_number(kind):
            return True
        named = rb"\b(?:struct|class|union|typename|using)\s+%s\b|\btypedef\b[^;{}]*\b%s\s*;"
        name = re.escape(kind.split()[-1])
        is_single = len(re.findall(named % (name, name), self._blank)) == 1
        return is_single and members_of(kind, self._blank) != b""

    def _shadowed(self, placed: Placed) -> WrongName | None:
        """What is wrong with a ``noalias`` of a pointer whose name the loop gives to another, or
        that is declared in the loop only."""
        body = placed.statement.child_by_field_name("body")
        if body is None or not placed.pragma.apart:
            return None
        function = outermost(placed.statement) or self._root
        statement = range(placed.statement.start_byte, placed.statement.end_byte)
        head = range(statement.start, body.start_byte)
        declared = list(declarations(function))
        if placed.name == "grid_stride":  # whose head has the parameters
            statement, head = range(body.start_byte, statement.stop), range(0)
        before = {node.text for node in declared if node.start_byte not in statement}
        before |= {node.text for node in self._outside}
        own = {
            node.text
            for node in declared
            if node.start_byte in head or (node.start_byte in statement and node.text not in before)
        }
        names = [name for group in placed.pragma.apart for name in group]
        found = next((name for name in names if parts_of(name)[0] in own), None)
        if found is None:
            return None
        return WrongName(
            f'noalias speaks of "{found}", and the loop itself declares what is called so; '
            "name pointers that are declared before it",
            found,
        )

    def _counting_reductions(self, placed: Placed) -> list[str]:
        """The variables of its reductions by which the loop knows when to end."""
        head = [placed.statement.child_by_field_name(part) for part in ("update", "condition")]
        if None in head:
            return []
        changed, asked = ({node.text for node in identifiers_in(one)} for one in head if one)
        names = (name for _, name in placed.pragma.reductions)
        return [name for name in names if name.encode() in changed & asked]

    def local_reductions(self, placed: Placed) -> list[str]:
        """The variables of its reductions that are declared in the loop only."""
        body = body_of(placed.statement, "body")
        if body is None or not placed.pragma.reductions:
            return []
        inside = range(body.start_byte, body.end_byte)
        function = outermost(placed.statement) or self._root
        declared = list(declarations(function))
        own = {node.text for node in declared if node.start_byte in inside}
        others = {node.text for node in declared if node.start_byte not in inside}
        others |= {node.text for node in self._outside}
        names = (name for _, name in placed.pragma.reductions)
        return [name for name in names if name.encode() in own - others]

    def _of_uses(self, placed: Placed, fits: Callable[[Node], bool]) -> list[str]:
        """The variables of reductions all of whose uses in the statement are of a kind."""
        uses = self._uses(placed)
        names = (name for _, name in placed.pragma.reductions)
        return [name for name in names if uses.get(name) and all(map(fits, uses[name]))]

    def _reductions_of_others(self, placed: Placed) -> list[str]:
        """The variables of reductions that are of the block, or of the whole device."""
        home = outermost(placed.statement) if placed.pragma.reductions else None
        if home is None:
            return []
        own = {name for name, _ in declared_in(home)} | fields_beside(home)
        names = {one.text for one in of_all(home, self._root) if one.text not in own}
        names |= {one.text for one in of_all(home, home)}
        return [name for _, name in placed.pragma.reductions if parts_of(name)[0] in names]

    def structures(self, pragma: Pragma, statement: Node) -> dict[str, DeclaredStructure]:
        """The variables of reductions that are structures, by their names."""
        names, code = dict.fromkeys(name for _, name in pragma.reductions), self._blank
        kinds = {name: type_by_name(statement, name.encode(), code) for name in names}
        numbers = {n for n in names if "." in n and are_two_halves(kinds[n] or b"") is not None}
        found = {n: structure_of(kind, code) for n, kind in kinds.items() if kind}
        return {
            n: one
            for n, one in found.items()
            if one and (one.open or one.private) and n not in numbers
        }

    def _whole_structure(self, placed: Placed) -> Iterator[WrongName]:
        """What to name in place of a structure."""
        calls = handed_anyhow(placed.statement, self._functions) if placed.structures else []
        updated = reductions.updated(placed.statement, calls) if placed.structures else []
        for ptx, name in placed.pragma.reductions:
            if whole := placed.structures.get(name):
                told = f'the reduction has no effect on "{name}", which is a structure'
                instead = whole.named_instead(name, reductions.written(ptx), updated)
                yield WrongName(f"{told}; {instead}", name)

    def _hidden(self, placed: Placed) -> WrongName | None:
        """What is wrong with a reduction of a member that only methods may name."""
        method = outermost(placed.statement)
        if b"friend" in self._blank:
            return None
        for _, name in placed.pragma.reductions:
            variable, *members = name.split(".")
            kind = type_of(placed.statement, variable.encode()) if members else None
            if members and method and not kind:
                kind = type_of_field(method, variable.encode())
            whole = structure_of(kind, self._blank) if kind else None
            name_of_own = class_of(method) if method else None
            is_own = bool(kind and name_of_own) and name_of_own in re.split(rb"\W+", kind or b"")
            if whole is not None and not is_own and whole.hides(members[0]):
                told = (
                    f'the reduction is of "{name}", which only methods may name; update plain '
                    "variables in its place, or make it public, and name those"
                )
                return WrongName(told, name)
        return None

    def _other_operation(self, placed: Placed) -> Iterator[WrongName]:
        """What does not fit in a reduction whose variable is updated by another operation."""
        from ccc.frontend.pragmas import BY_NO_REDUCTION, REDUCTIONS  # noqa: PLC0415 - loads Lark

        uses, written = self._uses(placed), {ptx: sign for sign, ptx in REDUCTIONS.items()}
        for ptx, name in placed.pragma.reductions:
            operation = written[ptx]
            found = {update_of(use, name) for use in uses.get(name, ()) if not is_read(use)}
            if parts_of(name)[1:] and parts_of(name)[0].decode() in uses:
                found = set(
                    map(updates.operator, updates.changes_of(placed.statement, name.encode()))
                )
            (other,) = found if len(found) == 1 else {None}
            other = other or reductions.kept(placed.statement, name)
            if other is None and operation in _FLAGS and name in uses:
                other = reductions.flagged(placed.statement, name)
            if other not in (None, operation):
                is_one = other in written.values()
                why = f"and not by {operation}" if is_one else "which no reduction is by"
                instead = BY_NO_REDUCTION if _has_branch(placed) else "remove it from the clause"
                instead = f"write reduction({other}: {name})" if is_one else instead
                told = f'the loop updates "{name}" by {other}, {why}; {instead}'
                yield WrongName(told, name)

    def _set_otherwise(self, placed: Placed) -> Iterator[WrongName]:
        """What does not fit in a reduction whose variable is also set by what is no update."""
        uses = self._uses(placed)
        for ptx, name in placed.pragma.reductions:
            by = reductions.written(ptx)
            change = reductions.otherwise(placed.statement, name, by) if name in uses else None
            if change is not None:
                told = f'the reduction has no effect on "{name}", which is not only updated by {by}'
                yield WrongName(f'{told}: "{_shown(change)}"; remove it from the clause', name)

    def _read_in_between(self, placed: Placed) -> Iterator[WrongName]:
        """What does not fit in a reduction whose variable the loop also reads: to set another one
        to it, or what is a sum as an index, or to decide by it."""
        uses, own = self._uses(placed), {one for one, _ in declared_in(placed.statement)}
        for ptx, name in placed.pragma.reductions:
            base, by = parts_of(name)[0], reductions.written(ptx)
            if base.decode() not in uses or base in own:
                continue
            made = map(updates.operation, updates.changes_of(placed.statement, name.encode()))
            if by not in made and (by, name) not in updates.extremes(placed.statement):
                continue
            how = _copied_by(placed.statement, name.encode(), own)
            if how or (by in _SUMS and (how := _read_as(placed.statement, name.encode()))):
                yield WrongName(
                    f'the loop also reads "{name}" {how}, which a reduction does not allow; '
                    "remove it from the clause",
                    name,
                )

    def _set_along(self, placed: Placed) -> Iterator[WrongName]:
        """What needs no reduction, since it is only set where the least or the most is, of which
        there is one."""
        uses, loop = self._uses(placed), placed.statement
        named = [(reductions.written(ptx), name) for ptx, name in placed.pragma.reductions]
        for along, by, best in reductions.set_along(loop):
            instead = f"write reduction({by}: {best}) in its place"
            instead = "remove it from the clause" if (by, best) in named else instead
            for other, name in named:
                if name in along and parts_of(name)[0].decode() in uses:
                    told = f'"{name}" is only set where "{best}" is, and is not updated by {other}'
                    yield WrongName(f"{told}: it goes with that; {instead}", name)

    def _unless_reached(self, placed: Placed, names: Iterable[str]) -> list[str]:
        """The variables but those that the loop may update without naming them: through a pointer
        or a reference, in a lambda, or in a method of what one is a member of, be that this object.
        """
        return [name for name in names if not self._is_reached(placed, name)]

    def _is_reached(self, placed: Placed, name: str) -> bool:
        function = outermost(placed.statement) or self._root
        base, *members = parts_of(name)
        if knows_members(function) and base not in {own for own, _ in declared_in(function)}:
            calls = updates.every(placed.statement, lambda node: node.type == "call_expression")
            if next(calls, None) is not None:
                return True
        uses = [use for use in identifiers_in(function) if use.text == base]
        loop = range(placed.statement.start_byte, placed.statement.end_byte)
        here = (use for use in uses if use.start_byte in loop)
        by_method = any(is_whole(use, len(members)) for use in here) if members else False
        home = function_around(placed.statement)
        return by_method or any(leads_elsewhere(use, home) for use in uses)

    def _uses(self, placed: Placed) -> dict[str, list[Node]]:
        """Where the statement names variables, by their names; none if a macro may hold more."""
        found: dict[str, list[Node]] = {}
        for one in identifiers_in(placed.statement) if placed.pragma.reductions else ():
            if one.text in self._macros:
                return {}
            found.setdefault((one.text or b"").decode(errors="replace"), []).append(one)
        return found

    def _unused_reductions(self, placed: Placed, where: Node) -> list[str]:
        """The variables of reductions whose name, or whose member's, is not in some code."""
        names = [name for _, name in placed.pragma.reductions]
        found = list(identifiers_in(where)) if names else []
        used = {node.text or b"" for node in found}
        if not used.isdisjoint(self._macros):
            return []  # which may hold any name
        plain = {b"this", *(node.text for node in found if node.type != "field_identifier")}
        parts = {name: parts_of(name) for name in names}
        return [n for n, p in parts.items() if not used.issuperset(p) or p[0] not in plain]


def _has_branch(placed: Placed) -> bool:
    """Whether a loop has a branch of its own whose tasks could be collected."""
    branches = updates.every(placed.statement, lambda node: node.type in _BRANCHES)
    return placed.name == "for" and next(branches, None) is not None


def _copied_by(loop: Node, name: bytes, own: Collection[bytes]) -> str | None:
    """Where a loop sets a variable that it does not declare to what another one is."""
    for change, base in updates.changes(loop):
        value = updates.bare(change.child_by_field_name("right"))
        is_copy = "=" in [child.type for child in change.children]
        is_other = base.text not in own and base.text != name
        if is_copy and is_other and value is not None and updates.text_of(value) == name:
            return f'in "{_shown(change)}"'
    return None


def _shown(node: Node) -> str:
    """A piece of the source for a message."""
    return short(" ".join((node.text or b"").decode(errors="replace").split()))


def _read_as(loop: Node, name: bytes) -> str | None:
    """How a loop certainly reads a variable, if it does."""
    if is_index(loop, name):
        return "as an index"
    return "in a condition" if is_asked_for(loop, name) else None
