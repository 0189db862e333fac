"""What stands before a branch and is needed in its arm alone."""

from __future__ import annotations

import pytest

from ccc.analysis.facts import Facts
from ccc.analysis.thresholds import FEW_UNSUNK
from ccc.analysis.unsunk import much_unsunk
from ccc.parse import parse_function, parse_module

KERNEL = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<20>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [p];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
EACH:
	setp.gt.u32 %p1, %r2, 7;
	BEFORE
	@%p1 bra NEXT;
	st.global.u32 [%rd1], %r9;
NEXT:
	BEHIND
	add.s32 %r2, %r2, 32;
	setp.lt.u32 %p1, %r2, %r1;
	@%p1 bra EACH;
	ret;
}
"""


def chain(length: int) -> str:
    """So many instructions that make ``%r9`` of the counter, each of what the last one made."""
    names = ["%r2", *(f"%r{10 + number}" for number in range(length - 1)), "%r9"]
    pairs = zip(names[1:], names, strict=False)
    return "\n\t".join(f"mul.lo.u32 {made}, {used}, 3;" for made, used in pairs)


def is_much(before: str, behind: str = "") -> bool:
    text = KERNEL.replace("BEFORE", before).replace("BEHIND", behind)
    function = parse_function(next(iter(parse_module(text).functions)))
    facts = Facts(function)
    arm = next(one for one in function.blocks if any(i.name == "st" for i in one.instructions))
    return much_unsunk(facts, arm)


@pytest.mark.parametrize("length", [1, FEW_UNSUNK, FEW_UNSUNK + 1, 6])
def test_a_few_instructions_are_not_much(length: int) -> None:
    assert is_much(chain(length)) == (length > FEW_UNSUNK)


def test_what_is_needed_elsewhere_has_its_place_before_the_branch() -> None:
    assert not is_much(chain(6), behind="st.global.u32 [%rd1+4], %r9;")


def test_so_has_what_does_more_than_to_make_a_value() -> None:
    made, added = "mul.lo.u32 %r9, %r10, 3;", "atom.global.add.u32 %r9, [%rd1], %r10;"
    assert not is_much(chain(FEW_UNSUNK + 1).replace("%r11", "%r10").replace(made, added))
