"""Forms of matrix instructions of a warp (PTX ISA section 9.7.14).

Elements of floating-point matrices are small whole numbers, so that no sum is rounded: the ISA
leaves open in which order they are added up, and with how many bits.
"""

from __future__ import annotations

from collections.abc import Iterator

from ccc.tools.agree.case import RESULTS, SOURCES, Case, spell
from ccc.tools.agree.memory import PLACES, SHARED

MATRIX = "9.7.14 Matrices"

# Shapes, types of A and B, kinds of their registers, how many, and those of C and D by type.
_FLOATS = (
    ("m16n8k8", ".f16.f16", "halves", 2, 1),
    ("m16n8k16", ".f16.f16", "halves", 4, 2),
    ("m16n8k8", ".bf16.bf16", "brains", 2, 1),
    ("m16n8k16", ".bf16.bf16", "brains", 4, 2),
    ("m16n8k4", ".tf32.tf32", "singles", 2, 1),
    ("m16n8k8", ".tf32.tf32", "singles", 4, 2),
    ("m16n8k16", "{.e4m3|.e5m2}{.e4m3|.e5m2}", "eighths", 2, 1),
    ("m16n8k32", "{.e4m3|.e5m2}{.e4m3|.e5m2}", "eighths", 4, 2),
)
_IN_HALVES = ("halves", "eighths")
"""Kinds whose sums may be halves, too."""
_DOUBLES = (("m8n8k4", 1, 1, 2), ("m16n8k4", 2, 1, 4), ("m16n8k8", 4, 2, 4), ("m16n8k16", 8, 4, 4))
_INTEGERS = (
    ("m8n8k16", "{.u8|.s8}{.u8|.s8}", 1, 1, 2),
    ("m16n8k16", "{.u8|.s8}{.u8|.s8}", 2, 1, 4),
    ("m16n8k32", "{.u8|.s8}{.u8|.s8}", 4, 2, 4),
    ("m8n8k32", "{.u4|.s4}{.u4|.s4}", 1, 1, 2),
    ("m16n8k32", "{.u4|.s4}{.u4|.s4}", 2, 1, 4),
    ("m16n8k64", "{.u4|.s4}{.u4|.s4}", 4, 2, 4),
)
_BITS = (("m8n8k128", 1, 1, 2), ("m16n8k128", 2, 1, 4), ("m16n8k256", 4, 2, 4))


def matrices() -> Iterator[Case]:
    """``mma``, ``wmma``, ``ldmatrix``, ``stmatrix`` and ``movmatrix``."""
    for shape, types, kind, a, b in _FLOATS:
        for words in spell(f"{shape}.row.col.f32{types}.f32"):
            yield _mma(words, (kind,) * (a + b), a, b, ("singles",) * 4, "f32")
        for words in spell(f"{shape}.row.col.f16{types}.f16") if kind in _IN_HALVES else ():
            yield _mma(words, (kind,) * (a + b), a, b, ("halves",) * 2, "b32")
    for shape, a, b, c in _DOUBLES:
        words = f"{shape}.row.col.f64.f64.f64.f64"
        yield _mma(words, ("doubles",) * (a + b), a, b, ("doubles",) * c, "f64")
    for shape, types, a, b, c in _INTEGERS:
        for words in spell(f"{shape}.row.col{{|.satfinite}}.s32{types}.s32"):
            yield _mma(words, ("b32",) * (a + b), a, b, ("s32",) * c, "s32")
    for shape, a, b, c in _BITS:
        for words in spell(f"{shape}.row.col.s32.b1.b1.s32{{.xor|.and}}.popc"):
            yield _mma(words, ("b32",) * (a + b), a, b, ("s32",) * c, "s32")
    yield from _moved()
    for layouts in spell("{.row|.col}{.row|.col}{.row|.col}"):
        yield _wmma(layouts, ".f16", ".f32.f32", ".f32", 8, 8, "halves")
        yield _wmma(layouts, ".f16", ".f16.f16", ".f16", 8, 4, "halves")
        yield _wmma(layouts, ".bf16", ".f32.bf16.bf16.f32", ".f32", 4, 8, "brains")
        for kind in (".u8", ".s8"):
            yield _wmma(layouts, kind, f".s32{kind}{kind}.s32", ".s32", 2, 8, "b32")


def _mma(
    words: str, factors: tuple[str, ...], a: int, b: int, sums: tuple[str, ...], result: str
) -> Case:
    opcode = f"mma.sync.aligned.{words}"
    names = [f"%{name}" for name in SOURCES]
    parts = [names[:a], names[a : a + b], names[a + b : a + b + len(sums)]]
    into = [f"%{name}" for name in RESULTS[: len(sums)]]
    operands = ", ".join(f"{{{', '.join(part)}}}" for part in (into, *parts))
    return Case(MATRIX, opcode, f"{opcode} {operands};", factors + sums, (result,) * len(sums))


def _moved() -> Iterator[Case]:
    place = PLACES[".shared"]
    filled = f"{place}st.shared.b64 [%m], %a;\nst.shared.b64 [%m+8], %b;\nbar.warp.sync -1;\n"
    for count in (1, 2, 4):
        names = [f"%{name}" for name in RESULTS[:count]]
        for opcode in spell(f"ldmatrix.sync.aligned.m8n8.x{count}{{|.trans}}.shared.b16"):
            body = f"{filled}{opcode} {{{', '.join(names)}}}, [%m];"
            results = ("b32",) * count
            yield Case(MATRIX, opcode, body, ("b64", "b64"), results, declarations=SHARED)
        names = [f"%{name}" for name in SOURCES[:count]]
        for opcode in spell(f"stmatrix.sync.aligned.m8n8.x{count}{{|.trans}}.shared.b16"):
            zeros = f"{place}st.shared.b64 [%m], 0;\nst.shared.b64 [%m+8], 0;\nbar.warp.sync -1;\n"
            back = "bar.warp.sync -1;\nld.shared.b64 %d, [%m];\nld.shared.b64 %q, [%m+8];"
            body = f"{zeros}{opcode} [%m], {{{', '.join(names)}}};\n{back}"
            sources, results = ("b32",) * count, ("b64", "b64")
            yield Case(MATRIX, opcode, body, sources, results, declarations=SHARED)
    opcode = "movmatrix.sync.aligned.m8n8.trans.b16"
    yield Case(MATRIX, opcode, f"{opcode} %d, %a;", ("b32",), ("b32",))


WMMA = """\
{{
.reg .b32 %l<8>, %n<8>, %p<8>;
mul.wide.u32 %x, %lane, 16;
sub.u64 %x, %m, %x;
st.global.v4.b32 [%x], {{%a, %b, %c, %e}};
mul.wide.u32 %x, %lane, 32;
sub.u64 %x, %m, %x;
bar.warp.sync -1;
wmma.load.a.sync.aligned{a}.m16n16k16.global{type} {{{left}}}, [%x], 16;
wmma.load.b.sync.aligned{b}.m16n16k16.global{type} {{{right}}}, [%x], 16;
{zeros}
wmma.mma.sync.aligned{a}{b}.m16n16k16{types} {{{sums}}}, {{{left}}}, {{{right}}}, {{{sums}}};
bar.warp.sync -1;
wmma.store.d.sync.aligned{d}.m16n16k16.global{result} [%x], {{{sums}}}, 16;
bar.warp.sync -1;
ld.global.v2.b64 {{%d, %q}}, [%m];
ld.global.v2.b64 {{%r, %s}}, [%m+16];
}}
"""
"""One matrix is both factors; a warp has 1,024 bytes, in which the product lies afterwards."""


def _wmma(
    layouts: str, kind: str, types: str, result: str, factors: int, sums: int, values: str
) -> Case:
    a, b, d = (f".{word}" for word in layouts.split(".")[1:])
    names = {
        "left": ", ".join(f"%l{k}" for k in range(factors)),
        "right": ", ".join(f"%n{k}" for k in range(factors)),
        "sums": ", ".join(f"%p{k}" for k in range(sums)),
    }
    names["zeros"] = "\n".join(f"mov.b32 %p{k}, 0;" for k in range(sums))
    body = WMMA.format(a=a, b=b, d=d, type=kind, types=types, result=result, **names)
    form = f"wmma.mma.sync.aligned{a}{b}.m16n16k16{types}, stored{d}"
    return Case(MATRIX, form, body, (values,) * 4, ("b64",) * 4)
