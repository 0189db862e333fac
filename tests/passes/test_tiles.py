"""Tiles: where they apply, where not, and what their plans hold."""

from __future__ import annotations

import pytest

from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import Path
from ccc.analysis.paths.split_iteration import (
    returning,
    split_iteration,
    without_what_rests_recompute,
)
from ccc.options import Options
from ccc.parse import parse_function, parse_module
from ccc.passes.choice.stacks import share_of
from ccc.passes.context_collection import ContextCollection
from ccc.passes.context_compression import compress
from ccc.passes.strategies.registry import NUMBERED
from ccc.passes.strategies.strategy import context_words
from ccc.passes.strategies.tile import ITERATIONS, TILES
from ccc.pipeline import Kernel

KERNEL = """.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u32 n, .param .u64 out)
.maxntid 64, 1, 1
{{
    .reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<9>;
    .local .align 4 .b8 own[8];
    ld.param.u32 %r1, [n];
    ld.param.u64 %rd1, [out];
    mov.u32 %r2, %tid.x;
    mov.u32 %r10, %laneid;
    mov.u32 %r8, 0;
    mov.u32 %r9, 0;
    // ccc.loop 1 k.cu:1:1
LOOP:
    // ccc.for 1 k.cu:1:1
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    rem.u32 %r3, %r2, 3;
    mov.u32 %r4, %r3;
    {head}
    setp.ne.s32 %p1, %r3, 0;
    @%p1 bra JOIN;
    // ccc.then 2 k.cu:2:1
    {path}
JOIN:
    {rest}
    add.s32 %r2, %r2, 64;
NEXT:
    add.s32 %r8, %r8, 1;
    setp.lt.u32 %p4, %r8, %r1;
    @%p4 bra LOOP;
    ret;
}}
"""
PATH = "mul.lo.s32 %r4, %r2, %r2;"
READ = "ld.global.u32 %r4, [%rd3];"
LOCK = "W: atom.global.cas.b32 %r5, [%rd1], 0, 1; setp.ne.u32 %p5, %r5, 0; @%p5 bra W;"
LONG = "mad.lo.s32 %r4, %r4, %r4, %r2; " * 9
STORE = "st.global.u32 [%rd3], %r4;"
SUM = "add.u32 %r9, %r9, %r4; st.global.u32 [%rd3], %r9;"


def kernel(
    head: str = "", path: str = PATH, rest: str = STORE, strategy: str = "tile(3)"
) -> Kernel:
    text = KERNEL.format(head=head, path=path, rest=rest)
    function = parse_function(next(iter(parse_module(text, "k").functions)))
    return Kernel(function, Facts(function), Options(strategy=strategy))


def the_path(kernel: Kernel) -> Path:
    (record,) = kernel.records
    assert isinstance(record.path, Path), record.path
    return record.path


def test_it_takes_the_numbers_that_the_registry_has() -> None:
    assert tuple(NUMBERED["tile"]) == ITERATIONS
    assert [tile.name for tile in TILES] == [f"tile({number})" for number in ITERATIONS]


def test_a_task_takes_what_the_path_reads_and_gives_what_the_rest_does() -> None:
    one = kernel()
    path = the_path(one)
    assert {register.name for register in path.context} == {"%r2", "%rd3"}
    mine = returning(path, one.facts)
    assert [register.name for register in mine.path.context] == ["%r2"]
    assert [register.name for register in mine.results] == ["%r4"]
    assert share_of(path.loop, {path: TILES[0].name}, one.facts) == 32 * 3 * 4 * 2


def test_what_is_written_on_some_ways_only_is_taken_along() -> None:
    one = kernel(path="setp.gt.u32 %p2, %r2, 99; @%p2 bra JOIN; mul.lo.s32 %r4, %r2, %r2;")
    mine = returning(the_path(one), one.facts)
    assert [register.name for register in mine.path.context] == ["%r2", "%r4"]
    assert context_words(mine.path) == 2


def test_what_only_rests_use_is_late() -> None:
    one = kernel(path=READ, rest=SUM)
    path = the_path(one)
    assert path.stays is not None
    split = split_iteration([path], one.facts)
    assert {register.name for register in split.late} == {"%r9"}
    assert {register.name for register in split.moved} == {"%r2", "%r8"}
    assert {register.name for register in split.kept} >= {"%r2", "%r4", "%rd3"}


def test_what_a_rest_makes_anew_is_not_kept_nor_what_the_loop_does_not_write() -> None:
    one = kernel(rest=f"add.u32 %r4, %r4, %r10; {STORE}")
    path = the_path(one)
    split = split_iteration([path], one.facts)
    shorter = without_what_rests_recompute(split, [path], one.facts, compress)
    made = [register.name for i in shorter.recomputed for register in i.defined()]
    assert made == ["%rd2", "%rd3"]
    assert "%r10" not in {register.name for register in shorter.kept}
    assert "%r2" in {register.name for register in shorter.kept}


def test_a_rest_that_must_stay_is_no_reason_for_others() -> None:
    for strategy, applied in (("tile(3)", True), ("queue", False), ("auto", False)):
        one = kernel(path=READ, rest=SUM, strategy=strategy)
        ContextCollection().run(one)
        (record,) = one.records
        assert record.applied == applied
        assert applied or (record.reason or "").startswith("the next iteration, or the code after")


def test_a_path_that_must_stay_is_left_where_the_one_beside_it_has_no_room() -> None:
    two = f"{READ} bra JOIN;\nTWO:\n// ccc.else 2 k.cu:2:1\n{READ}"
    one = kernel("setp.gt.u32 %p3, %r3, 1; @%p3 bra TWO;", two, SUM)
    one.shared_limit = 0
    ContextCollection().run(one)
    first, second = (record.reason or "" for record in one.records)
    assert "does not fit into shared memory" in first
    assert second.startswith("the next iteration, or the code after the loop")


@pytest.mark.parametrize(
    ("head", "path", "rest", "reason"),
    [
        ("", "st.global.u32 [%rd3], %r2;", "", "nothing of the iteration waits"),
        ("", f"{PATH} setp.gt.u32 %p2, %r4, 9; @%p2 bra NEXT;", STORE, "goes on at several places"),
        ("vote.sync.any.pred %p3, %p1, -1;", PATH, STORE, "lanes meet in an iteration"),
        ("", PATH, f"bra R; R: // ccc.then 3 k.cu:3:1\n {STORE}", "a path that is left alone"),
        ("st.local.u32 [own], %r3;", PATH, f"{STORE} ld.local.u32 %r5, [own];",
         "its tasks take an array of the thread's own along"),
        ("", f"{LOCK} {READ}", f"{STORE} membar.gl; atom.global.exch.b32 %r6, [%rd1], 0;",
         "lanes may wait (PTX line 26: atom.global.cas.b32 %r5"),
        ("", READ, f"{STORE} add.s32 %r2, %r2, %r4;",
         "the next iteration begins with what is read in the path"),
        ("", LONG, f"{STORE} add.s32 %r2, %r2, %r4;",
         "the next iteration begins with a value that the path computes"),
        ("", PATH, f"{STORE} ld.global.u32 %r6, [%rd3]; add.s32 %r2, %r2, %r6;",
         "the next iteration begins with what is read"),
    ],
)  # fmt: skip
def test_where_it_does_not_apply(head: str, path: str, rest: str, reason: str) -> None:
    one = kernel(head, path, rest)
    found = one.records[0].path
    assert isinstance(found, Path), found
    assert reason in (TILES[0].applies([found], one.facts) or "")
