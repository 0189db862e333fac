"""Counting code in the golden kernels: it counts what the emulator counts, in every order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from breadth import one_in
from collecting import transform
from folders import GOLDEN
from goldens import Golden

from ccc import cli, emulator, profile
from ccc.analysis.facts import Facts
from ccc.compiler import transform as compiler
from ccc.emulator.run.counters import Counters
from ccc.harness.equivalence import Launch
from ccc.options import AUTO, COLLECT, Options
from ccc.parse import parse_function, parse_module
from ccc.profile.instrument import count as count_all
from ccc.profile.instrument import counts
from ccc.remark import Remark

CONTEXT_COLLECTION = GOLDEN / "context-collection"


# The original's first lanes leave early, or come late, at a block that only returns: each way to it
# now issues a return of its own.
RETURNS_APART = ("early_return", "lanes_apart", "while_with_breaks")


NAMES = (
    *("if_else", "else_if_cases", "conditions", "continue_in_path", "nested_control", "many_cases"),
    *("switch_cases", "nested_paths", "nested_while", "while_task", "path_in_while"),
    *("path_in_variable_loop", "reduction", "templates", "outer_loop", "tail_recursion"),
    *RETURNS_APART,
)
NAMES_AND_VERSIONS = [(name, off) for name in NAMES for off in (True, False)]
"""Goldens, each as it was (``off``) and transformed."""


def launches(golden: Golden) -> list[Launch]:
    return [Launch.parse(line) for line in golden.head if line.startswith("// run:")]


def options_of(golden: Golden) -> Options:
    """Those that transform it, whether or not that pays."""
    strategy = golden.options.strategy
    return Options(strategy=COLLECT if strategy == AUTO else strategy)


def run(module: emulator.Module, golden: Golden, schedule: str | int) -> tuple[Counters, bytes]:
    """All launches of a golden file: what they cost, and all that they wrote."""
    (name,) = [p.name for p in module.module.functions if p.kind == "entry" and p.is_marked] or [
        p.name for p in module.module.functions if p.kind == "entry"
    ]
    total, memory = Counters(), b""
    for launch in launches(golden):
        arguments = launch.arguments()
        kernel = module.get_function(name)
        shared = launch.shared
        total += kernel(launch.grid, launch.block, arguments, shared_mem=shared, schedule=schedule)
        memory += b"".join(np.asarray(argument).tobytes() for argument in arguments)
    return total, memory


@pytest.mark.slow
@pytest.mark.parametrize(("name", "off"), one_in(5, NAMES_AND_VERSIONS))
def test_counts_are_those_of_the_emulator(name: str, off: bool) -> None:
    golden = Golden.read(CONTEXT_COLLECTION / f"{name}.ptx")
    asked = options_of(golden)
    plain = golden.before if off else transform(golden.before, asked).ptx
    counting = transform(golden.before, asked, profile="p.json", profile_transformed=not off).ptx
    module = emulator.Module(counting)
    expected, memory = run(emulator.Module(plain), golden, "lockstep")
    cost, written = run(module, golden, "lockstep")
    assert written == memory
    assert cost.instructions < 4.75 * expected.instructions  # these kernels are short
    found = profile.of(module)
    assert found.file == "p.json"
    total = sum(kernel.instructions for kernel in found.kernels)
    assert sum(k.thread_instructions for k in found.kernels) == expected.thread_instructions
    if name in RETURNS_APART:
        assert 0 <= total - expected.instructions <= 16
    else:
        assert total == expected.instructions
        assert found.warp_execution_efficiency() == expected.warp_execution_efficiency
    paths = [path for kernel in found.kernels for path in kernel.paths]
    assert any(path.applied for path in paths) != off
    assert all(path.executions <= path.lanes for path in paths)
    assert any(path.executions for path in paths)
    assert all(path.instructions <= path.thread_instructions for path in paths)


@pytest.mark.parametrize(("name", "off"), one_in(5, NAMES_AND_VERSIONS))
def test_loops_add_to_global_counters_only_after_many_turns(name: str, off: bool) -> None:
    golden = Golden.read(CONTEXT_COLLECTION / f"{name}.ptx")
    module = parse_module(
        transform(golden.before, options_of(golden), profile="p", profile_transformed=not off).ptx,
        name,
    )
    adding = 0
    for piece in module.functions:
        facts = Facts(parse_function(piece))
        for label, block in facts.blocks.items():
            adds = any(i.opcode == "red.global.add.u64" for i in block.instructions)
            adding += adds
            if adds and any(label in loop.blocks for loop in facts.loops):
                (check,) = facts.graph.predecessors(label)
                _, compare, _ = list(facts.blocks[check].instructions)[:3]
                assert compare.opcode == "setp.gt.u32"
                assert int(str(compare.operands[2])) > 100
    assert adding


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "off", "bits"),
    [
        *one_in(5, ((*one, 7) for one in NAMES_AND_VERSIONS)),
        *((NAMES[0], off, 16) for off in (True, False)),
    ],
)
def test_short_counts_are_delivered_before_they_are_full(
    name: str, off: bool, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    golden = Golden.read(CONTEXT_COLLECTION / f"{name}.ptx")
    found = []
    for many in (1_000_000, 1):
        monkeypatch.setattr(counts, "MANY", many)
        monkeypatch.setattr(counts, "HALF", bits)
        module = emulator.Module(
            transform(
                golden.before, options_of(golden), profile="p", profile_transformed=not off
            ).ptx
        )
        _, memory = run(module, golden, "lockstep")
        found.append((memory, profile.of(module)))
    assert found[0] == found[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nested_control", "while_task"])
def test_lanes_are_the_same_in_every_order(name: str) -> None:
    golden = Golden.read(CONTEXT_COLLECTION / f"{name}.ptx")
    seen = []
    for schedule in ("lockstep", 1, 2):
        module = emulator.Module(transform(golden.before, profile="p").ptx)
        run(module, golden, schedule)
        seen += profile.of(module).kernels
    for kernel in seen[1:]:
        assert kernel.thread_instructions == seen[0].thread_instructions
        for path, model in zip(kernel.paths, seen[0].paths, strict=True):
            assert (path.lanes, path.thread_instructions) == (
                model.lanes,
                model.thread_instructions,
            )
            assert path.executions >= model.executions  # lanes that came apart enter apart


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["if_else", "many_cases", "nested_paths", "nested_while", "while_task"]
)
def test_as_many_lanes_take_a_path_before_and_after(name: str) -> None:
    golden = Golden.read(CONTEXT_COLLECTION / f"{name}.ptx")
    lanes = []
    for off in (True, False):
        module = emulator.Module(
            transform(
                golden.before, options_of(golden), profile="p", profile_transformed=not off
            ).ptx
        )
        run(module, golden, "lockstep")
        lanes.append([path.lanes for k in profile.of(module).kernels for path in k.paths])
    assert lanes[0] == lanes[1]
    assert all(lanes[0])


@pytest.mark.parametrize("name", ["nested_control", "while_task"])
def test_kernels_without_annotations(name: str) -> None:
    golden = Golden.read(CONTEXT_COLLECTION / f"{name}.ptx")
    transformed = transform(golden.before, options_of(golden)).ptx
    for ptx in (golden.before.replace("// ccc.", "// "), transformed):
        module = emulator.Module(count_all(ptx))
        expected, memory = run(emulator.Module(ptx), golden, "lockstep")
        assert run(module, golden, "lockstep")[1] == memory
        (kernel,) = profile.of(module).kernels
        assert kernel.paths == ()
        assert kernel.instructions == expected.instructions
        assert kernel.thread_instructions == expected.thread_instructions


def test_a_path_inside_another_ones_task_is_no_place_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    golden = Golden.read(CONTEXT_COLLECTION / "path_in_while.ptx")
    left = golden.before.replace("path_in_while.cu:9:1", "path_in_while.cu:9:1 strategy=leave")
    module = emulator.Module(
        transform(left, options_of(golden), profile="p", profile_transformed=True).ptx
    )
    run(module, golden, "lockstep")
    (kernel,) = profile.of(module).kernels
    (inner,) = [path for path in kernel.paths if not path.applied]
    assert (inner.counted, inner.executions) == (False, 0)
    profile.of(module).write(tmp_path / "p.json")
    assert cli.main(["report", str(tmp_path / "p.json")]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[-5:] for row in rows if row[:1] == [str(inner.line)]] == [["-"] * 5]


def test_report_tells_the_cases_of_a_switch_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    golden = Golden.read(CONTEXT_COLLECTION / "switch_cases.ptx")
    module = emulator.Module(transform(golden.before, profile="p").ptx)
    run(module, golden, "lockstep")
    profile.of(module).write(tmp_path / "p.json")
    assert cli.main(["report", str(tmp_path / "p.json")]) == 0
    cases = [line.split()[3] for line in capsys.readouterr().out.splitlines() if " case " in line]
    several = len(cases) // 2  # in each of two tables
    assert cases == [f"#{number + 1}" for number in range(several)] * 2
    assert several > 3


@pytest.mark.parametrize("share", [False, True])
def test_cases_stand_in_the_order_of_the_source_by_their_labels(
    share: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last of the PTX is made the first of the source, and the one before has no label; so it
    is where all ``share`` a line."""
    named: list[str] = []

    def case_told(_: Remark) -> tuple[str, int]:
        number = len(named)
        line = 90 if share else 90 - number
        named.append(f"case{'' if number == 2 else f' {number}'}, line {line}")
        return named[-1], 90 - number if share else 0

    golden = Golden.read(CONTEXT_COLLECTION / "switch_cases.ptx")
    made = compiler.transform(golden.before, profile="p", case_told=case_told)
    module = emulator.Module(made.ptx)
    run(module, golden, "lockstep")
    profile.of(module).write(tmp_path / "p.json")
    assert cli.main(["report", str(tmp_path / "p.json")]) == 0
    cases = [line.split()[3] for line in capsys.readouterr().out.splitlines() if " case " in line]
    labels = [f"#{len(named) - 2}" if n == 2 else str(n) for n in range(len(named))]
    assert cases == labels[::-1] * 2
