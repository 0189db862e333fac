"""Where all lanes of a warp meet."""

from __future__ import annotations

import pytest

from ccc.analysis.callees import all_meet_at
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
