"""Accesses to different fields of an array's elements."""

from __future__ import annotations

import pytest

from ccc.analysis.facts import Facts
from ccc.analysis.fields import are_other_fields
from ccc.parse import parse_function, parse_module

TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1, .param .u32 k_param_2)
{
	.reg .pred %p<9>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<9>;
	.shared .align 8 .b8 table[800];
	ld.param.u64 %rd1, [k_param_0];
	ld.param.u64 %rd2, [k_param_1];
	ld.param.u32 %r1, [k_param_2];
	mov.u32 %r2, %tid.x;
	cvta.to.global.u64 %rd3, %rd1;
@CODE
	ret;
}
"""
ELEMENT = "mul.wide.u32 %rd4, %r1, 8; add.s64 %rd5, %rd3, %rd4;"
OTHER = "mul.wide.u32 %rd6, %r2, 8; add.s64 %rd7, %rd3, %rd6;"
STEPPED = (
    "mov.u64 %rd5, %rd3; LOOP: ld.global.u32 %r3, [%rd5]; add.s64 %rd5, %rd5, {step};"
    " setp.ne.u32 %p1, %r3, 0; @%p1 bra LOOP; {other}"
)


@pytest.mark.parametrize(
    ("code", "apart"),
    [
        (f"{ELEMENT} {OTHER} ld.global.u32 %r3, [%rd5]; st.global.u32 [%rd7+4], %r3;", True),
        (f"{ELEMENT} {OTHER} ld.global.u32 %r3, [%rd5]; st.global.u32 [%rd7], %r3;", False),
        (f"{ELEMENT} {OTHER} ld.global.u32 %r3, [%rd5]; st.global.u32 [%rd7+3], %r3;", False),
        (f"{ELEMENT} {OTHER} ld.global.u64 %rd8, [%rd5]; st.global.u32 [%rd7+4], %r3;", False),
        (f"{ELEMENT} {OTHER} ld.global.u16 %r3, [%rd5]; st.global.v2.u16 [%rd7+4], {{1, 2}};",
         True),
        (f"{ELEMENT} {OTHER} ld.global.u16 %r3, [%rd5]; st.global.v4.u16 [%rd7+4], {{1, 2, 3, 4}};",
         False),
        # The steps of the other one are half as long.
        (f"{ELEMENT} {OTHER.replace('8', '4')} ld.global.u32 %r3, [%rd5]; "
         "st.global.u32 [%rd7+4], %r3;", False),
        # Steps of twelve bytes that cannot wrap around, and some that can.
        (f"{(ELEMENT + OTHER).replace('8', '12')} ld.global.u32 %r3, [%rd5];"
         " st.global.u64 [%rd7+4], %rd1;", True),
        (f"cvt.u64.u32 %rd4, %r1; mul.lo.u64 %rd4, %rd4, 12; add.s64 %rd5, %rd3, %rd4; {OTHER}"
         " ld.global.u32 %r3, [%rd5]; st.global.u64 [%rd7+4], %rd1;", False),
        (f"cvt.u64.u32 %rd8, %r1; mul.lo.s64 %rd4, %rd8, 12; add.s64 %rd5, %rd3, %rd4;"
         f" {OTHER.replace('8', '12')} ld.global.u32 %r3, [%rd5];"
         " st.global.u64 [%rd7+4], %rd1;", True),
        (f"mul.lo.u32 %r4, %r1, 3; {ELEMENT.replace('%r1', '%r4')} {OTHER}"
         " ld.global.u32 %r3, [%rd5]; st.global.u32 [%rd7+4], %r3;", True),
        # Of twice as many elements.
        (
            "shl.b32 %r4, %r1, 1; mul.wide.u32 %rd4, %r4, 4; add.s64 %rd5, %rd3, %rd4;"
            " add.s32 %r5, %r2, %r2; shl.b32 %r5, %r2, 1; add.s32 %r6, %r5, 1;"
            " mul.wide.u32 %rd6, %r6, 4; add.s64 %rd7, %rd3, %rd6;"
            " ld.global.u32 %r3, [%rd5]; st.global.u32 [%rd7], %r3;",
            False,
        ),
        (
            "shl.b32 %r4, %r1, 1; mul.wide.s32 %rd4, %r4, 4; add.s64 %rd5, %rd3, %rd4;"
            " shl.b32 %r5, %r2, 1; add.s32 %r6, %r5, 1; mul.wide.s32 %rd6, %r6, 4;"
            " add.s64 %rd7, %rd3, %rd6; ld.global.u32 %r3, [%rd5]; st.global.u32 [%rd7], %r3;",
            True,
        ),
        (
            "mov.u32 %r4, -1; mul.wide.u32 %rd4, %r4, 4; add.s64 %rd5, %rd3, %rd4;"
            " ld.global.u32 %r3, [%rd5]; st.global.u32 [%rd3+17179869180], %r3;",
            False,
        ),
        # Of a place that is taken round, and of one of two.
        (
            "add.s32 %r4, %r1, 1; shl.b32 %r5, %r4, 1; and.b32 %r6, %r5, 2046;"
            " @%p1 bra ON; shl.b32 %r6, %r2, 2; ON: mul.wide.u32 %rd4, %r6, 4;"
            " add.s64 %rd5, %rd3, %rd4; add.s32 %r7, %r6, 1; mul.wide.u32 %rd6, %r7, 4;"
            " add.s64 %rd7, %rd3, %rd6; ld.global.u32 %r3, [%rd5]; st.global.u32 [%rd7], %r3;",
            True,
        ),
        (
            "and.b32 %r6, %r1, 2047; @%p1 bra ON; shl.b32 %r6, %r2, 2; ON:"
            " mul.wide.u32 %rd4, %r6, 4; add.s64 %rd5, %rd3, %rd4; add.s32 %r7, %r6, 1;"
            " mul.wide.u32 %rd6, %r7, 4; add.s64 %rd7, %rd3, %rd6;"
            " ld.global.u32 %r3, [%rd5]; st.global.u32 [%rd7], %r3;",
            False,
        ),
        # An index of which a part is known.
        (f"add.s32 %r4, %r1, %r1; shl.b32 %r4, %r4, 3; cvt.u64.u32 %rd4, %r4;"
         f" add.s64 %rd5, %rd3, %rd4; {OTHER}"
         " ld.global.u32 %r3, [%rd5]; st.global.u32 [%rd7+4], %r3;", False),
        # Another pointer may lead there as well.
        (f"{ELEMENT} {OTHER.replace('%rd3', '%rd2')} ld.global.u32 %r3, [%rd5];"
         " st.global.u32 [%rd7+4], %r3;", False),
        # What goes from element to element.
        (STEPPED.format(step=8, other=f"{OTHER} st.global.u32 [%rd7+4], %r3;"), True),
        (STEPPED.format(step=4, other=f"{OTHER} st.global.u32 [%rd7+4], %r3;"), False),
        (STEPPED.format(step="%rd1", other=f"{OTHER} st.global.u32 [%rd7+4], %r3;"), False),
        # At places that are known.
        ("ld.global.u32 %r3, [%rd3+8]; st.global.u32 [%rd3+12], %r3;", True),
        ("ld.global.u32 %r3, [%rd3+8]; st.global.u32 [%rd3+10], %r3;", False),
        ("ld.global.u64 %rd4, [%rd3]; ld.global.u32 %r3, [%rd4]; st.global.u32 [%rd4+4], %r3;",
         False),
        # In shared memory, where addresses may have 32 bits.
        ("mov.u32 %r3, table; shl.b32 %r4, %r1, 3; add.s32 %r5, %r3, %r4; shl.b32 %r6, %r2, 3;"
         " add.s32 %r7, %r3, %r6; ld.shared.u32 %r8, [%r5]; st.shared.u32 [%r7+4], %r8;", True),
    ],
)  # fmt: skip
def test_other_fields(code: str, apart: bool) -> None:
    text = TEXT.replace("@CODE", code.replace("; ", ";\n\t"))
    (piece,) = parse_module(text).functions
    facts = Facts(parse_function(piece))
    accesses = [i for i in facts.function.instructions if i.space in ("global", "shared")]
    for first, second in (accesses[-2:], accesses[:-3:-1]):
        assert are_other_fields(first, second, facts) is apart
