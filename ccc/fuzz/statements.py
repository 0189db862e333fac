"""Random statements of one iteration: declarations, stores, control flow, and annotated paths."""

from __future__ import annotations

from random import Random

from ccc.fuzz.expressions import Form, Scope, expression
from ccc.fuzz.tree import TYPES, Block, Expr, Stmt

LANE = "(1u << (l & 31))"
"""The mask of the thread alone: with it, collectives are defined in divergent code."""


class Writer:
    """Writes statements; holds what is the same for a whole kernel or a whole annotated loop."""

    def __init__(self, random: Random):
        self.random = random
        self.names = 0
        self.budget = 3 + self.below(16)
        """How many statements with something in them the kernel may still have."""
        self.daring = False
        """Whether to use what a path may be left alone for."""
        self.histogram = False
        self.number = 0
        self.carried: list[tuple[str, str]] = []
        self.slot, self.slot_names = "", ("",)
        self.may_break = self.may_continue = True

    # -- small things ---------------------------------------------------------------------------

    def below(self, bound: int) -> int:
        """A number from 0 to ``bound`` - 1."""
        return self.random.randrange(bound)

    def chance(self, share: float) -> bool:
        """Whether something of that probability happens."""
        return self.random.random() < share

    def fresh(self, prefix: str) -> str:
        """A new name."""
        self.names += 1
        return f"{prefix}{self.names}"

    def value(self, scope: Scope, kind: str) -> Expr:
        """An expression."""
        return expression(self.random, scope, kind, (0, 1, 1, 1, 2)[self.below(5)])

    def condition(self, scope: Scope) -> Expr:
        """A condition that some lanes of a warp meet and others do not."""
        share = 1 + self.below(7)
        mixed = Expr(
            "b",
            f"(($0 ^ $1) * 2654435761u >> 29) < {share}u",
            (Expr("u", "a[$0 & 255]", (self.value(scope, "u"),)), self.value(scope, "u")),
        )
        mixed = Expr("b", "($0)", (mixed,))
        if self.chance(0.25):
            joined = "($0 && $1)" if self.chance(0.5) else "($0 || $1)"
            return Expr("b", joined, (mixed, self.condition(scope)))
        return self.value(scope, "b") if self.chance(0.1) else mixed

    def declare(self, out: list[Stmt], scope: Scope, prefix: str = "v") -> Scope:
        """Add the declaration of a new variable of any type."""
        kind = "uuuuilhbffd"[self.below(11)]
        return self.declare_as(out, scope, self.fresh(prefix), kind)

    def data(self, out: list[Stmt], scope: Scope, index: str) -> Scope:
        """Add the declaration of a variable that is read from the input."""
        kind = "uuf"[self.below(3)]
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
        which = self.below(11)
        if which < 4:
            how = ("=", "=", "+=", "^=")[self.below(4)]
            text = f"y[{slot} * 3 + {self.below(3)}] {how} $0;"
            return Stmt(text, (self.value(scope, "u"),), names=names)
        if which < 6:
            return Stmt(f"z[{slot}] = $0;", (self.value(scope, "l"),), names=names)
        if which < 8:
            return Stmt(f"w[{slot}] = $0;", (self.value(scope, "f"),), names=names)
        return self.atomic(scope)

    def atomic(self, scope: Scope) -> Stmt:
        """An integer atomic; each address sees one operation only, so that order is free."""
        if self.histogram and self.chance(0.5):
            where = (self.value(scope, "u"), self.value(scope, "u"))
            return Stmt("atomicAdd(&bins[$0 & 15], $1);", where, names=("bins",))
        which = self.below(5)
        if which == 4:
            parts = (self.value(scope, "u"), self.value(scope, "l"))
            return Stmt("atomicAdd(&sums[$0 & 3], $1);", parts)
        name = ("Add", "Max", "Xor", "Or")[which]
        text = f"atomic{name}(&counters[($0 & 3) + {4 * which}], $1);"
        return Stmt(text, (self.value(scope, "u"), self.value(scope, "u")))

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
        if self.carried and self.chance(0.2):
            return self._carry(scope)
        return self.store(scope)

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
        for _ in range(self.below(size + 1)):
            self.budget -= 1
            if self.budget < 0:
                break
            what = self.random.random()
            if what < 0.3:
                scope = self.declare(out, scope)
            elif what < 0.45 and depth > 0:
                out.append(self.branch(scope, depth - 1, jumps))
            elif what < 0.55 and depth > 0:
                out.append(self.inner_loop(scope, depth - 1))
            elif what < 0.6 and depth > 0:
                out.append(self.switch(scope, depth - 1))
            elif what < 0.64 and depth > 0:
                scope = self.array(out, scope)
            elif what < 0.68 and jumps:
                word = "continue" if "c" in jumps and self.chance(0.7) else jumps
                word = {"c": "continue", "b": "break", "cb": "break"}.get(word, word)
                out.append(Stmt(f"if ($0) {word};", (self.condition(scope),)))
            else:
                out.append(self.plain(scope))
        return (*out, self.plain(scope))

    def branch(self, scope: Scope, depth: int, jumps: str) -> Stmt:
        """An if that is not annotated."""
        first = self.block(scope, 2, depth, jumps)
        if self.chance(0.5):
            return Stmt("if ($0) @0", (self.condition(scope),), (first,))
        second = self.block(scope, 2, depth, jumps)
        return Stmt("if ($0) @0 else @1", (self.condition(scope),), (first, second))

    def inner_loop(self, scope: Scope, depth: int) -> Stmt:
        """A loop inside an iteration."""
        name = self.fresh("j")
        inner = scope.declare(name, "u")
        count = self.value(scope, "u")
        body = self.block(inner, 2, depth, "cb" if self.chance(0.3) else "")
        shape = self.below(4)
        binds = (name,)
        if shape == 0:
            text = f"{{\nunsigned {name} = $0 & 127;\nwhile ({name}) {{\n{name} >>= 1;\n@0\n}}\n}}"
        elif shape == 1:
            text = f"{{\nunsigned {name} = $0 % 7;\ndo @0 while ({name}-- > 0);\n}}"
        else:
            pragma = "#pragma ccc for variable\n" if self.daring and self.chance(0.5) else ""
            text = f"{pragma}for (unsigned {name} = 0; {name} < $0 % 9; ++{name}) @0"
        return Stmt(text, (count,), (body,), binds=binds)

    def switch(self, scope: Scope, depth: int) -> Stmt:
        """A switch, large enough for a jump table now and then."""
        cases = 2 + self.below(6)
        bodies = tuple(self.block(scope, 1, depth) for _ in range(cases + 1))
        lines = [f"case {k}: @{k}" + (" break;" if self.chance(0.8) else "") for k in range(cases)]
        lines.append(f"default: @{cases}")
        pragma = "#pragma ccc switch\n" if self.daring and self.chance(0.5) else ""
        text = f"{pragma}switch ($0 % {cases + 1}u) {{\n" + "\n".join(lines) + "\n}"
        return Stmt(text, (self.value(scope, "u"),), bodies)

    def array(self, out: list[Stmt], scope: Scope) -> Scope:
        """Add a small array of the thread's own."""
        name = self.fresh("k")
        size = 4 << self.below(2)
        text = f"unsigned {name}[{size}];\nfor (int j = 0; j < {size}; ++j) {name}[j] = $0 * j;"
        out.append(Stmt(text, (self.value(scope, "u"),), declares=(name,)))
        return scope.extend(Form("u", f"{name}[$0 & {size - 1}]", "u", 10, (name,)))

    # -- iterations and paths -------------------------------------------------------------------

    def iteration(self, scope: Scope) -> list[Stmt]:
        """The body of an annotated loop, with one to three paths."""
        out: list[Stmt] = []
        if self.chance(0.15):
            form = Form("u", f"y[{self.slot} * 3 + {self.below(3)}]", "", 6, self.slot_names)
            scope = scope.extend(form)
        if self.daring and self.chance(0.15):
            out.append(self._daring(scope))
        scope = self.data(out, scope, self.slot_names[0])
        for _ in range(self.below(3)):
            scope = self.declare(out, scope)
        if self.daring and self.chance(0.3):
            scope = self.array(out, scope)
        for _ in range((1, 1, 1, 1, 2, 3)[self.below(6)]):
            scope = self._between(out, scope)
            out.append(self.path(scope, 2))
        if self.chance(0.6):
            out += self.block(scope, 2, 1)
        return out

    def _between(self, out: list[Stmt], scope: Scope) -> Scope:
        """What stands before a path."""
        what = self.random.random()
        if what < 0.15 and self.may_continue:
            out.append(Stmt("if ($0) continue;", (self.condition(scope),)))
        elif what < 0.22 and self.may_break:
            out.append(Stmt("if ($0) break;", (self.condition(scope),)))
        elif what < 0.4:
            scope = self.declare(out, scope)
        elif what < 0.6:
            out += self.block(scope, 2, 1)
        return scope

    def path(self, scope: Scope, depth: int) -> Stmt:
        """An annotated branch."""
        condition = self.condition(scope)
        pragma = "#pragma ccc if" + (f" prob(1.0/{2 + self.below(8)})" if self.chance(0.2) else "")
        arm = self._arm(scope, depth)
        what = self.random.random()
        if what < 0.5:
            one = Stmt(f"{pragma}\nif ($0) @0", (condition,), (arm,))
        elif what < 0.65:
            bodies = (arm, self._arm(scope, depth))
            one = Stmt(f"{pragma}\nif ($0) @0 else @1", (condition,), bodies)
        elif what < 0.75:
            arms = (arm, self._arm(scope, 1), self._arm(scope, 1))
            conditions = (condition, self.condition(scope))
            one = Stmt(f"{pragma}\nif ($0) @0 else if ($1) @1 else @2", conditions, arms)
        else:
            one = Stmt(f"{pragma}\nif ($0) @0", (condition,), (arm,))
            before = self.block(scope, 1, 0) if self.chance(0.5) else ()
            after = self.block(scope, 1, 0) if self.chance(0.3) else ()
            one = Stmt("if ($0) @0", (self.condition(scope),), ((*before, one, *after),))
        return one

    def _arm(self, scope: Scope, depth: int) -> Block:
        jumps = "c" if self.may_continue and self.chance(0.2) else ""
        body = list(self.block(scope, 3, depth, jumps))
        if self.daring and self.chance(0.35):
            body.append(self._daring(scope, inside=True))
        if self.daring and depth > 0 and self.chance(0.2):
            body.insert(self.below(len(body)), self.path(scope, depth - 1))
        return tuple(body)

    def _daring(self, scope: Scope, inside: bool = False) -> Stmt:
        """What a path is left alone for."""
        if inside and self.chance(0.4):
            word = "break" if self.may_break and self.chance(0.5) else "return"
            return Stmt(f"if ($0) {word};", (self.condition(scope),))
        parts = (self.value(scope, "u"),)
        slot = f"y[{self.slot} * 3]"
        forms = (
            f"{slot} = __shfl_sync({LANE}, $0, l & 31);",
            f"{slot} = __ballot_sync({LANE}, $0 & 1);",
            f"__syncwarp({LANE});",
            f"{{\nunsigned own = $0;\nf_put(&own, {slot});\n{slot} = own;\n}}",
            f"f_put(&{slot}, $0);",
            "__threadfence_block();",
        )
        return Stmt(forms[self.below(len(forms))], parts, names=self.slot_names)
