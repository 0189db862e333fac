"""Which bytes of what is handed to ``printf`` that reads: its format tells, where it is a literal.

    st.local.v2.u32 [%rd1], {%r1, %r2};     // the arguments, in memory of the thread
    cvta.global.u64 %rd2, $str;             // "%d: %d"
    call.uni (result), vprintf, (param0, param1);

All calls of a function share one buffer, and one writes less to it than another may read. Nobody
writes what lies between an argument and the next one, at a multiple of its size.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from ccc.analysis.callees import callee
from ccc.analysis.defuse import trace
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Arguments, Operand, Register, Symbol
from ccc.ir.parameters import accessed
from ccc.ptx.opcodes import RENAMES
from ccc.ptx.printing import packed_bytes

if TYPE_CHECKING:
    from ccc.analysis.facts import Facts

PRINT = "vprintf"


def bytes_printed(call: Instruction, facts: Facts) -> int | None:
    """Which bytes of its arguments a call of ``vprintf`` may read, as bits; None if not known."""
    lists = [operand for operand in call.operands if isinstance(operand, Arguments)]
    if callee(call) != PRINT or not lists or not lists[-1].elements:
        return None
    formats = trace(_handed(lists[-1].elements[0], facts), facts.makers, _copied) or frozenset()
    masks = [_taken(one, facts) for one in formats if one not in facts.makers]
    known = [mask for mask in masks if mask is not None]
    return reduce(or_, known) if known and len(known) == len(masks) else None


def _handed(parameter: Operand, facts: Facts) -> list[Operand]:
    """What may be handed over in a parameter."""
    if not isinstance(parameter, Symbol):
        return [parameter]
    stores = [i for i in facts.function.instructions if i.name == "st" and i.space == "param"]
    return [store.operands[1] for store in stores if accessed(store) in (parameter.name, None)]


def _copied(maker: Instruction, _: Register) -> list[Operand] | None:
    return [maker.operands[1]] if maker.name in RENAMES and len(maker.operands) == 2 else None


def _taken(format_: Operand, facts: Facts) -> int | None:
    """The bytes that a format takes, as bits."""
    if not isinstance(format_, Symbol) or format_.offset:
        return None
    text = facts.callees.texts.get(format_.name)
    return None if text is None else packed_bytes(text)
