"""The fuzzer: the same kernels everywhere; wrong code is caught and made small; none is made."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ccc import toolchain
from ccc.cli import main
from ccc.compiler import Transformed, transform
from ccc.equivalence import Launch
from ccc.errors import CccError
from ccc.fuzz import comparison
from ccc.fuzz.comparison import Comparison, check
from ccc.fuzz.generate import kernel
from ccc.fuzz.shrinking import bodies, expressions, launches, shrink
from ccc.fuzz.tree import Kernel, case, closed, source

PINNED = "0ad96aff73db52c0"
"""Of the first kernels of seed 0, whatever the version of Python. Changes with the generator."""


@pytest.fixture(scope="module")
def toolkit() -> toolchain.Toolkit:
    try:
        return toolchain.find()
    except CccError as error:
        pytest.skip(error.message)


def test_the_same_kernels_everywhere() -> None:
    text = "".join(case(kernel(0, index)) for index in range(30))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == PINNED


def test_other_seeds_and_numbers_give_other_kernels() -> None:
    texts = {case(kernel(seed, index)) for seed in range(3) for index in range(10)}
    assert len(texts) == 30


@pytest.mark.parametrize("index", range(40))
def test_variables_are_declared_and_launches_can_be_read(index: int) -> None:
    made = kernel(7, index)
    assert made.closed()
    assert Launch.parse(case(made).splitlines()[0]) == made.launch()


def test_most_steps_of_shrinking_make_sense() -> None:
    made = next(k for k in (kernel(3, index) for index in range(50)) if len(k.body) > 2)
    smaller = [*launches(made), *bodies(made), *expressions(made)]
    assert smaller
    assert all(one.closed() for one in smaller)
    assert not closed(made.body, frozenset())


def test_shrinking_keeps_what_fails_and_little_else() -> None:
    made = next(k for k in (kernel(0, i) for i in range(200)) if "atomicMax" in k.cuda("k"))
    small = shrink(made, lambda many: ["atomicMax" in k.cuda("k") for k in many])
    text = small.cuda("k")
    assert "atomicMax" in text
    assert len(text.splitlines()) < 20
    assert (small.grid, small.n) == (1, min(made.n, 1))


def test_what_is_printed_compiles(toolkit: toolchain.Toolkit, tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(source((f"k{index}", kernel(11, index)) for index in range(40)))
    command = [str(toolkit.nvcc), "-ptx", "-arch=sm_90", str(path), "-o", str(tmp_path / "k.ptx")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def without_context(ptx: str, **options: Any) -> Transformed:
    """A transformation that forgets what it saved."""
    result = transform(ptx, **options)
    wrong = re.sub(r"ld\.shared\.b32 (%ccc_\w+), .*;", r"mov.b32 \1, 1;", result.ptx)
    return replace(result, ptx=wrong)


@pytest.mark.usefixtures("toolkit")
def test_a_planted_bug_is_caught_and_made_small(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(comparison, "transform", without_context)
    options = ["--seed", "0", "--count", "1", "--first", "36", "--jobs", "1", "--schedules", "0"]
    assert main(["fuzz", *options, "--keep", str(tmp_path)]) == 1
    kept = sorted(tmp_path.glob("*.cu"))
    assert kept
    assert all(path.name in capsys.readouterr().err.replace("\n", "") for path in kept[:1])
    smallest = min(kept, key=lambda path: len(path.read_text()))
    text = smallest.read_text()
    assert text.startswith("// run: grid=")
    assert len(text[text.index("__global__") :].splitlines()) < 30


@pytest.mark.usefixtures("toolkit")
def test_ptx_that_does_not_assemble_is_laid_to_its_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(ptx: str, **options: Any) -> Transformed:
        result = transform(ptx, **options)
        start = result.ptx.find(".entry k0(")
        return replace(result, ptx=result.ptx.replace("ret;", "rett;", 1) if start >= 0 else "")

    def first_of(many: Sequence[Kernel]) -> str:
        failure = check(many, Comparison(disciplines=("queue",)))[0].failure
        assert failure is not None
        return failure.kind

    monkeypatch.setattr(comparison, "transform", broken)
    assert first_of([kernel(0, 0), kernel(0, 1)]) == "ptxas"


@pytest.mark.usefixtures("toolkit")
def test_no_kernel_is_transformed_wrongly(tmp_path: Path) -> None:
    options = ["--seed", "1", "--count", "100", "--jobs", "2", "--schedules", "1"]
    kept = tmp_path / "kept"
    assert main(["fuzz", *options, "--keep", str(kept)]) == 0, [
        path.read_text() for path in kept.glob("*.cu")
    ]
