"""Loop flattening: the lanes of a warp begin the next iteration of a loop each by itself.

An iteration holds an inner loop, and some lanes need more turns of it than others. The others do
not wait until the last one is through: they finish their iteration, begin the next one, and come
back with another run of the inner loop. No lane does anything for another one, and each does what
it did, in the same order: iterations may depend on one another, and nothing is saved.

Before:

    OUTER:  <the beginning of an iteration>
    INNER:  <a turn>
            @%again bra INNER;
            <the rest of the iteration>
            @%more bra OUTER;
    AFTER:

After:

    ENTER:  who is a member
    ANEW:   has anybody an iteration left? else all go to where they wanted to leave to
    MEET:   who is in the inner loop? with too few of them, go to REFILL
            who is not waits in MEET
    INNER:  <some turns in a row; behind the last one to MEET>
    REFILL: lanes in the inner loop wait in ANEW; the others go on where they were,
    OUTER:  <at the beginning of an iteration>
            <with an inner loop to run, to ANEW>
            <or where they left the inner loop: the rest of the iteration>
            @%more bra OUTER;
            <no iteration is left: remember the way out, and wait in ANEW>
    AFTER:

The snippets are those of flattened_loop.py. ``flatten`` does so as soon as one lane has left the
inner loop. ``refill(k)`` waits until k members have nothing to do in it, or all: so the code around
it is run by more lanes, and less often. With ``counter(k)`` the lanes of all warps of the launch
take their iterations from one counter.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, ClassVar

from ccc.analysis.facts import Facts
from ccc.analysis.likeness import go_round_alike
from ccc.analysis.paths.find import find_paths
from ccc.analysis.paths.iteration_space import IterationSpace, find_iteration_space
from ccc.analysis.paths.locate import INNER_LOOPS, annotated_loops, extent, is_no_loop, located
from ccc.analysis.paths.model import FoundLoop, FoundPath, LeftPath, Path, PathKey, Refused
from ccc.analysis.paths.nests import Nest, find_nest
from ccc.ir.markers import ARMS
from ccc.ir.nodes import Block, MarkerNote
from ccc.options import Request
from ccc.passes.choice.before import (
    counted,
    details,
    flattening,
    flattening_at_worst,
    said_or_guessed,
)
from ccc.passes.choice.work import work_of_blocks
from ccc.passes.flattening.flattened_loop import FlattenedLoop
from ccc.passes.flattening.grid_space import find_grid_space
from ccc.passes.grid_stride.task_counter import CounterTable
from ccc.passes.strategies.leave import LEAVE
from ccc.passes.strategies.registry import COUNTER, FLATTENING
from ccc.passes.thresholds import COUNTER_LANES, COUNTER_ROUNDS, FLATTEN_GAIN, LOSS
from ccc.pipeline import Kernel, Pass, PathRecord

IN_FLATTENED = (
    "it lies in a loop that was flattened, whose lanes do not end an iteration together any more"
)
AROUND_FLATTENED = (
    "it holds a loop that was flattened, whose lanes do not end an iteration together any more"
)
IN_ITSELF = "it lies in the very loop that was flattened, whose turns lanes take in any iteration"
HOLDS_FLATTENED = (
    "its annotated loop holds a loop that was flattened, in which lanes wait for one another"
)

OTHERS = (*ARMS, "variable")
"""Paths that are left if a loop is flattened around them, or of them, and that may gain more."""
BESIDE = "a branch beside it in its annotated loop can be collected, and would be left alone"


class Flattening(Pass):
    """Let lanes begin iterations by themselves where ``flatten`` or ``refill`` is asked for."""

    name: ClassVar[str] = "flattening"

    def run(self, kernel: Kernel) -> None:
        """Do so, one loop after the other, outer ones first."""
        if kernel.function.kind != "entry":
            return
        looked_at: set[PathKey] = set()
        while (path := _next_wanted(kernel, looked_at)) is not None:
            looked_at.add(path.key)
            request = _wanted(kernel, path)
            assert request is not None
            record = _record(kernel, path)
            try:
                nest = find_nest(path, kernel.facts)
                if _request(kernel, path) is None:
                    choice = _choice(nest, path, request, kernel)
                    if choice is None:
                        continue
                    record.choice = choice
                elif not request.insists and _holds_branch(kernel, nest):
                    kernel.announced.add(path.marker)
                    raise Refused(BESIDE)
                space, table, pooled = _pooled(nest, request, kernel)
            except Refused as refusal:
                if _request(kernel, path) is not None:
                    _decline(kernel, path, str(refusal))
            else:
                _leave_others(kernel, path, nest)
                idle, least = request.number or 1, 0 if _request(kernel, path) else COUNTER_ROUNDS
                loop = FlattenedLoop(kernel, path.marker.span, nest, idle, space, table, least)
                loop.rewrite()
                kernel.declarations += [table.declaration()] if table else []
                record.apply(str(request), {"turns": loop.turns, **pooled})
                kernel.settled.append(record)


def _next_wanted(kernel: Kernel, looked_at: Collection[PathKey]) -> FoundPath | None:
    """A path for which it is asked, and that was not looked at yet."""
    wanted = (path for path in located(kernel.facts) if _wanted(kernel, path) is not None)
    return next((path for path in wanted if path.key not in looked_at), None)


def _wanted(kernel: Kernel, path: FoundPath) -> Request | None:
    """What is asked for; where nothing is, what may be chosen: ``counter`` for a ``while`` whose
    iterations are tasks, and ``flatten``, where a profile has seen the loop, for one whose
    iterations are none, so that its turns cannot be collected."""
    request = _request(kernel, path)
    around = [one.marker for one in _annotated_around(path.entry, kernel.facts)]
    if request is not None or kernel.request(path, *around[:1]) is not None:
        return request
    loops = (loop for loop in kernel.facts.loops if path.entry in loop.blocks)
    outer = next((loop for loop in loops if loop.header != path.entry), None)
    if not path.repeats or outer is None:
        return None
    if outer.header in {one.loop.header for one in annotated_loops(kernel.facts)}:
        return Request(COUNTER, COUNTER_LANES) if path.marker.kind == "while" else None
    return Request(FLATTENING[0]) if kernel.known(path) is not None else None


def _request(kernel: Kernel, path: FoundPath) -> Request | None:
    """What is asked for, if it is one of these strategies."""
    around = [one.marker for one in _annotated_around(path.entry, kernel.facts)]
    request = kernel.request(path, *around[:1])
    return request if request is not None and request.name in FLATTENING else None


def _choice(nest: Nest, path: FoundPath, request: Request, kernel: Kernel) -> dict[str, Any] | None:
    """What the report says of a loop that is to be flattened though nobody asks for that; None of
    one that is not.

    A profile has to speak for it. A counter of the launch is taken without one, too, where little
    can be lost, and something may be gained: turns are long, no iteration is without one, and
    nothing says that lanes go round as often.
    """
    lanes, facts, pooled = counted([path], kernel), kernel.facts, request.name == COUNTER
    if lanes and flattening(nest, lanes[0], kernel, pooled=pooled) < FLATTEN_GAIN:
        return None
    if pooled:
        always = all(facts.dominators.dominates(path.entry, one) for one in nest.outer.latches)
        agree = go_round_alike(nest.inner, facts)
        if not always or flattening_at_worst(nest, kernel) < LOSS or (agree and not lanes):
            return None
    if _holds_more(kernel, path, nest, ARMS if pooled else OTHERS):
        return None
    turn = work_of_blocks(nest.inner.blocks, facts, nest.inner.header, nest.inner.header)
    lanes = lanes or [said_or_guessed(path)]
    expected = flattening(nest, lanes[0], kernel, pooled=pooled)
    at_worst = flattening_at_worst(nest, kernel)
    return details(str(request), expected, lanes, turn.instructions, at_worst)


def _annotated_around(label: str, facts: Facts) -> list[FoundLoop]:
    """The annotated loops around a block, the innermost first."""
    around = (one for one in facts.once(_every_annotated, facts.entry) if label in one.loop.blocks)
    return sorted(around, key=lambda one: len(one.loop.blocks))


def _every_annotated(_entry: str, facts: Facts) -> list[FoundLoop]:
    """All of them, looked for once for the hundreds of paths that a kernel may have."""
    return annotated_loops(facts)


def _pooled(
    nest: Nest, request: Request, kernel: Kernel
) -> tuple[IterationSpace | None, CounterTable | None, dict[str, Any]]:
    """The iterations that idle lanes take from one pool, if they do; a counter for the pool of all
    warps; and what the report says.

    Raises:
        Refused: they shall take them from a counter, and cannot.
    """
    if request.name == COUNTER:
        if _is_over_blocks(_annotated(nest, kernel.facts), kernel):
            raise Refused(
                'the loop around it is that over the blocks of a kernel marked "ccc grid_stride", '
                'and a counter of the launch is for a "ccc for"; ask for refill(k), or write the '
                'loop yourself, and mark it "ccc for"'
            )
        space = find_grid_space(_annotated(nest, kernel.facts), kernel)
        name = kernel.function.names.free(f"ccc_counters_{kernel.function.name}")
        return space, CounterTable(name, 1), {"pooled": True, "pooled_reason": None}
    try:
        if request.name == FLATTENING[0]:
            raise Refused("flatten lets each lane keep its own iterations")
        space = find_iteration_space(_annotated(nest, kernel.facts), kernel.facts)
    except Refused as refusal:
        return None, None, {"pooled": False, "pooled_reason": str(refusal)}
    return space, None, {"pooled": True, "pooled_reason": None}


def _annotated(nest: Nest, facts: Facts) -> FoundLoop:
    """The loop around it as an annotated one.

    Raises:
        Refused: it is not annotated.
    """
    (around, *_) = [*_annotated_around(nest.outer.header, facts), None]
    if around is None or around.loop.header != nest.outer.header:
        raise Refused(
            'the loop around it is not annotated "ccc for", so its iterations may be dependent'
        )
    return around


def _is_over_blocks(annotated: FoundLoop, kernel: Kernel) -> bool:
    """Whether an annotated loop is none of the user's."""
    return any(one.marker.span == annotated.marker.span for one in kernel.annotations)


def _holds_branch(kernel: Kernel, nest: Nest) -> bool:
    """Whether a branch that can be collected stands beside the inner loop, and would be left."""
    beside = nest.outer.blocks - nest.inner.blocks
    return any(
        isinstance(path, Path)
        and path.marker.kind in ARMS
        and path.entry in beside
        and str(kernel.request_of(path)) != LEAVE.name
        for path in _paths(kernel)
    )


def _holds_more(kernel: Kernel, path: FoundPath, nest: Nest, kinds: Collection[str]) -> bool:
    """Whether another path of such kinds can be collected in the loops, or is the outer one, or
    something is asked for a path of them: all that would be left."""

    def counts(other: Path | LeftPath) -> bool:
        request = kernel.request_of(other)
        if other.key == path.key or other.entry not in nest.outer.blocks:
            return False
        if request is not None:
            return request.name != LEAVE.name
        return isinstance(other, Path) and other.marker.kind in kinds

    return any(map(counts, _paths(kernel)))


def _paths(kernel: Kernel) -> Sequence[Path | LeftPath]:
    """All paths of the kernel as it is now; each copy of a nest asks for them."""
    return kernel.facts.once(_paths_of, kernel.facts.entry)


def _paths_of(_: str, facts: Facts) -> Sequence[Path | LeftPath]:
    return find_paths(facts)


def _decline(kernel: Kernel, path: FoundPath, reason: str) -> None:
    """Say why it is not done; another strategy takes its place only in an annotated loop."""
    kernel.decline(path.marker, reason)
    if path.repeats and not _annotated_around(path.entry, kernel.facts):
        said = {(record.marker, record.reason) for record in kernel.settled}
        if (path.marker, reason) not in said:
            kernel.settled.append(_record(kernel, path, reason))
        for label in _own_blocks(path, kernel.facts):
            _remove_markers(kernel.facts.blocks[label])


def _own_blocks(path: FoundPath, facts: Facts) -> frozenset[str]:
    """Where the markers of an inner loop may stand: not in another one inside it."""
    own = next((loop for loop in facts.loops if loop.header == path.entry), None)
    if own is None or isinstance(path, LeftPath):
        return frozenset({path.entry})
    inside = (loop.blocks for loop in facts.loops if loop.blocks < own.blocks)
    return own.blocks.difference(*inside)


def _leave_others(kernel: Kernel, path: FoundPath, nest: Nest) -> None:
    """Say of the other paths of these loops, and of those around, why they are left."""
    facts = kernel.facts
    around = [one.loop.blocks for one in _annotated_around(nest.outer.header, facts)]
    concerned = nest.outer.blocks.union(*around)
    line = f" (that on line {path.marker.span.line})"
    of_loop = line.replace("that", "for the loop")
    for other in located(facts):
        if other.entry not in concerned or other.key == path.key or _is_first_turn(other, path):
            continue
        if other.entry in nest.inner.blocks:
            left = _record(kernel, other, reason=IN_ITSELF + line)
        elif other.entry in nest.outer.blocks:
            if nest.inner.blocks <= extent(other, facts):
                left = _record(kernel, other, reason=AROUND_FLATTENED + line)
            else:
                left = _record(kernel, other, reason=IN_FLATTENED + of_loop)
        else:
            left = _record(kernel, other, reason=HOLDS_FLATTENED + line)
        request = kernel.request_of(left.path)
        if request is not None and request.name == LEAVE.name:
            left.leave(LEAVE.name)
        elif "strategy" not in other.marker.clauses and left.reason:
            left.leave_alone(left.reason)  # nobody asked for it, and the loop is served
        kernel.settled.append(left)
    for label in concerned:
        _remove_markers(facts.blocks[label])


def _is_first_turn(other: FoundPath, path: FoundPath) -> bool:
    """Whether it is a turn that nvcc took out of the loop ``path``."""
    return is_no_loop(other) and other.marker.identifier == path.marker.identifier


def _record(kernel: Kernel, path: FoundPath, reason: str = "") -> PathRecord:
    """The record of a path that nobody else shall find."""
    loop = next(iter(_annotated_around(path.entry, kernel.facts)), None)
    left = LeftPath(path.marker, path.entry, path.repeats, reason, loop)
    record = PathRecord(kernel.function.name, left)
    if reason:
        record.reason = reason
    return record


def _remove_markers(block: Block) -> None:
    """Take the markers of paths out of a block."""
    block.statements = [
        one
        for one in block.statements
        if not (isinstance(one, MarkerNote) and one.marker.kind in (*ARMS, *INNER_LOOPS))
    ]
