"""Updates that are spelled in a way that is no reduction, or of which nvcc makes none, and how else
they can be spelled."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ccc.frontend import updates
from ccc.frontend.syntax import body_of, type_of
from ccc.frontend.uses import handed_on

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_FLOATING = (b"float", b"double")
_NARROW = re.compile(rb"\b(?:char|short|u?int(?:8|16)_t)\b")
_BRANCHES = ("if_statement", "conditional_expression")
_JOINED = {"&&": "&", "||": "|"}
_TRUTHS = ("<", ">", "<=", ">=", "==", "!=", "!", "&&", "||")
"""What makes values that are true or false."""
_WHOLE = ("identifier", "call_expression", "subscript_expression", "field_expression")
_SET = {"&": "if (!{}) {} = false", "|": "if ({}) {} = true"}


def floating_type(tree: Node, name: str) -> bytes | None:
    """The type of a plain variable, if it is a floating-point one."""
    kind = type_of(tree, name.encode())
    return kind if kind in _FLOATING else None


def is_narrow(tree: Node, name: str) -> bool:
    """Whether a plain variable is an integer of less than 32 bits."""
    return bool(_NARROW.search(type_of(tree, name.encode()) or b""))


def is_flag(tree: Node, name: str) -> bool:
    """Whether a plain variable is declared to be true or false."""
    return type_of(tree, name.encode()) == b"bool"


def flags_in(tree: Node) -> list[str]:
    """The variables declared to be true or false that a loop hands from turn to turn."""
    changed = (updates.name_of(base).decode(errors="replace") for base in handed_on(tree))
    return [name for name in dict.fromkeys(changed) if is_flag(tree, name)]


def unordered(tree: Node) -> Iterator[tuple[str, str, str]]:
    """What is set to a new value unless a comparison holds: the operation that seems to be meant,
    the variable, and the value. Of a NaN none holds, so that it is taken, too."""
    for node in updates.every(tree, lambda one: one.type in _BRANCHES):
        condition = node.child_by_field_name("condition")
        for field, holds in (("consequence", True), ("alternative", False)):
            part = node.child_by_field_name(field)
            if condition is None or part is None:
                continue
            for name, new in _given(node, part):
                yield from (
                    (found, _text(name), _text(new))
                    for found in _meant(condition, name, new, holds)
                )


def by_library(tree: Node) -> set[str]:
    """The variables that only the library's functions make the least or the most of two, which take
    no NaN."""
    found: dict[str, bool] = {}
    for change, base in updates.changes(tree):
        value = updates.bare(change.child_by_field_name("right"))
        function = value.child_by_field_name("function") if value else None
        is_known = bool(function and updates.LEAST_OR_MOST.fullmatch(updates.text_of(function)))
        name = _text(updates.name_of(base))
        found[name] = found.get(name, True) and is_known and updates.operation(change) is not None
    return {name for name, is_known in found.items() if is_known}


def _given(node: Node, part: Node) -> Iterator[tuple[bytes, bytes]]:
    """What is set in an arm of a branch, or by a choice that takes it, and to what."""
    if node.type == "if_statement":
        for change, base in updates.changes(part):
            if (value := change.child_by_field_name("right")) is not None:
                yield updates.name_of(base), updates.text_of(value)
        return
    around = node.parent
    while around is not None and around.type == "parenthesized_expression":
        around = around.parent
    if around is not None and around.type in updates.CHANGES:
        place = updates.base_of(around.child_by_field_name("left"))
        taken = updates.bare(part)
        if place is not None and taken is not None:
            yield updates.name_of(place), updates.text_of(taken)


def _meant(condition: Node, name: bytes, new: bytes, holds: bool) -> Iterator[str]:
    """The least or the most, if what is set where a condition holds, or does not, is set where a
    comparison of the two does not."""
    for test in updates.every(condition, lambda node: node.type == "binary_expression"):
        one, sign, other = updates.sides(test)
        if sign[:1] not in updates.SOUGHT or {one, other} != {name, new}:
            continue
        is_alone = updates.bare(condition) == test or condition.named_child_count == 1
        if _is_negated(test) if holds else is_alone and not _is_negated(test):
            yield updates.SOUGHT[sign[:1]][new == one]


def by_leaving(tree: Node) -> Iterator[tuple[str, str, str, set[str]]]:
    """What is set in the rest of an iteration that is left unless it is better, as by ``if (x >=
    best) continue; best = x;``: the operation, the variable, the value, and all that is set
    there."""
    for node in updates.every(tree, lambda one: one.type == "if_statement"):
        arms = [body_of(node, "consequence"), node.child_by_field_name("alternative")]
        left = [arm is not None and _only_leaves(arm) for arm in arms]
        condition = node.child_by_field_name("condition")
        if condition is None or sum(left) != 1:
            continue
        kept = [arms[left[0]], *_behind(node)]
        given = {pair for part in kept if part for pair in _set_at_once(part)}
        for test in updates.every(condition, lambda one: one.type == "binary_expression"):
            one, sign, other = updates.sides(test)
            for name, new in given if sign[:1] in updates.SOUGHT else ():
                if {one, other} == {name, new} and condition.named_child_count == 1:
                    flips = left[0] != _is_negated(test)
                    by = updates.SOUGHT[sign[:1]][(new == one) == flips]
                    every = {_text(one) for one, _ in given}
                    yield by, _text(name), _text(new), every


def _text(name: bytes) -> str:
    return name.decode(errors="replace")


def _only_leaves(arm: Node) -> bool:
    """Whether an arm does nothing but to leave the iteration."""
    inner = [one for one in arm.named_children if one.type != "comment"]
    is_block = arm.type in ("compound_statement", "else_clause") and len(inner) == 1
    return arm.type == "continue_statement" or (is_block and _only_leaves(inner[0]))


def _behind(node: Node) -> Iterator[Node]:
    """The statements behind one in its block."""
    following = node.next_named_sibling
    while following is not None:
        yield following
        following = following.next_named_sibling


def _set_at_once(part: Node) -> Iterator[tuple[bytes, bytes]]:
    """What a statement sets, and to what, if no branch in it decides whether it does."""
    if part.type == "if_statement":
        return
    for change, base in updates.changes(part):
        if (value := change.child_by_field_name("right")) is not None:
            yield updates.name_of(base), updates.text_of(value)


def _is_negated(test: Node) -> bool:
    around = test.parent
    while around is not None and around.type == "parenthesized_expression":
        around = around.parent
    return around is not None and any(child.type == "!" for child in around.children)


def joined(tree: Node, name: str) -> str | None:
    """How to write a flag's only updates, by ``&&`` or ``||``, without a branch; None if it is
    updated otherwise, too."""
    return _only(_plain(change) for change in updates.changes_of(tree, name.encode()))


def by_branch(tree: Node, name: str) -> str | None:
    """How to write a flag's only updates, by any operation, as a branch that sets it."""
    changes = list(updates.changes_of(tree, name.encode()))
    return _only(_branch(change, name) for change in changes)


def _only(found: Iterator[str | None]) -> str | None:
    """What is found each time."""
    every = set(found)
    return every.pop() if len(every) == 1 else None


def _plain(change: Node) -> str | None:
    found = _joined(change)
    if found is None:
        return None
    name, sign, asked = found
    whole = shown(asked) if asked.type in _WHOLE else f"({shown(asked)})"
    return f"{name} {sign}= {shown(asked) if _is_truth(asked) else f'{whole} != 0'}"


def _is_truth(value: Node) -> bool:
    """Whether a value is true or false, and no other number."""
    kind = type_of(value, value.text or b"") if value.type == "identifier" else None
    signs = {child.type for child in value.children}
    return kind == b"bool" or not signs.isdisjoint(_TRUTHS)


def _joined(change: Node) -> tuple[str, str, Node] | None:
    """The variable, the operation and what else is asked for, of ``all = all && x``."""
    value = updates.bare(change.child_by_field_name("right"))
    place = change.child_by_field_name("left")
    if value is None or place is None or value.type != "binary_expression":
        return None
    parts = [value.child_by_field_name(field) for field in ("left", "right")]
    sign = next((_JOINED[one.type] for one in value.children if one.type in _JOINED), None)
    others = [one for one in parts if one and updates.text_of(one) != updates.text_of(place)]
    if sign is None or len(others) != 1:
        return None
    return shown(place), sign, updates.bare(others[0]) or others[0]


def _branch(change: Node, name: str) -> str | None:
    """The same as a branch."""
    found = _joined(change)
    sign, value = updates.operator(change), updates.bare(change.child_by_field_name("right"))
    if found:
        _, sign, value = found
    elif not any(child.type == f"{sign}=" for child in change.children):
        return None
    if sign not in _SET or value is None or not (found or sign == "|" or _is_truth(value)):
        return None
    is_name = value.type == "identifier" or sign == "|"
    return _SET[sign].format(shown(value) if is_name else f"({shown(value)})", name)


def set_with(tree: Node, name: str, by: str) -> list[str]:
    """What a branch sets that keeps the least or the most of something in a variable, if a tree
    does nothing else with that."""
    return sorted(updates.updated_by(tree, name, by) - {name})


def shown(node: Node) -> str:
    """What is written there, on one line."""
    return " ".join((node.text or b"").decode(errors="replace").split())


def narrow_in(tree: Node) -> list[str]:
    """The plain variables of less than 32 bits of which a tree does nothing but to keep the least
    or the most."""
    kept = {(name, by) for by, name in updates.extremes(tree)}
    kept |= {
        (updates.name_of(base).decode(errors="replace"), by)
        for change, base in updates.changes(tree)
        if (by := updates.operation(change)) in ("min", "max")
    }
    served = {name for name, by in kept if updates.updated_by(tree, name, by)}
    return sorted(name for name in served if is_narrow(tree, name))
