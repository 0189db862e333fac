"""Counting what runs: against known trip counts, what is refused, and the profile."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from collecting import transform
from rich.console import Console

from ccc import cli, emulator, profile
from ccc.compiler import transform as compiler
from ccc.errors import CccError
from ccc.options import COLLECT, Options
from ccc.passes import policy
from ccc.profile.instrument import count as count_all
from ccc.tools import report

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"


# Known trip counts. Each lane does eight iterations; X is what the kernel does in them.

LOOP = """\
.visible .entry k(.param .u64 p)
{{
	.reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %p<9>;
	ld.param.u64 %d1, [p];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %d2, %r1, 4;
	add.s64 %d1, %d1, %d2;
	mov.u32 %r2, 0;
	// ccc.loop 1 k.cu:1:1
HEAD:
	// ccc.for 1 k.cu:1:1
{body}
NEXT:
	add.s32 %r2, %r2, 1;
	setp.lt.s32 %p8, %r2, 8;
	@%p8 bra HEAD;
	ret;
}}
"""
# One lane in four takes the path, in each iteration: three instructions.
BRANCH = """\
	and.b32 %r3, %r1, 3;
	setp.ne.s32 %p1, %r3, 0;
	@%p1 bra NEXT;
	// ccc.then 2 k.cu:3:5
	mul.lo.s32 %r4, %r2, %r1;
	red.global.add.u32 [%d1], %r4;
	bra NEXT;
"""
# A lane does as many turns as the last two bits of its number say, and one: five instructions each.
TURNS = """\
	and.b32 %r3, %r1, 3;
TURN:
	// ccc.while 2 k.cu:3:5
	mad.lo.s32 %r4, %r2, %r1, %r3;
	red.global.add.u32 [%d1], %r4;
	add.s32 %r3, %r3, -1;
	setp.ge.s32 %p1, %r3, 0;
	@%p1 bra TURN;
"""
# Odd lanes take an arm of an if whose first block is the head of a loop of three turns.
ARM_WITH_LOOP = """\
	and.b32 %r3, %r1, 1;
	setp.eq.s32 %p1, %r3, 0;
	mov.u32 %r4, 0;
	@%p1 bra NEXT;
TURN:
	// ccc.then 2 k.cu:3:5
	red.global.add.u32 [%d1], %r2;
	add.s32 %r4, %r4, 1;
	setp.lt.s32 %p2, %r4, 3;
	@%p2 bra TURN;
"""
# In the fifth iteration, lanes from 16 on return from inside a path that all take.
RETURNS = """\
	setp.ne.s32 %p1, %r2, 4;
	@%p1 bra NEXT;
	// ccc.then 2 k.cu:3:5
	red.global.add.u32 [%d1], %r2;
	setp.ge.s32 %p2, %r1, 16;
	@%p2 ret;
	add.s32 %r5, %r1, 1;
"""


def count(body: str, *, off: bool, blocks: int = 3, threads: int = 64) -> profile.KernelProfile:
    asked = Options(strategy=COLLECT, profile="p", profile_transformed=not off)
    result = transform(HEADER + LOOP.format(body=body), asked)
    module = emulator.Module(result.ptx)
    module.get_function("k")((blocks,), (threads,), (np.zeros(threads, np.uint32),))
    (kernel,) = profile.of(module).kernels
    return kernel


def test_a_branch() -> None:
    warps, iterations = 6, 8
    (path,) = count(BRANCH, off=True).paths
    assert (path.file, path.line, path.column) == ("k.cu", 3, 5)
    assert (path.directive, path.arm, path.applied) == ("if", "then", False)
    assert (path.executions, path.lanes) == (warps * iterations, warps * iterations * 8)
    assert path.lanes_per_execution == 8
    assert path.instructions == 3 * path.executions
    assert path.warp_execution_efficiency == 8 / 32


def test_a_branch_collected() -> None:
    (path,) = count(BRANCH, off=False).paths
    assert path.applied
    # Eight tasks in each of eight iterations make two full rounds for each of the six warps.
    assert (path.executions, path.lanes) == (12, 12 * 32)
    assert path.warp_execution_efficiency == 1


@pytest.mark.parametrize("off", [True, False], ids=["original", "transformed"])
def test_turns_of_an_inner_loop(off: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "MOST_TURNS", 1)  # more than most of these tasks have
    (path,) = count(TURNS, off=off).paths
    tasks = 6 * 8 * 32 // 4  # of each of the four lengths
    assert path.lanes == tasks * (1 + 2 + 3 + 4)
    if off:
        assert path.executions == 6 * 8 * 4
        assert path.instructions == 5 * path.executions
        assert path.thread_instructions == 5 * path.lanes
    else:
        assert path.lanes_per_execution > 25


def test_an_arm_that_begins_with_a_loop_is_entered_once() -> None:
    (path,) = count(ARM_WITH_LOOP, off=True).paths
    assert (path.executions, path.lanes) == (6 * 8, 6 * 8 * 16)
    assert path.instructions == 6 * 8 * 3 * 4


def test_lanes_that_return_from_a_path_are_counted() -> None:
    kernel = count(RETURNS, off=True, threads=32, blocks=1)
    (path,) = kernel.paths
    assert (path.executions, path.lanes) == (1, 32)
    assert (path.instructions, path.thread_instructions) == (4, 2 * 32 + 16 + 16)
    half = 3 * 5 + 1  # three more iterations of five instructions, and the return
    assert kernel.thread_instructions == 32 * (5 + 4 * 5 + 2 + 2) + 16 * (1 + 1 + 3 + half)


# Who is switched off: a guard is set anew between instructions, and on two sides of a condition.
GUARDED = """\
	setp.lt.s32 %p1, %r1, 8;
	setp.ne.s32 %p2, %r1, %r1;
	// ccc.then 2 k.cu:3:5
	@%p1 red.global.add.u32 [%d1], 1;
	@!%p1 add.s32 %r5, %r1, 1;
	@%p1 add.s32 %r6, %r1, 1;
	setp.lt.s32 %p1, %r1, 3;
	@%p1 add.s32 %r6, %r1, 1;
	@%p2 bra NEXT;
"""


def test_lanes_that_a_guard_switches_off_are_not_active() -> None:
    text = HEADER + LOOP.format(body=GUARDED)
    module = emulator.Module(count_all(text))
    arguments = ((2,), (32,), (np.zeros(32, np.uint32),))
    expected = emulator.Module(text).get_function("k")(*arguments)
    module.get_function("k")(*arguments)
    (kernel,) = profile.of(module).kernels
    assert kernel.instructions == expected.instructions
    assert kernel.thread_instructions == expected.thread_instructions
    lanes = 2 * 8 * (6 * 32 + 8 + 24 + 8 + 32 + 3) + 2 * 32 * 6
    assert kernel.thread_instructions == lanes


def test_a_function_that_is_called() -> None:
    text = (
        HEADER
        + """\
.func sum(.param .u64 a)
{
	.reg .b64 %d<2>; .reg .b32 %r<2>;
	ld.param.u64 %d1, [a];
	mov.u32 %r1, 1;
	red.global.add.u32 [%d1], %r1;
	ret;
}
"""
        + LOOP.format(
            body="""\
	and.b32 %r3, %r1, 3;
	setp.ne.s32 %p1, %r3, 0;
	@%p1 bra NEXT;
	// ccc.then 2 k.cu:3:5
	{
	.param .b64 a;
	st.param.b64 [a], %d1;
	call.uni sum, (a);
	}
"""
        )
    )
    module = emulator.Module(transform(text, profile="p").ptx)
    totals = np.zeros(64, np.uint32)
    expected = module.get_function("k")((1,), (64,), (totals,))
    assert totals[:5].tolist() == [8, 0, 0, 0, 8]
    assert expected.instructions
    found = profile.of(module)
    kernel, called = sorted(found.kernels, key=lambda one: one.kind)
    assert (kernel.name, kernel.kind, kernel.calls) == ("k", "entry", ("sum",))
    assert (called.name, called.kind, called.calls) == ("sum", "func", ())
    assert (called.instructions, called.thread_instructions) == (2 * 8 * 4, 16 * 8 * 4)
    slots = 32 * (kernel.instructions + called.instructions)
    threads = kernel.thread_instructions + called.thread_instructions
    assert found.warp_execution_efficiency(["k"]) == threads / slots
    assert found.warp_execution_efficiency(["sum"]) == 8 / 32


# What cannot be counted.


def test_what_is_refused() -> None:
    marked = LOOP.format(body=BRANCH)
    old = HEADER.replace("8.0", "6.1") + marked
    with pytest.raises(CccError, match=r"PTX 6\.2"):
        transform(old, profile="p")
    with pytest.raises(CccError, match="leave -G out"):
        transform(HEADER.replace("sm_80", "sm_80, debug") + marked, profile="p")
    with pytest.raises(CccError, match="counts already"):
        transform(transform(HEADER + marked, profile="p").ptx, profile="p")


def test_an_unknown_opcode_leaves_its_function_uncounted() -> None:
    body = BRANCH.replace("mul.lo.s32", "frobnicate.s32")
    result = transform(HEADER + LOOP.format(body=body), profile="p")
    assert "k is not counted: frobnicate.s32 is not known" in result.diagnostics[0]
    assert '"kernels": []' in bytes_of_table(result.ptx)
    module = emulator.Module(result.ptx)
    assert profile.of(module).kernels == []


def bytes_of_table(ptx: str) -> str:
    line = next(line for line in ptx.splitlines() if profile.TABLE in line)
    return bytes(map(int, line.partition("{")[2].partition("}")[0].split(","))).decode()


# The profile.


@pytest.fixture
def counted() -> emulator.Module:
    module = emulator.Module(
        transform(
            HEADER + LOOP.format(body=BRANCH),
            Options(strategy=COLLECT, profile="p", profile_transformed=True),
        ).ptx
    )
    module.get_function("k")((3,), (64,), (np.zeros(64, np.uint32),))
    return module


def test_write_and_read(counted: emulator.Module, tmp_path: Path) -> None:
    found = profile.of(counted)
    found.write(tmp_path / "p.json")
    assert [path.name for path in tmp_path.iterdir()] == ["p.json"]
    assert profile.read(tmp_path / "p.json").kernels == found.kernels


LEFT = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_0)
{
	.reg .pred %p<2>;
	.reg .b32 %r<4>;
	.reg .b64 %d<2>;
	// ccc.grid_stride 1 k.cu:1:1 schedule=dynamic=3A2
	ld.param.u64 %d1, [k_0];
	mov.u32 %r1, %ctaid.x;
	setp.eq.u32 %p1, %r1, 1;
	@%p1 bra END;
	// ccc.then 2 k.cu:6:5 prob=0.95
	red.global.add.u32 [%d1], 1;
END:
	ret;
}
"""


def test_a_kernel_that_is_left_counts_as_it_is() -> None:
    """And not with a loop over blocks that serves nothing."""
    options = Options(profile="p", profile_transformed=True, dynamic_shared=0)
    result = compiler.transform(LEFT, options)
    assert "nothing inside is transformed" in str(result.remarks["k"][0].advice)
    assert "ccc_counters_k" not in result.ptx  # from which blocks would take their numbers
    module, data = emulator.Module(result.ptx), np.zeros(1, np.uint32)
    module.get_function("k")((3,), (32,), (data,))
    assert data.tolist() == [64]
    (kernel,) = profile.of(module).kernels
    assert kernel.paths[0].executions == 2


def test_reset(counted: emulator.Module) -> None:
    first = profile.of(counted).kernels
    counted.get_function("k")((3,), (64,), (np.zeros(64, np.uint32),))
    assert profile.of(counted).kernels[0].instructions == 2 * first[0].instructions
    profile.reset(counted)
    (kernel,) = profile.of(counted).kernels
    assert (kernel.instructions, kernel.paths[0].executions) == (0, 0)
    assert kernel.warp_execution_efficiency == kernel.paths[0].warp_execution_efficiency == 1


def test_modules_are_added_up(counted: emulator.Module) -> None:
    one = profile.of(counted)
    (kernel,) = profile.Profile(one.modules * 3).kernels
    assert kernel.thread_instructions == 3 * one.kernels[0].thread_instructions
    assert kernel.paths[0].lanes == 3 * one.kernels[0].paths[0].lanes
    assert kernel.calls == ()


class Pointer:
    """What CuPy's ``MemoryPointer`` has."""

    def __init__(self, content: Any):
        self.content = content

    def copy_to_host(self, address: int, size: int) -> None:
        import ctypes

        ctypes.memmove(address, self.content.ctypes.data, size)

    def memset(self, value: int, size: int) -> None:
        self.content[:size] = value


def test_a_module_of_cupy(counted: emulator.Module) -> None:
    class Module:
        def get_global(self, name: str) -> Pointer:
            return Pointer(counted.get_global(name))

    assert profile.of(Module()).kernels == profile.of(counted).kernels
    profile.reset(Module())
    assert profile.of(counted).kernels[0].instructions == 0


def test_a_module_that_does_not_count() -> None:
    module = emulator.Module(HEADER + LOOP.format(body=BRANCH))
    with pytest.raises(CccError, match="compile it with --ccc-profile"):
        profile.of(module)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no", "this is no profile"),
        (
            '{"format": 1, "runs": [], "entries": []}',
            "these are the results of ccc bench, no profile",
        ),
        (
            '{"format": 1, "decisions": []}',
            "this is a file of decisions (--ccc-decisions takes it), no profile",
        ),
        ('{"version": "9", "kernels": []}', "this is a report, of --ccc-report, no profile"),
        (
            '{"format": 1, "card": "", "kernels": []}',
            "these are the times of kernels, of --ccc-time, no profile",
        ),
        ('{"version": 1, "differences": {}}', "this is what ccc compare wrote, no profile"),
        ("[]", "this is no profile"),
        ('{"format": 3, "modules": [{}]}', "this is no profile"),
        ('{"format": 3, "modules": [{"table": {"kernels": [{}]}}]}', "this is no profile"),
        ('{"format": 9}', "its format is 9, not 3"),
    ],
)
def test_other_files(
    text: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "p.json"
    file.write_text(text)
    assert cli.main(["report", str(file)]) == 1
    more = (
        ": another version of ccc wrote it; profile again"
        if "format is" in expected
        else "; a program compiled with cccc --ccc-profile=FILE writes one"
    )
    assert capsys.readouterr().err == f"{file}: error: {expected}{more}\n"


def _inside_one_another(paths: list[dict[str, Any]]) -> None:
    paths.append({**paths[0], "line": paths[0]["line"] + 1, "inside": 1})
    paths[0]["inside"] = 1


@pytest.mark.parametrize(
    "damage",
    [
        lambda module: module["table"].pop("transformed"),
        lambda module: module["table"]["kernels"].append("k"),
        lambda module: module["table"]["kernels"][0].update(name=None),
        lambda module: module["table"]["kernels"][0]["paths"][0].update(line="7"),
        lambda module: module["table"]["kernels"][0]["paths"][0].update(statement=None),
        lambda module: _inside_one_another(module["table"]["kernels"][0]["paths"]),
        lambda module: module["counters"].insert(0, -1),
        lambda module: module["counters"].insert(0, 1e400),
        lambda module: module["counters"].append(1 << 64),
    ],
)
def test_a_profile_that_somebody_damaged(
    damage: Callable[[dict[str, Any]], Any], counted: emulator.Module, tmp_path: Path
) -> None:
    profile.of(counted).write(tmp_path / "p.json")
    content = json.loads((tmp_path / "p.json").read_text())
    damage(content["modules"][0])
    (tmp_path / "p.json").write_text(json.dumps(content))
    with pytest.raises(CccError, match="this is no profile"):
        profile.read(tmp_path / "p.json")


def test_sources_of_one_name_in_two_folders_stand_apart(
    counted: emulator.Module, capsys: pytest.CaptureFixture[str]
) -> None:
    found = profile.of(counted)
    paths = [
        replace(path, file=f"/{n}/k.cu") for k in found.kernels for path in k.paths for n in "ab"
    ]
    both = SimpleNamespace(kernels=[replace(found.kernels[0], paths=tuple(paths))])
    told = profile.by_annotation(both)  # type: ignore[arg-type]
    assert [path.file for path, _ in told] == sorted(path.file for path in paths)
    assert {path.executions for path, _ in told} == {12}
    report.show(both, Console())  # type: ignore[arg-type]
    assert capsys.readouterr().out.count("/k.cu") == 2


def test_a_report_names_kernels_as_users_write_them(
    counted: emulator.Module, capsys: pytest.CaptureFixture[str]
) -> None:
    found = profile.of(counted)
    (module,) = found.modules
    module["table"]["kernels"][0]["name"] = "_Z1kIfEvPT_"
    report.show(found, Console(width=200))
    assert " k<float> " in capsys.readouterr().out


def test_a_narrow_terminal_breaks_no_word_of_a_report(
    counted: emulator.Module, capsys: pytest.CaptureFixture[str]
) -> None:
    report.show(profile.of(counted), Console(width=20))
    narrow = capsys.readouterr().out
    report.show(profile.of(counted), Console(width=200))
    assert narrow.split() == capsys.readouterr().out.split()


def test_report(
    counted: emulator.Module, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile.of(counted).write(tmp_path / "p.json")
    assert cli.main(["report", str(tmp_path / "p.json")]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["k.cu"] in rows
    (path,) = [row for row in rows if row[:3] == ["3", "if", "then"]]
    assert path[3:6] == ["ccc", "12", "32.0"]
    assert path[-2:] == ["100.0", "%"]
    (kernel,) = [row for row in rows if row[:1] == ["k"]]
    assert kernel[2:4] == ["100.0", "%"]


def test_a_profile_of_nothing_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.json").write_text('{"format": 3, "modules": []}')
    assert cli.main(["report", str(tmp_path / "p.json")]) == 0
    said = "nothing was counted: this profile holds no kernel\n"
    assert capsys.readouterr().out == said


@pytest.mark.parametrize("columns", ["0", "", "-3", "wide"])
def test_a_width_that_is_none_is_as_if_none_were_told(
    columns: str, counted: emulator.Module, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    profile.of(counted).write(tmp_path / "p.json")

    def shown() -> str:
        assert cli.main(["report", str(tmp_path / "p.json")]) == 0
        return capsys.readouterr().out

    monkeypatch.delenv("COLUMNS", raising=False)
    usual = shown()
    monkeypatch.setenv("COLUMNS", columns)
    assert shown() == usual
    assert "COLUMNS" not in os.environ  # and nothing else reads it
