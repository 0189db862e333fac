"""Calls: arguments in registers, through pointers, by tables in memory; what initialisers name."""

from __future__ import annotations

import numpy as np
import pytest
from emulating import HEADER, run

from ccc.emulator import EmulatorError, Module

SCHEDULES = ("lockstep", 0, 1, 2)

REGISTERS = """
.func (.reg .u32 s, .reg .pred big) weigh(.reg .u32 a, .reg .f32 f, .reg .b64 w)
{ .reg .u32 t; .reg .u64 u;
  cvt.rzi.u32.f32 t, f; add.u32 t, t, a; cvt.u32.u64 s, w; mad.lo.u32 s, s, 100, t;
  setp.gt.u32 big, t, 20;
  @big bra OUT;
  add.u32 s, s, 1000000;
OUT: ret; }
.visible .entry k(.param .u64 p)
{ .reg .u32 i, r; .reg .u64 a, o; .reg .pred q; .reg .f32 f;
  ld.param.u64 a, [p]; mov.u32 i, %tid.x; mul.wide.u32 o, i, 4; add.u64 a, a, o;
  mov.f32 f, 0f41200000;
  call (r, q), weigh, (i, f, 3);
  @q add.u32 r, r, 7;
  st.global.u32 [a], r; ret; }
"""


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_parameters_and_results_in_registers(schedule: str | int) -> None:
    out = np.zeros(32, np.uint32)
    run(Module(HEADER + REGISTERS), out, schedule=schedule)
    assert out.tolist() == [310 + i + (7 if i + 10 > 20 else 1000000) for i in range(32)]


VECTORS = """
.func (.reg .v2 .u32 o) swap(.reg .b32 n, .reg .v2 .u32 a, .reg .v4 .b16 h)
{ .reg .pred p; .reg .u32 t;
  setp.eq.u32 p, n, 1;
  @p bra ONE;
  mov.v2.u32 o, {a.y, a.x};
  mov.b32 t, {h.w, h.x}; add.u32 o.x, o.x, t;
  ret;
ONE: mov.u32 o.x, n; mov.u32 o.y, 0; }
.visible .entry k(.param .u64 p)
{ .reg .u32 i, n; .reg .u64 a, w; .reg .v2 .u32 v; .reg .v4 .b16 h;
  ld.param.u64 a, [p]; mov.u32 i, %tid.x; mul.wide.u32 w, i, 8; add.u64 a, a, w;
  and.b32 n, i, 1; ld.global.v2.u32 v, [a];
  mov.b64 h, 0x0007000600050004;
  call (v), swap, (n, v, h);
  mov.v2.u32 {v.y, v.x}, v;
  st.global.v2.u32 [a], v; ret; }
"""


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_vectors_in_registers(schedule: str | int) -> None:
    out = np.arange(64, dtype=np.uint32)
    run(Module(HEADER + VECTORS), out, schedule=schedule)
    odd, even = [0, 1], [[2 * i, 2 * i + 1 + 0x40007] for i in range(0, 32, 2)]
    assert out.reshape(32, 2).tolist() == [part for two in even for part in (two, odd)]


FUNCTIONS = """
.func (.param .u32 r) plus(.param .u32 a) { .reg .u32 x; ld.param.u32 x, [a];
  add.u32 x, x, 5; st.param.u32 [r], x; ret; }
.func (.param .u32 r) times(.param .u32 a) { .reg .u32 x; ld.param.u32 x, [a];
  mul.lo.u32 x, x, 3; st.param.u32 [r], x; ret; }
.func (.param .u32 r) deep(.param .u32 a);
.global .align 8 .u64 table[4] = {plus, times, plus, deep};
.func (.param .u32 r) deep(.param .u32 a) { .reg .u32 x; .reg .u64 f; .reg .pred q;
  ld.param.u32 x, [a]; setp.lt.u32 q, x, 4; @q bra FEW;
  sub.u32 x, x, 4;
  ld.global.u64 f, [table+24];
  { .param .b32 in; .param .b32 out; st.param.b32 [in], x;
    call (out), f, (in), shape; ld.param.b32 x, [out]; }
  add.u32 x, x, 100;
FEW: st.param.u32 [r], x; ret;
shape: .callprototype (.param .b32 _) _ (.param .b32 _); }
"""
POINTERS = (
    FUNCTIONS
    + """
.visible .entry k(.param .u64 p)
{ .reg .u32 i, r, n; .reg .u64 a, o, f; .reg .pred q;
  shape: .callprototype (.param .b32 _) _ (.param .b32 _);
  some: .calltargets plus, times;
  ld.param.u64 a, [p]; mov.u32 i, %tid.x; mul.wide.u32 o, i, 4; add.u64 a, a, o;
  and.b32 n, i, 3; mul.wide.u32 o, n, 8; mov.u64 f, table; add.u64 f, f, o;
  ld.global.u64 f, [f];
  { .param .b32 in; .param .b32 out; st.param.b32 [in], i;
    call (out), f, (in), shape; ld.param.b32 r, [out]; }
  setp.lt.u32 q, i, 16; mov.u64 f, times; @q mov.u64 f, plus;
  @q call (i), f, (r), some;
  @!q mov.u32 i, r;
  st.global.u32 [a], i; ret; }
"""
)


def deep(x: int) -> int:
    return deep(x - 4) + 100 if x >= 4 else x


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_calls_through_tables_and_registers(schedule: str | int) -> None:
    text = POINTERS.replace("@q call (i), f, (r), some;", "@q bra ONE; bra TWO; ONE: { .param .b32"
        " in; .param .b32 out; st.param.b32 [in], r; call (out), f, (in), some;"
        " ld.param.b32 i, [out]; } TWO:")  # fmt: skip
    out = np.zeros(32, np.uint32)
    run(Module(HEADER + text), out, schedule=schedule)
    functions = (lambda x: x + 5, lambda x: 3 * x, lambda x: x + 5, deep)
    found = [functions[i % 4](i) for i in range(32)]
    assert out.tolist() == [x + 5 if i < 16 else x for i, x in enumerate(found)]


def test_a_pointer_to_nothing_is_a_fault() -> None:
    text = (
        FUNCTIONS
        + """
.visible .entry k(.param .u64 p)
{ .reg .u64 f; .param .b32 in; .param .b32 out; ld.param.u64 f, [p];
shape: .callprototype (.param .b32 _) _ (.param .b32 _);
  st.param.b32 [in], 1; call (out), f, (in), shape; ret; }
"""
    )
    with pytest.raises(EmulatorError, match=r"address of no function .* thread \(0, 0, 0\)"):
        run(Module(HEADER + text), np.zeros(1, np.uint32))


def test_what_initialisers_name() -> None:
    text = """
.global .align 4 .u32 numbers[4] = {10, 20, 30, 40};
.const .align 8 .u64 third = numbers + 8;
.global .align 8 .u64 second = generic(numbers)+4;
.global .align 8 .u64 last[2] = {0, generic(numbers) + 16-4};
.global .align 1 .u8 bytes[3] = {0xff(numbers), 0xff00(numbers), 0xff0000(numbers)};
.visible .entry k(.param .u64 p)
{ .reg .u32 v, w, b; .reg .u64 a, o;
  .global .align 4 .u32 count = 7;
  .const .align 4 .f32 half = 0f3F000000;
  ld.param.u64 o, [p];
  ld.const.u64 a, [third]; ld.global.u32 v, [a]; st.global.u32 [o], v;
  ld.global.u64 a, [second]; ld.u32 v, [a]; st.global.u32 [o+4], v;
  ld.global.u64 a, [last+8]; ld.u32 v, [a]; st.global.u32 [o+8], v;
  atom.global.add.u32 v, [count], 1; st.global.u32 [o+12], v;
  ld.const.u32 v, [half]; st.global.u32 [o+16], v;
  ld.global.u8 v, [bytes]; ld.global.u8 w, [bytes+1]; ld.global.u8 b, [bytes+2];
  mad.lo.u32 v, w, 256, v; mad.lo.u32 v, b, 65536, v;
  mov.u64 a, numbers; cvt.u32.u64 w, a; and.b32 w, w, 0xffffff; sub.u32 v, v, w;
  st.global.u32 [o+20], v; ret; }
"""
    module = Module(HEADER + text)
    for count in (7, 8):  # a variable of a function keeps its value from launch to launch
        out = np.full(6, 99, np.uint32)
        run(module, out, threads=1)
        assert out.tolist() == [30, 20, 40, count, 0x3F000000, 0]


def test_a_call_without_a_body_is_refused_where_it_is_executed() -> None:
    text = """
.extern .func elsewhere;
.visible .entry k(.param .u64 p)
{ .reg .u32 i; .reg .pred q; mov.u32 i, %tid.x; setp.ge.u32 q, i, 32; @q call elsewhere; ret; }
"""
    module = Module(HEADER + text)
    run(module, np.zeros(1), threads=32)
    with pytest.raises(EmulatorError, match="elsewhere has no body here"):
        run(module, np.zeros(1), threads=33)
