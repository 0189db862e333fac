"""An iteration cut in three: its head, the paths of which it comes to one at most, and the rest.

    LOOP:     <head>
              @!%p bra REST;
              <path>
    REST:     <rest>
              @%more bra LOOP;

A lane may run the heads of several iterations, have the paths of all of them run, by whomever, and
then run the rests, one after the other, if the heads need nothing of earlier paths and rests that
it cannot compute at once: what comes *onward*. Iterations are independent through memory, so all
else that goes from one to the next is in registers. Those that only rests use are *late*: rests
are run in their order, by their own lane, and may hand on what they like.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, fields, replace

from ccc.analysis.facts import Facts
from ccc.analysis.paths.continuation import does_more, find_context
from ccc.analysis.paths.fetches import has_side_effect
from ccc.analysis.paths.held_locks import ended_by
from ccc.analysis.paths.model import CheckedPath, Path, Refused, at, instructions_of
from ccc.analysis.slicing import Region, Slice, slice_region
from ccc.analysis.thresholds import CHEAP_SLICE
from ccc.ir.nodes import Instruction
from ccc.ir.operands import CARRY, Register


@dataclass(frozen=True, eq=False)
class SplitIteration:
    """An iteration, cut.

    Args:
        head: the blocks before the paths.
        inside: the blocks of the paths.
        rest: the blocks that may follow them.
        entries: where the head leads to a path, or past them.
        onward: what of paths and rest the next iteration needs, and the way to it.
        needed: what of the rest has an effect, or makes what is late.
        late: the registers carried from rest to rest.
        kept: other registers that an iteration has where its head ends, or hands on.
        moved: those of them that the next iteration has, too.
        recomputed: what makes registers anew where the rest begins, so that they need not live
            from the head on.
    """

    head: frozenset[str]
    inside: frozenset[str]
    rest: frozenset[str]
    entries: frozenset[str]
    onward: Slice
    needed: Slice
    late: frozenset[Register]
    kept: frozenset[Register]
    moved: frozenset[Register]
    recomputed: tuple[Instruction, ...] = ()


@dataclass(frozen=True, eq=False)
class ReturningPath:
    """A path whose tasks do not take the rest of the iteration along: what they give back."""

    path: Path
    results: tuple[Register, ...]


def returning(path: Path, facts: Facts) -> ReturningPath:
    """The path without the rest of its iteration, and what that rest reads of what it writes.

    Raises:
        Refused: something cannot be saved.
    """
    results = results_of(path, facts)
    known = {one.name: getattr(path, one.name) for one in fields(CheckedPath)}
    without = {"continuation": False, "accumulators": (), "task": None, "owner": None, "frame": ()}
    alone = find_context(CheckedPath(**{**known, **without}), facts, results)
    return ReturningPath(alone, tuple(sorted(results, key=lambda register: register.name)))


def results_of(path: Path, facts: Facts) -> frozenset[Register]:
    """The registers that the path writes and the rest of the iteration may read."""
    written = _written(path.blocks, facts)
    return facts.liveness.live_in(path.join) & written if path.join else frozenset()


def split_iteration(paths: Sequence[Path], facts: Facts) -> SplitIteration:
    """Cut the iterations of a loop at its paths, which exclude one another.

    Raises:
        Refused: the head of an iteration would have to wait for paths or rests before it.
    """
    loop = paths[0].loop.loop
    inside = frozenset[str]().union(*(path.blocks for path in paths))
    rest = frozenset[str]().union(*(path.rest for path in paths))
    head = loop.blocks - inside - rest
    tail = inside | rest
    _check_waits(loop.blocks, inside, rest, facts)
    entries = frozenset(t for label in head for t in facts.graph.successors(label) if t in tail)
    ends = {loop.header, *(target for _, target in loop.exits(facts.graph))}
    written = _written(loop.blocks, facts)
    carried = _live_at(ends, facts) & written
    behind = carried - _touched(head | inside, facts)
    late, onward = _onward(tail, behind, facts)
    _check_onward(onward, inside, rest, carried - behind, behind, facts)
    kept = frozenset(written & _live_at({*ends, *entries}, facts) - late)
    results = frozenset[Register]().union(*(results_of(path, facts) for path in paths))
    if CARRY in kept | late | results:
        raise Refused("a carry flag is set before a path and read behind it")
    made = {r for i in onward.instructions for r in i.defined()}
    return SplitIteration(
        head, inside, rest, entries, onward, _needed(rest, late, facts), late, kept,
        moved=kept & (carried | made),
    )  # fmt: skip


def without_what_rests_recompute(
    split: SplitIteration,
    paths: Sequence[Path],
    facts: Facts,
    refine: Callable[[Path, Facts], Path],
) -> SplitIteration:
    """The same, with less that lives from head to rest: what ``refine`` finds can be made of less.

    That is found where all rests begin at one place, as if the rest were a path.
    """
    begins = {*(path.join for path in paths), *(split.entries & split.rest)} - {None}
    entry = next(iter(begins))
    if len(begins) > 1 or entry not in split.rest:
        return split
    first = paths[0]
    rest = CheckedPath(
        first.marker, entry, False, first.loop, first.turn, None, split.rest, frozenset(), None,
        continuation=False, accumulators=(), task=split.needed,
    )  # fmt: skip
    found = refine(find_context(rest, facts), facts)
    in_paths = set(instructions_of(split.inside, facts))  # what they make is given back
    recomputed = tuple(i for i in found.recomputed if i not in in_paths)
    if not split.late.isdisjoint(r for i in recomputed for r in i.defined()):
        return split
    kept = split.kept | (_written(first.loop.loop.blocks, facts) & set(found.context))
    return replace(split, kept=kept - split.late, recomputed=recomputed)


def _check_waits(
    blocks: frozenset[str], inside: frozenset[str], rest: frozenset[str], facts: Facts
) -> None:
    """No lane waits in a head, or in a path, for what comes behind it: the lane may do the same for
    another iteration before that, as where a lock is taken there and given back in the rest."""
    for spin in facts.spins:
        if spin.blocks < blocks and not spin.blocks <= rest:
            later = rest if spin.blocks <= inside else inside | rest
            if any(ended_by(spin, i, facts) for i in instructions_of(later, facts)):
                raise Refused(
                    f"lanes may wait{at(spin.poll)} for what is done later in an iteration, and "
                    "would begin others before that"
                )


def _written(labels: Iterable[str], facts: Facts) -> frozenset[Register]:
    return frozenset(r for i in instructions_of(labels, facts) for r in i.defined())


def _live_at(labels: Iterable[str], facts: Facts) -> frozenset[Register]:
    return frozenset[Register]().union(*(facts.liveness.live_in(label) for label in labels))


def _touched(labels: Iterable[str], facts: Facts) -> frozenset[Register]:
    return _registers_of(instructions_of(labels, facts))


def _registers_of(instructions: Iterable[Instruction]) -> frozenset[Register]:
    return frozenset(r for i in instructions for r in (*i.used(), *i.defined()))


def _onward(
    tail: frozenset[str], late: frozenset[Register], facts: Facts
) -> tuple[frozenset[Register], Slice]:
    """What of ``late`` is so, and what comes onward then: the slice for all else."""
    region, reaching = Region(tail, facts.graph), facts.reaching_within(tail)
    while True:
        onward = slice_region(
            region, facts.blocks, reaching, [],
            lambda sink, late=late: facts.liveness.live_in(sink) - late,  # type: ignore[misc]
            decide_sinks=True,
        )  # fmt: skip
        early = late & _registers_of(onward.instructions)
        if not early:
            return late, onward
        late -= early


def _check_onward(
    onward: Slice,
    inside: frozenset[str],
    rest: frozenset[str],
    carried: frozenset[Register],
    behind: frozenset[Register],
    facts: Facts,
) -> None:
    """What the next iteration needs can be computed before the path is run, and a second time.

    Heads or paths use what is ``carried``; only rests use what is ``behind``, unless it tells
    whether the loop goes on.
    """
    if _is_long(onward, inside, facts):
        region, reaching = Region(inside | rest, facts.graph), facts.reaching_within(inside | rest)
        needed = slice_region(
            region, facts.blocks, reaching, [],
            lambda sink: facts.liveness.live_in(sink) - behind, decide_sinks=False,
        )  # fmt: skip
        if _is_long(needed, inside, facts):
            maker = _maker(needed, inside, carried, facts)
            raise Refused(f"the next iteration begins with a value that the path computes{maker}")
        asked = _asked_behind(onward, inside, rest, facts)
        raise Refused(f"whether the loop goes on hangs on a value that the path computes{asked}")
    if any(does_more(i, facts) or i.reads_time for i in onward.instructions):
        raise Refused("the next iteration begins with what is read in the path or behind it")


def _is_long(onward: Slice, inside: Collection[str], facts: Facts) -> bool:
    """Whether a slice has more of some paths than is to be run twice."""
    in_paths = [i for i in instructions_of(inside, facts) if i in onward.instructions]
    return len(in_paths) > CHEAP_SLICE or any(i.is_terminator for i in in_paths)


def _maker(
    needed: Slice, inside: Collection[str], carried: frozenset[Register], facts: Facts
) -> str:
    """Where paths first make a value that the next iteration needs; empty if they only decide it,
    or if it is copied there."""
    every = (i for i in instructions_of(inside, facts) if i in needed.instructions)
    maker = next((i for i in every if not carried.isdisjoint(i.defined())), None)
    return at(maker) if maker else ""


def _asked_behind(
    onward: Slice, inside: Collection[str], rest: Collection[str], facts: Facts
) -> str:
    """Where the first comparison behind paths is that asks for what they make, of what comes
    onward; empty if none is found."""
    in_paths = (i for i in instructions_of(inside, facts) if i in onward.instructions)
    made = {r for i in in_paths for r in i.defined()}
    for instruction in instructions_of(rest, facts):
        if instruction in onward.instructions and not made.isdisjoint(instruction.used()):
            if instruction.name == "setp":
                return at(instruction)
            made.update(instruction.defined())
    return ""


def _needed(rest: frozenset[str], late: frozenset[Register], facts: Facts) -> Slice:
    """Of the rest, without what is done for the next iteration only."""
    effects = [i for i in instructions_of(rest, facts) if has_side_effect(i)]
    return slice_region(
        Region(rest, facts.graph), facts.blocks, facts.reaching_within(rest), effects,
        lambda sink: facts.liveness.live_in(sink) & late, decide_sinks=False,
    )  # fmt: skip
