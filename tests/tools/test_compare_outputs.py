"""Which outputs ``ccc compare`` takes to be equal, and what it shows of those that are not."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps
from rich.console import Console
from test_compare import DOUBLE, REPORT, asked, ccc_compare, double, folder

from ccc.harness import check as outputs
from ccc.harness import measure
from ccc.tools import compare

__all__ = ["asked", "ccc_compare", "folder"]


def triple(x: np.ndarray, _: np.int32) -> None:
    x *= 3


@pytest.mark.parametrize(("reduced", "said"), [("add.f32", True), ("add.s32", False)])
def test_a_reduction_in_another_order(reduced: str, said: bool) -> None:
    path = {"file": "k.cu", "line": 1, "directive": "if", "applied": True, "reductions": [reduced]}
    report = {"kernels": [{"name": "k", "paths": [path]}]}
    console = Console(record=True, width=400)
    compare.show(measure.Result([], {}, {"ccc": ["y: ..."]}), report, console, {})
    text = console.export_text()
    assert "equal: no: y: ..." in text
    assert ("made in another order, as its clause permits, so its last bits" in text) == said


REDUCED = {
    "file": "kernel.cu", "line": 7, "directive": "if", "applied": True, "strategy": "merge",
    "reductions": ["add.f64"], "asked": "queue", "declined": "its stacks do not fit",
}  # fmt: skip


def nearly(x: np.ndarray, _: np.int32) -> None:
    x *= 2 + 1e-10


@pytest.mark.parametrize(
    ("more", "kernel", "code"),
    [
        ([], nearly, 0),
        (["--tolerance", "1e-9"], nearly, 0),
        (["--tolerance", "0"], nearly, 1),
        (["--tolerance", "1e-11"], nearly, 1),
        ([], triple, 1),
    ],
)
def test_sums_in_another_order_are_equal_up_to_a_tolerance(
    ccc_compare: Any,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    more: list[str],
    kernel: Any,
    code: int,
) -> None:
    close = 'assert np.allclose(outputs["y"], 4 * inputs["x"])'
    text = DOUBLE.replace('assert np.array_equal(outputs["y"], 4 * inputs["x"])', close)
    (folder / "sample.py").write_text(text)
    report = {"kernels": [{"name": "double", "paths": [REDUCED]}]}
    monkeypatch.setitem(REPORT, "kernels", report["kernels"])
    out_file = folder / "out.json"
    assert ccc_compare(folder, "--json", out_file, *more, original=double, ccc=kernel) == code
    out = capsys.readouterr().out
    said = json.loads(out_file.read_text())
    assert said["equal"] == (code == 0)
    assert "as its clause permits" in out
    assert "applied (merge); strategy(queue) does not apply: its stacks do not fit" in out
    if code:
        assert "equal: no: y[0]: original" in out
        assert said["tolerated"] is None
    else:
        assert "equal: but for floating-point numbers, by 1e-10 of them at most" in out
        assert 0 < said["tolerated"] < 2e-10


def test_without_such_a_sum_outputs_are_equal_bit_for_bit(ccc_compare: Any, folder: Path) -> None:
    assert ccc_compare(folder, "--tolerance", "0.5", original=double, ccc=nearly) == 1


@pytest.mark.parametrize("text", ["-1", "1", "nan", "much"])
def test_a_tolerance_is_a_share(ccc_compare: Any, folder: Path, text: str) -> None:
    with pytest.raises(SystemExit):
        ccc_compare(folder, f"--tolerance={text}", original=double, ccc=double)


def test_how_far_outputs_are_apart() -> None:
    one = {"y": np.array([1.0, 2.0, 0.0]), "n": np.array([1, 2])}
    near = {"y": np.array([1.0, 2.0 + 2e-9, 0.0]), "n": np.array([1, 2])}
    assert outputs.apart(one, near, None) == pytest.approx(1e-9)
    assert outputs.apart(one, near, 1e-10) is None
    single = {name: value.astype(np.float32) for name, value in one.items()}
    assert outputs.apart(one, single, None) is None
    for other in (
        {"y": near["y"], "n": np.array([1, 3])},
        {"y": np.array([1.0, np.nan, 0.0]), "n": one["n"]},
        {"y": np.array([1.0, np.inf, 0.0]), "n": one["n"]},
        {"y": near["y"]},
    ):
        assert outputs.apart(one, other, None) is None


def test_how_far_numbers_are_apart() -> None:
    one = {"y": np.array([1.0, 2.0, 0.0]), "n": np.array([1, 2])}
    other = {"y": np.array([1.0, 2.5, -0.0]), "n": np.array([1, 3])}
    assert outputs.differences("ccc", one, other) == [
        "y[1]: original 2.0, ccc 2.5 (2 of 3 differ, the largest relative difference is 0.2)",
        "n[1]: original 2, ccc 3 (1 of 2 differ)",
    ]
    nothing = outputs.differences("ccc", {"y": np.array(1.0)}, {"y": np.array(np.nan)})
    assert nothing == ["y: original 1.0, ccc nan (the largest relative difference is nan)"]


def test_what_differs_is_shown(
    ccc_compare: Any, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ccc_compare(folder, "--size", 4, original=double, ccc=triple) == 1
    out = capsys.readouterr().out
    x = np.random.default_rng(0).random(4)
    counts = "(4 of 4 differ, the largest relative difference is 0.56)"
    assert f"equal: no: y[0]: original {4 * x[0]}, ccc {9 * x[0]} {counts}" in out
    assert "equal: no: total: original " in out
    assert "equal: no: ccc is wrong: check raised AssertionError: not four times as much" in out


def test_equal_and_both_wrong(
    ccc_compare: Any, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ccc_compare(folder, original=triple, ccc=triple) == 1
    assert "equal: no: original is wrong: check raised" in capsys.readouterr().out


def test_a_race_that_shows_in_a_later_run(
    ccc_compare: Any, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = itertools.chain([double] * 5, itertools.repeat(triple))

    def racy(*args: Any) -> None:
        next(calls)(*args)

    assert ccc_compare(folder, kind="gpu", original=double, ccc=racy) == 1
    assert "equal: no: y[0]: original" in capsys.readouterr().out


@given(nps.arrays(np.float32, nps.array_shapes(max_side=4), elements=st.floats(width=32)))
def test_bits_are_compared_and_not_values(array: np.ndarray) -> None:
    assert outputs.differences("ccc", {"a": array}, {"a": array.copy()}) == []
    bits = array.copy()
    bits.reshape(-1).view(np.uint32)[-1] ^= 1 << 31  # 0 and -0, or another sign of a NaN
    (text,) = outputs.differences("ccc", {"a": array}, {"a": bits})
    last = ", ".join(str(side - 1) for side in array.shape)
    assert text.startswith(f"a[{last}]: original ")


def test_other_differences() -> None:
    found = outputs.differences(
        "ccc", {"a": np.zeros(3), "b": 1, "c": 2}, {"a": np.zeros(3, np.float32), "b": 1, "d": 2}
    )
    assert found == [
        "a: original is float64(3,), ccc is float32(3,)",
        "c: only original has it",
        "d: only ccc has it",
    ]
