"""Of a path in a function the variables are named of the function that calls it in its loop."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

SEARCH = """__device__ int find(const int *a, int n, int key) {
    int k = 0;
#pragma ccc while
    while (k < n && a[k] != key) k++;
    return k;
}
__global__ void look(const int *a, int m, const int *q, int *y, int n) {
    int miss = 0; long sum = 0;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int p = find(a, m, q[i]);
        COUNT
        y[i] = p;
    }
    atomicAdd(&y[n], miss + (int)sum);
}
"""


@pytest.mark.parametrize(
    ("count", "clause"),
    [
        ("if (p == m) miss++;", "reduction(+: miss)"),
        ("if (p == m) miss++; else sum += p;", "reduction(+: miss, sum)"),
    ],
)
def test_what_the_loop_itself_counts_is_named(count: str, clause: str, tmp_path: Path) -> None:
    source, options = SEARCH.replace("COUNT", count), Options(strategy=COLLECT)
    (line,) = said(source.replace(" CLAUSE", ""), tmp_path, options)
    assert line.startswith("k.cu:3:1: warning: path left as it was: ")
    assert '("miss"' in line
    assert f"say so on the loop of line 9: {clause}; or ask for strategy(flatten)" in line
    assert said(source.replace("CLAUSE", clause), tmp_path, options) == []


def test_the_counter_of_a_loop_on_one_line_is_not_named(tmp_path: Path) -> None:
    source = SEARCH.replace(" CLAUSE", "").replace("COUNT", "if (p == m) miss++;")
    head, body = source.split("blockDim.x) {\n")
    source = f"{head}blockDim.x) {{{body.replace(chr(10), '', 3)}"
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert '("miss", k.cu:10, ' in line


WALK = """struct Rng { unsigned s; __device__ float next() { DRAW return (s >> 8) * 6e-8f; } };
struct Ctx { Rng rng; float dt; };
__device__ float next(unsigned *s) { *s = *s * 1664525u + 1013904223u; return (*s >> 8) * 6e-8f; }
__device__ float drawn(unsigned &s) { return next(&s); }
__device__ float walk(TYPE *s, float x) {
#pragma ccc while
    while (x > 0 && x < 10) x += NEXT - 0.5f;
    return x;
}
__global__ void k(float *y, int n, unsigned seed) {
    OUTSIDE
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) { INSIDE y[i] = walk(&c, 5); }
}
"""
SEEDED = ', as of random numbers, declare it in the loop of line 12, and seed it there from "i"; or'
LCG = "s = s * 1664525u + 1013904223u;"


@pytest.mark.parametrize(
    ("declared", "following", "draw", "own"),
    [
        ("unsigned c = SEED;", "next(s)", LCG, SEEDED),
        ("unsigned c = SEED;", "drawn(*s)", LCG, SEEDED),
        ("Ctx c; c.dt = 1; c.rng.s = SEED;", "s->rng.next()", LCG, SEEDED),
        (
            "Ctx c; c.dt = 1; c.rng.s = SEED;",
            "s->rng.next()",
            "s = __brev(s) + 1013904223u;",
            ", declare it in the loop of line 12; or",
        ),
    ],
)
def test_what_functions_hand_on_by_pointer_has_the_name_of_the_loop(
    declared: str, following: str, draw: str, own: str, tmp_path: Path
) -> None:
    source = WALK.replace("TYPE", declared.split(maxsplit=1)[0]).replace("NEXT", following)
    source, options = source.replace("DRAW", draw), Options(strategy=COLLECT)
    outside = source.replace("OUTSIDE", declared.replace("SEED", "seed + threadIdx.x"))
    (line,) = said(outside.replace("INSIDE", ""), tmp_path, options)
    assert 'computes ("c", k.cu:' in line
    assert f'if no iteration needs "c" of another{own} ask for strategy(flatten)' in line
    inside = source.replace("INSIDE", declared.replace("SEED", "seed + i"))
    assert said(inside.replace("OUTSIDE", ""), tmp_path, options) == []


ALL = """__device__ float next(unsigned *s) { *s = *s * 1664525u + 1013904223u; return *s * 6e-8f; }
__device__ float drawn(unsigned &s) { return next(&s); }
__device__ void all(unsigned *s, float *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float x = 5;
#pragma ccc while
        while (x > 0 && x < 10) x += NEXT - 0.5f;
        y[i] = x;
    }
}
__global__ void k(float *y, int n, unsigned seed) {
    unsigned state = seed + threadIdx.x;
    all(&state, y, n);
}
"""


@pytest.mark.parametrize("following", ["next(s)", "drawn(*s)"])
def test_a_pointer_to_what_is_handed_on_is_named(following: str, tmp_path: Path) -> None:
    (line,) = said(ALL.replace("NEXT", following), tmp_path, Options(strategy=COLLECT))
    assert 'computes ("s", k.cu:1, PTX line ' in line
    own = 'declare it in the loop, and seed it there from "i"; or ask for strategy(flatten)'
    assert f'; if no iteration needs "s" of another, as of random numbers, {own}' in line


YEARS = """__device__ int drawn(float lam, unsigned a) {
    float p = 1; int k = 0;
#pragma ccc while
    do { p *= ((a * 64 + k) * 0x9E3779B9u >> 8) * (1.0f / 16777216); k++; } while (p > lam);
    return k - 1;
}
__global__ void k(const float *lam, int *y, int n, int years) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int level = y[i];
#pragma ccc for
        for (int t = 0; t < years; t++) {
            int c = drawn(lam[i], i + t);
            level = max(c ? level - 4 * c : level / 2, 0);
        }
        y[i] = level;
    }
}
"""


def test_of_annotated_loops_in_one_another_it_is_the_inner_one_that_hands_on(
    tmp_path: Path,
) -> None:
    """What the outer one declares that hands on nothing; nor does the function's counter."""
    lines = said(YEARS, tmp_path, Options(strategy=COLLECT))
    assert any('computes ("level", k.cu:14, ' in one for one in lines)
    assert not any('computes ("k"' in one for one in lines)


DETECTOR = """struct Detector {
    float high, low, sum; int last;
    __device__ void put(float v, int t) {
        float least = low + 0.25f * (high - low);
#pragma ccc if
        if (v > least && t - last > 40) {
            high = 0.125f * v + 0.875f * high; sum += logf(1.0f + (t - last)); last = t;
        } else low = 0.125f * v + 0.875f * low;
    }
};
__global__ void k(const float *x, float *y, int n) {
    Detector d = {0, 0, 0, 0};
#pragma ccc for
    for (int t = 1; t < n; t++) {
        float a = x[threadIdx.x * n + t];
        if (a > 3) d.put(a, t);
    }
    y[threadIdx.x] = d.sum;
}
"""


def test_where_no_instruction_is_shown_it_is_the_call_of_the_function(tmp_path: Path) -> None:
    """One arm was told that no reduction serves, and the other one that one may."""
    first, other = said(DETECTOR, tmp_path, Options(strategy=COLLECT))
    assert first.endswith("than to update them (k.cu:16): remove the annotation [in k]")
    assert 'so that nothing is left ("d"); else as the other arm [in k]' in other


SUM_BY_A_POINTER = """__device__ int walk(int depth, const int *__restrict__ q) {
    int r = 0;
#pragma ccc if
    if (depth > 4) for (int d = 0; d < depth; ++d) r += (q[d] > d) << d;
    return r;
}
__global__ void k(const int *__restrict__ size, const int *__restrict__ q,
                  const float *__restrict__ leaf, float *out, int n) {
    float sum = 0;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 2) {
        int d = size[i];
        sum += leaf[walk(d, q)];
        leaf += 1 << STEP;
    }
    out[threadIdx.x] = sum;
}
"""


@pytest.mark.parametrize(
    ("step", "advice"),
    [
        ("d", "say so on the loop of line 10: reduction(+: sum)"),
        ("walk(d + 1, q)", 'if no iteration needs "leaf", from which "sum" is made, of another'),
    ],
)
def test_what_others_make_is_no_hindrance_to_a_reduction(
    step: str, advice: str, tmp_path: Path
) -> None:
    (line,) = said(SUM_BY_A_POINTER.replace("STEP", step), tmp_path, Options(strategy=COLLECT))
    assert advice in line
