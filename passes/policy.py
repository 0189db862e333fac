"""The policy: what is done with the paths of a kernel; its thresholds are in ``thresholds.py``.

No pass; context collection asks it. It decides for all loops of a kernel at once, before any of
them is rewritten or a register given out (:func:`decide`): which strategies can serve a loop, those
that are asked for or chosen (:mod:`ccc.passes.choice`) first, what serves the paths that repeat,
and whose long tasks are shared out. Where in a warp's share of shared memory the stacks of a loop
may begin is known when the loops around it have been rewritten; the first of its strategies that
fits there is taken then, before the loop's registers are given out (:func:`settle`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ccc.analysis.facts import Facts
from ccc.analysis.paths.induction import find_counter
from ccc.analysis.paths.model import AnnotatedLoop, Path
from ccc.analysis.paths.split_iteration import ReturningPath, returning
from ccc.ir.markers import Marker
from ccc.options import Request
from ccc.passes.context_collection.layout import on_paper
from ccc.passes.launch_shape import (
    is_block_size_known,
    stack_warps,
    static_room,
)
from ccc.passes.room import first_without_room, no_room, resident, room_of, why_no_stacks
from ccc.passes.strategies.engage import NOT_ALONE, is_of_others
from ccc.passes.strategies.leave import LEAVE
from ccc.passes.strategies.merge import merging
from ccc.passes.strategies.strategy import (
    Choice,
    Collectable,
    Decision,
    Hints,
    LoopStrategy,
    PathDecision,
    PathStrategy,
    Serving,
    Strategy,
    context_words,
    instruction_count,
    run_slots,
)
from ccc.passes.thresholds import (
    BATCH_LENGTH,
    BATCH_REGISTERS,
    EARLY_PROB,
    LAST_LENGTH,
    MANY,
    MOST_TURNS,
    MOST_TURNS_APART,
    ON_REQUEST,
    SHORT_LOOP_LENGTH,
    TURNS_LENGTH,
)
from ccc.pipeline import Kernel, PathRecord

REPEATING = "merge"
"""What serves paths that repeat, whatever serves the others: a task comes back after some turns,
and in a queue all of them would go over the stack each time. Not measured."""
ADAPTIVE = "adaptive"
"""What weighs a loop as a kernel runs; the policy does not take it by itself yet."""


RETURNS = "the tasks of a loop come back after some turns, and are merged"
OTHERS = "another path of its loop asks for another strategy"
IN_SHARED = (
    "it lies in a loop whose turns are all shared out among lanes, and is a branch there as any "
    "other"
)
HANDED_TO_SHARED = (
    "its tasks would go on in another loop of the iteration, whose turns are all shared out among "
    "lanes"
)
NEEDS_LEFT = (
    "the loop around it, or one that its tasks come to, is left as it was, and would have to be "
    "collected with it"
)
ASK_THERE = "; ask for a strategy there, too"
KEPT = "its tasks stay with their lanes, which go round together"


def decide(
    loops: Sequence[tuple[AnnotatedLoop, Sequence[Collectable]]],
    kernel: Kernel,
    strategies: Sequence[LoopStrategy],
    sharing: PathStrategy,
    shared: Sequence[PathStrategy],
) -> tuple[Decision, ...]:
    """Decide what is done with the loops of a kernel, and say of which paths what is asked for
    does not apply to them.

    Args:
        loops: the loops with their paths, in the order in which they are served.
        kernel: the kernel.
        strategies: those that collect, from the one that is preferred on.
        sharing: what shares out long tasks.
        shared: what serves a loop in an iteration where that is asked for.

    Returns:
        A decision for each loop.
    """
    deciding = _Deciding(kernel, strategies, sharing, shared)
    return tuple(deciding.of_loop(loop, mine) for loop, mine in loops)


@dataclass(frozen=True, slots=True)
class _Deciding:
    """What can be done, for ``decide``, which says what these are."""

    kernel: Kernel
    strategies: Sequence[LoopStrategy]
    sharing: PathStrategy
    shared: Sequence[PathStrategy]

    def of_loop(self, loop: AnnotatedLoop, mine: Sequence[Collectable]) -> Decision:
        """What is done with a loop and its paths."""
        kernel, strategies = self.kernel, self.strategies
        wishes = {str(kernel.wanted(one.path)) for one in mine if not one.path.repeats}
        found = tuple(self._of_path(one, mine, len(wishes) > 1) for one in mine)
        paths = _without_branches_of_turns(found)
        every = [one.path for one in paths]
        asked = _asked(paths, strategies, kernel)
        if any(strategy.returns for strategy in asked):
            paths = tuple(replace(one, returning=_returning(one.path, kernel)) for one in paths)
        preferred = _preferred(every, kernel.facts, strategies)
        if any(path.stays for path in every):
            keeping = tuple(one for one in asked if one.returns)
            return Decision(loop, tuple(replace(one, own=None) for one in paths), keeping)
        if any(one.own and not one.path.repeats and not one.path.carries_parent for one in paths):
            preferred = tuple(one for one in strategies if one.mixes)
            _decline_others(paths, asked, kernel)
            asked = []
        return Decision(loop, paths, tuple(dict.fromkeys((*asked, *preferred))))

    def _of_path(self, one: Collectable, mine: Sequence[Collectable], differ: bool) -> PathDecision:
        """What is done with one path; ``differ``: the wishes for the branches of the loop do."""
        kernel, path, request = self.kernel, one.path, self.kernel.wanted(one.path)
        inside = [other.path for other in mine if other.path.parent is path]
        named = {strategy.name: strategy for strategy in self.strategies}
        asked = named.get(str(request)) if differ else None
        own: Serving | None = asked if asked and asked.mixes else None
        by = self.sharing
        if path.repeats:
            others = len(mine) > len(inside) + 1
            whole = _shared_by([path, *inside], request, self.shared, kernel, others)
            whole = None if _takes_tasks(path, mine, kernel) else whole
            own, by = whole or named[REPEATING], whole or self.sharing
        if path.carries_parent:
            own = merging(path, [other.path for other in mine])
        engage = by.of(path, kernel.facts)
        turns = 1 if engage and engage.shares_all else turns_of(path, kernel.facts)
        why_not = None if engage else by.applies([path, *inside], kernel.facts) or KEPT
        hints, last_apart = Hints.of(path.marker), _is_short(path, kernel.facts)
        counter = find_counter(path, kernel.facts) if turns > 1 and path.repeats else None
        return PathDecision(
            one.record, path, hints, own, engage, turns, request, why_not, last_apart, counter
        )


def _returning(path: Path, kernel: Kernel) -> ReturningPath:
    """The path without the rest of its iteration, with as short a context as others have."""
    found = returning(path, kernel.facts)
    for refine in kernel.refinements:
        found = replace(found, path=refine(found.path, kernel.facts))
    return found


def _shared_by(
    paths: Sequence[Path],
    request: Request | None,
    shared: Sequence[PathStrategy],
    kernel: Kernel,
    others: bool,
) -> PathStrategy | None:
    """What serves a path that others lie in, if that is asked for and applies; there may be
    ``others`` in its loop."""
    wanted = next((one for one in shared if one.name == str(request)), None)
    reason = wanted.applies(paths, kernel.facts) if wanted else None
    if reason is None and wanted and wanted.alone and others:
        reason = NOT_ALONE
    if reason is not None:
        kernel.decline(paths[0].marker, reason)
    return None if reason is not None else wanted


def _takes_tasks(path: Path, beside: Sequence[Collectable], kernel: Kernel) -> bool:
    """Whether a loop cannot be shared out since tasks of another loop come to it; says why."""
    comes = any(one.path.leads_to(path) for one in beside)
    reason = is_of_others(path, kernel.facts, in_tasks=True) if comes else None
    if reason is not None:
        kernel.decline(path.marker, reason)
    return reason is not None


def _without_branches_of_turns(paths: tuple[PathDecision, ...]) -> tuple[PathDecision, ...]:
    """Without those inside loops all of whose turns are shared out."""
    loops = [one.path for one in paths if one.engage is not None and one.engage.shares_all]
    inside = [
        one
        for one in paths
        if any(one.path.entry in loop.blocks for loop in loops if loop is not one.path)
    ]
    for one in inside:
        if one.request is not None and one.request.insists:
            one.record.reason = IN_SHARED
        else:
            one.record.leave_alone(IN_SHARED)
    return tuple(one for one in paths if one not in inside)


def _asked(
    paths: Sequence[PathDecision], strategies: Sequence[LoopStrategy], kernel: Kernel
) -> list[LoopStrategy]:
    """What is asked for and can serve the loop; of the rest it is said why it does not."""
    every = [one.path for one in paths]
    found = []
    for one in sorted(paths, key=lambda one: one.path.repeats):  # those have what serves them
        reason = None
        able = []
        wanted = [strategy for strategy in strategies if is_asked(one.request, strategy)]
        for strategy in wanted:
            reason = strategy.applies(every, kernel.facts)
            comes_back = one.path.repeats or one.path.carries_parent
            if strategy.mixes and comes_back and strategy.name != REPEATING:
                reason = RETURNS
            if reason is None:
                able.append(strategy)
        if wanted and not able and reason is not None:
            kernel.decline(one.path.marker, reason)
        some = len(wanted) > 1
        found += [s for s in able if not some or batches_pay(s, every, kernel.facts)]
    return found


def is_asked(request: Request | None, strategy: Strategy) -> bool:
    """Whether a request, which may leave out the number, means a strategy."""
    name, _, number = strategy.name.partition("(")
    return str(request) in ((strategy.name, name) if number else (strategy.name,))


def _is_short(path: Path, facts: Facts) -> bool:
    """Whether a copy of what its tasks run costs little."""
    return run_slots([path], facts, as_tasks=True) <= LAST_LENGTH


def leave_with_another(record: PathRecord, kernel: Kernel) -> None:
    """Say that a path is left with another one, which is no news but to who asked for it, if that
    could be done there."""
    request = kernel.request_of(record.path)
    if request is not None and request.insists and not kernel.why_declined(record.marker):
        record.reason = NEEDS_LEFT + ASK_THERE
    else:
        record.leave_alone(NEEDS_LEFT)


def turns_of(path: Path, facts: Facts) -> int:
    """How many turns a task does before members meet."""
    return turns_in_a_row(run_slots([path], facts, as_tasks=False))


def turns_in_a_row(length: int) -> int:
    """How many turns of so many instructions a task does before members meet."""
    return max(1, min(MOST_TURNS, TURNS_LENGTH // max(1, length)))


def turns_apart(length: int) -> int:
    """The same of lanes that begin iterations each by itself."""
    return max(1, min(MOST_TURNS_APART, TURNS_LENGTH // max(1, length)))


def _decline_others(
    paths: Sequence[PathDecision], asked: Sequence[LoopStrategy], kernel: Kernel
) -> None:
    """Say that what serves whole loops is not taken where each path asks for something else."""
    whole = [strategy for strategy in asked if not strategy.mixes]
    for one in paths:
        if any(is_asked(one.request, strategy) for strategy in whole):
            kernel.decline(one.path.marker, OTHERS)


def _preferred(
    paths: Sequence[Path], facts: Facts, strategies: Sequence[LoopStrategy]
) -> tuple[LoopStrategy, ...]:
    """The strategies that may serve the paths of a loop where nothing is asked for.

    None that gives back what tasks make: where that pays was measured with two kernels only
    (docs/strategies.md).
    """
    known = (one for one in strategies if not one.returns and not _is_on_request(one))
    wanted = (one for one in known if not one.name.startswith(ADAPTIVE))
    possible = [one for one in wanted if one.applies(paths, facts) is None]
    if len(paths) < MANY:
        possible = [one for one in possible if not one.together]
    return tuple(one for one in possible if batches_pay(one, paths, facts))


def _is_on_request(strategy: LoopStrategy) -> bool:
    """Whether it is taken only where it is asked for, with whatever number."""
    return strategy.name.partition("(")[0] in ON_REQUEST


def early_loads_wanted(marker: Marker) -> bool:
    """Whether enough lanes take a path for its loads to be made where they come to it.

    Of an ``else`` nothing is known: ``prob`` is the share of the ``if``.
    """
    prob = Hints.of(marker).prob
    return marker.kind != "else" and prob is not None and prob >= EARLY_PROB


def early_loads_pay(
    before: Path, after: Sequence[Path], kernel: Kernel, strategies: Sequence[LoopStrategy]
) -> bool:
    """Whether a path may begin behind its loads, and save what they gave.

    Args:
        before: the path as it is.
        after: as it would be, and the other paths of its loop.
        kernel: the kernel as it would be.
        strategies: those that collect, from the one that is preferred on.
    """
    if any(path.stays for path in after) or context_words(after[0]) > context_words(before):
        return False
    request = kernel.request_of(after[0])
    able = [one for one in strategies if one.applies(after, kernel.facts) is None]
    wanted = [one for one in able if is_asked(request, one)]
    first = (*wanted, *_preferred(after, kernel.facts, strategies))[0]
    return first.iterations > 1


def batches_pay(strategy: LoopStrategy, paths: Sequence[Path], facts: Facts) -> bool:
    """Whether as many iterations as the strategy runs in a row are few enough for that."""
    copies = strategy.iterations - 1
    if copies == 0:
        return True
    (path,) = paths
    around = path.loop.loop.blocks - path.blocks
    length = instruction_count(around, facts)
    words = context_words(path)
    return copies * words <= BATCH_REGISTERS and strategy.iterations * length <= BATCH_LENGTH


def may_lack_stacks(paths: Sequence[Path], kernel: Kernel) -> bool:
    """Whether blocks that are larger than usual may run loops as they were: nobody says how large
    blocks are, and the loops are not too long to be there twice."""
    return not is_block_size_known(kernel) and all(
        instruction_count(path.loop.loop.blocks, kernel.facts) <= SHORT_LOOP_LENGTH
        for path in paths
    )


def lacks_room(decision: Decision, kernel: Kernel) -> bool:
    """Whether what is asked for in a loop, or all that is possible, takes too much memory if every
    warp of the largest block has a stack."""
    asked = {str(path.request) for path in decision.paths}
    named = [one for one in decision.strategies if one.name in asked]
    choices = [Choice(decision, one, 0) for one in named or decision.strategies]
    return bool(choices) and all(on_paper(one).share > room_of(kernel) for one in choices)


def settle(decision: Decision, kernel: Kernel, start: int, alone: bool = True) -> Choice:
    """Take the first strategy whose stacks fit in static shared memory, or in dynamic where it is
    asked for; else, in dynamic, the first of those that leave most blocks resident.

    Args:
        decision: of the loop.
        kernel: the kernel; its block size and its own shared memory count.
        start: the first byte of a warp's share that is free for the loop.
        alone: whether no lanes may be in another annotated loop at the same time; where they may,
            its stacks need room, too, and batches are not tried.

    Returns:
        The choice; where nothing fits, that is to leave what does not when those paths get stacks
        first that should, with the reason. So are paths left that only a strategy can serve that no
        longer applies, since one beside them was left.
    """
    reason = why_no_stacks(kernel)
    if reason is not None:
        reasons = tuple((path.record, reason) for path in decision.paths)
        return Choice(decision, LEAVE, start, reasons)
    if not decision.strategies:
        staying = tuple((one.record, one.path.stays) for one in decision.paths if one.path.stays)
        return Choice(decision, LEAVE, start, staying)
    room, static = room_of(kernel), max(static_room(kernel), 0) // stack_warps(kernel)
    asked = {str(path.request) for path in decision.paths}
    strategies = [
        one for one in decision.strategies if alone or one.iterations == 1 or one.name in asked
    ]
    layouts = [on_paper(Choice(decision, one, start)) for one in strategies]
    for strategy, layout in zip(strategies, layouts, strict=True):
        asking = [
            one.path.marker
            for one in decision.paths
            if is_asked(one.request, strategy) and one.served_by(strategy) is strategy
        ]
        if layout.share <= (room if asking else static):
            for marker in asking:
                kernel.declined.pop((marker, marker.line), None)
            return Choice(decision, strategy, start)
        for marker in asking:
            kernel.decline(marker, no_room(kernel, layout.share))
    able = [one for one in zip(strategies, layouts, strict=True) if one[1].share <= room]
    if able:
        strategy, _ = max(able, key=lambda one: resident(kernel, one[1].share))
        return Choice(decision, strategy, start)
    smallest, _ = min(zip(strategies, layouts, strict=True), key=lambda one: one[1].share)
    left = first_without_room(Choice(decision, smallest, start), kernel, room)
    return Choice(decision, LEAVE, start, (left,))
