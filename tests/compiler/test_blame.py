"""What users are told: the line at fault, the variable, and a way out that there is."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from ccc.compiler import lines
from ccc.compiler.unit import DevicePass, translate
from ccc.errors import CccError, Span
from ccc.frontend.marking import Annotated
from ccc.options import AUTO, COLLECT, Options
from ccc.remark import notes, report
from ccc.toolkit import find as toolchain

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
    assert table.place(7) == inlined[0]
    assert table.place(8) is None
    assert lines.split(PLAIN)[0] == PLAIN


def test_lines_that_stay_are_counted() -> None:
    numbers = {n: line for n, line in enumerate(PTX.splitlines(), 1) if re.search("add|mul", line)}
    assert numbers.keys() <= lines.read(PTX).places.keys()


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
    (IF + "if (v > 3) last = x[i + n];", '("last", k.cu:9, PTX', 'needs "last" of another'),
    (IF + "if (v > 3) pair.a += x[i + n];", '("pair", k.cu:9, PTX', 'needs "pair" of another'),
    (IF + "if (v > 3) x[i] = 4;", '("count", k.cu:6, PTX', "the path writes (k.cu:9, PTX"),
    (IF + "if (v > 3) window[i & 7] = v;", '("window"', "declare the array in the path"),
    (IF + "if (v > 3) y[i] = v;\n__syncthreads();", "(k.cu:10, PTX", "between two barriers"),
]


def said(source: str, folder: Path, options: Options) -> list[str]:
    """What is said of a source, as the shim does it."""
    try:
        nvcc = toolchain.find().nvcc
    except CccError as error:
        pytest.skip(error.message)

    def compile_(marked: str, _: bool) -> str:
        file, output = folder / "k.cu", folder / "k.ptx"
        file.write_text(marked)
        command = [str(nvcc), "-ptx", "-arch=sm_90", "-lineinfo", str(file), "-o", str(output)]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        return output.read_text()

    done = DevicePass()
    annotated = Annotated(source, str(folder / "k.cu"))
    ptx = translate(annotated, compile_, options, done, keeps_lines=False)
    assert "\t.loc\t" not in ptx
    return [line.replace(f"{folder}/", "") for line in (*done.diagnostics, *remarked(done))]


def remarked(done: DevicePass) -> list[str]:
    """What is left since nothing would be gained."""
    return notes(report(done.remarks)) if done.remarks else []


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
        ("reduction(+: sum) reduction(max: most)", "last = sinf(x[i] + 1);", "(",
         "may only be updated in the loop"),
    ],
)  # fmt: skip
def test_all_variables_that_a_reduction_should_name_are_told(
    clauses: str, more: str, named: str, advice: str, tmp_path: Path
) -> None:
    source = UPDATES.replace("CLAUSES", clauses).replace("MORE", more)
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert named in line
    assert advice in line
    assert ("the variable of a reduction" in line) == ("may only" in advice)


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


@pytest.mark.slow
def test_of_several_cases_it_is_told_which_one(tmp_path: Path) -> None:
    lines = said(CASES_OF_A_SWITCH, tmp_path, Options(strategy=COLLECT))
    begins = [line.partition(" left as it was: ")[0] for line in lines]
    places = [f"k.cu:4:1: warning: path (case in line {number})" for number in (10, 11)]
    assert sorted(begins) == places
    assert all("leaves the one that its switch lies in; break, goto and" in line for line in lines)


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
    assert said(TURNS.replace("LOOP", "while"), tmp_path, asked) == []


POINTERS = """struct Chain { const float *first; float *value; int *step; int n; };
__global__ void k(CHAIN, const int *start) {
#pragma ccc for
    for (int i = start[threadIdx.x]; i < 99; i += 1 + CHAIN_IS step[i]) {
#pragma ccc if
        if (CHAIN_IS first[i] > 0) CHAIN_IS value[i] = expf(CHAIN_IS first[i]);
    }
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("chain", "access"), [("Chain *c", "c->"), ("Chain c", "c.")])
def test_a_pointer_in_a_structure_is_named(chain: str, access: str, tmp_path: Path) -> None:
    source = POINTERS.replace("CHAIN,", f"{chain},").replace("CHAIN_IS ", access)
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert f'("{access}step", k.cu:4, PTX line' in line


WALK = """\
struct Chain { const int *step; int *seen; };
__global__ void walk(CHAIN, int n) {
    #pragma ccc for
    for (int at = threadIdx.x; at < n; at += 64 + READ / 64) {
        #pragma ccc if
        if (AGAIN & 1) {
            for (int k = 0; k < n; k++) WRITTEN = n;
        }
    }
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chain", "read", "written", "clause"),
    [
        ("Chain c", "c.step[at]", "c.seen[at]", "noalias(c.step, c.seen)"),
        ("Chain *c", "c->step[at]", "c->seen[at]", "noalias(c, c->step, c->seen)"),
        ("int *a, int *b", "a[at]", "b[at + k]", "noalias(a, b)"),
    ],
)
def test_pointers_that_may_be_promised_to_be_apart_are_named(
    chain: str, read: str, written: str, clause: str, tmp_path: Path
) -> None:
    source = WALK.replace("CHAIN", chain).replace("READ", read).replace("WRITTEN", written)
    source = source.replace("AGAIN", "at")
    (refused,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert f", or promise {clause} [in " in refused
    promised = source.replace("ccc for\n", f"ccc for {clause}\n")
    assert said(promised, tmp_path, Options(strategy=COLLECT)) == []


@pytest.mark.slow
def test_what_is_read_again_in_the_path_is_told_from_what_it_computes(tmp_path: Path) -> None:
    """Behind the write nvcc reads what it had read before it; no sum is meant."""
    source = WALK.replace("CHAIN", "const int *a, int *b").replace("READ", "a[at]")
    body = "int v = a[at];\nfor (int k = 0; k < 9; k++) v = v * 7 + k;\nb[at] = v;"
    source = source.replace("AGAIN", "a[at]")
    source = source.replace("for (int k = 0; k < n; k++) WRITTEN = n;", body)
    (refused,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert 'value that is read in the path, which may have written it ("a", k.cu:4' in refused
    assert ", or promise noalias(a, b) [in " in refused
    promised = source.replace("ccc for\n", "ccc for noalias(a, b)\n")
    assert said(promised, tmp_path, Options(strategy=COLLECT)) == []


SEVERAL = """\
__global__ void k(const int *next, const int *limit, int *marked, float *out, const int *first) {
    #pragma ccc for
    for (int v = first[threadIdx.x]; v < limit[0]; v = next[v]) {
        #pragma ccc if
        if (v % 5 == 0) { marked[v] = v * v; out[v] = sqrtf(v); }
    }
}
"""
LISTS = """\
__global__ void k(const int *head, const int *link, const int *key, int *found, float *out, int n) {
    #pragma ccc for
    for (int v = threadIdx.x; v < n; v += blockDim.x) {
        #pragma ccc for variable
        for (int e = head[v]; e >= 0; e = link[e]) {
            #pragma ccc if
            if (key[e] > 3) {
                for (int k = 0; k < key[e]; ++k) found[e + k] = k;
                out[e] = 2;
            }
        }
    }
}
"""
PROMISED = re.compile(r", or promise ((?:noalias\([^()]*\) ?)+)")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "already", "clauses"),
    [
        (SEVERAL, "", {"noalias(limit, next, marked)", "noalias(limit, next, out)"}),
        (SEVERAL, " noalias(limit, next, marked)", {"noalias(limit, next, out)"}),
        (SEVERAL, " noalias(limit, out)", {"noalias(limit, next, marked)", "noalias(next, out)"}),
        (LISTS, "", {"noalias(link, found)", "noalias(link, out)"}),
        (LISTS, " noalias(link, found)", {"noalias(link, out)"}),
    ],
)
def test_all_promises_that_are_needed_are_told_at_once(
    source: str, already: str, clauses: set[str], tmp_path: Path
) -> None:
    asked = Options(strategy=COLLECT, max_block=64)
    source = source.replace("ccc for\n", f"ccc for{already}\n")
    told = [match[1] for line in said(source, tmp_path, asked) for match in PROMISED.finditer(line)]
    assert {clause for text in told for clause in re.findall(r"noalias\(.*?\)", text)} == clauses
    followed = source.replace("ccc for", f"ccc for {' '.join(sorted(clauses))}", 1)
    assert said(followed, tmp_path, asked) == []


@pytest.mark.slow
def test_no_promise_is_asked_for_that_cannot_be_given(tmp_path: Path) -> None:
    """What the loop itself declares can be named nowhere before it."""
    source = WALK.replace("CHAIN", "int *const *a, int *b").replace("AGAIN", "at")
    source = source.replace("READ", "own[at]").replace("WRITTEN", "b[at + k]")
    source = source.replace("int at = threadIdx.x", "int at = threadIdx.x, *own = a[at]")
    (refused,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert "read it before the path" in refused
    assert "noalias" not in refused


@pytest.mark.slow
def test_one_pointer_is_not_promised_to_be_apart_from_itself(tmp_path: Path) -> None:
    source = WALK.replace("CHAIN", "int *a").replace("READ", "a[at]").replace("AGAIN", "at")
    (refused,) = said(source.replace("WRITTEN", "a[at + k]"), tmp_path, Options(strategy=COLLECT))
    assert "the path writes (" in refused
    assert "noalias" not in refused


@pytest.mark.slow
def test_what_keeps_a_minimum_from_being_one_is_named(tmp_path: Path) -> None:
    head = HEAD.replace("ccc for", "ccc for reduction(min: last)").replace("i < n", "i < 99")
    body = IF + "if (v > 3) {\nfor (int k = 0; k < 9; k++) v = sqrtf(v + k);\nif (v < last) {\n"
    body += "last = v;\nwindow[0] = i;\ny[i] = v;\n}\n}"
    (line,) = said(head + body + TAIL, tmp_path, Options(strategy=COLLECT))
    assert "in the way is (k.cu:14, PTX line" in line
    assert "st.global.f32" in line


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


@pytest.mark.slow
def test_variables_without_a_value_are_called_that(tmp_path: Path) -> None:
    (line,) = said(UNSET, tmp_path, Options(strategy=COLLECT))
    assert "it may be uninitialised (%f" in line
    assert '"last"' in line


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
    (line,) = said(SUMS.replace("AT", "i + t"), tmp_path, Options())
    assert '("sum", k.cu:7, PTX line' in line
    assert "say so: reduction(+: sum)" in line


@pytest.mark.slow
def test_a_sum_of_turns_is_not_hinted_at_where_more_is_in_the_way(tmp_path: Path) -> None:
    """Each turn adds to the index, by a number that nvcc makes anew in each."""
    source = SUMS.replace("AT", "i * t")
    (line,) = said(source, tmp_path, Options())
    assert "does not change by the same number each time" in line
    assert "reduction" not in line
    named = source.replace("for variable", "for variable reduction(+: sum)")
    (line,) = said(named, tmp_path, Options())  # nor would it help
    assert "strategy(engage) does not apply" in line


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
