"""The cases of a switch, and their labels."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ccc.frontend.syntax import body_of

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_LEAVING = ("break_statement", "continue_statement", "return_statement", "goto_statement")
_LONGEST_LABEL = 20
"""What is longer is told by its line."""


def cases_of(statement: Node) -> list[tuple[int, Node]]:
    """The cases of a switch that have statements of their own: each number, and its colon."""
    body = body_of(statement, "body")
    found = []
    for number, case in enumerate(body.named_children if body is not None else ()):
        colon = next((c for c in case.children if c.type == ":"), None)
        if case.type == "case_statement" and colon is not None and case.children[-1] != colon:
            found.append((number, colon))
    return found


def label_of(case: Node, colon: Node, text: bytes) -> str | None:
    """The label of a case, without its colon; None if it is long."""
    label = " ".join(text[case.start_byte : colon.start_byte].decode(errors="replace").split())
    return label if 0 < len(label) <= _LONGEST_LABEL else None


def crowded_labels(statement: Node, text: bytes) -> dict[int, str]:
    """The labels of the cases of a switch that share a line, by their numbers: lines do not tell
    these apart."""
    cases = cases_of(statement)
    lines = Counter(colon.start_point[0] for _, colon in cases)
    found = {
        number: label_of(colon.parent, colon, text)
        for number, colon in cases
        if colon.parent is not None and lines[colon.start_point[0]] > 1
    }
    return {number: label for number, label in found.items() if label}


def is_left_at_its_end(case: Node) -> bool:
    """Whether nobody goes on behind the last statement of a case, or of a block, as far as that
    statement alone tells."""
    statements = [one for one in case.named_children if one.type != "comment"]
    if not statements:
        return False
    last = statements[-1]
    return last.type in _LEAVING or (last.type == "compound_statement" and is_left_at_its_end(last))
