"""What the rest of an iteration sets, behind a path, for later ones."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ccc.frontend import updates

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node


def copies(
    path: Node, turn: Node, made: Collection[bytes | None], own: Collection[bytes | None]
) -> list[Node]:
    """Where what is none of an iteration's ``own`` is set from what a path ``made``, which nvcc
    mostly keeps in the same register, so that no instruction does it."""
    return [
        base
        for change, base in updates.changes(turn)
        if change.start_byte >= path.end_byte and base.text not in own
        if updates.is_made_of(change, made)
    ]


def only_there(path: Node, turn: Node, name: bytes) -> Node | None:
    """Where a variable is first set, if that is behind a path, and nowhere else in an iteration."""
    found = [one for one, base in updates.changes(turn) if updates.name_of(base) == name]
    first = min(found, key=lambda one: one.start_byte, default=None)
    return first if first is not None and first.start_byte >= path.end_byte else None
