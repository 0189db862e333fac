"""What is said of variables of half precision, or of 128 bits, and of bit-fields, of which there
is no reduction."""

from __future__ import annotations

from ccc.compiler.reasons.handing_on import (
    all_of,
    all_own,
    else_remove,
    or_led_out,
    own,
    way_out,
)
from ccc.compiler.reasons.inquiry import ON_LOOP, Inquiry
from ccc.compiler.reasons.misused import declared_in
from ccc.compiler.reasons.reduction_clauses import served
from ccc.frontend.reductions import clauses_of
from ccc.frontend.updates import REDUCING

_AS_FLOATS = "a reduction is of integers, float and double: make {} a float"
_OF_PAIRS = "no reduction serves {}, which holds two numbers"

_TOO_WIDE = "no reduction serves {}, which {} 128 bits: "
_AS_WHOLES = "no reduction serves bit-fields: declare {} without a number of bits"


def of_halves(asked: Inquiry) -> Inquiry:
    """Where a clause names what is of half precision, or would have to, with what serves it."""
    named = declared_in(asked)
    if bits := asked.suspects.fields_of_bits(dict.fromkeys([*named, *asked.names])):
        wholes = _AS_WHOLES.format(all_of(bits)) + _clauses(asked, bits)
        return asked.settled(wholes + else_remove(asked))
    if wide := asked.suspects.too_wide(asked.at, dict.fromkeys([*named, *asked.names])):
        none = _TOO_WIDE.format(all_of(wide), "have" if wide[1:] else "has")
        led_out = or_led_out(asked, all_own(asked, wide), *wide)
        return asked.settled(none + led_out).naming(wide)
    kinds = asked.suspects.halves(asked.at, [*named, *asked.names])
    if not kinds or (asked.names and kinds.keys().isdisjoint(asked.names)):
        return asked
    singles = [one for one, are_two in kinds.items() if not are_two]
    pairs = [one for one, are_two in kinds.items() if are_two]
    told = [_AS_FLOATS.format(all_of(singles)) + _clauses(asked, singles)] if singles else []
    if pairs:
        told += [f"{_OF_PAIRS.format(all_of(pairs))}: {own(asked, pairs[0])}"]
    end = way_out(asked, pairs[0]) if pairs else else_remove(asked)
    return asked.settled("; ".join(told) + end)


def _clauses(asked: Inquiry, numbers: list[str]) -> str:
    """The clauses that plain numbers in the place of some variables need besides, and others."""
    named = declared_in(asked)
    every = ((asked.suspects.operation(asked.at, one) or "", one) for one in numbers)
    wanted = [(by, one) for by, one in every if by in REDUCING and one not in named]
    others = [one for one in asked.names if one not in (*numbers, *named)]
    clauses = clauses_of([*wanted, *served(asked, others)])
    return f", and {ON_LOOP}: {clauses}" if clauses else ""
