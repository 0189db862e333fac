"""``const __restrict__`` is said of a parameter, and not of what is a member or lay in memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.analysis.paths.carried_values import AS_WHILE
from ccc.options import COLLECT, Options

TAKEN_ALONG = f"{AS_WHILE}, so that tasks take along what follows it, or remove this annotation"
pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

TYPES = """struct Lists { int *next, *value, *last; };
"""
RESTRICT = 'declare what is only read "const __restrict__"'

FOLLOWS = (
    TYPES
    + """__global__ void __launch_bounds__(64) k(PARAMETERS, float *out, int n) {
    int v = threadIdx.x;
#pragma ccc for CLAUSES
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float sum = 0;
#pragma ccc if
        if (v & 1) { for (int k = 0; k < 20; k++) sum += sqrtf(sum + k); VALUE[v] = (int)sum; }
        out[i] = sum;
        v = NEXT[v];
    }
}
"""
)


def follows(tmp_path: Path, parameters: str, of: str, clauses: str = "") -> list[str]:
    source = FOLLOWS.replace("PARAMETERS", parameters).replace("CLAUSES", clauses)
    source = source.replace("VALUE", f"{of}value").replace("NEXT", f"{of}next")
    return said(source, tmp_path, Options(strategy=COLLECT))


def test_of_a_parameter_both_can_be_said(tmp_path: Path) -> None:
    (line,) = follows(tmp_path, "int *next, int *value", "")
    assert f"; read it before the path, or {RESTRICT}, or promise noalias(next, value)" in line
    assert follows(tmp_path, "const int *__restrict__ next, int *value", "") == []


def test_all_parameters_are_named_that_have_to_be_declared(tmp_path: Path) -> None:
    of_both = "int *next, int *value, int *more"
    source = FOLLOWS.replace("v = NEXT[v]", "v = NEXT[v] + more[i]")
    source = source.replace("VALUE", "value").replace("NEXT", "next").replace("CLAUSES", "")
    (line,) = said(source.replace("PARAMETERS", of_both), tmp_path, Options(strategy=COLLECT))
    assert 'or declare "next" and "more" "const __restrict__", as far as they are' in line
    declared = of_both.replace("int *next", "const int *__restrict__ next")
    (line,) = said(source.replace("PARAMETERS", declared), tmp_path, Options(strategy=COLLECT))
    assert RESTRICT in line
    declared = declared.replace("int *more", "const int *__restrict__ more")
    assert said(source.replace("PARAMETERS", declared), tmp_path, Options(strategy=COLLECT)) == []


def test_of_a_member_a_promise_serves(tmp_path: Path) -> None:
    (line,) = follows(tmp_path, "Lists g", "g.")
    clauses = "noalias(g.next, g.value) noalias(g.next, out)"
    assert f"; read it before the path, or promise {clauses} [in k]" in line
    assert follows(tmp_path, "Lists g", "g.", clauses) == []


def test_of_what_may_be_memory_of_the_thread_nothing_serves_but_to_read_it_before(
    tmp_path: Path,
) -> None:
    (line,) = follows(tmp_path, "Lists *g", "g->")
    assert "; read it before the path [in k]" in line


WAITS = (
    TYPES
    + """__global__ void __launch_bounds__(64) k(Lists g, float *out, int n) {
#pragma ccc for CLAUSES
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int v = i;
        float sum = 0;
        while (g.next[v] > 0) { v = g.next[v] - 1; __threadfence_block(); }
#pragma ccc if
        if (v & 1) { for (int k = 0; k < 20; k++) sum += sqrtf(sum + k); WRITE }
        out[i] = sum;
    }
}
"""
)


def test_who_looks_at_a_member_before_the_path_may_promise(tmp_path: Path) -> None:
    """As who looks at a parameter may; a plain store by another one would be a race with that."""
    waits, options = (
        WAITS.replace("WRITE", "atomicMax(&g.value[v], (int)sum);"),
        Options(strategy=COLLECT),
    )
    (line,) = said(waits.replace("CLAUSES", ""), tmp_path, options)
    clauses = "noalias(g.next, g.value)"
    assert f"into the branch, too, or promise {clauses} [in k]" in line
    assert said(waits.replace("CLAUSES", clauses), tmp_path, options) == []
    stores = WAITS.replace("CLAUSES", "").replace("WRITE", "g.value[v] = (int)sum;")
    assert said(stores, tmp_path, options) == []
    stores = stores.replace("g.value[v] =", "g.next[v] =")
    assert ": lanes may wait before the path" in said(stores, tmp_path, options)[0]


WALK = (
    TYPES
    + """__global__ void __launch_bounds__(64) k(PARAMETERS, float *out, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int v = i, sum = 0, turns = 0;
#pragma ccc while strategy(flatten)
        while (COUNTED v != LAST[i]) { sum += VALUE[v]; VALUE[v] = 0; v = NEXT[v]; }
        out[i] = sum;
    }
}
"""
)


def walk(tmp_path: Path, parameters: str, of: str, counted: str = "") -> list[str]:
    source = WALK.replace("PARAMETERS", parameters).replace("COUNTED", counted)
    for name in ("LAST", "NEXT", "VALUE"):
        source = source.replace(f"{name}[", f"{of}{name.lower()}[")
    return said(source, tmp_path, Options())


@pytest.mark.parametrize("parameters", ["Lists g", "Lists *g"])
def test_a_counter_tells_that_lanes_do_not_wait(parameters: str, tmp_path: Path) -> None:
    of = "g->" if "*" in parameters else "g."
    line, *_ = walk(tmp_path, parameters, of)
    assert '; let a counter end the loop, too, as in "t++ < 1000 && ...", with more than it' in line
    assert "__restrict__" not in line
    assert walk(tmp_path, parameters, of, "turns++ < 1000 &&") == []


def test_of_a_parameter_that_lanes_look_at_it_can_be_said(tmp_path: Path) -> None:
    line, *_ = walk(tmp_path, "int *last, int *next, int *value", "")
    assert f"; {RESTRICT} [in k]" in line
    assert walk(tmp_path, "const int *__restrict__ last, int *next, int *value", "") == []


BEHIND = """struct Rows { int *x, *y; };
__global__ void __launch_bounds__(64) k(const int *row, PARAMETERS, int *z, int n) {
#pragma ccc for CLAUSES
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const int begin = row[i], end = row[i + 1];
#pragma ccc for variable
        for (int e = begin; e < end; ++e) {
#pragma ccc if
            if (e % 8 > 3) { int s = e; for (int k = 0; k < 40; ++k) s = s * s + e; OFx[e] = s; }
        }
        z[i] = OFREAD[i] + 1;
    }
}
"""


WALKED = """__global__ void __launch_bounds__(64) k(int *x, int *z, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int at = i, d = 0, s = 0;
#pragma ccc while
        while (x[at] != 2 && s < 1000) {
            const int steps[4] = {1, 64, -1, -64};
            int k = 0;
#pragma ccc while
            while (x[at + steps[d]] == 1 && k < 4) { d = (d + 1) & 3; ++k; }
            at += steps[d];
            ++s;
        }
        BEHIND
    }
}
"""


def behind(tmp_path: Path, parameters: str, of: str, read: str = "y", clauses: str = "") -> str:
    source = BEHIND.replace("PARAMETERS", parameters).replace("CLAUSES", clauses)
    source = source.replace("OF", of).replace("READ", read)
    return "; ".join(said(source, tmp_path, Options(strategy=COLLECT)))


@pytest.mark.parametrize(
    ("behind", "way_out"),
    [
        ("z[i] = s;", "; remove this annotation; or ask for"),  # the next turn needs what it makes
        ("z[i] = i;", "; move what follows that loop into an annotated loop of its own"),
    ],
)
def test_what_follows_and_needs_what_a_loop_makes_is_not_to_stand_elsewhere(
    behind: str, way_out: str, tmp_path: Path
) -> None:
    (line,) = said(WALKED.replace("BEHIND", behind), tmp_path, Options(strategy=COLLECT))
    assert way_out in line
    assert ("of its own" in line) == ("of its own" in way_out)


SUMS = """__global__ void __launch_bounds__(64) k(const int *x, int *z, int n, int m) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x)
#pragma ccc if
        if (x[i] > 0)
#pragma ccc while
        for (int d = 0; d < m; ++d) {
            int s = 0;
#pragma ccc while
            for (int k = x[i]; k < x[i + 1]; ++k) s += x[k + d] * s + k;
            z[d * n + i] = s;
        }
}
"""


def test_where_turns_store_alike_no_pointer_is_told_to_be_restrict(tmp_path: Path) -> None:
    """The store goes with the tasks, and is one of the other turns, too."""
    (line,) = said(SUMS, tmp_path, Options(strategy=COLLECT))
    assert 'may access the same memory as the other turns of the loop around it ("z", k.cu' in line
    independent = 'if the turns are independent, mark the loop around it "ccc for variable"; else '
    assert (
        f"; {independent}remove this annotation; or remove that on line 4, which serves; or ask for"
        in line
    )
    source = SUMS.replace("#pragma ccc if\n", "")
    assert said(source, tmp_path, Options(strategy=COLLECT)) == []


def test_what_is_set_by_a_call_has_a_name_but_no_clause(tmp_path: Path) -> None:
    """The bytes of a row may be a pointer for all that is known."""
    image = """struct Image { int *at; size_t step;
    __device__ int &operator()(int r, int c) const { return ((int *)((char *)at + r * step))[c]; }
};
"""
    source = image + SUMS.replace("int *z", "Image z").replace("z[d * n + i] = s", "sum += s")
    source = source.replace("#pragma ccc while", "int sum = 0;\n#pragma ccc while", 1)
    source = source.replace("if (x[i] > 0)", "if (x[i] > 0) {").replace(
        "\n}\n", "z(i, n) = sum; }\n}\n"
    )
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert 'may access the same memory as what follows the loop around it ("z", k.cu' in line
    assert "; remove this annotation; or remove that on line 7, which serves; or ask for" in line


def test_what_a_task_shares_with_what_follows_is_shown_on_both_sides(tmp_path: Path) -> None:
    line = behind(tmp_path, "int *x, int *y", "", read="x")
    assert 'what follows the loop around it ("z" or "x", k.cu:11, PTX line ' in line
    assert "which would no longer wait for it (k.cu:9, PTX line " in line
    assert line.endswith(f"; {TAKEN_ALONG} [in k]")


def test_tasks_of_a_while_take_along_what_follows_it(tmp_path: Path) -> None:
    source = BEHIND.replace("PARAMETERS", "int *x, int *y").replace("CLAUSES", "")
    source = source.replace("OF", "").replace("READ", "x").replace("for variable", "while")
    assert said(source, tmp_path, Options(strategy=COLLECT)) == []


def test_what_only_seems_to_be_shared_with_what_follows_can_be_said(tmp_path: Path) -> None:
    line = behind(tmp_path, "int *x, int *y", "")
    apart = "if the pointers of both never lead to the same memory"
    assert f'{TAKEN_ALONG}; or, {apart}, declare them "__restrict__" [in k]' in line
    assert behind(tmp_path, "int *__restrict__ x, int *y", "") == ""
    source = BEHIND.replace("OF", "").replace("READ", "y").replace("CLAUSES", "")
    source = source.replace("__global__ void __launch_bounds__(64) k", "__device__ void f")
    source = source.replace("PARAMETERS", "int *x, int *y")
    kernel = "__global__ void k(int *row, int *x, int *y, int *z, int n) { f(row, x, y, z, n); }"
    (line,) = said(source + kernel, tmp_path, Options(strategy=COLLECT))
    assert f"{TAKEN_ALONG}; or, {apart}, promise noalias of them [in k]" in line
    line = behind(tmp_path, "Rows g", "g.")
    assert f"{TAKEN_ALONG}; or, {apart}, promise noalias of them [in k]" in line
    assert behind(tmp_path, "Rows g", "g.", clauses="noalias(g.x, g.y, z)") == ""


DRAWS = """__global__ void __launch_bounds__(64)
k(const int *__restrict__ work, int *PLACEnext, float *PLACEout, int n) {
#pragma ccc for
    for (int i = atomicAdd(next, 1); i < n; i = atomicAdd(next, 1)) {
        int w = work[i];
#pragma ccc if
        if (w > 3) {
            float sum = 0;
            for (int k = 1; k < w; k++) sum += 1.f / k;
            out[i] = sum;
            atomicAdd(next, 0);
        }
    }
}
"""


@pytest.mark.parametrize("place", ["", "__restrict__ "])
def test_of_one_pointer_nothing_can_be_said(place: str, tmp_path: Path) -> None:
    (line,) = said(DRAWS.replace("PLACE", place), tmp_path, Options(strategy=COLLECT))
    assert "since the path may access the same memory (k.cu:11, PTX line" in line  # for certain
    assert 'if both pointers are declared "__restrict__"' not in line


SUMMED = """__global__ void __launch_bounds__(64) k(PARAMETER x, float *out, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0.9f) out[threadIdx.x] += sqrtf(x[i]);
    }
}
"""


@pytest.mark.parametrize(
    ("parameter", "names"),
    [
        ("const float *__restrict__", '"out"'),
        ("float const *", '"out"'),
        ("float *const", '"out"'),  # which alone is stored to
    ],
)
def test_what_is_only_read_is_none_that_iterations_share(
    parameter: str, names: str, tmp_path: Path
) -> None:
    (line,) = said(SUMMED.replace("PARAMETER", parameter), tmp_path, Options(strategy=COLLECT))
    assert f"are not independent ({names}, k.cu:5, " in line


READ_BEHIND = """__global__ void __launch_bounds__(64) k(PARAMETER x, float *out, int n) {
    float last = 0;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (last > 0.9f) out[i + n] = sqrtf(i);
        last = x[i] + out[i];
    }
}
"""


@pytest.mark.parametrize(
    ("parameter", "names"),
    [("const float *__restrict__", '"out"'), ("const float *", '"x" or "out"')],
)
def test_what_nothing_else_leads_to_is_not_what_the_path_writes(
    parameter: str, names: str, tmp_path: Path
) -> None:
    source = READ_BEHIND.replace("PARAMETER", parameter)
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert f"may depend on what the path writes ({names}, k.cu:7, " in line


REFIT = """__global__ void k(PARENT, const int2 *child, float *box, int *flag, int leaves) {
#pragma ccc for
    for (int i = threadIdx.x; i < leaves; i += blockDim.x) {
        int node = parent[i];
#pragma ccc while
        while (node != -1) {
            if (atomicAdd(&flag[node], 1) == 0) break;
            __threadfence();
            volatile float *boxes = box;
            box[node] = fmaxf(boxes[child[node].x], boxes[child[node].y]);
            __threadfence();
            node = parent[node];
        }
    }
}
"""


def test_of_what_the_turns_go_by_it_can_be_said_where_they_look_at_something_else(
    tmp_path: Path,
) -> None:
    (line,) = said(REFIT.replace("PARENT", "int *parent"), tmp_path, Options(strategy=COLLECT))
    assert "its turns look at what others may write (" in line
    assert line.endswith(f", if once is enough, or {RESTRICT} [in k]")
    restricted = REFIT.replace("PARENT", "const int *__restrict__ parent")
    assert said(restricted, tmp_path, Options(strategy=COLLECT)) == []


DENSE = """__global__ void __launch_bounds__(64) k(
    const float * R matrix, const float * R x, float * R y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float sum = 0;
#pragma ccc for variable reduction(+: sum)
        for (int j = 0; j < n; j++) {
#pragma ccc if
            if (matrix[i * n + j] != 0) sum += matrix[i * n + j] * x[j];
        }
        y[i] = sum;
    }
}
"""


def test_restrict_is_not_told_where_nothing_would_be_left(tmp_path: Path) -> None:
    line, *_ = said(DENSE.replace(" R ", " "), tmp_path, Options(strategy=COLLECT))
    assert '; remove this annotation, or mark that loop "ccc while", without the reduction' in line
    assert "__restrict__" not in line
    restricted = DENSE.replace(" R ", " __restrict__ ")
    line, *_ = said(restricted, tmp_path, Options(strategy=COLLECT))
    assert "so that nothing is left" in line
    walk = DENSE.replace("for variable reduction(+: sum)", "while").replace(" R ", " ")
    assert said(walk, tmp_path, Options(strategy=COLLECT)) == []


@pytest.mark.parametrize(
    ("written", "line"), [("g.value[v] = (int)sum; g.last[v]++;", 8), ("g.last[v]++;", 8)]
)
def test_of_what_the_path_writes_that_is_told_which_may_be_what_is_read(
    written: str, line: int, tmp_path: Path
) -> None:
    """Also where it writes something else before that: read before it, it may be another value."""
    source = FOLLOWS.replace("PARAMETERS", "Lists g").replace("CLAUSES", "")
    source = source.replace("VALUE[v] = (int)sum;", written).replace("NEXT[v]", "g.last[i]")
    (told,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert f", and the path writes (k.cu:{line}, " in told
    assert "st.global.u32" in told
    assert "; if that is never the same place, read it before the path; else iterations" in told


WORK = """struct Work { const INDEX *x; unsigned *y; int *next; INDEX n; };
__global__ void k(Work work) {
#pragma ccc for
    for (INDEX i = atomicAdd(work.next, 1); i < work.n; i = atomicAdd(work.next, 1)) {
        unsigned v = work.x[i];
#pragma ccc if
        if (v < 25) for (int t = 0; t < 30; ++t) v = v * v + i;
        DONE
    }
}
"""


@pytest.mark.parametrize("index", ["int", "long long"])
def test_members_of_a_structure_are_pointers_as_parameters_are(tmp_path: Path, index: str) -> None:
    """What is written by one is not what the next iteration is fetched from by another."""

    def told(done: str) -> list[str]:
        source = WORK.replace("INDEX", index).replace("DONE", done)
        return said(source, tmp_path, Options(strategy=COLLECT))

    assert told("work.y[work.x[i]] = v;") == []
    assert told("atomicAdd(&work.y[work.x[i] + 1], v);") == []
    assert told("atomicSub(&work.next[work.x[i]], v);") != []


FIRST = """__global__ void __launch_bounds__(64) k(int *x, float *y, int *z, int n) {
    float most = 0; int of = -1;
#pragma ccc for reduction(max: most)
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float s = 0;
#pragma ccc for variable reduction(+: s)
        for (int j = 0; j < y[i]; j++) {
#pragma ccc if
            if (i * j % 8 > 3) {
                int t = j;
                for (int k = 0; k < 40; k++) t = t * t + i;
                x[i + j] = t;
            }
            s += y[i + j];
        }
        z[i] = (int)s;
        if (s > most) { most = s; of = i; }
    }
    y[n + threadIdx.x] = most + of;
}
"""


def test_no_while_is_asked_for_where_the_first_of_equals_is_kept(tmp_path: Path) -> None:
    """Its tasks would not go on to the path inside."""
    apart = 'if the pointers of both never lead to the same memory, declare them "__restrict__"'
    (line,) = said(FIRST, tmp_path, Options(strategy=COLLECT))
    assert f"; {apart}; or remove this annotation [in k]" in line
    declared = FIRST.replace("int *x, float *y, int *z", "int *__restrict__ x, float *y, int *z")
    assert said(declared, tmp_path, Options(strategy=COLLECT)) == []
    removed = FIRST.replace("#pragma ccc if", "")
    assert said(removed, tmp_path, Options(strategy=COLLECT)) == []
