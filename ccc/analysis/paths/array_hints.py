"""What to do about an array of the thread's own that a path shares with other code."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ccc.analysis.callees import callee
from ccc.analysis.facts import Facts
from ccc.analysis.local_memory import Word
from ccc.analysis.paths.model import CheckedPath, FoundPath
from ccc.analysis.print_arguments import PRINT, bytes_printed
from ccc.ir.markers import ARMS
from ccc.ir.nodes import Instruction

MOST_WORDS = 32
"""Most words of local memory that a task takes along: 128 bytes."""
IN_PATH = "declare the array in the path"


def hint_at_turns(
    path: CheckedPath, along: int, words: Collection[Word], others: Collection[FoundPath]
) -> str:
    """What to do about an array that may go with a task, but for its size or for other paths."""
    around = path.parent
    if around is not None and around.marker.kind in ARMS:
        return (
            f"; remove this annotation, so that the branch on line {around.marker.span.line} takes "
            "it all as one task"
        )
    if len(words) > MOST_WORDS:
        return (
            f"; {_too_many(words)}: make the array smaller, put all that uses it, and not the loop "
            'alone, into a branch marked "ccc if", or walk a tree without a stack, by links to '
            "parents or to what comes next"
        )
    if along and not words:
        return (
            "; whole words go with a task, of arrays that are aligned to them: let the array take "
            "a multiple of 4 bytes, or be one of ints"
        )
    return f"; {_alone(path, others)}" if words and others else ""


def hint_at_sharing(
    path: CheckedPath, words: Collection[Word], others: Collection[FoundPath]
) -> str:
    """The same where the path gets the array from other code."""
    if not words or not (others or len(words) > MOST_WORDS):
        return ""
    more = _too_many(words) if len(words) > MOST_WORDS else _alone(path, others)
    return f"; {IN_PATH}, and fill it there; {more}"


def hint_at_rest(words: Collection[Word]) -> str:
    """The same where the rest of the iteration gets it, too."""
    if len(words) <= MOST_WORDS:
        return ""
    more = "make the array smaller, or put all that uses it, from where it is filled on, into the"
    return f"; {_too_many(words)}: {more} branch"


def _alone(path: CheckedPath, others: Iterable[FoundPath]) -> str:
    """What to do about other paths of the loop, which may be copies of the same annotation."""
    apart = {one.marker.span.line for one in others if one.marker != path.marker}
    lines = " and ".join(map(str, sorted(apart)))
    remove = f"remove {'those on lines' if ' ' in lines else 'that on line'} {lines}"
    unroll = 'nvcc has made copies of this one: put "#pragma unroll 1" before the loop around it'
    what = remove if lines else unroll
    return f"the array may go with the tasks of a loop's only annotation: {what}"


def _too_many(words: Collection[Word]) -> str:
    return (
        f"at most {4 * MOST_WORDS} bytes of arrays ({MOST_WORDS} ints, say) go with a task, and "
        f"here it takes {4 * len(words)}"
    )


def print_hint(culprit: Instruction, facts: Facts) -> str:
    """What to do where something is printed: the array is the compiler's own if the format is
    computed, and else one that is printed itself."""
    if callee(culprit) != PRINT:
        return ""
    if bytes_printed(culprit, facts) is not None:
        return "; declare in the path, and write there, what it prints"
    return "; call printf in a function of its own, marked __noinline__, or with a literal format"
