"""What the cost model expected with a profile, beside what was measured on the same inputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ccc.tools.bench.results import PROFILED, Entry
from ccc.tools.bench.versions import LEAVE

CLOSE = 0.03
"""So near to 1 a measured ratio speaks for nobody."""
NO_CHANGE = 0.005
"""So near to 1 an expectation, which reads 1.00, is that nothing changes."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """One strategy for the paths of one kernel, on certain inputs.

    Attributes:
        entry: where it was measured.
        strategy: or several, where paths differ.
        lanes: that a profile counted on the path, in the mean; None of several paths.
        predicted: how many times as fast as the original.
        measured: likewise.
    """

    entry: Entry
    strategy: str
    lanes: float | None
    predicted: float
    measured: float

    @property
    def takes_side(self) -> bool:
        """Whether a gain or a loss was predicted."""
        return abs(self.predicted - 1) >= NO_CHANGE

    @property
    def agrees(self) -> bool:
        """Whether a gain was measured where one was predicted, and a loss where a loss was; where
        neither was, whether neither was measured."""
        if not self.takes_side:
            return abs(self.measured - 1) <= CLOSE
        return abs(self.measured - 1) <= CLOSE or (self.predicted > 1) == (self.measured > 1)


def predictions(entries: Iterable[Entry]) -> list[Prediction]:
    """Those of all entries for which something was predicted."""
    return [one for entry in entries for one in _of(entry)]


def _of(entry: Entry) -> Iterator[Prediction]:
    """What was predicted of one entry.

    Of a kernel with one path that is each strategy that was considered and tried; of one with
    several, whose strategies go together, what was chosen.
    """
    paths = [path for path in entry.profiled if path.get("considered")]
    if len(paths) == 1:
        yield from _considered(entry, paths[0])
    elif any(path["applied"] for path in paths) and PROFILED in entry:
        served = [path for path in paths if path["applied"]]
        names = ", ".join(dict.fromkeys(path["strategy"] for path in served))
        expected = max(path["expected"] for path in served)
        yield Prediction(entry, names, None, expected, entry.speedup(PROFILED))


def _considered(entry: Entry, path: dict[str, Any]) -> Iterator[Prediction]:
    for name, predicted in path["considered"].items():
        if name in entry.trials:
            measured = entry.trials[LEAVE] / entry.trials[name]
            yield Prediction(entry, name, path["expected_lanes"], predicted, measured)


def best(found: Iterable[Prediction]) -> list[Prediction]:
    """Of each entry the one of which most was expected."""
    ahead: dict[tuple[str, str], Prediction] = {}
    for one in found:
        known = ahead.setdefault(one.entry.key, one)
        if one.predicted > known.predicted:
            ahead[one.entry.key] = one
    return list(ahead.values())
