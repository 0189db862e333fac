"""``ccc compare`` from end to end on devices made of Python functions."""

from __future__ import annotations

import argparse
import json
import re
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_device import FakeDevice
from folders import SAMPLES
from rich.console import Console

from ccc import emulator
from ccc.device.emulated import EMULATED_BLOCKS, EmulatedModule
from ccc.errors import CccError
from ccc.harness import measure
from ccc.ptx.occupancy import Occupancy
from ccc.toolkit.ptxas import Resources
from ccc.tools import compare

BFS = SAMPLES / "bfs"

DOUBLE = """\
import numpy as np


def inputs(size, seed):
    return {"x": np.random.default_rng(seed).random(size), "n": np.int32(size)}


def run(module, inputs):
    y = inputs["x"]  # changed in place: each run gets a copy
    blocks = module.resident_blocks("double", (32, 2))
    module.get_function("double")((blocks,), (32, 2), (y, inputs["n"]), shared_mem=64)
    module.get_function("double")((blocks,), (32, 1), (y, inputs["n"]))
    return {"y": y, "total": y.sum()}


def check(inputs, outputs):
    assert np.array_equal(outputs["y"], 4 * inputs["x"]), "not four times as much"
"""


def test_the_emulator_tells_unknown_kernels_when_asked_for_their_blocks() -> None:
    module = emulator.Module(".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }\n")
    emulated = EmulatedModule(module, dict, "lockstep")
    assert emulated.resident_blocks("k", 128) == EMULATED_BLOCKS
    with pytest.raises(CccError, match="there is no kernel z"):
        emulated.resident_blocks("z", 128)


def test_a_kernel_goes_by_its_name_in_the_ptx() -> None:
    head = ".version 8.0\n.target sm_80\n.address_size 64\n"
    module = emulator.Module(f"{head}.entry _Z5rootsPi() {{ ret; }}\n")
    emulated = EmulatedModule(module, dict, "lockstep")
    assert emulated.resident_blocks("_Z5rootsPi", 128) == EMULATED_BLOCKS
    for ask in (emulated.get_function, emulated.resident_blocks):
        with pytest.raises(CccError, match='"roots" is called _Z5rootsPi in the PTX: declare it'):
            ask("roots")


def double(x: np.ndarray, _: np.int32) -> None:
    x *= 2


REPORT = {
    "version": 1,
    "kernels": [
        {
            "name": "double",
            "paths": [
                {
                    "file": "kernel.cu",
                    "line": 7,
                    "column": 9,
                    "directive": "if",
                    "applied": True,
                    "reason": None,
                    "context": [{"register": "%r5", "variable": "v"}, {"register": "%r6"}],
                    "strategy": "queue",
                    "placement": "shared",
                    "shared_bytes_per_thread": 8,
                },
                {
                    "file": "kernel.cu",
                    "line": 9,
                    "directive": "if",
                    "applied": False,
                    "reason": "it holds a barrier",
                },
            ],
        }
    ],
}


STALE = "p.json: warning: line 3 of kernel.cu, `ccc if`, is not in the source any more"
DIAGNOSTICS = ["kernel.cu:9: warning: ccc if: left alone: it holds a barrier", STALE]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "kernel.cu").write_text("// compiled by the fake\n")
    (tmp_path / "sample.py").write_text(DOUBLE)
    return tmp_path


@pytest.fixture
def asked() -> dict[str, object]:
    """What the compiler is asked for."""
    return {}


@pytest.fixture
def ccc_compare(monkeypatch: pytest.MonkeyPatch, asked: dict[str, object]) -> Callable[..., int]:
    """Runs the command with a fake compiler and a fake device."""

    def command(*arguments: object, kind: str = "emulator", **kernels: Any) -> int:
        device = FakeDevice(kind, {version: {"double": f} for version, f in kernels.items()})
        compiled = types.SimpleNamespace(
            original="original", ptx="ccc", report=REPORT, diagnostics=DIAGNOSTICS
        )

        def compile_(*_: object, **told: object) -> Any:
            asked.update(told)
            return compiled

        monkeypatch.setattr(compare.nvcc, "compile", compile_)
        toolkit = compare.toolchain.Toolkit(Path("bin"), Path("bin"))
        monkeypatch.setattr(compare.toolchain, "find", lambda: toolkit)
        monkeypatch.setattr(compare, "choose_device", lambda *_: device)
        monkeypatch.setattr(compare, "_block_limits", lambda _: {})
        parser = argparse.ArgumentParser()
        compare.add_arguments(parser)
        return compare.run(parser.parse_args([str(one) for one in arguments]))

    return command


def test_equal(ccc_compare: Any, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ccc_compare(folder, original=double, ccc=double) == 0
    out, err = capsys.readouterr()
    assert "equal: yes" in out
    assert "200" in out  # instructions of two launches
    assert "100.0 % as many" in out
    assert "50.0 %" in out
    assert "80 B" in out  # 16 static and 64 dynamic
    assert "ccc if: applied (queue, shared, 8 bytes a thread, saves v, 1 value more)" in out
    assert "kernel.cu:9: ccc if: left alone: it holds a barrier" in out
    assert err == ""


@pytest.mark.parametrize(
    ("shared", "limit", "placement", "said"),
    [
        (1024 * 8, "shared", "static", True),
        (1024 * 8, "shared", "dynamic", False),  # for as many threads as a launch has
        (1024 * 8, "registers", "static", False),
        (1024 * 20, "shared", "static", True),  # of two loops the other has more bytes a thread
        (32 * 8, "shared", "static", False),
    ],
)
def test_stacks_for_larger_blocks_than_ran(
    shared: int, limit: str, placement: str, said: bool
) -> None:
    figures = [
        measure.Figures(
            "double",
            version,
            1,
            32,
            16 + stack,
            Resources(20, 16 + stack, 0),
            Occupancy(4, 4, 0.1, limit),
            counters=dict.fromkeys(measure.COUNTERS, 1.0),
        )
        for version, stack in (("original", 0), ("ccc", shared))
    ]
    console = Console(record=True, width=400)
    threads = 32 if shared == 32 * 8 else 1024
    report = json.loads(json.dumps(REPORT).replace('"shared"', f'"{placement}"'))
    compare.show(measure.Result(figures, {}, {}), report, console, {"double": threads})
    advice = "for blocks of 1024 threads, which leaves shared memory for few blocks, and it ran in"
    assert (f"double: its stacks are {advice} blocks of 32" in console.export_text()) == said


def test_the_blocks_that_stacks_are_for() -> None:
    head = ".version 8.0\n.target sm_90\n.address_size 64\n"
    bounded = ".entry a() .maxntid 64, 2, 1 { ret; }\n"
    assert compare._block_limits(f"{head}{bounded}.entry b() {{ ret; }}\n") == {
        "a": 128,
        "b": 1024,
    }


FULL = Occupancy(4, 4, 1.0, "threads")


def test_only_what_ran_is_told_of() -> None:
    def told(*ran: str) -> str:
        path = {"file": "k.cu", "directive": "if", "applied": True, "strategy": "queue"}
        names = ("one", "other")
        paths = [{**path, "line": line} for line in (1, 2)]
        report = {"kernels": [{"name": n, "paths": [p]} for n, p in zip(names, paths, strict=True)]}
        console = Console(record=True, width=400)
        counters = dict.fromkeys(measure.COUNTERS, 1.0)
        figures = [
            measure.Figures(name, version, 1, 32, 0, Resources(20, 0, 0), FULL, counters=counters)
            for name in ran
            for version in ("original", "ccc")
        ]
        compare.show(measure.Result(figures, {}, {}), report, console, {})
        return console.export_text()

    assert "k.cu:1: ccc if" in told("one")
    assert "k.cu:2: ccc if" not in told("one")
    assert "k.cu:2: ccc if" in told("one", "other")
    assert "k.cu:2: ccc if" in told()


@pytest.mark.parametrize(
    ("counts", "shared_out", "said"),
    [((2, 3), True, True), ((3, 2), True, False), ((2, 3), False, False)],
)
def test_more_instructions_are_no_time(
    counts: tuple[int, int], shared_out: bool, said: bool
) -> None:
    path = {"file": "k.cu", "line": 1, "directive": "for variable", "applied": True}
    report = {"kernels": [{"name": "k", "paths": [{**path, "shared_out": shared_out}]}]}
    figures = [
        measure.Figures("k", version, 1, 32, 0, Resources(20, 0, 0), FULL, counters=counters)
        for version, count in zip(("original", "ccc"), counts, strict=True)
        for counters in [{**dict.fromkeys(measure.COUNTERS, 1.0), "instructions": count}]
    ]
    console = Console(record=True, width=400)
    compare.show(measure.Result(figures, {}, {}), report, console, {})
    assert (compare.NO_TIME in console.export_text()) == said


def test_blocks_get_what_the_device_has_unless_told(
    ccc_compare: Any, folder: Path, asked: dict[str, object]
) -> None:
    for more, limit in (([], FakeDevice.shared_limit), (["--shared-limit", "49152"], 49152)):
        assert ccc_compare(folder, *more, original=double, ccc=double) == 0
        assert asked == {"dynamic_shared": 0, "shared_limit": limit, "strategy": "auto", "use": ()}


def test_more_than_the_device_has_is_refused(ccc_compare: Any, folder: Path) -> None:
    with pytest.raises(CccError, match=r"a block has 227 KB \(232448 bytes\) on sm_90"):
        ccc_compare(folder, "--shared-limit", "228K", original=double, ccc=double)
    with pytest.raises(CccError, match="a block has 99 KB"):
        ccc_compare(folder, "--shared-limit=100K", "--arch=sm_89", original=double, ccc=double)


def test_a_stale_profile_is_told(
    ccc_compare: Any, folder: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(folder)
    Path("p.json").touch()
    assert ccc_compare(folder, "--use", "p.json", original=double, ccc=double) == 0
    assert capsys.readouterr().err == f"{STALE}\n"


def test_a_gpu_is_timed_in_turn(
    ccc_compare: Any, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = (folder, "--repeat", 3, "--json", folder / "out.json")
    assert ccc_compare(*arguments, kind="gpu", original=double, ccc=double) == 0
    out = capsys.readouterr().out
    # The first run warms up; then the launches of the fake take 3 + 4, 5 + 6, 7 + 8.
    assert "11.000 ms" in out
    assert "7.000..15.000" in out
    assert "1.00x" in out
    record = json.loads((folder / "out.json").read_text())
    assert [one["milliseconds"] for one in record["kernels"]] == [[7.0, 11.0, 15.0]] * 2


def test_json_holds_everything(ccc_compare: Any, folder: Path) -> None:
    path = folder / "out.json"
    path.write_text("old")
    assert ccc_compare(folder, "--json", path, "--size", 5, original=double, ccc=double) == 0
    record = json.loads(path.read_text())
    assert record["equal"] is True
    assert record["outputs"] == ["y", "total"]
    assert record["report"] == REPORT
    assert record["settings"]["size"] == 5
    assert record["machine"]["gpu"] == "none"
    assert set(record["kernels"][0]["counters"]) == set(measure.COUNTERS)
    assert [one["version"] for one in record["kernels"]] == ["original", "ccc"]
    assert record["kernels"][0]["occupancy"]["fraction"] == 1
    assert sorted(one.name for one in folder.iterdir() if one.is_file()) == [
        "kernel.cu",
        "out.json",
        "sample.py",
    ]


def test_progress_is_silent_when_it_is_quick_and_speaks_when_not(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []

    class Timer:
        daemon = False

        def __init__(self, seconds: float, function: Callable[..., None], args: list[str]):
            assert seconds == 1
            started.append((function, args))

        def start(self) -> None:
            pass

        cancel = start

    monkeypatch.setattr(compare.threading, "Timer", Timer)
    with compare._step(compare.Console(stderr=True), "compiling"):
        pass
    assert capsys.readouterr().err == ""
    function, args = started[0]
    function(*args)
    assert capsys.readouterr().err == "ccc: compiling ...\n"


@pytest.mark.parametrize("text", ["frob", "bins(17)", "batch7x"])
def test_a_strategy_that_there_is_not_is_an_error(
    ccc_compare: Any, folder: Path, text: str
) -> None:
    with pytest.raises(CccError, match=rf"--strategy={re.escape(text)}: "):
        ccc_compare(folder, "--strategy", text, original=double, ccc=double)


def test_a_strategy_is_asked_for_as_the_compiler_spells_it(
    ccc_compare: Any, folder: Path, asked: dict[str, object]
) -> None:
    assert ccc_compare(folder, "--strategy", "bins:16", original=double, ccc=double) == 0
    assert asked["strategy"] == "bins(16)"
