"""Clauses of reductions, and how they are told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ccc.compiler.reasons.inquiry import ON_LOOP
from ccc.frontend.pragmas import REDUCTIONS
from ccc.frontend.reductions import clauses_of

if TYPE_CHECKING:
    from ccc.compiler.reasons.inquiry import Inquiry

KEEPS = {"min": "if the loop only keeps the least", "max": "if the loop only keeps the most"}
"""Where a loop may keep the least or the most."""


def keeping(operation: str, name: str) -> str:
    """The clause for what keeps the least or the most."""
    return f"{KEEPS[operation]}, {ON_LOOP}: reduction({operation}: {name})"


def naming_all(variables: Sequence[tuple[str, str]]) -> str:
    """All clauses that are wanted, for operations and variables."""
    what = "it" if len(variables) == 1 else "them"
    return f"if the loop does nothing else with {what}, {ON_LOOP}: {clauses_of(variables)}"


def served(asked: Inquiry, names: Iterable[str]) -> list[tuple[str, str]]:
    """Those of some variables that a reduction would serve, and by which operations."""
    suspects, at = asked.suspects, asked.at
    every = ((suspects.operation(at, name, asked.places) or "", name) for name in names)
    return [
        (by, name) for by, name in every if by in REDUCTIONS and not suspects.no_reduction(at, name)
    ]


def by_other_operations(
    asked: Inquiry, clauses: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """What else is updated as reductions do, by operations that no clause names: of integers those
    of one operation need but one."""
    suspects, at = asked.suspects, asked.at
    known = {*suspects.reduced_by(at), *(by for by, _ in clauses)}
    names = [one for one in suspects.handed_on(at) if all(one != name for _, name in clauses)]
    return [one for one in served(asked, names) if one[0] not in known]
