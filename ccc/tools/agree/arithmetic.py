"""Forms of integer and floating-point arithmetic (PTX ISA sections 9.7.1 to 9.7.5)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ccc.tools.agree import bounds
from ccc.tools.agree.bounds import Bound
from ccc.tools.agree.case import Case, cases

INTEGER = "9.7.1 Integer arithmetic"
EXTENDED = "9.7.2 Extended precision"
FLOATING = "9.7.3 Floating point"
HALF = "9.7.4 Half precision"
MIXED = "9.7.5 Mixed precision"

_ALL = "{.u16|.s16|.u32|.s32|.u64|.s64}"
_PAIRS = "{.u16x2|.s16x2}"

INTEGER_ROWS = (
    ("add" + _ALL, "T", "T T"),
    ("add" + _PAIRS, "T", "T T"),
    ("{add|sub}.sat.s32", "T", "T T"),
    ("sub" + _ALL, "T", "T T"),
    ("mul{.hi|.lo}" + _ALL, "T", "T T"),
    ("mul.wide{.u16|.s16|.u32|.s32}", "W", "T T"),
    ("mad{.hi|.lo}" + _ALL, "T", "T T T"),
    ("mad.wide{.u16|.s16|.u32|.s32}", "W", "T T W"),
    ("mad.hi.sat.s32", "T", "T T T"),
    ("mul24{.hi|.lo}{.u32|.s32}", "T", "T T"),
    ("mad24{.hi|.lo}{.u32|.s32}", "T", "T T T"),
    ("mad24.hi.sat.s32", "T", "T T T"),
    ("sad" + _ALL, "T", "T T T"),
    ("{div|rem}" + _ALL, "T", "T T"),
    ("{abs|neg}{.s16|.s32|.s64}", "T", "T"),
    ("{min|max}" + _ALL, "T", "T T"),
    ("{min|max}" + _PAIRS, "T", "T T"),
    ("{min|max}.relu{.s32|.s16x2}", "T", "T T"),
    ("{popc|clz}{.b32|.b64}", "u32", "T"),
    ("bfind{|.shiftamt}{.u32|.s32|.u64|.s64}", "u32", "T"),
    ("fns.b32", "T", "b32 bit offset"),
    ("brev{.b32|.b64}", "T", "T"),
    ("bfe{.u32|.s32|.u64|.s64}", "T", "T amount amount"),
    ("bfi{.b32|.b64}", "T", "T T amount amount"),
    ("szext{.clamp|.wrap}{.u32|.s32}", "T", "T amount"),
    ("bmsk{.clamp|.wrap}.b32", "T", "amount amount"),
    ("dp4a{.u32|.s32}{.u32|.s32}", "b32", "b32 b32 b32"),
    ("dp2a{.lo|.hi}{.u32|.s32}{.u32|.s32}", "b32", "b32 b32 b32"),
)

_ROUND = "{|.rn|.rz|.rm|.rp}"
_MUST_ROUND = "{.rn|.rz|.rm|.rp}"

FLOATING_ROWS: tuple[tuple[str, str, str, Bound | None], ...] = (
    ("testp{.finite|.infinite|.number|.notanumber|.normal|.subnormal}{.f32|.f64}", "pred", "T",
     None),
    ("copysign{.f32|.f64}", "T", "T T", None),
    ("{add|sub|mul}" + _ROUND + "{|.ftz}{|.sat}.f32", "T", "T T", None),
    ("{add|sub|mul}" + _ROUND + ".f64", "T", "T T", None),
    ("{add|sub|mul}" + _ROUND + "{|.ftz}.f32x2", "T", "T T", None),
    ("{fma|mad}" + _MUST_ROUND + "{|.ftz}{|.sat}.f32", "T", "T T T", None),
    ("{fma|mad}" + _MUST_ROUND + ".f64", "T", "T T T", None),
    ("fma" + _MUST_ROUND + "{|.ftz}.f32x2", "T", "T T T", None),
    ("div.approx{|.ftz}.f32", "T", "T T", bounds.DIV_APPROX),
    ("div.full{|.ftz}.f32", "T", "T T", bounds.DIV_FULL),
    ("div" + _MUST_ROUND + "{|.ftz}.f32", "T", "T T", None),
    ("div" + _MUST_ROUND + ".f64", "T", "T T", None),
    ("{abs|neg}{|.ftz}.f32", "T", "T", None),
    ("{abs|neg}.f64", "T", "T", None),
    ("{min|max}{|.ftz}{|.NaN}{|.xorsign.abs}.f32", "T", "T T", None),
    ("{min|max}{|.ftz}{|.NaN}{|.abs}.f32", "T", "T T T", None),
    ("{min|max}.f64", "T", "T T", None),
    ("rcp.approx{|.ftz}.f32", "T", "T", bounds.RCP),
    ("rcp" + _MUST_ROUND + "{|.ftz}.f32", "T", "T", None),
    ("rcp" + _MUST_ROUND + ".f64", "T", "T", None),
    ("rcp.approx.ftz.f64", "T", "T", bounds.RCP_DOUBLE),
    ("sqrt.approx{|.ftz}.f32", "T", "T", bounds.SQRT),
    ("sqrt" + _MUST_ROUND + "{|.ftz}.f32", "T", "T", None),
    ("sqrt" + _MUST_ROUND + ".f64", "T", "T", None),
    ("rsqrt.approx{|.ftz}.f32", "T", "T", bounds.RSQRT),
    ("rsqrt.approx.f64", "T", "T", bounds.RSQRT_DOUBLE),
    ("rsqrt.approx.ftz.f64", "T", "T", bounds.RSQRT_UPPER),
    ("sin.approx{|.ftz}.f32", "T", "T", bounds.SIN),
    ("cos.approx{|.ftz}.f32", "T", "T", bounds.COS),
    ("lg2.approx{|.ftz}.f32", "T", "T", bounds.LG2),
    ("ex2.approx{|.ftz}.f32", "T", "T", bounds.EX2),
    ("tanh.approx.f32", "T", "T", bounds.TANH),
)  # fmt: skip

_HALVES = "{.f16|.f16x2}"
_BRAINS = "{.bf16|.bf16x2}"

HALF_ROWS: tuple[tuple[str, str, str, Bound | None], ...] = (
    ("{add|sub|mul}{|.rn}{|.ftz}{|.sat}" + _HALVES, "T", "T T", None),
    ("{add|sub|mul}{|.rn}" + _BRAINS, "T", "T T", None),
    ("fma.rn{|.ftz}{|.sat|.relu}" + _HALVES, "T", "T T T", None),
    ("fma.rn{|.relu}" + _BRAINS, "T", "T T T", None),
    ("fma.rn.oob{|.relu}{.f16|.f16x2|.bf16|.bf16x2}", "T", "T T T", None),
    ("{abs|neg}{|.ftz}" + _HALVES, "T", "T", None),
    ("{abs|neg}" + _BRAINS, "T", "T", None),
    ("{min|max}{|.ftz}{|.NaN}{|.xorsign.abs}" + _HALVES, "T", "T T", None),
    ("{min|max}{|.NaN}{|.xorsign.abs}" + _BRAINS, "T", "T T", None),
    ("tanh.approx" + _HALVES, "T", "T", bounds.TANH_HALF),
    ("tanh.approx" + _BRAINS, "T", "T", bounds.TANH_BRAIN),
    ("ex2.approx" + _HALVES, "T", "T", bounds.EX2_HALF),
    ("ex2.approx.ftz" + _BRAINS, "T", "T", bounds.EX2_BRAIN),
)

MIXED_ROWS = (
    ("{add|sub}" + _ROUND + "{|.sat}.f32{.f16|.bf16}", "D", "T D"),
    ("fma" + _MUST_ROUND + "{|.sat}.f32{.f16|.bf16}", "D", "T T D"),
)


def arithmetic() -> Iterator[Case]:
    """All forms of these sections."""
    for integer_row in INTEGER_ROWS:
        yield from cases(INTEGER, *integer_row)
    yield from chains()
    for group, rows in ((FLOATING, FLOATING_ROWS), (HALF, HALF_ROWS)):
        for row, results, sources, bound in rows:
            for case in cases(group, row, results, sources, bound=bound):
                yield _flushing(case)
    for mixed_row in MIXED_ROWS:
        yield from cases(MIXED, *mixed_row)


def _flushing(case: Case) -> Case:
    if case.bound is None or ".ftz" not in case.form:
        return case
    bound = case.bound.flushing(True)
    return Case(case.group, case.form, case.body, case.sources, case.results, bound)


_ADDERS = ("add", "sub", "mad.lo", "mad.hi")
_TAKERS = ("addc", "subc", "madc.lo", "madc.hi")


def _adds(name: str, target: str, sources: tuple[str, str]) -> str:
    """The operands of an instruction of a chain: ``mad`` multiplies by a third."""
    first, second = sources
    factor = f", {second}" if name.startswith("mad") else ""
    return f"{target}, {first}{factor}, {second}"


def chains() -> Iterator[Case]:
    """One instruction writes the carry, the next reads it and writes it, the last tells it.

    ``addc`` of zeros is the carry; ``subc`` of zeros is what it takes away.
    """
    for bits, first, second in itertools.product(("32", "64"), _ADDERS, _TAKERS):
        for kind in ("u", "s"):
            type_name = f"{kind}{bits}"
            body = (
                f"{first}.cc.{type_name} {_adds(first, '%d', ('%a', '%b'))};\n"
                f"{second}.cc.{type_name} {_adds(second, '%q', ('%c', '%e'))};\n"
                f"addc.{type_name} %r, 0, 0;"
            )
            form = f"{first}.cc.{type_name}; {second}.cc.{type_name}; addc.{type_name}"
            yield Case(EXTENDED, form, body, (type_name,) * 4, (type_name,) * 3)
    for bits, first, second in itertools.product(("32", "64"), _ADDERS, _TAKERS):
        type_name = f"u{bits}"
        body = (
            f"{first}.cc.{type_name} {_adds(first, '%d', ('%a', '%b'))};\n"
            f"{second}.{type_name} {_adds(second, '%q', ('%c', '%e'))};\n"
            f"subc.{type_name} %r, 0, 0;"
        )
        form = f"{first}.cc.{type_name}; {second}.{type_name}; subc.{type_name}"
        yield Case(EXTENDED, form, body, (type_name,) * 4, (type_name,) * 3)
