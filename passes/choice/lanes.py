"""How many lanes are expected on a path: what a profile counted, what the user says, or a guess."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ccc.analysis.paths.model import Path
from ccc.passes.strategies.strategy import Hints
from ccc.passes.thresholds import UNKNOWN_TURNS, USUAL_LANES
from ccc.profile.known import Known
from ccc.ptx.types import WARP_SIZE

UNKNOWN = "nothing is known"


@dataclass(frozen=True, slots=True)
class Lanes:
    """Means over the *visits* of warps: the iterations of the annotated loop that a warp does.

    Args:
        source: who says so.
        entered: the share of visits in which at least one lane takes the path.
        lanes: that take it in a visit, those without any among them; of an inner loop, that begin
            it.
        turns: of a lane in an inner loop, once it has begun it; else 1.
        most_turns: of the lane with most of those that began it together.
        length: warp instructions of one execution, as counted; None where nobody did.
        is_known: whether anybody has told.
    """

    source: str
    entered: float
    lanes: float
    turns: float = 1.0
    most_turns: float = 1.0
    length: float | None = None
    is_known: bool = True

    @property
    def executions(self) -> float:
        """How often a warp runs the path in a visit, or a turn of it."""
        return self.entered * self.most_turns

    @property
    def together(self) -> float:
        """The lanes that are active in an execution."""
        return self.lanes * self.turns / self.executions if self.executions else WARP_SIZE

    @staticmethod
    def counted(known: Known) -> Lanes:
        """What a profile tells."""
        return Lanes(
            known.source,
            known.entries / known.visits,
            known.entering_lanes / known.visits,
            known.lanes / known.entering_lanes if known.entering_lanes else 1.0,
            known.executions / known.entries if known.entries else 1.0,
            known.length or None,
        )

    @staticmethod
    def said(path: Path, prob: float) -> Lanes:
        """What ``prob`` tells, of lanes that do not agree any more than by chance."""
        entered = 1 - (1 - prob) ** WARP_SIZE
        mine = Lanes(f"prob({prob:g})", entered, prob * WARP_SIZE)
        if not path.repeats:
            return mine
        return replace(mine, turns=UNKNOWN_TURNS, most_turns=most(UNKNOWN_TURNS, mine.lanes))

    @staticmethod
    def worst(path: Path, arms: int) -> Lanes:
        """The worst case for a transformation: all lanes take the path, and as many turns.

        Of several ``arms`` of one branch all lanes take the same, now one and now another.
        """
        if path.repeats:
            return Lanes(UNKNOWN, 1.0, WARP_SIZE, UNKNOWN_TURNS, UNKNOWN_TURNS, is_known=False)
        return Lanes(UNKNOWN, 1 / arms, WARP_SIZE / arms, is_known=False)

    @staticmethod
    def usual(path: Path) -> Lanes:
        """A case in which there is something to gain: few lanes, or turns as chance has it."""
        if path.repeats:
            many = most(UNKNOWN_TURNS, WARP_SIZE)
            return Lanes(UNKNOWN, 1.0, WARP_SIZE, UNKNOWN_TURNS, many, is_known=False)
        return Lanes(UNKNOWN, 1.0, USUAL_LANES, is_known=False)


def lanes_of(path: Path, known: Known | None) -> Lanes | None:
    """What is expected of a path, by what goes before the rest; None if nobody tells."""
    if known is not None and known.visits:
        return Lanes.counted(known)
    prob = Hints.of(path.marker).prob
    if prob is not None and path.marker.kind == "else":
        prob = 1 - prob
    return None if prob is None else Lanes.said(path, prob)


def most(mean: float, lanes: float) -> float:
    """The turns of the lane with most of so many, where each turn is the last with equal chance.

    The largest of n such numbers is the mean times 1 + 1/2 + ... + 1/n.
    """
    return mean * sum(1 / n for n in range(1, max(1, round(lanes)) + 1))
