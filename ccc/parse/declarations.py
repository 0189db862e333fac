"""Variables and function headers."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from dataclasses import replace

from ccc.ir.nodes import Function, Variable
from ccc.parse.constants import NoConstant, fold_integer, fold_literal
from ccc.parse.shapes import NoShape, ParseNode, read
from ccc.parse.source import NotRepresentable, Source
from ccc.parse.vectors import as_variable
from ccc.ptx.types import STATE_SPACES, TYPES, VECTORS, parse_integer

_LONG = 1000
_NUMBERS = re.compile(r"\s*\{[\s{},\w.+-]*\}\s*")
_WORD = re.compile(r"(?<![\w.])[A-Za-z_]")
_SUM = re.compile(r"(?:[^\s{},eE+-]|(?<![\d.])[eE])\s*[+-]|[+-]\s")
_NUMBER = re.compile(r"[^\s{},]+")
_HANDLES = ("texref", "surfref", "samplerref")
_PREFIX = re.compile(r"\s*(?:\.\w+(?:::\w+)*\s*(?:\d\w*\s*|\((?:[^()]|\([^()]*\))*\)\s*)?)*")
_IN_LIST = re.compile(r'[()\[\]{},]|"[^"]*"')
_MOST_IN_RANGE = 1 << 16
"""More variables are not declared at once, such as ``x<100>``."""


def declarations(source: Source, begin: int, end: int) -> Sequence[Variable]:
    """The variables declared in ``source`` from ``begin`` to ``end``, without the semicolon.

    Raises:
        CccError: it is no declaration.
    """
    text = source.code[begin:end]
    try:
        return _short(text) if len(text) < _LONG else _declared(text, *_without_table(text))
    except NoShape as error:
        raise source.fail("this declaration is not understood", begin) from error
    except NoConstant as error:
        raise source.fail(f"this declaration is not understood: {error}", begin) from error


@functools.lru_cache(maxsize=256)
def _short(text: str) -> Sequence[Variable]:
    """The same few come again and again, around each call."""
    return _declared(text, text, None)


def _declared(text: str, head: str, values: str | None) -> list[Variable]:
    tree, leaves = read("variables", head)
    shared, *items = tree.children
    found = [variable(ParseNode("variable", [shared, item]), leaves) for item in items]
    if values is not None:
        found[-1] = replace(found[-1], initializer=values)
    texts = [" ".join(text.split())] if len(items) == 1 else _split(text)
    every: list[Variable] = []
    for one, item, own in zip(found, items, texts, strict=True):
        count = _range(item, leaves)
        if count is None:
            every.append(replace(one, text=own))
        else:
            series = replace(one, series=(one.name, count))
            every += [_numbered(series, number, own) for number in range(count)]
    return every


def _range(item: ParseNode, leaves: list[str]) -> int | None:
    """How many variables ``x<4>`` declares; None where one is declared by its own name."""
    found = next((c for c in item.children if isinstance(c, ParseNode) and c.data == "range"), None)
    if found is None:
        return None
    count = parse_integer(leaves[found.children[0]])
    if count is None or count > _MOST_IN_RANGE:
        raise NoConstant(f"at most {_MOST_IN_RANGE} variables are declared at once")
    return count


def _numbered(one: Variable, number: int, text: str) -> Variable:
    name = f"{one.name}{number}"
    range_ = re.compile(rf"(?<![\w$%]){re.escape(one.name)}\s*<[^<>]*>")
    return replace(one, name=name, text=range_.sub(name, text, count=1))


def _split(text: str) -> list[str]:
    """A declaration of several variables as one of each."""
    prefix = _PREFIX.match(text)
    assert prefix is not None
    cuts, depth = [prefix.end()], 0
    for match in _IN_LIST.finditer(text, prefix.end()):
        if match[0] in "([{":
            depth += 1
        elif match[0] in ")]}":
            depth -= 1
        elif match[0] == "," and not depth:
            cuts.append(match.end())
    ends = [*(cut - 1 for cut in cuts[1:]), len(text)]
    parts = (text[begin:end] for begin, end in zip(cuts, ends, strict=True))
    return [" ".join(f"{prefix[0]} {part}".split()) for part in parts]


def _without_table(text: str) -> tuple[str, str | None]:
    """A declaration without its initializer, and that, if it is a long list of numbers.

    There may be a hundred thousand of them, in which nothing need be understood.
    """
    head, _, table = text.partition("=")
    if len(table) < _LONG or not _NUMBERS.fullmatch(table) or _WORD.search(table):
        return text, None
    has_signs = "+" in table or "-" in table
    if (has_signs and _SUM.search(table)) or _has_short_rows(table):
        return text, None
    return head, ", ".join(_NUMBER.findall(table))


def _has_short_rows(table: str) -> bool:
    """Whether a table is nested and its rows differ in length: zeros are left out then."""
    rows = [row for row in re.split(r"[{}]", table) if row.strip(" \t\r\n,")]
    return len({row.count(",") for row in rows}) > 1


def variable(tree: ParseNode, leaves: list[str], default_space: str = "global") -> Variable:
    """A parsed declaration such as ``.shared .align 4 .b8 name[512]``."""
    shared, item = tree.children
    words = tuple(
        [tuple([leaves[c] for c in q.children if isinstance(c, int)]) for q in shared.children]
    )
    qualifiers, space, type_name, lanes, alignment = _qualified(words, default_space)
    sizes, initializer = _shape(item, leaves, lanes)
    known = [size for size in sizes if size is not None]
    size_of = TYPES[type_name].bytes if type_name in TYPES else 8
    total = size_of * lanes * math.prod(known) if len(known) == len(sizes) else None
    return Variable(
        leaves[item.children[0]], space, type_name, total,
        alignment or size_of * lanes, "", initializer, qualifiers,
    )  # fmt: skip


@functools.lru_cache(maxsize=256)
def _qualified(
    words: tuple[tuple[str, ...], ...], default_space: str
) -> tuple[tuple[str, ...], str, str, int, int | None]:
    """What the words before a name say, each with its number: all of them, space, type, number of
    lanes and alignment."""
    qualifiers: list[str] = []
    alignment = None
    space, type_name, lanes = default_space, "b8", 1
    for first, *rest in words:
        word = first.lstrip(".")
        if word == "align" and rest:
            alignment = parse_integer(rest[0])
        elif word in (*STATE_SPACES, "reg") and "ptr" not in qualifiers:
            space = word
        elif word in TYPES or word in _HANDLES:
            type_name = word
        elif word in VECTORS:
            lanes = VECTORS[word]
        qualifiers.append(word)
    if not any(word in TYPES or word in _HANDLES for word in qualifiers):
        raise NoConstant("it has no type")
    return tuple(qualifiers), space, type_name, lanes, alignment


def _shape(item: ParseNode, leaves: list[str], lanes: int) -> tuple[list[int | None], str | None]:
    """The dimensions of a variable, None for one that is not told, and its initial values."""
    sizes: list[int | None] = []
    initializer = None
    for child in item.children[1:]:
        if child.data == "dimension":
            sizes.append(fold_integer(child.children[0], leaves) if child.children else None)
        elif child.data != "range":
            inner = [size or 0 for size in sizes[1:]] + ([lanes] if lanes > 1 else [])
            initializer = ", ".join(_flat(child, leaves, inner))
    if any(size is not None and size < 0 for size in sizes):
        raise NoConstant("an array has no negative size")
    return sizes, initializer


def _flat(tree: ParseNode, leaves: list[str], sizes: list[int]) -> list[str]:
    """An initializer as a list of values, with zeros where it leaves inner ones out.

    Args:
        tree: the initializer.
        leaves: the texts of its leaves.
        sizes: the dimensions of an element.
    """
    values: list[str] = []
    pending: list[tuple[ParseNode | int, int]] = [(tree, -1)]
    while pending:
        node, depth = pending.pop()
        if isinstance(node, int):  # a row ends, which has to be that long by now
            if node > _MOST_VALUES:
                raise NoConstant("too many zeros are left out")
            values += ["0"] * (node - len(values))
        elif node.data == "value":
            values.append(_value(node, leaves))
        else:
            if 0 <= depth < len(sizes):
                pending.append((len(values) + math.prod(sizes[depth:]), depth))
            pending += [(child, depth + 1) for child in reversed(node.children)]
    return values


_MOST_VALUES = 1 << 20
"""Zeros are filled in up to here only."""


def _value(tree: ParseNode, leaves: list[str]) -> str:
    """One initial value, such as ``generic name + 8``; constants are worked out."""
    words: list[str] = []
    for child in tree.children:
        if isinstance(child, int):
            words.append(leaves[child])
        elif words:
            number = fold_integer(child, leaves)
            sign = words.pop()
            words += ["+" if (number >= 0) == (sign == "+") else "-", str(abs(number))]
        else:
            words.append(fold_literal(child, leaves))
    return " ".join(words)


def read_header(function: Function, source: Source) -> None:
    """Fill in what a function's header says: parameters, results and limits.

    Raises:
        CccError: the header is not understood.
    """
    try:
        tree, leaves = read("header", source.code)
    except NoShape as error:
        position = error.position
        raise source.fail("this function header is not understood", position) from error
    named = False
    for child in tree.children:
        if isinstance(child, int):
            named = True
        elif child.data == "parameters":
            try:
                found = [variable(part, leaves, default_space="param") for part in child.children]
            except NoConstant as error:
                message = f"this function header is not understood: {error}"
                raise source.fail(message, 0) from error
            (function.parameters if named else function.results).extend(found)
        elif child.data == "limit":
            word, *values = (leaves[token] for token in child.children)
            numbers = [parse_integer(value) for value in values]
            function.limits[word.lstrip(".")] = tuple(n for n in numbers if n is not None)
    try:
        for passed in (function.parameters, function.results):
            passed[:] = [_passed(one, function) for one in passed]
    except NotRepresentable as error:
        raise source.fail(error.message, 0, NotRepresentable) from error


def _passed(one: Variable, function: Function) -> Variable:
    """A parameter or result as the IR has it, declared if it is a register."""
    if one.space != "reg":
        return one
    if not VECTORS.keys().isdisjoint(one.qualifiers):
        return as_variable(one)
    function.registers.declare(one.name, one.type)
    return one
