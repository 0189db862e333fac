"""What is set by a choice beside the least or the most that a path keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccc.frontend import updates

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node


def chosen_beside(path: Node) -> tuple[str, str, str, str] | None:
    """What is set by a choice, ``at = x < best ? i : at``, beside ``best = min(best, x)``: that and
    the best, the operation, and the branch that does both."""
    kept = {updates.name_of(base): by for change, base in updates.changes(path)
            if (by := updates.operation(change)) in ("min", "max")}  # fmt: skip
    for change, base in updates.changes(path):
        value = updates.bare(change.child_by_field_name("right"))
        if value is None or value.type != "conditional_expression" or updates.name_of(base) in kept:
            continue
        parts = [updates.bare(value.child_by_field_name(part)) for part in updates.CHOICE]
        taken, left = (updates.text_of(part) if part else b"" for part in parts[1:])
        one, sign, other = updates.sides(parts[0])
        best, new = (one, other) if one in kept else (other, one)
        is_sought = sign in (b"<", b">") and updates.SOUGHT[sign][best == one] == kept.get(best)
        if is_sought and left == updates.name_of(base):
            ways = f"{new.decode()} {'<' if kept[best] == 'min' else '>'} {best.decode()}"
            both = f"{best.decode()} = {new.decode()}; {left.decode()} = {taken.decode()};"
            return left.decode(), best.decode(), str(kept[best]), f"if ({ways}) {{ {both} }}"
    return None
