"""Random statements of one iteration: declarations, stores, and control flow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from ccc.tools.fuzz.atomics import ATOMICS, atomic
from ccc.tools.fuzz.expressions import Scope, expression
from ccc.tools.fuzz.local_arrays import ArrayWriter
from ccc.tools.fuzz.reductions import Reduction
from ccc.tools.fuzz.swarm import SwarmConfig
from ccc.tools.fuzz.tree import TYPES, Block, Expr, Stmt

_OUTPUTS = {"l": "z", "f": "w", "d": "e", "h": "o"}

_LOOPS = (
    "{pragma}for (unsigned {j} = 0; {j} < $0 % 9; ++{j}) @0",
    "{pragma}for (unsigned {j} = 0; {j} < $0 % 9; ++{j}) @0",
    "{pragma}for (unsigned {j} = $0 % 40; {j} >= 5; {j} -= 5) @0",
    "{{\nunsigned {j} = $0 & 127;\n{pragma}while ({j}) {{\n{j} >>= 1;\n@0\n}}\n}}",
    "{{\nunsigned {j} = $0 % 7;\n{pragma}do @0 while ({j}-- > 0);\n}}",
    "{{\nunsigned {j} = $0 % 11;\n{pragma}while (true) {{\nif (!{j}--) break;\n@0\n}}\n}}",
    "{{\nunsigned {j} = $0 % 13 + 1;\n{pragma}for (;;) {{\n"
    "if (--{j} == 0) break;\n@0\nif ($1) break;\n}}\n}}",
    "{{\nunsigned {j} = $0 % 5;\n{pragma}do {{\n{j} += 2;\n@0\n}} while ({j} < 9 && $1);\n}}",
)
"""Loops of at most 13 turns. What they count in is changed where no ``continue`` can miss it."""

_ALIKE = (
    "{x} = {x} * {c}u + {k}u;",
    "{x} ^= {x} >> {k};",
    "{x} += a[({x} + {k}) & 255];",
    "{z} = {z} * 0.5f + {k}.25f;",
    "{z} = fmaxf(b[({x} + {k}) & 255], {z} - {k}.5f);",
    "w[{slot}] = {z} + {c};",
    "y[{slot} * 3] += {x} % {c}u;",
    "if ({x} & {c}) {x} -= {k};",
)
"""Operations that differ by constants only."""

_SYSTEM_CALLS = (
    "assert(($0 & 7) < 8 * gridDim.z);",
    'if (gridDim.z > 1) printf("%u\\n", $0);',
    "{{\nunsigned *{m} = (unsigned *)malloc(8);\n{m}[1] = $0;\n{y} += {m}[1];\nfree({m});\n}}",
)


class StatementWriter(ArrayWriter):
    """Writes statements; holds what is the same for a whole kernel or a whole annotated loop."""

    def __init__(self, random: Random, swarm: SwarmConfig):
        super().__init__(random, swarm)
        self.budget = 3 + self.below(16)
        """How many statements with something in them the kernel may still have."""
        self.kinds = self._kinds()
        self.bins = ""
        self.carried: list[tuple[str, str]] = []
        self.reductions: list[Reduction] = []
        self.may_break = self.may_continue = True
        self.in_turns = False
        self.in_loop = True
        """Whether an annotated loop is around what is written."""

    # -- declarations ---------------------------------------------------------------------------

    def _kinds(self) -> str:
        """The types of variables, each as often as it is drawn."""
        wide, narrow = (round(self.swarm.weight(thing, 1)) for thing in ("wide", "narrow"))
        return "uuuuuuiibff" + "lqd" * wide + "hs" * narrow

    def kind(self) -> str:
        """A type."""
        return self.kinds[self.below(len(self.kinds))]

    def declare(self, out: list[Stmt], scope: Scope, prefix: str = "v") -> Scope:
        """Add the declaration of a new variable of any type."""
        return self.declare_as(out, scope, self.fresh(prefix), self.kind())

    def data(self, out: list[Stmt], scope: Scope, kind: str, index: str) -> Scope:
        """Add the declaration of a variable that is read from the input."""
        name = self.fresh("v")
        text = f"{TYPES[kind]} {name} = {'b' if kind == 'f' else 'a'}[({index} * $0) & 255];"
        factor = Expr("u", f"{1 + 2 * self.below(4)}u")
        out.append(Stmt(text, (factor,), names=self.slot_names, declares=(name,)))
        return scope.declare(name, kind)

    def declare_as(self, out: list[Stmt], scope: Scope, name: str, kind: str) -> Scope:
        """Add the declaration of a variable."""
        value = expression(self.random, scope, kind, 1 + self.below(2))
        out.append(Stmt(f"{TYPES[kind]} {name} = $0;", (value,), declares=(name,)))
        return scope.declare(name, kind)

    # -- statements -----------------------------------------------------------------------------

    def store(self, scope: Scope) -> Stmt:
        """A store to the iteration's own slot, or an atomic."""
        slot, names = self.slot, self.slot_names
        if self.in_turns:  # that may run at the same time: each place has one atomic of its own
            place = self.below(3)
            text = f"atomic{('Add', 'Xor', 'Max')[place]}(&y[{slot} * 3 + {place}], $0);"
            return Stmt(text, (self.value(scope, "u"),), names=names)
        kind = "uuuulffa"[self.below(8)]
        if kind == "a":
            return self.atomic(scope)
        if self.chance(0.3):
            kind = {"l": "l", "q": "l", "d": "d", "h": "h", "s": "h"}.get(self.kind(), kind)
        if kind == "u":
            how = ("=", "=", "+=", "^=")[self.below(4)]
            text = f"y[{slot} * 3 + {self.below(3)}] {how} $0;"
        else:
            text = f"{_OUTPUTS[kind]}[{slot}] = $0;"
        return Stmt(text, (self.value(scope, kind),), names=names)

    def atomic(self, scope: Scope) -> Stmt:
        """An integer atomic."""
        if self.bins and self.chance(0.5):
            where = (self.value(scope, "u"), self.value(scope, "u"))
            return Stmt(f"atomic{self.bins}(&bins[$0 & 15], $1);", where, names=("bins",))
        kind = "uuul"[self.below(4)]
        parts = (self.value(scope, "u"), self.value(scope, kind))
        return Stmt(atomic(ATOMICS[self.below(4)], kind, "($0 & 3)", "$1"), parts)

    def assign(self, scope: Scope, names: list[tuple[str, str]]) -> Stmt:
        """An assignment to one of the variables."""
        name, kind = names[self.below(len(names))]
        word = "+=" if kind in "ulfd" and self.chance(0.4) else "="
        value = expression(self.random, scope, kind, 1 + self.below(2))
        return Stmt(f"{name} {word} $0;", (value,), names=(name,))

    def plain(self, scope: Scope) -> Stmt:
        """A statement that belongs anywhere in an iteration, and no declaration."""
        mine = [v for v in scope.variables if v[0][0] == "v"]
        if mine and self.chance(0.4):
            return self.assign(scope, mine)
        if scope.effects and self.chance(0.35):
            return self.effect(scope)
        if self.reductions and self.chance(0.5):
            return self.reductions[self.below(len(self.reductions))].statement(self.random, scope)
        if self.carried and self.likes("carried", 0.2):
            return self._carry(scope)
        if self.likes("system calls", 0.03):
            return self.system_call(scope)
        return self.store(scope)

    def system_call(self, scope: Scope) -> Stmt:
        """One of those that the driver answers; what is asserted holds, and nothing is printed."""
        form = _SYSTEM_CALLS[self.below(len(_SYSTEM_CALLS))]
        place = f"y[{self.slot} * 3 + {self.below(3)}]"
        text = form.format(m=self.fresh("m"), y=place)
        if self.in_turns and "+=" in text:
            text = _SYSTEM_CALLS[0]
        return Stmt(text, (self.value(scope, "u"),), names=self.slot_names)

    def _carry(self, scope: Scope) -> Stmt:
        name, kind = self.carried[self.below(len(self.carried))]
        if self.chance(0.85):
            return Stmt(f"{name} += 1;", names=(name,))
        return self.assign(scope, [(name, kind)])

    # -- control flow ---------------------------------------------------------------------------

    def block(self, scope: Scope, size: int, depth: int, jumps: str = "") -> Block:
        """Several statements, at least one; ``jumps`` holds ``c`` where a continue may stand and
        ``b`` where a break may."""
        out: list[Stmt] = []
        scope = self.some(out, scope, size, depth, jumps)
        return (*out, self.plain(scope))

    def some(self, out: list[Stmt], scope: Scope, size: int, depth: int, jumps: str = "") -> Scope:
        """Add up to ``size`` statements; returns the scope behind them."""
        usual = {"declare": 6.0, "plain": 7.0, "array": 0.8 if depth > 0 else 0.2}
        if depth > 0:
            usual |= {"branches": 3.0, "loops": 2.0, "switches": 1.0}
        if jumps:
            usual["jumps"] = 0.8
        for _ in range(self.below(size + 1)):
            self.budget -= 1
            if self.budget < 0:
                break
            scope = self._one(out, scope, self.pick(usual), depth - 1, jumps)
        return scope

    def _one(self, out: list[Stmt], scope: Scope, what: str, depth: int, jumps: str) -> Scope:
        if what == "declare":
            return self.declare(out, scope)
        if what == "array":
            return self.array(out, scope)
        if what == "branches":
            out.append(self.branch(scope, depth, jumps))
        elif what == "loops":
            out.append(self.inner_loop(scope, depth))
        elif what == "switches":
            inside = jumps.replace("b", "")
            out.append(self.switch(scope, lambda: self.block(scope, 1, depth, inside)))
        elif what == "jumps":
            out.append(self.jump(scope, jumps))
        else:
            out.append(self.plain(scope))
        return scope

    def jump(self, scope: Scope, jumps: str) -> Stmt:
        """A continue or break under a condition."""
        word = {"c": "continue", "b": "break"}[jumps[self.below(len(jumps))]]
        return Stmt(f"if ($0) {word};", (self.condition(scope),))

    def branch(self, scope: Scope, depth: int, jumps: str) -> Stmt:
        """An if with up to four arms."""
        arms = (1, 1, 1, 2, 2, 3, 4)[self.below(7)]
        bodies = [self.block(scope, 2, depth, jumps) for _ in range(arms)]
        return self.chain(scope, bodies, arms > 1 and self.chance(0.7))

    def chain(
        self, scope: Scope, bodies: Sequence[Block], has_else: bool, pragma: str = ""
    ) -> Stmt:
        """An ``if`` with as many arms as there are bodies."""
        conditions = tuple(self.condition(scope) for _ in bodies[has_else:])
        arms = [f"if (${number}) @{number}" for number in range(len(conditions))]
        if has_else:
            arms.append(f"@{len(conditions)}")
        return Stmt(pragma + " else ".join(arms), conditions, tuple(bodies))

    def alike(self, scope: Scope, pragma: str) -> Stmt:
        """Two arms of the same operations with other constants, but for one or two of them."""
        whole, real = self.fresh("x"), self.fresh("z")
        steps = [_ALIKE[self.below(len(_ALIKE))] for _ in range(2 + self.below(6))]
        arms = [[self._similar(step, whole, real) for step in steps] for _ in range(2)]
        if self.chance(0.4):
            arms[self.below(2)].insert(
                self.below(len(steps)), self._similar(_ALIKE[0], whole, real)
            )
        if self.chance(0.3):
            arms[self.below(2)].append(self.plain(scope))
        text = (
            f"{{\nunsigned {whole} = $0;\nfloat {real} = 1.5f;\n{pragma}if ($1) @0 else @1\n"
            f"y[{self.slot} * 3 + {self.below(3)}] ^= {whole} + __float_as_uint({real});\n}}"
        )
        parts = (self.value(scope, "u"), self.condition(scope))
        bodies = tuple(map(tuple, arms))
        return Stmt(text, parts, bodies, names=self.slot_names, binds=(whole, real))

    def _similar(self, form: str, whole: str, real: str) -> Stmt:
        words = {"x": whole, "z": real, "slot": self.slot}
        numbers = {"c": 1 + 2 * self.below(1 << 16), "k": 1 + self.below(30)}
        return Stmt(form.format(**words, **numbers), names=(whole, real, *self.slot_names))

    def inner_loop(self, scope: Scope, depth: int) -> Stmt:
        """A loop inside an iteration."""
        pragma = ""
        if self.in_loop and self.likes("refused", 0.03):
            pragma = "#pragma ccc for variable\n"
        return self.loop(scope, depth, pragma)

    def loop(self, scope: Scope, depth: int, pragma: str, size: int = 2) -> Stmt:
        """A loop of a few turns, of one of several shapes."""
        name = self.fresh("j")
        inner = scope.declare(name, "u")
        jumps = "cb" if self.likes("jumps", 0.3) else ""
        body = self.block(inner, size, depth, jumps)
        text = _LOOPS[self.below(len(_LOOPS))].format(j=name, pragma=pragma)
        parts = [self.value(scope, "u")]
        if "$1" in text:
            parts.append(self.condition(inner))
        return Stmt(text, tuple(parts), (body,), binds=(name,))

    def switch(self, scope: Scope, case: Callable[[], Block], pragma: str = "") -> Stmt:
        """A switch. Dense cases become a jump table now and then, sparse ones compares."""
        cases = 2 + min(self.below(9), self.below(9))
        sparse = self.chance(0.3)
        values = sorted(self.random.sample(range(90 if sparse else cases + 2), cases))
        lines: list[str] = []
        bodies: list[Block] = []
        for value in values:
            labels = f"case {value}:"
            if value + 1 not in values and self.chance(0.1):
                labels += f" case {value + 1}:"
            if self.chance(0.07):
                lines.append(f"{labels} break;")
                continue
            end = " break;" if self.chance(0.8) else ""
            lines.append(f"{labels} @{len(bodies)}{end}")
            bodies.append(case())
        if self.chance(0.7):
            place = len(lines) if self.chance(0.8) else self.below(len(lines))
            lines.insert(place, f"default: @{len(bodies)} break;")
            bodies.append(case())
        modulus = 97 if sparse and self.chance(0.5) else values[-1] + 2
        text = f"{pragma}switch ($0 % {modulus}u) {{\n" + "\n".join(lines) + "\n}"
        return Stmt(text, (self.value(scope, "u"),), tuple(bodies))
