"""Ways out of loops in which lanes wait for a lock, or only seem to: each is followed."""

from __future__ import annotations

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
    assert (
        f"; give a lock back before the branch, {ways_out} what the lanes look at, declare" in line
    )
    assert united(tmp_path, RESTRICT="__restrict__", **BEHIND) == []
    assert united(tmp_path, **AROUND) == []


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
    assert 'what the lanes look at, declare that "__restrict__" [in k]' in line
    apart = DRAWN.replace("POINTER", "volatile int *__restrict__")
    assert said(apart, tmp_path, Options(strategy=COLLECT)) == []


def test_a_flag_that_the_turns_ask_for_is_named(tmp_path: Path) -> None:
    source = """__global__ void k(const int *x, int n, int *out, volatile int *stop) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 256) {
        int v = x[i];
#pragma ccc while
        while (v > 3 && !*stop) { v = v * 5 + 1; if (v == 77) *stop = 1; }
        out[i] = v;
    }
}
"""
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert 'a lock may still be held when a turn ends ("stop", k.cu:6, PTX line ' in line
    assert "ld.volatile" in line
