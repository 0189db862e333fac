"""Which variable is blamed for what the next iteration needs, where not all are at fault."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = pytest.mark.usefixtures("few_headers")

DRAWN = """struct Random {
    unsigned s;
    __device__ unsigned next() { s = s * 1664525u + 1013904223u; return s; }
};
__device__ __forceinline__ unsigned next(unsigned &s) { s = s * 1664525u + 1013904223u; return s; }
__device__ __forceinline__ unsigned next(unsigned *s) { return next(*s); }
__global__ void k(unsigned *out, int n) {
    unsigned state = threadIdx.x, hits = 0;
    Random random = {threadIdx.x};
#pragma ccc for CLAUSES
    for (int i = 0; i < n; ++i) {
#pragma ccc while
        while (DRAW % 17 != 0) hits++;
    }
    out[threadIdx.x] = hits + state + random.s;
}
"""
OWN = "declare it in the loop"
SEEDED = f'as of random numbers, {OWN}, and seed it there from "i" and the number of the thread'


@pytest.mark.slow
@pytest.mark.parametrize("clauses", ["", "reduction(+: hits)"])
@pytest.mark.parametrize(
    ("draw", "name"),
    [("next(state)", "state"), ("next(&state)", "state"), ("random.next()", "random")],
)
def test_what_a_function_changes_is_its_argument(
    draw: str, name: str, clauses: str, tmp_path: Path
) -> None:
    """And not what is changed on the line of the call, or else in the path."""
    source = DRAWN.replace("CLAUSES", clauses).replace("DRAW", draw)
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert f'("{name}", k.cu:' in line
    own = f'if no iteration needs "{name}" of another, {OWN if name != "random" else SEEDED}; or'
    assert own in line
    assert "reduction" not in line


@pytest.mark.slow
def test_what_is_changed_by_what_a_function_gives_is_no_argument(tmp_path: Path) -> None:
    source = DRAWN.replace("CLAUSES", "").replace("DRAW % 17 != 0) hits++", "hits < n) WORK")
    line, *_ = said(source.replace("WORK", "hits += next(out + i)"), tmp_path, Options())
    assert '("hits", ' in line


MADE = """__global__ void __launch_bounds__(64) k(const double *x, double *y, int n) {
    double sum = 0, product = 1, least = 1;
    int last = -1, count = 0;
#pragma ccc for CLAUSES
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        double v = x[i];
#pragma ccc if
        if (v > 0.5) { v = sinf(v); sum += v; count++; MORE }
    }
    y[threadIdx.x] = sum + product + last + count + least;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("clauses", "more", "names", "advice"),
    [
        ("reduction(+: sum)", "product *= v;", '"product"', "have a branch set a variable"),
        ("reduction(+: sum)", "last = i + v;", '"last"', "if the branch can do without them, have"),
        (
            "reduction(+: sum)",
            "product *= v; last = v;",
            '"product" or "last"',
            "if the branch can do without them, have",
        ),
        (
            "reduction(+: sum, product)",
            "product *= v; last = v;",
            '"product" or "last"',
            "the variable of a reduction (product) may only be updated",
        ),
        (
            "reduction(+: sum) reduction(min: least)",
            "if (v < least) { least = v; last = i; } product /= v;",
            '"product"',
            "have a branch set a variable",
        ),
        (
            "reduction(+: sum)",
            "if (sum > 3) sum = 0;",
            '"sum"',
            "the variable of a reduction (sum) may only be updated",
        ),
    ],
)
def test_what_a_reduction_serves_is_not_blamed(
    clauses: str, more: str, names: str, advice: str, tmp_path: Path
) -> None:
    source = MADE.replace("CLAUSES", clauses).replace("MORE", more)
    line = next(one for one in said(source, tmp_path, Options(strategy=COLLECT)) if "path" in one)
    assert f"computes ({names}, k.cu:8, PTX" in line
    assert f"; {advice}" in line


ELEMENTS = """__global__ void __launch_bounds__(64) k(const double *x, double *y, int n) {
    double acc[4] = {0, 0, 0, 0};
#pragma ccc for CLAUSES
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        double v = x[i];
#pragma ccc if
        if (v > 0.5) acc[INDEX] UPDATE;
    }
    y[threadIdx.x] = acc[0] + acc[1] + acc[2] + acc[3];
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("at", "advice"),
    [
        (
            "i & 3",
            "keep them in __shared__ memory, in a column for each thread, and update them by "
            "atomicAdd(&acc[i&3][threadIdx.x], ...)",
        ),
        (
            "n & 3",
            "have a variable for each of them in its place, and say so on the loop: "
            "reduction(+: variables)",
        ),
        (
            "0",
            "have a variable for each of them in its place, and say so on the loop: "
            "reduction(+: variables)",
        ),
    ],
)
@pytest.mark.parametrize("clauses", ["", "reduction(+: acc)"])
def test_elements_that_are_added_up_are_to_be_elsewhere(
    clauses: str, at: str, advice: str, tmp_path: Path
) -> None:
    """Whether the compiler keeps them in registers or not: the array cannot be one of the path."""
    source = ELEMENTS.replace("CLAUSES", clauses).replace("INDEX", at)
    told = said(source.replace("UPDATE", "+= sinf(v)"), tmp_path, Options(strategy=COLLECT))
    assert ["no effect" in line for line in told] == [True] * bool(clauses) + [False]
    assert '("acc", k.cu:7, PTX' in told[-1]
    else_ = "; else remove the annotation" if at == "0" else ""
    assert f"; if the loop only updates its elements, {advice}{else_} [in k]" in told[-1]
    assert "declare the array" not in told[-1]
    set_there = said(source.replace("UPDATE", "= sinf(v)"), tmp_path, Options(strategy=COLLECT))
    assert "only updates its elements" not in set_there[-1]


@pytest.mark.slow
def test_an_array_of_a_library_is_one(tmp_path: Path) -> None:
    library = "namespace std { template <class T, int N> struct array { T e[N]; "
    library += "__device__ T &operator[](int i) { return e[i]; } }; }\n"
    source = library + ELEMENTS.replace("double acc[4] =", "std::array<double, 4> acc =")
    source = source.replace("CLAUSES", "").replace("INDEX", "0").replace("UPDATE", "+= sinf(v)")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert '("acc", k.cu:8, PTX' in line
    assert "; if the loop only updates its elements, have a variable for each of them" in line


ADDED_BEHIND = """__global__ void k(const double *x, double *y, int n) {
    double acc[2] = {0, 0}, a = 0, b = 0;
#pragma ccc for CLAUSES
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        double v = x[i];
#pragma ccc if
        if (v > 0.5) {
            double f = v;
#pragma ccc if
            if (x[i + n] > 0.7) f = sinf(sinf(v) * sinf(v + f));
            acc[0] += f; acc[1] += f * v;
        }
    }
    y[threadIdx.x] = acc[0] * acc[1] + a + b;
}
"""


@pytest.mark.slow
def test_elements_that_the_rest_adds_up_are_told_as_those_of_the_path_around(
    tmp_path: Path,
) -> None:
    source = ADDED_BEHIND.replace("CLAUSES", "")
    told = said(source, tmp_path, Options(strategy=COLLECT))
    as_variables = "have a variable for each of them in its place, and say so on the loop: reduc"
    assert [as_variables in line for line in told] == [True, True]
    followed = ADDED_BEHIND.replace("acc[0] +=", "a +=").replace("acc[1] +=", "b +=")
    followed = followed.replace("CLAUSES", "reduction(+: a, b)")
    assert said(followed, tmp_path, Options(strategy=COLLECT)) == []


IN_COLUMNS = """__global__ void __launch_bounds__(64) k(const double *x, double *y, int n) {
    __shared__ double acc[4][64];
    for (int t = 0; t < 4; ++t) acc[t][threadIdx.x] = 0;
#pragma ccc for
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) {
        double v = x[i];
#pragma ccc if
        if (v > 0.5) atomicAdd(&acc[(i / 64) & 3][threadIdx.x], sqrt(v));
    }
    y[blockIdx.x * 64 + threadIdx.x] = acc[0][threadIdx.x] + acc[1][threadIdx.x]
        + acc[2][threadIdx.x] + acc[3][threadIdx.x];
}
"""


@pytest.mark.slow
def test_elements_in_columns_are_collected(tmp_path: Path) -> None:
    assert said(IN_COLUMNS, tmp_path, Options(strategy=COLLECT)) == []


COLLECTED = Options(strategy=COLLECT)
SEVERAL_ARRAYS = """__global__ void k(const float *x, const int *kind, float *y, int n) {
    DECLARED
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0) {
            float v = expf(x[i]);
            for (int k = 0; k < 20; k++) v = sqrtf(v + k);
#pragma unroll
            for (int k = 0; k < 4; k++) if (kind[i] == k) { UPDATE }
        }
    }
    for (int k = 0; k < 4; k++) y[4 * threadIdx.x + k] = SUM / COUNT;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "declared", "whose", "update", "of_sum", "of_count"),
    [
        ('"s" or "c"', ("float s", "int c"), "their", "s[k]AT += v; c[k]AT++;", "s[k]AT", "c[k]AT"),
        ('"a"', ("Pair a",), "its", "a[k]AT.s += v; a[k]AT.c++;", "a[k]AT.s", "a[k]AT.c"),
    ],
)
def test_arrays_that_are_added_up_are_to_be_in_columns(
    names: str,
    declared: tuple[str, ...],
    whose: str,
    update: str,
    of_sum: str,
    of_count: str,
    tmp_path: Path,
) -> None:
    def of(arrays: str, change: str, at: str) -> list[str]:
        source = SEVERAL_ARRAYS.replace("DECLARED", arrays).replace("UPDATE", change)
        source = source.replace("SUM", of_sum).replace("COUNT", of_count).replace("AT", at)
        return said(f"struct Pair {{ float s; int c; }}; {source}", tmp_path, COLLECTED)

    (line,) = of("".join(f"{one}[4] = {{}};" for one in declared), update, "")
    assert f"({names}, k.cu:10, PTX line" in line
    told = f"; if the loop only updates {whose} elements, keep them in __shared__ memory, in a"
    assert told in line
    at = "[threadIdx.x]"
    adds = f"atomicAdd(&{of_sum}, ...) and atomicAdd(&{of_count}, ...)".replace("AT", at)
    assert line.endswith(f"column for each thread, and update them by {adds} [in k]")
    columns = "".join(f"__shared__ {one}[4][64];" for one in declared)
    change = f"atomicAdd(&{of_sum}, v); atomicAdd(&{of_count}, 1);"
    assert of(columns, change, at) == []


INTERSECTED = """__device__ int common(const int *a, const int *b, int n) {
    int i = 0, j = 0, c = 0;
#pragma ccc while
    while (i < n && j < n) {
        if (a[i] == b[j]) { ++c; ++i; ++j; } else if (a[i] < b[j]) ++i; else ++j;
    }
    return c;
}
__global__ void k(const int *row, const int *col, unsigned long long *total, int n) {
    unsigned long long mine = 0;
#pragma ccc for
    for (int u = threadIdx.x; u < n; u += 32)
#pragma ccc for variable
        for (int e = row[u]; e < row[u + 1]; ++e) mine += common(col + e, col + row[e], 9);
    atomicAdd(total, mine);
}
"""


@pytest.mark.slow
def test_why_the_loop_around_is_left_names_its_own_variable(tmp_path: Path) -> None:
    lines = said(INTERSECTED, tmp_path, Options(strategy=COLLECT))
    assert len(lines) == 2
    assert any("the loop around it is left alone: " in line for line in lines)
    assert all('("mine", k.cu:14, ' in line for line in lines)
    (loop,) = (line for line in lines if "left alone" not in line)
    assert "say so on the loop of line 11: reduction(+: mine)" in loop
    (inside,) = (line for line in lines if line != loop)
    assert "; do first what is said of that loop; where its annotation is removed, " in inside


TOKENS = """__global__ void k(const int *first, const char *text, int *words, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int w = 0;
        bool in = false;
#pragma ccc for
        for (int k = first[i]; k < first[i + 1]; ++k) {
#pragma ccc switch
            switch (text[k]) {
                case 'a': case 'b': case 'c': w++; in = true; break;
                case '-': in = false; break;
                default: if (!in) { w += 2; in = true; }
            }
        }
        words[i] = w;
    }
}
"""


@pytest.mark.slow
def test_a_lane_that_computes_all_reads_what_nothing_writes(tmp_path: Path) -> None:
    for line, name in zip(
        said(TOKENS, tmp_path, Options(strategy=COLLECT)), ["w", "in"], strict=True
    ):
        assert "its lane computes all of it for the next iteration" in line
        assert f'("{name}")' in line


RUN_LENGTHS = """__global__ void k(const short *x, int *runs, int *count, int n) {
    int run = 0, at = 0;
#pragma ccc for
    for (int i = 0; i < n; ++i) {
#pragma ccc if
        if (x[32 * i + threadIdx.x]) {
            while (run > 15) { runs[n * threadIdx.x + at] = -1; at++; run -= 16; }
            runs[n * threadIdx.x + at] = run;
            at++;
            run = 0;
        } else run++;
    }
    count[threadIdx.x] = at;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("last", "name"), [("run = 0;", "run"), ("", "at")])
def test_no_reduction_is_offered_of_what_is_an_index(last: str, name: str, tmp_path: Path) -> None:
    source = RUN_LENGTHS.replace("            run = 0;", last)
    lines = said(source, tmp_path, Options(strategy=COLLECT))
    assert f'("{name}", k.cu:9, PTX line ' in lines[0]
    assert not any("reduction(+: at)" in line for line in lines)


ZERO = """__global__ void k(const int *__restrict__ A, const int *__restrict__ B, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, a = A[i], b = B[i], c = i * 7;
#pragma ccc for
    for (int j = 1; j < B[i]; ++j) {
#pragma ccc if
        if ((c & 7) == 2) {
            for (int m = 0; m < A[c]; ++m) b += j ^ (b & i);
#pragma ccc if
            if (j % 6 == 0 && b != 0) {
                for (int h = 0; h < 20; ++h) a = a * 9 + (a >> 2 ^ j);
                c = __popc(b - min(a, 9)) ^ A[a & 1023];
                c -= A[j * a & 1023];
                b ^= b;
            }
        }
    }
    out[i] = a ^ b + c;
}
"""


@pytest.mark.slow
def test_what_nvcc_copies_on_a_line_of_another_variable_is_told_by_what_computes_it(
    tmp_path: Path,
) -> None:
    _, line = said(ZERO, tmp_path, Options(strategy=COLLECT))
    assert line.startswith("k.cu:8:1: ")
    assert ": mov.u32 " in line
    assert '("b", k.cu:13, PTX line ' in line
