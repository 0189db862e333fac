"""Changes of random kernels, for forms that no writer thought of.

A change keeps the rules that kernels are made by: variables are declared before they are used, no
statement crosses a barrier, a jump or a return, nothing gets into the turns of a ``ccc for
variable``, and what others may see the order of is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

from ccc.tools.fuzz.tree import Block, Expr, RandomKernel, Stmt, in_bodies, put, walk

_FIXED = re.compile(r"__sync|\b(continue|break|return);|\bwork\b|exit")
"""Statements that stay where they are, and as often as they are."""

_SEALED = re.compile(r"#pragma ccc for variable|\bwork\b")
"""Statements that are changed as a whole only."""

_VALUE = re.compile(r"^(\w+ )*v\d+ [+^]?= \$0;$|^[yzweo]\[.*\] [+^]?= \$0;$|^(#.*\n)?if \(\$0\) ")
"""Statements whose first expression may be any other of its type."""

_LOOP = re.compile(r"^for \(unsigned j")

Change = Callable[[Random, Block, "RandomKernel"], Iterator[Block]]


def mutated(random: Random, kernel: RandomKernel) -> RandomKernel:
    """The kernel after one to four changes, as far as some can be found."""
    for _ in range(1 + random.randrange(4)):
        change = _CHANGES[random.randrange(len(_CHANGES))]
        found = [replace(kernel, body=body) for body in _anywhere(random, kernel, change)]
        random.shuffle(found)
        kernel = next((one for one in found if one.closed()), kernel)
    return kernel


def _anywhere(random: Random, kernel: RandomKernel, change: Change) -> Iterator[Block]:
    """The kernel's body with a change in any of its blocks."""

    def inside(block: Block) -> Iterator[Block]:
        yield from change(random, block, kernel)
        for place, one in enumerate(block):
            if not _SEALED.search(one.form):
                yield from in_bodies(block, place, inside)

    return inside(kernel.body)


def _is_fixed(statement: Stmt) -> bool:
    return any(_FIXED.search(str(one.form)) for one in walk((statement,)))


def _movable(block: Block) -> Iterator[tuple[int, Stmt]]:
    """The statements that may stand elsewhere, or twice, with their places."""
    for place, one in enumerate(block):
        if not one.declares and not _is_fixed(one):
            yield place, one


def _swap(_: Random, block: Block, __: RandomKernel) -> Iterator[Block]:
    """Two neighbours change places."""
    for place in range(len(block) - 1):
        one, other = block[place : place + 2]
        if not _is_fixed(one) and not _is_fixed(other):
            yield (*block[:place], other, one, *block[place + 2 :])


def _duplicate(_: Random, block: Block, __: RandomKernel) -> Iterator[Block]:
    """A statement comes twice."""
    for place, one in _movable(block):
        yield put(block, place, one, one)


def _delete(_: Random, block: Block, __: RandomKernel) -> Iterator[Block]:
    """A statement is left out."""
    for place, _one in _movable(block):
        yield put(block, place)


def _wrap(random: Random, block: Block, kernel: RandomKernel) -> Iterator[Block]:
    """A statement comes under a condition that stands elsewhere in the kernel, too."""
    conditions = [e for one in walk(kernel.body) for e in one.exprs if e.type == "b"]
    for place, one in _movable(block):
        if conditions:
            condition = conditions[random.randrange(len(conditions))]
            yield put(block, place, Stmt("if ($0) @0", (condition,), ((one,),)))


def _move(_: Random, block: Block, __: RandomKernel) -> Iterator[Block]:
    """A statement moves into the branch behind it, or out to before the branch."""
    for place, one in enumerate(block):
        if not re.match(r"(#pragma ccc if.*\n)?if \(", one.form) or not one.bodies:
            continue
        first = one.bodies[0]
        if place and not block[place - 1].declares and not _is_fixed(block[place - 1]):
            bodies = ((block[place - 1], *first), *one.bodies[1:])
            yield (*block[: place - 1], replace(one, bodies=bodies), *block[place + 1 :])
        if len(first) > 1 and not _is_fixed(first[0]):
            bodies = (first[1:], *one.bodies[1:])
            yield put(block, place, first[0], replace(one, bodies=bodies))


def _exchange(random: Random, block: Block, kernel: RandomKernel) -> Iterator[Block]:
    """An expression is replaced by another of its type."""
    others = [e for one in walk(kernel.body) for e in one.exprs if "[" not in e.form]
    for place, one in enumerate(block):
        if not _VALUE.search(one.form) or _is_fixed(one):
            continue
        fitting = [e for e in others if e.type == one.exprs[0].type]
        if fitting:
            exprs: tuple[Expr, ...] = (fitting[random.randrange(len(fitting))], *one.exprs[1:])
            yield put(block, place, replace(one, exprs=exprs))


def _annotate(_: Random, block: Block, __: RandomKernel) -> Iterator[Block]:
    """A branch or a loop of an iteration is a path."""
    for place, one in enumerate(block):
        if "#pragma ccc for" in one.form and "for variable" not in one.form:
            yield from in_bodies(block, place, _annotated)


def _annotated(block: Block) -> Iterator[Block]:
    for place, one in enumerate(block):
        if one.form.startswith("if (") and one.bodies:
            yield put(block, place, replace(one, form=f"#pragma ccc if\n{one.form}"))
        elif _LOOP.match(one.form):
            yield put(block, place, replace(one, form=f"#pragma ccc while\n{one.form}"))
        if not _SEALED.search(one.form):
            yield from in_bodies(block, place, _annotated)


_CHANGES: tuple[Change, ...] = (
    _swap, _duplicate, _delete, _wrap, _move, _exchange, _annotate, _annotate,
)  # fmt: skip
