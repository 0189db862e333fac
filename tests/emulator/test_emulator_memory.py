"""State spaces, atomics, arguments, traffic, and accesses that are wrong."""

from __future__ import annotations

import gc
import linecache
import traceback
from typing import Any

import numpy as np
import pytest
from breadth import examples
from emulating import HEADER, ON_BOTH, ptx, run
from hypothesis import given
from hypothesis import strategies as st

from ccc.emulator import Counters, EmulatorError, Module
from ccc.emulator.memory import atomics as atomics_of_emulator

pytestmark = ON_BOTH
COPY = "add.u64 %x1, %p0, %x0; add.u64 %x2, %p1, %x0; "


@pytest.mark.parametrize(
    ("code", "message", "lane"),
    [
        ("ld.global.u32 %r1, [%x1+100];", "out-of-bounds global access of 4 bytes", 7),
        ("ld.global.u32 %r1, [%x1+-4];", "out-of-bounds global access", 0),
        ("st.global.u64 [%x1], %x1;", "misaligned global access of 8 bytes", 1),
        ("ld.global.u32 %r1, [%x0];", "out-of-bounds global access", 0),
        ("ld.u32 %r1, [0];", "by ld.u32, as behind a null pointer, address 0x0", 0),
        ("atom.global.add.u32 %r1, [%x1+2], 1;", "misaligned global access", 0),
        ("ld.shared.u32 %r1, [%r0];", "misaligned shared access", 1),
        ("ld.shared.u32 %r1, [box+64];", "out-of-bounds shared access", 0),
        ("ld.shared.u32 %r1, [box];", "uninitialised shared access", 0),
        ("ld.local.u32 %r1, [mine];", "uninitialised local access", 0),
        ("ld.local.u32 %r1, [mine+64];", "out-of-bounds local access", 0),
        ("atom.shared.add.u32 %r1, [box], 1;", "uninitialised shared access", 0),
    ],
)
def test_wrong_accesses(code: str, message: str, lane: int) -> None:
    body = ".shared .align 4 .b8 box[64]; .local .align 8 .b8 mine[64];\n"
    body += f"add.u64 %x1, %p0, %x0;\n   {code}"
    with pytest.raises(EmulatorError, match=message) as error:
        run(ptx(body), np.zeros(32, np.int32))
    fault = error.value
    assert fault.thread == (lane, 0, 0)
    assert fault.block == (0, 0, 0)
    assert "address 0x" in fault.message
    assert fault.span is not None
    assert fault.span.column == 4
    assert str(fault).splitlines()[1].strip() == code


def test_a_traceback_shows_the_generated_line_while_the_program_is_there() -> None:
    shown = set()
    modules = [ptx("ld.global.u32 %r1, [0];"), ptx("st.global.u32 [0], 1;")]
    for module, method in zip(modules, ("load", "store"), strict=True):
        with pytest.raises(EmulatorError) as error:
            run(module, np.zeros(32, np.int32))
        frames = traceback.extract_tb(error.tb)
        (segment,) = (frame for frame in frames if frame.filename.startswith("<emulated k "))
        assert f"m.memory.{method}(" in (segment.line or "")
        shown.add(segment.filename)
    assert len(shown) == 2
    assert shown <= linecache.cache.keys()
    del error, module, modules
    gc.collect()
    assert shown.isdisjoint(linecache.cache)


def test_arrays_keep_what_was_written_before_a_fault() -> None:
    out = np.zeros(32, np.int32)
    with pytest.raises(EmulatorError, match="out-of-bounds"):
        run(ptx("add.u64 %x1, %p0, %x0; st.global.u32 [%x1], 5; st.global.u32 [%x1+4], 6;"), out)
    assert set(out.tolist()) == {5}


def test_all_widths_and_extensions() -> None:
    data = np.arange(-16, 16, dtype=np.int8)
    out = np.zeros(32, np.int64)
    text = """
    cvt.u64.u32 %x1, %r0; add.u64 %x1, %p0, %x1;
    shl.b64 %x2, %x0, 1; add.u64 %x2, %p1, %x2;
    ld.global.s8 %x3, [%x1]; st.global.u64 [%x2], %x3;
    """
    run(ptx(text, 2), data, out)
    assert out.tolist() == data.tolist()
    run(ptx(text.replace("s8", "u8"), 2), data, out)
    assert out.tolist() == data.view(np.uint8).tolist()
    run(ptx(text.replace("st.global.u64", "st.global.u16"), 2), data, out)
    assert out.view(np.int16)[::4].tolist() == data.tolist()


def test_vectors() -> None:
    data = np.arange(128, dtype=np.int32)
    out = np.zeros(128, np.int32)
    text = """
    shl.b64 %x3, %x0, 2; add.u64 %x1, %p0, %x3; add.u64 %x2, %p1, %x3;
    ld.global.nc.v4.u32 {%r1, %r2, %r3, _}, [%x1];
    ld.global.v2.u32 {%r5, %r4}, [%x1+8];
    st.global.v4.u32 [%x2], {%r4, %r3, %r2, %r1};
    """
    counts = run(ptx(text, 2), data, out)
    assert out.tolist() == data.reshape(32, 4)[:, ::-1].ravel().tolist()
    assert counts.global_load_transactions == 16 + 16
    assert counts.global_store_transactions == 16


def test_generic_addresses_lead_to_every_space() -> None:
    """Each lane uses another space: global, shared or local memory."""
    text = """
    .shared .align 4 .b8 box[128]; .local .align 4 .b8 mine[8];
    cvta.shared.u64 %x3, %x0;
    mov.u64 %x4, mine; cvta.local.u64 %x4, %x4;
    add.u64 %x5, %p0, %x0;
    rem.u32 %r1, %r0, 3;
    setp.eq.u32 %q1, %r1, 1; selp.b64 %x6, %x3, %x5, %q1;
    setp.eq.u32 %q2, %r1, 2; selp.b64 %x6, %x4, %x6, %q2;
    st.u32 [%x6], %r0;
    atom.add.u32 %r2, [%x6], 100;
    ld.u32 %r3, [%x6];
    isspacep.shared %q3, %x6; isspacep.local %q4, %x6; isspacep.global %q5, %x6;
    selp.u32 %r4, 1000, 0, %q3; selp.u32 %r5, 2000, 0, %q4; selp.u32 %r6, 3000, 0, %q5;
    add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r5; add.u32 %r3, %r3, %r6;
    st.global.u32 [%x5], %r3;
    """
    out = np.zeros(32, np.int32)
    run(ptx(text), out)
    assert out.tolist() == [100 + i + (3000, 1000, 2000)[i % 3] for i in range(32)]


def test_constants_are_told_from_global_memory() -> None:
    """Each lane asks of a constant, of global or of shared memory, and of what a function has."""
    text = """
    .shared .align 4 .b8 box[128]; .const .align 4 .b8 own[8];
    mov.u64 %x1, first; mov.u64 %x2, own; cvta.const.u64 %x1, %x1; cvta.const.u64 %x2, %x2;
    mov.u64 %x3, box; cvta.shared.u64 %x3, %x3;
    add.u64 %x5, %p0, %x0;
    rem.u32 %r1, %r0, 4;
    setp.eq.u32 %q1, %r1, 1; selp.b64 %x6, %x1, %x5, %q1;
    setp.eq.u32 %q2, %r1, 2; selp.b64 %x6, %x2, %x6, %q2;
    setp.eq.u32 %q3, %r1, 3; selp.b64 %x6, %x3, %x6, %q3;
    isspacep.const %q5, %x6; selp.u32 %r3, 1, 0, %q5;
    st.global.u32 [%x5], %r3;
    """
    out = np.zeros(32, np.int32)
    run(ptx(text, module=".const .u32 first[2] = {1, 2};"), out)
    assert out.tolist() == [0, 1, 1, 0] * 8


def test_a_variable_that_is_named_without_a_space_is_in_its_own() -> None:
    kernel = ptx(
        """.shared .align 8 .b32 box[4]; .local .align 8 .b32 mine[4]; add.u64 %x1, %p0, %x0;
        st.u32 [mine+4], %r0; ld.volatile.u32 %r1, [mine+4]; ld.u32 %r2, mine[1];
        setp.eq.u32 %q0, %r0, 0; @%q0 st.u32 [box+8], 100; bar.sync 0;
        atom.add.u32 %r3, [box+8], 3; bar.sync 0; ld.u32 %r4, box[2];
        ld.u32 %r5, [table+4]; red.add.u32 [table], 1;
        add.u32 %r6, %r1, %r2; add.u32 %r6, %r6, %r4; add.u32 %r6, %r6, %r5;
        st.global.u32 [%x1], %r6;""",
        module=".global .u32 table[2] = {0, 5000};",
    )
    out = np.zeros(32, np.uint32)
    run(kernel, out)
    assert out.tolist() == [2 * i + 100 + 96 + 5000 for i in range(32)]


def test_module_variables_live_on() -> None:
    module = ptx(
        """
        ld.global.u32 %r1, [count]; add.u32 %r1, %r1, 1; st.global.u32 [count], %r1;
        ld.global.u64 %x1, [where]; ld.u32 %r2, [%x1];
        ld.const.f32 %r3, [table+4];
        mov.u64 %x2, list; ld.global.u16 %r4, [%x2+2];
        st.global.v4.u32 [%p0], {%r1, %r2, %r3, %r4};
        """,
        module="""
        .global .align 4 .u32 count = 5;
        .global .align 8 .u64 where = generic(count);
        .const .align 4 .f32 table[4] = {0f3F800000, 0f40000000};
        .global .align 2 .u16 list[4] = {1, 2, 3};
        """,
    )
    out = np.zeros(4, np.int32)
    run(module, out, threads=1)
    assert out.tolist() == [6, 6, 0x40000000, 2]
    run(module, out, threads=1)
    assert out[0] == 7


def test_dynamic_shared_memory_follows_the_static() -> None:
    module = ptx(
        """
        .shared .align 4 .b8 box[20];
        mov.u32 %r1, box; mov.u32 %r2, more;
        mov.u32 %r3, %dynamic_smem_size;
        add.u32 %r4, %r2, 252; st.shared.u32 [%r4], 1;
        st.global.v2.u32 [%p0], {%r2, %r3};
        """,
        module=".extern .shared .align 16 .b8 more[];",
    )
    out = np.zeros(2, np.int32)
    run(module, out, threads=1, shared_mem=256)
    assert out.tolist() == [32, 256]
    with pytest.raises(EmulatorError, match="out-of-bounds shared"):
        run(module, out, threads=1, shared_mem=252)
    with pytest.raises(EmulatorError, match="a block has 232448"):
        run(module, out, threads=1, shared_mem=228 * 1024)
    with pytest.raises(EmulatorError, match="ptxas allows 49152"):
        run(ptx(".shared .align 4 .b8 box[50000]; mov.u32 %r1, box;"), out)


def test_two_dimensional_blocks_in_a_three_dimensional_grid() -> None:
    text = """
    mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ctaid.y;
    mov.u32 %r5, %ctaid.z; mov.u32 %r6, %ntid.x; mov.u32 %r7, %ntid.y; mov.u32 %r8, %nctaid.x;
    mov.u32 %r9, %nctaid.y;
    mad.lo.u32 %r10, %r5, %r9, %r4; mad.lo.u32 %r10, %r10, %r8, %r3;
    mad.lo.u32 %r10, %r10, %r7, %r2; mad.lo.u32 %r10, %r10, %r6, %r1;
    mul.wide.u32 %x1, %r10, 4; add.u64 %x1, %p0, %x1;
    ld.global.u32 %r11, [%x1]; add.u32 %r11, %r11, 1; st.global.u32 [%x1], %r11;
    """
    out = np.zeros(2 * 3 * 2 * 10 * 5, np.int32)
    kernel = ptx(text).get_function("k")
    kernel((2, 3, 2), (10, 5), (out,))
    assert (out == 1).all()


def test_a_grid_larger_than_one_wave() -> None:
    text = """
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r1, %r1, %r2, %r0;
    mul.wide.u32 %x1, %r1, 4; add.u64 %x1, %p0, %x1; st.global.u32 [%x1], %r1;
    """
    out = np.zeros(1024 * 300, np.int32)
    counts = run(ptx(text), out, threads=1024, blocks=300)
    assert (out == np.arange(out.size)).all()
    assert counts.warp_execution_efficiency == 1.0


def test_arrays_that_overlap_share_memory() -> None:
    base = np.zeros(64, np.int32)
    text = COPY + "st.global.u32 [%x1], %r0; ld.global.u32 %r1, [%x2]; st.global.u32 [%x2], %r1;"
    run(ptx(text, 2), base[:48], base[16:])
    assert base[:32].tolist() == list(range(32))
    with pytest.raises(EmulatorError, match="not C-contiguous"):
        run(ptx(text, 2), base[::2], base)


def scalars(*types: str) -> Module:
    parameters = ", ".join(f".param {t} k_{i}" for i, t in enumerate(types))
    return Module(
        f"""{HEADER}.visible .entry _Z1kPjif({parameters}) {{
        .reg .b64 %x; .reg .b32 %r; .reg .b64 %d;
        ld.param.u64 %x, [k_0]; ld.param.u32 %r, [k_1]; ld.param.b64 %d, [k_2];
        st.global.u32 [%x], %r; st.global.u64 [%x+8], %d; ret; }}"""
    )


def test_scalar_arguments() -> None:
    out = np.zeros(4, np.uint32)
    module = scalars(".u64", ".u32", ".f64")
    kernel = module.get_function("k")
    kernel((1,), (1,), (out, np.int32(-2), np.float64(1.5)))
    assert out.tolist() == [0xFFFFFFFE, 0, 0, 0x3FF80000]
    kernel((1,), (1,), (out, -3, 2.0))
    assert out.tolist() == [0xFFFFFFFD, 0, 0, 0x40000000]
    for arguments, message in [
        ((out, np.int64(1), 1.0), "argument 2 of _Z1kPjif has 8 bytes, its parameter k_1 4"),
        ((out, 1), "takes 3 arguments, not 2"),
        ((out, "one", 1.0), "an argument of type str cannot be passed"),
    ]:
        with pytest.raises(EmulatorError, match=message):
            kernel((1,), (1,), arguments)
    kernel((1,), (1,), (out, True, 0.5, "ignored", out[::2]))
    assert out.tolist() == [1, 0, 0, 0x3FE00000]
    with pytest.raises(EmulatorError, match='there is no kernel _Z1kPjf; did you mean "_Z1kPjif"'):
        module.get_function("_Z1kPjf")
    with pytest.raises(EmulatorError, match="there is no kernel twice<int>, only _Z1kPjif"):
        module.get_function("twice<int>")
    with pytest.raises(EmulatorError, match="cannot be launched"):
        kernel((1,), (1025,), (out, 1, 1.0))


def test_blocks_of_the_size_that_was_compiled() -> None:
    text = f"{HEADER}.visible .entry k() .reqntid 64, 1, 1 {{ ret; }}"
    Module(text).get_function("k")((1,), (64,), ())
    with pytest.raises(EmulatorError, match="compiled for blocks of"):
        Module(text).get_function("k")((1,), (32, 2), ())
    kernel = Module(text.replace("reqntid", "maxntid")).get_function("k")
    kernel((1,), (32, 2), ())
    with pytest.raises(EmulatorError, match="compiled for blocks of"):
        kernel((1,), (96,), ())


def test_a_structure_by_value() -> None:
    module = Module(
        f"""{HEADER}.visible .entry k(.param .u64 a, .param .align 8 .b8 s[16]) {{
        .reg .b64 %x, %y; .reg .b32 %r, %i;
        ld.param.u64 %x, [a]; ld.param.u32 %r, [s+8]; ld.param.u64 %y, [s];
        st.global.u64 [%x], %y; st.global.u32 [%x+8], %r;
        mov.b64 %y, s; ld.param.u32 %i, [%y+12]; st.global.u32 [%x+12], %i; ret; }}"""
    )
    kind = np.dtype([("big", np.int64), ("one", np.int32), ("two", np.int32)])
    out = np.zeros(1, kind)
    value = np.array([(1 << 40, 7, 8)], kind)[0]
    module.get_function("k")((1,), (1,), (out, value))
    assert out[0] == value
    module.get_function("k")((1,), (1,), (out, bytes(range(16))))
    assert out.tobytes() == bytes(range(16))
    module.get_function("k")((1,), (1,), (out, np.arange(16, 32, dtype=np.uint8)))
    assert out.tobytes() == bytes(range(16, 32))
    module.get_function("k")((1,), (1,), (out, np.void(bytes(16))))
    assert out.tobytes() == bytes(16)
    module.get_function("k")((1,), (1,), (out, 1 + 2j))
    assert out.tobytes() == np.complex128(1 + 2j).tobytes()


INTEGERS: dict[str, Any] = {
    "add": lambda old, b: old + b,
    "exch": lambda _, b: b,
    "min": min,
    "max": max,
    "and": lambda old, b: old & b,
    "or": lambda old, b: old | b,
    "xor": lambda old, b: old ^ b,
    "inc": lambda old, b: 0 if old >= b else old + 1,
    "dec": lambda old, b: b if old == 0 or old > b else old - 1,
}
u32 = st.integers(0, 2**32 - 1)
small = st.integers(0, 5)


@pytest.mark.parametrize("name", [*INTEGERS, "cas", "add.f32"])
@examples(10, 60)
@given(
    lanes=st.lists(
        st.tuples(st.integers(0, 3), st.one_of(small, u32), small), min_size=1, max_size=40
    ),
    start=st.lists(st.one_of(small, u32), min_size=4, max_size=4),
)
def test_atomics_are_sequential(
    name: str, lanes: list[tuple[int, int, int]], start: list[int]
) -> None:
    place = np.array([lane[0] for lane in lanes])
    dtype = np.float32 if name == "add.f32" else np.uint32
    first = np.array([lane[1] for lane in lanes]).astype(dtype)
    second = np.array([lane[2] for lane in lanes]).astype(dtype)
    cells = np.array(start).astype(dtype)
    expected, found = cells.copy(), []
    for where, a, b in zip(place, first, second, strict=True):
        old = expected[where]
        found.append(old)
        if name == "cas":
            expected[where] = b if old == a else old
        elif name == "add.f32":
            expected[where] = old + a
        else:
            expected[where] = INTEGERS[name](int(old), int(a)) & 0xFFFFFFFF
    values = (first, second) if name == "cas" else (first,)
    result = atomics_of_emulator.apply(name.split(".", maxsplit=1)[0], cells, place, values)
    assert result.tolist() == np.array(found).tolist()
    assert cells.tolist() == expected.tolist()


def test_many_lanes_count_in_one_place() -> None:
    text = """
    atom.global.add.u32 %r1, [%p0], 1;
    mul.wide.u32 %x1, %r1, 4; add.u64 %x1, %p1, %x1;
    red.global.add.u32 [%x1], 1;
    red.global.max.u64 [%p0+8], %x0;
    atom.global.cas.b32 %r2, [%p0+16], 0, 7;
    """
    for schedule in ("lockstep", 3, 4):
        counter, seen = np.zeros(8, np.uint32), np.zeros(2048, np.uint32)
        run(ptx(text, 2), counter, seen, threads=256, blocks=8, schedule=schedule)
        assert counter[0] == 2048
        assert (seen == 1).all()
        assert counter[2] == 255 * 4
        assert counter[4] == 7


def test_atomics_of_the_other_types() -> None:
    out = np.zeros(4, np.float64)
    single = np.zeros(2, np.float32)
    text = """
    cvt.rn.f64.u32 %x1, %r0; cvt.rn.f32.u32 %r1, %r0;
    red.global.add.f64 [%p0], %x1;
    atom.global.add.f32 %r2, [%p1], %r1;
    atom.global.exch.b64 %x2, [%p0+8], %x1;
    red.global.min.s32 [%p1+4], -5;
    """
    run(ptx(text, 2), out, single)
    assert out[:2].tolist() == [496.0, 31.0]
    assert single[0] == 496.0
    assert single.view(np.int32)[1] == -5
    with pytest.raises(EmulatorError, match="applies min to f32"):
        run(ptx("red.global.min.f32 [%p0], %r1;"), out)


def test_a_random_order_reaches_atomics() -> None:
    text = "atom.global.exch.b32 %r1, [%p0], %r0;"
    last = set()
    for seed in range(10):
        out = np.zeros(1, np.int32)
        run(ptx(text), out, schedule=seed)
        last.add(int(out[0]))
    assert len(last) > 3


@pytest.mark.parametrize(("shift", "sectors"), [(0, 1), (2, 4), (3, 8), (5, 32), (7, 32)])
def test_sectors(shift: int, sectors: int) -> None:
    text = f"shl.b32 %r1, %r0, {shift}; cvt.u64.u32 %x1, %r1; add.u64 %x1, %p0, %x1;"
    counts = run(
        ptx(text + "ld.global.u8 %h1, [%x1]; st.global.u8 [%x1], 1;"), np.zeros(4096, np.int8)
    )
    assert counts.global_load_transactions == sectors
    assert counts.global_store_transactions == sectors


@pytest.mark.parametrize(
    ("stride", "type_name", "conflicts"),
    [
        (4, "u32", 0), (8, "u32", 1), (16, "u32", 3), (128, "u32", 31), (0, "u32", 0), (1, "u8", 0),
        (132, "u32", 0), (8, "u64", 0), (16, "u64", 2), (2, "u16", 0), (256, "u64", 30),
    ],
)  # fmt: skip
def test_bank_conflicts(stride: int, type_name: str, conflicts: int) -> None:
    size = int(type_name[1:]) // 8
    register = {1: "%h1", 2: "%h1", 4: "%r2", 8: "%x2"}[size]
    text = f"""
    .shared .align 16 .b8 box[8192];
    mov.u32 %r1, box; mad.lo.u32 %r1, %r0, {stride}, %r1;
    st.shared.{type_name} [%r1], {register};
    """
    assert run(ptx(text), np.zeros(1, np.int32)).shared_bank_conflicts == conflicts


def test_counters_add_up_and_know_their_lines() -> None:
    text = f"""{HEADER}.file 7 "kernel.cu"
    .visible .entry k(.param .u64 a) {{
    .reg .b64 %x; .reg .b32 %r; .reg .pred %q;
    .loc 7 11 0
    ld.param.u64 %x, [a]; mov.u32 %r, %tid.x; setp.lt.u32 %q, %r, 4;
    .loc 7 12 0
    @%q bra END;
    st.global.u32 [%x], %r;
    END: ret; }}"""
    counts = Module(text, "k.ptx").get_function("k")((1,), (32,), (np.zeros(1, np.int32),))
    assert counts.lines["kernel.cu", 11].instructions == 3
    assert counts.lines["kernel.cu", 12].divergent_branches == 1
    assert counts.lines["kernel.cu", 12].global_store_transactions == 1
    twice = counts + counts
    assert twice.instructions == 2 * counts.instructions
    assert twice.lines["kernel.cu", 12].thread_instructions == 2 * (32 + 28 + 32)
    assert Counters().warp_execution_efficiency == 1.0
    plain = run(ptx("mov.u32 %r1, 1;"), np.zeros(1, np.int32))
    assert sum(line.instructions for line in plain.lines.values()) == plain.instructions
    assert all(file == "<ptx>" and line > 0 for file, line in plain.lines)
