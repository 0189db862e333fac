"""Random annotated kernels: loops of every kind with paths of every kind in them.

A kernel is free of races and of undefined behaviour by construction. An iteration writes only to
its own slots of the outputs, or by integer atomics of one kind an address; a thread writes only to
its own slots outside the loops. What a kernel reads nobody writes, save its own slots.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from ccc.fuzz.expressions import Form, Scope
from ccc.fuzz.statements import Writer
from ccc.fuzz.tree import LOOPS, Block, Expr, Kernel, Stmt

BLOCKS = (
    (32, 1, 1), (33, 1, 1), (1, 1, 1), (64, 1, 1), (100, 1, 1), (96, 1, 1), (128, 1, 1),
    (256, 1, 1), (16, 6, 1), (5, 4, 3), (8, 8, 2), (64, 1, 1), (128, 1, 1),
)  # fmt: skip
COUNTS = (0, 1, 31, 33, 64, 100, 150, 200, 300, 300, 450)
UNSAFE = ("f_who(", "f_pick(", "f_put(")
"""Functions for which a path may be left alone."""


def kernel(seed: int, index: int) -> Kernel:
    """The kernel of that number; the same wherever and whenever it is asked for."""
    random = Random(f"{seed}/{index}")
    block = BLOCKS[random.randrange(len(BLOCKS))]
    grid = 1 + random.randrange(4)
    while grid > 1 and grid * block[0] * block[1] * block[2] > 256:
        grid -= 1
    return Kernel(
        _Body(random).write(),
        grid,
        block,
        COUNTS[random.randrange(len(COUNTS))],
        bounded=random.random() < 0.8,
        restrict=random.random() < 0.4,
        high=(100, 4, 1 << 32)[random.randrange(3)],
    )


@dataclass(frozen=True, slots=True)
class _Shape:
    """How an annotated loop is written.

    ``{i}`` is the number of the iteration, ``{s}`` another variable. ``uniform`` loops run equally
    often in all threads; in a ``loose`` one a ``continue`` would leave out the counting; how often
    one that ``counts`` runs is in the data.
    """

    text: str
    uniform: bool = False
    loose: bool = False
    counts: bool = False


_SHAPES = (
    _Shape("{for}\nfor (int {i} = g; {i} < n; {i} += total) @0"),
    _Shape("{for}\nfor (int {i} = g; {i} < n; {i} += total) @0"),
    _Shape("{for}\nfor (int {i} = n - 1 - g; {i} >= 0; {i} -= total) @0"),
    _Shape(
        "{{\nconst int {s} = n / total + 1;\n{for}\n"
        "for (int {i} = g * {s}; {i} < n && {i} < g * {s} + {s}; ++{i}) @0\n}}"
    ),
    _Shape(
        "{{\nint {s} = g;\n{for}\nwhile ({s} < n) {{\nint {i} = {s};\n{s} += total;\n@0\n}}\n}}"
    ),
    _Shape(
        "{{\nint {i} = g;\n{for}\nwhile (true) {{\nif ({i} >= n) break;\n@0\n{i} += total;\n}}\n}}",
        loose=True,
    ),
    _Shape(
        "{{\nint {i} = g;\n{for}\nfor (;;) {{\nif ({i} < n) @0\n"
        "{i} += total;\nif ({i} >= n) break;\n}}\n}}",
        loose=True,
    ),
    _Shape("{{\nint {i} = g - total;\n{for}\nwhile (({i} += total) < n) @0\n}}"),
    _Shape("{{\nint {i} = g;\nif ({i} < n) {{\n{for}\ndo @0 while (({i} += total) < n);\n}}\n}}"),
    _Shape(
        "{for}\nfor (int {s} = 0; {s} < {trips}; ++{s}) {{\nint {i} = {s} * total + g;\n@0\n}}",
        uniform=True,
    ),
    _Shape(
        "{for}\nfor (int {s} = 0; {s} < {trips}; ++{s}) {{\nint {i} = g * {trips} + {s};\n@0\n}}",
        uniform=True,
    ),
    _Shape(
        "{for}\nfor (int {s} = 0; {s} * total < n; ++{s}) {{\n"
        "int {i} = {s} * total + g;\nif ({i} >= n) continue;\n@0\n}}",
    ),
    _Shape(
        "{for}\nfor (int {s} = 0; {s} < (int)($0 & 7); ++{s}) {{\n"
        "int {i} = {s} * total + g;\n@0\n}}",
        counts=True,
    ),
)


class _Body(Writer):
    """Writes the body of one kernel."""

    def write(self) -> Block:
        """The body."""
        scope = Scope((("g", "i"), ("l", "i"), ("n", "i")))
        out: list[Stmt] = []
        banned: frozenset[str] = frozenset(UNSAFE)
        self.daring = self.chance(0.15)
        if self.daring:
            banned = frozenset()
            scope = scope.extend(Form("u", "f_who($0)", "u"))
        scope = replace(scope, banned=banned, by_type={})
        for _ in range(self.below(3)):
            scope = self.declare(out, scope, "p")
        scope, tail = self._shared(out, scope)
        if self.chance(0.15):
            out.append(Stmt("if ($0) return;", (self.condition(scope),)))
        elif self.chance(0.08):
            out.append(Stmt("if (g >= n) return;"))
        self.number = 0
        for _ in range((1, 1, 1, 2, 3)[self.below(LOOPS + 2)]):
            out += self._place(scope)
            if self.chance(0.3):
                out.append(Stmt("__syncthreads();"))
            self.number += 1
        return (*out, *tail)

    def _shared(self, out: list[Stmt], scope: Scope) -> tuple[Scope, list[Stmt]]:
        """Shared memory to read, or to count in."""
        tail: list[Stmt] = []
        fill = "for (int j = l; j < {0}; j += size) {1}[j] = {2};\n__syncthreads();"
        if self.chance(0.2):
            text = "__shared__ unsigned table[64];\n" + fill.format(64, "table", "a[j] * 3 + j")
            out.append(Stmt(text, declares=("table",)))
            scope = scope.extend(Form("u", "table[$0 & 63]", "u", 8, ("table",)))
        if self.chance(0.15):
            out.append(Stmt(fill.format(32, "dynamic", "a[j + 9] ^ j"), declares=("dynamic",)))
            scope = scope.extend(Form("u", "dynamic[$0 & 31]", "u", 6, ("dynamic",)))
        self.histogram = self.chance(0.2)
        if self.histogram:
            text = "__shared__ unsigned bins[16];\n" + fill.format(16, "bins", "0")
            out.append(Stmt(text, declares=("bins",)))
            show = "__syncthreads();\nif (l < 16) atomicAdd(&counters[l & 3], bins[l] * (l + 1));"
            tail.append(Stmt(show, names=("bins",)))
        return scope, tail

    def _place(self, scope: Scope) -> list[Stmt]:
        """An annotated loop by itself, under a guard, or in a loop of its own."""
        how = self.random.random()
        if how < 0.6:
            return self._loop(scope, may_wait=not self.daring)
        if how < 0.75:
            name = self.fresh("r")
            inner = scope.declare(name, "u")
            body = self._loop(inner)
            if self.chance(0.4):
                body.append(Stmt("__syncthreads();"))
            times = Expr("u", f"{2 + self.below(2)}u")
            text = f"for (unsigned {name} = 0; {name} < $0; ++{name}) @0"
            return [Stmt(text, (times,), (tuple(body),), binds=(name,))]
        if how < 0.8:
            name = self.fresh("r")
            text = f"for (unsigned {name} = 0; {name} < ($0 & 3); ++{name}) @0"
            body = self._loop(scope.declare(name, "u"))
            return [Stmt(text, (self.value(scope, "u"),), (tuple(body),), binds=(name,))]
        guard = Expr("b", "(l % 5 != 2)") if self.chance(0.4) else self.condition(scope)
        inside = tuple(self._loop(scope))
        if self.chance(0.3):
            other = Stmt("t[g * 4 + 3] += $0;", (self.value(scope, "u"),))
            return [Stmt("if ($0) @0 else @1", (guard,), (inside, (other,)))]
        return [Stmt("if ($0) @0", (guard,), (inside,))]

    def _loop(self, scope: Scope, may_wait: bool = False) -> list[Stmt]:
        """An annotated loop, what it carries from one iteration to the next, and what becomes
        of that."""
        out: list[Stmt] = []
        self.carried = []
        for _ in range(self.below(2) if self.chance(0.5) else 0):
            kind = "uulf"[self.below(4)]
            name = self.fresh("c")
            scope = self.declare_as(out, scope, name, kind)
            self.carried.append((name, kind))
        shape = _SHAPES[self.below(len(_SHAPES))]
        i, s = self.fresh("i"), self.fresh("s")
        words = {"i": i, "s": s, "for": self._pragma(), "trips": 2 + self.below(6)}
        text = shape.text.format(**words)
        count = (self.value(scope, "u"),) if shape.counts else ()
        slot = i if self.number == 0 else f"({i} + {self.number} * slots)"
        self.slot, self.slot_names = slot, (i,)
        waits = may_wait and shape.uniform and self.chance(0.1)
        self.may_break = not waits
        self.may_continue = not shape.loose
        inner = scope.declare(i, "i")
        binds = (i, s) if "int " + s in text else (i,)
        if s in binds and shape.uniform:
            inner = inner.declare(s, "i")
        body = tuple(self.iteration(inner))
        if waits:
            body = (Stmt("__syncthreads();"), *body)
        out.append(Stmt(text, count, (body,), binds=binds))
        for number, (name, kind) in enumerate(self.carried):
            value = {"u": name, "l": f"(unsigned)({name} >> 7)", "f": f"__float_as_uint({name})"}
            line = f"t[g * 4 + {number}] += {value[kind]};"
            out.append(Stmt(line, names=(name,)))
        return out

    def _pragma(self) -> str:
        text = "#pragma ccc for" + (" const" if self.chance(0.1) else "")
        return text + ("\n#pragma unroll 2" if self.chance(0.05) else "")
