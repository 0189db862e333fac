"""Users are told where tasks set what ends the annotated loop, and of no other flag."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from saying import said

from ccc.analysis.paths.carried_values import DEPENDENT
from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

SEARCH = """__device__ int done;
__global__ void __launch_bounds__(64)
k(const float *__restrict__ x, float *y, int *found, volatile int *stop, int n) {
    __shared__ int seen;
    if (threadIdx.x == 0) seen = 0;
    __syncthreads();
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        if (READ) break;
#pragma ccc if
        if (x[i] > 0.9f) {
            float t = x[i];
            for (int k = 0; k < 20; ++k) t = expf(-t) + 0.1f;
            y[i] = t;
            WRITE
        }
    }
}
"""


def told(read: str, write: str, folder: Path) -> list[str]:
    source = SEARCH.replace("READ", read).replace("WRITE", write)
    return said(source, folder, Options(strategy=COLLECT))


@pytest.mark.parametrize(
    ("read", "write", "name"),
    [
        ("done", "atomicExch(&done, 1);", "done"),
        ("seen", "seen = 1;", "seen"),
        ("*stop", "*stop = i;", "stop"),
        ("found[1]", "found[1] = 1;", "found"),
        ("atomicAdd(found, 0) > 3", "atomicAdd(found, 1);", "found"),
    ],
)
def test_a_flag_that_tasks_set_is_told(read: str, write: str, name: str, tmp_path: Path) -> None:
    (line,) = told(read, write, tmp_path)
    head = "k.cu:10:1: remark: path lets its loop end later: it is decided by what iterations read"
    assert line.startswith(f'{head} ("{name}", k.cu:9, PTX line ')
    assert "and the path writes (k.cu:15, PTX line " in line
    assert line.endswith("; if that matters, remove the annotation [in k]")


@pytest.mark.parametrize(
    ("read", "write"),
    [
        ("*stop", "*found = 1;"),
        ("found[i]", "found[i] = 1;"),
        ("found[1]", "found[2] = 1;"),
        ("*found", ""),
        ("x[i] < 0", "*found = 1;"),
    ],
)
def test_what_tasks_do_not_set_is_not(read: str, write: str, tmp_path: Path) -> None:
    """Where another pointer leads there, it is another name: the promise is of that."""
    assert told(read, write, tmp_path) == []


def test_a_flag_that_a_function_sets_for_tasks_is_told(tmp_path: Path) -> None:
    functions = """__device__ int done;
__device__ __noinline__ void set(int *flag, float t) { if (t > 3) *flag = 1; }
__device__ __noinline__ void end(float t) { if (t > 3) done = 1; }
"""
    kernel = SEARCH.partition("\n")[2].replace("\nk(", "\nNAME(")
    every = {
        "by_pointer": ("*found", "set(found, t);"),
        "by_name": ("done", "end(t);"),
        "of_another": ("*stop", "set(found, t);"),
        "of_the_iteration": ("*found", "set(found + i, t);"),
    }
    source = functions + "".join(
        kernel.replace("NAME", name).replace("READ", read).replace("WRITE", write)
        for name, (read, write) in every.items()
    )
    lines = said(source, tmp_path, Options(strategy=COLLECT))
    late = [line for line in lines if "lets its loop end later" in line]
    assert len(late) == 2
    for line, name in zip(late, every, strict=False):
        assert re.search(r"and the path writes \(k\.cu:\d+, PTX line \d+: call", line)
        assert f"_{len(name)}{name}" in line or f"in {name}" in line


def test_what_is_read_behind_the_path_is_to_be_read_before_it(tmp_path: Path) -> None:
    """What the path writes by the same name is shown, and not what might be there, too."""
    source = SEARCH.replace("if (READ) break;", "").replace("i < n", "i < n && !done")
    source = source.replace("WRITE", "atomicExch(&done, 1);")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert "and the iteration writes it (k.cu:15, PTX line " in line
    assert "; if it may be seen an iteration late, as what tells others to end, read it" in line
    assert line.endswith(f"before the path; else {DEPENDENT}: remove the annotation [in k]")


QUEUE = """__device__ int tail;
__global__ void __launch_bounds__(64) k(int *queue, int *ctr, int n) {
    __shared__ int last;
    if (threadIdx.x == 0) last = n;
    __syncthreads();
#pragma ccc for
    for (int i = threadIdx.x; i < READ; i += 64) {
#pragma ccc if
        if (queue[i] > 1) { int p = WRITE; queue[p] = queue[i] / 2; queue[p + 1] = queue[i] / 3; }
    }
}
"""


@pytest.mark.parametrize(
    ("read", "write"),
    [
        ("tail", "atomicAdd(&tail, 2)"),
        ("last", "atomicAdd(&last, 2)"),
        ("ctr[1]", "atomicAdd(ctr + 1, 2)"),
        ("ctr[0]", "atomicAdd(ctr, 2)"),
    ],
)
def test_the_end_of_a_queue_that_tasks_move_is_not_to_be_read_before_it(
    read: str, write: str, tmp_path: Path
) -> None:
    """What they append would be lost. Another register may hold the address of the same."""
    source = QUEUE.replace("READ", read).replace("WRITE", write)
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert "and the iteration writes it (k.cu:9, PTX line " in line
    assert line.endswith(f"; {DEPENDENT}: remove the annotation [in k]")
    assert "before the path" not in line


def test_what_may_be_another_element_is_to_be_read_before_it_only_then(tmp_path: Path) -> None:
    source = QUEUE.replace("READ", "ctr[n]").replace("WRITE", "atomicAdd(ctr + i, 2)")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert "; if that is never the same place, read it before the loop" in line  # which asks for it
    assert line.endswith(f"; else {DEPENDENT}: remove the annotation [in k]")


CLOCKED = """__global__ void __launch_bounds__(64) k(long *t, const float *x, float *y, int n) {
    long spent = 0;
#pragma ccc for reduction(+: spent)
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        long a = clock64();
#pragma ccc if
        if (x[i] > 0.5f) {
            AGAIN
            float v = x[i];
            for (int k = 0; k < 30; k++) v = __expf(v);
            y[i] = v;
            spent += clock64() - a;
        }
    }
    t[threadIdx.x] = spent;
}
"""


def test_who_takes_the_time_of_a_branch_is_told_that_its_task_waits(tmp_path: Path) -> None:
    (line,) = said(CLOCKED.replace("AGAIN", ""), tmp_path, Options(strategy=COLLECT))
    head = "k.cu:6:1: remark: path takes the time that it waits: a clock is read before the path"
    assert line.startswith(f"{head} (k.cu:5, PTX line ")
    assert " and again in what runs with its task (k.cu:12, PTX line " in line
    assert said(CLOCKED.replace("AGAIN", "a = clock64();"), tmp_path, Options()) == []
