"""What only all functions of a module tell together: how long paths are with all that they call,
and how often recursive functions are begun.

Of a function that is called from several places it is not known how long it runs for which: then
each call counts as long as all are on average.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ccc.profile.model import KernelProfile, PathProfile

_REPEATING = ("while", "for variable", "recursion")

Entry = Mapping[str, Any]
"""Of a function, a path or a place with calls, in the table."""


def with_calls(
    kernels: Sequence[KernelProfile], entries: Sequence[Entry], counters: Sequence[int]
) -> list[KernelProfile]:
    """The functions of a module, completed.

    Args:
        kernels: with what their own counters tell.
        entries: theirs, in the table.
        counters: of the module.
    """
    calls = _Calls(kernels, entries, counters)
    return [calls.completed(name) for name in calls.kernels]


class _Calls:
    """The calls of one module."""

    def __init__(
        self, kernels: Sequence[KernelProfile], entries: Sequence[Entry], counters: Sequence[int]
    ):
        self.kernels = {kernel.name: kernel for kernel in kernels}
        self.entries = {entry["name"]: entry for entry in entries}
        self.counters = counters
        self.means: dict[str, float] = {}

    def completed(self, name: str) -> KernelProfile:
        """A function with what the others tell of its paths."""
        kernel, entry = self.kernels[name], self.entries[name]
        paths = [
            self._begun(name, self._with_inner(kernel, entry, number))
            if kernel.paths[number].counted
            else kernel.paths[number]
            for number in range(len(kernel.paths))
        ]
        return replace(kernel, paths=tuple(paths))

    def _with_inner(self, kernel: KernelProfile, entry: Entry, number: int) -> PathProfile:
        """A path with the instructions of those inside it, and of what all these call.

        What is inside another copy of itself, such as the rest of a loop whose first turn nvcc took
        out of it, has its instructions counted with that one, and is begun with it.
        """
        path = kernel.paths[number]
        if any(_same(path, kernel.paths[n]) for n in _around(entry, number)):
            return _not_begun(path) if path.directive in _REPEATING else path
        inside = [n for n in range(len(kernel.paths)) if number in (n, *_around(entry, n))]
        sites = [site for site in entry["sites"] if site["path"] in inside]
        own = sum(kernel.paths[other].instructions for other in inside)
        return replace(path, all_instructions=own + self._called(kernel.name, sites))

    def _begun(self, name: str, path: PathProfile) -> PathProfile:
        """A path that is a function which calls itself: it is begun by the calls of others."""
        if path.directive != "recursion" or path.visits or not path.all_instructions:
            return path
        every = [(other, site) for other, e in self.entries.items() for site in e["sites"]]
        mine = [site for other, site in every if site["callee"] == name != other]
        visits, visiting = self._pairs(site["visits"] for site in mine)
        entries, entering = self._pairs(site["counter"] for site in mine)
        return replace(
            path,
            visits=max(visits, entries),  # an iteration may call it in several places
            visiting_lanes=max(visiting, entering),
            entries=entries,
            entering_lanes=entering,
        )

    def _pairs(self, firsts: Iterable[int | None]) -> tuple[int, int]:
        """The sums of pairs of counters."""
        known = [first for first in firsts if first is not None]
        return sum(self.counters[n] for n in known), sum(self.counters[n + 1] for n in known)

    def _called(self, name: str, sites: Iterable[Entry]) -> float:
        """The instructions of what a function calls at some places, but for itself."""
        return sum(
            self.counters[site["counter"]] * self._mean(site["callee"])
            for site in sites
            if site["callee"] != name
        )

    def _mean(self, name: str) -> float:
        """The instructions of a call of a function, with what it calls."""
        if name in self.kernels and name not in self.means:
            self.means[name] = 0.0  # where functions call one another, each is counted once
            entry = self.entries[name]
            again = [site["counter"] for site in entry["sites"] if site["callee"] == name]
            begun = self._pairs([entry["entered"]])[0] - self._pairs(again)[0]
            total = self.kernels[name].instructions + self._called(name, entry["sites"])
            self.means[name] = total / begun if begun > 0 else 0.0
        return self.means.get(name, 0.0)


def _around(entry: Entry, number: int) -> Iterator[int]:
    """The paths around a path, from the innermost on.

    Raises:
        ValueError: of some paths each lies inside the next one, as in a file that is damaged.
    """
    around = entry["paths"][number]["inside"]
    for _ in entry["paths"]:
        if around is None:
            return
        yield around
        around = entry["paths"][around]["inside"]
    if around is not None:
        raise ValueError("paths lie inside one another")


def _not_begun(path: PathProfile) -> PathProfile:
    return replace(path, visits=0, visiting_lanes=0, entries=0, entering_lanes=0)


def _same(one: PathProfile, other: PathProfile) -> bool:
    """Whether two paths are copies of one arm of an annotation."""
    return one.place == other.place and one.arm == other.arm
