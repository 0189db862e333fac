"""States of random numbers: whether functions make of one what follows from that alone."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from ccc.frontend import updates
from ccc.frontend.syntax import every_node, identifiers_in

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_FOREIGN = re.compile(rb"atomic|clock|__ldg|tex\d|surf\d|__shfl|__ballot|vote|__reduce")
"""What gives something that neither the state nor its function knows."""
_DECLARED = "init_declarator"
_SETTING = {**updates.CHANGES, _DECLARED: "declarator"}
_MIXING = ("^", "<<", ">>", "%", "^=", "<<=", ">>=", "%=")
_PRODUCT = ("*", "*=")
_ADDING = {"=", "+", "-", "+=", "-="}
_INTEGER = re.compile(rb"(?:0[xX][\da-fA-F']+|[\d']+)[uUlL]*")


def changes_of(body: Node, state: Collection[bytes]) -> list[Node]:
    """Where a body changes a state, or what is in that or led to by it."""
    every = updates.assignments(body)
    return [one for one in every if _root(one) in state]


def follows_by_itself(body: Node, state: Collection[bytes], others: Collection[bytes]) -> bool:
    """Whether all that a body sets in a state follows from that, and not from some others.

    Args:
        body: the body.
        state: what it calls the state, or its members.
        others: what else it is given.
    """
    foreign = updates.follows_from(body, {one for one in others if one not in state})
    values = [one.child_by_field_name("right") for one in changes_of(body, state)]
    return not any(
        node.text in foreign or (node.type == "call_expression" and _is_foreign(node))
        for value in values
        if value is not None
        for node in every_node(value)
    )


def is_mixed(body: Node, state: Collection[bytes]) -> bool:
    """Whether a body makes a state of that as those of random numbers are: by a product, or by
    parts of it, or by a count that goes into one."""
    made = updates.follows_from(body, state)
    return any(_is_mixed(one, made) for one in _making(body, state))


def counts(change: Node) -> bool:
    """Whether an assignment only adds to a variable, or takes off: that mixes nothing."""
    value = _value_of(change)
    nodes = [change, *every_node(value)] if value is not None else []
    is_called = any(node.type == "call_expression" for node in nodes)
    return bool(nodes) and not is_called and all(_ADDING.issuperset(_signs(one)) for one in nodes)


def _making(body: Node, state: Collection[bytes]) -> Iterator[Node]:
    """Where a body sets a state, or what it makes that of."""
    every = [(one, _root(one)) for one in updates.every(body, lambda node: node.type in _SETTING)]
    found, size = set[bytes | None](state), -1
    while len(found) > size:
        size = len(found)
        found.update(
            used.text
            for one, name in every
            if name in found and (value := _value_of(one)) is not None
            for used in identifiers_in(value)
        )
    return (one for one, name in every if name in found)


def _is_mixed(change: Node, made: Collection[bytes | None]) -> bool:
    value = _value_of(change)
    if value is None:
        return updates.is_counted_in(change)
    kept = [child.type for child in change.children if child.type.endswith("=")]
    is_plain = kept in ([], ["="])
    if is_plain and not any(node.text in made for node in identifiers_in(value)):
        return False
    signs = {sign for node in (change, *every_node(value)) for sign in _signs(node)}
    is_product = not signs.isdisjoint(_PRODUCT) and any(
        node.type == "number_literal" and _INTEGER.fullmatch(node.text or b"")
        for node in every_node(value)
    )
    return is_product or not signs.isdisjoint(_MIXING)


def _value_of(change: Node) -> Node | None:
    part = "value" if change.type == _DECLARED else "right"
    return change.child_by_field_name(part)


def _signs(node: Node) -> Iterator[str]:
    sign = node.child_by_field_name("operator")
    if sign is not None:
        yield sign.type


def _root(change: Node) -> bytes | None:
    """What an assignment changes, or what it reaches that by; or what is declared so."""
    node = updates.root_of(change.child_by_field_name(_SETTING[change.type]))
    return node.text if node is not None else None


def _is_foreign(call: Node) -> bool:
    function = call.child_by_field_name("function")
    return function is not None and _FOREIGN.match(function.text or b"") is not None
