"""What is done with a variable at a place where it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccc.frontend import updates
from ccc.frontend.syntax import function_around, is_number

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_MEMBER = "field_expression"
_READING = (
    "binary_expression", "unary_expression", "condition_clause", "subscript_argument_list",
    "return_statement",
)  # fmt: skip
"""What changes no variable that stands right in it."""


def _around(use: Node) -> tuple[Node, Node | None]:
    """A variable with the parentheses around it, and what these stand in."""
    around = use.parent
    while around is not None and around.type == "parenthesized_expression":
        use, around = around, around.parent
    return use, around


def is_read(use: Node) -> bool:
    """Whether a variable certainly is read only: calculated or compared with, or assigned."""
    use, around = _around(use)
    if around is None:
        return False
    if around.type == "init_declarator":
        declared = around.child_by_field_name("declarator")
        return declared is not None and declared.type == "identifier" and declared != use
    if around.type == "assignment_expression":
        return around.child_by_field_name("right") == use
    return around.type in _READING


def is_pointed_from(use: Node) -> bool:
    """Whether what a variable leads to is used, and not the variable itself."""
    use, around = _around(use)
    if around is None or around.type not in ("subscript_expression", "pointer_expression"):
        return False
    is_address = "&" in [child.type for child in around.children]
    return not is_address and around.child_by_field_name("argument") == use


def is_whole(use: Node, members: int) -> bool:
    """Whether a variable is used as a whole, or something in it that has a member so many members
    deep, or a method of it is called."""
    depth, around = 0, use.parent
    while around is not None and around.type == _MEMBER:
        call = around.parent
        if call is not None and call.child_by_field_name("function") == around:
            return True
        depth, around = depth + 1, call
    return depth < members


def leads_elsewhere(use: Node, home: Node | None) -> bool:
    """Whether a variable's address is taken there, a reference gets it, or what may have some, or
    a lambda knows it that is not the function at ``home``."""
    node: Node = use
    while node.parent is not None and node.parent.type in (_MEMBER, "parenthesized_expression"):
        node = node.parent
    around = node.parent
    if around is None:
        return False
    if around.type == "pointer_expression":
        return "&" in [child.type for child in around.children]
    if around.type == "initializer_list" or use.type == "type_identifier":
        return True  # as "Sums s{a, b};", or "Sums s(a, b);", which is taken for a function
    if around.type == "argument_list" and around.parent is not None:
        return around.parent.type == "init_declarator" or _is_kept(around.parent)
    if around.type == "init_declarator":
        declarator = around.child_by_field_name("declarator")
        return declarator is not None and declarator.type == "reference_declarator"
    inner = function_around(use)
    return inner is not None and inner != home and inner.type == "lambda_expression"


def _is_kept(call: Node) -> bool:
    """Whether what a call gives is kept in a variable that may hold references: in no number."""
    _, kept = _around(call)
    declared = kept.parent if kept is not None and kept.type == "init_declarator" else None
    kind = declared.child_by_field_name("type") if declared is not None else None
    return kind is not None and not is_number(kind.text or b"")


def update_of(use: Node, name: str) -> str | None:
    """How the assignment that a variable stands in changes that, as ``updates.operator`` says;
    None where it stands in no such."""
    around = use.parent
    while around is not None and around.type not in updates.CHANGES:
        around = around.parent
    if around is None:
        return None
    changed = updates.whole(around.child_by_field_name(updates.CHANGES[around.type]))
    is_own = changed is not None and changed.text == name.encode()
    return updates.operator(around) if is_own else None
