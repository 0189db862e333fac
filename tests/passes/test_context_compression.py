"""What a task computes again, and what it had better take along."""

from __future__ import annotations

import numpy as np
import pytest
from collecting import transform

from ccc.emulator import Module

HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u32 n, .param .u64 out, .param .u64 q)
{
    .reg .pred %p<4>;
    .reg .b32 %r<9>;
    .reg .b32 %c<2000>;
    .reg .b64 %rd<9>;
    ld.param.u32 %r1, [n];
    ld.param.u64 %rd1, [out];
    mov.u32 %r2, %tid.x;
    // ccc.loop 1 k.cu:1:1
LOOP:
    // ccc.for 1 k.cu:1:1
    add.u32 %c0, %r2, 7;
"""
REST = """
    rem.u32 %r3, %r2, 3;
    setp.ne.s32 %p1, %r3, 0;
    @%p1 bra JOIN;
    // ccc.then 2 k.cu:3:5
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], {value};
JOIN:
    add.s32 %r2, %r2, 64;
    setp.lt.u32 %p2, %r2, %r1;
    @%p2 bra LOOP;
    ret;
}}
"""


@pytest.mark.parametrize(("steps", "again"), [(2, True), (40, False), (1900, False)])
def test_a_chain_is_computed_again_if_it_is_short(steps: int, again: bool) -> None:
    chain = "\n".join(f"    xor.b32 %c{i + 1}, %c{i}, %r2;" for i in range(steps))
    text = HEAD + chain + REST.format(value=f"%c{steps}")
    ((path,),) = (kernel["paths"] for kernel in transform(text).report["kernels"])
    saved = {one["register"] for one in path["context"]}
    assert path["applied"]
    assert saved == ({"%r2"} if again else {"%r2", f"%c{steps}"})


@pytest.mark.parametrize(
    "two",
    [
        "ld.param.v2.u32 {%c1, %c2}, [q]; add.u32 %c1, %c1, %r2;",
        "ld.param.u64 %rd4, [q]; mov.b64 {%c1, %c2}, %rd4; add.u32 %c1, %c1, %r2;",
        "ld.param.u64 %rd4, [q]; mov.b64 {%c2, %c1}, %rd4; add.u32 %c1, %c1, %r2;",
    ],
)
def test_one_of_two_results_is_written_again(two: str) -> None:
    text = (
        HEAD
        + two
        + "add.u32 %c5, %c2, 1; add.u32 %c3, %c0, %c1; xor.b32 %c4, %c3, %c5;"
        + REST.format(value="%c4")
    )
    found = []
    for ptx in (text, transform(text).ptx):
        out = np.zeros(500, np.uint32)
        kernel = Module(ptx).get_function("k")
        kernel((1,), (64,), (np.uint32(500), out, np.uint64(0x1234567890ABCDEF)))
        found.append(out.tolist())
    assert found[0] == found[1]
    assert any(found[0])
