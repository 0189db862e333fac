"""Which operations of the C library an instruction is; None of what it does not know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ccc.emulator.base.forms import Form
from ccc.emulator.memory.spaces import GLOBAL, WINDOW_BITS, WINDOWS
from ccc.emulator.native.operations import APPROXIMATIONS, OPERATIONS, TO_WHOLE
from ccc.ir.operands import Immediate
from ccc.ptx.operations import UNSIGNED

DIRECTED = ("rz", "rm", "rp")


@dataclass(frozen=True, slots=True)
class NativeForm:
    """An operation by name, with the types of the instruction's operands and of its result.

    ``constants`` are more operands, after those of the instruction. ``then`` is the bitwise
    operation that combines the result with the next operand, a predicate.
    """

    name: str
    sources: tuple[str, ...]
    result: str
    constants: tuple[int, ...] = ()
    then: str = ""


def native_form(form: Form) -> NativeForm | None:
    """The operation of an instruction that computes one register from others."""
    if form.instruction.name == "isspacep":
        return _in_space(form)
    find = _FORMS.get(form.instruction.name)
    if find is None or not form.types:
        return None
    is_narrow_or_packed = form.kind == "x" or (form.kind == "f" and not _is_float(form))
    if is_narrow_or_packed and find is not _bitwise:
        return None
    return find(form)


def _named(name: str, constants: tuple[int, ...] = (), then: str = "") -> NativeForm | None:
    found = OPERATIONS.get(name)
    if found is None:
        return None
    sources = found.sources[: len(found.sources) - len(constants)]
    return NativeForm(name, sources, found.result, constants, then)


def _only(form: Form, *words: str) -> bool:
    """Whether the form has no other modifiers than its types and these."""
    return all(word in words or word in form.types for word in form.instruction.modifiers)


def _unsigned(form: Form) -> str:
    return f"u{form.bits}"


def _is_float(form: Form) -> bool:
    return form.type in ("f32", "f64")


def _float(form: Form, name: str) -> NativeForm | None:
    """Arithmetic; the approximate forms are rounded to nearest, too."""
    if not _only(form, "rn", *DIRECTED, "ftz", "sat", "approx", "full", "NaN"):
        return None
    if form.type == "f64" and form.has("approx") and name == "rcp" and not form.has("ftz"):
        return None
    nan = ".NaN" if form.has("NaN") else ""
    mode = form.choose(*DIRECTED)
    ftz, sat = (f".{word}" if form.has(word) else "" for word in ("ftz", "sat"))
    return _named(f"{name}{nan}{f'.{mode}' if mode else ''}.{form.type}{ftz}{sat}")


def _arithmetic(form: Form) -> NativeForm | None:
    """``add``, ``sub``, ``neg`` and ``abs``."""
    name = form.instruction.name
    if _is_float(form):
        return _float(form, name)
    if not _only(form):
        return None
    return _named(f"{name}.{form.type if name == 'abs' else _unsigned(form)}")


def _product(form: Form) -> NativeForm | None:
    """``mul``, ``mad`` and ``fma``."""
    name = form.instruction.name
    if _is_float(form):
        return _float(form, "fma" if name == "mad" else name)
    part = form.choose("lo", "hi", "wide")
    if part is None or not _only(form, part):
        return None
    return _named(f"{name}.{part}.{_unsigned(form) if part == 'lo' else form.type}")


def _typed(form: Form) -> NativeForm | None:
    """``div``, ``rem``, ``min``, ``max`` and ``sad``, by the type's sign."""
    name = form.instruction.name
    if _is_float(form):
        is_usual = name not in ("min", "max") or len(form.instruction.operands) == 3
        return _float(form, name) if is_usual else None
    return _named(f"{name}.{form.type}") if _only(form) else None


def _bitwise(form: Form) -> NativeForm | None:
    kind = "pred" if "pred" in form.instruction.modifiers else _unsigned(form)
    return _named(f"{form.instruction.name}.{kind}")


def _shift(form: Form) -> NativeForm | None:
    name = form.instruction.name
    kind = form.type if form.kind == "s" and name == "shr" else _unsigned(form)
    return _named(f"{name}.{kind}")


def _counted(form: Form) -> NativeForm | None:
    """``popc``, ``clz`` and ``brev``."""
    return _named(f"{form.instruction.name}.{_unsigned(form)}")


def _field(form: Form) -> NativeForm | None:
    kind = form.type if form.kind == "s" else _unsigned(form)
    return _named(f"{form.instruction.name}.{kind}") if _only(form) else None


def _insert(form: Form) -> NativeForm | None:
    return _named(f"bfi.{_unsigned(form)}")


def _table(form: Form) -> NativeForm | None:
    table = form.instruction.operands[-1]
    if form.has("or", "and") or not isinstance(table, Immediate) or table.integer is None:
        return None
    return _named("lop3.u32", (table.integer & 255,))


def _permute(form: Form) -> NativeForm | None:
    return _named("prmt.u32") if _only(form) else None


def _funnel(form: Form) -> NativeForm | None:
    side, how = form.choose("l", "r"), form.choose("wrap", "clamp")
    return _named(f"shf.{side}.{how}")


def _compare(form: Form) -> NativeForm | None:
    """``setp`` to one predicate, combined with another where there is one."""
    then = form.choose("and", "or", "xor") or ""
    if hasattr(form.instruction.operands[0], "second"):
        return None
    words = [w for w in form.instruction.modifiers if w not in (*form.types, then, "ftz")]
    if len(words) != 1:
        return None
    if _is_float(form):
        ftz = ".ftz" if form.has("ftz") else ""
        return _named(f"setp.{words[0]}.{form.type}{ftz}", then=then)
    is_signed = form.kind == "s" and words[0] not in UNSIGNED
    kind = form.type if is_signed else _unsigned(form)
    return _named(f"setp.{UNSIGNED.get(words[0], words[0])}.{kind}", then=then)


def _convert(form: Form) -> NativeForm | None:
    if len(form.types) != 2:
        return None
    target, source = form.types
    kinds = target[0] + source[0]
    if kinds[0] in "us" and kinds[1] in "us":
        if target == source:
            # A narrow one with a sign fills its register with that.
            return _named(f"mov.{target}" if kinds == "uu" else f"cvt.{target}.{source}")
        sat = "sat." if form.has("sat") else ""
        return _named(f"cvt.{sat}{target}.{source}") if _only(form, "sat") else None
    rounding = form.choose(*DIRECTED)
    rounded = f"cvt.{rounding}" if rounding else "cvt"
    if kinds[1] in "us":
        return _named(f"{rounded}.{target}.{source}") if _only(form, "rn", *DIRECTED) else None
    mode = form.choose(*TO_WHOLE)
    ftz = ".ftz" if form.has("ftz") and "f32" in form.types else ""
    if mode:
        return _named(f"cvt.{mode}.{target}.{source}{ftz}") if _only(form, mode, "ftz") else None
    sat = "sat." if form.has("sat") else ""
    words = ("rn", *DIRECTED, "ftz", "sat")
    return _named(f"{rounded}.{sat}{target}.{source}{ftz}") if _only(form, *words) else None


def _generic(form: Form) -> NativeForm | None:
    """``cvta``: the window of the space is added, or taken away."""
    window = WINDOWS.get(form.instruction.space, 0)
    if form.bits != 64:
        return None
    return _named(f"{'sub' if form.has('to') else 'add'}.u64", (window,))


def _in_space(form: Form) -> NativeForm | None:
    space = form.instruction.space
    window = WINDOWS.get(space, GLOBAL) >> WINDOW_BITS
    return None if space == "const" else _named("isspacep", (window,))


_FORMS: dict[str, Callable[[Form], NativeForm | None]] = {
    **dict.fromkeys(("add", "sub", "neg", "abs"), _arithmetic),
    **dict.fromkeys(("mul", "mad", "fma"), _product),
    **dict.fromkeys(("div", "rem", "min", "max", "sad", "sqrt", "rcp", "rsqrt"), _typed),
    **dict.fromkeys(APPROXIMATIONS, _typed),
    "copysign": _typed,
    **dict.fromkeys(("and", "or", "xor", "not", "cnot", "mov", "selp"), _bitwise),
    **dict.fromkeys(("shl", "shr"), _shift),
    **dict.fromkeys(("popc", "clz", "brev"), _counted),
    **dict.fromkeys(("bfe", "bfind"), _field),
    "bfi": _insert,
    "lop3": _table,
    "prmt": _permute,
    "shf": _funnel,
    "setp": _compare,
    "cvt": _convert,
    "cvta": _generic,
}
