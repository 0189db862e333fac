"""What is kept where it is the least, or the most, and where another test decides, too.

    if (best == nullptr || e < d) { best = &p[i]; d = e; }      // the first one is kept, too
    if (e < d && group[i] != g) { d = e; g = group[i]; }        // as others allow that were kept

The least number that there is, or the most, makes the first one be kept without a test for that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ccc.frontend import updates
from ccc.frontend.spellings import shown
from ccc.frontend.syntax import declared_in, identifiers_in

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node


class FirstOne(NamedTuple):
    """A branch that keeps what is the least, or the most, as another test allows.

    Attributes:
        name: the variable that is compared.
        by: the operation of a reduction that would serve without the test.
        test: what decides, too.
        alone: the comparison, if the test may ask whether there was none before.
        branch: the branch.
    """

    name: str
    by: str
    test: str
    alone: str | None
    branch: Node


def first_ones(loop: Node) -> Iterator[FirstOne]:
    """Those of a loop that outlive an iteration."""
    own = {name for name, _ in declared_in(loop)}
    for branch in updates.every(loop, lambda node: node.type == "if_statement"):
        condition, taken = (branch.child_by_field_name(f) for f in ("condition", "consequence"))
        if condition is None or taken is None:
            continue
        given = {base.text for base in updates.changed(taken)}
        for comparison in updates.every(condition, lambda node: node.type == "binary_expression"):
            found = updates.kept_where(comparison, taken)
            if len(found) != 1 or found[0][1].partition(".")[0].encode() in own:
                continue
            by, name = found[0]
            others = given - {name.partition(".")[0].encode()}
            for test in _around(branch, taken, name, loop):
                if _names(test, others):
                    yield FirstOne(name, by, shown(test), None, branch)
            for sign, test, is_all in _beside(comparison, condition):
                asks = _names(test, given)
                is_first = sign == b"||" and is_all and asks and _is_of_none(test)
                if asks or sign == b"||":
                    alone = shown(comparison) if is_first else None
                    yield FirstOne(name, by, shown(test), alone, branch)


def _around(branch: Node, taken: Node, name: str, loop: Node) -> Iterator[Node]:
    """What else is asked for around an assignment to a variable, in a branch or around that; not
    where what is kept goes by its rank."""
    change = next(iter(updates.changes_of(taken, name.encode())), branch)
    around = change.parent
    while around is not None and around != loop:
        asked = around.child_by_field_name("condition") if around.type == "if_statement" else None
        if asked is not None and around != branch and not updates.comparisons(asked):
            yield _bare(asked)
        around = around.parent


def _names(test: Node, names: Collection[bytes | None]) -> bool:
    return any(one.text in names for one in identifiers_in(test))


def _beside(comparison: Node, condition: Node) -> Iterator[tuple[bytes, Node, bool]]:
    """The signs by which others are joined with a comparison in a condition, those others, and
    whether that is all of it."""
    node, around = comparison, comparison.parent
    while around is not None and node != condition:
        sign, is_of_two = updates.sides(around)[1], around.type == "binary_expression"
        if is_of_two and sign not in (b"&&", b"||"):
            return
        if not is_of_two and around.type not in _AROUND:
            return
        for part in ("left", "right") if is_of_two else ():
            other = around.child_by_field_name(part)
            if other is not None and other != node:
                yield sign, _bare(other), _bare(condition) == around
        node, around = around, around.parent


def _bare(condition: Node) -> Node:
    """What is asked for."""
    while condition.type in _AROUND and (inner := condition.named_child(0)) is not None:
        condition = inner
    return condition


def _is_of_none(test: Node) -> bool:
    """Whether a test may be for what stands for nothing: ``!any``, ``at < 0``, ``p == nullptr``."""
    one, sign, other = updates.sides(test)
    if test.type in ("unary_expression", "identifier"):
        return True
    return (
        sign in (b"==", b"!=") or (sign == b"<" and other == b"0") or (sign == b">" and one == b"0")
    )


_AROUND = ("condition_clause", "parenthesized_expression")
