"""Where code changes elements of arrays that are members, or members of elements: no clause names
such."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ccc.frontend import updates
from ccc.frontend.remembered import remembered
from ccc.frontend.syntax import declared_in, function_around, identifiers_in, root_around, type_of

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


@remembered
def changed(tree: Node) -> Sequence[Element]:
    """Those that a tree changes, but for what members that are pointers lead to."""
    every = list[Element]()
    for change in updates.assignments(tree):
        found = array_of(change.child_by_field_name(updates.CHANGES[change.type]))
        if found is None:
            continue
        node, base, array = found
        by = _made_by(change, node)
        every.append(Element(change, base, array, None if by is None else f"[{by}]"))
    return every


def array_of(place: Node | None) -> tuple[Node, Node | None, bytes] | None:
    """The innermost name of a place in an array, ``s`` of ``s.e[0]``, that if it is a variable that
    nothing leads to, and the array; None of what is no such, or of a member that is a pointer."""
    node, array, is_led = updates.bare(place), None, False
    while node is not None and node.type in _INTO:
        is_led = is_led or updates.is_arrow(node)
        inner = updates.bare(node.child_by_field_name("argument"))
        array = inner if node.type == _SUBSCRIPT else array
        node = inner
    if node is None or array is None or _leads(array):
        return None
    base = node if node.type == "identifier" and not is_led else None
    return node, base, updates.text_of(array)


def in_column(element: Element) -> bytes:
    """An element as it would be written of an array that has one for each thread."""
    change = element.change
    place = node = updates.bare(change.child_by_field_name(updates.CHANGES[change.type]))
    while node is not None and node.type != _SUBSCRIPT:
        node = updates.bare(node.child_by_field_name("argument"))
    whole, inner = (updates.text_of(one) if one else b"" for one in (place, node))
    return b"%s[threadIdx.x]%s" % (inner, whole.removeprefix(inner))


def is_own(where: Node, base: Node, array: bytes) -> bool:
    """Whether an array is a variable of the function of some code, or is in such a variable."""
    arrays = {name for name, is_array in declared_in(function_around(where) or where) if is_array}
    in_member = array != base.text and type_of(where, base.text or b"") is not None
    return array in arrays or in_member


def _made_by(change: Node, node: Node) -> str | None:
    """By which operation an element is changed, empty if that is none of a reduction."""
    place = updates.bare(change.child_by_field_name(updates.CHANGES[change.type]))
    value = updates.bare(change.child_by_field_name("right"))
    uses = [one for one in identifiers_in(value) if one.text == node.text] if value else []
    if place is None or value is None or not uses:
        return updates.sign_of(change)
    is_plain = "=" in [child.type for child in change.children]
    is_choice = value.type == "conditional_expression"
    by = updates.operator_in(updates.text_of(place), value) if is_plain else None
    return by if by in updates.REDUCING and len(uses) == 1 + is_choice else ""


def _leads(array: Node) -> bool:
    """Whether a member is a pointer in some structure, so that its elements may lie elsewhere."""
    field, root = array.child_by_field_name("field"), root_around(array)
    name = (field or array).text or b""
    if field is None and type_of(array, name, is_array=True):
        return False  # whatever members, and variables of others, have its name
    led = re.compile(rb"[*&]\s*(?:(?:const|__restrict__)\s+)?" + re.escape(name) + rb"\s*[;,=)]")
    return led.search(root.text or b"") is not None
