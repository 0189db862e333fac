"""The least or the most that is spelled by leaving the iteration: how else it can be."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

KEPT = """__global__ void k(const int *x, int n, int *out) {
    int best = 1000000, at = -1;
    float first = 1e9f;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += 256) {
        int v = x[i];
        float f = v;
#pragma ccc if
        if (v > 3) {
            for (int j = 0; j < v; ++j) { v = v * 5 + j; f = f * 0.5f + sqrtf(f); }
            PATH
        }
        BEHIND
    }
    out[threadIdx.x] = best + at + (int)first;
}
"""
LEFT = [
    ("if (v >= best) continue; best = v;", "v < best", "min: best"),
    ("if (best <= v) { continue; } best = v; at = i;", "v < best", "min: best"),
    ("if (!(v > best)) continue; at = i; best = v;", "v > best", "max: best"),
    ("if (v < best) { best = v; at = i; } else continue;", "v < best", "min: best"),
    ("if (best > v) best = v; else { continue; } at = i;", "v < best", "min: best"),
    ("if (!(best > v)) continue; else best = v;", "v < best", "min: best"),
    ("if (f >= first) continue; first = f;", "f < first", "min: first"),
    ("if (!(f > first)) continue; first = f; at = i;", "f > first", "max: first"),
]


def told(folder: Path, path: str, behind: str, clause: str = "") -> list[str]:
    source = KEPT.replace("CLAUSE", clause).replace("PATH", path).replace("BEHIND", behind)
    return said(source, folder, Options(strategy=COLLECT))


def in_a_branch(update: str, test: str, name: str) -> str:
    """The same as it is told to be written."""
    new = test.split(maxsplit=1)[0]
    at = "at = i; " * ("at" in update)
    return f"if ({test}) {{ {name} = {new}; {at}}}"


@pytest.mark.parametrize("is_in_path", [True, False])
@pytest.mark.parametrize(("update", "test", "what"), LEFT)
def test_the_way_out_leads_on(
    update: str, test: str, what: str, is_in_path: bool, tmp_path: Path
) -> None:
    name = what.split()[1]
    (line,) = told(tmp_path, *((update, "") if is_in_path else ("", update)))
    hint = f'; set "{name}", and what goes with it, in a branch "if ({test})" without "continue"'
    assert f"{hint}, and say so on the loop of line 4: reduction({what}) [in k]" in line
    clause, told_so = f"reduction({what})", in_a_branch(update, test, name)
    assert told(tmp_path, *((told_so, "") if is_in_path else ("", told_so)), clause) == []


@pytest.mark.parametrize(("update", "test", "what"), LEFT)
def test_a_clause_alone_does_not_serve_in_a_path(
    update: str, test: str, what: str, tmp_path: Path
) -> None:
    for line in told(tmp_path, update, "", f"reduction({what})"):
        assert f'in a branch "if ({test})" without "continue" [in k]' in line


def test_what_is_left_out_otherwise_is_no_minimum(tmp_path: Path) -> None:
    for update in (
        "if (v >= 7) continue; best = v;",
        "if (v >= best) at = 3; best = v;",
        "if (v >= best) continue; if (v > 9) best = v;",
    ):
        (line,) = told(tmp_path, "", update)
        assert 'without "continue"' not in line


ENDING = """__global__ void k(const int *x, int *o, int n) {
    bool stop = false; int got = -1;
#pragma ccc for
    for (int i = threadIdx.x; i < n && !stop; i += blockDim.x) {
        int v = x[i];
#pragma ccc if
        if (v > 90) {
            int c = 0; while (v > 1) { v = v & 1 ? 3 * v + 1 : v / 2; c++; }
            if (c > 60) { stop = true; got = i; }
        }
    }
    o[threadIdx.x] = got;
}
"""


@pytest.mark.slow
def test_a_flag_that_ends_the_loop_is_told_before_what_is_set_with_it(tmp_path: Path) -> None:
    """A clause for the others would change nothing."""
    (line,) = said(ENDING, tmp_path, Options(strategy=COLLECT))
    assert 'computes ("stop", k.cu:' in line
    assert "reduction(" not in line
    assert "or let all iterations run [in k]" in line
