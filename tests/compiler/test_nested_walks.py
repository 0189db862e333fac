"""Of two paths, one of which must be left behind, users are told which; and to do so helps."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

WALK = """
__global__ void __launch_bounds__(64) walk(const int *__restrict__ a, const int *__restrict__ b,
                                           const float *__restrict__ v, float *total, int n) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float sum = 0;
        #pragma ccc while
        for (int left = a[i]; left > 0; --left) {
            const int k = (i * 5 + left) % 64;
            float own = 0;
            INSIDE
            sum += own * left;
        }
        total[i] = sum;
    }
}
"""
LOOP_IN_A_BRANCH = """
            #pragma ccc if  // removed
            if (v[k] > 0.7f) {
                #pragma ccc while
                for (int p = 0; p < b[k]; ++p) { own += v[40 * k + p] / (0.5f + p); }
                own *= 2;
            }
"""
LOOP_IN_A_LOOP = """
            #pragma ccc while
            for (int p = 0; p < b[k]; ++p) {
                #pragma ccc while  // removed
                for (int q = 0; q < a[p + k]; ++q) { own = own * 0.5f + v[q + k]; }
                own *= 0.5f;
            }
"""
BRANCH_IN_A_LOOP = """
            #pragma ccc while
            for (int p = 0; p < b[k]; ++p) {
                #pragma ccc if  // removed
                if (v[p + k] < 0.2f) {
                    float t = own;
                    for (int s = 0; s < 20; ++s) t = t * t + v[s];
                    own += t;
                }
                own *= 0.5f;
            }
"""

BRANCH_IN_TWO_LOOPS = """
            #pragma ccc while
            for (int p = 0; p < b[k]; ++p) {
                #pragma unroll 1
                for (int q = 0; q < a[p + k]; ++q) {
                    #pragma ccc if  // removed
                    if (v[q + p] < 0.2f) { for (int s = 0; s < 20; ++s) own = own * own + v[s]; }
                }
                own *= 0.5f;
            }
"""


@pytest.mark.parametrize(
    ("inside", "advice"),
    [
        (LOOP_IN_A_BRANCH, "remove this annotation; or that one, and this loop can be collected"),
        (LOOP_IN_A_LOOP, "remove this annotation: it could not be collected without that one"),
        (BRANCH_IN_A_LOOP, "remove this annotation: it could not be collected without that one"),
    ],
)
def test_which_to_remove_is_told_and_helps(inside: str, advice: str, tmp_path: Path) -> None:
    options = Options(strategy=COLLECT)
    source = WALK.replace("INSIDE", inside.strip())
    (told,) = said(source, tmp_path, options)
    assert f"could not leave this one behind; {advice}" in told
    followed = "\n".join(line for line in source.splitlines() if "// removed" not in line)
    assert not said(followed, tmp_path, options)


def test_no_loop_is_to_be_marked_where_that_would_not_do(tmp_path: Path) -> None:
    """In loops in loops the tasks of one carry those of the other, and of no third."""
    options = Options(strategy=COLLECT)
    source = WALK.replace("INSIDE", BRANCH_IN_TWO_LOOPS.strip())
    (told,) = said(source, tmp_path, options)
    assert "it lies in a loop inside the annotated one" in told
    assert "; remove this annotation: the tasks of the path on line 11 take those of the" in told
    followed = "\n".join(line for line in source.splitlines() if "// removed" not in line)
    assert not said(followed, tmp_path, options)


MARK = 'mark it "ccc for variable", if its turns are independent, or else "ccc while"'
DEEP = """__global__ void k(const int *__restrict__ n, const int *__restrict__ m, int *out, int w) {
#pragma ccc for
    for (int i = threadIdx.x; i < w; i += blockDim.x) {
        int sum = 0;
#pragma ccc while
        for (int e = 0; e < n[i & 63]; e++)
#pragma unroll 1
            for (int f = 0; f < m[(e + i) & 63]; f++) {
#pragma ccc if
                if ((e * f) % 3 == 1) UPDATE
            }
        out[i] += sum;
    }
}
"""


@pytest.mark.parametrize("update", ["sum = sum * 5 + m[sum & 63];", "atomicAdd(&out[f], m[e]);"])
def test_a_branch_two_loops_deep_is_in_the_way_of_the_loop_around_it(
    update: str, tmp_path: Path
) -> None:
    source = DEEP.replace("UPDATE", update)
    *_, line = said(source, tmp_path, Options(strategy=COLLECT))
    assert ": it lies in a loop inside the annotated one, so one iteration may run it seve" in line
    assert f";); {MARK}, in place of this annotation; else remove this annotation" in line
    followed = source.replace("#pragma ccc if\n", "").replace(
        "#pragma unroll 1", "#pragma ccc while"
    )
    assert not any(
        "left as it was" in one for one in said(followed, tmp_path, Options(strategy=COLLECT))
    )


NEXT = """__global__ void k(const int *__restrict__ n, const int *__restrict__ m, int *out, int w) {
#pragma ccc for
    for (int i = threadIdx.x; i < w; i += blockDim.x) {
        int sum = m[i];
#pragma ccc if
        if (sum > 3) {
            out[i + w] = sum;
#pragma ccc while
            for (int e = 0; e < n[i]; e++) sum = sum * 5 + m[sum & 63];
        }
#pragma ccc while
        for (int e = 0; e < n[i + w]; e++) sum = sum * 3 + m[sum & 63];
        out[i] = sum;
    }
}
"""


def test_a_loop_in_a_branch_does_not_lead_to_one_behind_that(tmp_path: Path) -> None:
    """Which is applied, so that of it nothing is to be done."""
    (line,) = said(NEXT, tmp_path, Options(strategy=COLLECT))
    assert line.startswith("k.cu:8:")
    assert "tasks cannot go on from within a branch (k.cu:" in line
    assert ";); remove this annotation" in line


CHANGED = """__global__ void k(const int *tag, const int *special, int *list, int n, int m) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int *p = list + i;
AROUND
        int v = *p, own = tag[v];
#pragma ccc KIND
        for (int j = 0; j < m; ++j) {
#pragma ccc if
            if (special[j * n + i] == own) {
                v = v ^ (j << 30);
                *p = v;
            }
        }
        BEHIND
    }
}
"""


@pytest.mark.parametrize(
    ("around", "behind", "is_lost"),
    [
        ("", "", False),
        ("#pragma ccc for variable\nfor (; p < list + tag[i]; p += n) {", "}", True),
    ],
)
def test_what_turns_in_their_order_would_not_let_be_collected_is_to_be_marked_no_more(
    around: str, behind: str, is_lost: bool, tmp_path: Path
) -> None:
    asked, source = Options(strategy=COLLECT), CHANGED.replace("BEHIND", behind)
    source = source.replace("AROUND", around or "\n")
    lines = said(source.replace("KIND", "for variable"), tmp_path, asked)
    line = next(one for one in lines if one.startswith("k.cu:8:"))
    assert '"ccc while", whose turns may depend on one another' in line
    assert (", and remove the annotation on line 10" in line) == is_lost
    followed = source.replace("KIND", "while")
    assert (said(followed, tmp_path, asked) == []) != is_lost
    assert said(followed.replace("#pragma ccc if", ""), tmp_path, asked) == []


IN_A_BRANCH = """__global__ void a(const int *w, int *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int s = w[i];
#pragma ccc if
        if (s > 9) {
            OUTER
            while (s % 3 != 0) { ++s;
#pragma ccc while
                while (s % 7 != 0) s += 2;
            }
        }
        y[i] = s;
    }
}
"""


def test_in_a_branch_no_tasks_are_taken_along(tmp_path: Path) -> None:
    """Marked "ccc while", that loop could be collected, but nothing that its turns need."""
    (line,) = said(IN_A_BRANCH.replace("OUTER", ""), tmp_path, Options(strategy=COLLECT))
    assert f";); {MARK}, in place of this annotation; else remove this annotation" in line
    for kind in ("while", "for variable"):
        source = IN_A_BRANCH.replace("OUTER", f"\n#pragma ccc {kind}\n")
        (line,) = said(source, tmp_path, Options(strategy=COLLECT))
        assert ";); remove this annotation, so that the loop around it may be collected" in line
