"""What functions of the text give that do nothing but to compute a value of what they are given:
``T larger(T a, T b) { return a > b ? a : b; }``, also lambdas that are kept in variables."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ccc.frontend.syntax import every_node, function_name, parameter_name, parameters, root_around

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_RETURN, _IF = "return_statement", "if_statement"
_LAMBDA = "lambda_expression"


class Given(NamedTuple):
    """What a function gives, in terms of its parameters.

    Attributes:
        names: these.
        value: what it gives; where it is asked first, if that holds.
        condition: what is asked first, if anything is.
        other: what it gives if that does not hold.
    """

    names: list[bytes | None]
    value: Node
    condition: Node | None = None
    other: Node | None = None


def given_by(call: Node) -> Given | None:
    """What the function gives that is called; None if it is not known, or does more."""
    name = _name(call.child_by_field_name("function"))
    listed = call.child_by_field_name("arguments")
    found = _functions(root_around(call)).get(name, []) if name and listed else []
    fitting = [one for one in found if listed and len(parameters(one)) == listed.named_child_count]
    return given_in(fitting[0]) if len(fitting) == 1 else None


def _name(function: Node | None) -> bytes | None:
    """The name of what is called, if that is no method."""
    while function is not None and (inner := function.child_by_field_name("name")) is not None:
        function = inner
    return function.text if function is not None and function.type == "identifier" else None


@lru_cache(maxsize=1)
def _functions(root: Node) -> dict[bytes, list[Node]]:
    """The functions of a text, and the lambdas in its variables, by their names; each call asks."""
    found: dict[bytes, list[Node]] = {}
    for node in every_node(root):
        if node.type == "function_definition":
            found.setdefault(function_name(node), []).append(node)
        elif node.type == "init_declarator":
            kept, declarator = (node.child_by_field_name(one) for one in ("value", "declarator"))
            if kept is not None and kept.type == _LAMBDA and declarator is not None:
                found.setdefault(declarator.text or b"", []).append(kept)
    return found


def given_in(function: Node) -> Given | None:
    """What a function gives, if it does nothing else."""
    body = function.child_by_field_name("body")
    done = [one for one in body.named_children if one.type != "comment"] if body else []
    names = [parameter_name(function, number) for number in range(len(parameters(function)))]
    last = _returned(done[-1]) if done else None
    if last is None:
        return None
    if len(done) == 1:
        return Given(names, last)
    first = done[0]
    alternative = first.child_by_field_name("alternative")
    taken = _returned(first.child_by_field_name("consequence"))
    clause = first.child_by_field_name("condition")
    condition = clause.child_by_field_name("value") if clause else None
    if len(done) != 2 or first.type != _IF or alternative or taken is None:
        return None
    return Given(names, taken, condition, last)


def _returned(statement: Node | None) -> Node | None:
    """What a statement returns, if that is all it does."""
    while statement is not None and statement.type == "compound_statement":
        inner = statement.named_children
        statement = inner[0] if len(inner) == 1 else None
    is_return = statement is not None and statement.type == _RETURN
    return statement.named_child(0) if statement is not None and is_return else None
