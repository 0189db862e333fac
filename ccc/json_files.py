"""The JSON files that ccc writes, told apart for whoever gives one in place of another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ccc.errors import CccError, Span

PROFILE = "a profile"
DECISIONS = "a file of decisions"

_KINDS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "the results of ccc bench": lambda content: "entries" in content,
    "what ccc compare wrote": lambda content: "differences" in content,
    PROFILE: lambda content: "modules" in content,
    DECISIONS: lambda content: "decisions" in content,
    "the times of kernels, of --ccc-time": lambda content: "card" in content,
    "a report, of --ccc-report": lambda content: "kernels" in content and "version" in content,
}
"""By what each is known, also one of another version; the first that fits."""

_TAKEN_BY = {PROFILE: "--ccc-use", DECISIONS: "--ccc-decisions"}
"""The option that wants such a file."""


def refuse_other(content: object, wanted: str, hint: str, file: str) -> None:
    """Complain of a file of another kind than the one that is wanted.

    Args:
        content: what is in it.
        wanted: ``PROFILE`` or ``DECISIONS``.
        hint: where such a file comes from.
        file: its name.

    Raises:
        CccError: it is of another kind; the message says which, and what takes it.
    """
    if not isinstance(content, dict):
        return
    kind = next((name for name, fits in _KINDS.items() if fits(content)), wanted)
    if kind == wanted:
        return
    this = "these are" if kind.startswith("the ") else "this is"
    taker = f" ({_TAKEN_BY[kind]} takes it)" if kind in _TAKEN_BY else ""
    missing = wanted.removeprefix("a ")
    raise CccError(f"{this} {kind}{taker}, no {missing}; {hint}", Span(file))
