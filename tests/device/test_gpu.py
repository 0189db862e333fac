"""``ccc.device.gpu`` on a device where there is one, and its messages where there is none."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from ccc.device import gpu
from ccc.errors import CccError

SCALE = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 data, .param .u32 count)
{
    .reg .pred %p;
    .reg .u32 %r<6>;
    .reg .u64 %rd<4>;
    .shared .align 4 .b8 unused[128];
    ld.param.u64 %rd1, [data];
    ld.param.u32 %r1, [count];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r2, %r2, %r3, %r4;
    setp.ge.u32 %p, %r2, %r1;
    @%p ret;
    cvta.to.global.u64 %rd1, %rd1;
    mad.wide.u32 %rd2, %r2, 4, %rd1;
    ld.global.u32 %r5, [%rd2];
    shl.b32 %r5, %r5, 1;
    st.global.u32 [%rd2], %r5;
    mov.u32 %r4, unused;
    st.shared.u32 [%r4], %r5;
    ret;
}
"""


def test_without_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise ImportError(f"No module named '{name}'")

    monkeypatch.setattr(importlib, "import_module", absent)
    assert not gpu.available()
    with pytest.raises(CccError, match="pip install cupy-cuda13x"):
        gpu.GpuDevice()


@pytest.mark.gpu
def test_a_kernel_runs_and_is_timed() -> None:
    device = gpu.GpuDevice()
    module = device.load(SCALE)
    values = np.arange(1000, dtype=np.int32)
    inputs = device.put({"values": values, "count": np.int32(values.size)})
    arguments = (inputs["values"], inputs["count"])
    timing = module.get_function("scale")((8,), (128,), arguments, shared_mem=64)
    outputs = device.get(inputs)
    assert np.array_equal(outputs["values"], 2 * values)
    assert 0 < timing.milliseconds < 100


@pytest.mark.gpu
def test_outputs_that_stay_on_the_device_are_compared_bit_for_bit() -> None:
    device = gpu.GpuDevice()
    kept = device.put({"x": np.array([np.nan, 0.0]), "n": np.zeros((2, 3), np.int16)})
    others: list[dict[str, Any]] = [
        {"x": np.array([np.nan, -0.0]), "n": np.zeros((2, 3), np.int16)},
        {"x": np.array([np.nan, 0.0]), "n": np.zeros((3, 2), np.int16)},
        {"x": np.array([np.nan, 0.0]), "n": np.zeros((2, 3), np.uint16)},
        {"x": np.array([np.nan, 0.0])},
    ]
    assert device.alike(kept, device.put(kept))
    assert not any(device.alike(kept, device.put(other)) for other in others)
    assert not device.alike({"n": 3}, {"n": 3})  # nobody knows whether that is an output


@pytest.mark.gpu
def test_two_modules_with_one_name_are_kept_apart() -> None:
    device = gpu.GpuDevice()
    modules = [device.load(SCALE), device.load(SCALE.replace("%r5, 1;", "%r5, 2;"))]
    found = []
    for module in modules:
        inputs = device.put({"values": np.ones(1, np.int32)})
        module.get_function("scale")((1,), (32,), (inputs["values"], np.int32(1)))
        found.append(int(device.get(inputs)["values"][0]))
    assert found == [2, 4]


@pytest.mark.gpu
def test_what_a_kernel_needs() -> None:
    device = gpu.GpuDevice()
    module = device.load(SCALE)
    needs = module.resources("scale")
    assert needs.registers > 0
    assert needs.shared == 128
    assert module.resident_blocks("scale", (16, 16)) % device.multiprocessors == 0
    assert module.resident_blocks("scale", 1024) >= device.multiprocessors


@pytest.mark.gpu
def test_the_device_is_described() -> None:
    described = gpu.GpuDevice().describe()
    assert described["gpu"]
    assert described["arch"].startswith("sm_")
    assert gpu.available()


@pytest.mark.gpu
def test_the_hold_outlasts_the_host() -> None:
    # An empty launch takes the host some ten microseconds, and the device far less.
    device = gpu.GpuDevice()
    module = device.load(SCALE)
    inputs = device.put({"values": np.ones(1, np.int32)})
    kernel = module.get_function("scale")
    timings = [kernel((1,), (32,), (inputs["values"], np.int32(1))) for _ in range(20)]
    assert sorted(timing.milliseconds for timing in timings)[10] < 0.02
