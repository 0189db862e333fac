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

LOCK = """
    add.s64 %rd4, %rd1, 1200;
SPIN:
    atom.global.cas.b32 %r6, [%rd4], 0, 1;
    setp.ne.s32 %p3, %r6, 0;
    @%p3 bra SPIN;
    atom.global.exch.b32 %r7, [%rd4], 0;
"""


@pytest.mark.parametrize("lock", ["", LOCK])
def test_who_may_hold_a_lock_is_not_kept_from_giving_it_back(lock: str) -> None:
    """Behind the loop, where others wait for those who wait for the lock in it."""
    before = Golden.read(GOLDEN / "small/meet_behind_a_loop.ptx").before
    taken = before.replace("\tmul.lo.s32 %r3, %r2, %r2;\n", f"{lock}\tmul.lo.s32 %r3, %r2, %r2;\n")
    made = transform(taken, strategy="cases").ptx
    assert "$ccc_collect" in made
    assert ("$ccc_joined" in made) == (not lock)


def test_an_atomic_operation_of_the_authors_own_puts_nothing_in() -> None:
    before = Golden.read(GOLDEN / "small/members_at_a_guard.ptx").before
    told = before.replace("\tbar.sync 0;\n", "").replace("\tret;", "\tbar.sync 0;\n\tret;")
    added = told.replace("\tst.global.u32 [%rd3], %r3;", "\tatom.global.add.u32 %r6, [%rd3], %r3;")
    made = transform(added, strategy="queue").ptx
    assert added != told
    assert "$ccc_collect" in made
    assert "$ccc_joined" not in made


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
