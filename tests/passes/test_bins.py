"""Which tasks are kept apart by the trip counts of their loops, and that they compute the same."""

from __future__ import annotations

import re

import numpy as np
import pytest
from assembled import failure
from collecting import transform

from ccc.emulator import Module
from ccc.remark import Remark

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u32 n, .param .u64 in, .param .u64 out)
.maxntid 64, 1, 1
{{
    .reg .pred %p<9>;
    .reg .b32 %r<30>;
    .reg .b64 %rd<20>;
    .reg .f32 %f<2>;
    ld.param.u32 %r1, [n];
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd9, [out];
    mov.u32 %r2, %tid.x;
    // ccc.loop 1 k.cu:1:1
LOOP:
    // ccc.for 1 k.cu:1:1
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    add.s64 %rd4, %rd9, %rd2;
    rem.u32 %r3, %r2, 3;
    mov.u32 %r20, 5;
    setp.eq.s32 %p1, %r3, 0;
    @%p1 bra JOIN;
    // ccc.then 2 k.cu:3:5 strategy={asked}
    {path}
JOIN:
    st.global.u32 [%rd4], %r20;
    add.s32 %r2, %r2, 64;
    setp.lt.u32 %p2, %r2, %r1;
    @%p2 bra LOOP;
    ret;
}}
"""
LOAD = "ld.global.u32 %r5, [%rd3];"
TURN = "mad.lo.s32 %r20, %r20, 3, %r2;"
UP = f"mov.u32 %r4, 0; TURN: {TURN} add.s32 %r4, %r4, 1; setp.lt.s32 %p3, %r4, %r5; @%p3 bra TURN;"
DOWN = f"TURN: {TURN} add.s32 %r5, %r5, -1; setp.gt.s32 %p3, %r5, 0; @%p3 bra TURN;"
FIRST = (
    f"and.b32 %r7, %r5, 3; setp.eq.s32 %p4, %r7, 0; mov.u32 %r4, 0; @%p4 bra ON;"
    f" {TURN} add.s32 %r4, %r4, 1; setp.eq.s32 %p4, %r7, 1; @%p4 bra ON;"
    f" {TURN} mov.u32 %r4, 2; setp.eq.s32 %p4, %r7, 2; @%p4 bra ON;"
    f" {TURN} mov.u32 %r4, 3; ON:"
)
BY_FOUR = (
    f" TURN: {TURN} {TURN} {TURN} {TURN}"
    " add.s32 %r4, %r4, 4; setp.lt.s32 %p3, %r4, %r5; @%p3 bra TURN;"
)
LATER = f"ld.global.u32 %r6, [%rd3]; {TURN} {LOAD}"
GUARD = "setp.lt.s32 %p5, %r5, 4; @%p5 bra OVER;"
MASKED = (
    f"{LOAD} {GUARD} and.b32 %r7, %r5, 3; sub.s32 %r8, %r5, %r7;"
    f" TURN: {TURN} {TURN} {TURN} {TURN}"
    " add.s32 %r8, %r8, -4; setp.ne.s32 %p3, %r8, 0; @%p3 bra TURN; OVER: add.s32 %r20, %r20, 1;"
)


# A register is written again, also by what reads it; one value is needed, and an earlier one of it.
WRITTEN_AGAIN = f"mov.u64 %rd5, %rd3; add.u64 %rd5, %rd5, 0; ld.global.u32 %r5, [%rd5]; {UP}"
WRITTEN_BETWEEN = (
    "add.u64 %rd5, %rd1, %rd2; ld.global.u32 %r5, [%rd5]; add.u64 %rd5, %rd5, 0x10000000;"
    f" cvt.u32.u64 %r4, %rd5; and.b32 %r4, %r4, 1; {UP.replace('mov.u32 %r4, 0;', '')}"
)
FLOAT = (
    f"{LOAD} cvt.rn.f32.u32 %f1, %r5; mov.b32 %r6, %f1; add.s32 %r7, %r6, 5; and.b32 %r8, %r5, 1;"
    f" setp.eq.s32 %p4, %r8, 0; mov.u32 %r4, %r6; @%p4 bra ON; {TURN} add.s32 %r4, %r6, 1; ON:"
    f" TURN: {TURN} {TURN} add.s32 %r4, %r4, 2; setp.lt.s32 %p3, %r4, %r7; @%p3 bra TURN;"
)
ALSO = "setp.lt.s32 %p5, %r20, 999;"
EITHER = "setp.gt.s32 %p5, %r20, 999; or.pred %p6, %p3, %p5; @!%p6"
ENDS_BY_EITHER = UP.replace("lt.s32", "ge.s32").replace("@%p3", EITHER)
ALMOST_ALL = DOWN.replace("s32 %p3, %r5, 0", "u32 %p3, %r5, 4294967290")


def collected(path: str, asked: str = "bins(8)") -> list[Remark]:
    return transform(KERNEL.format(path=path, asked=asked)).remarks["k"]


@pytest.mark.parametrize(
    ("path", "least"),
    [
        (f"{LOAD} {UP}", 8),
        (f"{LOAD} {DOWN}", 8),
        (f"{LOAD} {UP.replace('lt', 'le')}", 7),
        (f"{LOAD} {UP.replace('lt', 'ne')}", 8),
        (f"{LOAD} {UP.replace('r4, 1', 'r4, 3')}", 24),
        (f"{LOAD} {UP.replace('r4, 0', 'r4, 2')}", 8),
        # It is computed before the loop, or known before the path.
        (f"{LATER} {UP}", 8),
        (f"{LOAD} add.s32 %r5, %r5, 2; {UP}", 8),
        (f"{LOAD} add.s32 %r9, %r5, 2; {UP.replace('%r5', '%r9')}", 8),
        (UP.replace("%r5", "%r2"), 8),
        # nvcc has taken turns out of the loop, which stand before it or behind it.
        (f"{LOAD} {FIRST} {BY_FOUR}", 8),
        (MASKED, 8),
        (WRITTEN_AGAIN, 8),
        (WRITTEN_BETWEEN, 8),
        # A number as bits, and one that has no sign.
        (FLOAT, 8),
        (f"{LOAD} {ALMOST_ALL}", 8),
        # It may end before its bound, or is tested first.
        (f"{LOAD} {UP.replace('TURN: ', 'TURN: setp.gt.s32 %p5, %r20, 999; @%p5 bra OVER; ')} OVER:"
         " add.s32 %r20, %r20, 1;", 8),
        (f"{LOAD} TURN: setp.lt.s32 %p3, %r5, 1; @%p3 bra OVER; {TURN} add.s32 %r5, %r5, -1;"
         " bra TURN; OVER: add.s32 %r20, %r20, 1;", 7),
        (f"{LOAD} TURN: {TURN} add.s32 %r8, %r5, -1; setp.gt.s32 %p3, %r5, 1; mov.u32 %r5, %r8;"
         " @%p3 bra TURN;", 8),
        # nvcc asks at once whether it ends by its bound, or by something else.
        (f"{LOAD} {UP.replace('@%p3', f'{ALSO} and.pred %p6, %p5, %p3; @%p6')}", 8),
        (f"{LOAD} {ENDS_BY_EITHER}", 8),
        # Of two the one with the longer turn counts, if it is known of that one.
        (f"{LOAD} {UP} mov.u32 %r4, 1; {BY_FOUR.replace('TURN', 'OTHER').replace('%r5', '%r2')}",
         32),
        (f"{LOAD} {UP} mov.u32 %r4, 1; {BY_FOUR.replace('TURN', 'OTHER').replace('%r5', '90')}",
         8),
    ],
)  # fmt: skip
def test_where_tasks_wait(path: str, least: int) -> None:
    ptx = KERNEL.format(path=path, asked="bins(8)")
    done = transform(ptx).ptx
    assert re.findall(r"setp\.gt\.s32 %ccc_many_0, \S+, (\d+);", done) == [str(least)]
    for count in (64, 36, 1):
        assert run(done, count, "lockstep") == run(done, count, 3) == run(ptx, count, "lockstep")


def run(ptx: str, threads: int, schedule: str | int) -> list[int]:
    """What is computed by so many threads, a warp's worth or less in the last one."""
    lengths = np.random.default_rng(threads).integers(1, 20, 700).astype(np.uint32)
    out = np.zeros(700, np.uint32)
    kernel = Module(ptx).get_function("k")
    kernel((1,), (threads,), (np.uint32(700), lengths, out), schedule=schedule)
    found: list[int] = out.tolist()
    return found


NO_LOOP = "no loop lies in the path that compares a counter with a bound read before it"
NOT_KNOWN = "how often the loop in it turns is not known where the path begins"

SAME = "the loop in it turns equally often in every task"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (f"{LOAD} {TURN}", "no loop is left in the path"),
        (f"{LOAD} TURN: {TURN} shr.u32 %r5, %r5, 1; setp.ne.u32 %p3, %r5, 0; @%p3 bra TURN;",
         NO_LOOP),
        (f"mov.u32 %r4, 0; TURN: {TURN} ld.global.u32 %r5, [%rd3]; add.s32 %r4, %r4, 1;"
         " setp.lt.s32 %p3, %r4, %r5; @%p3 bra TURN;", NO_LOOP),
        # It goes on as long as one of two holds.
        (f"{LOAD} {UP.replace('@%p3', f'{ALSO} or.pred %p6, %p5, %p3; @%p6')}", NO_LOOP),
        (UP.replace("%r5", "9"), SAME),
        # A parameter, what is made of it, and what is read from one place, are so, too.
        (UP.replace("%r5", "%r1"), SAME),
        (f"shr.u32 %r5, %r1, 2; {UP}", SAME),
        (f"ld.global.u32 %r5, [%rd1+8]; {UP}", SAME),
        (f"mov.u32 %r5, %ntid.x; {UP}", SAME),
        (f"{LOAD} setp.lt.s32 %p4, %r5, 9; @%p4 bra ON; ld.global.u32 %r5, [%rd3+4]; ON: {UP}",
         NOT_KNOWN),
        # Not all who come to the path make the load, or it is not the first to do anything.
        (f"{LOAD} setp.lt.s32 %p4, %r5, 9; @%p4 bra OVER; ld.global.u32 %r6, [%rd3+4];"
         f" {UP.replace('%r5', '%r6')} OVER: {TURN}", NOT_KNOWN),
        (f"st.global.u32 [%rd4], %r2; {LOAD} {UP}", NOT_KNOWN),
        (f"{LOAD.replace('global', 'volatile.global')} {UP}", NOT_KNOWN),
        (f"{LOAD} {UP} setp.lt.s32 %p4, %r5, 9; @%p4 bra ON;\n// ccc.then 3 k.cu:5:5\n {TURN} ON:"
         f" {TURN}", "there are several paths"),
    ],
)  # fmt: skip
def test_what_is_not_kept_apart(path: str, reason: str) -> None:
    remarks = collected(path)
    heads = {str(one.declined).partition("; ")[0] for one in remarks if one.asked == "bins(8)"}
    assert heads == {reason}
    assert "bins(8)" not in {one.strategy for one in remarks}


def test_what_only_tasks_read_is_made_in_them() -> None:
    path = f"{LOAD} {UP} add.s64 %rd12, %rd11, %rd2; st.global.u32 [%rd12], %r20;"
    text = KERNEL.format(path=path, asked="bins(8)").replace(
        "// ccc.loop", "add.s64 %rd11, %rd9, 0;\n    // ccc.loop"
    )
    body = transform(text).ptx.partition("// ccc.for")[2]
    assert re.search(r"add\.s64 %ccc_b64_\d+, %rd9, 0;", body)
    assert "%rd11" not in body
    assert run(text, 64, "lockstep") == run(transform(text).ptx, 64, 5)


@pytest.mark.parametrize("path", [FLOAT, f"{LOAD} {ALMOST_ALL}"])
def test_the_assembler_takes_the_number_of_turns(path: str) -> None:
    assert not failure(transform(KERNEL.format(path=path, asked="bins(8)")).ptx)


def test_a_value_of_an_earlier_round_is_not_made_in_tasks() -> None:
    """What it was made of has another value by then."""
    path = f"{LOAD} {UP} red.global.add.u32 [%rd11], %r20;"
    text = KERNEL.format(path=path, asked="bins(8)")
    begin = "mov.u32 %r21, 0; OUTER: setp.eq.u32 %p6, %r21, 0; add.s64 %rd11, %rd10, 0;"
    text = text.replace(
        "// ccc.loop", f"{begin} mov.u32 %r2, %tid.x; mov.u32 %r22, 0;\n// ccc.loop"
    )
    text = text.replace(
        "rem.u32", "mul.wide.u32 %rd12, %r22, 4; add.s64 %rd10, %rd9, %rd12; rem.u32"
    )
    text = text.replace("@%p1 bra JOIN", "or.pred %p1, %p1, %p6; @%p1 bra JOIN")
    text = text.replace("st.global.u32 [%rd4], %r20;", "add.u32 %r22, %r22, 1;")
    text = text.replace(
        "ret;", "add.u32 %r21, %r21, 1; setp.lt.u32 %p6, %r21, 3; @%p6 bra OUTER; ret;"
    )
    done = transform(text)
    assert [one.strategy for one in done.remarks["k"]] == ["bins(8)"]
    assert run(text, 64, "lockstep") == run(done.ptx, 64, "lockstep") == run(done.ptx, 64, 5)


def test_registers_are_not_scarcer_than_stacks_leave_blocks_for() -> None:
    """A stack of 24 words for each of 96 tasks leaves room for 8 blocks of two warps, not 24."""
    numbers = range(30, 54)
    uses = " ".join(f"xor.b32 %r20, %r20, %r{number};" for number in numbers)
    loads = " ".join(f"ld.global.u32 %r{n}, [%rd3+{4 * n - 120}];" for n in numbers)
    found = []
    for path, body in ((f"{LOAD} {UP}", ""), (f"{LOAD} {UP} {uses}", loads)):
        text = KERNEL.format(path=path, asked="bins(8)").replace("%r<30>", "%r<60>")
        text = text.replace("rem.u32", f"{body} rem.u32")
        done = transform(text, registers={"k": 32})
        assert not failure(done.ptx)
        found.append(done.remarks["k"][0].details["least_blocks"])
    assert found == [24, 8]
