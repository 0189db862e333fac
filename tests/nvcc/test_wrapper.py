"""A wrapper that tells no lies: whatever a build does, it gets what it asked for, or is told."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from nvcc_project import KERNEL, REFUSED, Project, project

from ccc.nvcc import settings, words
from ccc.options import Options
from ccc.toolkit import find as toolchain
from ccc.toolkit import hook, places

__all__ = ["project"]

pytestmark = pytest.mark.usefixtures("few_headers")

PLAIN = "__global__ void plain(int *x) { x[0] = 1; }\n"
HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
ARCH = "-arch=sm_90"


# What can be told without nvcc.


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["k.cu", "-c"], True),
        (["k.cpp", "-x", "cu", "-dc"], True),
        (["k.cu", "-E"], False),
        (["k.cu", "-MM"], False),
        (["k.o", "-dlink"], False),
        (["k.o", "-lib"], False),
        (["k.cu", "-dlink"], True),
        (["k.cu", "-lib"], True),
        (["k.cu", "-cuda"], True),
        (["k.o", "l.o", "-o", "k.cu.x"], False),
        (["k.cu", "--dryrun"], False),
    ],
)
def test_what_compiles_device_code(arguments: list[str], expected: bool) -> None:
    assert words.compiles(arguments) is expected


def test_what_is_asked_for_makes_a_compiler_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    file.write_text("{}")
    options = Options(strategy="merge", use=(str(file),))
    first = settings.shell_settings(options)
    assert settings.shell_settings(options) == first != settings.shell_settings(Options())
    file.write_text("{ }")
    assert settings.shell_settings(options) != first


def test_a_script_that_chooses_is_asked_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CCC_CACHE_DIR", str(tmp_path))
    home, real, script = tmp_path / "home", tmp_path / "real", tmp_path / "nvcc"
    real.mkdir()
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "nvcc").touch()
    program = real / "nvcc"
    program.write_bytes(b"\x7fELF")
    (real / "nvcc.profile").touch()
    for text, known in {
        f'#!/bin/sh\nexec {program} "$@"\n': True,
        f'#!/bin/sh\nexec "$CHOICE" {program} "$@"\n': False,
    }.items():
        script.write_text(text)
        monkeypatch.setenv("CCC_NVCC", str(script))
        places.remember(str(home))
        assert places.recall() == (str(home) if known else None)
    monkeypatch.setenv("CCC_NVCC", str(program))
    places.remember(str(home))
    assert places.recall() == str(home)
    program.write_bytes(b"\x7fELF, a later one")
    assert places.recall() is None


# With nvcc.


def test_what_is_wrong_in_the_environment_is_told(project: Project) -> None:
    said = project("k.cu", "-ptx", NVCC_APPEND_FLAGS="--no-such", code=1)
    assert said == "nvcc fatal   : Unknown option '--no-such'\n"
    said = project("k.cu", "-ptx", TMPDIR="/no/such", code=1)
    assert said.startswith("nvcc fatal   : Could not open output file '/no/such/")
    said = project("k.cu", CCC_NVCC="/no/such", code=1)
    assert said.startswith("ccc: error: /no/such is no usable nvcc: there is no such file;")


def test_cccc_under_the_name_of_nvcc(project: Project) -> None:
    fake = project.folder / "bin" / "nvcc"
    fake.parent.mkdir()
    fake.write_text(
        f"#!/bin/sh\nexec {sys.executable} -c "
        "'import sys; from ccc.cli import cccc; sys.exit(cccc())' \"$@\"\n"
    )
    fake.chmod(0o755)
    path = f"{fake.parent}:{os.environ['PATH']}"
    assert project("k.cu", ARCH, "-E", "-o", "k.ii", PATH=path) == ""
    said = project("k.cu", CCC_NVCC=str(fake), code=1)
    assert "bin/nvcc is no usable nvcc: it is cccc, which needs the real nvcc; " in said


@pytest.mark.slow
def test_a_report_is_that_of_a_compilation(project: Project) -> None:
    report = "--ccc-report=r.json"
    project("k.cu", ARCH, "-dc", "-o", "k.o", report)
    told = project.read("r.json")
    project("k.o", ARCH, "-dlink", "-o", "d.o", report)
    project("k.cu", "-E", "-o", "k.ii", report)
    project("k.cu", "-M", "-o", "k.d", report)
    project("k.o", "-lib", "-o", "k.a", report)
    assert project.read("r.json") == told
    for phase in ("-lib", "-cuda", "-dlink"):
        project("k.cu", ARCH, phase, "-o", "k.made", f"--ccc-report=r{phase}.json")
        assert project.read(f"r{phase}.json") == told


@pytest.mark.slow
def test_what_nvcc_reads_from_its_input_is_called_so(project: Project) -> None:
    words = ["-x", "cu", "-", ARCH, "-ptx", "-o", "k.ptx", "--ccc-report=r.json"]
    said = project(*words, given=REFUSED.replace("{name}", "k"))
    assert said.startswith("<stdin>:7:1: warning: path left as it was: ")  # nobody reads it twice
    assert "(<stdin>:10, PTX line " in said
    assert "tmpxft" not in said + project.read("r.json")
    said = project(*words, given=KERNEL.replace("ccc if\n", "ccc iff\n"), code=1)
    assert said.startswith('<stdin>:7:13: error: unknown directive "iff"; did you mean "if"?')


@pytest.mark.slow
def test_each_file_of_a_build_has_a_report_of_its_own(project: Project) -> None:
    project.write("other.cu", PLAIN)
    for name in ("other", "k", "other"):
        project(f"{name}.cu", ARCH, "-ptx", "-o", f"{name}.ptx", "--ccc-report=reports/")
    reports = sorted((project.folder / "reports").iterdir())
    assert [path.name.partition("-")[0] for path in reports] == ["k.ptx", "other.ptx"]
    assert [len(json.loads(path.read_text())["kernels"]) for path in reports] == [1, 0]


@pytest.mark.slow
def test_link_time_optimisation_is_refused_where_something_is_annotated(project: Project) -> None:
    said = project("k.cu", "-dc", "-arch=sm_90", "-dlto", "-o", "k.o", code=1)
    assert said.startswith("k.cu:4: error: link-time optimisation stores code that ccc does not")
    project.write("plain.cu", PLAIN)
    assert project("plain.cu", "-dc", "-arch=sm_90", "-dlto", "-o", "k.o") == ""


@pytest.mark.slow
def test_optix_ir_is_made_of_the_code_as_it_is(project: Project) -> None:
    said = project("k.cu", ARCH, "--optix-ir", "-o", "k.optixir")
    assert said.startswith("k.cu:4: warning: OptiX IR is made of the code as it is: ")
    assert (project.folder / "k.optixir").exists()
    said = project("k.cu", ARCH, "--optix-ir", "-o", "s.optixir", "--ccc-strict", code=1)
    assert said.startswith("k.cu:4: error: OptiX IR is made of the code as it is: ")


def test_a_dry_run_shows_what_is_asked_for(project: Project) -> None:
    """A tool that runs it itself finds a compiler that does so."""
    compilers = set()
    for flags in ([], ["--ccc-strict"], ["--ccc-strategy=merge"], ["--ccc-strict"]):
        said = project("k.cu", ARCH, "-ptx", "--dryrun", *flags, CCC_FLAGS="")
        (folder,) = [line[13:] for line in said.splitlines() if line.startswith("#$ CICC_PATH=")]
        compilers.add(folder)
    assert len(compilers) == 3
    told = [Path(folder, "cicc").read_text() for folder in compilers]
    assert sum('"strict": true' in text for text in told) == 1
    said = project("k.cu", "--dryrun", "--ccc-report=r.json", code=2)
    assert said.startswith("ccc: error: --ccc-report tells of a compilation that cccc runs; ")


@pytest.mark.slow
def test_what_a_dry_run_shows_can_be_run(project: Project) -> None:
    project.write("bad.cu", REFUSED.replace("{name}", "k"))
    said = project("bad.cu", ARCH, "-ptx", "-o", "k.ptx", "--dryrun", "--ccc-strict")
    lines = [line[3:] for line in said.splitlines() if line.startswith("#$ ")]
    script = "set -e\n"
    for line in lines:
        name, equals, value = line.partition("=")
        is_variable = equals and name.isidentifier()
        script += f"export {name}={shlex.quote(value)}\n" if is_variable else f"{line}\n"
    done = subprocess.run(
        ["sh", "-c", script], cwd=project.folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("bad.cu:7:9: error: path left as it was: ")
    assert not (project.folder / "k.ptx").exists()


@pytest.mark.slow
def test_results_behind_links_and_in_devices(project: Project) -> None:
    (project.folder / "link.ptx").symlink_to("real.ptx")
    project("k.cu", ARCH, "-ptx", "-o", "link.ptx")
    assert (project.folder / "link.ptx").is_symlink()
    assert ".entry" in project.read("real.ptx")
    project("link.ptx", "-ptx", "-o", "/dev/null")
    assert Path("/dev/null").is_char_device()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "locale"),
    [(b"k\xff.cu", "C"), ("ä k.cu".encode(), "C"), (b"a" * 200 + b"\xff.cu", "C.UTF-8")],
    ids=["bytes", "umlaut", "long"],
)
def test_odd_names(project: Project, name: bytes, locale: str) -> None:
    path = os.fsdecode(name)
    (project.folder / path).write_text(REFUSED.replace("{name}", "k"))
    python: Any = {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    said = project(path, ARCH, "-ptx", "-o", "x" * 250 + ".ptx", "--ccc-report=r.json", **python)
    assert f"{path}:7:9: warning: path left as it was: " in said
    (kernel,) = json.loads(project.read("r.json"))["kernels"]
    assert os.fsencode(kernel["paths"][0]["file"]) == name


@pytest.mark.slow
def test_errors_name_the_users_files(project: Project) -> None:
    bad = 'x[i] = v; asm volatile("bo gus (;");'
    project.write("bad.cu", KERNEL.replace("{name}", "k").replace("x[i] = v;", bad))
    said = project("bad.cu", ARCH, "-c", "-o", "k.o", code=255)
    assert "bad.cu:7:9: warning: path left as it was: <PTX of bad.cu>:" in said
    assert "this statement is not understood [in k]" in said
    assert "syntax error" in said  # so ptxas says
    project.write("m.ptx", f"{HEAD}.entry k() {{\n.reg .b32 %r<2>;\nsum.s32 %r1, 1, 2;\nret;\n}}\n")
    said = project("m.ptx", ARCH, "-cubin", "-o", "m.cubin", code=255)
    assert "ptxas m.ptx, line 6; " in said


@pytest.mark.slow
def test_the_status_is_nvccs(project: Project) -> None:
    project.write("k.cu", "__global__ void k() {\n#pragma ccc for\nfor (;;) x;\n}\n")
    real = str(toolchain.find().nvcc)
    done = subprocess.run(
        [real, "-c", "k.cu"], cwd=project.folder, capture_output=True, text=True, check=False
    )
    said = project("k.cu", "-c", code=done.returncode)
    assert 'k.cu(3): error: identifier "x" is undefined' in said


def is_over(process: str) -> bool:
    """Whether a process has ended, if perhaps nobody has asked how."""
    stat = Path("/proc", process, "stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_all_that_was_started(project: Project, number: int, tmp_path: Path) -> None:
    """A C++ compiler that waits stands for whatever runs longer."""
    # What runs the tests may ignore it, and so would its children.
    heeded = f"import signal; signal.signal({number}, signal.SIG_DFL); "
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    waiting = project.folder / "gcc"
    waiting.write_text("#!/bin/sh\necho $$ >waiting\nexec sleep 100\n")
    waiting.chmod(0o755)
    running = subprocess.Popen(
        [sys.executable, "-c", heeded + "import sys; from ccc.cli import cccc; sys.exit(cccc())",
         "k.cu", ARCH, "-ptx", "-ccbin", str(waiting), "-o", "k.ptx"],
        cwd=project.folder, env={**os.environ, "TMPDIR": str(temporary)},
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    file = project.folder / "waiting"
    while not (file.exists() and file.read_text().endswith("\n")):
        assert running.poll() is None
        time.sleep(0.02)
    running.send_signal(number)
    assert running.wait(20) == 128 + number
    assert is_over(file.read_text().strip())
    assert not list(temporary.glob("ccc-*"))
    assert not (project.folder / "k.ptx").exists()


@pytest.mark.parametrize("place", ["host.stripped", "tool.Process"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_that_comes_before_the_tool_runs_ends_its_stand_in_quietly(
    number: signal.Signals, place: str, tmp_path: Path
) -> None:
    code = (
        f"import os, signal\nsignal.signal({number:d}, signal.SIG_DFL)\n"
        "from ccc.nvcc import host, shim, tool\n"
        f"{place} = lambda *_: os.kill(os.getpid(), {number:d})\nshim.run()"
    )
    (tmp_path / "k.ii").write_text("")
    done = subprocess.run(
        [sys.executable, "-c", code, "cudafe++", "/bin/true", "k.ii"],
        cwd=tmp_path, env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in (-number, 128 + number)
    assert done.stderr == ""
    assert os.listdir(tmp_path) == ["k.ii"]


@pytest.mark.parametrize(("handler", "code"), [("default_int_handler", -2), ("SIG_IGN", 0)])
def test_an_interrupt_while_a_stand_in_loads_is_left_to_the_system(
    handler: str, code: int, tmp_path: Path
) -> None:
    package = tmp_path / "ccc" / "nvcc"
    package.mkdir(parents=True)
    for folder in (package.parent, package):
        (folder / "__init__.py").touch()
    (package / "shim.py").write_text("import os\nos.kill(os.getpid(), 2)\ndef run(): pass\n")
    launcher = f"import signal; signal.signal(2, signal.{handler})\n{hook._launcher()}"
    done = subprocess.run(
        [sys.executable, "-S", "-c", launcher],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (code, "")


def test_a_key_for_tools_that_keep_results(project: Project) -> None:
    plain = project("--ccc-key", CCC_FLAGS="")
    assert (
        project("--ccc-key", CCC_FLAGS="--ccc-strict")
        != plain
        == project("--ccc-key", CCC_FLAGS="")
    )
