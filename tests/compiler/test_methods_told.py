"""What users are told of what functions make more of than to update it: no reduction serves it."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

MEAN = """struct Stat {
    float mean, m2; int n;
    __device__ void add(float x) { n++; float d = x - mean; mean += d / n; m2 += d * (x - mean); }
};
__global__ void k(const float *x, Stat *out, int n) {
    Stat s = {0, 0, 0};
#pragma ccc for reduction(+: s.n, s.mean, s.m2)
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0) s.add(logf(x[i]));
    }
    out[threadIdx.x] = s;
}
"""


BEHIND = 'if the branch can do without it, have that set another variable, update "s" by that '


@pytest.mark.parametrize(
    ("clause", "taken"),
    [("s.n, s.mean, s.m2", '"s.n", "s.mean" and "s.m2"'), ("s.n, s.m2", '"s.n" and "s.m2"')],
)
def test_what_a_method_does_with_what_it_updates_is_kept_from_the_clause(
    clause: str, taken: str, tmp_path: Path
) -> None:
    """It cannot be kept out of the loop."""
    source = MEAN.replace("s.n, s.mean, s.m2", clause)
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    none = (
        '; no reduction serves "s.n" and "s.mean", with which a function does more than to update'
    )
    assert f"{none} them (k.cu:10): take {taken} from the clause, and {BEHIND}" in line
    assert BEHIND in line
    assert line.endswith("strategy(tile(3)); else remove the annotation [in k]")


def test_what_a_method_does_with_what_it_updates_is_told_before_any_clause(tmp_path: Path) -> None:
    """The clause for the one member that is added up would not do."""
    source = MEAN.replace(" reduction(+: s.n, s.mean, s.m2)", "")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert (
        '; no reduction serves "s.n" and "s.mean", with which a function does more than to update '
        f"them (k.cu:10): {BEHIND}"
    ) in line
    assert line.endswith("strategy(tile(3)); else remove the annotation [in k]")


NONE = '; no reduction serves "s.n" and "s.mean", with which a function does more than to update '


@pytest.mark.parametrize(
    ("method", "call", "access"),
    [
        ("Stat &operator<<(float x)", "s << logf(x[i])", ""),
        ("Stat &operator+=(float x)", "s += logf(x[i])", ""),
        ("void add(float x)", "s.add(logf(x[i]))", "private: "),
    ],
)
def test_whatever_calls_the_function(method: str, call: str, access: str, tmp_path: Path) -> None:
    source = MEAN.replace(" reduction(+: s.n, s.mean, s.m2)", "").replace(
        "void add(float x)", method
    )
    source = source.replace("s.add(logf(x[i]))", call).replace("= {0, 0, 0}", "")
    source = source.replace("mean, m2;", "mean = 0, m2 = 0;").replace("int n;", "int n = 0;")
    source = source.replace("int n = 0;\n", "int n = 0; public:\n").replace(
        "{\n    float", f"{{ {access}float", 1
    )
    if "operator" in method:
        source = source.replace("- mean); }", "- mean); return *this; }")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert f"{NONE}them (k.cu:" in line
    assert "reduction(" not in line
    assert BEHIND in line


LARGEST = MEAN.replace("float mean, m2; int n;", "float m, s;").replace(
    "n++; float d = x - mean; mean += d / n; m2 += d * (x - mean);",
    "if (x > m) { s = s * expf(m - x) + 1; m = x; } else s += expf(x - m);",
)


@pytest.mark.parametrize("clause", ["", "reduction(max: s.m)"])
def test_a_maximum_that_a_method_also_reads_is_of_no_clause(clause: str, tmp_path: Path) -> None:
    source = LARGEST.replace("reduction(+: s.n, s.mean, s.m2)", clause).replace(
        "{0, 0, 0}", "{0, 0}"
    )
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    none = (
        '; no reduction serves "s.m", with which a function does more than to update it (k.cu:10)'
    )
    assert f"{none}: {'take it from the clause, and ' * bool(clause)}{BEHIND}" in line
    assert BEHIND in line


@pytest.mark.parametrize("other", ["Stat t = {1, 2, 3}", "float t = 0"])
def test_what_else_the_loop_updates(other: str, tmp_path: Path) -> None:
    """Of another one that is updated so no clause is offered, either."""
    source = MEAN.replace(" reduction(+: s.n, s.mean, s.m2)", "").replace(
        "Stat s", f"{other}; Stat s"
    )
    is_one = other.startswith("Stat")
    more = "t.add(x[i] * 3)" if is_one else "t += x[i]"
    source = source.replace("s.add(logf(x[i]))", f"{{ s.add(logf(x[i])); {more}; }}")
    source = source.replace("= s;", f"= s; out[n] = {'t' if is_one else '{t, t, 1}'};")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert 'other variables, update "s" and "t" by those behind the branch' in line
    assert "reduction(" not in line
