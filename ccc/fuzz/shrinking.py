"""Making a failing kernel smaller, as long as it fails in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeVar

from ccc.fuzz.expressions import LITERALS
from ccc.fuzz.tree import Block, Expr, Kernel, Stmt

BATCH = 10
"""How many smaller kernels are tried at once: nvcc's start-up is shared."""

Fails = Callable[[Sequence[Kernel]], Sequence[bool]]
Stage = Callable[[Kernel], Iterator[Kernel]]
T = TypeVar("T")


def shrink(kernel: Kernel, fails: Fails, tries: int = 600) -> Kernel:
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


def _exhaust(kernel: Kernel, stage: Stage, fails: Fails, tries: int) -> tuple[Kernel, int]:
    """Take steps of one kind until none is left; returns the tries left, too."""
    position = 0  # what lies before was tried on a kernel hardly different
    changed = False
    while tries > 0:
        batch = list(islice(stage(kernel), position, position + BATCH))
        if not batch:
            if not changed:
                break
            position, changed = 0, False
            continue
        tries -= len(batch)
        found = next((n for n, failed in enumerate(fails(batch)) if failed), None)
        position += len(batch) if found is None else found
        if found is not None:
            kernel, changed = batch[found], True
    return kernel, tries


def launches(kernel: Kernel) -> Iterator[Kernel]:
    """The same kernel with smaller launches, the smallest first."""
    for n in (1, 2, 33, 64, 100, 200):
        if n < kernel.n:
            yield replace(kernel, n=n)
    for grid in range(1, kernel.grid):
        yield replace(kernel, grid=grid)
    for block in ((2, 1, 1), (32, 1, 1), (64, 1, 1)):
        if block[0] < kernel.threads:
            yield replace(kernel, block=block)
    if kernel.restrict:
        yield replace(kernel, restrict=False)
    if not kernel.bounded:
        yield replace(kernel, bounded=True)


def bodies(kernel: Kernel) -> Iterator[Kernel]:
    """The kernel with fewer statements, the largest cuts first."""
    return _closed(kernel, _blocks(kernel.body))


def expressions(kernel: Kernel) -> Iterator[Kernel]:
    """The kernel with one simpler expression."""
    return _closed(kernel, _with_simpler_expressions(kernel.body))


def _closed(kernel: Kernel, found: Iterable[Block]) -> Iterator[Kernel]:
    return (k for k in (replace(kernel, body=body) for body in found) if k.closed())


def _blocks(block: Block) -> Iterator[Block]:
    """Blocks with less in them: stretches left out, statements opened, expressions simpler."""
    size = len(block)
    while size:
        for start in range(0, len(block), size):
            yield block[:start] + block[start + size :]
        size //= 2
    for place, statement in enumerate(block):
        before, behind = block[:place], block[place + 1 :]
        for body in statement.bodies:
            yield before + body + behind
        for smaller in _statements(statement):
            yield (*before, smaller, *behind)


def _statements(statement: Stmt) -> Iterator[Stmt]:
    for number, body in enumerate(statement.bodies):
        for smaller in _blocks(body):
            yield replace(statement, bodies=_put(statement.bodies, number, smaller))
    if statement.form.endswith(" else @1"):
        form, bodies2 = statement.form.removesuffix(" else @1"), statement.bodies[:1]
        yield replace(statement, form=form, bodies=bodies2)
    if statement.form.endswith(" else if ($1) @1 else @2"):
        form = statement.form.removesuffix(" else if ($1) @1 else @2") + " else @1"
        for second in statement.bodies[1:]:
            yield replace(
                statement,
                form=form,
                exprs=statement.exprs[:1],
                bodies=(statement.bodies[0], second),
            )
    if statement.form.startswith("#pragma ccc if"):
        yield replace(statement, form=statement.form.partition("\n")[2])


def _with_simpler_expressions(block: Block) -> Iterator[Block]:
    for place, statement in enumerate(block):
        for number, expr in enumerate(statement.exprs):
            for simpler in _expressions(expr):
                exprs = _put(statement.exprs, number, simpler)
                yield _put(block, place, replace(statement, exprs=exprs))
        for number, body in enumerate(statement.bodies):
            for inner in _with_simpler_expressions(body):
                bodies = _put(statement.bodies, number, inner)
                yield _put(block, place, replace(statement, bodies=bodies))


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
            yield replace(expr, parts=_put(expr.parts, number, simpler))


def _put(items: tuple[T, ...], place: int, item: T) -> tuple[T, ...]:
    return (*items[:place], item, *items[place + 1 :])
