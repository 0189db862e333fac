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
