"""Which versions of the kernels are built and run, and which one each kernel gets.

A version of a kernel is a strategy for each of its annotations. Kernels are timed each by itself:
one build holds a new version of every kernel, so that as many builds are needed as one kernel has
versions, whatever the number of kernels. Where a kernel has several annotations, one of them is
changed at a time, from the best version so far (coordinate descent).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ccc.decisions import AnnotationPlace, TunedPath
from ccc.demangle import demangle
from ccc.ir.markers import WHOLE_KERNEL
from ccc.options import AUTO

LEAVE = "leave"
Version = tuple[str, ...]
"""Of one kernel: the strategies of its places, in their order."""
Assignment = dict[AnnotationPlace, str]
"""Of all kernels."""


class VersionFailed(Exception):
    """A build or a run failed, or its output is another one; the text says which."""


@dataclass(frozen=True)
class VersionTimes:
    """What came of one build and its runs.

    Attributes:
        milliseconds: of all launches of a kernel, by its name; one that was not launched is not
            there.
        declined: why the strategy that was asked for at a place does not apply.
    """

    milliseconds: Mapping[str, float]
    declined: Mapping[AnnotationPlace, str] = field(default_factory=dict)


@dataclass
class TunedKernel:
    """What is known of one kernel.

    Attributes:
        name: mangled.
        places: its annotations.
        alternatives: for each place the strategies that apply, from the one that is preferred on.
        first: the version that the policy prefers.
        times: milliseconds of each version that was run.
        dropped: why other versions are none.
    """

    name: str
    places: Sequence[AnnotationPlace]
    alternatives: Sequence[Sequence[str]]
    first: Version
    times: dict[Version, float] = field(default_factory=dict)
    dropped: dict[Version, str] = field(default_factory=dict)

    @property
    def left(self) -> Version:
        """As the compiler alone makes it."""
        return (LEAVE,) * len(self.places)

    @property
    def best(self) -> Version:
        """The fastest version so far."""
        return min(self.times, key=lambda one: self.times[one], default=self.left)

    def next(self) -> Version | None:
        """The version to try next; None if all were that are a step away from the best one."""
        known = {**self.times, **self.dropped}
        return next((one for one in self._candidates() if one not in known), None)

    def _candidates(self) -> Iterator[Version]:
        yield self.left
        yield self.first
        whole = [at for at, place in enumerate(self.places) if place.arm in WHOLE_KERNEL]
        # Without its loop over blocks a kernel is as it was, whatever its paths ask for.
        looped = [one for one in self.times if all(one[at] != LEAVE for at in whole)]
        best = min(looped, key=lambda one: self.times[one], default=self.first)
        for at, names in enumerate(self.alternatives):
            others = names if at in whole else (*names, LEAVE)
            changed = [(*best[:at], name, *best[at + 1 :]) for name in others]
            yield from (one for one in changed if {*one} - {LEAVE, AUTO} or not whole)

    def decide(self, gain: float) -> Version | None:
        """The version to take; None as long as there is nothing to compare.

        Args:
            gain: the share of its time that a version must save.
        """
        if self.left not in self.times or len(self.times) + len(self.dropped) < 2:
            return None
        worth = self.times[self.best] <= (1 - gain) * self.times[self.left]
        return self.best if worth else self.left

    def describe(self, version: Version) -> str:
        """A version in words."""
        return " + ".join(dict.fromkeys(version))

    def decisions(self, gain: float, card: str, date: str) -> list[TunedPath]:
        """An entry for each place, with the times of all that was tried there."""
        chosen = self.decide(gain)
        if chosen is None:
            return []
        before = self.times[self.left]

        def times(at: int) -> dict[str, float]:
            mine = {
                version[at]: spent
                for version, spent in self.times.items()
                if version[:at] + version[at + 1 :] == chosen[:at] + chosen[at + 1 :]
            }
            return {LEAVE: before, **{name: mine[name] for name in sorted(mine) if name != LEAVE}}

        ratio = before / self.times[chosen] if self.times[chosen] else None
        return [
            TunedPath(place, chosen[at], card, date, times(at), ratio)
            for at, place in enumerate(self.places)
        ]


class Search:
    """Finds the best version of each kernel.

    Args:
        kernels: what there is to choose from; times that are known already are not measured again.
        measure: builds and runs an assignment; it raises ``VersionFailed``.
        builds: how often it may be called.
        say: is told of each round.
    """

    def __init__(
        self,
        kernels: Sequence[TunedKernel],
        measure: Callable[[Assignment], VersionTimes],
        builds: int,
        say: Callable[[str], None] = lambda _: None,
    ):
        self.kernels = list(kernels)
        self.builds = builds
        self._measure = measure
        self._say = say
        self._waiting: list[dict[str, Version]] = []

    @property
    def planned(self) -> int:
        """How many builds are still to come, about."""
        wanted = 0
        for kernel in self.kernels:
            known = {**kernel.times, **kernel.dropped}
            wanted = max(wanted, len(set(kernel._candidates()) - set(known)))
        return min(self.builds, wanted + len(self._waiting))

    def run(self) -> None:
        """Try versions until none is left, or no build."""
        while self.builds > 0 and self._step():
            self.builds -= 1

    def _step(self) -> bool:
        """One round; False if there is nothing left to try."""
        if self._waiting:
            trial = self._waiting.pop()
        else:
            found = {kernel.name: kernel.next() for kernel in self.kernels}
            trial = {name: version for name, version in found.items() if version is not None}
        if not trial:
            return False
        assignment: Assignment = {}
        for kernel in self.kernels:
            version = trial.get(kernel.name, kernel.best)
            assignment |= zip(kernel.places, version, strict=True)
        try:
            measured = self._measure(assignment)
        except VersionFailed as failure:
            self.fail(trial, str(failure))
        else:
            self.note(trial, measured)
        return True

    def note(self, trial: Mapping[str, Version], measured: VersionTimes) -> None:
        """Remember what was measured of versions, by the names of their kernels."""
        for kernel in self.kernels:
            if kernel.name in trial:
                self._note(kernel, trial[kernel.name], measured)

    def _note(self, kernel: TunedKernel, version: Version, measured: VersionTimes) -> None:
        """What was measured of a version of a kernel."""
        declined = next(filter(None, map(measured.declined.get, kernel.places)), None)
        spent = measured.milliseconds.get(kernel.name)
        if declined is not None:
            kernel.dropped[version] = declined
        elif spent is None:
            kernel.dropped[version] = "it was not launched"
        else:
            kernel.times[version] = spent
            before = kernel.times.get(kernel.left, spent)
            ratio = f", {before / spent:.2f} times as fast as it was" if spent else ""
            self._say(f"{demangle(kernel.name)}: {kernel.describe(version)}: {spent:.4g} ms{ratio}")
            return
        said = f"{kernel.describe(version)} does not apply: {kernel.dropped[version]}"
        self._say(f"{demangle(kernel.name)}: {said}")

    def fail(self, trial: Mapping[str, Version], reason: str) -> None:
        """Drop a version that does not work; of several, find out which one that is."""
        if not trial:
            return
        if len(trial) > 1:
            names = list(trial)
            half = len(names) // 2
            parts = names[half:], names[:half]
            self._waiting += [{name: trial[name] for name in part} for part in parts]
            self._say(f"{reason}; with half of the versions each, again")
            return
        ((name, version),) = trial.items()
        (kernel,) = (one for one in self.kernels if one.name == name)
        kernel.dropped[version] = reason
        self._say(f"{name}: {kernel.describe(version)} is dropped: {reason}")
