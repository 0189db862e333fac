"""Which variables decide branches and loops, as their conditions say."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ccc.frontend import updates
from ccc.frontend.syntax import LOOPS, declared_in, every_node, identifiers_in

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_LONGEST = 40
"""Of a condition that is shown."""
_ARMS = {"then": "consequence", "else": "alternative"}
_COMPARING = {"<", "<=", ">", ">=", "==", "!="}
_JOINING = {"&&", "||", "!", "and", "or", "not"}
_BOTH = ("left", "right")
_BRANCHES = ("if_statement", "switch_statement")
_PARTS = ("condition", "consequence", "alternative")


def decides(loop: Node, is_meant: Callable[[Node], bool], of_both: bool) -> list[str]:
    """What decides a branch in a loop, or whether that goes on: a variable, or sides of a
    comparison; nothing if it may be one of several.

    Args:
        loop: the loop.
        is_meant: whether it is this condition.
        of_both: whether both sides of what is compared may differ between lanes.
    """
    conditions = updates.every(loop, lambda node: node.child_by_field_name("condition") is not None)
    asked = (node.child_by_field_name("condition") for node in conditions)
    meant = [one for one in asked if one is not None and is_meant(one)]
    sides = _sides(meant[0]) if len(meant) == 1 else []
    left = [one for one in sides if "__shfl" not in one]
    if (of_both or len(left) < len(sides)) and all(len(one) <= _LONGEST for one in left):
        return left
    own = {name for name, _ in declared_in(loop)} | {base.text for base in updates.changed(loop)}
    names = {one.text for each in meant for one in identifiers_in(each) if one.text in own}
    return [(name or b"").decode(errors="replace") for name in names] if len(names) == 1 else []


def _sides(condition: Node) -> list[str]:
    """The sides of a condition that is a comparison, and no more."""
    signs = [(one, one.child_by_field_name("operator")) for one in every_node(condition)]
    tests = [one for one, sign in signs if sign is not None and sign.type in _COMPARING]
    if len(tests) != 1 or any(sign is not None and sign.type in _JOINING for _, sign in signs):
        return []
    return [" ".join(_text(one).split()) for one in map(tests[0].child_by_field_name, _BOTH) if one]


def arm_of(path: Node, arm: str) -> Node:
    """The arm of a branch that is called ``then`` or ``else``, or all of another statement."""
    field = _ARMS.get(arm)
    return (path.child_by_field_name(field) if field else None) or path


def asks_for(branch: Node, name: bytes) -> bool:
    """Whether the condition of a branch or a loop names a variable."""
    condition = branch.child_by_field_name("condition")
    return condition is not None and any(
        node.type == "identifier" and node.text == name for node in every_node(condition)
    )


def goes_by(loop: Node, name: bytes) -> bool:
    """Whether a loop steps on by a variable alone, as by ``p`` of ``while (p < end)``: that is the
    one of its condition that it changes, by adding to it."""
    condition = loop.child_by_field_name("condition")
    asked = {one.text for one in identifiers_in(condition)} if condition else set()
    made = [(updates.operation(one), base.text) for one, base in updates.changes(loop)]
    return {(by, one) for by, one in made if one in asked} == {("+", name)}


def repeats_by_goto(path: Node, loop: Node) -> bool:
    """Whether a statement lies in no loop inside another one, which has a ``goto``."""
    around = path.parent
    while around is not None and around != loop:
        if around.type in LOOPS:
            return False
        around = around.parent
    return around is not None and any(one.type == "goto_statement" for one in every_node(loop))


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


def is_in_branch(statement: Node, loop: Node) -> bool:
    """Whether a statement stands in an ``if`` or a ``switch`` within a loop, or within its function
    where the loop is that itself: one that is only jumped over has none to mark."""
    around = statement.parent
    while around is not None and around != loop and around.type != "function_definition":
        if around.type in _BRANCHES:
            return True
        around = around.parent
    return False


def skipped_by(branch: Node) -> str | None:
    """The condition under which what follows a branch in an iteration is run, where that does
    nothing but ``continue``; None where it is none, or nothing follows."""
    condition, jump, other = map(branch.child_by_field_name, _PARTS)
    while jump is not None and jump.type == "compound_statement" and jump.named_child_count == 1:
        jump = jump.named_children[0]
    is_skip = jump is not None and jump.type == "continue_statement" and other is None
    if not is_skip or condition is None or branch.next_named_sibling is None:
        return None
    text = " ".join(_text(condition).split())
    return f"(!{text})" if len(text) <= _LONGEST else "(!(...))"
