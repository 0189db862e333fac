"""Lanes that add up in lists that are shared out ask the loop's own test whether they go on."""

from __future__ import annotations

import numpy as np
import pytest
from collecting import transform
from emulating import needs_nvcc
from folders import GOLDEN, SAMPLES
from goldens import Golden

import ccc
from ccc.emulator import Module
from ccc.options import Options
from ccc.toolkit import ptxas

pytestmark = pytest.mark.usefixtures("few_headers")

BEFORE = Golden.read(GOLDEN / "small" / "joined_sums.ptx").before
LATCH = "	add.s32 %r2, %r2, 64;\n"
FLAG = "mov.pred %ccc_live_0, -1;"


def collected(ptx: str) -> str:
    return transform(ptx, Options(strategy="engage"), filename="k.ptx").ptx


def run(ptx: str, iterations: int) -> list[int]:
    out = np.zeros(400, np.uint32)
    Module(ptx, step_limit=40_000).get_function("k")((1,), (64,), (np.int32(iterations), out))
    return list(map(int, out))


@pytest.mark.parametrize("iterations", [0, 10, 64, 65, 300])
def test_the_first_iteration_is_not_asked_for(iterations: int) -> None:
    text = collected(BEFORE)
    assert FLAG not in text
    assert run(text, iterations) == run(BEFORE, iterations)


@pytest.mark.parametrize(
    "latch",
    [
        LATCH + "	setp.eq.u32 %p2, %r2, 70;\n	@%p2 bra DONE;\n",
        LATCH + LATCH,
    ],
)
def test_a_loop_that_ends_otherwise_has_a_flag(latch: str) -> None:
    ptx = BEFORE.replace(LATCH, latch).replace("	ret;\n}", "DONE:\n	ret;\n}")
    text = collected(ptx)
    assert FLAG in text
    assert run(text, 300) == run(ptx, 300)


@needs_nvcc
def test_no_register_of_a_product_by_a_matrix_goes_to_memory() -> None:
    text = ccc.compile((SAMPLES / "nested" / "spmv" / "kernel.cu").read_text()).ptx
    found = ptxas.resources(text, "sm_90", ptxas.program())["spmv"]
    assert (found.registers, found.spill_stores) == (32, 0)
