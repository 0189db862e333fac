"""What code has functions do with its variables: which it hands over, and how these update them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ccc.frontend import updates
from ccc.frontend.syntax import body_of, by_reference, declared_in, parameter_name, parameters

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node


class HandedOver(NamedTuple):
    """A variable that a call may change, and the ways in which functions of that name do.

    It ``is_stepped`` where they make of it what follows from it, whatever else they are given.
    """

    base: Node
    function: bytes
    operators: set[str | None]
    is_stepped: bool = False


def handed_over(path: Node, named: Callable[[bytes], Sequence[Node]]) -> Iterator[HandedOver]:
    """The variables whose addresses a statement hands to functions, or that these take by
    reference, and those whose methods it calls.

    Args:
        path: the statement.
        named: the functions of the text that have a plain name.
    """
    for call in updates.every(path, lambda node: node.type == "call_expression"):
        function, listed = (call.child_by_field_name(part) for part in ("function", "arguments"))
        if function is None or listed is None:
            continue
        name = _plain_name(function)
        if function.type == "field_expression" and (base := updates.base_of(function)) is not None:
            yield HandedOver(base, name, set())
        called = named(name)
        for number, one in enumerate(listed.named_children):
            is_address = one.type == "pointer_expression" and one.children[0].type == "&"
            given = updates.base_of(one.child_by_field_name("argument") if is_address else one)
            if given is not None and (is_address or any(by_reference(f, number) for f in called)):
                operators = {by for f in called for by in _operators(f, number)}
                stepped = [_steps(f, number) for f in called]
                yield HandedOver(given, name, operators, bool(stepped) and all(stepped))


def _plain_name(function: Node) -> bytes:
    """That of what is called: no scopes, no template arguments."""
    while (name := function.child_by_field_name("name")) is not None:
        function = name
    return function.text or b""


def _operators(function: Node, number: int) -> set[str | None]:
    """How a function changes what it is given at some place, as ``updates.operator`` says."""
    body, name = body_of(function, "body"), parameter_name(function, number)
    if body is None or name is None:
        return set()
    kept: set[str | None] = {by for by, one in updates.extremes(body) if one.encode() == name}
    return kept or {updates.operator(one) for one in updates.changes_of(body, name)}


def _steps(function: Node, number: int) -> bool:
    """Whether what a function makes of what it is given at some place follows from that alone."""
    body, name = body_of(function, "body"), parameter_name(function, number)
    if body is None or name is None:
        return False
    others = [other for one in parameters(function) for other, _ in declared_in(one)]
    own = [local for local, _ in declared_in(body)]
    return updates.is_stepped(list(updates.changes_of(body, name)), others, own)
