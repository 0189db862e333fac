"""Each build system of docs/builds.md builds the same small program, as it stands there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from breadth import always
from folders import ROOT

from ccc.errors import CccError
from ccc.toolkit import find as toolchain

HERE = Path(__file__).parent
PAGE = ROOT / "docs" / "builds.md"
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
SYSTEMS = {
    "make": ("make",),
    "cmake": ("cmake", "ninja"),
    "meson": ("meson", "ninja"),
    "ninja": ("ninja",),
    "setuptools": ("python",),
    "ccache": ("ccache",),
    "sccache": ("sccache",),
}
"""By folder, the programs that are needed."""
ALWAYS = ("make",)
"""What is there wherever the tests are, and takes little."""
ON_A_GPU = {
    "cupy_nvcc": ("cupy",),
    "cuda_core": ("cuda.core", "cupy"),
    "pytorch": ("torch",),
    "pytorch_setup": ("torch", "setuptools"),
}
"""By folder, the packages that are needed; these projects want a GPU, or CUDA's PyTorch."""
ARCHITECTURES = {"cmake": 2}


class Build:
    """A copy of a project, and its commands to run there."""

    def __init__(self, system: str, folder: Path):
        self.system = system
        self.folder = folder
        for path in (*HERE.glob("*.cu"), *HERE.glob("*.h"), *(HERE / system).iterdir()):
            if path.is_file():
                shutil.copy(path, folder)
        self.environment = {
            **os.environ,
            "PATH": PATH,
            "CCACHE_DIR": str(folder / "cache"),
            "SCCACHE_DIR": str(folder / "cache"),
            "SCCACHE_SERVER_UDS": str(folder / "socket"),
        }

    def __call__(self, **variables: str) -> str:
        """Run its commands; returns what they said."""
        done = subprocess.run(
            ["bash", "-e", "commands"],
            cwd=self.folder,
            env={**self.environment, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def stop(self) -> None:
        """End the server that sccache leaves behind."""
        if self.system == "sccache":
            subprocess.run(
                ["sccache", "--stop-server"], env=self.environment, capture_output=True, check=False
            )


@pytest.fixture
def build(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Build]:
    for package in ON_A_GPU.get(request.param, ()):
        pytest.importorskip(package)
    for program in (*SYSTEMS.get(request.param, ()), "cccc"):
        if shutil.which(program, path=PATH) is None:
            pytest.skip(f"there is no {program}")
    try:
        toolchain.find()
    except CccError as error:
        pytest.skip(error.message)
    monkeypatch.delenv("CCC_FLAGS", raising=False)
    made = Build(request.param, tmp_path)
    yield made
    made.stop()


@pytest.mark.gpu
@pytest.mark.slow
@pytest.mark.parametrize("build", ON_A_GPU, indirect=True)
def test_a_program_on_a_gpu(build: Build) -> None:
    build()
    told = [json.loads(path.read_text()) for path in build.folder.rglob("reports/*.json")]
    paths = [path for report in told for kernel in report["kernels"] for path in kernel["paths"]]
    assert [path["strategy"] for path in paths] == ["queue"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "build",
    always(["make", "cmake", "meson", "ninja", "setuptools"], lambda one: one in ALWAYS),
    indirect=True,
)
def test_a_build_with_reports(build: Build) -> None:
    build()
    told = [json.loads(path.read_text()) for path in build.folder.rglob("reports/*.json")]
    kernels = [kernel for report in told for kernel in report["kernels"]]
    assert len(kernels) == ARCHITECTURES.get(build.system, 1)
    for kernel in kernels:
        (path,) = kernel["paths"]
        assert (os.path.basename(path["file"]), path["strategy"]) == ("roots.cu", "queue")
    assert [path for name in ("app", "libroots*.so") for path in build.folder.rglob(name)]


@pytest.mark.slow
@pytest.mark.parametrize("build", ["ccache", "sccache"], indirect=True)
def test_what_was_kept_is_what_was_asked_for(build: Build) -> None:
    objects = []
    for flags in ("", "--ccc-off", "", "--ccc-off"):
        build(CCC_FLAGS=flags)
        objects.append((build.folder / "roots.o").read_bytes())
        (build.folder / "roots.o").unlink()
    assert objects[0] != objects[1]
    assert objects[2:] == objects[:2]


def test_the_page_shows_the_projects() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for system in (*SYSTEMS, *ON_A_GPU):
        for path in (HERE / system).iterdir():
            if path.is_file():
                shown = textwrap.indent(path.read_text(encoding="utf-8"), "    ")
                assert shown in page, path
    assert (HERE / "roots.cu").read_text(encoding="utf-8") in page
