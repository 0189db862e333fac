"""Device code is the same whether nvcc reads all of its headers before it, or those of tests; and
whether nvcc makes it, or the two of its steps that tests take."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from device_code import compiled
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
    y[2] = __ballot_sync(~0u, v > 1) + __reduce_add_sync(~0u, i) + __match_any_sync(~0u, i & 3);
}
__global__ void others(float *x, double *d, unsigned *y, long long *z, float3 *f) {
    int i = threadIdx.x;
    x[0] = rsqrtf(x[0]) + atan2f(x[1], powf(x[2], x[3])) + floorf(x[4]) + __sinf(x[5]);
    x[1] = fmaf(x[6], x[7], __cosf(__uint_as_float(y[4])));
    d[0] = sqrt(d[1]) + rsqrt(d[2]) + log(d[3]) + rint(d[4]) + fma(d[5], d[6], d[7]);
    y[0] = __ffs(y[1]) + __umulhi(y[2], y[3]) + __float_as_uint(x[9]) + min(i, 7) + max(i, 3);
    z[0] = __float2ll_rn(x[8]) + __double2ll_rn(d[8]);
    memcpy(z + 1, d, 8);
    *f = make_float3(__int_as_float(i), x[1], x[2]);
    y[5] = __funnelshift_l(y[6], y[7], i) + __float2int_rn(__expf(x[10]));
    atomicAdd(d + 9, floor(sin(d[10])));
    d[11] = exp(d[12]) + exp(x[11]) + log(x[12]) + copysignf(x[13], x[14]);
    z[2] = __cvta_generic_to_shared(z) + *(volatile char *)alloca(i);
}
"""


@pytest.mark.slow
@needs_nvcc
@pytest.mark.usefixtures("few_headers")
def test_the_same_ptx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "k.cu"
    source.write_text(KERNEL.replace("{name}", "k") + FUNCTIONS)

    def made(*options: str) -> str:
        nvcc = str(toolchain.find().nvcc)
        command = [nvcc, "-arch=sm_90", *options, str(source), "-o", "-"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return str(done.stdout)

    short, read = made("-ptx"), made("-E")
    assert compiled(source, "-arch=sm_90") == short
    monkeypatch.delenv("NVCC_PREPEND_FLAGS")
    assert made("-ptx") == short
    assert len(made("-E")) > 2 * len(read)
