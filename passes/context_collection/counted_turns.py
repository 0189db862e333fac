"""How often a task's loop turns, and what its registers hold in a turn (no pass).

Who shares out the turns of a loop uses it.
"""

from __future__ import annotations

from collections.abc import Callable

from ccc.analysis.paths.induction import Induction
from ccc.ir.edit import Emitter
from ccc.ir.operands import Register
from ccc.ptx.types import number_of_type

MOST = 1 << 30
"""Turns up to which they are counted in 32 bits."""


def count_turns(
    emit: Emitter, induction: Induction, value: Callable[[Register], Register]
) -> Register:
    """How often a loop turns that tests at the end; 0 where that cannot be counted.

    It can where the task begins before its bound, and the counter comes to it without going on at
    the other end of all numbers. Where it begins beyond, its first step may do that.

    Args:
        emit: where to.
        induction: how the loop steps.
        value: where a register's value is that the task begins with.
    """
    bits, counter = induction.counter.bits, value(induction.counter)
    bound = induction.bound
    bound = value(bound) if isinstance(bound, Register) else bound
    number = bound if isinstance(bound, Register) else number_of_type(bound, f"s{bits}")
    ends = (number, counter) if induction.stride > 0 else (counter, number)
    turns = emit.define(f"sub.s{bits}", f"b{bits}", *ends)
    if abs(induction.stride) > 1:
        _divide(emit, induction, turns)
    if induction.relation in ("le", "ge"):
        emit.emit(f"add.s{bits}", turns, turns, 1)
    if induction.relation != "ne":
        test = f"setp.{induction.relation}.{induction.type}"
        emit.emit(f"selp.b{bits}", turns, turns, 0, emit.define(test, "pred", counter, bound))
    if induction.last is not None and isinstance(bound, Register):
        order = "le" if induction.stride > 0 else "ge"
        ends_ever = emit.define(f"setp.{order}.{induction.type}", "pred", bound, induction.last)
        emit.emit(f"selp.b{bits}", turns, turns, 0, ends_ever)
    if bits == 64:
        few = emit.define("setp.lt.u64", "pred", turns, MOST)
        low = emit.define("cvt.u32.u64", "b32", turns)
        turns = emit.define("selp.b32", "b32", low, 0, few)
    return turns


def _divide(emit: Emitter, induction: Induction, turns: Register) -> None:
    """Make turns of the distance to the bound, which is no negative number where it counts."""
    bits, stride = turns.bits, abs(induction.stride)
    if induction.relation in ("lt", "gt"):
        emit.emit(f"add.s{bits}", turns, turns, stride - 1)  # the last one may step beyond
    if induction.relation == "ne":
        left = emit.define(f"rem.u{bits}", f"b{bits}", turns, stride)
        emit.emit(f"div.u{bits}", turns, turns, stride)
        meets = emit.define(f"setp.eq.u{bits}", "pred", left, 0)
        emit.emit(f"selp.b{bits}", turns, turns, 0, meets)
    else:
        emit.emit(f"div.u{bits}", turns, turns, stride)


def advance(emit: Emitter, begin: Register, step: int | Register, turn: Register) -> Register:
    """What a register that begins like that holds at the beginning of a turn.

    ``turn`` is less than 2^31.
    """
    bits = begin.bits
    if bits == 64 and isinstance(step, int) and number_of_type(step, "s32") == step:
        return emit.define("mad.wide.s32", begin.type, turn, step, begin)
    factor = emit.define("cvt.u64.u32", "b64", turn) if bits == 64 else turn
    return emit.define(f"mad.lo.s{bits}", begin.type, factor, step, begin)


def go_back(emit: Emitter, begin: Register, step: int | Register, turns: Register) -> Register:
    """What a register held so many turns before it began like that."""
    if isinstance(step, int):
        return advance(emit, begin, number_of_type(-step, f"s{begin.bits}"), turns)
    back = emit.define(f"neg.s{begin.bits}", begin.type, step)
    return advance(emit, begin, back, turns)
