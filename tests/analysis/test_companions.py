"""What is taken with a minimum: only if nothing else is done with it anywhere in the loop."""

from __future__ import annotations

import pytest
from collecting import transform
from folders import GOLDEN
from goldens import Golden

ARM = "\tneg.s32 %r3, %r2;\n"


def is_collected(ptx: str) -> bool:
    (remark,) = transform(ptx, strategy="queue").remarks["k"]
    return remark.applied


@pytest.fixture(scope="module")
def kernel() -> str:
    return Golden.read(GOLDEN / "small" / "argmin.ptx").before


def test_three_places_that_take_a_value(kernel: str) -> None:
    assert is_collected(kernel)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\tselp.b32 %r3, %r2, %r3, %p2;\n", ""),
        ("selp.b32 %r3, %r3, %r1, %p3;", "selp.b32 %r3, %r1, %r3, %p3;"),
        ("selp.b32 %r3, %r2, %r3, %p2;", "selp.b32 %r3, %r2, %r3, %p1;"),
        (ARM, ""),
        (ARM, "\tld.global.u32 %r3, [%rd5];\n"),
        (ARM, f"{ARM}\tst.global.u32 [%rd5], %r2;\n"),
        (ARM, "\tadd.s32 %r3, %r3, 1;\n"),
        (ARM, f"{ARM}\tmov.u32 %r6, %r3;\n"),
        ("mov.f32 %f1, %f5;", "mov.f32 %f1, %f4;"),
        ("setp.leu.f32 %p4, %f1, %f5;", "setp.ltu.f32 %p4, %f1, %f5;"),
        ("setp.lt.f32 %p2, %f3, %f1;", "setp.ltu.f32 %p2, %f3, %f1;"),
        ("setp.lt.f32 %p2, %f3, %f1;", "setp.lt.ftz.f32 %p2, %f3, %f1;"),
        ("setp.lt.f32 %p2, %f3, %f1;", "setp.gt.f32 %p2, %f3, %f1;"),
        ("sub.f32 %f4, %f3, %f2;", "sub.f32 %f4, %f3, %f1;"),
        ("JOIN:", "JOIN:\n\tst.global.u32 [%rd5], %r3;"),
        ("JOIN:", "JOIN:\n\tmov.u32 %r3, 5;"),
        ("by=min register", "by=max register"),
    ],
)
def test_what_is_done_otherwise(kernel: str, old: str, new: str) -> None:
    assert old in kernel
    assert not is_collected(kernel.replace(old, new, 1))


def test_what_flushes_everywhere_is_compared_like_that(kernel: str) -> None:
    flushing = kernel
    for relation in ("lt", "geu", "leu"):
        flushing = flushing.replace(f"setp.{relation}.f32 %p", f"setp.{relation}.ftz.f32 %p")
    done = transform(flushing, strategy="queue")
    assert done.remarks["k"][0].applied
    assert "setp.lt.or.ftz.f32" in done.ptx
