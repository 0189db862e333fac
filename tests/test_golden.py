"""Every golden file: the text, the assembler, and in every schedule the same memory, no races."""

from __future__ import annotations

import functools
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest
from assembled import all_assemble, failure
from breadth import always, one_in, runs_long
from collecting import transform
from folders import ERRORS, GOLDEN
from goldens import Golden, lines_said

from ccc import passes
from ccc.analysis.dominators import is_reducible
from ccc.analysis.facts import Facts
from ccc.compiler.transform import Transformed
from ccc.device import gpu
from ccc.emulator import Module, Race
from ccc.emulator.run.races import new_races
from ccc.emulator.translate.variables import SHARED_LIMIT
from ccc.errors import CccError
from ccc.harness.equivalence import Launch, difference, run
from ccc.parse import parse_function, parse_module
from ccc.passes.context_collection import context_stack
from ccc.snippet import Snippet
from ccc.toolkit import find as toolchain

COLLECTED = sorted(GOLDEN.glob("*/*.ptx"))
REFUSED = sorted(ERRORS.glob("*.ptx"))
ASSEMBLED = [path for path in (*COLLECTED, *REFUSED) if path.stem != "unknown_opcode"]
"""Those whose opcodes ptxas knows, too."""
BATCH = 20
TOGETHER = "path"
"""All tests of one file run in a row, for what is made of it is kept until then."""
ENOUGH = 5_000
"""Warp instructions of all random orders in which a kernel is run."""
ORDERS = 4 if runs_long else 1
"""The most random orders in which one is run."""

BLOCK_WIDE = sorted(
    path
    for hint in ("block_lists*", "*pool*")
    for path in GOLDEN.glob(f"context-collection/{hint}.ptx")
)
"""Those in which warps look into the shares of others."""

SMALL = 6_200
"""Bytes of a small golden file."""


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@functools.lru_cache(maxsize=1)
def transformed(path: Path) -> tuple[Golden, Transformed]:
    """A golden file, and what comes out today."""
    golden = Golden.read(path)
    return golden, golden.transform()


@functools.lru_cache(maxsize=1)
def original(path: Path) -> tuple[Golden, Module, list[Any]]:
    """A golden file, its original, and what that leaves in memory."""
    golden = Golden.read(path)
    module = Module(golden.before)
    return golden, module, run(module, "k", golden.launch)[0]


@pytest.mark.parametrize("path", [*COLLECTED, *REFUSED], ids=name)
def test_text(path: Path, bless: bool) -> None:
    golden, result = transformed(path)
    if bless:
        golden.write(result)
        return
    assert (result.ptx.rstrip("\n"), lines_said(result)) == (golden.after.rstrip("\n"), golden.says)
    records = [record for kernel in result.report["kernels"] for record in kernel["paths"]]
    assert path in REFUSED or any(record["applied"] for record in records)


def test_every_snippet_of_the_passes_is_in_a_small_golden(monkeypatch: pytest.MonkeyPatch) -> None:
    """So a change of one shows in a file that can be read."""
    emitted: set[str] = set()
    emit = Snippet.emit

    def emit_and_note(self: Snippet, *arguments: Any, **given: Any) -> Any:
        emitted.add(self.source)
        return emit(self, *arguments, **given)

    monkeypatch.setattr(Snippet, "emit", emit_and_note)
    for path in (GOLDEN / "small").glob("*.ptx"):
        Golden.read(path).transform()
    modules = [one.name for one in walk_packages(passes.__path__, "ccc.passes.")]
    for module in modules:
        for called, snippet in vars(import_module(module)).items():
            assert not isinstance(snippet, Snippet) or snippet.source in emitted, called


def test_refused_code_is_left_as_it_was() -> None:
    for path in REFUSED:
        golden = Golden.read(path)
        assert golden.says, path
        if "nested" not in path.stem:
            assert golden.after.rstrip("\n") == golden.before.rstrip("\n"), path


@pytest.mark.parametrize("path", one_in(5, COLLECTED), ids=name)
def test_what_comes_out_has_no_loop_with_two_entries(path: Path) -> None:
    """Another annotated loop of the kernel could not be collected beside it."""
    for piece in parse_module(Golden.read(path).after, path.name).functions:
        facts = Facts(parse_function(piece))
        assert is_reducible(facts.graph, facts.dominators)


@functools.lru_cache(maxsize=2)
def batch_assembles(number: int) -> bool:
    """Whether ptxas takes both halves of some files, all at once."""
    batch = ASSEMBLED[number * BATCH : (number + 1) * BATCH]
    return all_assemble(half for path in batch for half in halves(path))


def halves(path: Path) -> list[str]:
    golden = Golden.read(path)
    return sorted({golden.before.strip(), golden.after.strip()})


@pytest.mark.slow
@pytest.mark.parametrize("path", ASSEMBLED, ids=name)
def test_both_halves_assemble(path: Path) -> None:
    try:
        toolchain.find()
    except CccError as error:
        pytest.skip(error.message)
    if not batch_assembles(ASSEMBLED.index(path) // BATCH):
        assert [failure(half) for half in halves(path)] == [""] * len(halves(path))


def slow_if_large(path: Path) -> Any:
    """A case that ``make check`` runs only of a small file."""
    return pytest.param(path, marks=pytest.mark.slow if path.stat().st_size > SMALL else ())


@pytest.mark.parametrize("path", [slow_if_large(path) for path in COLLECTED], ids=name)
def test_memory_is_the_same(path: Path) -> None:
    golden, before, expected = original(path)
    after = Module(golden.after)
    races: list[Race] = []
    found, cost = run(after, "k", golden.launch, races=races)
    assert difference(expected, found) is None
    for schedule in range(min(ORDERS, max(2, ENOUGH // cost.instructions))):
        judged = races if schedule == 0 else None
        found, _ = run(after, "k", golden.launch, schedule=schedule, races=judged)
        assert difference(expected, found) is None, f"schedule {schedule}"
    assert not (races and new_races(races_of(before, golden.launch), races))


@pytest.mark.slow
@pytest.mark.parametrize("path", one_in(6, COLLECTED), ids=name)
def test_batches_leave_the_same_memory(path: Path) -> None:
    """Where the golden's own strategy is another; else that code runs in the test before."""
    golden, before, expected = original(path)
    result = transform(golden.before, replace(golden.options, strategy="batch3"))
    kernels = result.report["kernels"]
    if not any(one.get("strategy") == "batch3" for k in kernels for one in k["paths"]):
        return
    if result.ptx.strip() == golden.after.strip():
        return
    after = Module(result.ptx)
    races: list[Race] = []
    for schedule in ("lockstep", 0):
        found, _ = run(after, "k", golden.launch, schedule=schedule, races=races)
        assert difference(expected, found) is None, f"schedule {schedule}"
    assert not (races and new_races(races_of(before, golden.launch), races))


@pytest.mark.slow
@pytest.mark.parametrize("path", always(COLLECTED, BLOCK_WIDE.__contains__), ids=name)
def test_stacks_at_the_end_of_dynamic_memory_leave_the_same_memory(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Launches add them for the warps that they have: none may look for one that there is not, nor
    where the kernel's own dynamic memory begins."""
    golden, _, expected = original(path)
    monkeypatch.setattr(context_stack, "static_room", lambda _: -1)
    result = transform(golden.before, replace(golden.options, shared_limit=SHARED_LIMIT))
    places = result.ptx.count(f", {context_stack.NAME};")
    assert places == result.ptx.count("%dynamic_smem_size")
    found, _ = run(Module(result.ptx), "k", golden.launch)
    assert difference(expected, found) is None


def races_of(module: Module, launch: Launch) -> list[Race]:
    """The races of a kernel in several schedules."""
    races: list[Race] = []
    for schedule in ("lockstep", 0, 1):
        run(module, "k", launch, schedule=schedule, races=races)
    return races


@pytest.mark.gpu
@pytest.mark.parametrize("path", COLLECTED, ids=name)
def test_memory_is_the_same_on_the_gpu(path: Path) -> None:
    golden = Golden.read(path)
    device = gpu.GpuDevice()
    before, after = device.load(golden.before), device.load(golden.after)
    for seed in range(3):
        expected, found = (on_gpu(device, m, golden.launch, seed) for m in (before, after))
        assert difference(expected, found) is None


def on_gpu(device: gpu.GpuDevice, module: gpu.GpuModule, launch: Launch, seed: int) -> list[Any]:
    named = {str(number): value for number, value in enumerate(launch.arguments(seed))}
    arguments = device.put(named)
    kernel = module.get_function("k")
    kernel(launch.grid, launch.block, tuple(arguments.values()), shared_mem=launch.shared)
    return list(device.get(arguments).values())
