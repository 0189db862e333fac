"""Lanes that wait for one another: shuffles, votes and barriers, and those that never end."""

from __future__ import annotations

import numpy as np
import pytest
from emulating import ON_BOTH, ptx, run

from ccc.emulator import EmulatorError

pytestmark = ON_BOTH


def test_shuffles() -> None:
    cases = {
        "up.b32 %r1|%q1, %r0, 2, 0": [max(i - 2, i if i < 2 else 0) for i in range(32)],
        "down.b32 %r1|%q1, %r0, 3, 0x1f": [i + 3 if i + 3 < 32 else i for i in range(32)],
        "bfly.b32 %r1|%q1, %r0, 5, 0x1f": [i ^ 5 for i in range(32)],
        "idx.b32 %r1|%q1, %r0, 7, 0x1f": [7] * 32,
        "idx.b32 %r1|%q1, %r0, 3, 0x181f": [i & 24 | 3 for i in range(32)],
        "down.b32 %r1|%q1, %r0, 2, 0x181f": [i + 2 if i % 8 < 6 else i for i in range(32)],
    }
    for text, expected in cases.items():
        out = np.zeros(32, np.int32)
        body = f"shfl.sync.{text}, 0xffffffff; add.u64 %x1, %p0, %x0; st.global.u32 [%x1], %r1;"
        run(ptx(body), out)
        assert out.tolist() == expected, text


def test_votes_matches_and_reductions() -> None:
    store = "add.u64 %x1, %p0, %x0; st.global.u32 [%x1], %r9;"
    begin = "shr.u32 %r1, %r0, 3; setp.eq.u32 %q1, %r1, 0;"
    full = "0xffffffff"
    cases = {
        f"vote.sync.ballot.b32 %r9, %q1, {full};": [0xFF] * 32,
        f"vote.sync.any.pred %q2, %q1, {full}; selp.u32 %r9, 1, 0, %q2;": [1] * 32,
        f"vote.sync.all.pred %q2, %q1, {full}; selp.u32 %r9, 1, 0, %q2;": [0] * 32,
        f"vote.sync.uni.pred %q2, !%q1, {full}; selp.u32 %r9, 1, 0, %q2;": [0] * 32,
        f"match.any.sync.b32 %r9, %r1, {full};": [0xFF << (i & 24) for i in range(32)],
        f"match.all.sync.b32 %r9|%q2, %r1, {full};": [0] * 32,
        f"redux.sync.add.u32 %r9, %r0, {full};": [sum(range(32))] * 32,
        f"redux.sync.max.s32 %r9, %r0, {full};": [31] * 32,
        f"redux.sync.xor.b32 %r9, %r1, {full};": [0] * 32,
        f"elect.sync %r9|%q2, {full};": [0] * 32,
        "activemask.b32 %r9;": [0xFFFFFFFF] * 32,
        "mov.pred %q2, %is_explicit_cluster; selp.u32 %r9, 1, 0, %q2;": [0] * 32,
        "mov.u32 %r9, %lanemask_lt;": [(1 << i) - 1 for i in range(32)],
        "mov.u32 %r9, %lanemask_ge;": [0xFFFFFFFF << i & 0xFFFFFFFF for i in range(32)],
    }
    for text, expected in cases.items():
        out = np.zeros(32, np.uint32)
        run(ptx(begin + text + store), out)
        assert out.tolist() == expected, text


def test_members_of_different_masks_meet_apart() -> None:
    """Even lanes and odd lanes vote at the same instruction, each among themselves."""
    text = """
    and.b32 %r1, %r0, 1;
    setp.eq.u32 %q1, %r1, 0;
    selp.b32 %r2, 0x55555555, 0xaaaaaaaa, %q1;
    setp.lt.u32 %q2, %r0, 4;
    vote.sync.ballot.b32 %r3, %q2, %r2;
    redux.sync.add.u32 %r4, %r0, %r2;
    match.any.sync.b32 %r6, %r1, %r2;
    shfl.sync.bfly.b32 %r5, %r0, 2, 31, %r2;
    add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r5; add.u32 %r3, %r3, %r6;
    add.u64 %x1, %p0, %x0; st.global.u32 [%x1], %r3;
    """
    sums = sum(range(0, 32, 2)), sum(range(1, 32, 2))
    expected = [
        ((5 << (i & 1)) + sums[i & 1] + (i ^ 2) + (0x55555555 << (i & 1))) & 0xFFFFFFFF
        for i in range(32)
    ]
    for schedule in ("lockstep", *range(10)):
        out = np.zeros(32, np.uint32)
        run(ptx(text), out, schedule=schedule)
        assert out.tolist() == expected


def test_lanes_wait_for_members_on_another_path() -> None:
    """Both arms meet at one shuffle behind the join, whatever comes first."""
    text = """
    setp.lt.u32 %q1, %r0, 16;
    @%q1 bra LEFT;
    mul.lo.u32 %r1, %r0, 3;
    bra JOIN;
    LEFT: mul.lo.u32 %r1, %r0, 5;
    JOIN:
    shfl.sync.bfly.b32 %r2, %r1, 16, 31, 0xffffffff;
    add.u64 %x1, %p0, %x0; st.global.u32 [%x1], %r2;
    """
    expected = [(i ^ 16) * (5 if i >= 16 else 3) for i in range(32)]
    for schedule in ("lockstep", *range(10)):
        out = np.zeros(32, np.int32)
        run(ptx(text), out, schedule=schedule)
        assert out.tolist() == expected


REDUCE = """
.shared .align 4 .b8 box[512];
mov.u32 %r1, box;
shl.b32 %r2, %r0, 2;
add.u32 %r3, %r1, %r2;
st.shared.u32 [%r3], %r0;
bar.sync 0;
sub.u32 %r4, 127, %r0;
shl.b32 %r4, %r4, 2;
add.u32 %r4, %r1, %r4;
ld.shared.u32 %r5, [%r4];
add.u64 %x1, %p0, %x0;
st.global.u32 [%x1], %r5;
"""


def test_a_barrier_orders_warps_under_every_schedule() -> None:
    for schedule in ("lockstep", *range(20)):
        out = np.zeros(128, np.int32)
        run(ptx(REDUCE), out, threads=128, schedule=schedule)
        assert out.tolist() == list(range(127, -1, -1))


def test_a_missing_barrier_is_seen_by_some_schedule() -> None:
    module = ptx(REDUCE.replace("bar.sync 0;", ""))
    failures = 0
    for seed in range(20):
        try:
            run(module, np.zeros(128, np.int32), threads=128, schedule=seed)
        except EmulatorError:
            failures += 1
    assert failures > 5


EXCHANGE = """
.shared .align 4 .b8 box[128];
mov.u32 %r1, box;
shl.b32 %r2, %r0, 2;
add.u32 %r3, %r1, %r2;
xor.b32 %r4, %r2, 4;
add.u32 %r4, %r1, %r4;
st.shared.u32 [%r3], %r0;
bar.warp.sync 0xffffffff;
mov.u32 %r6, 0;
mov.u32 %r7, 0;
LOOP:
ld.shared.u32 %r5, [%r4];
bar.warp.sync 0xffffffff;
add.u32 %r5, %r5, 1;
st.shared.u32 [%r3], %r5;
bar.warp.sync 0xffffffff;
add.u32 %r6, %r6, 1;
setp.lt.u32 %q1, %r6, 4;
@%q1 bra LOOP;
add.u64 %x1, %p0, %x0;
st.global.u32 [%x1], %r5;
"""


@pytest.mark.parametrize("number", [0, 1, 2])
def test_each_missing_warp_barrier_is_seen_by_some_schedule(number: int) -> None:
    expected = np.zeros(32, np.int32)
    run(ptx(EXCHANGE), expected)
    assert expected.tolist() == [i + 4 for i in range(32)]
    barrier = "bar.warp.sync 0xffffffff;"
    parts = EXCHANGE.split(barrier)
    broken = barrier.join(parts[: number + 1]) + barrier.join(parts[number + 1 :])
    whole, faulty = ptx(EXCHANGE), ptx(broken)
    different = 0
    for seed in range(20):
        out = np.zeros(32, np.int32)
        run(whole, out, schedule=seed)
        assert out.tolist() == expected.tolist()
        try:
            run(faulty, out, schedule=seed)
        except EmulatorError:
            different += 1
        else:
            different += out.tolist() != expected.tolist()
    assert different > 2


def test_block_reductions() -> None:
    text = """
    setp.lt.u32 %q1, %r0, 70;
    bar.red.popc.u32 %r1, 0, %q1;
    bar.red.and.pred %q2, 1, %q1;
    bar.red.or.pred %q3, 0, 128, !%q1;
    selp.u32 %r2, 1000, 0, %q2;
    selp.u32 %r3, 2000, 0, %q3;
    add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3;
    add.u64 %x1, %p0, %x0; st.global.u32 [%x1], %r1;
    """
    for schedule in ("lockstep", 0, 1):
        out = np.zeros(100, np.int32)
        run(ptx(text), out, threads=100, schedule=schedule)
        assert set(out.tolist()) == {2070}


def test_producers_and_consumers_at_a_barrier() -> None:
    text = """
    .shared .align 4 .b8 box[128];
    mov.u32 %r1, box;
    and.b32 %r2, %r0, 31;
    shl.b32 %r3, %r2, 2;
    add.u32 %r3, %r1, %r3;
    setp.ge.u32 %q1, %r0, 32;
    @%q1 bra CONSUMER;
    st.shared.u32 [%r3], %r2;
    bar.arrive 1, 64;
    bra END;
    CONSUMER:
    bar.sync 1, 64;
    ld.shared.u32 %r4, [%r3];
    add.u64 %x1, %p0, %x0; st.global.u32 [%x1], %r4;
    END:
    """
    for schedule in ("lockstep", *range(10)):
        out = np.zeros(64, np.int32)
        run(ptx(text), out, threads=64, schedule=schedule)
        assert out.tolist() == [0] * 32 + list(range(32))


@pytest.mark.parametrize("schedule", ["lockstep", 5])
def test_a_deadlock_is_reported(schedule: str | int) -> None:
    text = """
    setp.lt.u32 %q1, %r0, 16;
    @%q1 bra A;
    bar.warp.sync 0xffffffff;
    bra END;
    A: vote.sync.any.pred %q2, %q1, 0xffffffff;
    END:
    """
    with pytest.raises(EmulatorError, match=r"deadlock: .* waits for lanes that never come") as e:
        run(ptx(text), np.zeros(1, np.int32), schedule=schedule)
    assert e.value.span is not None
    assert e.value.span.line > 0
    assert e.value.thread is not None


def test_a_divergent_barrier_is_reported() -> None:
    text = """
    setp.lt.u32 %q1, %r0, 16;
    @%q1 bra A;
    bar.sync 0;
    bra END;
    A: bar.sync 0;
    END:
    """
    with pytest.raises(EmulatorError, match="lanes of one warp wait at different barriers"):
        run(ptx(text), np.zeros(1, np.int32))
    run(ptx(text.replace("bar.sync", "barrier.sync")), np.zeros(1, np.int32))


def test_a_lane_outside_its_mask_is_reported() -> None:
    with pytest.raises(EmulatorError, match="does not name the lane itself"):
        run(ptx("bar.warp.sync 0xffff;"), np.zeros(1, np.int32))
