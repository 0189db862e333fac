"""Calls that stand between an annotated loop and a path in it, which have to be inlined for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ccc.analysis.callees import Callees, callee
from ccc.analysis.cfg import EXIT
from ccc.analysis.facts import Facts
from ccc.analysis.paths.locate import INNER_LOOPS
from ccc.ir.markers import ARMS, WHOLE_KERNEL
from ccc.ir.nodes import Instruction


@dataclass(frozen=True, slots=True)
class AnnotatedCall:
    """A call of a function that holds annotations; ``in_loop``: the annotated loop is around it."""

    call: Instruction
    in_loop: bool


def annotated_calls(facts: Facts, in_loop: bool = False) -> Iterator[AnnotatedCall]:
    """The calls of functions that hold paths, where the annotated loop is around them or inside.

    Args:
        facts: of the function that calls.
        in_loop: whether it is itself called in an annotated loop.
    """
    calls = [
        (label, i)
        for label in facts.graph
        for i in (facts.blocks[label].instructions if label != EXIT else ())
        if i.name == "call" and i.guard is None
    ]
    kinds = {name: _kinds(name, facts.callees) for name in {callee(call) for _, call in calls}}
    if not any(kinds.values()):
        return
    annotated = _annotated_blocks(facts)
    for label, call in calls:
        held = kinds[callee(call)]
        inside = in_loop or label in annotated
        if not held.isdisjoint(ARMS + INNER_LOOPS) and (inside or "for" in held):
            yield AnnotatedCall(call, inside)


def _kinds(name: str, callees: Callees) -> frozenset[str]:
    """The kinds of markers in a function and in those that it may call."""
    return frozenset(
        marker.kind
        for function in callees.reachable(name)
        for block in (function.blocks if function else ())
        for marker in block.markers
    )


def _annotated_blocks(facts: Facts) -> set[str]:
    """The blocks of annotated loops; all of them where the whole kernel becomes one."""
    markers = {
        label: {marker.kind for marker in facts.blocks[label].markers}
        for label in facts.graph
        if label != EXIT
    }
    if any(not kinds.isdisjoint(WHOLE_KERNEL) for kinds in markers.values()):
        return set(markers)
    loops = (loop.blocks for loop in facts.loops if any("for" in markers[b] for b in loop.blocks))
    return set().union(*loops)
