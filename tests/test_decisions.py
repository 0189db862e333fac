"""Files of decisions: what they ask for, where, and what is said of those that are stale."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from emulating import needs_nvcc
from folders import TESTS
from goldens import Golden

from ccc.compiler.transform import Transformed, transform
from ccc.decisions import (
    AnnotationPlace,
    MatchedDecisions,
    TunedDecisions,
    TunedPath,
    read_decisions,
)
from ccc.errors import CccError
from ccc.ir.markers import Marker, parse_marker
from ccc.nvcc import command as driver
from ccc.nvcc.run import run
from ccc.options import Options
from ccc.remark import Remark

pytestmark = pytest.mark.usefixtures("few_headers", "in_process")

GOLDEN = TESTS / "golden"


def marked(name: str) -> str:
    return Golden.read(GOLDEN / f"{name}.ptx").before


def places(result: Transformed) -> list[AnnotationPlace]:
    return [AnnotationPlace.of_remark(one) for mine in result.remarks.values() for one in mine]


def markers(ptx: str) -> list[Marker]:
    return [marker for marker in map(parse_marker, ptx.splitlines()) if marker]


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
    assert f": warning: {file}: strategy(engage) does not apply" in made.diagnostics[0]
    (line,) = [line for line in ptx.splitlines() if "// ccc.then" in line]
    clause = ptx.replace(line, f"{line} strategy=engage")
    made = transform(clause, decisions=str(file))
    assert ": warning: strategy(engage) does not apply" in made.diagnostics[0]


def test_a_kernel_of_blocks_is_left_as_it_was(file: Path) -> None:
    ptx = marked("grid-stride/grid_stride_1d")
    found = places(transform(ptx))
    made = transform(ptx, decisions=decide(file, *((place, "leave") for place in found)))
    assert made.ptx == ptx
    assert not made.diagnostics


def test_an_unnamed_namespace_has_no_hash(file: Path) -> None:
    name = "_ZN36_GLOBAL__N__{}_4_s_cu_b73d76cd4anonEPi"
    was, now, other = name.format("9bf1a9f4"), name.format("00000000"), "_Z4anonPi"
    ptx = marked("context-collection/seldom")
    (place,) = places(transform(ptx))
    decided = decide(file, (replace(place, kernel=was), "merge"))
    for kernel, asked in ((now, "merge"), (other, None)):
        found = MatchedDecisions(decided, {}, markers(ptx), [kernel, was if asked is None else ""])
        (then,) = [marker for marker in markers(ptx) if marker.kind == "then"]
        request = found.request(kernel, then)
        assert (request and str(request)) == asked


def test_files_are_known_by_their_names(file: Path) -> None:
    ptx = marked("context-collection/seldom")
    (place,) = places(transform(ptx))
    decided = decide(file, (replace(place, file=f"/elsewhere/{place.file}"), "merge"))
    assert strategies(ptx, Options(decisions=decided)) == [("merge", "merge")]
    decided = decide(file, (replace(place, file="other.cu"), "merge"))
    assert strategies(ptx, Options(decisions=decided)) == strategies(ptx, Options())


SOURCE = """\
__global__ void k(int *x, int n) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        #pragma ccc if
        if (x[i] > 5) {
            for (int j = 0; j < 5; j++) x[i] = x[i] * x[i] + j;
        }
    }
}
"""
MORE = "        #pragma ccc if\n        if (x[i] < -5) x[i] = x[i] * x[i] / 3;\n"


@pytest.mark.slow
@needs_nvcc
def test_annotations_are_found_again_after_edits(file: Path, tmp_path: Path) -> None:
    """Lines before them, others beside them, and another name of the kernel make no difference."""
    head = "    for (int i = threadIdx.x; i < n; i += blockDim.x) {\n"
    edited = SOURCE.replace(head, head + MORE).replace("void k(", "// one\nvoid renamed(")
    (tmp_path / "k.cu").write_text(SOURCE)
    options = Options(alternatives=True)
    command = ["-ptx", "-arch=sm_90", "-o", "k.ptx", str(tmp_path / "k.cu")]
    command[3] = str(tmp_path / "k.ptx")
    (entry,) = run(command, options).report["kernels"][0]["paths"]
    assert (entry["function"], entry["statement"]) == ("k", "if (x[i] > 5)")
    assert "merge" in entry["alternatives"]
    decided = decide(file, (AnnotationPlace.of_remark(Remark.read(entry, "_Z1kPii")), "merge"))
    (tmp_path / "k.cu").write_text(edited)
    outcome = run(command, Options(decisions=decided))
    other, same = outcome.report["kernels"][0]["paths"]
    assert (other["line"], other["asked"]) == (5, None)
    assert (same["line"], same["asked"], same["strategy"]) == (7, "merge", "merge")
    # What is gone is named; that is no error.
    (tmp_path / "k.cu").write_text(
        SOURCE.replace("#pragma ccc if", "#pragma ccc while").replace(
            "if (x[i] > 5)", "while (x[i] > 5)"
        )
    )
    outcome = run(command, Options(decisions=decided, strict=True))
    assert outcome.code == 0
    (said,) = outcome.diagnostics
    assert said.startswith(f"{file}: warning: line 4 of k.cu, `ccc if`, is not in the source")


def test_stale_ones_of_the_kernels_that_are_there_are_named(file: Path) -> None:
    ptx = marked("context-collection/seldom")
    (place,) = places(transform(ptx))
    gone = replace(place, line=place.line + 1, directive="while", arm="while")
    elsewhere = replace(gone, kernel="elsewhere", line=99)
    decided = decide(file, (place, "merge"), (gone, "merge"), (elsewhere, "queue"))
    made = transform(ptx, decisions=decided, strict=True)
    assert not made.complaints
    (said,) = made.diagnostics
    assert said.startswith(f"{file}: warning: line {gone.line} of {place.file}, `ccc while`")


def test_decisions_for_a_source_with_another_name_say_so_once(file: Path) -> None:
    ptx = marked("context-collection/seldom")
    (place,) = places(transform(ptx))
    before, after = os.path.basename(place.file), "renamed.cu"
    (said,) = transform(
        ptx.replace(before, after), decisions=decide(file, (place, "merge"))
    ).diagnostics
    assert said == (
        f"{file}: warning: the file of decisions is of {before}, and says nothing of {after}: run "
        "ccc tune again, or compile it by that name"
    )


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
        ('{"format": 1,\n"decisions" []}', r"decisions.json:2:13: error: this is no JSON.*\n"),
        ('{"format": 9, "decisions": []}', "its format is 9"),
        ('{"format": 1, "decisions": [{"strategy": "queue"}]}', "no file of decisions"),
        (
            '{"format": 3, "modules": []}',
            r"this is a profile \(--ccc-use takes it\), no file of decisions; ccc tune writes one",
        ),
        (None, "--ccc-decisions=.*: there is no such file; ccc tune writes one"),
    ],
)
def test_what_is_no_file_of_decisions_is_refused(file: Path, text: str | None, said: str) -> None:
    if text is not None:
        file.write_text(text)
    with pytest.raises(CccError, match=said):
        driver.parse([f"--ccc-decisions={file}"])


@pytest.mark.parametrize("damage", [("kernel", None), ("line", "3"), ("file", {}), ("arm", ["a"])])
def test_an_entry_that_somebody_damaged_is_refused(file: Path, damage: tuple[str, object]) -> None:
    decide(file, (AnnotationPlace("k.cu", 3, 5, "k", "if", "then"), "queue"))
    content = json.loads(file.read_text())
    content["decisions"][0] |= dict([damage])
    file.write_text(json.dumps(content))
    with pytest.raises(CccError, match="no file of decisions"):
        read_decisions(file)


@pytest.mark.parametrize(
    ("strategy", "said"),
    [
        ("quee", 'did you mean "queue"'),
        ("tile", "tile takes a number"),
        ("tile(700)", "tile takes a number"),
        ("queue(2)", "queue takes no number"),
    ],
)
def test_strategies_that_there_are_not_are_refused(file: Path, strategy: str, said: str) -> None:
    first = AnnotationPlace("k.cu", 3, 5, "k", "if", "then")
    decide(file, (first, "queue"), (replace(first, line=7), strategy))
    for read in (
        lambda: driver.parse([f"--ccc-decisions={file}"]),
        lambda: transform(marked("context-collection/seldom"), decisions=str(file)),
    ):
        with pytest.raises(CccError, match=re.escape(said)) as told:
            read()
        assert str(told.value).startswith(f"{file}:3: error: k.cu:7: if then in k: {strategy}: ")


def test_the_place_of_a_remark_reads_well() -> None:
    entry = {"file": "k.cu", "line": 3, "directive": "if", "arm": "then", "applied": False}
    place = AnnotationPlace.of_remark(Remark.read(entry, "k"))
    assert str(place) == "k.cu:3: if then in k"
    assert str(replace(place, directive="while", arm="while")) == "k.cu:3: while in k"
