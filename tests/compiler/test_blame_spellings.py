"""Updates that are no reduction as they are spelled: the spelling that is told serves."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

BRANCH = """__global__ void __launch_bounds__(64) k(const float *x, float *y, int n) {
    DECLARED
#pragma ccc for CLAUSES
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = x[i];
#pragma ccc if
        if (v > 3) {
            for (int t = 0; t < 9; ++t) { v = v * 0.75f + t; INSIDE }
            BEHIND
        }
    }
    y[threadIdx.x] = USED;
}
"""
LOOP = """__global__ void k(const int *__restrict__ row, const int *__restrict__ x,
                  const float *__restrict__ f, int *__restrict__ y, int n) {
#pragma ccc for
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) {
        DECLARED
        const int end = row[i + 1];
#pragma ccc for variable CLAUSES strategy(STRATEGY)
        for (int e = row[i]; e < end; ++e) {
            INSIDE
        }
        y[i] = USED;
    }
}
"""


def branch(tmp_path: Path, declared: str, clauses: str, **parts: str) -> str:
    source = BRANCH.replace("DECLARED", declared).replace("CLAUSES", clauses)
    for name in ("INSIDE", "BEHIND", "USED"):
        source = source.replace(name, parts.get(name.lower(), ""))
    return "; ".join(said(source, tmp_path, Options(strategy=COLLECT)))


def loop(
    tmp_path: Path, declared: str, clauses: str, strategy: str = "engage", **parts: str
) -> str:
    source = LOOP.replace("DECLARED", declared).replace("CLAUSES", clauses)
    for name in ("INSIDE", "USED"):
        source = source.replace(name, parts[name.lower()])
    found = said(source.replace("STRATEGY", strategy), tmp_path, Options())
    return "; ".join(line for line in found if "does not apply" in line)


@pytest.mark.parametrize("spelled", ["if (!(v >= b)) b = v;", "b = b < v ? b : v;"])
@pytest.mark.parametrize("clauses", ["", "reduction(min: b)"])
def test_a_minimum_that_takes_a_nan_is_told_to(spelled: str, clauses: str, tmp_path: Path) -> None:
    least = {"declared": "float b = 99;", "used": "b"}
    line = branch(tmp_path, clauses=clauses, behind=spelled, **least)
    assert '; as it is, "b" takes a NaN, and then whatever comes next: set it where "v < b"' in line
    assert ", or by fminf" in line
    assert (", and say so on the loop of line 3: reduction(min: b)" in line) == (not clauses)
    for other in ("if (v < b) b = v;", "b = fminf(b, v);"):
        assert branch(tmp_path, clauses="reduction(min: b)", behind=other, **least) == ""


def test_a_maximum_of_doubles_with_an_index_is_told_of_as_well(tmp_path: Path) -> None:
    most = {"declared": "double b = 0, w; int at = 0;", "used": "b + at"}
    spelled = "w = v; if (w <= b) {} else { b = w; at = i; }"
    line = branch(tmp_path, clauses="reduction(max: b)", behind=spelled, **most)
    assert 'whatever comes next: set it where "w > b", or by fmax [in k]' in line
    spelled = "w = v; if (w > b) { b = w; at = i; }"
    assert branch(tmp_path, clauses="reduction(max: b)", behind=spelled, **most) == ""


@pytest.mark.parametrize(
    ("clauses", "joined", "plain"),
    [
        ("reduction(&: f)", "f = f && x[(int)v] > 0;", "f &= x[(int)v] > 0"),
        ("reduction(|: f)", "f = f || (int)x[(int)v] & 4;", "f |= ((int)x[(int)v] & 4) != 0"),
    ],
)
def test_a_flag_of_which_nvcc_makes_branches_is_told_to_be_written_without(
    clauses: str, joined: str, plain: str, tmp_path: Path
) -> None:
    flag = {"declared": f"bool f = {'true' if '&' in clauses else 'false'};", "used": "f"}
    line = branch(tmp_path, clauses=clauses, inside=joined, **flag)
    assert line.endswith(f'; nvcc makes branches of "&&" and "||": write "{plain}" [in k]')
    assert branch(tmp_path, clauses=clauses, inside=f"{plain};", **flag) == ""


def test_what_has_to_be_an_int_is_named(tmp_path: Path) -> None:
    spelled = "unsigned char c = v; b = c > b ? c : b; sum += v;"
    clauses, used = "reduction(max: b) reduction(+: sum)", "b + sum"
    line = branch(
        tmp_path, "unsigned char b = 0; float sum = 0;", clauses, behind=spelled, used=used
    )
    assert line.endswith('; "b" may have to be an int [in k]')
    assert branch(tmp_path, "int b = 0; float sum = 0;", clauses, behind=spelled, used=used) == ""


def test_of_turns_that_are_shared_out_a_short_minimum_has_to_be_an_int(tmp_path: Path) -> None:
    least = {"inside": "short v = x[e]; if (v < b) b = v;", "used": "b"}
    line = loop(tmp_path, "short b = 99;", "reduction(min: b)", **least)
    assert line.endswith('; let "b" be an int [in k]')
    assert loop(tmp_path, "int b = 99;", "reduction(min: b)", **least) == ""


@pytest.mark.parametrize("kind", ["int", "float"])
def test_what_goes_with_a_minimum_keeps_its_order_by_merge(kind: str, tmp_path: Path) -> None:
    of = "x" if kind == "int" else "f"
    least = {
        "declared": f"{kind} b = 99; int at = -1;",
        "inside": f"{kind} v = {of}[e]; if (v < b) {{ b = v; at = e; }}",
        "used": "at",
    }
    line = loop(tmp_path, clauses="reduction(min: b)", **least)
    assert '; strategy(merge) keeps the order of turns, by which "at" is chosen' in line
    assert ("or keep both in one integer of 64 bits" in line) == (kind == "int")
    assert loop(tmp_path, clauses="reduction(min: b)", strategy="merge", **least) == ""


def test_an_index_and_its_minimum_can_be_one_number(tmp_path: Path) -> None:
    inside = "unsigned long long both = (unsigned long long)x[e] << 32 | e; if (both < b) b = both;"
    line = loop(
        tmp_path, "unsigned long long b = ~0ull;", "reduction(min: b)", inside=inside, used="(int)b"
    )
    assert line == ""


@pytest.mark.parametrize(
    ("by", "joined", "branched"),
    [
        ("&", "all &= ok;", "if (!ok) all = false"),
        ("|", "all |= ok;", "if (ok) all = true"),
        ("&", "all = all && f[e] > 2;", "if (!(f[e] > 2)) all = false"),
    ],
)
def test_a_flag_that_nvcc_keeps_in_a_predicate_is_set_by_a_branch(
    by: str, joined: str, branched: str, tmp_path: Path
) -> None:
    head = "bool ok = x[e] > 2; for (int t = 0; t < x[e]; ++t) if (f[t] > e) ok = !OK;"
    head = head.replace("!OK", "false" if by == "&" else "true")
    flag = {"declared": "bool all = i & 1;", "used": "all", "clauses": f"reduction({by}: all)"}
    line = loop(tmp_path, inside=head + joined, **flag)
    assert line.endswith(f'; set it by a branch: "{branched}" [in k]')
    assert loop(tmp_path, inside=f"{head} {branched};", **flag) == ""


SOUGHT = """__global__ void k(const int *__restrict__ key, const int *q, int *y, int n) {
    int hits = 0, misses = 0;
#pragma ccc for CLAUSES
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int at = q[i] % n;
        bool found = false;
#pragma ccc while
        while (key[at] >= 0) {
            if (key[at] == q[i]) { found = true; break; }
            at = (at * 5 + 1) % n;
        }
        COUNTED
    }
    y[threadIdx.x] = hits + misses;
}
"""


@pytest.mark.parametrize(
    ("counted", "clauses"),
    [
        ("if (found) hits++;", "reduction(+: hits)"),
        ("if (key[at] == q[i]) hits++; else misses += 2;", "reduction(+: hits, misses)"),
        ("const bool is = key[at] > 3; if (is) hits++;", "reduction(+: hits)"),
    ],
)
def test_what_counts_behind_a_search_is_a_reduction(
    counted: str, clauses: str, tmp_path: Path
) -> None:
    source = SOUGHT.replace("COUNTED", counted)
    (line,) = said(source.replace("CLAUSES", ""), tmp_path, Options(strategy=COLLECT))
    assert f", say so on the loop of line 3: {clauses}" in line
    assert said(source.replace("CLAUSES", clauses), tmp_path, Options(strategy=COLLECT)) == []
