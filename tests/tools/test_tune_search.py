"""The search of ``ccc tune``, on times that are made up."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from ccc.decisions import AnnotationPlace
from ccc.tools.tune.search import (
    Assignment,
    Search,
    TunedKernel,
    VersionFailed,
    VersionTimes,
)

GAIN = 0.02
Times = Callable[[tuple[str, ...]], float]


def kernel(name: str, *alternatives: tuple[str, ...], arm: str = "then") -> TunedKernel:
    places = [
        AnnotationPlace("k.cu", line, 1, name, "if", arm)
        for line in range(1, 1 + len(alternatives))
    ]
    return TunedKernel(name, places, alternatives, tuple(names[0] for names in alternatives))


class Bench:
    """Counts builds; a kernel takes as long as ``times`` says of its version."""

    def __init__(self, times: Mapping[str, Times]):
        self.times = times
        self.assignments: list[Assignment] = []
        self.declined: dict[str, str] = {}
        self.bad: set[tuple[str, str]] = set()

    def __call__(self, assignment: Assignment) -> VersionTimes:
        self.assignments.append(dict(assignment))
        if any((place.kernel, name) in self.bad for place, name in assignment.items()):
            raise VersionFailed("its output is another one")
        versions: dict[str, tuple[str, ...]] = {}
        for place, name in assignment.items():
            versions[place.kernel] = (*versions.get(place.kernel, ()), name)
        spent = {name: self.times[name](version) for name, version in versions.items()}
        why = {p: self.declined[s] for p, s in assignment.items() if s in self.declined}
        return VersionTimes(spent, why)


def run(kernels: list[TunedKernel], bench: Bench, builds: int = 20) -> list[str]:
    said: list[str] = []
    Search(kernels, bench, builds, said.append).run()
    return said


def table(**times: float) -> Times:
    return lambda version: times[version[0]]


def test_all_kernels_change_in_one_build() -> None:
    times = {"a": table(leave=4, queue=2, merge=3), "b": table(leave=1, merge=2, batch7=0.5)}
    bench, kernels = (
        Bench(times),
        [kernel("a", ("queue", "merge")), kernel("b", ("merge", "batch7"))],
    )
    run(kernels, bench)
    assert len(bench.assignments) == 3  # as it was, and two alternatives of each
    assert [one.decide(GAIN) for one in kernels] == [("queue",), ("batch7",)]


def test_several_annotations_are_changed_one_at_a_time() -> None:
    def spent(version: tuple[str, ...]) -> float:
        return {"leave": 3, "queue": 2, "merge": 1}[version[0]] + {"leave": 1, "queue": 5}[
            version[1]
        ]

    bench, one = Bench({"a": spent}), kernel("a", ("queue", "merge"), ("queue",))
    run([one], bench)
    assert one.decide(GAIN) == ("merge", "leave")
    assert set(one.times) == {
        ("leave", "leave"), ("queue", "queue"), ("queue", "leave"), ("merge", "leave"),
        ("merge", "queue"),
    }  # fmt: skip


def test_the_number_of_builds_has_an_end() -> None:
    bench, one = Bench({"a": table(leave=4, queue=2, merge=1)}), kernel("a", ("queue", "merge"))
    search = Search([one], bench, 2)
    assert search.planned == 2
    search.run()
    assert len(bench.assignments) == 2
    assert one.decide(GAIN) == ("queue",)


@pytest.mark.parametrize(("spent", "chosen"), [(0.99, "leave"), (0.98, "queue"), (1.5, "leave")])
def test_a_kernel_stays_as_it_was_unless_a_version_is_ahead(spent: float, chosen: str) -> None:
    one = kernel("a", ("queue",))
    run([one], Bench({"a": table(leave=1.0, queue=spent)}))
    assert one.decide(GAIN) == (chosen,)


def test_what_does_not_apply_is_no_version() -> None:
    bench, one = Bench({"a": table(leave=4, queue=1, merge=2)}), kernel("a", ("queue", "merge"))
    bench.declined["queue"] = "its tasks come back"
    said = run([one], bench)
    assert one.decide(GAIN) == ("merge",)
    assert "a: queue does not apply: its tasks come back" in said


def test_a_version_that_differs_is_found_among_others_and_dropped() -> None:
    names = "abcdefg"
    bench = Bench(dict.fromkeys(names, table(leave=4, queue=1)))
    bench.bad = {("c", "queue")}
    kernels = [kernel(name, ("queue",)) for name in names]
    said = run(kernels, bench)
    chosen = {one.name: one.decide(GAIN) for one in kernels}
    assert chosen == {name: ("leave",) if name == "c" else ("queue",) for name in names}
    assert "c: queue is dropped: its output is another one" in said
    assert len(bench.assignments) <= 2 + 2 * 3  # by halves


def test_whether_a_kernel_loops_over_blocks_is_not_tried_by_itself() -> None:
    one = kernel("a", ("auto",), ("queue", "merge"))
    one.places = [AnnotationPlace("k.cu", 1, 1, "a", "grid_stride", "grid_stride"), one.places[1]]
    run([one], Bench({"a": lambda _: 1.0}))
    assert ("leave", "queue") not in one.times
    assert ("auto", "merge") in one.times


def test_decisions_tell_what_was_measured() -> None:
    one = kernel("a", ("queue", "merge"))
    assert one.decisions(GAIN, "card", "today") == []
    run([one], Bench({"a": table(leave=4, queue=1, merge=2)}))
    (decision,) = one.decisions(GAIN, "card", "today")
    assert decision.strategy == "queue"
    assert list(decision.milliseconds.items()) == [("leave", 4), ("merge", 2), ("queue", 1)]
    assert (decision.ratio, decision.card, decision.date) == (4.0, "card", "today")


def test_what_was_found_before_an_interruption_counts() -> None:
    times = {"a": table(leave=4, queue=1, merge=2)}
    one, bench = kernel("a", ("queue", "merge")), Bench(times)

    def measure(assignment: Assignment) -> VersionTimes:
        if len(bench.assignments) == 2:
            raise KeyboardInterrupt
        return bench(assignment)

    with pytest.raises(KeyboardInterrupt):
        Search([one], measure, 9).run()
    assert one.decide(GAIN) == ("queue",)
    assert [entry.strategy for entry in one.decisions(GAIN, "", "")] == ["queue"]
