"""How large the blocks are in which a text launches its kernels, where it says so in numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ccc.frontend.lambdas import outermost
from ccc.frontend.syntax import declarations, every_node, function_around
from ccc.frontend.updates import changes

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_LAUNCH = "kernel_call_syntax"
_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul,
}  # fmt: skip
_LISTS = ("argument_list", "initializer_list")
_MOST = 8
"""So many names of a number, each given by the one before, are followed."""


class KnownLaunch(NamedTuple):
    """A launch of a kernel, by its name without any before it, in blocks of so many threads."""

    kernel: str
    threads: int
    at: int


def launches(root: Node) -> Iterator[KnownLaunch]:
    """The launches of a text whose blocks are of a size that can be read there."""
    for node in every_node(root):
        call = node.parent
        if node.type != _LAUNCH or call is None or len(node.named_children) < 2:
            continue
        threads = _product(node.named_children[1], _MOST)
        name = _last_name(call.child_by_field_name("function"))
        if threads is not None and name:
            yield KnownLaunch(name.decode(errors="replace"), threads, call.start_byte)


def _last_name(node: Node | None) -> bytes:
    """The name of a function without those of namespaces, and without what a template is given."""
    while node is not None and node.type in ("qualified_identifier", "template_function"):
        node = node.child_by_field_name("name")
    return (node.text or b"") if node is not None and node.type == "identifier" else b""


def _product(node: Node, most: int) -> int | None:
    """The number that an expression is, or of the elements of a ``dim3``."""
    if node.type == "parenthesized_expression" and node.named_children:
        return _product(node.named_children[0], most)
    if node.type == "number_literal":
        return _literal(node.text or b"")
    if node.type == "binary_expression":
        return _binary(node, most)
    if node.type == "identifier":
        value = _value_of(node) if most else None
        return None if value is None else _product(value, most - 1)
    listed = node if node.type in _LISTS else _given(node)
    if listed is None:
        return None
    product = 1
    for one in listed.named_children:
        factor = _product(one, most)
        if factor is None:
            return None
        product *= factor
    return product


def _given(node: Node) -> Node | None:
    """What ``dim3(x, y, z)`` or ``dim3{x, y, z}`` are given."""
    name = node.child_by_field_name("function") or node.child_by_field_name("type")
    if name is None or name.text not in (b"dim3", b""):
        return None
    return node.child_by_field_name("arguments") or node.child_by_field_name("value")


def _literal(text: bytes) -> int | None:
    digits = text.replace(b"'", b"").lower().rstrip(b"ul")
    is_octal = digits.startswith(b"0") and digits.isdigit() and digits.strip(b"0")
    try:
        return int(digits, 8 if is_octal else 0) if digits.strip(b"0") else 0
    except ValueError:
        return None


def _binary(node: Node, most: int) -> int | None:
    operation = node.child_by_field_name("operator")
    sides = [node.child_by_field_name(side) for side in ("left", "right")]
    values = [None if side is None else _product(side, most) for side in sides]
    by = _BINARY.get(operation.type) if operation is not None else None
    left, right = values
    return None if by is None or left is None or right is None else by(left, right)


def _value_of(variable: Node) -> Node | None:
    """What a variable stays that it begins as; None where it has several declarations, or is
    changed."""
    name, function = variable.text or b"", outermost(variable)
    own = [one for one in declarations(function) if one.text == name] if function else []
    if function is not None and own:
        is_kept = all(base.text != name for _, base in changes(function))
        return _begins(own) if is_kept and not _leads_elsewhere(function, name) else None
    named = (one for one in declarations(_root(variable)) if one.text == name)
    shared = [one for one in named if function_around(one) is None]
    return _begins(shared) if all(map(_is_constant, shared)) else None


def _begins(declared: list[Node]) -> Node | None:
    """The value with which the one variable is declared."""
    around = declared[0].parent if len(declared) == 1 else None
    return around.child_by_field_name("value") if around is not None else None


def _is_constant(declared: Node) -> bool:
    around = declared.parent.parent if declared.parent else None
    words = around.children if around is not None else ()
    return any(one.text in (b"const", b"constexpr") for one in words)


def _leads_elsewhere(function: Node, name: bytes) -> bool:
    """Whether a pointer or a reference to a variable is made somewhere."""
    return any(
        node.type in ("pointer_expression", "reference_declarator") and name in (node.text or b"")
        for node in every_node(function)
    )


def _root(node: Node) -> Node:
    while node.parent is not None:
        node = node.parent
    return node
