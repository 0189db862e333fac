"""The race detector: accesses of two lanes of a warp that nothing orders."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from breadth import always
from emulating import ptx, run
from folders import GOLDEN
from meetings import GOLDENS, needed, places, places_in, try_all

from ccc.emulator import EmulatorError, Race
from ccc.passes.context_collection.adaptive import ANY
from ccc.passes.context_collection.rejoining import MEET

SHARED = ".shared .align 4 .b8 s[256];"
HERE_AND_NEXT = """
mov.u32 %r1, s; mad.lo.u32 %r2, %r0, 4, %r1;      // the own word
add.u32 %r3, %r0, 1; and.b32 %r3, %r3, 31; mad.lo.u32 %r3, %r3, 4, %r1;  // the neighbour's
"""
SCHEDULES = ("lockstep", 1, 2)


def races(
    body: str,
    threads: int = 32,
    schedules: tuple[Any, ...] = SCHEDULES,
    size: int = 64,
    module: str = "",
) -> list[Race]:
    """The races of a kernel in any schedule; it gets an array of zeros, and ``s`` is shared.

    The C library and NumPy must find the same ones.
    """
    found: dict[str, list[Race]] = {"numpy": [], "native": []}
    text = ptx(f"{HERE_AND_NEXT}{body}", module=f"{SHARED}{module}")
    for (mode, mine), schedule in product(found.items(), schedules):
        with patch.dict(os.environ, CCC_EMULATOR=mode):
            run(text, np.zeros(size, np.uint32), threads=threads, schedule=schedule, races=mine)
    assert [str(race) for race in found["numpy"]] == [str(race) for race in found["native"]]
    return found["native"]


def opcodes(race: Race) -> set[str]:
    return {race.first.opcode, race.second.opcode}


STORE = "st.shared.u32 [%r2], %r0;"
LOAD = "ld.shared.u32 %r4, [%r3];"


def test_a_store_and_a_load_of_another_lane_without_a_barrier() -> None:
    body = f"{STORE} bar.warp.sync -1;\n{LOAD}\n{STORE} add.u32 %r4, %r4, 1;"
    (race, *_) = races(body)
    assert opcodes(race) == {"ld.shared.u32", "st.shared.u32"}
    assert race.first.span.line != race.second.span.line
    assert str(race.first) in str(race)
    assert str(race.second) in str(race)
    assert (race.space, race.variable) == ("shared", "s")
    (_, first), (_, second) = race.threads
    assert abs(first[0] - second[0]) in (1, 31)
    assert race.address is not None
    assert race.address // 4 in (first[0], second[0])


HEAP = """
.extern .func (.param .b64 given) malloc (.param .b64 size);
.extern .func free (.param .b64 place);
"""
OWN_ALLOCATION = """
{ .reg .b64 %p, %n; .param .b64 size, given, place;
mov.u64 %n, 8; st.param.b64 [size], %n; call.uni (given), malloc, (size);
ld.param.b64 %p, [given]; st.u32 [%p], %r0;
st.param.b64 [place], %p; call.uni free, (place); }
"""


def test_what_malloc_gives_is_new_to_whom_it_is_given() -> None:
    twice = f"{OWN_ALLOCATION} {OWN_ALLOCATION}"  # lanes get one another's the second time
    assert not races(twice, module=HEAP)
    written = "st.shared.u32 [s], %r0;"
    assert races(f"{twice} {written}", module=HEAP)  # all else is judged as ever


@pytest.mark.parametrize("barrier", ["bar.warp.sync -1;", "bar.sync 0;", "barrier.sync 0;"])
def test_a_barrier_orders(barrier: str) -> None:
    assert not races(f"{STORE} {barrier} {LOAD} {barrier} {STORE}")


@pytest.mark.parametrize(
    "between",
    [
        "",
        "vote.sync.ballot.b32 %r5, %q1, -1;",
        "shfl.sync.idx.b32 %r5, %r0, 0, 31, -1;",
        "vote.ballot.b32 %r5, %q1;",
        "bar.warp.sync %r6;",
    ],
)
def test_what_does_not_order(between: str) -> None:
    alone = "mov.u32 %r6, %lanemask_eq; setp.eq.u32 %q1, %r0, 0;"
    (race, *_) = races(f"{alone} {STORE} bar.warp.sync -1; {LOAD} {between} {STORE}")
    assert opcodes(race) == {"ld.shared.u32", "st.shared.u32"}


def test_members_of_one_mask_learn_nothing_of_another_one() -> None:
    halves = "setp.lt.u32 %q1, %r0, 16; selp.b32 %r6, 0xffff, 0xffff0000, %q1;"
    again = "add.u32 %r5, %r0, 1; st.shared.u32 [%r2], %r5;"
    found = races(f"{halves} {STORE} bar.warp.sync -1; {again} bar.warp.sync %r6; {LOAD}")
    assert {min(race.threads[0][1][0], race.threads[1][1][0]) for race in found} <= {0, 15}
    assert found


def test_several_readers_and_one_who_did_not_wait() -> None:
    body = f"""{STORE} bar.warp.sync -1;
    ld.shared.u32 %r4, [s];
    setp.eq.u32 %q1, %r0, 9; @%q1 bra after;
    bar.warp.sync 0xfffffdff;
    setp.eq.u32 %q2, %r0, 3; @%q2 st.shared.u32 [s], %r0;
    after:"""
    (race, *_) = races(body)
    assert {race.threads[0][1][0], race.threads[1][1][0]} == {3, 9}


def test_lanes_that_store_different_values_in_one_instruction() -> None:
    (race, *_) = races("st.shared.u32 [s], %r0;")
    assert race.first is race.second
    assert not races("st.shared.u32 [s], 7;")


def test_stores_of_the_same_value_by_two_instructions() -> None:
    by_two = "setp.eq.u32 %q1, %r0, 1; setp.eq.u32 %q2, %r0, 2; mov.u32 %r6, {};"
    stores = "@%q1 st.shared.u32 [s], 7; @%q2 st.shared.u32 [s], %r6;"
    assert not races(f"{by_two.format(7)} {stores}")
    assert races(f"{by_two.format(8)} {stores}")


def test_bytes_side_by_side() -> None:
    body = """cvt.u64.u32 %x1, %r0; add.u64 %x1, %p0, %x1; cvt.u16.u32 %h1, %r0;
    st.global.u8 [%x1], %h1;"""
    assert not races(body)
    assert races(f"{body} ld.global.u32 %r4, [%p0];")


def test_atomics_and_strong_accesses_among_themselves() -> None:
    assert not races("st.shared.u32 [s], 0; bar.warp.sync -1; red.shared.add.u32 [s], 1;")
    assert not races("red.global.add.u32 [%p0], 1; ld.volatile.global.u32 %r4, [%p0];")
    assert not races("st.volatile.global.u32 [%p0], %r0; ld.relaxed.gpu.global.u32 %r4, [%p0];")


@pytest.mark.parametrize(
    "plain", ["ld.global.u32 %r4, [%p0];", "st.global.u32 [%p0], %r0;", "ld.u32 %r4, [%p0];"]
)
def test_an_atomic_and_a_plain_access(plain: str) -> None:
    one = "setp.eq.u32 %q1, %r0, 1;"
    (race, *_) = races(f"{one} red.global.add.u32 [%p0], 1; @%q1 {plain}")
    assert (race.space, race.variable) == ("global", None)


def test_other_warps_are_not_judged() -> None:
    only = "setp.eq.u32 %q1, %r0, {}; setp.eq.u32 %q2, %r0, {};"
    body = "@%q1 st.global.u32 [%p0], 7; @%q2 ld.global.u32 %r4, [%p0];"
    assert races(f"{only.format(1, 2)} {body}", threads=64)
    assert not races(f"{only.format(1, 33)} {body}", threads=64)


LOCKED = """
mov.u32 %r6, 0;
again:
atom.global.cas.b32 %r5, [%p0], 0, 1;
setp.ne.u32 %q1, %r5, 0;
@%q1 bra look;
{fence}
ld.global.u32 %r4, [%p0+4]; add.u32 %r4, %r4, 1; st.global.u32 [%p0+4], %r4;
{fence}
atom.global.exch.b32 %r5, [%p0], 0;
mov.u32 %r6, 1;
look:
setp.eq.u32 %q2, %r6, 0;
@%q2 bra again;
"""


@pytest.mark.parametrize("threads", [32, 64])
def test_what_a_lock_protects(threads: int) -> None:
    assert not races(LOCKED.format(fence="fence.acq_rel.gpu;"), threads)


def test_a_flag_that_is_written_and_waited_for() -> None:
    body = """setp.ne.u32 %q1, %r0, 0;
    @%q1 bra wait;
    st.global.u32 [%p0+4], 5; fence.acq_rel.gpu; st.{how}.global.u32 [%p0], 1;
    wait: ld.{how}.global.u32 %r4, [%p0]; setp.eq.u32 %q2, %r4, 0; @%q2 bra wait;
    ld.global.u32 %r5, [%p0+4];"""
    assert not races(body.replace("{how}", "volatile"))


MANY_PLACES = """
mov.u32 %r5, 0; mul.wide.u32 %x1, %r0, 4; add.u64 %x1, %x1, %p0; mov.u64 %x3, %x1;
sub.u32 %r6, %r3, %r1; cvt.u64.u32 %x2, %r6; add.u64 %x2, %x2, %p0;
more: red.global.add.u32 [%x1], 1;
add.u64 %x1, %x1, 128; add.u32 %r5, %r5, 1; setp.lt.u32 %q1, %r5, 100; @%q1 bra more;
wait: ld.relaxed.gpu.global.u32 %r6, [{place}]; setp.eq.u32 %q2, %r6, 0; @%q2 bra wait;
"""


@pytest.mark.parametrize(("place", "is_racing"), [("%x2", False), ("%x3", True)])
def test_strong_accesses_of_many_places(place: str, is_racing: bool) -> None:
    """What was known at the first of 3,200 places is known after the others; at the neighbour's."""
    body = STORE + MANY_PLACES.format(place=place) + LOAD
    assert bool(races(body, schedules=("lockstep", 1), size=3200)) == is_racing


def test_races_are_kept_when_the_launch_fails() -> None:
    found: list[Race] = []
    module = ptx(f"{HERE_AND_NEXT} {STORE} {LOAD} trap;", module=SHARED)
    with pytest.raises(EmulatorError, match="trap"):
        run(module, np.zeros(1, np.uint32), races=found)
    assert opcodes(found[0]) == {"ld.shared.u32", "st.shared.u32"}


SHOW_THEM = (
    "context-collection/seldom",
    "context-collection/seldom_of_two",
    "context-collection/nested_paths",
    "context-collection/reduction",
    "context-collection/else_if_cases",
    "context-collection/long_tasks_of_fresh_values",
    "context-collection/block_lists_apart",
    "context-collection/block_lists_even",
    "context-collection/joined_lists",
    "context-collection/joined_lists_with_sums",
    "context-collection/one_list",
    "context-collection/one_list_with_sums",
    "context-collection/sub_warps",
    "context-collection/sum_then_a_guard",
    "context-collection/sums_of_two_widths",
    "context-collection/tail_pool",
    "context-collection/tail_pool_after_a_loop",
    "flattening/refill_begins_late",
    "flattening/refill_pool",
    "grid-stride/grid_stride_activemask",
    "grid-stride/grid_stride_shared_neighbour",
    "grid-stride/grid_stride_dynamic_inner_loop",
    "context-collection/adaptive",
    "small/batch",
    "small/bins",
    "small/block_sums",
    "small/members_at_guards",
    "small/carried",
    "small/counter",
    "small/dynamic",
    "small/flatten",
    "small/joined_sums",
    "small/members_after_a_loop",
    "small/refill",
    "small/refill_pool",
    "small/tile",
    "small/uniform",
)
"""Goldens that together have a meeting of every place that emits one, and need it: they are tried
always."""


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.slow
@pytest.mark.parametrize("path", always(GOLDENS, lambda path: name(path) in SHOW_THEM), ids=name)
def test_every_meeting_counts(path: Path) -> None:
    assert not [str(line) for _, line, how in try_all(path) if how == "missed"]


def test_every_place_that_emits_a_meeting_is_needed_somewhere() -> None:
    paths = [GOLDEN / f"{name}.ptx" for name in SHOW_THEM]
    assert {meeting.place for path in paths for meeting in needed(path)} == places() - unseen()


def unseen() -> set[str]:
    """The places of what no memory shows: votes that advise only, since lanes that are told
    something else by them would choose another way to do the same, and the meeting behind a loop,
    which ptxas needs, and PTX does not (``tests/passes/test_rejoining.py``)."""
    return {*places_in(ANY.source), *places_in(MEET.source)}
