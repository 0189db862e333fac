"""What is said of arrays of the thread's own: where they are none, where they are added up, and
where they may have no values."""

from __future__ import annotations

from ccc.analysis.paths.carried_values import SET_IN_LOOP
from ccc.compiler.reasons.handing_on import else_remove
from ccc.compiler.reasons.hints import Hint
from ccc.compiler.reasons.inquiry import Inquiry
from ccc.compiler.reasons.topics import Topic
from ccc.frontend.syntax import declared_in

_ELEMENTS = (
    "if the loop only updates its elements, have a variable for each of them in its place, and say "
    "so on the loop: reduction({}: variables)"
)
_COLUMNS = (
    "if the loop only updates {} elements, keep them in __shared__ memory, in a column for each "
    "thread, and update them by {}"
)
"""Where a variable for each would have to be found by a number."""
_SET_WHOLE = "give all of it a value where it is declared"
"""Of an array in registers, which is declared in the loop, but of which not all is set."""
_SET_MEMBERS = 'give all members of "{}" a value where it is declared, or in its constructor'
_OR_MEMBER = f"{SET_IN_LOOP}, or if it is a member, in the constructor"
"""Where it is not known what it is."""
_ATOMICS = {"+": "atomicAdd", "&": "atomicAnd", "|": "atomicOr", "^": "atomicXor"}


def of_variables(asked: Inquiry) -> Inquiry:
    """What is said of arrays where there are none, said of variables: they lie in memory since they
    are volatile, or a function that stays one gets their addresses."""
    if asked.reason.topic is not Topic.ARRAYS:
        return asked
    if volatile := asked.suspects.volatile(asked.at, asked.places):
        asked = asked.filled(Hint.OWN_ARRAY, "(a variable of the thread's own, which is volatile)")
        return asked.advising_first("declare it without volatile").naming(volatile)
    if asked.names:
        return asked
    functions = asked.functions
    called = functions.called_in(asked.remark.kernel)
    handed = asked.suspects.handed(asked.at, asked.places)
    kept = [one for one in handed if any(_is_called(one[1], by) for by in called)]
    if not kept:
        return asked
    name = kept[0][1]
    asked = asked.filled(
        Hint.OWN_ARRAY, f"(a variable of the thread's own, whose address {name} gets)"
    )
    advice = f"declare {name} __forceinline__, or let it return what it makes of it"
    if any(functions.calls_itself(by) for by in called if _is_called(name, by)):
        advice = f"let {name} return what it makes of it"
    return asked.advising_first(advice).naming(one for one, by in kept if by == name)


def of_elements(asked: Inquiry) -> Inquiry:
    """What is said of arrays that are added up is of use: a reduction is of variables."""
    found = asked.suspects.adds_up(asked.at, asked.names[0]) if len(asked.names) == 1 else None
    in_memory = asked.reason.slot(Hint.ANOTHER_LOOP)
    if found is None and not in_memory:
        return asked
    hint = _in_columns(asked) if found is None or found[1] else _ELEMENTS.format(found[0])
    if not hint:
        return asked
    if in_memory:
        return asked.advising_first(hint)
    else_ = else_remove(asked) if found and not found[1] else ""
    return asked.with_clause(hint + else_).filled(Hint.IN_PATH, hint)


def _in_columns(asked: Inquiry) -> str:
    """What to do about arrays of which an element is found by its number; empty where no atomic
    operation does to all of them what the path does."""
    found = [asked.suspects.in_columns(asked.at, one) for one in asked.names]
    every = dict.fromkeys(one for each in found for one in each)
    if not every or not all(found) or any(by not in _ATOMICS for by, _ in every):
        return ""
    *most, last = (f"{_ATOMICS[by]}(&{element}, ...)" for by, element in every)
    whose = "its" if len(asked.names) == 1 else "their"
    return _COLUMNS.format(whose, f"{', '.join(most)} and {last}" if most else last)


def set_whole(asked: Inquiry) -> str | None:
    """What gives values to what may have none, if that is an array, or a structure: these are
    declared already."""
    suspects, at, names = asked.suspects, asked.at, asked.names
    if names and {*names} <= {*suspects.names(at, Topic.ARRAYS)}:
        return _SET_WHOLE
    own = {one for one, _ in declared_in(asked.statements[1])} if asked.statements else set[bytes]()
    if len(names) == 1 and names[0].encode() in own and suspects.structure(at, names[0]):
        return _SET_MEMBERS.format(names[0])
    return None if names else _OR_MEMBER


def _is_called(name: str, callee: str) -> bool:
    """Whether a function of PTX is one of that name, which C++ mangles."""
    return callee == name or f"{len(name)}{name}" in callee
