"""What compiling through cccc takes more than nvcc."""

from __future__ import annotations

import subprocess
import sys

import compile_cost
import pytest
from nvcc_project import Project, cache, project

__all__ = ["cache", "project"]

HEAVY = ("argparse", "dataclasses", "json", "lark", "networkx", "pathlib", "tree_sitter", "typing")


def test_a_file_without_annotations_costs_little(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time is what tests cannot rely on, so what is told is what takes it: what Python loads."""
    monkeypatch.delenv("CCC_FLAGS")
    project.write("plain.cu", compile_cost.sources()["no annotation"])
    command = ["plain.cu", "-arch=sm_90", "-ptx", "-o", "k.ptx"]
    project(*command)
    code = (
        "import sys; before = set(sys.modules)\n"
        "from ccc.cli import cccc\n"
        "code = cccc(sys.argv[1:])\n"
        "print(*sorted(set(sys.modules) - before)); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}\n{code}", *command],
        cwd=project.folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded = done.stdout.split()
    assert "ccc.nvcc.front" in loaded
    assert not set(HEAVY) & set(loaded)
    assert len(loaded) < 45, loaded


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
    assert rows == ["`--version`", "no annotation"]
