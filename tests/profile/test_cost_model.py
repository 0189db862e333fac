"""The cost model: what it takes the original for, against what a profile counted of it."""

from __future__ import annotations

from pathlib import Path as File

import pytest
from folders import GOLDEN
from goldens import Golden
from test_profile_goldens import run

from ccc import emulator, profile
from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import Path
from ccc.compiler.transform import transform
from ccc.ir.markers import parse_marker
from ccc.parse import parse_function, parse_module
from ccc.passes.choice.cost_model import LoopCost
from ccc.passes.choice.lanes import Guess, Lanes, expected_lanes
from ccc.passes.choice.work import passage, work_of_blocks
from ccc.pipeline import Kernel
from ccc.profile.known import Knowledge

CONTEXT_COLLECTION = GOLDEN / "context-collection"


def kernel_of(ptx: str, *profiles: File) -> Kernel:
    """The kernel of a module, with what profiles tell of it."""
    piece = next(one for one in parse_module(ptx, "k.ptx").functions if one.kind == "entry")
    function = parse_function(piece)
    kernel = Kernel(function, Facts(function), arch="sm_90")
    if profiles:
        markers = list(filter(None, map(parse_marker, ptx.splitlines())))
        kernel.knowledge = Knowledge([*map(str, profiles)], {}, markers, [function.name])
    return kernel


def before(name: str) -> Golden:
    return Golden.read(CONTEXT_COLLECTION / f"{name}.ptx")


def cost_of(kernel: Kernel) -> LoopCost:
    """The cost of its one annotated loop."""
    paths = [record.path for record in kernel.records if isinstance(record.path, Path)]
    loop = paths[0].loop
    mine = [path for path in paths if path.loop is loop]
    return LoopCost(loop, mine, expected_lanes(mine, kernel.known, Lanes.usual), kernel)


@pytest.mark.parametrize("name", ["path_in_variable_loop", "nested_paths", "nested_while"])
def test_a_path_is_charged_for_as_often_as_it_was_counted(name: str, tmp_path: File) -> None:
    golden = before(name)
    module = emulator.Module(transform(golden.before, profile="p").ptx)
    run(module, golden, "lockstep")
    counted = profile.of(module)
    counted.write(tmp_path / "p.json")
    kernel = kernel_of(golden.before, tmp_path / "p.json")
    cost = cost_of(kernel)
    (told,) = counted.kernels
    by_line = {path.line: path for path in told.paths}
    iterations = next(by_line[line(path)].visits for path in cost.paths if path.parent is None)
    for path, mine in cost.paths.items():
        one = by_line[line(path)]
        assert mine.lanes.executions == pytest.approx(one.executions / iterations)
        assert mine.lanes.active == pytest.approx(one.lanes / iterations)
        blocks = path.blocks.difference(
            *(inner.blocks for inner in cost.paths if inner.parent is path)
        )
        through = passage(blocks, kernel.facts, path.entry, path.entry)
        issued = mine.lanes.executions * through.length
        scale = mine.own.instructions / through.work.instructions
        assert scale * issued == pytest.approx(one.instructions / iterations)


def line(path: Path) -> int:
    return path.marker.span.line


def with_shares(name: str, **shares: str) -> dict[int, Lanes]:
    """What is expected of the paths of a golden by line, with ``prob`` on those at some lines."""
    kernel = kernel_of(before(name).before)
    for record in kernel.records:
        record.marker.clauses["prob"] = shares[f"at_{record.marker.span.line}"]
    return {line(path): one.lanes for path, one in cost_of(kernel).paths.items()}


def test_what_is_said_of_a_path_inside_is_said_of_those_that_come_there() -> None:
    found = with_shares("nested_paths", at_7="0.25", at_10="0.5", at_17="1", at_20="0.5")
    assert (found[7].lanes, found[10].lanes) == (8, 4)
    assert found[7].entered == pytest.approx(1 - 0.75**32)
    assert found[10].entered == pytest.approx(1 - 0.875**32, rel=0.02)
    assert found[10].came == found[7].lanes
    assert not found[10].take_all


def test_a_path_inside_a_loop_is_taken_in_each_of_its_turns() -> None:
    found = with_shares("path_in_variable_loop", at_7="1", at_9="0.5", at_12="0.25")
    assert found[9].lanes == 32  # of a loop whose turns nobody knows shares tell nothing
    assert found[9].most_turns > found[9].turns > 1
    assert found[12].active == pytest.approx(found[9].active / 4)
    assert 1 < found[12].executions < found[9].executions
    found = with_shares("path_in_variable_loop", at_7="1", at_9="0.5", at_12="1")
    assert found[12].executions == pytest.approx(found[9].executions)
    assert found[12].take_all


@pytest.mark.parametrize("guess", [Lanes.usual, lambda path, around: Lanes.worst(path, around, 1)])
def test_what_is_guessed_of_a_path_inside_is_no_more_than_what_is_around_it(guess: Guess) -> None:
    kernel = kernel_of(before("path_in_variable_loop").before)
    paths = [record.path for record in kernel.records if isinstance(record.path, Path)]
    found = expected_lanes(paths, kernel.known, guess)
    inside = [path for path in paths if path.parent is not None]
    assert len(inside) == 2
    for path in inside:
        assert path.parent is not None
        assert found[path].came == found[path.parent].active
        assert found[path].lanes <= found[path].came
        assert found[path].entered <= found[path.parent].executions


def test_few_iterations_of_a_warp_leave_little_to_collect() -> None:
    """Of eight lanes that take a path once nothing is saved; of four times eight, most is."""
    kernel = kernel_of(before("atomics").before)
    (path,) = (record.path for record in kernel.records if isinstance(record.path, Path))

    def ratio(iterations: float) -> float:
        lanes = Lanes("", 1.0, 8, length=250, iterations=iterations)
        cost = LoopCost(path.loop, [path], {path: lanes}, kernel)
        return cost.slots({}) / cost.slots({path: "queue"})

    found = [ratio(iterations) for iterations in (1, 4, 16, 1e9)]
    assert found == sorted(found)
    assert found[0] <= 1 < found[1]
    lanes = Lanes("", 1.0, 8, length=250)
    endless = LoopCost(path.loop, [path], {path: lanes}, kernel)
    assert found[3] == pytest.approx(endless.slots({}) / endless.slots({path: "queue"}))
    assert ratio(4) < 0.9 * found[3]


def test_a_constant_number_of_turns_is_no_guess() -> None:
    kernel = kernel_of(before("path_in_variable_loop").before)
    paths = [record.path for record in kernel.records if isinstance(record.path, Path)]
    for guess in (Lanes.usual, lambda path, around: Lanes.worst(path, around, 1)):
        found = expected_lanes(paths, kernel.known, guess, lambda _path: 10)
        assert {(one.turns, one.most_turns) for p, one in found.items() if p.repeats} == {(10, 10)}


@pytest.mark.parametrize("turns", [2, 10, 100])
def test_a_loop_in_a_path_is_charged_for_its_constant_number_of_turns(turns: int) -> None:
    text = f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x)
{{
	.reg .pred %p<4>;
	.reg .b32 %r<9>;
	mov.u32 %r1, {turns};
LOOP:
	mad.lo.s32 %r2, %r2, %r2, 1;
	add.s32 %r1, %r1, -1;
	setp.ne.s32 %p1, %r1, 0;
	@%p1 bra LOOP;
	bra OUT;
OUT:
	ret;
}}
"""
    kernel = kernel_of(text)
    (loop,) = kernel.facts.loops
    assert passage(loop.blocks, kernel.facts, loop.header).length == 4 * turns


def test_what_goes_on_as_a_task_of_a_loop_behind_is_no_part_of_a_branch() -> None:
    kernel = kernel_of(before("loop_behind_a_branch").before)
    costs = {path.marker.kind: one for path, one in cost_of(kernel).paths.items()}
    branch, loop = costs["then"], costs["while"]
    assert branch.path.leads_to(loop.path)
    own = branch.path.rest - loop.path.blocks  # some do no turn, and go on behind the loop
    assert branch.rest == work_of_blocks(own, kernel.facts, str(branch.path.join))
    assert 0 < branch.rest.instructions < 20
