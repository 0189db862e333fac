"""How many lanes are expected on a path: what a profile counted, what the user says, or a guess."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ccc.analysis.paths.model import FoundPath, Path
from ccc.passes.strategies.strategy import Hints
from ccc.passes.thresholds import UNKNOWN_TURNS, USUAL_LANES
from ccc.profile.known import Known
from ccc.ptx.types import WARP_SIZE
from ccc.remark import BY_ITS_CODE, COUNTED

UNKNOWN = "nothing is known"


@dataclass(frozen=True, slots=True)
class Lanes:
    """Means over the *visits* of warps: the iterations of a loop that a warp does.

    Args:
        source: who says so.
        entered: how often at least one lane takes the path, in a visit.
        lanes: that take it in a visit, those without any among them; of an inner loop, that begin
            it.
        turns: of a lane in an inner loop, once it has begun it; else 1.
        most_turns: of the lane with most of those that began it together.
        came: the lanes that come by in a visit.
        length: warp instructions of one execution, as counted; None where nobody did.
        iterations: of the annotated loop that a warp does once it has entered it; likewise.
        visits: of all warps, where nobody counted how often these entered the loop.
        is_known: whether anybody has told all of it.
        agree: whether the code tells that all that begin it go round as often, or, of a branch,
            that a warp's lanes likely take it together.
        beside: the lanes that come by together, where that follows from what is around it.
    """

    source: str
    entered: float
    lanes: float
    turns: float = 1.0
    most_turns: float = 1.0
    came: float = WARP_SIZE
    length: float | None = None
    iterations: float | None = None
    visits: float | None = None
    is_known: bool = True
    agree: bool = False
    beside: float = WARP_SIZE

    @property
    def is_told(self) -> bool:
        """Whether anybody has told some of it."""
        return self.source != UNKNOWN

    @property
    def executions(self) -> float:
        """How often a warp runs the path in a visit, or a turn of it."""
        return self.entered * self.most_turns

    @property
    def active(self) -> float:
        """The lanes in all executions of a visit."""
        return self.lanes * self.turns

    @property
    def together(self) -> float:
        """The lanes that are active in an execution."""
        return self.active / self.executions if self.executions else WARP_SIZE

    @property
    def told(self) -> float | None:
        """The same for the report: none where nobody comes, and nothing where nobody told."""
        if not self.is_told:
            return None
        return round(self.together, 2) if self.executions else 0.0

    @property
    def in_words(self) -> str:
        """The same for a remark."""
        if not self.executions:
            return "no lane takes it"
        number, beside = round(self.together), round(self.beside)
        if beside < WARP_SIZE:
            return f"some {number} of the {beside} lanes that come by together"
        return "some 1 lane" if number == 1 else f"some {number} lanes"

    @property
    def length_from(self) -> str:
        """How it is known how long the path is, for remarks and the report."""
        return BY_ITS_CODE if self.length is None else COUNTED

    @property
    def take_all(self) -> bool:
        """Whether no lane that comes by passes the path by."""
        return self.lanes >= self.came * (1 - 1e-9)

    @property
    def parted(self) -> float:
        """How often some lanes take the path while others pass it by, in a visit, at most: each
        time at least one of those that come does so."""
        passing = min(self.came, WARP_SIZE * self.entered) - self.lanes
        return _within(0.0, passing, self.entered)

    @staticmethod
    def counted(known: Known) -> Lanes:
        """What a profile tells; the visits are those of the innermost loop around the path.

        Lanes that end in a function lose what they counted, and so the counts of others may say
        what cannot be: then it is the nearest that can.
        """
        came = _within(1.0, known.visiting_lanes / known.visits, WARP_SIZE)
        lanes = min(known.entering_lanes / known.visits, came)
        entered = _within(lanes / WARP_SIZE, known.entries / known.visits, lanes)
        turns = known.lanes / known.entering_lanes if known.entering_lanes else 1.0
        most_turns = known.executions / known.entries if known.entries else turns
        if entered:
            active = lanes * turns / entered
            most_turns = _within(active / WARP_SIZE, most_turns, active)
        length, starts = known.length or None, known.starts
        iterations, visits = (known.visits / starts, None) if starts else (None, known.visits)
        return Lanes(
            known.source, entered, lanes, turns, most_turns, came, length, iterations, visits
        )

    def times(self, visits: float) -> Lanes:
        """The same of visits each of which is so many of these."""
        return replace(
            self,
            entered=self.entered * visits,
            lanes=self.lanes * visits,
            came=self.came * visits,
        )

    @staticmethod
    def said(path: FoundPath, prob: float, around: Lanes) -> Lanes:
        """What ``prob`` tells of those that come by, who do not agree any more than by chance.

        It tells nothing of their turns.
        """
        entered = 1 - (1 - prob) ** around.together
        return _share(path, prob, entered, around, f"prob({prob:g})", by_chance=True)

    @staticmethod
    def worst(path: Path, around: Lanes, arms: int) -> Lanes:
        """The worst case for a transformation: all lanes take the path, and as many turns.

        Of several ``arms`` of one branch all lanes take the same, now one and now another.
        """
        share = 1.0 if path.repeats else 1 / arms
        return _guess(_share(path, share, share, around, UNKNOWN, by_chance=False))

    @staticmethod
    def alike(path: Path, around: Lanes, arms: int) -> Lanes:
        """What there is where the lanes of a warp likely take a path together: the worst case."""
        return replace(Lanes.worst(path, around, arms), agree=True)

    @staticmethod
    def usual(path: Path, around: Lanes) -> Lanes:
        """A case in which there is something to gain: few lanes, or turns as chance has it."""
        share = 1.0 if path.repeats else USUAL_LANES / WARP_SIZE
        entered = min(1.0, share * around.together)
        return _guess(_share(path, share, entered, around, UNKNOWN, by_chance=True))


ALL = Lanes("", 1.0, WARP_SIZE)
"""What comes by in an iteration of an annotated loop."""

Guess = Callable[[Path, Lanes], Lanes]
"""What is taken to be a path's, by what is around it."""


def _share(
    path: FoundPath,
    share: float,
    entered: float,
    around: Lanes,
    source: str,
    by_chance: bool,
) -> Lanes:
    """A share of the lanes around a path, in a share ``entered`` of the executions there."""
    entered, lanes = entered * around.executions, share * around.active
    mine = Lanes(source, entered, lanes, came=around.active, beside=around.together)
    if not path.repeats:
        return mine
    begun = lanes / entered if entered else 0.0
    longest = most(UNKNOWN_TURNS, begun) if by_chance else UNKNOWN_TURNS
    return replace(mine, turns=UNKNOWN_TURNS, most_turns=longest)


def _within(least: float, number: float, most: float) -> float:
    return max(least, min(number, most))


def _guess(lanes: Lanes) -> Lanes:
    return replace(lanes, is_known=False)


def expected_lanes(
    paths: Sequence[Path],
    known: Callable[[Path], Known | None],
    guess: Guess,
    trip_count: Callable[[Path], int | None] = lambda _path: None,
) -> dict[Path, Lanes]:
    """What is expected of paths in an iteration of their annotated loop.

    Who begins a loop is not enough to know: if its turns are few, nothing can be gained. So where
    these are no constant, ``prob`` on a loop is only heard if it says that no lane begins it.

    Args:
        paths: the paths; of those around them nothing need be said.
        known: what a profile tells of each.
        guess: what is taken to be where nobody tells.
        trip_count: the turns of an inner loop, where those of all lanes are as many.
    """
    found: dict[Path, Lanes] = {}

    def of(path: Path) -> Lanes:
        if path not in found:
            around = ALL if path.parent is None else of(path.parent)
            counted = known(path)
            if counted is not None and counted.visits:
                found[path] = Lanes.counted(counted).times(visits(path.parent))
            else:
                turns = trip_count(path) if path.repeats else None
                said = _prob(path)
                prob = said if turns or not (said and path.repeats) else None
                lanes = guess(path, around) if prob is None else Lanes.said(path, prob, around)
                found[path] = with_turns(lanes, turns, prob is not None) if turns else lanes
        return found[path]

    def with_turns(lanes: Lanes, turns: int, is_known: bool) -> Lanes:
        return replace(lanes, turns=turns, most_turns=turns, is_known=is_known, agree=True)

    def visits(around: Path | None) -> float:
        """The turns of the innermost loop around a path in an iteration of the annotated one."""
        if around is None:
            return 1.0
        return of(around).executions if around.repeats else visits(around.parent)

    return {path: of(path) for path in paths}


def _prob(path: Path) -> float | None:
    """The share of lanes that take a path, if the user says it."""
    prob = Hints.of(path.marker).prob
    return 1 - prob if prob is not None and path.marker.kind == "else" else prob


def most(mean: float, lanes: float) -> float:
    """The turns of the lane with most of so many, where each turn is the last with equal chance.

    The largest of n such numbers is the mean times 1 + 1/2 + ... + 1/n.
    """
    return mean * sum(1 / n for n in range(1, max(1, round(lanes)) + 1))
