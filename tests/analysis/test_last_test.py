"""The comparison that ends a loop, and what speaks against another bound in it."""

from __future__ import annotations

import pytest

from ccc.analysis.facts import Facts
from ccc.analysis.paths.last_test import LastTest, find_last_test
from ccc.ir.comparisons import separate_comparisons
from ccc.parse import parse_function, parse_module

FUNCTION = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u32 n)
{{
	.reg .pred %p<4>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<3>;
	ld.param.u32 %r2, [n];
	mov.u32 %r1, %tid.x;
	mov.u32 %r3, %ntid.x;
LOOP:
{body}
	bra OUT;
OUT:
	ret;
}}
"""
STEP = "add.s32 %r1, %r1, %r3;"
UP = "setp.lt.u32 %p1, %r1, %r2;"
AS_64_BITS = ("cvt.s64.s32 %rd1, %r1;", "cvt.u32.u64 %r5, %rd1;")
AGAIN = "@%p1 bra LOOP;"


def found(*body: str, ordered: bool = True, counts: bool = False) -> LastTest | None:
    text = FUNCTION.format(body="".join(f"\t{line}\n" for line in body))
    (piece,) = parse_module(text).functions
    function = parse_function(piece)
    separate_comparisons(function)
    facts = Facts(function)
    loop = next(one for one in facts.loops if one.header == "LOOP")
    return find_last_test(loop, facts, ordered, counts)


@pytest.mark.parametrize(
    ("both", "relation"), [("%p2|%p1", "ge"), ("_|%p1", "ge"), ("%p1|%p2", "lt"), ("%p1|_", "lt")]
)
def test_the_second_predicate_of_a_comparison_is_the_opposite(both: str, relation: str) -> None:
    test = found(STEP, f"setp.lt.u32 {both}, %r1, %r2;", AGAIN)
    assert test is not None
    assert (test.relation, str(test.test.operands[0])) == (relation, "%p1")


@pytest.mark.parametrize(
    ("body", "relation", "place"),
    [
        ((STEP, UP, AGAIN), "lt", 2),
        ((STEP, "setp.gt.u32 %p1, %r2, %r1;", AGAIN), "lt", 1),
        ((STEP, "setp.ge.u32 %p1, %r1, 5;", "@!%p1 bra LOOP;"), "lt", 2),
        (("mad.lo.s32 %r1, %r3, %r2, %r1;", UP, AGAIN), "lt", 2),
        ((*AS_64_BITS, "mad.lo.s32 %r1, %r3, %r2, %r5;", UP, AGAIN), "lt", 2),
        (("sub.s32 %r1, %r1, 3;", "setp.ge.s32 %p1, %r1, 0;", AGAIN), "ge", 2),
    ],
)
def test_loops_that_end_by_a_counter(body: tuple[str, ...], relation: str, place: int) -> None:
    test = found(*body)
    assert test is not None
    assert (test.relation, test.place, str(test.counter)) == (relation, place, "%r1")
    assert test.goes_up == (relation in ("lt", "le"))


@pytest.mark.parametrize(
    "body",
    [
        (STEP, "setp.ne.s32 %p1, %r1, %r2;", AGAIN),  # may be stepped over
        (STEP, "sub.s32 %r2, %r2, 1;", UP, AGAIN),  # its bound changes
        (STEP, "add.s32 %r3, %r3, 1;", UP, AGAIN),  # and its step
        (STEP, "add.s32 %r1, %r1, 1;", UP, AGAIN),  # it is stepped twice
        ("sub.s32 %r1, %r3, %r1;", UP, AGAIN),  # it changes sides
        (UP, STEP, AGAIN),  # it is compared before it is stepped
        ("cvt.u16.u32 %r5, %r1;", "add.s32 %r1, %r5, 1;", UP, AGAIN),  # it loses bits
        ("add.s32 %r1, %r5, 1;", *AS_64_BITS, UP, AGAIN),  # as it was an iteration before
        ("@%p2 cvt.u32.u64 %r5, %rd1;", "add.s32 %r1, %r5, 1;", UP, AGAIN),  # it may be another
        (STEP, UP, "selp.b32 %r4, 1, 2, %p1;", AGAIN),  # who else looks at what came out
        (STEP, UP, "and.pred %p2, %p1, %p1;", "@%p2 bra LOOP;"),  # what else decides
        (STEP, UP, "setp.eq.or.u32 %p2, %r1, 7, %p1;", "@%p2 bra LOOP;"),
        (STEP, "@%p2 bra LOOP;", UP, AGAIN),  # two ways back
        (STEP, "setp.ge.u32 %p1, %r1, %r2;", "@%p1 bra OUT;", "bra LOOP;"),  # it has ended before
    ],
)
def test_loops_that_do_not(body: tuple[str, ...]) -> None:
    assert found(*body) is None


@pytest.mark.parametrize(
    ("test", "again"),
    [
        ("setp.ne.s32 %p1, %r1, %r2;", "@%p1 bra LOOP;"),
        ("setp.eq.s32 %p1, %r2, %r1;", "@!%p1 bra LOOP;"),
    ],
)
def test_a_counter_that_comes_to_be_its_bound_is_asked_for(test: str, again: str) -> None:
    assert found(STEP, test, again) is None
    loop = found(STEP, test, again, ordered=False)
    assert loop is not None
    assert (loop.relation, str(loop.counter), str(loop.bound)) == ("ne", "%r1", "%r2")


def test_a_loop_that_goes_on_where_the_counter_is_the_bound_does_not_end_by_it() -> None:
    assert found(STEP, "setp.eq.s32 %p1, %r1, %r2;", AGAIN, ordered=False) is None


@pytest.mark.parametrize(
    ("step", "test"),
    [
        ("sub.s32 %r1, %r1, %r3;", "lt"),
        ("add.s32 %r1, %r1, -64;", "le"),
        ("sub.s32 %r1, %r1, -64;", "gt"),
        ("add.s32 %r1, %r1, 64;", "ge"),
    ],
)
def test_a_counter_that_goes_away_from_its_bound_ends_at_no_nearer_one(
    step: str, test: str
) -> None:
    """`for (unsigned i = n - 1; i < n; --i)` ends when the counter begins anew."""
    other = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}[test]
    assert found(step, f"setp.{test}.u32 %p1, %r1, %r2;", AGAIN) is None
    assert found(step, f"setp.{other}.u32 %p1, %r1, %r2;", AGAIN) is not None


@pytest.mark.parametrize(
    "body",
    [
        ("@%p2 bra STAYS;", STEP, "STAYS:", UP, AGAIN),
        ("INNER:", STEP, "setp.ne.u32 %p2, %r1, %r4;", "@%p2 bra INNER;", UP, AGAIN),
    ],
)
def test_iterations_are_counted_by_what_steps_once_in_each(body: tuple[str, ...]) -> None:
    assert found(*body) is not None
    assert found(*body, counts=True) is None
    assert found(STEP, UP, AGAIN, counts=True) is not None
