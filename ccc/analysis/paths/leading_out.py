"""What to do about a path that leads out of the annotated loop."""

from __future__ import annotations

from ccc.analysis.paths.model import FoundPath

ALWAYS_LEAVES = (
    "if all threads may stop, set a flag in memory that the head of the loop reads: break, goto "
    "and return come too late there; else remove the annotation"
)
"""Of an arm whose every way leads out: to decide that is what the branch does. A case leaves others
behind."""
LEAVES = f"decide before the branch whether to go on, or {ALWAYS_LEAVES}"
ENDS_TURNS = "let it set a variable instead, for which that loop's condition asks, or "
"""How what else helps begins where a branch leads out of turns alone."""
_SKIPS = (
    "and skip by that the rest of the iteration, where nothing may leave the annotated loop, "
    "either: the thread's next iterations are run then; if they must not be, remove the annotation"
)
LEAVES_TURNS = f"leave its loop by break, keep in a variable that it was left so, {_SKIPS}"
"""Of turns that lead out, all of which are the path."""


def in_branch(kind: str) -> str:
    """The same of a branch of such turns, by how their loop is marked."""
    asked = "let the branch set a variable instead, for which its loop's condition asks, "
    marked = 'mark that loop "ccc while", ' if kind == "variable" else ""
    return f"{asked}{marked}{_SKIPS}"


def how_to_stay(path: FoundPath, turns: FoundPath | None, *, otherwise: str = LEAVES) -> str:
    """What to do about a path that leads out, and perhaps lies in turns that are a path."""
    if path.repeats:
        return LEAVES_TURNS
    return in_branch(turns.marker.kind) if turns else otherwise
