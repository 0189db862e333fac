"""Turns: several turns of a loop for each exchange (no pass; the collector uses it).

A task of a loop without a path inside does some turns in a row, copies of the loop's body of which
each has its way out, before members meet again. How many is the policy's business.

    RUN:      <a turn; done? to where a task ends>
    TURN_1:   <a turn; done? ...>
    ...
    REPEAT:   it is a task again
              bra COLLECT;

Behind them stands the loop as it was, if its turns are short: the last tasks run to their ends
there, since nobody has anything to exchange any more. Where a counter tells that there are more
turns than stand in a row, none of them is asked whether it is the last one.

    TO_END:
    MANY:     as many turns left? else to the first of those below
              <a turn>
              ...
              bra MANY;
              <a turn; done? ...>
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ccc.analysis.paths.induction import Induction
from ccc.ir.edit import Copy, jump, retarget, substitute
from ccc.ir.nodes import Block, Guard
from ccc.ir.operands import Register
from ccc.passes.context_collection.node import N
from ccc.ptx.types import number_of_type

if TYPE_CHECKING:
    from ccc.passes.context_collection.task_code import TaskCode

Skips = Callable[[Mapping[str, str]], dict[str, str]]
"""Where blocks of a task go on whose branch it does not need, by what labels stand for."""


def emit_turns(collector: TaskCode[N], node: N, start: Block, copy: Copy, skipped: Skips) -> None:
    """Emit the tasks of a loop, which begin in the block ``start``; ``copy`` says how."""
    function, path = collector.function, node.path
    prelude = [substitute(i, {}, {}) for i in start.instructions]
    node.copy, node.prelude = copy, tuple(start.instructions)
    if node.plan.shares_all:
        _emit_whole(collector, node, start, copy, skipped)
        return
    repeat = function.fresh_label("repeat")
    heads = _in_a_row(collector, node, copy, skipped, repeat)
    start.statements.append(jump(heads[0]))
    emit = collector.at(repeat)
    collector.note(emit, node)
    emit.emit("bra", collector.resume(node))
    if node.to_end != node.run:
        to_end = collector.at(node.to_end)
        tested = _in_a_row(collector, node, copy, skipped, None)
        heads += tested
        first = tested[0]
        counter = node.plan.counter
        if counter is not None and _steps(node.plan.turns, counter) < 1 << counter.counter.bits:
            first = function.fresh_label("many")
            heads += _emit_many(collector, node, counter, first, tested[0], copy, skipped)
        to_end.block.statements += [*prelude, jump(first)]
    node.heads = tuple(heads)
    rest = replace(copy, skips=skipped(copy.labels))
    function.blocks += rest.blocks(function, path.region - path.blocks - node.handed_on)


def _steps(turns: int, counter: Induction) -> int:
    """How far so many turns in a row take the counter: perhaps beyond all numbers of its type."""
    return turns * abs(counter.stride)


def _emit_many(
    collector: TaskCode[N], node: N, counter: Induction, many: str, few: str, copy: Copy,
    skipped: Skips,
) -> list[str]:  # fmt: skip
    """Turns without a test, while more are left than those; from ``many`` on, and then to ``few``.

    The distance to the bound is less than all numbers of that size where the counter is before it,
    so that no turn steps beyond.
    """
    emit = collector.at(many)
    bits, kind = counter.counter.bits, counter.type
    at, bound = (
        copy.registers.get(one, one) if isinstance(one, Register) else one
        for one in (counter.counter, counter.bound)
    )
    assert isinstance(at, Register)
    number = bound if isinstance(bound, Register) else number_of_type(bound, f"s{bits}")
    ends = (number, at) if counter.stride > 0 else (at, number)
    left = emit.define(f"sub.s{bits}", f"b{bits}", *ends, name="left")
    so_many = _steps(node.plan.turns, counter)
    enough = emit.define(f"setp.gt.u{bits}", "pred", left, so_many, name="enough_turns")
    if counter.relation != "ne":
        order = "lt" if counter.stride > 0 else "gt"
        before = emit.define(f"setp.{order}.{kind}", "pred", at, bound, name="before")
        emit.emit("and.pred", enough, enough, before)
    emit.emit("bra", few, guard=Guard(enough, negated=True))
    successors = collector.facts.graph.successors(counter.end)
    inside = next(label for label in successors if label in node.path.blocks)

    def untested(labels: Mapping[str, str]) -> dict[str, str]:
        return {**skipped(labels), counter.end: labels[inside]}

    heads = _in_a_row(collector, node, copy, untested, many)
    emit.emit("bra", heads[0])
    return heads


def _in_a_row(
    collector: TaskCode[N], node: N, copy: Copy, skipped: Skips, following: str | None
) -> list[str]:
    """Some turns that lead to ``following``, or to the first of them; returns their heads."""
    function, path = collector.function, node.path
    turns = [collector.fresh_labels(path.blocks, "turn") for _ in range(node.plan.turns)]
    heads = [labels[path.entry] for labels in turns]
    for labels, again in zip(turns, [*heads[1:], following or heads[0]], strict=True):
        known = {**copy.labels, **labels}
        blocks = replace(copy, labels=known, skips=skipped(known)).blocks(function, path.blocks)
        for block in blocks:
            retarget(function, block, labels[path.entry], again)
        function.blocks += blocks
    return heads


def _emit_whole(collector: TaskCode[N], node: N, start: Block, copy: Copy, skipped: Skips) -> None:
    """Emit tasks that begin in the block ``start`` and run the loop as it was, to its end."""
    function, path = collector.function, node.path
    heads = _in_a_row(collector, node, copy, skipped, None)
    start.statements.append(jump(heads[0]))
    node.heads = (*node.heads, *heads)
    rest = replace(copy, skips=skipped(copy.labels))
    function.blocks += rest.blocks(function, path.region - path.blocks)
