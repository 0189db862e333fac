"""What is chosen of paths that stand or fall with one another; that what a remark advises works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from emulating import needs_nvcc
from folders import GOLDEN
from goldens import Golden, marked_ptx

from ccc.compiler.transform import Transformed, transform
from ccc.passes.choice.chosen import REMOVE, SO_FAR, TELL, TELL_TURNS, TOO_SHORT
from ccc.passes.policy import IN_SHARED, NEEDS_LEFT
from ccc.remark import Remark

PRODUCT = """
__global__ void k(const int* rows, const int* columns, const int* others, const int* entries,
                  unsigned* set, int* size, int n)
{
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        #pragma ccc for variable
        for (int e = rows[i]; e < rows[i + 1]; ++e) {
            const int k = columns[e];
            #pragma ccc for variable
            for (int f = others[k]; f < others[k + 1]; ++f) {
                const unsigned c = entries[f] & 1023, bit = 1u << (c & 31);
                if (!(atomicOr(&set[32 * i + (c >> 5)], bit) & bit)) atomicAdd(&size[i], 1);
            }
        }
    }
}
"""
INSISTS = re.compile(r"or strategy\((\S+)\) insists$")


def as_nobody_asks(name: str) -> str:
    """The kernel of a golden file, without what its annotations ask for."""
    return re.sub(r" strategy=\S+", "", Golden.read(GOLDEN / f"{name}.ptx").before)


def asking(ptx: str, remark: Remark, strategy: str) -> str:
    """The same with a strategy on the annotation that a remark is of."""
    place = f"{remark.position.line}:{remark.position.column}"
    marker = rf"(// ccc\.{remark.arm} \S+ \S+:{place})(?!\d)"
    found, times = re.subn(marker, rf"\1 strategy={strategy}", ptx)
    assert times > 0
    return found


def remarks(made: Transformed) -> list[Remark]:
    return [one for mine in made.remarks.values() for one in mine]


NEEDS_NOTHING = (TOO_SHORT, f"{TOO_SHORT} {SO_FAR}")
"""What is said of a short path beside others, which tell for themselves what serves them."""


@pytest.mark.parametrize(
    "name",
    [
        "context-collection/dynamic_shared",
        "context-collection/joined_lists",
        "context-collection/joined_lists_in_a_path",
        "context-collection/loop_behind_a_branch",
        "context-collection/loops_behind_branches",
        "context-collection/loops_in_a_row_of_turns",
        "context-collection/nested_while",
        "context-collection/path_in_trip_counts",
        "context-collection/path_in_while",
        "context-collection/paths_in_long_tasks",
        "context-collection/reduction",
        "context-collection/reduction_in_loops",
        "context-collection/slow_path_in_turns",
        "context-collection/sum_in_a_walk",
        "context-collection/tile_of_cases",
        "context-collection/turns_hand_on_memory",
        "context-collection/two_variable_loops",
        "context-collection/uniform_turns",
        "small/carried",
        "small/engage_and_collect",
        "small/loops_in_a_row",
    ],
)
def test_what_a_remark_advises_is_done_when_followed(name: str) -> None:
    ptx = as_nobody_asks(name)
    made = transform(ptx)
    assert made.complaints == []
    for remark in remarks(made):
        if advised := INSISTS.search(remark.advice or ""):
            followed = transform(asking(ptx, remark, advised[1]))
            assert followed.complaints == []
            place = (remark.position, remark.arm)
            found = [one for one in remarks(followed) if (one.position, one.arm) == place]
            assert {one.strategy for one in found} == {advised[1]}
            assert all(one.applied for one in found)
        elif not (remark.advice or "").endswith((REMOVE, TELL, TELL_TURNS, *NEEDS_NOTHING)):
            assert remark.applied or ", but the kernel has dynamic shared memory" in str(remark)


def test_of_a_loop_whose_turns_are_shared_out_by_choice_that_is_told_inside() -> None:
    made = transform(as_nobody_asks("small/engage_and_collect"))
    (advice,) = {one.advice for one in remarks(made)} - {None}
    told = " times as fast with merge on the loop around it in place of engage "
    assert f"{told}(4.06 with engage alone); " in str(advice)


@pytest.mark.parametrize(("asked", "told"), [("engage", IN_SHARED), ("leave", NEEDS_LEFT)])
def test_what_is_asked_of_a_loop_is_no_warning_at_an_annotation_inside(
    asked: str, told: str
) -> None:
    ptx = as_nobody_asks("small/engage_and_collect")
    loop = next(one for one in remarks(transform(ptx)) if one.arm == "variable")
    made = transform(asking(ptx, loop, asked))
    assert made.complaints == []
    (inside,) = (one for one in remarks(made) if one.arm == "then")
    assert str(inside.advice).startswith(told)


@needs_nvcc
def test_turns_are_not_handed_on_where_lanes_that_agree_would_lose_by_it(tmp_path: Path) -> None:
    """That its lists differ is what the annotation of an inner loop says; lanes that find them even
    run their own, which costs little. To hand on the turns around it costs whoever agrees."""
    source = tmp_path / "k.cu"
    source.write_text(PRODUCT)
    outer, inner = sorted(remarks(transform(marked_ptx(source))), key=lambda one: one.position)
    assert (outer.strategy, inner.applied) == ("engage", False)
    assert inner.details["at_worst"]["engage"] < 0.95
    assert "in place of engage" in str(inner.advice)


def test_who_asks_for_both_is_warned() -> None:
    ptx = as_nobody_asks("small/engage_and_collect")
    loop, inside = sorted(remarks(transform(ptx)), key=lambda one: one.arm != "variable")
    both = asking(asking(ptx, loop, "engage"), inside, "queue")
    (complaint,) = transform(both).complaints
    assert IN_SHARED in complaint.message
