"""One remark for each annotation, and what the report and the warnings make of it."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import pytest
from folders import TESTS
from goldens import Golden

from ccc.analysis.paths import model
from ccc.errors import Span
from ccc.ir.markers import Marker
from ccc.pipeline import PathRecord
from ccc.remark import Remark, read_report, report

MARKER = Marker("then", 2, Span("k.cu", 7, 5))


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
