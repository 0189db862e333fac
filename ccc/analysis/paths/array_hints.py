"""What to do about an array of the thread's own that a path shares with other code."""

from __future__ import annotations

from collections.abc import Collection

from ccc.analysis.callees import callee
from ccc.analysis.cfg import EXIT
from ccc.analysis.facts import Facts
from ccc.analysis.local_memory import Word
from ccc.analysis.paths.locate import ROLLED, those_on
from ccc.analysis.paths.model import CheckedPath, FoundPath
from ccc.analysis.print_arguments import PRINT, bytes_printed
from ccc.ir.markers import ARMS
from ccc.ir.nodes import Instruction

MOST_WORDS = 32
"""Most words of local memory that a task takes along: 128 bytes."""
IN_PATH = "declare the array in the path"
ALL_INTO_BRANCH = "put all that uses it, from where it is filled on, into the branch"
_OTHER_ARM = (
    'this "if" has two arms: keep its condition in a variable, and put what the other one does '
    "behind it, without annotation, into a branch that this variable decides the other way round"
)
_ARMS = {
    "then": _OTHER_ARM,
    "else": _OTHER_ARM,
    "case": (  # of which markers do not tell copies apart
        'this "switch" has several cases: keep in a variable whether it is one of them, put what '
        'that does into a branch behind it, and annotate that, "ccc if", in place of the switch'
    ),
}
_COPIES = (
    f"nvcc has made copies of this one: {ROLLED}, or have it in a function that is called at one "
    "place"
)
_SMALLER = (
    "make the array smaller, put all that uses it, and not the loop alone, into a branch marked "
    '"ccc if", or walk a tree without a stack, by links to parents or to what comes next'
)
MOST_NAMED = 16
"""Most words of an array of which each element can well be written by its number."""
_BY_NUMBERS = (
    "write its elements with numbers in the place of the index, as in i == 0 ? a[0] : a[1], so "
    "that they are kept in registers"
)
ANOTHER_LOOP = "annotate another loop, whose iterations hand no array on"


def hint_at_turns(
    path: CheckedPath, along: int, words: Collection[Word], others: Collection[FoundPath]
) -> str:
    """What to do about an array that may go with a task, but for its size or for other paths."""
    if whole := _left_to_branch(path):
        return whole
    count = along.bit_count()
    alone = _alone(path, others) if others else ""
    besides = f"; besides, {alone}" if alone else ""
    if count > 4 * MOST_WORDS:
        return f"; {_too_many(-(-count // 4))}: {_SMALLER}{besides}"
    if along and not words:
        size = "let the array take a multiple of 4 bytes, and declare it"
        size = size if count % 4 else "declare the array"
        ints = ", or let it be one of ints" if count <= MOST_WORDS else ""
        return (
            "; whole words go with a task, of arrays that are aligned to them: "
            f"{size} alignas(4){ints}{besides}"
        )
    return f"; {alone}" if words and alone else ""


def _left_to_branch(path: CheckedPath) -> str:
    """What serves where a branch that is a path holds all that uses an array."""
    around = path.parent
    if around is None or around.marker.kind not in ARMS:
        return ""
    return (
        f"; remove this annotation, so that the branch on line {around.marker.span.line} takes it "
        "all as one task"
    )


def hint_in_branch(path: CheckedPath, shared: int, facts: Facts) -> str:
    """The same of some bytes that a path shares with other code, if that lies in the branch."""
    around = path.parent.blocks if path.parent else frozenset[str]()
    outside = {label for label in facts.graph if label not in around and label != EXIT}
    used = facts.local.reads(outside) | facts.local.writes(outside)
    return "" if shared & used else _left_to_branch(path)


def hint_at_sharing(
    path: CheckedPath,
    shared: int,
    words: Collection[Word],
    others: Collection[FoundPath],
    facts: Facts,
) -> str:
    """The same where the path shares some bytes with other code."""
    outside = path.loop.loop.blocks - path.region
    is_read = shared & facts.local.reads(outside)
    is_filled = shared & facts.local.reads(path.blocks) & facts.local.writes(outside)
    own = f"{ALL_INTO_BRANCH}, or remove this annotation" if is_read else IN_PATH
    is_of_turns = path.repeats and is_filled and not is_read  # each would have its own
    own = "remove this annotation" if is_of_turns else own
    if not words or not (others or len(words) > MOST_WORDS):
        is_short = is_of_turns and shared.bit_count() <= 4 * MOST_NAMED
        return f"; {_BY_NUMBERS}; else {own}" if is_short else f"; {own}"
    more = _too_many(len(words)) if len(words) > MOST_WORDS else _alone(path, others)
    if is_of_turns:
        return f"; {more}; else {own}"
    return f"; {own}; {more}" if is_read else f"; {own}, and fill it there; {more}"


def hint_at_rest(
    path: CheckedPath, words: Collection[Word], others: Collection[FoundPath], facts: Facts
) -> str:
    """The same where the rest of the iteration gets it, too."""
    into = f"{ALL_INTO_BRANCH}, or remove this annotation"
    if len(words) > MOST_WORDS:
        return f"; {_too_many(len(words))}: make the array smaller, {into}"
    if words and any(one.marker != path.marker for one in others):
        return f"; {_alone(path, others)}, {into}"
    is_of_path = facts.local.reads(path.blocks) | facts.local.writes(path.blocks)
    return f"; {into}" if is_of_path else f"; read before the path what follows it reads, {into}"


def handed_on(path: CheckedPath, shared: int, facts: Facts) -> tuple[int, str]:
    """The bytes in which iterations leave something for others, or for the code after the loop, and
    what to do: they are of an array that is used outside of the loop, too."""
    local, loop = facts.local, path.loop.loop
    outside = {label for label in facts.graph if label not in loop.blocks and label != EXIT}
    left = shared & local.writes(path.region) & local.live(loop.header, frozenset(), frozenset())
    if read := left & local.reads(outside):
        return read, (
            "; the code after the loop reads what iterations leave there, so that none of them can "
            f"run elsewhere: {ANOTHER_LOOP}, or remove this annotation"
        )
    return left & local.writes(outside), (
        f"; if iterations hand the array on, {ANOTHER_LOOP}, or remove this annotation; else "
        f"{IN_PATH}"
    )


def _alone(path: CheckedPath, others: Collection[FoundPath]) -> str:
    """What to do about other paths of the loop, which may be arms of the same branch, or copies of
    the same annotation."""
    number, kind = path.marker.identifier, path.marker.kind
    apart = [other.marker.span for other in others if other.marker.identifier != number]
    what = f"remove {those_on(apart, path.marker.span)}"
    if not apart:
        has_arms = kind == "case" or any(one.marker.kind != kind for one in others)
        what = _ARMS[kind] if has_arms else _COPIES
    return f"the array may go with the tasks of a loop's only annotation: {what}"


def _too_many(words: int) -> str:
    return (
        f"at most {4 * MOST_WORDS} bytes of arrays ({MOST_WORDS} ints, say) go with a task, and "
        f"here it takes {4 * words}"
    )


def print_hint(culprit: Instruction, facts: Facts) -> str:
    """What to do where something is printed: the array is the compiler's own if the format is
    computed, and else one that is printed itself."""
    if callee(culprit) != PRINT:
        return ""
    if bytes_printed(culprit, facts) is not None:
        return "; declare in the path, and write there, what it prints"
    return "; call printf in a function of its own, marked __noinline__, or with a literal format"
