"""What is said where the loop has clauses, and seems to do more with their variables than to update
them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ccc.analysis.paths.carried_values import KEEP_OUT, REDUCTION_HINT
from ccc.compiler.reasons.handing_on import all_of, or_led_out, own
from ccc.compiler.reasons.hints import Hint
from ccc.compiler.reasons.inquiry import REMOVE, Inquiry
from ccc.compiler.reasons.reason import HintSlot
from ccc.compiler.reasons.reduction_clauses import KEEPS
from ccc.frontend.reductions import clauses_of
from ccc.frontend.updates import REDUCING

if TYPE_CHECKING:
    from ccc.errors import Span

_IN_THE_WAY = HintSlot(Hint.IN_THE_WAY, ("in the way is",))
_NOT_OF = (
    "no reduction serves {}, with which a function does more than to update {} ({}): take {} from "
    "the clause"
)
_COMPANION = '"{}" is only set where "{}" is, and goes with that: write {} in its place'
_LACKING = HintSlot(Hint.REDUCTION, (REDUCTION_HINT,))


def declared_in(asked: Inquiry) -> list[str]:
    """The variables that it says clauses name."""
    return asked.misused.given[0].split(" or ") if asked.misused else []


def without_structures(asked: Inquiry) -> Inquiry:
    """Where clauses name nothing but whole structures, of which there is no reduction, that they
    are lacking: by the same operations, or by that of the instruction at fault."""
    is_known = asked.reason.slot(Hint.FLUSHED, Hint.TAKES_NAN)
    structures = asked.suspects.whole_structures(asked.at)
    structures |= {base for one in asked.names for base, dot, _ in [one.partition(".")] if dot}
    if is_known or not structures.issuperset(declared_in(asked)):
        return asked
    made = [one.opcode.name for one in asked.reason.shown[:1] if one.opcode.name in KEEPS]
    operations = dict.fromkeys([*made, *asked.suspects.reduced_by(asked.at)])
    proven = clauses_of((one, "variables") for one in operations)
    return asked.filled(Hint.MISUSED, replace(_LACKING, given=(proven,)))


def settled(asked: Inquiry) -> Inquiry:
    """What is said of reductions speaks of those with which the loop does more than that; where
    there is none, and something else may be at fault, that is one, or has to be no more."""
    suspects, at, slot, names = asked.suspects, asked.at, asked.misused, asked.names
    if slot is None or asked.reason.slot(Hint.IN_THE_WAY, Hint.FLUSHED, Hint.TAKES_NAN):
        return asked
    if any(suspects.ends_loop(at, name) for name in names) or _is_another(asked):
        return asked.filled(Hint.MISUSED, _LACKING)
    if wrong := suspects.misused(at):
        if kept := _kept_otherwise(asked, wrong) or _updated_otherwise(asked, wrong):
            return asked.filled(Hint.MISUSED, kept)
        if another := _by_another(asked):
            return asked.filled(Hint.MISUSED, another)
        if by_calls := [name for name in suspects.misused_by_calls(at) if name in wrong]:
            return asked.filled(Hint.MISUSED, _not_of(asked, by_calls, wrong))
        uses = dict.fromkeys(f"{use.file}:{use.line}" for use in wrong.values() if use)
        return asked.filled(Hint.MISUSED, _of_others(slot, " or ".join(wrong), uses))
    declared = set(declared_in(asked))
    extreme = suspects.extreme(at)
    is_served = {*names} <= declared or (
        extreme is not None and extreme[1] in declared.intersection(names)
    )
    return asked if is_served else asked.filled(Hint.MISUSED, _LACKING)


def of_companions(asked: Inquiry) -> Inquiry:
    """Where a clause names what only goes with a minimum or maximum, and not that."""
    declared = declared_in(asked)
    for name in declared:
        found = asked.suspects.goes_with(asked.at, name)
        if found is not None and found[1] not in declared:
            told = _COMPANION.format(name, found[1], clauses_of([found]))
            return asked.with_clause(told).naming([name, found[1]])
    return asked


def _is_another(asked: Inquiry) -> bool:
    """Whether none that may be meant is named in a clause, nor a member of one or what has one as
    its member: then those that are named are in order."""
    named = {name.partition(".")[0] for name in declared_in(asked)}
    return bool(asked.names) and named.isdisjoint(name.partition(".")[0] for name in asked.names)


def _not_of(asked: Inquiry, names: Sequence[str], uses: Mapping[str, Span | None]) -> str:
    """What to do about variables of which functions make more than updates, as of a state of random
    numbers, or of a mean."""
    places = dict.fromkeys(f"{use.file}:{use.line}" for name in names if (use := uses[name]))
    whole = next(iter(dict.fromkeys(name.partition(".")[0] for name in names)))
    it = "it" if len(names) == 1 else "them"
    told = _NOT_OF.format(all_of(names), it, " and ".join(places), it)
    return f"{told}, and {or_led_out(asked, own(asked, whole), whole)}"


def or_removed(asked: Inquiry) -> Inquiry:
    """With what else can be done, where nobody knows what the loop does more, and nothing follows
    but that it may not."""
    slot = asked.misused
    knows_more = asked.reason.slot(Hint.IN_THE_WAY, Hint.TOO_NARROW)
    if slot is None or knows_more or not asked.reason.ends_with(slot):
        return asked
    return asked.filled(Hint.MISUSED, replace(slot, pieces=(*slot.pieces, f"; else {REMOVE}")))


def _of_others(slot: HintSlot, names: str, uses: Collection[str]) -> HintSlot:
    """What is said of reductions, said of other variables, and what the loop does with these."""
    first, *rest = slot.pieces
    told = str(first).replace(f"({slot.given[0]})", f"({names})", 1)
    where = f" what it does in {' and '.join(uses)}{KEEP_OUT}"
    more = ("; ", _IN_THE_WAY, where) if uses else ()
    return replace(slot, pieces=(told, *rest, *more), given=(names,))


def _by_another(asked: Inquiry) -> str | None:
    """What to do where PTX keeps the least or the most of a structure of which clauses name members
    by other operations, and the text does not tell which members these are: functions make them."""
    made = [one.opcode.name for one in asked.reason.shown[:1] if one.opcode.name in KEEPS]
    named = [name.partition(".")[0] for name in declared_in(asked) if "." in name]
    found = next((name for name in asked.names if name in named), None)
    if not made or found is None or made[0] in asked.suspects.reduced_by(asked.at):
        return None
    return (
        f'the loop updates a member of "{found}" by {made[0]}, and no clause says so: write '
        f"reduction({made[0]}: {found}.member) for that; else {REMOVE}"
    )


def _kept_otherwise(asked: Inquiry, names: Iterable[str]) -> str | None:
    """The clause for variables of reductions in which a loop does nothing but to keep the least or
    the most, where another operation is declared."""
    misuse = asked.suspects.misuse
    kept = [(by, name) for name in names for by in KEEPS if misuse(asked.at, name, by) is None]
    return _written_otherwise(kept)


def _updated_otherwise(asked: Inquiry, names: Collection[str]) -> str | None:
    """The same where it is the function at fault that does, which other copies do not call."""
    suspects, at = asked.suspects, asked.at
    called = (one for one in suspects.misused_by_calls(at) if one in names)
    made = ((suspects.operation(at, name, asked.places), name) for name in called)
    named = suspects.reductions_around(at)
    return _written_otherwise(
        [(by, one) for by, one in made if by in REDUCING and (by, one) not in named]
    )


def _written_otherwise(kept: Sequence[tuple[str, str]]) -> str | None:
    told = [f'"{name}" by {by}' for by, name in kept]
    return f"the loop updates {', '.join(told)}: write {clauses_of(kept)}" if kept else None
