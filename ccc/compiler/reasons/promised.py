"""Of which pointers a promise serves."""

from __future__ import annotations

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
