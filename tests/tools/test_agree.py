"""``ccc agree``: its forms, operands and judgement; the emulator against what a GPU gave once."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from breadth import one_in
from folders import DOCS

from ccc.cli import main
from ccc.device.emulated import EMULATED_ARCH
from ccc.device.gpu import GpuDevice
from ccc.emulator.semantics.table import ACCESSES, SEMANTICS
from ccc.errors import CccError
from ccc.ptx.opcodes import OPCODES, find_opcode
from ccc.tools.agree import PTX_VERSION, bounds
from ccc.tools.agree.assembling import assemble
from ccc.tools.agree.case import Case, cases, kind_of, spell
from ccc.tools.agree.forms import all_cases
from ccc.tools.agree.operands import COUNT, WHOLE_WARPS, edges, operands
from ccc.tools.agree.page import page
from ccc.tools.agree.record import Agreement, read, row_of, summary, write
from ccc.tools.agree.running import (
    DIFFERS,
    EQUAL,
    LEFT_OUT,
    REFUSED,
    WITHIN,
    FormVerdict,
    Setting,
    agree,
    judge,
    on_emulator,
)

needs_ptxas = pytest.mark.skipif(not shutil.which("ptxas"), reason="ptxas is not there")
CASES = all_cases()
RECORD = read(DOCS / "agreement.json")
MEASURED = RECORD.measured

NOT_COMPARED = {
    "barrier": "nothing comes out of it",
    "st.bulk clusterlaunchcontrol.query_cancel clusterlaunchcontrol.try_cancel": "needs sm_100",
}
"""Emulated rows that have no form here, and why."""

REASONS = (
    r"Feature '.*' requires \.target sm_\d+ or higher|Modifier '.*' on '.*' requires \.target",
    r"Illegal (rounding )?modifier|Rounding modifier required|Arguments mismatch",
)
"""Why ptxas may refuse a form that the ISA's notation seems to permit."""


def setting(jobs: int = 1, **options: object) -> Setting:
    return Setting(EMULATED_ARCH, PTX_VERSION, "ptxas", jobs=jobs, **options)  # type: ignore[arg-type]


def case_of(form: str) -> Case:
    return next(case for case in CASES if case.form == form)


def rows_of(case: Case) -> set[str]:
    """The rows of the opcode table that a kernel's body has instructions of."""
    opcodes = re.findall(r"(?:^|\n|@%\w+ )([a-z]\w*(?:\.[\w:]+)*)[ ;]", case.body)
    found = (find_opcode(*_words(opcode)) for opcode in opcodes)
    return {row.name for row in found if row}


def _words(opcode: str) -> tuple[str, tuple[str, ...]]:
    name, *modifiers = opcode.split(".")
    return name, tuple(modifiers)


def test_alternatives_are_spelled_out() -> None:
    assert list(spell("add{|.rn|.rz}{|.ftz}.f32")) == [
        "add.f32", "add.ftz.f32", "add.rn.f32", "add.rn.ftz.f32", "add.rz.f32", "add.rz.ftz.f32",
    ]  # fmt: skip
    assert [kind_of(name, "cvt.rn.f16.s64") for name in ("D", "T", "B", "W", "amount")] == [
        "f16", "s64", "b64", "s128", "amount",
    ]  # fmt: skip
    (case,) = cases("group", "mad.wide.s32", "W", "T T W")
    assert case.body == "mad.wide.s32 %d, %a, %b, %c;"
    assert (case.sources, case.results) == (("s32", "s32", "s64"), ("s64",))


def test_each_emulated_row_is_compared() -> None:
    compared = {row for case in CASES for row in rows_of(case)}
    left = {row for rows in NOT_COMPARED for row in rows.split()}
    emulated = (set(SEMANTICS) | ACCESSES) & set(OPCODES)
    assert emulated - compared == left


def test_operands_hold_the_edges_and_are_the_same_each_time() -> None:
    for kinds in {case.sources for case in CASES}:
        found = operands(kinds)
        if len(kinds) == 1 and kinds[0] not in ("b128", *WHOLE_WARPS):
            assert set(edges(kinds[0])) <= set(found[0].tolist()), kinds
    again = operands(("f32", "f32", "f32"))
    assert (again == operands(("f32", "f32", "f32"))).all()
    assert again.shape == (3, COUNT)
    assert operands(("f16",)).shape == (1, 1 << 16)
    assert {0, 1 << 31, 0x7F800000, 0x7FC00000, 1, 0x3F800000} <= set(edges("f32"))
    assert {0x7FF0000000000001, 0xFFF0000000000000, 0x000FFFFFFFFFFFFF} <= set(edges("f64"))
    assert {0, 0x7FFF, 0x8000, 0xFFFF} <= set(edges("s16"))


@pytest.mark.parametrize("form", ["add.u32", "fma.rn.f32", "cvt.rni.s32.f32", "shfl.sync.up.b32"])
def test_a_form_runs_on_the_emulator(form: str) -> None:
    case = case_of(form)
    given = operands(case.sources)
    (found, *_) = on_emulator(case, EMULATED_ARCH, PTX_VERSION)
    assert found.shape == given.shape[1:]
    if form == "add.u32":
        assert (found == (given[0] + given[1]) & np.uint64(0xFFFFFFFF)).all()


def test_what_differs_is_told_with_examples() -> None:
    case = case_of("add.u32")
    found = on_emulator(case, EMULATED_ARCH, PTX_VERSION)
    assert judge(case, found, found).status == EQUAL
    other = found.copy()
    other[0, 5] ^= np.uint64(1)
    verdict = judge(case, found, other)
    assert (verdict.status, verdict.differing) == (DIFFERS, 1)
    column = [[f"{int(value):x}" for value in operands(case.sources)[:, 5]]]
    assert verdict.examples[0][:1] == column
    assert int(verdict.examples[0][1][0], 16) ^ int(verdict.examples[0][2][0], 16) == 1


def test_approximate_forms_are_judged_by_their_bounds() -> None:
    case = case_of("sqrt.approx.f32")
    found = on_emulator(case, EMULATED_ARCH, PTX_VERSION)
    assert judge(case, found, found).status == WITHIN
    wrong = found.copy()
    ordinary = int(np.flatnonzero(operands(case.sources)[0] == 0x40000000)[0])
    wrong[0, ordinary] += np.uint64(1)
    assert judge(case, found, wrong).status == WITHIN
    wrong[0, ordinary] += np.uint64(7)
    assert judge(case, found, wrong).differing == 1
    special = found.copy()
    special[0, int(np.flatnonzero(operands(case.sources)[0] == 0x7F800000)[0])] = 0x7F7FFFFF
    assert judge(case, found, special).error == {"relative": float("inf")}


def test_errors_in_units_of_the_last_place() -> None:
    given = np.array([[0x3F800000, 0]], np.uint64)
    found = np.array([0x3F800003, 0x7F800000], np.uint64)
    error, fine, _ = bounds.errors(bounds.RCP, "f32", given, found)
    assert error.tolist() == [3.0, 0.0]
    assert fine.tolist() == [False, True]


@needs_ptxas
def test_what_ptxas_refuses_is_left_out() -> None:
    chosen = [case_of(form) for form in ("add.u32", "add.f32x2", "cvt.f16.f32", "sub.u32")]
    code = assemble(chosen, EMULATED_ARCH, PTX_VERSION, "ptxas")
    assert [case.form for case in code.taken] == ["add.u32", "sub.u32"]
    assert "requires .target sm_100" in code.refused["add.f32x2"]
    assert code.refused["cvt.f16.f32"].startswith("Rounding modifier required")
    assert code.cubin


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    verdicts = [
        FormVerdict("add.u32", "9.7.1 Integer", EQUAL, 5, digest="ab"),
        FormVerdict("ex2.approx.f32", "9.7.3 Floats", WITHIN, 5, error={"relative": 0.25}),
        FormVerdict("rem.u32", "9.7.1 Integer", DIFFERS, 5, 1, examples=[[["1"], ["2"], ["3"]]]),
        FormVerdict("vadd", "9.7.1 Integer", LEFT_OUT, why="vadd is not emulated: no"),
        FormVerdict("vsub", "9.7.1 Integer", REFUSED, why="no"),
    ]
    record = Agreement({**RECORD.setting}, verdicts)
    write(record, tmp_path / "record.json")
    again = read(tmp_path / "record.json")
    assert sorted(again.verdicts, key=str) == sorted(verdicts, key=str)
    assert list(again.measured) == ["add.u32"]
    assert "not emulated: vadd: 1 forms, such as vadd: no" in summary(record)
    text = page(record)
    assert "| `rem` | 1 | 5 | 0 | 0 | 1 | 0 |  |" in text
    assert "- `rem.u32`: 1 of 5 operands, as `1`: `3`, not `2`" in text
    assert "| `ex2` | 1 | 5 | 0 | 1 | 0 | 0 | 2.5e-01 of the result |" in text
    assert "1 more combinations" in text
    (tmp_path / "record.json").write_text("[]")
    with pytest.raises(CccError, match="is no record of ccc agree"):
        read(tmp_path / "record.json")


@needs_ptxas
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--device", "emulator", "--jobs", "1", "--only", r" (shf\.[lr]|add\.f32x2)"]
    against = ["--against", str(DOCS / "agreement.json"), "--out", str(tmp_path / "o.json")]
    assert main(["agree", *words, *against, "--page", str(tmp_path / "o.md")]) == 0
    assert "4 equal" in capsys.readouterr().out
    assert {one.form for one in read(tmp_path / "o.json").verdicts if one.status == EQUAL} == set(
        spell("shf{.l|.r}{.clamp|.wrap}.b32")
    )
    assert "| `shf` | 4 |" in (tmp_path / "o.md").read_text()
    assert main(["agree", "--device", "emulator", "--only", "nothing"]) == 1
    assert "no form matches 'nothing'" in capsys.readouterr().err


# The emulator against the record of a GPU.


def compared(chosen: list[Case], jobs: int = 1) -> dict[str, list[str]]:
    """The names of forms by status; those that differ with an example."""
    found: dict[str, list[str]] = {}
    for one in agree(chosen, setting(jobs, recorded=MEASURED), lambda _: None):
        told = f" {one.examples[0]}" if one.examples else ""
        found.setdefault(one.status, []).append(one.form + told)
    return found


def test_the_record_is_of_a_gpu_that_agrees() -> None:
    assert RECORD.setting["device"]["gpu"]
    assert not [one.form for one in RECORD.verdicts if one.status == DIFFERS]
    assert {row_of(one.form) for one in RECORD.verdicts} >= {"add", "fma", "cvt", "shfl", "atom"}


@needs_ptxas
def test_some_forms_give_what_a_gpu_gave() -> None:
    found = compared(CASES[::97])
    assert DIFFERS not in found, found[DIFFERS]
    assert len(found[EQUAL]) > 50


PARTS = 48


@pytest.mark.slow
@needs_ptxas
@pytest.mark.parametrize("part", one_in(PARTS, range(PARTS)))
def test_every_form_gives_what_a_gpu_gave(part: int) -> None:
    verdicts = agree(CASES[part::PARTS], setting(1, recorded=MEASURED), lambda _: None)
    assert not [one.form for one in verdicts if one.status == DIFFERS]
    for one in verdicts:
        if one.status == REFUSED:
            assert any(re.match(reason, one.why) for reason in REASONS), (one.form, one.why)


@pytest.mark.gpu
def test_some_forms_on_the_gpu() -> None:
    device = GpuDevice()
    there = Setting(device.arch, PTX_VERSION, "ptxas", device)
    verdicts = agree(CASES[::97], there, lambda _: None)
    assert not [one.form for one in verdicts if one.status == DIFFERS]
    assert len([one for one in verdicts if one.status == EQUAL]) > 50
