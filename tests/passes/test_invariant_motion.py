"""What a launch has one value of is computed once, and no task takes it along."""

from __future__ import annotations

import pytest

from ccc.analysis.facts import Facts
from ccc.parse import parse_function, parse_module
from ccc.passes.invariant_motion import InvariantMotion
from ccc.pipeline import Kernel

TEXT = """.version 8.0
.target sm_80
.address_size 64
.const .align 4 .b8 table[64];
{kind} k({parameters})
{{
    .reg .pred %p<3>;
    .reg .b32 %r<2000>;
    .reg .b64 %rd<9>;
    .param .b64 result;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [k_0];
LOOP:
    // ccc.for 1 k.cu:1:1
    {body}
    add.u32 %r1, %r1, 32;
    setp.lt.u32 %p1, %r1, 1000;
    @%p1 bra LOOP;
    ret;
}}
"""


def moved(body: str, kind: str = ".visible .entry") -> list[str]:
    """The instructions that were put before all others."""
    parameters = ".param .u64 k_0, .param .u32 k_1"
    text = TEXT.format(kind=kind, parameters=parameters, body=body)
    function = parse_function(next(iter(parse_module(text, "k.ptx").functions)))
    old = {str(instruction) for instruction in function.instructions}
    kernel = Kernel(function, Facts(function))
    InvariantMotion().run(kernel)
    new = [str(instruction) for instruction in function.blocks[0].instructions]
    assert {str(i) for i in function.instructions} == old
    return new[: new.index("mov.u32 %r1, %tid.x;")]


def test_parameters_and_all_that_is_made_of_them() -> None:
    body = """mov.u32 %r4, %ntid.x;
    mad.lo.s32 %r3, %r4, 4, %r2;
    ld.param.u32 %r2, [k_1];
    cvta.to.global.u64 %rd2, %rd1;
    add.u64 %rd3, %rd2, 8;"""
    found = moved(body)
    assert sorted(found) == sorted([
        "ld.param.u64 %rd1, [k_0];", "cvta.to.global.u64 %rd2, %rd1;", "add.u64 %rd3, %rd2, 8;",
        "mov.u32 %r4, %ntid.x;", "ld.param.u32 %r2, [k_1];", "mad.lo.s32 %r3, %r4, 4, %r2;",
    ])  # fmt: skip
    assert found.index("mad.lo.s32 %r3, %r4, 4, %r2;") > found.index("ld.param.u32 %r2, [k_1];")


@pytest.mark.parametrize(
    "body",
    [
        "mov.u32 %r2, %ctaid.x;",  # a block has one value of it
        "mov.u32 %r2, 7;",  # known as it is
        "ld.const.u32 %r2, [table];",
        "ld.param.u64 %rd2, [result];",  # what a call gave
        "add.u32 %r2, %r1, 1;",
        "@%p1 mov.u32 %r2, %ntid.x;",
        "mov.u32 %r2, %ntid.x; add.u32 %r2, %r2, 1;",  # two values
        "mov.b64 {%r2, %r3}, %rd1; add.u32 %r2, %r2, 1; add.u32 %r4, %r3, 1;",
        "mov.u32 %r2, %clock;",
        "activemask.b32 %r2;",
    ],
)
def test_what_stays(body: str) -> None:
    assert moved(body) == []


def test_callers_may_give_each_thread_another_parameter() -> None:
    assert moved("add.u64 %rd2, %rd1, 8;", kind=".func") == []


def test_values_that_are_used_twice_are_looked_at_once() -> None:
    chain = [f"add.u32 %r{i + 1}, %r{i}, %r{i};" for i in range(2, 1_500)]
    found = moved("\n".join(["mov.u32 %r2, %ntid.x;", *chain]))
    assert found[-1] == chain[-1]
    assert found.index(chain[700]) > found.index(chain[600])
