"""The clauses that a loop lacks for what it updates as reductions do."""

from __future__ import annotations

from ccc.compiler.reasons.handing_on import with_own
from ccc.compiler.reasons.hints import Hint
from ccc.compiler.reasons.inquiry import Inquiry
from ccc.compiler.reasons.misused import declared_in
from ccc.compiler.reasons.reduction_clauses import by_other_operations, naming_all, served
from ccc.compiler.reasons.topics import Topic
from ccc.frontend.uses import INTEGER

_BITWISE = ("and", "or", "xor", "not", "lop3", "shl", "shr", "shf", "popc", "prmt", "bfe", "bfi")
_LEAST = ("min", "max")
_ADDING = ("add", "sub", "mad", "fma", "mul")
_OTHERS = {
    **dict.fromkeys("+", (*_BITWISE, *_LEAST)),
    **dict.fromkeys("&|^", (*_ADDING, *_LEAST)),
    **dict.fromkeys(_LEAST, (*_BITWISE, *_ADDING)),
}
"""What makes no value of a reduction by some operation."""


def with_all_lacking(asked: Inquiry) -> Inquiry:
    """With what the loop updates as a reduction does and does not name, where nothing else can be
    the reason: it does with those that it names, and with what may be meant, no more."""
    suspects, at = asked.suspects, asked.at
    is_known = asked.reason.slot(Hint.IN_THE_WAY, Hint.FLUSHED, Hint.TAKES_NAN)
    if is_known or suspects.misused(at):
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
    behind = [
        one
        for one in suspects.unnamed(at, around=True)
        if not {one[1], one[1].partition(".")[0]}.isdisjoint(names)
    ]
    lacking = suspects.unnamed_handed_on(at, beside=False)
    lacking = lacking or (known if len(known) == len(names) else behind)
    if not lacking:
        return asked
    every = [*lacking, *by_other_operations(asked, lacking)]
    clauses = {name for _, name in every}
    rest = [one for one in names if one not in clauses and suspects.is_no_reduction(at, one)]
    meant = [one for one in rest if _may_make(asked, one, None)]
    is_none = asked.reason.slot(Hint.REDUCTION) and not (asked.proven or suspects.reduced_by(at))
    if not meant or (not is_none and any(_may_make(asked, one, by) for by, one in lacking)):
        return asked.with_clause(naming_all(every)).naming(name for _, name in lacking)
    return asked.settled(with_own(asked, rest, every)).naming(meant)


def _may_make(asked: Inquiry, name: str, by: str | None) -> bool:
    """Whether the instruction at fault may make the value of a variable, by an operation if one is
    told."""
    first = next(iter(asked.reason.shown), None)
    if first is None:
        return True
    if by is not None and first.opcode.name in _OTHERS.get(by, ()):
        return False
    return asked.suspects.may_hold(
        asked.at, name, INTEGER if first.opcode.name in _BITWISE else first.made
    )
