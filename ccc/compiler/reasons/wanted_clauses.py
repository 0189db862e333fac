"""What is said where a loop may lack a clause, once it is known of which variables: the clause, or
what else serves them."""

from __future__ import annotations

from ccc.analysis.paths.carried_values import REDUCTION_HINT
from ccc.analysis.paths.induction import SUMS, SUMS_HINT
from ccc.compiler.advice import ALL_MADE
from ccc.compiler.reasons.handing_on import all_of, by_no_reduction, or_led_out, own, with_own
from ccc.compiler.reasons.hints import Hint
from ccc.compiler.reasons.inquiry import ON_LOOP, REMOVE, Inquiry
from ccc.compiler.reasons.of_loops import with_what_ends
from ccc.compiler.reasons.reduction_clauses import (
    KEEPS,
    by_other_operations,
    keeping,
    naming_all,
    served,
)
from ccc.compiler.reasons.topics import Topic
from ccc.frontend import updates
from ccc.frontend.pragmas import REDUCTIONS
from ccc.frontend.reductions import clauses_of
from ccc.frontend.syntax import declared_in

_THEM = ("them", "adds them up", "those that")
_ALL = ("what it hands on", "adds up what it hands on", "what")
_IN_PLACE = ", if variables in place of {} are named, too"
_ANY = (
    f"if the loop only {{}}, {ON_LOOP}: {{}}; else declare in the loop {{}} no iteration "
    f"needs of another, or {REMOVE}"
)


def with_wanted(asked: Inquiry) -> Inquiry:
    """With what serves the variables that may be meant."""
    suspects, at, names = asked.suspects, asked.at, asked.names
    extreme = suspects.extreme(at)
    if extreme and extreme[1] in names:
        return asked.with_clause(keeping(*extreme))
    if len(names) == 1:
        return _of_one(asked, names[0])
    if (ending := next((one for one in names if _only_ends(asked, one)), None)) is not None:
        return with_what_ends(asked, ending).naming([ending])
    if names:
        return asked.with_clause(_of_several(asked))
    behind = suspects.unnamed(at, around=True)
    return asked.with_clause(naming_all(behind) if behind else _any_of(asked, *_ALL))


def _only_ends(asked: Inquiry, name: str) -> bool:
    """Whether a variable ends the annotated loop, so that no clause for others serves by itself,
    and is nothing that the loop counts in."""
    is_updated = asked.suspects.operation(asked.at, name) not in (None, "|", "&")
    return asked.suspects.ends_loop(asked.at, name) and not is_updated


def with_choice(asked: Inquiry) -> Inquiry:
    """What is chosen beside a minimum goes with it where one branch sets both."""
    found = asked.suspects.chosen_beside(asked.at)
    if found is None or asked.reason.topic is not Topic.CARRIED:
        return asked
    chosen, best, by, branch = found
    if {chosen, best}.isdisjoint(asked.names):
        return asked
    return asked.advising_first(
        f'set "{chosen}" where "{best}" is, "{branch}", and {ON_LOOP}: reduction({by}: {best})'
    )


def to_read_behind(asked: Inquiry) -> str | None:
    """Nothing of what a minimum or maximum needs, where no clause for one is offered."""
    is_offered = any(f"reduction({by}:" in asked.reason.text() for by in KEEPS)
    return None if is_offered else ""


def added_up_by_turns(asked: Inquiry) -> str | None:
    """The clauses for the variable that turns hand on, and for what else they need some for; but
    for a minimum or maximum with which something goes, of which the first turn counts."""
    suspects, at = asked.suspects, asked.at
    extreme = suspects.extreme(at)
    if len(asked.names) != 1 or (extreme and extreme[1] in asked.names):
        return None
    (name,) = asked.names
    operation = _operation(asked, name)
    if suspects.ends_loop(at, name) or suspects.is_index(at, name) or operation not in REDUCTIONS:
        return None
    others = [one for one in suspects.unnamed(at) if one[1] != name]
    clauses = clauses_of([(operation, name), *others])
    if not others and operation not in KEEPS:
        return SUMS_HINT.replace(SUMS, clauses)
    return f"if they do nothing else with {'them' if others else 'it'}, say so: {clauses}"


def clauses_of_sums(asked: Inquiry) -> str | None:
    """The clauses for all that turns add up, of what lets them be shared out."""
    return clauses_of(asked.suspects.unnamed(asked.at)) or None


def sharing_by_sums(asked: Inquiry) -> str:
    """What would let turns be shared out; nothing where no clause would."""
    clauses, slot = clauses_of_sums(asked), asked.reason.slot(Hint.TO_SHARE)
    arrays = _arrays_updated(asked)
    more = _IN_PLACE.format(all_of(arrays)) if arrays else ""
    return slot.words.replace(SUMS, clauses) + more if clauses and slot else ""


def _arrays_updated(asked: Inquiry) -> list[str]:
    """The arrays of its function that outlive the annotated statement, which changes elements."""
    if asked.statements is None:
        return []
    statement = asked.statements[0]
    changed = {base.text for base, *_ in updates.elements(statement)}
    changed -= {name for name, _ in declared_in(statement)}
    every = asked.suspects.names(asked.at, Topic.ARRAYS)
    return [one for one in every if one.encode() in changed]


def _of_one(asked: Inquiry, name: str) -> Inquiry:
    """Which reduction serves a variable, or something else where none does."""
    suspects, at = asked.suspects, asked.at
    operation = _operation(asked, name)
    if suspects.ends_loop(at, name):
        return with_what_ends(asked, name)
    if (kept := suspects.goes_with(at, name)) and suspects.misuse(at, kept[1], kept[0]) is None:
        others = [one for one in _others(asked, name) if one != kept]
        return asked.with_clause(naming_all([kept, *others]) if others else keeping(*kept))
    if operation not in (None, *REDUCTIONS) and suspects.is_branch(at):
        return asked.with_clause(by_no_reduction(asked, name))
    if operation not in REDUCTIONS or suspects.is_index(at, name):
        told = own(asked, name) + _beside(asked, name)
        return asked.with_clause(or_led_out(asked, told, name))
    in_path = suspects.handed_on(at)  # of which integers may need no clause
    needed = suspects.unnamed(at)
    others = [one for one in _others(asked, name) if one[1] not in in_path or one in needed]
    others += by_other_operations(asked, [(operation, name), *others])
    if others and not asked.reason.begins(ALL_MADE):
        return asked.with_clause(naming_all([(operation, name), *others]))
    if operation in KEEPS:
        return asked.with_clause(keeping(operation, name))
    clauses = [(operation, name)]
    if operation != "+":
        return asked.with_clause(naming_all(clauses))
    return asked.with_clause(REDUCTION_HINT.replace(SUMS, clauses_of(clauses)))


def _beside(asked: Inquiry, name: str) -> str:
    """The clauses that a loop needs for others, whatever serves a variable."""
    others = _others(asked, name)
    if not others:
        return ""
    names = all_of([one for _, one in others])
    return f", and if the loop only updates {names}, {ON_LOOP}: {clauses_of(others)}"


def _others(asked: Inquiry, name: str) -> list[tuple[str, str]]:
    """What else the path updates, or the iteration by what the path makes, of which no clause is
    there that it needs."""
    return [one for one in asked.suspects.unnamed_handed_on(asked.at) if one[1] != name]


def _operation(asked: Inquiry, name: str) -> str | None:
    """The operation by which a variable is changed, as far as that is known."""
    operation = asked.suspects.operation(asked.at, name, asked.places)
    if operation is not None:
        return operation
    behind = asked.suspects.unnamed(asked.at, around=True)
    kept = next((by for by, one in behind if one == name and by in KEEPS), None)
    return kept or (asked.proven[0] if asked.proven and [*asked.names] == [name] else None)


def _any_of(asked: Inquiry, them: str, adds_them_up: str, own: str) -> str:
    """What to say of variables of which nobody knows which one is updated by which operation."""
    known = asked.proven
    does = f"updates {them}" if known else f"{adds_them_up}, or keeps the least or the most"
    return _ANY.format(does, clauses_of((one, "variables") for one in known or ["op"]), own)


def _of_several(asked: Inquiry) -> str:
    """Of which variables there are reductions, if that is known of all but one, and what to do
    about that."""
    clauses = served(asked, asked.names)
    rest = [name for name in asked.names if name not in {one for _, one in clauses}]
    suspects, at = asked.suspects, asked.at
    if rest and all(suspects.is_no_reduction(at, one) for one in rest):
        return with_own(asked, rest, clauses)
    if len(rest) != 1 or not clauses:
        return _any_of(asked, *_THEM)
    told = f"{own(asked, rest[0])}, and if the loop only updates the rest, {ON_LOOP}: "
    return or_led_out(asked, told + clauses_of(clauses), rest[0])
