"""A function that cannot be read is left alone, and what is around it is not."""

from __future__ import annotations

import re

import pytest
from collecting import transform
from folders import GOLDEN
from goldens import Golden

from ccc.remark import Remark

BEFORE = Golden.read(GOLDEN / "context-collection" / "if_else.ptx").before
RENAMED = re.sub(r"\.(version|target|address_size|file)\b.*\n", "", BEFORE.replace("k(", "other("))
RENAMED = RENAMED.replace("k_param", "other_param")


def with_line(text: str, line: str) -> str:
    """The same with a line before the first loop's end."""
    return re.sub(r"\tret;", f"\t{line}\n\tret;", text, count=1)


def remarks(text: str) -> dict[str, list[Remark]]:
    result = transform(text)
    found: dict[str, list[Remark]] = result.remarks
    return found


def test_both_are_served_where_both_can_be_read() -> None:
    found = remarks(BEFORE + RENAMED)
    assert [one.applied for name in ("k", "other") for one in found[name]].count(True) >= 2


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("mov.u32 %r1 %r2;", "this statement is not understood"),
        ("mov.u32 %r1, %nosuch;", "register %nosuch is not declared"),
        ("add.u32 %r1, %r2;", "its form is: add d, a, b"),
        ("ld.global.u32 %r1, 4;", "4 is no address"),
        ("setp.lt %p1, %r1, 4;", "setp.lt names no type that ccc knows, as .u32 is one"),
        ("add.s2147483648 %r1, %r1, 1;", "names no type"),
    ],
)
def test_a_function_that_cannot_be_read_is_left_alone(line: str, reason: str) -> None:
    text = BEFORE + with_line(RENAMED, line)
    result = transform(text)
    assert line in result.ptx
    left = result.remarks["other"]
    assert left
    assert not any(one.applied for one in left)
    assert all(re.match(r"<ptx>:\d+:\d+: ", one.reason or "") for one in left)
    assert all(reason in (one.reason or "") for one in left)
    assert any(one.applied for one in result.remarks["k"])
    assert any(reason in complaint.message for complaint in result.complaints)


def test_a_declaration_that_cannot_be_read_leaves_all_functions_alone() -> None:
    text = BEFORE.replace(".visible .entry", ".global .u32 x y;\n.visible .entry")
    result = transform(text)
    assert result.ptx == text
    assert all("declaration is not understood" in (r.reason or "") for r in result.remarks["k"])


def test_parameters_in_registers_leave_a_function_alone() -> None:
    text = RENAMED.replace("(", "(.reg .b32 i,", 1).replace(".visible .entry", ".visible .func")
    found = remarks(BEFORE + text)["other"]
    assert {one.reason for one in found} == {
        f"{one.reason.partition(': ')[0]}: this function takes parameters in registers (.reg)"
        for one in found
        if one.reason
    }
