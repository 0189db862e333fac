"""Which variable decides a branch, as its condition says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ccc.frontend import updates
from ccc.frontend.syntax import declared_in, identifiers_in

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
