"""Occupancy against figures computed by hand, and what is read from ``ptxas -v``."""

from __future__ import annotations

import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccc.device import gpu
from ccc.errors import CccError
from ccc.ptx import occupancy as cost
from ccc.toolkit import ptxas

PTXAS = shutil.which("ptxas")
needs_ptxas = pytest.mark.skipif(PTXAS is None, reason="ptxas is not installed")

ARCHS = [f"sm_{number}" for number in cost.LIMITS]


@pytest.mark.parametrize(
    ("kernel", "blocks", "limited_by"),
    [
        (("sm_90", 32, 0, 256), 8, "threads"),
        (("sm_90", 16, 0, 32), 32, "blocks"),
        (("sm_90", 33, 0, 1024), 1, "registers"),  # 40 a thread after rounding: 51 warps
        (("sm_90", 64, 0, 256), 4, "registers"),
        (("sm_90", 128, 0, 1024), 0, "registers"),
        (("sm_90", 256, 0, 32), 0, "registers"),
        (("sm_90", 32, 31 * 1024, 256), 7, "shared"),  # 1 KB of each block is the system's
        (("sm_90", 32, 227 * 1024, 256), 1, "shared"),
        (("sm_90", 32, 227 * 1024 + 1, 256), 0, "shared"),
        (("sm_70", 32, 32 * 1024, 256), 3, "shared"),
        (("sm_75", 32, 0, 1024), 1, "threads"),
        (("sm_86", 32, 0, 1024), 1, "threads"),
        (("sm_89", 16, 0, 32), 24, "blocks"),
        (("sm_120a", 40, 0, 256), 6, "threads"),
        (("sm_90", 32, 0, 100), 16, "threads"),  # a block of 100 threads takes 4 warps
    ],
)
def test_occupancy(kernel: tuple[str, int, int, int], blocks: int, limited_by: str) -> None:
    arch, _, _, block = kernel
    found = cost.occupancy(*kernel)
    assert (found.blocks, found.limited_by) == (blocks, limited_by)
    assert found.warps == blocks * -(-block // 32)
    assert found.fraction == found.warps * 32 / cost.limits(arch).threads


@given(st.sampled_from(ARCHS), st.integers(0, 255), st.integers(0, 60_000), st.integers(1, 1024))
def test_more_of_anything_never_helps(arch: str, registers: int, shared: int, block: int) -> None:
    here = cost.occupancy(arch, registers, shared, block)
    assert 0 <= here.fraction <= 1
    assert cost.occupancy(arch, registers + 8, shared, block).blocks <= here.blocks
    assert cost.occupancy(arch, registers, shared + 128, block).blocks <= here.blocks


def test_what_is_no_kernel() -> None:
    with pytest.raises(CccError, match='unknown architecture "sm_91"; known are sm_70'):
        cost.occupancy("sm_91", 32, 0, 256)
    with pytest.raises(CccError, match="blocks of 1025 threads"):
        cost.occupancy("sm_90", 32, 0, 1025)


MESSAGES = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'b' for 'sm_90'
ptxas info    : Function properties for b
    2048 bytes stack frame, 3532 bytes spill stores, 4844 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 2064 bytes cumulative stack size
ptxas info    : Compile time = 72.428 ms
ptxas info    : Compiling entry function '_Z1aIdEvPT_i' for 'sm_90'
ptxas info    : Function properties for _Z1aIdEvPT_i
    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 30 registers, used 1 barriers, 4096 bytes smem, 372 bytes cmem[0]
ptxas info    : Compile time = 6.631 ms
ptxas info    : Function properties for _Z1fPii
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
"""


def test_reading_what_ptxas_prints() -> None:
    assert ptxas.read_resources(MESSAGES) == {
        "b": ptxas.Resources(32, 0, 2064, 3532, 4844),
        "_Z1aIdEvPT_i": ptxas.Resources(30, 4096, 16, 0, 0),
    }
    assert ptxas.read_resources("ptxas info    : 0 bytes gmem\n") == {}


@needs_ptxas
def test_asking_ptxas() -> None:
    assembled = ptxas.assemble(gpu.HOLD, "sm_90")
    assert assembled.cubin.startswith(b"\x7fELF")
    assert set(assembled.resources) == {"hold"}
    assert assembled.resources["hold"].registers > 0


@needs_ptxas
def test_ptxas_refuses() -> None:
    with pytest.raises(CccError, match="Not a name of any known instruction") as caught:
        ptxas.resources(gpu.HOLD.replace("ret;", "rett;"), "sm_90")
    assert "    rett;" in str(caught.value)
    with pytest.raises(CccError, match="not defined for option 'gpu-name'"):
        ptxas.resources(gpu.HOLD, "sm_1")


def test_no_ptxas() -> None:
    with pytest.raises(CccError, match="cannot run ptxas"):
        ptxas.resources(gpu.HOLD, "sm_90", "/there/is/no/ptxas")
