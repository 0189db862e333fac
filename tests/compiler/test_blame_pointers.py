"""What is updated through a pointer that only ever leads to one variable is called by the name of
that, and the clause that is told serves."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

SOURCE = """struct Acc { float sum; int n; };
__device__ void push(Acc *a, float v) { a->sum += v; a->n++; }
__device__ void visit(Acc &a, float v) { if (v > 2) { a.sum += v; return; } a.n++; }
__device__ void most(Acc *a, float v, int i) { if (v > a->sum) { a->sum = v; a->n = i; } }
__global__ void k(const float *x, Acc *o, int n) {
    Acc acc = {0, 0}, *p = &acc; float e = 0, *q = &e;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        BEFORE
#pragma ccc if
        if (x[i] > 0.5f) { UPDATE }
    }
    acc.sum += e;
    o[threadIdx.x] = *p;
}
"""


@pytest.mark.parametrize(
    ("update", "name", "clause"),
    [
        ("push(p, expf(x[i]));", "acc.sum", "reduction(+: acc.sum)"),
        ("visit(*p, expf(x[i]));", "acc.sum", "reduction(+: acc.sum)"),
        ("most(p, expf(x[i]), i);", "acc.sum", "reduction(max: acc.sum)"),
        ("p->sum += expf(x[i]); p->n++;", "acc.sum", "reduction(+: acc.sum)"),
        ("*q += expf(x[i]);", "e", "reduction(+: e)"),
    ],
)
def test_it_is_offered_a_clause_that_serves(
    update: str, name: str, clause: str, tmp_path: Path
) -> None:
    source = SOURCE.replace("BEFORE", "").replace("UPDATE", update)
    (line,) = said(source.replace(" CLAUSE", ""), tmp_path, Options(strategy=COLLECT))
    assert f'computes ("{name}", k.cu:' in line
    assert f": {clause} [in k]" in line
    assert said(source.replace(" CLAUSE", f" {clause}"), tmp_path, Options(strategy=COLLECT)) == []


def test_none_is_offered_where_the_loop_reads_it_too(tmp_path: Path) -> None:
    source = SOURCE.replace("BEFORE", "o[i] = *p;").replace("UPDATE", "push(p, expf(x[i]));")
    lines = said(source.replace(" CLAUSE", ""), tmp_path, Options(strategy=COLLECT))
    assert "reduction(" not in "".join(lines)


GIVEN = """struct Acc { float sum, most; int n; };
__device__ void push(Acc *acc, float v) { acc->sum += v; acc->n++; }
__device__ void scan(const float *x, int n, Acc *acc, float *low, int *hits) {
#pragma ccc for CLAUSES
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (x[i] > 0) { float v = logf(x[i]); UPDATE }
    }
}
__global__ void k(const float *x, Acc *out, float *least, int *count, int n) {
    Acc acc = {0, -1, 0}; float low = 9; int hits = 0;
    scan(x, n, &acc, &low, &hits);
    out[threadIdx.x] = acc; least[threadIdx.x] = low; count[threadIdx.x] = hits;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("update", "places", "clauses"),
    [
        (
            "acc->sum += v; if (v > acc->most) acc->most = v; acc->n++;",
            '"acc->sum", "acc->most" and "acc->n"',
            "reduction(+: variables) reduction(max: variables)",
        ),
        ("push(acc, v);", '"acc->sum" and "acc->n"', "reduction(+: variables)"),
        ("*low = fminf(*low, v);", '"*low"', "reduction(min: variable)"),
        (
            "if (v < *low) { *low = v; *hits = i; }",
            '"*low" and "*hits"',
            "reduction(min: variables)",
        ),
    ],
)
def test_what_a_function_updates_through_its_parameters_is_to_be_kept_in_variables(
    update: str, places: str, clauses: str, tmp_path: Path
) -> None:
    source = GIVEN.replace("CLAUSES", "").replace("UPDATE", update)
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert f"; if the loop only updates {places}, keep " in line
    assert line.endswith(f"say so on the loop: {clauses}; else remove the annotation [in k]")


@pytest.mark.slow
def test_what_is_set_through_parameters_is_to_be_kept_nowhere(tmp_path: Path) -> None:
    source = GIVEN.replace("CLAUSES", "").replace("UPDATE", "acc->sum += v; *low = v;")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert "written back" not in line


@pytest.mark.slow
def test_a_pointer_that_each_iteration_makes_leads_to_what_outlives_it(tmp_path: Path) -> None:
    made = SOURCE.replace(", *p = &acc", "").replace("BEFORE", "Acc *p = &acc;")
    source = made.replace("UPDATE", "push(p, expf(x[i]));").replace("= *p", "= acc")
    clause = "reduction(+: acc.sum)"
    (line,) = said(source.replace("CLAUSE", ""), tmp_path, Options(strategy=COLLECT))
    assert line.endswith(f": {clause} [in k]")
    strict = Options(strategy=COLLECT, strict=True)
    assert said(source.replace("CLAUSE", clause), tmp_path, strict) == []


IN_MEMORY = """struct Tally { int right, wrong; float surest; int at; };
__device__ void note(Tally *t, int ok, float margin, int at) {
    if (ok) t->right++; else t->wrong++;
    if (margin > t->surest) { t->surest = margin; t->at = at; }
}
__global__ void k(const float *x, float *y, Tally *tallies, int n) {
    Tally *t = &tallies[threadIdx.x];
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (x[i] > 0) {
            float v = x[i];
            for (int k = 0; k < i; k++) v = expf(-v) + x[k];
            y[i] = v;
            note(t, v > 2, v, i);
        }
    }
}
"""


@pytest.mark.slow
def test_what_all_iterations_update_in_memory_is_to_be_kept_in_variables(tmp_path: Path) -> None:
    """Where nvcc chooses among places, of which PTX does not tell that they are only updated."""
    (line,) = said(IN_MEMORY, tmp_path, Options(strategy=COLLECT))
    assert "all iterations of the loop use the same memory" in line
    assert '; if the loop only updates "t->right", "t->wrong", "t->surest" and "t->at", ' in line
    clauses = "reduction(+: variables) reduction(max: variables)"
    assert line.endswith(f": {clauses}; else remove the annotation [in k]")
    kept = IN_MEMORY.replace("Tally *t = ", "Tally own, *t = &own; own = ").replace("= &t", "= t")
    kept = kept.replace(
        "ccc for", "ccc for reduction(+: own.right, own.wrong) reduction(max: own.surest)"
    )
    kept = kept.replace("    }\n}", "    }\n    tallies[threadIdx.x] = own;\n}")
    assert said(kept, tmp_path, Options(strategy=COLLECT)) == []
