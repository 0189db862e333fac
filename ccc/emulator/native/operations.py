"""What the C library computes: one operation on one element, by name.

Each becomes a loop over many lanes (:func:`source_text`). They must give, bit for bit, what
``semantics`` gives; ``tests/emulator/test_native.py`` runs all of them both ways. Conversions that
round otherwise than to nearest, the half types and ``tanh`` are not among them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ccc.emulator.semantics import approximate

COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
TO_WHOLE = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
APPROXIMATIONS = {"sin": "sine", "cos": "cosine", "ex2": "power_of_two", "lg2": "logarithm"}
INTEGERS = tuple(f"{kind}{bits}" for bits in (8, 16, 32, 64) for kind in "us")

_LEAST = {bits: f"((s{bits})((u{bits})1 << {bits - 1}))" for bits in (8, 16, 32, 64)}


@dataclass(frozen=True, slots=True)
class COperation:
    """``text`` is the result for operands ``a``, ``b``, ``c`` and ``d`` of the types ``sources``.

    Types are those of PTX; a predicate is a byte, 0 or 1.
    """

    result: str
    sources: tuple[str, ...]
    text: str


OPERATIONS: dict[str, COperation] = {}
"""By name; the order is that of the library's table."""


def _define(name: str, result: str, sources: str, text: str) -> None:
    OPERATIONS[name] = COperation(result, tuple(sources.split()), text)


def _moves() -> None:
    for kind in ("pred", "u8", "u16", "u32", "u64"):
        _define(f"mov.{kind}", kind, kind, "a")
        _define(f"selp.{kind}", kind, f"{kind} {kind} pred", "c ? a : b")
    for kind in ("pred", "u16", "u32", "u64"):
        _define(f"and.{kind}", kind, f"{kind} {kind}", "a & b")
        _define(f"or.{kind}", kind, f"{kind} {kind}", "a | b")
        _define(f"xor.{kind}", kind, f"{kind} {kind}", "a ^ b")
        _define(f"not.{kind}", kind, kind, "a ^ 1" if kind == "pred" else "~a")
    for kind in ("u16", "u32", "u64"):
        _define(f"cnot.{kind}", kind, kind, "a == 0")
    for part, whole in ((16, 32), (32, 64)):
        _define(
            f"pack.u{whole}",
            f"u{whole}",
            f"u{part} u{part}",
            f"(u{whole})a | (u{whole})b << {part}",
        )
        _define(f"upper.u{whole}", f"u{part}", f"u{whole}", f"a >> {part}")


def _integers() -> None:
    """Sums, products, shifts and comparisons."""
    for bits in (16, 32, 64):
        u, s = f"u{bits}", f"s{bits}"
        for name, sign in (("add", "+"), ("sub", "-")):
            _define(f"{name}.{u}", u, f"{u} {u}", f"a {sign} b")
        _define(f"mul.lo.{u}", u, f"{u} {u}", f"({u})((u64)a * b)")
        _define(f"mad.lo.{u}", u, f"{u} {u} {u}", f"({u})((u64)a * b + c)")
        _define(f"neg.{u}", u, u, "0 - a")
        _define(f"abs.{s}", u, u, f"({s})a < 0 ? 0 - a : a")
        _define(f"shl.{u}", u, f"{u} u32", f"b > {bits - 1} ? 0 : a << (b & {bits - 1})")
        _define(f"shr.{u}", u, f"{u} u32", f"b > {bits - 1} ? 0 : a >> (b & {bits - 1})")
        _define(f"shr.{s}", s, f"{s} u32", f"a >> (b > {bits - 1} ? {bits - 1} : b)")
        for kind in (u, s):
            _define(f"min.{kind}", kind, f"{kind} {kind}", "a < b ? a : b")
            _define(f"max.{kind}", kind, f"{kind} {kind}", "a > b ? a : b")
            _define(f"sad.{kind}", kind, f"{kind} {kind} {kind}", "c + (a > b ? a - b : b - a)")
            for name, sign in COMPARISONS.items():
                _define(f"setp.{name}.{kind}", "pred", f"{kind} {kind}", f"a {sign} b")
        _divisions(bits)
    for bits, wide in ((16, 32), (32, 64)):
        for kind in "us":
            x, w = f"{kind}{bits}", f"{kind}{wide}"
            _define(f"mul.wide.{x}", w, f"{x} {x}", f"({w})a * ({w})b")
            _define(f"mad.wide.{x}", w, f"{x} {x} {w}", f"({w})a * ({w})b + c")
    for width, double in (("16", "s32"), ("32", "s64"), ("64", "s128")):
        for kind in "us":
            x, w = f"{kind}{width}", double.replace("s", kind)
            high = f"(({w})a * ({w})b >> {width})"
            _define(f"mul.hi.{x}", x, f"{x} {x}", f"({x}){high}")
            _define(f"mad.hi.{x}", x, f"{x} {x} {x}", f"({x})({high} + c)")


def _divisions(bits: int) -> None:
    u, s = f"u{bits}", f"s{bits}"
    _define(f"div.{u}", u, f"{u} {u}", f"b ? a / b : ({u})~({u})0")
    _define(f"rem.{u}", u, f"{u} {u}", f"b ? a % b : ({u})~({u})0")
    _define(f"div.{s}", s, f"{s} {s}", f"quotient{bits}(a, b)")
    _define(f"rem.{s}", s, f"{s} {s}", f"b ? ({s})(a - ({u})quotient{bits}(a, b) * ({u})b) : -1")


def _bits() -> None:
    for bits, suffix in ((32, ""), (64, "ll")):
        u = f"u{bits}"
        _define(f"popc.{u}", "u32", u, f"__builtin_popcount{suffix}(a)")
        _define(f"clz.{u}", "u32", u, f"a ? __builtin_clz{suffix}(a) : {bits}")
        _define(f"brev.{u}", u, u, f"reverse{bits}(a)")
        _define(f"bfe.{u}", u, f"{u} u32 u32", f"field{bits}(a, b, c, 0)")
        _define(f"bfe.s{bits}", u, f"{u} u32 u32", f"field{bits}(a, b, c, 1)")
        _define(f"bfi.{u}", u, f"{u} {u} u32 u32", f"insert{bits}(a, b, c, d)")
        for kind in "us":
            flipped = f"(s{bits})a < 0 ? ~a : a" if kind == "s" else "a"
            highest = f"highest{bits}({flipped}, {bits - 1})"
            zero = "a == 0" if kind == "u" else "a == 0 || !~a"
            _define(f"bfind.{kind}{bits}", "u32", u, f"{zero} ? ~0u : {highest}")
    _define("lop3.u32", "u32", "u32 u32 u32 u32", "by_table(a, b, c, d)")
    _define("prmt.u32", "u32", "u32 u32 u32", "permute(a, b, c)")
    for name, wrap in (("wrap", "c & 31"), ("clamp", "(c > 32 ? 32 : c)")):
        pair = "((u64)b << 32 | a)"
        _define(f"shf.l.{name}", "u32", "u32 u32 u32", f"{pair} << ({wrap}) >> 32")
        _define(f"shf.r.{name}", "u32", "u32 u32 u32", f"{pair} >> ({wrap})")
    _define("isspacep", "pred", "u64 u64", "a >> 40 == b")


def _floats() -> None:
    for f, ftzs in (("f32", ("", ".ftz")), ("f64", ("",))):
        for ftz in ftzs:
            _arithmetic(f, ftz)
            _float_comparisons(f, ftz)
        u, top = f"u{f[1:]}", int(f[1:]) - 1
        signs = f"(({u})1 << {top})"
        _define(f"copysign.{f}", u, f"{u} {u}", f"(a & {signs}) | (b & ~{signs})")
    half = "flushed_f64(upper_half(1 / upper_half(flushed_f64(a))))"
    _define("rcp.f64.ftz", "f64", "f64", half)
    for ftz in ("", ".ftz"):
        _directed(ftz)
    for ftz, value in (("", "a"), (".ftz", "flush(a)")):
        _define(f"abs.f32{ftz}", "f32", "f32", f"canonical_f32(__builtin_fabsf({value}))")
        _define(f"neg.f32{ftz}", "f32", "f32", f"canonical_f32(-{value})")
    _define("abs.f64", "f64", "f64", "a != a ? quiet(a) : __builtin_fabs(a)")
    _define("neg.f64", "f64", "f64", "a != a ? quiet(a) : -a")


def _arithmetic(f: str, ftz: str) -> None:
    a, b, c = (f"flush({x})" if ftz else x for x in "abc")

    def both(name: str, sources: int, text: str, exact: str = "") -> None:
        """Without and with ``.sat``; ``exact`` is the result in double precision, for ``.ftz``."""
        if ftz:
            text = f"not_lifted({text}, {exact}, RN)" if exact else f"flush({text})"
        operands, end = " ".join([f] * sources), f"{f}{ftz}"
        _define(f"{name}.{end}", f, operands, f"canonical_{f}({text})")
        if f == "f32" and name in ("add", "sub", "mul", "fma"):
            _define(f"{name}.{end}.sat", f, operands, f"saturate({text})")

    wide = {sign: f"(f64){a} {sign} (f64){b}" for sign in "*/"}
    order = {"add": "b, a", "sub": "b, a", "mul": "b, a", "div": "a, b"}
    for name, sign in (("add", "+"), ("sub", "-"), ("mul", "*"), ("div", "/")):
        text = f"{a} {sign} {b}" if f == "f32" else f"first_nan({order[name]}, a {sign} b)"
        both(name, 2, text, wide.get(sign, ""))
    fused = f"fmaf({a}, {b}, {c})" if f == "f32" else "fused(a, b, c)"
    both("fma", 3, fused, f"exact_fused({a}, {b}, {c})")
    both("sqrt", 1, f"square_root_{f}({a})")
    both("rcp", 1, f"1 / {a}", f"1 / (f64){a}")
    for name, function in (("min", "least"), ("max", "most")):
        found = f"{function}_{f}({a}, {b})"
        both(name, 2, found if f == "f32" else f"both_nan(a, b, {found})")
        both(f"{name}.NaN", 2, f"either_nan_{f}({a}, {b}, {found})")
    both("rsqrt", 1, f"({f})(1 / __builtin_sqrt((f64){a}))")
    if f == "f32":
        for name, function in APPROXIMATIONS.items():
            both(name, 1, f"(f32){function}({a})")


def _directed(ftz: str) -> None:
    """Sums and products rounded toward zero, down or up."""
    a, b, c = (f"flush({x})" if ftz else x for x in "abc")
    texts = {
        "add": f"fused_f32({a}, 1, {b}, <mode>)",
        "sub": f"fused_f32({a}, 1, -(f64){b}, <mode>)",
        "mul": f"narrow((f64){a} * (f64){b}, <mode>)",
        "fma": f"fused_f32({a}, {b}, {c}, <mode>)",
    }
    exact = {"mul": f"(f64){a} * (f64){b}", "fma": f"exact_fused({a}, {b}, {c})"}
    for mode in ("rz", "rm", "rp"):
        for name, text in texts.items():
            result = text.replace("<mode>", mode.upper())
            if ftz and name in exact:
                result = f"not_lifted({result}, {exact[name]}, {mode.upper()})"
            elif ftz:
                result = f"flush({result})"
            sources = "f32 f32 f32" if name == "fma" else "f32 f32"
            _define(f"{name}.{mode}.f32{ftz}", "f32", sources, f"canonical_f32({result})")
            _define(f"{name}.{mode}.f32{ftz}.sat", "f32", sources, f"saturate({result})")
        narrowed = f"narrow(a, {mode.upper()})"
        narrowed = f"flush({narrowed})" if ftz else narrowed
        _define(f"cvt.{mode}.f32.f64{ftz}", "f32", "f64", f"cut_nan(a, {narrowed})")


def _float_comparisons(f: str, ftz: str) -> None:
    a, b = ("flush(a)", "flush(b)") if ftz else ("a", "b")
    unordered = f"({a} != {a} || {b} != {b})"
    opposite = {"eq": "ne", "ne": "eq", "lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}
    texts = {"num": f"!{unordered}", "nan": unordered}
    for name, sign in COMPARISONS.items():
        texts[name] = f"{a} {sign} {b}"
    texts["ne"] = f"{a} < {b} || {a} > {b}"
    for name, other in opposite.items():
        texts[f"{name}u"] = f"!({texts[other]})"
    for name, text in texts.items():
        _define(f"setp.{name}.{f}{ftz}", "pred", f"{f} {f}", text)


def _conversions() -> None:
    for source in INTEGERS:
        for target in INTEGERS:
            if source != target or source[0] == "s":
                _define(f"cvt.{target}.{source}", target, source, f"({target})a")
            if source != target:
                _saturating(target, source)
        for target in ("f32", "f64"):
            _define(f"cvt.{target}.{source}", target, source, f"({target})a")
        for mode in ("rz", "rm", "rp") if int(source[1:]) <= 32 else ():
            text = f"narrow((f64)a, {mode.upper()})"
            _define(f"cvt.{mode}.f32.{source}", "f32", source, text)
    for source in ("f32", "f64"):
        for mode, function in TO_WHOLE.items():
            for ftz, value in (("", "a"), (".ftz", "flush(a)")):
                if ftz and source == "f64":
                    continue
                whole = f"__builtin_{function}((f64){value})"
                for target in INTEGERS:
                    text = f"whole_{target}({whole}, {_for_nan(target, source)})"
                    _define(f"cvt.{mode}.{target}.{source}{ftz}", target, source, text)
                text = f"canonical_{source}(({source}){whole})"
                _define(f"cvt.{mode}.{source}.{source}{ftz}", source, source, text)
    for ftz in ("", ".ftz"):
        value = "flush(a)" if ftz else "a"
        _define(f"cvt.f64.f32{ftz}", "f64", "f32", f"(f64){value}")
        text = "flush((f32)a)" if ftz else "(f32)a"
        _define(f"cvt.f32.f64{ftz}", "f32", "f64", f"cut_nan(a, {text})")
        _define(f"cvt.sat.f32.f32{ftz}", "f32", "f32", f"saturate({value})")
        _define(f"cvt.f32.f32{ftz}", "f32", "f32", f"canonical_f32({value})" if ftz else "a")


def _for_nan(target: str, source: str) -> str:
    """What NaN becomes: 0, or the top bit where one of the types has 64 bits."""
    bits = int(target[1:])
    return "0" if source != "f64" and bits < 64 else f"({target}){_LEAST[bits]}"


def _saturating(target: str, source: str) -> None:
    low, high = _limits(target)
    least, most = _limits(source)
    text = "a"
    if high < most:
        text = f"(a > ({source}){high}ull ? ({source}){high}ull : {text})"
    if low > least:
        text = f"(a < ({source})({low}) ? ({source})({low}) : {text})"
    _define(f"cvt.sat.{target}.{source}", target, source, f"({target}){text}")


def _limits(kind: str) -> tuple[int, int]:
    bits = int(kind[1:])
    return (0, (1 << bits) - 1) if kind[0] == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)


for _fill in (_moves, _integers, _bits, _floats, _conversions):
    _fill()


def series_text() -> str:
    """The C functions of the series of what is approximated, and their constants."""
    parts = [
        f"#define TURNS_IN_RADIAN {approximate.TURNS_IN_RADIAN!r}\n"
        f"#define LARGEST_POWER {approximate.LARGEST_POWER!r}\n"
        f"#define ROOT_OF_TWO {math.sqrt(2)!r}\n"
    ]
    for name, coefficients in approximate.SERIES.items():
        text = repr(coefficients[-1])
        for coefficient in coefficients[-2::-1]:
            text = f"({text}) * x + {coefficient!r}"
        parts.append(f"INLINE f64 series_{name}(f64 x) {{ return {text}; }}\n")
    return "".join(parts)


def source_text() -> str:
    """The C functions of all operations, and the table of them."""
    parts = []
    for number, (name, one) in enumerate(OPERATIONS.items()):
        letters = "abcd"[: len(one.sources)]
        pointers = " ".join(
            f"const {kind} *p{letter} = (const {kind} *)P[A[{place}]];"
            for place, (letter, kind) in enumerate(zip(letters, one.sources, strict=True), 1)
        )
        values = " ".join(
            f"{kind} {letter} = p{letter}[first + k];"
            for letter, kind in zip(letters, one.sources, strict=True)
        )
        parts.append(
            f"/* {name} */\nOPERATION(o{number}) {{ {one.result} *r = ({one.result} *)P[A[0]]; "
            f"{pointers} LANES {{ {values} r[first + k] = ({one.result})({one.text}); }} }}\n"
        )
    names = [f"o{number}" for number in range(len(OPERATIONS))]
    table = ", ".join([*names, "count_guard"])
    return f"{''.join(parts)}\nstatic const operation TABLE[] = {{ {table} }};\n"
