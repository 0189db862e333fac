"""``ccc graph``."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from annotated import loop
from emulating import needs_nvcc
from folders import GOLDEN
from goldens import Golden

from ccc.cli import main

MIXED_TYPES = GOLDEN / "context-collection" / "mixed_types.ptx"


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    path = tmp_path / "marked.ptx"
    path.write_text(Golden.read(MIXED_TYPES).before)
    return path


def test_paths_are_listed(marked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", str(marked)]) == 0
    assert capsys.readouterr().out == "1: mixed_types.cu:11:1 if (then) in k: collectable\n"


def test_cases_and_instances_are_told_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "marked.ptx"
    text = Golden.read(MIXED_TYPES).before.replace("// ccc.then", "// ccc.case")
    path.write_text(re.sub(r"\.entry k\b", ".entry _Z1kIfEvPT_", text))
    assert main(["graph", str(path)]) == 0
    told = r"1: mixed_types\.cu:11:1 switch \(case, PTX line \d+\) in k<float>: collectable\n"
    assert re.fullmatch(told, capsys.readouterr().out)


@needs_nvcc
@pytest.mark.slow
@pytest.mark.usefixtures("few_headers", "in_process")
def test_cuda_that_needs_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "far.h").write_text("#define FAR (x[i] > LEAST)\n")
    body = "#pragma ccc for variable\nfor (int k = 0; k < x[i]; ++k) if (FAR) x[i] = k;"
    source = loop(body).replace("__global__", "#include <far.h>\n__global__", 1)
    (tmp_path / "k.cu").write_text(source)
    file = str(tmp_path / "k.cu")
    assert main(["graph", file, f"-I{tmp_path}", "-D", "LEAST=3"]) == 0
    assert re.search(r"k\.cu:\d+:1 for variable in ", capsys.readouterr().out)
    assert main(["graph", file, "-std=c++17"]) == 2
    assert "; cccc -ptx --ccc-mark-only takes all options" in capsys.readouterr().err


@needs_nvcc
@pytest.mark.slow
@pytest.mark.usefixtures("few_headers", "in_process")
def test_cases_have_their_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    body = """#pragma ccc switch
    switch (x[i] & 7) {
    case 0: x[i] = sinf(i); break;
    case 3: case 4: x[i] = cosf(i); break;
    default: x[i] = i / n;
    }"""
    (tmp_path / "k.cu").write_text(loop(body))
    monkeypatch.chdir(tmp_path)
    assert main(["graph", "k.cu"]) == 0
    said = capsys.readouterr().out
    for name in ("case 0, line 6", "case 4, line 7", "default, line 8"):
        assert f"k.cu:4:1 switch ({name}) in " in said
    assert main(["graph", "k.cu", "--path", "1"]) == 0
    assert re.search(
        r"label=.*switch \((case|default).*, line \d\) in ", (tmp_path / "graph.dot").read_text()
    )


@pytest.mark.parametrize("name", ["callees_store_elsewhere", "slow_paths_in_functions"])
def test_what_a_loop_calls_is_looked_into(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "marked.ptx"
    path.write_text(Golden.read(GOLDEN / "context-collection" / f"{name}.ptx").before)
    assert main(["graph", str(path)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told
    assert all(line.endswith(": collectable") for line in told)


def test_the_context_has_double_borders(
    marked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "g.dot"
    assert main(["graph", str(marked), "--path", "1", "-o", str(output)]) == 0
    written = capsys.readouterr().out.splitlines()
    assert written == [str(p) for p in (output, output.with_suffix(".png")) if p.exists()]
    text = output.read_text()
    nodes = [line for line in text.splitlines() if "label=" in line and "->" not in line]
    double = [line for line in nodes if "peripheries=2" in line]
    assert [line.split('"')[1] for line in double] == ["%rd5", "%fd1"]
    assert any("style=solid" in line for line in text.splitlines())
    assert any("style=dashed" in line for line in text.splitlines())
    assert output.with_suffix(".png").exists() == (shutil.which("dot") is not None)


def test_a_path_that_there_is_not(marked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", str(marked), "--path", "2"]) == 2
    said = f"ccc: error: there is no path 2; {marked} has 1\n"
    assert capsys.readouterr().err == said


def test_a_missing_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", "nowhere.ptx"]) == 1
    assert "cannot read nowhere.ptx" in capsys.readouterr().err
    assert main(["graph", "nowhere.cu"]) == 1
    assert capsys.readouterr().err == "nowhere.cu: error: there is no such file\n"


def test_the_output_has_the_name_that_was_given(
    marked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "graph.txt"
    assert main(["graph", str(marked), "--path", "1", "-o", str(output)]) == 0
    assert output.read_text().startswith("digraph")
    assert capsys.readouterr().out.splitlines()[0] == str(output)
    assert main(["graph", str(marked), "--path", "1", "-o", "-"]) == 0
    assert capsys.readouterr().out == output.read_text()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("folder", "cannot write the file: it is a folder"),
        ("none/g.dot", "cannot write the file: there is no such folder"),
        ("g.png", "this is where the picture goes; give -o NAME.dot"),
        (
            "g.svg",
            "a graph is written in the language of Graphviz; give -o NAME.dot, of which "
            "dot -Tsvg makes a picture",
        ),
        (
            "g.PDF",
            "a graph is written in the language of Graphviz; give -o NAME.dot, of which "
            "dot -Tpdf makes a picture",
        ),
    ],
)
def test_outputs_that_cannot_be(
    marked: Path, tmp_path: Path, name: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder").mkdir()
    output = tmp_path / name
    status = 2 if name.startswith("g.") else 1
    assert main(["graph", str(marked), "--path", "1", "-o", str(output)]) == status
    assert capsys.readouterr().err == f"{output}: error: {said}\n"


def test_help_gives_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["graph", "--help"])
    assert "[graph.dot]" in capsys.readouterr().out
