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

from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import AnnotatedLoop, Path, instructions_of
from ccc.passes.choice.cost_model import SHARED_OUT, LoopCost, PathCost
from ccc.passes.choice.exchange import ARMS, TURNS
from ccc.passes.choice.lanes import Lanes, expected_lanes
from ccc.passes.strategies.engage import is_of_others
from ccc.passes.strategies.registry import COLLECTING, FLATTENING, SHARING
from ccc.passes.strategies.strategy import Collectable, Hints, LoopStrategy
from ccc.passes.thresholds import BATCH_LOADS, GAIN, LOSS, SEVERAL, SEVERAL_GAIN
from ccc.pipeline import Kernel

LEAVE = "leave"
MERGE = "merge"
"""What serves inner loops whose tasks come back."""


@dataclass
class Chosen:
    """What is chosen for a path.

    Args:
        cost: what is known of it.
        strategy: the name.
        considered: by name, how many times as fast as the original the loop would be expected with
            it, the other paths being served as they are chosen to be; of a path that is left, how
            many times as fast as without it.
        at_worst: the same if all lanes agree, where nothing is known.
    """

    cost: PathCost
    strategy: str
    considered: dict[str, float]
    at_worst: dict[str, float]

    @property
    def expected(self) -> float:
        """How many times as fast as the original the loop is expected."""
        return self.considered.get(self.strategy, 1.0)

    @property
    def details(self) -> dict[str, Any]:
        """What the report says."""
        lanes = self.cost.lanes
        return {
            "expected": round(self.expected, 3),
            "expected_lanes": round(lanes.together, 2) if lanes.is_known else None,
            "expected_from": lanes.source,
            "path_instructions": round(self.cost.own.instructions),
            "considered": {name: round(one, 3) for name, one in self.considered.items()},
            "at_worst": {name: round(one, 3) for name, one in self.at_worst.items()},
        }

    @property
    def reason(self) -> str:
        """Why the path is left, in figures, and how to insist."""
        lanes = self.cost.lanes
        length = f"{self.cost.own.instructions:.0f} instructions"
        if not self.considered:
            return f"{length}: no strategy that might gain applies"
        best = max(self.considered, key=lambda name: self.considered[name])
        found, insist = self.considered[best], f"strategy({best}) insists"
        if lanes.is_known:
            count = f"some {lanes.together:.0f} lanes" if lanes.executions else "no lane takes it"
            some = f"{count} ({lanes.source})"
            return f"{length}, {some}: {found:.2f} expected; {insist}"
        some = f"{self.at_worst[best]:.2f} to {found:.2f} expected"
        return (
            f"{length}, and nothing is known of its lanes: {some}; tell with prob(share) or a "
            f"profile, or {insist}"
        )


def choose(paths: Sequence[Collectable], kernel: Kernel) -> None:
    """Say of each path for which nothing is asked what serves it, and leave what would not gain.

    Args:
        paths: those of a kernel that can be collected.
        kernel: takes what was chosen.
    """
    loops: dict[AnnotatedLoop, list[Collectable]] = {}
    for one in paths:
        loops.setdefault(one.path.loop, []).append(one)
    for loop, mine in loops.items():
        open_ones = [one for one in mine if one.record.is_open]
        for one, chosen in zip(open_ones, _choose(loop, open_ones, kernel), strict=True):
            if chosen is None:
                continue  # the user has chosen
            one.record.choice = chosen.details
            if chosen.strategy == LEAVE:
                one.record.leave_alone(chosen.reason)
            else:
                kernel.chosen[one.path.key] = chosen.strategy


def _choose(
    loop: AnnotatedLoop, mine: Sequence[Collectable], kernel: Kernel
) -> list[Chosen | None]:
    """What is chosen for the paths of a loop; None where the user has."""
    paths = [one.path for one in mine]
    arms = Counter(path.marker.identifier for path in paths)

    def worst(path: Path, around: Lanes) -> Lanes:
        return Lanes.worst(path, around, max(1, arms[path.marker.identifier]))

    asked = {
        path: str(request) for path in paths if (request := kernel.request_of(path)) is not None
    }
    lanes = (expected_lanes(paths, kernel.known, guess) for guess in (Lanes.usual, worst))
    usual_cost, worst_cost = (LoopCost(loop, paths, mine, kernel) for mine in lanes)
    search = _Search(usual_cost, worst_cost, asked, kernel.facts)
    served = search.best()
    return [None if path in asked else search.chosen(path, served) for path in paths]


class _Search:
    """The strategies that the paths of one loop may get.

    Args:
        cost: of the loop, as is expected.
        worst: the same, with the worst case where nothing is known.
        asked: what the user has chosen.
        facts: the function's analyses.
    """

    def __init__(self, cost: LoopCost, worst: LoopCost, asked: Mapping[Path, str], facts: Facts):
        self.cost = cost
        self._worst = worst
        self._asked = {path: _counted(name, path) for path, name in asked.items()}
        self._facts = facts
        self._free = [path for path in cost.paths if path not in asked]
        self._order = sorted(self._free, key=self._rank)

    def _rank(self, path: Path) -> tuple[float, float]:
        """Those with the highest priority first, and of these the costliest."""
        return -(Hints.of(path.marker).priority or 0), -self.cost.paths[path].saving

    def best(self) -> dict[Path, str]:
        """The fastest of what was found for each strategy that may serve the branches."""
        arms = [one.name for one in self._strategies()] or [LEAVE]
        found = (self._without_many(self._with(name)) for name in arms)
        return min(found, key=lambda served: self._slots(served, self.cost))

    def _without_many(self, served: dict[Path, str]) -> dict[Path, str]:
        """Without the branches, where there are many of them and little is to be gained."""
        branches = [path for path in self._free if not path.repeats]
        if len(branches) < SEVERAL or self._ratio({}, served, self.cost) >= SEVERAL_GAIN:
            return served
        return {path: name for path, name in served.items() if path.repeats}

    def chosen(self, path: Path, served: Mapping[Path, str]) -> Chosen:
        """What is chosen for a path, and what else was considered."""
        mine = served.get(path, LEAVE)
        names = dict.fromkeys([*self._names(path), mine])
        ways = {name: {**served, path: name} for name in names if name != LEAVE}
        before = served if mine == LEAVE else {}  # what is left is told apart from the others
        considered = {name: self._ratio(before, way, self.cost) for name, way in ways.items()}
        at_worst = {name: self._ratio(before, way, self._worst) for name, way in ways.items()}
        known = self.cost.paths[path].lanes.is_known
        return Chosen(self.cost.paths[path], mine, considered, {} if known else at_worst)

    def _slots(self, served: Mapping[Path, str], cost: LoopCost) -> float:
        return cost.slots({**self._asked, **served})

    def _ratio(self, before: Mapping[Path, str], after: Mapping[Path, str], by: LoopCost) -> float:
        return self._slots(before, by) / self._slots(after, by)

    def _with(self, arms: str) -> dict[Path, str]:
        """What to do if branches are served by one strategy: add paths as long as that pays."""
        served: dict[Path, str] = {}
        changed = True
        while changed:
            changed = False
            for path in self._order:
                if path in served:
                    continue
                for name in self._names(path) if path.repeats else [arms]:
                    if self._pays(path, {**served, path: name}, served):
                        served[path], changed = name, True
                        break
        return served

    def _pays(self, path: Path, after: Mapping[Path, str], before: Mapping[Path, str]) -> bool:
        """Whether a path should be served, too; where nothing is known, only if that may not cost
        much."""
        if not path.repeats and not self._applies(after):
            return False
        if self._ratio(before, after, self.cost) < GAIN:
            return False
        if self.cost.paths[path].lanes.is_known:
            return True
        promised = {one: name for one, name in after.items() if _promises(one, name)}
        return path in promised or self._ratio(promised, after, self._worst) >= LOSS

    def _applies(self, served: Mapping[Path, str]) -> bool:
        """Whether the strategy of the branches can serve these."""
        arms = [path for path in served if not path.repeats]
        strategy = next(one for one in self._strategies() if one.name == served[arms[0]])
        return strategy.applies(arms, self._facts) is None

    def _names(self, path: Path) -> list[str]:
        """What may serve one path, from what is preferred on."""
        if not path.repeats:
            return [one.name for one in self._strategies() if self._can(one, path)]
        if any(
            one.leads_to(path) and is_of_others(path, self._facts, True) for one in self.cost.paths
        ):
            return [MERGE]
        sharing = [one for one in SHARING if one.name in SHARED_OUT]
        able = [one.name for one in sharing if one.applies([path], self._facts) is None]
        return [*able, MERGE]

    def _can(self, strategy: LoopStrategy, path: Path) -> bool:
        """Whether it can serve a path, with all others if it is one for several."""
        paths = [one for one in self._free if not one.repeats] if strategy.together else [path]
        return strategy.applies(paths, self._facts) is None

    def _strategies(self) -> list[LoopStrategy]:
        """What may serve the branches; batches only with few loads in them."""
        arms = [path for path in self._free if not path.repeats]
        few = all(_loads(path, self._facts) <= BATCH_LOADS for path in arms)
        return [one for one in COLLECTING if one.name in ARMS and (one.iterations == 1 or few)]


def _counted(name: str, path: Path) -> str:
    """What a strategy that was asked for is counted as; those that are not modelled as left, and
    so is ``flatten``, which has declined when paths are collected."""
    modelled = name in (TURNS if path.repeats else ARMS) and name not in FLATTENING
    return name if modelled else LEAVE


def _promises(path: Path, name: str) -> bool:
    """Whether the annotation itself says that lanes will not agree on the turns of a loop."""
    return path.marker.kind == "variable" and name != MERGE


def _loads(path: Path, facts: Facts) -> int:
    """The loads of global memory in a path."""
    every: Iterable[Any] = instructions_of(path.blocks, facts)
    return sum(one.name == "ld" and one.space in ("global", "generic") for one in every)
