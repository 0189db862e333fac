"""What users are told: the line at fault, the variable, and a way out that there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from saying import said

from ccc.analysis.paths.induction import NOT_STEPPED, STRICT
from ccc.compiler import lines
from ccc.errors import Span
from ccc.options import AUTO, COLLECT, Options
from ccc.passes.policy import HANDED_TO_SHARED
from ccc.passes.strategies.engage import BEFORE_A_LOOP, IN_A_PATH, NOT_ALONE, SPLIT

pytestmark = pytest.mark.usefixtures("few_headers")

PTX = """.version 9.0
.entry k()
{
	.loc	1 4 5
	add.s32 	%r1, %r2, %r3;
$L__BB0_1:
	sub.s32 	%r1, %r2, %r3;
	.loc	2 9 3, function_name $L__info_string0, inlined_at 1 6 2
	mul.lo.s32 	%r1, %r2, %r3;
	.loc	1 0 3
	ret;
$L__func_end0:

}
	.file	1 "k.cu"
	.file	2 "odd \\"name\\".cuh"
	.section	.debug_str
	{
$L__info_string0:
.b8 95
	}
"""
PLAIN = """.version 9.0
.entry k()
{
	add.s32 	%r1, %r2, %r3;
$L__BB0_1:
	sub.s32 	%r1, %r2, %r3;
	mul.lo.s32 	%r1, %r2, %r3;
	ret;

}
"""


def test_what_the_compiler_adds_of_lines_is_taken_out_again() -> None:
    text, table = lines.split(PTX)
    assert text == PLAIN
    inlined = (Span('odd "name".cuh', 9, 3), Span("k.cu", 6, 2))
    here = (Span("k.cu", 4, 5),)
    assert dict(table.places) == {4: here, 5: here, 6: here, 7: inlined}
    assert lines.split(PLAIN)[0] == PLAIN


def test_lines_that_stay_are_counted() -> None:
    numbers = {n: line for n, line in enumerate(PTX.splitlines(), 1) if re.search("add|mul", line)}
    assert numbers.keys() <= lines.LineTable(PTX).places.keys()


HEAD = """__global__ void k(const int *count, float *x, float *y, int n) {
    float sum = 0, last = 1, window[8];
    struct { float a, b; } pair = {};
    for (int t = 0; t < 8; ++t) window[t] = x[n + t];
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = x[i];
"""
TAIL = """
    }
    y[threadIdx.x] = sum + last + pair.a + window[n & 7];
}
"""
IF = "#pragma ccc if\n"
CASES = [
    (IF + "if (v > 3) sum += sqrtf(v) + x[i + 3];", '("sum", k.cu:9, PTX', "(+: sum)"),
    (IF + "if (v > 3) if (x[i + n] < last) last = x[i + n];", '"last"', "reduction(min: last)"),
    (IF + "if (v > 3) if (last <= v) { last = v; y[i] = v; }", '"last"', "reduction(max: last)"),
    (IF + "if (v > 3) last = fminf(x[i + n], last);", '"last"', "keeps the least, say so"),
    (
        IF + "if (v > 3) last = x[i + n];",
        '("last", k.cu:9, PTX',
        'set another variable, update "last"',
    ),
    (IF + "if (v > 3) pair.a += x[i + n];", '("pair.a", k.cu:9, PTX', "reduction(+: pair.a)"),
    (IF + "if (v > 3) x[i] = 4;", '("count", k.cu:6, PTX', "the path writes (k.cu:9, PTX"),
    (IF + "if (v > 3) window[i & 7] = v;", '("window"', "the code after the loop reads"),
    (IF + "if (v > 3) y[i] = v;\n__syncthreads();", "(k.cu:10, PTX", "between two barriers"),
    (IF + "if (v > 3) { y[i] = v; __syncthreads(); }", "(k.cu:9, PTX", "out of the branch or loop"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("body", "place", "advice"), CASES)
def test_a_reason_names_kernel_line_variable_and_a_way_out(
    body: str, place: str, advice: str, tmp_path: Path
) -> None:
    head = HEAD.replace("i < n", "i < count[n]") if "count" in place else HEAD
    (line,) = said(head + body + TAIL, tmp_path, Options(strategy=COLLECT))
    assert line.startswith("k.cu:8:1: warning: path left as it was: ")
    assert place in line
    assert advice in line
    assert line.endswith(" [in k]")


CASES_OF_A_SWITCH = """__global__ void k(const int *kind, float *v, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc switch
        switch (kind[i]) {
        case 0: v[i] = sqrtf(v[i]); break;
        case 1:
            v[i] = expf(v[i]);
            break;
        case 2: v[i] = 0; return;
        default: v[i] = logf(v[i]); return;
        }
    }
}
"""


ONE_LINE = """__global__ void k(const int *kind, float *v, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc switch
        switch (kind[i]) { CASES }
    }
}
"""


@pytest.mark.slow
def test_cases_on_one_line_stand_in_the_order_of_the_source(tmp_path: Path) -> None:
    cases = ("case 2: f(2)", "case 0: LONG", "case 1: v[i] = v[i] / 3 + rsqrtf(v[i])")
    long = "for (int k = 0; k < 9; ++k) v[i] = v[i] * v[k] + k"
    listed = "; break; ".join(cases).replace("LONG", long).replace("f(2)", "v[i] = sqrtf(v[i])")
    told = said(ONE_LINE.replace("CASES", f"{listed}; break;"), tmp_path, Options())
    assert re.findall(r"path \((.*?), line 5\)", " ".join(told)) == ["case 2", "case 0", "case 1"]


BLOCKS = """#pragma ccc grid_stride
__global__ void k(const int *__restrict__ x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = x[i], sum = 0;
#pragma ccc while
    while (a > 2) a = a * 0.5f + x[(int)a];
#pragma unroll 1
    for (int t = 0; t < x[i]; ++t) sum += y[i + t] * a;
    y[i] = sum;
}
"""


@pytest.mark.slow
def test_nobody_is_told_to_split_a_loop_over_blocks(tmp_path: Path) -> None:
    told = said(BLOCKS, tmp_path, Options(strategy=COLLECT))
    assert any("let another kernel do what follows" in line for line in told)
    assert not any("split" in line for line in told)


UNSET = (HEAD + IF + "if (v > 3) last = x[i + n];\ny[i] = last;" + TAIL).replace("last = 1", "last")
UNSET = UNSET.replace(" + last", "")


@pytest.mark.slow
def test_variables_without_a_value_are_called_that(tmp_path: Path) -> None:
    (line,) = said(UNSET, tmp_path, Options(strategy=COLLECT))
    assert "it may be uninitialised: declare" in line
    assert '"last"' in line
    (line,) = said(UNSET.replace("sum +", "last +"), tmp_path, Options(strategy=COLLECT))
    assert '("last", k.cu:9, PTX' in line
    assert "declare" not in line  # it is read behind the loop


LISTED = """__global__ void k(const BOUND *row, const float *w, float *out, int n) {
#pragma ccc for
    for (int v = threadIdx.x; v < n; v += blockDim.x) {
        float sum = 0;
        BEFORE
#pragma ccc for variable
        for (int e = row[v]; e < END; e++) { out[e] = w[e]; MORE }
        out[v] = sum;
    }
}
"""
TO_SHARE = "let lanes share its turns"
BOUND = 'read its bound "row[v + 1]" before the loop, into a variable of the type of "e"'


@pytest.mark.slow
@pytest.mark.parametrize("strategy", [AUTO, "merge"])
@pytest.mark.parametrize("more", ["", "sum += w[e];"])
def test_a_bound_of_another_type_is_to_be_read_before_the_loop(
    strategy: str, more: str, tmp_path: Path
) -> None:
    """What is said first is of use by itself: no reduction of the counter, and none too early."""
    asked = Options(strategy=strategy)
    source = LISTED.replace("BOUND", "long long").replace("MORE", more)
    before = source.replace("BEFORE", "").replace("END", "row[v + 1]")
    told = " ".join(said(before, tmp_path, asked))
    assert (f"to {TO_SHARE}, {BOUND} [in k]" in told) == (strategy == AUTO)
    assert "reduction" not in told
    followed = source.replace("BEFORE", "const int end = row[v + 1];").replace("END", "end")
    told = " ".join(said(followed, tmp_path, asked))
    assert "read its bound" not in told
    wanted = strategy == AUTO and bool(more)
    assert (f"reduction(+: sum) would {TO_SHARE}" in told) == wanted
    named = followed.replace("for variable", "for variable reduction(+: sum)")
    if more:
        assert TO_SHARE not in " ".join(said(named, tmp_path, asked))


PEELED = """struct Cell { unsigned key, value; };
#pragma ccc grid_stride
__global__ void __launch_bounds__(256)
k(Cell *__restrict__ cells, const Cell *__restrict__ wanted, unsigned n, unsigned mask) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = wanted[i].key, value = wanted[i].value, at = key & mask;
#pragma ccc while
    for (;; at = (at + 1) & mask) {
        unsigned found = atomicCAS(&cells[at].key, ~0u, key);
        if (found == ~0u || found == key) { atomicExch(&cells[at].value, value); return; }
    }
}
"""
CALLED = """__device__ __forceinline__ void once(float v, float *y) {
#pragma ccc if
    if (v > 3) *y = v * v + sqrtf(v);
}
__global__ void k(const float *x, float *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) once(x[i], y + i);
}
__global__ void unmarked(const float *x, float *y, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) once(x[i], y + i);
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("source", [PEELED, CALLED])
def test_copies_that_vanished_are_silent(source: str, tmp_path: Path) -> None:
    assert not said(source, tmp_path, Options(strategy=COLLECT))
    assert not said(source, tmp_path, Options(strategy=COLLECT, strict=True))


IN_A_ROW = """__global__ void __launch_bounds__(64)
k(const int *row, const float *__restrict__ w, float *__restrict__ out, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float s = 0, t = 0;
        const int begin = row[i], end = row[i + 1];
#pragma ccc for variable reduction(+: s)FIRST
        for (int e = begin; e < end; e++) s += w[e];
#pragma ccc for variable reduction(+: t) strategy(engage)
        for (int e = begin; e < end; e++) t += w[e] * s;
        out[i] = t;
    }
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("first", ["", " strategy(engage)"])
def test_a_loop_before_one_that_is_shared_out_is_told_what_gives_it_the_same(
    first: str, tmp_path: Path
) -> None:
    told = said(IN_A_ROW.replace("FIRST", first), tmp_path, Options())
    whys = [
        HANDED_TO_SHARED,
        *([f"strategy(engage) does not apply: {BEFORE_A_LOOP}"] * bool(first)),
    ]
    assert len(told) == len(whys)
    assert all(any(f"{why}; {SPLIT} [in k]" in line for line in told) for why in whys)


UP_TO_A_BOUND = """__global__ void __launch_bounds__(64)
k(int n, const int *row, const int *often, const float *w, float *y) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const int begin = 32 * i, end = begin + row[i];
#pragma ccc for variable strategy(engage)
        for (int e = begin; e <= end; e++) {
            float t = w[e];
            for (int k = 0; k < often[e]; k++) t = t * 0.5f + 1;
            y[e] = t;
        }
    }
}
"""


@pytest.mark.slow
def test_a_bound_that_is_included_is_told_as_that_and_what_is_advised_helps(tmp_path: Path) -> None:
    (told,) = {
        line for line in said(UP_TO_A_BOUND, tmp_path, Options()) if "does not apply" in line
    }
    assert f"does not apply: {NOT_STEPPED}; {STRICT} [in k]" in told
    followed = UP_TO_A_BOUND.replace(
        "int e = begin; e <= end;", "unsigned e = begin; e < end + 1u;"
    )
    assert said(followed, tmp_path, Options()) == []


OF_A_BLOCK = """__global__ void __launch_bounds__(64)
k(const int *row, const float *w, float *__restrict__ x, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if strategy(queue)
        if (w[i] > 3) {
            const int begin = row[i], end = row[i + 1];
            INSIDE
        }
        OUTSIDE
    }
}
"""
OF_BLOCK = """
#pragma ccc for variable strategy(engage_block)
            for (int e = row[i]; e < row[i + 1]; e++) x[e] = sqrtf(w[e]);
"""
PLAIN_TASK = "for (int e = begin; e < end; e++) x[e] = sqrtf(w[e]);"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("inside", "outside", "reason"),
    [(OF_BLOCK, "", IN_A_PATH), (PLAIN_TASK, OF_BLOCK, NOT_ALONE)],
)
def test_what_keeps_the_block_from_a_loop_is_told_as_that(
    inside: str, outside: str, reason: str, tmp_path: Path
) -> None:
    source = OF_A_BLOCK.replace("INSIDE", inside).replace("OUTSIDE", outside)
    told = [line for line in said(source, tmp_path, Options()) if "engage_block" in line]
    assert [f"strategy(engage_block) does not apply: {reason}" in line for line in told] == [True]
    assert all("ask for engage" in line for line in told)


FLAG = """__global__ void k(const float *x, float *y, int n) {
    bool go = true;
#pragma ccc for
    for (int i = threadIdx.x; i < n && go; i += blockDim.x) {
        const float v = x[i];
#pragma ccc if
        if (v > 0.7f) {
            y[i] = expf(v);
            go = SET;
        }
    }
}
"""


@pytest.mark.slow
def test_a_flag_that_ends_the_loop_cannot_be_declared_in_it(tmp_path: Path) -> None:
    """It can be made of what is read before the path, as is said."""
    (line,) = said(FLAG.replace("SET", "y[i + n] < 1"), tmp_path, Options(strategy=COLLECT))
    assert 'read before the path what decides on "go", which ends the loop' in line
    assert "a flag in memory that the head of the loop reads; or let all iterations run" in line
    named = FLAG.replace("ccc for", "ccc for reduction(&: go)").replace("SET", "go && y[i + n] < 1")
    (line,) = said(named, tmp_path, Options(strategy=COLLECT))
    assert 'decides on "go", which ends the loop' in line
    assert "reduction(" not in line
    assert said(FLAG.replace("SET", "v <= 0.99f"), tmp_path, Options(strategy=COLLECT)) == []


@pytest.mark.slow
@pytest.mark.parametrize("clause", ["", "reduction(&: go)"])
@pytest.mark.parametrize("read", ["x[i + n]", "__ldg(x + i + n)"])
def test_a_flag_that_is_all_a_branch_makes_leaves_no_task(
    clause: str, read: str, tmp_path: Path
) -> None:
    """To read before the path what decides on it would leave even less of that."""
    source = FLAG.replace("ccc for", f"ccc for {clause}").replace("y[i] = expf(v);", "")
    source = (
        source.replace("v > 0.7f", "w < 1")
        .replace("SET", "false")
        .replace("}\n}\n", "}\n    y[threadIdx.x] = go;\n}\n")
    )
    source = source.replace("const float v = x[i];", f"const int w = (int){read} % 7;")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    ends = 'all that is done is to make "go", which ends the loop: if all threads may stop'
    assert (ends in line) == (not clause)
    assert line.endswith(" it is too short to gain anything: remove the annotation [in k]")
    assert "before the path" not in line


@pytest.mark.slow
def test_what_decides_on_a_flag_is_read_before_the_path_as_nvcc_is_told(tmp_path: Path) -> None:
    """A plain load is moved into the path, so that advice was followed in vain."""
    source = FLAG.replace("const float v = x[i];", "const float v = x[i], w = READ;")
    source = source.replace("SET", "w < 1")
    (line,) = said(source.replace("READ", "x[i + n]"), tmp_path, Options(strategy=COLLECT))
    assert "by __ldg or a volatile load, since nvcc moves others into the path; or if" in line
    both = "".join(
        source.replace("k(", f"{name}(").replace("READ", read)
        for name, read in [("a", "__ldg(x + i + n)"), ("b", "((volatile const float *)x)[i + n]")]
    )
    assert said(both, tmp_path, Options(strategy=COLLECT)) == []


BOARD = """__global__ void k(const int *x, int *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        PRAGMA
        IF {
            int cell[40], at = 0;
            for (int c = 0; c < 40; ++c) cell[c] = x[40 * i + c];
#pragma ccc while
            while (at >= 0 && at < 40) {
                cell[(at * 7 + x[i]) % 40] += at;
                at += cell[at] % 3 == 0 ? -1 : 2;
            }
            y[i] = cell[x[i] % 40];
        }
    }
}
"""


@pytest.mark.slow
def test_all_that_uses_an_array_goes_into_a_branch(tmp_path: Path) -> None:
    loop = BOARD.replace("PRAGMA", "").replace("IF", "")
    (line,) = said(loop, tmp_path, Options(strategy=COLLECT))
    assert "its turns pass local memory" in line
    assert 'put all that uses it, and not the loop alone, into a branch marked "ccc if"' in line
    whole = BOARD.replace("PRAGMA", "\n#pragma ccc if\n").replace("IF", "if (x[i] > 9)")
    assert said(whole.replace("#pragma ccc while", ""), tmp_path, Options(strategy=COLLECT)) == []
