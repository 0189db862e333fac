"""PTX that is given where marked PTX is wanted."""

from __future__ import annotations

from pathlib import Path

import pytest
from folders import GOLDEN
from goldens import Golden

from ccc.cli import main
from ccc.compiler.said import DevicePass
from ccc.compiler.transform import transform
from ccc.compiler.unit import transform_file
from ccc.options import COLLECT, Options

MARKED = Golden.read(GOLDEN / "context-collection" / "seldom.ptx").before
MARK = "cccc -ptx --ccc-mark-only makes marked PTX of annotated CUDA"


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (Options(profile="p.json"), "this PTX counts what it runs (--ccc-profile)"),
        (Options(strategy=COLLECT), "this PTX was transformed already"),
    ],
)
def test_what_was_made_of_marked_ptx_stays_as_it_is(
    options: Options, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "made.ptx"
    file.write_text(transform(MARKED, options).ptx)
    done = DevicePass((str(file), ""))
    assert transform_file(done, Options(strict=True)) == file.read_text()
    assert (done.diagnostics, done.error) == ([], None)  # what was asked for was done
    assert done.hints == [f"{file}: warning: {what}; it stays as it is, and {MARK}"]
    assert main(["graph", str(file)]) == 1
    assert capsys.readouterr().err == f"{file}: error: {what}; {MARK}\n"


def test_what_is_marked_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "marked.ptx"
    file.write_text(MARKED)
    done = DevicePass((str(file), ""))
    assert transform_file(done, Options(strategy=COLLECT)) != MARKED
    assert not done.diagnostics


def test_registers_of_a_user_may_be_called_as_ours(tmp_path: Path) -> None:
    file = tmp_path / "marked.ptx"
    file.write_text(MARKED.replace("ret;", "{.reg .u32 %ccc_a; mov.u32 %ccc_a, 5;}\n\tret;"))
    done = DevicePass((str(file), ""))
    assert transform_file(done, Options(strategy=COLLECT)) != file.read_text()
    assert not done.diagnostics
