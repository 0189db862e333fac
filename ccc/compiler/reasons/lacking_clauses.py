"""The clauses that a loop lacks for what it updates as reductions do."""

from __future__ import annotations

from ccc.compiler.reasons.hints import Hint
from ccc.compiler.reasons.inquiry import Inquiry
from ccc.compiler.reasons.misused import declared_in
from ccc.compiler.reasons.reduction_clauses import naming_all, served
from ccc.compiler.reasons.topics import Topic


def with_all_lacking(asked: Inquiry) -> Inquiry:
    """With what the loop updates as a reduction does and does not name, where nothing else can be
    the reason: it does with those that it names, and with what may be meant, no more."""
    suspects, at = asked.suspects, asked.at
    if asked.reason.slot(Hint.IN_THE_WAY, Hint.FLUSHED) or suspects.misused(at):
        return asked
    if not {*asked.names} <= {*declared_in(asked)}:
        return asked
    lacking = suspects.unnamed(at, around=True)
    return asked.with_clause(naming_all(lacking)).naming([]) if lacking else asked


def with_lacking(asked: Inquiry) -> Inquiry:
    """With what is updated as a reduction is, and not named as one, if that may be the reason: that
    of which the order of updates matters, or else some variables if all of them are."""
    suspects, at, names = asked.suspects, asked.at, asked.names
    if len(names) < 2 or asked.is_settled or asked.reason.topic is not Topic.CARRIED:
        return asked
    if {*names} <= {*declared_in(asked)} or asked.reason.slot(Hint.IN_THE_WAY):
        return asked
    known = served(asked, names)
    behind = [one for one in suspects.unnamed(at, around=True) if one[1] in names]
    lacking = suspects.unnamed(at) or (known if len(known) == len(names) else behind)
    if not lacking:
        return asked
    return asked.with_clause(naming_all(lacking)).naming(name for _, name in lacking)
