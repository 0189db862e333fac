"""Where the floating-point variables of a reduction are said to be, by how they are declared."""

from __future__ import annotations

import pytest

from ccc.errors import CccError
from ccc.frontend.marking import mark

KERNEL = """\
struct Hits { unsigned hits : 20, flags : 12; float best; };
template <typename T> __global__ void k(const T *x, int n) {{
    Hits h; {declared}
    #pragma ccc for reduction(+: {name})
    for (int i = 0; i < n; ++i) {{
        #pragma ccc if
        if (x[i] > 3) {name} += x[i];
    }}
}}
""".replace("struct Hits {", "struct Hits {{").replace("best; };", "best; }};")


@pytest.mark.parametrize(
    ("declared", "name", "how"),
    [
        ("float s = 0;", "s", 'register=%0" :: "f"(s));'),
        ("double s = 0;", "s", 'register=%0" :: "d"(s));'),
        ("", "h.best", 'register=%0" :: "f"(h.best));'),
        ("T s = 0;", "s", "::is(s);"),
        ("auto s = x[0];", "s", "::is(s);"),
        ("real s = 0;", "s", "::is(s);"),
        ("int s = 0;", "s", None),
        ("", "h.hits", None),  # no reference can be had to it
        ("", "h.flags", None),
    ],
)
def test_a_marker_says_where_it_is(declared: str, name: str, how: str | None) -> None:
    marked = mark(KERNEL.format(declared=declared, name=name), "k.cu").text
    assert ("::is(" in marked or "ccc.reduced" in marked) == (how is not None)
    assert how is None or how in marked
    assert ("struct ccc_typed_" in marked) == (how == "::is(s);")


ADDED = """\
struct Stats { int n; float sum, most; };
__device__ void add(Stats &s, float v) { s.n++; s.sum += v; if (v > s.most) s.most = v; }
__global__ void k(const float *x, float *y, int n) {
    Stats s = {0, 0, -1};
    #pragma ccc for reduction(+: s.sum, s.n) reduction(max: MOST)
    for (int i = 0; i < n; ++i) {
        #pragma ccc if
        if (x[i] > 3) add(s, x[i]);
    }
    y[threadIdx.x] = s.sum / s.n;
}
"""


def test_a_member_that_only_a_called_function_names_is_known() -> None:
    assert "reduction" in mark(ADDED.replace("MOST", "s.most"), "k.cu").text
    with pytest.raises(CccError, match="no such variable here"):
        mark(ADDED.replace("MOST", "s.mots"), "k.cu")
