"""What is expected of inner loops that read memory, by what serves them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import Path
from ccc.compiler.transform import transform
from ccc.parse import parse_function, parse_module
from ccc.passes.choice.chosen import AGREE, TELL_TURNS
from ccc.passes.choice.cost_model import LoopCost
from ccc.passes.choice.exchange import BLOCK_LEAVES
from ccc.passes.choice.lanes import Lanes
from ccc.passes.choice.turns import Turn
from ccc.passes.thresholds import LOSS, UNKNOWN_TURNS
from ccc.pipeline import Kernel
from ccc.ptx.types import WARP_SIZE
from ccc.remark import Remark

ARCH = "sm_90"
KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 ends, .param .u64 list, .param .u64 where, .param .u32 n)
.maxntid 256, 1, 1
{
	.reg .pred %p<9>;
	.reg .b32 %r<29>;
	.reg .b64 %rd<29>;
	ld.param.u64 %rd1, [ends];
	ld.param.u64 %rd2, [list];
	ld.param.u64 %rd3, [where];
	ld.param.u32 %r9, [n];
	mov.u32 %r1, %tid.x;
	// ccc.loop 1 k.cu:1:1
EACH:
	// ccc.for 1 k.cu:1:1
	mul.wide.u32 %rd4, %r1, 4;
	add.s64 %rd5, %rd1, %rd4;
	ld.global.u32 %r2, [%rd5];
	ld.global.u32 %r3, [%rd5+4];
	mov.u32 %r10, 0;
	mul.wide.u32 %rd6, %r2, 4;
	add.s64 %rd7, %rd2, %rd6;
	setp.ge.u32 %p1, %r2, %r3;
	@%p1 bra DONE;
TURN:
	// ccc.variable 2 k.cu:2:1
	READ
	add.s64 %rd7, %rd7, 4;
	add.s32 %r2, %r2, 1;
	setp.lt.u32 %p2, %r2, %r3;
	@%p2 bra TURN;
DONE:
	st.global.u32 [%rd5], %r10;
	add.s32 %r1, %r1, 256;
	setp.lt.u32 %p3, %r1, %r9;
	@%p3 bra EACH;
	ret;
}
"""
ALONG = "ld.global.u32 %r11, [%rd7]; add.s32 %r10, %r10, %r11;"
ANYWHERE = """ld.global.u32 %r4, [%rd7];
	mul.wide.u32 %rd8, %r4, 4;
	add.s64 %rd9, %rd3, %rd8;
	ld.global.u32 %r11, [%rd9];
	ld.global.u32 %r12, [%rd9+4];
	add.s32 %r10, %r10, %r11;
	add.s32 %r10, %r10, %r12;"""
AGAIN = "ld.global.u32 %r11, [%rd5+8]; add.s32 %r10, %r10, %r11;"
STORES = "ld.global.u32 %r4, [%rd7]; st.global.u32 [%rd3], %r4;"
EVEN = Lanes("", 1.0, 32.0, 17.0, 17.0, iterations=8.0)
FEW_LONG = Lanes("", 1.0, 32.0, 4.65, 69.8, iterations=8.0)
BY_CHANCE = Lanes("", 1.0, 32.0, 16.0, 65.0, iterations=8.0)


def kernel_of(read: str, whole: str | None = None) -> Kernel:
    """A kernel; with ``whole``, clauses, its annotated loop is one over blocks."""
    text = KERNEL.replace("READ", read).replace("; ", ";\n\t")
    if whole is not None:
        text = text.replace("ccc.loop 1 k.cu:1:1", f"ccc.grid_stride 1 k.cu:1:1 {whole}")
    if read == STORES:
        text = text.replace("st.global.u32 [%rd5], %r10;\n", "")
    function = parse_function(next(iter(parse_module(text, "k.ptx").functions)))
    return Kernel(function, Facts(function), arch=ARCH)


def path_of(kernel: Kernel) -> Path:
    (found,) = (one.path for one in kernel.records if isinstance(one.path, Path))
    return found


def turn_of(read: str) -> Turn:
    kernel = kernel_of(read)
    path = path_of(kernel)
    return Turn.of(path, path.blocks, kernel.facts)


def gain(read: str, strategy: str, lanes: Lanes, is_worst: bool = False) -> float:
    """How many times as fast as the original the loop is expected to be."""
    kernel = kernel_of(read)
    path = path_of(kernel)
    cost = LoopCost(path.loop, [path], {path: lanes}, kernel, is_worst)
    return cost.slots({}) / cost.slots({path: strategy})


def test_what_lies_along_a_list_is_shared_by_neighbouring_turns() -> None:
    turn = turn_of(ALONG)
    assert (turn.along, turn.shared, turn.anywhere) == (1, 1 / 8, 0)
    assert turn.together == 1 / 8


def test_what_is_read_by_way_of_an_index_lies_anywhere_and_side_by_side_once() -> None:
    turn = turn_of(ANYWHERE)
    assert (turn.along, turn.shared, turn.anywhere) == (1, 1 / 8, 1)
    assert turn.streams == 2


def test_what_each_turn_reads_again_is_not_counted() -> None:
    turn = turn_of(AGAIN)
    assert turn.along + turn.anywhere + turn.streams == 0


def test_elements_that_lie_side_by_side_as_lanes_do_are_spread_where_turns_are_shared_out() -> None:
    """As the columns of a matrix in ELLPACK's format: lanes that are together share sectors."""
    read = "ld.global.u32 %r11, [%rd20]; add.s64 %rd20, %rd20, 65536; add.s32 %r10, %r10, %r11;"
    begin = "mov.u32 %r10, 0;\n\tadd.s64 %rd20, %rd3, %rd4;"
    text = KERNEL.replace("mov.u32 %r10, 0;", begin).replace("READ", read).replace("; ", ";\n\t")
    function = parse_function(next(iter(parse_module(text, "k.ptx").functions)))
    kernel = Kernel(function, Facts(function), arch=ARCH)
    path = path_of(kernel)
    turn = Turn.of(path, path.blocks, kernel.facts)
    assert (turn.abreast, turn.spread) == (1 / 8, 1)
    assert turn.together == 1
    cost = LoopCost(path.loop, [path], {path: FEW_LONG}, kernel)
    assert cost.slots({}) / cost.slots({path: "engage"}) < gain(ALONG, "engage", FEW_LONG)


def test_where_all_lanes_access_one_place_nobody_counts() -> None:
    assert turn_of(STORES).streams == 1


def test_what_follows_the_loop_is_side_by_side_as_long_as_lanes_come_to_it_together() -> None:
    assert turn_of(ALONG).strewn == 1 - 1 / 8
    assert turn_of(STORES).strewn == 0


def test_lanes_with_lists_of_their_own_find_in_the_cache_what_there_is_room_for() -> None:
    """64 warps have 2048 lanes, and a multiprocessor 1824 lines."""
    turn = turn_of(ALONG)
    assert turn.apart(8, 1, ARCH) == turn.shared
    assert turn.apart(32, 1, ARCH) == pytest.approx(1824 / 2048 / 8 + 224 / 2048)
    assert turn.apart(32, 16, ARCH) == turn.shared
    assert turn_of(ANYWHERE).apart(32, 1, ARCH) > 1.5


def test_turns_in_a_row_share_what_leads_to_the_next_one() -> None:
    turn = turn_of(ALONG)
    assert turn.in_a_row == 8
    assert turn.steps.instructions == 5  # two adds, one of 64 bits, the test and the branch
    assert turn.saved(100).instructions == 5 * 7 / 8
    assert turn.saved(2).instructions == 5 / 2
    assert turn.saved(1).instructions == 0
    assert turn_of(STORES).in_a_row == 4


@pytest.mark.parametrize("read", [ALONG, ANYWHERE])
@pytest.mark.parametrize("lanes", [EVEN, FEW_LONG])
def test_handing_on_turns_that_read_memory_gains_nothing(read: str, lanes: Lanes) -> None:
    assert gain(read, "merge", lanes) <= 1


@pytest.mark.parametrize("read", [ALONG, ANYWHERE])
def test_sharing_out_lists_of_which_few_are_long_gains(read: str) -> None:
    assert gain(read, "engage", FEW_LONG) > 1.2


def test_lists_that_are_even_are_run_by_their_own_lanes_at_the_price_of_asking() -> None:
    assert 0.95 < gain(ANYWHERE, "engage", EVEN) <= 1
    assert gain(ANYWHERE, "engage", replace(EVEN, most_turns=18.0)) <= 1


def test_in_the_worst_case_no_waiting_hides_what_a_strategy_takes() -> None:
    assert gain(ANYWHERE, "merge", EVEN, is_worst=True) < gain(ANYWHERE, "merge", EVEN)


def test_the_longest_list_bounds_what_handing_on_can_bring() -> None:
    """Of lists that are not so long, more is expected than of those."""
    no_iterations = replace(FEW_LONG, iterations=None)
    assert gain(ALONG, "merge", FEW_LONG) < gain(ALONG, "merge", no_iterations)


def test_a_lane_alone_waits_for_the_exchange_besides_memory() -> None:
    """Even where no fewer turns stand in a row than in nvcc's loop."""
    several = "st.global.u32 [%rd3], %r10; " + ALONG
    assert turn_of(several).in_a_row == 4
    assert 0.8 < gain(several, "merge", FEW_LONG) < 0.98


def test_warps_without_a_task_wait_for_no_last_one() -> None:
    """One warp of many has a list, a long one: handing it on takes little more than leaving it."""
    hub = Lanes("", 1 / 1000, 1 / 1000, 3000.0, 3000.0, iterations=8.0)
    assert 0.5 < gain(ALONG, "merge", hub) < 1


def test_last_tasks_take_no_less_than_nothing() -> None:
    """Of counts of which a part was lost: lanes that begin one by one do their turns together."""
    lost = Lanes("", 15.5, 15.5, 1.0, 1 / 32, length=30000.0, iterations=0.002)
    assert 0 < gain(AGAIN, "merge", lost) < 1


def test_long_tasks_are_shared_out_where_nothing_follows_the_loop() -> None:
    """Stores need no sum behind the loop: so tasks of many turns are run by all lanes."""
    assert gain(STORES, "merge", FEW_LONG) > 1


def test_what_follows_a_loop_is_done_more_often_where_lanes_end_one_by_one() -> None:
    kernel = kernel_of(AGAIN + " mad.lo.s32 %r10, %r10, %r11, %r10;" * 40)
    path = path_of(kernel)
    cost = LoopCost(path.loop, [path], {path: BY_CHANCE}, kernel)
    shorter = gain_of(cost, path)
    known = cost.paths[path]
    cost = LoopCost(path.loop, [path], {path: BY_CHANCE}, kernel)
    cost.paths[path] = replace(known, rest=known.rest + known.own * 5)
    assert gain_of(cost, path) < shorter


@pytest.mark.parametrize(
    ("clauses", "strategy", "leaves"),
    [
        ("", "engage", False),
        ("", "merge", True),
        ("schedule=dynamic", "engage", True),
        ("schedule=static", "engage", True),
        ("schedule=static", "leave", False),
    ],
)
def test_blocks_stay_where_turns_are_shared_out_and_nobody_says_who_runs_them(
    clauses: str, strategy: str, leaves: bool
) -> None:
    def slots(whole: str | None) -> float:
        kernel = kernel_of(ANYWHERE, whole)
        path = path_of(kernel)
        return LoopCost(path.loop, [path], {path: EVEN}, kernel).slots({path: strategy})

    more = BLOCK_LEAVES * WARP_SIZE / 256 if leaves else 0
    assert slots(clauses) == pytest.approx(slots(None) + more)


def gain_of(cost: LoopCost, path: Path) -> float:
    return cost.slots({}) / cost.slots({path: "merge"})


def said(prob: float | None, work: int) -> Remark:
    turn = AGAIN + " mad.lo.s32 %r10, %r10, %r11, %r10;" * work
    text = KERNEL.replace("READ", turn).replace("; ", ";\n\t").replace("variable 2", "while 2")
    clause = "" if prob is None else f" prob={prob}"
    ((_, (found,)),) = transform(text.replace("k.cu:2:1", f"k.cu:2:1{clause}")).remarks.items()
    return found


@pytest.mark.parametrize(("work", "is_done"), [(20, False), (1600, True)])
@pytest.mark.parametrize("prob", [1, 0.02])
def test_a_share_tells_nothing_of_turns_which_may_be_even_and_few(
    prob: float, work: int, is_done: bool
) -> None:
    """Few lanes gain by many turns, and lose by few; long turns lose little."""
    found = said(prob, work)
    assert found.applied == is_done
    assert found.details["considered"] == said(None, work).details["considered"]
    assert (found.details["at_worst"]["merge"] >= LOSS) == is_done
    if not is_done:
        advice = str(found.advice)
        supposed = f"which prob does not tell: with {UNKNOWN_TURNS} of a lane, expected 0."
        assert f"nothing is known of its turns, {supposed}" in advice
        assert advice.endswith(f"; {TELL_TURNS}, or strategy(merge) insists")


def test_a_share_of_none_keeps_a_loop_as_it_was() -> None:
    found = said(0, 1600)
    assert not found.applied
    assert "no lane takes it (prob(0))" in str(found.advice)


def test_where_all_lanes_go_round_as_often_nothing_is_handed_on_unasked() -> None:
    """They part at a branch in its turns, and would be together again all the same."""
    parts = "ld.global.u32 %r11, [%rd7]; setp.eq.u32 %p5, %r11, 9; @%p5 bra ON;\n"
    read = f"{parts} st.global.u32 [%rd5+8], %r11;\nON:\n"
    text = KERNEL.replace("variable", "while").replace("READ", read).replace("; ", ";\n\t")
    alike = text.replace("ld.global.u32 %r3, [%rd5+4];", "add.s32 %r3, %r2, %r9;")
    alike = alike.replace("ld.global.u32 %r2, [%rd5];", "mov.u32 %r2, 0;")
    found = [transform(one).remarks["k"][0] for one in (text, alike)]
    assert [AGREE in str(one.advice) for one in found] == [False, True]
    expected, worst = (found[1].details[name]["merge"] for name in ("considered", "at_worst"))
    assert max(expected, worst) < 1
