"""Recursive device functions (dissertation section 4.1.2).

A function that calls itself in tail position is a loop with another spelling, and mostly nvcc makes
that loop and inlines it. Where it does not, this pass does: each such call becomes an assignment of
the arguments to the parameters and a jump to the function's beginning.

Before:

    .func (.param .b64 func_retval0) gcd(.param .b64 gcd_param_0, .param .b64 gcd_param_1)
            ld.param.u64 %rd1, [gcd_param_0];
            ld.param.u64 %rd2, [gcd_param_1];
            // ccc.recursion 1 k.cu:2:1
            ...
            @%p bra DONE;
            rem.u64 %rd3, %rd1, %rd2;
            st.param.b64 [param0], %rd2;
            st.param.b64 [param1], %rd3;
            call.uni (retval0), gcd, (param0, param1);
            ld.param.b64 %rd1, [retval0];
    DONE:   st.param.b64 [func_retval0], %rd1;
            ret;

After:

            ld.param.b64 %a, [gcd_param_0];
            ld.param.b64 %b, [gcd_param_1];
    AGAIN:  mov.b64 %rd1, %a;
            mov.b64 %rd2, %b;
            // ccc.recursion 1 k.cu:2:1
            ...
            @%p bra DONE;
            rem.u64 %rd3, %rd1, %rd2;
            mov.b64 %a, %rd2;
            mov.b64 %b, %rd3;
            bra AGAIN;
    DONE:   st.param.b64 [func_retval0], %rd1;
            ret;

A path is collected where its loop is. So every function that holds annotations and is still called
from an annotated loop (or holds that loop) is then inlined into the kernel, with those between;
parameters and results become registers. The function itself stays as it was, for other callers.
"""

from __future__ import annotations

import copy
from typing import ClassVar

from ccc.analysis.callees import callee
from ccc.analysis.facts import Facts
from ccc.analysis.paths.annotated_calls import annotated_calls
from ccc.analysis.paths.model import Refused
from ccc.analysis.paths.tail_calls import parameter_slots, tail_calls
from ccc.ir.edit import Emitter, keep_blocks
from ccc.ir.inline import Inlined, inline
from ccc.ir.nodes import Block, Function
from ccc.ir.operands import Address, Symbol
from ccc.ir.parameters import DoesNotFit, ParameterRegisters, forget, move_into_registers
from ccc.pipeline import InlinedCall, Kernel, Pass


class Recursion(Pass):
    """Make loops of annotated functions that call themselves, and inline annotated functions."""

    name: ClassVar[str] = "recursion"

    def run(self, kernel: Kernel) -> None:
        """Do so for the calls of one kernel."""
        if kernel.function.kind == "entry":
            kernel.inlined = _inline_calls(kernel.facts, False, (), kernel.not_inlined)
            if kernel.inlined:
                kernel.changed()


def _inline_calls(
    facts: Facts, in_loop: bool, active: tuple[str, ...], excluded: frozenset[int] = frozenset()
) -> list[InlinedCall]:
    """Inline the annotated functions that a function calls, and those that they call.

    Args:
        facts: of the function; they do not hold any more where something is returned.
        in_loop: whether it is itself called in an annotated loop.
        active: the functions that are being inlined.
        excluded: lines of calls that stay.
    """
    done = []
    for annotated in list(annotated_calls(facts, in_loop)):
        call, name = annotated.call, callee(annotated.call)
        original = facts.callees.load(name)
        if original is None or name in active or call.span.line in excluded:
            continue
        body = Facts(copy.deepcopy(original), facts.callees, facts.files)
        try:
            body = _without_recursion(body)
            nested = _inline_calls(body, annotated.in_loop, (*active, name))
            inlined = inline(facts.function, call, body.function)
        except (Refused, DoesNotFit):
            continue
        _define(facts.function, inlined)
        names = frozenset({name}).union(*(inner.names for inner in nested))
        done.append(InlinedCall(call.span.line, frozenset(inlined.labels), names))
    return done


def _define(function: Function, inlined: Inlined) -> None:
    """Give a value to what a body that was inlined may read undefined: see ``Emitter.clear``."""
    live = Facts(function).liveness.live_in(inlined.labels[0]) & inlined.registers
    defined = {register for i in inlined.before.instructions for register in i.defined()}
    Emitter(function, inlined.before, function.span).clear(live - defined)


def _without_recursion(facts: Facts) -> Facts:
    """Let a function jump to its beginning where it calls itself.

    Raises:
        Refused: that cannot be done.
    """
    function = facts.function
    calls = tail_calls(facts)
    if not calls:
        return facts
    undefined = facts.liveness.live_in(facts.entry)
    start = Block(function.fresh_label("start"), named=False)
    again = Block(function.fresh_label("again"), named=False)
    emit = Emitter(function, start, function.span)
    slots: dict[str, ParameterRegisters] = {}
    for number, own in enumerate(parameter_slots(function, calls, function.registers)):
        name = function.parameters[number].name
        slots |= dict.fromkeys((name, *(call.variables.arguments[number] for call in calls)), own)
        for slot in own.slots:
            emit.emit(f"ld.param.b{slot.bits}", slot.register, Address(Symbol(name), slot.offset))
    for call in calls:
        del call.block.statements[call.block.statements.index(call.call) :]
        Emitter(function, call.block, call.call.span).emit("bra", again.label)
    move_into_registers(function, slots)
    Emitter(function, again, function.span).clear(undefined)
    function.blocks[:0] = [start, again]
    forget(function, {n for c in calls for n in (*c.variables.arguments, *c.variables.results)})
    keep_blocks(function, Facts(function).graph)
    return Facts(function, facts.callees, facts.files)
