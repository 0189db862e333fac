"""What only all functions of a module tell together: how long paths are with all that they call,
and how often recursive functions are begun.

Of a function that is called from several places it is not known how long it runs for which: then
each call counts as long as all are on average.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ccc.profile.data import KernelProfile, PathProfile

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
        """A path with the instructions of those inside it, and of what all these call."""
        inside = [number]
        for other, told in enumerate(entry["paths"]):
            around = told["inside"]
            while around is not None and around != number:
                around = entry["paths"][around]["inside"]
            inside += [other] if around is not None else []
        sites = [site for site in entry["sites"] if site["path"] in inside]
        own = sum(kernel.paths[other].instructions for other in inside)
        called = self._called(kernel.name, sites)
        return replace(kernel.paths[number], all_instructions=own + called)

    def _begun(self, name: str, path: PathProfile) -> PathProfile:
        """A path that is a function which calls itself: it is begun by the calls of others."""
        if path.directive != "recursion" or path.visits:
            return path
        every = [(other, site) for other, e in self.entries.items() for site in e["sites"]]
        mine = [site for other, site in every if site["callee"] == name != other]
        visits, visiting = self._pairs(site["visits"] for site in mine)
        entries, entering = self._pairs(site["counter"] for site in mine)
        return replace(
            path,
            visits=visits,
            visiting_lanes=visiting,
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
