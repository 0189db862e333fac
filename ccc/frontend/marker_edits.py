"""Edits of a text that put markers into it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ccc.frontend.syntax import body_of, cases_of, head_end

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node


@dataclass(frozen=True, slots=True)
class Edit:
    """``text`` in place of what stands from ``start`` to ``end``."""

    start: int
    end: int
    text: bytes


def wrap(statement: Node, name: str, marker: bytes) -> list[Edit]:
    """Make ``marker`` the first statement of a body, with braces where it has none."""
    body = body_of(statement, name)
    assert body is not None
    if body.type == "compound_statement":
        at = body.start_byte + 1
        return [Edit(at, at, b" " + marker)]
    # Right behind the head: a pragma on its own line may stand before the body.
    start, end = head_end(statement, body), body.end_byte
    return [Edit(start, start, b" { " + marker + b" "), Edit(end, end, b" }")]


def cases(statement: Node, marker: Callable[[int], bytes]) -> list[Edit]:
    """Put a marker first in every case that has statements of its own."""
    return [
        Edit(colon.end_byte, colon.end_byte, b" " + marker(number))
        for number, colon in cases_of(statement)
    ]


def apply(code: bytes, edits: list[Edit]) -> bytes:
    """The text with all edits made."""
    parts, at = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        parts += [code[at : edit.start], edit.text]
        at = edit.end
    return b"".join([*parts, code[at:]])
