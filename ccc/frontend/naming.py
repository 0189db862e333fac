"""Where a loop names a variable beside its updates: in indices, and in conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccc.frontend import updates
from ccc.frontend.syntax import declared_in, every_node, identifiers_in

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node


def is_index(tree: Node, name: bytes) -> bool:
    """Whether a tree uses a variable in the index of an array."""
    indices = updates.every(tree, lambda node: node.type == "subscript_argument_list")
    return any(True for one in indices for _ in updates.uses_in(one, name))


def is_asked_for(tree: Node, name: bytes) -> bool:
    """Whether a condition in a tree names a variable."""
    asked = (node.child_by_field_name("condition") for node in every_node(tree))
    return any(True for one in asked if one is not None for _ in updates.uses_in(one, name))


def is_numbered_by(turn: Node, element: Node) -> bool:
    """Whether each iteration of a loop computes which element of an array it is, and not a loop
    inside, which counts through the same ones each time."""
    heads = (
        one.child_by_field_name("initializer")
        for one in updates.every(turn, _is_for)
        if one != turn
    )
    counters = {name for head in heads if head for name, _ in declared_in(head)}
    made = {name for name, _ in declared_in(turn)} | {base.text for base in updates.changed(turn)}
    return any(node.text in made - counters for node in identifiers_in(element))


def _is_for(node: Node) -> bool:
    return node.type == "for_statement"
