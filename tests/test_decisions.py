"""Files of decisions: what they ask for, where, and what is said of those that are stale."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from folders import TESTS
from goldens import Golden

from ccc.compiler.transform import Transformed, transform
from ccc.compiler.unit import DevicePass, transform_file
from ccc.decisions import AnnotationPlace, TunedDecisions, TunedPath, read_decisions
from ccc.errors import CccError
from ccc.nvcc import command as driver
from ccc.options import Options
from ccc.remark import Remark

GOLDEN = TESTS / "golden"


def marked(name: str) -> str:
    return Golden.read(GOLDEN / f"{name}.ptx").before


def places(result: Transformed) -> list[AnnotationPlace]:
    return [AnnotationPlace.of_remark(one) for mine in result.remarks.values() for one in mine]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "decisions.json"


def decide(file: Path, *pairs: tuple[AnnotationPlace, str]) -> str:
    TunedDecisions([TunedPath(place, strategy) for place, strategy in pairs]).write(file)
    return str(file)


def strategies(ptx: str, options: Options) -> list[tuple[str | None, str | None]]:
    made = transform(ptx, options)
    return [(one.strategy, one.asked) for mine in made.remarks.values() for one in mine]


def test_each_arm_gets_its_own(file: Path) -> None:
    ptx = marked("context-collection/if_else")
    then, otherwise = places(transform(ptx))
    decided = decide(file, (then, "merge"), (otherwise, "leave"))
    found = strategies(ptx, Options(decisions=decided))
    assert found == [("merge", "merge"), ("leave", "leave")]


def test_the_rank_is_between_a_clause_and_the_option(file: Path) -> None:
    ptx = marked("context-collection/seldom")
    (place,) = places(transform(ptx))
    options = Options(decisions=decide(file, (place, "merge")), strategy="queue")
    assert strategies(ptx, options) == [("merge", "merge")]
    (line,) = [line for line in ptx.splitlines() if "// ccc.then" in line]
    clause = ptx.replace(line, f"{line} strategy=batch3")
    assert strategies(clause, options) == [("batch3", "batch3")]


def test_auto_leaves_it_to_the_policy(file: Path) -> None:
    ptx = marked("context-collection/seldom")
    (place,) = places(transform(ptx))
    options = Options(decisions=decide(file, (place, "auto")), strategy="queue")
    assert strategies(ptx, options) == strategies(ptx, Options())


def test_what_does_not_apply_is_told(file: Path) -> None:
    ptx = marked("context-collection/seldom")
    (place,) = places(transform(ptx))
    made = transform(ptx, decisions=decide(file, (place, "engage")))
    assert "strategy(engage) does not apply" in made.diagnostics[0]


def test_a_kernel_of_blocks_is_left_as_it_was(file: Path) -> None:
    ptx = marked("grid-stride/grid_stride_1d")
    found = places(transform(ptx))
    made = transform(ptx, decisions=decide(file, *((place, "leave") for place in found)))
    assert made.ptx == ptx
    assert not made.diagnostics


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("k.cu", "/home/me/src/k.cu", True),
        ("../src/k.cu", "/home/me/src/k.cu", True),
        ("src/k.cu", "test/k.cu", False),
        ("k.cu", "other_k.cu", False),
    ],
)
def test_files_are_known_by_the_end_of_their_path(one: str, other: str, same: bool) -> None:
    place = AnnotationPlace(one, 3, 5, "k", "if", "then")
    assert place.is_same(replace(place, file=other)) is same
    assert replace(place, file=other).is_same(place) is same


def test_what_stands_in_another_place_or_kernel_is_another() -> None:
    place = AnnotationPlace("k.cu", 3, 5, "k", "if", "then")
    for change in ({"line": 4}, {"column": 6}, {"kernel": "m"}, {"arm": "else"}):
        assert not place.is_same(replace(place, **change))


def test_an_unnamed_namespace_has_no_hash() -> None:
    name = "_ZN36_GLOBAL__N__{}_4_s_cu_b73d76cd4anonEPi"
    place = AnnotationPlace("k.cu", 3, 5, name.format("9bf1a9f4"), "if", "then")
    assert place.is_same(replace(place, kernel=name.format("00000000")))
    assert not place.is_same(replace(place, kernel=name.format("9bf1a9f4")[:-1] + "f"))


def test_stale_ones_of_the_kernels_that_are_there_are_named(file: Path, tmp_path: Path) -> None:
    ptx = marked("context-collection/seldom")
    (place,) = places(transform(ptx))
    moved, elsewhere = replace(place, line=place.line + 1), replace(place, kernel="elsewhere")
    decide(file, (place, "merge"), (moved, "merge"), (elsewhere, "queue"))
    source = tmp_path / "k.ptx"
    source.write_text(ptx)
    done = DevicePass((str(source), ""))
    transform_file(done, Options(decisions=str(file)))
    assert done.error is None
    (said,) = done.diagnostics
    assert said.startswith(f"{place.file}:{moved.line}:{place.column}: warning: stale decision")
    transform_file(done, Options(decisions=str(file), strict=True))
    assert done.error is not None


def test_the_file_is_sorted_and_read_again(file: Path) -> None:
    place = AnnotationPlace("k.cu", 30, 5, "k", "if", "then")
    other = replace(place, kernel="m", line=4)
    times = {"leave": 2.34567, "queue": 1.0}
    first = TunedDecisions().merged([TunedPath(place, "queue", "card", "day", times, 2.34567)], "k")
    both = first.merged([TunedPath(other, "leave")], ["m"])
    both.write(file)
    assert [path.place for path in read_decisions(file).paths] == [other, place]
    kept = json.loads(file.read_text())["decisions"][1]
    assert kept["milliseconds"] == {"leave": 2.346, "queue": 1.0}
    assert kept["ratio"] == 2.35
    assert read_decisions(file).merged([], ["k"]).paths == read_decisions(file).paths[:1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "no file of decisions"),
        ('{"format": 9, "decisions": []}', "its format is 9"),
        ('{"format": 1, "decisions": [{"strategy": "queue"}]}', "no file of decisions"),
        (None, "No such file"),
    ],
)
def test_what_is_no_file_of_decisions_is_refused(file: Path, text: str | None, said: str) -> None:
    if text is not None:
        file.write_text(text)
    with pytest.raises(CccError, match=said):
        driver.parse([f"--ccc-decisions={file}"])


def test_unknown_strategies_are_refused(file: Path) -> None:
    decide(file, (AnnotationPlace("k.cu", 3, 5, "k", "if", "then"), "quee"))
    with pytest.raises(CccError, match='did you mean "queue"'):
        driver.parse([f"--ccc-decisions={file}"])


def test_the_place_of_a_remark_reads_well() -> None:
    entry = {"file": "k.cu", "line": 3, "directive": "if", "arm": "then", "applied": False}
    place = AnnotationPlace.of_remark(Remark.read(entry, "k"))
    assert str(place) == "k.cu:3: if then in k"
    assert str(replace(place, directive="while", arm="while")) == "k.cu:3: while in k"
