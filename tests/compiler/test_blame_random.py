"""What is said of a state of random numbers that goes from iteration to iteration."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

DRAWS = """__device__ __forceinline__ unsigned shifted(unsigned &s) {
    s ^= s << 13; s ^= s >> 17; s ^= s << 5;
    return s;
}
__device__ __forceinline__ unsigned next(unsigned *state) {
    unsigned x = *state;
    x ^= x << 13; x ^= x >> 17; x ^= x << 5;
    return *state = x;
}
__device__ __forceinline__ unsigned mixed(unsigned &s, unsigned x) { s = s * 31 + x; return s; }
__global__ void __launch_bounds__(64) k(const float *x, float *y, int n, unsigned seed) {
    unsigned s = seed + threadIdx.x;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float sum = 0, v = x[i];
#pragma ccc PATH
        COME {
            DRAW
            v *= (s >> 8) * (1.0f / (1 << 24));
            sum += sqrtf(v);
        }
        y[i] = sum;
    }
}
"""
SHIFTS = "s ^= s << 13; s ^= s >> 17; s ^= s << 5;"
SEED = (
    'if no iteration needs "s" of another, as of random numbers, declare it in the loop, and seed '
    'it there from "i"'
)

SOME = "if (v > 0.5f) while (v > 0.1f)"


def told(draw: str, tmp_path: Path, path: str = "if", come: str = SOME) -> list[str]:
    source = DRAWS.replace("DRAW\n", f"{draw}\n").replace("PATH", path).replace("COME", come)
    return said(source, tmp_path, Options(strategy=COLLECT))


@pytest.mark.parametrize(
    "draw",
    [
        SHIFTS,
        "s = s ^ (s << 13); s = s ^ (s >> 17); s ^= (s << 5);",
        "s = s * 1664525u + 1013904223u;",
        "s *= 1664525u; s += 1013904223u;",
        "s = 1664525u * s + seed;",
        "sum += shifted(s);",
        "sum += next(&s);",
    ],
)
def test_each_iteration_is_to_seed_its_own(draw: str, tmp_path: Path) -> None:
    """It is no reduction, though it is written as if it were one."""
    (line,) = told(draw, tmp_path)
    assert f"; {SEED}; else remove the annotation [in k]" in line
    assert told(f"unsigned s = seed ^ i; {draw}", tmp_path) == []


def test_of_a_loop_lanes_may_keep_their_states(tmp_path: Path) -> None:
    (line,) = told(SHIFTS, tmp_path, "while", "while (v > 0.1f)")
    assert f"; {SEED}; or ask for strategy(flatten)" in line
    assert told(SHIFTS, tmp_path, "while strategy(flatten)", "while (v > 0.1f)") == []


@pytest.mark.parametrize(
    ("begin", "more"),
    [("0", " and the number of the thread"), ("n / 2", " and the number of the thread"), ("t", "")],
)
def test_where_threads_count_alike_their_numbers_are_to_be_seeds_too(
    begin: str, more: str, tmp_path: Path
) -> None:
    source = DRAWS.replace("PATH", "if").replace("COME", SOME).replace("DRAW", SHIFTS)
    source = source.replace("#pragma ccc for", "int t = threadIdx.x;\n#pragma ccc for")
    source = source.replace("int i = threadIdx.x;", f"int i = {begin};")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert f"; {SEED}{more}; else remove the annotation [in k]" in line


@pytest.mark.parametrize("draw", ["s = s * 31 + i;", "s = __float_as_uint(x[s]);", "mixed(s, i);"])
def test_what_is_made_of_iterations_is_no_state_of_random_numbers(
    draw: str, tmp_path: Path
) -> None:
    (line,) = told(draw, tmp_path)
    own = '; if no iteration needs "s" of another, declare it in the loop'
    assert f"{own}; else remove the annotation [in k]" in line


def test_a_place_that_is_counted_up_is_no_state_of_random_numbers(tmp_path: Path) -> None:
    (line,) = told("y[n + s] = v; s += 2;", tmp_path)
    assert '; if no iteration needs "s" of another, declare it in the loop; else rem' in line
    assert "random" not in line


COUNTED = """struct State { unsigned v[2], d; };
__device__ __forceinline__ unsigned next(State *s) {
    s->v[0] ^= s->v[0] << 13; s->v[1] ^= s->v[0] >> 7;
    s->d += 362437;
    return s->v[1] READ;
}
__global__ void __launch_bounds__(64) k(State *all, float *y, int n) {
    State s = all[threadIdx.x];
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v;
#pragma ccc while
        do v = next(&s) * 2.3e-10f; while (next(&s) * 2.3e-10f > v);
        y[i] = v;
    }
    all[threadIdx.x] = s;
}
"""


@pytest.mark.parametrize(
    "source",
    [
        COUNTED.replace("READ", "+ s->d"),
        COUNTED.replace(" READ", "").replace(">> 7", ">> s->d % 7"),
    ],
)
def test_a_member_that_a_function_counts_in_and_reads_is_no_reduction(
    source: str, tmp_path: Path
) -> None:
    line, *_ = said(source, tmp_path, Options(strategy=COLLECT))
    assert f"; {SEED}; or ask for" in line
    assert "reduction(" not in line


TIMED = """__global__ void k(const float *x, float *y, long long *cycles, int n) {
    long long spent = 0;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        long long begin = clock64();
#pragma ccc if
        if (x[i] > 0.8f) {
            float v = x[i];
            for (int j = 0; j < 50; ++j) v = sinf(v) + 0.1f;
            y[i] = v;
            spent += clock64() - begin;
        }
    }
    cycles[threadIdx.x] = spent;
}
"""


def test_a_time_that_is_taken_in_the_path_is_not_to_be_taken_before_it(tmp_path: Path) -> None:
    (line,) = said(TIMED, tmp_path, Options(strategy=COLLECT))
    assert 'read in the path or after it ("spent", k.cu:11, PTX line ' in line
    assert "; take the time of the whole loop, or remove the annotation; a seed, which" in line


NUMBERED = """struct Numbered {
    unsigned key, n;
    __device__ float next() {
        unsigned v = key ^ (n++ * 0x9E3779B9u); return (v ^ v >> 15) * 2e-10f;
    }
};
__global__ void __launch_bounds__(64) k(const float *x, float *y, int n) {
    Numbered g = {threadIdx.x, 0};
    float sum = 0;
#pragma ccc for CLAUSES
    for (int i = threadIdx.x; i < n; i += 64) {
        float v = x[i];
#pragma ccc while
        while (v > 0.5f) v = sqrtf(v) * g.next();
        if (v > 0.1f) sum += v;
    }
    y[threadIdx.x] = sum;
}
"""
OWN_NUMBERED = SEED.replace('"s"', '"g"')


def test_what_numbers_are_made_from_where_it_counts_is_no_reduction(tmp_path: Path) -> None:
    """Of all that is handed on the same text tells."""
    (line,) = said(NUMBERED.replace("CLAUSES", ""), tmp_path, Options(strategy=COLLECT))
    sums = ', and if the loop only updates "sum", say so on the loop of line 10: reduction(+: sum)'
    assert 'computes ("g", k.cu:4, ' in line
    assert f"; {OWN_NUMBERED}{sums}; or ask for strategy(flatten)" in line
    served = NUMBERED.replace("CLAUSES", "reduction(+: sum)").replace("Numbered g =", "//")
    served = served.replace("v = x[i];", "v = x[i]; Numbered g = {(unsigned)i, 0};")
    assert said(served, tmp_path, Options(strategy=COLLECT)) == []


def test_a_number_that_a_function_returns_from_where_it_counts_is_read(tmp_path: Path) -> None:
    source = NUMBERED.replace("CLAUSES", "").replace("* g.next()", "* (g.number() * 77 % 9) / 9")
    numbers = "unsigned number() { return n++; }\n    __device__ float next()"
    (line,) = said(source.replace("float next()", numbers), tmp_path, Options(strategy=COLLECT))
    assert '; if no iteration needs "g" of another, declare it in the loop' in line
    assert "reduction(+: g" not in line


def test_the_clause_of_another_is_not_blamed(tmp_path: Path) -> None:
    source = NUMBERED.replace("CLAUSES", "reduction(+: sum)")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert f"; {OWN_NUMBERED}; or ask for strategy(flatten)" in line


def test_a_counter_is_not_taken_for_a_sum_of_the_line_that_nvcc_tells(tmp_path: Path) -> None:
    """It subtracts one where the sum is added up."""
    source = NUMBERED.replace("CLAUSES", "").replace("* g.next()", "* g.next() * g.next()")
    source = source.replace("while (v > 0.5f) v", "for (int t = 0; t < n && v > 0.5f; t++) v")
    line, *_ = said(source, tmp_path, Options(strategy=COLLECT))
    assert 'computes ("g", k.cu:' in line


KEPT = """struct Kept {
    double s, c;
    __device__ void add(double x) { double y = x - c, t = s + y; c = (t - s) - y; s = t; }
};
__global__ void __launch_bounds__(64) k(const double *x, double *y, int n) {
    Kept g = {0, 0};
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (x[i] > 0.5) g.add(exp(x[i]));
    }
    y[threadIdx.x] = g.s;
}
"""


def test_a_sum_of_floats_is_no_state_of_random_numbers(tmp_path: Path) -> None:
    (line,) = said(KEPT, tmp_path, Options(strategy=COLLECT))
    assert '; no reduction serves "g.c" and "g.s", with which a function does more than' in line
    assert ': if the branch can do without it, have that set another variable, update "g"' in line


BESIDE = """struct Sums { float x, y; };
__device__ Sums operator+(Sums a, Sums b) { return {a.x + b.x, a.y + b.y}; }
struct Draws { unsigned long long s, by;
    __device__ unsigned next()
    { unsigned long long old = s; s = old * 6364136223846793005ULL + by; return old >> 32; } };
__global__ void __launch_bounds__(64) k(const float *x, Sums *y, int n) {
    OUTSIDE Sums a = {0, 0};
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += 64) {
        INSIDE
        float v = x[i] * g.next();
#pragma ccc while
        for (int t = 0; t < 9; t++) {
            if (v > 0.5f) { a = a + Sums{v, 1}; break; }
            v += g.next() * 2.3e-10f;
        }
    }
    y[threadIdx.x] = a;
}
"""


def test_members_that_are_added_up_beside_a_state_are_named(tmp_path: Path) -> None:
    def of(outside: str, inside: str, clause: str) -> list[str]:
        source = BESIDE.replace("OUTSIDE", outside).replace("INSIDE", inside)
        return said(source.replace(" CLAUSE", clause), tmp_path, Options(strategy=COLLECT))

    (line,) = of("Draws g = {threadIdx.x, 1};", "", "")
    clause = "reduction(+: a.x, a.y)"
    assert "; " + SEED.replace('"s"', '"g"') + ", and if the loop only updates" in line
    assert f": {clause}; or ask for strategy(flatten)" in line
    assert of("", "Draws g = {i, 1};", f" {clause}") == []
