"""Slices: branches that nobody needs are left out, also those whose ways lead to one place."""

from __future__ import annotations

import pytest
from collecting import transform

from ccc.analysis.facts import Facts
from ccc.analysis.paths.find import find_paths
from ccc.analysis.paths.model import Path
from ccc.emulator import Module
from ccc.harness.equivalence import Launch, difference, run
from ccc.parse import parse_function, parse_module

KERNEL = """.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 X, .param .u64 Y, .param .u32 n)
.maxntid 64
{
	.reg .b32 %a, %i, %n, %step, %t<4>;
	.reg .b64 %X, %Y, %yi, %xi;
	.reg .pred %p<4>;
	ld.param.u64 %X, [X];
	ld.param.u64 %Y, [Y];
	ld.param.u32 %n, [n];
	mov.u32 %t0, %ctaid.x;
	mov.u32 %t1, %ntid.x;
	mov.u32 %t2, %tid.x;
	mad.lo.s32 %i, %t0, %t1, %t2;
	mov.u32 %t2, %nctaid.x;
	mul.lo.s32 %step, %t1, %t2;
	// ccc.loop 1 k.cu:1:1
EACH:
	// ccc.for 1 k.cu:1:1
	mad.wide.s32 %yi, %i, 4, %Y;
	mad.wide.s32 %xi, %i, 4, %X;
	ld.global.u32 %a, [%xi];
	setp.gt.s32 %p1, %a, 30;
	@!%p1 bra REST;
	// ccc.then 2 k.cu:2:1
	mul.lo.s32 %a, %a, 7;
REST:
	and.b32 %t3, %a, 1;
	setp.ne.u32 %p2, %t3, 0;
T: .branchtargets ON, ON;
	BRANCH
ON:
	st.global.b32 [%yi], %a;
	add.s32 %i, %i, %step;
	setp.lt.s32 %p0, %i, %n;
	@%p0 bra EACH;
	ret;
}
"""
TO_ONE_PLACE = ["brx.idx %t3, T;", "@%p2 bra ON; bra ON;", "@%p2 bra ON;"]
LAUNCH = Launch.parse("grid=2 block=64 args=s32[1000]~-100:100 s32[1000]=0 s32:1000")


@pytest.mark.parametrize("branch", TO_ONE_PLACE)
def test_a_branch_to_one_place_is_left_out_with_what_it_reads(branch: str) -> None:
    (text,) = parse_module(KERNEL.replace("BRANCH", branch)).functions
    facts = Facts(parse_function(text))
    (task,) = (path.task for path in find_paths(facts) if isinstance(path, Path))
    assert task is not None
    made = {register.name for i in task.instructions for register in i.defined()}
    assert made.isdisjoint(("%t3", "%p2"))
    skips = task.skips
    assert skips.get("REST") == ("ON", False)


@pytest.mark.parametrize("strategy", ["queue", "batch3", "tile(3)"])
@pytest.mark.parametrize("branch", TO_ONE_PLACE)
def test_tasks_go_on_there(branch: str, strategy: str) -> None:
    text = KERNEL.replace("BRANCH", branch)
    made = transform(text, strategy=strategy)
    (remark,) = made.remarks["k"]
    assert remark.strategy == strategy
    before, _ = run(Module(text), "k", LAUNCH)
    after, _ = run(Module(made.ptx), "k", LAUNCH)
    assert difference(before, after) is None
