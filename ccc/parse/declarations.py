"""Variables and function headers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from ccc.ir.nodes import Function, Variable
from ccc.parse.shapes import index, read
from ccc.parse.source import Source
from ccc.ptx.types import STATE_SPACES, TYPES, parse_integer

_LONG = 1000
_NUMBERS = re.compile(r"\s*\{[\s{},\w.-]*\}\s*")
_WORD = re.compile(r"(?<![\w.])[A-Za-z_]")
_NUMBER = re.compile(r"[^\s{},]+")
_HANDLES = ("texref", "surfref", "samplerref")


def declaration(source: Source, begin: int, end: int) -> Variable:
    """The variable declared in ``source`` from ``begin`` to ``end``, its semicolon not included.

    Raises:
        CccError: it is no declaration.
    """
    text = source.code[begin:end]
    head, values = _without_table(text)
    try:
        tree, leaves = read("variable", head)
    except UnexpectedInput as error:
        raise source.fail("this declaration is not understood", begin) from error
    found = variable(tree, leaves)
    return replace(found, text=" ".join(text.split()), initializer=values or found.initializer)


def _without_table(text: str) -> tuple[str, str | None]:
    """A declaration without its initializer, and that, if it is a long list of numbers.

    There may be a hundred thousand of them, in which nothing need be understood.
    """
    head, _, table = text.partition("=")
    if len(table) < _LONG or not _NUMBERS.fullmatch(table) or _WORD.search(table):
        return text, None
    return head, ", ".join(_NUMBER.findall(table))


def variable(tree: Tree[Any], leaves: list[str], default_space: str = "global") -> Variable:
    """A parsed declaration such as ``.shared .align 4 .b8 name[512]``."""
    qualifiers: list[str] = []
    alignment = None
    name, space, type_name = "", default_space, "b8"
    lanes, count, sized = 1, 1, True
    initializer = None
    for child in tree.children:
        if isinstance(child, Token):
            name = leaves[index(child)]
        elif child.data == "qualifier":
            word = leaves[index(child.children[0])].lstrip(".")
            second = child.children[1] if len(child.children) > 1 else None
            value = leaves[index(second)] if isinstance(second, Token) else None
            if word == "align" and value:
                alignment = parse_integer(value)
            elif word in (*STATE_SPACES, "reg") and "ptr" not in qualifiers:
                space = word
            elif word in TYPES or word in _HANDLES:
                type_name = word
            elif word in ("v2", "v4", "v8"):
                lanes = int(word[1:])
            qualifiers.append(word)
        elif child.data == "dimension":
            size = parse_integer(leaves[index(child.children[0])]) if child.children else None
            sized = sized and size is not None
            count *= size or 0
        else:
            initializer = _flat(child, leaves)
    size_of = TYPES[type_name].bytes if type_name in TYPES else 8
    return Variable(
        name, space, type_name, size_of * lanes * count if sized else None,
        alignment or size_of * lanes, "", initializer, tuple(qualifiers),
    )  # fmt: skip


def _flat(tree: Tree[Any] | Token, leaves: list[str]) -> str:
    """An initializer as one comma-separated list of its values."""
    if isinstance(tree, Token):
        return leaves[index(tree)]
    if tree.data == "value":
        return " ".join(_flat(child, leaves) for child in tree.children)
    return ", ".join(_flat(child, leaves) for child in tree.children)


def read_header(function: Function, source: Source) -> None:
    """Fill in what a function's header says: parameters, results and limits.

    Raises:
        CccError: the header is not understood.
    """
    try:
        tree, leaves = read("header", source.code)
    except UnexpectedInput as error:
        position = error.pos_in_stream or 0
        raise source.fail("this function header is not understood", position) from error
    named = False
    for child in tree.children:
        if isinstance(child, Token):
            named = True
        elif child.data == "parameters":
            found = [variable(part, leaves, default_space="param") for part in child.children]
            (function.parameters if named else function.results).extend(found)
        elif child.data == "limit":
            word, *values = (leaves[index(token)] for token in child.children)
            numbers = [parse_integer(value) for value in values]
            function.limits[word.lstrip(".")] = tuple(n for n in numbers if n is not None)
    for parameter in (*function.parameters, *function.results):
        if parameter.space == "reg":
            function.registers.declare(parameter.name, parameter.type)
