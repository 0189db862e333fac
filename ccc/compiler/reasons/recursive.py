"""What is said of functions that nvcc never inlines, since they call themselves."""

from __future__ import annotations

import re

from ccc.analysis.paths.find import NOT_INLINED
from ccc.compiler.function_texts import callees
from ccc.compiler.reasons.inquiry import Inquiry
from ccc.demangle import demangle

_CALLS = re.compile(r"\bcalls ([\w$:]+)")
_AS_A_LOOP = "make it a loop with a stack: it calls itself, and nvcc inlines no such function"


def as_a_loop(asked: Inquiry) -> str | None:
    """What to do about a function that is to be inlined, and that nvcc cannot."""
    functions, reason = asked.functions, asked.reason
    calls = [one.text for one in reason.shown if one.opcode.name == "call"]
    meant = [name for text in calls for name in callees(text)]
    named = _CALLS.search(reason.text())
    if reason.begins(NOT_INLINED):
        meant = [asked.remark.kernel]
    elif named and not meant:
        meant = [one for one in functions.callees if demangle(one) == named[1]]
    return _AS_A_LOOP if any(map(functions.calls_itself, meant)) else None
