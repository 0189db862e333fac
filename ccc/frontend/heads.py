"""Whether the head of a function is what is compiled with its body, where no preprocessor has run.

What ``#if`` leaves out is still there then, and a macro may give parameters in another order than
they are written in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ccc.frontend.no_code import HASH, in_directives
from ccc.frontend.syntax import function_name, parameters

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_QUALIFIERS = frozenset(("__restrict__", "__restrict", "__global__", "__device__", "__host__"))
_WORDS = re.compile(r"[\w\s]*", re.ASCII)
_BEFORE = re.compile(r'[\w\s*&"(),]*', re.ASCII)
"""What a macro stands for that hides no parameter, nor what is restricted of it, and before the
name no further function."""
_NAME = re.compile(r"[\w$]+", re.ASCII)

_CONDITIONAL = re.compile(HASH + rb"(if|el|endif)", re.MULTILINE)


def conditionals(code: bytes) -> list[bytes]:
    r"""How the directives begin by which a preprocessor chooses.

    >>> conditionals(b"/* */ # if A\n/*\n*/#e\\\nlse\n// #endif\n")
    [b'if', b'el']
    """
    return _CONDITIONAL.findall(in_directives(code))


def is_head_certain(function: Node, at: int, code: bytes, macros: Mapping[str, str]) -> bool:
    """Whether no ``#if`` that chooses among heads is in that of a function, or ends behind it, and
    no macro hides what the parameters are.

    One that stands for more than words may: of ``Pair<int`` and ``int>::type *p`` a comma is read
    as one between parameters, and a third with two parameters makes up for that, so that not even
    their number tells.

    Args:
        function: the function, with its body.
        at: a place up to which the text has to belong to that head, too.
        code: the text.
        macros: the macros that it may use, and what they stand for.
    """
    body = function.child_by_field_name("body")
    if body is None:
        return True
    listed = next((one.parent for one in parameters(function)), None)
    is_hidden = function_name(function).decode(errors="replace") in macros
    if is_hidden or not _QUALIFIERS.isdisjoint(macros):
        return False
    if listed is not None:
        before = code[function.start_byte : listed.start_byte]
        inside = code[listed.start_byte : listed.end_byte]
        if (
            not {*b";{}"}.isdisjoint(before)
            or listed.has_error
            or _hides(before, _BEFORE, macros)
            or _hides(inside, _WORDS, macros)
        ):
            return False
    if conditionals(code[function.start_byte : body.start_byte]):
        return False
    depth = 0
    for word in conditionals(code[body.start_byte : max(at, body.end_byte)]):
        depth += {b"if": 1, b"endif": -1}.get(word, 0)
        if depth < 0 or (word == b"el" and not depth):
            return False
    return True


def _hides(code: bytes, plain: re.Pattern[str], macros: Mapping[str, str]) -> bool:
    """Whether a macro in a piece of code stands for other macros, or for more than is plain; or
    names may be written otherwise there than where they are defined."""
    if not code.isascii() or b"\\" in code:
        return True
    used = set(_NAME.findall(code.decode())) & macros.keys()
    return any(
        not plain.fullmatch(macros[name])
        or "\n(" in macros[name]  # what it is given may be anything
        or macros[name].count("(") != macros[name].count(")")
        or not macros.keys().isdisjoint(_NAME.findall(macros[name]))
        for name in used
    )
