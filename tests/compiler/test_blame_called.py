"""What a function adds up in a variable that it gets is offered a clause, which serves."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

SUMS = """struct Inner {
    float sum; int count;
    __device__ void insert(float v) { this->sum += v; count++; }
};
struct Other { float sum; __device__ void put(float v) { sum = v; } };
struct Stats {
    float sum; int count; float most; Inner in;
    __device__ void put(float v) { sum += v; count++; }
    __device__ void both(float v) { in.insert(v); if (v > most) most = v; }
};
__device__ void add(Stats &s, float v) { s.sum += v; s.count++; }
__device__ void add(Stats *s, float v) { s->sum = s->sum + v; ++(*s).count; }
__device__ void add(float &sum, int &count, float v) { sum += v; count++; }
__device__ void keep(Stats &s, float v) { if (v > s.most) s.most = v; s.count += 1; }
__device__ void keep(Stats *s, float v) { if (v > s->most) s->most = v; s->count += 1; }
template <typename T> __device__ void pass(T &t, float v) { add(t, v); }
__global__ void k(const float *x, int n, float *out) {
    Stats s = {0, 0, 0, {0, 0}};
    float total = 0;
    int hits = 0;
#pragma ccc for CLAUSES
    for (int i = threadIdx.x; i < n; i += 256) {
        float v = x[i];
#pragma ccc if
        if (v > 3) {
            for (int j = 0; j < 20; ++j) v = v * 0.7f + sqrtf(v);
            PATH
        }
        BEHIND
    }
    out[threadIdx.x] = s.sum + s.count + s.most + s.in.sum + s.in.count + total + hits;
}
"""
CALLS = [
    ("add(s, v);", "reduction(+: s.sum)"),
    ("add(&s, v);", "reduction(+: s.sum)"),
    ("pass(s, v);", "reduction(+: s.sum)"),
    ("s.put(v);", "reduction(+: s.sum)"),
    ("s.in.insert(v);", "reduction(+: s.in.sum)"),
    ("s.both(v);", "reduction(max: s.most) reduction(+: s.in.sum)"),
    ("keep(s, v);", "reduction(max: s.most) reduction(+: s.count)"),
    ("keep(&s, v);", "reduction(max: s.most) reduction(+: s.count)"),
    ("add(total, hits, v);", "reduction(+: total)"),
    ("add(total, s.count, v);", "reduction(+: total)"),
    ("add(total, hits, v); add(s, v);", "reduction(+: total, s.sum)"),
]


def told(folder: Path, path: str, behind: str, clauses: str = "") -> list[str]:
    source = SUMS.replace("CLAUSES", clauses).replace("PATH", path).replace("BEHIND", behind)
    return said(source, folder, Options(strategy=COLLECT))


@pytest.mark.parametrize(("call", "clauses"), CALLS)
def test_what_a_function_adds_up_is_offered_clauses_that_serve(
    call: str, clauses: str, tmp_path: Path
) -> None:
    (line,) = told(tmp_path, call, "")
    found = re.search(r"say so on the loop of line \d+: (reduction.*?)(?: \[in k\]|;)", line)
    assert found
    assert found[1] == clauses
    assert told(tmp_path, call, "", found[1]) == []


@pytest.mark.parametrize(("call", "clauses"), CALLS)
def test_what_a_function_adds_up_behind_a_path_is_offered_clauses_that_serve(
    call: str, clauses: str, tmp_path: Path
) -> None:
    (line,) = told(tmp_path, "", call)
    found = re.search(r"say so on the loop of line \d+: (reduction.*?)(?: \[in k\]|;)", line)
    assert found
    assert {*re.findall(r"[\w.]+", clauses)} <= {*re.findall(r"[\w.]+", found[1])}
    assert told(tmp_path, "", call, found[1]) == []


def test_what_a_function_only_sets_is_named(tmp_path: Path) -> None:
    """And what a clause serves is not blamed."""
    last = SUMS.replace("s.sum += v; s.count++;", "s.sum += v; s.most = v; s.count++;")
    source = last.replace("CLAUSES", "reduction(+: s.sum)").replace("BEHIND", "")
    (line,) = said(source.replace("PATH", "add(s, v);"), tmp_path, Options(strategy=COLLECT))
    assert 'computes ("s.most", ' in line
    assert '; if the branch can do without them, have that set other variables, update "s.' in line


BLOOM = """__device__ bool insert(unsigned *bits, unsigned key) {
    bool fresh = false;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        unsigned h = (key + k * 0x9e3779b9u) * 0x85ebca6bu >> 21, m = 1u << (h & 31);
#pragma ccc if
        if (!(atomicOr(&bits[h >> 5], m) & m)) fresh = true;
    }
    return fresh;
}
__global__ void distinct(const unsigned *key, unsigned *bits, int *count, int n) {
    int mine = 0;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (insert(bits, key[i])) ++mine;
    atomicAdd(count, mine);
}
"""


def test_of_what_comes_of_a_function_the_sum_of_its_loop_is_to_be_named(tmp_path: Path) -> None:
    """Also where the function does more of the same, by atomic operations: they count nothing."""
    options = Options(strategy=COLLECT)
    (line,) = said(BLOOM.replace("CLAUSE", ""), tmp_path, options)
    assert "path (copy 1 of 3) left as it was: the next iteration needs what an atomic" in line
    assert line.count("say so on the loop, by the variable's name there") == 2
    assert "counts iterations" not in line
    assert said(BLOOM.replace("CLAUSE", "reduction(+: mine)"), tmp_path, options) == []


INSTANCES = """template <class Op> __device__ float fold(const float *x, int n, Op op) {
    float a = 0;
#pragma ccc for reduction(+: a)
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 1) {
            float v = x[i];
            for (int k = 0; k < 30; k++) v = sqrtf(v + k);
            a = op(a, v);
        }
    }
    return a;
}
__global__ void __launch_bounds__(64) k(const float *x, float *y, int n) {
    y[threadIdx.x] = fold(x, n, [](float a, float b) { return a + b; });
    SECOND
}
"""


def test_copies_of_several_calls_are_not_told_to_be_unrolled(tmp_path: Path) -> None:
    second = "y[threadIdx.x] += fold(x, n, [](float a, float b) { return a * b + 1; });"
    text, options = INSTANCES.replace("SECOND", second), Options(strategy=COLLECT)
    (line,) = said(text, tmp_path, options)
    assert "path (copy 2 of 2) left as it was: " in line
    assert "; each of the 2 calls of its function has a copy; the other copy is applied" in line
    assert "unroll" not in line


PLACES = """struct Acc { float sum, squares; int n; };
struct Book { Acc *of; int size; __device__ Acc &at(int i) { return of[i % size]; } };
__device__ void add(float *total, int i, float v) { total[i] += v; }
__global__ void k(const float *x, const int *key, float *y, Book book, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    Book mine = {book.of + t * book.size, book.size};
#pragma ccc for
    for (int i = t; i < n; i += gridDim.x * blockDim.x) {
#pragma ccc if
        if (x[i] > 1) {
            float z = logf(x[i]) * sqrtf(x[i]);
            UPDATE
        }
    }
}
"""


@pytest.mark.parametrize(
    ("update", "told"),
    [
        ("add(y, t, z);", '("total", k.cu:3, PTX '),
        ("Acc &a = mine.at(key[i]); a.sum += z; a.n++;", '("a", k.cu:12, PTX '),
    ],
)
def test_memory_is_called_as_the_line_at_fault_calls_it(
    update: str, told: str, tmp_path: Path
) -> None:
    """By the parameter of a function that updates it, or by a reference."""
    (line,) = said(PLACES.replace("UPDATE", update), tmp_path, Options(strategy=COLLECT))
    assert told in line
