"""How a reason comes to speak of the source: who knows what of it, and who is asked first.

Most hints are answered each by itself, in any order, when it is known which variables are meant.
What is said of the clauses of a loop is asked for of one after the other: the first counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from ccc.analysis.paths.followers import BEHIND
from ccc.analysis.paths.unmarked_turns import IN_TURNS
from ccc.compiler.reasons.handing_on import (
    by_no_atomic,
    counted_elsewhere,
    elsewhere,
    without_reduction,
)
from ccc.compiler.reasons.hints import CLAUSES, Hint
from ccc.compiler.reasons.in_library import in_a_library
from ccc.compiler.reasons.inquiry import Inquiry
from ccc.compiler.reasons.lacking_clauses import with_all_lacking, with_lacking
from ccc.compiler.reasons.misused import (
    of_companions,
    or_removed,
    settled,
    without_structures,
)
from ccc.compiler.reasons.names_meant import and_so, each_kept, names_meant, names_told
from ccc.compiler.reasons.of_arrays import of_elements, of_variables, set_whole
from ccc.compiler.reasons.of_callers import of_callers
from ccc.compiler.reasons.of_halves import of_halves
from ccc.compiler.reasons.of_lambdas import of_lambdas
from ccc.compiler.reasons.of_loops import (
    array_of_turns,
    bound_of_loop,
    in_branch,
    of_same_function,
    read_before_loop,
    what_decides,
    with_branch,
    with_goto,
    with_jump,
    with_own_stride,
    with_skipped,
    with_turns,
    with_unrolled,
)
from ccc.compiler.reasons.of_members import of_members
from ccc.compiler.reasons.of_methods import of_methods
from ccc.compiler.reasons.of_order import of_first_ones, of_order, of_ties
from ccc.compiler.reasons.of_pointers import of_pointers
from ccc.compiler.reasons.of_proven import of_proven
from ccc.compiler.reasons.promised import declared, promised, restricted, restricted_both
from ccc.compiler.reasons.recursive import as_a_loop
from ccc.compiler.reasons.respelled import named_narrow, respelled, shared_out
from ccc.compiler.reasons.shown import Shown
from ccc.compiler.reasons.topics import Topic
from ccc.compiler.reasons.unset import needed_behind
from ccc.compiler.reasons.wanted_clauses import (
    added_up_by_turns,
    clauses_of_sums,
    sharing_by_sums,
    to_read_behind,
    with_choice,
    with_wanted,
)
from ccc.errors import Span
from ccc.frontend.uses import MOST_NAMED

_ON_LOOP = re.compile(r"\b(?:say so|name (?:those|these)) on the loop\b(?! of line)")
"""Advice of a clause, which may be for one of several loops."""

_ANSWERS: Mapping[Hint, Callable[[Inquiry], str | None]] = {
    Hint.AND_SO: and_so,
    Hint.BEFORE_IT: bound_of_loop,
    Hint.BY_ATOMIC: by_no_atomic,
    Hint.DECIDES: what_decides,
    Hint.FROM_COUNTER: shared_out,
    Hint.IF_APART: restricted,
    Hint.INLINE: as_a_loop,
    Hint.IN_VARIABLES: array_of_turns,
    Hint.KEPT: each_kept,
    Hint.LEAVES_TURNS: in_branch,
    Hint.MARKED_AROUND: in_a_library,
    Hint.OF_ATOMIC: counted_elsewhere,
    Hint.PARAMETERS: declared,
    Hint.PROMISE: promised,
    Hint.READ_BEFORE: read_before_loop,
    Hint.RESTRICT_BOTH: restricted_both,
    Hint.SET_IN_LOOP: set_whole,
    Hint.TO_ANNOTATE: of_same_function,
    Hint.TURNS_ADD_UP: added_up_by_turns,
    Hint.TOO_NARROW: named_narrow,
    Hint.TO_READ_BEHIND: to_read_behind,
}
"""Who knows better, by what is advised; whoever knows nothing leaves it as it is."""
_STEPS: Sequence[tuple[Callable[[Inquiry], Inquiry], Collection[Hint] | None]] = (
    (without_structures, [Hint.MISUSED]),
    (of_variables, [Hint.OWN_ARRAY]),
    (with_unrolled, [Hint.SET_IN_LOOP]),
    (of_callers, CLAUSES),
    (of_lambdas, CLAUSES),
    (elsewhere, [Hint.REDUCTION]),
    (of_pointers, [Hint.REDUCTION, Hint.OF_ONE]),
    (of_halves, CLAUSES),
    (respelled, CLAUSES),
    (of_methods, CLAUSES),
    (of_members, CLAUSES),
    (of_proven, [Hint.REDUCTION]),
    (of_order, CLAUSES),
    (of_ties, CLAUSES),
    (of_first_ones, CLAUSES),
    (of_companions, [Hint.MISUSED]),
    (settled, [Hint.MISUSED]),  # or a clause is lacking, of which those behind know
    (without_reduction, [Hint.REDUCTION]),
    (with_all_lacking, [Hint.MISUSED]),
    (with_lacking, None),  # which variables are meant is asked for in any case
    (with_choice, None),  # it sets two of the variables that are meant by now
    (of_elements, [*CLAUSES, Hint.IN_PATH, Hint.ANOTHER_LOOP]),
    (with_wanted, [Hint.REDUCTION]),  # of whatever nobody before knows better
    (or_removed, [Hint.MISUSED]),
)
"""Who is asked one after the other, and for which hints, or in any case.

What one fills nobody fills again, so that who knows something special stands before who knows what
is so in general; and the variables that one takes to be meant are those that the next are asked of.
"""
_OF_GAINS: Mapping[Hint, Callable[[Inquiry], str | None]] = {
    Hint.BEFORE_IT: bound_of_loop,
    Hint.IN_VARIABLES: array_of_turns,
    Hint.SUMS: clauses_of_sums,
    Hint.TO_SHARE: sharing_by_sums,
}
"""The same of what would be gained, which is no reason."""


def told(asked: Inquiry) -> str:
    """A reason with the names of variables, and the place before each instruction."""
    asked = needed_behind(asked.naming(names_meant(asked)))
    for step, hints in _STEPS:
        if hints is None or asked.reason.slot(*hints):
            asked = step(asked)
    return _text(_answered(with_own_stride(with_goto(with_turns(with_jump(asked)))), _ANSWERS))


def told_of_gain(asked: Inquiry) -> str:
    """What would be gained, with the names of what is spoken of."""
    return _answered(with_branch(with_skipped(asked)), _OF_GAINS).reason.text()


def _answered(asked: Inquiry, answers: Mapping[Hint, Callable[[Inquiry], str | None]]) -> Inquiry:
    reason = asked.reason
    for hint, answer in answers.items():
        text = answer(asked) if reason.slot(hint) else None
        reason = reason if text is None else reason.filled(hint, text)
    return asked.of(reason)


def _where_set(asked: Inquiry) -> Span | None:
    """Where the statement sets what is meant, for an instruction that comes from no line, as where
    nvcc copies a value."""
    meant = asked.names if asked.reason.topic is Topic.CARRIED else ()
    return asked.suspects.set_in(asked.at, meant[0]) if len(meant) == 1 else None


def _loop_meant(asked: Inquiry, span: Span | None) -> Span | None:
    """The loop that a reason is about, of which nvcc tells a line where a turn of it ends."""
    is_around = asked.reason.begins(IN_TURNS)
    if span is None or not (is_around or asked.reason.begins(BEHIND)):
        return None
    return asked.suspects.loop_of_line(asked.at, span, is_around=is_around)


def _text(asked: Inquiry) -> str:
    """What is said in the end."""
    told = names_told(asked)
    bases = tuple(dict.fromkeys(one.partition(".")[0] for one in told))
    names = next((few for few in (told, bases) if len(few) <= MOST_NAMED), ())
    quoted = " or ".join(f'"{name}"' for name in names)
    reason = asked.reason
    if quoted and not reason.shown:
        reason = reason.pointing(f" ({quoted})")
    unnamed = [f"{quoted}, "] if quoted else []

    def place(shown: Shown) -> str:
        """An instruction with its line, and the first with the variables."""
        is_copy = shown.opcode.name == "mov"  # which nvcc puts anywhere
        span = _where_set(asked) if unnamed and is_copy else None
        span = span or asked.lines.of(shown.line) or (_where_set(asked) if unnamed else None)
        span = _loop_meant(asked, span) or span
        line = f"{span.file}:{span.line}, " if span else ""
        return f"({unnamed.pop() if unnamed else ''}{line}{str(shown).removeprefix('(')}"

    span = asked.caller or asked.suspects.loop_of_several(asked.at)
    text = reason.text(place)
    return _ON_LOOP.sub(rf"\g<0> of line {span.line}", text) if span else text
