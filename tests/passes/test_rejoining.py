"""Behind a loop that the passes put an atomic operation into, the lanes of a warp are together."""

from __future__ import annotations

import re

import numpy as np
import pytest
from collecting import transform
from folders import GOLDEN
from goldens import Golden

from ccc.device import gpu

TELL = """
    .reg .b32 %mask, %lane;
    .reg .b64 %at;
    activemask.b32 %mask;
    mov.u32 %lane, %tid.x;
    ld.param.u64 %at, [k_param_2];
    cvta.to.global.u64 %at, %at;
    mad.wide.u32 %at, %lane, 4, %at;
    st.global.u32 [%at], %mask;
    bar.sync 0;
    ret;
"""


@pytest.mark.gpu
def test_lanes_that_did_not_come_are_there_again() -> None:
    before = Golden.read(GOLDEN / "context-collection/fetches_behind_cases.ptx").before
    first_fetch = re.compile(r"\tatom\.global\.add\.u32.*\n")
    told = first_fetch.sub(lambda _: TELL, before, count=1)
    collected = transform(told, strategy="cases").ptx
    assert "joined" in collected
    device = gpu.GpuDevice()
    for ptx in (told, collected):
        kernel = device.load(ptx).get_function("k")
        put = device.put(
            {
                "n": np.int32(40),
                "x": np.arange(1, 65, dtype=np.uint32),
                "y": np.zeros(64, np.uint32),
                "next": np.zeros(2, np.uint32),
            }
        )
        kernel((1, 1, 1), (64, 1, 1), tuple(put.values()), shared_mem=0)
        np.testing.assert_array_equal(device.get(put)["y"], np.uint32(0xFFFFFFFF))
