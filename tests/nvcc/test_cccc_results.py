"""The command ``cccc``, with nvcc: what it makes, and what it says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from breadth import one_in
from nvcc_project import KERNEL, REFUSED, Project, project

from ccc.version import VERSION

__all__ = ["project"]

pytestmark = pytest.mark.usefixtures("few_headers")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    one_in(
        3,
        [
            ["-arch=sm_90", "-cubin", "-o", "k.out"],
            ["-arch=sm_90", "-o", "k.out"],
            ["-arch=sm_90", "-dc", "-lineinfo", "-o", "k.out"],
            ["-arch=sm_90", "-rdc=true", "-std=c++20", "-o", "k.out"],
            ["-arch=sm_90", "-shared", "-Xcompiler", "-fPIC,-Wall,-Werror", "-o", "k.out"],
        ],
    ),
    ids=["cubin", "executable", "dc", "rdc", "shared"],
)
def test_nvcc_command_lines(project: Project, arguments: list[str]) -> None:
    assert project("k.cu", *arguments) == ""
    assert (project.folder / "k.out").stat().st_size > 0


@pytest.mark.slow
def test_ptx_and_report(project: Project) -> None:
    assert project("k.cu", "-arch=sm_90", "-o", "k.ptx", "--ccc-report=r.json") == ""
    assert project("k.cu", "-arch=sm_90", "-o", "off.ptx", "--ccc-off") == ""
    assert project.read("k.ptx") != project.read("off.ptx")
    report = json.loads(project.read("r.json"))
    (kernel,) = report["kernels"]
    assert report["version"] == VERSION
    assert kernel["arch"] == "compute_90"
    assert [(p["line"], p["column"], p["applied"]) for p in kernel["paths"]] == [(7, 9, True)]
    assert sorted(path.name for path in project.folder.iterdir()) == [
        "k.cu",
        "k.ptx",
        "off.ptx",
        "r.json",
    ]


@pytest.mark.slow
def test_several_architectures_at_once(project: Project) -> None:
    both = ["-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=sm_90"]
    project("k.cu", *both, "--threads", "2", "-c", "--ccc-report=r.json", "-MD", "-MF", "k.d")
    archs = [kernel["arch"] for kernel in json.loads(project.read("r.json"))["kernels"]]
    assert archs == ["compute_80", "compute_90"]
    assert "ccc" not in project.read("k.d").replace(str(project.folder), "")


@pytest.mark.slow
def test_two_files_and_spaces(project: Project) -> None:
    project.write("a b/l m.cu", KERNEL.replace("{name}", "other"))
    assert project("k.cu", "a b/l m.cu", "-arch=sm_90", "-o", "a b/program") == ""
    assert (project.folder / "a b" / "program").exists()


@pytest.mark.slow
def test_kept_files_are_nvccs(project: Project) -> None:
    project("k.cu", "-arch=sm_90", "-cubin", "--keep")
    assert "#pragma ccc if" in project.read("k.cpp1.ii")
    assert "asm volatile" not in project.read("k.cpp1.ii").split('"k.cu" 2')[-1]


@pytest.mark.slow
def test_the_compiler_knows_whose_source_it_is(project: Project) -> None:
    unused = "static __device__ int never(int x) { return x; }\n"
    project.write("k.cu", project.read("k.cu") + unused)
    said = project("k.cu", "-arch=sm_90", "-lineinfo", "-o", "k.ptx")
    assert "#177" in said  # never referenced: not told of a header's
    files = re.findall(r'^\s*\.file\s+\d+ "(.*)"', project.read("k.ptx"), re.MULTILINE)
    assert {Path(file).name for file in files} == {"k.cu"}


@pytest.mark.slow
def test_a_refused_path_is_a_warning(project: Project) -> None:
    project.write("k.cu", REFUSED.replace("{name}", "k"))
    said = project("k.cu", "-arch=sm_90", "-o", "k.ptx")
    assert said.startswith("k.cu:7:9: warning: path left as it was: ")
    assert len(said.splitlines()) == 1
    project("k.cu", "-arch=sm_90", "-o", "off.ptx", "--ccc-off")
    assert project.read("k.ptx") == project.read("off.ptx")


@pytest.mark.slow
def test_a_refused_path_is_an_error_under_strict(project: Project) -> None:
    project.write("k.cu", REFUSED.replace("{name}", "k"))
    words = "--ccc-strict", "--ccc-report=r.json"
    said = project("k.cu", "-arch=sm_90", "-o", "k.ptx", *words, code=1)
    assert said.startswith("k.cu:7:9: error: path left as it was: ")
    assert not (project.folder / "k.ptx").exists()
    (kernel,) = json.loads(project.read("r.json"))["kernels"]
    assert [(path["line"], path["applied"]) for path in kernel["paths"]] == [(7, False)]


@pytest.mark.slow
def test_under_strict_there_is_a_report_of_annotations_that_left_no_code(project: Project) -> None:
    project.write("k.cu", f"void f(int *x, int n) {{\n{LOOP}}}")
    words = "--ccc-strict", "--ccc-report=r.json"
    said = project("k.cu", "-arch=sm_90", "-o", "k.ptx", *words, code=1)
    assert said.startswith(f"k.cu:2:1: error: {HOST}")
    assert json.loads(project.read("r.json"))["kernels"] == []


PATH = "#pragma ccc if\nif (x[i] > 3) x[i] = x[i] * 77 % 13;\n"
LOOP = f"#pragma ccc for\nfor (int i = 0; i < n; i++) {{\n{PATH}}}\n"
HOST = "this function is compiled for the host, where annotations have no effect"
UNCALLED = "no code is left of this: no kernel of the file calls this function, or it has no effect"
UNUSED = "no code is left of this: nothing in the file uses this kernel, or it has no effect"
TAKE = "template <class F> void take(F) {}\n"
CALL = "template <class F> __global__ void call(F f) { f(threadIdx.x); }\n"


# A source each, the line of its annotation that is told of, and what is.
NO_CODE = {
    "host": (f"void f(int *x, int n) {{\n{LOOP}}}", 2, HOST),
    "member": (f"struct S {{ void f(int *x, int n) {{\n{LOOP}}} }};", 2, HOST),
    "device": (f"__device__ void f(int *x, int i) {{\n{PATH}}}", 2, UNCALLED),
    "template": (f"template <class T> __global__ void f(T *x, int n) {{\n{LOOP}}}", 2, UNUSED),
    # What somebody else launches is there.
    "launched": (f"template <class T> __global__ void f(T *x, int n) {{\n{LOOP}}}\n"
        "template <class T> void launch(T *x) { f<<<1, 32>>>(x, 9); }\n"
        "void g() { launch((int *)0); }", 0, ""),
    "lambda": (f"{CALL}void g(int *x, int n) {{ auto f = [=] __device__ (int) {{\n{LOOP}}};\n"
        "call<<<1, 32>>>(f); }", 0, ""),
    "unused lambda": (f"{TAKE}void g(int *x, int n) "
        f"{{ auto f = [=] __device__ (int) {{\n{LOOP}}}; take(f); }}", 3, UNCALLED),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.usefixtures("all_headers")
def test_annotations_that_leave_no_code(project: Project) -> None:
    text, expected = "", ""
    for number, (source, line, said) in enumerate(NO_CODE.values()):
        before = text.count("\n") + 1
        text += f"namespace n{number} {{\n{source}\n}}\n"
        expected += f"f.cu:{before + line}:1: warning: {said}\n" if said else ""
    project.write("f.cu", text)
    assert project("f.cu", "-arch=sm_90", "--extended-lambda", "-o", "f.ptx") == expected


@pytest.mark.slow
def test_strict_wants_code_of_an_annotation(project: Project) -> None:
    project.write("f.cu", f"__device__ void f(int *x, int i) {{\n{PATH}}}\n")
    assert UNCALLED in project("f.cu", "-arch=sm_90", "-o", "f.ptx", "--ccc-strict", code=1)


def test_help_of_nvcc_leads_to_ours(project: Project) -> None:
    assert project("--help").endswith("; cccc --ccc-help prints these.\n")


def test_a_header_may_hold_what_a_source_has_no_use_for(project: Project) -> None:
    project.write("f.cuh", f"inline __device__ void f(int *x, int i) {{\n{PATH}}}\n")
    project.write("f.cu", '#include "f.cuh"\n' + project.read("k.cu"))
    assert project("f.cu", "-arch=sm_90", "-o", "f.ptx", "--ccc-strict") == ""


@pytest.mark.slow
def test_a_wrong_annotation_is_told_once(project: Project) -> None:
    project.write("k.cu", "__global__ void k() {\n  #pragma ccc fro\n}\n")
    both = ["-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=sm_90"]
    said = project("k.cu", *both, "--threads", "2", "-c", code=255)
    assert said == (
        'k.cu:2:15: error: unknown directive "fro"; did you mean "for"?\n'
        "      #pragma ccc fro\n"
        "                  ^\n"
    )
    assert not (project.folder / "k.o").exists()


@pytest.mark.slow
def test_marked_ptx(project: Project) -> None:
    project("k.cu", "-arch=sm_90", "--ccc-mark-only", "-o", "m.ptx")
    assert "// ccc.then" in project.read("m.ptx")
    project("m.ptx", "-o", "out.ptx", "--ccc-report=r.json")
    project("k.cu", "-arch=sm_90", "-o", "k.ptx")
    assert json.loads(project.read("r.json"))["kernels"][0]["paths"][0]["applied"]
    assert project.read("out.ptx") == project.read("k.ptx")
    project("m.ptx", "-arch=sm_90", "-o", "m.cubin")
    assert (project.folder / "m.cubin").exists()


def test_results_of_ptx_need_a_name_of_their_own(project: Project) -> None:
    project("k.cu", "-arch=sm_90", "-o", "m.ptx", "--ccc-mark-only")
    marked = project.read("m.ptx")
    (project.folder / "folder").mkdir()
    (project.folder / "link.ptx").symlink_to("m.ptx")
    for arguments, said in {
        ("-ptx",): "the result has no name; give -o NAME.ptx",
        (): "the result has no name; give -o NAME.ptx",
        ("-o", "folder"): "folder is a folder; give -o NAME.ptx",
        ("-o", "m.ptx"): "-o m.ptx would overwrite what is read; give another name",
        ("-o", "link.ptx"): "-o link.ptx would overwrite what is read; give another name",
        ("-cubin", "-o", "m.ptx"): "-o m.ptx would overwrite what is read; give another name",
        ("k.cu", "-o", "out.ptx"): (
            "PTX to PTX takes one file at a time; give k.cu to a command of its own"
        ),
    }.items():
        assert project("m.ptx", *arguments, code=2) == f"ccc: error: {said}\n"
    assert project.read("m.ptx") == marked


def test_what_is_no_ptx(project: Project) -> None:
    for data, why in (
        (b"", "the file is empty"),
        (bytes(range(256)), "the file is binary"),
        (b"// .version in a comment\n", "there is no .version directive"),
    ):
        (project.folder / "x.ptx").write_bytes(data)
        said = project("x.ptx", "-o", "y.ptx", code=1)
        assert said == f"x.ptx: error: this is no PTX: {why}\n"
        assert not (project.folder / "y.ptx").exists()


def test_ptx_without_markers(project: Project) -> None:
    project("k.cu", "-arch=sm_90", "-o", "off.ptx", "--ccc-off")
    said = project("off.ptx", "-o", "out.ptx")
    assert said == (
        "off.ptx: warning: nothing is marked in this PTX; it stays as it is, and "
        "cccc -ptx --ccc-mark-only makes marked PTX of annotated CUDA\n"
    )
    assert project.read("out.ptx") == project.read("off.ptx")
    assert "demands" in project("off.ptx", "-o", "strict.ptx", "--ccc-strict", code=1)
    assert project("off.ptx", "-arch=sm_90", "-cubin", "-o", "out.cubin", "--ccc-off") == ""


def test_a_report_that_cannot_be_written_is_told_before_the_work(project: Project) -> None:
    (project.folder / "folder").mkdir()
    for arguments in (("k.cu", "-c", "-o", "k.o"), ("k.cu", "-ptx", "-o", "k.o")):
        said = project(*arguments, "--ccc-report=folder", code=1)
        assert said == (
            "folder: error: this is a folder; "
            "give --ccc-report=folder/ for a report of each command in it\n"
        )
        assert not (project.folder / "k.o").exists()


def test_a_report_behind_a_link(project: Project) -> None:
    (project.folder / "link").symlink_to("r.json")
    assert project("k.cu", "-arch=sm_90", "-o", "k.ptx", "--ccc-report=link") == ""
    assert (project.folder / "link").is_symlink()
    assert json.loads(project.read("r.json"))["kernels"]


@pytest.mark.slow
def test_closed_standard_input(project: Project) -> None:
    code = "import sys; from ccc.cli import cccc; sys.exit(cccc(sys.argv[1:]))"
    command = f'{sys.executable} -c "$CODE" k.cu -arch=sm_90 -o k.ptx <&-'
    subprocess.run(
        ["bash", "-c", command], cwd=project.folder, env={**os.environ, "CODE": code}, check=True
    )
    assert (project.folder / "k.ptx").exists()


CALLER = """\
namespace table {
#pragma ccc callable
extern __device__ float field(float x);
}
__global__ void bend(const float *x, float *y, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        #pragma ccc if strategy(queue)
        if (x[i] > 0) y[i] = table::field(x[i]);
    }
}
int main() { bend<<<1, 64>>>(0, 0, 0); }
"""
CALLEE = "namespace table { __device__ float field(float x) { return x * x; } }\n"


@pytest.mark.slow
def test_a_program_that_calls_what_another_file_promises(project: Project) -> None:
    project.write("main.cu", CALLER)
    project.write("field.cu", CALLEE)
    options = ["-arch=sm_90", "-rdc=true", "-o", "program", "--ccc-strict"]
    assert project("main.cu", "field.cu", *options) == ""
    assert (project.folder / "program").exists()


@pytest.mark.slow
def test_kernels_of_a_template_that_two_files_use_share_one_stack(project: Project) -> None:
    """The linker keeps one of the kernels, but adds up what is declared inside of each."""
    project.write("scale.cuh", TEMPLATE)
    project.write("a.cu", '#include "scale.cuh"\nvoid other();\nint main() { use(); other(); }\n')
    project.write("b.cu", '#include "scale.cuh"\nvoid other() { use(); }\n')
    project("a.cu", "b.cu", "-arch=sm_90", "-rdc=true", "-o", "program", "--ccc-strict")
    project("a.cu", "-arch=sm_90", "-rdc=true", "-ptx", "-o", "a.ptx")
    declared = r"\.weak \.shared .*context_stack_\d+_\w+\[(\d+)\];"
    (size,) = re.findall(declared, project.read("a.ptx"))
    assert 2 * int(size) > LEAST_SHARED_MEMORY


LEAST_SHARED_MEMORY = 48 * 1024
TEMPLATE = """\
template <class T> static __device__ T roots(T v) {
    for (int j = 0; j < 100; j++) v = T(0.5) * (v + T(2) / v);
    return v;
}
template <class T> __global__ void scale(const T *__restrict__ x, T *__restrict__ y, int n) {
#pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        T v = x[i];
#pragma ccc if prob(0.1)
        if (v > T(0.5)) y[i] = roots(v);
    }
}
static void use() { scale<float><<<1, 32>>>(nullptr, nullptr, 0); }
"""
