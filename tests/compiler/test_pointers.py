"""Which pointers users are told of, and what they are to promise of these."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from saying import said

from ccc.nvcc.run import run
from ccc.options import COLLECT, Options

pytestmark = pytest.mark.usefixtures("few_headers", "in_process")

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


PROBED = """__global__ void k(unsigned *key, unsigned *bytes, const unsigned *x, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned h = x[i] * 2654435761u;
#pragma ccc while
        while (true) {
            unsigned o = atomicCAS(PLACE, 0, x[i]);
            if (o == 0 || o == x[i]) break;
            h += 7;
        }
        atomicAdd(bytes + (h & 63), 1);
    }
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("place", ["&key[h & 63]", "key + (h & 63)", "(key + 1) + (h & 63) - 1"])
def test_a_pointer_is_named_however_a_place_behind_it_is_written(
    place: str, tmp_path: Path
) -> None:
    line = said(PROBED.replace("PLACE", place), tmp_path, Options(strategy=COLLECT))[0]
    assert 'look at what others may write ("key", k.cu:7, PTX line' in line
    assert 'declare "key" "__restrict__"' in line


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
QUEUE = """\
__global__ void k(const float *x, int *found, int *count, int *limit) {
    #pragma ccc for
    for (int i = threadIdx.x; i < *limit; i += blockDim.x) {
        #pragma ccc if
        if (x[i] > 1) { float v = x[i]; for (int k = 0; k < 9; k++) v = v * v; if (v > 2) WRITE; }
    }
}
"""
COUNTED = QUEUE.replace("WRITE", "atomicAdd(count, 1)")
APPENDED = QUEUE.replace("WRITE", "found[atomicAdd(count, 1)] = v")
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
        (COUNTED, "", {"noalias(limit, count)"}),
        (APPENDED, "", {"noalias(limit, found)", "noalias(limit, count)"}),
        (APPENDED, " noalias(limit, found)", {"noalias(limit, count)"}),
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
def test_no_promise_is_asked_of_what_a_line_only_reads(tmp_path: Path) -> None:
    """Through which pointer the line writes, it does not say."""
    written = "{ int &one = *count; one = v; }"
    (refused,) = said(QUEUE.replace("WRITE", written), tmp_path, Options(strategy=COLLECT))
    assert "the path writes (k.cu:5, PTX line" in refused
    assert "noalias" not in refused


OF_A_TEMPLATE = """template <typename T> __global__ void k(T *out, int n, T sum) {
    #pragma ccc for noalias(out, sum)
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        #pragma ccc if
        if (out[i] > 3) out[i] = sum;
    }
}
template __global__ void k<float>(float *, int, float);
"""


@pytest.mark.slow
def test_what_a_template_makes_a_number_is_told_to_be_no_pointer(tmp_path: Path) -> None:
    file = tmp_path / "k.cu"
    file.write_text(OF_A_TEMPLATE)
    outcome = run(["-ptx", "-o", f"{tmp_path}/k.ptx", str(file)], Options(), capture=True)
    told = outcome.stderr.splitlines()
    message = 'noalias speaks of "sum", which is no pointer; name pointers: noalias(a, s.b, t->c)'
    assert told[0] == f"{file}(3): error: {message}"
    assert told[1].rstrip().endswith("i += blockDim.x) {")
    assert told[2].index("^") == len(told[1].rstrip())
    assert "asm" not in outcome.stderr
