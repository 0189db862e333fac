"""Random annotated paths: branches, switches, inner loops and functions, one inside another."""

from __future__ import annotations

from random import Random

from ccc.tools.fuzz.expressions import Scope, Template, expression
from ccc.tools.fuzz.surroundings import ENTER, LEAVE, LOCKS, time
from ccc.tools.fuzz.swarm import SwarmConfig
from ccc.tools.fuzz.tree import ARGUMENTS, FORMAL_PARAMETERS, Block, Expr, Stmt
from ccc.tools.fuzz.turns import TurnWriter

LANE = "(1u << (l & 31))"
"""The mask of the thread alone: with it, collectives are defined in divergent code."""

LEVELS = 3
"""How deep paths are nested."""

_KINDS = {
    "if": 4.0, "else": 2.0, "else if": 1.5, "switch": 2.0,
    "while": 2.0, "for variable": 2.0, "recursion": 0.5, "inlined": 0.7,
    "sequel": 1.0, "alike": 0.6,
}  # fmt: skip
_IN_FUNCTIONS = ("recursion", "inlined")
_WITH_ARMS = ("else", "else if", "switch", "alike")

ARMS = 8
"""How many arms of paths a kernel has, about: what nvcc makes of them may be many more."""


class PathWriter(TurnWriter):
    """Writes paths, and the ``functions`` of the kernel that hold some."""

    def __init__(self, random: Random, swarm: SwarmConfig):
        super().__init__(random, swarm)
        self.functions: list[Stmt] = []
        self.functions_left = 2
        self.in_function = False
        self.arms = ARMS
        self.may_leave = True
        """Whether threads may end in a loop."""
        self.spins = False
        """Whether threads wait for one another by spinning."""

    def path(self, scope: Scope, depth: int = LEVELS - 1) -> Stmt:
        """A path, by itself or in a branch without an annotation."""
        self.arms -= 1
        one = self._path(scope, depth)
        if self.chance(0.8):
            return one
        before = self.block(scope, 1, 0) if self.chance(0.5) else ()
        after = self.block(scope, 1, 0) if self.chance(0.3) else ()
        return Stmt("if ($0) @0", (self.condition(scope),), ((*before, one, *after),))

    def _path(self, scope: Scope, depth: int) -> Stmt:
        kind = self._kind()
        if kind in _IN_FUNCTIONS:
            return self._call(scope, depth, kind)
        clauses = self.clauses()
        if kind == "sequel":
            return self.sequel(scope, clauses)
        if kind == "alike":
            return self.alike(scope, f"#pragma ccc if{clauses}\n")
        if kind in ("while", "for variable"):
            return self._loop_path(scope, kind, clauses)
        jumps = "c" if self.may_continue and self.likes("jumps", 0.2) else ""
        if kind == "switch":
            inner = max(depth - 1, 0)
            self.arms -= 3
            pragma = f"#pragma ccc switch{clauses}\n"
            return self.switch(scope, lambda: self._arm(scope, inner, jumps, size=1), pragma)
        arms = {"if": 1, "else": 2}.get(kind, 2 + self.below(3))
        self.arms -= arms - 1
        bodies = [self._arm(scope, max(depth - number, 0), jumps) for number in range(arms)]
        has_else = kind == "else" or (kind == "else if" and arms > 2 and self.chance(0.7))
        return self.chain(scope, bodies, has_else, f"#pragma ccc if{clauses}\n")

    def _kind(self) -> str:
        """What kind of path comes next, of those that there is still room for."""
        fitting = dict(_KINDS)
        if (
            not self.swarm.fond.isdisjoint(("steps", "lists"))
            and "for variable" not in self.swarm.averse
        ):
            fitting["for variable"] *= 4
        if not self.functions_left:
            fitting = {kind: w for kind, w in fitting.items() if kind not in _IN_FUNCTIONS}
        if self.arms < 4:
            fitting = {kind: w for kind, w in fitting.items() if kind not in _WITH_ARMS}
        return self.pick(fitting)

    def _loop_path(self, scope: Scope, kind: str, clauses: str | None, state: str = "") -> Stmt:
        """A loop whose turns differ in number, with branches in it; ``state`` is known outside."""
        outer = self.may_break, self.may_continue, self.in_turns
        self.may_break = self.may_continue = False
        if kind == "for variable":
            self.in_turns = True
            scope = scope.without("y[").to_read()
        pragma = "" if clauses is None else f"#pragma ccc {kind}{clauses}\n"
        if state and kind == "while" and self.chance(0.6):
            path = self.walk(scope, pragma, state)
        else:
            path = self.turns(scope, kind, pragma)
        self.may_break, self.may_continue, self.in_turns = outer
        return path

    def sequel(self, scope: Scope, clauses: str | None) -> Stmt:
        """A loop as a path in a loop without an annotation, whose turns follow from one another.

        Without ``clauses`` it is no path either.
        """
        turn, state = self.fresh("d"), self.fresh("s")
        kind = "while" if self.chance(0.7) else "for variable"
        inner = scope.declare(state, "u").declare(turn, "u")
        before = self.block(inner, 1, 0) if self.chance(0.4) else ()
        path = self._loop_path(inner, kind, clauses, state)
        after = self.block(inner, 1, 1) if self.chance(0.4) else ()
        most = 2 + self.below(9)
        times = ("$1 % {m}u", "{m}u", "($1 & 3) * {m}u / 2")[self.below(3)].format(m=most)
        stop = "\nif ($2) break;" if self.likes("jumps", 0.15) else ""
        text = (
            f"{{\nunsigned {state} = $0;\n"
            f"for (unsigned {turn} = 0; {turn} < {times}; ++{turn}) {{\n"
            f"{state} = {state} * 1664525u + 1013904223u;\n@0{stop}\n}}\n"
            f"y[{self.slot} * 3 + {self.below(3)}] += {state};\n}}"
        )
        parts = (self.value(scope, "u"), self.value(scope, "u"), self.condition(inner))
        bodies = ((*before, path, *after),)
        return Stmt(text, parts, bodies, names=self.slot_names, binds=(turn, state))

    def in_a_row(self, scope: Scope) -> Stmt:
        """Loops one after the other, each of which begins with what the one before has made."""
        state = self.fresh("s")
        inner = scope.declare(state, "u")
        body: list[Stmt] = []
        for _ in range(2 + self.below(2)):
            if self.chance(0.4):
                body += self.block(inner, 1, 0)
            kind = "while" if self.chance(0.8) else "for variable"
            one = self._loop_path(inner, kind, self.clauses(), state)
            again = Stmt(f"{state} = {state} * 1664525u + 12345u;", names=(state,))
            if self.chance(0.25):
                one = Stmt("if ($0) @0", (self.condition(inner),), ((one,),))
            body += [one, again]
        text = f"{{\nunsigned {state} = $0;\n@0\ny[{self.slot} * 3 + 2] += {state};\n}}"
        parts, bodies = (self.value(scope, "u"),), (tuple(body),)
        return Stmt(text, parts, bodies, names=self.slot_names, binds=(state,))

    def _arm(self, scope: Scope, depth: int, jumps: str, size: int = 3) -> Block:
        out: list[Stmt] = []
        inner = self.some(out, scope, size, depth, jumps)
        if depth > 0 and self.arms > 0 and self.likes("nested", 0.25):
            out.append(self.path(inner, depth - 1))
            inner = self.some(out, inner, 1, 0)
        if self.may_leave and self.likes("refused", 0.02):
            out.append(self.unwelcome(inner, inside=True))
        return (*out, self.plain(inner))

    def unwelcome(self, scope: Scope, inside: bool = False) -> Stmt:
        """What a path is left alone for."""
        if inside and self.may_leave and self.chance(0.4):
            word = "break" if self.may_break and self.chance(0.5) else "return"
            if word == "break" or not self.in_function:
                return Stmt(f"if ($0) {word};", (self.condition(scope),))
        parts = (self.value(scope, "u"),)
        slot = f"y[{self.slot} * 3]"
        forms = [
            f"{{\nunsigned own = $0;\nf_put(&own, {slot});\n{slot} = own;\n}}",
            f"f_put(&{slot}, $0);",
            "__threadfence_block();",
        ]
        if self.may_leave:
            forms.append(f"{slot} += f_leave($0);")
        if not self.in_function:
            forms += [
                f"{slot} = __shfl_sync({LANE}, $0, l & 31);",
                f"{slot} = __ballot_sync({LANE}, $0 & 1);",
                f"__syncwarp({LANE});",
            ]
        return Stmt(forms[self.below(len(forms))], parts, names=self.slot_names)

    # -- paths in functions ---------------------------------------------------------------------

    def _call(self, scope: Scope, depth: int, kind: str) -> Stmt:
        """A call of a function with a path in it, or that is one; a second call of it at times."""
        self.functions_left -= 1
        name = self.fresh("f_r" if kind == "recursion" else "f_t")
        parts = (self.value(scope, "u"), self.value(scope, "u"))
        outer = self.slot, self.slot_names, self.carried, self.bins, self.reductions
        outer_jumps = self.may_break, self.may_continue
        left, self.functions_left = self.functions_left, 0
        self.slot, self.slot_names = "s", ("s",)
        self.carried, self.bins, self.reductions = [], "", []
        self.may_break = self.may_continue = False
        self.in_function = True
        inner = Scope((("p", "u"), ("q", "u")), banned=scope.banned)
        write = self._recursive if kind == "recursion" else self._inlined
        self.functions.append(write(name, inner, depth))
        self.in_function, self.functions_left = False, left
        self.slot, self.slot_names, self.carried, self.bins, self.reductions = outer
        self.may_break, self.may_continue = outer_jumps
        return self._use(scope, f"{name}({ARGUMENTS}, {self.slot}, $0, $1)", parts, name)

    def _use(self, scope: Scope, call: str, parts: tuple[Expr, ...], name: str) -> Stmt:
        own = [v for v, kind in scope.variables if v[0] == "v" and kind == "u"]
        names = (*self.slot_names, name)
        if own and self.chance(0.6):
            variable = own[self.below(len(own))]
            return Stmt(f"{variable} ^= {call};", parts, names=(*names, variable))
        return Stmt(f"y[{self.slot} * 3 + {self.below(3)}] += {call};", parts, names=names)

    def _recursive(self, name: str, scope: Scope, _: int) -> Stmt:
        """A function that calls itself in tail position, at most some twenty times."""
        body = self.block(scope, 2, 1) if self.chance(0.6) else ()
        parts = (
            self.condition(scope),
            expression(self.random, scope, "u", 1),
            expression(self.random, scope, "u", 2),
        )
        most = 4 + self.below(20)
        inlining = "__noinline__ " if self.likes("noinline", 0.3) else ""
        text = (
            f"#pragma ccc recursion{self.asked(0.1)}\n__device__ {inlining}unsigned {name}(\n"
            f"    {FORMAL_PARAMETERS}, int s, unsigned p, unsigned q) {{\n"
            f"    if (q % 32 >= {most} || $0) return $1;\n@0\n"
            f"    return {name}({ARGUMENTS}, s, $2, q % 32 + 1);\n}}"
        )
        return Stmt(text, parts, (body,), declares=(name,), binds=("p", "q", "s"))

    def _inlined(self, name: str, scope: Scope, depth: int) -> Stmt:
        """A function with a path in it."""
        out: list[Stmt] = []
        inner = self.declare_as(out, scope, self.fresh("v"), "u")
        result = out[0].declares[0]
        out.append(self.path(inner, depth - 1 if depth > 0 else 0))
        out.append(Stmt(f"return {result};", names=(result,)))
        inlining = "__noinline__" if self.likes("noinline", 0.3) else "__forceinline__"
        text = (
            f"__device__ {inlining} unsigned {name}(\n"
            f"    {FORMAL_PARAMETERS}, int s, unsigned p, unsigned q) @0"
        )
        return Stmt(text, (), (tuple(out),), declares=(name,), binds=("p", "q", "s"))

    def lean_iteration(self, scope: Scope) -> list[Stmt]:
        """The body of an annotated loop with one branch, and little or much beside it."""
        out: list[Stmt] = []
        scope = self.data(out, scope, "u", self.slot_names[0])
        if self.chance(0.25):
            scope = self.some(out, scope, 2, 1)
        form = f"#pragma ccc if{self.clauses()}\nif ($0) @0"
        body = self.block(scope, 2, self.below(2))
        out.append(Stmt(form, (self.condition(scope),), (body,)))
        if self.chance(0.35):
            out += self.block(scope, 2, 1)
        return out

    # -- iterations -----------------------------------------------------------------------------

    def iteration(self, scope: Scope) -> list[Stmt]:
        """The body of an annotated loop, with one to three paths."""
        out: list[Stmt] = []
        if self.likes("own slot", 0.12):
            form = Template("u", f"y[{self.slot} * 3 + {self.below(3)}]", "", 6, self.slot_names)
            scope = scope.extend(form)
        if self.may_leave and self.likes("refused", 0.01):
            out.append(self.unwelcome(scope))
        for kind in ("u", "uuf"[self.below(3)])[: 1 + self.below(2)]:
            scope = self.data(out, scope, kind, self.slot_names[0])
        for _ in range(self.below(3)):
            scope = self.declare(out, scope)
        if self.wants_array():
            scope = self.array(out, scope)
        if self.likes("time", 0.04):
            start = self.fresh("s")
            out.append(Stmt(f"const long long {start} = clock64();", declares=(start,)))
            scope = scope.extend(*time(start))
        for _ in range((1, 1, 1, 2, 2, 3)[self.below(6)] if self.arms > 0 else 1):
            scope = self._between(out, scope)
            if self.likes("in a row", 0.06):
                out.append(self.in_a_row(scope))
                continue
            out += self._held(scope) if self.spins and self.chance(0.3) else [self.path(scope)]
        if self.chance(0.6):
            out += self.block(scope, 2, 1)
        return out

    def _held(self, scope: Scope) -> list[Stmt]:
        """A path in a critical section."""
        held = (self.fresh("h"),)
        words = {"held": held[0], "lock": LOCKS + 4}
        jumps = self.may_break, self.may_continue, self.may_leave
        self.may_break = self.may_continue = self.may_leave = False
        inner = scope.extend(Template("", f"{held[0]} += $0;", "u", 9, held)).without("f_locked(")
        enter = Stmt(ENTER.format(**words), (self.value(scope, "u"),), declares=held)
        out = [enter, self.path(inner), Stmt(LEAVE.format(**words), names=held)]
        self.may_break, self.may_continue, self.may_leave = jumps
        return out

    def _between(self, out: list[Stmt], scope: Scope) -> Scope:
        """What stands before a path."""
        jumps = ("c" if self.may_continue else "") + ("b" if self.may_break else "")
        if jumps and self.likes("jumps", 0.2):
            out.append(self.jump(scope, jumps))
        what = self.random.random()
        if what < 0.2:
            return self.declare(out, scope)
        return self.some(out, scope, 2, 1) if what < 0.4 else scope
