"""Lark, asked once for each shape of statement."""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from lark import Lark, Token, Tree

from ccc import grammars

_NUMBER = re.compile(r"0[fF][0-9a-fA-F]{8}\b|0[dD][0-9a-fA-F]{16}\b|0[xX][0-9a-fA-F]+|\d+")


_STARTS = ["header", "statement", "variables"]
"""The grammar's rules that texts are parsed by."""


@functools.cache
def load_grammar() -> Lark:
    """The parser."""
    return grammars.load("ptx.lark", start=_STARTS)


@dataclass(frozen=True, slots=True)
class _Shape:
    """A parsed statement with holes: each token of ``tree`` is an index into ``leaves``.

    A leaf is its literal text parts with a number between each two.
    """

    tree: Tree[Any]
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


_shapes: dict[tuple[str, str], _Shape] = {}


def _parse_shape(start: str, text: str) -> _Shape:
    tree = load_grammar().parse(text, start)
    starts = [match.start() for match in _NUMBER.finditer(text)]
    leaves: list[tuple[tuple[str, ...], int]] = []

    def hole(token: Token) -> Token:
        assert token.start_pos is not None
        first = bisect_right(starts, token.start_pos - 1)
        leaves.append((tuple(_NUMBER.split(token)), first))
        return Token(token.type, str(len(leaves) - 1))

    for node in tree.iter_subtrees():  # which does not recur, however deep it is
        node.children = [hole(c) if isinstance(c, Token) else c for c in node.children]
    return _Shape(tree, leaves)


def index(token: Any) -> int:
    """Which leaf a token of the tree stands for."""
    return int(token)


def read(start: str, text: str) -> tuple[Tree[Any], list[str]]:
    """The tree of a text, and its leaves' texts; a token in the tree is an index into them.

    Raises:
        lark.exceptions.UnexpectedInput: the grammar's rule ``start`` does not fit.
    """
    key = (start, _NUMBER.sub("0", text))
    shape = _shapes.get(key)
    if shape is None:
        shape = _shapes[key] = _parse_shape(start, text)
    return shape.tree, shape.fill(_NUMBER.findall(text))
