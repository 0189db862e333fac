"""What the lanes of a warp likely have in common."""

from __future__ import annotations

import pytest

from ccc.analysis.facts import Facts
from ccc.analysis.likeness import likely_taken_together, parts_others, turns_likely_agree
from ccc.parse import parse_function, parse_module

LISTS = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 ends, .param .u64 x, .param .u32 n)
{{
	.reg .pred %p<9>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<9>;
	ld.param.u64 %rd1, [ends];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
EACH:
	{place}
	mul.wide.u32 %rd2, %r3, 4;
	add.s64 %rd3, %rd1, %rd2;
	{load} %r4, [%rd3];
	mov.u32 %r5, 0;
	setp.eq.u32 %p1, %r4, 0;
	@%p1 bra NEXT;
TURN:
	add.s32 %r5, %r5, 1;
	setp.lt.u32 %p2, %r5, %r4;
	@%p2 bra TURN;
NEXT:
	add.s32 %r2, %r2, 256;
	setp.lt.u32 %p3, %r2, %r1;
	@%p3 bra EACH;
	ret;
}}
"""


def facts_of(place: str, load: str = "ld.global.u32") -> Facts:
    (piece,) = parse_module(LISTS.format(place=place, load=load)).functions
    return Facts(parse_function(piece))


@pytest.mark.parametrize(
    ("place", "load", "is_alike"),
    [
        ("shr.u32 %r3, %r2, 6;", "ld.global.u32", True),
        ("shr.u32 %r3, %r2, 5;", "ld.global.nc.u32", True),
        ("div.u32 %r3, %r2, 100;", "ld.global.u32", True),
        ("and.b32 %r3, %r2, -32;", "ld.global.u32", True),
        ("shr.u32 %r3, %r2, 4;", "ld.global.u32", False),
        ("div.u32 %r3, %r2, 31;", "ld.global.u32", False),
        ("and.b32 %r3, %r2, -16;", "ld.global.u32", False),
        ("and.b32 %r3, %r2, 31;", "ld.global.u32", False),
        ("mov.u32 %r3, %r2;", "ld.global.u32", False),
        ("shr.u32 %r3, %r2, 6;", "ld.volatile.global.u32", False),
        ("shr.u32 %r3, %r2, 6;", "ld.local.u32", False),
    ],
)
def test_lanes_of_a_tile_find_one_list(place: str, load: str, is_alike: bool) -> None:
    facts = facts_of(place, load)
    turn, each = facts.loops
    (entry,) = turn.blocks
    assert turns_likely_agree(turn, facts) == is_alike
    assert likely_taken_together(entry, each, facts) == is_alike
    assert parts_others(each.blocks, facts) == is_alike
    assert not facts.turns_agree(turn)  # which nothing may be made of
    assert not turns_likely_agree(each, facts)


def test_what_all_lanes_know_parts_nobody() -> None:
    facts = facts_of("mov.u32 %r3, %r1;")
    turn, each = facts.loops
    assert turns_likely_agree(turn, facts)
    known = facts_of("mov.u32 %r3, %r1;", "mov.u32 %r4, %r1; //")
    turn, each = known.loops
    assert known.turns_agree(turn)
    assert not parts_others(each.blocks, known)
