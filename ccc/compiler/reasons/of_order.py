"""What is said of a variable that is updated where the least or the most of all iterations is set:
how often that is their order decides, so that no clause serves it, nor others beside it."""

from __future__ import annotations

from ccc.compiler.reasons.handing_on import all_own, or_led_out
from ccc.compiler.reasons.inquiry import Inquiry
from ccc.compiler.reasons.misused import declared_in
from ccc.compiler.reasons.topics import Topic

_BY_ORDER = (
    'no reduction serves "{}", which is updated where "{}" is set ({}:{}): how often depends on '
    "the order of iterations; "
)


def of_order(asked: Inquiry) -> Inquiry:
    """Where a loop updates such a variable."""
    found = asked.suspects.by_order(asked.at)
    if found is None or asked.reason.topic is not Topic.CARRIED:
        return asked
    name, best, where = found
    if {name, best}.isdisjoint((*asked.names, *declared_in(asked))):
        return asked
    told = _BY_ORDER.format(name, best, where.file, where.line)
    told += or_led_out(asked, all_own(asked, [name]), name)
    return asked.settled(told).naming([name])
