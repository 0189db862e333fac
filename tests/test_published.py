"""What is published: a wheel and an sdist that are installed as they are, and a site."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from folders import DOCS, ROOT

NEEDED = ("build", "twine", "setuptools")
BIN = Path(sys.executable).parent
CTE = ROOT / "ccc" / "include"


def _run(*command: str | Path, folder: Path) -> str:
    done = subprocess.run(
        list(map(str, command)), cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.long
def test_a_wheel_and_an_sdist(tmp_path: Path) -> None:
    """The wheel is made of the sdist, so nothing is missing there; it is installed alone.

    What it depends on is that of the environment of the tests.
    """
    for name in NEEDED:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"there is no {name}: pip install -e '.[dev]'")
    source = tmp_path / "source"
    tracked = _run("git", "ls-files", "-z", folder=ROOT).split("\0")
    for name in filter(None, tracked):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name, follow_symlinks=False)
    _run(sys.executable, "-m", "build", "--no-isolation", source, folder=tmp_path)
    sdist, wheel = sorted((source / "dist").iterdir(), key=lambda path: path.suffix)
    _run(sys.executable, "-m", "twine", "check", "--strict", sdist, wheel, folder=tmp_path)
    assert sdist.name.startswith("ccc_cuda-")
    home = tmp_path / "empty"
    venv.create(home)
    python = home / "bin" / "python"
    pip = Path(importlib.import_module("pip").__path__[0])  # one of its own would take longer
    _run(python, pip, "install", "--no-deps", "--no-index", wheel, folder=tmp_path)
    assert _run(home / "bin" / "cccc", "--ccc-version", folder=tmp_path).startswith("ccc ")
    assert _run(home / "bin" / "ccc", "--version", folder=tmp_path).startswith("ccc ")
    assert (home / "share" / "man" / "man1" / "cccc.1").exists()
    (folder,) = _run(home / "bin" / "ccc", "include", folder=tmp_path).split()
    assert folder.startswith(str(home))
    assert (Path(folder) / "cte.cuh").read_bytes() == (CTE / "cte.cuh").read_bytes()
    _find_by_cmake(home, folder, tmp_path / "user")
    (path,) = [path for path in sys.path if path.endswith("site-packages")][:1]
    code = (
        f"import sys; sys.path.append({path!r}); import ccc, ccc.passes, ccc.parse\n"
        "ccc.parse.load_grammar(); print(ccc.__file__)"
    )
    assert str(home) in _run(python, "-c", code, folder=tmp_path)


def _find_by_cmake(home: Path, include: str, project: Path) -> None:
    """``find_package`` finds what is installed by the path of its commands alone."""
    if shutil.which("cmake") is None:
        return
    project.mkdir()
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(user LANGUAGES NONE)\n"
        "find_package(ccc REQUIRED)\n"
        "get_target_property(found ccc::cte INTERFACE_INCLUDE_DIRECTORIES)\n"
        'message(STATUS "folder ${found}.")\n'
    )
    path = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"
    command = map(str, ["env", f"PATH={path}", "cmake", "-S", project, "-B", project / "build"])
    assert f"folder {include}." in _run(*command, folder=project)


def test_the_site_shows_all_pages() -> None:
    shown = re.findall(r"- (?:[\w ]+: )?([\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    assert sorted(shown) == sorted(path.name for path in DOCS.glob("*.md"))


def test_no_merge_was_left_half_done() -> None:
    marked = subprocess.run(
        ["git", "grep", "-nE", "^(<{7}|>{7}) "],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert marked.returncode == 1, marked.stdout + marked.stderr


@pytest.mark.slow
def test_the_site(tmp_path: Path) -> None:
    if not os.access(BIN / "mkdocs", os.X_OK):
        pytest.skip("there is no mkdocs: pip install -e '.[docs]'")
    _run(BIN / "mkdocs", "build", "--strict", "-q", "-d", tmp_path / "site", folder=ROOT)
    assert "Collaborative" in (tmp_path / "site" / "design" / "index.html").read_text()


@pytest.mark.parametrize(
    ("shell", "command"),
    [
        ("bash", 'source ./cccc; COMP_WORDS=(cccc --ccc-str); COMP_CWORD=1; compopt() { :; };'
                 ' _cccc; echo "${COMPREPLY[@]}"'),
        ("man", "--warnings -E UTF-8 -l cccc.1"),
    ],
)  # fmt: skip
def test_what_a_shell_is_told(shell: str, command: str) -> None:
    program = shutil.which(shell)
    # An image of Ubuntu has a script in the place of man, which says that there is none.
    is_there = program and re.match(rf"(GNU )?{shell}\b", _run(program, "--version", folder=DOCS))
    if not (program and is_there):
        pytest.skip(f"there is no {shell}")
    words = ["-c", command] if shell == "bash" else command.split()
    said = _run(program, *words, folder=DOCS / "shell")
    assert "--ccc-strict" in said
