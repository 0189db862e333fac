"""What users are told of a source."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

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
        nvcc = toolchain.find().nvcc
    except CccError as error:
        pytest.skip(error.message)

    def compile_(marked: str, _: bool) -> str:
        file, output = folder / "k.cu", folder / "k.ptx"
        file.write_text(marked)
        command = [str(nvcc), "-ptx", "-arch=sm_90", "-lineinfo", str(file), "-o", str(output)]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        return output.read_text()

    done = DevicePass()
    annotated = Annotated(source, str(folder / "k.cu"))
    ptx = translate(annotated, compile_, options, done, keeps_lines=False)
    assert "\t.loc\t" not in ptx
    return [line.replace(f"{folder}/", "") for line in (*done.diagnostics, *remarked(done))]


def remarked(done: DevicePass) -> list[str]:
    """What is left since nothing would be gained."""
    return notes(report(done.remarks)) if done.remarks else []
