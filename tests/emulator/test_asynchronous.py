"""Asynchronous copies and the barriers in memory that tell of them."""

from __future__ import annotations

import numpy as np
import pytest
from emulating import ptx, run

from ccc.emulator import EmulatorError

SCHEDULES = ("lockstep", 0, 1, 2)
BOX = ".shared .align 16 .b8 box[4096]; .shared .align 8 .b64 bar;"


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_copies_of_some_bytes(schedule: str | int) -> None:
    text = """
    mul.wide.u32 %x1, %r0, 16; add.u64 %x2, %p0, %x1; add.u64 %x3, %p1, %x1;
    mov.u32 %r1, box; mad.lo.u32 %r2, %r0, 16, %r1;
    and.b32 %r3, %r0, 15;              // so many bytes, none of every 16th lane
    setp.eq.u32 %q1, %r3, 3;
    @!%q1 cp.async.ca.shared.global [%r2], [%x2], 16, %r3;
    @%q1 cp.async.cg.shared.global [%r2], [%x2], 16;
    cp.async.commit_group; cp.async.wait_group 0;
    ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r2];
    st.global.v4.u32 [%x3], {%r4, %r5, %r6, %r7};
    setp.lt.u32 %q2, %r0, 5;
    cp.async.ca.shared.global [%r2], [%x2], 8, %q2;
    cp.async.wait_all;
    ld.shared.u64 %x5, [%r2];
    st.global.u64 [%x3+512], %x5;
    """
    given = np.arange(1, 513).astype(np.uint8).reshape(32, 16)
    out = np.full((64, 16), 9, np.uint8)
    run(ptx(text, 2, BOX), given.copy(), out, schedule=schedule)
    expected = given.copy()
    for lane in range(32):
        expected[lane, (lane & 15 if lane & 15 != 3 else 16) :] = 0
    assert (out[:32] == expected).all()
    eight = given[:, :8].copy()
    eight[:5] = 0
    assert (out[32:, :8] == eight).all()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_phases(schedule: str | int) -> None:
    """Two warps hand a number over and back, three times."""
    text = """
    setp.eq.u32 %q1, %r0, 0;
    mov.u32 %r20, full; mov.u32 %r21, empty;
    @%q1 mbarrier.init.shared::cta.b64 [%r20], 32;
    @%q1 mbarrier.init.shared::cta.b64 [%r21], 32;
    bar.sync 0;
    and.b32 %r1, %r0, 31; mov.u32 %r2, cells; mad.lo.u32 %r2, %r1, 4, %r2;
    mov.u32 %r5, 0; mov.u32 %r6, 0;
    setp.ge.u32 %q2, %r0, 32;
    LOOP:
    and.b32 %r7, %r5, 1; xor.b32 %r8, %r7, 1;
    @%q2 bra CONSUMER;
    W1: mbarrier.try_wait.parity.shared::cta.b64 %q3, [%r21], %r8;
    @!%q3 bra W1;
    mad.lo.u32 %r9, %r5, 100, %r1; st.shared.u32 [%r2], %r9;
    mbarrier.arrive.release.cta.shared::cta.b64 %x9, [%r20];
    bra NEXT;
    CONSUMER:
    W2: mbarrier.try_wait.parity.shared::cta.b64 %q3, [%r20], %r7, 1000;
    @!%q3 bra W2;
    ld.shared.u32 %r9, [%r2]; add.u32 %r6, %r6, %r9;
    mbarrier.arrive.shared::cta.b64 _, [%r21];
    NEXT:
    add.u32 %r5, %r5, 1; setp.lt.u32 %q4, %r5, 3; @%q4 bra LOOP;
    add.u64 %x1, %p0, %x0; st.global.u32 [%x1], %r6;
    """
    module = ".shared .align 8 .b64 full; .shared .align 8 .b64 empty; .shared .b32 cells[32];"
    out = np.zeros(64, np.uint32)
    run(ptx(text, 1, module), out, threads=64, schedule=schedule)
    assert out.tolist() == [0] * 32 + [300 + 3 * lane for lane in range(32)]


def test_counts_and_states() -> None:
    text = """
    mov.u32 %r1, bar;
    mbarrier.init.shared.b64 [%r1], 5;
    mbarrier.arrive.noComplete.shared.b64 %x1, [%r1], 2;
    mbarrier.pending_count.b64 %r2, %x1;
    mbarrier.arrive_drop.shared.b64 %x2, [%r1];
    mbarrier.pending_count.b64 %r3, %x2;
    mbarrier.test_wait.shared.b64 %q1, [%r1], %x2;
    mbarrier.arrive.expect_tx.shared.b64 %x3, [%r1], 48;
    mbarrier.arrive.shared.b64 %x4, [%r1];
    mbarrier.test_wait.shared.b64 %q2, [%r1], %x4;      // the bytes are missing
    mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r1], 40;
    mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r1], 8;
    mbarrier.test_wait.shared.b64 %q3, [%r1], %x4;
    mbarrier.arrive.noComplete.shared.b64 %x5, [%r1], 1;
    mbarrier.pending_count.b64 %r4, %x5;                // one less was needed
    selp.u32 %r5, 1, 0, %q1; selp.u32 %r6, 1, 0, %q2; selp.u32 %r7, 1, 0, %q3;
    st.global.v4.u32 [%p0], {%r2, %r3, %r4, %r5}; st.global.v2.u32 [%p0+16], {%r6, %r7};
    """
    out = np.zeros(6, np.uint32)
    run(ptx(text, 1, BOX), out, threads=1)
    assert out.tolist() == [5, 3, 4, 0, 0, 1]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_bulk_copies(schedule: str | int) -> None:
    text = """
    mov.u32 %r1, box; mov.u32 %r2, bar; setp.eq.u32 %q1, %r0, 0;
    @%q1 mbarrier.init.shared::cta.b64 [%r2], 1;
    bar.sync 0;
    @!%q1 bra WAIT;
    mbarrier.arrive.expect_tx.shared::cta.b64 %x9, [%r2], 256;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%p0], 192, [%r2];
    add.u64 %x1, %p0, 192; add.u32 %r3, %r1, 192;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%x1], 64, [%r2];
    WAIT: mbarrier.try_wait.parity.shared::cta.b64 %q2, [%r2], 0;
    @!%q2 bra WAIT;
    mad.lo.u32 %r4, %r0, 4, %r1; ld.shared.u32 %r5, [%r4]; add.u32 %r5, %r5, 1;
    st.shared.u32 [%r4], %r5;
    fence.proxy.async.shared::cta; bar.sync 0;
    @%q1 cp.async.bulk.global.shared::cta.bulk_group [%p1], [%r1], 128;
    add.u64 %x2, %p1, 128; add.u32 %r6, %r1, 128;
    @%q1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%x2], [%r6], 128;
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
    bar.sync 0;
    @%q1 st.bulk.weak.shared::cta [%r1], 64, 0;
    bar.sync 0;
    ld.shared.u32 %r5, [%r4]; add.u64 %x3, %p2, %x0; st.global.u32 [%x3], %r5;
    """
    given, out, left = np.arange(64), np.full(64, 1000), np.zeros(64, np.uint32)
    given, out = given.astype(np.uint32), out.astype(np.uint32)
    run(ptx(text, 3, BOX), given, out, left, threads=64, schedule=schedule)
    assert out.tolist() == [n + 1 if n < 32 else n + 1001 for n in range(64)]
    assert left.tolist() == [0 if n < 16 else n + 1 for n in range(64)]


def test_a_bulk_copy_takes_multiples() -> None:
    text = "cp.async.bulk.global.shared::cta.bulk_group [%p0], [%r1], 20;"
    with pytest.raises(EmulatorError, match="a bulk copy of no multiple of 16"):
        run(ptx(f"mov.u32 %r1, box; {text}", 1, BOX), np.zeros(64), threads=1)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_cluster_of_one_block(schedule: str | int) -> None:
    text = """
    mov.u32 %r1, box; mov.u32 %r2, bar; setp.eq.u32 %q1, %r0, 0;
    mov.u32 %r3, %cluster_ctarank; mov.u32 %r4, %cluster_nctarank;
    mapa.shared::cluster.u32 %r5, %r1, %r3; mapa.shared::cluster.u32 %r6, %r2, 0;
    @%q1 mbarrier.init.shared::cta.b64 [%r2], 1;
    @%q1 mbarrier.arrive.expect_tx.shared::cta.b64 %x9, [%r2], 128;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
    mad.lo.u32 %r7, %r0, 4, %r5; add.u32 %r8, %r0, 5;
    st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r7], %r8, [%r6];
    WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q2, [%r2], 0;
    @!%q2 bra WAIT;
    xor.b32 %r9, %r0, 1; mad.lo.u32 %r9, %r9, 4, %r1; ld.shared.u32 %r10, [%r9];
    cvt.u64.u32 %x1, %r1; cvta.shared.u64 %x1, %x1; getctarank.u64 %r11, %x1;
    mad.lo.u32 %r10, %r11, 1000, %r10; mad.lo.u32 %r10, %r4, 100, %r10;
    add.u64 %x2, %p0, %x0; st.global.u32 [%x2], %r10;
    """
    out = np.zeros(32, np.uint32)
    run(ptx(text, 1, BOX), out, schedule=schedule)
    assert out.tolist() == [105 + (lane ^ 1) for lane in range(32)]


def test_no_work_is_handed_over() -> None:
    text = """
    .reg .b128 %w;
    mov.u32 %r1, box; mov.u32 %r2, bar; mbarrier.init.shared.b64 [%r2], 1;
    createpolicy.fractional.L2::evict_last.b64 %x8, 0f3F800000;
    mbarrier.arrive.expect_tx.shared.b64 %x9, [%r2], 16;
    clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128
        [%r1], [%r2];
    WAIT: mbarrier.try_wait.parity.shared::cta.b64 %q2, [%r2], 0;
    @!%q2 bra WAIT;
    ld.shared.b128 %w, [%r1];
    clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %q1, %w;
    selp.u32 %r3, 1, 2, %q1;
    st.global.L2::cache_hint.u32 [%p0], %r3, %x8;
    """
    out = np.zeros(1, np.uint32)
    run(ptx(text, 1, BOX), out, threads=1)
    assert out.tolist() == [2]
