"""What is said of variables that are structures: a reduction is of members, which it may name."""

from __future__ import annotations

from ccc.compiler.reasons.handing_on import all_of, else_remove, or_led_out, own, way_out
from ccc.compiler.reasons.inquiry import ON_LOOP, Inquiry
from ccc.compiler.reasons.misused import declared_in
from ccc.compiler.reasons.reduction_clauses import KEEPS, keeping, served
from ccc.frontend.reductions import clauses_of
from ccc.frontend.structures import DeclaredStructure
from ccc.frontend.updates import REDUCING

_OPEN = "if the loop only updates members of {}, name those on the loop: {}"
_UNKNOWN = (
    'if the loop only updates members of "{}", name those on the loop: reduction({}: {}.member)'
)
_HIDDEN = (
    'if the loop only updates members of "{}", update plain variables in their place, or make them '
    "public, and name these on the loop: {}"
)
_KEPT = '{0}, name on the loop the member of "{1}" that is compared: reduction({2}: {1}.member)'
_ARRAYS = (
    'no reduction names elements of {}: if the loop only updates members of "{}", update plain '
    "variables in their place, and name these on the loop: reduction({}: variables)"
)

_OTHERS = (
    'no reduction names "{}", which is a {}{}: update plain variables in {} place, and name these '
    "on the loop: {}"
)
_BY_SEVERAL = '; no reduction serves "{}", of which {} decide what is kept'
_ELEMENTS = (
    "no reduction names elements of {}: if the loop only updates these, update plain variables in "
    f"their place, and {ON_LOOP}: {{}}"
)


def of_members(asked: Inquiry) -> Inquiry:
    """Where it speaks of a reduction of a whole structure, or of a member that only methods may
    name, with what can be named in its place, and with the clauses that others need."""
    if told := _of_others(asked) or _of_elements(asked):
        return asked.settled(told)
    whole = {name: one for name in asked.names if (one := _structure(asked, name))}
    if not whole:
        return asked
    name, (by, found) = next(iter(whole.items()))
    if not found.private and by in KEEPS and (told := _of_compared(asked, name, by)):
        return asked.settled(told)
    if not all(one.open for _, one in whole.values()):
        return asked.with_clause(_of_hidden(asked, name, by, found))
    bases = {_held_by(asked, one): of for one, of in whole.items()}
    clauses = [(by, f"{base}.{one}") for base, (by, found) in bases.items() for one in found.open]
    others = [one for one in asked.names if one not in whole]
    clauses += served(asked, others)
    told = _OPEN.format(all_of([*bases]), clauses_of(clauses))
    rest = [one for one in others if all(one != known for _, known in clauses)]
    if len(rest) == 1:
        told = f"{own(asked, rest[0])}, and {told}"
    return asked.settled(told + else_remove(asked))


def _of_others(asked: Inquiry) -> str | None:
    """What to do about a variable of a class of a library, if one may be meant, with the clauses
    that others need."""
    arrays = [*asked.suspects.elements(asked.at, asked.names)]
    for name in dict.fromkeys((*asked.names, *declared_in(asked))):
        kind = asked.suspects.class_of_others(asked.at, name)
        by = asked.suspects.operation(asked.at, name) if kind else None
        if kind and by is None and name in asked.names and name not in arrays:
            by = next(iter(asked.proven), None)  # by methods that nobody knows
        if by in REDUCING:
            others = served(asked, [one for one in asked.names if one != name])
            more, whose = (f", or elements of {all_of(arrays)}", "their") if arrays else ("", "its")
            clauses = clauses_of([*others, (by, "variables")])
            return _OTHERS.format(name, kind, more, whose, clauses) + else_remove(asked)
    return None


def _of_compared(asked: Inquiry, name: str, by: str) -> str | None:
    """What to do about a structure of which the least or the most is kept, by what compares it."""
    found = asked.suspects.compared(asked.at, name)
    if len(found) == 1:
        return keeping(by, f"{name}.{found[0]}")
    if not found:
        told = _KEPT.format(KEEPS[by], name, by) + else_remove(asked)
        return told if "." not in name else None
    several = _BY_SEVERAL.format(name, all_of(found))
    return or_led_out(asked, own(asked, name), name, why=several)


def _structure(asked: Inquiry, name: str) -> tuple[str, DeclaredStructure] | None:
    """By what a structure is updated, and that, where a reduction would be of all of one, or of
    what it hides; None where none serves what else is done."""
    base, _, member = name.partition(".")
    found = asked.suspects.structure(asked.at, base)
    if found and member and not found.hides(member):
        found, member = asked.suspects.structure(asked.at, name), ""
    kept = asked.suspects.extreme(asked.at)
    by = kept[0] if kept and kept[1] == name else asked.suspects.operation(asked.at, name)
    if found is None or by not in REDUCING or (member and not found.hides(member)):
        return None
    return by, found


def _held_by(asked: Inquiry, name: str) -> str:
    """Of what a clause can name members: a member that is a structure, or the whole."""
    base, dot, member = name.partition(".")
    whole = asked.suspects.structure(asked.at, base) if dot else None
    return base if whole and whole.hides(member) else name


def _of_hidden(asked: Inquiry, name: str, by: str, found: DeclaredStructure) -> str:
    """What to do about a structure of which a clause can name no member that is known."""
    base = name.partition(".")[0]
    if found.arrays and not found.private:
        arrays = all_of([f"{base}.{one}" for one in found.arrays], "or")
        return _ARRAYS.format(arrays, base, by) + way_out(asked, name)
    if not found.private:
        return _UNKNOWN.format(base, by, base) + else_remove(asked)
    others = [one for one in asked.names if one.partition(".")[0] != base]
    clauses = clauses_of([*served(asked, others), (by, "variables")])
    return _HIDDEN.format(base, clauses) + else_remove(asked)


def _of_elements(asked: Inquiry) -> str | None:
    """What to do about arrays in what may be meant, if there are any, with the clauses that others
    need."""
    suspects, at, names = asked.suspects, asked.at, asked.names
    arrays = suspects.elements(at, names)
    plain = [found for one in arrays if (found := suspects.adds_up(at, one))]
    is_alone = len(names) == 1 and bool(plain)
    is_state = any(suspects.is_stepped(at, one.partition(".")[0]) for one in arrays)
    if not arrays or is_alone or is_state or any(is_computed for _, is_computed in plain):
        return None
    operations = {by or None for made in arrays.values() for by in made}
    clauses = served(asked, [one for one in names if one not in arrays])
    known = [by for by in REDUCING if by in operations] if None not in operations else ["op"]
    clauses += [(by, "variables") for by in known]
    told = _ELEMENTS.format(all_of([*arrays]), clauses_of(clauses))
    return told + way_out(asked, *arrays)
