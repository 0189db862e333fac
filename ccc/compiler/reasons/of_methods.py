"""What is said where functions make more of what they update, as of a mean: no clause serves what
they update with it."""

from __future__ import annotations

from ccc.compiler.reasons.handing_on import all_of, behind_calls, own
from ccc.compiler.reasons.inquiry import ON_LOOP, Inquiry
from ccc.compiler.reasons.reduction_clauses import clauses_of, served
from ccc.compiler.reasons.topics import Topic

_NONE = "no reduction serves {}, with which a function does more than to update {} ({}): {}"


def of_methods(asked: Inquiry) -> Inquiry:
    """Where a clause would be offered for a member that is updated beside such."""
    if asked.reason.topic is not Topic.CARRIED:
        return asked
    more = asked.suspects.made_more_of(asked.at)
    names = [one for one in asked.names if one in more]
    if not names:
        return asked
    whole = names[0].partition(".")[0]
    places = dict.fromkeys(f"{more[one].file}:{more[one].line}" for one in names)
    it = "it" if len(names) == 1 else "them"
    told = _NONE.format(all_of(names), it, " and ".join(places), own(asked, whole))
    others = served(asked, [one for one in asked.names if one.partition(".")[0] != whole])
    if others:
        beside = all_of([one for _, one in others])
        told += f", and if the loop only updates {beside}, {ON_LOOP}: {clauses_of(others)}"
    return asked.settled(told + behind_calls(asked, whole))
