"""What is said of an array that is too large to go with a task, and whether it is a way out."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

WALK = """struct Node { float low, high; int left, right; };
__global__ void __launch_bounds__(64)
k(const Node *__restrict__ nodes, const float *__restrict__ x, float *__restrict__ y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float at = x[i], sum = 0;
        OUTSIDE
        PRAGMA
        IF {
            INSIDE
            WHILE
            while (top > 0) {
                Node node = nodes[stack[--top]];
                if (at < node.low || at > node.high) continue;
                if (node.left < 0) sum += sqrtf(node.high - at);
                else { stack[top++] = node.left; stack[top++] = node.right; }
            }
        }
        MORE
        y[i] = sum;
    }
}
"""
IS_TOO_LARGE = "at most 128 bytes of arrays (32 ints, say) go with a task, and here it takes 256"


def told(tmp_path: Path, **parts: str) -> list[str]:
    """What is said of the walk, with some parts of it written otherwise."""
    usual = {"OUTSIDE": "", "PRAGMA": "", "IF": "", "INSIDE": "", "WHILE": "", "MORE": ""}
    source = WALK
    for name, text in {**usual, **parts}.items():
        source = source.replace(name, text)
    return said(source, tmp_path, Options(strategy=COLLECT))


def stack(size: int) -> str:
    return f"int stack[{size}], top = 0; stack[top++] = 0;"


def test_a_stack_that_goes_on_from_turn_to_turn_may_be_smaller(tmp_path: Path) -> None:
    loop = "\n#pragma ccc while\n"
    (line,) = told(tmp_path, OUTSIDE=stack(64), WHILE=loop)
    assert 'on, but a task may go on in another lane after each ("stack", k.cu:' in line
    assert f"; {IS_TOO_LARGE}: make the array smaller, put all that uses it" in line
    assert "write the array in each turn" not in line
    assert told(tmp_path, OUTSIDE=stack(32), WHILE=loop) == []
    flattened = loop.replace("while", "while strategy(flatten)")
    assert told(tmp_path, OUTSIDE=stack(64), WHILE=flattened) == []


def test_the_array_and_not_the_rest_is_to_blame_for_what_goes_into_a_branch(
    tmp_path: Path,
) -> None:
    """What follows the path needs the sum alone, and may do so."""
    branch = {"PRAGMA": "\n#pragma ccc if\n", "IF": "if (at > 0.5f)"}
    (line,) = told(tmp_path, OUTSIDE=stack(64), **branch)
    assert "the path shares local memory" in line
    assert f"; declare the array in the path, and fill it there; {IS_TOO_LARGE}" in line
    assert told(tmp_path, OUTSIDE=stack(32), **branch) == []
    assert told(tmp_path, INSIDE=stack(64), **branch) == []


def test_an_array_goes_with_the_tasks_of_the_only_annotation(tmp_path: Path) -> None:
    loop = "\n#pragma ccc while\n"
    other = "\n#pragma ccc if\nif (sum > 4) sum = logf(sum);\n"
    line, *_ = told(tmp_path, OUTSIDE=stack(32), WHILE=loop, MORE=other)
    assert "go with the tasks of a loop's only annotation: remove that on line 22" in line
    assert told(tmp_path, OUTSIDE=stack(32), WHILE=loop, MORE="if (sum > 4) sum = 9;") == []


NEAREST = """__global__ void k(const float *x, int *y, int n) {
    float d[8]; int id[8];
    for (int k = 0; k < 8; ++k) { d[k] = 1e30f; id[k] = -1; }
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        float v = x[i];
#pragma ccc if
        if (v < d[7]) {
            int k = 7;
            for (; k > 0 && d[k - 1] > v; --k) { d[k] = d[k - 1]; id[k] = id[k - 1]; }
            d[k] = v; id[k] = i;
        }
    }
    for (int k = 0; k < 8; ++k) y[threadIdx.x * 8 + k] = RESULT;
}
"""


def test_an_array_that_iterations_hand_on_is_not_to_be_declared_in_the_path(
    tmp_path: Path,
) -> None:
    (line,) = said(NEAREST.replace("RESULT", "id[k]"), tmp_path, Options(strategy=COLLECT))
    assert 'with code outside it ("d" or "id", k.cu:' in line
    assert "the code after the loop reads what iterations leave there, so that none of them" in line
    assert "declare the array" not in line


def test_where_it_may_be_handed_on_users_are_asked(tmp_path: Path) -> None:
    used = NEAREST.replace("int id[8]", "int id[8] = {}").replace("id[k] = i;", "y[i] = k;")
    source = used.replace("RESULT", "k").replace("id[k] = id[k - 1];", "")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert "; if iterations hand the array on, annotate another loop, whose iterations" in line
    assert "or remove this annotation; else declare the array in the path" in line


def test_an_array_that_others_read_cannot_be_declared_in_the_path(tmp_path: Path) -> None:
    branch = {"PRAGMA": "\n#pragma ccc if\n", "IF": "if (stack[n & 63] > 0)"}
    (line,) = told(tmp_path, OUTSIDE=stack(64) + "stack[i & 63] = i;", **branch)
    assert "; put all that uses it, from where it is filled on, into the branch, or remove" in line
    assert "declare the array" not in line


VOLATILE = """__global__ void k(const float *x, float *y, int n) {
    volatile float sum = 0;
#pragma ccc for reduction(+: sum)
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (x[i] > 0.9f) sum += expf(x[i]) + logf(x[i]);
    }
    y[threadIdx.x] = sum;
}
"""


def test_a_volatile_variable_is_no_array(tmp_path: Path) -> None:
    (line,) = said(VOLATILE, tmp_path, Options(strategy=COLLECT))
    assert "local memory (a variable of the thread's own, which is volatile) with code" in line
    assert '("sum", k.cu:6, ' in line
    assert ";); declare it without volatile [in k]" in line
    assert said(VOLATILE.replace("volatile ", ""), tmp_path, Options(strategy=COLLECT)) == []


DIGITS = """__global__ void k(const int *x, char *out, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        char digits[12];
        int p = 0, v = x[i];
#pragma ccc while
        do { digits[p++] = '0' + v % 10; v /= 10; } while (v);
#pragma ccc while
        for (int k = 0; k < p; k++) out[12 * i + k] = digits[p - 1 - k];
    }
}
"""


def test_what_one_loop_fills_for_the_next_stays_with_it(tmp_path: Path) -> None:
    """It is neither in two annotated loops nor in the turns of one of these."""
    mark, options = "#pragma ccc while\n", Options(strategy=COLLECT)
    first, second = said(DIGITS, tmp_path, options)
    stays = (
        "; it reads an array that this one fills, and has to stay with it: remove this annotation"
    )
    assert stays in first
    assert '("digits", k.cu:9, PTX line' in second
    beside = DIGITS.replace("v /= 10;", "\n#pragma ccc if\nif (v & 1) v = x[v];\nv /= 10;")
    assert stays in said(beside, tmp_path, options)[0]  # whatever else it holds
    assert ";); the array may go with the tasks of a loop's only annotation: remove " in second
    assert "remove that on line 6; else remove this annotation" in second
    head, do, then = DIGITS.partition(mark)
    (alone,) = said(head + do + then.replace(mark, ""), tmp_path, options)
    assert stays in alone
    assert "split" not in first + alone
    assert said(head + then, tmp_path, options) == []


BY_SHAPE = """struct Shape { int v[3]; };
__device__ inline int place(const int *at, const int *shape) {
    int o = 0, m = 1; for (int i = 2; i >= 0; --i) { o += m * at[i]; m *= shape[i]; } return o; }
__global__ void __launch_bounds__(64) k(const int *x, int *count, Shape shape, int n) {
    int points[108];
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int found = x[i] % 27; for (int j = 0; j < 4 * found; ++j) points[j] = x[i + j] & 7;
#pragma ccc for variable
        for (int j = 0; j < found; ++j) {
            int *p = points + 4 * j;
            atomicAdd(&count[place(p, shape.v)], p[3]);
        }
    }
}
"""


def test_no_parameter_that_is_only_read_is_taken_for_the_array(tmp_path: Path) -> None:
    """It lies where the launch has put it, whatever is read on the same line."""
    (line,) = said(BY_SHAPE, tmp_path, Options(strategy=COLLECT))
    assert '(an array of the thread\'s own) with code outside it ("points", k.cu:' in line
