"""Where all lanes of a warp meet."""

from __future__ import annotations

import pytest

from ccc.analysis.callees import all_meet_at
from ccc.analysis.convergence import ReconvergencePoint, find_reconvergence
from ccc.analysis.facts import Facts
from ccc.ir.nodes import Instruction
from ccc.parse import parse_function, parse_module

KERNEL = """.version 9.0
.target sm_90a
.address_size 64
.visible .entry k() {
    .reg .pred %p<3>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<3>;
    BODY
    ret;
}
"""


def first(text: str) -> Instruction:
    (piece,) = parse_module(KERNEL.replace("BODY", text), "k.ptx").functions
    return next(parse_function(piece).instructions)


@pytest.mark.parametrize(
    ("text", "meet"),
    [
        ("bar.sync 0;", True),
        ("bar.warp.sync -1;", True),
        ("bar.warp.sync 255;", False),
        ("bar.warp.sync %r1;", False),
        ("@%p1 bar.warp.sync -1;", False),
        ("vote.sync.ballot.b32 %r1, %p1, 0xffffffff;", True),
        ("wgmma.fence.sync.aligned;", True),
        ("wgmma.wait_group.sync.aligned 0;", True),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%rd1];", True),
        ("activemask.b32 %r1;", False),
        ("cp.async.wait_all;", False),
        ("griddepcontrol.wait;", False),
        ("mbarrier.test_wait.parity.shared.b64 %p1, [%r1], %r2;", False),
        ("mov.b32 %r1, -1;", False),
    ],
)
def test_where_all_lanes_meet(text: str, meet: bool) -> None:
    assert all_meet_at(first(text)) == meet


ROUNDS = """
    mov.u32 %r1, %tid.x;
    mov.u32 %r3, 2;
ROUND:
    shr.u32 %r4, %r3, 1;
STEP:
    setp.ge.u32 %p1, %r1, 60;
    @%p1 bra PASSED;
    mov.u32 %r2, %r1;
ITEM:
    add.u32 %r2, %r2, 32;
    setp.lt.u32 %p1, %r2, 60;
    @%p1 bra ITEM;
PASSED:
    bar.sync 0;
    shr.u32 %r4, %r4, 1;
    setp.eq.u32 %p2, DECIDING, 0;
    @%p2 bra DONE;
    bra.uni STEP;
DONE:
    shl.b32 %r3, %r3, 1;
    setp.lt.u32 %p2, %r3, 64;
    @%p2 bra ROUND;
"""


@pytest.mark.parametrize(("deciding", "all_stay"), [("%r4", True), ("%r1", False)])
def test_a_turn_that_all_end_alike_may_end_in_a_jump(deciding: str, all_stay: bool) -> None:
    """As well as in the branch that decides whether there is another one."""
    text = KERNEL.replace("BODY", ROUNDS.replace("DECIDING", deciding))
    (piece,) = parse_module(text, "k.ptx").functions
    facts = Facts(parse_function(piece))
    loop = next(one for one in facts.loops if one.header == "ITEM")
    found = find_reconvergence(facts, loop)
    assert isinstance(found, ReconvergencePoint) == all_stay
    assert not all_stay or found == ReconvergencePoint((("STEP", "$ccc_block_3"),))


APART = """
    mov.u32 %r1, %tid.x;
    mov.u32 %r3, %tid.x;
ROUND:
    mov.u32 %r2, %r1;
ITEM:
    add.u32 %r2, %r2, 32;
    setp.lt.u32 %p1, %r2, 60;
    @%p1 bra ITEM;
    sub.s32 %r3, %r3, 1;
    setp.ge.s32 %p2, %r3, 0;
    @%p2 bra ROUND;
    setp.gt.u32 %p1, %ntid.x, 3;
    LEAVE
OUT:
    bar.sync 0;
"""
"""Some lanes begin the next turn, and the others leave the loop, which these decide alike."""


@pytest.mark.parametrize("leave", ["@%p1 bra OUT;\n    bra.uni ROUND;", "@!%p1 bra ROUND;"])
def test_of_two_ends_of_a_turn_each_may_have_some_lanes(leave: str) -> None:
    text = KERNEL.replace("BODY", APART.replace("LEAVE", leave))
    (piece,) = parse_module(text, "k.ptx").functions
    facts = Facts(parse_function(piece))
    loop = next(one for one in facts.loops if one.header == "ITEM")
    assert isinstance(find_reconvergence(facts, loop), str)
