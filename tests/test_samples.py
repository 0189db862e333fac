"""Every sample, small, through nvcc and the emulator as ``ccc compare`` runs it."""

from __future__ import annotations

import contextlib
import functools
import operator
from collections import Counter
from collections.abc import Iterator
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from breadth import always, one_in
from folders import SAMPLES, TESTS

from ccc import cli
from ccc.device.choose import Device
from ccc.device.emulated import EMULATED_ARCH, Emulator
from ccc.errors import CccError
from ccc.harness import measure
from ccc.harness.check import differences
from ccc.harness.decompositions import BLOCK
from ccc.harness.sample import Sample, find_samples
from ccc.ir.nodes import Instruction
from ccc.nvcc import run as nvcc
from ccc.options import AUTO, COLLECT
from ccc.parse import parse_function, parse_module
from ccc.ptx.opcodes import Effect
from ccc.toolkit import find as toolchain
from ccc.tools import png

SMALL = {
    "bfs": 7,
    "cuckoo_hash": 2_000,
    "fractal_flame": 4_000,
    "integral_equation": 8,
    "inverse_erf": 10_000,
    "nested/diagonal": 8,
    "nested/pagerank": 7,
    "nested/spmv": 8,
    "nested/task_sizes": 10,
    "nested/u_list": 200,
    "path_tracing": 10,
    "patterns/collatz": 600,
    "patterns/escape_time": 600,
    "patterns/lookup": 1_000,
    "patterns/one_long_task": 2_000,
    "patterns/random_walk": 200,
    "patterns/rare_branch": 15,
    "patterns/reread_bound": 8,
    "patterns/streams": 10,
    "quadrature_grid": 200,
    "ray_tracing": 40,
    "sssp": 7,
    "synthetic": 12,
}
"""The size at which each sample is run here."""

LIKE_OTHERS = (
    *("nested/diagonal", "nested/pagerank", "nested/task_sizes", "nested/u_list"),
    *("patterns/collatz", "patterns/escape_time", "patterns/one_long_task"),
)
COMPILED = always(SMALL, lambda name: name not in LIKE_OTHERS)
"""What is compiled and run; always but for a few that are much like another one."""

TOGETHER = "name"
"""All tests of one sample run in a row, on one worker, which compiles it once."""

pytestmark = pytest.mark.usefixtures("few_headers", "in_process")

DRAWN = ["fractal_flame", "path_tracing", "ray_tracing"]


def need_nvcc() -> None:
    """Skip a test where there is none."""
    try:
        toolchain.find()
    except CccError as error:
        pytest.skip(error.message)


STRATEGIES = {
    **dict.fromkeys(("bfs", "sssp", "quadrature_grid", "patterns/reread_bound"), AUTO),
    **dict.fromkeys(
        (f"nested/{name}" for name in ("diagonal", "pagerank", "spmv", "u_list")), AUTO
    ),
    "inverse_erf": "meld",
    "patterns/random_walk": "flatten",
}
"""What suits a sample best where that is not to collect: the choice, or what a profile leads to."""


@functools.cache
def compiled(name: str) -> nvcc.Compiled:
    """The kernels of a sample, compiled once for all tests.

    ``tests/counts`` holds what comes out of them with all of nvcc's headers.
    """
    need_nvcc()
    strategy = STRATEGIES.get(name, COLLECT)
    return nvcc.compile(SAMPLES / name / "kernel.cu", arch=EMULATED_ARCH, strategy=strategy)


@functools.cache
def plain(name: str, source: Path, options: tuple[str, ...] = ()) -> str:
    """What nvcc alone makes of a source of a sample."""
    if (source, options) == (SAMPLES / name / "kernel.cu", ()):
        return compiled(name).original
    need_nvcc()
    return nvcc.plain(source, EMULATED_ARCH, options)


@functools.cache
def original_run(name: str) -> tuple[Sample, dict[str, Any], dict[str, Any]]:
    """A sample, its inputs, and the outputs of its original kernels."""
    sample, device = Sample(SAMPLES / name), emulator("lockstep")
    inputs = sample.inputs(SMALL[name], 2)
    module = measure.Recorder(device.load(compiled(name).original))
    return sample, inputs, sample.run(module, device.put(inputs))


TINY = {**SMALL, "inverse_erf": 2_000, "nested/task_sizes": 7, "path_tracing": 8}
"""The size at which rivals are run here, on a device of two blocks."""


class TwoBlocks(measure.Recorder):
    """A module on a small device, whose lanes all have several tasks."""

    def resident_blocks(self, *_: Any, **__: Any) -> int:
        return 2


def counts(text: str) -> dict[str, Counter[str]]:
    """How many instructions of each kind are in PTX, by function."""
    return {
        piece.name: Counter(chain(*map(_kinds, parse_function(piece).instructions)))
        for piece in parse_module(text).functions
    }


def _kinds(instruction: Instruction) -> Iterator[str]:
    """What an instruction counts as; arithmetic is in the sum alone."""
    yield "instructions"
    effects = instruction.effects
    if effects & (Effect.READ | Effect.WRITE):
        yield f"{instruction.name}.{instruction.space}"
    elif effects & (Effect.BARRIER | Effect.COLLECTIVE):
        yield "bar.warp" if "warp" in instruction.modifiers else instruction.name
    elif effects & Effect.CALL:
        yield "call"
    elif effects & Effect.BRANCH:
        yield "branch"


def listing(texts: nvcc.Compiled) -> str:
    """Instructions by kind: of the original, and of what comes out."""
    release = next(line for line in texts.original.splitlines() if "release" in line)
    before, after = counts(texts.original), counts(texts.ptx)
    lines = [release, f"{'':40} {'original':>8} {'ccc':>8}"]
    for function in sorted({*before, *after}):
        lines += ["", function]
        one, other = before.get(function, Counter()), after.get(function, Counter())
        lines += [f"    {kind:36} {one[kind]:8} {other[kind]:8}" for kind in sorted({*one, *other})]
    return "\n".join(lines) + "\n"


def emulator(schedule: str | int) -> Device:
    return Emulator(EMULATED_ARCH, schedule, toolchain.find().program("ptxas"))


def test_none_is_forgotten() -> None:
    assert sorted(SMALL) == sorted(find_samples(SAMPLES))
    kernels = {path.parent for path in SAMPLES.rglob("kernel.cu")}
    assert kernels == set(find_samples(SAMPLES).values())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schedule", "name"),
    [
        *always(product(["lockstep"], SMALL), lambda one: one[1] not in LIKE_OTHERS),
        *one_in(6, product([1], SMALL)),
    ],
)
def test_versions_are_equal_and_right(name: str, schedule: str | int) -> None:
    texts = compiled(name)
    sample, device = Sample(SAMPLES / name), emulator(schedule)
    result = measure.measure(
        sample,
        device,
        {"original": device.load(texts.original), "ccc": device.load(texts.ptx)},
        sample.inputs(SMALL[name], 1),
        repeat=1,
        step=lambda _: contextlib.nullcontext(),
    )
    assert result.differences == []


@pytest.mark.slow
def test_what_a_kernel_is_given_is_no_context() -> None:
    """Of twelve parameters none goes with a task: two ends, the energy, and the item's number."""
    (kernel,) = compiled("patterns/lookup").report["kernels"]
    (path,) = (path for path in kernel["paths"] if path["directive"] == "while")
    assert path["applied"]
    assert path["shared_bytes_per_thread"] <= 16
    assert sum(int(one["type"][1:]) for one in path["context"]) <= 8 * 16


ASKED = {"patterns/random_walk": ["flatten"], "patterns/reread_bound": ["engage"]}


@pytest.mark.slow
@pytest.mark.parametrize("name", ASKED)
def test_what_a_pattern_asks_for_serves_it(name: str) -> None:
    (kernel,) = compiled(name).report["kernels"]
    assert [path["strategy"] for path in kernel["paths"]] == ASKED[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPILED)
def test_there_are_as_many_instructions_as_before(name: str, bless: bool) -> None:
    """So a change of what is generated shows in numbers, for whole kernels."""
    path, found = TESTS / "counts" / f"{name}.txt", listing(compiled(name))
    if bless:
        path.parent.mkdir(exist_ok=True)
        path.write_text(found)
        return
    known = path.read_text()
    release, *_ = known.splitlines()
    if not found.startswith(release):
        pytest.skip(f"the counts are those with another nvcc: {release}")
    assert found == known


@pytest.mark.parametrize("name", SMALL)
def test_inputs_follow_from_the_seed(name: str) -> None:
    sample = Sample(SAMPLES / name)
    one, again, other = (sample.inputs(SMALL[name], seed) for seed in (0, 0, 1))
    assert differences("again", one, again) == []
    assert differences("other", one, other) != []


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPILED)
def test_wrong_outputs_are_found(name: str) -> None:
    compiled(name)
    sample, inputs, outputs = original_run(name)
    assert sample.check(inputs, outputs) is None
    first, *_ = outputs
    assert sample.check(inputs, {**outputs, first: outputs[first] + 1}) is not None


def rivals() -> list[tuple[str, str]]:
    """A label for each source of a rival, and for that of the library by block, with its sample."""
    samples = {name: Sample(SAMPLES / name) for name in SMALL}
    rows = [(name, label, row) for name in SMALL for label, row in samples[name].rivals.items()]
    kept = {(row.source, label == BLOCK): (name, label) for name, label, row in rows}
    return list(kept.values())


@pytest.mark.slow
@pytest.mark.parametrize(("name", "label"), one_in(9, rivals()))
def test_rivals_are_right(name: str, label: str) -> None:
    sample, rival = Sample(SAMPLES / name), Sample(SAMPLES / name).rivals[label]
    text = plain(name, rival.source, rival.options)
    device = emulator("lockstep")
    module = device.load(text)
    inputs = sample.inputs(TINY[name], 3)
    counts = "task_counter.cuh" in rival.source.read_text()
    for _ in range(1 + counts):  # the second time, a counter that was not set back would show
        outputs = device.get(sample.run(TwoBlocks(module), device.put(inputs)))
        assert sample.check(inputs, outputs) is None


BOUND = {
    **TINY,
    "bfs": 10,
    "nested/diagonal": 11,
    "nested/pagerank": 11,
    "nested/spmv": 11,
    "nested/task_sizes": 11,
    "nested/u_list": 1_000,
    "patterns/escape_time": 6_000,
    "patterns/lookup": 8_000,
    "patterns/one_long_task": 4_000,
    "patterns/rare_branch": 17,
    "patterns/reread_bound": 12,
    "patterns/streams": 14,
    "quadrature_grid": 1_000,
    "sssp": 14,
}
"""The size at which bounds are run here; graphs are searched without divergence if large."""

BOUND.pop("synthetic")  # its bound is a number: 32 / lanes


@pytest.mark.slow
@pytest.mark.parametrize("name", one_in(3, BOUND))
def test_bounds_are_as_much_work_without_divergence(name: str) -> None:
    need_nvcc()
    sample, device = Sample(SAMPLES / name), emulator("lockstep")
    bound = sample.bound
    assert bound is not None
    inputs = sample.inputs(BOUND[name], 3)
    versions = [
        (sample.kernel, sample.options, inputs),
        (bound.source, bound.options, sample.bound_inputs(inputs)),
    ]
    counted = []
    for source, options, given in versions:
        module = TwoBlocks(device.load(plain(name, source, options)))
        outputs = device.get(sample.run(module, device.put(given)))
        assert sample.check(given, outputs) is None
        changed, *_ = outputs
        assert sample.check(given, {**outputs, changed: outputs[changed] + 1}) is not None
        first = module.launches[0].kernel
        own = [launch.measured for launch in module.launches if launch.kernel == first]
        counted.append(functools.reduce(operator.add, own))
    assert counted[1].warp_execution_efficiency > 0.85
    assert 0.8 < counted[1].thread_instructions / counted[0].thread_instructions < 1.2


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWN)
def test_pictures(name: str) -> None:
    compiled(name)
    sample, _, outputs = original_run(name)
    picture = sample.picture(outputs)
    assert png.encode(picture).startswith(png.SIGNATURE)
    assert len(np.unique(picture)) > 20


# What a sample is compared with


PLAIN = """
def inputs(size, seed): return {}
def run(module, inputs): return {}
def check(inputs, outputs): pass
"""

KINDS = """
INPUTS = ("even", "odd")
def inputs(size, seed, kind=INPUTS[0]): return {"kind": kind}
def run(module, inputs): return {}
def check(inputs, outputs): pass
"""


def written(folder: Path, text: str) -> Sample:
    (folder / "kernel.cu").touch()
    (folder / "rivals").mkdir()
    (folder / "rivals" / "sub_warp.cu").touch()
    (folder / "sample.py").write_text(text)
    return Sample(folder)


def test_a_sample_without_comparisons(tmp_path: Path) -> None:
    sample = written(tmp_path, PLAIN)
    assert (sample.rivals, sample.bound, sample.paper, sample.kinds) == ({}, None, None, ())
    given = {"x": 1}
    assert sample.bound_inputs(given) is given


def test_comparisons(tmp_path: Path) -> None:
    table = '{"four": ("rivals/sub_warp.cu", ("-DWIDTH=4",)), "none": ("kernel.cu", ())}'
    head = f'OPTIONS = ("-fmad=false",)\nRIVALS = {table}\nBOUND = ("kernel.cu", ())\nPAPER = 2\n'
    extra = "def bound_inputs(inputs): return {**inputs, 'sorted': True}\n"
    sample = written(tmp_path, head + extra + PLAIN)
    assert list(sample.rivals) == ["four", "none"]
    assert sample.rivals["four"].source == tmp_path / "rivals" / "sub_warp.cu"
    assert sample.rivals["four"].options == ("-fmad=false", "-DWIDTH=4")
    assert sample.bound == sample.rivals["none"]
    assert sample.bound.source == sample.kernel
    assert sample.paper == 2.0
    assert sample.bound_inputs({"x": 1}) == {"x": 1, "sorted": True}


MALFORMED = [
    ("RIVALS = []", "rivals", "RIVALS must be a dict by label, not []"),
    ("RIVALS = {1: ('kernel.cu', ())}", "rivals", "RIVALS must be a dict by label"),
    ("RIVALS = {'a': 'kernel.cu'}", "rivals", "RIVALS['a'] must be a file and a tuple of options"),
    ("RIVALS = {'a': ('b.cu', ())}", "rivals", "RIVALS['a']: there is no file b.cu in the folder"),
    ("RIVALS = {'a': ('../b.cu', ())}", "rivals", "there is no file ../b.cu in the folder"),
    ("RIVALS = {'a': ('rivals', ())}", "rivals", "there is no file rivals in the folder"),
    (
        "RIVALS = {'a': ('kernel.cu', ('-DA'))}",
        "rivals",
        "the options of RIVALS['a'] must be a tuple of strings, not '-DA'",
    ),
    ("BOUND = 'kernel.cu'", "bound", "BOUND must be a file and a tuple of options"),
    ("BOUND = ('b.cu', ())", "bound", "BOUND: there is no file b.cu in the folder"),
    ("PAPER = '2x'", "paper", "PAPER must be a number above 0, not '2x'"),
    ("PAPER = 0", "paper", "PAPER must be a number above 0, not 0"),
    ("PAPER = True", "paper", "PAPER must be a number above 0, not True"),
    ("INPUTS = 'even'", "kinds", "INPUTS must be a tuple of strings, not 'even'"),
]


@pytest.mark.parametrize(("line", "name", "message"), MALFORMED)
def test_malformed_comparisons(tmp_path: Path, line: str, name: str, message: str) -> None:
    sample = written(tmp_path, line + PLAIN)
    with pytest.raises(CccError) as caught:
        getattr(sample, name)
    assert message in str(caught.value)
    assert "sample.py: error: " in str(caught.value)


def test_options_that_are_no_tuple(tmp_path: Path) -> None:
    with pytest.raises(CccError, match="OPTIONS must be a tuple of strings, not '-O3'"):
        written(tmp_path, "OPTIONS = ('-O3')" + PLAIN)


def test_bound_inputs_that_fail(tmp_path: Path) -> None:
    sample = written(tmp_path, "def bound_inputs(inputs): return inputs['y']\n" + PLAIN)
    with pytest.raises(CccError, match=r"sample\.py:1: error: bound_inputs raised KeyError: 'y'"):
        sample.bound_inputs({"x": 1})


def test_kinds_of_inputs(tmp_path: Path) -> None:
    sample = written(tmp_path, KINDS)
    assert sample.kinds == ("even", "odd")
    assert sample.inputs(1, 0) == {"kind": "even"}
    assert sample.inputs(1, 0, kind="odd") == {"kind": "odd"}
    with pytest.raises(CccError, match="has no inputs 'prime'; there are even, odd"):
        sample.inputs(1, 0, kind="prime")


def test_kinds_where_there_are_none(tmp_path: Path) -> None:
    with pytest.raises(CccError, match="has no inputs 'odd'; there are none"):
        written(tmp_path, PLAIN).inputs(1, 0, kind="odd")


@pytest.mark.slow
def test_compare_takes_a_kind(capsys: pytest.CaptureFixture[str]) -> None:
    need_nvcc()
    command = ["compare", str(SAMPLES / "inverse_erf"), "--inputs", "uniform"]
    assert cli.main([*command, "--device", "emulator", "--size", "500"]) == 0
    assert "equal: yes" in capsys.readouterr().out
