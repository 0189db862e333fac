"""What users are told of variables that an iteration, or the turns of a loop, only add up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from saying import said
from test_blame import HEAD, IF, TAIL

from ccc.options import COLLECT, Options

pytestmark = pytest.mark.usefixtures("few_headers")

BOTH = "if the loop does nothing else with them, say so on the loop"
BEHIND = """__global__ void k(const float *x, const int *kind, float *y, int n) {
    float best = 100, last = 0;
    int at = -1;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float d = x[i];
#pragma ccc switch
        switch (kind[i]) { case 3: d = d * 0.5f + sqrtf(d); break; case 5: d = sinf(d); break; }
        BEHIND
    }
    y[threadIdx.x] = best + at + last;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("behind", "advice"),
    [
        (
            "if (d < best) { best = d; at = i; }",
            "say so on the loop: reduction(min: best)",
        ),
        (
            "best = fmaxf(d, best);",
            "say so on the loop: reduction(max: best)",
        ),
        ("best -= d; last = fminf(last, d);", f"{BOTH}: reduction(+: best) reduction(min: last)"),
        (
            "best = best + d;",
            "say so on the loop: reduction(+: best)",
        ),
        (
            "at = max(at, static_cast<int>(d));",
            "say so on the loop: reduction(max: at)",
        ),
        ("best = d;", "remove the annotation"),
    ],
)
def test_what_is_updated_behind_a_path_is_named(behind: str, advice: str, tmp_path: Path) -> None:
    lines = said(BEHIND.replace("BEHIND", behind), tmp_path, Options(strategy=COLLECT))
    assert lines
    assert all(advice in line for line in lines)


@pytest.mark.slow
def test_what_takes_a_nan_behind_a_path_is_told_so(tmp_path: Path) -> None:
    taking = BEHIND.replace("BEHIND", "if (!(d > best)) best = d;")
    *_, line = said(taking, tmp_path, Options(strategy=COLLECT))
    told = 'takes a NaN, and then whatever comes next: set it where "d < best", or by fminf, and '
    assert f'as it is, "best" {told}say so on the loop: reduction(min: best) [in k]' in line


COUNTED = """__global__ void k(const unsigned *x, int *y, int n) {
    int total = 0;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned v = x[i];
        int turns = 0;
#pragma ccc while
        while (v != 1) { v = v & 1 ? 3 * v + 1 : v / 2; ++turns; }
        total += turns;
    }
    y[threadIdx.x] = total;
}
"""


@pytest.mark.slow
def test_a_sum_of_the_turns_of_a_loop_is_named(tmp_path: Path) -> None:
    (line,) = said(COUNTED, tmp_path, Options(strategy=COLLECT))
    assert (
        "; if the loop only adds it up, say so on the loop of line 3: reduction(+: total)" in line
    )
    named = COUNTED.replace("ccc for", "ccc for reduction(+: total)")
    assert said(named, tmp_path, Options(strategy=COLLECT)) == []


UPDATES = """__global__ void k(const float *x, float *y, int n) {
    float sum = 0, most = -1, other = 0, last = 1;
    int count = 0;
#pragma ccc for CLAUSES
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0.5f) { sum += sinf(x[i]); ++count; if (x[i] > most) most = x[i]; MORE }
    }
    y[threadIdx.x] = sum + count + most + other + last;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("clauses", "more", "named", "advice"),
    [
        ("", "", '("sum" or "most", ', "reduction(+: sum) reduction(max: most)"),
        ("reduction(max: most)", "", '("sum", ', "reduction(+: sum)"),
        ("reduction(+: sum)", "other -= sinf(x[i + n]);", '("other" or "most", ',
         "reduction(+: other) reduction(max: most)"),
        ("reduction(+: sum) reduction(max: most)", "last = sinf(x[i] + 1);", '("last", ',
         'set other variables, update "last"'),
        ("reduction(+: sum) reduction(max: most)", "sum *= 0.5f;", '("sum", ',
         "the variable of a reduction (sum) may only be updated in the loop"),
    ],
)  # fmt: skip
def test_all_variables_that_a_reduction_should_name_are_told(
    clauses: str, more: str, named: str, advice: str, tmp_path: Path
) -> None:
    source = UPDATES.replace("CLAUSES", clauses).replace("MORE", more)
    *_, line = said(source, tmp_path, Options(strategy=COLLECT))
    assert named in line
    assert advice in line
    assert ("the variable of a reduction" in line) == ("may only" in advice)


TURNS = """__global__ void k(const int *row, const float *v, float *out, int n) {
#pragma ccc for
    for (int r = threadIdx.x; r < n; r += blockDim.x) {
        float sum = 0;
        int end = row[r + 1];
#pragma ccc LOOP
        for (int e = row[r]; e < end; ++e) {
            float a = v[e];
#pragma ccc if
            if (a > 0.9f) { for (int k = 0; k < 9; ++k) a = sqrtf(a) * 2; sum += a; }
        }
        out[r] = sum;
    }
}
"""


@pytest.mark.slow
def test_a_sum_of_turns_may_be_of_a_while(tmp_path: Path) -> None:
    asked = Options(strategy=COLLECT, max_block=64)
    (line,) = said(TURNS.replace("LOOP", "for variable"), tmp_path, asked)
    assert "the next turn of the loop around it" in line
    assert '; mark that loop "ccc while"' in line
    assert (
        "which gains only where lanes need different numbers of its turns; or remove this" in line
    )
    assert said(TURNS.replace("LOOP", "while"), tmp_path, asked) == []


@pytest.mark.slow
@pytest.mark.parametrize("loop", ["#pragma unroll 1", "#pragma ccc for variable"])
def test_turns_that_all_lanes_take_together_are_iterations(loop: str, tmp_path: Path) -> None:
    asked = Options(strategy=COLLECT, max_block=64)
    together = TURNS.replace("int end = row[r + 1]", "int end = n").replace("e = row[r]", "e = 0")
    source = together.replace("#pragma ccc LOOP", loop)
    (line,) = said(source, tmp_path, asked)
    reduced = ", with a reduction of that value by +; or remove" if "ccc" in loop else ", if its"
    which = "that loop" if "variable" in loop else "the loop of line 7"
    whole = f'; all lanes that begin {which} go round as often: mark it "ccc for"'
    assert f"{whole}{reduced}" in line
    (line,) = said(together.replace("LOOP", "for"), tmp_path, asked)
    assert "say so on the loop of line 6: reduction(+: sum)" in line
    assert said(together.replace("LOOP", "for reduction(+: sum)"), tmp_path, asked) == []


@pytest.mark.slow
@pytest.mark.parametrize("loop", ["#pragma unroll 1", "#pragma ccc for variable"])
def test_turns_in_a_ragged_loop_are_no_iterations(loop: str, tmp_path: Path) -> None:
    """Where lanes pass by the loop that is annotated, they pass by one inside, too."""
    source = TURNS.replace("int end = row[r + 1]", "int end = n").replace("e = row[r]", "e = 0")
    rows = "for (int y = threadIdx.y; y < n; y += blockDim.y)\n#pragma ccc for\n"
    source = source.replace("#pragma ccc for\n", rows).replace("#pragma ccc LOOP", loop)
    (line,) = said(source.replace("out[r]", "out[y * n + r]"), tmp_path, Options(strategy=COLLECT))
    assert "go round as often" not in line
    assert '"ccc while"' in line


@pytest.mark.slow
def test_turns_that_keep_the_two_least_are_no_iterations(tmp_path: Path) -> None:
    source = TURNS.replace("int end = row[r + 1]", "int end = n; float more = 9")
    source = source.replace("e = row[r]", "e = 0").replace("LOOP", "for variable")
    two = "if (a < sum) { more = sum; sum = a; } else if (a < more) more = a;"
    source = source.replace("sum += a;", two).replace("= sum;\n    }", "= sum + more;\n    }")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT, max_block=64))
    assert '"more" or "sum", k.cu:10' in line
    assert "); remove this annotation, so that the loop around it may be collected with" in line


@pytest.mark.slow
def test_turns_beside_a_path_of_the_loop_around_are_tasks(tmp_path: Path) -> None:
    """Its lanes wait for one another, so that none could wait for those of a "ccc for" inside."""
    asked = Options(strategy=COLLECT, max_block=64)
    beside = "        int end = n;\n#pragma ccc if\n        if (v[r] > 9) out[r + n] = 1;\n"
    source = TURNS.replace("        int end = row[r + 1];\n", beside).replace("e = row[r]", "e = 0")
    line = "; ".join(said(source.replace("ccc LOOP", "unroll 1"), tmp_path, asked))
    assert '; mark it "ccc for variable", if its turns are independent, or else "ccc while"' in line


@pytest.mark.slow
def test_what_keeps_a_minimum_from_being_one_is_named(tmp_path: Path) -> None:
    head = HEAD.replace("ccc for", "ccc for reduction(min: last)").replace("i < n", "i < 99")
    body = IF + "if (v > 3) {\nfor (int k = 0; k < 9; k++) v = sqrtf(v + k);\nif (v < last) {\n"
    body += "last = v;\nwindow[0] = i;\ny[i] = v;\n}\n}"
    (line,) = said(head + body + TAIL, tmp_path, Options(strategy=COLLECT))
    assert "in the way is (k.cu:14, PTX line" in line
    assert "st.global.f32" in line


NEAREST = """__global__ void __launch_bounds__(64)
k(const float *x, const float *z, int *y, int n) {
    float best = 1e30f;
    int which = -1;
#pragma ccc for reduction(min: best)
    for (int i = 0; i < n; ++i) {
        float d = x[i] - threadIdx.x;
#pragma ccc if
        if (d * d < best) {
            float e = MORE;
            if (e < best) { best = e; which = i; }
        }
    }
    y[threadIdx.x] = which;
}
"""


@pytest.mark.slow
def test_a_branch_that_asks_for_the_minimum_is_in_its_way(tmp_path: Path) -> None:
    """And not what is done in it, which updates the minimum as it should."""
    source = NEAREST.replace("MORE", "d * d + z[i] * z[i]")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert "by which the branch is taken: as it is, remove the annotation" in line
    assert re.search(r"; in the way is \(.*?k\.cu:9, PTX line \d+: setp", line)


SUMS = """__global__ void k(const int *__restrict__ row, const float *__restrict__ x, float *y,
                  int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float sum = 0;
#pragma ccc for variable strategy(engage)
        for (int t = 0; t < row[i]; ++t) sum += x[AT];
        y[i] = sum;
    }
}
"""


@pytest.mark.slow
def test_a_sum_of_turns_is_hinted_at(tmp_path: Path) -> None:
    line, left = said(SUMS.replace("AT", "i + t"), tmp_path, Options())
    assert left.endswith("reduction(+: sum) would let lanes share its turns [in k]")
    assert "as without it" not in left  # there is no other path that it could be told apart from
    assert '("sum", k.cu:7, PTX line' in line
    assert "say so: reduction(+: sum)" in line


@pytest.mark.slow
@pytest.mark.parametrize(
    ("turn", "it", "clauses"),
    [
        ("most = fmaxf(most, x[i + t]);", "it", "reduction(max: most)"),
        ("sum += x[i + t]; most = fmaxf(most, x[i + t]);", "them",
         "reduction(+: sum) reduction(max: most)"),
    ],
)  # fmt: skip
def test_all_that_turns_hand_on_is_hinted_at(
    turn: str, it: str, clauses: str, tmp_path: Path
) -> None:
    """Of a maximum a clause was told that names nothing."""
    source = SUMS.replace("sum += x[AT];", f"{{ {turn} }}").replace("= sum;", "= sum + most;")
    source = source.replace("float sum = 0;", "float sum = 0, most = 0;")
    options = Options(strategy=COLLECT)
    line, *_ = said(source, tmp_path, options)
    assert "strategy(engage) does not apply" in line
    assert f"; if they do nothing else with {it}, say so: {clauses}" in line
    assert said(source.replace("for variable", f"for variable {clauses}"), tmp_path, options) == []


@pytest.mark.slow
def test_a_sum_of_turns_is_not_hinted_at_where_more_is_in_the_way(tmp_path: Path) -> None:
    """Each turn adds to the index, by a number that nvcc makes anew in each."""
    source = SUMS.replace("AT", "i * t")
    line, left = said(source, tmp_path, Options())
    assert "reduction" not in left
    assert "does not change by the same number each time" in line
    assert "reduction" not in line
    named = source.replace("for variable", "for variable reduction(+: sum)")
    line, left = said(named, tmp_path, Options())  # nor would it help
    assert "strategy(engage) does not apply" in line
    assert "reduction" not in left


@pytest.mark.slow
def test_a_checksum_can_be_made_from_no_counter(tmp_path: Path) -> None:
    source = SUMS.replace("sum += x[AT]", "sum = sum * 33 ^ row[t]").replace("float sum", "int sum")
    line, *_ = said(source, tmp_path, Options())
    assert "its turns hand on a value that does not change by the same number each time" in line
    assert line.endswith("if it can be, or ask for another strategy, or for none [in k]")


SUM_OF_TURNS = """__global__ void k(const float *__restrict__ x, int *__restrict__ y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int count = 0;
#pragma ccc for variable REDUCTION
        for (int e = 0; e < n; ++e) {
            const float v = x[i * n + e];
#pragma ccc if
            if (v > 0.7f) {
                bool in = false;
                for (int k = 0; k < n; ++k) if (x[e + k] > v) in = !in;
                count += in;
            }
        }
        y[i] = count;
    }
}
"""


@pytest.mark.slow
def test_why_a_reduction_of_turns_does_not_help(tmp_path: Path) -> None:
    text = SUM_OF_TURNS.replace("REDUCTION", "reduction(+: count)")
    line = next(one for one in said(text, tmp_path, Options(strategy=COLLECT)) if ":8:" in one)
    assert '("count", k.cu:12, ' in line  # where it is updated, and not what decides that
    assert (
        "serves only updates that stand outside of what is annotated in it; all lanes that" in line
    )
    text = SUM_OF_TURNS.replace("REDUCTION", "")
    line = next(one for one in said(text, tmp_path, Options(strategy=COLLECT)) if ":8:" in one)
    assert "the reduction of that" not in line


INSIDE = """__device__ bool inside(const float *p, int m, float at) {
    bool in = false;
#pragma ccc for variable reduction(^: in)
    for (int k = 0; k < m; k++) {
        if (p[k] == at) return true;
#pragma ccc if
        if (p[k] > at) { if (at < sinf(p[k + 1] * at)) in = !in; }
    }
    return in;
}
__global__ void __launch_bounds__(64) k(
    const float *x, const float *__restrict__ p, int m, int *__restrict__ y, int n
) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = inside(p, m, x[i]);
}
"""


@pytest.mark.slow
def test_a_loop_that_is_to_be_marked_otherwise_loses_its_reduction(tmp_path: Path) -> None:
    """Else that is told not to belong there."""
    for text, why in ((INSIDE, "this branch"), (INSIDE.replace("__restrict__", ""), "tasks take")):
        (line,) = said(text, tmp_path, Options(strategy=COLLECT))
        assert f'mark that loop "ccc while", without the reduction, so that {why}' in line
    text = INSIDE.replace("for variable reduction(^: in)", "while")
    assert said(text, tmp_path, Options(strategy=COLLECT)) == []


LOOPS = """__global__ void __launch_bounds__(64) k(const float *x, float *y, int n, int m) {
    for (int j = 0; j < m; ++j) {
        float sum = 0;
#pragma ccc for
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            float v = x[i];
#pragma ccc if
            if (v > 0.5f) { for (int k = 0; k < j; ++k) v = sinf(v); sum += v; }
        }
        y[j * 64 + threadIdx.x] = sum;
    }
}
"""


@pytest.mark.slow
def test_of_several_loops_the_line_is_told_where_one_is_marked(tmp_path: Path) -> None:
    (line,) = said(LOOPS, tmp_path, Options(strategy=COLLECT))
    assert "say so on the loop of line 4: reduction(+: sum)" in line
    told = LOOPS.replace("ccc for", "ccc for reduction(+: sum)")
    assert said(told, tmp_path, Options(strategy=COLLECT)) == []


CHOSEN = """__global__ void __launch_bounds__(64) k(const float *x, float *y, int n) {
    float best = 1e30f;
    int at = -1;
#pragma ccc for CLAUSES
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float d = x[i];
#pragma ccc if
        if (d > 0.5f) { d = sinf(d); UPDATE }
    }
    y[threadIdx.x] = best + at;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("clauses", ["", "reduction(min: best)"])
def test_what_is_chosen_beside_a_minimum_is_to_be_set_in_a_branch(
    clauses: str, tmp_path: Path
) -> None:
    source = CHOSEN.replace("CLAUSES", clauses)
    chosen = source.replace("UPDATE", "at = d < best ? i : at; best = fminf(best, d);")
    (line,) = said(chosen, tmp_path, Options(strategy=COLLECT))
    assert (
        '; set "at" where "best" is, "if (d < best) { best = d; at = i; }", and say so on the '
        "loop: reduction(min: best) [in k]" in line
    )
    branch = CHOSEN.replace("UPDATE", "if (d < best) { best = d; at = i; }")
    told = branch.replace("CLAUSES", "reduction(min: best)")
    assert said(told, tmp_path, Options(strategy=COLLECT)) == []


REREAD = """__global__ void __launch_bounds__(64) k(const int *row, const int *col,
    unsigned long long *out, int n) {
#pragma ccc for
    for (int u = threadIdx.x; u < n; u += blockDim.x) {
        BEFORE
#pragma ccc for variable
        for (int e = row[u]; e < END; ++e) {
            int v = col[e];
#pragma ccc if
            if (v > u) {
                int a = row[u], b = row[v];
INNER
                while (a < row[u + 1] && b < row[v + 1]) {
                    int d = col[a] - col[b];
                    if (d == 0) { atomicAdd(out, 1ull); ++a; ++b; }
                    else if (d < 0) ++a; else ++b;
                }
            }
        }
    }
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("inner", ["", "#pragma ccc while"])
def test_a_bound_that_the_path_reads_again_is_to_be_read_before_the_loop(
    inner: str, tmp_path: Path
) -> None:
    """Nothing is added up there, and no atomic operation would help."""
    source = REREAD.replace("INNER", inner)
    lines = said(
        source.replace("BEFORE", "").replace("END", "row[u + 1]"),
        tmp_path,
        Options(strategy=COLLECT),
    )
    assert len(lines) == 1 + bool(inner)
    for line in lines:
        assert 'a value that is read in the path ("row", k.cu:13' in line
        assert "; if the path leaves that as it is, read it into a variable before that" in line
        assert "by an atomic" not in line
    source = source.replace("BEFORE", "int end = row[u + 1];").replace("END", "end")
    assert not any("path left" in one for one in said(source, tmp_path, Options(strategy=COLLECT)))
