"""Ways out of loops in which lanes wait for a lock, or only seem to: each is followed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

UNITED = """__global__ void k(int *RESTRICT parent, const int *u, const int *v, int *count, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int a = u[i], b = v[i];
        bool joined = false;
        BEGIN
        while (a != b) {
            if (a < b) { int t = a; a = b; b = t; }
            int old = atomicCAS(&parent[a], a, b);
            if (old == a) { joined = true; break; }
            a = old;
        }
        BRANCH
        if (joined) for (int t = 0; t < 9; ++t) atomicAdd(&ADDED, sinf(t * b));
        END
    }
}
"""
BEHIND = {"BEGIN": "", "BRANCH": "\n#pragma ccc if\n", "END": ""}
AROUND = {"BEGIN": "\n#pragma ccc if\nif (a % 4 != 3) {", "BRANCH": "", "END": "}"}


def united(tmp_path: Path, **parts: str) -> list[str]:
    source = UNITED
    for name, part in ({"RESTRICT": "", "ADDED": "count[a]"} | parts).items():
        source = source.replace(name, part)
    return said(source, tmp_path, Options(strategy=COLLECT))


def test_who_walks_from_place_to_place_is_told_of_restrict(tmp_path: Path) -> None:
    (line,) = united(tmp_path, **BEHIND)
    ways_out = "or put the loop that waits into the branch, too, or, if no other pointer leads to"
    ways_out = f"{ways_out} what the lanes look at, declare"
    assert f'; give a lock back before the branch, {ways_out} "parent" "__restrict__"' in line
    assert united(tmp_path, RESTRICT="__restrict__", **BEHIND) == []
    assert united(tmp_path, **AROUND) == []


def test_where_restrict_would_not_be_seen_it_is_not_told(tmp_path: Path) -> None:
    """Of a kernel that calls a function with the loop nobody knows what its parameters are."""
    source = UNITED.replace("__global__ void k", "__device__ __forceinline__ void f")
    source = source.replace("RESTRICT", "").replace("ADDED", "count[a]")
    for name, part in BEHIND.items():
        source = source.replace(name, part)
    source += """__global__ void k(int *__restrict__ parent, const int *u, const int *v, int *count,
        int n) { f(parent, u, v, count, n); }"""
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert 'lanes may wait before the path ("parent", k.cu:9, PTX line ' in line
    assert line.endswith("or put the loop that waits into the branch, too [in k]")


def test_where_the_same_memory_is_written_nothing_else_serves_than_one_branch(
    tmp_path: Path,
) -> None:
    (line,) = united(tmp_path, ADDED="parent[a]", **BEHIND)
    assert line.endswith("or put the loop that waits into the branch, too [in k]")
    assert united(tmp_path, ADDED="parent[a]", **AROUND) == []


LOCKED = """__global__ void k(int *lock, int *sum, const int *x, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int *mine = &lock[x[i]];
        BEGIN
        while (true) {
            if (atomicCAS(mine, 0, 1) != 0) continue;
            sum[x[i]] += i;
            __threadfence();
            atomicExch(mine, 0);
            break;
        }
    }
}
"""


def test_a_lock_that_nvcc_gives_back_behind_the_loop_goes_into_a_branch(tmp_path: Path) -> None:
    """The source gives it back in the turn that takes it."""
    source = LOCKED.replace("BEGIN", "\n#pragma ccc while")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert "; nvcc gives it back behind the loop (k.cu:11, PTX line " in line
    assert "put this loop, and all that is done with the lock, into a branch marked" in line
    assert "__restrict__" not in line  # it is a lock, whatever else is written
    source = LOCKED.replace("BEGIN", "\n#pragma ccc if\nif (x[i] > 0)")
    assert said(source, tmp_path, Options(strategy=COLLECT)) == []


DRAWN = """__global__ void k(const int *work, POINTER ready, int *next, float *out, int n) {
#pragma ccc for
    for (int i = atomicAdd(next, 1); i < n; i = atomicAdd(next, 1)) {
        while (ready[i] == 0) ;
#pragma ccc if
        if (work[i] > 3) {
            float s = 0;
            for (int k = 1; k < work[i]; ++k) s += 1.f / k;
            out[i] = s;
        }
    }
}
"""


def test_what_a_flag_may_be_for_all_that_is_known_is_told_apart(tmp_path: Path) -> None:
    plain = DRAWN.replace("POINTER", "volatile int *")
    (line,) = said(plain, tmp_path, Options(strategy=COLLECT))
    assert 'what the lanes look at, declare "ready" "__restrict__" [in k]' in line
    apart = DRAWN.replace("POINTER", "volatile int *__restrict__")
    assert said(apart, tmp_path, Options(strategy=COLLECT)) == []


FLAG = """GLOBAL
__global__ void k(const int *x, int n, int *out PARAMETER) {
    SHARED
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 256) {
        int v = x[i];
        bool halt = LOOK;
#pragma ccc ASKED
        while (v > 3 && !SEEN) { v = v * 5 + 1; if (v == 77) SET; }
        out[i] = v;
    }
}
"""
LOOKS_AT = "path left as it was: its turns look at what others may write"
BRANCH = (
    'put this loop, and all that is done with that memory, into a branch marked "ccc if" in place '
    "of the loop"
)


@pytest.mark.parametrize(
    ("place", "declared", "look", "set_"),
    [
        ("PARAMETER", ", volatile int *stop", "*stop", "*stop = 1"),
        ("PARAMETER", ", int *stop", "atomicAdd(stop, 0)", "atomicExch(stop, 1)"),
        ("SHARED", "__shared__ volatile int stop;", "stop", "stop = 1"),
        ("GLOBAL", "__device__ volatile int stop;", "stop", "stop = 1"),
    ],
)
def test_a_flag_that_the_turns_ask_for_is_named(
    place: str, declared: str, look: str, set_: str, tmp_path: Path
) -> None:
    source = FLAG.replace(place, declared).replace("LOOK", look).replace("SET", set_)
    source = re.sub("GLOBAL|PARAMETER|SHARED", "", source)

    def of(seen: str, asked: str) -> list[str]:
        told = source.replace("SEEN", seen).replace("ASKED", asked)
        return said(told, tmp_path, Options(strategy=COLLECT))

    (line,) = of(look, "while")
    assert f'{LOOKS_AT} ("stop", k.cu:9, PTX line ' in line
    assert "may be the one that writes it (k.cu:9, PTX line " in line
    waits = "if an iteration waits there for another one, remove the annotation; else "
    ways_out = f"{BRANCH}, or look at it before the loop, if once is enough"
    assert line.endswith(f"; {waits}{ways_out} [in k]")
    assert of(look, "if\nif (v > 3)") == []
    assert of("halt", "while") == []


WALKED = """__device__ int find(int *p, int v) {
    while (p[v] != v) { SHORTER v = p[v]; }
    return v;
}
__global__ void k(const int2 *__restrict__ edges, int *__restrict__ parent, int m) {
#pragma ccc for
    for (int e = threadIdx.x; e < m; e += blockDim.x) {
        int a = find(parent, edges[e].x), b = find(parent, edges[e].y);
#pragma ccc ASKED
        while (a != b) {
            if (a < b) { int t = a; a = b; b = t; }
            int old = atomicCAS(&parent[a], a, b);
            if (old == a) break;
            a = find(parent, old);
            b = find(parent, b);
        }
    }
}
"""


def test_who_writes_what_a_walk_goes_by_is_named_and_spoken_of_as_no_lock(tmp_path: Path) -> None:
    def of(shorter: str, asked: str) -> list[str]:
        source = WALKED.replace("SHORTER", shorter).replace("ASKED", asked)
        return said(source, tmp_path, Options(strategy=COLLECT))

    (line,) = of("p[v] = p[p[v]];", "while")
    assert f'{LOOKS_AT} ("parent", k.cu:12, PTX line ' in line
    assert "may be the one that writes it (k.cu:2, PTX line " in line
    assert line.endswith(f"; {BRANCH} [in k]")
    assert of("p[v] = p[p[v]];", "if\nif (a != b)") == []
    *_, line = of("p[v] = p[p[v]];", "if\nif (a != b)\n#pragma ccc while")
    held = "so that the branch around it holds all that is done with that memory"
    assert line.endswith(f"; remove this annotation, {held} [in k]")
    assert of("", "while") == []


GROWN = """__global__ void k(const float *x, int *child, int *bottom, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int node = 0;
        bool done = false;
#pragma ccc ASKED
        while (!done) {
            int side = x[i] > node;
            int next = child[2 * node + side];
            if (next >= n) { node = next - n; continue; }
            if (next == -2) continue;
            if (atomicCAS(&child[2 * node + side], next, -2) != next) continue;
            int fresh = atomicAdd(bottom, 1);
            child[2 * fresh + (x[i] > fresh)] = i;
            __threadfence();
            atomicExch(&child[2 * node + side], n + fresh);
            done = next == -1;
        }
    }
}
"""


def test_what_is_swapped_is_blamed_and_not_what_is_only_read_beside_it(tmp_path: Path) -> None:
    """A fence lets all loads be made anew, of what nobody waits for, too."""
    (line,) = said(GROWN.replace("ASKED", "while"), tmp_path, Options(strategy=COLLECT))
    assert f'{LOOKS_AT} ("child", k.cu:12, PTX line ' in line
    assert line.endswith(f"; {BRANCH} [in k]")
    branch = GROWN.replace("ASKED", "if\nif (x[i] > 0)")
    assert said(branch, tmp_path, Options(strategy=COLLECT)) == []


CALLED = """__device__ INLINED void add(int *lock, int *sum, int v) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) != 0) continue;
        *(volatile int *)sum += v;
        __threadfence();
        atomicExch(lock, 0);
        done = true;
    }
}
__global__ void k(const int *x, int *y, int *lock, int *sum, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int v = x[i];
#pragma ccc while
        while (v > 0) { add(lock, sum, v); v = v * 5 / 8; }
        y[i] = v;
    }
}
"""


def test_a_function_with_a_lock_is_told_to_be_inlined(tmp_path: Path) -> None:
    (line,) = said(CALLED.replace("INLINED", "__noinline__"), tmp_path, Options(strategy=COLLECT))
    assert "; declare the function __forceinline__, so that this is seen, or put this loop" in line
    inlined = CALLED.replace("INLINED", "__forceinline__")
    assert said(inlined, tmp_path, Options(strategy=COLLECT)) == []


COUNTS = """__global__ void k(const int *__restrict__ parent, float *box, int *come, int leaves) {
#pragma ccc for
    for (int i = threadIdx.x; i < leaves; i += blockDim.x) {
        int node = parent[i];
#pragma ccc if
        if (CONDITION) {
            volatile float *boxes = box;
            WALK
        }
    }
}
"""
STEP = """{
                __threadfence();
                box[node] = fmaxf(boxes[2 * node], boxes[2 * node + 1]);
                __threadfence();
                node = parent[node];
            }"""


def test_what_only_counts_may_be_in_the_path_as_a_whole(tmp_path: Path) -> None:
    counts = "atomicAdd(&come[node], 1) != 0"
    more = f"node != -1 && {counts}"
    apart = COUNTS.replace("CONDITION", counts).replace("WALK", f"do {STEP} while ({more});")
    (line,) = said(apart, tmp_path, Options(strategy=COLLECT))
    assert "; if it is a count, put all that counts into the path; else take it and give" in line
    whole = COUNTS.replace("CONDITION", "node != -1").replace("WALK", f"while ({more}) {STEP}")
    assert said(whole, tmp_path, Options(strategy=COLLECT)) == []


PROBED = """__global__ void k(int *keys, const int *k, int *next, int *mine, int n, int mask) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int h = k[i], old = DRAW;
#pragma ccc while
        while (old != 0 && old != k[i]) {
            ++h;
            old = AGAIN;
        }
    }
}
"""


@pytest.mark.parametrize(
    ("draw", "again", "serves"),
    [
        ("atomicCAS(&keys[h & mask], 0, h)", "atomicCAS(&keys[h & mask], 0, k[i])", True),
        ("atomicAdd(next, 1)", "old", False),
        ("atomicAdd(next, 1)", "atomicExch(&mine[i], old)", False),
        ("atomicAdd(next, 1)", "old + 1", True),
        ("atomicAdd(next, 1)", "h % 3 ? old : atomicCAS(&keys[h & mask], 0, h)", False),
    ],
)
def test_what_is_drawn_anew_in_each_turn_is_not_waited_for(
    draw: str, again: str, serves: bool, tmp_path: Path
) -> None:
    """Nor if nvcc, or a user, draws for the first turn before the loop, as into a hash table."""
    source = PROBED.replace("DRAW", draw).replace("AGAIN", again)
    found = said(source, tmp_path, Options(strategy=COLLECT))
    assert (found == []) == serves


BEFORE_THE_PATH = "hangs on what it has drawn before the path"
KEPT = """__device__ __noinline__ int look(const int *__restrict__ of, int at) { return of[at]; }
__global__ void k(const int *x, const int *__restrict__ places, int *next, int *served, int *mine,
                  int *sum, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int v = x[i], drawn = DRAW;
        *(volatile int *)&mine[i] = drawn;
#pragma ccc if
        if (v & 1) {
            while (atomicMax(served, 0) != READ) { }
            __threadfence();
            *(volatile int *)sum += v;
            __threadfence();
            atomicAdd(served, 1);
        }
    }
}
"""


@pytest.mark.parametrize(
    ("draw", "read", "why"),
    [
        ("atomicAdd(next, v & 1)", "*(volatile int *)&mine[i]", BEFORE_THE_PATH),
        ("atomicAdd(next, v & 1)", "atomicAdd(&mine[i], 0)", BEFORE_THE_PATH),
        (
            "atomicAdd(next, v & 1)",
            "look(places, drawn)",
            "a lock may be held when the path begins",
        ),
        (
            "*next; while (atomicCAS(next, drawn, drawn + 1) != drawn) drawn = *next",
            "drawn",
            BEFORE_THE_PATH,
        ),
    ],
)
def test_what_was_drawn_before_is_waited_for_by_way_of_memory_too(
    draw: str, read: str, why: str, tmp_path: Path
) -> None:
    """And of functions, which are taken for what draws."""
    (line,) = said(
        KEPT.replace("READ", read).replace("DRAW", draw), tmp_path, Options(strategy=COLLECT)
    )
    assert why in line


LABELS = """__device__ int root(int *l, int x) { while (l[x] != x) x = l[x]; return x; }
__device__ void unite(int *l, int a, int b) {
    bool done = false;
    while (!done) {
        a = root(l, a); b = root(l, b);
        if (a < b) { int o = atomicMin(&l[b], a); done = o == b; b = o; }
        else if (b < a) { int o = atomicMin(&l[a], b); done = o == a; a = o; }
        else done = true;
    }
}
__global__ void merge(const unsigned char *img, int *label, int w, int h) {
#pragma ccc for
    for (int i = threadIdx.x; i < w * h; i += blockDim.x) {
#pragma ccc if
        if (i % w > 0 && img[i] == img[i - 1]) unite(label, i, i - 1);
#pragma ccc if
        if (i / w > 0 && img[i] == img[i - w]) unite(label, i, i - w);
    }
}
"""


def test_of_an_atomic_operation_nothing_is_named_that_is_only_read(tmp_path: Path) -> None:
    lines = said(LABELS, tmp_path, Options())
    (line,) = (one for one in lines if "a lock may be held when the path begins" in one)
    assert "img" not in line
    assert "; if it is none, put all that is done with that memory into one branch, and" in line
    assert line.endswith("or before it, or remove this annotation [in merge]")
    before, _, calls = LABELS.partition("#pragma ccc if")
    rest = calls.replace("#pragma ccc if", "").replace("i - w);", "i - w); }")
    together = f"{before}#pragma ccc if\nif (img[i] > 1) {{{rest}"
    assert not any("lock" in one for one in said(together, tmp_path, Options()))


SOLVED = """__global__ void k(const int *row, const int *col, const double *val,
                  volatile double *x, volatile int *ready, int n) {
#pragma ccc for
    for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < n; r += gridDim.x * blockDim.x) {
        double s = 1;
        int k = row[r];
#pragma ccc while
        while (k < row[r + 1] - 1) if (ready[col[k]]) { s -= val[k] * x[col[k]]; k++; }
        x[r] = s / val[k];
        __threadfence();
        ready[r] = 1;
    }
}
"""


def test_of_all_pointers_on_a_line_that_is_named_whose_type_is_looked_at(tmp_path: Path) -> None:
    (line,) = said(SOLVED, tmp_path, Options(strategy=COLLECT))
    assert '("ready", k.cu:8, PTX line ' in line


TRIED = """__global__ void k(int *lock, INDEX idx, int *sum, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma ccc for
    while (i < n) {
        bool got = atomicCAS(&lock[idx[i]], 0, 1) == 0;
        if (got) {
            sum[idx[i]] += i;
            __threadfence();
            GIVE
        }
#pragma ccc if
        if (got && x[i] > 0) { float v = x[i]; for (int k = 0; k < 30; ++k) v += v * v; y[i] = v; }
        if (got) i += gridDim.x * blockDim.x;
    }
}
"""


@pytest.mark.parametrize("give", ["lock[idx[i]] = 0;", "atomicExch(&lock[idx[i]], 0);"])
def test_a_lock_that_is_given_back_by_an_index_read_anew_is_told_of_restrict(
    give: str, tmp_path: Path
) -> None:
    """Another thread may have changed the index, for all that nvcc knows."""
    source, options = TRIED.replace("GIVE", give), Options(strategy=COLLECT)
    (line,) = said(source.replace("INDEX", "const int *"), tmp_path, options)
    assert ", as where it is given back (k.cu:9, PTX line " in line
    assert ";) hangs on what is read anew; declare" in line
    assert '; declare what is only read "const __restrict__", or take it and give it back' in line
    assert said(source.replace("INDEX", "const int *__restrict__"), tmp_path, options) == []
    other = source.replace("INDEX", "const int *").replace(give, "lock[i & 7] = 0;")
    (line,) = said(other, tmp_path, options)
    assert "; take it and give it back in the path, or before it" in line


BUILT = """#pragma ccc grid_stride
__global__ void k(const unsigned *__restrict__ key, unsigned *R table, unsigned *R count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned k = key[i], h = (k * 2654435769u) >> 7 & 1023;
#pragma ccc while
    while (true) {
        unsigned seen = atomicCAS(&table[h], 0u, k);
        if (seen == 0 || seen == k) break;
        h = (h + 1) & 1023;
    }
    atomicAdd(&count[k & 1023], 1u);
}
"""


def test_who_builds_a_table_is_told_of_restrict_first(tmp_path: Path) -> None:
    line, _ = said(BUILT.replace("R ", ""), tmp_path, Options(strategy=COLLECT))
    told = 'if no other pointer leads to what the lanes look at, declare "table" "__restrict__"'
    assert f"; {told}; else {BRANCH} [in k]" in line
    assert said(BUILT.replace("R ", "__restrict__ "), tmp_path, Options(strategy=COLLECT)) == []
