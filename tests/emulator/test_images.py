"""Textures and surfaces, against formulas of CUDA's programming guide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulating import HEADER, cuda, needs_nvcc, run

from ccc.emulator import EmulatorError, Module, Surface, Texture

SOURCE = r"""
extern "C" __global__ void one(cudaTextureObject_t t, const float *x, float *out) {
    out[threadIdx.x] = tex1D<float>(t, x[threadIdx.x]);
}
extern "C" __global__ void direct(cudaTextureObject_t t, float4 *out) {
    out[threadIdx.x] = tex1Dfetch<float4>(t, (int)threadIdx.x - 1);
}
extern "C" __global__ void two(cudaTextureObject_t t, const float2 *x, float2 *out) {
    out[threadIdx.x] = tex2D<float2>(t, x[threadIdx.x].x, x[threadIdx.x].y);
}
extern "C" __global__ void three(cudaTextureObject_t t, const float *x, unsigned *out) {
    int i = threadIdx.x;
    out[i] = tex3D<unsigned char>(t, x[3 * i], x[3 * i + 1], x[3 * i + 2]);
}
extern "C" __global__ void swap(cudaSurfaceObject_t s) {
    int x = threadIdx.x, y = threadIdx.y;
    short2 v = surf2Dread<short2>(s, 4 * x, y);
    __syncthreads();
    surf2Dwrite(make_short2(v.y, v.x + 1), s, 4 * (7 - x), y);
}
extern "C" __global__ void beyond(cudaSurfaceObject_t s, int *out) {
    int x = (int)threadIdx.x - 2;
    out[threadIdx.x] = surf1Dread<int>(s, 4 * x, cudaBoundaryModeZero);
    out[threadIdx.x + 8] = surf1Dread<int>(s, 4 * x, cudaBoundaryModeClamp);
}
extern "C" __global__ void traps(cudaSurfaceObject_t s, int *out) {
    out[threadIdx.x] = surf1Dread<int>(s, 4 * (int)threadIdx.x);
}
"""
RANDOM = np.random.default_rng(3)


@pytest.fixture(scope="module")
def module() -> Module:
    return cuda(SOURCE)


def launch(module: Module, name: str, threads: Any, *arguments: Any) -> None:
    module.get_function(name)((1,), threads, arguments)


def place(x: float, size: int, how: str) -> float:
    """Normalized coordinates by the guide: wrap takes the fraction, mirror turns odd ones round."""
    if how == "wrap":
        x -= np.floor(x)
    if how == "mirror":
        whole = np.floor(x)
        x = x - whole if whole % 2 == 0 else 1 - (x - whole)
    return x * size


def element(data: np.ndarray, i: int, how: str) -> float:
    size = len(data)
    if how == "border" and not 0 <= i < size:
        return 0.0
    if how == "wrap":
        i %= size
    if how == "mirror":
        i = -1 - i if i < 0 else 2 * size - 1 - i if i >= size else i
    return float(data[min(max(i, 0), size - 1)])


@needs_nvcc
@pytest.mark.parametrize("how", ["clamp", "border", "wrap", "mirror"])
@pytest.mark.parametrize("linear", [False, True])
def test_one_dimension(module: Module, how: str, linear: bool) -> None:
    data = RANDOM.random(8).astype(np.float32)
    normalized = how in ("wrap", "mirror")
    x = np.linspace(-2.3, 12.3, 64).astype(np.float32) / (8 if normalized else 1)
    out = np.zeros(64, np.float32)
    texture = Texture(data, linear=linear, normalized=normalized, addressing=how)
    launch(module, "one", 64, texture, x, out)
    for xi, found in zip(x.astype(float), out, strict=True):
        at = place(xi, 8, how) if normalized else xi
        if not linear:
            expected = element(data, int(np.floor(at)), how)
        else:
            low = int(np.floor(at - 0.5))
            weight = round((at - 0.5 - low) * 256) / 256
            expected = (1 - weight) * element(data, low, how) + weight * element(data, low + 1, how)
            if how == "border":  # one row, read where it meets what is beside it
                expected /= 2
        halved = linear and how == "border"  # and so are weights, which stay multiples of 1 / 256
        assert found == pytest.approx(expected, rel=2**-22, abs=2**-8 if halved else 2**-24)


@needs_nvcc
def test_whole_numbers_name_elements(module: Module) -> None:
    data = RANDOM.random((6, 4)).astype(np.float32)
    out = np.zeros((8, 4), np.float32)
    launch(module, "direct", 8, Texture(data, channels=4, addressing="border"), out)
    expected = np.zeros((8, 4), np.float32)
    expected[1:7] = data
    assert (out == expected).all()


@needs_nvcc
def test_two_dimensions_of_bytes_as_floats(module: Module) -> None:
    whole = RANDOM.integers(0, 256, (5, 9, 2)).astype(np.uint8)
    data = whole[:, :7]  # a pitch of nine elements
    x = (RANDOM.random((32, 2)) * [7, 5]).astype(np.float32)
    out = np.zeros((32, 2), np.float32)
    launch(module, "two", 32, Texture(data, channels=2, as_float=True), x, out)
    expected = data[x[:, 1].astype(int), x[:, 0].astype(int)] / 255.0
    assert (out == expected.astype(np.float32)).all()


@needs_nvcc
def test_three_dimensions(module: Module) -> None:
    data = RANDOM.integers(0, 256, (3, 4, 5)).astype(np.uint8)
    x = (RANDOM.random((32, 3)) * [5, 4, 3]).astype(np.float32)
    out = np.zeros(32, np.uint32)
    launch(module, "three", 32, Texture(data), x, out)
    i, j, k = x.astype(int).T
    assert (out == data[k, j, i]).all()


@needs_nvcc
def test_surfaces(module: Module) -> None:
    pitched = RANDOM.integers(-99, 99, (4, 12, 2)).astype(np.int16)
    data, before = pitched[:, :8], pitched.copy()
    launch(module, "swap", (8, 4), Surface(np.ascontiguousarray(data), channels=2))
    own = data.copy()
    launch(module, "swap", (8, 4), Surface(own, channels=2))
    assert (own == before[:, 7::-1][:, :, ::-1][:, -8:] + [0, 1]).all()
    line, out = np.arange(10, 14).astype(np.int32), np.zeros(16, np.int32)
    launch(module, "beyond", 8, Surface(line), out)
    assert out.tolist() == [0, 0, 10, 11, 12, 13, 0, 0, 10, 10, 10, 11, 12, 13, 13, 13]
    with pytest.raises(EmulatorError, match=r"an access beyond the surface, thread \(4, 0, 0\)"):
        launch(module, "traps", 8, Surface(line), out)
    with pytest.raises(EmulatorError, match="is no texture"):
        launch(module, "one", 8, Surface(line), out, out)


def test_references_sizes_and_reductions() -> None:
    text = """
.global .texref image;
.visible .entry k(.param .u64 p, .param .u64 s)
{ .reg .u32 w, h, i, a, b, c, d; .reg .u64 o, f, t; .reg .f32 x, y;
  ld.param.u64 o, [p]; ld.param.u64 f, [s]; mov.u32 i, %tid.x;
  txq.width.b32 w, [image]; txq.height.b32 h, [image];
  st.global.v2.u32 [o], {w, h};
  sured.b.add.1d.u32.trap [f, {0}], i;
  sured.b.max.1d.s32.clamp [f, {400}], i;
  mov.f32 x, 0f3FC00000; mov.f32 y, 0f40200000;
  tex.2d.v4.s32.f32 {a, b, c, d}, [image, {x, y}];
  st.global.u32 [o+8], a;
  tld4.r.2d.v4.u32.f32 {a, b, c, d}, [image, {x, y}];
  st.global.v4.u32 [o+16], {a, b, c, d};
  ret; }
"""
    module = Module(HEADER + text)
    image = np.arange(20).astype(np.int32).reshape(4, 5)
    module.bind("image", Texture(image))
    line, out = np.zeros(4, np.int32), np.zeros(8, np.uint32)
    run(module, out, Surface(line))
    assert out.tolist() == [5, 4, 11, 0, 16, 17, 12, 11]
    assert line.tolist() == [496, 0, 0, 31]
