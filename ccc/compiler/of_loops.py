"""What is said of loops, with what the source calls it: their bounds, and where they are left."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ccc.analysis.paths.carried_values import REDUCTION_HINT
from ccc.analysis.paths.find import IN_TURNS, LEAVES_TURNS
from ccc.analysis.paths.induction import BEFORE_IT, IN_VARIABLES
from ccc.analysis.paths.parting import BY_ONE, DECIDES
from ccc.compiler.advice import ALL_MADE, TOO_SHORT, parts_of
from ccc.frontend.deciding import goes_by, repeats_by_goto, skipped_by

if TYPE_CHECKING:
    from ccc.errors import Span
    from ccc.frontend.variables import Suspects

NO_LOOP = (
    'write a for, while or do loop, and mark that "ccc while": one of goto cannot be marked; or '
    "remove this annotation"
)
ON_LOOP = "say so on the loop"
_JUMPS = re.compile("the path (?:jumps out of|returns from) [^;]*")

_IN_BRANCH = (
    "let the branch set a variable instead, for which its loop's condition asks, and mark that "
    'loop "ccc while": break, goto and return come too late there'
)
_NO_TASK = "; a branch that does nothing but leave the loop has no task: remove the annotation"
_AROUND = (
    '; or, if iterations of a loop around that are independent, mark this loop "ccc while", and '
    'that one "ccc for"'
)
_READ_EARLY = (
    'read before the path what decides on "{}", which ends the loop, and set it to no more than a '
    "comparison of that: by __ldg or a volatile load, since nvcc moves others into the path; or "
)
_LATER = (
    "if all threads may stop, set a flag in memory that the head of the loop reads; or let all "
    "iterations run"
)
_ENDS = _READ_EARLY + _LATER
"""Its lane makes that by itself when it gives the task away, but for what the path loads."""
_ENDS_ALONE = f'all that is done is to make "{{}}", which ends the loop: {_LATER}; else {TOO_SHORT}'
"""Where the path does nothing else, nothing would be left if its lane made that before it."""
_GOES_BY = 'iterations are not independent, as each begins where the one before has left "{}": '
_APART = "count it up outside of the branch, or "
_REMOVE = "remove the annotation"
_SLOW = re.compile(r"(?<![\w.>])(?:sin|cos|tan|sincos)f(?= *\()")
_SKIPPED = (
    'it is the rest of the iteration that is long: put that into a branch "if {}", and the '
    "annotation before it"
)


def with_jump(suspects: Suspects | None, at: Span, text: str, case: Span | None) -> str:
    """What is said of a jump, or of that of the case on a line, names its own line, and what can be
    done in a branch of a loop."""
    if suspects and LEAVES_TURNS in text and suspects.jumps_in_branch(at):
        text = text.replace(LEAVES_TURNS, _IN_BRANCH)
    head = _JUMPS.match(text)
    span = suspects.jump(at, case) if suspects and head else None
    if suspects is None or head is None or span is None:
        return text
    told = text[head.end() :]
    if suspects.only_jumps(at):
        told = _NO_TASK + _AROUND * ("annotated" in head[0])
    return f"{head[0]} ({span}){told}"


def with_what_ends(suspects: Suspects, at: Span, text: str, name: str) -> str:
    """A reason that says what to do about a variable that ends the annotated loop, in place of a
    reduction."""
    if REDUCTION_HINT in text and text.startswith(ALL_MADE) and not _goes_by(suspects, at, name):
        return f"{parts_of(text)[0]}; {_ENDS_ALONE.format(name)}"
    return text.replace(REDUCTION_HINT, _what_ends(suspects, at, name))


def _goes_by(suspects: Suspects, at: Span, name: str) -> bool:
    found = suspects.statements(at)
    return found is not None and goes_by(found[1], name.encode())


def _what_ends(suspects: Suspects, at: Span, name: str) -> str:
    """What to do about a variable that the path sets, and that ends the annotated loop."""
    if not _goes_by(suspects, at, name):
        return _ENDS.format(name)
    is_apart = suspects.set_behind(at, name) is not None
    apart = _APART if suspects.is_branch(at) and not is_apart else ""
    return f"{_GOES_BY.format(name)}{apart}{_REMOVE}"


def with_arrays(suspects: Suspects | None, at: Span, text: str) -> str:
    """A hint at arrays that turns use names those of the loop, or the functions that bring one
    along, where the loop has just one of both."""
    found = suspects.statements(at) if suspects and IN_VARIABLES in text else None
    if suspects is None or found is None:
        return text
    named = [f'"{name}"' for name in suspects.names(at, "arrays")]
    slow = sorted({*_SLOW.findall((found[0].text or b"").decode(errors="replace"))})
    if bool(named) == bool(slow):
        return text
    kept = f"keep in variables what is in {' and '.join(named)}"
    fast = " and ".join(f"__{one}" for one in slow)
    told = f"write {fast}, or compile with -use_fast_math: else large numbers take an array"
    return text.replace(IN_VARIABLES, kept if named else told)


def with_skipped(suspects: Suspects | None, at: Span, text: str) -> str:
    """What is said of a branch that is too short says which is the long way, where it does nothing
    but end the iteration."""
    found = suspects.statements(at) if suspects else None
    if found is None or skipped_by(found[0]) is None:
        return text
    return f"{parts_of(text)[0]}; {_SKIPPED.format(skipped_by(found[0]))}"


def with_parting(suspects: Suspects | None, at: Span, text: str, line: Span | None) -> str:
    """What is said of a branch that may part lanes, on some line, names what decides it."""
    name = suspects.decides(at, line) if suspects and line and DECIDES in text else None
    if name is None:
        return text
    told = text.replace(DECIDES, f'instead of "{name}"')
    return told.replace(BY_ONE, BY_ONE.replace(" x,", f" {name},"))


def with_goto(suspects: Suspects | None, at: Span, text: str) -> str:
    """What is said of a loop that is to be marked, where the source has none there but one of
    ``goto``, which cannot be."""
    found = suspects.statements(at) if suspects and text.startswith(IN_TURNS) else None
    return f"{parts_of(text)[0]}; {NO_LOOP}" if found and repeats_by_goto(*found) else text


def with_loop(suspects: Suspects | None, at: Span, text: str) -> str:
    """What is to be said on a loop names the line where that is marked, of several loops."""
    span = suspects.loop_of_several(at) if suspects and ON_LOOP in text else None
    return text.replace(ON_LOOP, f"{ON_LOOP} of line {span.line}") if span else text


def with_bound(suspects: Suspects | None, at: Span, text: str) -> str:
    """A hint at the bound of a loop says which it is, and of what counter."""
    found = suspects.bound(at) if suspects and BEFORE_IT in text else None
    if found is None:
        return text
    counter, bound = found
    told = BEFORE_IT.replace("its bound", f'its bound "{bound}"')
    return text.replace(BEFORE_IT, told.replace("its counter's type", f'the type of "{counter}"'))
