"""Where code changes elements of arrays that are members, or members of elements: no clause names
such."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ccc.frontend import updates
from ccc.frontend.syntax import identifiers_in

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_INTO = ("subscript_expression", "field_expression")
_SUBSCRIPT = "subscript_expression"


class Element(NamedTuple):
    """A change of one, ``s.e[0] += x`` or ``p[0].x += x``.

    Attributes:
        change: the assignment.
        base: the variable, ``s`` or ``p``; None where a pointer leads there.
        array: what it is an element of, as it is written: ``s.e`` or ``p``.
        operator: how it is updated, as ``by_element`` reads it; None if it is only set.
    """

    change: Node
    base: Node | None
    array: bytes
    operator: str | None


def by_element(operator: str | None) -> str | None:
    """The operation by which elements are updated, empty if it is of no reduction; None of what is
    no array."""
    return operator[1:-1] if operator is not None and operator.startswith("[") else None


def changed(tree: Node) -> Iterator[Element]:
    """Those that a tree changes, but for what members that are pointers lead to."""
    for change in updates.every(tree, lambda node: node.type in updates.CHANGES):
        place = updates.bare(change.child_by_field_name(updates.CHANGES[change.type]))
        node, array, is_led = place, None, False
        while node is not None and node.type in _INTO:
            is_led = is_led or updates.is_arrow(node)
            inner = updates.bare(node.child_by_field_name("argument"))
            array = inner if node.type == _SUBSCRIPT else array
            node = inner
        if node is None or array is None or _leads(array):
            continue
        base = node if node.type == "identifier" and not is_led else None
        value = change.child_by_field_name("right")
        again = value is not None and any(one.text == node.text for one in identifiers_in(value))
        by = "" if again else updates.sign_of(change)
        operator = None if by is None else f"[{by}]"
        yield Element(change, base, updates.text_of(array), operator)


def _leads(array: Node) -> bool:
    """Whether a member is a pointer in some structure, so that its elements may lie elsewhere."""
    field, root = array.child_by_field_name("field"), array
    while root.parent is not None:
        root = root.parent
    name = re.escape(((field or array).text) or b"")
    led = re.compile(rb"[*&]\s*(?:(?:const|__restrict__)\s+)?" + name + rb"\s*[;,=)]")
    return led.search(root.text or b"") is not None
