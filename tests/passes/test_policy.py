"""What the policy decides, and what strategies tell of themselves."""

from __future__ import annotations

import re

import pytest
from deciding import decided, golden

from ccc.analysis.facts import Facts
from ccc.ir.printer import print_function
from ccc.options import COLLECT
from ccc.parse import parse_function, parse_module
from ccc.passes.context_collection import ContextCollection
from ccc.passes.context_collection.layout import on_paper
from ccc.passes.context_collection.weights import weights
from ccc.passes.policy import IN_SHARED, KEPT, OTHERS, settle
from ccc.passes.strategies.cases import CASES
from ccc.passes.strategies.engage import DEPENDENT, ENGAGE
from ccc.passes.strategies.long_tasks import HANDS_ON, LONG_TASKS
from ccc.passes.strategies.merge import MERGE
from ccc.passes.strategies.pool import POOL
from ccc.passes.strategies.queue import QUEUE
from ccc.passes.strategies.registry import (
    STRATEGY_NAMES,
    read_request,
)
from ccc.passes.strategies.uniform import NOTHING_INSIDE, UNIFORM
from ccc.passes.thresholds import MANY, MOST_TURNS, ON_REQUEST
from ccc.pipeline import Kernel


@pytest.mark.parametrize(
    ("name", "wanted", "names"),
    [
        ("if_else", COLLECT, ["queue", "merge"]),
        ("if_else", "batch7", ["queue", "merge"]),
        ("lock_in_the_path", COLLECT, ["batch7", "batch3", "queue", "merge"]),
        ("atomics", COLLECT, ["batch3", "queue", "merge"]),
        ("atomics", "batch3", ["batch3", "queue", "merge"]),
        ("while_task", "batch7", ["queue", "merge"]),
        ("atomics", "adaptive", ["adaptive(3)", "adaptive(1)", "batch3", "queue", "merge"]),
        ("atomics", "adaptive(7)", ["adaptive(7)", "batch3", "queue", "merge"]),
        ("if_else", "adaptive", ["adaptive(1)", "queue", "merge"]),
        ("while_task", "adaptive", ["queue", "merge"]),
        ("if_else", "merge", ["merge", "queue"]),
        ("if_else", "pool", ["queue", "merge"]),
        ("atomics", "pool", ["pool", "batch3", "queue", "merge"]),
        ("if_else", "cases", ["cases", "queue", "merge"]),
        ("many_cases", COLLECT, ["cases", "queue", "merge"]),
        ("nested_paths", COLLECT, ["queue", "merge"]),
        ("nested_paths", "cases", ["queue", "merge"]),
    ],
)
def test_strategies_are_preferred_in_order(name: str, wanted: str, names: list[str]) -> None:
    assert [strategy.name for strategy in decided(golden(name), wanted).strategies] == names


@pytest.mark.parametrize(
    ("name", "turns"), [("while_task", MOST_TURNS), ("scratch_of_variable_turns", 2)]
)
def test_a_task_does_more_turns_of_a_short_loop(name: str, turns: int) -> None:
    (loop,) = (one for one in decided(golden(name)).paths if one.path.repeats)
    assert loop.turns == turns


def test_each_path_gets_what_it_asks_for() -> None:
    kernel = golden("if_else")
    first, second = (record.marker.clauses for record in kernel.records)
    first["strategy"], second["strategy"] = "merge", "queue"
    decision = decided(kernel)
    assert [one.served_by(decision.strategies[0]) for one in decision.paths] == [MERGE, QUEUE]
    second["strategy"] = "cases"
    decision = decided(kernel)
    assert [one.served_by(decision.strategies[0]) for one in decision.paths] == [MERGE, QUEUE]
    assert kernel.why_declined(kernel.records[1].marker) == OTHERS


def test_what_does_not_apply_is_declined_with_a_reason() -> None:
    kernel = golden("if_else")
    kernel.records[0].marker.clauses["strategy"] = "batch7"
    ContextCollection().run(kernel)
    first, second = kernel.records
    assert kernel.why_declined(first.marker) == "there are several paths"
    assert kernel.why_declined(second.marker) is None
    assert (first.remark.strategy, second.remark.strategy) == ("queue", "queue")


def test_what_is_to_be_left_is_left_without_a_word() -> None:
    kernel = golden("if_else")
    kernel.records[0].marker.clauses["strategy"] = "leave"
    ContextCollection().run(kernel)
    first, second = (record.remark for record in kernel.records)
    assert (first.applied, first.strategy, first.reason) == (False, "leave", None)
    assert (second.applied, second.strategy) == (True, "queue")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("merg", 'did you mean "merge"?'),
        ("queue(3)", "queue takes no number"),
        ("", "it is auto or leave or "),
        ("queue)(", 'did you mean "queue"?'),
    ],
)
def test_names_that_cannot_be_read(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        read_request(text)


ALL_COME = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 n)
.maxntid 64, 1, 1
{
	.reg .pred %p<9>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<9>;
	ld.param.u64 %rd1, [x];
	ld.param.u32 %r2, [n];
	mov.u32 %r1, %tid.x;
	setp.ge.u32 %p4, %r1, %r2;
	mov.u32 %r4, 7;
	@BEFORE
	// ccc.loop 1 k.cu:1:1
EACH:
	// ccc.for 1 k.cu:1:1
	rem.u32 %r3, %r1, 3;
	setp.ne.u32 %p3, %r3, 0;
	@%p3 bra JOIN;
	// ccc.then 2 k.cu:2:1
	mad.lo.u32 %r5, %r1, %r1, %r4;
	@INSIDE
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r5;
JOIN:
	@LEAVE
	add.s32 %r1, %r1, 64;
	setp.lt.u32 %p2, %r1, 640;
	@%p2 bra EACH;
	@BEHIND
END:
	ret;
}
"""


@pytest.mark.parametrize(
    ("places", "reason"),
    [
        ({}, None),
        ({"BEFORE": "@%p4 bra END;"}, None),
        ({"BEFORE": "@%p4 bra END;", "BEHIND": "bar.sync 0;"}, "the kernel has a barrier for some"),
        ({"BEFORE": "bar.sync 0;", "BEHIND": "bar.sync 0;"}, None),
        ({"BEHIND": "bar.sync 0, 32;"}, "the kernel has a barrier for some"),
        ({"BEHIND": "bar.sync %r2;"}, "the kernel has a barrier for some"),
        ({"BEHIND": "bar.arrive 0, 64;"}, "the kernel has a barrier for some"),
        ({"BEHIND": "barrier.cluster.arrive;"}, "the kernel has a barrier for some"),
        ({"BEFORE": "cp.async.wait_all;"}, "the kernel has a barrier for some"),
        ({"BEFORE": "bar.red.or.pred %p5, 0, %p4;"}, None),
        ({"BEFORE": "bar.red.or.pred %p5, 0, 32, %p4;"}, "the kernel has a barrier for some"),
        (
            {"LEAVE": "@%p4 bra OUT;", "BEHIND": "bra END; OUT: st.global.u32 [%rd1], 1;"},
            "the annotated loop may be left to several",
        ),
        ({"BEFORE": "vote.sync.ballot.b32 %r4, %p4, -1;"}, "its tasks need what differs from warp"),
        ({"BEFORE": "mov.u32 %r4, %warpid;"}, "its tasks need what differs from warp"),
        ({"BEFORE": "mov.u32 %r4, %ctaid.x;"}, None),
        ({"INSIDE": "mov.u32 %r6, %warpid;"}, "its tasks ask for their warp"),
        ({"INSIDE": "mov.u32 %r6, %laneid;"}, None),
        ({"BEFORE": "call other, ();"}, "the kernel calls other, which may wait"),
        ({"BEFORE": "vote.sync.all.pred %p5, %p4, -1; @%p5 bra END;"}, None),
        (
            {
                "BEFORE": "TRY: ld.volatile.global.u32 %r7, [%rd1]; setp.eq.u32 %p5, %r7, 0;"
                "@%p5 bra TRY; bar.warp.sync -1;"
            },
            "threads may wait for one another",
        ),
    ],
)
def test_a_pool_needs_all_threads_of_the_block(places: dict[str, str], reason: str | None) -> None:
    text = re.sub(r"@([A-Z]+)\b", lambda word: places.get(word[1], ""), ALL_COME)
    function = parse_function(next(iter(parse_module(text, "k.ptx").functions)))
    kernel = Kernel(function, Facts(function))
    names = [strategy.name for strategy in decided(kernel, "pool").strategies]
    assert ("pool" in names) == (reason is None), kernel.declined
    (told,) = kernel.declined.values() or [None]
    assert told == reason or (told or "").startswith(reason or "?")


def test_a_pool_adds_to_no_reduction() -> None:
    kernel = golden("reduction_flag")
    decided(kernel, "pool")
    assert any("to a reduction" in reason for reason in kernel.declined.values())


def test_what_is_done_on_request_only_is_not_preferred() -> None:
    assert set(ON_REQUEST) <= set(STRATEGY_NAMES)
    kernel = golden("atomics")
    (path,) = decided(kernel).paths
    assert POOL.applies([path.path], kernel.facts) is None
    assert POOL not in decided(kernel).strategies


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("while_task", "the path is an inner loop, or lies in another path"),
        ("nested_paths", "the path is an inner loop, or lies in another path"),
        ("fetched_by_the_warp", "lanes meet in an iteration"),
    ],
)
def test_a_loop_that_cannot_be_there_twice_is_not_weighed(name: str, reason: str) -> None:
    kernel = golden(name)
    for record in kernel.records:
        record.marker.clauses["strategy"] = "adaptive"
    assert not any(one.name.startswith("adaptive") for one in decided(kernel).strategies)
    assert {kernel.why_declined(record.marker) for record in kernel.records} == {reason}


def test_some_numbers_may_be_left_out() -> None:
    assert str(read_request("adaptive")) == "adaptive"
    assert str(read_request("adaptive(3)")) == "adaptive(3)"
    with pytest.raises(ValueError, match=re.escape("adaptive takes a number, 7|3|1")):
        read_request("adaptive(2)")
    with pytest.raises(ValueError, match="sub_warp takes a number"):
        read_request("sub_warp")


NO_ROOM = "its stacks do not fit into shared memory; say how large its blocks are: "


def test_what_is_declined_of_one_case_is_not_of_others() -> None:
    kernel = golden("many_cases")
    first, second, *_ = (record.marker for record in kernel.records)
    assert first == second
    kernel.decline(first, "no")
    assert (kernel.why_declined(first), kernel.why_declined(second)) == ("no", None)


def test_what_was_asked_for_without_a_number_is_declined_if_none_of_them_fits() -> None:
    kernel = golden("lock_in_the_path")
    marker = kernel.records[0].marker
    marker.clauses["strategy"] = "adaptive"
    decision, said = decided(kernel), {}
    for kilobytes in range(256):
        kernel.shared_limit = kilobytes * 1024
        choice = settle(decision, kernel, 0)
        told = kernel.why_declined(marker)
        said[choice.strategy.name] = told and told[: len(NO_ROOM)]
    assert said == {
        "leave": NO_ROOM, "merge": NO_ROOM,
        "adaptive(1)": None, "adaptive(3)": None, "adaptive(7)": None,
    }  # fmt: skip


@pytest.mark.parametrize("iterations", [1, 3, 7])
def test_a_longer_path_is_left_later(iterations: int) -> None:
    kernel = golden("if_else")
    paths = [one.path for one in decided(kernel).paths]
    short = weights(paths, kernel, iterations)
    assert all(one.exchange > 0 and 0 < one.plain <= one.run for one in short.paths)
    assert 0 < short.idle <= short.limit - short.again + short.limit
    assert short.again <= short.limit
    kernel = golden("nested_control")
    paths = [one.path for one in decided(kernel).paths]
    long = weights(paths[:1], kernel, iterations)
    assert long.limit > short.limit
    assert long.paths[0].plain > short.paths[0].plain


def test_many_paths_are_served_together() -> None:
    assert len(decided(golden("many_cases")).paths) >= MANY
    assert len(decided(golden("if_else")).paths) < MANY


def test_paths_that_repeat_are_merged() -> None:
    (path,) = decided(golden("while_task"), "queue").paths
    assert path.served_by(QUEUE) is MERGE
    assert all(path.served_by(QUEUE) is QUEUE for path in decided(golden("if_else")).paths)


def test_long_tasks_are_shared_out_where_their_turns_can_be_counted() -> None:
    kernel = golden("long_tasks")
    (path,) = decided(kernel).paths
    assert path.engage is not None
    assert not path.engage.shares_all
    assert LONG_TASKS.applies([path.path], kernel.facts) is None
    kernel = golden("while_task")
    (path,) = decided(kernel).paths
    assert path.engage is None
    assert path.unshared == LONG_TASKS.applies([path.path], kernel.facts) == DEPENDENT


@pytest.mark.parametrize("wanted", ["engage", "sub_warp(16)"])
def test_all_tasks_are_shared_out_where_that_is_asked_for(wanted: str) -> None:
    kernel = golden("joined_lists")
    kernel.records[1].marker.clauses["strategy"] = wanted
    decision = decided(kernel)
    branch, loop = decision.paths
    assert (branch.own, branch.engage) == (None, None)
    assert loop.served_by(decision.strategies[0]).name == wanted
    assert loop.engage is not None
    assert loop.engage.shares_all


def test_paths_inside_are_branches_then() -> None:
    kernel = golden("paths_in_long_tasks")
    (loop,) = decided(kernel, "engage").paths
    assert loop.path.repeats
    assert [record.reason for record in kernel.records] == [None] * len(kernel.records)
    assert {record.remark.advice for record in kernel.records} == {None, IN_SHARED}


def test_tasks_stay_with_their_lanes_where_that_is_asked_for_and_paths_lie_inside() -> None:
    kernel = golden("path_in_variable_loop")
    decision = decided(kernel, "uniform")
    (loop,) = (one for one in decision.paths if one.path.repeats)
    (inner,) = (one for one in decision.paths if one.path.parent is loop.path)
    assert (loop.own, loop.engage, loop.unshared) == (UNIFORM, None, KEPT)
    assert inner.own is None
    plans = on_paper(settle(decision, kernel, 0)).plans
    assert [plan.stack.bytes == 0 for plan in plans] == [plan.path.repeats for plan in plans]
    kernel = golden("long_tasks")
    (loop,) = decided(kernel, "uniform").paths
    assert loop.own is MERGE
    assert list(kernel.declined.values()) == [NOTHING_INSIDE]


def test_what_the_rest_needs_is_a_counter_or_a_sum() -> None:
    kernel = golden("joined_lists_with_sums")
    (path,) = decided(kernel).paths
    assert path.unshared == HANDS_ON
    assert ENGAGE.applies([path.path], kernel.facts) is None
    kernel = golden("while_task")
    kernel.records[0].marker.clauses["strategy"] = "sub_warp(4)"
    decided(kernel)
    assert kernel.why_declined(kernel.records[0].marker) == DEPENDENT


def test_what_the_user_said_comes_along() -> None:
    kernel = golden("if_else")
    clauses = [record.marker.clauses for record in kernel.records]
    clauses[0].update(prob="0.125", priority="3")
    clauses[1].clear()
    first, second = (path.hints for path in decided(kernel).paths)
    assert (first.prob, first.priority) == (0.125, 3)
    assert (second.prob, second.priority) == (None, None)


def test_nothing_is_changed_by_deciding() -> None:
    kernel = golden("many_cases")
    before = print_function(kernel.function), dict(kernel.function.registers.ranges)
    choice = settle(decided(kernel), kernel, 0)
    assert choice.strategy is CASES
    assert (print_function(kernel.function), kernel.function.registers.ranges) == before
