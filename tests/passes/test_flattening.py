"""Flattening, beyond what the goldens show: what becomes of other paths, and what is declined."""

from __future__ import annotations

import re

import pytest
from collecting import transform
from folders import GOLDEN
from goldens import Golden

from ccc.analysis.facts import Facts
from ccc.options import Options
from ccc.parse import parse_function, parse_module
from ccc.passes.flattening.flattening import HOLDS_FLATTENED, IN_FLATTENED
from ccc.passes.policy import MOST_TURNS_APART, TURNS_LENGTH, turns_apart
from ccc.remark import Remark


def remarks(ptx: str, strategy: str = "auto") -> list[Remark]:
    (mine,) = transform(ptx, Options(strategy=strategy)).remarks.values()
    return mine


def before(name: str) -> str:
    return Golden.read(GOLDEN / f"{name}.ptx").before


def test_of_two_inner_loops_one_is_flattened() -> None:
    inner = """INNER:
	// ccc.while 1 k.cu:1:1
	mad.lo.u32 %r3, %r3, 1664525, %r2;
	sub.s32 %r4, %r4, 1;
	setp.gt.s32 %p1, %r4, 0;
	@%p1 bra INNER;
"""
    marked = before("small/flatten")
    start = marked.index("INNER:")
    end = marked.index("	add.s32 %r2, %r2, 17;")
    second = inner.replace("INNER", "SECOND").replace("while 1", "while 2")
    second = f"	and.b32 %r4, %r3, 15;\n{second}"
    first, other = remarks(marked[:start] + inner + second + marked[end:], "flatten")
    assert {(first.strategy, first.reason), (other.strategy, other.reason)} == {
        ("flatten", None),
        (None, IN_FLATTENED),
    }


def test_paths_beside_a_flattened_loop_are_left() -> None:
    found = remarks(before("context-collection/nested_paths"), "flatten")
    assert not any(one.strategy == "flatten" for one in found)  # it has no inner loop
    flattened = remarks(before("context-collection/path_in_variable_loop"), "flatten")
    assert {one.strategy for one in flattened} == {"flatten", None}
    assert {one.reason for one in flattened} <= {None, IN_FLATTENED, HOLDS_FLATTENED}


def test_an_arm_cannot_be_flattened() -> None:
    marked = before("context-collection/if_else")
    asked = re.sub(r"(// ccc\.(then|else) .*)", r"\1 strategy=flatten", marked)
    for one in remarks(asked):
        assert one.applied
        assert one.declined == 'it is no inner loop, marked "ccc while" or "ccc for variable"'


def test_the_annotated_loop_may_ask_for_it() -> None:
    (first, *_) = remarks(before("flattening/refill"))
    assert (first.strategy, first.asked, first.declined) == ("refill(8)", "refill(8)", None)


@pytest.mark.parametrize("name", ["flatten", "flatten_ways_out", "flatten_in_arms"])
def test_no_branch_is_said_to_be_uniform(name: str) -> None:
    """Lanes in different iterations come to it."""
    golden = Golden.read(GOLDEN / "flattening" / f"{name}.ptx")
    (piece,) = parse_module(golden.after).functions
    function = parse_function(piece)
    around = max(Facts(function).loops, key=lambda loop: len(loop.blocks))
    inside = [block for block in function.blocks if block.label in around.blocks]
    assert not any("uni" in i.modifiers for block in inside for i in block.instructions)


def test_short_turns_are_done_in_a_row() -> None:
    assert turns_apart(1) == MOST_TURNS_APART
    assert turns_apart(TURNS_LENGTH) == turns_apart(10 * TURNS_LENGTH) == 1


POOLED = before("small/refill_pool")


@pytest.mark.parametrize(
    ("place", "instead"),
    [
        ("", ""),
        ("add.s32 %r2, %r2, 64;", "add.s32 %r2, 64, %r2;"),
        ("add.s32 %r2, %r2, 64;", "mov.b32 %r7, %r2; mad.lo.s32 %r2, %r1, 3, %r7;"),
        ("setp.lt.s32 %p2, %r2, %r1;", "setp.lt.u32 %p2, %r2, 300;"),
    ],
)
def test_lanes_take_iterations_of_one_another(place: str, instead: str) -> None:
    (found,) = remarks(POOLED.replace(place, instead), "refill(2)")
    assert found.details["pooled"]


@pytest.mark.parametrize(
    ("place", "instead"),
    [
        ("setp.lt.s32 %p2, %r2, %r1;", "setp.ne.s32 %p2, %r2, %r1;"),  # may wrap before its end
        ("add.s32 %r2, %r2, 64;", "add.s32 %r2, %r2, %r6;"),  # lanes step differently
        ("add.s32 %r2, %r2, 64;", "shl.b32 %r2, %r2, 1;"),
        ("add.s32 %r2, %r2, 64;", "add.s32 %r2, %r2, 64; add.s32 %r6, %r6, %r3;"),  # carried
        ("xor.b32 %r3, %r2, %r6;", "mov.u32 %r3, %tid.x;"),
        ("ret;", "st.global.u32 [%rd2], %r2; ret;"),  # what is left behind the loop
        ("// ccc.for 1", "// ccc.loop 1"),  # nothing is promised
        ("\tmul.wide", "\tsetp.gt.u32 %p1, %r3, %r2;\n\t@%p1 bra OUT;\n\tmul.wide"),
    ],
)
def test_lanes_keep_their_own_iterations(place: str, instead: str) -> None:
    marked = POOLED.replace(place, instead).replace("\tret;", "OUT:\n\tret;")
    (found,) = remarks(marked, "refill(2)")
    assert (found.strategy, found.details["pooled"]) == ("refill(2)", False)


def test_flatten_lets_lanes_keep_theirs() -> None:
    (found,) = remarks(POOLED, "flatten")
    assert not found.details["pooled"]
