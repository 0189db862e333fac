"""``ccc tune`` on a small program of the host, on a device."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ccc.cli import main
from ccc.decisions import read_decisions

PROGRAM = """\
#include <cstdio>
__global__ void __launch_bounds__(256) seldom(float *y, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned v = i * 2654435761u >> 7;
        #pragma ccc if
        if ((v & 15) == 0) {
            float f = v & 1023;
            for (int k = 0; k < 200; k++) f = f * 0.5f + 1.5f;
            y[i] = f;
        }
    }
}
__global__ void __launch_bounds__(256) often(float *y, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned v = i * 2654435761u >> 7;
        #pragma ccc if
        if ((v & 15) != 0) y[i] = v;
    }
}
int main() {
    const int n = 1 << 24;
    float *y, first[100];
    cudaMalloc(&y, 4 * n);
    cudaMemset(y, 0, 4 * n);
    for (int i = 0; i < 10; i++) seldom<<<1056, 256>>>(y, n);
    for (int i = 0; i < 10; i++) often<<<1056, 256>>>(y, n);
    cudaMemcpy(first, y, sizeof first, cudaMemcpyDeviceToHost);
    for (float one : first) printf("%g\\n", one);
    return cudaDeviceSynchronize();
}
"""


@pytest.mark.gpu
@pytest.mark.skipif(not shutil.which("nvcc"), reason="no nvcc")
def test_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("app.cu").write_text(PROGRAM)
    cccc = f"{sys.executable} -c 'from ccc.cli import cccc; raise SystemExit(cccc())'"
    build = f"{cccc} -arch=native -O3 -o app app.cu"
    told = ["--check-output", "-", "--builds", "4", "--repeat", "2"]
    assert main(["tune", "--build", build, *told, "--", "./app"]) == 0
    found = {one.place.kernel: one for one in read_decisions("ccc-decisions.json").paths}
    assert found["_Z6seldomPfi"].strategy != "leave"
    assert found["_Z5oftenPfi"].strategy == "leave"
    decided = f"{build} --ccc-decisions=ccc-decisions.json --ccc-report=report.json"
    subprocess.run(decided, shell=True, check=True)
    assert subprocess.run(["./app"], check=True, capture_output=True).stdout
