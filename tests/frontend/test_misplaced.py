"""Annotations of loops in the wrong place: one message for one mistake, and the right one there."""

from __future__ import annotations

from pathlib import Path

import pytest
from annotated import complaint, loop
from saying import said

from ccc.frontend.marking import mark
from ccc.options import Options

INSIDE = "#pragma ccc if\nif (x[i]) { x[i] = 3; }"


def kernel(pragma: str, loop_head: str, body: str) -> str:
    return f"__global__ void k(int *x, int n) {{\n{pragma}\n{loop_head} {{\n{body}\n}}\n}}\n"


def errors(text: str) -> list[str]:
    return [line for line in complaint(text).split("\n") if ": error: " in line]


@pytest.mark.parametrize("directive", ["while", "for variable"])
def test_an_outermost_loop_that_holds_paths_is_an_annotated_one(directive: str) -> None:
    text = kernel(f"#pragma ccc {directive}", "for (int i = 0; i < n; ++i)", INSIDE)
    (error,) = errors(text)
    assert error.startswith("k.cu:2:1: error: ")
    assert '; write "ccc for", if the iterations of this one are independent, or mark' in error
    assert error.endswith('or mark the kernel, if its threads are, "#pragma ccc grid_stride"')
    assert not mark(text.replace(directive, "for"), "k.cu").warnings


def test_an_outermost_loop_that_holds_none_may_be_one_of_a_kernel_over_blocks() -> None:
    text = kernel("#pragma ccc while", "while (x[0] < n)", "x[0] *= 2;")
    (error,) = errors(text)
    assert error.endswith('or the kernel, if its threads are, "#pragma ccc grid_stride"')
    assert mark(f"#pragma ccc grid_stride\n{text}", "k.cu").annotations


@pytest.mark.parametrize("directive", ["switch", "if"])
def test_what_a_misplaced_annotation_holds_is_not_complained_of(directive: str) -> None:
    (error,) = errors(kernel(f"#pragma ccc {directive}", "for (int i = 0; i < n; ++i)", INSIDE))
    assert 'write "ccc for", or put it' in error
    (error,) = errors(kernel(f"#pragma ccc {directive}", "for (int i = 0; i < n; ++i)", "f(i);"))
    assert 'write "ccc while", in a loop marked "ccc for" or in a kernel marked "ccc grid_' in error
    apart = kernel("#pragma ccc while", "while (n)", "n--;").replace(
        "n--;\n}", f"n--;\n}}\n{INSIDE}"
    )
    assert len(errors(apart)) == 2


@pytest.mark.parametrize("directive", ["for", "while"])
def test_a_loop_of_goto_cannot_be_marked(directive: str) -> None:
    body = f"if (i < n) {{\n{INSIDE}\ni += 32;\ngoto again;\n}}"
    head = f"__global__ void k(int *x, int i, int n) {{\n#pragma ccc {directive}\n"
    (error,) = errors(f"{head}again:\n{body}\n}}\n")
    assert f'"ccc {directive}" stands before the label "again:", and a loop of goto' in error
    assert error.endswith("write a for, while or do loop")
    assert "label" not in complaint(loop("#pragma ccc for\nstd::sort(x, x + n);"))


@pytest.mark.parametrize("around", ["for", "grid_stride"])
def test_an_inner_loop_is_no_path_by_ccc_for(around: str) -> None:
    inner = "#pragma ccc for\nfor (int e = 0; e < n; ++e) x[e] = 1;"
    text = kernel("#pragma ccc for", "for (int i = 0; i < n; ++i)", inner)
    if around == "grid_stride":
        text = f"#pragma ccc grid_stride\n__global__ void k(int *x, int n) {{\n{inner}\n}}\n"
    (warning,) = mark(text, "k.cu").warnings
    assert warning.message.endswith(
        '"ccc for variable", if its turns are independent, or else "ccc while"?'
    )
    at = text.rindex("#pragma ccc for")
    assert warning.span is not None
    assert warning.span.line == text.count("\n", 0, at) + 1
    for instead in ("for variable", "while"):
        assert not mark(f"{text[:at]}#pragma ccc {instead}{text[at + 15 :]}", "k.cu").warnings


@pytest.mark.slow
@pytest.mark.usefixtures("few_headers")
def test_a_kernel_without_a_path_is_told_of_once(tmp_path: Path) -> None:
    source = "#pragma ccc grid_stride\n__global__ void k(int *x) { x[blockIdx.x] = 1; }\n"
    (line, *_) = told = said(source, tmp_path, Options())
    assert "no annotated path stands inside this kernel" in line
    assert not any("remark" in one for one in told)
