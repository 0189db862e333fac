"""Finding a toolkit, hooking it, the shims, and compiling from Python."""

from __future__ import annotations

import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ccc.compiler import transform as compiler
from ccc.compiler import weighing
from ccc.compiler.launchable import Launchable
from ccc.compiler.said import DevicePass
from ccc.errors import CccError, Span
from ccc.frontend.marking import strip
from ccc.ir.markers import parse_marker
from ccc.nvcc import cicc as shim
from ccc.nvcc import run as nvcc
from ccc.options import Options
from ccc.remark import Remark
from ccc.toolkit import find as toolchain
from ccc.toolkit.hook import hook

pytestmark = pytest.mark.usefixtures("few_headers")

PROFILE = """
TOP              = $(_HERE_)/..
CICC_PATH        = $(TOP)/nvvm/bin
PATH            += $(CICC_PATH):$(_HERE_):
LIBRARIES        =+ $(_SPACE_) "-L$(TOP)/$(_TARGET_DIR_)/lib$(_TARGET_SIZE_)"
"""
SAYS = "#!/bin/sh\nprintf '#$ _HERE_=%s\\n#$ CICC_PATH=%s\\n' '{bin}' '{bin}/../nvvm/bin' >&2\n"

SOURCE = """\
__global__ void k(float *x, int n) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = x[i];
        #pragma ccc if prob(1.0/8)
        if (v > 0.f) {
            for (int j = 0; j < 100; j++) v = v * v + 3.f;
            x[i] = v;
        }
    }
}
"""


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The bin folder of a toolkit, the only one there is; its nvcc only says where it lives."""
    for name in ("CCC_NVCC", "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CCC_CACHE_DIR", str(tmp_path / "cache dir"))
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site")])
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:/usr/bin:/bin")
    folder = tmp_path / "tool kit" / "bin"
    executable(folder / "nvcc", SAYS.format(bin=folder))
    executable(folder / "ptxas", "")
    (folder / "nvcc.profile").write_text(PROFILE)
    return folder


def test_no_toolkit(fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CccError, match=r"pip install .cuda-toolkit\[nvcc,cudart,cccl\]==13\.0"):
        toolchain.find()
    assert toolchain.find(str(fake / "nvcc")).bin == fake


@pytest.mark.parametrize("variable", ["CCC_NVCC", "CUDA_HOME", "CUDA_PATH"])
def test_a_toolkit_named_by_a_variable(
    fake: Path, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = fake / "nvcc" if variable == "CCC_NVCC" else fake.parent
    monkeypatch.setenv(variable, str(named))
    assert toolchain.find().nvcc == fake / "nvcc"


def test_a_wrapper_on_the_path(fake: Path, tmp_path: Path) -> None:
    executable(tmp_path / "path" / "nvcc", f"#!/bin/sh\nexec '{fake}/nvcc' \"$@\"\n")
    assert toolchain.find().bin == fake


def test_what_is_found_but_cannot_be_used_is_named(fake: Path, tmp_path: Path) -> None:
    broken = executable(tmp_path / "path" / "nvcc", "#!/bin/sh\necho 'no gcc' >&2\nexit 1\n")
    with pytest.raises(
        CccError, match=f"no nvcc that was found can be used: {broken}: no gcc; point CCC_NVCC"
    ):
        toolchain.find()
    executable(broken, f"#!/bin/sh\nexec '{fake}/nvcc' \"$@\"\n")
    assert toolchain.find().bin == fake


def test_wheels(fake: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "site" / "nvidia" / "cu13" / "bin"
    executable(wheel / "nvcc", (fake / "nvcc").read_text())
    assert toolchain.find().bin == fake


def test_what_was_asked_for_must_work(fake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_HOME", str(fake.parent))
    told = f"#!/bin/sh\necho 'ccc: error: {toolchain.CCCC}' >&2\nexit 1\n"
    cccc = executable(fake / "cccc", told)
    fails = executable(fake / "fails", "#!/bin/sh\necho one >&2\necho 'no licence' >&2\nexit 3\n")
    for wrong, why in {
        "/no/such/nvcc": "there is no such file",
        "no-such-nvcc": "there is no such file",
        "/etc/passwd": "it is no program",
        "/bin/true": "it does not answer as nvcc does",
        str(fails): "no licence",
        str(cccc): "it is cccc, which needs the real nvcc",
    }.items():
        monkeypatch.setenv("CCC_NVCC", wrong)
        with pytest.raises(CccError, match=f"{wrong} is no usable nvcc: {why}; point CCC_NVCC"):
            toolchain.find()


def test_a_program_is_asked_once_and_a_script_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    toolkit = toolchain.Toolkit(tmp_path, tmp_path)

    def answer(nvcc: str) -> toolchain.Toolkit:
        asked.append(nvcc)
        return toolkit

    monkeypatch.setattr(toolchain, "_ask", answer)
    (tmp_path / "nvcc.profile").touch()
    nvcc = tmp_path / "nvcc"
    for content, times in {"\x7fELF": 1, "\x7fELF, a later one": 1, "#!/bin/sh\n": 2}.items():
        asked.clear()
        nvcc.write_text(content)
        assert [toolchain.ask(str(nvcc)) for _ in range(2)] == [toolkit] * 2
        assert len(asked) == times


def test_the_hook(fake: Path) -> None:
    toolkit = toolchain.find(str(fake / "nvcc"))
    with ThreadPoolExecutor() as pool:
        (hooked,) = set(pool.map(lambda _: hook(toolkit), range(8)))
    home = hooked.parent.parent
    assert hooked.resolve() == fake / "nvcc"
    assert [path.name for path in home.parent.iterdir()] == [home.name]
    profile = (home / "bin" / "nvcc.profile").read_text()
    assert f"TOP              = {fake}/..\n" in profile
    assert "CICC_PATH = $(CCC_SHIMS)\n" in profile
    assert f'"-L{fake.parent / "lib"}"' in profile  # the wheels have no lib64
    assert os.access(home / "shims" / "cicc", os.X_OK)
    (fake.parent / "lib64").mkdir()
    assert hook(toolkit) != hooked


def test_a_cache_that_cannot_be_written(fake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCC_CACHE_DIR", "/dev/null/cache")
    with pytest.raises(CccError, match="CCC_CACHE_DIR"):
        hook(toolchain.find(str(fake / "nvcc")))


# The shims, with a cicc that copies its input and a pass that follows what the test says.

DECLARED = r"s/static __attribute__((shared)) volatile char \w*; //g"
READ = r"s/(void)+\(ccc_marker_\w*\);/\nld.volatile.shared.u8 %rs1, [\1];\n/"
CICC = f"""\
#!/bin/sh
for last; do :; done
echo run >>"$LOG"
exec sed '{DECLARED};{READ}' "$1" >"$last"
"""
TWO_PATHS = """\
#pragma ccc for
for (;;) {
#pragma ccc if
if (a) b();
#pragma ccc if
if (c) d();
}
"""


class Shim:
    """Runs the cicc shim in this process; ``refuse`` holds the lines of paths to be left."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch):
        self.refuse: set[int] = set()
        self.folder = folder
        self.monkeypatch = monkeypatch
        self.output = folder / "k.ptx"
        monkeypatch.setenv("LOG", str(folder / "log"))
        monkeypatch.setattr(compiler, "transform", self.transform)
        monkeypatch.setattr(weighing, "keep_launchable", lambda _, ptx, *__: Launchable(ptx))

    def transform(self, ptx: str, *_: Any, **__: Any) -> compiler.Transformed:
        markers = [marker for text in re.split('["\n]', ptx) if (marker := parse_marker(text))]
        remarks = [
            Remark.missed_at(marker, "k", "no")
            if marker.span.line in self.refuse
            else Remark.applied_to(marker, "k", "queue", {})
            for marker in markers
            if marker.kind == "then"
        ]
        return compiler.Transformed("transformed\n" + ptx, {"k": remarks})

    def __call__(self, text: str, *more: str, tool: str = CICC, **options: Any) -> int:
        real = executable(self.folder / "real" / "cicc", tool)
        given = self.folder / "k.cpp1.ii"
        given.write_text(text)
        arguments = ["--orig_src_file_name", "k.cu", "-arch", "compute_90", *more]
        command = [str(given), *arguments, "-o", str(self.output)]
        told = Options(folder=str(self.folder), **options)
        for name, value in told.environment().items():
            self.monkeypatch.setenv(name, value)
        code = shim.main(str(real), command)
        assert given.read_text() == text
        return code

    @property
    def said(self) -> DevicePass:
        (one,) = DevicePass.load(str(self.folder))
        return one

    @property
    def runs(self) -> int:
        return (self.folder / "log").read_text().count("run")


@pytest.fixture
def cicc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shim:
    return Shim(tmp_path, monkeypatch)


def test_the_shim_marks_and_transforms(cicc: Shim) -> None:
    assert cicc(TWO_PATHS) == 0
    assert cicc.output.read_text().startswith("transformed\n")
    assert "for (;;) { asm volatile" in cicc.output.read_text()
    assert "\n// ccc.then 3 k.cu:5:1\n" in cicc.output.read_text()
    assert cicc.said.unit == ("", "compute_90")
    assert [remark.position.line for remark in cicc.said.remarks["k"]] == [3, 5]
    assert cicc.runs == 1


def test_a_refused_path_is_compiled_without_its_marker(cicc: Shim) -> None:
    cicc.refuse = {3}
    assert cicc(TWO_PATHS) == 0
    text = cicc.output.read_text()
    assert "ccc.for 1" in text
    assert "ccc.then 3" in text
    assert "ccc.then 2" not in text
    applied = {remark.position.line: remark.applied for remark in cicc.said.remarks["k"]}
    assert applied == {3: False, 5: True}
    assert cicc.said.diagnostics == ["k.cu:3:1: warning: path left as it was: no [in k]"]
    assert cicc.runs == 2


def test_code_all_of_whose_paths_are_refused_is_nvccs(cicc: Shim) -> None:
    cicc.refuse = {3, 5}
    assert cicc(TWO_PATHS) == 0
    assert cicc.output.read_text() == strip(TWO_PATHS)
    assert len(cicc.said.remarks["k"]) == 2


def test_a_refused_path_fails_under_strict(cicc: Shim) -> None:
    cicc.refuse = {3, 5}
    assert cicc(TWO_PATHS, strict=True) == 1
    assert not cicc.output.exists()
    assert [text.split(": ", 1)[1] for text in cicc.said.diagnostics] == [
        "error: path left as it was: no [in k]"
    ] * 2
    assert "--ccc-strict" in (cicc.said.error or "")


def test_a_wrong_annotation_fails(cicc: Shim, capfd: pytest.CaptureFixture[str]) -> None:
    assert cicc("#pragma ccc fro\n") == 1
    assert "unknown directive" in (cicc.said.error or "")
    assert not cicc.output.exists()
    assert capfd.readouterr() == ("", "")


def test_ptx_that_cannot_be_read_fails(cicc: Shim, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise CccError("not PTX", Span("k.ptx", 3))

    monkeypatch.setattr(compiler, "transform", broken)
    assert cicc(TWO_PATHS) == 1
    assert cicc.said.error == "k.ptx:3: error: not PTX"
    assert sorted(p.name for p in cicc.folder.glob("*.ptx*")) == []


def test_the_exit_status_of_the_tool(cicc: Shim) -> None:
    assert cicc(TWO_PATHS, tool="#!/bin/sh\nexit 7\n") == 7
    assert not DevicePass.load(str(cicc.folder))


def test_off_only_removes_the_pragmas(cicc: Shim) -> None:
    assert cicc(TWO_PATHS, off=True) == 0
    assert cicc.output.read_text() == strip(TWO_PATHS)


def test_link_time_optimisation_is_refused(cicc: Shim) -> None:
    assert cicc(TWO_PATHS, "-olto", "k.ltoir") == 1
    assert "link-time" in (cicc.said.error or "")


def test_reports_are_merged_in_one_order(tmp_path: Path) -> None:
    for arch in ("compute_90", "compute_80"):
        one = DevicePass(("/a.cu", arch), {"k": []}, ["same"])
        one.save(str(tmp_path))
    merged = nvcc.merge(DevicePass.load(str(tmp_path)), 0)
    assert [kernel["arch"] for kernel in merged.report["kernels"]] == ["compute_80", "compute_90"]
    assert merged.diagnostics == ["same"]


def test_options_travel(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Options(
        strict=True, max_block=256, print_after=("a", "b"), use=("p", "q"), folder="/x y"
    )
    for name, value in told.environment().items():
        monkeypatch.setenv(name, value)
    assert Options.received() == told


# With the real nvcc.


@pytest.fixture
def real(shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCC_CACHE_DIR", str(shared_cache))
    try:
        toolchain.find()
    except CccError as error:
        pytest.skip(error.message)


@pytest.mark.slow
@pytest.mark.usefixtures("real")
def test_compile_from_text() -> None:
    compiled = nvcc.compile(SOURCE)
    assert ".target sm_90" in compiled.ptx
    assert "ccc" not in compiled.original
    (kernel,) = compiled.report["kernels"]
    (path,) = kernel["paths"]
    assert (path["file"], path["line"], path["column"]) == ("source.cu", 5, 9)
    assert path["applied"], path["reason"]
    assert compiled.ptx != compiled.original
    assert compiled.diagnostics == []
    json.dumps(compiled.report)


@pytest.mark.slow
@pytest.mark.usefixtures("real")
def test_compile_from_a_file_with_a_space_in_its_name(tmp_path: Path) -> None:
    path = tmp_path / "a k.cu"
    path.write_text(SOURCE)
    compiled = nvcc.compile(path, "sm_80", ["-lineinfo"])
    assert ".target sm_80" in compiled.ptx
    assert compiled.report["kernels"][0]["paths"][0]["file"] == str(path)


UNSET = """\
__device__ __noinline__ bool root(float x, float *y) { *y = sqrtf(x); return x > 0; }
__device__ bool bend(float x, float &y) { if (x > 0.6f) y = x * x; return x > 0.6f; }
__global__ void k(float *x, int n) {
    BEFORE
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        INSIDE
        float a = x[i];
        #pragma ccc while
        for (int k = 0; k < 50 && a > 0.01f; k++) a = bend(a, v) || x[i + k] < a ? a * 0.7f : v;
        x[i] = a;
    }
}
__global__ void address(float *x, int n) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v;
        #pragma ccc if
        if (i % 3) x[i] = root(x[i], &v) ? v : 0;
    }
}
"""


@pytest.mark.slow
@pytest.mark.usefixtures("real")
@pytest.mark.parametrize(("before", "inside"), [("", "float v;"), ("float v;", "")])
def test_a_variable_without_a_value_is_carried_where_it_is_declared_outside(
    before: str, inside: str
) -> None:
    text = UNSET.replace("BEFORE", before).replace("INSIDE", inside)
    compiled = nvcc.compile(text, strategy="collect")
    applied = {k["name"]: k["paths"][0]["applied"] for k in compiled.report["kernels"]}
    assert applied == {"_Z1kPfi": bool(inside), "_Z7addressPfi": True}
    assert len(compiled.diagnostics) == (not inside)


@pytest.mark.slow
@pytest.mark.usefixtures("real")
@pytest.mark.parametrize(
    ("sizes", "told"),
    [("", ["3:5: warning: no code is left of this: nothing in the file uses this kernel, or it has"
           " no effect"]),
     ("1", ["6:9: warning: no code is left of this path: the compiler found that it is never"
            " taken; remove the annotation [in k]"]),
     ("18", [])],
)  # fmt: skip
def test_a_path_that_is_never_taken_is_told(sizes: str, told: list[str]) -> None:
    text = "template <int N>\n" + SOURCE.replace("(v > 0.f)", "(N > 4 && v > 0.f)")
    text += "".join(f"template __global__ void k<{n}>(float *, int);\n" for n in sizes)
    said = [line.partition("\n")[0] for line in nvcc.compile(text).diagnostics]
    assert said == [f"source.cu:{line}" for line in told]


@pytest.mark.slow
@pytest.mark.usefixtures("real")
def test_what_nvcc_says_is_raised() -> None:
    with pytest.raises(CccError, match=r"source\.cu\(1\): error: .*not_declared"):
        nvcc.compile("__global__ void k() { not_declared(); }\n")
    with pytest.raises(CccError) as caught:
        nvcc.compile("__global__ void k() {\n#pragma ccc fro\n}\n")
    assert str(caught.value).startswith("source.cu:2:13: error: unknown directive")


@pytest.mark.slow
@pytest.mark.usefixtures("real")
def test_the_lines_that_nvcc_shows_are_the_users_own() -> None:
    wrong = SOURCE.replace("x[i] = v;", "x[i] = v +;").replace("for (int j", "z = 1; for (int j")
    with pytest.raises(CccError) as caught:
        nvcc.compile(wrong.replace("{\n            z", "{ z"))
    said = str(caught.value).split("\n")
    place = said.index(
        "          if (v > 0.f) { z = 1; for (int j = 0; j < 100; j++) v = v * v + 3.f;"
    )
    assert said[place].index("z = 1") == said[place + 1].index("^")
    place = said.index("              x[i] = v +;")
    assert said[place].index(";") == said[place + 1].index("^")
    assert "asm" not in str(caught.value)


def test_a_source_of_one_line() -> None:
    assert ".entry _Z1kv" in nvcc.compile("__global__ void k() {}").ptx


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        ("kernel_that_is_not.cu", [], "kernel_that_is_not.cu: error: there is no such file"),
        ("", [], "the source is empty; it is a path, or CUDA text"),
        (" \n", [], "the source is empty; it is a path, or CUDA text"),
        ("{\ud800}", [], r"source\.cu:1: error: '\\ud800' cannot be written in UTF-8"),
        (SOURCE, "-O3", r'sequence of strings: \["-O3"\]'),
        (SOURCE, ["--ccc-strict"], "--ccc-strict is for cccc and ccc.RawModule, and here go nvcc"),
    ],
)
def test_wrong_arguments_of_compile(source: str, options: Any, said: str) -> None:
    with pytest.raises(CccError, match=said):
        nvcc.compile(source, "sm_90", options)
