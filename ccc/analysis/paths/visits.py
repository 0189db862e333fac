"""What the copies of a path have in common: the iterations in which lanes come by them.

nvcc makes several copies of an annotated branch where it unrolls the loop around it, or where a
function was inlined in several places. Of a loop that is unrolled by four each iteration comes to
one of four copies; so it does to one of two in arms of a branch; where the function is called
twice, one behind the other, it comes to both.
"""

from __future__ import annotations

from collections.abc import Collection

from ccc.analysis.cfg import reachable
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts


def share_of_visits(entry: str, entries: Collection[str], facts: Facts) -> float:
    """How many copies of a path an iteration comes by, at most, by the number of those there are.

    Args:
        entry: of the copy that is asked about; copies in other loops than its own do not count.
        entries: of all copies, in the order of their blocks.
        facts: of the function.
    """
    loop = _around(entry, facts)
    alike = [one for one in entries if _around(one, facts) is loop]
    if len(alike) < 2:
        return 1.0
    behind = {one: _behind(one, loop, facts).intersection(alike) - {one} for one in alike}
    in_a_row: dict[str, int] = {}

    def longest(one: str, before: frozenset[str] = frozenset()) -> int:
        if one not in in_a_row:
            seen = before | {one}
            in_a_row[one] = 1 + max((longest(o, seen) for o in behind[one] - seen), default=0)
        return in_a_row[one]

    return max(map(longest, alike)) / len(alike)


def _around(entry: str, facts: Facts) -> Loop | None:
    """The innermost loop around a path, which may be a loop itself."""
    around = (loop for loop in facts.loops if entry in loop.blocks and loop.header != entry)
    return next(around, None)


def _behind(entry: str, loop: Loop | None, facts: Facts) -> set[str]:
    """The blocks that control may come to from one in the same iteration."""
    blocks = loop.blocks if loop else set(facts.blocks)
    begins = {
        label for label in blocks if any(one.kind == "for" for one in facts.blocks[label].markers)
    }
    begins |= {loop.header} if loop else set()

    def step(label: str) -> list[str]:
        return [s for s in facts.graph.successors(label) if s in blocks and s not in begins]

    return reachable(step, [entry])
