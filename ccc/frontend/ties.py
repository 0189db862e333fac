"""Variables that decide together what is kept, as where a tie goes by the second of them.

if (s > best || (s == best && i < at)) { best = s; at = i; }
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ccc.frontend import updates
from ccc.frontend.spellings import shown
from ccc.frontend.syntax import LOOPS, declared_in

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_STRICT = (b"<", b">")


class Tie(NamedTuple):
    """A branch that keeps several variables and asks for each.

    Attributes:
        names: the variables.
        branch: the branch.
        alone: where the second comparison chooses the first of equals in the order of iterations,
            the first comparison, by which the same is kept, and its operation and variable.
    """

    names: list[str]
    branch: Node
    alone: tuple[str, str, str] | None


def ties_in(loop: Node) -> Iterator[Tie]:
    """Those of a loop that outlive an iteration."""
    own = {name for name, _ in declared_in(loop)}
    for branch in updates.every(loop, lambda node: node.type == "if_statement"):
        kept = updates.kept_by(branch)
        names = list(dict.fromkeys(name for _, name in kept))
        if len(names) > 1 and all(one.partition(".")[0].encode() not in own for one in names):
            yield Tie(names, branch, _alone(loop, branch, kept))


def _alone(loop: Node, branch: Node, kept: list[tuple[str, str]]) -> tuple[str, str, str] | None:
    """The comparison that is enough by itself, of ``s > best || (s == best && i < at)``."""
    condition = updates.bare(branch.child_by_field_name("condition"))
    while condition is not None and condition.type == "condition_clause":
        condition = updates.bare(condition.named_child(0))
    parts = [condition.child_by_field_name(one) for one in ("left", "right")] if condition else []
    if len(kept) != 2 or updates.sides(condition)[1] != b"||":
        return None
    first, other = map(updates.bare, parts)
    one, sign, two = updates.sides(first)
    halves = [other.child_by_field_name(part) for part in ("left", "right")] if other else []
    is_tie = updates.sides(other)[1] == b"&&" and len(halves) == 2
    equal, later = map(updates.bare, halves) if is_tie else (None, None)
    left, equals, right = updates.sides(equal)
    if sign not in _STRICT or equals != b"==" or {left, right} != {one, two} or first is None:
        return None
    by, best = kept[0]
    asks_first = _is_in_order(loop, later, kept[1]) and not _is_repeated(loop)
    is_first = best.encode() in (one, two)
    text = shown(first)
    return (text, by, best) if asks_first and is_first else None


def _is_repeated(loop: Node) -> bool:
    """Whether a loop lies in another one, which begins it anew."""
    around = loop.parent
    while around is not None and around.type != "function_definition":
        if around.type in LOOPS:
            return True
        around = around.parent
    return False


def _is_in_order(loop: Node, test: Node | None, kept: tuple[str, str]) -> bool:
    """Whether the least of what a loop counts up is kept."""
    by, name = kept
    update = loop.child_by_field_name("update")
    one, sign, other = updates.sides(test)
    counter = other if one == name.encode() else one
    changes = [(change, base) for change, base in updates.changes(update)] if update else []
    grows = [
        child.type in ("++", "+=") for change, base in changes
        if base.text == counter for child in change.children if not child.is_named
    ]  # fmt: skip
    return by == "min" and sign[:1] in _STRICT and bool(grows) and all(grows)
