"""Context collection, the core procedure (dissertation section 4.1.1).

A lane that comes to an annotated path does not run it: it takes a copy of the context, sets a flag
and goes on with its iteration. At the end of each iteration all member lanes meet. Those with the
flag push their contexts on the warp's stack; as soon as a full warp of tasks is there, all lanes
pop one each and run the path together. When no lane has an iteration left, what is still on the
stack is run, partly filled, by the same code.

Before:

    LOOP:   ...                          // block A
            @!%p bra JOIN;
            // ccc.then 1 k.cu:7:5
            <path>
    JOIN:   ...
            @%more bra LOOP;
    AFTER:

After, new code stands before the loop and behind it, in this order; the snippets are those of
collector.py and of what serves the tasks, collection_row.py or multi_path.py:

    ENTER:    who is a member, each one's rank, the warp's share of the stack
    LOOP:     ...                        // block A
              @!%p bra JOIN;
              <a snapshot: the context in registers of its own, and a flag>
    JOIN:     ...
              @%more bra COLLECT;
              <remember the exit: there is no next iteration>
    COLLECT:  all members meet; those with the flag push their contexts
    POP:      all pop, as soon as there is a full warp of tasks
    RUN:      <path, on registers of its own>
    CHECK:    nobody has a task: has anybody an iteration?
    AGAIN:    to LOOP with an iteration, to COLLECT without
              no iteration is left: while tasks are, to POP, which takes what is there
    AFTER:

The rule of the paper, ``merge``, lets lanes with a task of their own keep it and idle lanes pop; it
needs half the stack. ``queue`` runs warps that are full of equally old tasks and wins where few
lanes take the path.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from ccc.analysis.facts import Facts
from ccc.analysis.paths.find import find_paths
from ccc.analysis.paths.model import AnnotatedLoop, Path
from ccc.analysis.simultaneous import Entrance, may_be_in_both
from ccc.ir.nodes import Function, Instruction
from ccc.passes.context_collection.collection_row import Row
from ccc.passes.context_collection.context_stack import reserve_stack
from ccc.passes.context_collection.layout import lay_out
from ccc.passes.context_collection.multi_path import MultiPath
from ccc.passes.launch_shape import known_block_size
from ccc.pipeline import Kernel, Pass, PathRecord
from ccc.ptx.types import MAX_BLOCK_THREADS, WARP_SIZE

NESTED = (
    'its annotated loop lies inside a path of another one; annotate that loop "ccc for variable" '
    'or "ccc while" to have its iterations collected'
)
GONE = (
    "it lies in the rest of an iteration that runs with the tasks of other paths; split the "
    "annotated loop in two, or remove the annotations of the other paths"
)


@dataclass(frozen=True)
class ContextCollection(Pass):
    """Collect the tasks of annotated paths.

    ``discipline`` is ``cases``, ``queue``, ``merge``, or ``auto``: the first of these that can be
    used and whose stacks fit.
    """

    discipline: str = "auto"

    name: ClassVar[str] = "context-collection"

    def run(self, kernel: Kernel) -> None:
        """Collect what can be collected, outer loops first."""
        _refuse_nested_loops(kernel)
        bases: list[Instruction] = []
        placed: dict[Entrance, int] = {}
        known: list[PathRecord] = []
        while chosen := _collectable(kernel, known):
            loop = _outermost(chosen)
            mine = [record for record in chosen if record.path.loop is loop]
            mine = _in_turn(mine, None)
            start = _free_from(loop, placed, kernel.facts)
            layout = lay_out(kernel, loop, mine, self.discipline, start)
            if layout is None:
                known = _outside_refused(chosen)
                continue
            known = _apart_from(loop, chosen, kernel.facts)
            together = layout.discipline == "cases"
            one = MultiPath(kernel, loop, layout) if together else Row(kernel, loop, layout)
            assert loop.gathering is not None
            entrance = Entrance.of(loop.loop.header, loop.gathering, kernel.facts)
            bases.append(one.run())
            placed[replace(entrance, label=one.enter)] = layout.share
            kernel.changed()
        if bases:
            share = max(placed.values())
            block = known_block_size(kernel.function, kernel.max_block)
            reserve_stack(kernel.function, share, -(-block // WARP_SIZE), bases)
            _promise_block_size(kernel.function, block, kernel.max_block)


def _free_from(loop: AnnotatedLoop, placed: Mapping[Entrance, int], facts: Facts) -> int:
    """The first byte of a warp's share that no loop uses in which lanes may be at the same time."""
    assert loop.gathering is not None
    mine = Entrance.of(loop.loop.header, loop.gathering, facts)
    ends = (
        end
        for other, end in placed.items()
        if may_be_in_both(mine, other, [mine, *placed], facts.graph)
    )
    return max(ends, default=0)


def _refuse_nested_loops(kernel: Kernel) -> None:
    for inner in kernel.records:
        for outer in kernel.records:
            inside = inner.path.entry in outer.path.blocks and inner.path.loop != outer.path.loop
            if inside and outer.path.reason is None and inner.path.reason is None:
                inner.reason = NESTED


def _collectable(kernel: Kernel, known: Collection[PathRecord]) -> list[PathRecord]:
    """The paths that are still to be collected, looked at again now that others were.

    What is ``known`` still holds.
    """
    keys = {record.path.key for record in known}
    excluded = {record.path.key for record in kernel.records if record.reason}
    left = [record for record in kernel.records if not record.applied and not record.reason]
    anew = any(record.path.key not in keys for record in left)
    found = {path.key: path for path in find_paths(kernel.facts, excluded | keys)} if anew else {}
    chosen = []
    for record in left:
        if record.path.key in keys:
            chosen.append(record)
            continue
        if record.path.key not in found:
            record.reason = GONE
            continue
        record.path = found[record.path.key]
        record.reason = record.path.reason
        if record.reason is None:
            for refine in kernel.refinements:
                refine(record.path, kernel.facts)
            chosen.append(record)
    return chosen


def _outside_refused(records: Iterable[PathRecord]) -> list[PathRecord]:
    """The paths of the loops that look the same without the paths that were refused.

    A path inside a refused one has another parent now, or none.
    """
    refused = [record.path for record in records if record.reason]
    left = [record for record in records if not record.reason]
    others = [r.path.loop for r in left if any(r.path.entry in path.blocks for path in refused)]
    return [record for record in left if not any(record.path.loop is loop for loop in others)]


def _apart_from(
    loop: AnnotatedLoop, records: Iterable[PathRecord], facts: Facts
) -> list[PathRecord]:
    """The paths of the loops of which nothing changes when ``loop`` is rewritten.

    They have no block of it, and do not lead straight to it, which is entered elsewhere then.
    """
    blocks = loop.loop.blocks.union(facts.graph.predecessors(loop.loop.header))

    def is_apart(other: AnnotatedLoop) -> bool:
        assert other.gathering is not None
        counted_at = {label for guard in other.gathering.guards for label in guard}
        return blocks.isdisjoint(other.loop.blocks) and loop.loop.blocks.isdisjoint(counted_at)

    return [record for record in records if record.path.loop and is_apart(record.path.loop)]


def _outermost(records: list[PathRecord]) -> AnnotatedLoop:
    loops = [record.path.loop for record in records if record.path.loop]
    return max(loops, key=lambda loop: len(loop.loop.blocks))


def _in_turn(records: list[PathRecord], parent: Path | None) -> list[PathRecord]:
    """The order in which paths are served: each is followed by those inside it."""
    mine = [record for record in records if record.path.parent is parent]
    return [one for record in mine for one in (record, *_in_turn(records, record.path))]


def _promise_block_size(function: Function, block: int, promised: int | None) -> None:
    """Make a launch fail that is larger than what the stack was measured for."""
    if promised and block < MAX_BLOCK_THREADS and not {"maxntid", "reqntid"} & set(function.limits):
        function.limits["maxntid"] = (block, 1, 1)
        function.header = f"{function.header.rstrip()}\n.maxntid {block}, 1, 1\n"
