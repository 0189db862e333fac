"""Which copies of annotated loops ptxas may unroll."""

from __future__ import annotations

import pytest

from ccc.analysis.facts import Facts
from ccc.ir.edit import make_explicit
from ccc.parse import parse_function, parse_module
from ccc.passes.context_collection.unrolling import kept_whole

LOOP = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u32 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<4>;
	ld.param.u32 %r1, [n];
TURN:
	// ccc.while 1 k.cu:1:1CLAUSES
	add.s32 %r2, %r2, 1048576;
	xor.b32 %r3, %r3, %r2;
	add.s32 %r1, %r1, STEP;
	setp.ne.s32 %p1, %r1, 0;
	@%p1 bra TURN;
	ret;
}
"""


@pytest.mark.parametrize(
    ("step", "clauses", "is_kept"),
    [
        ("-1", "", True),
        ("65535", "", True),
        ("-1", " unroll=own", False),
        ("65536", "", True),
        ("536870912", "", False),
        ("-536870912", "", False),
        ("2147483647", "", False),
    ],
)
def test_a_loop_whose_counter_soon_wraps_is_not_unrolled(
    step: str, clauses: str, is_kept: bool
) -> None:
    assert is_unrolled(LOOP.replace("STEP", step).replace("CLAUSES", clauses)) == is_kept


def is_unrolled(text: str) -> bool:
    """The same is said before and after each block ends by a jump, as it does where it is asked."""
    (piece,) = parse_module(text).functions
    function = parse_function(piece)
    found = kept_whole(Facts(function))
    assert found <= {"TURN"}
    make_explicit(function)
    assert kept_whole(Facts(function)) == found
    return bool(found)


BOUNDED = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u32 n, .param .f32 x)
{
	.reg .pred %p<4>;
	.reg .b32 %r<9>;
	.reg .f32 %f<4>;
	mov.u32 %r5, %tid.x;
	ld.param.f32 %f1, [x];
AGAIN:
	ld.param.u32 %r2, [n];
	mov.u32 %r1, BEGIN;
	BEFORE
TURN:
	// ccc.while 1 k.cu:1:1
	xor.b32 %r3, %r3, %r1;
	STEP;
	LAST;
	@%p2 bra TURN;
BEHIND:
	add.s32 %r5, %r5, 1;
	setp.ne.s32 %p3, %r5, 9;
	@%p3 bra AGAIN;
	ret;
}
"""
UP, DOWN = "add.s32 %r1, %r1, 1", "add.s32 %r1, %r1, -1"
FAR = "add.s32 %r1, %r1, 256"
LESS, MORE = "setp.lt.s32 %p2, %r1, %r2", "setp.gt.s32 %p2, %r1, %r2"


@pytest.mark.parametrize(
    ("begin", "before", "step", "last", "is_right"),
    [
        ("%r5", "setp.ge.s32 %p1, %r1, %r2; @%p1 bra BEHIND;", UP, LESS, True),
        ("%r5", "setp.ge.s32 %p1, %r5, %r2; @%p1 bra BEHIND;", UP, LESS, False),  # %r5 moves on
        ("%r5", "setp.le.s32 %p1, %r2, %r1; @%p1 bra BEHIND;", UP, LESS, True),
        ("%r5", "setp.lt.s32 %p1, %r1, %r2; @!%p1 bra BEHIND;", UP, LESS, True),
        ("%r5", "setp.gt.s32 %p1, %r1, %r2; @%p1 bra BEHIND;", UP, LESS, False),
        ("%r5", "setp.ge.u32 %p1, %r1, %r2; @%p1 bra BEHIND;", UP, LESS, False),
        ("%r5", "setp.ge.s32 %p1, %r1, %r2; @%p1 bra TURN;", UP, LESS, False),
        ("%r5", "setp.ge.s32 %p1, %r1, %r2; add.u32 %r2, 9, 9; @%p1 bra BEHIND;", UP, LESS, False),
        ("%r5", "setp.ge.s32 %p1, %r1, %r2; @%p1 bra BEHIND; add.u32 %r1, 9, 9;", UP, LESS, False),
        ("%r5", "setp.gt.s32 %p1, %r1, %r2; @%p1 bra BEHIND;", UP, LESS.replace("lt", "le"), True),
        ("%r5", "setp.le.s32 %p1, %r1, %r2; @%p1 bra BEHIND;", DOWN, MORE, True),
        ("%r5", "", UP, LESS, False),
        ("%r5", "", UP, LESS.replace("s32", "u32"), True),
        ("%r5", "", DOWN, LESS.replace("s32", "u32"), False),
        ("%r5", "", DOWN, MORE.replace("s32", "u32"), True),
        ("%r5", "", UP, LESS.replace("lt", "ne"), True),
        ("0", "", UP, LESS, True),
        ("0", "", DOWN, MORE, True),
        ("5", "", UP, LESS, False),
        ("0", "", UP.replace("1, 1", "1, 5"), LESS, False),
        ("%tid.x", "setp.ge.s32 %p1, %r1, %r2; @%p1 bra BEHIND;", FAR, LESS, True),
        ("%r5", "setp.ge.s32 %p1, %r1, %r2; @%p1 bra BEHIND;", FAR, LESS, False),  # and 1 for each
        ("%r2", "setp.ge.s32 %p1, %r1, %r2; @%p1 bra BEHIND;", FAR, LESS, False),
        ("%tid.x", "", FAR, LESS, False),
        ("0", "", "add.f32 %f2, %f2, 0f3E99999A", "setp.lt.f32 %p2, %f2, %f1", False),
        ("0", "", "sub.s32 %r1, %r1, 2147483647", LESS.replace("lt", "ne"), False),
        ("0", "", "mov.u32 %r1, %r3", LESS, False),
    ],
)  # fmt: skip
def test_a_loop_that_ptxas_may_make_another_of_is_not_unrolled(
    begin: str, before: str, step: str, last: str, is_right: bool
) -> None:
    """With four turns at a time it needs the distance to the bound, which may not fit."""
    given = {"BEGIN": begin, "BEFORE": before, "STEP": step, "LAST": last}
    text = BOUNDED
    for name, code in given.items():
        text = text.replace(name, code.replace("; ", ";\n\t"))
    assert is_unrolled(text) == is_right


GOES_ON = "mov.u32 %r1, 0;\nAGAIN:"


@pytest.mark.parametrize("is_begun_anew", [True, False])
def test_a_counter_that_goes_on_where_the_loop_is_run_again_begins_anywhere(
    is_begun_anew: bool,
) -> None:
    text = BOUNDED.replace("BEFORE", "").replace("STEP", UP).replace("LAST", LESS)
    if not is_begun_anew:
        text = text.replace("AGAIN:", GOES_ON).replace("mov.u32 %r1, BEGIN;", "")
    assert is_unrolled(text.replace("BEGIN", "0")) == is_begun_anew


@pytest.mark.parametrize(("factor", "is_index"), [(4096, True), (16807, False)])
def test_a_hash_of_a_thread_is_no_number_of_one(factor: int, is_index: bool) -> None:
    guard = "setp.ge.s32 %p1, %r1, %r2;\n@%p1 bra BEHIND;"
    text = BOUNDED.replace("BEFORE", guard).replace("STEP", FAR).replace("LAST", LESS)
    begin = f"mov.u32 %r7, %tid.x;\nmul.lo.s32 %r8, %r7, {factor};\nAGAIN:"
    assert is_unrolled(text.replace("AGAIN:", begin).replace("BEGIN", "%r8")) == is_index


def test_nor_is_it_guarded_by_a_test_of_what_the_first_run_begins_with() -> None:
    guard = "setp.ge.s32 %p1, %r8, %r2;\n@%p1 bra BEHIND;"
    text = BOUNDED.replace("BEFORE", guard).replace("STEP", UP).replace("LAST", LESS)
    text = text.replace("AGAIN:", "mov.u32 %r8, %tid.x;\nAGAIN:")
    assert is_unrolled(text.replace("BEGIN", "%r8"))
    text = text.replace("AGAIN:", GOES_ON.replace(" 0", " %r8")).replace("mov.u32 %r1, BEGIN;", "")
    assert not is_unrolled(text)
