"""The pages that tell what was measured are of the results that are kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from folders import DOCS, ROOT

from ccc.tools.bench import nested_page, page
from ccc.tools.bench.predictions import predictions
from ccc.tools.bench.results import CHOSEN, Entry, Results

MATRICES = ("web", "rmat", "uniform", "banded")
PER_THOUSAND = tuple(f"{n} in 1,000" for n in (1, 4, 16, 31))
IN_A_WARP = tuple(f"{n} in 32" for n in (1, 4, 13))
LISTS = ("unequal Q=5", "unequal Q=10", "equal Q=5", "equal Q=10")

ROWS = {
    "bfs, R-MAT, uniform": ("bfs", "rmat", "uniform"),
    "sssp, R-MAT, uniform": ("sssp", "rmat", "uniform"),
    "quadrature_grid": ("quadrature_grid", ""),
    "integral_equation": ("integral_equation", ""),
    "path_tracing": ("path_tracing", ""),
    "inverse_erf, balanced": ("inverse_erf", "balanced"),
    "inverse_erf, uniform": ("inverse_erf", "uniform"),
    "ray_tracing": ("ray_tracing", ""),
    "fractal_flame, precise functions": ("fractal_flame", ""),
    "cuckoo_hash": ("cuckoo_hash", ""),
    "patterns/collatz": ("patterns/collatz", ""),
    "patterns/escape_time": ("patterns/escape_time", ""),
    "patterns/random_walk": ("patterns/random_walk", ""),
    "patterns/rare_branch, 1, 4, 16, 31 in 1,000": ("patterns/rare_branch", *PER_THOUSAND),
    "patterns/reread_bound": ("patterns/reread_bound", ""),
    "patterns/streams, 1, 4, 13 in 32": ("patterns/streams", *IN_A_WARP),
    "nested/spmv, web, R-MAT, uniform, banded": ("nested/spmv", *MATRICES),
    "nested/pagerank, the same": ("nested/pagerank", *MATRICES),
    "nested/diagonal, the same": ("nested/diagonal", *MATRICES),
    "nested/u_list, unequal 5 and 10, equal 5 and 10": ("nested/u_list", *LISTS),
    "nested/task_sizes, line, quad": ("nested/task_sizes", "line", "quad"),
    "synthetic, 20 operations, 1, 8, 16, 32 lanes": (
        "synthetic",
        *(f"lanes={n} length=20" for n in (1, 8, 16, 32)),
    ),
    "synthetic, 256 operations, 8, 24 lanes": (
        "synthetic",
        *(f"lanes={n} length=256" for n in (8, 24)),
    ),
}
"""What the page calls a row, the sample, and its inputs."""


@pytest.fixture(scope="module")
def entries() -> dict[tuple[str, str], Entry]:
    every = [*Results.load(DOCS / "cte").entries, *Results.load(DOCS).entries]
    return {(one.sample, one.inputs.kind): one for one in every}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_what_was_measured(name: str, entries: dict[tuple[str, str], Entry]) -> None:
    sample, *kinds = ROWS[name]
    cells = []
    for label in CHOSEN:
        gains = [f"{entries[sample, kind].speedup(label):.2f}" for kind in kinds]
        gains = [f"{float(one):.1f}" if float(one) >= 10 else one for one in gains]
        cells.append(gains[0] if set(gains) == {"1.00"} else ", ".join(gains))
    assert f"| {name} | {' | '.join(cells)} |" in (DOCS / "performance.md").read_text().splitlines()


@pytest.mark.parametrize("folder", ["", "cte"])
def test_the_pages_of_results_say_what_samples_say(folder: str, tmp_path: Path) -> None:
    """They have what people wrote of a sample from its own page."""
    plots = {one.stem.partition("-")[2]: one.name for one in (DOCS / folder).glob("results-*.png")}
    results = Results.load(DOCS / folder)
    page.write(results, tmp_path, ROOT / "samples", plots)
    if folder:
        nested_page.write(results, tmp_path, plots, ROOT / "samples")
    for made in tmp_path.iterdir():
        kept = (DOCS / folder / made.name).read_text()
        assert kept == made.read_text(), f"ccc bench --redraw --out docs/{folder}"


def test_the_page_tells_how_often_the_model_was_right() -> None:
    found = [
        one for folder in (DOCS, DOCS / "cte") for one in predictions(Results.load(folder).entries)
    ]
    sides = [one for one in found if one.takes_side]
    others = [one for one in found if not one.takes_side]
    right, close = (sum(one.agrees for one in some) for some in (sides, others))
    words = " ".join((DOCS / "performance.md").read_text().split())
    assert f"{len(sides)} times it expects a gain or a loss, and {right} of these" in words
    told = f"{len(others)} times it expects that nothing changes, and {close} of these came within"
    assert told in words
