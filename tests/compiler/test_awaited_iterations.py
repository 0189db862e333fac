"""Loops that only another thread ends: critical sections are entered, other iterations are not
waited for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

KERNEL = """
__device__ __noinline__ void wait(volatile int *flag, int number) { while (*flag != number); }
__device__ __noinline__ int peek(int *flag) { return atomicAdd(flag, 0); }
__device__ __noinline__ int both(int *one, int *other) { return peek(one) && peek(other); }
__device__ __noinline__ int draw(int *next) { return atomicAdd(next, 1); }
__global__ void k(const int *__restrict__ x, int *turn, volatile int *ready, float *v, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0) {
            ENTER
            *(volatile float *)v = *(volatile float *)v + x[i];
            __threadfence();
            LEAVE
        }
        REST
    }
}
"""
AWAITED = [
    ("while (!ready[x[i]]);", "ready[i] = 1;", ""),
    ("while (!*(int *)&ready[x[i]]) __threadfence();", "*(int *)&ready[i] = 1;", ""),
    ("while (!ready[x[i]] || !ready[x[i] / 2]) __nanosleep(99);", "ready[i] = 1;", ""),
    ("while (atomicAdd(&turn[x[i]], 0) == 0);", "atomicExch(&turn[i], 1);", ""),
    ("while (atomicCAS(&turn[x[i]], 1, 1) != 1);", "atomicExch(&turn[i], 1);", ""),
    ("while (*(volatile int *)turn != i);", "*(volatile int *)turn = i + 1;", ""),
    ("wait(&ready[x[i]], 1);", "ready[i] = 1;", ""),
    ("int old = 0, now = 0; do { old = now; now = ready[x[i]]; } while (!now || now != old);",
     "ready[i] = 1;", ""),
    ("int now = 0, old; do { old = now * 2 + x[0]; now = ready[0] & 3; } while (old != now);",
     "ready[0] = i;", ""),
    ("while (peek(&turn[x[i]]) == 0);", "atomicExch(&turn[i], 1);", ""),
    ("while (!both(&turn[x[i]], &turn[x[i] / 2]));", "atomicExch(&turn[i], 1);", ""),
    ("while (!atomicAnd(&turn[x[i]], -1));", "atomicExch(&turn[i], 1);", ""),
    ("while (!atomicMax((unsigned *)&turn[x[i]], 0));", "atomicExch(&turn[i], 1);", ""),
    ("", "ready[i] = 1;", "while (!ready[x[i]]);"),
    ("", "atomicExch(&turn[i], 1);",
     "if (x[i] < 0) { while (!((volatile int *)turn)[i ^ 1]); v[i] += 5; }"),
]  # fmt: skip
ENTERED = [
    ("do while (*(volatile int *)turn); while (atomicCAS(turn, 0, 1));", "atomicExch(turn, 0);"),
    ("int mine = atomicAdd(turn, 1); while (*ready != mine);", "*ready = mine + 1;"),
    ("int mine = draw(turn); while (*ready != mine);", "*ready = mine + 1;"),
    ("int mine = draw(turn); wait(ready, mine);", "*ready = mine + 1;"),
    ("ready[i] = 1; int last = atomicExch(turn, i); while (ready[last]);", "ready[i] = 0;"),
    ("int mine = atomicAdd(turn, 1) % 64; while (!ready[mine]);", "ready[(mine + 1) % 64] = 1;"),
    # who asks at another place each time, and twice of one
    (
        "int at = x[i]; for (int old = 0; ready[at] != old; at = old) old = ready[at] % 64;",
        "ready[i] = 1;",
    ),
    ("for (int now = 0, asked = 0; asked < 2; asked = 2) now += ready[x[i]];", "ready[i] = 1;"),
]


def lines(tmp_path: Path, enter: str, leave: str, rest: str = "") -> list[str]:
    source = KERNEL.replace("ENTER", enter).replace("LEAVE", leave).replace("REST", rest)
    return said(source, tmp_path, Options(strategy=COLLECT))


@pytest.mark.parametrize(("enter", "leave", "rest"), AWAITED)
def test_who_waits_for_another_iteration_is_told_so(
    tmp_path: Path, enter: str, leave: str, rest: str
) -> None:
    (line,) = lines(tmp_path, enter, leave, rest)
    assert ": lanes wait (" in line
    assert "iterations that wait for one another are not independent: remove" in line


def test_what_is_waited_for_is_shown_and_not_what_is_stored_beside_it(tmp_path: Path) -> None:
    """Of what begins with an index that was read, no parameter is known."""
    rest = "v[i] = x[i]; __threadfence(); ready[i] = 1;"
    (line,) = lines(tmp_path, "while (!ready[x[i]]);", "", rest)
    assert re.search(r"written there \(k.cu:\d+, PTX line \d+: st\.volatile\.global\.u32", line)


@pytest.mark.parametrize(("enter", "leave"), ENTERED)
def test_who_enters_a_critical_section_is_not(tmp_path: Path, enter: str, leave: str) -> None:
    assert lines(tmp_path, enter, leave) == []


BEFORE = """__global__ void k(unsigned *lock, const float *x, float *y, int n) {
    if (threadIdx.x % 32 == 0) while (atomicAdd(lock, 0) < blockIdx.x) { }
    float r = x[threadIdx.x];
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (x[i] > 0.5f) { UPDATE }
        y[i] = r;
    }
    if (threadIdx.x % 32 == 0) atomicAdd(lock, 1);
}
"""


@pytest.mark.parametrize(
    ("update", "why"),
    [
        ("y[i + n] = logf(expf(x[i] + i) + sqrtf(i));", "lanes may wait for one another before"),
        ("r = logf(r + x[i]) * 3;", 'needs a value that the path computes ("r", k.cu:7, '),
    ],
)
def test_what_no_meeting_mends_is_told_before_that_lanes_have_to_meet(
    update: str, why: str, tmp_path: Path
) -> None:
    (line,) = said(BEFORE.replace("UPDATE", update), tmp_path, Options(strategy=COLLECT))
    assert why in line


MARCH = """__global__ void k(const int *x, int *size, long long *key, float *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int at[3] = {x[i], x[i + 1], x[i + 2]};
        float t[3] = {0, 0.5f, 0.25f};
        bool found = false;
        while (t[0] < 99 && t[1] < 99 && t[2] < 99) {
            int axis = t[0] < t[1] ? (t[0] < t[2] ? 0 : 2) : (t[1] < t[2] ? 1 : 2);
            if (axis == 0) { t[0] += 1; at[0]++; }
            else if (axis == 1) { t[1] += 1; at[1]++; }
            else { t[2] += 1; at[2]++; }
            for (int j = 0; j < *size; ++j)
                if (key[j] == at[0] * 64 + at[1] * 8 + at[2]) found = true;
            if (found) break;
        }
#pragma ccc if
        if (found) {
            float w = t[0];
            for (int j = 0; j < 20; ++j) w = sqrtf(w + j);
            y[i] = w;
            *size = 3;
        }
    }
}
"""


def test_of_plain_loads_it_is_not_said_for_certain_that_lanes_wait(tmp_path: Path) -> None:
    (line,) = said(MARCH, tmp_path, Options(strategy=COLLECT))
    assert ": lanes may wait (" in line
    assert "; nothing tells that the loop in which they read that ends otherwise: remove" in line
