"""Which variables code updates as reductions do, in its own text or through functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ccc.frontend import updates
from ccc.frontend.elements import by_element
from ccc.frontend.syntax import declared_in, identifiers_in
from ccc.frontend.ties import ties_in

if TYPE_CHECKING:
    from ccc.frontend.handed import HandedOver
    from ccc.frontend.placement import Placed
    from ccc.frontend.syntax import Node

_SIGNS = {"+": ("+", "-"), "&": ("&", "&&"), "|": ("|", "||"), "^": ("^",)}
"""Those that may update the variable of a reduction by an operation."""
_SUMS_AND_BOUNDS = ("+", "min", "max")
"""By what elements are updated that are told of; by others mostly those of a state are."""
_AGAIN = ("&", "|")
"""What makes no other value of the same number the second time."""
_IsFloat = Callable[["Node", bytes], bool]


def clauses_of(variables: Iterable[tuple[str, str]]) -> str:
    """The clauses for operations and variables; empty if there are none."""
    by_operation: dict[str, list[str]] = {}
    for operation, name in variables:
        by_operation.setdefault(operation, []).append(name)
    return " ".join(f"reduction({op}: {', '.join(by)})" for op, by in by_operation.items())


def served(
    loops: Sequence[Placed],
    handed: Callable[[Node], Iterable[HandedOver]],
    is_float: _IsFloat,
) -> set[str]:
    """The variables that the reductions of annotated loops serve: those that they name, and
    integers that are updated as those."""
    found: set[str] = set()
    for loop in loops:
        named = {(written(ptx), name) for ptx, name in loop.reductions}
        calls = list(handed(loop.statement))
        operations = {by for by, _ in named}
        named |= {
            (by, _text(name))
            for by, name in _updated(loop.statement, calls)
            if by in operations and not is_float(loop.statement, name)
        }
        for by, name in named:
            if misuse(loop.statement, name, by, calls) is None:
                found |= updates.updated_by(loop.statement, name, by, _known(calls, name, by))
    return found


def written(ptx: str) -> str:
    """An operation of a reduction as users write it, of what PTX calls it."""
    from ccc.frontend.pragmas import REDUCTIONS  # noqa: PLC0415 - seldom asked for

    return next(sign for sign, name in REDUCTIONS.items() if name == ptx)


def misuse(loop: Node, name: str, by: str, calls: Collection[HandedOver]) -> Node | None:
    """Where a loop, or a lambda that it calls, does more with a variable than to update it, as
    ``updates.misuse`` says."""
    known = _known(calls, name, by)
    inside = {one.within.start_byte: one.within for one in calls if one.within is not None}
    found = (updates.misuse(one, name, by, known) for one in (loop, *inside.values()))
    others = (
        one.base for one in calls if _is_of_other(one) and not _only_updates(one, name.encode(), by)
    )
    return next(filter(None, (*found, *others)), None)


def _is_of_other(one: HandedOver) -> bool:
    """Whether what is changed has another name than what stands there: a method of the function's
    own object, or a pointer."""
    names = {update.name.partition(b".")[0] for update in one.updates}
    return bool(names) and one.base.text not in names


def first(statement: Node, name: str) -> str | None:
    """The operation by which a statement first updates a variable as a reduction does."""
    made = (one for one, base in updates.changes(statement) if _text(updates.name_of(base)) == name)
    return next(filter(None, map(updates.operation, made)), None)


def updated(loop: Node, calls: Sequence[HandedOver]) -> list[tuple[str, str]]:
    """The variables with which a loop does nothing but to update them as a reduction does, and by
    which operations."""
    every = [(by, _text(name)) for by, name in _updated(loop, calls)]
    every += updates.extremes(loop)
    return [one for one in dict.fromkeys(every) if misuse(loop, one[1], one[0], calls) is None]


def _known(calls: Iterable[HandedOver], name: str, by: str) -> set[int]:
    """Where functions get a variable, and do nothing but to update it by an operation."""
    return {one.base.start_byte for one in calls if _only_updates(one, name.encode(), by)}


def _updated(tree: Node, calls: Iterable[HandedOver]) -> Iterator[tuple[str, bytes]]:
    """The operations of reductions by which code updates variables, and these."""
    for change, base in updates.changes(tree):
        if by := updates.operation(change):
            yield by, updates.name_of(base)
    for one in calls:
        for update in one.updates:
            if update.operator in updates.REDUCING:
                yield update.operator, update.name


def _only_updates(one: HandedOver, name: bytes, by: str) -> bool:
    """Whether a call does to a variable nothing but to update it by an operation."""
    meant = (name, updates.name_of(one.base))
    return all(update.operator == by for update in one.updates if update.name in meant)


def unnamed(
    statement: Node,
    own: Collection[bytes],
    made: Collection[bytes | None],
    calls: Iterable[HandedOver],
    is_float: _IsFloat,
) -> list[tuple[str, str]]:
    """The operations and variables that code updates as a reduction does, and that are none of its
    ``own``: those that are floating-point, and those that are updated by what was ``made``, or
    where that decides."""
    made = updates.follows_from(statement, made) if made else set[bytes | None]()
    calls = list(calls)
    by_calls = {one.base.start_byte for one in calls}  # as operators of their own
    found = [
        (op, name)
        for change, base in updates.changes(statement)
        if (op := updates.operation(change) or updates.joined(change))
        and (name := updates.name_of(base))
        if base.start_byte not in by_calls
        if not (is_float(change, name) and updates.takes_no_number(change))
        if is_float(statement, name)
        or updates.is_made_of(change, made)
        or updates.is_decided_by(change, made)
    ]
    found += [
        (op, name.encode())
        for op, name, branch in updates.extreme_branches(statement)
        if is_float(statement, name.encode()) or _asks_for(branch, made.difference({name.encode()}))
    ]
    found += [
        (str(one.operator), one.name)
        for call in calls
        for one in call.updates
        if one.operator in updates.REDUCING
        if is_float(statement, one.name) or not (one.by - {call.base.text}).isdisjoint(made)
    ]
    return [
        (op, _text(name))
        for op, name in dict.fromkeys(found)
        if name not in own and name.partition(b".")[0] not in own
    ]


def _asks_for(branch: Node, names: Collection[bytes | None]) -> bool:
    """Whether the condition of a branch names some variables."""
    condition = branch.child_by_field_name("condition")
    return condition is not None and any(one.text in names for one in identifiers_in(condition))


def spoken_of(node: Node, calls: Iterable[HandedOver]) -> list[str]:
    """The names of a variable where it is changed: if a function is handed that, and updates
    members of it as reductions do, or elements of it, the names of these; or the array in it of
    which an element is changed there."""
    call = next((one for one in calls if one.base.start_byte == node.start_byte), None)
    made = call.updates if call else ()
    by = [one.operator for one in made]
    is_of_sums = bool(by) and all(by_element(one) in _SUMS_AND_BOUNDS for one in by)
    if call and _is_of_other(call):
        return list(dict.fromkeys(_text(one.name) for one in made))
    if is_of_sums or any(one in updates.REDUCING for one in by):
        return list(dict.fromkeys(_text(one.name) for one in made))
    return [_text(updates.name_of(node))]


def outlives(node: Node, calls: Iterable[HandedOver], own: Collection[bytes]) -> bool:
    """Whether what is changed where a variable stands is none of an iteration's ``own``: what a
    pointer leads to may outlive that."""
    call = next((one for one in calls if one.base.start_byte == node.start_byte), None)
    if call is None or not _is_of_other(call):
        return node.text not in own
    return any(one.name.partition(b".")[0] not in own for one in call.updates)


def _text(name: bytes) -> str:
    return name.decode(errors="replace")


def kept(loop: Node, name: str) -> str | None:
    """``min`` or ``max``, where a loop does nothing with a variable but to keep that in it, by
    branches."""
    every = (by for by, one in updates.extremes(loop) if one == name)
    return next((by for by in every if updates.misuse(loop, name, by) is None), None)


def flagged(loop: Node, name: str) -> str | None:
    """``|`` or ``&``, where a loop does nothing with a variable but to set a flag, or to clear
    it."""
    found = {updates.flag(change) for change in updates.changes_of(loop, name.encode())}
    (by,) = found if len(found) == 1 else {None}
    return by if by and updates.misuse(loop, name, by) is None else None


def otherwise(loop: Node, name: str, by: str) -> Node | None:
    """Where a loop certainly sets a variable to what is no update by an operation."""
    base = name.partition(".")[0].encode()
    own = {one for one, _ in declared_in(loop)}
    for change in updates.changes_of(loop, name.encode()) if base not in own else ():
        known = {updates.operation(change), updates.flag(change)}
        value = updates.bare(change.child_by_field_name("right"))
        is_plain = value is not None and "=" in [child.type for child in change.children]
        if by in known or _is_compared(change, base):
            continue
        if not is_plain or value is None or _is_other(value, base, by, own):
            return change
    return None


def by_order(loop: Node) -> Iterator[tuple[str, str, str, Node]]:
    """Variables that a loop updates where it sets the least or the most of all iterations, so that
    their order decides how often: each with the operation and the variable that keep that, and
    where it is done. To do what may be done again as well is no update."""
    own = {name for name, _ in declared_in(loop)}
    for by, best, branch in updates.extreme_branches(loop):
        taken = branch.child_by_field_name("consequence")
        if taken is None or best.partition(".")[0].encode() in own:
            continue
        for change, base in updates.changes(taken):
            name, value = _text(updates.name_of(base)), change.child_by_field_name("right")
            operator = updates.operator(change)
            is_again = operator in _AGAIN and not any(identifiers_in(value or change))
            if operator and not is_again and name != best and base.text not in own:
                yield name, by, best, base


def set_along(loop: Node) -> Iterator[tuple[set[str], str, str]]:
    """Variables that a loop sets in nothing but branches that keep the least or the most of all
    iterations, by which operation, and in what those keep that."""
    own = {name for name, _ in declared_in(loop)}
    tied = {name for one in ties_in(loop) for name in one.names}
    for by, best in dict.fromkeys(updates.extremes(loop)):
        if best.partition(".")[0].encode() not in own and best not in tied:
            yield _only_set_with(loop, best, by), by, best


def _only_set_with(loop: Node, best: str, by: str) -> set[str]:
    """The variables that are set in nothing but such branches of one, and not updated there."""
    every = [(change, _text(updates.name_of(base))) for change, base in updates.changes(loop)]
    taken = [
        branch.child_by_field_name("consequence")
        for operation, name, branch in updates.extreme_branches(loop)
        if (operation, name) == (by, best)
    ]

    def is_along(change: Node) -> bool:
        is_inside = any(
            one.start_byte <= change.start_byte < one.end_byte for one in taken if one is not None
        )
        return is_inside and updates.operation(change) is None

    return {name for _, name in every if name != best} - {
        name for change, name in every if not is_along(change)
    }


def _is_compared(change: Node, base: bytes) -> bool:
    """Whether a branch around an assignment compares its variable with the new value."""
    value, around = updates.bare(change.child_by_field_name("right")), change.parent
    while value is not None and around is not None:
        asked = around.child_by_field_name("condition") if around.type == "if_statement" else None
        tests = updates.every(asked, lambda node: node.type == "binary_expression") if asked else ()
        for test in tests:
            one, _, other = updates.sides(test)
            is_side = updates.text_of(value) in (one, other)
            if is_side and any(node.text == base for node in identifiers_in(test)):
                return True
        around = around.parent
    return False


def _is_other(value: Node, base: bytes, by: str, own: Collection[bytes]) -> bool:
    """Whether a value is certainly no update of a variable, being made without it or by another
    sign. What a loop declares as its ``own`` may be an update, as a flag may."""
    value = updates.bare(value) or value
    parts = [value.child_by_field_name(one) for one in ("consequence", "alternative")]
    if value.type == "conditional_expression":
        return any(_is_other(one, base, by, own) for one in parts if one is not None)
    used = {one.text for one in identifiers_in(value)}
    if base not in used:
        is_literal = value.type == "number_literal" and by not in ("&", "|")
        return is_literal or (value.type == "identifier" and used.isdisjoint(own))
    if value.type != "binary_expression":
        return value.type == "subscript_expression"
    sign = value.child_by_field_name("operator")
    sides = [value.child_by_field_name(one) for one in ("left", "right")]
    made = (one for one in sides if one and any(n.text == base for n in identifiers_in(one)))
    is_known = sign is not None and sign.type in _SIGNS.get(by, ())
    return not is_known or any(_is_other(one, base, by, own) for one in made)
