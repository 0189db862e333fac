"""What users are told of what no reduction serves beside what one does: which of it is at fault."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

CACHED = """__device__ float made(int k, const float *x)
{ float s = 0; for (int j = 0; j < 64; j++) s += sinf(x[(k * 31 + j) & 1023]); return s; }
__global__ void __launch_bounds__(64) k(const int *key, const float *x, float *y, int n) {
    BEFORE int misses = 0;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += 64) {
        INSIDE
#pragma ccc if
        if (key[i] != last) { value = made(key[i], x); last = key[i]; misses++; }
        y[i] = value;
    }
    y[n + threadIdx.x] = misses;
}
"""
OWN = '; if no iteration needs "value" or "last" of another, declare them in the loop'


def cached(clause: str, *, is_own: bool = False) -> str:
    own = "int last = -1; float value = 0;"
    source = CACHED.replace("BEFORE", own * (not is_own)).replace("INSIDE", own * is_own)
    return source.replace(" CLAUSE", clause)


def test_what_a_loop_keeps_until_it_needs_another(tmp_path: Path) -> None:
    """What is counted beside it was named in its place."""
    options = Options(strategy=COLLECT)
    clause = "reduction(+: misses)"
    (line,) = said(cached(""), tmp_path, options)
    assert '("value", k.cu:9, PTX line' in line
    assert f'{OWN}, and if the loop only updates "misses", say so on the loop: {clause}' in line
    (line,) = said(cached(f" {clause}"), tmp_path, options)
    assert f"{OWN}; else remove the annotation [in k]" in line
    assert said(cached(f" {clause}", is_own=True), tmp_path, options) == []


CELLS = """__global__ void __launch_bounds__(64) k(const int *end, const short *x, int *y, int n) {
    int row[9], most = 0; long long cells = 0;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += 64) {
        int best = 0;
        for (int j = 0; j < 9; j++) row[j] = 0;
#pragma ccc while
        for (int a = 0; a < end[i]; a++) {
            int before = 0;
            for (int b = 1; b < 9; b++) {
                int v = max(before + x[a * 8 + b], max(row[b], row[b - 1]) - 2);
                before = row[b]; row[b] = v; best = max(best, v);
            }
            cells += 8;
        }
        y[i] = best; if (best > most) most = best;
    }
    y[n + threadIdx.x] = most; y[n + 64 + threadIdx.x] = (int)cells;
}
"""


def test_what_is_as_wide_as_the_instruction_is_meant(tmp_path: Path) -> None:
    options = Options(strategy=COLLECT)
    (line,) = said(CELLS.replace(" CLAUSE", ""), tmp_path, options)
    assert '("cells", k.cu:14, PTX line' in line
    clauses = "reduction(+: cells) reduction(max: most)"
    assert f"say so on the loop of line 3: {clauses}; or ask for" in line
    assert said(CELLS.replace("CLAUSE", clauses), tmp_path, options) == []


MADE_BESIDE = """__global__ void __launch_bounds__(64) k(const float *x, float *y, int n) {
    OUTSIDE float sum = 0; int draws = 0;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += 64) {
        INSIDE float most = 0;
#pragma ccc if
        if (x[i] > 0.5f) {
            float v = x[i];
            for (int t = 0; t < 9; t++) { s = s * 1664525u + 1013904223u; v += (s >> 8) * 1e-8f; }
            most = fmaxf(most, v);
            sum += sqrtf(v); draws++;
        }
        y[i] = most;
    }
    y[n + threadIdx.x] = sum + draws;
}
"""


def test_what_needs_a_clause_is_told_with_a_state(tmp_path: Path) -> None:
    """Of what each iteration declares no clause is told."""

    def of(outside: str, inside: str, clause: str) -> list[str]:
        source = MADE_BESIDE.replace("OUTSIDE", outside).replace("INSIDE", inside)
        return said(source.replace("CLAUSE", clause), tmp_path, Options(strategy=COLLECT))

    (line,) = of("unsigned s = threadIdx.x;", "", "")
    clause = "reduction(+: sum)"
    assert f'only updates "sum", say so on the loop of line 3: {clause}; else remove' in line
    assert of("", "unsigned s = i;", clause) == []


STATES = """__device__ unsigned drawn(unsigned *s, unsigned *t) {
    *s = 18000 * (*s & 65535) + (*s >> 16); *t = 30903 * (*t & 65535) + (*t >> 16);
    return (*s << 16) + *t;
}
__global__ void __launch_bounds__(64) k(const float *x, float *y, int n) {
    unsigned s = threadIdx.x + 1, t = 7;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        float v = x[i];
#pragma ccc while
        while (v > 0.5f) v -= drawn(&s, &t) * 1e-10f;
        y[i] = v;
    }
}
"""


def test_several_states_of_random_numbers(tmp_path: Path) -> None:
    (line,) = said(STATES, tmp_path, Options(strategy=COLLECT))
    assert (
        '; if no iteration needs "s" or "t" of another, as of random numbers, declare them' in line
    )
    assert "reduction(" not in line


CALLED = """__device__ unsigned next(unsigned &s) { s = s * 1664525u + 1013904223u; return s >> 8; }
__device__ float walk(unsigned &s, int m) {
    float x = 0;
#pragma ccc while
    for (int k = 0; k < m && fabsf(x) < 3; k++) x += next(s) * 5.9e-8f - 0.5f;
    return x;
}
__global__ void k(float *y, int n, int m) {
    unsigned s = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma ccc for CLAUSE
    for (int r = 0; r < n; r++) sum += walk(s, m);
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""


def test_what_a_clause_of_the_caller_names_is_told_no_more(tmp_path: Path) -> None:
    told = ', and if the loop only updates "sum", say so on the loop of line 11: reduction(+: sum)'
    for clause in ("", "reduction(+: sum)"):
        source = CALLED.replace("CLAUSE", clause)
        line = said(source, tmp_path, Options(strategy=COLLECT))[-1]
        assert '"s" of another, as of random numbers, declare it in the loop of line 11' in line
        assert (told in line) == (not clause)


FOUND = """__global__ void k(const float *x, float *y, int n) {
    int at = -1, turn; float sum = 0;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0) {
            float v = expf(x[i]);
            for (turn = 0; turn < 20; turn++) v = sqrtf(v + turn);
            sum += v;
            MORE
        }
    }
    y[threadIdx.x] = sum + at;
}
"""


def test_a_number_that_is_found_beside_a_sum_is_named(tmp_path: Path) -> None:
    """And what each iteration sets anew is not."""
    found = FOUND.replace("MORE", "if (v > 3) at = i;").replace(" CLAUSE", "")
    (line,) = said(found, tmp_path, Options(strategy=COLLECT))
    assert '("at", k.cu:10, PTX line' in line
    assert 'other variables, update "at", "turn" and "sum" by those behind the branch' in line
    (line,) = said(
        FOUND.replace("MORE", "").replace(" CLAUSE", ""), tmp_path, Options(strategy=COLLECT)
    )
    assert '("sum", k.cu:9, PTX line' in line
    assert line.endswith("say so on the loop of line 3: reduction(+: sum) [in k]")


BEST = """struct Best { float d[4]; int id[4]; int n; };
__device__ void insert(Best &b, float d, int id) {
    if (d >= b.d[3]) return;
    int k = 3;
    while (k > 0 && b.d[k - 1] > d) { b.d[k] = b.d[k - 1]; b.id[k] = b.id[k - 1]; k--; }
    b.d[k] = d; b.id[k] = id; b.n++;
}
__global__ void __launch_bounds__(128) k(const float *x, float *y, int n) {
    Best b; b.n = 0;
    for (int k = 0; k < 4; k++) { b.d[k] = 9; b.id[k] = -1; }
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 128) {
#pragma ccc if
        if (x[i] > 0.5f) insert(b, logf(x[i]), i);
    }
    for (int k = 0; k < 4; k++) y[4 * threadIdx.x + k] = b.d[k] + b.id[k];
    y[4 * 128 + threadIdx.x] = b.n;
}
"""


@pytest.mark.slow
def test_elements_that_a_function_moves_are_no_reductions(tmp_path: Path) -> None:
    (line,) = said(BEST, tmp_path, Options(strategy=COLLECT))
    assert "reduction(op" not in line
    assert 'update "b.d", "b.id" and "b.n" by those behind the branch' in line
    assert "remove the annotation [in k]" in line


PRUNED = """__global__ void __launch_bounds__(64) k(const int *end, const short *x, int *y, int n) {
    int best = 1 << 30, id = -1;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        int span = 0;
#pragma ccc while
        for (int a = 0; a < end[i] && span < best; a++) {
            int t = x[a];
            for (int b = 1; b < end[a]; b++) t = max(t, x[a * 8 + b]) + x[b];
            span = max(span, t);
        }
        if (span < best) { best = span; id = i; }
    }
    y[threadIdx.x] = best; y[64 + threadIdx.x] = id;
}
"""


def test_what_the_head_of_a_loop_asks_for_is_no_reduction(tmp_path: Path) -> None:
    (line,) = said(PRUNED, tmp_path, Options(strategy=COLLECT))
    told = "no reduction serves a variable with which the loop does more than to update it (k.cu:7)"
    assert '("best" or "id", k.cu:' in line
    assert f"; {told}; remove the annotation" in line
    assert "reduction(" not in line


NORMS = """__global__ void __launch_bounds__(64) k(const float *g, float *y, int n) {
    float norm = 0, peak = 0;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (g[i] > 0) { norm = g[i] / sinf(norm); peak = fmaxf(peak, sqrtf(g[i])); }
    }
    y[threadIdx.x] = norm; y[64 + threadIdx.x] = peak;
}
"""


@pytest.mark.parametrize("clause", ["", "reduction(max: peak)"])
def test_what_is_no_reduction_by_its_instruction_is_named(clause: str, tmp_path: Path) -> None:
    (line,) = said(NORMS.replace("CLAUSE", clause), tmp_path, Options(strategy=COLLECT))
    assert '("norm", k.cu:6, PTX line' in line
    assert "reduction" not in line
