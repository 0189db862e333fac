"""Loops in which lanes may wait for others: what they look at, and who may still write it."""

from __future__ import annotations

import pytest
from test_local_memory import facts_of

from ccc.analysis.spinning import swapping

TABLE = """
    .shared .align 4 .b8 table[64];
    mov.u32 %r1, table;
    {before}
    {barrier}
WAIT:
    ld.shared.u32 %r2, [%r1];
    {inside}
    setp.ne.s32 %p1, %r2, 0;
    @%p1 bra WAIT;
    {behind}
"""
AGAIN = "AGAIN: st.shared.u32 [%r1], %r3; "
PARTS = "mov.u32 %r5, %tid.x; setp.eq.u32 %p2, %r5, 0; "
OTHER_WAY = "@!%p2 bra HERE; bar.sync 0; st.shared.u32 [%r1], %r3; bra END; HERE:"
FILLED = {"before": "st.shared.u32 [%r1], %r3;", "barrier": "bar.sync 0;"}


@pytest.mark.parametrize(
    ("code", "spins"),
    [
        ({}, False),
        ({"barrier": "barrier.sync 0;"}, False),
        ({"inside": "st.global.u32 [%rd3], %r4;"}, False),
        ({"barrier": ""}, True),
        ({"barrier": "bar.warp.sync -1;"}, True),
        ({"barrier": "bar.arrive 0, 64;"}, True),
        ({"barrier": "bar.sync 0, 64;"}, True),
        ({"barrier": "@%p2 bar.sync 0;"}, True),
        ({"barrier": "@%p2 bra WAIT; bar.sync 0;"}, True),
        ({"inside": "st.shared.u32 [%r1], %r4;"}, True),
        ({"inside": "red.shared.add.u32 [%r1], 1;"}, True),
        ({"inside": "st.u32 [%rd3], %r4;"}, True),
        ({"behind": "st.shared.u32 [%r1+4], %r4;"}, True),
        ({"behind": "bar.sync 0; @%p2 bra WAIT;"}, False),
        ({"before": "AGAIN: st.shared.u32 [%r1], %r3;", "behind": "@%p2 bra AGAIN;"}, True),
        # who comes to another barrier goes on writing
        ({"before": PARTS + OTHER_WAY, "behind": "END:"}, True),
        ({"before": OTHER_WAY, "behind": "END:"}, False),
        # what writes behind the next barrier does so later, if all threads come to that
        ({"before": AGAIN, "behind": "bar.sync 0; @%p2 bra AGAIN;"}, False),
        ({"before": PARTS + AGAIN, "behind": "@%p2 bar.sync 0; @%p3 bra AGAIN;"}, True),
        ({"before": PARTS + AGAIN, "behind": "@%p2 bra AGAIN; bar.sync 0; @%p3 bra AGAIN;"}, True),
        ({"before": AGAIN, "behind": "bar.sync 0, 64; @%p3 bra AGAIN;"}, True),
        ({"before": AGAIN, "behind": "bar.arrive 0, 64; @%p3 bra AGAIN;"}, True),
        ({"before": AGAIN, "inside": "bar.sync 0;", "behind": "bar.sync 0; @%p3 bra AGAIN;"}, True),
        ({"before": f"bra TO; {AGAIN}TO:", "behind": "bar.sync 0; @%p3 bra AGAIN;"}, False),
        ({"before": "cp.async.ca.shared.global [%r1], [%rd3], 4;"}, True),
        ({"before": "st.shared::cluster.u32 [%r3], %r4;"}, True),
        ({"before": "mapa.u64 %rd4, %rd5, 1; st.u32 [%rd4], %r4;"}, True),
        ({"before": "call somewhere;"}, True),
    ],
)  # fmt: skip
def test_shared_memory_that_nobody_writes_any_more(code: dict[str, str], spins: bool) -> None:
    parts = {"inside": "", "behind": "", **FILLED, **code}
    assert bool(facts_of(TABLE.format(**parts)).spins) == spins


COUNTED = """
WAIT:
    ld.global.u32 %r1, [%rd3];
    {step}
    setp.lt.s32 %p1, %r2, %r1;
    @%p1 bra WAIT;
"""


@pytest.mark.parametrize(
    ("step", "spins"),
    [
        ("add.s32 %r2, %r2, 1;", False),
        ("mad.lo.s32 %r2, %r4, %r5, %r2;", False),
        ("mov.u32 %r4, %nctaid.x; mad.lo.s32 %r2, %r4, %r5, %r2;", False),
        ("cvt.s64.s32 %rd4, %r2; cvt.u32.u64 %r5, %rd4; add.s32 %r2, %r5, 64;", False),
        ("mov.u32 %r5, %r2; add.s32 %r2, %r5, %r4;", False),
        ("add.s32 %r2, %r2, %r1;", True),
        ("add.s32 %r4, %r1, 1; add.s32 %r2, %r2, %r4;", True),
        ("mov.u32 %r4, %clock; add.s32 %r2, %r2, %r4;", True),
        ("xor.b32 %r4, %r4, 1; add.s32 %r2, %r2, %r4;", True),
        ("mov.u32 %r4, 0; @%p2 mov.u32 %r4, 1; add.s32 %r2, %r2, %r4;", True),
        ("cvt.u32.u8 %r5, %r2; add.s32 %r2, %r5, 1;", True),
        ("@%p2 add.s32 %r2, %r2, 1;", True),
    ],
)
def test_what_counts_the_trips_of_a_loop(step: str, spins: bool) -> None:
    """It ends then, whatever it looks at: here at its bound."""
    assert bool(facts_of(COUNTED.format(step=step)).spins) == spins


WAITS = """
    mov.u32 %r2, 0;
    mov.u64 %rd6, 0;
WAIT:
    ld.volatile.global.u32 %r1, [%rd3];
    setp.eq.s32 %p1, %r1, 0;
    {step}
    setp.{end};
    and.pred %p3, %p1, %p2;
    @%p3 bra WAIT;
"""


@pytest.mark.parametrize(
    ("step", "end", "gives_up"),
    [
        ("add.s32 %r2, %r2, 1;", "lt.s32 %p2, %r2, %r4", True),
        ("add.s32 %r2, %r2, 1;", "lt.u32 %p2, %r2, 1000", True),
        ("add.s32 %r2, %r2, 1;", "ne.s32 %p2, %r2, %r4", True),
        ("add.s32 %r2, %r2, 1;", "lt.s32 %p2, %r2, %r1", True),
        ("add.s32 %r2, %r2, -1;", "gt.s32 %p2, %r2, %r4", True),
        ("sub.s32 %r2, %r2, 1;", "lt.s32 %p2, %r4, %r2", True),
        ("sub.s32 %r2, %r2, 1;", "lo.u32 %p2, %r4, %r2", True),
        ("add.s32 %r2, %r2, 8;", "lt.u32 %p2, %r2, 1000", True),
        ("add.s32 %r2, %r2, 8;", "eq.s32 %p2, %r2, %r4", True),
        ("add.s32 %r2, %r2, 1;", "le.u32 %p2, %r2, 999", True),
        ("add.s32 %r5, %r2, 1;", "lt.s32 %p2, %r2, %r4; mov.u32 %r2, %r5", True),
        ("add.s32 %r2, %r2, 1; add.s32 %r5, %r2, 7;", "lt.s32 %p2, %r5, %r4", True),
        ("add.s64 %rd4, %rd4, 8;", "lt.u64 %p2, %rd4, 8589934592", True),
        ("add.s64 %rd6, %rd6, 8;", "lt.s64 %p2, %rd6, 8589934592", True),
        ("add.s64 %rd6, %rd6, 1;", "ne.s64 %p2, %rd6, 4294967296", True),
        ("add.s64 %rd6, %rd6, -1;", "gt.s64 %p2, %rd6, -4294967296", True),
        ("add.s64 %rd4, %rd4, 1; cvt.u32.u64 %r5, %rd4;", "lt.u32 %p2, %r5, %r4", True),
        # no step, or one that may be none
        ("add.s32 %r2, %r2, 0;", "lt.s32 %p2, %r2, %r4", False),
        ("add.s32 %r2, %r2, %r4;", "lt.s32 %p2, %r2, 1000", False),
        ("mad.lo.s32 %r2, %r4, %r5, %r2;", "lt.s32 %p2, %r2, 1000", False),
        ("add.s32 %r2, %r2, 1; mul.lo.s32 %r5, %r2, %r4;", "lt.s32 %p2, %r5, 1000", False),
        ("add.s32 %r2, %r2, 4; shl.b32 %r5, %r2, 30;", "ne.s32 %p2, %r5, %r4", False),
        ("add.s64 %rd4, %rd4, 4294967296; cvt.u32.u64 %r5, %rd4;", "lt.u32 %p2, %r5, 9", False),
        # a bound that may be stepped over, or never come to
        ("add.s32 %r2, %r2, 2;", "ne.s32 %p2, %r2, %r4", False),
        ("add.s32 %r2, %r2, 2;", "lt.u32 %p2, %r2, %r4", False),
        ("add.s32 %r2, %r2, 8;", "lt.u32 %p2, %r2, 4294967289", False),
        ("add.s32 %r2, %r2, 8;", "lt.s32 %p2, %r2, 2147483641", False),
        ("add.s32 %r2, %r2, 1;", "le.s32 %p2, %r2, %r4", False),
        ("add.s32 %r2, %r2, 1;", "le.u32 %p2, %r2, 4294967295", False),
        ("add.s32 %r2, %r2, 1;", "ne.s32 %p2, %r2, %r1", False),
        ("add.s32 %r2, %r2, 1; cvt.u64.u32 %rd4, %r2;", "lt.u64 %p2, %rd4, %rd5", False),
        ("add.f32 %r2, %r2, 0f3F800000;", "lt.f32 %p2, %r2, %r4", False),
        # more turns than anybody waits for, or that may be
        ("add.s64 %rd6, %rd6, 1;", "lt.s64 %p2, %rd6, 1099511627776", False),
        ("add.s64 %rd6, %rd6, 1;", "ne.s64 %p2, %rd6, 4294967298", False),
        ("add.s64 %rd6, %rd6, -1;", "ne.s64 %p2, %rd6, 1000", False),
        ("add.s64 %rd6, %rd6, 1;", "lt.s64 %p2, %rd6, %rd5", False),
        ("add.s64 %rd4, %rd4, 1;", "lt.s64 %p2, %rd4, 1000", False),
        ("add.s64 %rd4, %rd4, 1;", "lt.u64 %p2, %rd4, 1099511627776", False),
        # the second predicate is the opposite
        ("add.s32 %r2, %r2, 1;", "lt.s32 %p0|%p2, %r2, %r4", False),
        # a step that waits itself
        ("@%p1 bra ON; add.s32 %r2, %r2, 1; ON:", "lt.s32 %p2, %r2, %r4", False),
    ],
)  # fmt: skip
def test_who_gives_up_counts_to_a_certain_end(step: str, end: str, gives_up: bool) -> None:
    (spin,) = facts_of(WAITS.format(step=step, end=end)).spins
    assert spin.gives_up == gives_up


def test_a_loop_whose_counter_moves_on_only_when_somebody_says_so_waits() -> None:
    code = """
    WAIT:
        ld.volatile.global.u32 %r1, [%rd3];
        setp.eq.s32 %p1, %r1, 0;
        @%p1 bra ON;
        add.s32 %r2, %r2, 1;
    ON:
        setp.lt.s32 %p2, %r2, %r4;
        @%p2 bra WAIT;
    """
    (spin,) = facts_of(code).spins
    assert not spin.gives_up


def test_a_counter_ends_no_loop_whose_branch_looks_at_an_older_comparison() -> None:
    code = """
    WAIT:
        ld.volatile.global.u32 %r1, [%rd3];
        setp.eq.s32 %p1, %r1, 0;
        add.s32 %r2, %r2, 1;
        setp.ne.s32 %p2, %r2, %r4;
        @!%p1 bra ON;
        and.pred %p3, %p1, %p2;
    ON:
        @%p3 bra WAIT;
    """
    (spin,) = facts_of(code).spins
    assert not spin.gives_up


INSERT = """
    mov.u64 %rd4, other;
    mov.u32 %r3, -1;
{before}
NEXT:
    {mark}
    and.b32 %r1, %r1, 63;
    mul.wide.u32 %rd6, %r1, 4;
    add.s64 %rd7, %rd3, %rd6;
    add.s32 %r1, %r1, 1;
    {swap}
    {test}
    @%p3 bra NEXT;
    {behind}
"""
RESTRICT = "// ccc.for 1 k.cu:1:1 restrict=0\n"
SWAP = "atom.global.cas.b32 %r2, [%rd7], %r3, %r4;"
TEST = "setp.ne.s32 %p1, %r2, -1; setp.ne.s32 %p2, %r2, %r4; and.pred %p3, %p1, %p2;"


@pytest.mark.parametrize(
    ("code", "spins"),
    [
        ({}, False),
        ({"test": "setp.ne.s32 %p3, %r2, -1;"}, False),
        ({"test": "setp.ne.s32 %p3, %r2, %r3;"}, False),
        ({"test": "setp.ne.s32 %p3, 4294967295, %r2;"}, False),
        ({"test": "setp.eq.s32 %p1, %r2, -1; @%p1 bra END; setp.ne.s32 %p3, %r2, %r4;"}, False),
        ({"test": "setp.eq.s32 %p1, %r2, %r4; @%p1 bra END; setp.ne.s32 %p3, %r2, -1;"}, True),
        ({"before": "atom.global.cas.b32 %r5, [%rd3], -1, 7;"}, False),
        # a register holds what is free there, and something else where others look at it
        ({"swap": f"mov.u32 %r6, -1; {SWAP.replace('%r3', '%r6')}", "behind": "mov.u32 %r6, 1;"},
         False),
        ({"swap": f"mov.u32 %r6, 1; @%p0 mov.u32 %r6, -1; {SWAP.replace('%r3', '%r6')}"}, True),
        ({"before": "mov.u32 %r6, -1; @%p0 bra NEXT; mov.u32 %r6, 1;",
          "swap": SWAP.replace("%r3", "%r6")}, True),
        ({"before": "st.shared.u32 [%r6], %r5;", "behind": "st.local.u32 [%rd1], %r5;"}, False),
        # only who looks before tries to take a place
        (
            {"swap": "ld.global.u32 %r2, [%rd7]; setp.ne.s32 %p0, %r2, -1; @%p0 bra NEXT;" + SWAP},
            False,
        ),
        ({"mark": RESTRICT, "behind": "st.global.u32 [%rd4], %r5;"}, False),
        ({"behind": "st.global.u32 [%rd4], %r5;"}, False),  # or it would be a race
        ({"behind": "st.volatile.global.u32 [%rd4], %r5;"}, True),
        ({"mark": RESTRICT, "behind": "st.global.u32 [%rd7], %r5;"}, True),
        ({"behind": "st.global.u32 [%rd3], -1;"}, True),
        ({"behind": "atom.global.exch.b32 %r5, [%rd7], -1;"}, True),
        ({"behind": "red.global.and.b32 [%rd3], 0;"}, True),
        ({"behind": "call somewhere;"}, True),
        ({"behind": "cp.async.bulk.global.shared::cta.bulk_group [%rd3], [%r5], 16;"}, True),
        # what it leaves behind, others take away
        ({"behind": "atom.global.cas.b32 %r5, [%rd7], %r4, -1;"}, True),
        ({"before": "atom.global.cas.b64 %rd5, [%rd3], -1, %rd8;"}, True),
        ({"before": "add.s32 %r3, %r5, 1;"}, True),
        # it goes on though it has taken a place
        ({"test": "setp.ne.s32 %p3, %r2, %r4;"}, True),
        ({"test": "setp.ne.s32 %p3, %r2, 0;"}, True),
        ({"test": "setp.eq.s32 %p3, %r2, -1;"}, True),
        ({"test": "setp.ne.s16 %p3, %r2, -1;"}, True),
        ({"test": "setp.ne.s32 %p1, %r2, -1; setp.ne.s32 %p2, %r2, %r4; or.pred %p3, %p1, %p2;"},
         True),
        ({"test": "mov.u32 %r2, %r5; setp.ne.s32 %p3, %r2, -1;"}, True),
        # what decides besides others may change
        ({"test": "ld.volatile.global.u32 %r5, [%rd4]; setp.ne.s32 %p1, %r5, 0;"
                  "setp.ne.s32 %p2, %r2, -1; and.pred %p3, %p1, %p2;"}, True),
    ],
)  # fmt: skip
def test_who_takes_what_is_free_for_good_waits_for_nobody(
    code: dict[str, str], spins: bool
) -> None:
    parts = {"mark": "", "before": "", "swap": SWAP, "test": TEST, "behind": "", **code}
    others = ".visible .global .align 4 .b8 other[64];\n"
    assert bool(facts_of(f"{INSERT.format(**parts)}\nEND:", others).spins) == spins


@pytest.mark.parametrize(
    ("test", "says"),
    [
        ("setp.eq.b32 %p1, %r2, 0", True),
        ("setp.eq.s32 _|%p1, %r2, 0", False),
        ("setp.ne.b32 %p1|%p2, %r2, 0", False),
        ("setp.eq.s32 %p1, %r2, 1", False),
        # what is no number is not even equal to itself, and of halves one may be equal
        ("mov.b32 %r3, 0; setp.eq.f32 %p1, %r2, %r3", None),
        ("mov.b32 %r3, 0; setp.eq.f16x2 %p1|%p2, %r2, %r3", None),
    ],
)
def test_what_a_comparison_says_of_an_exchange_that_found_a_lock_free(
    test: str, says: bool | None
) -> None:
    facts = facts_of(f"atom.global.exch.b32 %r2, [%rd3], 1; {test};")
    (block,) = facts.function.blocks
    *_, swap = (one for one in block.instructions if one.name == "atom")
    comparison = next(one for one in block.instructions if one.name == "setp")
    assert swapping(block.label, swap, facts)(comparison) == says


@pytest.mark.parametrize(("begin", "again", "gives_up"), [
    ("", "", True),
    ("AGAIN:", "@%p0 bra AGAIN;", True),
    ("", "@%p0 bra WAIT;", False),
])  # fmt: skip
def test_where_a_counter_begins_is_known_each_time(begin: str, again: str, gives_up: bool) -> None:
    code = f"""
    {begin}
        mov.u64 %rd4, 0;
    WAIT:
        mov.u64 %rd5, %rd4;
    LOOK:
        ld.volatile.global.u32 %r1, [%rd3];
        setp.eq.s32 %p1, %r1, 0;
        add.s64 %rd4, %rd4, 1;
        setp.ne.s64 %p2, %rd4, 1000;
        and.pred %p3, %p1, %p2;
        @%p3 bra LOOK;
        {again}
    """
    (inner,) = (spin for spin in facts_of(code).spins if spin.blocks == {"LOOK"})
    assert inner.gives_up == gives_up


def test_what_decides_what_decides_is_polled() -> None:
    """Whether the loop is left before its counter ends it depends on a number, which is set where
    another one is, and that where the flag is seen."""
    code = """
        mov.u32 %r2, 0;
    WAIT:
        ld.volatile.global.u32 %r1, [%rd3];
        setp.eq.s32 %p1, %r1, 0;
        @%p1 bra FIRST;
        mov.u32 %r4, 1;
    FIRST:
        setp.eq.s32 %p2, %r4, 0;
        @%p2 bra SECOND;
        mov.u32 %r5, 1;
    SECOND:
        setp.ne.s32 %p3, %r5, 0;
        @%p3 bra END;
        add.s32 %r2, %r2, 1;
        setp.lt.s32 %p0, %r2, 1000;
        @%p0 bra WAIT;
    END:
    """
    (spin,) = facts_of(code).spins
    assert spin.poll.opcode == "ld.volatile.global.u32"


TRIES = """
AGAIN:
    atom.global.cas.b32 %r1, [%rd3], 0, 1;
    setp.ne.s32 %p1, %r1, 0;
    @%p1 bra ON;
    {inside}
ON:
    {step}
    setp.gt.s32 %p2, %r2, 7;
    @%p2 bra AGAIN;
    {behind}
"""
RETRY = """
RETRY:
    mov.u32 %r6, %r5;
    atom.global.cas.b32 %r5, [%rd4], %r6, %r4;
    {counted}
    setp.ne.s32 %p3, %r5, %r6;
    @%p3 bra RETRY;
"""
WAIT = "WAIT: ld.volatile.global.u32 %r5, [%rd4]; setp.eq.s32 %p3, %r5, 0; @%p3 bra WAIT;"


@pytest.mark.parametrize(
    ("code", "spins"),
    [
        ({}, 0),
        ({"inside": "add.s32 %r6, %r6, 1;"}, 0),
        ({"inside": "st.global.u32 [%rd4], %r2;"}, 0),
        ({"step": f"mul.lo.s32 %r2, %r2, %r2; {RETRY.format(counted='')}"}, 0),
        # whether the loop ends hangs on the try
        ({"step": "mul.lo.s32 %r2, %r2, %r1;"}, 1),
        ({"inside": "add.s32 %r2, %r2, 1;"}, 1),
        ({"inside": "mov.u32 %r5, 1;", "step": "mul.lo.s32 %r2, %r2, %r5;"}, 1),
        ({"inside": "st.local.u32 [%rd5], 1;", "step": "ld.local.u32 %r2, [%rd5];"}, 1),
        ({"inside": "bra END;"}, 1),
        # or on how often another one was tried
        ({"step": RETRY.format(counted="mad.lo.s32 %r2, %r2, %r2, %r4;")}, 1),
        # others may wait for what was taken
        ({"behind": WAIT}, 2),
        ({"step": f"{WAIT} mul.lo.s32 %r2, %r2, %r2;"}, 2),
    ],
)  # fmt: skip
def test_who_only_tries_waits_for_nobody(code: dict[str, str], spins: int) -> None:
    parts = {"inside": "", "step": "mul.lo.s32 %r2, %r2, %r2;", "behind": "", **code}
    assert len(facts_of(f"{TRIES.format(**parts)}\nEND:").spins) == spins


SWAPPED = """
RETRY:
    {load} %r6, [%rd4];
    {guard} atom.global.cas.b32 %r5, [%rd4], %r6, %r4;
    setp.ne.s32 %p3, %r5, %r6;
    @%p3 bra RETRY;
"""


@pytest.mark.parametrize(
    ("load", "guard", "spins"),
    [
        ("ld.global.u32", "", 0),
        ("ld.volatile.global.u32", "", 0),
        ("ld.global.u8", "", 1),
        ("ld.volatile.global.u32", "@%p2", 1),
    ],
)
def test_who_only_sometimes_expects_all_that_is_there_may_wait(
    load: str, guard: str, spins: int
) -> None:
    assert len(facts_of(SWAPPED.format(load=load, guard=guard)).spins) == spins


MOVED_ON = """
    mov.u64 %rd4, gate;
AGAIN:
    {before}
WAIT:
    atom.global.add.u32 %r5, [%rd4], 1;
    setp.lt.s32 %p3, %r5, 0;
    @%p3 bra WAIT;
    add.s32 %r2, %r2, 1;
    setp.lt.s32 %p2, %r2, 7;
    @%p2 bra AGAIN;
"""


@pytest.mark.parametrize(
    ("before", "spins"),
    [
        ("", 0),
        ("atom.global.add.u32 %r6, [%rd4], 1;", 0),
        ("st.global.u32 [%rd6], 1;", 0),  # which may lead anywhere
        ("atom.global.add.u32 %r6, [%rd4], -9;", 1),
        ("atom.global.exch.b32 %r6, [%rd4], -9;", 1),
        ("st.global.u32 [%rd4], -9;", 1),
    ],
)
def test_who_moves_on_waits_where_a_loop_around_sets_it_back(before: str, spins: int) -> None:
    others = ".global .align 4 .b8 gate[4];"
    assert len(facts_of(MOVED_ON.format(before=before), others).spins) == spins
