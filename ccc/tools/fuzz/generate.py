"""Random annotated kernels: loops of every kind with paths of every kind in them.

A kernel is free of races and of undefined behaviour by construction. An iteration writes only to
its own slots of the outputs, or by integer atomics of one kind an address; a thread writes only to
its own slots outside the loops. What a kernel reads nobody writes, save its own slots.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from ccc.tools.fuzz.arrangements import ArrangementWriter
from ccc.tools.fuzz.expressions import Scope, Template
from ccc.tools.fuzz.mutation import mutated
from ccc.tools.fuzz.surroundings import locked, symbols
from ccc.tools.fuzz.swarm import SwarmConfig, swarm_config
from ccc.tools.fuzz.tree import BLOCKS, Block, Expr, RandomKernel, Stmt

COUNTS = (0, 1, 31, 33, 64, 100, 150, 200, 300, 300, 450)
FEW = 32
"""Threads of a block that are few, where all but one wait for a lock."""
SCHEDULES = ("", *(f" schedule(dynamic{chunk})" for chunk in ("", ", 1", ", 2", ", 3", ", 5")))
UNSAFE = ("f_who(", "f_put(", "f_pick(", "f_own(", "f_scratch(")
"""Functions for which a path may be left alone."""


def kernel(seed: int, index: int) -> RandomKernel:
    """The kernel of that number; the same wherever and whenever it is asked for."""
    random = Random(f"{seed}/{index}")
    writer = KernelWriter(random, swarm_config(random, index))
    block = BLOCKS[random.randrange(len(BLOCKS))]
    threads = block[0] * block[1] * block[2]
    most = 512 if writer.pragma else 256
    grid = 1 + random.randrange(12 if writer.pragma else 4)
    grid = max(1, min(grid, most // threads))
    n = COUNTS[random.randrange(len(COUNTS))]
    if writer.spins:  # waiting takes long, the longer the more wait
        n, grid = min(n, 64), min(grid, 2)
        block = block if threads <= FEW else (FEW + 1, 1, 1)
        threads = block[0] * block[1] * block[2]
    if writer.one_task:
        grid = max(1, -(-n // threads))
    body = writer.write()
    moves = writer.number > 1 or not writer.swarm.fond.isdisjoint(("traversal", "steps"))
    if moves and not (writer.spins or writer.one_task) and random.random() < 0.6:
        # Many iterations a thread, so that loops have much to do at the same time.
        block, grid, n = BLOCKS[(0, 1, 3)[random.randrange(3)]], 1, 300 + 85 * random.randrange(5)
        threads = block[0]
    made = RandomKernel(
        body,
        grid,
        block,
        n,
        tuple(writer.functions),
        bound=0 if random.random() < 0.4 else threads,
        # nvcc may keep what a restricted pointer leads to in a register, and lanes may end.
        restrict=random.random() < 0.6 and "f_leave(" not in "".join(map(str, body)),
        template=writer.is_template,
        pragma=writer.pragma,
        one_task=writer.one_task,
        spins=writer.spins,
        high=(100, 4, 1 << 32)[random.randrange(3)],
        data=index,
    )
    changes = not writer.spins and "work +" not in made.cuda("k") and writer.likes("mutated", 0.12)
    return mutated(random, made) if changes else made


class KernelWriter(ArrangementWriter):
    """Writes the body of one kernel."""

    def __init__(self, random: Random, swarm: SwarmConfig):
        super().__init__(random, swarm)
        self.one_task = self.likes("one task", 0.06)
        self.pragma = ""
        if self.one_task or self.likes("grid_stride", 0.06):
            self.pragma = f"#pragma ccc grid_stride{SCHEDULES[self.below(len(SCHEDULES))]}\n"
        self.waiting = not self.pragma and self.likes("waiting", 0.03)
        self.locking = self.likes("locks", 0.03)
        self.spins = self.waiting or self.locking
        self.is_template = not self.waiting and not self.one_task and self.likes("template", 0.06)
        self.waits = not self.is_template
        if self.is_template:  # all that is in it comes twice
            self.arms //= 2

    def write(self) -> Block:
        """The body."""
        scope = Scope((("g", "i"), ("l", "i"), ("n", "i")))
        out: list[Stmt] = []
        banned = frozenset(UNSAFE)
        if self.likes("refused", 0.06):
            banned = frozenset()
            scope = scope.extend(Template("u", "f_who($0)", "u"))
        elif self.likes("callee", 0.03):
            banned = frozenset(UNSAFE[:2])
        if self.is_template:
            scope = scope.extend(
                Template("u", "(unsigned)((T)$0 >> MODE)", "u", 4),
                Template("b", "(MODE == 0 || $0)", "b"),
                Template("l", "(unsigned long long)((T)$0 * (T)$1)", "ll"),
            )
        if self.locking:
            scope = scope.extend(*locked())
        if self.likes("symbols", 0.04):
            scope = scope.extend(*symbols())
        scope = replace(scope, banned=banned, by_type={})
        for _ in range(self.below(3)):
            scope = self.declare(out, scope, "p")
        scope, tail = self._shared(out, scope)
        if self.likes("outside", 0.06) or "alloca" in self.swarm.fond:
            scope = self.array(out, scope).to_read()
        if self.one_task:
            return (*out, *self._one_task(scope), *tail)
        if self.likes("returns", 0.15) and not self.waiting:
            self.all_come = False
            guard = Expr("b", "(g >= n)") if self.chance(0.3) else self.condition(scope)
            out.append(Stmt("if ($0) return;", (guard,)))
        out += self.loops(scope)
        return (*out, *tail)

    def _one_task(self, scope: Scope) -> list[Stmt]:
        """One task a thread: what is the body of an annotated loop elsewhere."""
        i = self.fresh("i")
        self.slot, self.slot_names = i, (i,)
        self.may_break = self.may_continue = False
        out = [
            Stmt(f"const int {i} = g;", declares=(i,)),
            Stmt(f"if ({i} >= n) return;", names=(i,)),
        ]
        inner = scope.declare(i, "i")
        if self.chance(0.4):
            out.append(Stmt("if ($0) return;", (self.condition(inner),)))
        return [*out, *self.iteration(inner)]

    def _shared(self, out: list[Stmt], scope: Scope) -> tuple[Scope, list[Stmt]]:
        """Shared memory to read, or to count in."""
        tail: list[Stmt] = []
        if not self.waits or self.one_task:
            return scope, tail
        fill = "for (int j = l; j < {0}; j += size) {1}[j] = {2};\n__syncthreads();"
        if self.likes("shared", 0.15):
            text = "__shared__ unsigned table[64];\n" + fill.format(64, "table", "a[j] * 3 + j")
            out.append(Stmt(text, declares=("table",)))
            scope = scope.extend(Template("u", "table[$0 & 63]", "u", 8, ("table",)))
        if self.likes("dynamic", 0.12):
            out.append(Stmt(fill.format(32, "dynamic", "a[j + 9] ^ j"), declares=("dynamic",)))
            scope = scope.extend(Template("u", "dynamic[$0 & 31]", "u", 6, ("dynamic",)))
        if self.likes("bins", 0.12):
            self.bins = ("Add", "Max", "Xor", "Or")[self.below(4)]
            text = "__shared__ unsigned bins[16];\n" + fill.format(16, "bins", "0")
            out.append(Stmt(text, declares=("bins",)))
            show = "__syncthreads();\nif (l < 16) atomicAdd(&counters[l & 3], bins[l] * (l + 1));"
            tail.append(Stmt(show, names=("bins",)))
        return scope, tail
