"""How code changes its variables: where, and by which operation of a reduction."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from ccc.frontend.syntax import every_node, identifiers_in

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

CHANGES = {"assignment_expression": "left", "update_expression": "argument"}
_PARTS = {"field_expression": "argument", "parenthesized_expression": ""}
_MEMBER = "field_expression"
_OPERATORS = {"++": "+", "--": "+", "-=": "+"} | {
    f"{sign}=": sign for sign in ("+", "*", "/", "%", "&", "|", "^", "<<", ">>")
}
_COMMUTING = ("+", "*", "&", "|", "^")
_REDUCING = ("+", "&", "|", "^", "min", "max")
"""What a reduction may be by, as users write it."""
_LEAST_OR_MOST = re.compile(rb"(?:std::|::)?f?(min|max)f?")
_SOUGHT = {b"<": ("min", "max"), b">": ("max", "min")}
"""What is sought where a new value stands on the left of a comparison, or on its right."""


def changes(path: Node) -> Iterator[tuple[Node, Node]]:
    """The assignments of a statement to plain variables, or to members of such, and these."""
    for node in every(path, lambda node: node.type in CHANGES):
        base = base_of(node.child_by_field_name(CHANGES[node.type]))
        if base is not None:
            yield node, base


def changed(path: Node) -> Iterator[Node]:
    """The variables that a statement changes, where it does."""
    return (base for _, base in changes(path))


def elements(path: Node) -> Iterator[tuple[Node, str | None]]:
    """The arrays, or pointers, of which a statement changes elements, and by which operation of a
    reduction, as ``a[i] += x``; None where that is not told."""
    for change in every(path, lambda node: node.type in CHANGES):
        element = change.child_by_field_name(CHANGES[change.type])
        if element is not None and element.type == "subscript_expression":
            base = whole(element.child_by_field_name("argument"))
            signs = (_OPERATORS.get(child.type) for child in change.children)
            by = next((sign for sign in signs if sign in _REDUCING), None)
            if base is not None:
                yield base, by


def operation(change: Node) -> str | None:
    """The operation of a reduction that an assignment is, if any, of a whole variable."""
    found = operator(change)
    return found if found in _REDUCING else None


def operator(change: Node) -> str | None:
    """How an assignment makes the new value of a whole variable of the old one: ``+`` of sums and
    differences, ``min``, ``*``; None where it makes it of other things, or of more."""
    changed = whole(change.child_by_field_name(CHANGES[change.type]))
    if changed is None:
        return None
    signs = [child.type for child in change.children]
    value = change.child_by_field_name("right")
    if "=" in signs and value is not None:
        return _operator_in(changed.text or b"", value)
    return next((_OPERATORS[sign] for sign in signs if sign in _OPERATORS), None)


def is_made_of(change: Node, names: Collection[bytes | None]) -> bool:
    """Whether what a variable is changed by is computed from some others."""
    value = change.child_by_field_name("right")
    return value is not None and any(node.text in names for node in identifiers_in(value))


def _operator_in(name: bytes, value: Node) -> str | None:
    """That of ``min(name, x)`` or ``name + x``."""
    if value.type == "call_expression":
        function, listed = (value.child_by_field_name(part) for part in ("function", "arguments"))
        called = _LEAST_OR_MOST.fullmatch((function.text or b"") if function else b"")
        given = [one.text for one in listed.named_children] if listed else []
        return called[1].decode() if called and given.count(name) == 1 else None
    parts = [value.child_by_field_name(part) for part in ("left", "operator", "right")]
    left, sign, right = (
        (part.text or b"").decode(errors="replace") if part else "" for part in parts
    )
    sides = (left, right) if sign in _COMMUTING else (left,)
    is_update = value.type == "binary_expression" and name.decode(errors="replace") in sides
    return _OPERATORS.get(f"{sign}=") if is_update else None


def extremes(path: Node) -> Iterator[tuple[str, str]]:
    """What is taken where it is less, or more, than what there is: ``if (x < best) best = x``."""
    return ((operation, name) for operation, name, _ in _extremes(path))


def _extremes(path: Node) -> Iterator[tuple[str, str, Node]]:
    """The same with the branches."""
    for branch in every(path, lambda node: node.type == "if_statement"):
        condition, taken = (branch.child_by_field_name(f) for f in ("condition", "consequence"))
        if condition is None or taken is None:
            continue
        given = {
            base.text: value.text
            for change, base in changes(taken)
            if (value := change.child_by_field_name("right")) is not None
        }
        if any(node.type == "!" for node in every_node(condition)):
            continue
        for test in every(condition, lambda node: node.type == "binary_expression"):
            sides = [test.child_by_field_name(field) for field in ("left", "operator", "right")]
            one, sign, other = ((side.text or b"") if side else b"" for side in sides)
            if sign[:1] in _SOUGHT and given.get(other) == one:
                yield _SOUGHT[sign[:1]][0], other.decode(errors="replace"), branch
            elif sign[:1] in _SOUGHT and given.get(one) == other:
                yield _SOUGHT[sign[:1]][1], one.decode(errors="replace"), branch


def updated_by(loop: Node, name: str, by: str) -> set[str]:
    """A variable of which a loop does nothing but to update it by an operation, and what is set
    together with it; nothing if the loop does more with it, as far as its text tells."""
    text = name.encode()
    updates = [
        change
        for change, base in changes(loop)
        if base.text == text and operation(change) == by and not _asks_again(change, text)
    ]
    branches = [branch for op, one, branch in _extremes(loop) if (op, one) == (by, name)]
    tests = (branch.child_by_field_name("condition") for branch in branches)
    taken = (branch.child_by_field_name("consequence") for branch in branches)
    set_there = [(change, base) for one in taken if one for change, base in changes(one)]
    updates += [change for change, base in set_there if base.text == text]
    known = [*updates, *filter(None, tests)]
    uses = [use.start_byte for use in identifiers_in(loop) if use.text == text]
    if not all(any(one.start_byte <= use < one.end_byte for one in known) for use in uses):
        return set()
    return {name, *((base.text or b"").decode(errors="replace") for _, base in set_there)}


def _asks_again(change: Node, name: bytes) -> bool:
    """Whether an assignment makes what it updates a variable by of that variable, too."""
    value = change.child_by_field_name("right")
    uses = [use for use in identifiers_in(value) if use.text == name] if value else []
    return len(uses) > ("=" in [child.type for child in change.children])


def handed_over(path: Node, takes: Callable[[bytes, int], bool]) -> Iterator[Node]:
    """The variables whose addresses a statement hands to functions, or that these take by
    reference, and those whose methods it calls.

    Args:
        path: the statement.
        takes: whether a function of some name takes what it is given at some place by reference.
    """
    for call in every(path, lambda node: node.type == "call_expression"):
        function, listed = (call.child_by_field_name(part) for part in ("function", "arguments"))
        if function is None or listed is None:
            continue
        if function.type == _MEMBER and (base := base_of(function)) is not None:
            yield base
        for number, one in enumerate(listed.named_children):
            is_address = one.type == "pointer_expression" and one.children[0].type == "&"
            given = base_of(one.child_by_field_name("argument") if is_address else one)
            if given is not None and (is_address or takes(function.text or b"", number)):
                yield given


def whole(node: Node | None) -> Node | None:
    """The variable of ``s`` or ``(s)``."""
    while node is not None and node.type == "parenthesized_expression":
        node = node.named_child(0)
    return node if node is not None and node.type == "identifier" else None


def base_of(node: Node | None) -> Node | None:
    """The variable that ``s``, ``s.x`` or ``(s)`` speak of."""
    while node is not None and node.type in _PARTS:
        inner = node.child_by_field_name("argument") if _PARTS[node.type] else node.named_child(0)
        node = None if is_arrow(node) else inner
    return node if node is not None and node.type == "identifier" else None


def is_arrow(node: Node) -> bool:
    """Whether it is ``s->x``."""
    return node.type == _MEMBER and any(child.type == "->" for child in node.children)


def every(tree: Node, fits: Callable[[Node], bool]) -> Iterator[Node]:
    """The nodes of a tree that are of some kind."""
    return (node for node in every_node(tree) if fits(node))


def is_changed(use: Node) -> bool:
    """Whether a variable stands where an assignment changes it."""
    around = use.parent
    while around is not None and around.type in _PARTS:
        use, around = around, around.parent
    field = CHANGES.get(around.type) if around else None
    return bool(around and field and around.child_by_field_name(field) == use)
