"""Of which pointers a promise serves, or what they are declared."""

from __future__ import annotations

from ccc.analysis.apart import RESTRICT, RESTRICT_ALL
from ccc.analysis.paths.promises import NOALIAS_BOTH
from ccc.compiler.reasons.handing_on import all_of
from ccc.compiler.reasons.hints import Hint
from ccc.compiler.reasons.inquiry import Inquiry


def promised(asked: Inquiry) -> str | None:
    """The promise, if the lines of all accesses tell of which pointers; else nothing."""
    slot = asked.reason.slot(Hint.PROMISE)
    listed = [map(int, one.split(", ")) for one in slot.given] if slot else []
    reads, writes = (list(map(asked.lines.of, each)) for each in listed)
    known = [[span for span in each if span] for each in (reads, writes)]
    clauses = asked.suspects.promise(asked.at, *known) if known == [reads, writes] else None
    return f", or promise {clauses}" if clauses else ""


def restricted_both(asked: Inquiry) -> str | None:
    """What may be said of pointers where parameters that are restrict would not be seen."""
    return None if asked.suspects.can_be_restricted(asked.at) else NOALIAS_BOTH


def restricted(asked: Inquiry) -> str | None:
    """What is to be declared so, by its name; nothing where that would not be seen."""
    if not asked.suspects.can_be_restricted(asked.at):
        return ""
    slot, known = asked.reason.slot(Hint.IF_APART), asked.suspects.parameters(asked.at)
    is_known = len(asked.names) == 1 and asked.names[0] in known
    return (
        slot.words.replace("declare that", f"declare {all_of(asked.names)}")
        if slot and is_known
        else None
    )


def declared(asked: Inquiry) -> str | None:
    """Which parameters are to be declared so, by their names."""
    slot = asked.reason.slot(Hint.PARAMETERS)
    numbers = slot.given[0].split(" and ") if slot else []
    names = asked.suspects.parameters(asked.at)
    if not all(int(one) <= len(names) for one in numbers):
        return RESTRICT
    told = RESTRICT_ALL.replace("parameters {}", "{}")
    return told.format(all_of([names[int(one) - 1] for one in numbers]))
