"""Choices that nvcc has joined are made one by one, so that it is seen what goes with the least."""

from __future__ import annotations

import pytest
from collecting import transform
from folders import GOLDEN
from goldens import Golden

BEGIN, END = "\tsetp.lt.f32 %p2, %f3, %f1;\n", "\tcvt.rmi.f32.f32 %f5, %f4;\n"
"""Before the first choice of that kernel, and behind the second."""
OR = """
    setp.lt.f32 %p2, %f3, %f1;
    selp.f32 %f6, %f3, %f1, %p2;
    sub.f32 %f4, %f3, %f2;
    setp.lt.f32 %p3, %f4, %f6;
    selp.f32 %f1, %f4, %f6, %p3;
    or.pred %p6, %p3, %p2;
    selp.b32 %r3, %r2, %r3, %p6;
"""
AND = """
    setp.geu.f32 %p2, %f3, %f1;
    selp.f32 %f6, %f1, %f3, %p2;
    sub.f32 %f4, %f3, %f2;
    setp.geu.f32 %p3, %f4, %f6;
    selp.f32 %f1, %f6, %f4, %p3;
    and.pred %p6, %p3, %p2;
    selp.b32 %r3, %r3, %r2, %p6;
"""
TWO_CONDITIONS = """
    sub.f32 %f4, %f3, %f2;
    setp.lt.f32 %p2, %f3, %f1;
    setp.lt.f32 %p3, %f4, 0f00000000;
    and.pred %p6, %p3, %p2;
    selp.f32 %f1, %f3, %f1, %p6;
    selp.b32 %r3, %r2, %r3, %p6;
"""


def with_choices(choices: str) -> str:
    """A loop that keeps the least and a number, with other choices in one of its blocks."""
    kernel = Golden.read(GOLDEN / "small" / "argmin.ptx").before
    begin, _, rest = kernel.partition(BEGIN)
    return begin + choices + END + rest.partition(END)[2]


@pytest.mark.parametrize("choices", [OR, AND, TWO_CONDITIONS])
def test_the_number_is_seen_to_go_with_the_least(choices: str) -> None:
    done = transform(with_choices(choices), strategy="queue")
    assert done.remarks["k"][0].applied
    assert ("chosen" in done.ptx) == (choices != TWO_CONDITIONS)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("or.pred %p6, %p3, %p2;", "xor.pred %p6, %p3, %p2;"),
        ("%r3, %r2, %r3, %p6;", "%r3, %r3, %r2, %p6;"),
        ("%r3, %r2, %r3, %p6;", "%r3, %r2, %r3, %p6;\n    selp.b32 %r4, 1, 0, %p6;"),
        ("or.pred %p6, %p3, %p2;", "setp.lt.f32 %p7, %f4, 0f0;\n    or.pred %p6, %p7, %p2;"),
        ("sub.f32 %f4, %f3, %f2;", "sub.f32 %f4, %f3, %f2;\n    setp.lt.f32 %p2, %f4, 0f0;"),
    ],
)
def test_what_is_chosen_by_something_else_stays(old: str, new: str) -> None:
    assert old in OR
    (remark,) = transform(with_choices(OR.replace(old, new)), strategy="queue").remarks["k"]
    assert not remark.applied


def test_a_choice_under_a_condition_stays() -> None:
    guarded = OR.replace("selp.b32 %r3", "@%p1 selp.b32 %r3")
    done = transform(with_choices(guarded), strategy="queue")
    assert not done.remarks["k"][0].applied
    assert "chosen" not in done.ptx
