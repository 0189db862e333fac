"""How far apart what neighbouring lanes compute is."""

from __future__ import annotations

import pytest

from ccc.analysis.facts import Facts
from ccc.analysis.lane_strides import lane_strides, turn_strides
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


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("shr.u32 %r3, %r2, 5;", 0),
        ("shr.u32 %r3, %r2, 4;", None),
        ("shl.b32 %r4, %r2, 3;\n\tshr.u32 %r3, %r4, 8;", 0),
        ("shl.b32 %r4, %r2, 3;\n\tshr.u32 %r3, %r4, 7;", None),
        ("div.s32 %r3, %r2, -32;", 0),
        ("and.b32 %r3, %r2, -32;", 0),
        ("mov.u32 %r4, %ctaid.x;\n\tshr.u32 %r3, %r2, %r4;", None),
    ],
)
def test_upper_bits_are_the_same(body: str, expected: int | None) -> None:
    assert stride(body) == expected


def test_what_all_lanes_read_at_one_address_is_the_same() -> None:
    """As a pointer that lies in a structure."""
    assert stride("ld.global.u32 %r3, [list+8];") == 0
    assert (
        stride("cvta.u64 %r4, list;\n\tld.global.u32 %r4, [%r4+8];\n\tadd.s32 %r3, %r4, %r2;") == 1
    )
    assert stride("ld.global.u32 %r3, [%r2];") is None


TURNS = """
	ld.param.u64 %rd1, [next];
	mov.u32 %r3, 0;
	mov.u32 %r4, %tid.x;
LOOP:
	mov.u32 %r5, %r4;
	mul.wide.u32 %rd2, %r5, 4;
	add.u64 %rd3, %rd1, %rd2;
	ld.global.nc.u32 %r4, [%rd3];
	setp.eq.u32 %p1, %r4, %r5;
	@%p1 bra NEXT;
	mov.u32 %r4, 0;
NEXT:
	add.u32 %r3, %r3, 4;
	setp.ne.u32 %p1, %r4, 0;
	@%p1 bra LOOP;
"""
"""A list is gone along: each element tells where the next one lies."""


def test_what_a_turn_hands_on_may_be_anything_in_the_next() -> None:
    text = FUNCTION.replace(".param .u32 mask", ".param .u64 next").partition("\tld.param")[0]
    text = text.format().replace(".reg .b32", ".reg .pred %p<2>; .reg .b64 %rd<4>; .reg .b32")
    (piece,) = parse_module(f"{text}{TURNS}\tret;\n}}\n").functions
    facts = Facts(parse_function(piece))
    found = {str(one): step for one, step in turn_strides(facts.loops[0], facts).items()}
    told = [found[name] for name in ("%r3", "%r4", "%r5", "%rd3")]
    assert told == [4, None, None, None]
