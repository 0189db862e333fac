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


def test_a_narrow_mask_is_not_what_is_in_the_way_of_what_asks_for_the_path(tmp_path: Path) -> None:
    narrow = SHUFFLES.replace("0xffffffff", "0xffu << (lane & 24)")
    (line,) = told(tmp_path, "warp", narrow)
    assert "there is a warp-collective in the annotated loop (k.cu:9, PTX line " in line
    assert "; it asks for what the path makes: store that, and do it in a loop of its own" in line
    other = narrow.replace("s, 1)", "lane, 1)").replace("s +=", "y[n + v] =")
    (line,) = told(tmp_path, "warp", other)
    assert ": its mask has to be 0xffffffff" in line


def test_of_several_paths_each_is_told_what_holds_for_it(tmp_path: Path) -> None:
    """The shuffles ask for what the first one makes, and stand before the second."""
    behind = SHUFFLES.replace("if (", "\n#pragma ccc if\nif (")
    asking, parted = told(tmp_path, "warp", behind)
    assert "; it asks for what the path makes: store that, " in asking
    assert "asks for what" not in parted
    assert "they never do, ask there for __shfl_sync(0xffffffff, v, 0)" in parted
    alone = RANKS.replace("#pragma ccc for variable reduction(+: s)\n", "").replace("ADD", behind)
    followed = alone.replace("FIRST", "__shfl_sync(0xffffffff, warp, 0)")
    assert said(followed, tmp_path, Options(strategy=COLLECT)) == []


OF_KERNEL = """#pragma ccc grid_stride
__global__ void __launch_bounds__(64) k(const float *x, float *sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = 0;
#pragma ccc if
    if (i < n && x[i] > 0.9f) { v = x[i]; for (int k = 0; k < 50; k++) v = v * v + 0.5f; ADD }
    SHUFFLES
}
"""


@pytest.mark.usefixtures("all_headers")
def test_a_loop_is_written_only_where_that_serves(tmp_path: Path) -> None:
    """What the path makes can be asked for by no collective in a loop, either."""
    options = Options(strategy=COLLECT)
    asking = "for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o); sum[i] = v;"
    lines = said(OF_KERNEL.replace("ADD", "").replace("SHUFFLES", asking), tmp_path, options)
    told = "between its blocks (k.cu:7, PTX line "
    assert any(
        told in line and "; they ask for what the path makes: store " in line for line in lines
    )
    assert not any("write the loop" in line for line in lines)
    followed = OF_KERNEL.replace("ADD", "atomicAdd(sum, v);").replace("SHUFFLES", "")
    assert said(followed, tmp_path, options) == []


def test_a_mask_of_some_lanes_is_blamed_for_itself(tmp_path: Path) -> None:
    add = "y[v] = s + __shfl_xor_sync(0xffff, warp, 1);"
    (line,) = told(tmp_path, "blockIdx.x", add)
    assert "its mask has to be 0xffffffff" in line


def test_a_loop_that_goes_on_by_a_vote_is_told_so_first(tmp_path: Path) -> None:
    """Whatever else is in the way, that its tasks can do nothing about."""
    loop = "e < row[v + 1]; e += 32) s"
    vote = "__any_sync(~0u, e < row[v + 1]); e += 32)\n#pragma ccc if\nif (e < row[v]) s"
    source = (
        RANKS.replace(loop, vote)
        .replace("FIRST", "blockIdx.x")
        .replace("ADD", "all += s; y[v] = s;")
    )
    source = source.replace("#pragma ccc for\n", "float all = 0;\n#pragma ccc for\n")
    source = source.replace("}\n}", "}\n y[n] = all; }")
    line, *_ = said(source, tmp_path, Options(strategy=COLLECT))
    assert "a warp-collective would have to run with its tasks (k.cu:9, PTX line " in line
    assert "; let each lane decide for itself whether its loop goes on, or remove this an" in line


def test_of_collectives_the_one_that_least_helps_is_told_first(tmp_path: Path) -> None:
    add = "y[v] = s + __shfl_xor_sync(0xffffffff, lane, 1);\n__syncwarp();"
    (line,) = told(tmp_path, "warp", add)
    assert "there is a warp-collective in the annotated loop (k.cu:10, PTX line " in line
    assert "; move it out of the loop, or remove the annotation [in k]" in line


def test_what_a_path_leads_to_it_asks_for_too(tmp_path: Path) -> None:
    """Also in another path, whose annotation is to be removed in any case."""
    add = """int at = x[v + lane];
        #pragma ccc if
        if (s > 1) while (y[at] > 0) at = y[at] * 9;
        float found = x[at];
        #pragma ccc for variable
        for (int e = 0; e < at; e++) y[e] = __shfl_sync(0xffffffff, found, e);"""
    source = RANKS.replace("#pragma ccc for variable reduction(+: s)\n", "").replace("ADD", add)
    asking, inside = said(source.replace("FIRST", "warp"), tmp_path, Options(strategy=COLLECT))
    for line in (asking, inside):
        assert "there is a warp-collective in the annotated loop (k.cu:13, PTX line " in line
    assert "; it asks for what the path makes: store that, " in asking
    assert "; move it out of the path, or remove this annotation [in k]" in inside


def test_what_each_turn_makes_can_be_asked_for_behind_the_loop_alone(tmp_path: Path) -> None:
    source = RANKS.replace("e += 32) s += x[e];", "e += 32) SHUFFLE").replace("ADD", "y[v] = s;")
    shuffle = "s += __shfl_xor_sync(0xffffffff, x[e] > 1 ? e : 3, 1);"
    source = source.replace("FIRST", "warp").replace("SHUFFLE", shuffle)
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert "there is a warp-collective in the annotated loop (k.cu:8, PTX line " in line
    assert "; it asks for what the path makes: store that, " in line


def test_a_collective_behind_a_path_is_told_before_what_a_clause_would_serve(
    tmp_path: Path,
) -> None:
    source = (
        RANKS.replace("FIRST", "__shfl_sync(0xffffffff, warp, 0)")
        .replace("#pragma ccc for\n", "float all = 0;\n#pragma ccc for\n")
        .replace("ADD", f"all += s; {SHUFFLES}")
        .replace("}\n}", "}\n y[n] = all; }")
    )
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert "a warp-collective would have to run with its tasks (k.cu:10, PTX line " in line


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
    assert "coalesced_threads() do together; else remove the annotation" in line
    assert together(tmp_path, "", "y[atomicAdd(count, 1)] = x[i];") == []


ROWS = """__global__ void k(const int *row, const float *x, float *y, int rows) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (warp >= rows) return;
    float s = 0;
#pragma ccc for reduction(+: s)
    for (int e = row[warp]; FIRST < LAST; e += 32) {
        float v = e + lane < row[warp + 1] ? x[e + lane] : 0, top = __shfl_sync(~0u, v, 0);
#pragma ccc if
        if (v != top) { for (int k = 0; k < 9; ++k) v = 0.5f * (v + x[k] / (v + 1)); s += v; }
    }
    atomicAdd(y + warp, s);
}
"""


def test_bounds_that_lanes_may_have_of_their_own_are_asked_for_too(tmp_path: Path) -> None:
    """The counter from one lane alone would bring the same advice again."""
    begin, end = (f"__shfl_sync(0xffffffff, {one}, 0)" for one in ("e", "row[warp + 1]"))

    def rows(first: str, last: str) -> list[str]:
        source = ROWS.replace("FIRST", first).replace("LAST", last)
        return said(source, tmp_path, Options(strategy=COLLECT))

    (line,) = rows("e", "row[warp + 1]")
    both = f'{begin} instead of "e", and for {end} instead of "row[warp + 1]"'
    assert f"if they never do, ask there for {both}; else move it" in line
    (line,) = rows(begin, "row[warp + 1]")
    assert f'if they never do, ask there for {end} instead of "row[warp + 1]"; else' in line
    assert rows(begin, end) == []


def test_a_barrier_is_told_of_before_what_lanes_do_together(tmp_path: Path) -> None:
    """Less can be done about it."""
    both = (
        "unsigned here = __activemask(); y[i] = __shfl_down_sync(here, x[i], 1); __syncthreads();"
    )
    (line,) = together(tmp_path, both, "y[i] += expf(x[i]);")
    assert "there is a barrier in the annotated loop (k.cu:6, PTX line " in line
    assert "remove the annotation" in line


COUNTING = """__device__ int next(int *count) {
    int mask = __ballot_sync(~0u, 1), lane = threadIdx.x & 31, leader = __ffs(mask) - 1, at;
    if (lane == leader) at = atomicAdd(count, __popc(mask));
    return __shfl_sync(~0u, at, leader) + __popc(mask & ((1 << lane) - 1));
}
#pragma ccc grid_stride
__global__ void __launch_bounds__(64) k(const float *x, float *y, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    RETURN
#pragma ccc if
    if (x[i] > 0.9f) { float v = x[i]; for (int k = 0; k < 50; k++) v = v * v + 0.5f; y[i] = v; }
    y[PLACE] = i;
}
"""


@pytest.mark.usefixtures("all_headers")
@pytest.mark.parametrize("guard", ["if (i >= n) return;", ""])
def test_what_lanes_count_behind_a_path_is_to_be_counted_one_by_one(
    guard: str, tmp_path: Path
) -> None:
    """Whether some have returned or not: no task can wait for others."""

    def of(place: str) -> list[str]:
        source = COUNTING.replace("RETURN", guard).replace("PLACE", place)
        return said(source, tmp_path, Options(strategy=COLLECT))

    line, *_ = of("next(count)")
    assert "; use an atomic in its place, or remove the annotation [in k]" in line
    assert of("atomicAdd(count, 1)") == []


def of_counting(tmp_path: Path, place: str, behind: str = "") -> str:
    source = COUNTING.replace("RETURN", "if (i >= n) return;").replace("PLACE", place)
    return said(source.replace("= i;", f"= i; {behind}"), tmp_path, Options(strategy=COLLECT))[0]


@pytest.mark.usefixtures("all_headers")
def test_barriers_of_the_block_are_told_of_with_what_lanes_count(tmp_path: Path) -> None:
    """To count in another way would lead to them."""
    barrier = "__syncthreads(); y[n] = 1;"
    line = of_counting(tmp_path, "next(count)", barrier)
    known = "since, as far as is known, they part at a branch (k.cu:9, PTX line "
    assert known in line
    told = "and in that of what needs barriers or shared memory (k.cu:12, PTX line "
    assert f"; use an atomic in its place, {told}" in line
    assert line.endswith(", or remove the annotation [in k]")
    alone = of_counting(tmp_path, "i", barrier)
    assert "; with shared memory or barriers in the kernel (k.cu:12, PTX line " in alone
    assert alone.endswith("in a loop with ccc for, or remove the annotations [in k]")
    loop = """
#pragma ccc for
    for (int k = 0; k < n; ++k) {
#pragma ccc if
        if (x[k * n + i] > 0.9f) y[k * n + i] = sinf(i);
        __syncthreads();
    }"""
    beside = of_counting(tmp_path, "i", barrier + loop)  # one that serves nobody else
    assert beside.endswith("in a loop with ccc for, or remove the annotations [in k]")


@pytest.mark.usefixtures("all_headers")
def test_threads_that_may_only_seem_to_part_need_not_be_let_come(tmp_path: Path) -> None:
    """Who knows that they never do can do nothing about it."""
    loop = """__shared__ int left; int i = threadIdx.x;
    if (i == 0) left = n;
    __syncthreads();
    while (left > 0) { if (i == 0) left -= 2; __syncthreads(); }
#pragma ccc for
    for"""
    source = COUNTING.replace("int i =", loop + " (int i =").replace("RETURN", "").replace(
        "blockDim.x + threadIdx.x;", "blockDim.x + threadIdx.x; i < n; i += 999) {"
    ).replace("y[PLACE] = i;", "}")  # fmt: skip
    line, *_ = said(source, tmp_path, Options(strategy=COLLECT))
    assert "since, as far as is known, they part at a branch (k.cu:11, PTX line " in line
    assert "; let every thread come to it, and guard what only some are to do; else remove " in line


SHARED = """HEAD__global__ void __launch_bounds__(64) k(const float *x, float *y, int n) {
    __shared__ float own[64];
    own[threadIdx.x] = n;
    LOOP {
#pragma ccc if
        if (x[i] > 0.9f) {
            float v = x[i];
            for (int k = 0; k < 50; k++) v = v * own[threadIdx.x] + 0.5f / v;
            y[i] = v;
        }
    }
}
"""


@pytest.mark.usefixtures("all_headers")
def test_a_barrier_that_is_none_of_the_user_has_no_line(tmp_path: Path) -> None:
    whole = SHARED.replace("HEAD", "#pragma ccc grid_stride\n")
    own = "int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < n)"
    line, of_kernel = said(whole.replace("LOOP", own), tmp_path, Options(strategy=COLLECT))
    assert "kernel left as it was: nothing inside is transformed, and a loop over blo" in of_kernel
    assert "there is a barrier in the annotated loop, since with shared memory in the k" in line
    told = "; write the loop over the items, with ccc for, in place of ccc grid_stride"
    assert f"{told}, or remove the annotations" in line
    first, step = "int i = blockIdx.x * 64 + threadIdx.x", "i += gridDim.x * 64"
    loop = f"\n#pragma ccc for\nfor ({first}; i < n; {step})"
    source = (
        SHARED.replace("HEAD", "").replace("LOOP", loop).replace("own[threadIdx.x] +", "own[0] +")
    )
    assert said(source, tmp_path, Options(strategy=COLLECT)) == []
