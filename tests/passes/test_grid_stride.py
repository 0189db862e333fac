"""``ccc grid_stride``: which launched blocks work, and that every block's work is done once."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from breadth import one_in
from collecting import transform
from emulating import needs_nvcc

from ccc.compiler.transform import NO_PATHS
from ccc.compiler.transform import transform as by_default
from ccc.emulator import Module
from ccc.errors import CccError, Span
from ccc.ir.edit import Emitter
from ccc.ir.nodes import Block
from ccc.ir.operands import Address, Register
from ccc.ir.printer import print_function
from ccc.nvcc import run as nvcc
from ccc.parse import parse_function, parse_module
from ccc.passes.grid_stride.task_counter import LINE_BYTES, PLACES
from ccc.passes.grid_stride.virtual_grid import Room, resident
from ccc.ptx import occupancy as cost
from ccc.toolkit import find as toolchain

pytestmark = pytest.mark.usefixtures("few_headers", "in_process")

HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"
MARKER = "// ccc.grid_stride 1 k.cu:3:1 schedule="


def kernel(body: str, schedule: str = "static", target: str = "sm_90") -> str:
    """A marked kernel whose parameter is in ``%rd0``; it has ``%r``, ``%rd`` and ``%p``."""
    return f"""{HEADER.replace("sm_90", target)}
.visible .entry k(.param .u64 out)
{{
.reg .b32 %r<30>; .reg .b64 %rd<9>; .reg .pred %p<9>;
{MARKER}{schedule.replace(":", "=3A")}
ld.param.u64 %rd0, [out];
{body}
ret;
}}
"""


COORDINATES = """
mov.u32 %r1, %ctaid.x; mov.u32 %r4, %nctaid.x;
mov.u32 %r2, %ctaid.y; mov.u32 %r5, %nctaid.y;
mov.u32 %r3, %ctaid.z;
mad.lo.u32 %r2, %r3, %r5, %r2;
mad.lo.u32 %r1, %r2, %r4, %r1;
"""
COUNT = """
mov.u32 %r6, %ntid.x; mov.u32 %r7, %tid.x;
mad.lo.u32 %r7, %r1, %r6, %r7;
mad.wide.u32 %rd1, %r7, 4, %rd0;
red.global.add.u32 [%rd1], 1;
"""
ONLY_X = "mov.u32 %r1, %ctaid.x;"

GRIDS = [(1,), (5,), (50,), (3, 7), (1, 9, 2), (9, 1, 3), (1, 1, 11), (2, 3, 5), (4, 4, 4)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schedule", "multiprocessors"),
    one_in(3, itertools.product(["static", "dynamic", "dynamic:1", "dynamic:3"], [None, 3])),
)
def test_the_work_of_every_block_is_done_once(schedule: str, multiprocessors: int | None) -> None:
    threads = 33
    for body, grid in itertools.product((COORDINATES, ONLY_X), GRIDS):
        text = kernel(body + COUNT, schedule)
        # With so many registers, four blocks are resident on a multiprocessor.
        done = transform(text, multiprocessors=multiprocessors, registers={"k": 255})
        x, y, z = (*grid, 1, 1)[:3]
        seen = np.zeros((x if body is ONLY_X else x * y * z, threads), np.uint32)
        Module(done.ptx).get_function("k")(grid, (threads,), (seen,), schedule=1)
        times = y * z if body is ONLY_X else 1
        assert (seen == times).all(), (grid, body)


COUNTERS = "ccc_counters_k"


@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["dynamic", "dynamic:1", "dynamic:3"])
@pytest.mark.parametrize("body", [COUNT, f"bar.sync 0; {COUNT}"], ids=["warps", "blocks"])
def test_counters_go_back_to_zero(schedule: str, body: str) -> None:
    done = transform(kernel(COORDINATES + body, schedule), registers={"k": 255})
    module = Module(done.ptx)
    seen = np.zeros((70, 70), np.uint32)
    orders: list[str | int] = ["lockstep", 1, 2]
    for times, order in enumerate(orders, 1):
        module.get_function("k")((7, 5, 2), (70,), (seen,), schedule=order)
        assert (seen == times).all()
        assert not module.get_global(COUNTERS).any()


@pytest.mark.parametrize("neighbours", [1, 5])
def test_launches_find_a_place_beside_others(neighbours: int) -> None:
    done = transform(kernel(COORDINATES + COUNT, "dynamic"), registers={"k": 255})
    module = Module(done.ptx)
    table = module.get_global(COUNTERS)
    places = table[LINE_BYTES:].reshape(PLACES, -1)
    places[:neighbours, :LINE_BYTES].view(np.uint64)[:, 0] = 77
    places[:neighbours, LINE_BYTES:].view(np.uint32)[:] = 7
    expected = table.copy()
    seen = np.zeros((50, 64), np.uint32)
    module.get_function("k")((50,), (64,), (seen,), schedule=3)
    assert (seen == 1).all()
    assert np.array_equal(table, expected)


@pytest.mark.parametrize("schedule", ["static", "dynamic:3"])
def test_how_many_launched_blocks_work(schedule: str) -> None:
    working = 4
    done = transform(kernel(COORDINATES + COUNT, schedule), registers={"k": 255})
    seen = np.zeros((50, 64), np.uint32)
    counters = Module(done.ptx).get_function("k")((50,), (64,), (seen,))
    lines = done.ptx.splitlines()
    once = next(n for n, text in enumerate(lines, 1) if "[out]" in text)
    assert counters.lines["<ptx>", once].instructions == 2 * working  # warps


def count_resident(room: Room, threads: int, shared: int) -> int:
    """What the code that :func:`resident` emits computes, on a device with one multiprocessor."""
    (piece,) = parse_module(kernel("")).functions
    function = parse_function(piece)
    emit = Emitter(function, Block("start", named=False), Span())
    one = emit.define("mov.u32", "b32", 1)
    found = resident(emit, room, one)
    last = function.blocks[-1]
    last.statements[-1:-1] = emit.block.statements
    emit = Emitter(function, Block("store", named=False), Span())
    emit.emit("st.global.u32", Address(Register("%rd0", "b64")), found)
    last.statements[-1:-1] = emit.block.statements
    out = np.zeros(1, np.uint32)
    run = Module(HEADER + print_function(function)).get_function("k")
    run((1,), (threads,), (out,), shared_mem=shared)
    return int(out[0])


@pytest.mark.parametrize("arch", ["sm_75", "sm_86", "sm_90"])
@pytest.mark.parametrize("registers", [16, 40, 255])
def test_resident_blocks_are_counted_as_the_occupancy_calculator_does(
    arch: str, registers: int
) -> None:
    limits = cost.limits(arch)
    warps = min(limits.threads // 32, cost.warps_with_registers(registers))
    room = Room(None, warps, limits)
    for threads, shared in itertools.product((1, 33, 128, 1000), (0, 5_000, 48_000)):
        expected = cost.occupancy(arch, registers, shared, threads).blocks
        assert count_resident(room, threads, shared) == max(expected, 1), (threads, shared)


def report(text: str, **options: Any) -> dict[str, Any]:
    (one,) = transform(text, **options).report["kernels"]
    (record,) = one["paths"]
    found: dict[str, Any] = record
    return found


def test_the_report_says_what_the_resident_blocks_are_counted_with() -> None:
    found = report(kernel(COORDINATES + COUNT), multiprocessors=132, registers={"k": 40})
    assert (found["directive"], found["line"], found["applied"]) == ("grid_stride", 3, True)
    assert (found["schedule"], found["chunk"], found["barrier"]) == ("static", None, None)
    assert found["resident"] == {
        "multiprocessors": 132,
        "blocks": 32,
        "warps": 48,
        "shared_bytes": 228 * 1024,
        "shared_bytes_reserved": 1024,
        "shared_bytes_step": 128,
    }


MANY_REGISTERS = """
#pragma ccc grid_stride schedule(static)
__global__ void __launch_bounds__(128, 1) k(const float *x, float *y) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    float a[96];
    for (int j = 0; j < 96; ++j) a[j] = x[i + j * 1000];
    for (int j = 0; j < 96; ++j) y[i + j * 1000] = a[j] * a[95 - j];
}
"""


@pytest.mark.slow
def test_registers_limit_the_resident_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CCC_CACHE_DIR", str(tmp_path))
    try:
        toolchain.find()
    except CccError as error:
        pytest.skip(error.message)
    (found,) = nvcc.compile(MANY_REGISTERS, strategy="collect").report["kernels"][0]["paths"]
    warps = cost.warps_with_registers(found["registers_after"])
    assert warps < 32
    assert found["resident"]["warps"] == warps


def test_the_report_says_how_large_chunks_are() -> None:
    found = report(kernel(COUNT, "dynamic:7"), multiprocessors=4)
    assert (found["schedule"], found["chunk"]) == ("dynamic", 7)
    assert found["resident"]["multiprocessors"] == 4


def test_threads_that_meet_need_room_to_be_told_the_next_block() -> None:
    text = kernel(f"bar.sync 0; mov.u64 %rd2, room; {COUNT}", "dynamic")
    text = text.replace(".visible", ".extern .shared .align 4 .b8 room[];\n.visible")
    assert "--ccc-dynamic-shared=N" in report(text)["reason"]
    assert "there may be no room" in report(text, dynamic_shared=48 * 1024)["reason"]
    assert report(text, dynamic_shared=48 * 1024 - 4)["applied"]


def test_an_architecture_that_is_not_known() -> None:
    found = report(kernel(COUNT, target="sm_61"))
    assert not found["applied"]
    assert 'unknown architecture "sm_61"' in found["reason"]


def test_nothing_is_repeated_twice() -> None:
    once = transform(kernel(COORDINATES + COUNT)).ptx
    assert MARKER not in once
    assert transform(once).ptx == once


def test_parameters_are_read_once_and_what_is_not_set_is_zero() -> None:
    body = "mov.u32 %r1, %ctaid.x; setp.gt.u32 %p1, %r1, 3; @%p1 mov.u32 %r2, 7;\n"
    text = transform(kernel(body + "@%p1 exit; st.global.u32 [%rd0], %r2;")).ptx
    before, _, loop = text.partition("// ccc.for 1")
    assert "[out]" in before
    assert "[out]" not in loop
    assert loop.split("\n")[1].strip() == "mov.b32 %r2, 0;"
    assert "exit" not in text


def test_what_is_read_before_it_is_set_stays_where_it_is() -> None:
    body = "add.u32 %r3, %r2, 1; mov.u32 %r2, 5; st.global.u32 [%rd0], %r2;"
    out = np.zeros(1, np.uint32)
    Module(transform(kernel(body)).ptx).get_function("k")((3,), (1,), (out,))
    assert out[0] == 5


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("mov.u16 %h1, %ctaid.x;", "in 16 bits"),
        ("@%p1 bar.sync 0;", "others wait for all (PTX line 10: @%p1 bar.sync 0;)"),
        ("mbarrier.init.shared.b64 [%rd0], 1;", "works asynchronously"),
        ("mov.u32 %r1, %clusterid.x;", "it means blocks of the hardware"),
        ("griddepcontrol.wait;", "works asynchronously"),
        ("frobnicate.b32 %r1, %r2;", "the opcode frobnicate.b32 is not known"),
    ],
)
def test_what_is_left_alone(body: str, reason: str) -> None:
    text = kernel(body).replace(".reg .pred", ".reg .b16 %h<3>; .reg .pred")
    done = transform(text)
    assert done.ptx == text
    (record,) = done.report["kernels"][0]["paths"]
    assert reason in record["reason"]
    assert done.diagnostics[0].startswith("k.cu:3:1: warning: kernel left as it was: ")


def test_a_loop_over_blocks_alone_is_made_where_its_schedule_is_told() -> None:
    """Whoever insists on all that is annotated has not asked for what only costs."""
    assert report(kernel(COUNT))["applied"]
    found = report(kernel(COUNT).replace(" schedule=static", ""))
    assert (found["applied"], found["advice"]) == (False, NO_PATHS)


@pytest.mark.parametrize(("special", "is_refused"), [("tid", False), ("ctaid", True)])
def test_to_insist_is_advised_only_where_something_inside_can_be_collected(
    special: str, is_refused: bool
) -> None:
    body = f"""
mov.u32 %r1, %{special}.x;
setp.ne.s32 %p1, %r1, 0;
@%p1 bra NEXT;
// ccc.then 2 k.cu:5:1
red.global.add.u32 [%rd0], 1;
NEXT:
"""
    whole, path = by_default(kernel(body)).remarks["k"]
    assert (path.reason is not None) == is_refused
    assert whole.advice is not None
    assert whole.advice.endswith("--ccc-strategy=collect insists") != is_refused


CALLED = """
.func add_one(.param .b64 out, .param .b32 who)
{
.reg .b32 %r<3>; .reg .b64 %rd<3>; .reg .pred %p<3>;
ld.param.u64 %rd0, [out];
ld.param.u32 %r1, [who];
setp.ne.s32 %p1, %r1, 0;
@%p1 bra NEXT;
// ccc.then 2 k.cu:5:1
red.global.add.u32 [%rd0], 1;
NEXT:
ret;
}
"""


def test_what_a_kernel_calls_is_inside_it() -> None:
    call = """
mov.u32 %r1, %tid.x;
{
.param .b64 out1; .param .b32 who1;
st.param.b64 [out1], %rd0; st.param.b32 [who1], %r1;
call.uni add_one, (out1, who1);
}
"""
    text = kernel(call).replace(".visible", f"{CALLED}.visible")
    whole, _ = by_default(text).remarks["k"]
    assert whole.annotation == "grid_stride"
    assert "nothing inside is transformed" in str(whole.advice)


LISTS = """
mov.u32 %r1, %ctaid.x; mov.u32 %r6, %ntid.x; mov.u32 %r7, %tid.x;
mad.lo.u32 %r7, %r1, %r6, %r7;
rem.u32 %r8, %r7, 40;
mov.u32 %r9, 0;
// ccc.loop 2 k.cu:5:1
TURN:
// ccc.variable 2 k.cu:5:1 strategy=STRATEGY
add.u32 %r10, %r9, %r7;
mul.wide.u32 %rd1, %r10, 4;
add.s64 %rd2, %rd0, %rd1;
red.global.add.u32 [%rd2], %r9;
add.u32 %r9, %r9, 1;
setp.lt.u32 %p1, %r9, %r8;
@%p1 bra TURN;
"""


def lists(strategy: str, schedule: str = "") -> str:
    text = kernel(LISTS.replace("STRATEGY", strategy), schedule)
    return text if schedule else text.replace(" schedule=", "")


@pytest.mark.parametrize("strategy", ["engage", "engage_block", "sub_warp=288=29"])
def test_blocks_stay_where_lanes_only_share_lists(strategy: str) -> None:
    text = lists(strategy)
    done = transform(text)
    found = done.report["kernels"][0]["paths"][0]
    assert (found["applied"], found["schedule"], found["resident"]) == (True, "launched", None)
    assert "%nsmid" not in done.ptx
    for threads, blocks in itertools.product((1, 33, 64), (1, 7)):
        made, expected = (np.zeros(threads * blocks + 40, np.uint32) for _ in range(2))
        Module(text).get_function("k")((blocks,), (threads,), (expected,))
        Module(done.ptx).get_function("k")((blocks,), (threads,), (made,), schedule=1)
        assert (made == expected).all()


MEETS = """
mov.u32 %r8, 5;
shfl.sync.bfly.b32 %r8, %r8, 1, 31, -1;
"""


def test_what_blocks_run_one_after_the_other_lets_them_meet() -> None:
    text = lists("engage").replace("mov.u32 %r9, 0;", f"{MEETS}mov.u32 %r9, 0;")
    path = transform(text).remarks["k"][-1]
    assert "lets warps meet between its blocks (PTX line " in str(path.reason)
    assert ";); write the loop" in str(path.reason)


TABLE = """
#pragma ccc grid_stride
__global__ void __launch_bounds__(64) k(const int *__restrict__ x, int *__restrict__ y, int n) {
    __shared__ int table[64];
    table[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int d = table[i & 63];
        #pragma ccc for variable strategy(engage)
        for (int e = 0; e < d; e++) atomicAdd(&y[i + e], x[i * 9 + e]);
    }
}
"""


@needs_nvcc
def test_a_block_that_runs_no_other_ends_without_a_barrier() -> None:
    done = nvcc.compile(TABLE)
    told = {one["strategy"]: one.get("schedule") for one in done.report["kernels"][0]["paths"]}
    assert told == {"grid_stride": "launched", "engage": None}
    assert done.ptx.count("bar.sync") == 1
    assert "barrier.sync" not in done.ptx


@pytest.mark.parametrize(
    ("strategy", "schedule"),
    [("merge", ""), ("engage", "static"), ("engage", "dynamic")],
)
def test_blocks_loop_where_tasks_come_from_more_of_them(strategy: str, schedule: str) -> None:
    done = transform(lists(strategy, schedule))
    found = done.report["kernels"][0]["paths"][0]
    assert (found["applied"], found["schedule"]) == (True, schedule or "static")
    assert "%nsmid" in done.ptx
