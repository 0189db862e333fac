"""What is said of loops, with what the source calls it: their bounds, and where they are left."""

from __future__ import annotations

import re

from ccc.analysis.paths import leading_out
from ccc.analysis.paths.continuation import TOO_SHORT
from ccc.analysis.paths.induction import BEFORE_IT
from ccc.analysis.paths.locate import BETWEEN, WHOLE
from ccc.analysis.paths.parting import BY_ONE
from ccc.analysis.paths.unmarked_turns import IN_TURNS
from ccc.compiler.advice import ALL_MADE
from ccc.compiler.reasons.hints import Hint
from ccc.compiler.reasons.inquiry import REMOVE, Inquiry
from ccc.compiler.reasons.reason import written
from ccc.compiler.reasons.topics import Topic
from ccc.frontend.deciding import goes_by, is_in_branch, repeats_by_goto, skipped_by
from ccc.frontend.uses import reads_alike
from ccc.passes.choice.chosen import MARK_BRANCH, MARK_REST

NO_LOOP = (
    'write a for, while or do loop, and mark that "ccc while": one of goto cannot be marked; or '
    "remove this annotation"
)
_OWN_STRIDE = (
    'mark that loop "ccc for", and remove "ccc grid_stride" from the kernel: the loop goes over '
    "what the whole grid has to do by itself"
)
_JUMPS = ("the path jumps out of ", "the path returns from ")

_NO_TASK = "a branch that does nothing but leave the loop has no task: remove the annotation"
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
_UNROLLED = (
    "nvcc may have unrolled the loop of {}:{}, with ways that no thread goes and on which it sets "
    'no value: put "#pragma unroll 1" before it'
)
_APART = "count it up outside of the branch, or "
_TURNS = (
    'all lanes that begin the loop of line {} go round as often: mark it "ccc for", if its turns '
    'are independent; else mark it "ccc while", or remove this annotation'
)
_ALL_TURNS = (
    'all lanes that begin the loops of {} go round as often: mark them{} "ccc for", if '
    "their turns are independent; else remove this annotation"
)
_SLOW = re.compile(r"(?<![\w.>])(?:sin|cos|tan|sincos)f(?= *\()")


def with_jump(asked: Inquiry) -> Inquiry:
    """What is said of a jump, or of that of the case that is meant, names its own line, and what
    can be done about a branch that does nothing else."""
    suspects, at, reason = asked.suspects, asked.at, asked.reason
    span = suspects.jump(at, asked.case) if any(map(reason.begins, _JUMPS)) else None
    if span is None:
        return asked
    if suspects.only_jumps(at):
        reason = reason.advising(_NO_TASK + _AROUND * reason.says("annotated"))
    return asked.of(reason.pointing(f" ({span})"))


def with_goto(asked: Inquiry) -> Inquiry:
    """What is said of a loop that is to be marked, where the source has none there but one of
    ``goto``, which cannot be."""
    found = asked.statements if asked.reason.begins(IN_TURNS) else None
    return asked.advising(NO_LOOP) if found and repeats_by_goto(*found) else asked


def with_turns(asked: Inquiry) -> Inquiry:
    """What is said of loops that all lanes go round as often tells them by their lines: those that
    the source has there, in which nvcc may have left none, or made others."""
    advice = written(asked.reason.advice) if asked.reason.begins(IN_TURNS) else ""
    lines = asked.suspects.turns_around(asked.at) if advice.startswith(WHOLE) else []
    if not lines or (not lines[1:] and BETWEEN in advice):
        return asked
    *most, last = map(str, dict.fromkeys(lines))
    if not lines[1:]:
        return asked.advising_first(_TURNS.format(last))
    where = f"lines {', '.join(most)} and {last}" if most else f"line {last}"
    apart = ", each on a line of its own," if len(lines) > len(most) + 1 else ""
    return asked.advising_first(_ALL_TURNS.format(where, apart))


def with_own_stride(asked: Inquiry) -> Inquiry:
    """What is said of a loop in a kernel that is marked as a whole, where that loop goes over what
    the whole grid has to do: it is the one whose iterations are to be collected."""
    is_meant = asked.reason.begins(IN_TURNS) and asked.suspects.strides_by_grid(asked.at)
    return asked.advising(_OWN_STRIDE) if is_meant else asked


def with_skipped(asked: Inquiry) -> Inquiry:
    """What is said of a branch whose rest of the iteration is worth one says so only where it does
    nothing but end the iteration, and under which condition the rest is run."""
    advice = written(asked.reason.advice)
    if MARK_REST not in advice:
        return asked
    found = asked.statements
    skipped = skipped_by(found[0]) if found else None
    told = REMOVE if skipped is None else MARK_REST.replace("(!(...))", skipped)
    return asked.advising(advice.replace(MARK_REST, told))


def with_branch(asked: Inquiry) -> Inquiry:
    """What is said of a loop that had better go with the branch that it stands in says so only
    where it stands in one: what lanes jump over has none."""
    advice, found = written(asked.reason.advice), asked.statements
    if MARK_BRANCH not in advice or found is None or is_in_branch(*found):
        return asked
    return asked.advising(advice.replace(MARK_BRANCH, REMOVE))


def with_what_ends(asked: Inquiry, name: str) -> Inquiry:
    """What to do about a variable that ends the annotated loop, in place of a reduction."""
    if asked.reason.begins(ALL_MADE) and not _goes_by(asked, name):
        return asked.advising(_ENDS_ALONE.format(name))
    return asked.with_clause(_what_ends(asked, name))


def with_unrolled(asked: Inquiry) -> Inquiry:
    """What is said of what may have no value, where the source gives one to all variables, but nvcc
    may have unrolled a loop there: it knows of ways that no thread can go."""
    line = None if asked.names else asked.suspects.may_be_unrolled(asked.at, asked.places)
    return asked if line is None else asked.advising_first(_UNROLLED.format(line.file, line.line))


def of_same_function(asked: Inquiry) -> str | None:
    """What to do about a loop behind one that holds another copy of it, of the same function: the
    annotation would be that of both, and tasks go on from no loop that holds one."""
    slot = asked.reason.slot(Hint.TO_ANNOTATE)
    is_so = any(asked.suspects.is_called_for(asked.at, line) for line in asked.places[:1])
    return f"{slot.given[0]}, or {REMOVE}" if slot and is_so else None


def in_branch(asked: Inquiry) -> str | None:
    """What can be done about a jump in a branch of a loop."""
    directive = asked.suspects.jumps_in_branch(asked.at)
    return leading_out.in_branch(directive.split()[-1]) if directive else None


def array_of_turns(asked: Inquiry) -> str | None:
    """The arrays of a loop, or the functions that bring one along, where it has one of both."""
    found = asked.statements
    if found is None:
        return None
    named = [f'"{name}"' for name in asked.suspects.names(asked.at, Topic.ARRAYS)]
    slow = sorted({*_SLOW.findall((found[0].text or b"").decode(errors="replace"))})
    if bool(named) == bool(slow):
        return None
    if named:
        return f"keep in variables what is in {' and '.join(named)}"
    fast = " and ".join(f"__{one}" for one in slow)
    way = f"write {fast}, or compile with -use_fast_math, if less exact results will do"
    return f"{way}: else large numbers take an array"


def bound_of_loop(asked: Inquiry) -> str | None:
    """Which bound is to be read before the loop, and of what counter."""
    found = asked.suspects.bound(asked.at)
    if found is None:
        return None
    counter, bound = found
    told = BEFORE_IT.replace("its bound", f'its bound "{bound}"')
    return told.replace("its counter's type", f'the type of "{counter}"')


def read_before_loop(asked: Inquiry) -> str | None:
    """Where to read what the annotated loop asks for in its head, which stands before no path."""
    found, line = asked.statements, next(iter(asked.places), None)
    loop = found[1] if found and found[0] != found[1] else None
    head, body = (loop.child_by_field_name(p) if loop else None for p in ("condition", "body"))
    if line is None or loop is None or head is None or body is None:
        return None
    is_there = asked.suspects.is_on(head, line) and reads_alike(head, loop)
    is_apart = not any(asked.suspects.is_on(one, line) for one in body.named_children)
    return "read it before the loop" if is_there and is_apart else None


def what_decides(asked: Inquiry) -> str | None:
    """What decides a branch that may part lanes, on the line that is shown last."""
    line = asked.lines.of(asked.reason.shown[-1].line) if asked.reason.shown else None
    slot = asked.reason.slot(Hint.DECIDES)
    if line is None or slot is None:
        return None
    told = asked.suspects.decides(asked.at, line, of_both=any(slot.given))
    each = [f'{BY_ONE.replace(" x,", f" {one},")} instead of "{one}"' for one in told]
    return ", and for ".join(each) or None


def _goes_by(asked: Inquiry, name: str) -> bool:
    found = asked.statements
    return found is not None and goes_by(found[1], name.encode())


def _what_ends(asked: Inquiry, name: str) -> str:
    """What to do about a variable that the path sets, and that ends the annotated loop."""
    if not _goes_by(asked, name):
        return _ENDS.format(name)
    is_apart = asked.suspects.set_behind(asked.at, name) is not None
    apart = _APART if asked.suspects.is_branch(asked.at) and not is_apart else ""
    return f"{_GOES_BY.format(name)}{apart}{REMOVE}"
