"""The command ``cccc``, and the toolbox ``ccc`` around its tools."""

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

from ccc import cli
from ccc.errors import CccError
from ccc.nvcc import command as driver
from ccc.nvcc import run as nvcc
from ccc.nvcc import words
from ccc.options import Options
from ccc.toolkit import find as toolchain
from ccc.version import VERSION

__all__ = ["project"]

pytestmark = pytest.mark.usefixtures("few_headers")

# What can be told without nvcc.


def test_our_options_are_taken_out() -> None:
    command = driver.parse(
        [
            "--ccc-strict",
            "k.cu",
            "--ccc-report=r.json",
            "-O3",
            "--ccc-max-block=256",
            "--ccc-dynamic-shared=100",
            "--ccc-callee-shared=2KB",
            "--ccc-shared-limit=227k",
            "--ccc-strategy=merge",
            "--ccc-print-after=context-collection",
        ]
    )
    assert command.arguments == ["k.cu", "-O3"]
    assert command.report == "r.json"
    assert command.options == Options(
        measure=True,
        strict=True,
        max_block=256,
        strategy="merge",
        dynamic_shared=100,
        callee_shared=2048,
        shared_limit=232448,
        print_after=("context-collection",),
    )


def test_profiles_are_counted_and_used(tmp_path: Path) -> None:
    (tmp_path / "p.json").touch()
    use = f"--ccc-use={tmp_path / 'p.json'}"
    counting = driver.parse(["--ccc-profile=q.json", use, use, "k.cu"]).options
    assert (counting.profile, counting.transforms) == ("q.json", False)
    assert counting.use == (str(tmp_path / "p.json"),) * 2
    also = driver.parse(["--ccc-profile=q.json", "--ccc-profile-transformed", "k.cu"]).options
    assert also.transforms


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("--ccc-use=none.json", "--ccc-use=none.json: there is no such file"),
        ("--ccc-decisions=none.json", "--ccc-decisions=none.json: there is no such file"),
        ("--ccc-profile-transformed", "give --ccc-profile=FILE"),
        ("--cc-strict", 'unknown option "--cc-strict"; did you mean "--ccc-strict"?'),
        ("--ccc-strct", 'unknown option "--ccc-strct"; did you mean "--ccc-strict"?'),
        ("--ccc-report", "--ccc-report needs a value: --ccc-report=FILE"),
        ("--ccc-off=1", "--ccc-off takes no value"),
        ("--ccc-max-block=2k", "a block holds 1 to 1024 threads"),
        ("--ccc-callee-shared=2m", "--ccc-callee-shared=2m: a number of bytes is wanted, or of KB"),
        ("--ccc-shared-limit=a", "--ccc-shared-limit=a: a number of bytes is wanted"),
        ("--ccc-shared-limit=228K", "233472 bytes: a block has 227 KB (232448 bytes) on sm_90"),
        ("--ccc-strategy=merg", 'did you mean "merge"?'),
        ("--ccc-print-after=foo", 'no pass is called "foo"; known are recursion, '),
        ("--ccc-print-after=collection", 'did you mean "context-collection"?'),
    ],
)
def test_wrong_options(option: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.cccc([option, "k.cu"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("ccc: error: ")
    assert expected in said


def test_what_is_not_transformed_cannot_be_counted(capsys: pytest.CaptureFixture[str]) -> None:
    counting = ["--ccc-profile=p.json", "--ccc-profile-transformed"]
    for option in ("--ccc-off", "--ccc-mark-only"):
        assert cli.cccc([option, *counting, "k.cu"]) == 2
        assert f"ccc: error: {option} " in capsys.readouterr().err


@pytest.mark.parametrize("variable", ["CCC_FLAGS", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"])
@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("--ccc-strct", 'unknown option "--ccc-strct"; did you mean "--ccc-strict"?'),
        ("--ccc-strategy=merg", '--ccc-strategy=merg: did you mean "merge"?'),
    ],
)
def test_a_wrong_option_in_a_variable_is_told_with_its_name(
    variable: str, option: str, expected: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv(variable, option)
    assert cli.cccc(["k.cu", "--ccc-strict"]) == 2
    assert capsys.readouterr().err == f"ccc: error: {variable}: {expected}\n"


@pytest.mark.parametrize(
    ("arguments", "phase"),
    [
        (["k.cu", "-o", "k.ptx"], ["-ptx"]),
        (["k.cu", "--output-file=a/k.cubin"], ["-cubin"]),
        (["k.cu", "-c", "-o", "k.ptx"], []),
        (["k.cu", "--fatbin", "-o", "k.cubin"], []),
        (["k.cu", "-o", "k.o"], []),
        (["k.cu"], []),
    ],
)
def test_the_phase_that_a_name_asks_for(arguments: list[str], phase: list[str]) -> None:
    assert words.with_phase(arguments, arguments) == [*phase, *arguments]


def test_version_and_help(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.cccc(["--ccc-version"]) == 0
    assert capsys.readouterr().out == f"ccc {VERSION}\n"
    assert cli.cccc(["--ccc-help"]) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in driver.OPTIONS)
    assert max(map(len, said.splitlines())) <= 80
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"ccc {VERSION}\n"
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--help"])
    said = capsys.readouterr().out
    assert "`" not in said
    assert "cccc --ccc-help" in said
    assert all(name in said for name in cli.TOOLS)


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("explian", '; did you mean "explain"?'),
        ("Report", '; did you mean "report"?'),
        ("qqqq", "; known are agree, bench, compare,"),
        ("kernel.cu", "; the compiler is cccc"),
    ],
)
def test_a_tool_that_there_is_not(word: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([word, "--help"]) == 2
    assert f'ccc: error: there is no tool "{word}"{hint}' in capsys.readouterr().err


def test_each_name_of_an_option_is_known(tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text("")
    for name in ("-o", "--output", "--outp"):
        words = ["graph", str(tmp_path / "k.ptx"), name, str(tmp_path / "g.dot")]
        assert cli.main(words) == 1  # since that is no PTX


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("emulate --kernle x k.ptx", 'ccc emulate takes no "--kernle"; did you mean "--kernel"?'),
        ("tune --bild make -- ./a --run", 'ccc tune takes no "--bild"; did you mean "--build"?'),
        ("tune -- ./a --bild", "the following arguments are required: --build"),
        ("fuzz --first -1", 'argument --first: a number from 0 on is wanted, not "-1"'),
        ("fuzz --count x", 'argument --count: a number from 1 on is wanted, not "x"'),
        ("fuzz --keep k.ptx", "--keep=k.ptx: k.ptx is a file; failing kernels go into a folder"),
        ("fuzz --keep k.ptx/a/b", "--keep=k.ptx/a/b: k.ptx is a file; failing"),
        ("compare . --size -3", 'argument --size: a number from 0 on is wanted, not "-3"'),
        ("compare . --seed x", 'argument --seed: a number from 0 on is wanted, not "x"'),
        ("graph k.ptx --path x", 'argument --path: a number from 1 on is wanted, not "x"'),
        ("compare . --use no.json", "--use=no.json: there is no such file; a program compiled"),
        ("compare . --arch 90", '--arch: an architecture such as sm_90 is wanted, not "90"'),
        ("graph k.ptx --arch 90", '--arch: an architecture such as sm_90 is wanted, not "90"'),
        ("tune --builds 0", 'argument --builds: a number from 1 on is wanted, not "0"'),
        ("emulate k.ptx --kernel nope", "--kernel=nope: there is no kernel nope, only k"),
        ("report --lines=3 p.json", 'ccc report takes no "--lines"'),
        ("emulate k.cu", "k.cu is a source; cccc -ptx makes PTX of it"),
        ("emulate k.ptx --arg {i32:5", "--arg {i32:5: a structure is written"),
        ("explain", "no file is given"),
        ("explain k.cu -o k.svg", "what is written is a page"),
        ("graph k.cu -o k.png", "give -o NAME.dot"),
        ("compare . --strategy queu", '--strategy=queu: did you mean "queue"?'),
        ("profile p.json", 'there is no action "p.json"; ccc report FILE prints a profile'),
        ("report", "the following arguments are required: FILE"),
    ],
)
def test_a_wrong_command_line_ends_with_2(
    words: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    kernel = ".entry k(.param .align 4 .b8 s[4]) { ret; }\n"
    Path("k.ptx").write_text(".version 9.0\n.target sm_90\n.address_size 64\n" + kernel)
    try:
        status = cli.main(words.split())
    except SystemExit as raised:  # by argparse
        status = int(raised.code or 0)
    assert (status, told in capsys.readouterr().err) == (2, True)


@pytest.mark.parametrize(
    ("target", "most"),
    [
        (["-arch=sm_86"], 99),
        (["-arch", "sm_75"], 64),
        (["-gencode=arch=compute_75,code=sm_75", "-gencode=arch=compute_80,code=sm_80"], 163),
        (["-arch=native"], 227),
    ],
)
def test_a_block_gets_what_the_largest_of_the_devices_has(target: list[str], most: int) -> None:
    assert driver.parse([*target, f"--ccc-shared-limit={most}K"]).options.shared_limit
    with pytest.raises(driver.UsageError, match=f"a block has {most} KB"):
        driver.parse([*target, f"--ccc-shared-limit={most * 1024 + 1}"])


def test_cccc_in_place_of_nvcc(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(toolchain.RESOLVING, "1")
    assert cli.cccc(["k.cu"]) == 1
    assert "set CCC_NVCC" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (CccError("it is so"), 1, "ccc: error: it is so\n"),
        (KeyboardInterrupt(), 130, ""),
        (FileNotFoundError(2, "No", "k.cu"), 1, "ccc: error: k.cu: there is no such file\n"),
    ],
)
def test_failures_end_in_one_message(
    error: BaseException,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def run(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(nvcc, "run", run)
    assert cli.cccc(["k.cu", "--ccc-max-block=32"]) == code
    assert capsys.readouterr().err == said


def test_a_reader_that_goes_away() -> None:
    code = (
        "import sys\nfrom ccc import cli\nfrom ccc.nvcc import command as driver\n"
        "driver.usage = lambda: 'x' * 10**6\nsys.exit(cli.cccc(['--ccc-help']))"
    )
    command = f'{sys.executable} -c "$CODE" | head -c 1; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(
        ["bash", "-c", command], env={**os.environ, "CODE": code}, capture_output=True, check=False
    )
    assert done.returncode == 141
    assert done.stderr == b""


# With nvcc.


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
        "off.ptx: warning: nothing is marked in this PTX, which stays as it is; "
        "cccc -ptx --ccc-mark-only makes marked PTX of annotated CUDA\n"
    )
    assert project.read("out.ptx") == project.read("off.ptx")
    assert "demands" in project("off.ptx", "-o", "strict.ptx", "--ccc-strict", code=1)
    assert project("off.ptx", "-arch=sm_90", "-cubin", "-o", "out.cubin", "--ccc-off") == ""


def test_a_report_that_cannot_be_written_is_told_before_the_work(project: Project) -> None:
    (project.folder / "folder").mkdir()
    for arguments in (("k.cu", "-c", "-o", "k.o"), ("k.cu", "-ptx", "-o", "k.o")):
        said = project(*arguments, "--ccc-report=folder", code=1)
        assert said == "folder: error: cannot write the file: it is a folder\n"
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
