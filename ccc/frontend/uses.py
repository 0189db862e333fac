"""Where code uses variables, of each kind that a reason may be about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ccc.frontend import unset, updates
from ccc.frontend.remembered import remembered
from ccc.frontend.syntax import (
    DECLARING,
    declarations,
    declared_in,
    identifiers_in,
    innermost,
    is_number,
    parameters,
    restricted_parameters,
    type_of,
)

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_ACCESSES = {"subscript_expression": "argument", "pointer_expression": "argument"}
_MEMBER = "field_expression"
_SHARED = re.compile(rb"__shared__|__attribute__\s*\(\(\s*shared\s*\)\)")
_OF_ALL = re.compile(rb"__(?:device|managed)__|__attribute__\s*\(\(\s*(?:device|managed)\s*\)\)")
_TO_CONSTANTS = re.compile(rb"\bconst\b[^*&]*\*")
_WIDE = re.compile(rb"(?:std::)?(?:u?int64_t|size_t)|(?:(?:un)?signed +)?long +long(?: +int)?")
_VOLATILE = re.compile(rb"\bvolatile\b")
_REGISTERS = {"f32": b"float", "f64": b"double"}
"""Of which type a plain number is that a register of such a type holds."""
MOST_NAMED = 3
"""Of more variables, each is as likely to be none that is meant."""
INTEGER = "integer"
"""What a register is of, where integer arithmetic makes it: it holds no floating-point variable."""


def own_of(path: Node, turn: Node | None) -> set[bytes]:
    """The variables that each iteration declares anew.

    Args:
        path: the annotated statement.
        turn: the loop whose iterations are meant, or the kernel; None if no file tells.
    """
    return {name for name, _ in declared_in(path if turn is None else _body(turn))}


def handed_on(turn: Node) -> list[Node]:
    """Where a turn of a loop changes variables that outlive it."""
    own = own_of(turn, turn)
    return [base for base in updates.changed(turn) if base.text not in own]


def uninitialised(path: Node, turn: Node | None, *, arrays: bool = False) -> list[Node]:
    """Where a path uses variables that are declared without a value; with arrays, if asked for."""
    whole = path if turn is None else turn
    every = unset.names(whole, arrays=arrays)
    names = {name for name in every if not _is_set_behind(whole, name)}
    return [node for node in identifiers_in(path) if node.text in names]


def accessed(whole: Node, turn: Node | None) -> list[Node]:
    """The pointers and arrays through which code reads or writes, and members that pointers lead
    to; not where a loop begins, which is in no iteration.

    Args:
        whole: the function.
        turn: the loop whose iterations are meant, or the kernel; None if no file tells.
    """
    begin = turn.child_by_field_name("initializer") if turn else None
    through = (
        node if node.type == _MEMBER else node.child_by_field_name(_ACCESSES[node.type])
        for node in updates.every(
            whole, lambda node: node.type in _ACCESSES or updates.is_arrow(node)
        )
        if not (begin and begin.start_byte <= node.start_byte < begin.end_byte)
    )
    return [node for one in through if (node := _bare(one)) is not None]


def stored_to(bases: Iterable[Node], function: Node, *, is_plain: bool = False) -> list[Node]:
    """Those of some pointers, arrays and members through which code writes right there; if that is
    plain, without reading there, too."""
    every = updates.assignments(function)
    kept = [one for one in every if not is_plain or any(part.type == "=" for part in one.children)]
    places = (one.child_by_field_name(updates.CHANGES[one.type]) for one in kept)
    begins = {root.start_byte for one in places if (root := updates.root_of(one)) is not None}
    return [one for one in bases if one.start_byte in begins]


def set_by_calls(function: Node) -> list[Node]:
    """The objects that code calls to set what that gives, ``image(row, column) = 1``."""
    places = (one.child_by_field_name(updates.CHANGES[one.type]) for one in
              updates.assignments(function))  # fmt: skip
    calls = (one for one in places if one is not None and one.type == "call_expression")
    called = (one.child_by_field_name("function") for one in calls)
    return [one for one in called if one is not None and one.type == "identifier"]


def reads_alike(head: Node, loop: Node) -> bool:
    """Whether the head of a loop reads memory, and in all iterations at one place, as far as its
    text tells."""
    read = list(updates.every(head, lambda node: node.type in _ACCESSES or updates.is_arrow(node)))
    made = {base.text for base in updates.changed(loop)} | own_of(loop, None)
    used = {one.text for node in read for one in identifiers_in(node)}
    return bool(read) and used.isdisjoint(made)


def only_read(function: Node, code: bytes, *, is_written: bool) -> set[bytes]:
    """The pointers to constants of a function: no memory is meant by them that code writes by the
    pointer itself, and if they are parameters and ``__restrict__`` none that it writes at all.

    Args:
        function: the function.
        code: its text, as the compiler sees it.
        is_written: whether memory is meant that is written by the pointer itself.
    """
    listed = parameters(function)
    body = function.child_by_field_name("body") or function
    if is_written:
        inside = updates.every(body, lambda node: node.type == "declaration")
        listed = [*listed, *inside]
    else:
        listed = [listed[n] for n in restricted_parameters(body, code)[0]]
    constant = (one for one in listed if _TO_CONSTANTS.search((one.text or b"").partition(b"=")[0]))
    return {name for one in constant for name, _ in declared_in(one)}


def by_atomics(function: Node) -> list[Node]:
    """The pointers, arrays and members that a function hands to atomic operations to change."""
    calls = updates.every(function, lambda node: node.type == "call_expression")
    return [base for call in calls if (base := _changed_by(call)) is not None]


def _changed_by(call: Node) -> Node | None:
    """``p`` of ``atomicAdd(p, 1)``, of ``atomicAdd(&p[i], 1)`` and of ``atomicAdd(p + i, 1)``, also
    where that is cast."""
    name, arguments = (call.child_by_field_name(one) for one in ("function", "arguments"))
    if name is None or arguments is None or not (name.text or b"").startswith(b"atomic"):
        return None
    place = updates.bare(next(iter(arguments.named_children), None))
    while place is not None and place.type in (*_ACCESSES, "cast_expression"):
        inner = "value" if place.type == "cast_expression" else _ACCESSES[place.type]
        place = updates.bare(place.child_by_field_name(inner))
    return _bare(place)


def _bare(node: Node | None) -> Node | None:
    """``s``, ``s.x`` or ``s->x`` without parentheses, also of ``s + i``; nothing else."""
    inner = node = updates.bare(node)
    while inner is not None and updates.sides(inner)[1] in (b"+", b"-"):
        inner = node = updates.bare(inner.child_by_field_name("left"))
    while inner is not None and inner.type == _MEMBER:
        inner = inner.child_by_field_name("argument")
    return node if inner is not None and inner.type == "identifier" else None


def may_hold(kind: str, variable: Node) -> bool:
    """Whether a register may hold a variable, as far as its declaration tells."""
    return is_held(kind, _declared_type(variable))


def is_held(kind: str, text: bytes | None) -> bool:
    """The same of what is declared to be of some type, if that is known."""
    if kind == INTEGER:
        return text not in _REGISTERS.values()
    return kind not in _REGISTERS or not text or not is_number(text) or text == _REGISTERS[kind]


def fitting(variables: Sequence[Node], kind: str) -> list[Node]:
    """Those of some variables that a register of a kind may hold; of a few that are no integers,
    each is told of."""
    are_many = len({one.text for one in variables}) > MOST_NAMED
    is_told = kind == INTEGER or (kind and are_many)
    return [one for one in variables if not is_told or may_hold(kind, one)]


def may_be_at(name: bytes, function: Node, kind: str, *, is_volatile: bool) -> bool:
    """Whether an access may be to what a variable of a function leads to, by the declaration of
    that, if there is one.

    Args:
        name: the variable.
        function: the function.
        kind: the PTX type of what is read or written.
        is_volatile: whether that is volatile; then it is done as it is written.
    """
    of_name = (
        node
        for node in updates.every(function, lambda node: node.type in DECLARING)
        for one in node.children_by_field_name("declarator")
        if (found := innermost(one)[0]) is not None and found.text == name
    )
    declared = next(of_name, None)
    element = declared.child_by_field_name("type") if declared else None
    if declared is None or element is None or not is_number(element.text or b""):
        return True
    if is_volatile and not _VOLATILE.search(declared.text or b""):
        return False
    if kind in _REGISTERS:
        return element.text == _REGISTERS[kind]
    return not is_volatile or element.text not in _REGISTERS.values()


def _is_wide(variable: Node) -> bool:
    """Whether a variable has 64 bits, by one of the names of such integers."""
    return _WIDE.fullmatch(_declared_type(variable) or b"") is not None


def may_be_wide(kind: bytes) -> bool:
    """Whether what is of a type may have 64 bits, or is of none that is known."""
    return not is_number(kind) or _WIDE.fullmatch(kind) is not None


def _declared_type(variable: Node) -> bytes | None:
    """The type with which a variable is declared, or the elements of an array, as it is written."""
    around: Node | None = variable
    while around is not None and around.type not in ("declaration", "parameter_declaration"):
        around = around.parent if around.type not in updates.CHANGES else None
    declared = around.child_by_field_name("type") if around else None
    name = variable.text or b""
    known = type_of(variable, name) or type_of(variable, name, is_array=True)
    return declared.text if declared else known


def likely_held(kind: str, variables: Iterable[Node]) -> list[Node]:
    """The variables that a register may hold; of 64 bits those that are as wide, if any are."""
    fitting = [one for one in variables if may_hold(kind, one)]
    wide = [one for one in fitting if _is_wide(one)]
    narrow = [one for one in fitting if one not in wide]
    return {"b32": narrow, "b64": wide or narrow}.get(kind, fitting)


def in_shared(nodes: Iterable[Node], root: Node, function: Node | None = None) -> list[Node]:
    """The variables of these that are declared to be in shared memory, or that a function makes
    from such, as pointers into that."""
    names: set[bytes | None] = {*_declared_as(_SHARED, root)}
    if function is not None and names:
        names = updates.follows_from(function, names, by_branches=False)
    bases = (base for node in nodes if (base := updates.base_of(node)) is not None)
    return [base for base in bases if base.text in names]


def of_all(function: Node, root: Node) -> list[Node]:
    """Where a function uses variables that other threads see, too, without a pointer or an index:
    of its block, or of the whole device."""
    names = _declared_as(_SHARED, root) | _declared_as(_OF_ALL, root)
    return [node for node in identifiers_in(function) if node.text in names]


def referred(function: Node) -> list[Node]:
    """Where a function uses what it has references to, which may lie in memory."""
    declared = updates.every(function, lambda node: node.type == "reference_declarator")
    names = {found.text for one in declared if (found := innermost(one)[0]) is not None}
    return [node for node in identifiers_in(function) if node.text in names]


@remembered
def _declared_as(words: re.Pattern[bytes], root: Node) -> set[bytes]:
    """The variables that are declared with some words."""
    return {
        name.text or b""
        for one in updates.every(root, lambda node: node.type == "declaration")
        if words.search(one.text or b"")
        for name in declarations(one)
    }


def _is_set_behind(whole: Node, name: bytes) -> bool:
    """Whether the statement right behind a declaration sets its variable."""
    for node in updates.every(whole, lambda node: node.type == "declaration"):
        following = node.next_named_sibling
        if name in set(unset.names(node)) and following is not None:
            first = next(
                updates.every(following, lambda one: one.type == "assignment_expression"), None
            )
            left = first.child_by_field_name("left") if first else None
            plain = following.type == "expression_statement" and left is not None
            return plain and left is not None and left.text == name
    return False


def _body(turn: Node) -> Node:
    return turn.child_by_field_name("body") or turn
