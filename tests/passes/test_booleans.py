"""Booleans in registers of 16 bits become predicates."""

from __future__ import annotations

import pytest

from ccc.analysis.facts import Facts
from ccc.parse import parse_function, parse_module
from ccc.passes.booleans import Booleans
from ccc.pipeline import Kernel

TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_0)
{{
    .reg .pred %p<4>;
    .reg .b16 %rs<4>;
    .reg .b32 %r<4>;
TURN:
    {body}
    @%p2 bra TURN;
    ret;
}}
"""


def rewritten(*body: str) -> list[str]:
    """The instructions that stand in the place of others."""
    text = TEXT.format(body="\n    ".join(f"{one};" for one in body))
    function = parse_function(next(iter(parse_module(text, "k.ptx").functions)))
    old = set(map(str, function.instructions))
    Booleans().run(Kernel(function, Facts(function)))
    return [str(one) for one in function.instructions if str(one) not in old]


MADE = "selp.u16 %rs1, 1, 0, %p1"
TESTED = "setp.ne.s16 %p2, %rs1, 0"


def test_what_is_made_of_a_predicate_and_tested_is_one() -> None:
    assert rewritten("mov.u16 %rs1, 0", f"@%p3 {MADE}", TESTED) == [
        "mov.pred %ccc_boolean_0, 0;",
        "@%p3 mov.pred %ccc_boolean_0, %p1;",
        "mov.pred %p2, %ccc_boolean_0;",
    ]


def test_opposites_are_opposites() -> None:
    assert rewritten("selp.u16 %rs1, 0, 1, %p1", "setp.eq.s16 %p2, %rs1, 0") == [
        "not.pred %ccc_boolean_0, %p1;",
        "not.pred %p2, %ccc_boolean_0;",
    ]


def test_copies_and_masked_ones_are_the_same() -> None:
    assert rewritten(
        "mov.b16 %rs2, 1", "mov.u16 %rs1, %rs2", "and.b16 %rs3, %rs1, 255",
        "setp.ne.s16 %p2, %rs3, 0",
    ) == [
        "mov.pred %ccc_boolean_1, 1;",
        "mov.pred %ccc_boolean_0, %ccc_boolean_1;",
        "mov.pred %ccc_boolean_2, %ccc_boolean_0;",
        "mov.pred %p2, %ccc_boolean_2;",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        pytest.param([MADE, TESTED, "cvt.u32.u16 %r1, %rs1"], id="read as a number"),
        pytest.param(["mov.u16 %rs1, 2", TESTED], id="another number"),
        pytest.param(["ld.param.u16 %rs1, [k_0]", TESTED], id="from memory"),
        pytest.param(["selp.u16 %rs1, 1, 2, %p1", TESTED], id="of two numbers"),
        pytest.param([MADE, "setp.ne.s16 %p2, %rs1, 1"], id="compared with 1"),
        pytest.param([MADE, "setp.lt.s16 %p2, %rs1, 0"], id="compared by order"),
        pytest.param(
            [MADE, "and.b16 %rs2, %rs1, 2", "setp.ne.s16 %p2, %rs2, 0"], id="another mask"
        ),
        pytest.param(
            [MADE, "mov.u16 %rs2, %rs1", "cvt.u32.u16 %r1, %rs2", TESTED], id="a copy is a number"
        ),
        pytest.param(["mov.u32 %r1, 0", "setp.ne.s32 %p2, %r1, 0"], id="32 bits"),
        pytest.param([MADE], id="never tested"),
    ],
)
def test_others_stay_as_they_are(body: list[str]) -> None:
    assert rewritten(*body) == []
