"""Device code is the same whether nvcc reads all of its headers before it, or those of tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from emulating import needs_nvcc
from nvcc_project import KERNEL

from ccc.toolkit import find as toolchain

FUNCTIONS = """\
__global__ void functions(float *x, int *y, unsigned long long *z) {
    __shared__ float s[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = sqrtf(x[i]) + sinf(x[i + 1]) * cosf(x[i + 2]) - expf(x[i + 3]);
    __syncthreads();
    float v = __shfl_xor_sync(~0u, fmaxf(s[31 - threadIdx.x], logf(fabsf(x[i]))), 4);
    x[i] = fminf(v, x[i + 4]);
    atomicAdd(y, __popc(i));
    atomicMax(y + 1, __float_as_int(v));
    atomicCAS(z, 1ull, 7ull);
    __threadfence();
    y[2] = __ballot_sync(~0u, v > 1);
}
"""


@pytest.mark.slow
@needs_nvcc
@pytest.mark.usefixtures("few_headers")
def test_the_same_ptx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "k.cu"
    source.write_text(KERNEL.replace("{name}", "k") + FUNCTIONS)

    def made(*options: str) -> str:
        command = [toolchain.find().nvcc, "-arch=sm_90", *options, source, "-o", "-"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    short, read = made("-ptx"), made("-E")
    monkeypatch.delenv("NVCC_PREPEND_FLAGS")
    assert made("-ptx") == short
    assert len(made("-E")) > 2 * len(read)
