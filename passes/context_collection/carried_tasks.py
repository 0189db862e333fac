"""Carried tasks: paths in a loop whose tasks take those of the loop along (no pass).

A lane has one task of the loop, ``WALK``, or of one of the paths in it, ``POLES``, never of both:
what a task of the poles needs of the walk is in its context, and where it ends, it is a task of the
walk again, so that all it does keeps its order.

    COLLECT_WALK:   members meet; are there enough tasks of the walk, saved and fresh?
                    no:   they are saved; COLLECT_POLES
                    yes:  those of the poles are saved, so that all lanes are free
                          idle lanes pop; a turn of the walk, up to the poles
                          bra COLLECT_WALK;
    COLLECT_POLES:  no lane has a task of the walk; are there enough of the poles?
                    yes:  idle lanes pop; some turns of the poles; where these are over, the rest
                          of the turn of the walk
                          bra COLLECT_WALK;
                    no:   they are saved; members go on with their iterations

New tasks come when less than a full warp is saved of the walk, and of each path in it, as many as
there are lanes. When tasks of a path are saved for the sake of others, a warp is about to run of
these. So the stack of a path in the walk never holds more than a full warp of tasks for each of the
paths, and one more.
"""

from __future__ import annotations

from typing import cast

from ccc.ir.edit import Emitter
from ccc.ir.nodes import Guard
from ccc.passes.context_collection.loop_chain import draining_of, enough_of
from ccc.passes.context_collection.sequential_dispatch import SequentialDispatch
from ccc.passes.context_collection.sequential_node import SequentialNode
from ccc.snippet import Given, Snippet

HELD = Snippet("""
    .reg .pred %pending, %none;
    .reg .b32 %tasks, %mask, %count, %bytes, %below, %before, %rank, %offset, %top, %address;
        vote.sync.ballot.b32 %tasks, %pending, %mask;
        setp.eq.b32 %none, %tasks, 0;
        @%none bra FREE;
        @!%pending bra SAVED;
        and.b32 %before, %tasks, %below;
        popc.b32 %rank, %before;
        shl.b32 %offset, %rank, 2;
        add.s32 %address, %top, %offset;
        call push, (%address);
    SAVED:
        popc.b32 %count, %tasks;
        shl.b32 %bytes, %count, 2;
        add.s32 %top, %top, %bytes;
        mov.pred %pending, 0;
    FREE:
""")
"""Before lanes get tasks of one path, those who have a task of another one save it."""

FULL = Snippet("""
    .reg .pred %few;
    .reg .b32 %top, %base, %enough, %limit;
        add.s32 %limit, %base, %enough;
        setp.lt.u32 %few, %top, %limit;
        @%few bra ONWARD;
""")
"""Nobody has a task of the path; but a full warp of them may be saved."""


class CarriedDispatch(SequentialDispatch):
    """Dispatches tasks one path after the other, and those that carry tasks of a loop with it."""

    def after(self, node: SequentialNode) -> str:
        """Behind all paths in a loop that carry its tasks, nobody has a task of either."""
        if not node.path.carries_parent:
            return super().after(node)
        around = cast("SequentialNode", node.parent)
        later = _carriers(around)[_carriers(around).index(node) + 1 :]
        if later:
            return later[0].collect
        behind = self.after(around)
        return self.check if behind == self.again else behind

    def resume(self, node: SequentialNode) -> str:
        """Tasks of the loop come first again."""
        around = cast("SequentialNode", node.parent) if node.path.carries_parent else node
        return around.collect if _carriers(around) else super().resume(node)

    def freed(self, emit: Emitter, node: SequentialNode, fill: str) -> str:
        """Lanes with a task of another path save that."""
        around = cast("SequentialNode", node.parent) if node.path.carries_parent else node
        others = [one for one in _carriers(around) if one is not node]
        if not others:
            return fill
        emit.start(fill)
        for other in others:
            HELD.emit(emit, self._scope(other))
        return self.function.fresh_label("fill")

    def _scope(self, node: SequentialNode) -> dict[str, Given]:
        """Members go on from the loop to the paths in it."""
        scope = super()._scope(node)
        carriers = _carriers(node)
        return {**scope, "AFTER": carriers[0].collect} if carriers else scope

    def _emit_idle(self, emit: Emitter, node: SequentialNode, fetch: str, onward: str) -> None:
        """A full warp of tasks may be saved of a path that carries those of a loop; of the loop
        itself only in the end, when any number is enough."""
        carriers = _carriers(node)
        if node.path.carries_parent:
            FULL.emit(
                emit, top=node.top, base=self.base, enough=enough_of(self, node),
                ONWARD=self.after(node),
            )  # fmt: skip
            if fetch == node.pop:  # of a branch
                emit.start(self.freed(emit, node, self.function.fresh_label("free")))
            emit.emit("bra", fetch)
        elif carriers:
            onward = carriers[0].collect
            emit.emit("bra", onward, guard=Guard(draining_of(self, node), negated=True))
            self.if_saved(emit, node, fetch)
            emit.emit("bra", onward)
        else:
            super()._emit_idle(emit, node, fetch, onward)


def _carriers(node: SequentialNode) -> list[SequentialNode]:
    """The paths in a loop whose tasks carry those of the loop."""
    inside = cast("list[SequentialNode]", node.children)
    return [one for one in inside if one.path.carries_parent]
