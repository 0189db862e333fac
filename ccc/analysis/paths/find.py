"""Finding annotated loops and paths, through the control-flow graph from the markers.

Passes never look at markers themselves: what they may want to know of a path is in the
:class:`ccc.analysis.paths.model.Path` that is found here, or in the
:class:`ccc.analysis.paths.model.LeftPath` with the reason why it cannot be collected.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.carried_values import HandedOn, Needed
from ccc.analysis.paths.carrying import carrying, which_to_remove
from ccc.analysis.paths.continuation import choose_continuation, find_context
from ccc.analysis.paths.followers import LoopBehind, find_followers, loops_in_rest
from ccc.analysis.paths.invariant_stores import InvariantStores
from ccc.analysis.paths.leading_out import ALWAYS_LEAVES, LEAVES, how_to_stay
from ccc.analysis.paths.left_alone import left_alone
from ccc.analysis.paths.legality import (
    MayWait,
    OutOfOrder,
    TurnsDepend,
    check_ends,
    check_independence,
    check_instructions,
    check_loop,
    check_meetings,
    check_order,
    could_be_in_order,
)
from ccc.analysis.paths.locate import (
    annotated_loops,
    branch_to,
    extent,
    located,
    outer_first,
    those_on,
    why_none_is_left,
    without_first_turns,
)
from ccc.analysis.paths.model import (
    AnnotatedLoop,
    CheckedPath,
    FoundLoop,
    FoundPath,
    LeftPath,
    Path,
    PathKey,
    PlacedPath,
    Refused,
    at,
)
from ccc.analysis.paths.own_columns import own_columns
from ccc.analysis.paths.own_memory import check_own_memory
from ccc.analysis.paths.own_rows import own_rows
from ccc.analysis.paths.placing import check_trap, place
from ccc.analysis.paths.seen_late import seen_late
from ccc.analysis.paths.supposed import Supposed
from ccc.analysis.paths.tail_calls import tail_calls
from ccc.analysis.paths.timed import timed
from ccc.analysis.paths.unmarked_turns import (
    IN_TURNS,
    IfMarked,
    end_of,
    how_to_mark,
    where,
)
from ccc.analysis.paths.waiting import check_waiting
from ccc.errors import Span
from ccc.ir.reannotated import Reannotated

NOT_INLINED = "it is in a device function that was not inlined into its kernel"
LOOP_LEFT = "the loop around it is left alone: "
"""How a reason begins that is one of another path."""

_Found = TypeVar("_Found", bound=FoundPath)
Asked = Callable[[FoundPath, FoundLoop], bool]
"""Whether what is asked for leaves the rest of an iteration with its lane."""
Refinement = Callable[[Path, Facts], Path]
"""Makes another path of one that can be collected, with a context that serves it as well."""


def find_paths(
    facts: Facts,
    excluded: Mapping[PathKey, str] = MappingProxyType({}),
    refinements: Sequence[Refinement] = (),
    keeps_rest: Asked = lambda _path, _loop: False,
) -> list[Path | LeftPath]:
    """All paths of a function, in the order of their blocks.

    Args:
        facts: the function's analyses.
        excluded: keys of paths that will not be collected, whatever the rules say, and why.
        refinements: what to make of those that can be collected.
        keeps_rest: of which paths the rest of the iteration need not be able to run with the tasks.
    """
    found = located(facts)
    examination = _Examination(facts, found, excluded, refinements, keeps_rest)
    examination.examine_all(found)
    return without_first_turns([examination.outcomes[path] for path in found], facts)


class _Examination:
    """Takes the paths of a function from stage to stage; outer paths have to come first."""

    def __init__(
        self,
        facts: Facts,
        found: Sequence[FoundPath],
        excluded: Mapping[PathKey, str],
        refinements: Sequence[Refinement],
        keeps_rest: Asked,
    ):
        self.facts = facts
        self.found = found
        self.excluded = excluded
        self.outcomes: dict[FoundPath, Path | LeftPath] = {}
        self.refinements = refinements
        self.keeps_rest = keeps_rest
        self._why_not_alone: dict[PathKey, str] = {}
        self.loops = {one.loop.header: one for one in annotated_loops(facts)}
        self.collected: list[Path] = []
        self._checked: dict[FoundLoop, AnnotatedLoop] = {}
        self._invariant_stores: dict[AnnotatedLoop, InvariantStores] = {}
        self._left_loops: dict[str, str] = {}
        self._without: dict[PathKey, Sequence[Path]] = {}
        self._trials: Supposed | None = Supposed(self._trial)

    def examine_all(self, paths: Iterable[FoundPath]) -> None:
        """Outer paths first, since what an inner one has to do depends on whether they are
        collected."""
        for path in outer_first(paths, self.found, self.facts):
            if path in self.outcomes:
                continue
            if isinstance(path, LeftPath):
                self.outcomes[path] = path
            elif path.key in self.excluded:
                self.outcomes[path] = self.leave(path, Refused(self.excluded[path.key]))
            else:
                self.outcomes[path] = self.examine(path)

    def examine(self, path: FoundPath) -> Path | LeftPath:
        """The path with all that is to be known of it, or the reason why it is left."""
        loop: FoundLoop | None = None
        placed: PlacedPath | None = None
        try:
            self._check_function(path)
            loop, turn = self._loops_around(path)
            loop = self._check_loop(loop, path)
            placed = self._placed(path, loop, turn)
            collectable = self._collectable(placed)
        except LoopBehind as refusal:
            tries = self._trials
            serving = (one for one in refusal.ways if tries and tries.serves(one, path))
            way = next(serving, None)
            return self.leave(path, refusal.with_way_out(way), loop)
        except OutOfOrder as refusal:
            more = self._or_without_branch(placed)
            return self.leave(path, Refused(f"{refusal}{more}", refusal.ways), loop)
        except TurnsDepend as refusal:
            tries = self._trials
            lost = tries.lost_in_order(path, self.found, self.facts) if tries else None
            return self.leave(path, Refused(refusal.without(lost)), loop)
        except MayWait as refusal:
            return self.leave(path, self._why_not_met(path, refusal), loop)
        except Refused as refusal:
            return self.leave(path, refusal, loop)
        for refine in self.refinements:
            collectable = refine(collectable, self.facts)
        self.collected.append(collectable)
        return collectable

    def leave(self, path: FoundPath, why: Refused, loop: FoundLoop | None = None) -> LeftPath:
        """The path with the reason why it is left."""
        if path.repeats:
            self._left_loops[path.entry] = str(why).removeprefix(LOOP_LEFT)  # it is said once
        return left_alone(path, why, loop, self._why_not_alone.get(path.key, ""), self.facts)

    def _check_function(self, path: FoundPath) -> None:
        """What must hold wherever the path lies.

        Raises:
            Refused: with the reason.
        """
        facts = self.facts
        if facts.function.kind != "entry":
            if path.marker.kind == "recursion":
                tail_calls(facts)
            raise Refused(NOT_INLINED)
        if path.entry not in facts.graph:
            raise Refused("nothing leads to this branch")
        if facts.unknown is not None:
            raise Refused(
                f"the opcode {facts.unknown.opcode} is not known to ccc{at(facts.unknown)}"
            )
        if not facts.is_reducible:
            raise Refused("the kernel jumps into the middle of a loop")

    def _loops_around(self, path: FoundPath) -> tuple[FoundLoop, Loop]:
        """The annotated loop around it, and the one whose turns it is a part of.

        Raises:
            Refused: there is none, or one turn may run the path several times.
        """
        around = [loop for loop in self.facts.loops if path.entry in loop.blocks]
        if path.repeats:
            around = [loop for loop in around if loop.header != path.entry]
        if not any(loop.header in self.loops for loop in around):
            check_trap(extent(path, self.facts), self.facts)
            check_ends(extent(path, self.facts), self.facts)
            branch = branch_to(path.entry, self.facts)
            if any(branch in loop.loop.blocks for loop in self.loops.values()):
                turn = next(loop for loop in self.facts.loops if branch in loop.blocks)
                turns = (one for one in self.found if one.repeats and one.entry == turn.header)
                leaves = LEAVES if path.marker.kind == "case" else ALWAYS_LEAVES
                way_out = how_to_stay(path, next(turns, None), otherwise=leaves)
                raise Refused(f"the path jumps out of the annotated loop; {way_out}")
            if self._other_cases_lie_in_a_loop(path):
                raise Refused(
                    "no annotated loop is left around it, since it leaves the one that its switch "
                    f"lies in; {LEAVES}"
                )
            left = {one.marker for one in self.loops.values()}
            why = why_none_is_left(path, self.found, left, self.facts)
            raise Refused(f"no annotated loop is left around it{why}")
        collected = {other.entry: other.loop for other in self.collected if other.repeats}
        turn = around[0]
        loop = self.loops.get(turn.header) or collected.get(turn.header)
        if loop is None and turn.header in self._left_loops:
            raise Refused(LOOP_LEFT + self._left_loops[turn.header])
        if loop is None:
            outer = next(one for one in around if one.header in self.loops)
            self._check_loop(self.loops[outer.header], path)
            between, tries = around[: around.index(outer)], self._trials
            how, ways = how_to_mark(
                path, around, outer, self.collected, self.found, self.facts,
                lambda kind: tries.if_marked(path, between, kind) if tries else IfMarked(),
            )  # fmt: skip
            raise Refused(
                f"{IN_TURNS}, so one iteration may run it several times"
                f"{end_of(turn, self.facts)}; {how}",
                ways,
            )
        return loop, turn

    def _trial(self, marked: Sequence[FoundPath], removed: Collection[Span]) -> _Examination:
        """An examination as if some loops were marked, and some annotations removed."""

        def left(paths: Iterable[_Found]) -> list[_Found]:
            return [one for one in paths if one.marker.span not in removed]

        annotations = Reannotated(frozenset(removed))
        facts = self.facts.reannotated(annotations) if removed else self.facts
        found = [*left(self.found), *marked]
        trial = _Examination(facts, found, self.excluded, (), self.keeps_rest)
        if not removed:
            trial.outcomes, trial.loops = dict(self.outcomes), self.loops
        trial.collected = left(self.collected)
        trial._checked, trial._left_loops = self._checked, dict(self._left_loops)
        trial._invariant_stores = self._invariant_stores
        trial._trials = None
        return trial

    def _other_cases_lie_in_a_loop(self, path: FoundPath) -> bool:
        """Whether it is a case, and other cases of its switch lie in an annotated loop."""
        return path.marker.kind == "case" and any(
            other.entry in loop.loop.blocks
            for other in self.found
            if other.marker.identifier == path.marker.identifier
            for loop in self.loops.values()
        )

    def _check_loop(self, loop: FoundLoop, path: FoundPath) -> AnnotatedLoop:
        """The loop, checked once for all of its paths, unless it is refused.

        Raises:
            Refused: with the reason.
        """
        if isinstance(loop, AnnotatedLoop):
            return loop
        if loop not in self._checked:
            self._checked[loop] = check_loop(loop, path, self.facts)
        return self._checked[loop]

    def _why_not_met(self, path: FoundPath, waiting: MayWait) -> Refused:
        """Why a path would be left if lanes did not wait before its loop, where that is for a value
        that iterations hand on; else that they may wait."""
        loops = (one for one in self.facts.loops if path.entry in one.blocks - {one.header})
        if next(loops, None) != waiting.met.loop:
            return waiting
        try:
            self._collectable(self._placed(path, waiting.met, waiting.met.loop))
        except Needed as refusal:
            return refusal
        except Refused:
            pass
        return waiting

    def _placed(self, path: FoundPath, loop: AnnotatedLoop, turn: Loop) -> PlacedPath:
        """The path in its loop.

        Raises:
            Refused: it is no path there.
        """
        return place(path, loop, turn, self._parent_of(path, loop), self.facts)

    def _parent_of(self, path: FoundPath, loop: AnnotatedLoop) -> Path | None:
        """The innermost path around it that can be collected."""
        around = [
            other for other in self.collected if other.loop is loop and path.entry in other.blocks
        ]
        return min(around, key=lambda other: len(other.blocks), default=None)

    def _collectable(self, path: PlacedPath) -> Path:
        """The path with its context.

        Raises:
            Refused: it cannot be collected; not even if its rest stays where it is, if it may.
        """
        other = self._carrying(path)
        if other is None:
            try:
                found = find_context(self._check(path), self.facts)
            except Refused as refusal:
                return self._collectable_otherwise(path, refusal)
            other = self._carrying(path)  # one behind it, which was asked meanwhile
            if other is None:
                return found
        if (carries := self._check_carrying(path)) is None:
            raise Refused(
                f"the tasks of {where(other, path)} would take those of the loop around it along, "
                f"and could not leave this one behind; {self._way_out(path, other)}"
            )
        return find_context(carries, self.facts)

    def _way_out(self, path: PlacedPath, other: Path) -> str:
        """Which of two annotations is to be removed, of which one path only can be collected.

        What would become of this one without the other is looked at, once for each of these.
        """
        if self._trials is None:
            return ""
        return which_to_remove(path, other, self._could_be(path, other), self.facts)

    def _or_without_branch(self, path: PlacedPath | None) -> str:
        """Which annotation could be removed as well where tasks of a path cannot take those of the
        loop around along, since that lies in a branch."""
        around = path.parent if path else None
        branch = around.parent if around else None
        if path is None or branch is None or branch.repeats or self._trials is None:
            return ""
        line = those_on([branch.marker.span], path.marker.span)
        return f"; or remove {line}" if self._could_be(path, branch) else ""

    def _could_be(self, path: PlacedPath, other: Path) -> bool:
        """Whether a path could be collected if another one were not."""
        if other.key not in self._without:
            without = {**self.excluded, other.key: "its annotation is removed"}
            trial = _Examination(self.facts, self.found, without, (), self.keeps_rest)
            trial._trials = None
            trial.examine_all(self.found)
            self._without[other.key] = trial.collected
        return any(one.key == path.key for one in self._without[other.key])

    def _carrying(self, path: PlacedPath) -> Path | None:
        """A path beside it, or around it, whose tasks carry those of the loop around."""
        beside = (one for one in self.collected if one.parent is path.parent)
        around = (path.parent,) if path.parent else ()
        return next((one for one in (*beside, *around) if one.carries_parent), None)

    def _collectable_otherwise(self, path: PlacedPath, refusal: Refused) -> Path:
        """The path with its context, if its tasks carry others, or its rest stays where it is.

        Raises:
            Refused: as before.
        """
        if (carries := self._check_carrying(path)) is not None:
            return find_context(carries, self.facts)
        if isinstance(refusal, HandedOn) and (another := self._why_not_carrying(path)):
            raise another
        holds_others = any(other.entry in path.blocks - {path.entry} for other in self.found)
        is_plain = path.parent is None and not path.repeats and not holds_others
        if not is_plain or not self.keeps_rest(path, path.loop):
            raise refusal
        try:
            return find_context(self._check_alone(path, str(refusal)), self.facts)
        except Refused as another:
            self._why_not_alone[path.key] = str(another)
            raise refusal from None

    def _check_carrying(self, path: PlacedPath) -> CheckedPath | None:
        """The path with tasks that carry those of the loop around; None if they cannot."""
        try:
            return self._carrying_of(path)
        except Refused:
            return None

    def _why_not_carrying(self, path: PlacedPath) -> Refused | None:
        """What is in the way of such tasks; None if the loops are none of which they could be."""
        try:
            self._carrying_of(path)
        except Refused as refusal:
            return refusal
        return None

    def _carrying_of(self, path: PlacedPath) -> CheckedPath | None:
        """The path with such tasks, if the loops are such.

        Raises:
            Refused: its tasks cannot be.
        """
        check_instructions(path, self.facts)
        checked = carrying(path, self.collected, self.facts)
        if checked is None:
            return None
        check_meetings(checked, self.facts)
        return self._check_tasks(checked)

    def _check_alone(self, path: PlacedPath, reason: str) -> CheckedPath:
        """The path without the rest of its iteration, which for that reason must stay."""
        check_instructions(path, self.facts)
        check_order(path, self.facts)
        alone = CheckedPath(**vars(path), continuation=False, accumulators=(), stays=reason)
        check_meetings(alone, self.facts)
        self._check_independence(replace(alone, continuation=True))  # of the rest, too
        return self._check_tasks(alone)

    def _check(self, path: PlacedPath) -> CheckedPath:
        """What must hold for the path, and what its tasks do.

        Raises:
            Refused: with the reason.
        """
        facts = self.facts
        check_instructions(path, facts)
        check_meetings(path, facts)  # whatever else is in the way: that would not help
        check_order(path, facts, lambda supposed: self._goes_on(path, supposed))
        checked = self._continued(path, facts)
        if checked.continuation:
            check_order(checked, facts)  # of what goes with the task, too
        return self._check_tasks(checked)

    def _continued(self, path: PlacedPath, facts: Facts) -> CheckedPath:
        """The path with what of the rest of the iteration goes with its tasks.

        Raises:
            Refused: that cannot.
        """
        within = path.blocks | path.rest
        others = (extent(other, facts) for other in self.found if other.entry in within)
        inner = (blocks for blocks in others if path.entry not in blocks)
        followers = self._followers(path)
        within_others = frozenset[str]().union(*inner)
        return choose_continuation(path, within_others, facts, followers, self.collected)

    def _goes_on(self, path: PlacedPath, supposed: Facts) -> bool:
        """Whether that would be so if something were so."""
        try:
            checked = self._continued(path, supposed)
        except Refused:
            return False
        return could_be_in_order(checked, supposed)

    def _followers(self, path: PlacedPath) -> tuple[Path, ...]:
        """The paths to which tasks of an inner loop may come in the rest of their iteration."""
        if not loops_in_rest(path, self.facts):
            return ()
        # Whether these can be collected is asked first. Each has less of the iteration behind it.
        self.examine_all(other for other in self.found if other.entry in path.rest)
        return find_followers(path, self.collected, self.facts)

    def _check_tasks(self, checked: CheckedPath) -> CheckedPath:
        """What must hold for what the tasks of a path run.

        Raises:
            Refused: with the reason.
        """
        frame = check_own_memory(checked, self.found, self.facts)
        check_waiting(checked, self.facts)
        self._check_independence(checked)
        stores = self._invariant_stores[checked.loop]
        late = seen_late(checked, stores, self.facts)
        lost = own_columns(checked, stores, self.facts)
        lost_in_turns = own_rows(checked, self.facts)
        time = timed(checked, self.facts)
        found = replace(checked, frame=frame, ends_later=late, may_lose=lost, timed=time)
        return replace(found, turns_may_lose=lost_in_turns)

    def _check_independence(self, checked: CheckedPath) -> None:
        if checked.loop not in self._invariant_stores:
            self._invariant_stores[checked.loop] = InvariantStores(checked.loop.loop, self.facts)
        check_independence(checked, self._invariant_stores[checked.loop], self.facts)
