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
collector.py and of what serves the tasks, sequential_dispatch.py or multi_path.py:

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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from ccc.analysis.facts import Facts
from ccc.analysis.likeness import go_round_alike
from ccc.analysis.paths.followers import chains
from ccc.analysis.paths.model import (
    AnnotatedLoop,
    FoundLoop,
    FoundPath,
    LeftPath,
    Path,
    Refused,
    without_places,
)
from ccc.analysis.paths.nests import find_nest
from ccc.analysis.simultaneous import Entrance, may_be_in_both
from ccc.ir.nodes import Function
from ccc.passes.choice.before import counted, flattening, flattening_at_worst, said_or_guessed
from ccc.passes.choice.choose import choose
from ccc.passes.context_collection.context_stack import reserve_stack
from ccc.passes.iteration_numbers import without_idle_numbers
from ccc.passes.launch_shape import (
    BOUNDS,
    keep_warps,
    known_block_size,
    stack_warps,
)
from ccc.passes.policy import decide, lacks_room, leave_with_another, may_lack_stacks, settle
from ccc.passes.strategies.leave import LEAVE
from ccc.passes.strategies.long_tasks import LONG_TASKS
from ccc.passes.strategies.registry import COLLECTING, SHARING
from ccc.passes.strategies.strategy import Collectable, Decision, Rewritten
from ccc.passes.thresholds import FLATTEN_GAIN, NO_BOUND, USUAL_BLOCK
from ccc.pipeline import Kernel, Pass
from ccc.ptx.types import MAX_BLOCK_THREADS, WARP_SIZE
from ccc.remark import span_of

NESTED = (
    'its annotated loop lies inside a path of another one; annotate that loop "ccc for variable" '
    'or "ccc while" to have its iterations collected'
)
IN_COLLECTED = (
    "its annotated loop lies inside another one that was collected, whose lanes wait for one "
    'another; annotate it "ccc for variable" or "ccc while" to have its iterations collected, too'
)
GONE = (
    "it lies in the rest of an iteration that runs with the tasks of other paths; split the "
    "annotated loop in two, or remove the annotations of the other paths"
)

FLATTEN = "; or ask for strategy(flatten), in which each lane keeps its own iterations"
BY_TURNS = "whether that is faster depends on how turns differ, which a profile tells"

KNOWN = "not collected"
_USUAL_WARPS = USUAL_BLOCK // WARP_SIZE


class ContextCollection(Pass):
    """Collect the tasks of annotated paths.

    ``strategy`` is what is asked for where the annotation says nothing, by the name that the
    registry has; ``auto``: the first of those that the policy takes and whose stacks fit.
    """

    name: ClassVar[str] = "context-collection"

    def run(self, kernel: Kernel) -> None:
        """Collect what can be collected, outer loops first."""
        paths = [record.path for record in kernel.records if isinstance(record.path, Path)]
        may_lack = may_lack_stacks(paths, kernel)
        if may_lack and not any(map(kernel.request_of, paths)):
            kernel.stack_warps = _USUAL_WARPS
        known, limits = _collectable_at_first(kernel), set(kernel.function.limits)
        rewritten: list[Rewritten] = []
        placed: dict[Entrance, int] = {}
        decisions: list[Decision] = []
        while chosen := _collectable(kernel, known):
            decisions = self._decide(kernel, chosen, [d for d in decisions if _holds(d, known)])
            is_open = may_lack and not rewritten and kernel.stack_warps != _USUAL_WARPS
            if is_open and any(lacks_room(one, kernel) for one in decisions):
                kernel.stack_warps = _USUAL_WARPS
            decision = decisions[0]
            loop = decision.loop
            entrance = Entrance.of(loop.loop.header, loop.reconvergence, kernel.facts)
            start = _free_from(entrance, placed, kernel)
            alone = start == 0 and _is_alone(entrance, [d.loop for d in decisions[1:]], kernel)
            choice = settle(decision, kernel, start, alone)
            apart = _apart_from(loop, chosen, kernel.facts)
            done = choice.strategy.rewrite(kernel, choice)
            if done is None:
                known = _outside_refused(chosen)
                continue
            known = apart
            rewritten.append(done)
            placed[replace(entrance, label=done.enter)] = done.share
            kernel.changed()
        if rewritten:
            if kernel.keeps_warps:
                keep_warps(kernel)
            share = max(placed.values())
            block = known_block_size(kernel.function, kernel.options.max_block)
            users = [user for one in rewritten for user in (one.base, *one.users) if user]
            described = reserve_stack(kernel, share, stack_warps(kernel), users)
            for directive in {*BOUNDS} & set(kernel.function.limits) - limits:
                described[BOUNDS[directive]] = kernel.function.limits[directive][0]
            for record in kernel.records:
                record.describe(described if "placement" in record.remark.details else {})
            _promise_block_size(kernel.function, block, kernel.options.max_block)
        without_idle_numbers(kernel)

    def _decide(
        self, kernel: Kernel, chosen: Sequence[Collectable], made: Sequence[Decision]
    ) -> list[Decision]:
        """What is done with each loop, outer loops first; what was ``made`` still holds."""
        loops = sorted(_by_loop(chosen).items(), key=lambda one: -len(one[0].loop.blocks))
        kept = {decision.loop: decision for decision in made}
        anew = [(loop, _in_turn(mine, None)) for loop, mine in loops if loop not in kept]
        new = decide(anew, kernel, COLLECTING, LONG_TASKS, SHARING)
        kept |= {decision.loop: decision for decision in new}
        return [kept[loop] for loop, _ in loops]


def _holds(decision: Decision, known: Sequence[Collectable]) -> bool:
    """Whether nothing has changed for a decision: all its paths are still ``known``."""
    paths = {one.path for one in known}
    return all(one.path in paths for one in decision.paths)


def _by_loop(chosen: Iterable[Collectable]) -> dict[AnnotatedLoop, list[Collectable]]:
    """The loops of some paths, each with those of its own."""
    found: dict[AnnotatedLoop, list[Collectable]] = {}
    for one in chosen:
        found.setdefault(one.path.loop, []).append(one)
    return found


def _is_alone(mine: Entrance, others: Iterable[AnnotatedLoop], kernel: Kernel) -> bool:
    """Whether no lanes may be in one of the other loops, which come later, at the same time."""
    facts = kernel.facts
    found = [Entrance.of(one.loop.header, one.reconvergence, facts) for one in others]
    return not any(may_be_in_both(mine, one, [mine, *found], facts.graph) for one in found)


def _free_from(mine: Entrance, placed: Mapping[Entrance, int], kernel: Kernel) -> int:
    """The first byte of a warp's share that no loop uses in which lanes may be at the same time."""
    ends = (
        end
        for other, end in placed.items()
        if may_be_in_both(mine, other, [mine, *placed], kernel.facts.graph)
    )
    return max(ends, default=0)


def _is_in_collected(loop: FoundLoop, kernel: Kernel) -> bool:
    """Whether an annotated loop lies in another one that was collected."""
    loops = (record.path.loop for record in kernel.records if record.applied)
    identifiers = {one.marker.identifier for one in loops if one is not None}
    for label, block in kernel.facts.blocks.items():
        if any(m.kind == "for" and m.identifier in identifiers for m in block.markers):
            around = next((one for one in kernel.facts.loops if label in one.blocks), None)
            if around is not None and loop.loop.blocks < around.blocks:
                return True
    return False


def _refuse_nested_loops(kernel: Kernel) -> None:
    paths = [record.path for record in kernel.records if isinstance(record.path, Path)]
    for inner in kernel.records:
        if (
            inner.is_open
            and isinstance(inner.path, Path)
            and any(
                inner.path.entry in outer.blocks and inner.path.loop is not outer.loop
                for outer in paths
            )
        ):
            inner.reason = NESTED


def _leave_where_rests_cannot_stay(kernel: Kernel) -> None:
    """Leave the paths whose rest must stay with its lane, if what is asked for cannot do that."""
    paths = [one.path for one in kernel.records if isinstance(one.path, Path) and one.is_open]
    named = {strategy.name: strategy for strategy in COLLECTING if strategy.returns}
    for record in kernel.records:
        path = record.path
        if record.is_open and isinstance(path, Path) and path.stays is not None:
            beside = [one for one in paths if one.loop is path.loop]
            strategy = named.get(str(kernel.request_of(path)))
            why_not = strategy.applies(beside, kernel.facts) if strategy else None
            if why_not is not None:
                kernel.decline(path.marker, why_not)
            if strategy is None or why_not is not None:
                record.reason = path.stays


def _collectable_at_first(kernel: Kernel) -> list[Collectable]:
    """The paths that can be collected as they were found, and still could if others were not."""
    for record in kernel.records:
        request = kernel.request_of(record.path)
        if record.is_open and request and request.name == LEAVE.name:
            record.leave(LEAVE.name)
        elif record.is_open and isinstance(record.path, LeftPath):
            record.reason = record.path.reason + _flatten_hint(record.path, kernel)
    _refuse_nested_loops(kernel)
    _leave_where_rests_cannot_stay(kernel)
    found = ((record, record.path) for record in kernel.records)
    paths = [Collectable(r, path) for r, path in found if isinstance(path, Path)]
    choose(paths, kernel)
    return _outside_refused(paths)


def _flatten_hint(path: LeftPath, kernel: Kernel) -> str:
    """What to ask for where lanes need not share an inner loop's turns; nothing where they must."""
    if kernel.function.kind != "entry":
        return ""
    try:
        nest = find_nest(FoundPath(path.marker, path.entry, path.repeats), kernel.facts)
    except Refused:
        return ""
    counts = counted([path], kernel) or [said_or_guessed(path)]
    if not counts[0].is_known and go_round_alike(nest.inner, kernel.facts):
        return ""
    expected = flattening(nest, counts[0], kernel)
    worst = expected if counts[0].is_known else flattening_at_worst(nest, kernel)
    tells_nothing = not counts[0].is_known and min(worst, expected) < NO_BOUND
    if max(worst, expected) < FLATTEN_GAIN and not tells_nothing:
        return ""
    if tells_nothing or worst < NO_BOUND:
        return f"{FLATTEN}: {BY_TURNS}"
    return f"{FLATTEN}: expected {span_of(worst, expected)} times as fast"


def _collectable(kernel: Kernel, known: Sequence[Collectable]) -> list[Collectable]:
    """The paths that are still to be collected, looked at again now that others were.

    What is ``known`` still holds.
    """
    held = {one.path.key: one for one in known}
    settled = [r for r in kernel.records if not r.is_open and not r.applied]
    excluded = {record.path.key: record.reason or KNOWN for record in settled}
    excluded |= dict.fromkeys(held, KNOWN)
    left = [record for record in kernel.records if record.is_open]
    anew = any(record.path.key not in held for record in left)
    paths = kernel.find_paths(excluded) if anew else []
    found = {path.key: path for path in paths}
    chosen = []
    for record in left:
        key = record.path.key
        if key in held:
            chosen.append(held[key])
        elif key not in found:
            record.reason = GONE
        else:
            before = record.path
            record.path = path = found[key]
            if path.loop is not None and _is_in_collected(path.loop, kernel):
                record.reason = IN_COLLECTED
            elif isinstance(path, LeftPath) and _needs_what_is_left(before, kernel):
                leave_with_another(record, kernel)
            elif isinstance(path, LeftPath):
                applied = any(other.applied for other in kernel.records)
                record.reason = without_places(path.reason) if applied else path.reason
            else:
                chosen.append(Collectable(record, path))
    return chosen


def _needs_what_is_left(path: FoundPath, kernel: Kernel) -> bool:
    """Whether a path could be collected with another one, which nothing would gain by."""
    if not isinstance(path, Path):
        return False
    left = {record.path.key for record in kernel.records if record.remark.advice is not None}
    with_it = (*path.followers, *([path.parent] if path.parent else []))
    return any(one.key in left for one in with_it)


def _outside_refused(found: Iterable[Collectable]) -> list[Collectable]:
    """The paths of the loops that look the same without the paths that were refused.

    A path inside a refused one has another parent now, or none, and one whose tasks would come to
    a refused one has a loop in the rest of its iteration that is not collected.
    """
    chosen = list(found)
    refused = [one.path for one in chosen if not one.record.is_open]
    left = [one for one in chosen if one.record.is_open]
    others = {
        one.path.loop
        for one in left
        for path in refused
        if one.path.entry in path.blocks or one.path.leads_to(path)
    }
    return [one for one in left if one.path.loop not in others]


def _apart_from(
    loop: AnnotatedLoop, chosen: Iterable[Collectable], facts: Facts
) -> list[Collectable]:
    """The paths of the loops of which nothing changes when ``loop`` is rewritten.

    They have no block of it, and do not lead straight to it, which is entered elsewhere then.
    """
    blocks = loop.loop.blocks.union(facts.graph.predecessors(loop.loop.header))

    def is_apart(other: AnnotatedLoop) -> bool:
        counted_at = {label for guard in other.reconvergence.guards for label in guard}
        return blocks.isdisjoint(other.loop.blocks) and loop.loop.blocks.isdisjoint(counted_at)

    return [one for one in chosen if is_apart(one.path.loop)]


def _in_turn(chosen: Sequence[Collectable], parent: Path | None) -> list[Collectable]:
    """The order in which paths are served: each is followed by those inside it, and comes after
    those to which its tasks come."""
    mine = {one.path: one for one in chosen if one.path.parent is parent}
    in_turn = (mine[path] for chain in chains(mine) for path in chain)
    return [inner for one in in_turn for inner in (one, *_in_turn(chosen, one.path))]


def _promise_block_size(function: Function, block: int, promised: int | None) -> None:
    """Make a launch fail that is larger than what the stack was measured for."""
    if promised and block < MAX_BLOCK_THREADS and not {"maxntid", "reqntid"} & set(function.limits):
        function.limits["maxntid"] = (block, 1, 1)
        function.header = f"{function.header.rstrip()}\n.maxntid {block}, 1, 1\n"
