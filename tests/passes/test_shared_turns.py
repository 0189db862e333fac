"""Tasks that are shared out, turn by turn: every kind of counter, step and bound.

The long ones alone (``auto``), or all of them, whoever runs which turn; or none: then the last
tasks run many turns that are not asked whether they are the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from breadth import one_in
from collecting import transform

from ccc.emulator import EmulatorError, Module
from ccc.options import Options
from ccc.ptx.types import TYPES

LANES = 32
LONG = {3: 20, 4: 21, 40: 45}
"""The tasks that turn so often; others turn once or twice."""
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1, .param .u64 k_param_2)
.maxntid 32, 1, 1
{
	.reg .pred %p<9>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<19>;
	.reg .b@BITS %c<9>;
	.reg .b@WIDTH %z<9>;
	ld.param.u64 %rd1, [k_param_0];
	ld.param.u64 %rd2, [k_param_1];
	ld.param.u64 %rd12, [k_param_2];
	mov.u32 %r1, %tid.x;
	// ccc.loop 1 k.cu:1:1
EACH:
	// ccc.for 1 k.cu:1:1
	mul.wide.u32 %rd3, %r1, 8;
	add.s64 %rd4, %rd1, %rd3;
	ld.global.u64 %rd5, [%rd4];
	cvt.u@BITS.u64 %c3, %rd5;
	cvt.u@BITS.u64 %c2, %rd12;
	@BACK.s@BITS %c1, %c2, %c3;
	cvt.u@WIDTH.u32 %z1, %r1;
	mul.lo.s@WIDTH %z2, %z1, 1000000007;
	setp.eq.u32 %p3, %r1, 5;
	@%p3 bra JOIN;
	// ccc.loop 2 k.cu:3:1
TURN:
	// ccc.variable 2 k.cu:3:1
	cvt.u64.u@WIDTH %rd8, %z1;
	cvt.u64.u@BITS %rd9, %c1;
	mad.lo.s64 %rd8, %rd8, 31, %rd9;
	mad.lo.s64 %rd8, %rd8, %rd8, %rd8;
	red.global.add.u64 [%rd2], %rd8;
	red.global.add.u64 [%rd2+8], 1;
	@BODY
	add.@CARRIED %z1, %z1, @STEP;
	add.@COUNTER %c1, %c1, @ONE;
	setp.@RELATION.@TEST %p1, %c1, @END;
	@%p1 bra TURN;
JOIN:
	add.s32 %r1, %r1, 32;
	setp.lt.u32 %p2, %r1, 64;
	@%p2 bra EACH;
	ret;
}
"""


def kernel(
    test: str = "s32",
    relation: str = "lt",
    one: str = "1",
    carried: str = "s64",
    step: str = "4",
    end: int | None = None,
    body: str = "",
) -> str:
    """A kernel whose tasks begin before a bound, which it is given or which is ``end``."""
    down = one.startswith("-") or int(one.rstrip("U"), 0) > 100
    words = {
        "BITS": TYPES[test].bits, "BACK": "add" if down else "sub",
        "CARRIED": carried, "WIDTH": TYPES[carried].bits, "STEP": step, "BODY": body,
        "COUNTER": f"s{TYPES[test].bits}" if test[0] == "b" else test, "ONE": one, "TEST": test,
        "RELATION": relation, "END": "%c2" if end is None else end,
    }  # fmt: skip
    text = KERNEL
    for name, value in words.items():
        text = text.replace(f"@{name}", str(value))
    return text


def sums(module: Module, bound: int) -> list[int]:
    """The sum over all turns of a function of their state, and how many turns there were."""
    counts = np.array([LONG.get(number, 1 + number % 2) for number in range(64)], np.uint64)
    result = np.zeros(2, np.uint64)
    at = np.uint64(bound % (1 << 64))
    module.get_function("k")((1,), (LANES,), (counts, result, at))
    return [int(value) for value in result]


STRATEGIES = {
    "auto": "$ccc_engage_0:", "engage": "$ccc_share_0:", "engage_block": "$ccc_share_0:"
}  # fmt: skip
"""With the label where tasks are shared out."""


WHILE = "while"
"""Asks for no strategy, but has the loop annotated as one whose turns depend on one another."""

EVERY = (*STRATEGIES, "sub_warp(16)", WHILE)


def check(
    text: str,
    bounds: Sequence[int] = (100,),
    is_shared: bool = True,
    asked: Sequence[str] = EVERY,
) -> None:
    """The transformed kernel takes the same turns, and shares the tasks out.

    The number of lanes of a sub-warp is a factor of the steps, and nothing else.
    """
    versions = [text]
    for strategy in asked:
        if strategy == WHILE:
            done = transform(text.replace("ccc.variable", "ccc.while"), filename="k.ptx")
            assert "$ccc_many_0:" in done.ptx or not is_shared
        else:
            done = transform(text, Options(strategy=strategy), filename="k.ptx")
            assert (STRATEGIES.get(strategy, "$ccc_share_0:") in done.ptx) == is_shared
        versions.append(done.ptx)
    modules = [Module(version, step_limit=5_000) for version in versions]
    for bound in bounds:
        expected, *found = (sums(module, bound) for module in modules)
        assert all(one == expected for one in found), bound


def edges(kind: str) -> tuple[int, int]:
    bits = TYPES[kind].bits
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if kind[0] == "s" else (0, (1 << bits) - 1)


STEPS = (
    "0", "-1", "-4", "2147483647", "-2147483648", "2147483648", "3000000019", "4294967295",
    "0xFFFFFFFFU", "-3000000019", "0x8000000000000000", "18446744073709551615",
    "-9223372036854775808", "0123456701234567",
)  # fmt: skip


@pytest.mark.parametrize("carried", one_in(3, ["s32", "u32", "s64", "u64"]))
def test_what_a_register_gains_may_be_any_number(carried: str) -> None:
    bits = TYPES[carried].bits
    use = "cvt.u64.u@W %rd8, %m@N;\n\tmad.lo.s64 %rd8, %rd8, %rd8, @N;\n\t"
    add = "red.global.add.u64 [%rd2], %rd8;\n\tadd.@T %m@N, %m@N, @S;\n\t"
    body = "".join(
        (use + add).replace("@W", str(bits)).replace("@N", str(number))
        .replace("@T", carried).replace("@S", step)
        for number, step in enumerate(STEPS)
    )  # fmt: skip
    begin = "".join(f"mov.b{bits} %m{n}, %z2;\n\t" for n in range(len(STEPS)))
    text = kernel(carried=carried, body=body).replace("setp.eq.u32 %p3", f"{begin}setp.eq.u32 %p3")
    text = text.replace(".reg .b64 %rd", f".reg .b{bits} %m<{len(STEPS)}>;\n\t.reg .b64 %rd")
    check(text, asked=(*EVERY, "sub_warp(2)"))


@pytest.mark.parametrize("carried", ["s32", "s64"])
def test_it_may_stand_in_a_register(carried: str) -> None:
    check(kernel(carried=carried, step="%z2"))


ORDERED = [("lt", "1"), ("le", "1"), ("gt", "-1"), ("ge", "-1")]
COMPARISONS = [(kind, *how) for kind, how in product(("s32", "u32", "s64", "u64"), ORDERED)]
COMPARISONS += [("b32", "ne", "1"), ("s32", "ne", "-1"), ("u64", "ne", "1"), ("b64", "ne", "-1")]


@pytest.mark.parametrize(("kind", "relation", "one"), one_in(3, COMPARISONS))
def test_every_comparison_at_the_edges(kind: str, relation: str, one: str) -> None:
    low, high = edges(kind)
    endless = {"le": high, "ge": low}.get(relation)
    bounds = [bound for bound in (low, low + 20, 0, high - 20, high) if bound != endless]
    check(kernel(kind, relation, one), bounds)


@pytest.mark.parametrize(
    ("kind", "relation", "one", "end"),
    [
        ("s32", "lt", "1", 2147483647),
        ("u32", "le", "1", 4294967294),
        ("u32", "gt", "-1", 4294967270),
        ("s64", "ge", "-1", -9223372036854775807),
        ("u64", "lt", "1", 18446744073709551615),
    ],
)
def test_the_bound_may_be_a_number(kind: str, relation: str, one: str, end: int) -> None:
    check(kernel(kind, relation, one, end=end), [end])


@pytest.mark.parametrize(
    ("kind", "relation", "one", "is_number"),
    [
        ("s32", "le", "1", False), ("u64", "le", "1", False), ("u32", "le", "1", True),
        ("u32", "ge", "-1", False), ("s64", "ge", "-1", False), ("s64", "ge", "-1", True),
    ],
)  # fmt: skip
def test_a_loop_without_end_has_none_when_it_is_shared(
    kind: str, relation: str, one: str, is_number: bool
) -> None:
    bound = edges(kind)[relation == "le"]
    text = kernel(kind, relation, one, end=bound if is_number else None)
    text = text.replace("[%rd4];", "[%rd4];\n\tadd.s64 %rd5, %rd5, 20;")
    after = Module(transform(text, filename="k.ptx").ptx, step_limit=3_000)
    with pytest.raises(EmulatorError, match="more than 3000 steps"):
        sums(after, bound)


@pytest.mark.parametrize("one", ["4294967295", "0xFFFFFFFFU", "-1"])
def test_minus_one_is_a_step_however_it_is_written(one: str) -> None:
    check(kernel("u32", "gt", one))


def test_a_register_that_steps_by_one_that_changes_is_not_known() -> None:
    check(kernel(carried="s64", step="%rd5", body="add.s64 %rd5, %rd5, 1;"), is_shared=False)
    check(kernel(carried="s64", step="%z1"), is_shared=False)


def test_what_an_inner_loop_steps_gains_more_than_once_a_turn() -> None:
    inner = """mov.u32 %r3, 0;
INNER:
	add.s32 %r4, %r4, 3;
	cvt.u64.u32 %rd10, %r4;
	red.global.add.u64 [%rd2], %rd10;
	add.s32 %r3, %r3, 1;
	setp.lt.u32 %p5, %r3, 3;
	@%p5 bra INNER;"""
    text = kernel(body=inner).replace("setp.eq.u32 %p3", "mov.b32 %r4, 7;\n\tsetp.eq.u32 %p3")
    check(text, is_shared=False)


THIRDS = (("auto", "sub_warp(16)"), ("engage", WHILE), ("engage_block",))
COUNTERS = [
    *product(("s32", "u64"), ("lt", "le", "ne"), [1]),
    *product(("u32", "s64"), ("gt", "ge", "ne"), [-1]),
]
STRIDES = [
    pytest.param(
        kind, relation, sign * stride, THIRDS[(row + row // 3 + column) % 3],
        id=f"{kind}-{relation}-{sign * stride}",
    )
    for row, (kind, relation, sign) in enumerate(COUNTERS)
    for column, stride in enumerate((2, 3, 8))
]  # fmt: skip
"""A third of the strategies for each, so that each has every stride of every type: how turns are
counted is computed in one place for all of them."""


@pytest.mark.parametrize(("kind", "relation", "stride", "asked"), one_in(4, STRIDES))
def test_the_counter_may_take_strides(
    kind: str, relation: str, stride: int, asked: Sequence[str]
) -> None:
    low, high = edges(kind)
    text = kernel(kind, relation, str(stride))
    bounds = [0 if kind[0] == "s" else 100, high - 20 if stride < 0 else low + 20]
    check(whole_strides(text, kind, stride) if relation == "ne" else text, bounds, asked=asked)


def whole_strides(text: str, kind: str, stride: int) -> str:
    """The kernel with counters that begin whole strides before their bounds."""
    bits, opcode = TYPES[kind].bits, "sub" if stride > 0 else "add"
    before = f"{opcode}.s{bits} %c1, %c2, %c3;"
    assert before in text
    return text.replace(before, f"mul.lo.s{bits} %c3, %c3, {abs(stride)};\n\t{before}")


@pytest.mark.parametrize(("kind", "relation", "stride"), [("s32", "lt", 3), ("u64", "gt", -2)])
def test_what_may_step_over_the_last_number_is_not_counted(
    kind: str, relation: str, stride: int
) -> None:
    low, high = edges(kind)
    text = whole_strides(kernel(kind, relation, str(stride)), kind, stride)
    end = high if stride > 0 else low
    check(text, [end - stride, end - stride // abs(stride), end])
