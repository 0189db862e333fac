"""What is said of one annotation holds when what is said of the others is followed, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

TRIANGLES = """
__global__ void tri(const int *row, const int *col, int n, unsigned long long *out) {
    unsigned long long c = 0;
    #pragma ccc for reduction(+: c)
    for (int u = blockIdx.x * blockDim.x + threadIdx.x; u < n; u += gridDim.x * blockDim.x)
        #pragma ccc while
        for (int e = row[u]; e < row[u + 1]; ++e) {
            int v = col[e];
            #pragma ccc if
            if (v > u) {
                int a = row[u], b = row[v];
                #pragma ccc while
                while (a < row[u + 1] && b < row[v + 1]) {
                    int d = col[a] - col[b];
                    if (d == 0) { ++c; ++a; ++b; }
                    else if (d < 0) ++a; else ++b;
                }
            }
        }
    atomicAdd(out, c);
}
"""


@pytest.mark.usefixtures("all_headers")
def test_a_loop_is_not_worth_more_than_the_branch_that_it_lies_in(tmp_path: Path) -> None:
    """Its tasks are part of those of the branch."""
    (line,) = (one for one in said(TRIANGLES, tmp_path, Options()) if "take those" in one)
    assert "worth more" not in line
    assert "; remove this annotation; or that one, and this loop can be collected" in line


ROWS = """
__device__ __forceinline__ float along(const float *x, int from, int to) {
    float s = 0;
    while (from < to && x[from] > 0) s += sqrtf(x[from++]);
    return s;
}
__global__ void k(const float *x, const int *row, float *out, int n) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float s = x[i];
        #pragma ccc while
        for (int r = row[i]; r < row[i + 1]; ++r) s += INSIDE;
        out[i] = s + along(x, row[n + i], i);
    }
}
"""


def test_a_loop_behind_one_that_calls_the_same_function_is_not_to_be_annotated(
    tmp_path: Path,
) -> None:
    """The annotation would stand in the first one, too."""
    options = Options(strategy=COLLECT)
    (line,) = said(ROWS.replace("INSIDE", "along(x, r, row[r])"), tmp_path, options)
    assert "; split the annotated loop in two, or remove the annotation; or ask for" in line
    (line,) = said(ROWS.replace("INSIDE", "sinf(s) * r"), tmp_path, options)
    assert "; annotate that loop, too, or split the annotated loop in two; or ask" in line


ROOTS = """
__device__ int root(const int *__restrict__ p, int v) {
    #pragma ccc while
    while (p[v] != v) v = p[v];
    return v;
}
__global__ void k(const int *__restrict__ p, const int *__restrict__ e, float *out, int n) {
    float sum = 0;
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int a = root(p, e[i]), b = root(p, e[n + i]);
        sum += sqrtf(a * b);
    }
    out[threadIdx.x] = sum;
}
"""


def test_what_serves_the_last_of_two_calls_serves_the_first_one(tmp_path: Path) -> None:
    options = Options(strategy=COLLECT)
    (line,) = said(ROOTS, tmp_path, options)
    assert "; do first what is said of the copy that follows; or where its function is" in line
    assert "say so on the loop of line 9: reduction(+: sum)" in line
    source = ROOTS.replace("ccc for", "ccc for reduction(+: sum)")
    assert said(source, tmp_path, options) == []


FOUND = """
struct T { int l, r, key; };
#pragma ccc recursion
__device__ int find(const T *t, int i, int key) {
    if (i < 0) return -1;
    if (t[i].key == key) return i;
    return key < t[i].key ? find(t, t[i].l, key) : find(t, t[i].r, key);
}
__global__ void k(const T *t, const int *q, int *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    HEAD o[i] = find(t, 0, q[i]);
}
"""
STRIDES = 'mark the kernel, if its threads are independent: "#pragma ccc grid_stride"'


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ("if (i < n)", STRIDES),
        ("for (; i < n; i += gridDim.x * blockDim.x)", "mark the loop in which the kernel comes"),
    ],
)
def test_a_kernel_of_one_thread_for_each_item_is_to_be_marked_itself(
    head: str, told: str, tmp_path: Path
) -> None:
    source = FOUND.replace("HEAD", head)
    (line,) = said(source, tmp_path, Options())
    assert "no annotated loop is left around it; " + told in line
    marked = source.replace("__global__", "#pragma ccc grid_stride\n__global__")
    assert head != "if (i < n)" or "left around" not in "".join(said(marked, tmp_path, Options()))


LIBRARY = """
template <class F> __global__ void each(F f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    HEAD f(i);
}
template <class F> void run_each(F f, int n) { each<<<n, 256>>>(f, n); }
"""
FUNCTOR = """
#include "library.h"
struct Op {
    float *x;
    __device__ void operator()(int i) const {
        #pragma ccc if
        if (x[i] > 1) x[i] = expf(x[i]);
    }
};
void run(float *x, int n) { run_each(Op{x}, n); }
"""


@pytest.mark.parametrize("head", ["if (i < n)", "for (; i < n; i += gridDim.x * blockDim.x)"])
def test_a_kernel_of_a_library_cannot_be_marked(head: str, tmp_path: Path) -> None:
    (tmp_path / "library.h").write_text(LIBRARY.replace("HEAD", head))
    (line,) = said(FUNCTOR, tmp_path, Options())
    way = 'write a kernel with an annotated loop in place of "each", which is a library\'s; else'
    assert f"no annotated loop is left around it; {way} remove the annotation" in line


FLATTENED = """
__global__ void steps(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i], c = 0;
    #pragma ccc while strategy(flatten)
    while (v != 1) { v = v & 1 ? 3 * v + 1 : v / 2; ++c; }
    y[i] = c;
}
"""


def test_a_loop_can_be_flattened_in_a_kernel_that_is_marked(tmp_path: Path) -> None:
    lines = said(FLATTENED, tmp_path, Options())
    assert any('each thread has one item, mark the kernel "#pragma ccc grid' in s for s in lines)
    marked = FLATTENED.replace("__global__", "#pragma ccc grid_stride\n__global__")
    assert not any("no loop is left" in one for one in said(marked, tmp_path, Options()))


QUANTILES = """
__global__ void quantiles(const double *u, double *z, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        double p = u[i], r;
        #pragma ccc if prob(0.05)
        if (p < 0.02425) {
            double q = sqrt(-2 * log(p));
            r = (((-7.78e-3 * q - 3.22e-1) * q - 2.4) * q + 2.93) / ((7.78e-3 * q + 3.75) * q + 1);
        } else if (p > 1 - 0.02425) {
            double q = sqrt(-2 * log(1 - p));
            r = (((7.78e-3 * q + 3.22e-1) * q + 2.4) * q - 2.93) / ((7.78e-3 * q + 3.75) * q + 1);
        } else { double q = p - 0.5; r = q * q * q + 2.5 * q; }
        z[i] = r;
    }
}
"""


@pytest.mark.usefixtures("all_headers")
def test_no_clause_is_advised_for_one_arm_that_would_be_slower_for_both(tmp_path: Path) -> None:
    lines = said(QUANTILES, tmp_path, Options())
    assert len(lines) == 2
    assert not any("insists" in line for line in lines)


PIXELS = """
__global__ void __launch_bounds__(256) pixels(const float4 *t, unsigned *z, int n, int w, int h) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float4 a = t[i];
        int x0 = max((int)a.x, 0), x1 = min((int)a.z, w - 1);
        int y0 = max((int)a.y, 0), y1 = min((int)a.w, h - 1);
        #pragma ccc for variable
        for (int y = y0; y <= y1; ++y)
            #pragma ccc for variable
            for (int x = x0; x <= x1; ++x)
                #pragma ccc if
                if ((x ^ y) & 1) atomicMin(&z[y * w + x], __float_as_uint(WORK));
    }
}
"""


def test_a_branch_in_a_loop_to_be_shared_out_is_told_that_it_is_one_or_the_other(
    tmp_path: Path,
) -> None:
    work = "(" * 32 + "a.x" + " * x + a.y)" * 32
    source = PIXELS.replace("WORK", work)
    _, turns, branch = said(source, tmp_path, Options())
    assert "or strategy(engage) insists [in pixels]" in turns
    assert "or strategy(queue) insists, in place of engage on the loop around it [in" in branch


def test_a_short_branch_is_not_advised_for_what_the_loop_around_gains(tmp_path: Path) -> None:
    *_, branch = said(PIXELS.replace("WORK", "a.x * x + a.y * y"), tmp_path, Options())
    assert ": too short to gain as far as is known; remove the annotation [in" in branch


SEEDS = """
__global__ void extend(const char *q, const char *r, const int2 *at, int *o, int n, int m, int l) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int a = at[i].x, b = at[i].y, s = 0, best = 0;
        #pragma ccc while
        while (a < m && b < l && best - s < 20) {
            s += q[a++] == r[b++] ? 1 : -3;
            if (s > best) best = s;
        }
        a = at[i].x - 1, b = at[i].y - 1, s = best;
        #pragma ccc while
        while (a >= 0 && b >= 0 && best - s < 20) {
            s += q[a--] == r[b--] ? 1 : -3;
            if (s > best) best = s;
        }
        o[i] = best;
    }
}
"""


def test_what_is_told_of_one_is_what_there_is_without_those_that_are_to_go(tmp_path: Path) -> None:
    """A loop that is left turns as if nobody had marked it."""
    told = said(SEEDS, tmp_path, Options())
    assert [one.partition(": ")[0] for one in told] == ["k.cu:6:9", "k.cu:12:9"]
    assert all("; remove the annotation, or tell with a profile" in one for one in told)


IN_THE_WAY = """
__global__ void k(const float *__restrict__ x, const float2 *__restrict__ at, float *__restrict__ y,
                  int n, int m, int w) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v = x[i];
        #pragma ccc if
        if (v > 0.5f) {
            float best = v;
            #pragma ccc while
            for (int j = 0; j < m; j++) {
                float s = 0;
                for (int k = 0; k < w; k++) s += fabsf(at[j].x * v - at[j].y * k);
                best = fminf(best, s);
                if (best < 1) break;
            }
            v = best;
        }
        y[i] = v;
    }
}
"""


def test_a_branch_that_gains_without_a_loop_in_it_is_served_without_that(tmp_path: Path) -> None:
    (loop,) = said(IN_THE_WAY, tmp_path, Options())
    assert loop.startswith("k.cu:10:13: remark: ")
    assert "; remove this annotation: that on line 7 serves without it [in k]" in loop
    assert said(IN_THE_WAY.replace("#pragma ccc while", ""), tmp_path, Options()) == []


def test_a_branch_gains_though_a_loop_in_it_is_left(tmp_path: Path) -> None:
    """All lanes go round it as often, be they gathered or not."""
    even = IN_THE_WAY.replace("                if (best < 1) break;\n", "")
    (loop,) = said(even, tmp_path, Options())
    assert loop.startswith("k.cu:10:13: remark: ")
    assert "; remove the annotation: all that differs from lane to lane is who takes" in loop


def test_a_branch_of_a_function_that_is_inlined_keeps_the_loop_around(tmp_path: Path) -> None:
    head, body = IN_THE_WAY.split("        float v = x[i];\n")
    inner, tail = body.split("        y[i] = v;\n")
    function = f"""
__device__ float f(const float2 *__restrict__ at, float v, int m, int w) {{
{inner}
    return v;
}}
"""
    source = f"{function}{head}        y[i] = f(at, x[i], m, w);\n{tail}"
    (loop,) = said(source, tmp_path, Options())
    assert "; remove this annotation: that on line 3 serves without it [in k]" in loop


NEAREST = """
__global__ void k(const float *__restrict__ x, const float2 *__restrict__ at, float *__restrict__ y,
                  int n, int m) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v = x[i];
        #pragma ccc if
        if (v > 0.5f) {
            float best = v;
            #pragma ccc while
            for (int j = 0; j < m; j++)
                best = fminf(best, fabsf(at[j].x * v - at[j].y) + fabsf(at[j].y * v - at[j].x));
            v = best;
        }
        y[i] = v;
    }
}
"""


def test_a_branch_gains_once_nvcc_may_unroll_an_even_loop_in_it(tmp_path: Path) -> None:
    (loop,) = said(NEAREST, tmp_path, Options())
    assert loop.startswith("k.cu:10:13: remark: ")


HISTOGRAM = """
__global__ void hist(const int *__restrict__ x, int *y, int n) {
    __shared__ int mine[16 * 128];
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int v = x[i];
        #pragma ccc if PROB
        if (v > 1000) { for (int k = 0; k < 9; k++) v = v * 7 ^ v >> 3; atomicAdd(&y[v & 15], 1); }
        else atomicAdd(&mine[(v & 15) * 128 + threadIdx.x], 1);
    }
    __syncthreads();
    atomicAdd(&y[threadIdx.x & 15], mine[threadIdx.x]);
}
"""


def test_of_a_short_arm_no_share_is_to_be_told(tmp_path: Path) -> None:
    """With none would it gain; the long one tells what to do for both."""
    told = said(HISTOGRAM.replace("PROB", ""), tmp_path, Options())
    short = next(line for line in told if "path (else)" in line)
    assert "too short to gain" in short
    assert "prob(share)" not in short


RING = """
__global__ void smooth(const float *x, float *y, int len, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float ring[8], s = 0;
    for (int k = 0; k < 8; ++k) ring[k] = 0;
    #pragma ccc for
    for (int t = 0; t < len; ++t) {
        float v = x[t * n + i], dv = 0;
        #pragma ccc if strategy(tile(3))
        if (v == v) { dv = v - ring[t & 7]; ring[t & 7] = v; }
        s += dv;
        y[t * n + i] = s * 0.125f;
    }
}
"""


def test_what_is_in_the_way_of_tiles_that_are_asked_for_is_told(tmp_path: Path) -> None:
    denied, left = said(RING, tmp_path, Options())
    assert "strategy(tile(3)) does not apply: the path shares local memory" in denied
    assert '("ring", k.cu:11, PTX line' in denied
    assert 'needs a value that the path computes ("s", k.cu:12' in left
    assert "tile" not in left


VISIBLE = """
__global__ void visible(const float4 *occ, int m, const float3 *a, float *v, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float t = 1;
        #pragma ccc for
        for (int k = 0; k < m; ++k) {
            float x = a[i].x - occ[k].x, y = a[i].y - occ[k].y, r = occ[k].w, f = 1;
            #pragma ccc if strategy(tile(3))
            if (x * x + y * y < r * r) f = expf(-r + sqrtf(x * x + y * y));
            t *= f;
            BREAK
        }
        v[i] = t;
    }
}
"""


@pytest.mark.usefixtures("all_headers")
def test_a_break_that_asks_for_what_the_path_makes_is_told(tmp_path: Path) -> None:
    source = VISIBLE.replace("BREAK", "if (t < 0.01f) break;")
    denied, left = said(source, tmp_path, Options())
    why = (
        "does not apply: whether the loop goes on hangs on a value that the path computes (k.cu:12,"
    )
    assert why in denied
    assert 'let no "break" or "return" behind the path' in denied
    assert "; let strategy(tile(3)) apply, as is told of that, or remove the annotation" in left
    assert said(VISIBLE.replace("BREAK", ""), tmp_path, Options()) == []


@pytest.mark.usefixtures("all_headers")
def test_no_left_branch_is_told_without_a_way_out(tmp_path: Path) -> None:
    """Whatever is advised of a branch in another loop."""
    loop = """    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        #pragma ccc if
        if (x[i] > 0) y[i] = WORK;
    }
"""
    long = loop.replace("WORK", "tanhf(x[i]) * powf(x[i] + 1, 0.3f)")
    source = f"""__global__ void k(const float *x, float *y, int n) {{
{loop.replace("WORK", "x[i] + 1")}    __syncthreads();
{long}}}
"""
    first, second = said(source, tmp_path, Options())
    assert " insists [in k]" in second
    assert "; remove the annotation [in k]" in first


def test_of_a_branch_of_few_instructions_nothing_is_advised(tmp_path: Path) -> None:
    """In a variable, with a reduction, or by an atomic it would be too short."""
    source = """__global__ void k(const float *x, float *y, int n) {
    __shared__ float s[256];
    s[threadIdx.x] = 0;
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        #pragma ccc if
        if (x[i] > 0) s[threadIdx.x] += x[i];
    }
    y[threadIdx.x] = s[threadIdx.x];
}
"""
    (line,) = said(source, tmp_path, Options())
    assert "use the same memory, and are not independent" in line
    assert "; it is too short to gain anything: remove the annotation [in k]" in line
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert "; keep it in a variable, with a reduction on the loop" in line


TOUCHED = """__global__ void k(const int *x, int *z, const float *w, int n) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        #pragma ccc if
        if (w[i] > 0) {
            #pragma ccc for variable
            for (int d = x[i]; d < x[i + 1]; ++d) {
                #pragma ccc if
                if (w[d] > 0.5f) atomicAdd(&z[x[d]], d);
            }
            z[i] = n;
        }
    }
}
"""


def test_no_tasks_of_a_loop_in_a_branch_are_told_to_take_along(tmp_path: Path) -> None:
    lines = said(TOUCHED, tmp_path, Options(strategy=COLLECT))
    (branch,) = (one for one in lines if one.startswith("k.cu:8:"))
    assert "may access the same memory as what follows the loop around it" in branch
    assert 'mark that loop "ccc while"' not in branch
    assert "; remove this annotation" in branch
