"""Variables that are declared without a value: each time, they get one.

    for (int k = 0; k < n; k++) {
        float r;
        float p = refract(x, r) ? x * x : 1;
        x = p > limit ? p : r;
    }

becomes

        float r; r = 0;

In C++ ``r`` is another variable in each turn, and its value is indeterminate until it is set. In
PTX it is one register, and where the compiler sees a way on which ``r`` is read but not set, that
reads as what an earlier turn left there. No analysis of PTX can tell it from a variable that was
declared before the loop, in which a value is kept: nvcc makes the same code of both. The source
can. What is set on all ways costs nothing: the compiler drops the first value again.

It is done only where a path was left alone since the next iteration seems to need a value. A
variable whose address is handed on is memory, and would be written by more code than before; and
what is collected anyway had better stay as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ccc.frontend.syntax import every_node

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

MOST_BYTES = 64
"""An object that is larger gets no value: arrays may be in it, which are memory. Not measured."""
_SCALARS = ("primitive_type", "sized_type_specifier")
_NAMED = ("type_identifier", "qualified_identifier", "template_type")
_PARTS = ("identifier", ",", ";", "comment")
_LAMBDA = "lambda_expression"
_FUNCTIONS = ("function_definition", _LAMBDA)
_BLOCKS = ("compound_statement", "case_statement")
_CONSTANT = re.compile(rb"\bconst(?:expr|eval)\b")


def values(node: Node, macros: Mapping[str, str] | None) -> Iterator[tuple[int, bytes]]:
    """The statements that give a value to what is declared in ``node`` without one, and where.

    Args:
        node: a loop or a function.
        macros: those that the text may use, None where they are expanded. Otherwise a name may hide
            one of a header, and only what has a built-in type is looked at.
    """
    pending: list[tuple[Node, Mapping[str, str] | None]] = [(node, macros)]
    while pending:
        one, hiding = pending.pop()
        if one.type in _FUNCTIONS and _is_constant(one):
            continue
        if one.type == "declaration" and one.parent and one.parent.type in _BLOCKS:
            kind = one.children[0]
            names = [name for name in _unset(one) if name.decode() not in (hiding or ())]
            text = b"".join(_value(kind, name, hiding is None) for name in names)
            if text:
                yield one.end_byte, text
        # A lambda may be evaluated by the compiler, too: there it can set a built-in type only.
        inside = hiding or {} if one.type == _LAMBDA else hiding
        pending += [(child, inside) for child in reversed(one.children)]


def names(node: Node, *, arrays: bool = False) -> Iterator[bytes]:
    """The plain variables that are declared in ``node`` without a value, and the arrays, if these
    are asked for."""
    for one in every_node(node):
        if one.type == "declaration":
            yield from _unset(one, arrays=arrays)


def _is_constant(function: Node) -> bool:
    """Whether the compiler may have to evaluate it, and to understand all that it does."""
    body = function.child_by_field_name("body")
    head = (function.text or b"")[: body.start_byte - function.start_byte if body else None]
    return _CONSTANT.search(head) is not None


def _unset(declaration: Node, *, arrays: bool = False) -> Iterator[bytes]:
    """The plain variables of a declaration that have no value, and arrays, if these are asked for;
    none of one with qualifiers.

    What looks like a pointer to a type with a name may be a product.
    """
    kind, *others = declaration.children
    if not all(one.type in _PARTS or one.type.endswith("_declarator") for one in others):
        return
    for one in others:
        inner: Node | None = one
        around = ["pointer_declarator"] * (kind.type in _SCALARS) + ["array_declarator"] * arrays
        while inner is not None and inner.type in around:
            inner = inner.child_by_field_name("declarator")
        if inner is not None and inner.type == "identifier":
            yield inner.text or b""


def _value(kind: Node, name: bytes, preprocessed: bool) -> bytes:
    """The statement that gives a variable of a type its value, if that can be done.

    What a constructor sets is left as it is.
    """
    if kind.type in _SCALARS:
        return b" %s = 0;" % name
    if kind.type in _NAMED and preprocessed:
        return (
            b" if (__has_trivial_constructor(__typeof__(%s)) && sizeof(%s) <= %d)"
            b" __builtin_memset((void *)__builtin_addressof(%s), 0, sizeof(%s));"
        ) % (name, name, MOST_BYTES, name, name)
    return b""
