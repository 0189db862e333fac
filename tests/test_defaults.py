"""What is chosen by default for the samples, which were measured so: nothing of it is lost unseen.

``tests/defaults.txt`` has a line for each annotated path: the line of its source, what is
annotated, and what serves it; ``pytest --bless`` writes it anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from device_code import device_code
from emulating import needs_nvcc
from folders import SAMPLES, TESTS

from ccc.compiler.said import DevicePass
from ccc.compiler.unit import translate
from ccc.frontend.marking import Annotated
from ccc.options import Options

pytestmark = [needs_nvcc, pytest.mark.usefixtures("few_headers")]

RECORD = TESTS / "defaults.txt"
KERNELS = sorted(SAMPLES.glob("**/kernel.cu"))


def chosen(kernel: Path, folder: Path) -> list[str]:
    """What is chosen for the paths of a source, as the shim does it."""

    def compile_(marked: str, _: bool) -> str:
        (folder / "k.cu").write_text(marked)
        return device_code(folder / "k.cu", "-w", "-arch=sm_90", f"-I{kernel.parent}")

    done = DevicePass()
    translate(Annotated(kernel.read_text(), kernel.name), compile_, Options(), done)
    return [
        f"{kernel.relative_to(SAMPLES).parent}:{one.position.line} {name} {one.annotation} "
        f"{one.strategy if one.applied else 'left'}"
        for name, remarks in sorted(done.remarks.items())
        for one in remarks
    ]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: str(one.relative_to(SAMPLES).parent))
def test_samples_get_what_was_measured(kernel: Path, tmp_path: Path, bless: bool) -> None:
    mine = f"{kernel.relative_to(SAMPLES).parent}:"
    recorded = RECORD.read_text().splitlines() if RECORD.exists() else []
    found = chosen(kernel, tmp_path)
    if bless:
        others = [line for line in recorded if not line.startswith(mine)]
        RECORD.write_text("\n".join(sorted({*others, *found})) + "\n")
        return
    assert sorted({*found}) == [line for line in recorded if line.startswith(mine)]
