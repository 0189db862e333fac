"""What notes and tables say of several cases, copies and architectures, and how wide they are."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from ccc.errors import Span
from ccc.nvcc.explain import explain
from ccc.nvcc.run import Outcome, run
from ccc.options import Options
from ccc.remark import Remark, report
from ccc.tools.explain.notes import Note, _of_remark, notes_of
from ccc.tools.explain.page import page
from ccc.tools.explain.sarif import log
from ccc.tools.explain.show import show

pytestmark = pytest.mark.usefixtures("few_headers")


SWITCH = """__global__ void __launch_bounds__(256) k(const int *kind, float *x, int n) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        #pragma ccc switch strategy(queue)
        switch (kind[i]) {
        case 0: x[i] = sqrtf(x[i]); break;
        case 1: case 4 + 3:
            x[i] = sinf(x[i]);
            break;
        default: x[i] = logf(x[i]);
        }
    }
}
"""


def choice(line: int, lanes: float, strategy: str | None = None, **more: Any) -> Remark:
    """What is told of a case of a switch that got a strategy, or was left."""
    told = {
        "case": f"case {line}, line {line}",
        "considered": {"queue": 1.25, "merge": 1.5},
        **more,
    }
    told |= {
        "expected_lanes": lanes,
        "expected_from": "prob(0.125)",
        "path_instructions": 100 + line,
    }
    kind: Literal["applied", "missed"] = "applied" if strategy else "missed"
    place = Span("/some/where/k.cu", 4, 9), "k", "switch", "case"
    return Remark(kind, *place, strategy or "leave", details=told)


CHOSEN = [
    choice(5, 4.1, "merge", does_not_fit=["queue", "merge"]),
    choice(6, 4.2, considered={"queue": 0.75}, does_not_fit=["queue"]),
    choice(7, 4.3, "merge", does_not_fit=["queue", "merge"]),
]


def test_figures_of_paths_that_were_chosen_together_stand_there_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    table = explain(report({"k": CHOSEN}))
    assert table.count("merge 1.50 (not all fit)") == 1
    assert re.search(r"case 7, line 7 +4\.3 .* as for case 5, line 5 +merge", table)
    assert re.search(r"case 6, line 6 +4\.2 .* queue 0\.75 \(does not fit\) +leave", table)


def notes(*remarks: Remark) -> list[Note]:
    return notes_of(Outcome(0, report({"k": remarks})))


def test_what_all_cases_come_to_is_told_once() -> None:
    together = {"stack_bytes": 512, "placement": "static", "registers_before": 9}
    cases = [choice(n, n, "merge", registers_after=17, **together) for n in (5, 6)]
    other = choice(7, 7, "merge", registers_after=17, **{**together, "stack_bytes": 768})
    first, second, third = notes(*cases, other)
    all_tasks = "all tasks take {} bytes of static shared memory a block"
    speed, registers = "expected speed: queue 1.25, merge 1.50", "registers: 9 before, 17 after"
    assert first.lines[1:] == (speed, all_tasks.format(512), registers)
    assert second.lines[0].startswith("6.0 of 32 lanes expected")
    assert second.lines[1:] == ()
    assert third.lines[1:] == (all_tasks.format(768),)


@pytest.mark.parametrize(("threads", "hint"), [(1024, True), (256, False)])
def test_fewer_warps_are_told_with_the_size_of_blocks(threads: int, hint: bool) -> None:
    told = {"stack_bytes": 49152, "placement": "static", "block_threads": threads}
    told |= {"occupancy_before": 1.0, "occupancy_after": 0.5}
    (note,) = notes(choice(5, 5, "merge", **told))
    tasks, occupancy = note.lines[-2:]
    assert (
        tasks
        == f"all tasks take 49152 bytes of static shared memory a block of {threads:,} threads"
    )
    way_out = "; __launch_bounds__ or --ccc-max-block tells of smaller blocks" if hint else ""
    assert occupancy == f"occupancy: 1.0 before, 0.5 after{way_out}"


@pytest.mark.parametrize(
    ("lanes", "source", "told"),
    [
        (32, "prob(1)", "prob(1)"),
        (4.1, "prob(0.125)", "prob(0.125)"),
        (7.9, "prob(1)", "prob(1) of those that come to it"),
        (7.9, "a profile of 3 launches", "a profile of 3 launches"),
    ],
)
def test_a_share_of_few_is_told_as_that(lanes: float, source: str, told: str) -> None:
    (note,) = notes(replace(choice(5, lanes), details={
        "expected_lanes": lanes, "expected_from": source
    }))  # fmt: skip
    assert note.lines == (f"{lanes:.1f} of 32 lanes expected ({told})",)


def not_worth(length: int, lanes: float, **more: str) -> Remark:
    """One of several cases or copies that were left."""
    advice = f"{length} machine instructions by its code: expected 0.79 times as fast; tell"
    told = {"considered": {"queue": lanes}, **more}
    place = Span("k.cu", 4, 9), "k", "switch" if more else "if", "case" if more else "then"
    return Remark("missed", *place, "leave", advice=advice, details=told)


@pytest.mark.parametrize(
    ("remarks", "heads"),
    [
        (
            [not_worth(9, 1.1, case="case 1, line 5"), not_worth(7, 1.2, case="case 2, line 6")],
            ["switch (case 1, line 5)", "switch (case 2, line 6)", "case 1, line 5"],
        ),
        (
            [not_worth(9, 1.1), not_worth(7, 1.2)],
            ["if (then, copy 1 of 2)", "if (then, copy 2 of 2)", "copy 1"],
        ),
    ],
    ids=["cases", "copies"],
)
def test_of_several_cases_or_copies_the_first_note_says_all(
    remarks: list[Remark], heads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    notes = notes_of(Outcome(0, report({"k": remarks})))
    stream = io.StringIO()
    show(notes, stream)
    told = "left as it was: 9 machine instructions by its code: expected 0.79 times as fast"
    short = f"left as it was: 7 machine instructions by its code; else as {heads[2]}"
    *shown, _, _ = [line.strip() for line in stream.getvalue().splitlines()]
    assert shown[2:] == [
        f"~ {heads[0]}: {told} [in k]",
        "expected speed, against that without it: queue 1.10",
        "What to do: tell",
        f"~ {heads[1]}: {short} [in k]",
    ]
    assert heads[1] in page(notes)
    second = json.loads(log(notes, Path.cwd()))["runs"][0]["results"][1]["message"]["text"]
    assert "7 machine instructions by its code: expected 0.79" in second  # a log has no order


def test_of_copies_with_one_reason_there_is_one_note() -> None:
    reasons = [f"the loop may be left (PTX line {line}: bra L;); skip the rest" for line in (3, 5)]
    place = Span("k.cu", 4, 9), "k", "if", "then"
    copies = [Remark("missed", *place, reason=one) for one in reasons]
    other = Remark("missed", *place, reason="there is a barrier")
    heads = [note.directive for note in notes(*copies, other)]
    assert heads == ["if (then, copies 1, 2 of 3)", "if (then, copy 3 of 3)"]
    assert len(notes(*copies)) == 1


def test_a_way_out_is_told_once_and_as_a_sentence() -> None:
    span = Span("k.cu", 3, 9)
    note = Note(span, "error", "", 'unknown directive "fi"', way_out='did you mean "if"?')
    assert list(note.more()) == ['Did you mean "if"?']
    why = "its turns hand on a value; if they only add it up, say so: reduction(+: s)"
    advice = "7 steps: nothing is known; tell; reduction(+: s) would let lanes share its turns"
    remark = Remark("missed", span, "k", "for variable", "variable", "leave", advice=advice)
    (left,) = _of_remark(replace(remark, details={"shared_out_reason": why}))
    assert list(left.more()) == [
        "turns are not shared out: its turns hand on a value",
        "What to do: tell; reduction(+: s) would let lanes share its turns",
    ]
    (other,) = _of_remark(replace(remark, advice="7", details={"shared_out_reason": why}))
    assert list(other.more()) == [f"turns are not shared out: {why}"]


def of_two_architectures(first: Remark, second: Remark) -> dict[str, Any]:
    """A report of one kernel that was compiled twice."""
    told = {"compute_80": first, "compute_90": second}
    kernels = [{**report({"k": [one]})["kernels"][0], "arch": arch} for arch, one in told.items()]
    return {"version": "", "kernels": kernels}


def test_what_differs_between_architectures_is_told_of_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    alike = of_two_architectures(CHOSEN[1], CHOSEN[1])
    assert explain(alike).startswith("k (compute_80, compute_90)\n")
    assert explain(alike).count("case 6") == 1
    other = replace(CHOSEN[1], details={**CHOSEN[1].details, "considered": {"queue": 1.5}})
    differing = of_two_architectures(CHOSEN[1], other)
    table = explain(differing)
    assert re.search(r"^k \(compute_80\)\n.*0\.75.*^k \(compute_90\)\n.*1\.50", table, re.M | re.S)

    def kernels(told: dict[str, Any]) -> list[tuple[str, ...]]:
        return [note.kernels for note in notes_of(Outcome(0, told))]

    assert kernels(alike) == [("k",)]
    assert kernels(differing) == [("k for compute_80",), ("k for compute_90",)]


def test_the_notes_end_with_what_they_were_compiled_for() -> None:
    stream = io.StringIO()
    show([], stream, ["compute_75"])
    assert stream.getvalue() == "compiled for compute_75: nothing is annotated\n"
    assert "compiled for compute_75: nothing" in page([], ["compute_75"])


def test_a_kernel_without_annotations_of_its_own_has_no_table() -> None:
    assert explain(report({"k": []})) == ""


def test_in_a_narrow_terminal_paths_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = explain(report({"k": CHOSEN})).splitlines()
    assert max(map(len, lines)) <= 60
    assert lines[:6] == [
        "k",
        "",
        "k.cu:4   case 5, line 5: merge",
        "  4.1 lanes (prob(0.125)), 105 instr.",
        "  loop expected with",
        "    queue 1.25 (not all fit)",
    ]


@pytest.mark.parametrize("columns", [100, 92, 84, 70])
def test_no_width_breaks_a_word(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    one = choice(5, 4.1)
    told = {**one.details, "expected_from": "a profile of 2026-11-22", "case": "default, line 5"}
    dated = [replace(one, details=told)]
    monkeypatch.setenv("COLUMNS", str(columns))
    words = explain(report({"k": dated})).replace(",", " ").replace(")", " ").split()
    assert {"2026-11-22", "profile", "default", "k.cu:4"} <= set(words)


@pytest.mark.slow
def test_a_case_has_one_name_in_all_that_is_told(tmp_path: Path) -> None:
    file = tmp_path / "k.cu"
    file.write_text(SWITCH)
    arguments = ["-arch=sm_90", "-ptx", "-o", f"{tmp_path}/k.ptx", str(file)]
    outcome = run(arguments, Options(), capture=True)
    names = ["case 0, line 6", "case 4 + 3, line 7", "default, line 10"]
    assert [one["case"] for one in outcome.report["kernels"][0]["paths"]] == names
    assert [note.directive for note in notes_of(outcome)] == [f"switch ({n})" for n in names]
    table = " ".join(explain(outcome.report).split())
    assert all(name in table for name in names)
