"""Where nvcc unrolls a loop, it knows of ways without a value, and no variable is to blame."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

COPIES = """typedef unsigned char u8;
__device__ int length(const u8 *&p, int l) {
    if (l == 15) { int b; do { b = *p++; l += b; } while (b == 255); }
    return l;
}
__global__ void __launch_bounds__(64)
k(const u8 *from, const int *off, const int *size, u8 *to, int chunks, int *err) {
#pragma ccc for
    for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < chunks; c += gridDim.x * blockDim.x) {
        const u8 *p = from + off[c], *e = p + size[c];
        u8 *o = to + off[c];
#pragma ccc while
        while (p < e) {
            u8 tok = *p++;
            int ll = length(p, tok >> 4);
            UNROLL
            for (int i = 0; i < ll; i++) *o++ = *p++;
            if (p >= e) break;
            int d = p[0] | p[1] << 8; p += 2;
            if (d == 0) { *err = c; break; }
            int ml = length(p, tok & 15) + 4;
            for (int i = 0; i < ml; i++, o++) *o = *(o - d);
        }
    }
}
"""
ROLLED = "#pragma unroll 1"


def test_the_loop_is_named_that_nvcc_may_have_unrolled(tmp_path: Path) -> None:
    (line,) = said(COPIES.replace("UNROLL", ""), tmp_path, Options(strategy=COLLECT))
    assert "; nvcc may have unrolled the loop of k.cu:17, with ways that no thread goes" in line
    assert line.endswith(f': put "{ROLLED}" before it [in k]')
    assert said(COPIES.replace("UNROLL", ROLLED), tmp_path, Options(strategy=COLLECT)) == []


CALLED = """__device__ int folded(int x, int y, int i, const int *B) {
    const int many = B[i & 1023];
    UNROLL
    for (int k = 1; k < many; ++k) {
        x -= x;
        x -= min(k, k);
        x += k;
        x -= ((__popc(y) >> 4) ^ (__popc(k) & y));
    }
    return x;
}
__global__ void k(const int *A, const int *B, int *out, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        int a = A[i], b = B[i], v = 0;
#pragma ccc if
        if (a > 3) {
            int own[4] = {a ^ b, 1, 2, 5};
            own[b & 3] += 5;
            b += own[i & 3];
            for (int j = 0; j < A[a]; ++j) {
                int t = (a - v) & 15;
#pragma ccc while
                while (t > 0) {
                    t -= 1 + (j * i & 1);
                    v ^= i;
                    v += folded(a, b, i, B);
                }
                atomicAdd(&out[b & 15], v);
            }
        }
        out[i] = a ^ v;
    }
}
"""


def test_so_is_one_of_a_function_and_not_an_array_that_has_values(tmp_path: Path) -> None:
    line, *_ = said(CALLED.replace("UNROLL", ""), tmp_path, Options(strategy=COLLECT))
    assert " needs a value that the path computes (k.cu:4, PTX line " in line
    assert "; nvcc may have unrolled the loop of k.cu:4, with ways that no thread goes" in line
    assert f'put "{ROLLED}" before it' in line
    lines = said(CALLED.replace("UNROLL", ROLLED), tmp_path, Options(strategy=COLLECT))
    assert not any("needs a value" in one for one in lines)


METHOD = """struct Least {
    float *keys, most;
    int many, at, size;
    __device__ Least(float *keys, int many) : keys(keys), many(many), size(0) {}
    __device__ void add(float key) {
        if (size < many) {
            keys[size] = key;
            if (size == 0 || key > most) { most = key; at = size; }
            size++;
        } else {
#pragma ccc if
            if (key < most) {
                keys[at] = key;
                most = key;
                for (int k = 0; k < many; ++k) if (keys[k] > most) { most = keys[k]; at = k; }
            }
        }
    }
};
__global__ void k(const float *x, float *keys, int n, int many) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        Least least(keys + i * many, many);
#pragma ccc while
        for (int j = 0; j < n; ++j) {
            float d = x[j] - x[i];
            least.add(d * d);
        }
    }
}
"""


def test_a_member_without_a_value_is_no_matter_of_a_loop_of_its_method(tmp_path: Path) -> None:
    line, _ = said(METHOD, tmp_path, Options(strategy=COLLECT))
    assert "; it may be uninitialised: declare the variable in the loop, or give it a value" in line
