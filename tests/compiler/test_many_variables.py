"""What advice costs does not grow as the square of the variables that a branch updates."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

KERNEL = """{before}
__global__ void k(const float *x, float *y, int n) {{
    {declared}
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {{
        float v = x[i];
        #pragma ccc if
        if (v > 0.5f) {{ for (int q = 0; q < 30; q++) v = v * 2.f - 1; y[i] = v; {updates} }}
    }}
    {after}
}}
"""
FEW, MANY = 8, 32
MOST = 8
"""Times as many calls for four times the variables: the square would be 16 times."""


def _each(text: str, number: int) -> str:
    return " ".join(text.replace("#", str(one)) for one in range(number))


def _sums(number: int) -> str:
    return KERNEL.format(
        before="",
        declared=_each("float s# = 0;", number),
        updates=_each("s# += v * #;", number),
        after=_each("y[#] = s#;", number),
    )


def _structures(number: int) -> str:
    return KERNEL.format(
        before=_each("struct A# { float s, t; };", number),
        declared=_each("A# a# = {};", number),
        updates=_each("a#.s += v * #;", number),
        after=_each("y[#] = a#.s;", number),
    )


def _methods(number: int) -> str:
    methods = _each("float s#; __device__ void add#(float v) { s# += v; }", number)
    return KERNEL.format(
        before=f"struct A {{ {methods} }};",
        declared="A a = {};",
        updates=_each("a.add#(v);", number),
        after=_each("y[#] = a.s#;", number),
    )


def _ties(number: int) -> str:
    return KERNEL.format(
        before="",
        declared=_each("float d# = 1; int b# = -1;", number),
        updates=_each(
            "if (v < d# || (v == d# && i < b#)) { d# = v; b# = i; } v = v * 1.1f;", number
        ),
        after=_each("y[#] = d# + b#;", number),
    )


def _calls(source: str, folder: Path) -> int:
    """How many functions are called to tell of a source; those of the compiler do not count."""
    found = 0

    def count(_frame: FrameType, event: str, _: object) -> None:
        nonlocal found
        found += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        told = said(source, folder, Options(strategy=COLLECT))
    finally:
        sys.setprofile(before)
    assert any("path left as it was" in line for line in told)
    return found


@pytest.mark.parametrize("made", [_sums, _structures, _methods, _ties])
def test_advice_costs_little_for_each_variable(made: Callable[[int], str], tmp_path: Path) -> None:
    said(made(2), tmp_path, Options(strategy=COLLECT))  # imports what is needed
    few, many = (_calls(made(number), tmp_path) for number in (FEW, MANY))
    assert many < MOST * few
