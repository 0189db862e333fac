"""What is said of variables without a value that are needed behind the loop."""

from __future__ import annotations

from dataclasses import replace

from ccc.analysis.paths.carried_values import REDUCTION_HINT
from ccc.compiler.reasons.inquiry import Inquiry
from ccc.compiler.reasons.names_meant import names_meant
from ccc.compiler.reasons.reason import Reason
from ccc.compiler.reasons.topics import Topic


def needed_behind(asked: Inquiry) -> Inquiry:
    """What may have no value, if it is read behind the loop, is handed on like any other: in the
    loop it cannot be declared, and a value there would be another result."""
    if asked.reason.topic is not Topic.UNINITIALISED:
        return asked
    if not any(asked.suspects.is_needed_behind(asked.at, name) for name in asked.names):
        return asked
    handed_on = Reason.read(f"{replace(asked.reason, advice=()).text()}; {REDUCTION_HINT}")
    meant = asked.of(handed_on)
    return meant.naming(names_meant(meant))
