"""What users are told of where a path stands: which loop is around it, and how it leaves that."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from annotated import loop
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

FOUND = """__global__ void k(const int *x, int *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        bool out = false;
        int at = i;
#pragma ccc while
        while (x[at]) {
            if (x[at] == 7) { out = true; break; }
            at = x[at];
        }
        if (out) LEAVE;
        y[i] = at;
    }
}
"""
LEAVES = """__global__ void k(const int *x, int *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int v = x[i];
#pragma ccc if
        if (v > 7) {
            for (int j = 0; j < v; ++j) if (y[j] == v) break;
            y[i] = v * v;
            if (v > 99) JUMP;
        }
    }
    y[n] = 1;
out: y[n + threadIdx.x] = 2;
}
"""
AUTOMATON = """__global__ void k(const char *text, int *pos, int w, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int state = 0, k = 0;
#pragma ccc while
        for (; k < w; ++k) {
#pragma ccc switch
            switch (text[i * w + k]) {
                case 'a': state = 1; continue;
                case 'b': state = state == 1 ? 2 : state == 2 ? 3 : 0; break;
                default: goto fail;
            }
            if (state == 3) { pos[i] = k; goto fail; }
        }
    fail:;
    }
}
"""
UNMARKED = """__device__ unsigned gcd(unsigned a, unsigned b) {
#pragma ccc while
    while (b) { unsigned t = a % b; a = b; b = t; }
    return a;
}
__global__ void k(const unsigned *a, const unsigned *b, unsigned *c, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) c[i] = gcd(a[i], b[i]);
}
"""
TILES = """__global__ void k(const float *x, float *y, int n) {
    __shared__ float tile[1024];
#pragma ccc for
    for (int base = 0; base < n; base += 1024) {
        for (int j = threadIdx.x; j < 1024; j += blockDim.x) tile[j] = x[base + j];
        __syncthreads();
        for (int j = threadIdx.x; j < 1024; j += blockDim.x) {
            float v = tile[j ^ 5];
#pragma ccc if
            if (v > 0.8f) v = expf(v) * cosf(v);
            y[base + j] = v;
        }
        __syncthreads();
    }
}
"""


SORTED = """__global__ void k(const int *x, int *y, int n) {
    int v[8];
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        for (int k = 0; k < 8; k++) {
            int t = x[8 * i + k], j = k - 1;
#pragma ccc while
            while (j >= 0 && v[j] > t) { v[j + 1] = v[j]; j--; }
            v[j + 1] = t;
        }
        y[i] = v[v[1] & 7] + v[3];
    }
}
"""
UNROLLED = """__global__ void __launch_bounds__(128)
k(const float *__restrict__ x, float *y, int n) {
#pragma ccc for
#pragma unroll 4
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#pragma ccc if
        if (x[i] > 0.9f) {
            float v = x[i];
            for (int k = 0; k < 20; k++) v = expf(-v) + 0.1f;
            y[i] = v;
        }
    }
}
"""
STACKED = """__global__ void k(const float *x, float *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0.5f) {
            float low[20], high[20], sum = 0;
            low[0] = 0; high[0] = x[i];
#pragma ccc while
            for (int top = 1; top > 0;) {
                float a = low[--top], b = high[top], half = 0.5f * (a + b);
                if (b - a < 0.1f || top > 17) sum += sinf(half);
                else { low[top] = a; high[top++] = half; low[top] = half; high[top++] = b; }
            }
            y[i] = sum;
        }
    }
}
"""
WAVES = """__device__ float wave(float x) {
    x -= floorf(x);
    for (int k = 0; k < 9; ++k) x = x * x * (3 - 2 * x) + 0.1f * k;
    return x;
}
__global__ void __launch_bounds__(128) k(const float *x, float *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float base = x[i];
#pragma ccc if prob(0.2)
        if (base > 0.3f) {
            float amp = 0.5f, f = 2;
#pragma ccc while
            while (amp > 0.01f) {
                base += amp * wave(base * f) * wave(f);
                amp *= 0.5f - 0.2f * fabsf(base);
                f *= 2;
            }
        }
        y[i] = base;
    }
}
"""
LEFT_EARLY = """__global__ void k(const int *__restrict__ code, int *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int made = 1;
#pragma ccc while
        for (int s = 0; s < 100; s++) {
            int op = code[(i * 11 + s) & 4095];
            if (op == 6) { if (s > 3) break; } else made = made * 3 + op;
            float f = made;
            for (int k = 0; k < 8; k++) f = sinf(f) * 3.f;
            made += (int)f;
        }
        y[i] = made;
    }
}
"""


def test_copies_of_one_annotation_are_no_others(tmp_path: Path) -> None:
    lines = said(SORTED, tmp_path, Options(strategy=COLLECT))
    assert lines
    assert all('mark each loop around it that nvcc has unrolled "ccc' in line for line in lines)
    assert not any("on line" in line for line in lines)


def test_a_branch_around_takes_an_array_along(tmp_path: Path) -> None:
    lines = said(STACKED, tmp_path, Options(strategy=COLLECT))
    hint = "remove this annotation, so that the branch on line 4 takes it all as one task"
    assert any(hint in line for line in lines if ":8:1: " in line)


def test_what_a_branch_holds_already_is_not_to_be_put_into_one(tmp_path: Path) -> None:
    source = """__global__ void k(const float *x, const int *row, float *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0.5f) {
            float a[6], s = 0;
            for (int k = 0; k < 6; ++k) a[k] = x[i + k];
            int best = 0;
#pragma ccc for variable
            for (int k = row[i]; k < row[i + 1]; ++k) s += sqrtf(x[k]);
            if (s > 1) best = row[i] % 6;
            y[i] = a[best] * s;
        }
    }
}
"""
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert line.startswith("k.cu:9:1: ")
    assert "code outside it (k.cu:12, PTX line " in line
    assert "; remove this annotation, so that the branch on line 4 takes it all as one " in line


def test_the_length_of_a_branch_is_told_to_be_without_the_loops_in_it(tmp_path: Path) -> None:
    (line,) = (one for one in said(WAVES, tmp_path, Options()) if ":10:1: " in one)
    assert "by its code besides the loop marked in it, some " in line


def test_turns_of_marked_loops_are_not_told_among_what_a_length_hangs_on(tmp_path: Path) -> None:
    more = WAVES.replace("f = 2;", "f = 2; if (base > 0.9f) y[i + n] = base;")
    (line,) = (one for one in said(more, tmp_path, Options()) if ":10:1: " in one)
    assert "by its code besides the loop marked in it, with each way in it taken one time" in line


def test_a_loop_that_some_lanes_leave_early_has_other_turns_for_each(tmp_path: Path) -> None:
    (line,) = said(LEFT_EARLY, tmp_path, Options())
    assert "nothing is known of its turns: with 32 of a lane, expected" in line
    assert "; tell with a profile (--ccc-profile)" in line


def test_an_unroll_of_the_annotated_loop_is_told_to_be_removed(tmp_path: Path) -> None:
    """One path has the tasks of all four; without that it is chosen."""
    (line,) = said(UNROLLED, tmp_path, Options())
    assert "path (4 copies) left as it was: " in line
    assert '; remove the "#pragma unroll" of the annotated loop, which makes 4 paths' in line
    assert said(UNROLLED.replace("#pragma unroll 4", ""), tmp_path, Options()) == []


REMAINDER = """__global__ void k(const float *x, float *y, int n) {
#pragma ccc for
#pragma unroll 4
    for (int i = threadIdx.x; i < n; i += 256) {
#pragma ccc if
        if (x[i] > 0.9f) {
            float v = x[i];
            for (int k = 0; k < 4; k++) v = sinf(v) + sqrtf(v);
            y[i] = v;
        }
    }
}
"""


def test_a_strategy_is_offered_that_serves_the_copies_of_all_loops(tmp_path: Path) -> None:
    """And the way to one copy is told, though the one of what unrolling leaves gains most."""
    (line,) = said(REMAINDER, tmp_path, Options())
    assert "path (5 copies) left as it was: " in line
    assert '; remove the "#pragma unroll" of the annotated loop, which makes 4 paths' in line
    (advised,) = re.findall(r"or (strategy\(\w+\)) insists", line)
    insisted = REMAINDER.replace("ccc if", f"ccc if {advised}")
    assert said(insisted, tmp_path, Options()) == []


@pytest.mark.parametrize("jump", ["break", "goto out"])
def test_the_line_of_a_jump_is_named(jump: str, tmp_path: Path) -> None:
    (line,) = said(LEAVES.replace("JUMP", jump), tmp_path, Options(strategy=COLLECT))
    assert "the path jumps out of the annotated loop (k.cu:9); decide" in line


def test_of_a_case_the_jump_is_named_that_it_comes_to(tmp_path: Path) -> None:
    """The first of the switch may be that of another one, and what follows it may jump, too."""
    (line,) = (one for one in said(AUTOMATON, tmp_path, Options()) if "jumps out" in one)
    assert "path (case 'b', line 10) left as it was: the path jumps out of the loop" in line
    assert "around it (k.cu:13); let it set a variable" in line


def test_a_thread_that_assembly_ends_is_told_with_its_line(tmp_path: Path) -> None:
    branch = '#pragma ccc if\nif (x[i] > 6) {\nx[i] = 1; asm volatile("exit;"); }\nx[i] += 3;'
    (line,) = said(loop(branch), tmp_path, Options())
    assert "left as it was: the path ends the thread (k.cu:6, PTX line" in line
    assert "; decide before the branch whether to go on, or remove this annotation [in k]" in line


def test_where_no_loop_is_annotated_one_is_to_be(tmp_path: Path) -> None:
    (line,) = said(UNMARKED, tmp_path, Options(strategy=COLLECT))
    assert "mark the loop in which the kernel comes to it: #pragma ccc for" in line


def test_a_loop_that_cannot_be_collected_is_told_before_where_the_path_stands(
    tmp_path: Path,
) -> None:
    """The loop in it could not be, either."""
    (line,) = said(TILES, tmp_path, Options(strategy=COLLECT))
    assert "there is a barrier in the annotated loop (k.cu:13, " in line


def test_who_leaves_both_loops_is_told_to_leave_one(tmp_path: Path) -> None:
    search = "#pragma ccc while\nwhile (x[l]) { if (x[l] == 7) { LEAVE } l += x[l]; }\nx[i] = l;"
    begin = "int l = x[i + threadIdx.x];\n"  # lanes go round differently
    source, options = loop(f"{begin}{search}"), Options(strategy=COLLECT)
    (line,) = said(source.replace("LEAVE", "x[l] = i; return;"), tmp_path, options)
    assert "; leave its loop by break, keep in a variable that it was left so, and skip" in line
    assert said(source.replace("LEAVE", "break;"), tmp_path, options) == []
    search = search.replace("if (x[l] == 7)", "\n#pragma ccc if\nif (x[l] == 7)")
    source = loop(f"{begin}bool out = false;\n{search}")
    source = source.replace("LEAVE", "atomicAdd(x, 1); return;")
    lines = said(source, tmp_path, options)
    hint = "; let the branch set a variable instead, for which its loop's condition asks, and skip"
    assert len(lines) == 2
    assert all(hint in line for line in lines)
    lines = said(source.replace("while\n", "for variable\n"), tmp_path, options)
    assert all('condition asks, mark that loop "ccc while", and skip' in line for line in lines)
    search = search.replace("(x[l])", "(x[l] && !out)")
    source = loop(f"{begin}bool out = false;\n{search}")
    flagged = source.replace("LEAVE", "atomicAdd(x, 1); out = true;")
    assert said(flagged, tmp_path, replace(options, max_block=64)) == []


def test_nothing_behind_a_loop_may_lead_out_either(tmp_path: Path) -> None:
    options = Options(strategy=COLLECT)
    (line,) = said(FOUND.replace("LEAVE", "return"), tmp_path, options)
    assert "the path jumps out of the annotated loop (k.cu:11); leave its loop by break, " in line
    assert "skip by that the rest of the iteration, where nothing may leave the annotated" in line
    assert said(FOUND.replace("LEAVE", "continue"), tmp_path, options) == []


STRIDING = """#pragma ccc grid_stride
__global__ void __launch_bounds__(64) k(const int *lengths, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    for (; i < n; STEP) {
        float s = 0;
#pragma ccc while
        for (int k = 0; k < lengths[i]; k++) s += __expf(k + s);
        y[i] = s;
    }
}
"""


@pytest.mark.parametrize("step", ["i += gridDim.x * blockDim.x", "i += all", "i++"])
def test_a_loop_over_what_the_grid_has_to_do_is_the_one_to_mark(step: str, tmp_path: Path) -> None:
    source, options = STRIDING.replace("STEP", step), Options(strategy=COLLECT)
    (line,) = (one for one in said(source, tmp_path, options) if ":6:1: " in one)
    assert ('; mark that loop "ccc for", and remove "ccc grid_stride"' in line) == (step != "i++")
    marked = source.replace("#pragma ccc grid_stride\n", "").replace(
        "    for (; i", "#pragma ccc for\n    for (; i"
    )
    assert said(marked, tmp_path, options) == []


def test_what_nvcc_copies_for_no_line_is_told_with_that_of_the_variable(tmp_path: Path) -> None:
    text = """struct Best { float d; int i; };
    __global__ void k(const float *x, const float *y, Best *o, int n) {
        Best best = {1e30f, -1};
#pragma ccc for
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
            if (x[i] < y[i]) {
                float d = 0; for (int k = 0; k < 20; k++) d += sqrtf(x[i] + k);
                if (d < best.d) { best.d = d; best.i = i; }
            }
        }
        o[threadIdx.x] = best;
    }
    """
    (line,) = said(text, tmp_path, Options(strategy=COLLECT))
    assert 'computes ("best.d", k.cu:9, PTX line ' in line
