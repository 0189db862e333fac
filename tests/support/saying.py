"""What users are told of a source."""

from __future__ import annotations

from pathlib import Path

import pytest
from device_code import FOLDER, of_no_folder

from ccc.compiler.said import DevicePass
from ccc.compiler.unit import translate
from ccc.diagnostics import notes
from ccc.errors import CccError
from ccc.frontend.marking import Annotated
from ccc.options import Options
from ccc.remark import report
from ccc.toolkit import find as toolchain


def said(source: str, folder: Path, options: Options) -> list[str]:
    """What is said of a source, as the shim does it."""
    try:
        toolchain.find()
    except CccError as error:
        pytest.skip(error.message)

    def compile_(marked: str, _: bool) -> str:
        (folder / "k.cu").write_text(marked)
        return of_no_folder(folder / "k.cu", "-arch=sm_90", "-lineinfo")

    done = DevicePass()
    annotated = Annotated(source, f"{FOLDER}/k.cu")  # else no folder would make the same code
    ptx = translate(annotated, compile_, options, done, keeps_lines=False)
    assert "\t.loc\t" not in ptx
    return [line.replace(f"{FOLDER}/", "") for line in (*done.diagnostics, *remarked(done))]


def remarked(done: DevicePass) -> list[str]:
    """What is left since nothing would be gained."""
    return notes(report(done.remarks)) if done.remarks else []
