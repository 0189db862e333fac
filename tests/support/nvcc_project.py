"""A folder with an annotated program, and cccc to run in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ccc.errors import CccError
from ccc.toolkit import find as toolchain

KERNEL = """\
#include <cstdio>
#define HALVE(v) _Pragma("ccc if") if (v & 1) v /= 2;
__global__ void {name}(float *x, int n) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = x[i];
        #pragma ccc if
        if (v > 0.f) {
            for (int j = 0; j < 300; j++) v = v * v + 3.f;
            x[i] = v;
        }
    }
}
"""
MAIN = "int main() { k<<<1, 32>>>(nullptr, 0); return 0; }\n"
REFUSED = KERNEL.replace("x[i] = v;", "x[i] = v; __syncthreads();")


class Project:
    """A folder with ``k.cu``, and cccc to run in it."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.write("k.cu", KERNEL.replace("{name}", "k") + MAIN)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def __call__(self, *arguments: str, code: int = 0, given: str = "", **variables: str) -> str:
        """Run cccc in a process of its own, ``given`` some input; returns what it said."""
        command = [sys.executable, "-c", "import sys; from ccc.cli import cccc; sys.exit(cccc())"]
        done = subprocess.run(
            [*command, *arguments],
            cwd=self.folder,
            env={**os.environ, **variables},
            input=given,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=False,
        )
        said = done.stdout + done.stderr
        assert done.returncode == code, said
        return said

    def read(self, name: str) -> str:
        return (self.folder / name).read_text()


@pytest.fixture
def project(tmp_path: Path, shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    try:
        toolchain.find()
    except CccError as error:
        pytest.skip(error.message)
    monkeypatch.setenv("CCC_CACHE_DIR", str(shared_cache))
    monkeypatch.setenv("CCC_FLAGS", "--ccc-strategy=collect")
    return Project(tmp_path)
