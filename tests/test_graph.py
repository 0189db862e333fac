"""``ccc graph``."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from goldens import Golden

from ccc.cli import main

GOLDEN = Path(__file__).parent / "golden" / "context-collection" / "mixed_types.ptx"


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    path = tmp_path / "marked.ptx"
    path.write_text(Golden.read(GOLDEN).before)
    return path


def test_paths_are_listed(marked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", str(marked)]) == 0
    assert capsys.readouterr().out == "1: mixed_types.cu:11:1 then: collectable\n"


def test_the_context_has_double_borders(marked: Path, tmp_path: Path) -> None:
    output = tmp_path / "g.dot"
    assert main(["graph", str(marked), "--path", "1", "-o", str(output)]) == 0
    text = output.read_text()
    nodes = [line for line in text.splitlines() if "label=" in line and "->" not in line]
    double = [line for line in nodes if "peripheries=2" in line]
    assert [line.split('"')[1] for line in double] == ["%rd5", "%fd1"]
    assert any("style=solid" in line for line in text.splitlines())
    assert any("style=dashed" in line for line in text.splitlines())
    assert output.with_suffix(".png").exists() == (shutil.which("dot") is not None)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--path", "2"], "there is no path 2"),
        (["--path", "0"], "there is no path 0"),
    ],
)
def test_wrong_arguments(
    marked: Path, arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["graph", str(marked), *arguments]) == 1
    assert expected in capsys.readouterr().err


def test_a_missing_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", "nowhere.ptx"]) == 1
    assert "cannot read nowhere.ptx" in capsys.readouterr().err
