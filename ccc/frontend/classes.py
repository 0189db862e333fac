"""The classes that methods are defined in, and those that these are made of."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ccc.frontend import updates
from ccc.frontend.declared_types import meant
from ccc.frontend.remembered import remembered
from ccc.frontend.syntax import (
    body_of,
    every_node,
    function_name,
    parameters,
    root_around,
    type_of,
)

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_ARGUMENTS = re.compile(rb"<.*>", re.DOTALL)
_CLASSES = ("struct_specifier", "class_specifier")
_METHOD = "function_definition"
_NAMES = ("type_identifier", "template_type")


def beside(method: Node) -> list[Node]:
    """What the class declares that a method is of, and what those declare that it is made of, as
    far as they are known; nothing if it is of none."""
    around = _class_around(method)
    if around is None:
        around = next(iter(_bodies(method, [_scope(method)])), None)
    found = [around] if around is not None else []
    for one in found:
        found += [body for body in _bases(one) if body not in found]
    return found


def _class_around(method: Node) -> Node | None:
    """What the class declares that a method is defined in."""
    around = method.parent
    while around is not None and around.type == "template_declaration":
        around = around.parent
    return around if around is not None and around.type == "field_declaration_list" else None


def _scope(method: Node) -> bytes | None:
    """The class that a method is of that is defined outside of it, ``void Sums::add(...)``."""
    node = method.child_by_field_name("declarator")
    while node is not None and node.type != "qualified_identifier":
        node = node.child_by_field_name("declarator") or next(
            (one for one in node.named_children if one.type == "function_declarator"), None
        )
    scopes = []
    while node is not None and node.type == "qualified_identifier":
        scopes.append(node.child_by_field_name("scope"))
        node = node.child_by_field_name("name")
    return _plain(scopes[-1]) if scopes and scopes[-1] is not None else None


def own_methods(method: Node, body: Node) -> Iterator[Node]:
    """The methods of its own object that a method calls in its body, by their names alone."""
    return (called for _, called in own_calls(method, body))


def own_calls(method: Node, body: Node) -> Iterator[tuple[Node, Node]]:
    """The same with the calls."""
    classes = beside(method)
    listed = [one for each in classes for one in each.named_children]
    listed += _defined_outside(method, classes)
    methods = [one for one in listed if one.type == _METHOD and one != method]
    for call in updates.every(body, lambda node: node.type == "call_expression"):
        name = _called(call.child_by_field_name("function"))
        found = [one for one in methods if name is not None and function_name(one) == name.text]
        yield from ((call, one) for one in found if len(found) == 1)


def _called(function: Node | None) -> Node | None:
    """The name of what is called of one's own object: ``f``, ``Base::f`` or ``this->f``."""
    if function is None or function.type == "identifier":
        return function
    of = function.child_by_field_name("argument")
    is_own = function.type == "qualified_identifier" or (of is not None and of.type == "this")
    part = "name" if function.type == "qualified_identifier" else "field"
    return function.child_by_field_name(part) if is_own else None


def _defined_outside(method: Node, classes: Collection[Node]) -> Iterator[Node]:
    """The methods of some classes that are defined outside of them."""
    heads = [one.parent.child_by_field_name("name") for one in classes if one.parent is not None]
    names = {_plain(one) for one in heads if one is not None}
    every = _methods(root_around(method)) if names else ()
    return (one for one in every if _class_around(one) is None and _scope(one) in names)


def _bases(body: Node) -> Iterator[Node]:
    """What the classes declare that one is made of, of which there is but one of a name."""
    kind = body.parent
    heads = [one for one in kind.children if one.type == "base_class_clause"] if kind else []
    names = [_plain(one) for head in heads for one in head.named_children if one.type in _NAMES]
    return _bodies(body, names)


def _bodies(node: Node, names: Iterable[bytes | None]) -> Iterator[Node]:
    """What the classes of some names declare, of which there is but one of a name."""
    names = [one for one in names if one]
    every = _classes(root_around(node)) if names else []
    for name in names:
        bodies = [
            inner
            for one in every
            if (of := one.child_by_field_name("name")) is not None and _plain(of) == name
            if (inner := one.child_by_field_name("body")) is not None
        ]
        yield from bodies if len(bodies) == 1 else ()


@lru_cache(maxsize=1)
def _classes(root: Node) -> list[Node]:
    """The classes of a text; many methods ask for theirs."""
    return list(updates.every(root, lambda one: one.type in _CLASSES))


@lru_cache(maxsize=1)
def _methods(root: Node) -> list[Node]:
    """The functions of a text, of which some are methods."""
    return list(updates.every(root, lambda one: one.type == _METHOD))


def _plain(name: Node) -> bytes | None:
    """The name of a class without its arguments."""
    return (name.child_by_field_name("name") or name).text


def kind_of(base: Node) -> bytes:
    """The name of the type of a variable, without its arguments; empty if it is not known."""
    return name_of_type(type_of(base, base.text or b"") or b"")


def name_of_type(kind: bytes) -> bytes:
    """The name of a type, without its arguments and what it is in."""
    *_, name = [b"", *_ARGUMENTS.sub(b"", kind).split()]
    return name.rpartition(b"::")[2]


def taking(called: Sequence[Node], count: int) -> Sequence[Node]:
    """The functions that take so much; all if none does, as where some need not be given."""
    return [one for one in called if len(parameters(one)) == count] or called


def taking_it(called: Sequence[Node], number: int, given: Node | None) -> Sequence[Node]:
    """The functions that take a variable at some place, or its address, by its type; all if none
    does, as where that is not known."""
    kind = kind_of(given) if given is not None and len(called) > 1 else b""
    if not kind or given is None:
        return called
    code = root_around(given).text or b""

    def named(one: bytes) -> bytes:
        return name_of_type(meant(one, code))

    kind = named(kind)
    kinds = [(one, each) for one in called for each in parameters(one)[number : number + 1]]
    return [one for one, each in kinds if named(_kind_taken(each)) == kind] or called


def is_of(parameter: Node, kind: bytes | None) -> bool:
    """Whether a parameter is of a type of that name."""
    return _kind_taken(parameter) == kind


def _kind_taken(parameter: Node) -> bytes:
    declared = parameter.child_by_field_name("type")
    return name_of_type(declared.text or b"") if declared is not None else b""


@remembered
def only_reads(method: Node) -> bool:
    """Whether a method changes nothing of its object, since it says so, or has nothing in it that
    might."""
    declarator, body = method.child_by_field_name("declarator"), body_of(method, "body")
    gives_place = declarator is not None and declarator.type == "reference_declarator"
    while declarator is not None and declarator.type != "function_declarator":
        declarator = next(iter(declarator.named_children), None)
    said = declarator.named_children if declarator else ()
    fields = fields_beside(method)
    if any(one.type == "type_qualifier" and one.text == b"const" for one in said):
        referring = _referring_beside(method) if body is not None else set[bytes]()
        return body is None or not any(_may_change(one, referring) for one in every_node(body))
    if body is None or gives_place or not fields:
        return False
    is_own = any(True for _ in own_methods(method, body))
    return not is_own and not any(_may_change(node, fields) for node in every_node(body))


def _may_change(node: Node, fields: Collection[bytes]) -> bool:
    """Whether an expression changes a member, or gives its address, or the object, to somebody."""
    if node.type == "this":
        return node.parent is None or node.parent.type != "field_expression"
    place: Node | None = None
    if node.type in updates.CHANGES:
        place = node.child_by_field_name(updates.CHANGES[node.type])
    elif node.type == "pointer_expression" and node.children[0].type == "&":
        place = node.child_by_field_name("argument")
    root = updates.root_of(place)
    return root is not None and (root.type == "this" or root.text in fields)


def class_of(method: Node) -> bytes | None:
    """The name of the class that a method is of; None if it is of none."""
    around = _class_around(method)
    kind = around.parent if around is not None else None
    name = kind.child_by_field_name("name") if kind else None
    return name.text if name else _scope(method)


def type_of_field(method: Node, name: bytes) -> bytes | None:
    """The type of a plain member of the class that a method is defined in, or of those that this is
    made of, as it is written."""
    for one in (one for each in beside(method) for one in each.named_children):
        declared = one.child_by_field_name("type") if one.type == "field_declaration" else None
        if declared and any(of.text == name for of in one.children_by_field_name("declarator")):
            return declared.text
    return None


@remembered
def fields_beside(method: Node) -> set[bytes]:
    """The plain members of the class that a method is defined in, and its references and arrays,
    with those of the classes that it is made of; none if it is in no class."""
    return _names_in(_declarators_beside(method))


def _referring_beside(method: Node) -> set[bytes]:
    """Those that are references, by which a method may change what it says that it does not."""
    every = _declarators_beside(method)
    return _names_in(one for one in every if one.type == "reference_declarator")


def _declarators_beside(method: Node) -> list[Node]:
    around = [one for each in beside(method) for one in each.named_children]
    declared = (one for one in around if one.type == "field_declaration")
    return [name for one in declared for name in one.children_by_field_name("declarator")]


def _names_in(declarators: Iterable[Node]) -> set[bytes]:
    plain = (_inside(one) for one in declarators)
    return {one.text or b"" for one in plain if one is not None and one.type == "field_identifier"}


def _inside(declarator: Node) -> Node | None:
    """What a member that is a reference, or an array, is declared by."""
    node: Node | None = declarator
    while node is not None and node.type in ("reference_declarator", "array_declarator"):
        node = node.named_child(0)
    return node


def knows_members(function: Node) -> bool:
    """Whether a function knows the members of a class as variables."""
    around: Node | None = function
    while around is not None and around.type != "field_declaration_list":
        around = around.parent
    declarator = function.child_by_field_name("declarator")
    return around is not None or (declarator is not None and b"::" in (declarator.text or b""))
