"""Which loads are made before a path, and that both versions compute the same."""

from __future__ import annotations

import numpy as np
import pytest
from collecting import transform

from ccc.emulator import Module

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u32 n, .param .u64 in, .param .u64 out)
{{
    .reg .pred %p<5>;
    .reg .b32 %r<20>;
    .reg .b64 %rd<20>;
    ld.param.u32 %r1, [n];
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd9, [out];
    mov.u32 %r2, %tid.x;
    mov.u32 %r7, 3;
    // ccc.loop 1 k.cu:1:1
LOOP:
    // ccc.for 1 k.cu:1:1
    rem.u32 %r3, %r2, 3;
    setp.eq.s32 %p1, %r3, 0;
    @%p1 bra JOIN;
    // ccc.then 2 k.cu:3:5 prob={prob}
    {path}
    add.s32 %r5, %r4, 1;
    atom.global.add.u32 %r6, [%rd9], %r5;
JOIN:
    {rest}
    add.s32 %r2, %r2, 32;
    setp.lt.u32 %p2, %r2, %r1;
    @%p2 bra LOOP;
    ret;
}}
"""
ADDRESS = "mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;"
LOAD = "ld.global.u32 %r4, [%rd3];"


@pytest.mark.parametrize(
    ("path", "is_early"),
    [
        (f"{ADDRESS} {LOAD}", True),
        (f"{ADDRESS} ld.global.nc.u32 %r4, [%rd3];", True),
        (f"{ADDRESS} {LOAD} add.s32 %r4, %r4, %r7;", True),
        (f"shl.b32 %r8, %r2, 2; cvt.u64.u32 %rd2, %r8; add.s64 %rd3, %rd2, %rd1; {LOAD}", True),
        (f"sub.s32 %r8, 99, %r2; mad.wide.u32 %rd3, %r8, 4, %rd1; {LOAD}", True),
        (f"{ADDRESS} ld.global.u32 %r8, [%rd3]; mad.wide.u32 %rd4, %r8, 4, %rd1;"
         " ld.global.u32 %r4, [%rd4];", True),
        # Not side by side, or nobody knows.
        (f"mul.wide.u32 %rd2, %r2, 8; add.s64 %rd3, %rd1, %rd2; {LOAD}", False),
        (f"mul.lo.s32 %r8, %r2, %r2; mad.wide.u32 %rd3, %r8, 4, %rd1; {LOAD}", False),
        # Not weak, not always made, or something else comes first.
        (f"{ADDRESS} ld.volatile.global.u32 %r4, [%rd3];", False),
        (f"{ADDRESS} ld.acquire.gpu.global.u32 %r4, [%rd3];", False),
        (f"{ADDRESS} mov.u32 %r4, 1; setp.gt.u32 %p3, %r2, 40; @%p3 {LOAD}", False),
        (f"{ADDRESS} st.global.u32 [%rd3], %r2; {LOAD}", False),
        (f"{ADDRESS} membar.gl; {LOAD}", False),
        # The address is what somebody else wants it to be, too.
        (f"{ADDRESS} add.s64 %rd3, %rd3, 0; {LOAD}", False),
        (f"{ADDRESS} {LOAD} add.s32 %r4, %r4, %r2;", False),
    ],
)  # fmt: skip
def test_what_is_loaded_early(path: str, is_early: bool) -> None:
    check(KERNEL.format(prob=0.75, path=path, rest=""), is_early)


@pytest.mark.parametrize("strategy", ["auto", "queue"])
@pytest.mark.parametrize("prob", [0.25, 0.75])
def test_when_it_pays(prob: float, strategy: str) -> None:
    kernel = KERNEL.format(prob=prob, path=f"{ADDRESS} {LOAD}", rest="")
    check(kernel, is_early=prob > 0.5 and strategy == "auto", strategy=strategy)


def check(before: str, is_early: bool, strategy: str = "auto") -> None:
    """Both versions must do the same, and the load stand before the snapshot, or in the task."""
    after = transform(before, strategy=strategy).ptx
    assert ("%ccc_early_" in after) == is_early
    assert "ccc_context_stack" in after or not is_early
    outcomes = []
    for text in (before, after):
        data, out = np.arange(10000, dtype=np.uint32) % 97, np.zeros(4, np.uint32)
        kernel = Module(text).get_function("k")
        kernel((1,), (32,), (np.uint32(99), data, out), schedule=3)
        outcomes.append((data.tolist(), out.tolist()))
    assert outcomes[0] == outcomes[1]
