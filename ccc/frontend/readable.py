"""Assignments that stand beside a comma, in parentheses, which the parser's grammar lacks.

Of ``(s = s * 3u, (float)(s >> 8)) < limit``, as a macro for random numbers gives it, the parser
makes something else: parentheses are paired otherwise than they stand, and a statement ends where
it does not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ccc.frontend.no_code import NO_CODE
from ccc.frontend.syntax import parse_cuda

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_TOKEN = re.compile(rb"[(){}\[\],;]|" + NO_CODE, re.DOTALL | re.VERBOSE)
_CLOSES = {b"(": b")", b"{": b"}", b"[": b"]"}
_COMMA = b","[0]
_LAST = b"%"
"""In place of a comma; no reduction is by it, so that nothing is taken for one that is none."""
_MOST = 8
"""So often a text is read again; each time, what is within another comes first."""


def parse_readable(code: bytes, ranges: list[tuple[int, int]]) -> tuple[Node, bytes]:
    """Parse ranges of the code, with other signs for commas that the parser cannot read.

    Returns:
        The root of the tree, and the text of it, in which every other byte is the code's.
    """
    root = parse_cuda(code, ranges).root_node
    for _ in range(_MOST):
        unread = [one for of in ranges for one in _unread(code, root, of)] if root.has_error else []
        if not unread:
            break
        text = bytearray(code)
        for commas in unread:
            for at, sign in zip(commas, _signs(len(commas)), strict=True):
                text[at] = sign
        code = bytes(text)
        root = parse_cuda(code, ranges).root_node
    return root, code


def _signs(number: int) -> bytes:
    """Signs that may stand behind an assignment, and before one: ``a = 1 ? b = 2 : c = 3 % d``."""
    return b"?:" * (number // 2) + _LAST * (number % 2)


def _unread(code: bytes, root: Node, of: tuple[int, int]) -> list[list[int]]:
    """The commas of parentheses that cannot be read, and hold no others of that kind; not of the
    heads of loops, in which a semicolon stands."""
    found: list[tuple[int, list[int]]] = []
    around: list[tuple[bytes, int, list[int]]] = []
    for token in _TOKEN.finditer(code, *of):
        if token[0] in _CLOSES:
            around.append((_CLOSES[token[0]], token.start(), []))
        elif token[0] in (b",", b";") and around:
            around[-1][2].append(token.start())
        elif around and token[0] == around[-1][0]:
            _, begin, commas = around.pop()
            is_last = not (found and found[-1][0] > begin)
            is_value = token[0] == b")" and all(code[at] == _COMMA for at in commas)
            if commas and is_value and is_last and not _is_read(root, begin, token.start()):
                found.append((begin, commas))
    return [commas for _, commas in found]


def _is_read(root: Node, begin: int, end: int) -> bool:
    """Whether two parentheses are a pair for the parser, and all between them could be read."""
    first, last = (root.descendant_for_byte_range(at, at + 1) for at in (begin, end))
    if first is None or last is None:
        return True
    if first.type.startswith("preproc"):
        return True  # of directives nothing is read
    return first.parent is not None and first.parent == last.parent and not first.parent.has_error
