"""Loops that go round a constant number of times, and others."""

from __future__ import annotations

import pytest

from ccc.analysis.constant_trip_count import MOST, goes_once, trip_count
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.ir.comparisons import separate_comparisons
from ccc.parse import parse_function, parse_module

FUNCTION = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u32 n)
{{
	.reg .pred %p<4>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<9>;
	ld.param.u32 %r8, [n];
	{first}
LOOP:
	{body}
	bra OUT;
OUT:
	ret;
}}
"""
ZERO = "mov.u32 %r1, 0;"
STEP = "add.s32 %r1, %r1, 1;"


def count(first: str, *body: str) -> int | None:
    return trip_count(*loop_of(first, *body))


def loop_of(first: str, *body: str) -> tuple[Loop, Facts]:
    text = FUNCTION.format(first=first, body="\n\t".join(body))
    (piece,) = parse_module(text).functions
    function = parse_function(piece)
    separate_comparisons(function)
    facts = Facts(function)
    (loop,) = facts.loops
    return loop, facts


@pytest.mark.parametrize(
    ("first", "step", "test", "expected"),
    [
        (0, 1, "ne.s32 %p1, %r1, 10", 10),
        (0, 1, "lt.s32 %p1, %r1, 10", 10),
        (0, 1, "gt.s32 %p1, 10, %r1", 10),
        (0, 1, "le.u32 %p1, %r1, 10", 11),
        (0, 3, "lt.s32 %p1, %r1, 10", 4),
        (0, 3, "le.s32 %p1, %r1, 9", 4),
        (0, 3, "lt.s32 %p1, %r1, 9", 3),
        (0, 3, "ne.s32 %p1, %r1, 10", MOST),
        (10, -1, "ne.s32 %p1, %r1, 0", 10),
        (10, -1, "gt.s32 %p1, %r1, 0", 10),
        (10, -1, "ge.s32 %p1, %r1, 0", 11),
        (10, -4, "gt.s32 %p1, %r1, 0", 3),
        (20, 1, "lt.s32 %p1, %r1, 10", 1),
        (0, 0, "lt.s32 %p1, %r1, 10", MOST),
        (-2, 1, "ne.s32 %p1, %r1, 0", 2),
        (0, 1, "eq.s32 %p2|%p1, %r1, 10", 10),
        (0, 1, "eq.s32 _|%p1, %r1, 10", 10),
        (0, 1, "eq.s32 %p1|%p2, %r1, 10", 1),
        (0, 1, "ne.s32 %p1, %r1, %r8", None),
    ],
)
def test_how_often_a_loop_goes_round(
    first: int, step: int, test: str, expected: int | None
) -> None:
    """As it is, and where the branch leaves instead."""
    begin, steps = f"mov.u32 %r1, {first};", f"add.s32 %r1, %r1, {step};"
    assert count(begin, steps, f"setp.{test};", "@%p1 bra LOOP;") == expected


@pytest.mark.parametrize(
    "body",
    [
        (STEP, STEP, "setp.ne.s32 %p1, %r1, 10;", "@%p1 bra LOOP;"),
        ("mul.lo.s32 %r1, %r1, 3;", "setp.ne.s32 %p1, %r1, 10;", "@%p1 bra LOOP;"),
        ("@%p2 add.s32 %r1, %r1, 1;", "setp.ne.s32 %p1, %r1, 10;", "@%p1 bra LOOP;"),
        ("@%p2 bra OUT;", STEP, "setp.ne.s32 %p1, %r1, 10;", "@%p1 bra LOOP;"),
        (STEP, "setp.ne.and.s32 %p1, %r1, 10, %p2;", "@%p1 bra LOOP;"),
        (STEP, "setp.eq.and.s32 _|%p1, %r1, 10, %p2;", "@%p1 bra LOOP;"),
        (STEP, "setp.ne.s32 %p1, %r1, 10;", "@%p2 mov.pred %p1, 0;", "@%p1 bra LOOP;"),
    ],
)
def test_what_may_end_otherwise_is_no_constant(body: tuple[str, ...]) -> None:
    assert count(ZERO, *body) is None


def test_a_loop_that_begins_with_what_is_not_known_has_none() -> None:
    assert count("mov.u32 %r1, %r8;", STEP, "setp.ne.s32 %p1, %r1, 10;", "@%p1 bra LOOP;") is None


def test_a_constant_may_be_moved_on() -> None:
    begin = "mov.u32 %r3, 2;\n\tmov.u32 %r1, %r3;"
    assert count(begin, STEP, "setp.ne.s32 %p1, %r1, 10;", "@%p1 bra LOOP;") == 8


def test_a_counter_may_be_compared_before_it_is_stepped() -> None:
    assert count(ZERO, "setp.ne.s32 %p1, %r1, 9;", STEP, "@%p1 bra LOOP;") == 10


def test_a_counter_may_be_kept_in_64_bits() -> None:
    body = ("cvt.u32.u64 %r1, %rd1;", "add.s32 %r2, %r1, 1;", "cvt.s64.s32 %rd1, %r2;")
    assert count("mov.u64 %rd1, 0;", *body, "setp.ne.s32 %p1, %r2, 6;", "@%p1 bra LOOP;") == 6


def test_a_branch_that_leaves_is_turned_round() -> None:
    assert count(ZERO, STEP, "setp.eq.s32 %p1, %r1, 10;", "@!%p1 bra LOOP;") == 10


@pytest.mark.parametrize("first", ["mov.u32 %r2, %r2;", "mov.u32 %r2, %r3; mov.u32 %r3, %r2;"])
def test_what_is_moved_in_a_circle_is_no_constant(first: str) -> None:
    assert count(f"{ZERO} {first}", STEP, "setp.ne.s32 %p1, %r1, %r2;", "@%p1 bra LOOP;") is None


def test_the_last_iteration_may_end_before_its_end() -> None:
    """As nvcc unrolls what does not divide by the iterations in a row: 192 and a rest."""
    rest = ("setp.eq.s32 %p1, %r1, 192;", "@%p1 bra OUT;")
    assert count(ZERO, *rest, "add.s32 %r1, %r1, 32;", "bra LOOP;") == 7


def test_an_end_that_not_each_iteration_comes_to_tells_nothing() -> None:
    body = ("@%p2 bra SKIP;", "setp.eq.s32 %p1, %r1, 10;", "@%p1 bra OUT;", "SKIP:", STEP)
    assert count(ZERO, *body, "bra LOOP;") is None


@pytest.mark.parametrize(("begin", "expected"), [(ZERO, 10), ("", None)])
def test_a_counter_that_a_loop_around_goes_on_with_begins_with_no_constant(
    begin: str, expected: int | None
) -> None:
    first = f"{ZERO}\nAGAIN:\n\t{begin}"
    body = (STEP, "setp.lt.s32 %p1, %r1, 10;", "@%p1 bra LOOP;")
    end = ("sub.s32 %r8, %r8, 1;", "setp.ne.s32 %p2, %r8, 0;", "@%p2 bra AGAIN;")
    text = FUNCTION.format(first=first, body="\n\t".join((*body, *end)))
    (piece,) = parse_module(text).functions
    facts = Facts(parse_function(piece))
    inner, _ = facts.loops
    assert trip_count(inner, facts) == expected


TOLD = "bra.uni BEGIN;\nBEGIN:\n\tmov.u32 %r1, %r8;"


@pytest.mark.parametrize(
    ("first", "test", "is_so"),
    [
        (TOLD, "setp.lt.s32 %p1, %r1, %r8;", True),
        (TOLD, "setp.ne.s32 %p1, %r8, %r1;", True),
        (TOLD, "setp.le.s32 %p1, %r1, %r8;", False),
        (TOLD, "setp.lt.s32 %p1, %r1, %r7;", False),
        (TOLD, "setp.lt.s32 %p1, %r1, 5;", False),
        ("add.s32 %r1, %r8, 1;", "setp.lt.s32 %p1, %r1, %r8;", False),
        (f"{TOLD}\n\tadd.s32 %r8, %r8, 1;", "setp.lt.s32 %p1, %r1, %r8;", False),
    ],
)
def test_a_loop_from_any_number_to_the_next_goes_round_once(
    first: str, test: str, is_so: bool
) -> None:
    body = [test, "add.s32 %r2, %r1, 1;", "mov.u32 %r1, %r2;", "@%p1 bra LOOP;"]
    assert goes_once(*loop_of(first, *body)) is is_so
    changed = ["add.s32 %r8, %r8, 1;", *body]
    assert not goes_once(*loop_of(first, *changed))
