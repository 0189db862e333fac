"""Users are told where tasks change memory that only their thread came to, and nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

KERNEL = """__global__ void __launch_bounds__(64)
NAME(const float *__restrict__ x, const int *__restrict__ row, int *y, int *lock, int n) {
    __shared__ int h[16][64];
    const int stride = gridDim.x * blockDim.x, thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x & 31;
    int *column = &h[0][threadIdx.x];
    int *mine = y + 16 * thread, turn = 0, count = 0, read = 0, base = row[0];
#pragma ccc for
    for (int i = thread; i < n; i += stride) {
        turn = turn == 6 ? 0 : turn + 1;
        ++count;
        read = read << 1 ^ row[i];
#pragma ccc if
        if (x[i] > 0.9f) {
            float t = x[i];
            for (int k = 0; k < 6; ++k) t = expf(-t) + 0.1f;
            const int bin = (int)(t * 4) & 15;
            CHANGE
        }
        base = row[i + stride];
    }
    __syncthreads();
    atomicAdd(&y[lane], h[lane & 15][threadIdx.x]);
}
"""
OWN = {
    "shared": ("h[bin][threadIdx.x]++;", "h"),
    "global_": ("y[bin * stride + thread] += 3;", "y"),
    "made_before_the_loop": ("mine[row[i] & 15]++;", "mine"),
    "by_a_pointer": ("column[bin * 64] += 3;", "column"),
    "by_the_size_of_blocks": ("h[0][row[i] * blockDim.x + threadIdx.x] += bin;", "h"),
    "found_there": ("y[row[i] * 64 + threadIdx.x] ^= bin;", "y"),
}
COMPUTED = {
    "by_some_bits": ("h[i >> 6 & 7][threadIdx.x]++;", "h"),
    "by_a_remainder": ("y[i % 10 * stride + thread] += 3;", "y"),
    "by_a_quotient": ("h[threadIdx.x / 32][lane + i / 128 & 31] ^= bin;", "h"),
    "made_of_what_was_read": ("h[read & 15][threadIdx.x] += bin;", "h"),
    "in_turn": ("mine[turn] += bin;", "mine"),
    "by_how_many_bits": ("h[__popc(i) & 15][threadIdx.x] += bin;", "h"),
    "by_the_first_bit": ("h[__clz(i) & 15][threadIdx.x] += bin;", "h"),
    "by_the_last_bit": ("h[__ffs(i) & 15][threadIdx.x] += bin;", "h"),
    "by_bits_in_reverse": ("h[__brev(i) >> 28][threadIdx.x] += bin;", "h"),
    "by_what_is_far": ("h[abs(i - 640) & 15][threadIdx.x] += bin;", "h"),
}
OTHER = {
    "of_the_iteration": "y[i] += bin;",
    "beside_what_is_read": "y[row[i] + i] += bin;",
    "atomic": "atomicAdd(&h[bin][threadIdx.x], 1);",
    "only_written": "y[bin * stride + thread] = 1;",
    "of_all_threads": "y[bin]++;",
    "row_of_a_table": "y[row[blockIdx.x * 9 + n] * 32 + i]++;",
    "of_the_turn": "y[i / stride * stride + thread] += 3;",
    "read_ahead": "y[base + threadIdx.x] += bin;",
    "counted": "mine[count * 16 * stride] ^= bin;",
    "in_another_row": "y[(i & ~31) + (i + 1 & 31) + threadIdx.x] += bin;",
    "of_a_width_that_is_not_known": "y[i % n * stride + thread] += bin;",
    "row_and_column": "y[i / n * 64 * n + i % n * 64 + threadIdx.x] += bin;",
    "locked": "while (atomicCAS(&lock[bin], 0, 1)); h[bin][threadIdx.x]++; __threadfence();"
    " atomicExch(&lock[bin], 0);",
}


@pytest.mark.usefixtures("all_headers")
def test_who_changes_what_is_the_threads_own_is_told(tmp_path: Path) -> None:
    known = {**OWN, **COMPUTED}
    every = {**{name: code for name, (code, _) in known.items()}, **OTHER}
    source = "".join(
        KERNEL.replace("NAME", name).replace("CHANGE", code) for name, code in every.items()
    )
    lines = said(source, tmp_path, Options(strategy=COLLECT))
    told = [line for line in lines if "may lose" in line]
    assert len(told) == len(known), "\n".join(told)
    for line, (name, (_, variable)) in zip(told, known.items(), strict=True):
        more = "what is read" if name in OWN else "what comes again in other iterations"
        place = source[: source.index(known[name][0])].count("\n") + 1
        head = (
            f"k.cu:{place - 5}:1: remark: path may lose what it writes: it changes what lies at an "
            f'address made from threadIdx.x and from {more} ("{variable}", k.cu:{place}, PTX '
        )
        tail = (
            "and tasks of one thread, which have its threadIdx.x, may run at the same time; use an "
            "atomic operation where two of them may come to one place, or remove the annotation "
            f"[in {name}]"
        )
        assert line.startswith(head), line
        assert re.sub(r"line \d+: .*?;\), ", "", line.removeprefix(head)) == tail


BEFORE = {
    "decides": ("", "h[row[i] & 15][threadIdx.x] < i", "h[row[i] & 15][threadIdx.x] = i;", ""),
    "is_kept": ("int s = mine[row[i] & 15];", "x[i] > 0.9f", "s += i;", "mine[row[i] & 15] = s;"),
    "is_a_cache": ("int s = mine[row[i] & 15];", "s != row[i]", "mine[row[i] & 15] = row[i];", ""),
}


def test_who_reads_before_the_path_what_tasks_change_is_told(tmp_path: Path) -> None:
    kernel = """__global__ void __launch_bounds__(64)
NAME(const float *__restrict__ x, const int *__restrict__ row, int *y, int n) {
    __shared__ int h[16][64];
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int *mine = y + 16 * thread, sum = 0;
#pragma ccc for
    for (int i = thread; i < n; i += gridDim.x * blockDim.x) {
        READ
#pragma ccc if
        if (ASKED) {
            float t = x[i];
            for (int k = 0; k < 6; ++k) t = expf(-t) + 0.1f;
            CHANGE
            y[(i + 1) * 1024] = t;
        }
        BEHIND
    }
    __syncthreads();
    atomicAdd(&y[threadIdx.x], sum + h[threadIdx.x & 15][threadIdx.x]);
}
"""
    source = ""
    for name, parts in BEFORE.items():
        made = kernel.replace("NAME", name)
        for key, part in zip(("READ", "ASKED", "CHANGE", "BEHIND"), parts, strict=True):
            made = made.replace(key, part)
        source += made
    lines = said(source, tmp_path, Options(strategy=COLLECT))
    told = [line.rpartition("[in ")[2] for line in lines if "may lose" in line]
    assert told == [f"{name}]" for name in BEFORE], "\n".join(lines)


PLACES = [
    ("256", "i = threadIdx.x; i < n; i += blockDim.x", "y[i / 256 * 256 + threadIdx.x]"),
    ("", "i = threadIdx.x; i < n; i += blockDim.x", "y[i / 256 * 256 + threadIdx.x]"),
    ("256", "i = threadIdx.x / 32; i < n; i += blockDim.x / 32", "y[i / 8 * 256 + threadIdx.x]"),
    ("", "i = 0; i < min(n, 8); i++", "h[i * 3 & 7][threadIdx.x]"),
    ("", "i = 0; i < n; i++", "y[(i + row[0] & n - 1) * 128 + threadIdx.x]"),
    ("", "i = 0; i < gridDim.x; i++", "y[(i + blockIdx.x) % gridDim.x * 128 + threadIdx.x]"),
    ("", "i = threadIdx.x; i < 256; i += blockDim.x", "h[i >> 7 & 1][threadIdx.x]"),
    ("", "i = 0; i < (n & 15); i++", "h[(i ^ row[0]) & 15][threadIdx.x]"),
    ("", "i = threadIdx.y; i < 32; i += blockDim.y", "h[i + blockIdx.y & 31][threadIdx.x]"),
    ("", "i = blockDim.x / 2; i > 0; i >>= 1", "y[i * 128 + threadIdx.x]"),
    ("", "i = row[threadIdx.x]; i >= 0; i = row[i]", "y[i * 128 + threadIdx.x]"),
]


def test_nothing_is_told_where_the_loop_ends_before_a_place_comes_again(tmp_path: Path) -> None:
    """Or where that is so in blocks of one size, or with powers of two."""
    kernel = """__global__ void BOUNDS
k(const float *__restrict__ x, const int *__restrict__ row, int *y, int n) {
    __shared__ int h[32][128];
#pragma ccc for
    for (int LOOP) {
#pragma ccc if
        if (x[i] > 0.9f) {
            float t = x[i];
            for (int k = 0; k < 6; ++k) t = expf(-t) + 0.1f;
            PLACE += t;
        }
    }
    __syncthreads();
    atomicAdd(&y[threadIdx.x], h[threadIdx.x & 15][threadIdx.x]);
}
"""
    source = "".join(
        kernel.replace("BOUNDS", f"__launch_bounds__({bounds})" if bounds else "")
        .replace("\nk(", f"\nk{number}(").replace("LOOP", loop).replace("PLACE", place)
        for number, (bounds, loop, place) in enumerate(PLACES)
    )  # fmt: skip
    lines = said(source, tmp_path, Options(strategy=COLLECT))
    assert [line for line in lines if "may lose" in line] == []
    lines = said(source.replace("256 * 256", "512 * 256"), tmp_path, Options(strategy=COLLECT))
    told = [line.rpartition("[in ")[2] for line in lines if "may lose" in line]
    assert told == ["k0]"]


COMMON = {
    "row": "mine[key[i]] += t;",
    "column": "y[key[i] * stride + thread] += t;",
    "shared": "h[key[i]][threadIdx.x] += t;",
    "of_a_tile": "mine[tile[i & 63]] += t;",
    "constant": "mine[known[i & 63]] += t;",
    "one_of_a_block": "one[key[i] * 64 + threadIdx.x] += t;",
    "one_of_a_warp": "h[key[2 * b + threadIdx.x / 32]][threadIdx.x & 31] += t;",
    "of_a_key": "y[key[key[i * stride + thread] & 7] * 64 + threadIdx.x] += t;",
}
APART = {
    "rows_of_blocks": "y[key[b] + threadIdx.x] += t;",
    "rows_of_warps": "y[key[2 * b + threadIdx.x / 32] * 32 + (threadIdx.x & 31)] += t;",
    "rows_that_begin_anywhere": "one[key[b + i] + threadIdx.x] += t;",
}


def test_it_does_not_matter_that_all_threads_read_the_same_key(tmp_path: Path) -> None:
    """But where blocks do not, each may have rows of its own, of which threads have columns."""
    kernel = """__constant__ int known[64];
__global__ void __launch_bounds__(64)
NAME(const float *__restrict__ x, const int *__restrict__ key, float *y, int n) {
    __shared__ float h[16][64];
    __shared__ int tile[64];
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    float *mine = y + 16 * thread, *one = y + blockIdx.x * 1024;
    tile[threadIdx.x] = key[threadIdx.x];
    __syncthreads();
#pragma ccc for
    for (int i = 0; i < n; ++i) {
        const int b = i * gridDim.x + blockIdx.x;
#pragma ccc if
        if (x[i * stride + thread] > 0.9f) {
            float t = x[i];
            for (int k = 0; k < 6; ++k) t = expf(-t) + 0.1f;
            CHANGE
        }
    }
    __syncthreads();
    atomicAdd(&y[threadIdx.x], h[threadIdx.x & 15][threadIdx.x]);
}
"""
    head, _, body = kernel.partition("\n")
    source = head + "".join(
        f"\n{body}".replace("NAME", name).replace("CHANGE", code)
        for name, code in {**COMMON, **APART}.items()
    )
    lines = said(source, tmp_path, Options(strategy=COLLECT))
    told = [line for line in lines if "may lose" in line]
    assert [line.rpartition("[in ")[2] for line in told] == [f"{name}]" for name in COMMON]
    assert all(" and from what is read (" in line for line in told)


ELSEWHERE = {
    "relaxed": "if (mine[row[i]] + x[i] < mine[i & 7]) mine[i & 7] = mine[row[i]] + x[i];",
    "the_least_of_them": "int w = mine[0] < mine[1]; if (x[i] > mine[w]) mine[w] = x[i];",
    "two_swapped": "int c = row[i]; float u = mine[c]; mine[c] = its[c]; its[c] = u + x[i];",
    "swapped": "float u = mine[row[i]]; mine[row[i]] = mine[row[i + 1]]; mine[row[i + 1]] = u;",
}


def test_where_one_place_is_made_of_another_no_atomic_is_advised(tmp_path: Path) -> None:
    kernel = """__global__ void NAME(const float *x, const int *row, float *y, float *z, int n) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    float *mine = y + 64 * thread, *its = z + 64 * thread;
#pragma ccc for
    for (int i = 0; i < n; ++i) {
#pragma ccc if
        if (x[i * 64 + thread] > 0.9f) { CHANGE }
    }
}
"""
    every = ELSEWHERE.items()
    source = "".join(kernel.replace("NAME", one).replace("CHANGE", code) for one, code in every)
    lines = said(source, tmp_path, Options(strategy=COLLECT))
    told = [line for line in lines if "may lose" in line]
    assert [line.rpartition("[in ")[2] for line in told] == [f"{name}]" for name in ELSEWHERE]
    assert all("; remove the annotation, if they need what it writes [in" in line for line in told)


NAMED = {
    "where_more_is_read": ("if (x[i] > tab[c]) tab[c] = x[i];", ' ("tab", '),
    "of_one_line": (
        "if (x[i] > tab[c]) { out[i] = tab[c]; tab[c] = x[key[i]]; }",
        ' ("tab", ',
    ),
    "in_a_method": ("if (x[i] > 1) { out[i] = x[i]; ring.add(c, x[i]); }", ' ("of", k.cu:3, '),
    "of_both_arms": (
        "if (tab[c] < x[i]) { out[i] = sqrtf(x[i]); tab[c] = x[i]; }\nelse tab[c] = -tab[c];",
        ' ("tab", PTX ',
    ),
}


def test_a_store_is_to_what_is_written_on_its_line(tmp_path: Path) -> None:
    kernel = """struct Ring {
    float *of;
    __device__ void add(int at, float v) { of[at] += v; }
};
__global__ void NAME(const float *x, const int *key, float *tab, float *out, int n) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    Ring ring{tab};
#pragma ccc for
    for (int i = t; i < n; i += gridDim.x * blockDim.x) {
        const int c = t * 16 + key[i];
#pragma ccc if
        CHANGE
    }
}
"""
    head, _, body = kernel.partition("__global__")
    source = head + "".join(
        f"__global__{body}".replace("NAME", name).replace("CHANGE", code)
        for name, (code, _) in NAMED.items()
    )
    lines = said(source, tmp_path, Options(strategy=COLLECT))
    told = [line for line in lines if "may lose" in line and "as the other arm" not in line]
    for line, (_, named) in zip(told, NAMED.values(), strict=True):
        assert f"from what is read{named}" in line, line


TWICE = {
    "decides": ("!mine[key[i]]", "y[i] = t; mine[key[i]] = 1;"),
    "sum": (
        "x[i] > 0.9f",
        "const float was = mine[key[i]]; y[i] = t - was; mine[key[i]] = was + t;",
    ),
    "key_of_a_key": (
        "x[i] > 0.9f",
        "t += mine[key[row[i] + 1]]; y[i] = t; mine[key[row[i] + 1]] = t;",
    ),
}
NOT_TWICE = {
    "another_key": ("!mine[key[i + 1]]", "y[i] = t; mine[key[i]] = 1;"),
    "written_meanwhile": ("!mine[key[i]]", "key[row[i]] = 1; mine[key[i]] = 1;"),
}


def test_a_key_that_is_read_a_second_time_is_the_same(tmp_path: Path) -> None:
    """As nvcc has it read behind a store to what may be that, for all it knows."""
    kernel = """__global__ void
NAME(const float *x, int *key, const int *row, float *h, float *y, int n) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    float *mine = h + 8 * thread;
#pragma ccc for
    for (int i = thread; i < n; i += gridDim.x * blockDim.x) {
#pragma ccc if
        if (ASKED) {
            float t = x[i] + 3;
            for (int k = 0; k < 30; ++k) t = sqrtf(t + k);
            CHANGE
        }
    }
}
"""
    source = "".join(
        kernel.replace("NAME", name).replace("ASKED", asked).replace("CHANGE", code)
        for name, (asked, code) in {**TWICE, **NOT_TWICE}.items()
    )
    lines = said(source, tmp_path, Options(strategy=COLLECT))
    told = [line for line in lines if "an atomic operation where" in line]
    assert [line.rpartition("[in ")[2] for line in told] == [f"{name}]" for name in TWICE]


LAST = {
    "the_last_stays": ("mine[key[i]] = i;", "", "order"),
    "that_is_shared": ("h[key[i]][threadIdx.x] = t;", "", "order"),
    "several": ("for (int q = 0; q < 2; ++q) mine[key[i] * 2 + q] = t + q;", "", "order"),
    "of_another_key": ("mine[key[i]] = t;", "out[i] = mine[row[i]];", "read there"),
    "the_rest_writes": ("out[i] = t + mine[row[i]];", "mine[key[i]] = x[i];", "read there"),
    "another_path_reads": (
        "mine[key[i]] = t;",
        """
#pragma ccc if
        if (x[i] < -2) for (int k = 0; k < 9; ++k) out[i] = sqrtf(out[i] + mine[key[i]] + k);""",
        "read there",
    ),
    "found_by_probing": (
        "int c = key[i] & 15;"
        "for (int q = 0; q < 9 && mine[c] > 0 && mine[c] != t; ++q) c = c + 1 & 15; mine[c] = t;",
        "",
        "atomic",
    ),
    "found_by_walking": (
        "int *tree = (int *)mine, c = key[i] & 15;"
        "for (int q = 0; q < 9 && tree[c] != c; ++q) c = tree[c]; tree[c & 7] = key[i + 1] & 15;",
        "",
        "read there",
    ),
    "by_a_table_of_rows": ("from_table[key[i]] += t;", "", "atomic"),
}
NOT_LAST = {
    "always_the_same": "mine[key[i]] = 1;",
    "what_goes_with_the_key": "mine[key[i]] = sqrtf(key[i]);",
    "of_long_rows": "y[thread * n + key[i]] = t;",
    "in_columns_of_unknown_length": "y[key[i] * stride + thread] = t;",
    "in_rows_that_were_read": "y[first + key[i]] = t;",
}
DEALT = {
    "as_many_as_places": ("i = 0; i < 16; ++i", "mine[key[i]] = x[i * stride + thread];"),
    "as_many_as_come": ("i = 0; i < n; ++i", "mine[key[i]] = x[i * stride + thread];"),
    "few_in_turn": ("i = threadIdx.x; i < 256; i += blockDim.x", "mine[key[i]] = t;"),
}


def test_who_scatters_into_a_short_row_of_the_thread_is_told(tmp_path: Path) -> None:
    """But not where each iteration may have a place of its own."""
    kernel = """__global__ void __launch_bounds__(64)
NAME(const float *x, const int *key, const int *row, float *y, float *out, float **table, int n) {
    __shared__ float h[16][64];
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    float *mine = y + 16 * thread, *from_table = table[thread];
    const int first = row[0];
#pragma ccc for
    for (int LOOP) {
#pragma ccc if
        if (x[i] > 0.9f) {
            float t = x[i];
            for (int k = 0; k < 6; ++k) t = expf(-t) + 0.1f;
            out[i * stride + thread] = t;
            CHANGE
        }
        BEHIND
    }
    __syncthreads();
    atomicAdd(&y[threadIdx.x], h[threadIdx.x & 15][threadIdx.x]);
}
"""
    in_turn = "i = thread; i < n; i += stride"
    every = {
        **{name: (in_turn, change, behind) for name, (change, behind, _) in LAST.items()},
        **{name: (in_turn, change, "") for name, change in NOT_LAST.items()},
        **{name: (loop, change, "") for name, (loop, change) in DEALT.items()},
    }
    source = "".join(
        kernel.replace("NAME", name).replace("LOOP", loop).replace("CHANGE", change)
        .replace("BEHIND", behind)
        for name, (loop, change, behind) in every.items()
    )  # fmt: skip
    lines = said(source, tmp_path, Options(strategy=COLLECT))
    told = [line for line in lines if "may lose" in line]
    assert not any("left as it was" in line for line in lines)
    assert [line.rpartition("[in ")[2] for line in told] == [f"{name}]" for name in LAST]
    for line, (*_, words) in zip(told, LAST.values(), strict=True):
        assert words in line, line
