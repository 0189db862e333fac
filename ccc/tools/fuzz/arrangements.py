"""Where annotated loops stand: one after the other, in arms, under guards, in outer loops."""

from __future__ import annotations

from ccc.tools.fuzz.expressions import Scope
from ccc.tools.fuzz.loops import LoopWriter
from ccc.tools.fuzz.tree import LOOPS, Block, Expr, Stmt

_GUARDS = ("(l % 5 != 2)", "(l & 1)", "(l % 7 < 3)", "(g % 3 == 1)")


_WAITERS = (
    ("l == 0", "size - 1"),
    ("l % 5 == 2", "size - (size + 2) / 5"),
    ("(l & 31) == 1", "size - (size + 30) / 32"),
)
"""Which threads of a block wait, and how many of it do not."""

DONE = 8
"""From here on, words of ``work`` count the threads of each block that have been through."""


class ArrangementWriter(LoopWriter):
    """Writes one to three annotated loops.

    Where some threads are ``waiting`` for others, none may leave the kernel before.
    """

    waiting = False

    def loops(self, scope: Scope) -> list[Stmt]:
        """All annotated loops of a kernel, and what stands between them."""
        if self.waiting:
            return [self._waited_for(scope), *self._end()]
        several = not self.is_template and self.likes("several", 0.3)
        count = 2 + self.below(LOOPS - 1) if several else 1
        if count == 1:
            return self._row(scope, 1)
        usual = {"row": 3.0, "arms": 1.0, "guards": 1.0, "returning": 0.7, "outer row": 0.6}
        how = self.pick(usual)
        if how == "arms":
            return [*self._arms(scope), *self._row(scope, count - 2)]
        if how == "guards":
            return [self._guards(scope, count), *self._end()]
        if how == "returning":
            return [self._returning(scope), *self._row(scope, count - 1)]
        if how == "outer row":
            return [self._outer_row(scope, count), *self._end()]
        return self._row(scope, count)

    def _row(self, scope: Scope, count: int) -> list[Stmt]:
        """Loops one after the other."""
        out: list[Stmt] = []
        for _ in range(count):
            out += [*self.place(scope), *self._end()]
        return out

    def _end(self) -> list[Stmt]:
        """Threads of a block wait for one another, or do not."""
        if self.waits and self.likes("barrier", 0.25):
            return [Stmt("__syncthreads();")]
        return []

    def _inside(self, scope: Scope, count: int = 1) -> Block:
        """Loops where no threads wait for one another."""
        waits, self.waits = self.waits, False
        out: list[Stmt] = []
        for _ in range(count):
            out += self.place(scope)
        self.waits = waits
        return tuple(out)

    def _guard(self, scope: Scope) -> Expr:
        if self.chance(0.6):
            return Expr("b", _GUARDS[self.below(len(_GUARDS))])
        return self.condition(scope)

    def _arms(self, scope: Scope) -> list[Stmt]:
        """A loop in each arm of a branch."""
        bodies = (self._inside(scope), self._inside(scope))
        return [Stmt("if ($0) @0 else @1", (self._guard(scope),), bodies), *self._end()]

    def _guards(self, scope: Scope, count: int) -> Stmt:
        """Loops under one guard, of which the first or the last has another to itself."""
        inner = Stmt("if ($0) @0", (self._guard(scope),), (self._inside(scope),))
        others = self._inside(scope, count - 1)
        body = (inner, *others) if self.chance(0.7) else (*others, inner)
        return Stmt("if ($0) @0", (self._guard(scope),), (body,))

    def _returning(self, scope: Scope) -> Stmt:
        """A loop for some threads, which then return."""
        body = (*self._inside(scope), Stmt("return;"))
        self.all_come = False
        return Stmt("if ($0) @0", (self._guard(scope),), (body,))

    def _outer_row(self, scope: Scope, count: int) -> Stmt:
        """Loops in a loop."""
        name = self.fresh("r")
        body = self._inside(scope.declare(name, "u"), count)
        text = f"for (unsigned {name} = 0; {name} < $0; ++{name}) @0"
        return Stmt(text, (Expr("u", f"{2 + self.below(2)}u"),), (body,), binds=(name,))

    def _waited_for(self, scope: Scope) -> Stmt:
        """Some threads of each block wait until the others have been through the loops."""
        done = f"work + {DONE} + blockIdx.x"
        who, others = _WAITERS[self.below(len(_WAITERS))]
        read = f"atomicAdd({done}, 0u)"
        if self.chance(0.4):
            read = f"*(volatile unsigned *)({done})"
        text = f"while ({read} < (unsigned)({others})) {{}}\nt[g * 4 + 2] += 5;"
        returns = self.chance(0.5)
        wait = Stmt(text + ("\nreturn;" if returns else ""))
        self.may_leave = False
        loops = self._inside(scope, 1 if self.chance(0.6) else 2)
        self.all_come = self.all_come and not returns
        say = Stmt(f"__threadfence();\natomicAdd({done}, 1u);")
        return Stmt(f"if ({who}) @0 else @1", (), ((wait,), (*loops, say)))

    # -- one loop -------------------------------------------------------------------------------

    def place(self, scope: Scope) -> list[Stmt]:
        """An annotated loop by itself, under a guard, or in a loop of its own."""
        usual = {"alone": 6.0, "guard": 2.0, "outer loop": 1.2, "ragged": 0.3, "unmarked": 0.3}
        how = self.pick(usual)
        if how == "unmarked":
            return [self.unmarked(scope)]
        if how == "alone":
            return self.annotated(scope, may_wait=True)
        if how == "guard":
            return [self._guarded(scope)]
        name = self.fresh("r")
        body = self.annotated(scope.declare(name, "u"))
        if how == "outer loop":
            if self.waits and self.chance(0.4):
                body.append(Stmt("__syncthreads();"))
            times = Expr("u", f"{2 + self.below(2)}u")
        else:
            times = Expr("u", "($0 & 3)", (self.value(scope, "u"),))
        text = f"for (unsigned {name} = 0; {name} < $0; ++{name}) @0"
        return [Stmt(text, (times,), (tuple(body),), binds=(name,))]

    def _guarded(self, scope: Scope) -> Stmt:
        guard = self._guard(scope)
        inside = tuple(self.annotated(scope))
        if self.chance(0.3):
            other = Stmt("t[g * 4 + 3] += $0;", (self.value(scope, "u"),))
            return Stmt("if ($0) @0 else @1", (guard,), (inside, (other,)))
        return Stmt("if ($0) @0", (guard,), (inside,))
