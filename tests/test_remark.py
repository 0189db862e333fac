"""One remark for each annotation, and what the report and the warnings make of it."""

from __future__ import annotations

import json
import re
from dataclasses import FrozenInstanceError, replace

import pytest
from folders import TESTS
from goldens import Golden
from reasons import ways_out

from ccc import demangle
from ccc.analysis.paths import model
from ccc.compiler.advice import ADVICE, BLOCKS
from ccc.diagnostics import complaints, for_architectures, notes
from ccc.errors import Span
from ccc.ir.markers import Marker
from ccc.pipeline import PathRecord
from ccc.remark import (
    Remark,
    in_instructions,
    read_report,
    report,
    span_of,
)

MARKER = Marker("then", 2, Span("k.cu", 7, 5))


BEGINS = re.compile(
    "(?:add|annotate|ask|call|combine|compile|compute|declare|decide|draw|find|if|instead|keep|leave|"
    "let|load|make|mark|move|no|number|or|pass|promise|put|read|remove|return|say|skip|split|take|to|use|"
    r"wait|write)\b"
)
"""How advice begins."""


def record() -> PathRecord:
    return PathRecord("k", model.LeftPath(MARKER, "L", False, "not settled yet"))


@pytest.mark.parametrize("name", ["golden/context-collection/two_loops", "errors/barrier"])
def test_a_report_is_read_as_it_was_made(name: str) -> None:
    remarks = Golden.read(TESTS / f"{name}.ptx").transform().remarks
    assert [remark.kernel for remark in remarks["k"]] == ["k"] * len(remarks["k"])
    assert read_report(json.loads(json.dumps(report(remarks)))) == remarks


def test_a_path_that_no_pass_has_settled_is_missed_without_a_word() -> None:
    remark = record().remark
    assert (remark.kind, remark.strategy, remark.reason) == ("missed", None, None)
    assert remark.complaint is None


def test_a_reason_settles_a_path_and_is_told() -> None:
    one = record()
    one.reason = "nobody comes here"
    assert not one.applied
    assert str(one.remark.complaint) == ("k.cu:7:5: error: path left as it was: nobody comes here")


def test_the_arms_of_a_branch_are_told_apart() -> None:
    one = PathRecord("k", model.LeftPath(replace(MARKER, kind="else"), "L", False, "not settled"))
    one.reason = "nobody comes here"
    assert str(one.remark.complaint).endswith("path (else) left as it was: nobody comes here")
    one.leave_alone("too short")
    assert str(one.remark.note).endswith("path (else) left as it was: too short")


def test_what_was_done_settles_a_path_and_does_not_change_any_more() -> None:
    one = record()
    one.apply("queue", {"placement": "shared"})
    assert one.applied
    assert one.remark.entry() == {
        "file": "k.cu", "line": 7, "column": 5, "directive": "if", "arm": "then",
        "applied": True, "reason": None, "strategy": "queue",
        "asked": None, "declined": None, "advice": None, "placement": "shared",
    }  # fmt: skip
    with pytest.raises(FrozenInstanceError):
        one.remark.reason = "later"  # type: ignore[misc]


def test_reports_of_earlier_versions_are_read() -> None:
    entry = {"file": "k.cu", "line": 7, "directive": "if", "applied": True, "discipline": "merge"}
    remark = Remark.read(entry)
    assert (remark.applied, remark.strategy, remark.position) == (True, "merge", Span("k.cu", 7))


def missed(reason: str, kernel: str, line: int = 7) -> Remark:
    return Remark.missed_at(Marker("then", 2, Span("k.cu", line, 5)), kernel, reason)


def told(*remarks: Remark) -> list[str]:
    by_kernel: dict[str, list[Remark]] = {}
    for remark in remarks:
        by_kernel.setdefault(remark.kernel, []).append(remark)
    return [one.message for one in complaints(by_kernel)]


def test_one_warning_names_all_kernels_by_the_names_that_users_give_them() -> None:
    reason = "the path ends the thread (PTX line {}: exit;)"
    names = ["_ZN4mesh4walkEPKfi", "_Z4walkIfEvPT_", "plain", "_Z4lastv"]
    said = told(*(missed(reason.format(line), name) for line, name in enumerate(names)))
    place = "the path ends the thread (PTX line 0: exit;)"
    named = "mesh::walk, walk<float>, plain and 1 more"
    assert said == [f"path left as it was: {place} [in {named}]"]


def test_a_copy_that_vanished_is_silent_where_another_did_not() -> None:
    applied = Remark.applied_to(MARKER, "a", "queue", {})
    gone = (
        "no annotated loop is left around it; if the loop runs once at most, remove the annotation"
    )
    assert not told(applied, missed(gone, "a"), missed(gone, "of another kernel"))
    assert not told(applied, missed("there is a barrier in the annotated loop", "a"))
    assert len(told(applied, missed("there is a barrier in the annotated loop", "b"))) == 1
    assert len(told(missed(gone, "a"), missed(gone, "b"))) == 1
    together = "all lanes of a warp take the branch together, so there is nothing to fill"
    assert told(missed(gone, "a"), missed(together, "a")) == [
        f"path left as it was: {together} [in a]"
    ]
    assert len(told(applied, missed(gone, "a", line=9))) == 1


def left(length: int, case: str = "", kernel: str = "k") -> Remark:
    """One that was not worth it, of a case of a switch or of one of several copies."""
    kind = "case" if case else "then"
    advice = f"{length} machine instructions by its code: expected 0.79 times as fast; tell"
    told = {"case": case} if case else {}
    marker = Marker(kind, 2, Span("k.cu", 7, 5))
    return Remark.not_worth_it(marker, kernel, advice, told)


def noted(*remarks: Remark) -> list[str]:
    return [line.removeprefix("k.cu:7:5: remark: ") for line in notes(report({"k": remarks}))]


def test_of_copies_that_cannot_be_transformed_alone_is_told() -> None:
    """Unrolling left over the others, outside of the loop that is in the way: no user sees them."""
    why = "it lies in a loop inside the annotated one"
    copies = [missed(f"{why} (PTX line {line}: bra;)", "k") for line in (3, 5)] + [left(7)]
    assert told(*copies) == [f"path left as it was: {why} (PTX line 3: bra;) [in k]"]
    assert noted(*copies) == []


def test_of_several_cases_the_first_is_told_of_in_full() -> None:
    cases = [left(25 * n + 7, f"case {n}, line {n}") for n in (1, 2, 3)]
    assert noted(*cases) == [
        "path (case 1, line 1) left as it was: 32 machine instructions by its code: "
        "expected 0.79 times as fast; tell [in k]",
        "path (case 2, line 2) left as it was: 57 machine instructions by its code; "
        "else as case 1, line 1 [in k]",
        "path (case 3, line 3) left as it was: 82 machine instructions by its code; "
        "else as case 1, line 1 [in k]",
    ]


def test_what_is_the_same_of_several_cases_is_told_once() -> None:
    cases = [left(7, "case RED, line 3"), left(9, "case, line 4"), left(7, "default, line 5")]
    same, other = noted(*cases)
    assert same.startswith("path (case RED, default) left as it was: 7 machine instructions")
    assert other.startswith(
        "path (case, line 4) left as it was: 9 machine instructions by its code"
    )
    assert other.endswith("; else as case RED [in k]")
    unnamed = noted(left(7, "case, line 4"), left(7, "case, line 5"))[0]
    assert unnamed.startswith("path (case on line 4, case on line 5) left as it was")
    many = [left(7, f"case {n}, line {n}") for n in range(20)]
    (said,) = noted(*many)
    assert said.startswith("path (case 0, case 1, ")
    assert "case 11 and 8 more) left as it was" in said


def test_cases_that_share_a_line_have_their_labels() -> None:
    marker = Marker("case", 2, Span("k.cu", 7, 5), {"label": "case RED"}, line=12)
    assert Remark.missed_at(marker, "k", "no").details["case"] == "case RED, PTX line 12"
    assert Remark.missed_at(replace(marker, clauses={}), "k", "no").details["case"] == (
        "case, PTX line 12"
    )


def test_cases_are_told_together_wherever_in_the_code_the_same_is_at_fault() -> None:
    reason = 'it needs a value ("{}", k.cu:{}, PTX line {}: add.s32 %r1, %r1, 1;); declare it'
    names = [("s", 8), ("s", 9), ("t", 10)]
    same, other = told(
        *(
            Remark.missed_at(
                Marker("case", 2, Span("k.cu", 7, 5)), "k", reason.format(name, line, 5 * line),
                {"case": f"case {line - 8}, line {line}"},
            )
            for name, line in names
        )
    )  # fmt: skip
    assert same.startswith('path (case 0, case 1) left as it was: it needs a value ("s", k.cu:8, ')
    assert other.startswith('path (case 2, line 10) left as it was: it needs a value ("t", k.cu:10')


def test_of_copies_one_thing_is_said_with_the_figures_of_all() -> None:
    """What speaks against the best of them counts: users can do one thing about one annotation."""
    how = "machine instructions by its code: expected"
    advices = [
        f"225 {how} 0.69 to 0.9 times as fast, too short; remove the annotation",
        f"221 {how} 0.91 to 1.04 times as fast; queue insists",
        f"223 {how} 0.7 to 0.85 times as fast, since the loop waits; no",
    ]
    every = [Remark.not_worth_it(MARKER, "k", advice, {}) for advice in advices]
    assert noted(*every) == [
        f"path (3 copies) left as it was: 221 to 225 {how} 0.69 to 1.04 times as fast; "
        "queue insists [in k]"
    ]


def test_of_copies_that_differ_by_a_way_out_the_reason_is_said_once() -> None:
    reason = 'it shares an array ("m", k.cu:8, PTX line {}: ld.local.u32 %r1, [%rd1];)'
    ways = ["make it smaller: have fewer, or remove this", "or remove this", "use another"]
    (line,) = told(*(missed(f"{reason.format(n)}; {way}", "k") for n, way in enumerate(ways)))
    first = f"{reason.format(0)}; {ways[0]}"
    assert line == f"path (copies 1, 2 of 3) left as it was: {first}; copy 3: use another [in k]"


def test_want_of_room_is_told_once() -> None:
    room = "its stacks do not fit into shared memory"
    advice = "9 machine instructions by its code: expected 1.67 times as fast, but {}"
    one = record()
    one.leave_alone(advice.format(room))
    asked = replace(one.remark, asked="merge", declined=room)
    assert asked.complaint
    assert asked.note is None
    assert replace(asked, is_wish=True).note
    assert replace(asked, advice=advice.format("slow")).note


def test_a_case_without_code_of_its_own_is_silent_beside_others() -> None:
    """As ``default: break;``: what to do about the others does not go with removing it."""
    switch = Marker("case", 2, Span("k.cu", 7, 5))
    inner = Remark.missed_at(switch, "k", "it lies in a loop inside", {"case": "case 0, line 8"})
    gone = Remark.missed_at(switch, "k", "no branch is left here", {"case": "default, line 9"})
    applied = Remark.applied_to(switch, "k", "queue", {"case": "case 1, line 10"})
    (line,) = told(inner, gone)
    assert line.startswith("path (case 0, line 8) left as it was")
    assert told(applied, gone) == []
    assert len(told(gone)) == 1


def test_a_strategy_that_applies_to_no_case_is_told_once() -> None:
    cases = (replace(left(7, f"case {n}, line {n}"), asked="meld", declined="no") for n in "12")
    assert told(*cases) == ["strategy(meld) does not apply: no [in k]"]


def test_a_strategy_that_does_not_apply_to_some_cases_is_told_with_these() -> None:
    def declined(one: Remark, why: str | None) -> Remark:
        return replace(one, asked="merge", declined=why)

    one, two, three = (left(7, f"case {n}, line {n}") for n in (1, 2, 3))
    assert told(declined(one, "no"), two, three) == [
        "strategy(merge) of path (case 1, line 1) does not apply: no [in k]"
    ]
    assert told(declined(one, "no"), declined(two, "no"), declined(three, "nor here")) == [
        "strategy(merge) of path (case 1, case 2) does not apply: no [in k]",
        "strategy(merge) of path (case 3, line 3) does not apply: nor here [in k]",
    ]
    arm, other = (
        Remark.missed_at(Marker(kind, 2, Span("k.cu", 7, 5)), "k", None)
        for kind in ("then", "else")
    )
    assert told(arm, declined(other, "no")) == [
        "strategy(merge) of path (else) does not apply: no [in k]"
    ]
    assert told(declined(arm, "no"), other) == [
        "strategy(merge) of path (then) does not apply: no [in k]"
    ]
    copy = declined(replace(arm), "no")
    assert told(copy, arm) == ["strategy(merge) of path (copy 1 of 2) does not apply: no [in k]"]


def test_copies_are_told_of_in_one_line() -> None:
    (said,) = noted(left(9), left(7), left(9))
    assert said == (
        "path (3 copies) left as it was: 7 to 9 machine instructions by its code: "
        "expected 0.79 times as fast; tell [in k]"
    )
    (alike,) = noted(left(9), left(9))
    assert "cop" not in alike
    short = replace(left(9), advice="too short: expected 0.79 times as fast; tell")
    assert noted(left(9), *[short] * 4, left(7)) == [
        "path (copies 1, 6 of 6) left as it was: 7 to 9 machine instructions by its code: "
        "expected 0.79 times as fast; tell; copies 2 to 5: too short; else as copies 1, 6 [in k]"
    ]


def test_copies_of_cases_are_told_of_in_one_line_for_each() -> None:
    cases = [left(n, f"case {n % 2}, line {n % 2}") for n in range(8)]
    assert [line.partition(" by its")[0] for line in noted(*cases)] == [
        "path (case 0, line 0, 4 copies) left as it was: 0 to 6 machine instructions",
        "path (case 1, line 1, 4 copies) left as it was: 1 to 7 machine instructions",
    ]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_copies_that_are_left_where_others_serve_are_a_remark(number: int) -> None:
    applied = Remark.applied_to(MARKER, "k", "queue", {})
    every = [applied, applied]
    every.insert(number, missed("there is a barrier in the annotated loop", "k"))
    assert not told(*every)
    assert noted(*every, missed("no loop is left here", "k")) == [
        f"path (copy {number + 1} of 3) left as it was: there is a barrier in the annotated loop; "
        'if nvcc unrolled a loop around it, "#pragma unroll 1" there leaves one copy, or "ccc for" '
        "where that lies in the annotated one; the other 2 copies are applied (queue) [in k]"
    ]


def test_what_does_not_apply_to_some_copies_is_no_warning_where_others_follow() -> None:
    follows = replace(Remark.applied_to(MARKER, "k", "merge", {}), asked="merge")
    denied = replace(Remark.applied_to(MARKER, "k", "queue", {}), asked="merge", declined="no")
    assert not told(follows, denied)
    assert noted(follows, denied) == [
        "strategy(merge) of path (copy 2 of 2) does not apply: no; queue is done instead [in k]"
    ]
    assert told(denied, denied) == [
        "strategy(merge) does not apply: no; queue is done instead [in k]"
    ]


def test_a_strategy_that_does_not_apply_to_cases_for_several_reasons_names_them() -> None:
    cases = (
        replace(left(7, f"case {n}, line {n}"), asked="merge", declined=f"{n} is too many; stop")
        for n in (1, 2)
    )
    assert told(*cases) == [
        "strategy(merge) of path (case 1, line 1) does not apply: 1 is too many; stop [in k]",
        "strategy(merge) of path (case 2, line 2) does not apply: 2 is too many; stop [in k]",
    ]


def test_a_refused_arm_is_told_of_like_the_other_one() -> None:
    reason = "there is a barrier in the annotated loop; mark a loop between two barriers"
    other = Remark.missed_at(Marker("else", 2, Span("k.cu", 7, 5)), "k", reason)
    assert told(missed(reason, "k"), other) == [
        f"path left as it was: {reason} [in k]",
        "path (else) left as it was: as the other arm [in k]",
    ]


def test_what_both_arms_may_lose_is_told_of_each() -> None:
    loss = {"may_lose": "it changes y; use an atomic"}
    arms = [Marker(arm, 2, Span("k.cu", 7, 5)) for arm in ("then", "else")]
    assert noted(*(Remark.applied_to(arm, "k", "queue", loss) for arm in arms)) == [
        "path may lose what it writes: it changes y; use an atomic [in k]",
        "path (else) may lose what it writes: as the other arm [in k]",
    ]


@pytest.mark.parametrize(
    ("name", "shown"),
    [("_ZN4mesh4walkEPKfi", "mesh::walk"), ("_Z4walkPKfi", "walk"), ("k", "k"), ("_Z", "_Z")],
)
def test_names_are_shown_without_a_library_for_it_too(
    name: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert demangle.demangle(name) == shown
    monkeypatch.setattr(demangle, "_function", lambda: None)
    demangle.demangle.cache_clear()
    assert demangle.demangle(name) == shown


def test_what_is_expected_begins_with_the_less() -> None:
    assert span_of(0.98, 0.906) == "0.91 to 0.98"
    assert span_of(0.5, 1.25) == "0.50 to 1.25"


def test_what_misses_a_threshold_is_not_told_as_if_it_were_reached() -> None:
    assert span_of(0.9471, 3.09, missed=[0.95, 1.03]) == "0.947 to 3.090"
    assert span_of(1.02996, 1.02996, missed=[0.95, 1.03]) == "1.02996"
    assert span_of(0.95, 1.03, missed=[0.95, 1.03]) == "0.95 to 1.03"


def test_a_length_of_nothing_is_told_of_the_path_itself() -> None:
    assert in_instructions(0.4) == "no instruction of its own"
    assert (in_instructions(0.9), in_instructions(12.2)) == (
        "1 machine instruction", "12 machine instructions",
    )  # fmt: skip


def test_what_is_said_of_some_architectures_names_them() -> None:
    """And nothing is said twice that differs in lines of the PTX only."""
    alike = "k.cu:3:1: warning: path left (k.cu:4, PTX line {}: ret;); so [in k]"
    caret = "k.cu:2:9: warning: no effect\n    shown\n    ^"
    told = for_architectures(
        {
            "compute_80": [alike.format(70), "remark: 0.9 [in k]", caret],
            "compute_86": [alike.format(71), "remark: 0.9 [in k]"],
            "compute_90": [alike.format(72), "remark: 1.1 [in k]"],
        }
    )
    assert told == [
        alike.format(70),
        "remark: 0.9 [in k, for compute_80, compute_86]",
        "k.cu:2:9: warning: no effect [for compute_80]\n    shown\n    ^",
        "remark: 1.1 [in k, for compute_90]",
    ]


def test_remarks_that_differ_tell_for_which_architecture() -> None:
    one = record()
    kernels = []
    for arch, advice in {"compute_80": "0.9 times", "compute_90": "1.1 times"}.items():
        one.leave_alone(advice)
        (kernel,) = report({"k": [one.remark]})["kernels"]
        kernels.append({**kernel, "arch": arch})
    assert [line.partition("was: ")[2] for line in notes({"kernels": kernels})] == [
        "0.9 times [in k, for compute_80]",
        "1.1 times [in k, for compute_90]",
    ]
    assert notes({"kernels": kernels[:1]})[0].endswith("0.9 times [in k]")


def test_what_stands_behind_a_reason_is_advice() -> None:
    """Behind its first semicolon there is what to do, which ``ccc explain`` tells apart."""
    ways = [one for one in ways_out() if not one.startswith("known are")]
    for text in (*ways, *ADVICE.values(), *BLOCKS.values()):
        assert any(map(BEGINS.match, (text, text.partition(": ")[2]))), text
