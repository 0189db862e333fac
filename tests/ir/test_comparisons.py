"""Comparisons that write two predicates, and what becomes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from breadth import examples
from hypothesis import given
from hypothesis import strategies as st
from small_kernel import kernel

from ccc.compiler.transform import transform
from ccc.emulator import Module
from ccc.ir.comparisons import separate_comparisons
from ccc.ir.nodes import Function
from ccc.ir.operands import Pair
from ccc.ir.printer import replace
from ccc.ir.verify import verify
from ccc.parse import parse_function, parse_module
from ccc.ptx.operations import INVERSE, OPPOSITE_OF_FLOATS, OPPOSITE_OF_INTEGERS
from ccc.ptx.types import TYPES

TEXT = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_0, .param .u64 k_1)
{
	.reg .pred %p<4>;
	.reg .b16 %h<2>;
	.reg .b32 %r<9>;
	.reg .b64 %x<8>;
	ld.param.u64 %x5, [k_0];
	ld.param.u64 %x6, [k_1];
	mov.u32 %r5, %tid.x;
	mad.wide.u32 %x5, %r5, 16, %x5;
	mad.wide.u32 %x6, %r5, 4, %x6;
	ld.global.u64 %x0, [%x5];
	ld.global.u64 %x1, [%x5+8];
	cvt.u32.u64 %r0, %x0;
	cvt.u32.u64 %r1, %x1;
	cvt.u16.u64 %h0, %x0;
	cvt.u16.u64 %h1, %x1;
	and.b32 %r6, %r5, 1;
	setp.ne.u32 %p0, %r6, 0;
	and.b32 %r6, %r5, 2;
	setp.ne.u32 %p1, %r6, 0;
	and.b32 %r6, %r5, 4;
	setp.ne.u32 %p2, %r6, 0;
	TEST
	selp.u32 %r2, 1, 0, %p0;
	selp.u32 %r3, 2, 0, %p1;
	selp.u32 %r4, 4, 0, %p2;
	or.b32 %r2, %r2, %r3;
	or.b32 %r2, %r2, %r4;
	st.global.u32 [%x6], %r2;
	ret;
}
"""
FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = tuple(f"{kind}{bits}" for kind in "bsu" for bits in (16, 32, 64))
REGISTERS = {16: "%h", 32: "%r", 64: "%x"}
THREADS = 64
PREDICATES = ("%p0", "%p1", "%p2")
SPECIAL = {
    "f16": (0x0000, 0x8000, 0x0001, 0x3C00, 0xBC00, 0x7C00, 0x7E00, 0xFE01),
    "bf16": (0x0000, 0x8000, 0x0001, 0x3F80, 0xBF80, 0x7F80, 0x7FC0, 0xFFC1),
    "f32": (0, 1 << 31, 1, 0x3F800000, 0xBF800000, 0x7F800000, 0x7FC00000, 0xFFC00001),
    "f64": (0, 1 << 63, 1, 0x3FF0 << 48, 0xBFF0 << 48, 0x7FF0 << 48, 0x7FF8 << 48, 0xFFF9 << 48),
}
"""Zeros, the least number, 1, -1, infinity, and what is no number."""


def with_test(test: str) -> Function:
    (piece,) = parse_module(TEXT.replace("TEST", test)).functions
    return parse_function(piece)


def separated(test: str) -> list[str]:
    """What stands in the place of a test."""
    function = with_test(test)
    before = list(function.instructions)
    (old,) = (one for one in before if str(one) == test)
    separate_comparisons(function)
    verify(function)
    made = [one for one in function.instructions if one not in before]
    assert {one.span for one in made} <= {old.span}
    return list(map(str, made)) if old not in function.instructions else [test]


@pytest.mark.parametrize(
    ("test", "made"),
    [
        (
            "setp.lt.s32 %p0|%p1, %r0, %r1;",
            ["setp.lt.s32 %p0, %r0, %r1;", "setp.ge.s32 %p1, %r0, %r1;"],
        ),
        ("setp.lo.u32 _|%p1, %r0, 7;", ["setp.hs.u32 %p1, %r0, 7;"]),
        ("setp.gt.ftz.f32 %p1|_, %r0, %r1;", ["setp.gt.ftz.f32 %p1, %r0, %r1;"]),
        (
            "@!%p2 setp.equ.and.ftz.f32 %p0|%p1, %r0, %r1, %p2;",
            ["@!%p2 setp.equ.and.ftz.f32 %p0, %r0, %r1, %p2;",
             "@!%p2 setp.ne.and.ftz.f32 %p1, %r0, %r1, %p2;"],
        ),
        # what both read is written last
        (
            "setp.num.or.f64 %p0|%p1, %x0, %x1, !%p0;",
            ["setp.nan.or.f64 %p1, %x0, %x1, !%p0;", "setp.num.or.f64 %p0, %x0, %x1, !%p0;"],
        ),
        (
            "@%p0 setp.eq.b16 %p0|%p1, %h0, %h1;",
            ["@%p0 setp.ne.b16 %p1, %h0, %h1;", "@%p0 setp.eq.b16 %p0, %h0, %h1;"],
        ),
        (
            "@%p0 setp.eq.xor.b16 %p0|%p1, %h0, %h1, !%p1;",
            ["mov.pred %ccc_condition_0, %p1;",
             "@%p0 setp.ne.xor.b16 %p1, %h0, %h1, !%ccc_condition_0;",
             "@%p0 setp.eq.xor.b16 %p0, %h0, %h1, !%ccc_condition_0;"],
        ),
        # a GPU writes the first
        ("setp.ne.b32 %p0|%p0, %r0, %r1;", ["setp.ne.b32 %p0, %r0, %r1;"]),
        # the second is that of the other half
        ("setp.lt.f16x2 %p0|%p1, %r0, %r1;", ["setp.lt.f16x2 %p0|%p1, %r0, %r1;"]),
        ("setp.lt.s32 %p0, %r0, %r1;", ["setp.lt.s32 %p0, %r0, %r1;"]),
    ],
)  # fmt: skip
def test_what_they_become(test: str, made: list[str]) -> None:
    assert separated(test) == made


@pytest.mark.parametrize("opposites", [INVERSE, OPPOSITE_OF_INTEGERS, OPPOSITE_OF_FLOATS])
def test_the_opposite_of_an_opposite_is_the_relation(opposites: dict[str, str]) -> None:
    assert all(opposites[other] == one != other for one, other in opposites.items())


def relations(kind: str) -> list[str]:
    """Those that numbers of a type may have."""
    if kind in FLOATS:
        return [*OPPOSITE_OF_FLOATS]
    return {"b": ["eq", "ne"], "s": [*INVERSE], "u": [*OPPOSITE_OF_INTEGERS]}[kind[0]]


def edges(kind: str) -> tuple[int, ...]:
    """The bits of numbers of a type at which relations change."""
    bits = TYPES[kind].bits
    return SPECIAL.get(kind, (0, 1, 2 ** (bits - 1), 2**bits - 1))


@st.composite
def comparisons(draw: st.DrawFn) -> tuple[str, list[int]]:
    """A comparison with two predicates, and for each thread the bits of what it compares."""
    kind = draw(st.sampled_from((*INTEGERS, *FLOATS)))
    bits = TYPES[kind].bits
    words = [draw(st.sampled_from(relations(kind)))]
    target = st.sampled_from(PREDICATES)
    both = "|".join(draw(st.sampled_from((*PREDICATES, "_"))) for _ in range(2))
    condition = ""
    if draw(st.booleans()):
        words.append(draw(st.sampled_from(("and", "or", "xor"))))
        condition = f", {draw(st.sampled_from(('', '!')))}{draw(target)}"
    if kind in ("f16", "f32") and draw(st.booleans()):
        words.append("ftz")
    guard = draw(st.sampled_from(("", "@", "@!")))
    guard = f"{guard}{draw(target)} " if guard else ""
    one, other = (f"{REGISTERS[bits]}{number}" for number in range(2))
    opcode = ".".join(("setp", *words, kind))
    value = st.integers(0, 2**bits - 1) | st.sampled_from(edges(kind))
    values = draw(st.lists(value, min_size=2 * THREADS, max_size=2 * THREADS))
    return f"{guard}{opcode} {both}, {one}, {other}{condition};", values


def predicates_of(module: str, values: list[int], tests: int = 1) -> list[int]:
    """What the predicates are behind the last one of several tests, and what those have stored."""
    found = np.zeros(THREADS * tests, np.uint32)
    arguments: tuple[Any, ...] = (np.array(values, np.uint64), found)
    Module(module).get_function("k")((1,), (THREADS,), arguments)
    return [int(one) for one in found]


def check(code: str, values: list[int], tests: int = 1) -> list[int]:
    """That code tells the same where its comparisons are separated, and what that is."""
    module = parse_module(TEXT.replace("TEST", code))
    (piece,) = module.functions
    before = predicates_of(module.text, values, tests)
    function = parse_function(piece)
    separate_comparisons(function)
    verify(function)
    assert not any(isinstance(one, Pair) for i in function.instructions for one in i.operands)
    replace(piece, function)
    assert predicates_of(module.text, values, tests) == before
    return before


@given(comparisons())
@examples(100, 5000)
def test_they_tell_the_same(case: tuple[str, list[int]]) -> None:
    check(*case)


@pytest.mark.parametrize("kind", [*INTEGERS, *FLOATS])
def test_all_relations_of_all_numbers(kind: str) -> None:
    words, numbers = relations(kind), edges(kind)
    one, other = (f"{REGISTERS[TYPES[kind].bits]}{number}" for number in range(2))
    code = [
        f"setp.{word}.{kind} %p0|%p1, {one}, {other};\n"
        "\tselp.u32 %r2, 1, 0, %p0;\n\tselp.u32 %r3, 2, 0, %p1;\n\tor.b32 %r2, %r2, %r3;\n"
        f"\tst.global.u32 [%x6+{4 * THREADS * place}], %r2;"
        for place, word in enumerate(words, 1)
    ]
    pairs = [(a, b) for a in numbers for b in numbers]
    values = [value for thread in range(THREADS) for value in pairs[thread % len(pairs)]]
    found = check("\n\t".join(code), values, len(words) + 1)
    assert {*found[THREADS:]} == {1, 2}, "one of both holds"


PAIR = "\tsetp.lt.u32 %p3|%p4, %r1, 320;"


def test_a_kernel_that_is_left_keeps_them() -> None:
    text = kernel(path=PAIR)
    assert transform(text, strategy="leave").ptx == text


def test_where_they_decide_what_is_collected_it_is_the_same() -> None:
    text = kernel(path=f"{PAIR}\n\t@%p4 mov.u32 %r3, 9;").replace(
        "setp.ne.u32 %p1, %r2, 0;", "setp.eq.u32 _|%p1, %r2, 0;"
    )
    made = transform(text, strategy="queue")
    assert "|" not in made.ptx
    assert any(remark.applied for remark in made.remarks["k"])
    found = []
    for module in (text, made.ptx):
        out = np.zeros(640, np.uint32)
        Module(module).get_function("k")((1,), (64,), (out,))
        found.append(out.tolist())
    assert found[0] == found[1] == [(0 if i % 4 else 7 if i < 320 else 9) for i in range(640)]
