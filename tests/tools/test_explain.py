"""``ccc explain``: notes in the source, in all forms."""

from __future__ import annotations

import html
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ccc.cli import main
from ccc.errors import CccError, Span
from ccc.nvcc.run import run
from ccc.options import Options
from ccc.remark import BY_ITS_CODE, Remark
from ccc.toolkit import find as toolchain
from ccc.tools.explain import _asked
from ccc.tools.explain.notes import Note, _of_remark, _saved
from ccc.tools.explain.page import page
from ccc.tools.explain.sarif import log
from ccc.tools.explain.show import show

pytestmark = pytest.mark.usefixtures("few_headers")

SOURCE = """template <typename T> __device__ T far(T v) { return v * v + 3; }
__global__ void __launch_bounds__(128) shade(const float *x, float *y, int n) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        #pragma ccc if prob(0.05)
        if (x[i] > 3) {
            float v = x[i];
            for (int t = 0; t < 20; ++t) v = __sinf(v) + far(v);
            y[i] = v;
        }
    }
}
__global__ void meet(const float *x, float *y, int n) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        #pragma ccc if
        if (x[i] > 3) y[i] = x[i];
        __syncthreads();
    }
}
__global__ void pass_by(const float *x, float *y, int n) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i];
}
"""
NOTES = [
    Note(Span("k.cu", 5, 9), "applied", "if (then)", "applied: queue", ("saves i",), "", ("f",)),
    Note(Span("k.cu", 7, 1), "left", "while", "left as it was: 12 instructions"),
    Note(
        Span("k.cu", 16, 9), "refused", "if", "left as it was: there is a barrier [here]", (),
        "mark a loop between two barriers", ("meet",), (Span("k.cu", 18, 9), Span("a b.cuh", 2)),
    ),
    Note(Span("k.cu", 5, 9), "declined", "if (then)", "strategy(pool) does not apply: several"),
    Note(Span("/else/where.cuh", 3), "warning", "", "no annotated path stands inside this loop"),
    Note(Span("k.cu", 9, 2), "error", "", "unknown directive"),
]  # fmt: skip


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    try:
        toolchain.find()
    except CccError as error:
        pytest.skip(error.message)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    (tmp_path / "k.cu").write_text(SOURCE)
    return tmp_path


def check(sarif: dict[str, Any]) -> list[dict[str, Any]]:
    """The results of a log that has all properties that SARIF 2.1.0 demands."""
    assert sarif["version"] == "2.1.0"
    assert re.fullmatch(r"https://\S+sarif\S*2\.1\.0\S*", sarif["$schema"])
    (run,) = sarif["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"]
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    rules = [rule["id"] for rule in driver["rules"]]
    assert len(set(rules)) == len(rules)
    levels = {rule["id"]: rule["defaultConfiguration"]["level"] for rule in driver["rules"]}
    for base in run["originalUriBaseIds"].values():
        assert base["uri"].startswith("file:///")
        assert base["uri"].endswith("/")
    for result in run["results"]:
        assert result["message"]["text"]
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["kind"] in ("pass", "informational", "fail")
        assert result["level"] == levels[result["ruleId"]]
        assert (result["level"] == "none") == (result["kind"] != "fail")
        assert len(result["locations"]) == 1
        related = result.get("relatedLocations", [])
        assert len({one["id"] for one in related}) == len(related)
        for place in (*result["locations"], *related):
            check_place(place["physicalLocation"], run)
    return list(run["results"])


def check_place(place: dict[str, Any], run: dict[str, Any]) -> None:
    artifact, region = place["artifactLocation"], place["region"]
    assert " " not in artifact["uri"]
    if "uriBaseId" in artifact:
        assert artifact["uriBaseId"] in run["originalUriBaseIds"]
        assert not artifact["uri"].startswith(("/", "file:"))
    else:
        assert artifact["uri"].startswith("file:///")
    assert region["startLine"] >= 1
    assert region.get("startColumn", 1) >= 1


def test_a_log_has_what_the_standard_demands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    results = check(json.loads(log(NOTES, tmp_path)))
    assert [(one["ruleId"], one["kind"], one["level"]) for one in results] == [
        ("ccc/applied", "pass", "none"),
        ("ccc/left", "informational", "none"),
        ("ccc/refused", "fail", "warning"),
        ("ccc/declined", "fail", "warning"),
        ("ccc/warning", "fail", "warning"),
        ("ccc/error", "fail", "error"),
    ]
    applied, _, refused, _, warning, _ = results
    assert applied["message"]["text"] == "if (then): applied: queue (in f)\nsaves i"
    assert r"a barrier \[here\]" in refused["message"]["text"]
    assert refused["message"]["text"].endswith("What to do: mark a loop between two barriers")
    uris = [p["physicalLocation"]["artifactLocation"]["uri"] for p in refused["relatedLocations"]]
    assert uris == ["k.cu", "a%20b.cuh"]
    place = warning["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "file:///else/where.cuh"}


def test_a_page_shows_every_line_and_every_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text(SOURCE)
    made = page(NOTES)
    assert "prefers-color-scheme: dark" in made
    assert not re.search(r"https?:|<script", made)  # it needs nothing from elsewhere
    text = html.unescape(re.sub(r"<[^>]*>", "", made))
    for line in SOURCE.splitlines():
        assert line.strip() in text
    for note in NOTES:
        assert note.title in text
    assert "1 applied, 1 not worth it, 1 refused, 2 warnings, 1 error" in text


@pytest.mark.parametrize("columns", [60, 100])
def test_notes_are_as_wide_as_the_terminal(
    columns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    (tmp_path / "k.cu").write_text(SOURCE)
    title = "left as it was: " + " ".join(["there is a barrier"] * 9)
    note = Note(Span("k.cu", 2, 30), "refused", "if", title, (), "move it " * 20)

    def shown() -> list[str]:
        stream = io.StringIO()
        show([note], stream)
        return [line for line in stream.getvalue().splitlines() if not line[:5].strip()]

    whole = shown()
    assert f"{' ' * 35}- if: {title}" in whole
    monkeypatch.setenv("COLUMNS", str(columns))
    wrapped = shown()
    assert columns - 10 < max(map(len, wrapped)) <= columns
    assert " ".join(" ".join(wrapped).split()) == " ".join(" ".join(whole).split())


def test_what_was_asked_for_in_vain_is_told_of_a_path_that_is_left() -> None:
    one = Remark("missed", Span("k.cu", 7, 1), "k", "if", "then", "leave", advice="too short")
    note, declined = _of_remark(replace(one, asked="batch7", declined="there are several paths"))
    assert (note.kind, note.title) == ("left", "left as it was: too short")
    assert declined.kind == "declined"
    assert declined.title == "strategy(batch7) does not apply: there are several paths"
    (note,) = _of_remark(replace(one, asked="batch7", declined="there are several", is_wish=True))
    assert note.lines[-1] == "strategy(batch7) does not apply: there are several"


@pytest.mark.parametrize(
    ("advice", "title", "way_out"),
    [
        (
            "7 steps: expected 0.80 times as fast; tell; add(s)",
            "7 steps: expected 0.80 times as fast",
            "tell; add(s)",
        ),
        ("3 instructions: nothing applies", "3 instructions: nothing applies", ""),
        ('of ("x = 1; y = 2", here); write it', 'of ("x = 1; y = 2", here)', "write it"),
    ],
)
def test_all_that_can_be_done_stands_apart(advice: str, title: str, way_out: str) -> None:
    (note,) = _of_remark(Remark("missed", Span("k.cu", 7, 1), "k", "while", "while", advice=advice))
    assert (note.title, note.way_out) == (f"left as it was: {title}", way_out)


def test_every_warning_is_one_in_the_log(tmp_path: Path) -> None:
    """So is a strategy that was asked for and does not apply, where another one did."""
    here = (Span("k.cu", 7, 1), "k", "if", "then")
    remarks = [
        Remark("applied", *here, "queue"),
        Remark("applied", *here, "queue", asked="pool", declined="there are several; ask for it"),
        Remark("missed", *here, reason="there is a barrier; move it"),
        Remark("missed", *here, "leave", advice="12 steps; strategy(queue) insists"),
        Remark("missed", *here, "leave"),
    ]
    for remark in remarks:
        notes = _of_remark(remark)
        results = check(json.loads(log(notes, tmp_path)))
        assert any(one["level"] == "warning" for one in results) == bool(remark.complaint)
        told = "".join(one["message"]["text"] for one in results)
        for text in filter(None, (remark.reason, remark.declined)):
            head, _, way_out = text.partition("; ")
            assert head in told
            assert f"What to do: {way_out}" in told


@pytest.mark.slow
def test_what_does_not_apply_stands_with_a_way_out(source: Path) -> None:
    text = SOURCE.replace("if prob(0.05)", "if strategy(bins(16))")
    (source / "k.cu").write_text(text)
    assert main(["explain", "-arch=sm_90", "k.cu", "--sarif", "k.sarif", "-o", "k.html"]) == 0
    results = check(json.loads((source / "k.sarif").read_text()))
    (declined,) = [one for one in results if one["ruleId"] == "ccc/declined"]
    assert declined["level"] == "warning"
    head, way_out = declined["message"]["text"].splitlines()
    assert "strategy(bins(16)) does not apply: no loop is left in the path" in head
    assert way_out.startswith("What to do: tasks are of about equal length")


def test_arrays_that_go_along_are_counted() -> None:
    index = [{"register": "%r1", "type": "u32", "variable": "i"}]
    assert _saved(index, 128) == "saves i, 128 bytes of arrays for each task (132 bytes)"
    assert _saved([], 16) == "saves 16 bytes of arrays for each task (16 bytes)"
    assert _saved([], 0) == "saves nothing"


SEVERAL = """__global__ void __launch_bounds__(64)
k(const float *a, const double *b, const int *c, float *y, int n) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float p = a[i], q = a[i + n];
        float u = a[i + 3]; int v = c[i];
        float s = a[i + 4], t = a[i + 5], last = a[i + 6];
        #pragma ccc if prob(0.05) strategy(queue)
        if (v > 3) {
            for (int r = 0; r < 20; ++r) u = __sinf(u) + p * q;
            y[i] = u + s;
        }
        y[i + n] = p + q + u + s + t + last + v;
    }
}
"""


WIDTHS = """__global__ void __launch_bounds__(64) k(unsigned *y, int n) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned long long v = i + 1; unsigned steps = 0;
        #pragma ccc while strategy(merge)
        while (v != 1) { v = (v & 1) ? 3 * v + 1 : v / 2; ++steps; }
        y[i] = steps;
    }
}
"""


@pytest.mark.slow
def test_variables_of_one_line_are_named_where_all_of_them_are_saved(source: Path) -> None:
    (source / "k.cu").write_text(SEVERAL)
    outcome = run(["-arch=sm_90", "-ptx", "-o", "k.ptx", "k.cu"], Options(), capture=True)
    (path,) = outcome.report["kernels"][0]["paths"]
    named = {one["variable"]: one["type"] for one in path["context"] if "variable" in one}
    assert named.pop("i")
    assert named == dict.fromkeys(("p", "q", "u", "s", "t", "last"), "f32")


@pytest.mark.slow
def test_variables_of_one_line_are_told_apart_by_their_widths(source: Path) -> None:
    (source / "k.cu").write_text(WIDTHS)
    outcome = run(["-arch=sm_90", "-ptx", "-o", "k.ptx", "k.cu"], Options(), capture=True)
    (path,) = outcome.report["kernels"][0]["paths"]
    named = {one["variable"]: one["type"] for one in path["context"] if "variable" in one}
    assert (named["steps"], named["v"]) == ("b32", "b64")


@pytest.mark.slow
def test_a_value_is_no_variable_of_another_type(source: Path) -> None:
    text = SOURCE.replace("if prob(0.05)", "if strategy(queue)").replace("x[i] > 3", "hit", 1)
    (source / "k.cu").write_text(
        text.replace("    #pragma ccc if s", "bool hit = x[i] > 3;\n#pragma ccc if s")
    )
    outcome = run(["-arch=sm_90", "-ptx", "-o", "k.ptx", "k.cu"], Options(), capture=True)
    (path, *_) = outcome.report["kernels"][0]["paths"]
    assert {one["type"]: one.get("variable") for one in path["context"]}["f32"] is None


@pytest.mark.slow
def test_notes_stand_at_their_lines(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "-arch=sm_90", "k.cu", "-c", "-o", "k.o"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert [path.name for path in source.iterdir()] == ["k.cu"]
    at = shown.index("    5         #pragma ccc if prob(0.05)")
    assert re.fullmatch(r" +\+ if \(then\): applied: \w+ \[in shade\]", shown[at + 1])
    more = " ".join(shown[at + 2 : at + 9])
    assert "of 32 lanes expected (prob(0.05))" in more
    assert "saves i, 1 value more for each task (8 bytes)" in more
    assert "registers: " in more
    at = shown.index("   16         #pragma ccc if")
    assert "left as it was: there is a barrier in the annotated loop (k.cu:18, " in shown[at + 1]
    assert shown[at + 1].endswith("[in meet]")
    told = "it is too short to gain anything: remove the annotation"
    assert shown[at + 2].strip() == f"What to do: {told}"
    at = shown.index("   22     #pragma ccc for")
    assert "no annotated path stands inside this loop" in shown[at + 1]
    assert shown[-1] == "compiled for compute_90: 1 applied, 1 refused, 1 warning"


@pytest.mark.slow
def test_one_kernel_in_all_forms(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["explain", "--kernel=meet", "k.cu", "--sarif", "k.sarif", "-o", "k.html", "--", "-O2"]
    assert main(given) == 0
    assert capsys.readouterr().out == ""
    (result,) = check(json.loads((source / "k.sarif").read_text()))
    (place,) = result["relatedLocations"]
    assert place["physicalLocation"]["region"]["startLine"] == 18
    assert "there is a barrier" in (source / "k.html").read_text()
    assert main(["explain", "--kernel", "nowhere", "k.cu"]) == 2
    told = capsys.readouterr().err
    assert 'in a kernel that is called "nowhere"; there are annotations in shade, meet' in told
    assert main(["explain", "--kernel", "far", "k.cu"]) == 2
    assert 'called "far", which is a device function: its ann' in capsys.readouterr().err


@pytest.mark.slow
def test_what_is_wrong_is_shown_as_well(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (source / "k.cu").write_text(SOURCE.replace("ccc if prob", "ccc fi prob"))
    assert main(["explain", "k.cu"]) == 1
    assert 'x unknown directive "fi"' in capsys.readouterr().out
    (source / "k.cu").write_text("this is no CUDA")
    assert main(["explain", "k.cu"]) == 1
    assert "nvcc failed:" in capsys.readouterr().err
    assert main(["explain", "k.cu", "--kernle"]) == 1
    assert """Unknown option '--kernle'; did you mean "--kernel"?""" in capsys.readouterr().err
    assert main(["explain", "-O3"]) == 2
    assert "no file is given" in capsys.readouterr().err
    assert main(["explain", "k.ptx"]) == 2
    assert "k.ptx is no source of CUDA; ccc explain FILE.cu" in capsys.readouterr().err
    assert main(["explain", "notes.txt"]) == 2
    assert "notes.txt is no source of CUDA; ccc explain" in capsys.readouterr().err
    assert main(["explain", "k.cu", "--kernel"]) == 2
    assert "--kernel needs a value" in capsys.readouterr().err


@pytest.mark.slow
def test_what_is_no_annotation_by_a_letter_is_told(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (source / "k.cu").write_text(SOURCE.replace("ccc", "CCC", 1).replace("ccc", "cc"))
    assert main(["explain", "-arch=sm_90", "k.cu"]) == 0
    shown = capsys.readouterr().out
    assert '! "#pragma CCC for" is no annotation\n' in shown
    assert 'What to do: write "#pragma ccc for"' in shown
    assert shown.endswith("5 warnings\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("k.cu -o k.svg", "-o k.svg: what is written is a page, FILE.html or FILE.htm; --sarif"),
        ("-o=notes.txt k.cu", "-o notes.txt: what is written is a page"),
        ("k.cu --html", "there is no --html: a page is written with -o FILE.html"),
        ("--html=k.html k.cu", "there is no --html: a page"),
    ],
)
def test_pages_of_other_kinds(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", *words.split()]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("k.cu --ccc-off", "--ccc-off ignores the annotations, which are to be explained"),
        ("k.cu --ccc-mark-only", "--ccc-mark-only follows no annotation, so that"),
        ("k.cu l.cu", "one source at a time is explained, not k.cu, l.cu"),
        ("k.cu -O3 l.cu m.cpp", "one source at a time is explained, not k.cu, l.cu, m.cpp"),
    ],
)
def test_what_cannot_be_explained(
    words: str, message: str, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("l.cu", "m.cpp"):
        (source / name).touch()
    assert main(["explain", *words.split()]) == 2
    assert capsys.readouterr().err.startswith(f"ccc: error: {message}")


@pytest.mark.slow
def test_a_source_may_include_another(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (source / "l.cuh").touch()
    assert main(["explain", "-arch=sm_90", "-include", "l.cuh", "k.cu", "--kernel=shade"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("words", ["-o k", "-o k.ptx", "-c -o k.strange", "-dc -o=dir/k.x"])
def test_what_a_pasted_compilation_makes_is_passed_over(words: str) -> None:
    assert _asked(["k.cu", *words.split()]).output is None


@pytest.mark.parametrize(("lanes", "known"), [(None, "nothing is known"), (3.2, "3.2 of 32 lanes")])
def test_how_long_a_path_is_is_told_whatever_is_known_of_its_lanes(
    lanes: float | None, known: str
) -> None:
    length = {"path_instructions": 7, "instructions_from": BY_ITS_CODE, "expected_lanes": lanes}
    applied = Remark("applied", Span("k.cu", 3, 5), "k", "if", "then", "queue", details=length)
    (note,) = _of_remark(applied)
    (line,) = note.lines
    assert "7 machine instructions by its code" in line
    assert known in line
