"""How long the choice takes paths to be of which only the code is known, and what lanes share."""

from __future__ import annotations

import re

import pytest
from arms import Arm, kernel, remarks
from inner_loop import text_with_inner_loop

from ccc.compiler.transform import transform
from ccc.ir.markers import PROMISE
from ccc.passes.choice.chosen import (
    TELL_TURNS,
)
from ccc.passes.choice.chosen import TOGETHER as TOGETHER_BY_CODE
from ccc.passes.choice.search import CONSTANTS, PARTS
from ccc.passes.choice.search import ROUNDS as MEETS_AROUND
from ccc.passes.thresholds import GAIN, LOSS

pytestmark = pytest.mark.usefixtures("few_headers")


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


NEAR = """mov.u32 %r4, 0;
NEAR:
	{body}
	add.u32 %r4, %r4, 1;
	setp.lt.u32 %p3, %r4, %r2;
	@%p3 bra NEAR;
	setp.lt.u32 %p2, %r3, 77;"""


@pytest.mark.parametrize(("body", "is_done"), [(40, False), (600, True)])
def test_turns_may_be_short_in_which_a_loop_is_of_which_nothing_is_known(
    body: int, is_done: bool
) -> None:
    """Lanes that agree on their turns, and on short ones, gain nothing, and pay for each."""
    turn = NEAR.format(body="mad.lo.u32 %r3, %r3, %r3, %r3;\n\t" * body)
    ptx = text_with_inner_loop(turn, "mov.u32 %r3, %r1;", "ld.global.u32 %r2, [%rd1];", "while")
    (found,) = transform(ptx).remarks["k"]
    assert found.applied == is_done
    if not is_done:
        least, most = found.details["at_worst"]["merge"], found.details["considered"]["merge"]
        assert least < LOSS < GAIN < most


ROUND = """add.u32 %r5, %r5, 1;
    setp.lt.u32 %p3, %r5, 9;
    @%p3 bra ROUND;
    ret;"""


@pytest.mark.parametrize(("met", "is_done"), [("", True), ("bar.sync 0;", False)])
def test_a_block_may_have_hardly_an_iteration_each_time_that_it_meets(
    met: str, is_done: bool
) -> None:
    """As it does where it goes through a row of a matrix, and then through the next one."""
    turn = "mad.lo.u32 %r3, %r3, %r3, %r3;\n\t" * 2000 + "setp.lt.u32 %p2, %r3, 77;"
    begin = "mov.u32 %r3, %r1;"
    ptx = text_with_inner_loop(turn, begin, f"ROUND:\n\t{met}\n\tmov.u32 %r1, %tid.x;", "while")
    (found,) = transform(ptx.replace("ret;", ROUND)).remarks["k"]
    assert found.applied == is_done
    assert is_done or MEETS_AROUND in str(found.advice)


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
    assert is_done or "prob" not in str(found.advice)


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


@pytest.mark.parametrize(("rest", "is_done"), [(10, True), (100, False)])
def test_one_lane_that_passes_by_runs_a_rest_once_more(rest: int, is_done: bool) -> None:
    """That is the worst case of a path whose rest goes with its tasks, not that all take it."""
    longer = "fma.rn.f32 %f90, %f90, %f90, %f90;\n\t" * rest
    text = (
        kernel(Arm(800, 0.5))
        .replace(" prob=0.5", "")
        .replace("\tst.global.f32 [%rd3], %f90;\n", "")
        .replace("NEXT0:\n", "NEXT0:\n\tmov.f32 %f90, 0f40000000;\n")
        .replace("JOIN:\n", f"JOIN:\n\t{longer}st.global.f32 [%rd3], %f90;\n")
    )
    (found,) = remarks(text)
    assert found.applied == is_done
    if not is_done:
        worst, expected = found.details["at_worst"], found.details["considered"]
        assert worst["queue"] < LOSS < GAIN < expected["queue"]
