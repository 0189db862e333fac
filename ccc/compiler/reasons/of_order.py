"""What is said of variables that no clause serves, nor others beside them, since the order of
iterations counts: what is updated where the least or the most of all is set, and those that decide
together what is kept."""

from __future__ import annotations

from ccc.compiler.reasons.handing_on import all_of, all_own, or_led_out, other_way
from ccc.compiler.reasons.hints import Hint
from ccc.compiler.reasons.inquiry import ON_LOOP, Inquiry
from ccc.compiler.reasons.misused import declared_in
from ccc.compiler.reasons.topics import Topic
from ccc.frontend.reductions import clauses_of

_BY_ORDER = (
    'no reduction serves "{}", which is updated where "{}" is set ({}:{}): how often depends on '
    "the order of iterations; "
)
_TIE = "no reduction serves {}, which decide together what is kept ({}:{}); "
_TOO = (
    'no reduction serves "{name}" as long as "{test}" decides, too, what is kept ({file}:{line}); '
)
_FIRST = (
    "if that only asks whether there was none before, begin with the {begin} number that there is, "
    'and ask for "{alone}" alone'
)
_ALONE = (
    "if each thread comes to equals in their order, and to none before the loop, ask for "
    '"{}" alone, which keeps the first'
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


def of_ties(asked: Inquiry) -> Inquiry:
    """Where variables decide together what is kept, or whether there was anything before."""
    found = asked.suspects.tie(asked.at)
    if found is None or asked.reason.topic is not Topic.CARRIED:
        return asked
    names, where, alone = found
    if {*names}.isdisjoint((*asked.names, *declared_in(asked))):
        return asked
    asked = asked.filled(Hint.TO_READ_BEHIND, "")
    told = _TIE.format(all_of(names), where.file, where.line)
    if alone is not None:
        asked_alone, by, best = alone
        told += _ALONE.format(asked_alone)
        if best not in declared_in(asked):
            told += f", and {ON_LOOP}: {clauses_of([(by, best)])}"
        told += "; else "
    told += or_led_out(asked, all_own(asked, names), *names)
    return asked.settled(told).naming(names)


def of_first_ones(asked: Inquiry) -> Inquiry:
    """Where what is the least, or the most, is kept as another test allows."""
    found = asked.suspects.first_one(asked.at)
    if found is None or asked.reason.topic is not Topic.CARRIED:
        return asked
    one, where = found
    if one.name not in (*asked.names, *declared_in(asked)):
        return asked
    asked = asked.filled(Hint.TO_READ_BEHIND, "")
    told = _TOO.format(**one._asdict(), file=where.file, line=where.line)
    if one.alone is not None:
        begin = "greatest" if one.by == "min" else "least"
        told += _FIRST.format(begin=begin, alone=one.alone)
        if one.name not in declared_in(asked):
            told += f", and {ON_LOOP}: {clauses_of([(one.by, one.name)])}"
        told += "; else "
    return asked.settled(told + other_way(asked, one.name)).naming([one.name])
