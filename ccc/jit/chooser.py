"""Which version of a kernel the next call takes, while calls are timed one after the other.

No version gets a call of its own: each call has to be made anyway, and takes one version or
another. A call that is slow because of its arguments must not count against the version that it
took, so the order is drawn at random, and a version is out only when its fastest call was slower
than half of those of the best one.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ccc.passes.thresholds import TUNED_CALLS, TUNED_GAIN, TUNED_ROUNDS

LEAVE, AUTO = "leave", "auto"


@dataclass(frozen=True, slots=True)
class NextCall:
    """The version that a call takes, and whether it is to be timed."""

    version: str
    timed: bool


@dataclass
class Chooser:
    """What is known of the versions of a kernel for one shape of its launch.

    Attributes:
        versions: those that there are, ``leave`` the first of them.
        times: milliseconds of the calls of each.
        calls: how many calls were given to each, whether they have ended or not.
        chosen: the version that is ahead, once that is known.
        seed: of the order.
    """

    versions: Sequence[str]
    times: dict[str, list[float]] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    chosen: str | None = None
    seed: int = 0
    _turn: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._order = random.Random(self.seed)
        self._left = list(self.versions)
        if len(self._left) == 1:
            self.chosen = self._left[0]

    def next(self) -> NextCall:
        """What the next call takes. The first call of a version loads it, and is not timed."""
        if self.chosen is not None:
            return NextCall(self.chosen, timed=False)
        self._turn = [one for one in self._turn if one in self._left]
        if not self._turn:
            if all(self.calls.get(one, 0) > TUNED_ROUNDS for one in self._left):
                return NextCall(self.best, timed=False)  # calls were faster than their times came
            self._turn = self._order.sample(self._left, len(self._left))
        version = self._turn.pop()
        self.calls[version] = self.calls.get(version, 0) + 1
        return NextCall(version, timed=self.calls[version] > 1)

    def note(self, version: str, milliseconds: float) -> None:
        """A timed call of a version has ended."""
        self.times.setdefault(version, []).append(milliseconds)
        if self.chosen is None:
            self._decide()

    def drop(self, version: str) -> bool:
        """This version cannot be made, or launched; whether there is another one to take.

        Several threads may find that out of the same version.
        """
        if self.chosen is not None:
            return version != self.chosen
        if self.has(version):
            self._left.remove(version)
            self._decide()
        return True

    def has(self, version: str) -> bool:
        """Whether a version may yet turn out to be the one to take."""
        return version in self._left

    @property
    def best(self) -> str:
        """The version that is best as far as is known; ``auto`` where nothing is."""
        if self.chosen is not None:
            return self.chosen
        known = [one for one in self._left if self.times.get(one)]
        if not known:
            return AUTO if AUTO in self._left else self._left[0]
        return self._preferred(min(known, key=self._middle))

    @property
    def milliseconds(self) -> Mapping[str, float]:
        """Of a call, the median, by version."""
        return {one: self._middle(one) for one in self.versions if self.times.get(one)}

    def _middle(self, version: str) -> float:
        return statistics.median(self.times[version])

    def _preferred(self, best: str) -> str:
        """The best version, or ``leave`` where that is not behind by enough."""
        left = self.times.get(LEAVE)
        if LEAVE not in self._left or not left:
            return best
        ahead = self._middle(best) <= (1 - TUNED_GAIN) * self._middle(LEAVE)
        return best if ahead else LEAVE

    def _decide(self) -> None:
        counts = [len(self.times.get(one, ())) for one in self._left]
        if min(counts) >= TUNED_CALLS:
            middle = min(map(self._middle, self._left))
            self._left = [
                one for one in self._left if (1 - TUNED_GAIN) * min(self.times[one]) <= middle
            ]
        if len(self._left) == 1:
            self.chosen = self._left[0]
        elif min(len(self.times.get(one, ())) for one in self._left) >= TUNED_ROUNDS:
            self.chosen = self.best
