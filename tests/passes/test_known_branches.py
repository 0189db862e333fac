"""Branches that an earlier one has decided."""

from __future__ import annotations

import pytest

from ccc.analysis.facts import Facts
from ccc.ir.comparisons import separate_comparisons
from ccc.parse import parse_function, parse_module
from ccc.passes.known_branches import KnownBranches
from ccc.pipeline import Kernel

TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u32 k_param_0)
{
    .reg .pred %p<9>;
    .reg .b16 %rs<2>;
    .reg .b32 %r<20>;
    ld.param.u32 %r1, [k_param_0];
    mov.u32 %r9, %tid.x;
EACH:
    shl.b32 %r10, %r9, 1;
    add.s32 %r6, %r10, %r1;
    @MADE
    and.b32 %r7, %r6, 3;
    setp.lt.u32 %p1, %r5, 3;
    @%p1 bra REST;
    mov.u32 %r8, %r6;
FOUR:
    add.s32 %r8, %r8, -4;
    setp.lt.s32 %p2, %r8, %r1;
    setp.gt.s32 %p3, %r8, 3;
    @%p3 bra FOUR;
REST:
    setp.eq.s32 %p4, %r7, 0;
    @%p4 bra BEHIND;
ONE:
    setp.lt.s32 %p2, %r6, 7;
BEHIND:
    selp.u32 %r9, 1, 0, %p2;
    setp.ne.s32 %p5, %r9, %r1;
    @%p5 bra EACH;
    ret;
}
"""
MADE = "add.s32 %r5, %r6, -1;"


def changes(*parts: str) -> tuple[list[str], list[str]]:
    """The instructions that go, and those that come, in the text with ``parts`` of it replaced:
    each old one, and the new one."""
    text = TEXT.replace("@MADE", MADE)
    for old, new in zip(parts[::2], parts[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    function = parse_function(next(iter(parse_module(text, "k").functions)))
    separate_comparisons(function)
    before = list(map(str, function.instructions))
    KnownBranches().run(Kernel(function, Facts(function)))
    after = list(map(str, function.instructions))
    return [one for one in before if one not in after], [one for one in after if one not in before]


def test_who_has_some_turns_left_does_not_ask_whether_there_are_any() -> None:
    assert changes() == (["@%p1 bra REST;"], ["@%p1 bra ONE;"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("setp.lt.u32 %p1, %r5, 3", "setp.le.u32 %p1, %r5, 2"),
        ("setp.lt.u32 %p1, %r5, 3", "setp.lt.u32 %p1, %r5, 2"),
        ("setp.lt.u32 %p1, %r5, 3;\n    @%p1", "setp.gt.u32 %p1, %r5, 2;\n    @!%p1"),
        (MADE, "not.b32 %r4, %r1; sub.s32 %r3, %r10, %r4; add.s32 %r5, %r3, -2;"),
        (MADE, "mov.u32 %r4, -1; add.s32 %r5, %r6, %r4;"),
        ("setp.eq.s32 %p4, %r7, 0;\n    @%p4", "setp.ne.s32 %p4, %r7, 0;\n    @!%p4"),
        # It is equal, to a number or to another one.
        ("setp.lt.u32 %p1, %r5, 3", "setp.eq.s32 %p1, %r5, 0"),
        ("setp.lt.u32 %p1, %r5, 3", "sub.s32 %r2, 1, %r1; setp.eq.s32 %p1, %r10, %r2"),
        # Bits are looked at in fewer of them.
        ("setp.eq.s32 %p4, %r7, 0", "cvt.u16.u32 %rs1, %r7; setp.eq.s16 %p4, %rs1, 0"),
    ],
)
def test_other_ways_to_ask(old: str, new: str) -> None:
    _, (branch,) = changes(old, new)
    assert branch.endswith("bra ONE;")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("setp.lt.u32 %p1, %r5, 3", "setp.lt.s32 %p1, %r5, 3"),  # less than none, too
        ("setp.lt.u32 %p1, %r5, 3", "setp.lt.u32 %p1, %r5, 4"),
        ("setp.lt.u32 %p1, %r5, 3", "setp.ge.u32 %p1, %r5, 3"),
        ("and.b32 %r7, %r6, 3", "and.b32 %r7, %r6, 5"),
        ("and.b32 %r7, %r6, 3", "and.b32 %r7, %r6, 1"),
        ("and.b32 %r7, %r6, 3", "and.b32 %r7, %r9, 3"),
        (MADE, MADE.replace("-1", "1")),
        ("setp.lt.u32 %p1, %r5, 3", "setp.ne.s32 %p1, %r5, 0"),
        ("setp.lt.u32 %p1, %r5, 3", "setp.eq.s32 %p1, %r5, 1"),
        ("setp.lt.u32 %p1, %r5, 3", "setp.eq.s32 %p1, %r10, %r1"),
        ("setp.lt.u32 %p1, %r5, 3", "cvt.u16.u32 %rs1, %r5; setp.lt.u16 %p1, %rs1, 3"),
        # Halves of a register are added up.
        (MADE, "mov.b32 %r4, -1;\n    add.s16x2 %r5, %r6, %r4;"),
        # What the turns left over make is set all the same.
        ("mov.u32 %r9, %tid.x;", "mov.u32 %r9, %tid.x;\n    setp.eq.u32 %p2, %r9, 0;"),
        # The number has changed in between.
        ("and.b32 %r7, %r6, 3;", "add.s32 %r6, %r6, 1;\n    and.b32 %r7, %r6, 3;"),
        ("REST:\n", "REST:\n    @%p3 and.b32 %r7, %r6, 3;\n"),
        # Something else is done there.
        ("REST:\n", "REST:\n    st.global.u32 [%r9], %r8;\n"),
        ("REST:\n", "REST:\n    add.s32 %r8, %r8, 1;\n"),
    ],
)
def test_what_is_not_known(old: str, new: str) -> None:
    assert changes(old, new) == ([], [])


@pytest.mark.parametrize(
    ("old", "both", "plain"),
    [
        ("setp.lt.u32 %p1, %r5, 3", "setp.lt.u32 %p6|%p1, %r5, 3", "setp.ge.u32 %p1, %r5, 3"),
        ("setp.lt.u32 %p1, %r5, 3", "setp.ge.u32 _|%p1, %r5, 3", "setp.lt.u32 %p1, %r5, 3"),
        ("setp.eq.s32 %p4, %r7, 0", "setp.eq.s32 %p6|%p4, %r7, 0", "setp.ne.s32 %p4, %r7, 0"),
    ],
)
def test_the_second_predicate_of_a_comparison_is_the_opposite(
    old: str, both: str, plain: str
) -> None:
    assert changes(old, both) == changes(old, plain)


def test_what_rounds_is_no_sum() -> None:
    parts = (
        ".reg .b32 %r<20>;",
        ".reg .b32 %r<20>; .reg .f32 %f<9>;",
        "add.s32 %r6, %r10, %r1;",
        "mov.b32 %f2, %r10; mov.b32 %f3, %r1; mov.b32 %r6, %f2;",
        MADE,
        "add.f32 %f4, %f2, %f3; sub.f32 %f5, %f4, %f3; mov.b32 %r4, %f5; add.s32 %r5, %r4, -1;",
    )
    assert changes(*parts) == ([], [])


COUNTED = (
    "add.s32 %r6, %r10, %r1;",
    "shl.b32 %r3, %r9, 2; sub.s32 %r6, %r10, %r3;",
    MADE,
    "BETWEEN not.b32 %r4, %r3; add.s32 %r5, %r10, %r4;",
    "add.s32 %r8, %r8, -4;",
    "add.s32 %r8, %r8, -4; add.s32 %r3, %r3, 4;",
)
"""The turns are counted in a register that their number was made from."""


@pytest.mark.parametrize(
    ("parts", "known"),
    [
        (("BETWEEN", ""), True),
        (("BETWEEN", "mul.lo.s32 %r3, %r3, 5;"), False),
        (("BETWEEN", "@%p3 mov.u32 %r3, %r7;"), False),
        (
            ("BETWEEN", "", "    and.b32 %r7, %r6, 3;\n", "", "REST:\n",
             "REST:\n    sub.s32 %r2, %r10, %r3;\n    and.b32 %r7, %r2, 3;\n"),
            False,
        ),
        (("BETWEEN", "", "EACH:\n", "EACH:\n    @%p3 bra REST;\n"), False),
    ],
)  # fmt: skip
def test_a_number_is_asked_of_where_it_is_read(parts: tuple[str, ...], known: bool) -> None:
    """What its register holds elsewhere makes no difference."""
    gone, come = changes(*COUNTED, *parts)
    assert (gone, come) == ((["@%p1 bra REST;"], ["@%p1 bra ONE;"]) if known else ([], []))


REST_FIRST = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u32 k_param_0)
{
    .reg .pred %p<9>;
    .reg .b16 %rs<2>;
    .reg .b32 %r<20>;
    ld.param.u32 %r1, [k_param_0];
    mov.u32 %r9, %tid.x;
EACH:
    shl.b32 %r10, %r9, 1;
    sub.s32 %r6, %r1, %r10;
    and.b32 %r7, %r6, 3;
    cvt.u16.u32 %rs1, %r7;
    setp.eq.s16 %p1, %rs1, 0;
    @%p1 bra FOURS;
    mov.u32 %r8, %r10;
FOURS:
    not.b32 %r4, %r10;
    add.s32 %r5, %r1, %r4;
    setp.lt.u32 %p2, %r5, 3;
    @%p2 bra BEHIND;
FOUR:
    add.s32 %r8, %r10, 4;
    setp.lt.s32 %p3, %r8, %r1;
    @%p3 bra FOUR;
BEHIND:
    add.s32 %r9, %r8, 1;
    setp.ne.s32 %p5, %r9, %r1;
    @%p5 bra EACH;
    ret;
}
"""


@pytest.mark.parametrize(
    ("old", "new", "known"),
    [
        ("", "", True),
        ("setp.lt.u32 %p2, %r5, 3;\n    @%p2", "setp.gt.u32 %p2, %r5, 2;\n    @!%p2", True),
        ("setp.lt.u32 %p2, %r5, 3", "setp.eq.s32 %p2, %r5, 0", True),
        ("setp.lt.u32 %p2, %r5, 3", "setp.lt.u32 %p2, %r5, 4", False),
        ("setp.lt.u32 %p2, %r5, 3", "setp.lt.s32 %p2, %r5, 3", False),
        ("setp.lt.u32 %p2, %r5, 3", "setp.lt.u32 %p2, %r6, 3", False),
        ("setp.eq.s16 %p1", "setp.ne.s16 %p1", False),
        ("%r6, 3;\n    cvt.u16.u32", "%r6, 511;\n    cvt.u8.u32", False),
        ("cvt.u16.u32 %rs1, %r7", "cvt.u16.u32 %rs1, %r6", False),
        ("FOURS:\n", "FOURS:\n    add.s32 %r8, %r10, 2;\n", False),
    ],
)
def test_who_has_none_left_has_four_or_more(old: str, new: str, known: bool) -> None:
    """Where nvcc has those that are left before the four in a row."""
    assert old in REST_FIRST
    function = parse_function(
        next(iter(parse_module(REST_FIRST.replace(old, new, 1), "k").functions))
    )
    KnownBranches().run(Kernel(function, Facts(function)))
    assert ("@%p1 bra FOUR;" in map(str, function.instructions)) == known
