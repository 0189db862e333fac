"""Lambdas that a function keeps in variables, and which of its other variables they know as such.

auto add = [&](float v) { sum += v; ++count; };
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ccc.frontend import classes, updates
from ccc.frontend.remembered import remembered
from ccc.frontend.syntax import declared_in, every_node, function_around, identifiers_in

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

LAMBDA = "lambda_expression"
_OF_OBJECT = (b"this", b"&", b"=")
"""What lets a lambda of a method know the members of its object."""


def outermost(statement: Node) -> Node | None:
    """The outermost function around a statement: a lambda knows what is around it."""
    found, node = None, function_around(statement)
    while node is not None:
        found, node = node, function_around(node.parent) if node.parent else None
    return found


@remembered
def kept_in(function: Node) -> dict[bytes, Node]:
    """The lambdas that a function keeps, by the names of their variables; not of those of which
    there are several of a name."""
    found: dict[bytes, list[Node]] = {}
    for node in every_node(function):
        value = node.child_by_field_name("value") if node.type == "init_declarator" else None
        name = node.child_by_field_name("declarator") if value else None
        if value is not None and value.type == LAMBDA and name is not None:
            found.setdefault(name.text or b"", []).append(value)
    return {name: every[0] for name, every in found.items() if len(every) == 1}


def own_names(function: Node, at: int) -> set[bytes]:
    """The names of variables that a function has only in lambdas around which a place lies not."""
    lambdas = [node for node in every_node(function) if node.type == LAMBDA]
    inner = [node for node in lambdas if not node.start_byte <= at < node.end_byte]
    own = {name for node in inner for name, _ in declared_in(node)}
    for node in inner:
        captures = node.child_by_field_name("captures")
        for one in captures.children if captures else ():
            name = one.named_child(0) if one.type == "lambda_capture_initializer" else None
            own |= {name.text or b""} if name else set()
    within = [range(node.start_byte, node.end_byte) for node in inner]
    names = identifiers_in(function) if own else ()
    return own - {one.text for one in names if not any(one.start_byte in at for at in within)}


def is_reached(function: Node, variable: Node) -> bool:
    """Whether what a lambda calls so is the variable of the function around it."""
    name = variable.text or b""
    listed = function.child_by_field_name("captures")
    if listed is None or name in {own for own, _ in declared_in(function)}:
        return False
    words = {b"".join(one.split()) for one in (listed.text or b"").strip(b"[]").split(b",")}
    around = outermost(function)
    if around is not None and name not in {own for own, _ in declared_in(around)}:
        return not words.isdisjoint(_OF_OBJECT) and name in classes.fields_beside(around)
    return b"&" + name in words or (b"&" in words and name not in words)


def changed_through_pointers(
    function: Node, body: Node
) -> Iterator[tuple[Node, bytes, bytes, str | None]]:
    """What the body of a lambda changes through pointers that it makes for itself, ``[p = &sum]``:
    the variable, the name of that or of its member, what stands there, and by which operator."""
    led_to: dict[bytes, Node] = {}
    for one in every_node(function.child_by_field_name("captures") or function):
        if one.type == "lambda_capture_initializer" and one.named_child_count > 1:
            name, value = one.named_children[0], one.named_children[-1]
            is_address = value.type == "pointer_expression" and value.children[0].type == "&"
            base = updates.whole(value.child_by_field_name("argument")) if is_address else None
            if base is not None:
                led_to[name.text or b""] = base
    for change in updates.assignments(body):
        place = updates.place_of(change)
        text = updates.text_of(place) if place is not None else b""
        for pointer, base in led_to.items():
            way = pointer + b"->"
            if text == b"*" + pointer:
                yield base, base.text or b"", text, updates.operator(change)
            elif text.startswith(way):
                member = b"%s.%s" % (base.text, text.removeprefix(way))
                yield base, member, text, updates.operator(change)


def is_handed_on(function: Node) -> bool:
    """Whether a lambda is given to a function, which calls it by another name."""
    around = function.parent
    if function.type != LAMBDA or around is None:
        return False
    if around.type == "argument_list":
        return True
    name = around.child_by_field_name("declarator") if around.type == "init_declarator" else None
    whole = outermost(function)
    lists = (one for one in every_node(whole or function) if one.type == "argument_list")
    return any(
        name is not None and one.text == name.text for each in lists for one in each.children
    )


def updates_of(
    function: Node, is_meant: Callable[[Node], bool]
) -> Iterator[tuple[Node, str | None]]:
    """The plain variables around it that a lambda changes where that is meant, and by which
    operation, as ``updates.operator`` says, or the least or the most that a branch keeps."""
    kept = {name.encode(): by for by, name in updates.extremes(function)}
    for change, base in updates.changes(function):
        name = updates.name_of(base)
        if is_meant(base) and is_reached(function, base) and name == base.text:
            yield base, kept.get(name, updates.operator(change))
