"""Markers of arms: variables in CUDA, comments in PTX, and nothing of them in between."""

from __future__ import annotations

from pathlib import Path

import pytest
from annotated import loop
from device_code import device_code
from emulating import needs_nvcc

from ccc.errors import CccError
from ccc.frontend.marking import mark
from ccc.frontend.stripping import as_operator
from ccc.ir.arm_markers import as_comments, declare, statement
from ccc.ir.markers import hide_markers, parse_marker
from ccc.parse import parse_function, parse_module

COMMENT = "// ccc.then 3 a_b/k=20.cu:7:5 prob=0.125"
NAME = statement(COMMENT).removeprefix("(void)+").rstrip(";")

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
        else sum[i] = n;
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
        ("/* a\n b */\nf();\n", "{}/* a\n b */\nf();\n"),
        ("/* a\n b */ #define X\nf();\n", "{}\n#line 1\n/* a\n b */ #define X\nf();\n"),
        ("#include <x>\nf();\n", "{}\n#line 1\n#include <x>\nf();\n"),
        ('# 0 "k.cu"\nf();\n', '# 0 "k.cu"\n{}\n# 0 "k.cu"\nf();\n'),
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
    "options",
    [(), ("-rdc=true",), ("-Xcicc", "-O0"), ("-G",), ("-G", "-rdc=true"), ("-arch=sm_100",)],
)
def test_nothing_is_left_of_the_variables(options: tuple[str, ...], tmp_path: Path) -> None:
    ptx = compiled(mark(KERNEL, "k.cu").text, tmp_path, *options)
    assert "ccc_marker" in ptx
    assert "ccc_marker" not in as_comments(ptx)
    assert "volatile" not in as_comments(ptx)
    assert all(parse_function(piece) for piece in parse_module(as_comments(ptx)).functions)
    markers = list(filter(None, map(parse_marker, as_comments(ptx).splitlines())))
    assert {marker.span.line for marker in markers if marker.kind == "then"} == {5, 13}


@needs_nvcc
@pytest.mark.usefixtures("few_headers")
@pytest.mark.parametrize("arch", ["sm_75", "sm_100"])
def test_both_ways_of_a_switch_keep_theirs(arch: str, tmp_path: Path) -> None:
    switch = (
        "#pragma ccc switch\n"
        "switch (x[i]) { case 0: x[i] = x[n] % n; break; default: x[i] = x[n + 1] / n; }"
    )
    ptx = as_comments(compiled(mark(loop(switch), "k.cu").text, tmp_path, f"-arch={arch}"))
    function = parse_function(next(parse_module(ptx).functions))
    marked = [block for block in function.blocks if any(m.kind == "case" for m in block.markers)]
    assert len(marked) == 2
    assert not any(marker.kind == "for" for block in marked for marker in block.markers)


@needs_nvcc
@pytest.mark.usefixtures("few_headers")
@pytest.mark.parametrize("standard", ["c++14", "c++17", "c++20"])
def test_what_is_evaluated_reads_nothing(standard: str, tmp_path: Path) -> None:
    text = """\
__device__ constexpr int f(int n) {
    int s = 0;
    #pragma ccc for
    for (int i = 0; i < n; i++) {
        #pragma ccc if
        if (i & 1) s += n / i;
    }
    return s;
}
static_assert(f(5) == 6, "");
__global__ void k(int *x) { x[threadIdx.x] = f(x[threadIdx.x]); }
"""
    ptx = as_comments(compiled(mark(text, "k.cu").text, tmp_path, f"-std={standard}"))
    assert "ccc_marker" not in ptx
    found = [one.kind for one in map(parse_marker, ptx.splitlines()) if one]
    assert found == ["loop", "for", "then"]


def test_what_a_compiler_says_of_the_first_line_is_without_variables() -> None:
    line = declare(f"void f(int *x) {{ {statement(COMMENT)} y = 3; }}")
    at = line.index("y")
    said = hide_markers(f"{line}\n{' ' * at}^\n")
    assert said == f"void f(int *x) {{ y = 3; }}\n{' ' * 17}^\n"


def test_what_a_compiler_says_of_a_loop_is_without_the_users_unroll_pragma() -> None:
    pragma = as_operator(b'unroll (sizeof("a"))').decode()
    assert hide_markers(f'{{ asm volatile("// ccc.loop 1 k.cu:2:1"); {pragma}') == "{"


FAR = f"""\
.func f()
{{
\tmov.u32 \t%r1, {NAME};
\tcvt.u64.u32 \t%rd1, %r1;
\tcvta.shared.u64 \t%rd2, %rd1;
{{
}}
\tld.volatile.u8 \t%rs1, [%rd2];
}}
"""


def test_assembly_with_braces_ends_no_function() -> None:
    made = as_comments(FAR)
    assert made.count(COMMENT) == 1
    assert "volatile" not in made
    other = ".visible .entry k()\n{\n\tld.volatile.u8 \t%rs1, [%rd2];\n}\n"  # registers of its own
    assert as_comments(FAR + other) == made + other


OTHER = NAME.replace("then", "else")


@pytest.mark.parametrize(
    "line",
    [
        f"\tselp.b32 \t%r1, {NAME}, {OTHER}, %p1;",
        "\tadd.s64 \t%rd3, %rd2, 4;",
        "\tst.local.u64 \t[%SP+8], %rd2;",
        f"\tmov.u32 \t%r1, {OTHER};",  # one of two, where their ways join
        f"\t@%p1 ld.volatile.shared.u8 \t%rs1, [{NAME}];",
    ],
)
def test_an_unknown_use_of_a_variable_is_an_error(line: str) -> None:
    with pytest.raises(CccError, match=r'of the marker "// ccc\.then 3 .*", which is not'):
        as_comments(FAR.replace("{\n}", line))


def test_variables_of_others_are_left_to_them() -> None:
    text = "__shared__ volatile char ccc_marker_x; void f() { (void)ccc_marker_x; }"
    assert declare(text) == text
    read = "\tld.volatile.shared.u8 \t%rs1, [ccc_marker_x];\n"
    assert as_comments(read) == read


def compiled(text: str, folder: Path, *options: str) -> str:
    (folder / "k.cu").write_text(text)
    arch = [] if any(option.startswith("-arch") for option in options) else ["-arch=sm_90"]
    return device_code(folder / "k.cu", *arch, *options)
