"""What is kept where it is the least, or the first: another test decides, too.

    if (best == nullptr || e < d) { best = &p[i]; d = e; }

The least number that there is, or the most, makes the first one be kept without such a test.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ccc.frontend import updates
from ccc.frontend.spellings import shown
from ccc.frontend.syntax import declared_in, identifiers_in

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node


class FirstOne(NamedTuple):
    """A branch that keeps what is the least, or the most, or the first.

    Attributes:
        name: the variable that is compared.
        by: the operation of a reduction that would serve without the test.
        test: how it is asked whether there was none before.
        alone: the comparison.
        branch: the branch.
    """

    name: str
    by: str
    test: str
    alone: str
    branch: Node


def first_ones(loop: Node) -> Iterator[FirstOne]:
    """Those of a loop that outlive an iteration."""
    own = {name for name, _ in declared_in(loop)}
    for branch in updates.every(loop, lambda node: node.type == "if_statement"):
        condition, taken = (branch.child_by_field_name(f) for f in ("condition", "consequence"))
        while condition is not None and condition.type in _AROUND:
            condition = condition.named_child(0)
        if condition is None or taken is None or updates.sides(condition)[1] != b"||":
            continue
        parts = [updates.bare(condition.child_by_field_name(side)) for side in ("left", "right")]
        for test, comparison in (parts, parts[::-1]):
            found = updates.kept_where(comparison, taken) if comparison and test else []
            if len(found) == 1 and test is not None and comparison is not None:
                (by, name), given = found[0], {base.text for base in updates.changed(taken)}
                asks = not given.isdisjoint(one.text for one in identifiers_in(test))
                asks = asks and _is_of_none(test)
                if asks and name.partition(".")[0].encode() not in own:
                    yield FirstOne(name, by, shown(test), shown(comparison), branch)


def _is_of_none(test: Node) -> bool:
    """Whether a test may be for what stands for nothing: ``!any``, ``at < 0``, ``p == nullptr``."""
    one, sign, other = updates.sides(test)
    if test.type in ("unary_expression", "identifier"):
        return True
    return (
        sign in (b"==", b"!=") or (sign == b"<" and other == b"0") or (sign == b">" and one == b"0")
    )


_AROUND = ("condition_clause", "parenthesized_expression")
