"""Making a failing kernel smaller, as long as it fails in the same way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from ccc.tools.fuzz.expressions import LITERALS
from ccc.tools.fuzz.tree import HOLE, Block, Expr, RandomKernel, Stmt, in_bodies, put

FEW, MANY = 3, 16
"""How many smaller kernels are tried at once: nvcc's start-up is shared.

Few after a success, when the next one is likely near; twice as many after each failure.
"""

Fails = Callable[[Sequence[RandomKernel]], Sequence[bool]]
Stage = Callable[[RandomKernel], Iterator[RandomKernel]]

_ASKED = re.compile(r" strategy\(\w+(?:\(\d+\))?\)")
_CASE = re.compile(r"(case \d+|default):")


def shrink(kernel: RandomKernel, fails: Fails, tries: int = 600) -> RandomKernel:
    """The smallest kernel found that still fails.

    Statements go before expressions: whatever is left out need not be made simpler.

    Args:
        kernel: one that fails.
        fails: which of several kernels do.
        tries: the most kernels to try.
    """
    for stage in (launches, bodies, expressions, bodies):
        kernel, tries = _exhaust(kernel, stage, fails, tries)
    return kernel


def _exhaust(
    kernel: RandomKernel, stage: Stage, fails: Fails, tries: int
) -> tuple[RandomKernel, int]:
    """Take steps of one kind until none is left; returns the tries left, too."""
    position = 0  # what lies before was tried on a kernel hardly different
    changed, size = False, FEW
    while tries > 0:
        batch = list(islice(stage(kernel), position, position + size))
        if not batch:
            if not changed:
                break
            position, changed = 0, False
            continue
        tries -= len(batch)
        found = next((n for n, failed in enumerate(fails(batch)) if failed), None)
        position += len(batch) if found is None else found
        size = min(2 * size, MANY) if found is None else FEW
        if found is not None:
            kernel, changed = batch[found], True
    return kernel, tries


def launches(kernel: RandomKernel) -> Iterator[RandomKernel]:
    """The same kernel with smaller launches, the smallest first."""
    for n in (1, 2, 33, 64, 100, 200):
        if n < kernel.n:
            yield replace(kernel, n=n)
    for grid in range(1, kernel.grid):
        yield replace(kernel, grid=grid)
    for block in ((2, 1, 1), (32, 1, 1), (64, 1, 1)):
        if block[0] < kernel.threads:
            yield replace(kernel, block=block, bound=block[0])
    if kernel.restrict:
        yield replace(kernel, restrict=False)
    if kernel.template:
        yield replace(kernel, template=False)
    if not kernel.bound:
        yield replace(kernel, bound=kernel.threads)
    if kernel.pragma and not kernel.one_task:
        yield replace(kernel, pragma="")
    if kernel.data:
        yield replace(kernel, data=0)


def bodies(kernel: RandomKernel) -> Iterator[RandomKernel]:
    """The kernel with fewer statements, the largest cuts first."""
    return _changed(kernel, _blocks)


def expressions(kernel: RandomKernel) -> Iterator[RandomKernel]:
    """The kernel with one simpler expression."""
    return _changed(kernel, _with_simpler_expressions)


def _changed(
    kernel: RandomKernel, change: Callable[[Block], Iterator[Block]]
) -> Iterator[RandomKernel]:
    """Kernels with another body or other functions, if their variables are declared."""
    smaller = (replace(kernel, body=body) for body in change(kernel.body))
    others = (replace(kernel, functions=block) for block in change(kernel.functions))
    return (one for one in chain(smaller, others) if one.closed())


def _blocks(block: Block) -> Iterator[Block]:
    """Blocks with less in them: stretches left out, statements opened, expressions simpler."""
    size = len(block)
    while size:
        for start in range(0, len(block), size):
            yield block[:start] + block[start + size :]
        size //= 2
    for place, statement in enumerate(block):
        for body in statement.bodies:
            yield put(block, place, *body)
        yield from in_bodies(block, place, _blocks)
        yield from (put(block, place, smaller) for smaller in _statements(statement))


def _statements(statement: Stmt) -> Iterator[Stmt]:
    yield from _fewer_arms(statement)
    pragma, _, rest = statement.form.partition("#pragma ccc ")
    if _ASKED.search(statement.form):
        yield replace(statement, form=_ASKED.sub("", statement.form, count=1))
    if rest and not rest.startswith(("for\n", "for const", "for reduction", "for strategy")):
        yield replace(statement, form=pragma + rest.partition("\n")[2])


def _fewer_arms(statement: Stmt) -> Iterator[Stmt]:
    """An if without one of its later arms, a switch without one of its cases."""
    arms = statement.form.split(" else ")
    for place in range(1, len(arms)):
        yield _renumbered(statement, " else ".join(arms[:place] + arms[place + 1 :]))
    lines = statement.form.split("\n")
    for place, line in enumerate(lines):
        if _CASE.match(line):
            yield _renumbered(statement, "\n".join(lines[:place] + lines[place + 1 :]))


def _renumbered(statement: Stmt, form: str) -> Stmt:
    """A statement of a form in which some holes of its old one are left out."""
    kept: dict[str, list[int]] = {"$": [], "@": []}

    def number(hole: re.Match[str]) -> str:
        sign = hole[1]
        kept[sign].append(int(hole[2]))
        return f"{sign}{len(kept[sign]) - 1}"

    form = HOLE.sub(number, form)
    exprs = tuple(statement.exprs[n] for n in kept["$"])
    bodies = tuple(statement.bodies[n] for n in kept["@"])
    return replace(statement, form=form, exprs=exprs, bodies=bodies)


def _with_simpler_expressions(block: Block) -> Iterator[Block]:
    for place, statement in enumerate(block):
        for number, expr in enumerate(statement.exprs):
            for simpler in _expressions(expr):
                exprs = put(statement.exprs, number, simpler)
                yield put(block, place, replace(statement, exprs=exprs))
        yield from in_bodies(block, place, _with_simpler_expressions)


def _expressions(expr: Expr) -> Iterator[Expr]:
    """A literal, a part of the same type, or the same with a simpler part."""
    literal = Expr(expr.type, LITERALS[expr.type][0])
    if not expr.parts and not expr.names:
        return
    if expr != literal:
        yield literal
    yield from (part for part in expr.parts if part.type == expr.type)
    for number, part in enumerate(expr.parts):
        for simpler in _expressions(part):
            yield replace(expr, parts=put(expr.parts, number, simpler))
