"""Forms of video instructions (PTX ISA section 9.7.18)."""

from __future__ import annotations

from collections.abc import Iterator

from ccc.tools.agree.case import Case, spell

SCALAR = "9.7.18 Scalar video"
SIMD = "9.7.18 SIMD video"

_TYPES = "{.u32|.s32}{.u32|.s32}{.u32|.s32}"
_PARTS = (("%a", "%b"), ("%a.b0", "%b.b3"), ("%a.h1", "%b.h0"), ("%a.b2", "%b"), ("%a.h0", "%b.b1"))
_TARGETS = ("%d.b0", "%d.b2", "%d.h0", "%d.h1")
_COMPARE = "{.eq|.ne|.lt|.le|.gt|.ge}"


def _shown(opcode: str, operands: str) -> str:
    return f"{opcode} {operands.replace('%', '')}"


def _form(group: str, opcode: str, operands: str, sources: tuple[str, ...]) -> Case:
    return Case(group, _shown(opcode, operands), f"{opcode} {operands};", sources, ("b32",))


def _three(group: str, opcode: str, operands: str) -> Case:
    return _form(group, opcode, operands, ("b32", "b32", "b32"))


def video() -> Iterator[Case]:
    """All of them, with some selections of parts."""
    yield from _scalar()
    yield from _simd()


def _scalar() -> Iterator[Case]:
    for name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
        for opcode in spell(f"{name}{_TYPES}{{|.sat}}"):
            for a, b in _PARTS:
                yield _three(SCALAR, opcode, f"%d, {a}, {b}")
            yield _three(SCALAR, opcode, "%d.h1, %a.b1, %b.h1, %c")
            yield _three(SCALAR, opcode, "%d.b2, %a, %b, %c")
        for opcode in spell(f"{name}{_TYPES}{{|.sat}}{{.add|.min|.max}}"):
            yield _three(SCALAR, opcode, "%d, %a, %b, %c")
        for target in _TARGETS:
            yield _three(SCALAR, f"{name}.s32.s32.u32.sat", f"{target}, %a.h0, %b.b1, %c")
    for opcode in spell("{vshl|vshr}{.u32|.s32}{.u32|.s32}.u32{|.sat}{.clamp|.wrap}"):
        yield _form(SCALAR, opcode, "%d, %a, %b", ("b32", "amount"))
        yield _form(SCALAR, opcode, "%d, %a.b1, %b.h0", ("b32", "amount"))
        yield _form(SCALAR, opcode, "%d.h1, %a, %b, %c", ("b32", "amount", "b32"))
    for opcode in spell("{vshl|vshr}{.u32|.s32}{.u32|.s32}.u32{.clamp|.wrap}{.add|.min|.max}"):
        yield _form(SCALAR, opcode, "%d, %a, %b, %c", ("b32", "amount", "b32"))
    for opcode in spell("vmad{.u32|.s32}{.u32|.s32}{.u32|.s32}{|.sat}{|.shr7|.shr15}"):
        yield _three(SCALAR, opcode, "%d, %a.h0, %b.b1, %c")
        yield _three(SCALAR, opcode, "%d, %a, %b, %c")
    for opcode in spell("vmad{.u32|.s32}{.u32|.s32}{.u32|.s32}.po{|.sat}{|.shr7|.shr15}"):
        yield _three(SCALAR, opcode, "%d, %a, %b.h1, %c")
    for opcode in spell(f"vset{{.u32|.s32}}{{.u32|.s32}}{_COMPARE}"):
        yield _three(SCALAR, opcode, "%d, %a, %b")
        yield _three(SCALAR, opcode, "%d, %a.b0, %b.h1")
        yield _three(SCALAR, opcode, "%d.b1, %a, %b, %c")
    for opcode in spell("vset{.u32|.s32}{.u32|.s32}{.lt|.ne}{.add|.min|.max}"):
        yield _three(SCALAR, opcode, "%d, %a, %b, %c")


def _simd() -> Iterator[Case]:
    for count, whole, some, order in (
        ("2", ".h10", ".h1", (".h31", ".h02")), ("4", ".b3210", ".b20", (".b7531", ".b0246")),
    ):  # fmt: skip
        for name in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"):
            for opcode in spell(f"{name}{count}{_TYPES}{{|.sat}}"):
                yield _three(SIMD, opcode, "%d, %a, %b, %c")
                yield _three(SIMD, opcode, f"%d{some}, %a{order[0]}, %b{order[1]}, %c")
            for opcode in spell(f"{name}{count}{_TYPES}.add"):
                yield _three(SIMD, opcode, f"%d{whole}, %a, %b, %c")
        for opcode in spell(f"vset{count}{{.u32|.s32}}{{.u32|.s32}}{_COMPARE}{{|.add}}"):
            yield _three(SIMD, opcode, "%d, %a, %b, %c")
            yield _three(SIMD, opcode, f"%d{some}, %a{order[0]}, %b{order[1]}, %c")
