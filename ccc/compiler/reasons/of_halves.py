"""What is said of variables of half precision, of which there is no reduction."""

from __future__ import annotations

from ccc.compiler.reasons.handing_on import all_of, else_remove, own, way_out
from ccc.compiler.reasons.inquiry import ON_LOOP, Inquiry
from ccc.compiler.reasons.misused import declared_in
from ccc.compiler.reasons.reduction_clauses import clauses_of
from ccc.frontend.updates import REDUCING

_AS_FLOATS = "a reduction is of integers, float and double: make {} a float"
_OF_PAIRS = "no reduction serves {}, which holds two numbers"


def of_halves(asked: Inquiry) -> Inquiry:
    """Where a clause names what is of half precision, or would have to, with what serves it."""
    named = declared_in(asked)
    kinds = asked.suspects.halves(asked.at, [*named, *asked.names])
    if not kinds or (asked.names and kinds.keys().isdisjoint(asked.names)):
        return asked
    singles = [one for one, are_two in kinds.items() if not are_two]
    pairs = [one for one, are_two in kinds.items() if are_two]
    told = [_AS_FLOATS.format(all_of(singles)) + _clauses(asked, singles)] if singles else []
    if pairs:
        told += [f"{_OF_PAIRS.format(all_of(pairs))}: {own(asked, pairs[0])}"]
    end = way_out(asked, pairs[0]) if pairs else else_remove(asked)
    return asked.with_clause("; ".join(told) + end)


def _clauses(asked: Inquiry, singles: list[str]) -> str:
    """The clauses that floats in their place need besides."""
    open_ones = [one for one in singles if one not in declared_in(asked)]
    every = ((asked.suspects.operation(asked.at, one) or "", one) for one in open_ones)
    clauses = clauses_of((by, one) for by, one in every if by in REDUCING)
    return f", and {ON_LOOP}: {clauses}" if clauses else ""
