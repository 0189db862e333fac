"""What is said where functions make more of what they update, as of a mean: no clause serves what
they update with it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ccc.compiler.advice import ALL_MADE
from ccc.compiler.reasons.handing_on import (
    all_of,
    all_own,
    behind_calls,
    or_led_out,
    stays_outside,
)
from ccc.compiler.reasons.inquiry import ON_LOOP, REMOVE, Inquiry
from ccc.compiler.reasons.misused import declared_in
from ccc.compiler.reasons.reduction_clauses import served
from ccc.compiler.reasons.topics import Topic
from ccc.frontend.reductions import clauses_of

_NONE = "no reduction serves {}, with which a function does more than to update {} ({}): "
_TAKEN = "take {} from the clause, and "


def of_methods(asked: Inquiry) -> Inquiry:
    """Where a clause names a member that is updated beside such, or would be offered for one."""
    if asked.reason.topic is not Topic.CARRIED:
        return asked
    more = asked.suspects.made_more_of(asked.at)
    meant = [*(one for one in declared_in(asked) if one in more), *asked.names]
    wholes = list(dict.fromkeys(base for one in meant if (base := _among(one, more))))
    named = [one for one in declared_in(asked) if one.partition(".")[0] in wholes]
    if not wholes:
        return asked
    names = [one for one in more if one.partition(".")[0] in wholes]
    places = dict.fromkeys(f"{more[one].file}:{more[one].line}" for one in names)
    told = _NONE.format(all_of(names), _them(names), " and ".join(places))
    told += _TAKEN.format(_of(names, named)) if named else ""
    others = served(asked, [one for one in asked.names if one.partition(".")[0] not in wholes])
    own = all_own(asked, wholes)
    if others:
        beside = all_of([one for _, one in others])
        own += f", and if the loop only updates {beside}, {ON_LOOP}: {clauses_of(others)}"
    way_out = or_led_out(asked, own, *wholes, led_out=behind_calls)
    is_left = asked.reason.begins(ALL_MADE) and any(stays_outside(asked, one) for one in wholes)
    settled = asked.settled(told + way_out)
    return settled.advising(told + REMOVE) if is_left and way_out == own else settled


def _among(name: str, more: Collection[str]) -> str | None:
    """The variable that a name is of, if functions make more of that, or of its members where it
    stands for all of them."""
    base = name.partition(".")[0]
    is_one = name in more or (name == base and any(one.partition(".")[0] == base for one in more))
    return base if is_one else None


def _of(names: Sequence[str], named: Sequence[str]) -> str:
    """How those are called that clauses name."""
    return _them(names) if [*names] == [*named] else all_of(named)


def _them(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"
