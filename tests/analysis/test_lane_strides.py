"""How far apart what neighbouring lanes compute is."""

from __future__ import annotations

import pytest

from ccc.analysis.facts import Facts
from ccc.analysis.lane_strides import lane_strides
from ccc.parse import parse_function, parse_module

FUNCTION = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u32 mask)
{{
	.reg .b32 %r<9>;
	ld.param.u32 %r1, [mask];
	mov.u32 %r2, %tid.x;
	{body}
	ret;
}}
"""


def stride(body: str) -> int | None:
    (piece,) = parse_module(FUNCTION.format(body=body)).functions
    facts = Facts(parse_function(piece))
    found = {str(register): known for register, known in lane_strides(facts).items()}
    return found["%r3"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("shl.b32 %r3, %r2, 2;", 4),
        ("and.b32 %r3, %r2, 1023;", 1),
        ("and.b32 %r3, 1023, %r2;", 1),
        ("and.b32 %r3, %r2, 31;", None),
        ("and.b32 %r3, %r2, -4;", None),
        ("and.b32 %r3, %r2, %r2;", None),
        ("mov.u32 %r4, %ctaid.x;\n\tand.b32 %r3, %r2, %r4;", 1),
    ],
)
def test_a_number_in_a_large_ring_seldom_begins_anew(body: str, expected: int | None) -> None:
    assert stride(body) == expected
