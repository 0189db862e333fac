"""Random reductions: accumulators that every iteration may add to, and that none of them reads.

Each thread ends with what its own iterations added, whoever ran them. Floating-point terms are
multiples of 1/16 below 8, so that sums are exact in any order. A minimum or maximum may have a
place that goes with it: that of the first of several equal values, or of the last.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from ccc.tools.fuzz.atomics import atomic
from ccc.tools.fuzz.expressions import Scope, expression
from ccc.tools.fuzz.tree import TYPES, Expr, Stmt

_KINDS = {"+": "uilqfdh", "min": "uilqfd", "max": "uilqfd", "&": "uilb", "|": "ulbch", "^": "ullh"}
_STARTS = {"+": ("0", "3"), "min": ("7", "-1"), "max": ("0", "5"), "&": ("-1",), "|": ("0",)}
_EXACT = {
    "f": "((float)(int)(fminf(fmaxf($0, -8.0f), 8.0f) * 16.0f) * 0.0625f)",
    "d": "((double)(int)(fmin(fmax($0, -8.0), 8.0) * 16.0) * 0.0625)",
}
_THAN = {"min": "<", "max": ">"}
_LESS = {"f": "fminf", "d": "fmin"}
_MORE = {"f": "fmaxf", "d": "fmax"}
_ORDERED = {
    "i": "({} ^ 0x80000000u)",
    "q": "({} ^ 0x8000000000000000ull)",
    "f": "((int)({} * 16.0f) ^ 0x80000000u)",
    "d": "((int)({} * 16.0) ^ 0x80000000u)",
}
"""Numbers without a sign that are in the order of those."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """One accumulator."""

    name: str
    sign: str
    kind: str
    than: str = ""
    """By what it is compared, where it has a place; nothing where it has none."""

    @staticmethod
    def drawn(random: Random, name: str) -> Reduction:
        """A random one."""
        sign = list(_KINDS)[random.randrange(len(_KINDS))]
        kinds = _KINDS[sign]
        kind = kinds[random.randrange(len(kinds))]
        if sign not in _THAN or random.random() < 0.5:
            return Reduction(name, sign, kind)
        return Reduction(name, sign, kind, _THAN[sign] + "=" * (random.random() < 0.4))

    @property
    def place(self) -> str:
        """The variable that goes with it."""
        return f"{self.name}_at"

    @property
    def clause(self) -> str:
        """The clause of the loop."""
        return f" reduction({self.sign}: {self.name})"

    def declaration(self, random: Random) -> Stmt:
        """Its declaration, before the loop."""
        starts = _STARTS.get(self.sign, ("0",))
        start = starts[random.randrange(len(starts))]
        text = f"{TYPES[self.kind]} {self.name} = ({TYPES[self.kind]}){start};"
        if self.than:
            text += f" unsigned {self.place} = 0;"
        return Stmt(text, declares=(self.name,))

    def statement(self, random: Random, scope: Scope) -> Stmt:
        """Something is added."""
        value = expression(random, scope, self.kind, 1)
        if self.kind in _EXACT:
            value = Expr(self.kind, _EXACT[self.kind], (value,))
        elif self.kind in "iq" and self.sign == "+":  # a signed sum must not overflow
            value = Expr(self.kind, "($0 >> 14)", (value,))
        if self.than:
            place = expression(random, scope, "u", 1)
            text = (
                f"{{ const {TYPES[self.kind]} one = $0; if (one {self.than} {self.name}) "
                f"{{ {self.name} = one; {self.place} = $1; }} }}"
            )
            return Stmt(text, (value, place), names=(self.name,))
        return Stmt(self._text(random), (value,), names=(self.name,))

    def _text(self, random: Random) -> str:
        name = self.name
        if self.kind == "b" and random.random() < 0.6:
            set_to = {"|": "true", "&": "false"}[self.sign]
            return (f"if ($0) {name} = {set_to};", f"{name} = {name} {2 * self.sign} $0;")[
                random.random() < 0.5
            ]
        if self.sign in ("min", "max") and random.random() < 0.5:
            kind, than = TYPES[self.kind], _THAN[self.sign]
            return f"{{ const {kind} one = $0; if (one {than} {name}) {name} = one; }}"
        if self.sign in ("min", "max"):
            words = _LESS if self.sign == "min" else _MORE
            return f"{name} = {words.get(self.kind, self.sign)}({name}, $0);"
        sign = "-" if self.sign == "+" and random.random() < 0.2 else self.sign
        return f"{name} {sign}= $0;"

    def result(self, random: Random, joined: bool = False) -> Stmt:
        """What becomes of it: all threads' are joined, or each is stored if it need not be."""
        name = self.name
        if random.random() < 0.5 and not joined:
            words = {
                "f": f"__float_as_uint({name})",
                "d": f"(unsigned)__double_as_longlong({name})",
            }
            word = words.get(self.kind, f"(unsigned)({name} ^ {name} >> 16)")
            word = f"({word} ^ {self.place} * 7u)" if self.than else word
            return Stmt(f"t[g * 4 + {random.randrange(4)}] += {word};", names=(name,))
        return self._joined()

    def _joined(self) -> Stmt:
        """All threads' results are joined: to the same, whichever thread has run which iteration.

        So the least and the greatest are joined to such in their own order, and sums of 16 bits
        where they wrap.
        """
        name, value = self.name, self.name
        if self.sign == "+" and self.kind in "fd":
            return Stmt(f"atomicAdd(&totals[0], (double){name});", names=(name,))
        kind = "l" if self.kind in "lq" else "u"
        if self.sign == "+" and self.kind == "h":
            value = f"((unsigned){name} << 16)"
        if self.sign in ("min", "max"):
            value = _ORDERED.get(self.kind, "{}").format(name)
        if self.sign in ("min", "&"):  # as max and | of what is inverted
            value = f"~{value}"
        names = {"+": "Add", "^": "Xor", "min": "Max", "max": "Max", "&": "Or", "|": "Or"}
        value = f"({TYPES[kind]})({value})"
        return Stmt(atomic(names[self.sign], kind, "0", value), names=(name,))
