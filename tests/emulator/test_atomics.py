"""Atomics of several elements and of narrow floating-point numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulating import ptx, run

SCHEDULES = ("lockstep", 0, 1)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_vectors_of_f32(schedule: str | int) -> None:
    text = """
    and.b32 %r1, %r0, 1;
    mul.wide.u32 %x1, %r1, 16;
    add.u64 %x1, %p0, %x1;
    cvt.rn.f32.u32 %r2, %r0;
    mov.b32 %r3, 0f3F800000; mov.b32 %r4, 0f40000000; mov.b32 %r5, 0f00000001;
    red.global.add.v4.f32 [%x1], {%r2, %r3, %r4, %r5};
    atom.global.add.v2.f32 {%r6, %r7}, [%p0+32], {%r3, %r4};
    mul.wide.u32 %x2, %r0, 8;
    add.u64 %x2, %p1, %x2;
    st.global.v2.b32 [%x2], {%r6, %r7};
    """
    out, found = np.zeros(12, np.float32), np.zeros((32, 2), np.float32)
    run(ptx(text, 2), out, found, schedule=schedule)
    sums = [float(sum(range(start, 32, 2))) for start in (0, 1)]
    # Subnormal numbers are zeros to global memory.
    assert out.tolist() == [sums[0], 16, 32, 0, sums[1], 16, 32, 0, 32, 64, 0, 0]
    assert sorted(found[:, 0].tolist()) == list(range(32))
    # Each element is atomic by itself.
    assert sorted(found[:, 1].tolist()) == list(range(0, 64, 2))


def test_shared_memory_keeps_subnormal_numbers() -> None:
    text = """
    setp.ne.u32 %q1, %r0, 0;
    @!%q1 st.shared.u32 [box], 0;
    bar.sync 0;
    mov.b32 %r5, 0f00000001;
    red.shared.add.f32 [box], %r5;
    bar.sync 0;
    ld.shared.u32 %r6, [box];
    st.global.u32 [%p0], %r6;
    """
    out = np.zeros(1, np.uint32)
    run(ptx(text, module=".shared .align 4 .b32 box;"), out)
    assert out.tolist() == [32]


HALVES: dict[str, Any] = {"f16": 0x3C00, "bf16": 0x3F80}  # 1.0


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", HALVES)
def test_halves(name: str, schedule: str | int) -> None:
    one = HALVES[name]
    text = f"""
    mov.u16 %h1, {one}; mov.b32 %r1, {{%h1, %h1}};
    cvt.rn.{name}.u32 %h2, %r0; mov.b32 %r2, {{%h2, %h1}};
    atom.global.add.noftz.{name} %h3, [%p0], %h1;
    red.global.add.noftz.{name}x2 [%p0+4], %r2;
    red.global.v2.{name}.max.noftz [%p0+8], {{%h2, %h1}};
    red.global.v2.{name}x2.add.noftz [%p0+16], {{%r1, %r2}};
    """
    out = np.zeros(12, np.uint16)
    run(ptx(text), out, schedule=schedule)
    if name == "f16":
        values = out.view(np.float16).astype(float)
    else:
        values = (out.astype(np.uint32) << 16).view(np.float32).astype(float)
    total = 496.0
    if name == "bf16":  # rounded after each step, so the order matters
        assert abs(values[2] - total) <= 16
        values[2] = values[10] = total
    assert values.tolist() == [32, 0, total, 32, 31, 1, 0, 0, 32, 32, total, 32]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_words_of_128_bits(schedule: str | int) -> None:
    text = """
    .reg .b128 %w<9>;
    cvt.u64.u32 %x1, %r0; add.u64 %x2, %x1, 1000; mov.b128 %w1, {%x1, %x2};
    add.u64 %x3, %x1, 1; add.u64 %x4, %x1, 1001; mov.b128 %w2, {%x3, %x4};
    mul.wide.u32 %x5, %r0, 16; add.u64 %x5, %p1, %x5;
    SPIN: atom.global.cas.b128 %w3, [%p0], %w1, %w2;  // lane after lane adds one to both halves
    mov.b128 {%x6, %x7}, %w3;
    setp.ne.u64 %q1, %x6, %x1;
    @%q1 bra SPIN;
    atom.global.exch.b128 %w4, [%x5], %w3;
    setp.eq.u32 %q2, %r0, 5;
    @%q2 mov.b128 %w3, {%x6, %x1};
    @!%q2 ld.global.b128 %w3, [%x5];
    st.shared.b128 [box], %w3;
    mov.b128 %w4, %w3;
    st.global.b128 [%x5], %w4;
    """
    first, out = np.array([0, 1000], np.uint64), np.full((32, 2), 7, np.uint64)
    run(ptx(text, 2, ".shared .align 16 .b128 box;"), first, out, schedule=schedule)
    assert first.tolist() == [32, 1032]
    assert out.tolist() == [[k, k + 1000 if k != 5 else 5] for k in range(32)]
