"""Divergence, reconvergence, what a function allocates, and the order of lanes."""

from __future__ import annotations

import numpy as np
import pytest
from emulating import ON_BOTH, ptx, run

from ccc.emulator import EmulatorError

pytestmark = ON_BOTH
HEAD = 3  # ld.param, mov and mul.wide that every kernel of ``ptx`` begins with

DIAMOND = """
setp.lt.u32 %q1, %r0, 8;
@%q1 bra SMALL;
mov.u32 %r1, 1;
bra JOIN;
SMALL:
mov.u32 %r1, 2;
JOIN:
add.u64 %x1, %p0, %x0;
st.global.u32 [%x1], %r1;
"""


def test_an_if_splits_the_warp_and_the_join_unites_it() -> None:
    out = np.zeros(32, np.int32)
    counts = run(ptx(DIAMOND), out)
    assert out.tolist() == [2] * 8 + [1] * 24
    assert counts.instructions == HEAD + 2 + 2 + 1 + 3
    assert counts.thread_instructions == 32 * (HEAD + 2 + 3) + 24 * 2 + 8
    assert (counts.branches, counts.divergent_branches) == (2, 1)
    assert counts.global_store_transactions == 4


def test_an_if_that_a_whole_warp_takes_does_not_split() -> None:
    out = np.zeros(32, np.int32)
    counts = run(ptx(DIAMOND.replace("%r0, 8", "%r0, 32")), out)
    assert counts.divergent_branches == 0
    assert counts.warp_execution_efficiency == 1.0
    assert counts.instructions == HEAD + 2 + 1 + 3


LOOP = """
mov.u32 %r1, 0;
LOOP:
setp.ge.u32 %q1, %r1, %r0;
@%q1 bra END;
add.u32 %r1, %r1, 1;
bra LOOP;
END:
add.u64 %x1, %p0, %x0;
st.global.u32 [%x1], %r1;
"""


def test_lanes_that_leave_a_loop_wait_for_the_others() -> None:
    out = np.zeros(32, np.int32)
    counts = run(ptx(LOOP), out)
    assert out.tolist() == list(range(32))
    assert counts.instructions == HEAD + 1 + 32 * 2 + 31 * 2 + 3
    body = sum(range(32))
    assert counts.thread_instructions == 32 * (HEAD + 4) + 2 * (body + 32) + 2 * body
    assert counts.divergent_branches == 31


def test_warps_do_not_wait_for_one_another() -> None:
    """The efficiency of a warp whose lanes agree is 1, whatever other warps do."""
    out = np.zeros(128, np.int32)
    counts = run(ptx(LOOP.replace("%r1, %r0", "%r1, %r2").replace(
        "mov.u32 %r1, 0;", "mov.u32 %r1, 0; shr.u32 %r2, %r0, 5;")), out, threads=128)  # fmt: skip
    assert out.tolist() == [i // 32 for i in range(128)]
    assert counts.warp_execution_efficiency == 1.0


def test_predicated_off_lanes_are_not_active() -> None:
    out = np.zeros(32, np.int32)
    counts = run(
        ptx("setp.lt.u32 %q1, %r0, 4; add.u64 %x1, %p0, %x0; @%q1 st.global.u32 [%x1], 9;"), out
    )
    assert out.tolist() == [9] * 4 + [0] * 28
    assert counts.instructions == HEAD + 4
    assert counts.thread_instructions == 32 * (HEAD + 3) + 4
    assert counts.global_store_transactions == 1


def test_a_block_of_100_threads() -> None:
    out = np.zeros(100, np.int32)
    text = """
    activemask.b32 %r1; popc.b32 %r1, %r1;
    add.u64 %x1, %p0, %x0; st.global.u32 [%x1], %r1;
    """
    counts = run(ptx(text), out, threads=100)
    assert out.tolist() == [32] * 96 + [4] * 4
    assert counts.thread_instructions == 100 * (HEAD + 5)
    assert counts.instructions == 4 * (HEAD + 5)


def test_threads_that_return_early_are_no_members() -> None:
    out = np.zeros(32, np.uint32)
    text = """
    setp.ge.u32 %q1, %r0, 20;
    @%q1 exit;
    setp.ne.u32 %q2, %r0, 3;
    vote.sync.ballot.b32 %r1, %q2, 0xffffffff;
    add.u64 %x1, %p0, %x0; st.global.u32 [%x1], %r1;
    """
    for schedule in ("lockstep", 1, 2, 3):
        run(ptx(text), out, schedule=schedule)
        assert out.tolist() == [0xFFFF7] * 20 + [0] * 12


def test_a_guarded_exit_is_issued_by_every_warp() -> None:
    counts = run(ptx("setp.ge.u32 %q1, %r0, 40; @%q1 exit;"), np.zeros(1, np.int32), threads=64)
    assert counts.instructions == 2 * (HEAD + 3)
    assert counts.thread_instructions == 64 * (HEAD + 1) + 24 + 40


def test_guarded_calls_and_waits() -> None:
    module = ptx(
        """
        .param .b32 in; .param .b32 back;
        setp.lt.u32 %q1, %r0, 8;
        mov.u32 %r1, 5;
        st.param.b32 [in], %r0;
        @%q1 call (back), triple, (in);
        @%q1 ld.param.b32 %r1, [back];
        @%q1 shfl.sync.bfly.b32 %r1, %r1, 1, 31, 0xff;
        add.u64 %x1, %p0, %x0; st.global.u32 [%x1], %r1;
        """,
        module=""".func (.param .b32 back) triple(.param .b32 in) {
        .reg .b32 %a; ld.param.b32 %a, [in]; mul.lo.u32 %a, %a, 3; st.param.b32 [back], %a; ret; }
        """,
    )
    for schedule in ("lockstep", 1, 2):
        out = np.zeros(32, np.int32)
        run(module, out, schedule=schedule)
        assert out.tolist() == [3 * (i ^ 1) for i in range(8)] + [5] * 24


def test_a_branch_table() -> None:
    out = np.zeros(32, np.int32)
    text = """
    and.b32 %r1, %r0, 3;
    TABLE: .branchtargets A, B, C, A;
    brx.idx %r1, TABLE;
    A: mov.u32 %r2, 10; bra J;
    B: mov.u32 %r2, 20; bra J;
    C: mov.u32 %r2, 30;
    J: add.u64 %x1, %p0, %x0; st.global.u32 [%x1], %r2;
    """
    counts = run(ptx(text), out)
    assert out.tolist() == [10, 20, 30, 10] * 8
    assert counts.divergent_branches == 1
    with pytest.raises(EmulatorError, match=r"brx\.idx beyond its table"):
        run(ptx(text.replace("%r0, 3", "%r0, 7")), out)


def test_the_top_of_a_stack_on_which_nothing_is_allocated() -> None:
    data = np.ones(32, np.uint32)
    text = """stacksave.u32 %r1; stackrestore.u32 %r1;
    add.u64 %x1, %p0, %x0; st.global.u32 [%x1], %r1;"""
    run(ptx(text), data)
    assert not data.any()


def test_what_a_function_allocates_is_its_own_until_it_returns() -> None:
    text = """
    stacksave.u32 %r4;
    cvt.u64.u32 %x1, %r0;
    add.u64 %x1, %x1, 4;
    alloca.u64 %x2, %x1, 16;
    st.local.u32 [%x2], %r0;
    alloca.u64 %x3, 4, 16;
    st.local.u32 [%x3], 7;
    ld.local.u32 %r1, [%x2];
    stackrestore.u32 %r4;
    alloca.u64 %x5, 4, 16;
    sub.u64 %x5, %x5, %x2;
    cvt.u32.u64 %r2, %x5;
    add.u32 %r1, %r1, %r2;
    sub.u64 %x3, %x3, %x2;
    cvt.u32.u64 %r2, %x3;
    shl.b32 %r2, %r2, 8;
    add.u32 %r1, %r1, %r2;
    add.u64 %x1, %p0, %x0; st.global.u32 [%x1], %r1;
    """
    for schedule in ("lockstep", 1, 2):
        out = np.zeros(32, np.int32)
        run(ptx(text), out, schedule=schedule)
        assert out.tolist() == [(i + 4 + 15) // 16 * 16 * 256 + i for i in range(32)]


TICKETS = """
mov.u32 %r1, 0;
LOOP: atom.global.add.u32 %r2, [%p0], 1;
setp.eq.u32 %q1, %r1, 0;
add.u64 %x1, %p1, %x0;
@%q1 st.global.u32 [%x1], %r2;
add.u32 %r1, %r1, 1;
setp.lt.u32 %q1, %r1, 40;
@%q1 bra LOOP;
"""
"""Each lane takes forty tickets, and shows the first."""


def test_in_some_orders_a_lane_is_far_behind_and_in_some_far_ahead() -> None:
    behind = ahead = 0
    for seed in range(40):
        counter, first = np.zeros(1, np.int32), np.zeros(32, np.int32)
        run(ptx(TICKETS, 2), counter, first, schedule=seed)
        again = np.zeros(32, np.int32)
        run(ptx(TICKETS, 2), np.zeros(1, np.int32), again, schedule=seed)
        assert first.tolist() == again.tolist()
        assert counter.tolist() == [32 * 40]
        second, last = np.sort(first)[[1, -1]]
        behind += last >= 31 * 40
        ahead += second >= 40
    assert behind > 1
    assert ahead > 1


def test_lanes_that_spin_for_a_starved_one_go_on() -> None:
    text = """
    setp.eq.u32 %q1, %r0, 5;
    @%q1 bra SET;
    SPIN: ld.volatile.global.u32 %r1, [%p0];
    setp.eq.u32 %q1, %r1, 0;
    @%q1 bra SPIN;
    bra END;
    SET: mov.u32 %r2, 7; st.volatile.global.u32 [%p0], %r2;
    END: add.u64 %x1, %p1, %x0; st.global.u32 [%x1], %r0;
    """
    for seed in range(40):
        out = np.zeros(32, np.int32)
        run(ptx(text, 2), np.zeros(1, np.int32), out, schedule=seed)
        assert out.tolist() == list(range(32))


def test_activemask_is_no_promise() -> None:
    """Under a random order, not all lanes of a converged warp need to be there."""
    text = """
    setp.lt.u32 %q1, %r0, 16;
    @%q1 bra NEXT;
    mov.u32 %r1, 0;
    NEXT: activemask.b32 %r2;
    add.u64 %x1, %p0, %x0; st.global.u32 [%x1], %r2;
    """
    out = np.zeros(32, np.uint32)
    run(ptx(text), out)
    assert set(out.tolist()) == {0xFFFFFFFF}
    seen = set()
    for seed in range(10):
        run(ptx(text), out, schedule=seed)
        seen |= set(out.tolist())
    assert len(seen) > 3


@pytest.mark.parametrize("schedule", ["lockstep", 5])
def test_an_endless_loop_is_reported(schedule: str | int) -> None:
    module = ptx("LOOP: bra LOOP;")
    module.step_limit = 1000
    with pytest.raises(EmulatorError, match="more than 1000 steps") as error:
        run(module, np.zeros(1, np.int32), schedule=schedule)
    assert error.value.message.endswith("; if it has an end, allow more (--steps)")
    assert ("(--schedule 1)" in error.value.message) == (schedule == "lockstep")


def test_a_trap_is_reported_with_its_thread() -> None:
    text = "setp.eq.u32 %q1, %r0, 5; @%q1 trap;"
    with pytest.raises(EmulatorError, match=r"trap was reached, thread \(5, 0, 0\)") as error:
        run(ptx(text), np.zeros(1, np.int32))
    assert (error.value.block, error.value.thread) == ((0, 0, 0), (5, 0, 0))
    run(ptx(text.replace("5", "50")), np.zeros(1, np.int32))


@pytest.mark.parametrize(
    "instruction",
    ["frobnicate.b32 %r1, %r2;", "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];",
     "add.f64x3 %x1, %x2, %x3;", "wgmma.fence.sync.aligned;",
     "ld.global.u32 %r1, [%x1, {%r2}];"],
)  # fmt: skip
def test_what_is_not_emulated_is_refused_where_it_is_executed(instruction: str) -> None:
    text = f"setp.ge.u32 %q1, %r0, 40; @!%q1 bra END; {instruction} END: @%q1 {instruction}"
    text += "add.u64 %x1, %p0, %x0; st.global.u32 [%x1], %r0;"
    out = np.zeros(64, np.int32)
    run(ptx(text), out, threads=40)
    assert out.tolist() == [*range(40), *[0] * 24]
    with pytest.raises(EmulatorError, match=instruction.split(" ", maxsplit=1)[0]) as error:
        run(ptx(text), out, threads=64)
    assert error.value.span is not None
    assert error.value.thread == (40, 0, 0)


def test_spinning_on_another_warp() -> None:
    """Warps go on in turn, so one may wait for what another does."""
    text = """
    add.u64 %x1, %p0, 4;
    setp.ge.u32 %q1, %r0, 32;
    @%q1 bra WRITER;
    SPIN: ld.volatile.global.u32 %r1, [%p0];
    setp.eq.u32 %q2, %r1, 0;
    @%q2 bra SPIN;
    st.global.u32 [%x1], %r1;
    bra END;
    WRITER: st.global.u32 [%p0], 7;
    END:
    """
    for schedule in ("lockstep", 0, 1):
        out = np.zeros(2, np.int32)
        run(ptx(text), out, threads=64, schedule=schedule)
        assert out.tolist() == [7, 7]
