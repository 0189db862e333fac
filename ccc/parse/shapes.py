"""Lark, asked once for each shape of statement, in this process or in one before it.

Most statements of real PTX have a shape that some file had before, and so do those of our own
snippets. So what a process of ours that is short learns of shapes is kept between runs, and Lark is
loaded where there is a new one.
"""

from __future__ import annotations

import contextlib
import functools
import marshal
import os
import re
import sys
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccc import files, grammars
from ccc.errors import CccError
from ccc.version import VERSION

if TYPE_CHECKING:
    from lark import Lark

_NUMBER = re.compile(
    r"(?<![\w.])0(?:[fF][0-9a-fA-F]{8}\b|[dD][0-9a-fA-F]{16}\b|[xX][0-9a-fA-F]+|[bB][01]+)(?![.eE])"
    r"|\d+"
)
_AS_BITS = ("0f", "0F", "0d", "0D")
"""How numbers begin that the grammar allows at fewer places than others."""

_STARTS = ["header", "statement", "variables"]
"""The grammar's rules that texts are parsed by."""
_GRAMMAR = "ptx.lark"
_LONGEST = 2_000
_MOST = 5_000
"""Longer texts, and more shapes than these, are not kept between runs."""


class NoShape(Exception):
    """A rule of the grammar does not fit a text from ``position`` on."""

    def __init__(self, position: int):
        super().__init__(position)
        self.position = position


@dataclass(slots=True, eq=False)
class ParseNode:
    """A node of the tree of a text: the name of its rule, and what it is made of, nodes and leaves,
    each of these by its number."""

    data: str
    children: list[Any]

    def bottom_up(self) -> Iterator[ParseNode]:
        """The nodes, each behind those below it; this does not recur, however deep it is."""
        found, waiting = [], [self]
        while waiting:
            found.append(node := waiting.pop())
            waiting += [child for child in node.children if isinstance(child, ParseNode)]
        return reversed(found)


@functools.cache
def load_grammar() -> Lark:
    """The parser."""
    return grammars.load(_GRAMMAR, start=_STARTS)


@dataclass(frozen=True, slots=True)
class _Shape:
    """A parsed statement with holes: ``tree``, and its ``leaves``, each the literal parts of its
    text with a number between each two, and which is the first of these numbers."""

    tree: ParseNode
    leaves: list[tuple[tuple[str, ...], int]]

    def fill(self, numbers: list[str]) -> list[str]:
        """The leaves' texts in a statement with these numbers."""
        texts = []
        for parts, first in self.leaves:
            text = parts[0]
            for offset, part in enumerate(parts[1:]):
                text += numbers[first + offset] + part
            texts.append(text)
        return texts


class _Shapes:
    """Those that are known, by the grammar's rule and the text with a hole for each number."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], _Shape] = {}

    @functools.cached_property
    def kept(self) -> dict[tuple[str, str], Any]:
        """Those that former processes have kept, as plain values."""
        with contextlib.suppress(OSError, EOFError, ValueError, TypeError):
            found = marshal.loads(_place().read_bytes())
            if isinstance(found, dict):
                return found
        return {}

    def find(self, key: tuple[str, str], text: str) -> _Shape:
        """The shape of a text."""
        shape = self.known.get(key)
        if shape is None:
            kept = self.kept.get(key)
            shape = _Shape(_tree(kept[0]), kept[1]) if kept else _parse_shape(key[0], text)
            self.known[key] = shape
        return shape


_shapes = _Shapes()


def keep_shapes() -> None:
    """Keep what is new for later processes, where that can be written."""
    short = {key: one for key, one in _shapes.known.items() if len(key[1]) <= _LONGEST}
    if short.keys() <= _shapes.kept.keys():
        return
    mine = {key: (_plain(one.tree), one.leaves) for key, one in short.items()}
    every = {**_shapes.kept, **mine}
    with contextlib.suppress(CccError, OSError, ValueError):
        files.keep(_place(), marshal.dumps(every if len(every) <= _MOST else mine))


def _place() -> Path:
    """The file that keeps shapes; another one where the grammar, or what is made of it, differs."""
    told = [os.stat(path) for path in (grammars.place(_GRAMMAR), __file__)]
    stamps = [f"{one.st_mtime_ns:x}-{one.st_size:x}" for one in told]
    return files.folder() / "shapes" / "-".join([VERSION, f"{sys.hexversion:x}", *stamps])


def _plain(tree: ParseNode) -> tuple[str, list[Any]]:
    """A tree as values that can be kept."""
    made: dict[int, tuple[str, list[Any]]] = {}
    for node in tree.bottom_up():
        below = [c if isinstance(c, int) else made[id(c)] for c in node.children]
        made[id(node)] = node.data, below
    return made[id(tree)]


def _tree(plain: tuple[str, list[Any]]) -> ParseNode:
    """The tree of such values."""
    whole = ParseNode(*plain)
    waiting = [whole]
    while waiting:
        node = waiting.pop()
        node.children = [c if isinstance(c, int) else ParseNode(*c) for c in node.children]
        waiting += [child for child in node.children if isinstance(child, ParseNode)]
    return whole


def _parse_shape(start: str, text: str) -> _Shape:
    from lark import Token  # noqa: PLC0415 - loaded for a new shape only
    from lark.exceptions import UnexpectedInput  # noqa: PLC0415 - the same

    try:
        tree = load_grammar().parse(text, start)
    except UnexpectedInput as error:
        raise NoShape(error.pos_in_stream or 0) from error
    starts = [match.start() for match in _NUMBER.finditer(text)]
    leaves: list[tuple[tuple[str, ...], int]] = []

    def hole(token: Token) -> int:
        assert token.start_pos is not None
        first = bisect_right(starts, token.start_pos - 1)
        leaves.append((tuple(_NUMBER.split(token)), first))
        return len(leaves) - 1

    made: dict[int, ParseNode] = {}
    for node in tree.iter_subtrees():  # which does not recur, however deep it is
        below = [hole(c) if isinstance(c, Token) else made[id(c)] for c in node.children]
        made[id(node)] = ParseNode(str(node.data), below)
    return _Shape(made[id(tree)], leaves)


def _hole(number: re.Match[str]) -> str:
    """What stands for a number in a shape; no statement holds the first of these."""
    return "#" if number[0].startswith(_AS_BITS) else "0"


def read(start: str, text: str) -> tuple[ParseNode, list[str]]:
    """The tree of a text, and its leaves' texts.

    Raises:
        NoShape: the grammar's rule ``start`` does not fit.
    """
    hole = _hole if any(sign in text for sign in _AS_BITS) else "0"  # which is faster
    shape = _shapes.find((start, _NUMBER.sub(hole, text)), text)
    return shape.tree, shape.fill(_NUMBER.findall(text))
