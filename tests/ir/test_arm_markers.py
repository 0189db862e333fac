"""Markers of arms: variables in CUDA, comments in PTX, and nothing of them in between."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from emulating import needs_nvcc

from ccc.frontend.marking import mark
from ccc.ir.arm_markers import as_comments, declare, statement
from ccc.ir.markers import parse_marker
from ccc.parse import parse_function, parse_module
from ccc.toolkit import find as toolchain

COMMENT = "// ccc.then 3 a_b/k=20.cu:7:5 prob=0.125"
NAME = statement(COMMENT).removeprefix("(void)").rstrip(";")

KERNEL = """\
struct Node { int *next; int value; };
__device__ __noinline__ void called(int *x, int n) {
    #pragma ccc for
    for (int i = 0; i < n; i++) {
        #pragma ccc if
        if (x[i] > n) atomicAdd(x, 3);
    }
}
__global__ void k(int *x, const Node *nodes, int *sum, int n) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
        int v = x[i], w = *nodes->next;
        #pragma ccc if
        if (v > 0) sum[i] = v + w + x[i] + *nodes->next;
    }
    called(x, n);
    called(sum, n + 1);
}
"""


def test_a_name_is_a_marker() -> None:
    assert NAME.isidentifier()
    read = f"\tld.volatile.shared.u8 \t%rs1, [{NAME}];\n"
    assert as_comments(read) == f"\t{COMMENT}\n"
    assert as_comments(read.replace("[", "[__nv_static_9__k_cu_")) == f"\t{COMMENT}\n"
    assert parse_marker(as_comments(read)) is not None


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("f();\n", "{}f();\n"),
        ("#include <x>\nf();\n", "{}\n#line 1\n#include <x>\nf();\n"),
        ("  /* */ #define X\nf();\n", "{}\n#line 1\n  /* */ #define X\nf();\n"),
        ('# 1 "k.cu"\nf();\n', '{}\n# 1 "k.cu"\nf();\n'),
    ],
)
def test_lines_count_as_before(text: str, lines: str) -> None:
    read = statement(COMMENT)
    variable = f"static __attribute__((shared)) volatile char {NAME}; "
    assert declare(text.replace("f();", read)) == lines.format(variable).replace("f();", read)
    assert declare(text) == text


@needs_nvcc
@pytest.mark.usefixtures("few_headers")
@pytest.mark.parametrize(
    "options", [(), ("-rdc=true",), ("-Xcicc", "-O0"), ("-G",), ("-arch=sm_100",)]
)
def test_nothing_is_left_of_the_variables(options: tuple[str, ...], tmp_path: Path) -> None:
    ptx = compiled(mark(KERNEL, "k.cu").text, tmp_path, *options)
    assert "ccc_marker" in ptx
    assert "ccc_marker" not in as_comments(ptx)
    assert "volatile" not in as_comments(ptx)
    assert all(parse_function(piece) for piece in parse_module(as_comments(ptx)).functions)
    markers = list(filter(None, map(parse_marker, as_comments(ptx).splitlines())))
    assert {marker.span.line for marker in markers if marker.kind == "then"} == {5, 13}


def compiled(text: str, folder: Path, *options: str) -> str:
    file, output = folder / "k.cu", folder / "k.ptx"
    file.write_text(text)
    words = ["-ptx", "-arch=sm_90", *options, str(file), "-o", str(output)]
    subprocess.run([str(toolchain.find().nvcc), *words], check=True)
    return output.read_text()
