"""Matrices in the registers of a warp, against products of whole matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulating import ptx, run

RANDOM = np.random.default_rng(5)


def kernel(opcode: str, a: int, b: int, c: int, d: int, wide: bool = False) -> str:
    """Load registers lane by lane, multiply, store."""
    size, kind, register = (8, "b64", "%x") if wide else (4, "b32", "%r")
    lines = [f"mul.wide.u32 %x40, %r0, {size};"]
    names = []
    at = 1
    for pointer, count in enumerate((a, b, c)):
        mine = [f"{register}{at + k}" for k in range(count)]
        at += count
        lines += [f"add.u64 %x41, %p{pointer}, %x40;"]
        lines += [
            f"ld.global.{kind} {name}, [%x41+{32 * size * k}];" for k, name in enumerate(mine)
        ]
        names.append("{" + ", ".join(mine) + "}")
    results = [f"{register}{at + k}" for k in range(d)]
    lines += [f"{opcode} {{{', '.join(results)}}}, {', '.join(names)};", "add.u64 %x41, %p3, %x40;"]
    lines += [f"st.global.{kind} [%x41+{32 * size * k}], {name};" for k, name in enumerate(results)]
    return "\n".join(lines)


def spread_out(columns: int, row: str, column: str, count: int) -> np.ndarray:
    """For each element of a lane and each lane: its place in a matrix of so many columns."""
    place = compile(f"({row}) * columns + ({column})", "place", "eval")
    names = {"columns": columns}
    return np.array(
        [
            [eval(place, names, {"i": i, "g": lane // 4, "t": lane % 4}) for lane in range(32)]
            for i in range(count)
        ]
    )


def bf16(x: np.ndarray) -> np.ndarray:
    return (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


# Each element of a fragment as section 9.7.14.5 of the manual places it: i is its number in the
# lane, g the group of four lanes, t the place in it.
CASES = {
    "m16n8k8.f16": (8, "g + 8 * (i // 2)", "2 * t + i % 2", 4,
                    "2 * t + i", 2),
    "m16n8k16.f16": (16, "g + 8 * (i // 2 % 2)",
                     "2 * t + i % 2 + 8 * (i >= 4)", 8,
                     "2 * t + i % 2 + 8 * (i >= 2)", 4),
    "m16n8k16.bf16": (16, "g + 8 * (i // 2 % 2)",
                      "2 * t + i % 2 + 8 * (i >= 4)", 8,
                      "2 * t + i % 2 + 8 * (i >= 2)", 4),
    "m16n8k4.tf32": (4, "g + 8 * i", "t", 2, "t", 1),
    "m16n8k8.tf32": (8, "g + 8 * (i % 2)", "t + 4 * (i >= 2)", 4,
                     "t + 4 * i", 2),
    "m16n8k16.s8": (16, "g + 8 * (i >= 4)", "4 * t + i % 4", 8,
                    "4 * t + i", 4),
    "m16n8k32.u8": (32, "g + 8 * (i // 4 % 2)",
                    "4 * t + i % 4 + 16 * (i >= 8)", 16,
                    "4 * t + i % 4 + 16 * (i >= 4)", 8),
    "m8n8k16.s8": (16, "g", "4 * t + i", 4, "4 * t + i", 4),
    "m8n8k4.f64": (4, "g", "t", 1, "t", 1),
    "m16n8k16.f64": (16, "g + 8 * (i % 2)", "t + 4 * (i // 2)", 8,
                     "t + 4 * i", 4),
}  # fmt: skip
STORED: dict[str, Any] = {"f16": np.float16, "bf16": np.uint16, "tf32": np.float32, "s8": np.int8,
                          "u8": np.uint8, "f64": np.float64}  # fmt: skip


def registers(values: np.ndarray, kind: str) -> np.ndarray:
    """Elements (count, 32) packed into registers: (registers, 32)."""
    per = 1 if kind == "f64" else 4 // np.dtype(STORED[kind]).itemsize
    stored = bf16(values) if kind == "bf16" else values.astype(STORED[kind])
    grouped = stored.reshape(-1, per, 32).transpose(0, 2, 1)
    whole = np.uint64 if kind == "f64" else np.uint32
    return np.ascontiguousarray(grouped).view(whole)[..., 0]


@pytest.mark.parametrize("name", CASES)
def test_mma(name: str) -> None:
    shape, kind = name.split(".")
    inner, a_row, a_column, a_count, b_row, b_count = CASES[name]
    rows = int(shape[1:].split("n")[0])
    low = 0 if kind == "u8" else -20
    a = RANDOM.integers(low, 20, (rows, inner)).astype(float)
    b = RANDOM.integers(low, 20, (inner, 8)).astype(float)
    c = RANDOM.integers(-50, 50, (rows, 8)).astype(float)
    term = {"s8": "s32", "u8": "s32", "f64": "f64"}.get(kind, "f32")
    in_c = spread_out(8, "g + 8 * (i // 2)", "2 * t + i % 2",
                      rows // 4)  # fmt: skip
    in_a = spread_out(inner, a_row, a_column, a_count)
    in_b = spread_out(8, b_row, "g", b_count)
    word = {"s32": np.int32, "f32": np.float32, "f64": np.float64}[term]
    packed_a, packed_b = registers(a.ravel()[in_a], kind), registers(b.ravel()[in_b], kind)
    opcode = f"mma.sync.aligned.{shape}.row.col.{term}.{kind}.{kind}.{term}"
    out = np.zeros((len(in_c), 32), word)
    text = kernel(opcode, len(packed_a), len(packed_b), len(in_c), len(in_c), kind == "f64")
    run(ptx(text, 4), packed_a, packed_b, c.ravel()[in_c].astype(word), out)
    assert out.tolist() == (a @ b + c).ravel()[in_c].tolist()


def test_mma_of_halves_adds_in_halves_and_saturates_integers() -> None:
    ones = np.full((4, 32), 0x3C003C00, np.uint32)
    c = np.full((2, 32), 0x6C006C00, np.uint32)  # 4096, whose neighbours are 4 apart
    out = np.zeros((2, 32), np.uint32)
    text = kernel("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, 2)
    run(ptx(text, 4), ones, ones[:2].copy(), c, out)
    assert (out.view(np.float16) == 4112).all()
    bytes_ = np.full((4, 32), 0x7F7F7F7F, np.uint32)
    top = np.full((4, 32), 2**31 - 1, np.int32)
    for word, expected in (("satfinite.", 2**31 - 1), ("", 2**31 - 1 + 32 * 127 * 127 - 2**32)):
        result = np.zeros((4, 32), np.int32)
        text = kernel(f"mma.sync.aligned.m16n8k32.row.col.{word}s32.s8.s8.s32", 4, 2, 4, 4)
        run(ptx(text, 4), bytes_, bytes_[:2].copy(), top, result)
        assert (result == expected).all()


def test_mma_of_bits() -> None:
    a = RANDOM.integers(0, 2**32, (16, 4), dtype=np.uint32)
    b = RANDOM.integers(0, 2**32, (8, 4), dtype=np.uint32)
    lane = np.arange(32)
    in_a = np.stack([a[lane // 4, lane % 4], a[lane // 4 + 8, lane % 4]])
    in_b = b[lane // 4, lane % 4]
    for how, combine in (("xor", np.bitwise_xor), ("and", np.bitwise_and)):
        out = np.zeros((4, 32), np.int32)
        opcode = f"mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.{how}.popc"
        run(ptx(kernel(opcode, 2, 1, 4, 4), 4), in_a, in_b, np.zeros((4, 32), np.int32), out)
        counts = [[sum(bin(x).count("1") for x in combine(p, q).tolist()) for q in b] for p in a]
        expected = np.array(counts)
        for i in range(4):
            where = lane // 4 + 8 * (i // 2), 2 * (lane % 4) + i % 2
            assert (out[i] == expected[where]).all()


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("turned", ["", ".trans"])
def test_matrices_go_to_shared_memory_and_back(count: int, turned: str) -> None:
    names = [f"%r{10 + k}" for k in range(count)]
    moved = "\n".join(f"movmatrix.sync.aligned.m8n8.trans.b16 {n}, {n};" for n in names)
    text = f"""
    shl.b32 %r1, %r0, 4; mov.u32 %r2, box; add.u32 %r1, %r1, %r2;  // the row that the lane names
    mul.wide.u32 %x1, %r0, 16; add.u64 %x1, %p0, %x1;
    ld.global.v4.b32 {{%r3, %r4, %r5, %r6}}, [%x1];
    st.shared.v4.b32 [%r1], {{%r3, %r4, %r5, %r6}};
    bar.sync 0;
    ldmatrix.sync.aligned.m8n8.x{count}{turned}.shared.b16 {{{", ".join(names)}}}, [%r1];
    {
        chr(10).join(
            f"add.u64 %x2, %p1, %x0; st.global.b32 [%x2+{128 * k}], {n};"
            for k, n in enumerate(names)
        )
    }
    {moved}
    add.u32 %r1, %r1, 512;
    stmatrix.sync.aligned.m8n8.x{count}{turned}.shared.b16 [%r1], {{{", ".join(names)}}};
    bar.sync 0;
    setp.lt.u32 %q1, %r0, {8 * count};
    add.u64 %x1, %x1, 512;
    @%q1 ld.shared.v4.b32 {{%r3, %r4, %r5, %r6}}, [%r1];
    @%q1 st.global.v4.b32 [%x1], {{%r3, %r4, %r5, %r6}};
    """
    matrices = RANDOM.integers(0, 2**16, (8, 8, 8)).astype(np.uint16)
    given = matrices.copy()
    loaded = np.zeros((4, 8, 8), np.uint16)
    run(ptx(text, 2, ".shared .align 16 .b8 box[1024];"), given, loaded)
    expected = matrices[:count].transpose(0, 2, 1) if turned else matrices[:count]
    assert (loaded[:count] == expected).all()
    # Turned in registers, stored as it was loaded: the other way round as it came.
    assert (given[4 : 4 + count] == matrices[:count].transpose(0, 2, 1)).all()


def test_mma_of_bytes_that_are_floats() -> None:
    """1.0 is 0x38 in e4m3 and 0x3c in e5m2; the sums are of 32 products."""
    a, b = np.full((4, 32), 0x38383838, np.uint32), np.full((2, 32), 0xBC3CBC3C, np.uint32)
    b[1] = 0x3C3C3C3C
    out = np.zeros((4, 32), np.float32)
    opcode = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32"
    run(ptx(kernel(opcode, 4, 2, 4, 4), 4), a, b, np.full((4, 32), 0.5, np.float32), out)
    assert (out == 16.5).all()


def test_the_least_and_the_largest_number_of_a_warp() -> None:
    text = """
    add.u64 %x1, %p0, %x0; ld.global.b32 %r1, [%x1];
    redux.sync.min.f32 %r2, %r1, 0xffffffff;
    redux.sync.max.abs.f32 %r3, %r1, 0xffffffff;
    redux.sync.max.NaN.f32 %r4, %r1, 0xffffffff;
    st.global.v2.b32 [%p1], {%r2, %r3}; st.global.b32 [%p1+8], %r4;
    """
    numbers = RANDOM.normal(size=32).astype(np.float32)
    numbers[3], numbers[7] = np.nan, -99
    out = np.zeros(3, np.float32)
    run(ptx(text, 2), numbers, out)
    assert out[:2].tolist() == [-99, 99]
    assert np.isnan(out[2])
