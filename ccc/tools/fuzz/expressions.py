"""Random expressions without undefined behaviour: what each type can be made of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from ccc.tools.fuzz.tree import TYPES, Expr


@dataclass(frozen=True, slots=True)
class Template:
    """A template and the types of its parts; ``names`` are the variables it uses itself.

    One without a type is a statement.
    """

    type: str
    text: str
    parts: str = ""
    weight: int = 2
    names: tuple[str, ...] = ()


FORMS = [
    *(Template("u", f"($0 {o} $1)", "uu", 4) for o in ("+", "-", "*", "&", "|", "^")),
    Template("u", "($0 << ($1 & 31))", "uu"),
    Template("u", "($0 >> ($1 & 31))", "uu"),
    Template("u", "($0 % ($1 | 1))", "uu"),
    Template("u", "($0 / ($1 | 3))", "uu", 1),
    Template("u", "min($0, $1)", "uu"),
    Template("u", "max($0, $1)", "uu"),
    Template("u", "(unsigned)__popc($0)", "u"),
    Template("u", "(unsigned)__clz($0)", "u", 1),
    Template("u", "__brev($0)", "u", 1),
    Template("u", "__umulhi($0, $1)", "uu", 1),
    Template("u", "__funnelshift_l($0, $1, $2)", "uuu", 1),
    Template("u", "__byte_perm($0, $1, $2)", "uuu", 1),
    Template("u", "($0 ? $1 : $2)", "buu", 4),
    Template("u", "a[$0 & 255]", "u", 12),
    Template("u", "((const uint4 *)a)[$0 & 63].z", "u", 1),
    Template("u", "((const unsigned char *)a)[$0 & 1023]", "u", 1),
    Template("u", "(unsigned)$0", "l"),
    Template("u", "(unsigned)$0", "h"),
    Template("u", "(unsigned)$0", "i"),
    Template("u", "(unsigned)$0", "b", 1),
    Template("u", "(unsigned)fminf(fabsf($0), 1000.0f)", "f"),
    Template("u", "(unsigned)fmin(fabs($0), 1000.0)", "d", 1),
    Template("u", "__float_as_uint($0)", "f", 1),
    Template("u", "threadIdx.x", "", 1),
    Template("u", "threadIdx.y", "", 1),
    Template("u", "blockIdx.x", "", 1),
    Template("u", "f_mix($0, $1)", "uu", 1),
    Template("u", "f_fold($0, $1)", "uu", 1),
    Template("u", "f_pick($0, $1)", "uu", 1),
    Template("u", "f_carry($0, $1)", "uu", 1),
    Template("u", "f_own($0, $1)", "uu", 1),
    Template("u", "f_scratch($0, $1)", "uu", 1),
    Template("u", "f_any<unsigned>($0, $1)", "uu", 1),
    Template("u", "f_lane()", "", 1),
    Template("u", "f_below()", "", 1),
    *(Template("i", f"(int)((unsigned)$0 {o} (unsigned)$1)", "ii") for o in ("+", "-", "*")),
    Template("i", "(int)$0", "u", 4),
    Template("i", "($0 >> ($1 & 31))", "ii"),
    Template("i", "($0 / (($1 & 15) + 2))", "ii", 1),
    Template("i", "min($0, $1)", "ii"),
    Template("i", "(int)fminf(fmaxf($0, -9.0f), 9.0f)", "f", 1),
    Template("i", "(int)$0", "s"),
    Template("i", "(int)$0", "q", 1),
    *(Template("l", f"($0 {o} $1)", "ll", 3) for o in ("+", "-", "*", "^")),
    Template("l", "((unsigned long long)$0 << 32 | $1)", "uu", 4),
    Template("l", "((unsigned long long)$0 * $1)", "uu", 3),
    Template("l", "($0 >> ($1 & 63))", "lu"),
    Template("l", "($0 % ($1 | 1))", "ll", 1),
    Template("l", "($0 ? $1 : $2)", "bll"),
    Template("l", "__umul64hi($0, $1)", "ll", 1),
    Template(
        "l",
        "(unsigned long long)((((unsigned __int128)$0 << 64 | $1) + "
        "((unsigned __int128)$1 << 64 | $2)) >> 64)",
        "lll",
        1,
    ),
    Template("l", "f_any<unsigned long long>($0, $1)", "ll", 1),
    Template("l", "(unsigned long long)$0", "q", 1),
    Template("q", "(long long)$0", "l", 3),
    Template("q", "((long long)$0 * $1)", "ii", 3),
    Template("q", "($0 >> ($1 & 63))", "qu"),
    Template("q", "($0 / (($1 & 15) + 2))", "qq", 1),
    Template("q", "($0 < $1 ? $0 : $1)", "qq"),
    Template("h", "(unsigned short)$0", "u", 4),
    Template("h", "(unsigned short)$0", "s"),
    Template("h", "((const unsigned short *)a)[$0 & 511]", "u", 3),
    Template("s", "(short)$0", "i", 4),
    Template("s", "(short)$0", "h"),
    Template("s", "(short)($0 - $1)", "ss"),
    Template("s", "((const short *)a)[$0 & 511]", "u", 3),
    Template("h", "(unsigned short)($0 + $1)", "hh"),
    Template("h", "(unsigned short)((unsigned)$0 * $1)", "hh"),
    Template("c", "(unsigned char)$0", "u", 3),
    Template("c", "(unsigned char)($0 | $1)", "cc", 1),
    Template("c", "((const unsigned char *)a)[$0 & 1023]", "u", 2),
    *(Template("b", f"($0 {o} $1)", "uu", 3) for o in ("<", ">=", "==", "!=")),
    Template("b", "($0 < $1)", "ii", 2),
    Template("b", "($0 > $1)", "ll", 2),
    Template("b", "($0 < $1)", "ff", 3),
    Template("b", "($0 >= $1)", "dd", 1),
    Template("b", "($0 != $1)", "hh", 1),
    Template("b", "($0 <= $1)", "ss", 1),
    Template("b", "($0 < $1)", "qq", 1),
    Template("b", "($0 && $1)", "bb", 3),
    Template("b", "($0 || $1)", "bb", 3),
    Template("b", "!$0", "b", 2),
    Template("b", "($0 & 1)", "u", 3),
    Template("f", "b[$0 & 255]", "u", 12),
    *(Template("f", f"($0 {o} $1)", "ff", 4) for o in ("+", "-", "*")),
    Template("f", "($0 / (fabsf($1) + 1.5f))", "ff"),
    Template("f", "sqrtf(fabsf($0))", "f"),
    Template("f", "fminf($0, $1)", "ff"),
    Template("f", "fmaf($0, $1, $2)", "fff"),
    Template("f", "($0 ? $1 : $2)", "bff"),
    Template("f", "(float)($0 & 4095)", "u"),
    Template("f", "(float)$0", "d", 1),
    # No approximation: a compiler that knows the operand may compute it better than the device.
    Template("f", "rintf($0)", "f", 1),
    Template("f", "f_root($0, $1)", "fu", 1),
    Template("d", "(double)$0", "f", 4),
    *(Template("d", f"($0 {o} $1)", "dd", 3) for o in ("+", "-", "*")),
    Template("d", "sqrt(fabs($0))", "d", 1),
    Template("d", "($0 / (fabs($1) + 1.5))", "dd", 1),
    Template("d", "fmin($0, $1)", "dd", 1),
    Template("d", "($0 ? $1 : $2)", "bdd"),
    Template("d", "(double)$0", "u", 1),
    Template("d", "(double)($0 >> 12)", "q", 1),
]

LITERALS = {
    "": (";",),
    "u": ("0u", "1u", "3u", "17u", "255u", "2654435761u", "0x80000001u"),
    "i": ("0", "1", "-1", "7", "-100"),
    "q": ("1ll", "-3ll", "-4294967297ll"),
    "s": ("(short)2", "(short)-300"),
    "l": ("1ull", "0x123456789abcdefull", "4294967296ull"),
    "h": ("(unsigned short)5", "(unsigned short)40000"),
    "c": ("(unsigned char)1", "(unsigned char)200"),
    "b": ("true", "false"),
    "f": ("0.5f", "1.0f", "-1.25f", "3.0f"),
    "d": ("0.25", "2.0", "-1.5"),
}
"""The first and shortest is what shrinking puts in the place of an expression."""


OF_THE_THREAD = frozenset(("threadIdx", "blockIdx", "f_lane(", "f_below(", "f_who("))
"""Texts of forms that tell one thread from another."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression may use: variables by type, and forms of the surroundings.

    ``arrays`` are those of the thread's own, of four words at least, that may be written to.
    """

    variables: tuple[tuple[str, str], ...] = ()
    forms: tuple[Template, ...] = ()
    banned: frozenset[str] = frozenset()
    """Texts that forms must not hold, such as functions that make a path uncollectable."""
    arrays: tuple[str, ...] = ()
    by_type: dict[str, list[Template]] = field(default_factory=dict)

    @property
    def effects(self) -> bool:
        """Whether the surroundings offer statements."""
        return any(not form.type for form in self.forms)

    def choices(self, kind: str) -> list[Template]:
        """The forms of a type, each as often as it weighs."""
        if kind not in self.by_type:
            self.by_type[kind] = [
                form
                for form in (*FORMS, *self.forms)
                if form.type == kind and not any(word in form.text for word in self.banned)
                for _ in range(form.weight)
            ]
        return self.by_type[kind]

    def of_type(self, kind: str) -> list[str]:
        """The variables of a type."""
        return [name for name, type_ in self.variables if type_ == kind]

    def declare(self, name: str, kind: str) -> Scope:
        """With one more variable."""
        return replace(self, variables=(*self.variables, (name, kind)))

    def extend(self, *forms: Template, arrays: tuple[str, ...] = ()) -> Scope:
        """With more forms, and arrays."""
        forms, arrays = (*self.forms, *forms), (*self.arrays, *arrays)
        return replace(self, forms=forms, arrays=arrays, by_type={})

    def without(self, text: str) -> Scope:
        """With the forms of the surroundings that do not hold this text."""
        forms = tuple(form for form in self.forms if text not in form.text)
        return replace(self, forms=forms, by_type={})

    def anywhere(self) -> Scope:
        """With what has the same value in all threads of the grid."""
        variables = tuple(variable for variable in self.variables if variable[0] == "n")
        shared = frozenset(("table", "dynamic"))
        forms = tuple(f for f in self.forms if f.type and shared.issuperset(f.names))
        return Scope(variables, forms, self.banned | OF_THE_THREAD)

    def to_read(self) -> Scope:
        """Without what writes to memory of the surroundings."""
        forms = tuple(form for form in self.forms if form.type)
        return replace(self, forms=forms, arrays=(), by_type={})


def expression(random: Random, scope: Scope, kind: str, depth: int) -> Expr:
    """A random expression of a type, at most ``depth`` operations deep."""
    own = scope.of_type(kind)  # the later, the likelier: those differ from iteration to iteration
    if own and random.random() < (0.35 if depth > 0 else 0.8):
        name = own[-1 - min(random.randrange(len(own)), random.randrange(len(own)))]
        return Expr(kind, name, names=(name,))
    if depth <= 0:
        return leaf(random, scope, kind)
    forms = scope.choices(kind)
    form = forms[random.randrange(len(forms))]
    parts = tuple(expression(random, scope, part, depth - 1) for part in form.parts)
    return Expr(kind, form.text, parts, form.names)


def leaf(random: Random, scope: Scope, kind: str) -> Expr:
    """A variable of another type, converted, or a literal."""
    if kind != "b" and scope.variables and random.random() < 0.7:
        name, other = scope.variables[random.randrange(len(scope.variables))]
        if not (other in "fd" and kind in "uilqhsc"):  # converting those may overflow
            return Expr(kind, f"({TYPES[kind]}){name}", names=(name,))
    texts = LITERALS[kind]
    return Expr(kind, texts[random.randrange(len(texts))])
