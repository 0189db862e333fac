"""wmma: loads, products and stores of whole matrices, in all layouts."""

from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np
import pytest
from emulating import cuda, needs_nvcc, ptx, run

from ccc.emulator import Module

RANDOM = np.random.default_rng(7)

HEADER = r"""
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
"""
KERNEL = r"""
extern "C" __global__ void NAME(const TYPE *a, const TYPE *b, const SUM *c, SUM *d, unsigned lda,
                                unsigned ldb, unsigned ldc) {
    wmma::fragment<wmma::matrix_a, SHAPE, KIND, wmma::LEFT> left;
    wmma::fragment<wmma::matrix_b, SHAPE, KIND, wmma::RIGHT> right;
    wmma::fragment<wmma::accumulator, SHAPE, SUM> sum;
    wmma::load_matrix_sync(left, a, lda);
    wmma::load_matrix_sync(right, b, ldb);
    wmma::load_matrix_sync(sum, c, ldc, wmma::WAY);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(d, sum, ldc, wmma::WAY);
}
"""
TYPES: dict[str, tuple[str, str, str, Any, Any]] = {
    "f16": ("half", "half", "float", np.float16, np.float32),
    "halves": ("half", "half", "half", np.float16, np.float16),
    "bf16": ("__nv_bfloat16", "__nv_bfloat16", "float", np.uint16, np.float32),
    "tf32": ("float", "wmma::precision::tf32", "float", np.float32, np.float32),
    "s8": ("signed char", "signed char", "int", np.int8, np.int32),
    "f64": ("double", "double", "double", np.float64, np.float64),
}
SHAPES = {"tf32": ["16 16 8"], "f64": ["8 8 4"]}
LAYOUTS = ["row col row", "col row col"]
CASES = [
    (name, shape, layouts)
    for name in TYPES
    for shape in SHAPES.get(name, ["16 16 16", "8 32 16", "32 8 16"])
    for layouts in LAYOUTS
]


def named(name: str, shape: str, layouts: str) -> str:
    return "_".join([name, *shape.split(), *layouts.split()])


@functools.cache
def kernels() -> Module:
    """All the cases in one file: nvcc takes its time for the header."""
    text = HEADER
    for name, shape, layouts in CASES:
        kept, kind, total, *_ = TYPES[name]
        left, right, way = (f"{way}_major" for way in layouts.split())
        words = {"NAME": named(name, shape, layouts), "TYPE": kept, "KIND": kind, "SUM": total,
                 "SHAPE": ", ".join(shape.split()), "LEFT": left, "RIGHT": right,
                 "WAY": f"mem_{way}"}  # fmt: skip
        kernel = KERNEL
        for word, stands_for in words.items():
            kernel = re.sub(rf"\b{word}\b", stands_for, kernel)
        text += kernel
    return cuda(text)


def stored(matrix: np.ndarray, layout: str, stride: int, dtype: Any) -> np.ndarray:
    """A matrix in memory, with gaps between its rows or columns."""
    rows = matrix if layout == "row_major" else matrix.T
    if dtype is np.uint16:
        rows = (rows.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    out = np.zeros((len(rows), stride), dtype)
    out[:, : rows.shape[1]] = rows
    return out


@needs_nvcc
@pytest.mark.parametrize(("name", "shape", "layouts"), CASES)
def test_wmma(name: str, shape: str, layouts: str) -> None:
    *_, dtype, term = TYPES[name]
    m, n, k = map(int, shape.split())
    ways = [f"{way}_major" for way in layouts.split()]
    sizes = [(m, k), (k, n), (m, n)]
    strides = [(size[1] if way == "row_major" else size[0]) + 16
               for size, way in zip(sizes, ways, strict=True)]  # fmt: skip
    a, b, c = (RANDOM.integers(-9, 9, size).astype(float) for size in sizes)
    args = [stored(x, way, stride, kind) for x, way, stride, kind
            in zip((a, b, c), ways, strides, (dtype, dtype, term), strict=True)]  # fmt: skip
    out = np.full_like(args[2], 77)
    kernel = kernels().get_function(named(name, shape, layouts))
    kernel((1,), (32,), (*args, out, *map(np.uint32, strides)))
    expected = stored(a @ b + c, ways[2], strides[2], term)
    expected[:, expected.shape[1] - 16 :] = 77
    assert out.tolist() == expected.tolist()


def test_numbers_of_four_bits_and_of_one() -> None:
    text = """
    wmma.load.a.sync.aligned.row.m8n8k32.global.s4 {%r1}, [%p0];
    wmma.load.b.sync.aligned.col.m8n8k32.global.s4 {%r2}, [%p1];
    mov.u32 %r3, 0;
    wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 {%r4, %r5}, {%r1}, {%r2}, {%r3, %r3};
    wmma.store.d.sync.aligned.row.m8n8k32.global.s32 [%p2], {%r4, %r5};
    wmma.load.a.sync.aligned.row.m8n8k128.global.b1 {%r1}, [%p0];
    wmma.load.b.sync.aligned.col.m8n8k128.global.b1 {%r2}, [%p1];
    wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r4, %r5}, {%r1}, {%r2},
        {%r3, %r3};
    wmma.store.d.sync.aligned.row.m8n8k128.global.s32 [%p2+256], {%r4, %r5};
    """
    a, b = (RANDOM.integers(0, 256, (8, 16)).astype(np.uint8) for _ in "ab")
    out = np.zeros((2, 8, 8), np.int32)
    run(ptx(text, 3), a, b, out)
    wide = [np.stack([x & 15, x >> 4], axis=-1).reshape(8, 32).astype(int) for x in (a, b)]
    left, right = ((x ^ 8) - 8 for x in wide)
    assert (out[0] == left @ right.T).all()
    counts = [[sum(bin(z).count("1") for z in (x ^ y).tolist()) for y in b] for x in a]
    assert out[1].tolist() == counts
