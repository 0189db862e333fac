"""Annotated loops: how they are written, where they stand, and what they carry."""

from __future__ import annotations

from dataclasses import dataclass

from ccc.tools.fuzz.expressions import Scope
from ccc.tools.fuzz.paths import PathWriter
from ccc.tools.fuzz.reductions import Reduction
from ccc.tools.fuzz.requests import MANY, request_alone
from ccc.tools.fuzz.tree import LOOPS, Stmt


@dataclass(frozen=True, slots=True)
class Shape:
    """How an annotated loop is written.

    ``{i}`` is the number of the iteration, ``{s}`` another variable. ``uniform`` loops run equally
    often in all threads; in a ``loose`` one a ``continue`` would leave out the counting; how often
    one that ``counts`` runs is in the data; in one of ``warps``, whole warps fetch their tasks.
    """

    text: str
    uniform: bool = False
    loose: bool = False
    counts: bool = False
    warps: bool = False


SHAPES = (
    Shape("{for}\nfor (int {i} = g; {i} < n; {i} += total) @0"),
    Shape("{for}\nfor (int {i} = g; {i} < n; {i} += total) @0"),
    Shape("{for}\nfor (int {i} = n - 1 - g; {i} >= 0; {i} -= total) @0"),
    Shape(
        "{{\nconst int {s} = n / total + 1;\n{for}\n"
        "for (int {i} = g * {s}; {i} < n && {i} < g * {s} + {s}; ++{i}) @0\n}}"
    ),
    Shape("{{\nint {s} = g;\n{for}\nwhile ({s} < n) {{\nint {i} = {s};\n{s} += total;\n@0\n}}\n}}"),
    Shape(
        "{{\nint {i} = g;\n{for}\nwhile (true) {{\nif ({i} >= n) break;\n@0\n{i} += total;\n}}\n}}",
        loose=True,
    ),
    Shape(
        "{{\nint {i} = g;\n{for}\nfor (;;) {{\nif ({i} < n) @0\n"
        "{i} += total;\nif ({i} >= n) break;\n}}\n}}",
        loose=True,
    ),
    Shape("{{\nint {i} = g - total;\n{for}\nwhile (({i} += total) < n) @0\n}}"),
    Shape("{{\nint {i} = g;\nif ({i} < n) {{\n{for}\ndo @0 while (({i} += total) < n);\n}}\n}}"),
    Shape(
        "{{\nint {s} = g;\nif ({s} < n) {{\n{for}\ndo {{\nint {i} = {s};\n{s} += total;\n@0\n"
        "}} while ({s} < n);\n}}\n}}"
    ),
    Shape(
        "{for}\nfor (int {s} = 0; {s} < {trips}; ++{s}) {{\nint {i} = {s} * total + g;\n@0\n}}",
        uniform=True,
    ),
    Shape(
        "{for}\nfor (int {s} = 0; {s} < {trips}; ++{s}) {{\nint {i} = g * {trips} + {s};\n@0\n}}",
        uniform=True,
    ),
    Shape(
        "{for}\nfor (int {s} = 0; {s} * total < n; ++{s}) {{\n"
        "int {i} = {s} * total + g;\nif ({i} >= n) continue;\n@0\n}}",
    ),
    Shape(
        "{for}\nfor (int {s} = 0; {s} < (int)($0 & 7); ++{s}) {{\n"
        "int {i} = {s} * total + g;\n@0\n}}",
        counts=True,
    ),
)


FETCHING = (
    Shape("{for}\nfor (int {i}; ({i} = {next}) < n;) @0"),
    Shape(
        "{{\nint {i} = {next};\n{for}\nwhile ({i} < n) {{\n@0\n{i} = {next};\n}}\n}}", loose=True
    ),
    Shape(
        "{{\nint {i} = {next};\nif ({i} < n) {{\n{for}\ndo @0 while (({i} = {next}) < n);\n}}\n}}"
    ),
    Shape("{for}\nwhile (true) {{\nconst int {i} = {next};\nif ({i} >= n) break;\n@0\n}}"),
    Shape(
        "{for}\nfor (;;) {{\nunsigned {s} = 0;\n"
        "if ((l & 31) == 0) {s} = atomicAdd({counter}, (size - 1 & 31) + 1u);\n"
        "{s} = __shfl_sync(~0u, {s}, 0);\nif ((int){s} >= n) break;\n"
        "const int {i} = (int){s} + (l & 31);\n"
        "if ((l & 31) <= (size - 1 & 31) && {i} < n) @0\n}}",
        warps=True,
    ),
)
"""Loops that fetch the number of the next iteration from a ``{counter}``: a thread for itself, or
a warp for all its lanes, or for as many as the last one has: so all are run, and the counter ends
at the same number. Who runs which iteration is for chance to say."""


class LoopWriter(PathWriter):
    """Writes annotated loops; ``number`` is that of the next one."""

    number = 0
    all_come = True
    """Whether no thread has left the kernel before."""
    is_template = False
    waits = True
    """Whether threads may wait for one another outside the loops."""

    def annotated(self, scope: Scope, may_wait: bool = False) -> list[Stmt]:
        """An annotated loop, what it carries from one iteration to the next or adds up, and what
        becomes of that."""
        out: list[Stmt] = []
        fetches = self.likes("fetching", 0.05)
        if self.may_leave and self.likes("exits", 0.05):
            self.all_come = False
            out.append(Stmt("t[g * 4 + 3] += f_leave(g + $0);", (self.value(scope, "u"),)))
        outside = self.bins, self.may_leave
        if fetches:
            scope = scope.anywhere()
            self.bins, self.may_leave = "", False
        else:
            scope = self._carry_something(out, scope)
        for _ in range(1 + self.below(3) if self.likes("reduction", 0.2) else 0):
            self.reductions.append(Reduction.drawn(self.random, self.fresh("x")))
            out.append(self.reductions[-1].declaration(self.random))
        shape = SHAPES[self.below(len(SHAPES))]
        if fetches:
            warps = may_wait and self.waits and self.all_come and self.chance(0.2)
            shape = FETCHING[-1 if warps else self.below(len(FETCHING) - 1)]
        i, s = self.fresh("i"), self.fresh("s")
        pragma = self._pragma()
        counter = f"work + {self.number}" + (f" + MODE * {LOOPS}" if self.is_template else "")
        words = {"i": i, "s": s, "for": pragma, "trips": 2 + self.below(6)}
        words |= {"counter": counter, "next": f"(int)atomicAdd({counter}, 1u)"}
        text = shape.text.format(**words)
        count = (self.value(scope, "u"),) if shape.counts else ()
        self.slot, self.slot_names = self._slot(i), (i,)
        waits = may_wait and self.waits and shape.uniform and self.likes("barrier", 0.05)
        self.may_break = not waits and not fetches
        self.may_continue = not shape.loose
        inner = scope.declare(i, "i")
        binds = (i, s) if f"int {s}" in text else (i,)
        names = tuple(reduction.name for reduction in self.reductions)
        if s in binds and shape.uniform:
            inner = inner.declare(s, "i")
        lean = self.likes("lean", 0.18)
        body = tuple(self.lean_iteration(inner) if lean else self.iteration(inner))
        if waits:
            body = (Stmt("__syncthreads();"), *body)
        out.append(Stmt(text, count, (body,), names, binds=binds))
        out += self._show_carried()
        out += [reduction.result(self.random, fetches) for reduction in self.reductions]
        self.bins, self.may_leave = outside
        self.reductions = []
        self.slot_names = ()
        self.number += 1
        return out

    def unmarked(self, scope: Scope) -> Stmt:
        """A loop without an annotation round one that asks for a strategy which needs none."""
        self.slot, self.slot_names = self._slot("g"), ("g",)
        self.may_break = self.may_continue = self.in_loop = False
        request = request_alone(self.below(MANY))
        nest = self.sequel(scope, f" strategy({request})" if request else None)
        self.in_loop, self.slot_names = True, ()
        self.number += 1
        return nest

    def _slot(self, i: str) -> str:
        """Where an iteration's outputs lie: apart from those of all others."""
        number = f"{self.number}"
        if self.is_template:
            number = f"(MODE * {LOOPS} + {number})"
        return i if number == "0" else f"({i} + {number} * slots)"

    def _carry_something(self, out: list[Stmt], scope: Scope) -> Scope:
        self.carried = []
        for _ in range(1 + self.below(2) if self.likes("carried", 0.2) else 0):
            kind, name = "uulf"[self.below(4)], self.fresh("c")
            scope = self.declare_as(out, scope, name, kind)
            self.carried.append((name, kind))
        return scope

    def _show_carried(self) -> list[Stmt]:
        out = []
        for number, (name, kind) in enumerate(self.carried):
            value = {"u": name, "l": f"(unsigned)({name} >> 7)", "f": f"__float_as_uint({name})"}
            out.append(Stmt(f"t[g * 4 + {number}] += {value[kind]};", names=(name,)))
        self.carried = []
        return out

    def _pragma(self) -> str:
        text = "#pragma ccc for" + (" const" if self.chance(0.1) else "")
        text += "".join(reduction.clause for reduction in self.reductions) + self.asked(0.04)
        return text + ("\n#pragma unroll 2" if self.chance(0.03) else "")
