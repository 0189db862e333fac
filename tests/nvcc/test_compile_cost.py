"""What compiling through cccc takes more than nvcc."""

from __future__ import annotations

import json
import os
import py_compile
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

import compile_cost
import pytest
from nvcc_project import Project, project

import ccc
from ccc import bytecode
from ccc.toolkit import find as toolchain

__all__ = ["project"]

pytestmark = pytest.mark.usefixtures("few_headers")

TWO = "two annotations"
HEAVY = ("argparse", "dataclasses", "json", "lark", "networkx", "pathlib", "tree_sitter", "typing")


def loaded_for_plain(project: Project, monkeypatch: pytest.MonkeyPatch, *options: str) -> list[str]:
    """What is loaded to compile a file without annotations.

    Time is what tests cannot rely on, so what is told is what takes it: what Python loads.
    """
    monkeypatch.delenv("CCC_FLAGS")
    project.write("plain.cu", compile_cost.sources()["no annotation"])
    command = ["plain.cu", "-arch=sm_90", "-ptx", "-o", "k.ptx", *options]
    project(*command)
    places = [str(Path(ccc.__file__).parents[1]), *sys.path]  # -S: no hook of an editable one
    code = (
        "import sys; before = set(sys.modules)\n"
        "from ccc.cli import cccc\n"
        "code = cccc(sys.argv[1:])\n"
        "print(*sorted(set(sys.modules) - before)); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {places!r}\n{code}", *command],
        cwd=project.folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.split()


def test_a_file_without_annotations_costs_little(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = loaded_for_plain(project, monkeypatch)
    assert "ccc.nvcc.front" in loaded
    assert not set(HEAVY) & set(loaded)
    assert len(loaded) < 45, loaded


def test_a_file_without_annotations_costs_little_with_an_option(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = loaded_for_plain(project, monkeypatch, compile_cost.OPTION)
    assert "ccc.nvcc.command" in loaded
    assert not any(one.startswith("ccc.frontend") for one in loaded)
    assert {"ccc.compiler", "ccc.compiler.said"} == {o for o in loaded if "ccc.compiler" in o}
    assert not {"argparse", "lark", "networkx", "tree_sitter"} & set(loaded)
    own = [one for one in loaded if one.startswith("ccc")]  # Python's differ by its version
    assert len(own) < 32, own


BEHIND_CICC = """
import subprocess, sys
from ccc.nvcc import device_pass
from ccc.compiler.said import DevicePass
from ccc.compiler.unit import translate
from ccc.frontend.marking import Annotated
from ccc.options import Options
loaded = set()
def compiler(marked, again):
    open("marked.cu", "w").write(marked)
    command = [sys.argv[1], "-ptx", "-arch=sm_90", "marked.cu", "-o", "marked.ptx"]
    subprocess.run(command, check=True)
    loaded.update(sys.modules)
    return open("marked.ptx").read()
annotated = Annotated(open("k.cu").read(), "k.cu")
assert "ccc_" in translate(annotated, compiler, Options(), DevicePass())
print(*sorted(one for one in set(sys.modules) - loaded if one.startswith("ccc")))
"""


def test_all_that_is_needed_behind_cicc_is_loaded_meanwhile(project: Project) -> None:
    nvcc = str(toolchain.find().nvcc)
    done = subprocess.run(
        [sys.executable, "-c", BEHIND_CICC, nvcc],
        cwd=project.folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == []


def test_a_shim_need_not_look_for_the_toolkit(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told where ptxas lies, which knows what something that was chosen takes."""
    monkeypatch.delenv("CCC_FLAGS")
    script, asked = project.folder / "nvcc", project.folder / "asked"
    script.write_text(f'#!/bin/sh\necho "$@" >> {asked}\nexec {toolchain.find().nvcc} "$@"\n')
    script.chmod(0o755)
    project("k.cu", "-arch=sm_90", "-ptx", "--ccc-report=k.json", CCC_NVCC=str(script))
    (path, *_) = json.loads(project.read("k.json"))["kernels"][0]["paths"]
    assert path["registers_after"] > 0
    assert len(asked.read_text().splitlines()) == 1


@pytest.mark.parametrize("told", [{"PYTHONDONTWRITEBYTECODE": "1"}, {}])
def test_bytecode_is_kept_where_python_keeps_none(told: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "new.py").write_text("VALUE = 1\n")
    known = {**os.environ, "CCC_CACHE_DIR": str(tmp_path / "cache")}
    known.pop("PYTHONDONTWRITEBYTECODE", None)
    code = (
        "import sys, ccc.bytecode as b; b.__spec__.cached = sys.argv[1]\n"
        "b.keep_bytecode(); import new; print(new.__spec__.cached)"
    )
    kept = []
    for beside in ("/no/such.pyc", str(tmp_path / "new.py")):
        command = [sys.executable, "-c", code, beside]
        done = subprocess.run(
            command, cwd=tmp_path, env={**known, **told}, capture_output=True, text=True, check=True
        )
        kept.append(Path(done.stdout.strip()))
    assert kept[0].is_relative_to(tmp_path / "cache")
    assert kept[1].is_relative_to(tmp_path / "cache") == bool(told)
    assert all(path.is_file() for path in kept)


@pytest.mark.parametrize("annotated", [False, True])
def test_bytecode_that_ends_too_early_is_written_anew(annotated: bool, tmp_path: Path) -> None:
    """As Python leaves it where the disk is full."""
    (tmp_path / "k.cu").write_text(compile_cost.sources()[TWO if annotated else compile_cost.PLAIN])
    told = {**os.environ, "CCC_CACHE_DIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [*compile_cost.CCCC, "k.cu", "-arch=sm_90", "-c", "-o", "k.o"]

    def compiled() -> dict[Path, int]:
        done = subprocess.run(
            command, cwd=tmp_path, env=told, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        return {path: path.stat().st_size for path in tmp_path.glob("bytecode/**/*.pyc")}

    sizes = compiled()
    assert len(sizes) > 10
    for path, size in sizes.items():
        os.truncate(path, size - 1)
    compiled()
    assert compiled().items() & sizes.items()  # some are for what is kept by now


@pytest.mark.parametrize("what", ["name", "code"])
def test_bytecode_with_wrong_bytes_is_written_anew(what: str, tmp_path: Path) -> None:
    """A number in place of the name of the source, which Python takes for an error of its own, or
    in place of all code."""
    source = tmp_path / "new.py"
    source.write_text("VALUE = 1\n")
    kept = Path(py_compile.compile(str(source), doraise=True) or "")
    name = os.fsencode(source)
    data = kept.read_bytes()
    start = data.index(name)
    of_name = data[: start - 2] + b"\xe9\0\0\0\0" + data[start + len(name) :]
    kept.write_bytes({"name": of_name, "code": data[:16] + b"N"}[what])
    code = bytecode._load_or_compile(SourceFileLoader("new", str(source)), "new")
    assert code is not None
    assert code.co_filename == str(source)
    assert not kept.exists()


@pytest.mark.slow
def test_the_table_of_costs(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert project.folder.exists()
    cases = compile_cost.sources()
    plain = {name: cases[name] for name in ("no annotation",)}
    monkeypatch.setattr(compile_cost, "sources", lambda: plain)
    compile_cost.main(1)
    rows = [line.split("|")[1].strip() for line in capsys.readouterr().out.splitlines()]
    assert rows == ["`--version`", "no annotation", f"no annotation, {compile_cost.OPTION}"]
