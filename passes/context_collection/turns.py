"""Turns: several turns of a loop for each exchange (no pass; the collector uses it).

A task of a loop without a path inside does some turns in a row, copies of the loop's body of which
each has its way out, before members meet again. How many is the policy's business.

    RUN:      <a turn; done? to where a task ends>
    TURN_1:   <a turn; done? ...>
    ...
    REPEAT:   it is a task again
              bra COLLECT;

Behind them stands the loop as it was, if its turns are short: the last tasks run to their ends
there, since nobody has anything to exchange any more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ccc.ir.edit import Copy, jump, retarget, substitute
from ccc.ir.nodes import Block
from ccc.passes.context_collection.node import N

if TYPE_CHECKING:
    from ccc.passes.context_collection.collector import Collector

Skips = Callable[[Mapping[str, str]], dict[str, str]]
"""Where blocks of a task go on whose branch it does not need, by what labels stand for."""


def emit_turns(collector: Collector[N], node: N, start: Block, copy: Copy, skipped: Skips) -> None:
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
        heads += _in_a_row(collector, node, copy, skipped, None)
        to_end.block.statements += [*prelude, jump(heads[node.plan.turns])]
    node.heads = tuple(heads)
    rest = replace(copy, skips=skipped(copy.labels))
    function.blocks += rest.blocks(function, path.region - path.blocks)


def _in_a_row(
    collector: Collector[N], node: N, copy: Copy, skipped: Skips, following: str | None
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


def _emit_whole(collector: Collector[N], node: N, start: Block, copy: Copy, skipped: Skips) -> None:
    """Emit tasks that begin in the block ``start`` and run the loop as it was, to its end."""
    function, path = collector.function, node.path
    heads = _in_a_row(collector, node, copy, skipped, None)
    start.statements.append(jump(heads[0]))
    node.heads = (*node.heads, *heads)
    rest = replace(copy, skips=skipped(copy.labels))
    function.blocks += rest.blocks(function, path.region - path.blocks)
