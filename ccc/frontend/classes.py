"""The classes that methods are defined in, and those that these are made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ccc.frontend import updates
from ccc.frontend.syntax import function_name

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_CLASSES = ("struct_specifier", "class_specifier")
_NAMES = ("type_identifier", "template_type")


def beside(method: Node) -> list[Node]:
    """What the class declares that a method is defined in, and what those declare that it is made
    of, as far as they are known; nothing if it is in none."""
    around = method.parent
    while around is not None and around.type == "template_declaration":
        around = around.parent
    if around is None or around.type != "field_declaration_list":
        return []
    found = [around]
    for one in found:
        found += [body for body in _bases(one) if body not in found]
    return found


def own_methods(method: Node, body: Node) -> Iterator[Node]:
    """The methods of its own object that a method calls in its body, by their names alone."""
    listed = [one for each in beside(method) for one in each.named_children]
    methods = [one for one in listed if one.type == "function_definition" and one != method]
    for call in updates.every(body, lambda node: node.type == "call_expression"):
        name = _called(call.child_by_field_name("function"))
        found = [one for one in methods if name is not None and function_name(one) == name.text]
        yield from found if len(found) == 1 else ()


def _called(function: Node | None) -> Node | None:
    """The name of what is called of one's own object: ``f``, ``Base::f`` or ``this->f``."""
    if function is None or function.type == "identifier":
        return function
    of = function.child_by_field_name("argument")
    is_own = function.type == "qualified_identifier" or (of is not None and of.type == "this")
    part = "name" if function.type == "qualified_identifier" else "field"
    return function.child_by_field_name(part) if is_own else None


def _bases(body: Node) -> Iterator[Node]:
    """What the classes declare that one is made of, of which there is but one of a name."""
    kind, root = body.parent, body
    while root.parent is not None:
        root = root.parent
    heads = [one for one in kind.children if one.type == "base_class_clause"] if kind else []
    names = [_plain(one) for head in heads for one in head.named_children if one.type in _NAMES]
    every = list(updates.every(root, lambda node: node.type in _CLASSES)) if names else []
    for name in names:
        bodies = [
            inner
            for one in every
            if (of := one.child_by_field_name("name")) is not None and _plain(of) == name
            if (inner := one.child_by_field_name("body")) is not None
        ]
        yield from bodies if len(bodies) == 1 else ()


def _plain(name: Node) -> bytes | None:
    """The name of a class without its arguments."""
    return (name.child_by_field_name("name") or name).text
