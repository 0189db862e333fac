"""What ``cccc --ccc-doctor`` says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from nvcc_project import Project, project

from ccc import cli

__all__ = ["project"]


def test_nothing_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("CCC_NVCC", "CUDA_HOME", "CUDA_PATH", "NVCC_CCBIN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "path", [path for path in sys.path if "site-packages" not in path])
    monkeypatch.setenv("CCC_CACHE_DIR", "/dev/null/cache")
    assert cli.cccc(["--ccc-doctor"]) == 1
    lines = capsys.readouterr().out.splitlines()
    told = {line.split("  ")[0]: line for line in lines}
    assert "pip install" in told["nvcc"]
    assert told["C++ compiler"].endswith("no gcc: apt install g++, or set NVCC_CCBIN")
    assert "set CCC_CACHE_DIR" in told["cache"]
    assert told["GPU"].endswith("none: code is compiled, and the emulator runs it")
    assert lines[-1] == "cccc does not work: see what is missing above"


@pytest.mark.slow
def test_all_is_there(project: Project) -> None:
    said = project("--ccc-doctor")
    assert "an annotated kernel was collected, and assembled" in said
    assert said.endswith("\n\ncccc works\n")


@pytest.mark.slow
def test_a_toolkit_that_is_not_whole(project: Project) -> None:
    compiler = project.folder / "gcc"
    compiler.write_text("#!/bin/sh\necho no licence >&2\nexit 1\n")
    compiler.chmod(0o755)
    said = project("--ccc-doctor", code=1, NVCC_CCBIN=str(compiler))
    assert "an annotated kernel fails: " in said
    assert "no licence" in said
