"""The policy: what is done with the paths of a kernel, and every threshold that this rests on.

No pass; context collection asks it. It decides for all loops of a kernel at once, before any of
them is rewritten or a register given out (:func:`decide`): which strategies can serve a loop, from
the one that is preferred on, what serves the paths that repeat, and whose long tasks are shared
out. Where in a warp's share of shared memory the stacks of a loop may begin is known when the loops
around it have been rewritten; the first of its strategies that fits there is taken then, before the
loop's registers are given out (:func:`settle`).

What the user said of a path, ``prob`` and ``priority``, comes with it. It does not change the
choice: neither does the cost that strategies tell, since no measurement ties it to time yet.

One number of the kind stands elsewhere: what an owner may compute again for its next iteration,
``CHEAP_SLICE`` in ``analysis/paths/continuation.py``, since it says what can be collected at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import AnnotatedLoop, Path, instructions_of
from ccc.options import Request
from ccc.passes.context_collection.layout import Layout, Plan, on_paper
from ccc.passes.launch_shape import known_block_size, shared_bytes
from ccc.passes.strategies.leave import LEAVE
from ccc.passes.strategies.strategy import (
    Choice,
    Collectable,
    Decision,
    Hints,
    LoopStrategy,
    PathDecision,
    PathStrategy,
    Serving,
    context_words,
    run_slots,
)
from ccc.pipeline import Kernel, PathRecord
from ccc.ptx.opcodes import Unit
from ccc.ptx.types import WARP_SIZE

MANY = 4
"""From so many paths on, a strategy that serves them together is tried before
sequential ones. It rests on two kernels only (H200, 2026-11-20): two arms were 1.6 times as fast as
the original in sequence, 1.4 times together; the ten cases of samples/fractal_flame (its size for a
GPU, ``ccc compare``) 0.8 and 1.1 times."""
REPEATING = "merge"
"""What serves paths that repeat, whatever serves the others: a task comes back after some turns,
and in a queue all of them would go over the stack each time. Not measured."""
LONG = 16
"""Turns from which on a task is shared out. On an H200, breadth-first search of an R-MAT graph of
2^20 vertices was 6.7, 6.3, 6.0 and 5.3 times as fast with 16, 32, 64 and 128 (2026-11-20)."""
LONG_PATH = 32
"""Instructions from which on a path in a shared loop is collected; with a loop, it always is. On an
H200, collecting a branch that 8 lanes take one by one paid from 34 operations on (2026-11-20)."""
MOST_TURNS = 8
"""Turns of a short loop that a task does before lanes meet, at most."""
TURNS_LENGTH = 160
"""Instructions in so many turns, about; one turn at least. On an H200 (2026-11-22), ratios original
/ ccc with 1, 2, 4, 8 and 16 turns, best grid of each: Collatz (4 instructions a turn, 4 million
tasks) 1.05, 1.29, 1.47, 1.61, 1.65; escape time of random points (8, at most 256 turns) 1.67, 2.16,
2.55, 2.68, 2.72; 14 instructions, geometric turns with mean 3: 0.89, 0.94, 0.95, 0.85, 0.82, with
mean 40: 0.90, 1.10, 1.32, 1.53, 1.60; 44 instructions, mean 3: 1.27, 1.33, 1.26, 1.00, 0.90, mean
40: 1.75, 1.96, 2.18, 2.34, 2.30."""
AT_ONCE = 8
"""Turns of joined lists that a lane runs side by side, at most. Ratios original / ccc with 1, 2, 4
and 8 on an H200 (2026-11-22), R-MAT graphs of 2^21 and 2^20 vertices: samples/bfs 6.05, 8.02, 9.26,
9.47; samples/sssp 1.78, 2.31, 2.39, 2.52; and with what is left of 8 two by two 1.02 and 1.01 times
that."""
AT_ONCE_LENGTH = 120
"""Instructions of all of them, at most. Not measured."""
BATCH_REGISTERS = 8
"""Registers that the further tasks of a batch take, at most. On an H200 (2026-11-22), original /
ccc one by one, in batches of 3 and of 7: samples/synthetic (one word a task), 20 operations, 1 lane
0.95, 1.42, 1.56; 8 lanes 0.79, 1.07, 1.16; 32 lanes 0.48, 0.56, 0.58; 256 operations, 1 lane 5.48,
7.05, 7.36; 32 lanes 0.85, 0.88, 0.89 (15: less than 7 in each case). integral_equation (six words):
1.61, 1.66, 1.32; ray_tracing (six): 1.00, 0.82, 0.62. What lies between was not measured."""
BATCH_LENGTH = 160
"""Instructions of all iterations of a batch without their path, at most. Not measured."""
INSTRUCTIONS_A_WORD = 3
"""Most instructions that one word less on the stack is worth: a store, a load, and its address. Not
measured."""

RETURNS = "the tasks of a loop come back after some turns, and are merged"
OTHERS = "another path of its loop asks for another strategy"
IN_SHARED = (
    "it lies in a loop whose turns are all shared out among lanes, and is a branch there as any "
    "other"
)
NO_ROOM = "its stacks do not fit into shared memory"

DYNAMIC = (
    "the kernel has dynamic shared memory, and with the stack it might be more than a launch gets; "
    "say with --ccc-dynamic-shared=N how many bytes a launch asks for at most"
)


def decide(
    loops: Sequence[tuple[AnnotatedLoop, Sequence[Collectable]]],
    kernel: Kernel,
    strategies: Sequence[LoopStrategy],
    on_request: Sequence[LoopStrategy],
    sharing: PathStrategy,
    shared: Sequence[PathStrategy],
) -> tuple[Decision, ...]:
    """Decide what is done with the loops of a kernel, and say of which paths what is asked for
    does not apply to them.

    Args:
        loops: the loops with their paths, in the order in which they are served.
        kernel: the kernel.
        strategies: those that collect, from the one that is preferred on.
        on_request: those that are only taken where that is asked for.
        sharing: what shares out long tasks.
        shared: what shares out all tasks of a path where that is asked for.

    Returns:
        A decision for each loop.
    """
    named = {strategy.name: strategy for strategy in (*strategies, *on_request)}

    def of_path(one: Collectable, differ: bool) -> PathDecision:
        path, request = one.path, kernel.request_of(one.path)
        asked = named.get(str(request)) if differ else None
        own: Serving | None = asked if asked and asked.mixes else None
        by = sharing
        if path.repeats:
            whole = _shared_by(path, request, shared, kernel)
            own, by = whole or named[REPEATING], whole or sharing
        engage = by.of(path, kernel.facts)
        turns = 1 if engage and engage.shares_all else _turns(path, kernel.facts)
        why_not = by.applies([path], kernel.facts)
        hints = Hints.of(path.marker)
        return PathDecision(one.record, path, hints, own, engage, turns, request, why_not)

    def of_loop(loop: AnnotatedLoop, mine: Sequence[Collectable]) -> Decision:
        wishes = {str(kernel.request_of(one.path)) for one in mine if not one.path.repeats}
        paths = _without_branches_of_turns(tuple(of_path(one, len(wishes) > 1) for one in mine))
        every = [one.path for one in paths]
        asked = _asked(paths, named, kernel)
        preferred = _preferred(every, kernel.facts, strategies)
        if any(one.own and not one.path.repeats for one in paths):
            preferred = tuple(one for one in strategies if one.mixes)
            _decline_others(paths, asked, kernel)
            asked = []
        return Decision(loop, paths, tuple(dict.fromkeys((*asked, *preferred))))

    return tuple(of_loop(loop, mine) for loop, mine in loops)


def _shared_by(
    path: Path, request: Request | None, shared: Sequence[PathStrategy], kernel: Kernel
) -> PathStrategy | None:
    """What shares out all tasks of a path, if that is asked for and applies."""
    wanted = next((one for one in shared if one.name == str(request)), None)
    reason = wanted.applies([path], kernel.facts) if wanted else None
    if reason is not None:
        kernel.decline(path.marker, reason)
    return None if reason is not None else wanted


def _without_branches_of_turns(paths: tuple[PathDecision, ...]) -> tuple[PathDecision, ...]:
    """Without those inside loops all of whose turns are shared out."""
    loops = [one.path for one in paths if one.engage is not None and one.engage.shares_all]
    inside = [
        one
        for one in paths
        if any(one.path.entry in loop.blocks for loop in loops if loop is not one.path)
    ]
    for one in inside:
        one.record.reason = IN_SHARED
    return tuple(one for one in paths if one not in inside)


def _asked(
    paths: Sequence[PathDecision], named: Mapping[str, LoopStrategy], kernel: Kernel
) -> list[LoopStrategy]:
    """What is asked for and can serve the loop; of the rest it is said why it does not."""
    every = [one.path for one in paths]
    found = []
    for one in paths:
        strategy = named.get(str(one.request))
        if strategy is None:
            continue  # nothing is asked for, or what was asked for has declined before
        reason = strategy.applies(every, kernel.facts)
        if strategy.mixes and one.path.repeats and strategy.name != REPEATING:
            reason = RETURNS
        if reason is None:
            found.append(strategy)
        else:
            kernel.decline(one.path.marker, reason)
    return found


def _turns(path: Path, facts: Facts) -> int:
    """How many turns a task does before members meet."""
    length = run_slots([path], facts, as_tasks=False)
    return max(1, min(MOST_TURNS, TURNS_LENGTH // max(1, length)))


def _decline_others(
    paths: Sequence[PathDecision], asked: Sequence[LoopStrategy], kernel: Kernel
) -> None:
    """Say that what serves whole loops is not taken where each path asks for something else."""
    names = {strategy.name for strategy in asked if not strategy.mixes}
    for one in paths:
        if str(one.request) in names:
            kernel.decline(one.path.marker, OTHERS)


def _preferred(
    paths: Sequence[Path], facts: Facts, strategies: Sequence[LoopStrategy]
) -> tuple[LoopStrategy, ...]:
    """The strategies that may serve the paths of a loop where nothing is asked for."""
    possible = [one for one in strategies if one.applies(paths, facts) is None]
    if len(paths) < MANY:
        possible = [one for one in possible if not one.together]
    return tuple(one for one in possible if _batches_pay(one, paths, facts))


def _batches_pay(strategy: LoopStrategy, paths: Sequence[Path], facts: Facts) -> bool:
    """Whether as many iterations as the strategy runs in a row are few enough for that."""
    copies = strategy.iterations - 1
    if copies == 0:
        return True
    (path,) = paths
    around = path.loop.loop.blocks - path.blocks
    length = sum(i.unit != Unit.NOTHING for i in instructions_of(around, facts))
    words = context_words(path)
    return copies * words <= BATCH_REGISTERS and strategy.iterations * length <= BATCH_LENGTH


def settle(decision: Decision, kernel: Kernel, start: int, alone: bool = True) -> Choice:
    """Take the first strategy whose stacks fit.

    Args:
        decision: of the loop.
        kernel: the kernel; its block size and its own shared memory count.
        start: the first byte of a warp's share that is free for the loop.
        alone: whether no lanes may be in another annotated loop at the same time; where they may,
            its stacks need room, too, and batches are not tried.

    Returns:
        The choice; where nothing fits, that is to leave what does not, with the reason.
    """
    reason = _reason(kernel)
    if reason is not None:
        reasons = tuple((path.record, reason) for path in decision.paths)
        return Choice(decision, LEAVE, start, reasons)
    room = _room(kernel)
    asked = {str(path.request) for path in decision.paths}
    strategies = [
        one for one in decision.strategies if alone or one.iterations == 1 or one.name in asked
    ]
    layouts = [on_paper(Choice(decision, one, start)) for one in strategies]
    for strategy, layout in zip(strategies, layouts, strict=True):
        if layout.share <= room:
            return Choice(decision, strategy, start)
        for path in decision.paths:
            if str(path.request) == strategy.name:
                kernel.decline(path.path.marker, NO_ROOM)
    return Choice(decision, LEAVE, start, (_first_too_large(kernel, layouts[-1], room),))


def _reason(kernel: Kernel) -> str | None:
    """Why no stack can be put beside the shared memory of the kernel, if none can."""
    if kernel.dynamic_shared_bytes is None:
        return DYNAMIC
    if kernel.callee_shared_bytes is None:
        return (
            f"the kernel calls {kernel.unseen_callee}, whose shared memory is not seen here, "
            "and with the stack it might be more than a block gets; say with "
            "--ccc-callee-shared=N how many bytes such functions take at most"
        )
    return None


def _warps(kernel: Kernel) -> int:
    return -(-known_block_size(kernel.function, kernel.options.max_block) // WARP_SIZE)


def _used(kernel: Kernel) -> int:
    return shared_bytes(kernel) or 0


def _room(kernel: Kernel) -> int:
    """The bytes that a warp can have."""
    return (kernel.shared_limit - _used(kernel)) // _warps(kernel)


def _first_too_large(kernel: Kernel, layout: Layout, room: int) -> tuple[PathRecord, str]:
    """The first path that does not fit, and what to do about it."""
    plan = next(p for p in layout.plans if p.stack.offset + p.stack.bytes > room)
    return plan.record, _too_large(kernel, plan)


def _too_large(kernel: Kernel, plan: Plan) -> str:
    block = known_block_size(kernel.function, kernel.options.max_block)
    used = _used(kernel) + plan.stack.offset * _warps(kernel)
    needed = plan.stack.offset + plan.stack.bytes
    fits = (kernel.shared_limit - _used(kernel)) // needed * WARP_SIZE
    entry = plan.stack.bytes // plan.stack.entries
    hint = f"; say how large its blocks are, by __launch_bounds__ or --ccc-max-block: {fits} fit"
    return (
        f"its context of {entry} bytes a task does not fit into shared memory for "
        f"blocks of {block} threads beside the {used} bytes in use"
        + (hint if 0 < fits < block else "")
    )
