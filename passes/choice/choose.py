"""Branch prioritisation, and the choice of a strategy (dissertation section 4.1.3).

The costliest branches, by length times rarity, get stacks first; others only as long as the whole
loop is expected to become faster by it, with the warps that then have room. What would not gain
stays as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ccc.analysis.constant_trip_count import trip_count
from ccc.analysis.facts import Facts
from ccc.analysis.paths.induction import BEFORE_IT, STRICT, SUMS, SUMS_HINT
from ccc.analysis.paths.last_test import find_last_test
from ccc.analysis.paths.model import AnnotatedLoop, Path, instructions_of
from ccc.options import COLLECT
from ccc.passes.choice.cost_model import TOGETHER, LoopCost
from ccc.passes.choice.exchange import ADAPTIVE, ARMS, TURNS
from ccc.passes.choice.inner_loops import SHARED_OUT
from ccc.passes.choice.lanes import Lanes, expected_lanes
from ccc.passes.choice.nesting import (
    forced_by,
    loops_around,
    needed_of,
    why_no_path,
    with_path,
)
from ccc.passes.choice.path_cost import PathCost
from ccc.passes.context_collection.task_counts import reduces
from ccc.passes.policy import REPEATING, batches_pay, no_room, why_no_stacks
from ccc.passes.strategies.engage import ENGAGE_BLOCK, is_exact, is_of_others, why_not
from ccc.passes.strategies.registry import COLLECTING, FLATTENING, SHARING
from ccc.passes.strategies.strategy import Collectable, Hints, LoopStrategy, instruction_count
from ccc.passes.thresholds import (
    ADAPTIVE_GAIN,
    BATCH_LOADS,
    BLOCK_TURN,
    GAIN,
    LOSS,
    PLAIN_LENGTH,
    PLAIN_WITH_END,
    SEVERAL,
    SEVERAL_GAIN,
)
from ccc.pipeline import Kernel
from ccc.ptx.opcodes import LOADS
from ccc.remark import in_instructions, span_of

LEAVE = "leave"
QUEUE = "queue"
TOO_SHORT = "too short to gain"
REMOVE = f"{TOO_SHORT}: remove the annotation"
TELL = "tell with prob(share) or a profile"
"""What serves where nothing is known of the lanes: if few of them would not gain, or else."""
TELL_TURNS = "tell with a profile"
"""The same where the share of lanes is told, and not how many turns they do."""

WANTED = (LOSS, GAIN)
"""What one of the figures of a path that is left may have missed."""


@dataclass
class Chosen:
    """What is chosen for a path, or was asked for.

    Args:
        cost: what is known of it.
        strategy: the name.
        considered: by name, how many times as fast as the original the loop would be expected with
            it, the other paths being served as they are chosen to be; of a path that is left, how
            many times as fast as without it.
        at_worst: the same if all lanes agree, where nothing is known of them or of their turns.
        too_large: those of which the stacks do not fit into shared memory.
        fewer_warps: those that take registers which others need, and what that means.
        with_it: of a path that is left, which loop would have to be handed on with it, and is not.
        is_alone: whether the annotation marks no other path.
    """

    cost: PathCost
    strategy: str
    considered: dict[str, float]
    at_worst: dict[str, float]
    too_large: list[str]
    fewer_warps: dict[str, str]
    with_it: str = ""
    is_alone: bool = True

    @property
    def expected(self) -> float | None:
        """How many times as fast as the original the loop is expected, as far as that is known."""
        return self.considered.get(self.strategy, 1.0 if self.strategy == LEAVE else None)

    @property
    def details(self) -> dict[str, Any]:
        """What the report says."""
        lanes = self.cost.lanes
        return {
            "expected": None if self.expected is None else round(self.expected, 3),
            "expected_lanes": lanes.told,
            "expected_from": lanes.source,
            "path_instructions": round(self.cost.own.instructions),
            "instructions_from": lanes.length_from,
            "considered": {name: round(one, 3) for name, one in self.considered.items()},
            "at_worst": {name: round(one, 3) for name, one in self.at_worst.items()},
            "does_not_fit": self.too_large,
        }

    def reason(self, kernel: Kernel) -> str:
        """Why the path is left, in figures, and how to insist."""
        lanes = self.cost.lanes
        per_turn = " a turn" if self.cost.path.repeats else ""
        length = f"{in_instructions(self.cost.own.instructions)}{per_turn} {lanes.length_from}"
        if not self.considered:
            return f"{length}: no strategy that might gain applies"
        able = [name for name in self.considered if name not in self.too_large]
        best = max(able or self.considered, key=lambda name: self.considered[name])
        found, insist = self.considered[best], f"strategy({best}) insists"
        if lanes.is_known:
            known = f"{lanes.in_words} ({lanes.source})"
            if lanes.is_guessed:
                known += ", and nothing is known of its turns"
                insist = f"{TELL_TURNS}, or {insist}"
            span = span_of(self.at_worst.get(best, found), found, WANTED)
        else:
            known = "and nothing is known of its lanes"
            span = span_of(self.at_worst[best], found, WANTED)
            is_hopeless = round(max(self.at_worst[best], found), 2) < 1
            too_short = REMOVE if self.is_alone else TOO_SHORT
            insist = too_short if is_hopeless else f"{TELL}, or {insist}"
        told = f"{length}, {known}: expected {span} times as fast{self.with_it}"
        if best in self.fewer_warps:
            told = f"{told}, since {self.fewer_warps[best]}"
        obstacle = why_no_stacks(kernel) or ("" if able else no_room(kernel))
        return f"{told}, but {obstacle}" if obstacle else f"{told}; {insist}"


def choose(paths: Sequence[Collectable], kernel: Kernel) -> None:
    """Say of each path for which nothing is asked what serves it, and leave what would not gain.

    Args:
        paths: those of a kernel that can be collected.
        kernel: takes what was chosen, and which paths get stacks first.
    """
    every = [one.path for one in paths if one.record.is_open]
    loops: dict[AnnotatedLoop, list[Collectable]] = {}
    for one in paths:
        is_free = one.record.is_open and kernel.request_of(one.path) is None
        reason = kernel.crowded or why_no_path(one.path, every, kernel) if is_free else None
        if reason is not None:
            one.record.leave_alone(reason)
        if one.record.is_open:
            loops.setdefault(one.path.loop, []).append(one)
    for loop, mine in loops.items():
        search = _Search.of(loop, [one.path for one in mine], kernel)
        kernel.ranks |= {path.key: rank for rank, path in enumerate(search.order)}
        served = search.best()
        for one in mine:
            chosen = search.chosen(one.path, served)
            one.record.choice = chosen.details
            if search.is_asked(one.path):
                continue
            if chosen.strategy == LEAVE:
                unshared = why_unshared(one.path, kernel)
                one.record.choice |= {"shared_out_reason": unshared} if unshared else {}
                one.record.leave_alone(chosen.reason(kernel) + _to_share_out(unshared))
            else:
                kernel.chosen[one.path.key] = chosen.strategy


def why_unshared(path: Path, kernel: Kernel) -> str | None:
    """Why the turns of a loop cannot be shared out, though its annotation says that they are
    independent; None of other paths."""
    return why_not(path, kernel.facts) if path.marker.kind == "variable" else None


def _to_share_out(unshared: str | None) -> str:
    """What would let lanes share the turns of a loop, if anything is known to."""
    if unshared is None:
        return ""
    if unshared.endswith(SUMS_HINT):
        return f"; {SUMS} would let lanes share its turns"
    found = next((hint for hint in (BEFORE_IT, STRICT) if hint in unshared), None)
    return f"; to let lanes share its turns, {found}" if found else ""


class _Search:
    """The strategies that the paths of one loop may get.

    Args:
        cost: of the loop, as is expected.
        worst: the same, with the worst case where nothing is known.
        asked: what the user has chosen.
        forced: what serves loops for the sake of what was asked for in them.
        kernel: the kernel.

    Attributes:
        order: the paths, those first that get stacks first.
    """

    def __init__(
        self,
        cost: LoopCost,
        worst: LoopCost,
        asked: Mapping[Path, str],
        forced: Mapping[Path, str],
        kernel: Kernel,
    ):
        self.cost = cost
        self._worst = worst
        self._requests = asked
        self._forced = forced
        counted = {path: _counted(name, path) for path, name in asked.items()}
        self._asked = {**counted, **forced}
        self._facts = kernel.facts
        self._is_tried = kernel.trying
        self.order = sorted(cost.paths, key=self._rank)
        self._free = [path for path in self.order if path not in self._asked]

    @staticmethod
    def of(loop: AnnotatedLoop, paths: Sequence[Path], kernel: Kernel) -> _Search:
        """That of some paths of a loop."""
        arms = Counter(path.marker.identifier for path in paths)

        def worst(path: Path, around: Lanes) -> Lanes:
            return Lanes.worst(path, around, max(1, arms[path.marker.identifier]))

        asked = {
            path: request for path in paths if (request := kernel.request_of(path)) is not None
        }

        def turns(path: Path) -> int | None:
            own = (loop for loop in kernel.facts.loops if loop.header == path.entry)
            return trip_count(next(own), kernel.facts)

        usual_lanes = expected_lanes(paths, kernel.known, Lanes.usual, turns)
        worst_lanes = expected_lanes(paths, kernel.known, worst, turns, by_chance=False)
        # Registers are weighed with what is expected: the worst case tells what lanes may cost.
        cost = LoopCost(loop, paths, usual_lanes, kernel)
        worst_cost = LoopCost(loop, paths, worst_lanes, kernel, is_worst=True)
        names = {path: str(request) for path, request in asked.items()}
        return _Search(cost, worst_cost, names, forced_by(asked, paths), kernel)

    def _rank(self, path: Path) -> tuple[float, float]:
        """Those with the highest priority first, and of these the costliest."""
        return -(Hints.of(path.marker).priority or 0), -self.cost.paths[path].saving

    def is_asked(self, path: Path) -> bool:
        """Whether the user has chosen."""
        return path in self._requests

    def best(self) -> dict[Path, str]:
        """The fastest of what was found for each strategy that may serve the branches."""
        arms = [one.name for one in self._strategies(self._free)] or [LEAVE]
        found = (self._without_many(self._with(name)) for name in arms)
        return {**self._fastest(found), **self._forced}

    def _fastest(self, found: Iterable[dict[Path, str]]) -> dict[Path, str]:
        return min(found, key=lambda served: self._slots(served, self.cost))

    def _without_many(self, served: dict[Path, str]) -> dict[Path, str]:
        """Without the branches, where there are many of them and little is to be gained."""
        branches = [path for path in self._free if not path.repeats]
        if len(branches) < SEVERAL or self._ratio({}, served, self.cost) >= SEVERAL_GAIN:
            return served
        return self._grown({}, LEAVE, [path for path in self._free if path.repeats])

    def chosen(self, path: Path, served: Mapping[Path, str]) -> Chosen:
        """What is chosen for a path, or was asked for, and what else was considered.

        What is left is told apart from the others; what was asked for is told together with the
        other branches for which the same was.
        """
        request = self._requests.get(path)
        mine = request or served.get(path, LEAVE)
        beside = self._asked_with(path) if request else self._free
        changed = [path] if path.repeats or not request else beside
        state = {**self._asked, **served}
        names = dict.fromkeys([*self._names(path, beside), *([] if request else [mine])])
        ways = {one: self._changed(state, changed, one) for one in names if one != LEAVE}
        if not request:
            able = [one for one, way in ways.items() if one in TOGETHER or self._applies(path, way)]
            ways = {one: ways[one] for one in able}
        other = self._served_otherwise(path, state)
        rest = {one: name for one, name in state.items() if one not in other}
        before = rest if mine == LEAVE else {}

        def ratios(cost: LoopCost) -> dict[str, float]:
            return {name: cost.slots(before) / cost.slots(way) for name, way in ways.items()}

        lanes = self.cost.paths[path].lanes
        at_worst = {} if lanes.is_certain else ratios(self._worst)
        alike = [one for one in self._free if one.marker.identifier == path.marker.identifier]
        whole = {name: self._changed(way, alike, name) for name, way in ways.items()}
        too_large = [name for name, way in whole.items() if not self.cost.fits(way)]
        told = {name: self.cost.fewer_warps(way) for name, way in ways.items()}
        fewer = {name: text for name, text in told.items() if text is not None}
        cost = self.cost.paths[path]
        with_it = self._handed_on_with(path, state) if mine == LEAVE and not request else ""
        same = [one for one in self.cost.paths if one.marker.identifier == path.marker.identifier]
        found = ratios(self.cost)
        return Chosen(cost, mine, found, at_worst, too_large, fewer, with_it, len(same) == 1)

    def _changed(
        self, served: dict[Path, str], paths: Iterable[Path], name: str
    ) -> dict[Path, str]:
        """With ``name`` for some paths."""
        for path in paths:
            served = with_path(served, path, name, self._free)
        return served

    def _served_otherwise(self, path: Path, served: Mapping[Path, str]) -> list[Path]:
        """The loops that would have to be handed on with a path, and are not."""
        return [one for one in needed_of(path, self._free) if served.get(one) != REPEATING]

    def _handed_on_with(self, path: Path, served: Mapping[Path, str]) -> str:
        """The innermost of these, in words."""
        for loop in self._served_otherwise(path, served):
            name = served.get(loop, LEAVE)
            which = "around it" if loop in loops_around(path) else "that its tasks come to"
            instead = ", too" if name == LEAVE else f" in place of {name}"
            return f" with {REPEATING} on the loop {which}{instead}"
        return ""

    def _asked_with(self, path: Path) -> list[Path]:
        """The branches for which the same was asked."""
        mine = self._requests[path]
        return [one for one in self.order if not one.repeats and self._requests.get(one) == mine]

    def _slots(self, served: Mapping[Path, str], cost: LoopCost) -> float:
        return cost.slots({**self._asked, **served})

    def _ratio(self, before: Mapping[Path, str], after: Mapping[Path, str], by: LoopCost) -> float:
        return self._slots(before, by) / self._slots(after, by)

    def _with(self, arms: str) -> dict[Path, str]:
        """What to do if branches are served by one strategy: add paths as long as that pays.

        One that serves them together may also begin with all of them.
        """
        starts: list[dict[Path, str]] = [{}]
        branches = {path: arms for path in self._free if not path.repeats}
        if arms in TOGETHER and all(self._pays(path, branches, {}) for path in branches):
            starts.append(branches)
        outer_first = sorted(self._free, key=lambda path: len(loops_around(path)))
        orders = (self._free, outer_first)
        return self._fastest(
            self._grown(start, arms, order) for start in starts for order in orders
        )

    def _grown(self, served: dict[Path, str], arms: str, order: Sequence[Path]) -> dict[Path, str]:
        """With all further paths that pay, in an order."""
        changed = True
        while changed:
            changed = False
            for path in order:
                if path in served:
                    continue
                for name in self._names(path, self._free) if path.repeats else [arms]:
                    after = with_path(served, path, name, self._free)
                    if self._pays(path, after, served):
                        served, changed = after, True
                        break
        return served

    def _pays(self, path: Path, after: Mapping[Path, str], before: Mapping[Path, str]) -> bool:
        """Whether a path should be served, too, and has room; where its lanes or their turns are
        not known, only if that may not cost much."""
        if not self._applies(path, after):
            return False
        if not self.cost.fits({**self._asked, **after}):
            return False
        if self._ratio(before, after, self.cost) < self._least(path, after[path]):
            return False
        changed = [one for one, name in after.items() if before.get(one) != name]
        if all(self.cost.paths[one].lanes.is_certain for one in changed):
            return True
        promised = {one: name for one, name in after.items() if _promises(one, name)}
        return path in promised or self._ratio(promised, after, self._worst) >= LOSS

    def _least(self, path: Path, name: str) -> float:
        """What has to be expected of a strategy. Where nobody tells anything but that lists differ,
        and lanes that find them even run their own, it may not cost much."""
        asks = reduces(self.cost.arch) and not self.cost.paths[path].lanes.is_known
        if asks and _promises(path, name):
            return LOSS
        return ADAPTIVE_GAIN if name in ADAPTIVE else 1.0 if self._is_tried else GAIN

    def _applies(self, path: Path, served: Mapping[Path, str]) -> bool:
        """Whether what serves a branch can do so beside what serves the others."""
        if path.repeats:
            return True
        if path.carries_parent and served[path] != REPEATING:
            return False
        every = [one for one, name in {**self._requests, **served}.items() if name != LEAVE]
        inside = [one for one in self.cost.paths if one.parent is path]
        strategy = next(one for one in COLLECTING if one.name == served[path])
        return strategy.applies(list(dict.fromkeys([*every, *inside])), self._facts) is None

    def _names(self, path: Path, beside: Sequence[Path]) -> list[str]:
        """What may serve one path, from what is preferred on; a strategy for several with all
        branches ``beside`` it."""
        if path.repeats:
            if any(
                one.leads_to(path) and is_of_others(path, self._facts, True)
                for one in self.cost.paths
            ):
                return [REPEATING]
            sharing = [one for one in SHARING if one.name in SHARED_OUT]
            able = [one.name for one in sharing if one.applies([path], self._facts) is None]
            if not self._may_meet_block(path):
                able = [name for name in able if name != ENGAGE_BLOCK.name]
            return [*reversed(able), REPEATING]
        arms = [one for one in beside if not one.repeats]
        return [
            one.name
            for one in self._strategies(beside)
            if one.applies(arms if one.together else [path], self._facts) is None
        ]

    def _may_meet_block(self, path: Path) -> bool:
        """Whether the block may share out an inner loop where nobody asks for that: what it saves
        is that warps wait for one another, which no figure of a warp tells. Which of them adds up
        what is found out as they run, so rounded sums would differ from launch to launch."""
        turn = self.cost.paths[path].full_turn.slots(self.cost.arch)
        alone = len(self.cost.paths) == 1
        return alone and turn >= BLOCK_TURN and is_exact(path, self._facts)

    def _strategies(self, paths: Sequence[Path]) -> list[LoopStrategy]:
        """What may serve the branches among some paths; batches only with few loads in them."""
        arms = [path for path in paths if not path.repeats]
        few = all(_loads(path, self._facts) <= BATCH_LOADS for path in arms)
        batches = few and len(arms) == 1

        def may(strategy: LoopStrategy) -> bool:
            if strategy.iterations == 1:
                return strategy.name in ARMS
            if not batches or not batches_pay(strategy, arms, self._facts):
                return False
            return strategy.name in ARMS or self._may_weigh(strategy, arms[0])

        return [one for one in COLLECTING if may(one)]

    def _may_weigh(self, strategy: LoopStrategy, path: Path) -> bool:
        """Whether a warp may find out by itself: where nothing is known of the lanes, and the loop
        as it was costs no more beside the other one than by itself."""
        loop = path.loop.loop
        return (
            strategy.name in ADAPTIVE
            and not self.cost.paths[path].lanes.is_known
            and find_last_test(loop, self._facts) is not None
            and PLAIN_WITH_END * instruction_count(loop.blocks, self._facts) <= PLAIN_LENGTH
        )


def _counted(name: str, path: Path) -> str:
    """What a strategy that was asked for is counted as; those that are not modelled as left, and
    so is ``flatten``, which has declined when paths are collected."""
    if name == COLLECT:
        return REPEATING if path.repeats else QUEUE
    modelled = name in (TURNS if path.repeats else {**ARMS, **ADAPTIVE}) and name not in FLATTENING
    return name if modelled else LEAVE


def _promises(path: Path, name: str) -> bool:
    """Whether the annotation itself says that lanes will not agree on the turns of a loop."""
    return path.marker.kind == "variable" and name != REPEATING


def _loads(path: Path, facts: Facts) -> int:
    """The loads of global memory in a path."""
    every: Iterable[Any] = instructions_of(path.blocks, facts)
    return sum(one.name in LOADS and one.space in ("global", "generic") for one in every)
