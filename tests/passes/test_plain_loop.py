"""The loop as it was, beside the one that collects adaptively."""

from __future__ import annotations

import re

import pytest
from collecting import transform
from folders import GOLDEN
from goldens import Golden

BEFORE = Golden.read(GOLDEN / "small" / "adaptive.ptx").before


@pytest.mark.parametrize(
    ("bound", "written"),
    [("%r1", "%r1"), ("4200", "4200"), ("-4097", str(2**32 - 4097)), ("0xFFFFEFFF", "4294963199")],
)
def test_bounds_are_read_as_the_comparison_reads_them(bound: str, written: str) -> None:
    text = transform(BEFORE.replace("%r2, %r1;", f"%r2, {bound};"), strategy="adaptive").ptx
    assert f"setp.ge.u32 %ccc_soon_0, %ccc_far_0, {written};" in text
    assert re.search(rf"min\.u32 %ccc_near_0, {written}, %ccc_far_\d;", text)


def test_without_a_counter_to_compare_nobody_passes_by() -> None:
    text = BEFORE.replace("setp.lt.u32 %p4, %r2, %r1;", "rem.u32 %r5, %r2, %r1;\n"
                          "setp.ne.u32 %p4, %r5, 0;")  # fmt: skip
    assert "%ccc_soon" not in transform(text, strategy="adaptive").ptx
