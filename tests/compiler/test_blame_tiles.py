"""What is to be done with what iterations hand on, where a branch can do without it."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = pytest.mark.usefixtures("few_headers")

HANDED_ON = """__global__ void __launch_bounds__(64) NAME(const float *x, float *y, int n) {
    float most = 0, run = 0, mean = 0, m2 = 0, prev = 0, last = 0;
    int k = 0;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        float v = x[i], d = 0;
#pragma ccc if ASKED
        if (v > 0.5f) { while (v < 10) v = v * 1.1f + expf(-v); PATH }
        BEHIND
    }
    y[threadIdx.x] = most + run + mean + m2 + k + prev + last;
}
"""
SETS = "if the branch can do without it, have that set another variable, update"
UPDATES = (
    'behind the branch, without an "if", and rather by a value that changes nothing than by "?:", '
    "and ask there for strategy(tile(3))"
)
NO_IF = 'ask at the branch for strategy(tile(3)), and let no "if" behind it set'
WAYS = {
    "runs": (
        "", "if (v > 10.2f) { ++run; most = fmaxf(most, run); } else run = 0;",
        f'{NO_IF} "run" and "most"',
    ),
    "chosen": (
        "", "run = v > 10.2f ? run + 1 : 0; most = fmaxf(most, run);",
        f'{NO_IF} "run" and "most"',
    ),
    "moments": (
        "++k; d = v - mean; mean += d / k; m2 += d * (v - mean);", "",
        "if the branch can do without them, have that set other variables, update "
        f'"mean", "m2" and "k" by those {UPDATES}',
    ),
    "kept": (
        "if (v > 10.5f) last = i;", "",
        f'{SETS} "last" by that {UPDATES}',
    ),
    "copied": (
        "", "y[i] = v - prev; prev = v;",
        'if no iteration needs "prev" (set in LINE) of another, declare it in the loop; or '
        f'{NO_IF} "prev"',
    ),
}  # fmt: skip
FOLLOWED = {
    "runs": ("", "run = v > 10.2f ? run + 1 : 0; most = fmaxf(most, run);"),
    "moments": (
        "d = 1;",
        "k += d > 0; d = d > 0 ? v - mean : 0; mean += d / (k > 1 ? k : 1); m2 += d * (v - mean);",
    ),
    "kept": ("d = v > 10.5f;", "last = d > 0 ? i : last;"),
    "copied": WAYS["copied"][:2],
}


def of_several(every: dict[str, tuple[str, str]], asked: str) -> str:
    texts = (
        HANDED_ON.replace("NAME", name).replace("PATH", path).replace("BEHIND", behind)
        for name, (path, behind) in every.items()
    )
    source = "".join(texts).replace("ASKED", asked)
    head, name, copied = source.partition(" copied(")
    copied = copied.replace("while (v < 10)", "for (int j = 0; j < 40; ++j)")
    return head + name + copied.replace(" + prev", "")


@pytest.mark.slow
def test_what_iterations_hand_on_is_told_a_way_that_there_is(tmp_path: Path) -> None:
    """What a variable is made from is told at once, where else a reduction would be named first;
    and the variable by its name, where nvcc copies it as a turn ends."""
    source = of_several({name: parts[:2] for name, parts in WAYS.items()}, "")
    lines = said(source, tmp_path, Options(strategy=COLLECT))
    assert len(lines) == len(WAYS)
    for line, (name, (_, behind, advice)) in zip(lines, WAYS.items(), strict=True):
        place = source[: source.index(behind or "no such")].count("\n") + 1 if behind else 0
        told = advice.replace("LINE", f"k.cu:{place}")
        assert f"; {told}; else remove the annotation [in {name}]" in line
    assert said(of_several(FOLLOWED, "strategy(tile(3))"), tmp_path, Options()) == []
    merged = {"merged": ("d = 1;", f"if (d > 0) {{ {WAYS['moments'][0]} }}")}
    declined, *_ = said(of_several(merged, "strategy(tile(3))"), tmp_path, Options())
    told = 'behind the path only, where no "if" and no "?:" sets it: nvcc merges one with the path'
    assert told in declined


RING = """__global__ void __launch_bounds__(64) k(const float *x, float *y, int n) {
    float ring[8], s = 0;
    int h = 0;
    for (int k = 0; k < 8; ++k) ring[k] = 0;
#pragma ccc for
    for (int i = 0; i < n; ++i) {
        float v = x[i * 64 + threadIdx.x], dv = 0;
#pragma ccc if
        if (v == v) { dv = v - ring[h]; ring[h] = v; h = (h + 1) & 7; }
        s += dv;
        y[i * 64 + threadIdx.x] = s * 0.125f;
    }
}
"""


@pytest.mark.slow
def test_what_integers_make_is_nothing_of_floats_that_the_line_makes_too(tmp_path: Path) -> None:
    """Neither a sum nor an element of an array."""
    (line,) = said(RING, tmp_path, Options(strategy=COLLECT))
    assert '("h", k.cu:9, PTX line ' in line
    assert '"s"' not in line


ROWS = """__global__ void k(int *rows, int *score, int h) {
    int *board = rows + threadIdx.x * h;
    int write = h - 1, full = 0;
#pragma ccc for
    for (int read = h - 1; read >= 0; --read) {
#pragma ccc if
        if (board[read] % 16 != 15) {
            board[write--] = board[read];
        } else {
            full++;
        }
    }
    score[threadIdx.x] = full;
}
"""


@pytest.mark.slow
def test_no_index_is_a_sum(tmp_path: Path) -> None:
    line = said(ROWS.replace("full++", "full++; write--"), tmp_path, Options(strategy=COLLECT))[0]
    assert "reduction(+: write" not in line


PRODUCT = """__global__ void __launch_bounds__(64) k(const float *x, float *y, int n) {
    float s = 0, p = 1;
#pragma ccc for reduction(+: s)
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = x[i], w = 1, u = 0;
        HEAD
#pragma ccc if STRATEGY
        if (v > 1) { for (int k = 0; k < 30; k++) v = expf(-v); PATH }
        REST
    }
    y[threadIdx.x] = s * p;
}
"""


def of_product(tmp_path: Path, **parts: str) -> list[str]:
    source = PRODUCT
    for part in ("head", "strategy", "path", "rest"):
        source = source.replace(part.upper(), parts.get(part, ""))
    return said(source, tmp_path, Options(strategy=COLLECT))


@pytest.mark.slow
def test_all_that_a_path_hands_on_is_to_be_updated_behind_it(tmp_path: Path) -> None:
    (line,) = of_product(tmp_path, path="p *= v; s += v;")
    each = 'have a branch set a variable for each of "p" and "s", update them by those behind'
    assert '("p", k.cu:8, PTX' in line
    assert f"; {each}" in line
    tile = {"strategy": "strategy(tile(3))"}
    assert of_product(tmp_path, **tile, path="w = v; u = v;", rest="p *= w; s += u;") == []


@pytest.mark.slow
def test_what_an_iteration_asks_for_before_a_path_is_not_to_be_updated_behind(
    tmp_path: Path,
) -> None:
    (line,) = of_product(tmp_path, head="v += s;", path="p *= v; s += v;")
    assert "tile" not in line


@pytest.mark.slow
def test_who_asks_for_tiles_is_told_what_the_path_hands_on(tmp_path: Path) -> None:
    tile = {"strategy": "strategy(tile(3))"}
    line, left = of_product(tmp_path, **tile, path="w = v; s += v;", rest="p *= w;")
    assert 'begins with a value that the path computes ("s", k.cu:8, PTX' in line
    assert 'computes ("p", k.cu:9, PTX' in left  # as it is without tiles
    told = "; let strategy(tile(3)) apply, as is told of that, or remove the annotation [in k]"
    assert left.endswith(told)


AVERAGE = """__global__ void __launch_bounds__(64) k(const float *x, float *y, int n) {
    float avg = 0; int k = 0; bool up = false;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = x[i], w = 0; int t = 0;
#pragma ccc if STRATEGY
        if (v > 1) { for (int j = 0; j < 30; j++) v = sqrtf(v + j); PATH }
        REST
    }
    y[threadIdx.x] = up ? avg : -avg;
}
"""


@pytest.mark.slow
def test_all_that_no_reduction_serves_is_named_and_sent_behind_the_branch(tmp_path: Path) -> None:
    def of(strategy: str, path: str, rest: str) -> list[str]:
        parts = AVERAGE.replace("STRATEGY", strategy).replace("PATH", path).replace("REST", rest)
        return said(parts, tmp_path, Options(strategy=COLLECT))

    (line,) = of("", "k++; avg += (v - avg) / k; up = v > 3;", "")
    assert '("k" or "avg" or "up", k.cu:7, PTX' in line
    assert 'other variables, update "k", "avg" and "up" by those behind the branch' in line
    rest = "k += t; avg += t * (w - avg) / k; up = t ? w > 3 : up;"
    assert of("strategy(tile(3))", "w = v; t = 1;", rest) == []


BLEND = """__global__ void k(const float4 *frag, float4 *o, int n) {
    float4 c = make_float4(0, 0, 0, 1);
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float4 f = frag[i];
#pragma ccc if
        if (f.w > 0.1f) {
            float e = f.w; for (int k = 0; k < 20; k++) e = expf(-e);
            c.x += f.x * e; c.y += f.y * e; c.z += f.z * e; c.w *= 1 - BY;
        }
    }
    o[threadIdx.x] = c;
}
"""


def test_a_product_is_told_if_it_is_in_the_way_and_else_the_sums(tmp_path: Path) -> None:
    """A lane makes for its next iteration what is made from little."""
    (line,) = said(BLEND.replace("BY", "e"), tmp_path, Options(strategy=COLLECT))
    assert 'computes ("c.w", k.cu:9, PTX line ' in line
    every = '"c.w", "c.x", "c.y" and "c.z"'
    assert f"; have a branch set a variable for each of {every}, update them by those" in line
    (line,) = said(BLEND.replace("BY", "f.w"), tmp_path, Options(strategy=COLLECT))
    assert 'computes ("c.x" or "c.y" or "c.z", k.cu:9, PTX line ' in line
    assert ": fma.rn.f32 " in line
    assert line.endswith("on the loop of line 3: reduction(+: c.x, c.y, c.z) [in k]")


LEAST_AND_SUM = """__global__ void k(const float *x, int *y, float *z, int n) {
    float best = 1e30f, sum = 0;
    int at = -1;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 1) {
            float v = x[i]; for (int k = 0; k < 30; k++) v = sqrtf(v + k);
            sum += v;
            if (v < best) { best = v; at = i; }
        }
    }
    y[threadIdx.x] = at;
    z[threadIdx.x] = sum + best;
}
"""


def test_a_least_with_its_index_is_as_good_as_a_sum_beside_it(tmp_path: Path) -> None:
    """Both clauses are told at once."""
    (line,) = said(LEAST_AND_SUM, tmp_path, Options(strategy=COLLECT))
    assert "reduction(+: sum) reduction(min: best) [in k]" in line


KEPT = """__global__ void __launch_bounds__(64) k(const float *v, float *out, int *at, int n) {
    float best = 0; int x = -1, y = -1;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += 64) {
LOOP
        for (int j = i; j < n; j++) {
            float a = v[j];
BRANCH
            if (a > 0.9f) { for (int k = 0; k < 9; ++k) a = sqrtf(a) * 2;
                if (a > best) { best = a; x = i; y = j; } }
        }
    }
    out[threadIdx.x] = best; at[threadIdx.x] = x + y;
}
"""


@pytest.mark.slow
def test_what_is_kept_as_the_first_of_turns_is_for_tasks_of_all_of_them(tmp_path: Path) -> None:
    asked = Options(strategy=COLLECT, max_block=64)
    source = KEPT.replace("BRANCH", "#pragma ccc if").replace("LOOP", "#pragma unroll 1")
    for clause in ("", "reduction(max: best)"):
        (line,) = said(source.replace("CLAUSE", clause), tmp_path, asked)
        assert '; mark it "ccc while" in place of this annotation [in k]' in line
    source = KEPT.replace("BRANCH", "").replace("LOOP", "#pragma ccc while")
    assert said(source.replace("CLAUSE", "reduction(max: best)"), tmp_path, asked) == []
    (line,) = said(source.replace("CLAUSE", ""), tmp_path, asked)
    assert '("best", k.cu:10, PTX line' in line
