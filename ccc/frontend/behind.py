"""What the rest of an iteration sets, behind a path, for later ones."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from typing import TYPE_CHECKING

from ccc.frontend import updates
from ccc.frontend.deciding import asks_for
from ccc.frontend.switches import cases_of, is_left_at_its_end
from ccc.frontend.syntax import (
    LOOPS,
    declared_in,
    function_around,
    function_name,
    names_in,
)

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node


_BRANCHES = ("if_statement", "switch_statement", "conditional_expression", *LOOPS)


def copies(
    path: Node, turn: Node, made: Collection[bytes | None], own: Collection[bytes | None]
) -> list[Node]:
    """Where what is none of an iteration's ``own`` is set anew from what a path ``made``, which
    nvcc mostly keeps in the same register, so that no instruction does it."""
    return [
        base
        for change, base in updates.changes(turn)
        if change.start_byte >= path.end_byte and base.text not in own
        if updates.is_made_of(change, made) and not _is_update(change, base)
    ]


def _is_update(change: Node, base: Node) -> bool:
    """Whether a variable is made of what it was, which is an instruction of its own."""
    is_plain = "=" in [child.type for child in change.children]
    return not is_plain or updates.is_made_of(change, (base.text,))


def only_there(path: Node, turn: Node, name: bytes) -> Node | None:
    """Where a variable is first set, if that is behind a path, and nowhere else in an iteration."""
    found = [one for one, base in updates.changes(turn) if updates.name_of(base) == name]
    first = min(found, key=lambda one: one.start_byte, default=None)
    return first if first is not None and first.start_byte >= path.end_byte else None


class Where(Enum):
    """Where an iteration sets a variable; nothing before the path asks for it unless so said, nor
    does the path where it is set behind that."""

    ASKED = "behind it only, and asked for before, or in the path"
    INSIDE = "in the path"
    BEHIND = "behind it only"


def where_set(path: Node, loop: Node, name: bytes) -> Where | None:
    """Where an iteration of a loop sets a variable for later ones; None if it is needed before the
    path and set there or in that, or if a loop inside sets it, or if it is a copy that is needed
    behind the loop, where nvcc has the path's register live."""
    base = name.partition(b".")[0]
    changes = [one for one, changed in updates.changes(loop) if updates.name_of(changed) == name]
    is_early = is_needed_before(path, loop, name)
    if not changes or any(_repeats(one, loop) for one in (path, *changes)):
        return None
    is_sooner = any(one.start_byte < path.end_byte for one in changes)
    if is_early:
        return None if is_sooner else Where.ASKED
    if is_sooner:
        return Where.INSIDE
    if base in names_in(path):
        return Where.ASKED
    values = (updates.bare(one.child_by_field_name("right")) for one in changes)
    is_copy = any(one is not None and one.type == "identifier" for one in values)
    function = function_around(loop)
    uses = names_in(function).get(base, ()) if is_copy and function else ()
    is_needed = any(use.start_byte >= loop.end_byte for use in uses)
    return None if is_needed else Where.BEHIND


def is_needed_before(path: Node, loop: Node, name: bytes) -> bool:
    """Whether an iteration of a loop asks for a variable, or sets it, before a path, or in any case
    of one that is a switch: all cases need what it is."""
    base = name.partition(b".")[0]
    uses = names_in(loop).get(base, ())
    is_early = asks_for(path, base) or any(use.start_byte < path.start_byte for use in uses)
    return is_early or (path.type == "switch_statement" and _is_read(path, name))


def _is_read(tree: Node, name: bytes) -> bool:
    """Whether some code asks for a variable elsewhere than where that is changed."""
    every = [one for one, base in updates.changes(tree) if updates.name_of(base) == name]
    return any(
        not any(one.start_byte <= use.start_byte < one.end_byte for one in every)
        for use in updates.uses_in(tree, name)
    )


def can_follow(path: Node, loop: Node, name: bytes) -> bool:
    """Whether what calls in a path do to a variable could be done behind it, for all that an
    iteration does with that before."""
    uses = names_in(path).get(name, ())
    return not is_needed_before(path, loop, name) and not any(_repeats(one, loop) for one in uses)


def is_set_anew(loop: Node, name: bytes) -> bool:
    """Whether each iteration of a loop sets a plain variable before it does anything else with
    that, and nothing behind the loop uses it."""
    body, function = loop.child_by_field_name("body") or loop, function_around(loop)
    uses = names_in(function or loop).get(name, ())
    inside = [one for one in uses if body.start_byte <= one.start_byte < body.end_byte]
    if (
        not inside
        or not _is_set_first(body, name)
        or any(one.start_byte >= loop.end_byte for one in uses)
    ):
        return False
    first = min(inside, key=lambda one: one.start_byte)
    around: Node | None = first
    while around is not None and around.type != "compound_statement":
        begin = around.child_by_field_name("initializer")  # which is no turn of a loop inside
        is_begin = begin is not None and begin.end_byte > first.start_byte
        if around.type in _BRANCHES and not is_begin:
            return False
        around = around.parent
    return around is not None and all(one.end_byte <= around.end_byte for one in inside)


def is_needed_behind(loop: Node, name: bytes) -> bool:
    """Whether what a loop leaves in a variable of its function is read behind it, as far as the
    text tells: not where it is first set there, or where there are several of its name."""
    base, function = name.partition(b".")[0], function_around(loop)
    if function is None or [one for one, _ in declared_in(function)].count(base) != 1:
        return False
    uses = names_in(function).get(base, ())
    first = next((use for use in uses if use.start_byte >= loop.end_byte), None)
    if first is None or first.parent is None:
        return False
    is_set = updates.is_changed(first) and any(one.type == "=" for one in first.parent.children)
    return not is_set or updates.is_made_of(first.parent, [base])


def goes_on(switch: Node) -> bool:
    """Whether a case with statements of its own goes on in the next one."""
    body = switch.child_by_field_name("body") if switch.type == "switch_statement" else None
    cases = [one.parent for _, one in cases_of(switch)] if body is not None else []
    return any(one is not None and not is_left_at_its_end(one) for one in cases[:-1])


def made_from(path: Node, loop: Node, name: bytes) -> list[bytes]:
    """What else iterations of a loop hand on and change, of what they make a variable from, if it
    is changed in a path or by what that makes: what others make each lane has by itself. Of a path
    in a function that the loop calls, that is made of what the function gives."""
    body = loop.child_by_field_name("body") or loop
    own = {one for one, _ in declared_in(body)}
    called = None if _is_within(path, loop) else function_around(path)
    own_changes = (one.text for one in updates.changed(path))
    late = updates.follows_from(body, [function_name(called)] if called else [*own_changes])
    changed = (one for one in updates.changed(body) if one.text in late)
    handed = {updates.name_of(one) for one in changed} - own - {name}
    return [
        one
        for change, base in updates.changes(body)
        if updates.name_of(base) == name
        for one in sorted(handed)
        if updates.is_made_of(change, [one]) and not _is_set_first(body, one)
    ]


def _is_within(node: Node, whole: Node) -> bool:
    return whole.start_byte <= node.start_byte < whole.end_byte


def _repeats(node: Node, loop: Node) -> bool:
    """Whether a loop inside another one holds a node of that."""
    around = node.parent
    while around is not None and around != loop:
        if around.type in LOOPS:
            return True
        around = around.parent
    return False


def _is_set_first(body: Node, name: bytes) -> bool:
    """Whether the first that an iteration does with a variable is to give it a value."""
    first = min(names_in(body)[name], key=lambda use: use.start_byte)
    around = first.parent
    if around is None or not updates.is_changed(first) or updates.is_made_of(around, [name]):
        return False
    return any(child.type == "=" for child in around.children)
