"""Ways that hardly anything takes: libdevice's slow paths for far arguments.

``sinf`` and ``cosf`` reduce an argument beyond 105615 with a table of 2 / pi, the doubles' ones
beyond 2^31, in a loop or in a function of their own: code that is longer than all the rest, and
that a lane whose argument is an angle never comes to.
"""

from __future__ import annotations

from ccc.analysis.facts import Facts
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Immediate

FAR = ("0f47CE4780", "0d41E0000000000000")
"""The bounds, as nvcc 13.0 writes them: 105615 and 2^31."""


def seldom(facts: Facts) -> frozenset[str]:
    """The blocks that only far arguments lead to."""
    return facts.once(_seldom, None)


def _seldom(_: None, facts: Facts) -> frozenset[str]:
    found: set[str] = set()
    for label, block in facts.blocks.items():
        way = _far_way(label, list(block.instructions), facts)
        if way is not None and set(facts.graph.predecessors(way)) == {label}:
            found.update(facts.dominators.dominated(way))
    return frozenset(found)


def _far_way(label: str, code: list[Instruction], facts: Facts) -> str | None:
    """Where far arguments go from a block, if it ends by asking that."""
    guard = code[-1].guard if code and code[-1].is_branch else None
    if guard is None:
        return None
    asks = next((one for one in reversed(code) if guard.register in one.defined()), None)
    if asks is None or asks.name != "setp" or not any(_is_bound(one) for one in asks.operands):
        return None
    is_far = not any(name.startswith(("lt", "le")) for name in asks.modifiers)
    target = code[-1].target
    if is_far != guard.negated:
        return target
    others = [one for one in facts.graph.successors(label) if one != target]
    return others[0] if others else None


def _is_bound(operand: object) -> bool:
    return isinstance(operand, Immediate) and operand.text in FAR
