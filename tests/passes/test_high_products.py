"""High halves of products that ptxas would add too seldom are taken from whole products."""

from __future__ import annotations

import pytest

from ccc.analysis.facts import Facts
from ccc.parse import parse_function, parse_module
from ccc.passes.high_products import HighProducts
from ccc.pipeline import Kernel

TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_0)
{{
    .reg .pred %p<4>;
    .reg .b32 %r<9>;
    {before}
TURN:
    {body}
    @%p1 bra TURN;
    ret;
}}
"""
HALF = "mul.hi.u32 %r1, %r2, %r3;\n"
ADD = "add.s32 %r4, %r1, %r4;\n"
WHOLE = ["mul.wide.u32 %ccc_product_0, %r2, %r3;", "mov.b64 {%ccc_low_0, %r1}, %ccc_product_0;"]


def rewritten(body: str, before: str = "") -> list[str]:
    """The instructions that stand in the place of others."""
    text = TEXT.format(body=body, before=before)
    function = parse_function(next(iter(parse_module(text, "k.ptx").functions)))
    old = set(map(str, function.instructions))
    HighProducts().run(Kernel(function, Facts(function)))
    return [str(one) for one in function.instructions if str(one) not in old]


def test_a_half_that_is_added_three_times_is_taken_from_a_whole_product() -> None:
    made = rewritten((HALF + ADD) * 3)
    assert made[:2] == WHOLE
    assert len(made) == 6


def test_so_is_one_that_was_computed_before() -> None:
    assert rewritten(ADD * 3, before=HALF) == WHOLE


@pytest.mark.parametrize("join", ["bra NEXT; NEXT:\n", "NEXT:\n"])
def test_blocks_that_always_follow_one_another_count_as_one(join: str) -> None:
    assert len(rewritten((HALF + ADD) * 2 + join + HALF + ADD)) == 6


def test_an_addition_to_a_product_is_written_out() -> None:
    made = rewritten("mad.hi.s32 %r4, %r2, -3, %r4;\n" * 3)
    assert made[:3] == [
        "mul.wide.s32 %ccc_product_0, %r2, -3;",
        "mov.b64 {%ccc_low_0, %ccc_high_0}, %ccc_product_0;",
        "add.s32 %r4, %ccc_high_0, %r4;",
    ]


def test_literals_of_whole_products_are_numbers_without_a_sign() -> None:
    made = rewritten("@%p1 mad.hi.u32 %r4, %r2, -3, %r4;\n" * 3)
    assert made[0] == "@%p1 mul.wide.u32 %ccc_product_0, %r2, 4294967293;"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param((HALF + ADD) * 2, id="two"),
        pytest.param((HALF + ADD + "xor.b32 %r2, %r2, %r4;\n") * 3, id="another factor each time"),
        pytest.param(HALF * 3 + ADD, id="added once"),
        pytest.param((HALF + "mov.u32 %r1, %r2;\n" + ADD) * 3, id="set anew"),
        pytest.param((HALF + ADD + "@%p2 bra TURN;\n") * 3, id="apart"),
    ],
)
def test_others_stay_as_they_are(body: str) -> None:
    assert rewritten(body) == []
