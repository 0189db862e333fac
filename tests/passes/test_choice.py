"""What the choice takes, and leaves, of branches whose lanes and lengths are known."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from cProfile import Profile
from types import CodeType

import pytest
from arms import Arm, kernel, remarks
from breadth import one_in
from emulating import needs_nvcc
from folders import SAMPLES

from ccc.compiler.transform import transform
from ccc.nvcc import run as nvcc
from ccc.nvcc.explain import considered
from ccc.options import COLLECT, Options
from ccc.passes.choice.chosen import (
    COSTS,
    LOSES,
    REMOVE,
    SO_FAR,
    TELL,
    TOO_MANY,
    TOO_SHORT,
)
from ccc.passes.thresholds import GAIN, LOSS, SEVERAL, SEVERAL_GAIN
from ccc.remark import Remark

pytestmark = pytest.mark.usefixtures("few_headers", "in_process")


def served(found: Sequence[Remark]) -> list[int]:
    """The numbers of the arms that were collected."""
    return [one.position.line - 10 for one in found if one.applied]


FOUR = (Arm(30, 0.05), Arm(300, 0.05), Arm(60, 0.05), Arm(120, 0.05))
COSTLIEST_FIRST = [1, 3, 2, 0]


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(1024, []), (2048, [1]), (4096, [1, 3]), (6144, [1, 2, 3]), (8192, [0, 1, 2, 3])],
)
def test_the_costliest_get_stacks_first(limit: int, expected: list[int]) -> None:
    """A context of two words takes 2 KB of a block of eight warps, where lanes keep their tasks."""
    assert served(remarks(kernel(*FOUR), strategy="merge", shared_limit=limit)) == expected
    chosen = served(remarks(kernel(*FOUR), shared_limit=limit))
    assert chosen == sorted(COSTLIEST_FIRST[: len(chosen)])
    assert set(chosen) == set(expected) - {0}  # which is too short to gain


def test_a_priority_goes_before_the_cost() -> None:
    first = Arm(30, 0.05, clauses="priority=1")
    assert served(remarks(kernel(first, *FOUR[1:]), strategy="merge", shared_limit=2048)) == [0]


@pytest.mark.parametrize("arms", [(Arm(2, 0.25),) * 4, (Arm(2, 0.25),)])
def test_nobody_is_to_make_room_for_what_would_lose(arms: tuple[Arm, ...]) -> None:
    unbounded = kernel(*arms).replace(".maxntid 256, 1, 1", "")
    for one in remarks(unbounded, shared_limit=1024):
        assert one.details["does_not_fit"]
        assert re.search(r"expected 0\.\d+ times as fast", str(one.advice))
        assert "too short to gain" in str(one.advice)
        assert not re.search("do not fit|launch_bounds|strategy|remove", str(one.advice))


def test_what_has_no_room_says_so() -> None:
    found = remarks(kernel(*FOUR), strategy="merge", shared_limit=2048)
    assert all("do not fit into shared memory" in str(found[arm].advice) for arm in (0, 2, 3))
    chosen = remarks(kernel(*FOUR), shared_limit=1024)
    room = r"do not fit into shared memory; blocks of \d+ threads have room, unless [^;]*$"
    assert all(re.search(room, str(one.advice)) for one in chosen[1:])
    more = (
        "is the least for which that is done unasked, and its stacks do not fit into shared memory"
    )
    assert str(chosen[0].advice).endswith(more)  # so little is not worth making room
    assert all(set(one.details["does_not_fit"]) == {"queue", "merge", "cases"} for one in chosen)
    unbounded = kernel(*FOUR).replace(".maxntid 256, 1, 1", "")
    told = [str(one.advice) for one in remarks(unbounded, shared_limit=1024)]
    assert ["say how large its blocks are: " in one for one in told] == [False, True, True, True]


def test_what_was_asked_for_and_has_no_room_is_told_with_what_it_would_bring() -> None:
    (one,) = remarks(kernel(Arm(300, 0.05, clauses="strategy=merge")), shared_limit=1024)
    assert "do not fit into shared memory" in str(one.declined)
    assert one.details["does_not_fit"] == list(one.details["considered"])
    assert re.search(r"merge [2-9]\.[0-9]+ \(does not fit\)", considered(one))


def test_the_others_get_none_where_fewer_warps_would_have_room() -> None:
    many = [Arm(arm.length, arm.prob, words=14) for arm in FOUR]
    assert served(remarks(kernel(*FOUR), shared_limit=232448)) == [1, 2, 3]
    left = remarks(kernel(*many), shared_limit=232448)
    assert served(left) == [1, 3]
    assert not any(one.details.get("does_not_fit") for one in left)


@pytest.mark.parametrize(
    ("ways", "expected"),
    [
        ((Arm(24, 0.995), Arm(400, 0.005)), [1]),
        ((Arm(400, 0.005), Arm(24, 0.995)), [0]),
        ((Arm(400, 0.5), Arm(400, 0.5)), [0, 1]),
    ],
)
def test_of_two_arms_only_the_rare_one_unless_both_pay(
    ways: tuple[Arm, Arm], expected: list[int]
) -> None:
    assert served(remarks(kernel(*ways))) == expected


@pytest.mark.parametrize(
    ("length", "expected"),
    [(5, "leave"), (60, "adaptive(3)"), (300, "adaptive(3)"), (900, "batch3")],
)
def test_where_nobody_tells_the_lanes_warps_find_out(length: int, expected: str) -> None:
    """Unless the path is so short that little is gained, or so long that little is lost."""
    unknown = kernel(Arm(length, 0.5)).replace("prob=0.5", "")
    (found,) = remarks(unknown)
    assert (found.strategy if found.applied else "leave") == expected


def test_where_somebody_tells_them_warps_do_not_ask() -> None:
    (found,) = remarks(kernel(Arm(60, 0.1)))
    assert found.strategy == "batch3"
    assert not any(name.startswith("adaptive") for name in found.details["considered"])


FLAME_ALL = [316, 230, 196, 188, 98, 48, 47, 26, 21, 1]
FLAME = {
    6 * 1024: ("merge", FLAME_ALL[:2]),
    24 * 1024: ("merge", [*FLAME_ALL[:8], FLAME_ALL[9]]),  # the last one has a shorter context
    48 * 1024: ("cases", FLAME_ALL),
    227 * 1024: ("cases", FLAME_ALL),
}
"""What serves which arms, by their instructions, for the shared memory that a block may have."""


@functools.cache
def flame() -> str:
    """The PTX of a fractal flame with its markers, compiled once for all sizes."""
    source = SAMPLES / "fractal_flame" / "kernel.cu"
    return nvcc.build(source, "sm_90", ("-fmad=false",), Options(mark_only=True))[0]


@pytest.mark.slow
@needs_nvcc
@pytest.mark.parametrize("limit", one_in(4, FLAME))
def test_what_gets_stacks_in_a_fractal_flame(limit: int) -> None:
    strategy, lengths = FLAME[limit]
    result = transform(flame(), Options(strategy=COLLECT, shared_limit=limit))
    ((paths),) = (one["paths"] for one in result.report["kernels"])
    applied = [path for path in paths if path["applied"]]
    assert {path["strategy"] for path in applied} == {strategy}
    found = sorted((path["path_instructions"] for path in applied), reverse=True)
    assert found == lengths


@pytest.mark.parametrize(
    ("length", "why", "instead"),
    [
        (3, f", {TOO_SHORT} {SO_FAR}", REMOVE),
        (26, "", f"{TELL}, or strategy(batch3) insists"),
    ],
)
def test_where_nothing_is_known_a_way_that_loses_is_not_named(
    length: int, why: str, instead: str
) -> None:
    """Nor what does not help: no share would, where a few lanes gain nothing."""
    (found,) = remarks(kernel(Arm(length, 0.25)).replace("prob=0.25", ""))
    advice = str(found.advice)
    figures = re.search(r"expected (\S+) to (\S+) times as fast(.*); (.*)$", advice)
    assert figures, advice
    assert (float(figures[2]) < 1) == (length == 3)
    assert (figures[3], figures[4]) == (why, instead)


@pytest.mark.parametrize(
    ("length", "prob", "why"),
    [
        (3, 0.1, f", {TOO_SHORT}"),
        (3, 0.4, f", {TOO_SHORT}"),
        (3, 1, f", {TOO_MANY}"),
        (60, 1, f", {TOO_MANY}"),
        (60, 0.002, f", {COSTS}"),
        (60, 0, ""),
    ],
)
def test_what_would_be_slower_is_not_recommended(length: int, prob: float, why: str) -> None:
    (found,) = remarks(kernel(Arm(length, prob)))
    best, ratio = max(found.details["considered"].items(), key=lambda one: one[1])
    assert ratio < 1
    assert str(found.advice).endswith(f"times as fast{why}; strategy({best}) {LOSES}")


def test_what_is_missing_for_a_gain_to_be_taken_is_told() -> None:
    (small,) = remarks(kernel(Arm(80, 0.75)))
    assert f"times as fast, and {GAIN:g} is the least for which that is" in str(small.advice)
    two = [Arm(400, 0.5), Arm(400, 0.5)]
    taken, left = remarks(kernel(*two).replace("prob=0.5", ""))
    assert taken.applied
    assert left.details["at_worst"]["queue"] >= LOSS  # by itself; both together may lose more
    least = f"and no less than {LOSS:g} is risked unasked; {re.escape(TELL)}"
    told = rf"times as fast, and 0\.9[34] in the worst case of all that would be done, {least}"
    assert re.search(told, str(left.advice))


def test_that_one_of_several_arms_is_weighed_against_the_rest_of_the_choice_is_told() -> None:
    arms = kernel(Arm(80, 0.25), Arm(3, 0.1))
    taken, left = remarks(arms.replace("ccc.then 11 k.cu:11:1", "ccc.then 10 k.cu:10:1"))
    assert taken.applied
    assert f"times as fast as without it, {TOO_SHORT}; strategy" in str(left.advice)


def test_what_several_branches_are_to_gain_together_is_told() -> None:
    """Each by itself would gain enough, and so they are chosen where there are two of them."""
    arm = Arm(30, 0.12)
    assert served(remarks(kernel(arm, arm))) == [0, 1]
    three = remarks(kernel(*[arm] * SEVERAL))
    assert not served(three)
    for one in three:
        told = re.search(
            r"expected (1\.\d+) times as fast, and (1\.\d+) with all that pay of the (\d) branches "
            r"in its loop, where (\S+) is the least; strategy\(queue\) insists$",
            str(one.advice),
        )
        assert told, one.advice
        assert GAIN <= float(told[1]) <= float(told[2]) < SEVERAL_GAIN == float(told[4])
        assert int(told[3]) == SEVERAL


@pytest.mark.parametrize(("length", "share"), [(12, 0.7), (16, 0.8), (17, 0.8), (18, 0.85)])
def test_a_remark_and_the_report_have_the_same_figures(length: int, share: float) -> None:
    """The third digit is a 5: rounded once and rounded twice, these are two numbers."""
    (left,) = remarks(kernel(Arm(length, share)))
    best = considered(left).split()[1]
    assert f": expected {best} times as fast" in str(left.advice)


@pytest.mark.parametrize(("length", "is_vain"), [(3, True), (60, False), (900, False)])
def test_an_annotation_of_several_paths_is_not_to_be_removed_for_one_of_them(
    length: int, is_vain: bool
) -> None:
    """Unless no more is expected of another one, which is served where it is long, and tells what
    serves it where it is not: of the short one no share is worth telling."""
    two = kernel(Arm(2, 0.5), Arm(length, 0.5)).replace("prob=0.5", "")
    one = two.replace("// ccc.then 11 k.cu:11:1", "// ccc.else 10 k.cu:10:1")
    together = [str(found.advice) for found in remarks(one)]
    assert together[0].endswith(f"{TOO_SHORT} {SO_FAR}{f'; {REMOVE}' * is_vain}")
    assert (REMOVE in "".join(together)) == is_vain


def test_what_gains_a_little_at_most_is_to_be_removed_first() -> None:
    (found,) = remarks(kernel(Arm(18, 0.25)).replace("prob=0.25", ""))
    figures = re.search(r"to (\S+) times as fast.*; (.*)$", str(found.advice))
    assert figures
    assert 1 <= float(figures[1]) < GAIN
    assert figures[2] == f"{REMOVE}, or {TELL}"


def test_a_loop_may_have_hundreds_of_branches() -> None:
    """What is worked out for all of them is not worked out again for each: else twice as many
    would take four times the calls, and eight times where each is weighed beside every other."""

    def calls(number: int) -> int:
        ptx = kernel(*[Arm(9, 0.01)] * number)
        with Profile() as profile:
            remarks(ptx)
        found = profile.getstats()
        return sum(one.callcount for one in found if "/ccc/" in file_of(one.code))

    def file_of(code: CodeType | str) -> str:
        return "" if isinstance(code, str) else code.co_filename

    assert calls(60) < 3 * calls(30)
