"""Pointers that step beside a counter, and what speaks against making them of it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ccc.analysis.facts import Facts
from ccc.analysis.paths.find import find_paths
from ccc.analysis.paths.induction import Induction, find_induction
from ccc.analysis.paths.model import Path
from ccc.analysis.paths.shared_turns import SharedTurns, find_shared_turns
from ccc.ir.comparisons import separate_comparisons
from ccc.parse import parse_function, parse_module

FUNCTION = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n)
{{
	.reg .pred %p<4>;
	.reg .b32 %r<9>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<12>;
	ld.param.u64 %rd1, [x];
	ld.param.u64 %rd2, [y];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	{outside}
	// ccc.loop 1 k.cu:1:1
LOOP:
	// ccc.for 1 k.cu:1:1
	ld.global.u32 %r3, [%rd2];
	ld.global.u32 %r4, [%rd2+4];
	setp.ge.s32 %p1, %r3, %r4;
	@%p1 bra NEXT;
	// ccc.loop 2 k.cu:2:1
	{begin}
TURN:
	// ccc.variable 2 k.cu:2:1
	red.global.add.u32 [%rd4], 1;
	{step}
	{test}
	@%p2 bra TURN;
NEXT:
	add.s32 %r2, %r2, 64;
	setp.lt.s32 %p3, %r2, %r1;
	@%p3 bra LOOP;
	ret;
}}
"""
BEGIN = ("mul.wide.s32 %rd3, %r3, 4;", "add.s64 %rd4, %rd1, %rd3;")
STEP = ("add.s64 %rd4, %rd4, 4;", "add.s32 %r3, %r3, 1;")
TEST = "setp.lt.s32 %p2, %r3, %r4;"


def facts_of(begin: Sequence[str], step: Sequence[str], test: str, outside: Sequence[str]) -> Facts:
    parts = {"begin": begin, "step": step, "test": [test], "outside": outside}
    text = FUNCTION.format(**{name: "\n\t".join(lines) for name, lines in parts.items()})
    function = parse_function(next(iter(parse_module(text).functions)))
    separate_comparisons(function)
    return Facts(function)


def found(
    begin: Sequence[str] = BEGIN,
    step: Sequence[str] = STEP,
    test: str = TEST,
    outside: Sequence[str] = (),
    in_warp: bool = True,
) -> SharedTurns:
    facts = facts_of(begin, step, test, outside)
    (path,) = (one for one in find_paths(facts) if isinstance(one, Path))
    induction = find_induction(path, facts)
    assert isinstance(induction, Induction)
    return find_shared_turns(path, induction, facts, in_warp)


def why_not(begin: Sequence[str], step: Sequence[str], test: str = TEST) -> str:
    """Why the turns of such a loop cannot be counted; empty if they can."""
    facts = facts_of(begin, step, test, ())
    (path,) = (one for one in find_paths(facts) if isinstance(one, Path))
    induction = find_induction(path, facts)
    return induction if isinstance(induction, str) else ""


def test_the_second_predicate_of_a_comparison_is_the_opposite() -> None:
    for both in ("%p1|%p2", "_|%p2"):
        assert why_not(BEGIN, STEP, f"setp.lt.s32 {both}, %r3, %r4;")
        assert not why_not(BEGIN, STEP, f"setp.ge.s32 {both}, %r3, %r4;")
    assert not why_not(BEGIN, STEP, "setp.lt.s32 %p2|%p1, %r3, %r4;")


WIDER = ("cvt.s64.s32 %rd5, %r3;", "cvt.u32.u64 %r5, %rd5;")
AGAIN = "add.s32 %r3, %r5, 1;"


@pytest.mark.parametrize(
    ("step", "counts"),
    [
        ((*WIDER, AGAIN), True),
        (("cvt.u64.u32 %rd5, %r3;", WIDER[1], AGAIN), True),
        ((*WIDER[:1], "add.s64 %rd5, %rd5, 1;", WIDER[1], AGAIN), False),
        ((*WIDER[::-1], AGAIN), False),  # that of the turn before
        (("cvt.s64.s32 %rd5, %r2;", WIDER[1], AGAIN), False),
        (("cvt.s64.s32 %rd5, %r3;", "cvt.u32.u64 %r5, %rd5;", "@%p1 add.s32 %r3, %r5, 1;"), False),
    ],
)
def test_a_counter_is_itself_when_it_comes_back_from_wider_registers(
    step: Sequence[str], counts: bool
) -> None:
    begin = (*BEGIN, "cvt.s64.s32 %rd5, %r3;")
    assert (not why_not(begin, (STEP[0], *step))) == counts


SUM = "add.f32 %f1, %f1, %f2;"
WIDE_TEST = "setp.lt.s64 %p2, %rd5, %rd2;"


@pytest.mark.parametrize(
    ("step", "test", "hint"),
    [
        ((SUM, STEP[1]), TEST, "reduction(+: variable)"),
        ((SUM, "mul.f32 %f1, %f1, %f2;", STEP[1]), TEST, ""),
        ((STEP[1], WIDER[0]), WIDE_TEST, "read its bound before the loop, into a variable"),
        ((SUM, STEP[1], WIDER[0]), WIDE_TEST, "read its bound before the loop, into a variable"),
        ((SUM, "ld.global.u32 %r4, [%rd2];", STEP[1]), TEST, "read its bound before the loop"),
    ],
)
def test_no_hint_is_given_that_would_not_help(step: Sequence[str], test: str, hint: str) -> None:
    """A sum is spoken of only where nothing else is in the way."""
    begin = (*BEGIN, WIDER[0], "mov.f32 %f1, 0f00000000;", "mov.f32 %f2, 0f3F800000;")
    told = why_not(begin, (STEP[0], *step), test)
    assert told
    assert hint in told
    assert ("reduction" in told) == ("reduction" in hint)


def made(turns: SharedTurns) -> list[tuple[str, str, int, str]]:
    return [(str(r), one.mad, one.factor, str(one.base)) for r, one in turns.derived.items()]


UNSIGNED = ("mul.wide.u32 %rd3, %r3, 4;", BEGIN[1])


@pytest.mark.parametrize(
    ("begin", "step", "test", "mad", "factor"),
    [
        (BEGIN, STEP, TEST, "mad.wide.s32", 4),
        ((BEGIN[0], "add.s64 %rd4, %rd3, %rd1;"), STEP, TEST, "mad.wide.s32", 4),
        (("mad.wide.s32 %rd4, %r3, 4, %rd1;",), STEP, TEST, "mad.wide.s32", 4),
        (UNSIGNED, STEP, "setp.lt.u32 %p2, %r3, %r4;", "mad.wide.u32", 4),
        (BEGIN, STEP, "setp.ge.s32 %p2, %r4, %r3;", "mad.wide.s32", 4),
        (
            ("mul.wide.s32 %rd3, %r3, -8;", BEGIN[1]),
            ("add.s64 %rd4, %rd4, 24;", "add.s32 %r3, %r3, -3;"),
            "setp.gt.s32 %p2, %r3, %r4;",
            "mad.wide.s32",
            -8,
        ),
    ],
)
def test_a_pointer_is_made_of_the_counter(
    begin: Sequence[str], step: Sequence[str], test: str, mad: str, factor: int
) -> None:
    turns = found(begin, step, test)
    assert made(turns) == [("%rd4", mad, factor, "%rd1")]
    assert [str(register) for register in turns.registers] == ["%r3"]


def test_a_wide_counter_is_told_in_place_of_two_pointers() -> None:
    wide = ("cvt.s64.s32 %rd5, %r3;", "cvt.s64.s32 %rd6, %r4;")
    one = (*wide, "shl.b64 %rd3, %rd5, 2;", "add.s64 %rd4, %rd1, %rd3;")
    two = (*one, "mul.lo.s64 %rd7, %rd5, 8;", "add.s64 %rd8, %rd7, %rd2;")
    step = ("add.s64 %rd4, %rd4, 4;", "add.s64 %rd5, %rd5, 1;")
    test = "setp.lt.s64 %p2, %rd5, %rd6;"
    assert not made(found(one, step, test))  # nothing is gained
    both = ("red.global.add.u32 [%rd8], 2;", *step, "add.s64 %rd8, %rd8, 8;")
    turns = found(two, both, test)
    assert made(turns) == [("%rd4", "mad.lo.s64", 4, "%rd1"), ("%rd8", "mad.lo.s64", 8, "%rd2")]
    assert [str(register) for register in turns.registers] == ["%rd5"]


@pytest.mark.parametrize(
    ("begin", "step", "test", "outside"),
    [
        (BEGIN, STEP, "setp.lt.u32 %p2, %r3, %r4;", ()),  # it may go on at the other end
        (UNSIGNED, STEP, TEST, ()),
        (BEGIN, STEP, "setp.ne.s32 %p2, %r3, %r4;", ()),
        (BEGIN, ("add.s64 %rd4, %rd4, 8;", STEP[1]), TEST, ()),  # another step
        (BEGIN, (STEP[0], "add.s32 %r3, %r3, 2;"), TEST, ()),
        ((*BEGIN, "add.s32 %r3, %r3, 1;"), STEP, TEST, ()),  # the counter changes behind it
        ((BEGIN[0], "add.s32 %r3, %r3, 1;", BEGIN[1]), STEP, TEST, ()),
        ((BEGIN[1], BEGIN[0]), STEP, TEST, ()),  # a multiple of the last iteration's counter
        (("mul.wide.s32 %rd3, %r2, 4;", BEGIN[1]), STEP, TEST, ()),  # another counter
        ((BEGIN[0], "add.s64 %rd4, %rd9, %rd3;"), STEP, TEST, ("cvt.u64.u32 %rd9, %r2;",)),
        (("ld.global.u64 %rd9, [%rd2];", BEGIN[0], "add.s64 %rd4, %rd9, %rd3;"), STEP, TEST, ()),
        (("add.s64 %rd4, %rd1, 8;",), STEP, TEST, ()),  # no counter in it
        (("mov.u64 %rd4, 0;", BEGIN[0], "@%p1 add.s64 %rd4, %rd1, %rd3;"), STEP, TEST, ()),
    ],
)
def test_a_pointer_is_told(
    begin: Sequence[str], step: Sequence[str], test: str, outside: Sequence[str]
) -> None:
    turns = found(begin, step, test, outside)
    assert not turns.derived
    assert "%rd4" in map(str, turns.registers)


def test_a_block_is_told_all() -> None:
    assert not found(in_warp=False).derived
