"""Which copies of annotated loops ptxas may unroll."""

from __future__ import annotations

import pytest

from ccc.analysis.facts import Facts
from ccc.parse import parse_function, parse_module
from ccc.passes.context_collection.unrolling import kept_whole

LOOP = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u32 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<4>;
	ld.param.u32 %r1, [n];
TURN:
	// ccc.while 1 k.cu:1:1CLAUSES
	add.s32 %r2, %r2, 1048576;
	xor.b32 %r3, %r3, %r2;
	add.s32 %r1, %r1, STEP;
	setp.ne.s32 %p1, %r1, 0;
	@%p1 bra TURN;
	ret;
}
"""


@pytest.mark.parametrize(
    ("step", "clauses", "is_kept"),
    [
        ("-1", "", True),
        ("65535", "", True),
        ("-1", " unroll=own", False),
        ("65536", "", False),
        ("-65536", "", False),
        ("2147483647", "", False),
    ],
)
def test_a_loop_whose_counter_soon_wraps_is_not_unrolled(
    step: str, clauses: str, is_kept: bool
) -> None:
    (piece,) = parse_module(LOOP.replace("STEP", step).replace("CLAUSES", clauses)).functions
    assert kept_whole(Facts(parse_function(piece))) == ({"TURN"} if is_kept else set())
