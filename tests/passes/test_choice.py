"""What the choice takes, and leaves, of branches whose lanes and lengths are known."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from cProfile import Profile
from dataclasses import dataclass
from types import CodeType
from typing import Any

import pytest
from breadth import one_in
from emulating import needs_nvcc
from folders import SAMPLES

from ccc.compiler.transform import Transformed, transform
from ccc.ir.markers import PROMISE
from ccc.nvcc import run as nvcc
from ccc.nvcc.explain import considered
from ccc.options import COLLECT, Options
from ccc.passes.choice.chosen import (
    COSTS,
    LOSES,
    REMOVE,
    SO_FAR,
    TELL,
    TELL_TURNS,
    TOO_MANY,
    TOO_SHORT,
)
from ccc.passes.choice.chosen import TOGETHER as TOGETHER_BY_CODE
from ccc.passes.choice.search import CONSTANTS, PARTS
from ccc.passes.thresholds import GAIN, LOSS, SEVERAL, SEVERAL_GAIN
from ccc.remark import Remark

pytestmark = pytest.mark.usefixtures("few_headers")

# Lanes that are neighbours read here and there: of a stream of memory more is to be said, below.
HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 n)
.maxntid 256, 1, 1
{
	.reg .pred %p<9>;
	.reg .b32 %r<9>;
	.reg .f32 %f<99>;
	.reg .b64 %rd<9>;
	ld.param.u64 %rd1, [x];
	ld.param.u32 %r2, [n];
	mov.u32 %r1, %tid.x;
	// ccc.loop 1 k.cu:1:1
EACH:
	// ccc.for 1 k.cu:1:1
	xor.b32 %r4, %r1, 21;
	mul.wide.u32 %rd2, %r4, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.u32 %r3, [%rd3];
"""
TAIL = """JOIN:
	add.s32 %r1, %r1, 256;
	setp.lt.u32 %p2, %r1, %r2;
	@%p2 bra EACH;
	ret;
}
"""


@dataclass(frozen=True)
class Arm:
    """One of several arms of which a lane takes at most one.

    Args:
        length: instructions.
        prob: the share of lanes.
        words: that it needs of what was loaded.
        clauses: further ones, as a marker has them.
    """

    length: int
    prob: float
    words: int = 1
    clauses: str = ""

    def lines(self, number: int) -> list[str]:
        """Its code, behind the question whether a lane takes it; its marker names line 10 on."""
        steps = [
            f"fma.rn.f32 %f90, %f90, %f90, %f{step % self.words};" for step in range(self.length)
        ]
        place = f"{10 + number} k.cu:{10 + number}:1"
        return [
            f"setp.ne.u32 %p1, %r3, {number};",
            f"@%p1 bra NEXT{number};",
            f"// ccc.then {place} prob={self.prob} {self.clauses}",
            "mov.f32 %f90, 0f3F800000;",
            *steps,
            "st.global.f32 [%rd3], %f90;",
            "bra JOIN;",
            f"NEXT{number}:",
        ]


def kernel(*arms: Arm) -> str:
    words = max(arm.words for arm in arms)
    loads = [f"ld.global.f32 %f{word}, [%rd3+{4096 * (word + 1)}];" for word in range(words)]
    lines = [line for number, arm in enumerate(arms) for line in arm.lines(number)]
    return HEAD + "".join(f"\t{line}\n" for line in [*loads, *lines]) + TAIL


def remarks(ptx: str, **asked: Any) -> list[Remark]:
    """What became of the arms, in the order of the source."""
    done: Transformed = transform(ptx, **asked)
    return sorted(done.remarks["k"], key=lambda one: one.position.line)


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
    [(3, f", {TOO_SHORT} {SO_FAR}", REMOVE), (26, "", "strategy(batch3) insists")],
)
def test_where_nothing_is_known_a_way_that_loses_is_not_named(
    length: int, why: str, instead: str
) -> None:
    """Two cases are no bounds: a profile may tell otherwise, whatever is expected of both."""
    (found,) = remarks(kernel(Arm(length, 0.25)).replace("prob=0.25", ""))
    advice = str(found.advice)
    figures = re.search(r"expected (\S+) to (\S+) times as fast(.*); (.*)$", advice)
    assert figures, advice
    assert (float(figures[2]) < 1) == (length == 3)
    assert (figures[3], figures[4]) == (why, f"{TELL}, or {instead}")


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
    least = f"where {LOSS:g} is the least; {re.escape(TELL)}"
    told = rf"times as fast, and 0\.9[34] in the worst case with what else is chosen, {least}"
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


def test_an_annotation_of_several_paths_is_not_to_be_removed_for_one_of_them() -> None:
    two = kernel(Arm(2, 0.5), Arm(3, 0.5)).replace("prob=0.5", "")
    one = two.replace("// ccc.then 11 k.cu:11:1", "// ccc.else 10 k.cu:10:1")
    apart, together = ([str(found.advice) for found in remarks(ptx)] for ptx in (two, one))
    assert apart[0].endswith(REMOVE)
    assert any(advice.endswith(f"{TOO_SHORT} {SO_FAR}; {TELL}") for advice in together)
    assert not any(REMOVE in advice for advice in together)


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


SLOW = """abs.f32 %f80, %f90;
	setp.ltu.f32 %p5, %f80, 0f47CE4780;
	@%p5 bra NEAR;
	"""


def test_what_only_far_arguments_lead_to_is_no_length() -> None:
    """The slow path of sinf is longer than all the rest, and hardly ever run."""
    slow = "fma.rn.f32 %f90, %f80, %f90, %f90;\n\t" * 400
    lines = "mov.f32 %f90, 0f3F800000;\n\t"
    plain, near, taken = (
        kernel(Arm(60, 0.25)).replace(lines, lines + more, 1)
        for more in (
            "",
            f"{SLOW}{slow}\nNEAR:\n\t",
            f"{SLOW}{slow}\nNEAR:\n\t".replace("47CE", "3F80"),
        )
    )
    lengths = [remarks(one)[0].details["path_instructions"] for one in (plain, near, taken)]
    assert lengths[0] <= lengths[1] < lengths[0] + 5
    assert lengths[2] > lengths[1] + 100


TURNS = """{begin}
AGAIN:
	{body}
	add.s32 %r5, %r5, -1;
	setp.gt.s32 %p7, %r5, 0;
	@%p7 bra AGAIN;
	"""


@pytest.mark.parametrize(("begin", "body", "is_done"), [
    ("shr.u32 %r5, %r3, 20;", 1, False),
    ("shr.u32 %r5, %r3, 20;", 30, True),
    ("mov.u32 %r5, 32;", 1, True),
])  # fmt: skip
def test_a_loop_of_which_nothing_is_known_may_be_short(
    begin: str, body: int, is_done: bool
) -> None:
    """A length that is all guess is no reason to pay for an exchange, whoever tells the lanes."""
    lines = "mov.f32 %f90, 0f3F800000;\n\t"
    loop = TURNS.format(begin=begin, body="fma.rn.f32 %f90, %f80, %f90, %f90;\n\t" * body)
    (found,) = remarks(kernel(Arm(2, 0.5)).replace(lines, lines + loop, 1))
    assert found.applied == is_done
    if not is_done:
        least, most = found.details["at_worst"]["batch3"], found.details["considered"]["batch3"]
        assert least < LOSS < GAIN < most
        advice = str(found.advice)
        assert "instructions by its code with 32 turns of its loops, some 16 lanes (p" in advice
        assert f"expected {least:.2f} to {most:.2f} times as fast; {TELL_TURNS}, or" in advice


ASIDE = """setp.ne.u32 %p6, %r3, 77;
	@%p6 bra BEHIND;
	{steps}
BEHIND:
	"""


@pytest.mark.parametrize(("length", "is_done"), [(2, False), (30, True)])
@pytest.mark.parametrize("loop", [False, True])
def test_a_way_in_a_path_may_hardly_be_taken(length: int, is_done: bool, loop: bool) -> None:
    """A test that is seldom true before much work, such as 32 turns: then the path is short."""
    lines, step = "mov.f32 %f90, 0f3F800000;\n\t", "fma.rn.f32 %f90, %f80, %f90, %f90;\n\t"
    turns = TURNS.format(begin="mov.u32 %r5, 32;", body=step * 5)
    way = ASIDE.format(steps=turns if loop else step * 200)
    (found,) = remarks(kernel(Arm(length, 0.5)).replace(lines, lines + way, 1))
    assert found.applied == is_done
    if not is_done:
        advice = str(found.advice)
        assert " by its code with each way in it taken one time in two, some 16 lanes (p" in advice
        assert f"times as fast; {TELL_TURNS}, or strategy(" in advice


@pytest.mark.parametrize(("address", "prob", "is_done"), [
    ("%rd3", "", False),
    ("%rd3", "prob=0.25", True),
    ("%rd1", "", True),
])  # fmt: skip
def test_lanes_may_be_at_one_address_of_constant_memory(
    address: str, prob: str, is_done: bool
) -> None:
    """Of tasks that warps collected nobody knows that; who tells the lanes has thought of it."""
    lines = "mov.f32 %f90, 0f3F800000;\n\t"
    ptx = kernel(Arm(2000, 0.25)).replace("prob=0.25", prob)
    (found,) = remarks(ptx.replace(lines, f"{lines}ld.const.f32 %f91, [{address}];\n\t", 1))
    assert found.applied == is_done
    assert is_done or CONSTANTS in str(found.advice)


CALLED = """.func (.param .f32 r) model(.param .f32 v)
{
	.reg .f32 %f<3>;
	ld.param.f32 %f1, [v];
	BODY
	st.param.f32 [r], %f1;
	ret;
}
"""
CALL = """{
	.param .f32 given;
	st.param.f32 [given], %f90;
	.param .f32 got;
	call (got), model, (given);
	ld.param.f32 %f90, [got];
	}
	"""


def calling(body: int) -> str:
    lines = "mov.f32 %f90, 0f3F800000;\n\t"
    text = kernel(Arm(20, 0.25)).replace(lines, lines + CALL, 1)
    model = CALLED.replace("BODY", "fma.rn.f32 %f1, %f1, %f1, %f1;\n\t" * body)
    return text.replace(".visible .entry", f"{model}.visible .entry")


def test_a_called_function_is_part_of_the_length() -> None:
    (short,), (long,) = (remarks(calling(body)) for body in (1, 500))
    more = long.details["path_instructions"] - short.details["path_instructions"]
    assert more == 499
    assert long.applied


def test_a_function_that_the_file_lacks_is_named() -> None:
    """Its length is known to nobody, so that neither a figure nor what nobody tells says much."""
    promise = f".visible .global .align 8 .u64 _Z{PROMISE}1 = model;\n"
    extern = f"{promise}.extern .func (.param .f32 r) model\n(.param .f32 v)\n;\n"
    text = re.sub(r"(?s)\.func .*?\n}\n", extern, calling(1)).replace("prob=0.25", "")
    (found,) = remarks(text)
    assert "without model, which is in no code of this file" in str(found.advice)
    insists = "or strategy(batch3) insists, if that takes long"
    assert str(found.advice).endswith(f"times as fast; {TELL_TURNS}, {insists}")


TILES = "\tshr.u32 %r4, %r1, 6;\n"


@pytest.mark.parametrize(("clause", "is_done"), [("prob=0.25", True), ("", False)])
def test_lanes_that_likely_take_a_branch_together_have_nothing_to_collect(
    clause: str, is_done: bool
) -> None:
    """Who tells what share of lanes comes says that they do not."""
    ptx = kernel(Arm(200, 0.25)).replace("prob=0.25", clause)
    (apart,) = remarks(ptx)
    assert apart.applied
    (found,) = remarks(ptx.replace("\txor.b32 %r4, %r1, 21;\n", TILES))
    assert found.applied == is_done
    assert is_done or f"{TOGETHER_BY_CODE}: expected 0." in str(found.advice)


ROUNDS = """mov.f32 %f91, 0f3F800000;
	shr.u32 %r6, %r1, 6;
	mul.wide.u32 %rd5, %r6, 4;
	add.s64 %rd6, %rd1, %rd5;
	ld.global.u32 %r7, [%rd6];
	mov.u32 %r8, 0;
AGAIN:
	fma.rn.f32 %f91, %f91, %f91, %f91;
	add.s32 %r8, %r8, 1;
	setp.lt.u32 %p3, %r8, %r7;
	@%p3 bra AGAIN;
	add.f32 %f90, %f91, %f91;
	"""


def test_tasks_of_several_iterations_do_not_agree_on_turns_of_a_tile() -> None:
    lines = "mov.f32 %f90, 0f3F800000;\n\t"
    ptx = kernel(Arm(2000, 0.25)).replace(lines, ROUNDS)
    unknown = ptx.replace("prob=0.25", "")
    (found,) = remarks(unknown)
    assert not found.applied
    assert PARTS in str(found.advice)
    assert remarks(ptx)[0].applied
    assert remarks(unknown.replace("shr.u32 %r6, %r1, 6;", "xor.b32 %r6, %r1, 21;"))[0].applied
