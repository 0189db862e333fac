"""The clauses that a loop lacks for what it updates as reductions do, and how they are told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ccc.analysis.paths.carried_values import REDUCTION_HINT
from ccc.compiler.respelled import FLUSHED, MISUSED
from ccc.frontend.pragmas import REDUCTIONS

if TYPE_CHECKING:
    from ccc.errors import Span
    from ccc.frontend.variables import Suspects

MISUSED_AT = "; in the way is"
KEEPS = {"min": "if the loop only keeps the least", "max": "if the loop only keeps the most"}
ALL_OWN = (
    "if the loop only adds up what it hands on, or keeps the least or the most, say so on the "
    "loop: reduction(op: variables); else declare in the loop what no iteration needs of another, "
    "or remove the annotation"
)
SEVERAL = (
    "if the loop only adds them up, or keeps the least or the most, say so on the loop: "
    "reduction(op: variables); else declare in the loop those that no iteration needs of another, "
    "or remove the annotation"
)


def lacking(
    suspects: Suspects | None, at: Span, text: str, names: Sequence[str]
) -> list[tuple[str, str]]:
    """What is updated as a reduction is, and not named as one, if that may be the reason: that
    of which the order of updates matters, or else some variables if all of them are."""
    match = MISUSED.search(text)
    declared = match[1].split(" or ") if match else []
    if suspects is None or {*names} <= {*declared} or MISUSED_AT in text:
        return []
    every = [(suspects.operation(at, name), name) for name in names]
    known = [(by, name) for by, name in every if by in REDUCTIONS]
    known = [one for one in known if not suspects.no_reduction(at, one[1])]
    if unnamed := suspects.unnamed(at):
        return unnamed
    behind = [one for one in suspects.unnamed(at, around=True) if one[1] in names]
    return known if len(known) == len(names) else behind


def served_of(suspects: Suspects, at: Span, names: Sequence[str]) -> tuple[str, list[str]]:
    """The clauses for those of some variables that a reduction would serve, and the others."""
    every = [(suspects.operation(at, name) or "", name) for name in names]
    served = [
        (by, name) for by, name in every if by in REDUCTIONS and not suspects.no_reduction(at, name)
    ]
    return clauses_of(served), [name for by, name in every if (by, name) not in served]


def lacking_behind(
    suspects: Suspects | None, at: Span, text: str, names: Sequence[str]
) -> list[tuple[str, str]]:
    """What the loop updates as a reduction does and does not name, where nothing else can be the
    reason: it does with those that it names, and with what may be meant, no more."""
    match = MISUSED.search(text)
    if suspects is None or match is None or MISUSED_AT in text or FLUSHED in text:
        return []
    if suspects.misused(at) or not {*names} <= {*match[1].split(" or ")}:
        return []
    return suspects.unnamed(at, around=True)


def kept_otherwise(suspects: Suspects, at: Span, names: Iterable[str]) -> str | None:
    """The clause for variables of reductions in which a loop does nothing but to keep the least or
    the most, where another operation is declared."""
    kept = [(by, name) for name in names for by in KEEPS if suspects.misuse(at, name, by) is None]
    told = [f'"{name}" by {by}' for by, name in kept]
    return f"the loop updates {', '.join(told)}: write {clauses_of(kept)}" if kept else None


def with_extreme(text: str, operation: str, name: str) -> str:
    """A reason with the clause for what keeps the least or the most."""
    hint = f"{KEEPS[operation]}, say so on the loop: reduction({operation}: {name})"
    return text.replace(REDUCTION_HINT, hint)


def with_clauses(text: str, variables: Sequence[tuple[str, str]]) -> str:
    """A reason with all clauses that it wants, in place of what it says of one."""
    clauses = clauses_of(variables)
    what = "it" if len(variables) == 1 else "them"
    hint = f"if the loop does nothing else with {what}, say so on the loop: {clauses}"
    return MISUSED.sub(hint, text.replace(REDUCTION_HINT, hint))


def clauses_of(variables: Iterable[tuple[str, str]]) -> str:
    """The clauses for operations and variables; empty if there are none."""
    by_operation: dict[str, list[str]] = {}
    for operation, name in variables:
        by_operation.setdefault(operation, []).append(name)
    return " ".join(f"reduction({op}: {', '.join(by)})" for op, by in by_operation.items())
