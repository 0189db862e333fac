"""Which variables decide branches and loops, as their conditions say."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ccc.frontend import updates
from ccc.frontend.syntax import declared_in, every_node, identifiers_in

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node


def decides(loop: Node, is_meant: Callable[[Node], bool]) -> str | None:
    """The variable that decides a branch in a loop, or whether that goes on; None if it may be one
    of several.

    Args:
        loop: the loop.
        is_meant: whether it is this condition.
    """
    own = {name for name, _ in declared_in(loop)} | {base.text for base in updates.changed(loop)}
    conditions = updates.every(loop, lambda node: node.child_by_field_name("condition") is not None)
    asked = (node.child_by_field_name("condition") for node in conditions)
    names = {
        name.text
        for condition in asked
        if condition is not None and is_meant(condition)
        for name in identifiers_in(condition)
        if name.text in own
    }
    return (names.pop() or b"").decode(errors="replace") if len(names) == 1 else None


def asks_for(branch: Node, name: bytes) -> bool:
    """Whether the condition of a branch or a loop names a variable."""
    condition = branch.child_by_field_name("condition")
    return condition is not None and any(
        node.type == "identifier" and node.text == name for node in every_node(condition)
    )


def compared(loop: Node) -> tuple[str, str] | None:
    """The counter of a loop, and what its condition compares that with."""
    condition = loop.child_by_field_name("condition")
    if condition is None:
        return None
    changed = {base.text for base in updates.changed(loop)}
    for test in updates.every(condition, lambda node: node.type == "binary_expression"):
        sides = [test.child_by_field_name(field) for field in ("left", "right")]
        for one, other in (sides, sides[::-1]):
            if one is not None and other is not None and one.text in changed:
                return _text(one), " ".join(_text(other).split())
    return None


def _text(node: Node) -> str:
    return (node.text or b"").decode(errors="replace")
