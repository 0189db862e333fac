"""The fuzzer: the same kernels everywhere; wrong code is caught and made small; none is made."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
import random_choices
from breadth import one_in
from collecting import transform
from rich.console import Console

from ccc.cli import main
from ccc.compiler.transform import Transformed
from ccc.emulator import Module
from ccc.errors import CccError, Span
from ccc.harness.equivalence import Launch, difference, run
from ccc.options import Options
from ccc.passes.strategies.registry import NUMBERED, STRATEGY_NAMES, read_request
from ccc.remark import Remark
from ccc.toolkit import find as toolchain
from ccc.tools import fuzz
from ccc.tools.fuzz import BATCH, batches, build, device, requests, worker
from ccc.tools.fuzz.build import BuiltKernels, Failure
from ccc.tools.fuzz.comparison import Comparison, Verdict, check
from ccc.tools.fuzz.coverage import FEATURES, Coverage, levels
from ccc.tools.fuzz.expressions import Scope, Template, expression
from ccc.tools.fuzz.generate import kernel
from ccc.tools.fuzz.mutation import mutated
from ccc.tools.fuzz.shrinking import bodies, expressions, launches, shrink
from ccc.tools.fuzz.swarm import NOT_YET, SWARM_FEATURES
from ccc.tools.fuzz.tree import RandomKernel, case, closed, source

pytestmark = pytest.mark.usefixtures("few_headers")

PINNED = "531e1af85e9e6312"
"""Of the first kernels of seed 0 but for the strategies that they ask for, whatever the version of
Python. Changes with the generator."""

ASKED = re.compile(r" strategy\((\w+)(?:\((\d+)\))?\)")


@pytest.fixture(scope="module")
def toolkit() -> toolchain.Toolkit:
    try:
        return toolchain.find()
    except CccError as error:
        pytest.skip(error.message)


def test_the_same_kernels_everywhere() -> None:
    text = "".join(case(kernel(0, index)) for index in range(60))
    assert hashlib.sha256(ASKED.sub("", text).encode()).hexdigest()[:16] == PINNED


def test_other_seeds_and_numbers_give_other_kernels() -> None:
    texts = {case(kernel(seed, index)) for seed in range(3) for index in range(10)}
    assert len(texts) == 30


@pytest.mark.parametrize("index", one_in(4, range(60)))
def test_variables_are_declared_and_launches_can_be_read(index: int) -> None:
    made = kernel(7, index)
    assert made.closed()
    for number in range(4):
        one = made.variant(number)
        assert Launch.parse(case(one).splitlines()[0]) == one.launch()
        assert not made.bound or one.threads <= made.bound
        assert one.cuda("k") == made.cuda("k")


def test_a_hundred_kernels_hold_every_directive_three_levels_deep() -> None:
    made = [kernel(1, index) for index in range(100)]
    text = "".join(one.cuda("k") for one in made)
    words = ("for", "if", "switch", "while", "for variable", "recursion")
    assert all(f"#pragma ccc {word}\n" in text for word in words)
    assert max(levels(one.body) for one in made) >= 3
    assert all(word in text for word in ("do {", "else if", "default:", "template <int MODE"))


@pytest.mark.slow
def test_every_form_is_written() -> None:
    coverage = Coverage()
    for index in range(250):
        coverage.add(kernel(1, index), Verdict())
    seldom = [name for name in FEATURES if coverage.features[name] < 3]
    assert not seldom
    assert coverage.features["annotated loops in both arms"] > 2


@pytest.mark.slow
def test_kernels_whose_threads_wait_run_in_random_orders_alone() -> None:
    made = [kernel(1, index) for index in range(100)]
    waiting = [one for one in made if "lanes in lockstep" in case(one)]
    assert waiting
    for one in waiting:
        assert re.search(r"atomicCAS\(|< \(unsigned\)\(size", case(one)) or one.spins
        assert "lockstep" not in Comparison().orders(one)
    others = [one for one in made if one not in waiting]
    assert not any(re.search(r"atomicCAS\(|< \(unsigned\)\(size", case(one)) for one in others)


def test_what_is_fetched_does_not_tell_one_thread_from_another() -> None:
    random = Random(5)
    scope = Scope((("g", "i"), ("n", "i"))).extend(Template("u", "k1[$0 & 3]", "u", 9, ("k1",)))
    drawn = {str(expression(random, scope.anywhere(), "u", 3)) for _ in range(2000)}
    assert not any(re.search(r"threadIdx|blockIdx|\bg\b|k1|f_lane|f_below", text) for text in drawn)


@pytest.mark.slow
@pytest.mark.usefixtures("toolkit")
@pytest.mark.parametrize(
    ("index", "n", "words"),
    [
        (385, 385, "__shfl_sync(~0u, s18"),
        (215, 300, "reduction(min: x22)"),
        (4674, 100, "unsigned short x3 ="),
    ],
)
def test_what_is_fetched_comes_to_the_same_whoever_runs_it(index: int, n: int, words: str) -> None:
    """Warps that lack lanes, least and greatest numbers with a sign, and sums of 16 bits."""
    made = replace(kernel(20261301, index), n=n, grid=1)
    assert words in case(made)
    module = Module(build.build([made], "sm_90", "leave").original)
    expected, *others = (
        run(module, "k0", made.launch(), schedule=schedule)[0] for schedule in ("lockstep", 0, 1, 2)
    )
    assert [difference(expected, other) for other in others] == [None] * 3


def test_changed_kernels_keep_the_rules() -> None:
    changed = 0
    for index in range(60):
        made = kernel(2, index)
        if made.spins or "work +" in made.cuda("k"):
            continue
        one = mutated(Random(index), made)
        changed += one != made
        assert one.closed()
        fixed = re.compile(r"__sync|\b(?:continue|break|return);")
        assert fixed.findall(one.cuda("k")) == fixed.findall(made.cuda("k"))
    assert changed > 30


def test_what_cannot_be_done_yet_is_not_written() -> None:
    assert set(SWARM_FEATURES) >= NOT_YET
    text = "".join(kernel(1, index).cuda("k") for index in range(200))
    for thing, word in (("reduction", "reduction("), ("grid_stride", "ccc grid_stride")):
        assert (word in text) != (thing in NOT_YET)


def test_everything_that_can_be_asked_for_is() -> None:
    everything = {name for name in STRATEGY_NAMES if name != "auto"}
    clauses = [requests.request(number) for number in range(40 * len(everything))]
    files = [requests.request_of_file(number) for number in range(40 * len(everything))]
    assert {one.partition("(")[0] for one in clauses} == everything
    assert {one.partition("(")[0] for one in files} == {"auto", *everything} - {"leave"}
    for one in (*clauses, *files):
        assert read_request(one)
    for name, known in NUMBERED.items():
        assert {f"{name}({number})" for number in known} <= {*clauses, *files}


def test_a_new_strategy_changes_clauses_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [case(kernel(4, index)) for index in range(40)]
    monkeypatch.setattr(requests, "STRATEGY_NAMES", (*requests.STRATEGY_NAMES, "new"))
    monkeypatch.setitem(NUMBERED, "new", range(2, 33))
    after = [case(kernel(4, index)) for index in range(40)]
    assert re.search(r"strategy\(new\(\d+\)\)", "".join(after))
    assert [ASKED.sub("", one) for one in before] == [ASKED.sub("", one) for one in after]


def test_shrinking_leaves_requests_out() -> None:
    made = next(k for k in (kernel(1, i) for i in range(90)) if ASKED.search(k.cuda("k")))
    small = shrink(made, lambda many: ["#pragma ccc if" in k.cuda("k") for k in many])
    assert not ASKED.search(small.cuda("k"))


def test_a_kernel_is_in_the_same_kind_of_file_wherever_one_begins() -> None:
    assert batches(0, 3 * BATCH) == [range(n * BATCH, (n + 1) * BATCH) for n in range(3)]
    assert batches(BATCH - 1, 2) == [range(BATCH - 1, BATCH), range(BATCH, BATCH + 1)]


def test_most_steps_of_shrinking_make_sense() -> None:
    made = next(k for k in (kernel(3, index) for index in range(50)) if len(k.body) > 2)
    smaller = [*launches(made), *bodies(made), *expressions(made)]
    assert smaller
    assert all(one.closed() for one in smaller)
    assert not closed(made.body, frozenset())


@pytest.mark.parametrize("word", ["atomicMax", "else if", "default:", "ccc recursion"])
def test_shrinking_keeps_what_fails_and_little_else(word: str) -> None:
    made = next(k for k in (kernel(0, i) for i in range(200)) if word in k.cuda("k"))
    small = shrink(made, lambda many: [word in k.cuda("k") for k in many])
    text = small.cuda("k")
    assert word in text
    assert len(text.splitlines()) < 30
    assert (small.grid, small.n) == (1, min(made.n, 1))


@pytest.mark.slow
def test_what_is_printed_compiles(toolkit: toolchain.Toolkit, tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(source((f"k{index}", kernel(11, index)) for index in range(30)))
    command = [str(toolkit.nvcc), "-ptx", "-arch=sm_90", str(path), "-o", str(tmp_path / "k.ptx")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_coverage_counts_paths_by_directive_and_reason() -> None:
    applied = Remark("applied", Span("k.cu", 7, 5), "k", "if", "then", "queue")
    refused = replace(applied, kind="missed", strategy=None, reason="the path ends (PTX line 7)")
    coverage = Coverage()
    coverage.add(kernel(0, 0), Verdict(remarks=[applied, applied, refused]))
    coverage.add(kernel(0, 1), Verdict(remarks=[refused]))
    assert coverage.paths == {("if: then", None): 2, ("if: then", "the path ends"): 2}
    assert (coverage.kernels, coverage.collected) == (2, 2)


def test_coverage_counts_paths_by_strategy(capsys: pytest.CaptureFixture[str]) -> None:
    served = Remark("applied", Span("k.cu", 7, 5), "k", "while", "while", "merge")
    numbered = replace(served, strategy="batch9(4)", asked="batch9(4)")
    declined = replace(served, asked="queue", declined="it does not")
    coverage = Coverage()
    coverage.add(kernel(0, 0), Verdict(remarks=[served, numbered, declined]))
    coverage.show(Console(width=200))
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["merge", "0", "0", "2", "while", "2"] in rows
    assert ["queue", "1", "1", "0"] in rows
    assert ["batch9", "1", "0", "1", "while", "1"] in rows


WORKER = """
import json, sys, time
first = int(sys.argv[2])
with open(sys.argv[1] + "/work.json") as file:
    work = json.load(file)
for number, kernel in enumerate(work[first:], first):
    for launch in range(len(kernel["launches"])):
        version = "original" if number == 4 else "transformed"
        words = {"is": "launch", "kernel": number, "launch": launch, "version": version}
        print(json.dumps(words), flush=True)
        if number == 1 and launch == 1:
            time.sleep(60)
        if number == 2:
            sys.exit("no such luck")
        if number in (3, 4):
            print(json.dumps({"is": "failure", "kind": "Fault", "detail": "sticky"}), flush=True)
            sys.exit(1)
print(json.dumps({"is": "end"}), flush=True)
"""


def test_a_launch_that_hangs_or_faults_on_a_gpu_is_laid_to_its_kernel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "worker.py"
    path.write_text(WORKER)
    monkeypatch.setattr(device, "WORKER", (sys.executable, str(path)))
    monkeypatch.setattr(device, "HANG", 0.5)
    variants = [[kernel(0, index).variant(n) for n in range(2)] for index in range(6)]
    assert device.failures(BuiltKernels("", "", {}), variants) == [
        None,
        Failure("run: hang", "no end after 0.5 s", variant=1),
        Failure("run: the process ended", "no such luck"),
        Failure("run: Fault", "sticky"),
        Failure("generator: the original fails: Fault", "sticky"),
        None,
    ]


def without_context(ptx: str, options: Options, **more: Any) -> Transformed:
    """A transformation that forgets what it saved."""
    result = transform(ptx, options, **more)
    wrong = re.sub(r"ld\.shared\.b32 (%ccc_\w+), .*;", r"mov.b32 \1, 1;", result.ptx)
    return replace(result, ptx=wrong)


@pytest.mark.slow
@pytest.mark.usefixtures("toolkit")
def test_a_planted_bug_is_caught_and_made_small(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "transform", without_context)
    monkeypatch.setattr(fuzz, "shrink", partial(shrink, tries=12))
    options = ["--seed", "0", "--count", "1", "--first", "0", "--jobs", "1", "--schedules", "1"]
    assert main(["fuzz", *options, "--keep", str(tmp_path)]) == 1
    (kept,) = tmp_path.glob("*.cu")
    assert kept.name in capsys.readouterr().err.replace("\n", "")
    text = kept.read_text()
    assert text.startswith("// run: grid=")
    assert len(text) < len(case(kernel(0, 0)))


@pytest.mark.slow
@pytest.mark.usefixtures("toolkit")
def test_ptx_that_does_not_assemble_is_laid_to_its_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(ptx: str, options: Options, **more: Any) -> Transformed:
        result = transform(ptx, options, **more)
        start = result.ptx.find(".entry k0(")
        return replace(result, ptx=result.ptx.replace("ret;", "rett;", 1) if start >= 0 else "")

    def first_of(many: Sequence[RandomKernel]) -> str:
        failure = check(many, Comparison())[0].failure
        assert failure is not None
        return failure.kind

    monkeypatch.setattr(build, "transform", broken)
    assert first_of([kernel(0, 0), kernel(0, 4)]) == "ptxas"


@pytest.mark.slow
@pytest.mark.usefixtures("toolkit")
def test_a_missing_barrier_is_a_race(monkeypatch: pytest.MonkeyPatch) -> None:
    """In lockstep the memory is the same without it."""

    def without_barrier(ptx: str, options: Options, **more: Any) -> Transformed:
        result = transform(ptx, options, **more)
        taken = r"bar\.warp\.sync [^;]*;(\s+@!%ccc_has_\d+ bra (?!\$ccc_taken))"
        return replace(result, ptx=re.sub(taken, r"\1", result.ptx))

    made = kernel(0, 26)
    how = Comparison(only="lockstep")
    assert check([made], how)[0].failure is None
    monkeypatch.setattr(build, "transform", without_barrier)
    failure = check([made], how)[0].failure
    assert failure is not None
    assert failure.kind == "race"


@pytest.mark.slow
@pytest.mark.usefixtures("toolkit")
@pytest.mark.parametrize("first", one_in(20, range(0, 100, 5)))
def test_no_kernel_is_transformed_wrongly(first: int, tmp_path: Path) -> None:
    which = ["--seed", "1", "--first", str(first), "--count", "5"]
    options = [*which, "--jobs", "1", "--schedules", "1"]
    kept = tmp_path / "kept"
    assert main(["fuzz", *options, "--keep", str(kept)]) == 0, [
        path.read_text() for path in kept.glob("*.cu")
    ]


@pytest.mark.slow
@pytest.mark.usefixtures("toolkit")
@pytest.mark.parametrize("first", one_in(10, range(0, 60, 6)))
def test_no_kernel_is_transformed_wrongly_whatever_is_chosen(
    first: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept"
    which = ["--seed", "5", "--first", str(first), "--count", "6", "--schedules", "1"]
    assert random_choices.run("any", [*which, "--keep", str(kept)]) == 0, [
        path.read_text() for path in kept.glob("*.cu")
    ]
    found = re.search(r"(\d+) paths, (\d+) collected", capsys.readouterr().out)
    assert found is not None
    paths, collected = map(int, found.groups())
    assert collected > paths / 3


@pytest.mark.slow
@pytest.mark.usefixtures("toolkit")
@pytest.mark.parametrize("transformed", [False, True], ids=["original", "transformed"])
def test_what_counts_computes_the_same(
    transformed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = partial(Options, profile="p.json", profile_transformed=transformed)
    monkeypatch.setattr(build, "Options", options)
    kept = tmp_path / "kept"
    which = ["--seed", "77", "--first", "9", "--count", "5", "--jobs", "1", "--schedules", "1"]
    assert main(["fuzz", *which, "--keep", str(kept)]) == 0, [
        path.read_text() for path in kept.glob("*.cu")
    ]


class EmulatedDevice:
    """A device in a GPU's place."""

    def __init__(self, _: Path):
        pass

    def give_stack(self, size: int) -> None:
        assert size >= 1 << 10

    def load(self, ptx: str) -> Module:
        return Module(ptx)

    def put(self, values: dict[str, Any]) -> dict[str, Any]:
        return values

    get = put


@pytest.mark.slow
@pytest.mark.usefixtures("toolkit")
def test_the_process_on_a_gpu_says_what_it_runs_and_what_differs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernels = [kernel(0, 0), kernel(0, 19)]
    variants = [[one, one.variant(1)] for one in kernels]
    monkeypatch.setattr(worker.gpu, "GpuDevice", EmulatedDevice)
    monkeypatch.setattr(build, "transform", without_context)
    device.write(str(tmp_path), build.build(kernels, "sm_90", "queue"), variants)
    worker.main(str(tmp_path), 0)
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert said[0] == {"is": "launch", "kernel": 0, "launch": 0, "version": "original"}
    assert any(word["is"] == "failure" for word in said)


def test_what_allocates_on_the_stack_is_not_for_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it does that itself, or a function that it calls."""
    launched: list[int] = []

    def note(_: BuiltKernels, variants: Sequence[Sequence[RandomKernel]]) -> list[Failure | None]:
        launched.extend(map(len, variants))
        return [None] * len(variants)

    monkeypatch.setattr(device, "failures", note)
    plain, calls = kernel(7, 4166), kernel(7, 2534)
    assert "f_scratch(" in calls.cuda("k")
    assert "f_scratch(" not in plain.cuda("k")
    check([plain, calls], Comparison(gpu=True, launches=3))
    assert launched == [3, 0]


@pytest.mark.gpu
@pytest.mark.parametrize("first", ["392", "1326"])
def test_functions_that_keep_arrays_may_call_themselves_on_a_gpu(
    first: str, tmp_path: Path
) -> None:
    options = ["--seed", "8071", "--first", first, "--count", "1", "--device", "gpu"]
    assert main(["fuzz", *options, "--keep", str(tmp_path)]) == 0


@pytest.mark.gpu
def test_no_kernel_is_transformed_wrongly_on_a_gpu_whatever_is_chosen(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    options = ["--seed", "5", "--count", "40", "--device", "gpu", "--keep", str(kept)]
    assert random_choices.run("any", options) == 0, [path.read_text() for path in kept.glob("*.cu")]


@pytest.mark.gpu
def test_no_kernel_is_transformed_wrongly_on_a_gpu(tmp_path: Path) -> None:
    options = ["--seed", "1", "--count", "60", "--jobs", "4", "--device", "gpu"]
    kept = tmp_path / "kept"
    assert main(["fuzz", *options, "--keep", str(kept)]) == 0, [
        path.read_text() for path in kept.glob("*.cu")
    ]
