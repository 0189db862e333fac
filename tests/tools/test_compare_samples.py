"""What ``ccc compare`` says of samples and arguments that cannot be used, and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_compare import BFS, DOUBLE, asked, ccc_compare, double, folder

from ccc import cli
from ccc.errors import CccError
from ccc.harness.sample import Sample
from ccc.tools import compare, png

__all__ = ["asked", "ccc_compare", "folder"]


BROKEN = [
    ("", "it defines no function inputs"),
    ("def inputs(:", "sample.py:1: error: "),
    ("import there_is_no_such_module", "sample.py:1: error: loading it raised ModuleNotFound"),
    (DOUBLE.replace("def check", "def chek"), "it defines no function check"),
    (DOUBLE.replace('"y": y', '"y": z'), "sample.py:13: error: run raised NameError: name 'z'"),
    (DOUBLE.replace("return {", "return [] and {"), "must return a dict, not list"),
    (DOUBLE.replace("random(size)", "random(-size)"), "inputs raised ValueError"),
    (DOUBLE.replace("np.int32(size)", "size"), "argument 1 of double is a plain int"),
    (DOUBLE.replace("y.sum()", "[None]"), "outputs must be arrays of numbers"),
]


@pytest.mark.parametrize(("source", "message"), BROKEN)
def test_broken_samples(ccc_compare: Any, folder: Path, source: str, message: str) -> None:
    (folder / "sample.py").write_text(source)
    with pytest.raises(CccError) as caught:
        ccc_compare(folder, original=double, ccc=double)
    assert message in str(caught.value)


def test_what_is_no_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = tmp_path / "kernel.cu"
    kernel.write_text("")
    for path, said in ((kernel, "this is a file"), (tmp_path, "no sample.py here")):
        assert cli.main(["compare", str(path)]) == 1
        error = capsys.readouterr().err
        assert error.startswith(f"{path}: error: {said}; a sample is a folder with kernel.cu and ")
        assert "inputs(size, seed), run(module, inputs) and check(inputs, outputs)" in error


def test_missing_things(ccc_compare: Any, folder: Path) -> None:
    run = {"original": double, "ccc": double}
    with pytest.raises(CccError, match="takes no --graph"):
        ccc_compare(folder, "--graph", "a.mtx", **run)
    with pytest.raises(CccError, match="there is no such folder"):
        ccc_compare(folder, "--json", folder / "none" / "out.json", **run)
    with pytest.raises(CccError, match="it is a folder"):
        ccc_compare(folder, "--json", folder, **run)
    (folder / "kernel.cu").unlink()
    with pytest.raises(CccError, match=r"no kernel\.cu here"):
        ccc_compare(folder, **run)


def test_inputs_that_a_sample_does_not_offer_are_told_before_the_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def work(*_: Any, **__: Any) -> None:
        raise AssertionError("there was work before the complaint")

    monkeypatch.setattr(compare, "choose_device", work)
    monkeypatch.setattr(compare.nvcc, "compile", work)
    assert cli.main(["compare", str(BFS), "--inputs", "odd"]) == 2
    assert "this sample has no inputs 'odd'; there are " in capsys.readouterr().err
    missing = tmp_path / "g.mtx"
    assert cli.main(["compare", str(BFS), "--graph", str(missing)]) == 2
    assert capsys.readouterr().err == f"{missing}: error: there is no such file\n"


PICTURE = """

def picture(outputs):
    return np.uint8(outputs["y"]).reshape(-1, 1, 1).repeat(3, 2)
"""


def test_a_picture_is_written(ccc_compare: Any, folder: Path) -> None:
    (folder / "sample.py").write_text(DOUBLE + PICTURE)
    path = folder / "out.png"
    assert ccc_compare(folder, "--png", path, "--size", 5, original=double, ccc=double) == 0
    drawn = 4 * np.random.default_rng(0).random(5)
    assert path.read_bytes() == png.encode(np.uint8(drawn).reshape(5, 1, 1).repeat(3, 2))


def test_no_picture(ccc_compare: Any, folder: Path) -> None:
    arguments = (folder, "--png", folder / "out.png")
    with pytest.raises(CccError, match="draws no picture"):
        ccc_compare(*arguments, original=double, ccc=double)
    (folder / "sample.py").write_text(DOUBLE + PICTURE.replace("uint8", "float32"))
    with pytest.raises(CccError, match="a picture is uint8"):
        ccc_compare(*arguments, original=double, ccc=double)
    with pytest.raises(CccError, match="there is no such folder"):
        ccc_compare(folder, "--png", folder / "none" / "out.png", original=double, ccc=double)


@pytest.mark.parametrize("arguments", [["--repeat", "0"], ["--schedule", "x"]])
def test_bad_arguments(
    ccc_compare: Any, folder: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        ccc_compare(folder, *arguments, original=double, ccc=double)
    assert "is wanted, not" in capsys.readouterr().err


def test_a_sample_with_a_dataclass(folder: Path) -> None:
    head = "from __future__ import annotations\nimport dataclasses\n"
    (folder / "sample.py").write_text(
        head + "@dataclasses.dataclass\nclass A:\n    x: int = 0\n" + DOUBLE
    )
    assert Sample(folder).inputs(3, 0)["n"] == 3
