"""Forms that compare, select, move bits and convert (PTX ISA sections 9.7.6 to 9.7.9)."""

from __future__ import annotations

from collections.abc import Iterator

from ccc.tools.agree.case import Case, cases, spell

COMPARE = "9.7.6 Comparison and selection"
HALF_COMPARE = "9.7.7 Half precision comparison"
LOGIC = "9.7.8 Logic and shift"
MOVE = "9.7.9 Data movement"
CONVERT = "9.7.9 cvt"

_BITS = "{.eq|.ne}", "{.b16|.b32|.b64}"
_SIGNED = "{.eq|.ne|.lt|.le|.gt|.ge}", "{.s16|.s32|.s64}"
_UNSIGNED = "{.eq|.ne|.lt|.le|.gt|.ge|.lo|.ls|.hi|.hs}", "{.u16|.u32|.u64}"
_FLOAT = "{.eq|.ne|.lt|.le|.gt|.ge|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan}"
_COMBINE = "{.and|.or|.xor}"

_COMPARISONS = (_BITS, _SIGNED, _UNSIGNED, (_FLOAT, "{.f64}"), (_FLOAT + "{|.ftz}", "{.f32}"))
_HALVES = (_FLOAT + "{|.ftz}", "{.f16}"), (_FLOAT, "{.bf16}")
_PACKED = (_FLOAT + "{|.ftz}", "{.f16x2}"), (_FLOAT, "{.bf16x2}")


def _combined(operators: str) -> str:
    """A boolean operator stands behind the comparison, before ``.ftz``."""
    return operators.replace("{|.ftz}", "") + _COMBINE + "{|.ftz}" * operators.count(".ftz")


def comparisons() -> Iterator[Case]:
    """``set``, ``setp``, ``selp`` and ``slct``."""
    for operators, types in _COMPARISONS:
        for into in (".u32", ".s32", ".f32"):
            yield from cases(COMPARE, f"set{operators}{into}{types}", "D", "T T")
            row = f"set{_combined(operators)}{into}{types}"
            yield from cases(COMPARE, row, "D", "T T pred")
        yield from _predicates(COMPARE, operators, types)
    for operators, types in _HALVES:
        for into in (".u16", ".s16", ".u32", ".s32", types.strip("{}")):
            yield from cases(HALF_COMPARE, f"set{operators}{into}{types}", "D", "T T")
            row = f"set{_combined(operators)}{into}{types}"
            yield from cases(HALF_COMPARE, row, "D", "T T pred")
        yield from cases(HALF_COMPARE, f"setp{operators}{types}", "pred", "T T")
        row = f"setp{_combined(operators)}{types}"
        yield from cases(HALF_COMPARE, row, "pred", "T T pred")
    for operators, types in _PACKED:
        for into in (types.strip("{}"), ".u32", ".s32"):
            yield from cases(HALF_COMPARE, f"set{operators}{into}{types}", "b32", "T T")
            row = f"set{_combined(operators)}{into}{types}"
            yield from cases(HALF_COMPARE, row, "b32", "T T pred")
        pair = "%d|%q, %a, %b"
        yield from cases(HALF_COMPARE, f"setp{operators}{types}", "pred pred", "T T", pair)
        row = f"setp{_combined(operators)}{types}"
        yield from cases(HALF_COMPARE, row, "pred pred", "T T pred", f"{pair}, %c")
    yield from cases(COMPARE, f"selp{_ANY}", "T", "T T pred")
    yield from cases(COMPARE, "slct{.b16|.b32|.b64|.u16|.u32|.u64|.s16|.s32|.s64|.f32|.f64}.s32",
                     "D", "D D T")  # fmt: skip
    yield from cases(COMPARE, "slct{|.ftz}{.b16|.b32|.b64|.u16|.u32|.u64|.s16|.s32|.s64|.f32|.f64}"
                     ".f32", "D", "D D T")  # fmt: skip


def _predicates(group: str, operators: str, types: str) -> Iterator[Case]:
    yield from cases(group, f"setp{operators}{types}", "pred pred", "T T", "%d|%q, %a, %b")
    row = f"setp{_combined(operators)}{types}"
    yield from cases(group, row, "pred pred", "T T pred", "%d|%q, %a, %b, %c")


_ANY = "{.b16|.b32|.b64|.u16|.u32|.u64|.s16|.s32|.s64|.f32|.f64}"
_TABLES = (
    *(0x00, 0x01, 0x02, 0x04, 0x08, 0x10, 0x11, 0x1E, 0x2D, 0x3C, 0x40, 0x55, 0x69, 0x6A, 0x78),
    *(
        0x7F,
        0x80,
        0x87,
        0x8E,
        0x96,
        0xAA,
        0xB8,
        0xC0,
        0xCA,
        0xD8,
        0xE2,
        0xE8,
        0xF0,
        0xF6,
        0xFE,
        0xFF,
    ),
)


def logic() -> Iterator[Case]:
    """Bits and shifts."""
    yield from cases(LOGIC, "{and|or|xor}{.pred|.b16|.b32|.b64}", "T", "T T")
    yield from cases(LOGIC, "not{.pred|.b16|.b32|.b64}", "T", "T")
    yield from cases(LOGIC, "cnot{.b16|.b32|.b64}", "T", "T")
    for table in _TABLES:
        body = f"lop3.b32 %d, %a, %b, %c, {table};"
        yield Case(LOGIC, f"lop3.b32 {table:#04x}", body, ("b32",) * 3, ("b32",))
        for combine in ("or", "and"):
            body = f"lop3.{combine}.b32 %q|%d, %a, %b, %c, {table}, %e;".replace("%q|%d", "%d|%q")
            sources = ("b32", "b32", "b32", "pred")
            yield Case(LOGIC, f"lop3.{combine}.b32 {table:#04x}", body, sources, ("b32", "pred"))
    yield from cases(LOGIC, "shf{.l|.r}{.clamp|.wrap}.b32", "T", "T T amount")
    yield from cases(LOGIC, "shl{.b16|.b32|.b64}", "T", "T amount")
    shr = "shr{.b16|.b32|.b64|.u16|.u32|.u64|.s16|.s32|.s64}"
    yield from cases(LOGIC, shr, "T", "T amount")
    for amount in (0, 1, 15, 16, 31, 32, 33, 63, 64, 65, 255, 256):
        for opcode in (*spell("shl{.b16|.b32|.b64}"), *spell("shr{.u16|.u32|.u64|.s16|.s32|.s64}")):
            (case,) = cases(LOGIC, opcode, "T", "T", f"%d, %a, {amount}")
            yield Case(LOGIC, f"{opcode} {amount}", case.body, case.sources, case.results)


def moves() -> Iterator[Case]:
    """``mov``, packing and unpacking, ``prmt``."""
    yield from cases(MOVE, f"mov{_ANY}", "T", "T")
    yield from cases(MOVE, "mov.pred", "T", "T")
    for bits, parts in ((32, 2), (64, 2), (64, 4), (128, 2), (128, 4)):
        whole, part = f"b{bits}", f"b{bits // parts}"
        names = [f"%{name}" for name in "abce"[:parts]]
        form = f"mov.{whole} of {parts} parts"
        pack = f"mov.{whole} %d, {{{', '.join(names)}}};"
        yield Case(MOVE, f"{form}, packed", pack, (part,) * parts, (whole,))
        names = [f"%{name}" for name in "dqrs"[:parts]]
        unpack = f"mov.{whole} {{{', '.join(names)}}}, %a;"
        yield Case(MOVE, f"{form}, unpacked", unpack, (whole,), (part,) * parts)
    yield from cases(MOVE, "prmt.b32{|.f4e|.b4e|.rc8|.ecl|.ecr|.rc16}", "T", "T T T")


_INTEGERS = "{.u8|.s8|.u16|.s16|.u32|.s32|.u64|.s64}"
_FLOATS = "{.f16|.bf16|.f32|.f64}"

CONVERSIONS = (
    ("cvt{|.sat}" + _INTEGERS + _INTEGERS, "D", "T", ""),
    ("cvt{.rni|.rzi|.rmi|.rpi}{|.sat}" + _INTEGERS + _FLOATS, "D", "T", ""),
    ("cvt{.rni|.rzi|.rmi|.rpi}.ftz{|.sat}" + _INTEGERS + ".f32", "D", "T", ""),
    ("cvt{.rn|.rz|.rm|.rp}{|.sat}" + _FLOATS + _INTEGERS, "D", "T", ""),
    ("cvt{|.rn|.rz|.rm|.rp|.rni|.rzi|.rmi|.rpi}{|.sat}" + _FLOATS + _FLOATS, "D", "T", ""),
    ("cvt{|.rn|.rz|.rm|.rp|.rni|.rzi|.rmi|.rpi}.ftz{|.sat}.f32" + _FLOATS, "D", "T", ""),
    ("cvt{.rn|.rz|.rm|.rp}.ftz{|.sat}{.f16|.bf16|.f64}.f32", "D", "T", ""),
    ("cvt{.rn|.rz}{|.relu}{|.satfinite}{.f16|.bf16}.f32", "D", "T", ""),
    ("cvt{.rn|.rz}{|.relu}{|.satfinite}{.f16x2|.bf16x2}.f32", "D", "T T", ""),
    ("cvt.rna{|.satfinite}.tf32.f32", "D", "T", ""),
    ("cvt{.rn|.rz}{|.relu}{|.satfinite}.tf32.f32", "D", "T", ""),
    ("cvt.rn.satfinite{|.relu}{.e4m3x2|.e5m2x2}.f32", "D", "T T", ""),
    ("cvt.rn.satfinite{|.relu}{.e4m3x2|.e5m2x2}.f16x2", "D", "T", ""),
    ("cvt.rn{|.relu}.f16x2{.e4m3x2|.e5m2x2}", "D", "T", ""),
    ("cvt.pack.sat{.u16|.s16}.s32", "b32", "s32 s32", ""),
    ("cvt.pack.sat{.u8|.s8|.u4|.s4|.u2|.s2}.s32.b32", "b32", "s32 s32 b32", ""),
)


def conversions() -> Iterator[Case]:
    """``cvt`` of all pairs."""
    for row in CONVERSIONS:
        yield from cases(CONVERT, *row)
    for opcode in spell("cvt{.u8|.s8|.u16|.s16|.u32|.s32}{.u8|.s8|.u16|.s16|.u32|.s32}"):
        (case,) = cases(CONVERT, opcode, "b64", "T")
        form = f"{opcode} to a wider register"
        yield Case(CONVERT, form, case.body, case.sources, case.results)
