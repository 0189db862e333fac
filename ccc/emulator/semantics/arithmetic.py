"""Rows of the opcode table that integers and floating-point numbers share, and data movement."""

from __future__ import annotations

from typing import Any

import numpy as np

from ccc.emulator.base.forms import DTYPES, Form, Operation, emulates, same, spread
from ccc.emulator.lanes.groups import Group
from ccc.emulator.memory.spaces import GLOBAL, WINDOW_BITS, WINDOWS
from ccc.emulator.semantics import floating, integer


def _halves(form: Form) -> bool:
    return form.type.endswith("x2")


def _mixed(form: Form) -> bool:
    return len(form.types) == 2 and form.types[0] == "f32" and form.type in ("f16", "bf16")


@emulates("add")
def add(form: Form) -> Operation:
    """Sum."""
    if _halves(form):
        return floating.by_halves(form)
    if _mixed(form):
        return floating.mixed(form)
    return floating.add(form) if floating.is_floating(form) else integer.add(form)


@emulates("sub")
def sub(form: Form) -> Operation:
    """Difference."""
    if _halves(form):
        return floating.by_halves(form)
    if _mixed(form):
        return floating.mixed(form)
    return floating.sub(form) if floating.is_floating(form) else integer.sub(form)


@emulates("mul")
def mul(form: Form) -> Operation:
    """Product."""
    if _halves(form):
        return floating.by_halves(form)
    return floating.mul(form) if floating.is_floating(form) else integer.mul(form)


@emulates("mad", "fma")
def mad(form: Form) -> Operation:
    """Product and sum."""
    if _halves(form):
        return floating.by_halves(form)
    if _mixed(form):
        return floating.mixed(form)
    return floating.fma(form) if floating.is_floating(form) else integer.mad(form)


@emulates("div")
def div(form: Form) -> Operation:
    """Quotient."""
    if floating.is_floating(form):
        return floating.div(form)
    return same(integer.divide, form.type, 2)


@emulates("rem")
def rem(form: Form) -> Operation:
    """Remainder."""
    return same(integer.remainder, form.type, 2)


@emulates("min", "max")
def extreme(form: Form) -> Operation:
    """Smaller or larger of the operands."""
    if _halves(form):
        return floating.by_halves(form)
    if floating.is_floating(form):
        return floating.extreme(form)
    pick = np.minimum if form.instruction.name == "min" else np.maximum
    if form.has("relu"):
        return same(lambda a, b: np.maximum(pick(a, b), 0), form.type, 2)
    return same(pick, form.type, 2)


@emulates("abs")
def absolute(form: Form) -> Operation:
    """Magnitude."""
    if _halves(form):
        return floating.by_halves(form)
    return floating.absolute(form) if floating.is_floating(form) else integer.absolute(form)


@emulates("neg")
def negate(form: Form) -> Operation:
    """Negation."""
    if _halves(form):
        return floating.by_halves(form)
    return floating.negate(form) if floating.is_floating(form) else integer.negate(form)


@emulates("mov")
def mov(form: Form) -> Operation:
    """Copy a register, or take an address; vectors are packed and unpacked by ``codegen``."""
    kind = "pred" if "pred" in form.instruction.modifiers else f"b{form.bits}"
    if kind not in DTYPES:
        form.refuse(f"moves {form.bits} bits")
    return Operation(lambda a: a, (kind,), (kind,), may_alias=True)


@emulates("cvta")
def cvta(form: Form) -> Operation:
    """To a generic address, or with ``.to`` from one (PTX ISA section 9.7.9, cvta)."""
    window = WINDOWS.get(form.instruction.space, 0)
    kind = f"u{form.bits}"
    if form.bits == 32 and window:
        form.refuse("has generic addresses of 32 bits")
    base = DTYPES[kind].type(window)
    if form.has("to"):
        return same(lambda a: a - base, kind, 1)
    return same(lambda a: a + base, kind, 1)


@emulates("createpolicy")
def policy(_: Form) -> Operation:
    """A policy for the cache, which there is not: all of them are the same."""
    return Operation(lambda group: np.zeros(group.n, np.uint64), (), ("b64",), group=True)


@emulates("mapa")
def mapa(form: Form) -> Operation:
    """The address of a variable in the shared memory of a block of the cluster: of this one."""
    kind = f"u{form.bits}"
    return Operation(lambda a, _: a, (kind, "u32"), (kind,), may_alias=True)


@emulates("getctarank")
def getctarank(form: Form) -> Operation:
    """The place in the cluster of the block whose shared memory an address is of."""
    kind = f"u{form.bits}"
    return Operation(lambda a: np.zeros_like(a, np.uint32), (kind,), ("u32",))


def _is_constant(machine: Any, group: Group, a: Any) -> Any:
    addresses, found = spread(a, group.n), np.zeros(group.n, bool)
    for start, end in machine.memory.constants:
        found |= (addresses >= np.uint64(start)) & (addresses < np.uint64(end))
    return found


@emulates("isspacep")
def isspacep(form: Form) -> Operation:
    """Whether a generic address lies in a space's window."""
    space = form.instruction.space
    if space == "const":
        return Operation(_is_constant, ("u64",), ("pred",), group=True, machine=True)
    bits = np.uint64(WINDOW_BITS)
    wanted = np.uint64(WINDOWS.get(space, GLOBAL) >> WINDOW_BITS)

    def compute(a: Any) -> Any:
        return a >> bits == wanted

    return Operation(compute, ("u64",), ("pred",))
