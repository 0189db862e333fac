"""What is said of collectives to which lanes may not come together, or that ask for tasks."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

RANKS = """__global__ void __launch_bounds__(64)
k(const int *__restrict__ row, const float *__restrict__ x, float *__restrict__ y, int n) {
    int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
#pragma ccc for
    for (int v = FIRST; v < n; v += 2) {
        float s = 0;
#pragma ccc for variable reduction(+: s)
        for (int e = row[v] + lane; e < row[v + 1]; e += 32) s += x[e];
        ADD
    }
}
"""
SHUFFLES = "s += __shfl_xor_sync(0xffffffff, s, 1); if (lane == 0) y[v] = s;"


def told(tmp_path: Path, first: str, add: str) -> list[str]:
    source = RANKS.replace("FIRST", first).replace("ADD", add)
    return said(source, tmp_path, Options(strategy=COLLECT))


def test_what_may_part_lanes_is_named(tmp_path: Path) -> None:
    add = "y[32 * v + lane] = s + __shfl_xor_sync(0xffffffff, v * lane + 1, 1);"
    (line,) = told(tmp_path, "warp", add)
    assert "lanes may part before it, by threadIdx.x (k.cu:5, PTX line " in line
    assert 'if they never do, ask there for __shfl_sync(0xffffffff, v, 0) instead of "v";' in line


def test_what_is_done_about_it_leads_on(tmp_path: Path) -> None:
    """And a shuffle that adds up what the path makes can stand nowhere before it, whether lanes may
    part or not."""
    first = "__shfl_sync(0xffffffff, warp, 0)"
    (line,) = told(tmp_path, first, SHUFFLES)
    assert "a warp-collective would have to run with its tasks (k.cu:9, PTX line " in line
    (parted,) = told(tmp_path, "warp", SHUFFLES)
    assert "there is a warp-collective in the annotated loop (k.cu:9, PTX line " in parted
    for one in (line, parted):
        assert "it asks for what the path makes: store that, and do it in a loop of its own" in one
        assert "before the path" not in one
        assert "they never do" not in one
    assert told(tmp_path, first, "y[32 * v + lane] = s;") == []


def test_a_mask_of_some_lanes_is_blamed_for_itself(tmp_path: Path) -> None:
    add = "y[v] = s + __shfl_xor_sync(0xffff, warp, 1);"
    (line,) = told(tmp_path, "blockIdx.x", add)
    assert "its mask has to be 0xffffffff" in line


TOGETHER = """__global__ void __launch_bounds__(64)
k(const float *__restrict__ x, float *y, int *count, int n) {
#pragma ccc for
    for (int first = 0; first < n; first += 64) {
        int i = first + threadIdx.x;
        BEFORE
#pragma ccc if
        if (x[i] > 0.5f) {
            INSIDE
        }
    }
}
"""


def together(tmp_path: Path, before: str, inside: str) -> list[str]:
    source = TOGETHER.replace("BEFORE", before).replace("INSIDE", inside)
    return said(source, tmp_path, Options(strategy=COLLECT))


def test_who_asks_which_lanes_are_there_is_told_of_the_whole_warp(tmp_path: Path) -> None:
    vote = "if (__ballot_sync({}, x[i] > 0.9f) == 0) continue;"
    work = "y[i] = expf(x[i]);"
    (line,) = together(tmp_path, vote.format("__activemask()"), work)
    assert "and end the loop together, with 0xffffffff in its place" in line
    assert together(tmp_path, vote.format("0xffffffff"), work) == []


def test_lanes_that_do_together_what_each_can_do_are_told_so(tmp_path: Path) -> None:
    coalesced = """unsigned here = __activemask();  // as coalesced_threads() does it
        int place, lane = threadIdx.x & 31, leader = __ffs(here) - 1;
        if (lane == leader) place = atomicAdd(count, __popc(here));
        y[__shfl_sync(here, place, leader) + __popc(here & ((1 << lane) - 1))] = x[i];"""
    (line,) = together(tmp_path, "", coalesced)
    assert "let each lane do by itself, as by an atomic of its own, what those of" in line
    assert "coalesced_threads() do together" in line
    assert together(tmp_path, "", "y[atomicAdd(count, 1)] = x[i];") == []
