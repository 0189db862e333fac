"""The page and the plots that ``ccc bench`` makes of its results, here of made-up ones."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from folders import SAMPLES

from ccc import cli
from ccc.harness.launch_config import OWN
from ccc.harness.sample import Sample
from ccc.tools.bench import page, plots, predictions, sensitivity, session, tables
from ccc.tools.bench.inputs import Inputs
from ccc.tools.bench.results import (
    BOUND,
    CCC,
    ORIGINAL,
    PROFILED,
    TUNED,
    Entry,
    KernelFootprint,
    Results,
    Run,
    Treatment,
)


def made_up(
    sample: str, ccc: float, kind: str = "", others: Mapping[str, float] = MappingProxyType({})
) -> Entry:
    def treatment(label: str, times: float) -> Treatment:
        kernel = KernelFootprint("odd", 1, 64, 20, 640, 1.0)
        return Treatment(label, OWN, [8 / times, 9 / times, 10 / times], [kernel], 0.5)

    speedups = {ORIGINAL: 1.0, CCC: ccc, **others}
    treatments = [treatment(*each) for each in speedups.items()]
    return Entry(
        sample, Inputs(7, 0, kind), 0, "ms", 1.2, treatments, efficiency_source="nobody real"
    )


def pattern(
    sample: str,
    ccc: float,
    strategy: str | None,
    others: Mapping[str, float] = MappingProxyType({}),
) -> Entry:
    entry = made_up(sample, ccc, "", others)
    place = {"file": "k.cu", "line": 7, "directive": "if", "arm": "then", "strategy": strategy}
    reason = None if strategy else "it lies in the way"
    entry.paper = None
    entry.paths = [
        {"file": "k.cu", "line": 1, "directive": "grid_stride", "applied": True},
        {**place, "applied": strategy is not None, "reason": reason},
    ]
    return entry


PATH = {"file": "k.cu", "line": 7, "directive": "if", "arm": "then", "applied": False}
CONSIDERED = {"queue": 2.0, "batch7": 0.9, "merge": 1.1}


def tuned(entry: Entry) -> Entry:
    """With a strategy, and what was tried and expected."""
    entry.tuned = "queue"
    entry.trials = {"leave": 9.0, "queue": 3.6, "batch7": 8.9, "merge": 10.0}
    entry.profiled = [{**PATH, "considered": CONSIDERED, "expected_lanes": 5.2, "expected": 2.0}]
    return entry


def left(entry: Entry) -> Entry:
    """Where tuning leaves the code, and a profile changes nothing."""
    entry.tuned = "leave"
    entry.same = {PROFILED: CCC, TUNED: ORIGINAL}
    return entry


@pytest.fixture
def results() -> Results:
    points = sensitivity.points(quick=True)
    others = {"sub-warp": 3.0, "other": 2.0}
    return Results(
        [Run("ccc bench", "2000-01-01T00:00:00+00:00", {"gpu": "a card", "cuda_driver": 13000})],
        [
            tuned(made_up("bfs", 1.5, "", {PROFILED: 2.0, TUNED: 2.5, **others, BOUND: 4.0})),
            made_up("mine", 0.5),
            left(pattern("patterns/tight", 0.25, "batch3", {"by hand": 0.5, BOUND: 1.5})),
            pattern("patterns/loose", 1.0, None),
            *(made_up("synthetic", point.bound / 2, point.kind) for point in points),
        ],
    )


def test_results_are_read_as_they_were_written(results: Results, tmp_path: Path) -> None:
    results.save(tmp_path)
    assert Results.load(tmp_path) == results
    assert json.loads((tmp_path / "results.json").read_text())["runs"][0]["command"] == "ccc bench"


def test_results_name_files_as_they_are_seen_from_here(tmp_path: Path) -> None:
    of_a_file = Entry("mine", Inputs(7, 0, "late"), 0, "ms", error=f"{Path.cwd()}/k.cu: broken")
    Results([], [of_a_file]).save(tmp_path)
    assert Results.load(tmp_path).entries[0].error == "k.cu: broken"


def test_the_page(results: Results, tmp_path: Path) -> None:
    results.put(Entry("mine", Inputs(7, 0, "late"), 0, "ms", error="it\nbroke"))
    page.write(results, tmp_path, SAMPLES, {"speedup": "s.png"})
    text = (tmp_path / "results.md").read_text()
    names = "bfs, mine, patterns/loose, patterns/tight, synthetic"
    assert f"{names}: a card, driver for CUDA 13.0; 2000-01-01; `ccc bench`" in text
    others = "1.50 | 2.00 | **2.50** | 2.50 to 2.50 | queue | 1.20 | 3.00 (sub-warp) | 4.00 |"
    assert f"| bfs | 9 ms | {others}" in text
    assert "| mine | 9 ms | 0.50 | - | - | 0.50 to 0.50 | - | 1.20 | - | - |" in text
    assert "Counted by nobody real." in text
    assert "| bfs | 50.0 % | 50.0 % | 50.0 % | 50.0 % | 58.0 % | - |" in text
    assert "| bfs, `odd` | 20 | 20 | 15 to 26 | 10 | 10 | 0 to 8 | 100.0 % | 100.0 % |" in text
    assert "| 16 | 9 ms | 1.00 | - | - | - | 2.00 | 50.0 % | 50.0 % |" in text
    assert "![" in text
    assert "- mine, late: it broke" in text


def test_patterns_have_a_section_of_their_own(results: Results, tmp_path: Path) -> None:
    (tmp_path / "patterns").mkdir()
    (tmp_path / "patterns" / "README.md").write_text("# Patterns\n\n## Results\n\nOf them all.\n")
    page.write(results, tmp_path, tmp_path, {"patterns": "p.png"})
    text = (tmp_path / "results.md").read_text()
    before, _, section = text.partition("## Patterns\n")
    section = section.partition("\n## ")[0]
    assert "tight" not in before.partition("## Speedup")[2]
    assert "Of them all." in section
    assert "![Speedups of all patterns](p.png)" in section
    figures = "9 ms | 0.25 | 0.25 | **1.00** | 1.00 to 1.00 | leave | 0.50 (by hand) | 1.50"
    assert f"| tight | {figures} |" in section
    assert "| loose | 9 ms | 1.00 | - | - | 1.00 to 1.00 | - | - | - |" in section
    assert "- patterns/loose, k.cu:7, `ccc if`: it lies in the way" in section
    assert "### tight" in section


def test_what_was_expected_stands_beside_what_was_measured(
    results: Results, tmp_path: Path
) -> None:
    page.write(results, tmp_path, SAMPLES, {})
    section = (tmp_path / "results.md").read_text().partition("## What the compiler expected")[2]
    assert "Of 3 expectations of a gain or a loss, 2 were on the right side of 1." in section
    assert "| bfs | queue | 5 | 2.00 | 2.50 | yes |" in section
    assert "| bfs | batch7 | 5 | 0.90 | 1.01 | yes |" in section
    assert "| bfs | merge | 5 | 1.10 | 0.90 | no |" in section


def test_an_expectation_that_nothing_changes_takes_no_side(
    results: Results, tmp_path: Path
) -> None:
    for entry, measured in zip(results.entries, (9.0, 8.0), strict=False):
        entry.profiled = [{**PATH, "considered": {"engage": 0.998}, "expected_lanes": 5.2}]
        entry.trials = {"leave": 9.0, "engage": measured}
    page.write(results, tmp_path, SAMPLES, {})
    section = (tmp_path / "results.md").read_text().partition("## What the compiler expected")[2]
    assert "Of 0 expectations of a gain or a loss, 0 were on the right side of 1.\n" in section
    told = "Of 2 that nothing changes, 1 came within 3 % of 1, and all between 1.00 and 1.12.\n"
    assert told in section
    assert "| engage | 5 | 1.00 | 1.00 | yes |" in section
    assert "| engage | 5 | 1.00 | 1.12 | neither expected |" in section


def test_of_several_paths_what_was_chosen_was_expected(results: Results) -> None:
    entry = results.entries[0]
    served = {**PATH, "applied": True, "considered": CONSIDERED, "expected": 1.5}
    entry.profiled = [{**served, "strategy": "queue"}, {**served, "strategy": "merge"}]
    (found,) = predictions.predictions([entry])
    assert (found.strategy, found.predicted, found.measured) == ("queue, merge", 1.5, 2.0)
    assert found.agrees


def test_a_path_left_alone_is_named_once(results: Results, tmp_path: Path) -> None:
    place = {"file": "samples/mine/mine.cuh", "line": 7, "directive": "switch", "applied": False}
    results.entries[1].paths = [
        {**place, "reason": f"the path ends the thread (PTX line {line}: exit;), or so"}
        for line in (10, 20)
    ]
    page.write(results, tmp_path, SAMPLES, {})
    text = (tmp_path / "results.md").read_text()
    assert text.count("- mine, mine.cuh:7, `ccc switch`: the path ends the thread, or so\n") == 1


def test_without_a_time_nothing_is_fast() -> None:
    timed = made_up("odd", 2.3)
    counted = replace(timed, unit="warp instructions")
    assert session._line(timed).startswith("odd: 2.30 times as fast as the original (")
    assert session._line(counted).startswith(
        "odd: 2.30 times fewer warp instructions than the original ("
    )
    assert "| times fewer warp instructions than the original |" in tables.treatments([counted])


def test_the_papers_figures_stand_beside_its_inputs_only() -> None:
    sample = Sample(SAMPLES / "inverse_erf")
    kinds = ["", *sample.kinds]
    assert [session.papers(sample, Inputs(7, 0, kind)) for kind in kinds] == [2.72, 2.72, None]


def test_a_mean_only_of_all_of_the_papers_programs(results: Results, tmp_path: Path) -> None:
    page.write(results, tmp_path, SAMPLES, {})
    assert "mean" not in (tmp_path / "results.md").read_text()
    for name in page.tables.paper.PROGRAMS:
        results.put(made_up(name, 2.0))
    page.write(results, tmp_path, SAMPLES, {})
    assert (
        "| mean of the paper's 8 |  | **2.00** | - | - |  |  | 1.69 |  |  |"
        in (tmp_path / "results.md").read_text()
    )
    for name in page.tables.paper.PROGRAMS:
        results.put(made_up(name, 2.0, "", {PROFILED: 3.0, TUNED: 4.0}))
    page.write(results, tmp_path, SAMPLES, {})
    means = "**2.00** | **3.00** | **4.00**"
    assert f"| mean of the paper's 8 |  | {means} |" in (tmp_path / "results.md").read_text()


def test_plots_are_the_same_each_time(results: Results, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    drawn = plots.draw(results, tmp_path)
    assert sorted(drawn) == ["efficiency", "lanes", "lengths", "patterns", "speedup"]
    before = {name: (tmp_path / name).read_bytes() for name in drawn.values()}
    plots.draw(results, tmp_path)
    assert {name: (tmp_path / name).read_bytes() for name in drawn.values()} == before
    assert plots.draw(Results(), tmp_path) == {}


def test_without_matplotlib(
    results: Results,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    results.save(tmp_path)
    arguments = ["bench", "--samples", str(SAMPLES), "--out", str(tmp_path), "--redraw"]
    assert cli.main(arguments) == 0
    assert "pip install '.[plot]' in the clone," in capsys.readouterr().err
    assert "![" not in (tmp_path / "results.md").read_text()


def test_the_sample_offers_all_points() -> None:
    points = sensitivity.points(quick=False)
    assert {point.kind for point in points} == set(Sample(SAMPLES / "synthetic").kinds)
    assert set(sensitivity.points(quick=True)) < set(points)
