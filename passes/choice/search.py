"""The search for what serves the paths of one loop best: paths get strategies as long as that pays.

What is expected has to gain, and what may be, where nothing is known, must not lose much.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ccc.analysis.facts import Facts
from ccc.analysis.likeness import parts_others
from ccc.analysis.paths.last_test import find_last_test
from ccc.analysis.paths.model import AnnotatedLoop, Path, instructions_of
from ccc.options import COLLECT
from ccc.passes.choice.chosen import LEAVE, Chosen
from ccc.passes.choice.cost_model import TOGETHER, LoopCost
from ccc.passes.choice.exchange import ADAPTIVE, ARMS, TURNS
from ccc.passes.choice.inner_loops import SHARED_OUT
from ccc.passes.choice.loop_costs import LoopCosts
from ccc.passes.choice.nesting import (
    forced_by,
    loops_around,
    needed_of,
    outermost_first,
    with_path,
    with_paths,
)
from ccc.passes.context_collection.task_counts import reduces
from ccc.passes.policy import REPEATING, batches_pay
from ccc.passes.strategies.engage import ENGAGE, ENGAGE_BLOCK, is_exact, is_of_others
from ccc.passes.strategies.merge import MERGE
from ccc.passes.strategies.queue import QUEUE
from ccc.passes.strategies.registry import COLLECTING, FLATTENING, SHARING
from ccc.passes.strategies.strategy import Hints, LoopStrategy, instruction_count
from ccc.passes.thresholds import (
    ADAPTIVE_GAIN,
    AS_FAST,
    BATCH_LOADS,
    BLOCK_TURN,
    GAIN,
    GAIN_OF_WARPS,
    LOSS,
    LOSS_OF_MEMORY,
    LOSS_OF_WARPS,
    MEMORY_GAIN,
    MORE_CACHE,
    MUCH_MEMORY,
    PLAIN_LENGTH,
    PLAIN_WITH_END,
    SEVERAL,
    SEVERAL_GAIN,
)
from ccc.pipeline import Kernel
from ccc.ptx.opcodes import LOADS
from ccc.ptx.types import MAY_BE_GLOBAL
from ccc.remark import span_of

CONSTANTS = (
    "lanes that read constant memory at one address, which is served at once, may read it at many"
)
"""On an H200 (2026-11-29) splines in constant memory, of which the lanes of a warp mostly have the
same one, were 0.12 times as fast."""


PARTS = (
    "lanes of a warp likely go round as often in a loop of it, which tasks of several iterations "
    "do not"
)
"""On an H200 (2026-11-29) pixels, of which those of a tile are refined as often and nearly all are,
were 0.72 times as fast."""


ROUNDS = (
    "a loop around it lets the block meet, so that threads may have hardly an iteration each time"
)
"""On an H200 (2026-11-30) columns of a product of sparse matrices, a row for a block, were counted
0.44 to 0.85 times as fast with ``engage``."""


RISKED = "and no less than {:g} is risked unasked"


class StrategySearch:
    """The strategies that the paths of one loop may get.

    Args:
        costs: what the loop may cost.
        asked: what the user has chosen.
        forced: what serves loops for the sake of what was asked for in them.
        kernel: the kernel.

    Attributes:
        cost: of the loop, as is expected.
        order: the paths, those first that get stacks first.
    """

    _too_little: Mapping[Path, str] = MappingProxyType({})
    """What would serve paths of which nothing comes, since there are many and gain too little."""

    def __init__(
        self,
        costs: LoopCosts,
        asked: Mapping[Path, str],
        forced: Mapping[Path, str],
        kernel: Kernel,
    ):
        self.cost = costs.expected
        self._costs = costs
        self._requests = asked
        self._forced = forced
        counted = {path: _counted(name, path) for path, name in asked.items()}
        self._asked = {**counted, **forced}
        self._facts = kernel.facts
        self._is_tried = kernel.trying
        self._able_beside = functools.cache(self._able)  # asked for each of a hundred branches
        self.order = sorted(self.cost.paths, key=self._rank)
        self._free = [path for path in self.order if path not in self._asked]

    @staticmethod
    def of(loop: AnnotatedLoop, paths: Sequence[Path], kernel: Kernel) -> StrategySearch:
        """That of some paths of a loop."""
        requests = {path: kernel.request_of(path) for path in paths}
        asked = {path: request for path, request in requests.items() if request is not None}
        names = {path: str(request) for path, request in asked.items()}
        costs = LoopCosts.of(loop, paths, kernel)
        return StrategySearch(costs, names, forced_by(asked, paths), kernel)

    def _rank(self, path: Path) -> tuple[float, float]:
        """Those with the highest priority first, and of these the costliest."""
        return -(Hints.of(path.marker).priority or 0), -self.cost.paths[path].saving

    def is_asked(self, path: Path) -> bool:
        """Whether the user has chosen."""
        return path in self._requests

    def best(self) -> dict[Path, str]:
        """The fastest of what was found for each strategy that may serve the branches."""
        arms = [one.name for one in self._strategies(self._free)] or [LEAVE]
        grown = [self._with(name) for name in arms]
        found = self._fastest(map(self._without_many, grown))
        fastest = self._fastest(grown)
        self._too_little = {path: name for path, name in fastest.items() if path not in found}
        return {**self._with_more_cache(found), **self._forced}

    def _with_more_cache(self, served: dict[Path, str]) -> dict[Path, str]:
        """By a strategy with half the stack, where that leaves much more of the first level cache
        to what lanes read apart from one another, and takes hardly longer."""
        changed = {path: MERGE.name for path, name in served.items() if name == QUEUE.name}
        smaller = {**served, **changed}
        if not changed or not self.cost.reads_apart:
            return served
        left, before = (self.cost.cache({**self._asked, **one}) for one in (smaller, served))
        as_fast = self._ratio(served, smaller, self.cost) >= AS_FAST
        if not before or left < MORE_CACHE * before or not as_fast:
            return served
        return smaller if all(self._pays(path, smaller, {}) for path in changed) else served

    def gain(self, served: Mapping[Path, str]) -> float:
        """How many times as fast as the original the loop is expected to be."""
        return self._ratio({}, served, self.cost)

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
        ways = {one: with_paths(state, changed, one, self._free) for one in names if one != LEAVE}
        if not request:
            able = [one for one, way in ways.items() if one in TOGETHER or self._applies(path, way)]
            ways = {one: ways[one] for one in able}
        other = self._served_otherwise(path, state)
        rest = {one: name for one, name in state.items() if one not in other}
        before = rest if mine == LEAVE else {}

        def ratios(cost: LoopCost) -> dict[str, float]:
            return {name: cost.slots(before) / cost.slots(way) for name, way in ways.items()}

        missing = {} if request else self._missing_of(path, ways, before)
        cases = [ratios(one) for one in self._cases([path])]
        at_worst = {name: min(one[name] for one in cases) for name in ways if cases}
        alike = [one for one in self._free if one.marker.identifier == path.marker.identifier]
        whole = {name: with_paths(way, alike, name, self._free) for name, way in ways.items()}
        too_large = {
            name: self.cost.share(way) for name, way in whole.items() if not self.cost.fits(way)
        }
        told = {name: self.cost.fewer_warps(way) for name, way in ways.items()}
        fewer = {name: text for name, text in told.items() if text is not None}
        cost = self.cost.paths[path]
        with_it = self._handed_on_with(path, state) if mine == LEAVE and not request else ""
        same = [one for one in self.cost.paths if one.marker.identifier == path.marker.identifier]
        found = ratios(self.cost)
        costs = (self.cost, *self._cases(alike))
        of_all = {
            name: max(one.slots(before) / one.slots(way) for one in costs)
            for name, way in whole.items()
        }
        both = {name: ((way, [path]), (whole[name], alike)) for name, way in ways.items()}
        by_itself = {
            name: max(_gained(*one, cost) for one in both[name] for cost in costs)
            for name in (ways if with_it else ())
        }
        return Chosen(
            cost, mine, found, at_worst, too_large, fewer, missing, with_it, by_itself,
            is_alone=len(same) == 1, of_all=of_all, waits=self.cost.waits_for_memory,
            iterations=self.cost.iterations,
            if_short={} if self._has_known_length(path) else ratios(self._costs.short),
        )  # fmt: skip

    def _missing_of(
        self, path: Path, ways: Mapping[str, Mapping[Path, str]], before: Mapping[Path, str]
    ) -> dict[str, str]:
        """What is missing for a path that is left to get one of some strategies."""
        if path in self._too_little:
            branches = sum(not one.repeats for one in self._free)
            ratio = self._ratio({}, self._too_little, self.cost)
            together = (
                f"{ratio:.2f} with all that pay of the {branches} branches in its loop, where "
                f"{SEVERAL_GAIN:g} is the least"
            )
            return dict.fromkeys(ways, together)
        found = {name: self._missing(path, way, before) for name, way in ways.items()}
        return {name: text for name, text in found.items() if text is not None}

    def _served_otherwise(self, path: Path, served: Mapping[Path, str]) -> list[Path]:
        """The loops that would have to be handed on with a path, and are not."""
        return [one for one in needed_of(path, self._free) if served.get(one) != REPEATING]

    def _handed_on_with(self, path: Path, served: Mapping[Path, str]) -> str:
        """The innermost of these, in words, with what is expected of what it has now."""
        others = self._served_otherwise(path, served)
        for loop in others:
            name = served.get(loop, LEAVE)
            which = "around it" if loop in loops_around(path) else "that its tasks come to"
            before = {one: how for one, how in served.items() if one not in others}
            alone = f"({self._ratio(before, served, self.cost):.2f} with {name} alone)"
            instead = ", too" if name == LEAVE else f" in place of {name} {alone}"
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
        orders = (self._free, outermost_first(self._free, self.cost.paths))
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

    def would_share(self, path: Path, served: Mapping[Path, str]) -> bool:
        """Whether turns of a loop would be shared out if they could be, or nobody knows: it would
        be another one without the arrays that it uses."""
        if path.marker.kind != "variable":
            return False
        after = with_path({**served}, path, ENGAGE.name, self._free)
        return bool(self._facts.local.reads(path.blocks)) or self._pays(path, after, served)

    def _pays(self, path: Path, after: Mapping[Path, str], before: Mapping[Path, str]) -> bool:
        """Whether a path should be served, too, and has room; where its lanes or their turns are
        not known, only if that may not cost much."""
        if not self._applies(path, after) or not self.cost.fits({**self._asked, **after}):
            return False
        return self._missing(path, after, before) is None

    def _missing(
        self, path: Path, after: Mapping[Path, str], before: Mapping[Path, str]
    ) -> str | None:
        """What is missing for a path to be served, too, of what is expected; None if nothing is."""
        least = self._least(path, after)
        if self._ratio(before, after, self.cost) < least:
            return f"{least:g} is the least for which that is done unasked"
        changed = [one for one, name in after.items() if before.get(one) != name]
        promised = {
            one: name
            for one, name in after.items()
            if REPEATING not in after.values() and self._promises(one, name)
        }
        cases = [] if path in promised else self._cases(changed)
        worst = min((self._ratio(promised, after, one) for one in cases), default=1.0)
        if worst < LOSS:
            told = span_of(worst, worst, [LOSS])
            return f"{told} in the worst case of all that would be done, {RISKED.format(LOSS)}"
        unknown = not all(self.cost.paths[one].lanes.is_known for one in changed)
        if unknown and self.cost.iterations is None and self.cost.is_of_a_round:
            return ROUNDS
        if self._costs.worst not in cases:
            return None
        branches = [one for one in changed if not one.repeats]
        if any(_asks_constants(one, self._facts) for one in branches):
            return CONSTANTS
        if any(parts_others(one.blocks, self._facts) for one in branches):
            return PARTS
        speed = self._speed_of_registers(after)
        if speed < LOSS_OF_MEMORY and self.cost.idles_for_memory:
            told = f"{span_of(speed, speed, [LOSS_OF_MEMORY])} with its registers"
            return f"{told} if no lane takes it, {RISKED.format(LOSS_OF_MEMORY)}"
        worst = self._ratio(promised, after, self._costs.worst) * speed
        if worst >= LOSS_OF_WARPS:
            return None
        told = span_of(worst, worst, [LOSS_OF_WARPS])
        return f"{told} in the worst case with its registers, {RISKED.format(LOSS_OF_WARPS)}"

    def _cases(self, paths: Iterable[Path]) -> list[LoopCost]:
        """What may be besides what is expected of paths: that all lanes take those of which nothing
        is known, and that loops in them go round seldom, or ways in them are hardly taken."""
        lanes_known = all(self.cost.paths[one].lanes.is_known for one in paths)
        length_known = all(self._has_known_length(one) for one in paths)
        short = [] if length_known else [self._costs.short, self._costs.short_at_worst]
        repeat = not lanes_known and not length_known and any(one.repeats for one in paths)
        return [
            *[self._costs.worst] * (not lanes_known),
            *short,
            *[self._costs.worst_if_short] * repeat,
        ]

    def _has_known_length(self, path: Path) -> bool:
        """Whether no ways and turns of loops had to be guessed for the length of a path."""
        return self.cost.paths[path].own == self._costs.short.paths[path].own

    def _speed_of_registers(self, served: Mapping[Path, str]) -> float:
        return self.cost.speed_of_registers({**self._asked, **served})

    def _least(self, path: Path, after: Mapping[Path, str]) -> float:
        """What has to be expected of a path's strategy. Where nobody tells anything but that lists
        differ, and lanes that find them even run their own, it may not cost much."""
        name = after[path]
        asks = reduces(self.cost.arch) and not self.cost.paths[path].lanes.is_told
        if asks and self._promises(path, name):
            return LOSS
        if not path.repeats and self.cost.memory >= MUCH_MEMORY:
            return max(MEMORY_GAIN, ADAPTIVE_GAIN if name in ADAPTIVE else 0.0)
        is_guess = not path.repeats and not self.cost.paths[path].lanes.is_known
        hands_on = any(one.repeats and other == REPEATING for one, other in after.items())
        if (is_guess or hands_on) and self._speed_of_registers(after) < 1:
            return GAIN_OF_WARPS
        return ADAPTIVE_GAIN if name in ADAPTIVE else 1.0 if self._is_tried else GAIN

    def _promises(self, path: Path, name: str) -> bool:
        """Whether the annotation itself says that lanes will not agree on the turns of a loop, of
        which the code says no other, and these wait for memory, which hides what it costs to ask.
        """
        mine = self.cost.paths[path]
        may_differ = path.marker.kind == "variable" and not mine.lanes.agree
        return may_differ and name != REPEATING and mine.turn.streams > 0

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
        return [
            one.name
            for one in self._able_beside(tuple(beside))
            if one.together or one.applies([path], self._facts) is None
        ]

    def _able(self, beside: Sequence[Path]) -> list[LoopStrategy]:
        """What may serve a branch beside others: of what serves several, what can do so."""
        arms = [one for one in beside if not one.repeats]
        return [
            one
            for one in self._strategies(beside)
            if not one.together or one.applies(arms, self._facts) is None
        ]

    def _may_meet_block(self, path: Path) -> bool:
        """Whether the block may share out an inner loop where nobody asks for that: what it saves
        is that warps wait for one another, which no figure of a warp tells; what they wait for
        memory, and how long guessed loops in a turn are, counts where a profile tells it. Which of
        them adds up what is found out as they run, so rounded sums would differ from launch to
        launch."""
        one = self.cost.paths[path]
        turn = one.full_turn if one.lanes.is_known else self._costs.short.paths[path].own
        alone = len(self.cost.paths) == 1
        is_long = turn.slots(self.cost.arch) >= BLOCK_TURN
        return alone and is_long and is_exact(path, self._facts)

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
        return REPEATING if path.repeats else QUEUE.name
    modelled = name in (TURNS if path.repeats else {**ARMS, **ADAPTIVE}) and name not in FLATTENING
    return name if modelled else LEAVE


def _asks_constants(path: Path, facts: Facts) -> bool:
    """Whether lanes ask constant memory for what may be at an address of each lane's own."""
    own = (one for label in path.blocks for one in facts.divergence.differing(label))
    return any(one.space == "const" for one in own)


def _loads(path: Path, facts: Facts) -> int:
    """The loads of global memory in a path."""
    every: Iterable[Any] = instructions_of(path.blocks, facts)
    return sum(one.name in LOADS and one.space in MAY_BE_GLOBAL for one in every)


def _gained(served: Mapping[Path, str], paths: Collection[Path], cost: LoopCost) -> float:
    """How many times as fast a loop is expected to be as with the same for all but some paths."""
    others = {path: name for path, name in served.items() if path not in paths}
    return cost.slots(others) / cost.slots(served)
