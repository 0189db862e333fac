"""A toolkit whose profile does not say where cicc is, as those of CUDA 12: nvcc searches PATH."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from emulating import needs_nvcc
from nvcc_project import KERNEL, Project, project

from ccc.toolkit import find as toolchain

pytestmark = pytest.mark.usefixtures("few_headers")

__all__ = ["project"]


@pytest.mark.slow
@needs_nvcc
def test_cicc_is_found_in_path(project: Project, tmp_path: Path) -> None:
    real = toolchain.find()
    made = tmp_path / "toolkit"
    (made / "bin").mkdir(parents=True)
    for entry in real.bin.parent.iterdir():
        if entry.name != "bin":
            (made / entry.name).symlink_to(entry)
    for entry in real.bin.iterdir():
        if entry.name not in ("nvcc", "nvcc.profile"):
            (made / "bin" / entry.name).symlink_to(entry)
    (made / "bin" / "nvcc").write_bytes((real.bin / "nvcc").read_bytes())
    (made / "bin" / "nvcc").chmod(0o755)
    profile = re.sub(r"^CICC_PATH.*\n", "", (real.bin / "nvcc.profile").read_text(), flags=re.M)
    (made / "bin" / "nvcc.profile").write_text(f"{profile}\nPATH += {real.cicc}:\n")
    project.write("k.cu", KERNEL.replace("{name}", "k"))
    project("k.cu", "-arch=sm_90", "-ptx", "-o", "k.ptx", "--ccc-strict",
            CCC_NVCC=str(made / "bin" / "nvcc"))  # fmt: skip
    assert "ccc_context_stack" in project.read("k.ptx")


@pytest.mark.slow
@needs_nvcc
def test_programs_are_found_where_debian_keeps_them(project: Project, tmp_path: Path) -> None:
    real = toolchain.find()
    made, programs = tmp_path / "lib" / "toolkit", tmp_path / "programs"
    (made / "bin").mkdir(parents=True)
    programs.mkdir()
    for entry in real.bin.iterdir():
        folder = programs if entry.name in ("cudafe++", "ptxas", "fatbinary") else made / "bin"
        if entry.name not in ("nvcc", "nvcc.profile"):
            (folder / entry.name).symlink_to(entry)
    (made / "bin" / "nvcc").write_bytes((real.bin / "nvcc").read_bytes())
    (made / "bin" / "nvcc").chmod(0o755)
    profile = (real.bin / "nvcc.profile").read_text().replace("$(_HERE_)", str(real.bin))
    profile = profile.replace("$(TOP)", str(real.bin.parent))
    (made / "bin" / "nvcc.profile").write_text(profile)
    project.write("k.cu", KERNEL.replace("{name}", "k"))
    path = f"{programs}:{os.environ['PATH']}"
    project("k.cu", "-arch=sm_90", "-c", "-o", "k.o", "--keep", "--ccc-strict",
            CCC_NVCC=str(made / "bin" / "nvcc"), PATH=path)  # fmt: skip
    assert "ccc_context_stack" in project.read("k.ptx")
