"""What is said of variables of the function that calls that of the path, in an annotated loop."""

from __future__ import annotations

from dataclasses import replace

from ccc.compiler.reasons.hints import CLAUSES
from ccc.compiler.reasons.inquiry import Inquiry
from ccc.compiler.reasons.names_meant import as_proven
from ccc.compiler.reasons.topics import Topic


def of_callers(asked: Inquiry) -> Inquiry:
    """The same of an annotated loop in another function, with its variables, where the line at
    fault is in that, or hands them to what is at fault: a function is inlined into the loop."""
    found = asked.statements
    if asked.reason.topic is not Topic.CARRIED or asked.reason.slot(*CLAUSES) is None:
        return asked
    if found is None or found[0] != found[1]:
        return asked
    kind = asked.reason.shown[0].made if asked.reason.shown else ""
    loop, names = asked.suspects.in_caller(asked.at, asked.places, kind)
    if not loop or not names:
        return asked
    of_caller = replace(asked, caller=loop)
    return of_caller.naming(as_proven(of_caller, names))
