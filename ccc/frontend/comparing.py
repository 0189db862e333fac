"""What compares structures, operators of the text or those of C++: by which of their members."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccc.frontend import classes, updates
from ccc.frontend.called_values import given_in
from ccc.frontend.syntax import every_node, parameters

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_MEMBER = "field_expression"
PAIRED = ["first", "second"]
"""The members by which C++ compares pairs."""


def compares(operator: Node, kind: bytes) -> bool:
    """Whether an operator may be that of a type: its method, or a function of such."""
    name = classes.name_of_type(kind)
    listed = parameters(operator)
    if len(listed) == 1:
        return classes.class_of(operator) == name
    return len(listed) == 2 and classes.is_of(listed[0], name)


def compared_by(operator: Node) -> list[str]:
    """The members that it compares; none where it does more than to compare some."""
    given = given_in(operator)
    if given is None or given.condition is not None:
        return []
    found = [
        updates.text_of(field).decode(errors="replace")
        for node in every_node(given.value)
        if node.type == _MEMBER and (field := node.child_by_field_name("field")) is not None
    ]
    return list(dict.fromkeys(found))


def is_by_operator(statement: Node, name: str) -> bool:
    """Whether no function compares a structure that a statement changes, but for those of the
    library that take no other one for that."""
    changes = updates.changes_of(statement, name.encode())
    values = (updates.bare(one.child_by_field_name("right")) for one in changes)
    return all(one.type != "call_expression" or _is_of_two(one) for one in values if one)


def _is_of_two(call: Node) -> bool:
    """Whether it is ``std::min(a, b)``."""
    function, listed = (call.child_by_field_name(part) for part in ("function", "arguments"))
    called = updates.LEAST_OR_MOST.fullmatch(updates.text_of(function) if function else b"")
    return called is not None and listed is not None and len(listed.named_children) == 2
