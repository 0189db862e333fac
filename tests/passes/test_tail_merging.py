"""Lanes that gave a task away, and those without one, meet before the next iteration of a batch."""

from __future__ import annotations

import pytest
from folders import GOLDEN
from goldens import Golden

from ccc.analysis.facts import Facts
from ccc.ir.edit import jump, make_explicit, retarget
from ccc.ir.nodes import Function
from ccc.parse.body import parse_function
from ccc.parse.module import parse_module
from ccc.passes.context_collection.tail_merging import merge_tails
from ccc.ptx.directives import NO_UNROLL

KERNEL = """
.version 9.0
.target sm_90
.address_size 64
.visible .entry k()
{
	.reg .pred %p<3>;
	.reg .b32 %r<4>;
	@%p1 bra OTHER;
	mov.u32 %r2, 7;
	FIRST
	setp.lt.s32 %p2, %r1, 9;
	@%p2 bra END;
	bra LEAVE;
OTHER:
	mov.u32 %r2, 8;
	SECOND
	setp.lt.s32 %p2, %r1, 9;
	@%p2 bra END;
	bra LEAVE;
END:
	mov.u32 %r3, 1;
LEAVE:
	ret;
}
"""

STEP = "add.s32 %r1, %r1, 1;"


def _function(text: str) -> Function:
    (piece,) = parse_module(text).functions
    function = parse_function(piece)
    make_explicit(function)
    for passing in [one for one in function.blocks if str(one.statements[0]) == str(jump("LEAVE"))]:
        for block in function.blocks:
            retarget(function, block, passing.label, "LEAVE")
    return function


@pytest.mark.parametrize(
    ("second", "shared"),
    [
        (STEP, ["add", "setp", "bra", "bra"]),
        ("add.s32 %r1, %r1, 2;", ["setp", "bra", "bra"]),
        ("", ["setp", "bra", "bra"]),
    ],
)
def test_as_much_of_two_ends_as_is_the_same(second: str, shared: list[str]) -> None:
    text = KERNEL.replace("FIRST", STEP).replace("SECOND", second)
    function = _function(text)
    merge_tails(function, function.blocks)
    (tail,) = (block for block in function.blocks if "tail" in block.label)
    assert [one.name for one in tail.instructions] == shared
    assert len(list(Facts(function).graph.predecessors(tail.label))) == 2


def test_ends_that_lead_elsewhere_stay() -> None:
    text = KERNEL.replace("FIRST", STEP).replace("SECOND", STEP + "\n\tsetp.lt.s32 %p1, %r1, 3;")
    text = "@%p1 bra END".join(text.rsplit("@%p2 bra END", 1))
    function = _function(text)
    known = len(function.blocks)
    merge_tails(function, function.blocks)
    assert len(function.blocks) == known


@pytest.mark.parametrize("name", ["continuation", "fetched_work"])
def test_lanes_of_a_batch_are_together_when_an_iteration_begins(name: str) -> None:
    """Where a task takes the iteration's rest along, both its ways ask for the next one."""
    function = _function(Golden.read(GOLDEN / f"context-collection/{name}.ptx").after)
    facts = Facts(function)
    begins = [
        block.label
        for block in function.blocks
        if block.label.startswith("$ccc_") and NO_UNROLL in map(str, block.statements)
    ]
    assert len(begins) >= 2
    for label in begins:
        assert facts.before_joining(label).isdisjoint({*begins} - {label})
