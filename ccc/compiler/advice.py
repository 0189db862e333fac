"""What a user can do about a reason, where the reason does not say so itself.

In a kernel marked ``ccc grid_stride`` the annotated loop is none that the user wrote: nobody can
split it, or declare a variable in it.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ccc.analysis.paths.carried_values import AS_WHILE, REDUCTION_HINT
from ccc.analysis.paths.continuation import TOO_SHORT
from ccc.analysis.paths.find import NOT_INLINED
from ccc.analysis.paths.followers import SPLIT, TOLD_FIRST
from ccc.analysis.paths.induction import IN_VARIABLES
from ccc.analysis.paths.legality import LEAVE_IT
from ccc.analysis.paths.model import LeftPath
from ccc.compiler.requests import OF_ANOTHER_KIND
from ccc.demangle import demangle
from ccc.ir.markers import WHOLE_KERNEL
from ccc.ir.reannotated import Reannotated
from ccc.pipeline import KernelRecord, PathRecord, Record
from ccc.remark import Remark

_CODE = re.compile(r"\((?:[^()]*, )?PTX line \d+: .*?;\)|\"[^\"]*\"")
"""What is shown of the program in a reason, where a semicolon may stand."""
_CALLED = re.compile(r"(?:(?<=\bcalls )|(?<=\bcalls itself through ))(?!itself\b)[\w$]+")
_CALLS = {
    "__internal_trig_reduction_slowpathd": "sin, cos or tan of a double",
    "__internal_accurate_pow": "pow of doubles",
    "__internal_lgamma_pos": "lgamma of a double",
    "vprintf": "printf",
    "__assertfail": "assert",
}
"""What users write, by the function that nvcc 13 calls for it."""
OTHERWISE = "or ask for strategy"
_ANOTHER = ("or ", "or, ")
"""How advice begins that goes behind other advice."""
UNIFORM = "all lanes of a warp"
"""How reasons begin for which nothing serves."""

UNCALLED = "no kernel of this file calls it: put the function and its annotated loop into one file"
"""What to do about a function that was not inlined since only another file calls it."""

ALL_MADE = "its lane computes all of it"
FULL = (
    "remove the annotation: all lanes that begin it go round as often, so that there is nothing to "
    "fill"
)
"""What can be done about a loop that would gain nothing, whatever else is in its way."""

ADVICE = {
    NOT_INLINED: "declare the function __forceinline__",
    ALL_MADE: f"{REDUCTION_HINT}; else {TOO_SHORT}",
    "no branch is left here": "there is nothing to fill: remove the annotation",
    "the annotated loop calls a function through a pointer": (
        "find out by a branch which function it is, and call that by its name, as object->T::f() "
        "where it is virtual; declare them __forceinline__"
    ),
    "the annotated loop calls": "declare it __forceinline__, and call it directly",
    "it lies in a loop that was flattened": (
        "remove this annotation, or ask for another strategy for that loop, or do this in a loop "
        "of its own behind, if all that it needs is in global memory"
    ),
    "it holds a loop that was flattened": (
        "remove this annotation, or ask for another strategy for that loop"
    ),
    "it lies in the very loop that was flattened": (
        "remove this annotation, or ask for another strategy for that loop"
    ),
    "its annotated loop holds a loop that was flattened": (
        "ask for another strategy for the inner loop, or split the loop around in two"
    ),
    "it lies in a loop whose turns are all shared out": (
        "ask for strategy(merge) on that loop, or remove this annotation"
    ),
    "it may access the same memory as the other turns": (
        'if the turns are independent, mark the loop around it "ccc for variable"; '
        "else remove this annotation"
    ),
    "it may access the same memory as what follows": (
        "move what follows that loop into an annotated loop of its own, if it needs nothing that "
        "the loop computes"
    ),
    "its turns pass local memory": (
        "write the array in each turn before it is read, or put all that uses it, and not the loop "
        'alone, into a branch marked "ccc if"'
    ),
    "an accumulator of a reduction is used both": "use the variable after the loop only",
    "some lanes may pass by the annotated loop": (
        "let every thread come to the loop; one without work runs it no times; else remove the "
        "annotation"
    ),
    "some threads may return": "instead of returning, guard what follows",
    "the kernel calls a function through a pointer": "call it directly",
    "the kernel calls": "declare it __forceinline__, in the same file",
    "the annotated loop ends the thread": "leave the loop first, or remove the annotation",
    "the annotated loop never ends": "let a condition end it",
    "the path never comes back": "let the branch end",
    "the path allocates": "use an array of a fixed size",
    "its branch has no other arm": (
        'it is for an "if" with an "else", or for a "switch": ask for another strategy, or remove '
        "the annotation"
    ),
    "its arms go on at several places": (
        "let no arm end in break, continue or return: set a variable there, and ask it behind the "
        "branch; or ask for another strategy, or remove the annotation"
    ),
    "no instruction of one of its arms": "remove the annotation",
    "melded, its arms would take": "remove the annotation",
    "the opcode": "leave it out of this kernel, or teach it to ccc (docs/add-an-opcode.md)",
    "the code is compiled for the debugger": "compile without -G; -lineinfo is fine",
}
"""By how a reason begins; the first that fits counts."""

BLOCKS = {
    "it lies in a loop that was flattened": "annotate one inner loop of the kernel",
    "what follows the loop in the iteration": "let another kernel do what follows",
    "it lies in the rest of an iteration": (
        "let another kernel do it, or remove the annotations of the other paths"
    ),
    "it may access the same memory as what follows": "let another kernel do what follows",
    "there is a warp-collective in the annotated loop": (
        "let all threads come to it, none of which has returned, or end the kernel before it"
    ),
    "all iterations of the loop use the same memory": (
        "use an atomic, or declare in the kernel what only one thread needs"
    ),
}
"""The same where the annotated loop is that over blocks; it goes before what a reason says."""

ANOTHER = "ask for another strategy, or for none"
"""What can be done about any strategy that does not apply, where nothing else was done."""
FROM_COUNTER = "compute it in each turn from the counter"
"""What serves where nothing is known of what turns hand on."""
IF_FROM_COUNTER = f"{FROM_COUNTER}, if it can be, or {ANOTHER}"
"""The same where turns are asked to be shared out: of a checksum, say, nothing else serves."""

DECLINED = {
    "there are several paths": "ask for a strategy that serves several, such as queue",
    "a case goes on in the next one": (
        'let "break" end it, and write in it what the next one does; or ask for strategy(queue)'
    ),
    "the path is an inner loop": "ask for strategy(merge)",
    "the tasks of a loop come back": "ask for strategy(merge) there, or for nothing",
    "warps of a block share out the turns": "ask for engage, or annotate nothing else in there",
    "another path of its loop asks": "ask for one strategy, on the loop",
    "no loop is left in the path": (
        "tasks are of about equal length, as where nvcc unrolled it: ask for strategy(queue), or "
        "for nothing"
    ),
    "no loop lies in the path that compares": (
        'write its loop as "for (int k = begin; k < end; ++k)", with the bound in a variable that '
        "is read before it; or ask for strategy(queue)"
    ),
    "how often the loop in it turns is not known": (
        "read begin and bound at the beginning of the path, before anything is stored, and if nvcc "
        'has unrolled that loop, write "#pragma unroll 1" before it; '
        "or ask for strategy(queue)"
    ),
    "the loop in it turns equally often": (
        "tasks are of equal length: ask for strategy(queue), or for nothing"
    ),
    "nothing of the iteration waits": "there is nothing to give back: ask for strategy(queue)",
    "the path goes on at several places": (
        'no "continue", "break" or "goto" in the path: set a flag there, and ask it behind the path'
    ),
    "lanes meet in an iteration": "move warp-collectives out of the loop",
    "a path that is left alone lies in the loop": (
        "remove its annotation, or if it is another arm or case of this one, ask for none"
    ),
    "the iteration passes local memory": "keep it in variables, or use the array in the path alone",
    "the next iteration begins with a value": (
        "if no iteration needs the variable of another, declare it in the loop; or use it behind "
        'the path only, where no "if" and no "?:" sets it: nvcc merges one with the path; else '
        "remove the annotation"
    ),
    "the next iteration begins with what is read": "read it before the path",
    "whether the loop goes on hangs on a value": (
        'let no "break" or "return" behind the path, and no condition of the loop, ask for the '
        "value; or remove the annotation"
    ),
    "no path that can be collected lies in it": "annotate the branch in it, or ask for nothing",
    "the code after the loop needs what its iterations make": (
        "let each iteration store it, or update it by an atomic, or ask for another strategy, or "
        "for none"
    ),
    "the loop around it adds up the variable of a reduction": (
        "add up by an atomic, or ask for another strategy, or for none"
    ),
    "its turns are not said to be independent": 'if they are, mark the loop "ccc for variable"',
    "its turns hand on a value": FROM_COUNTER,
    "it may end elsewhere than where a turn does": (
        'no "break", "return" or "goto" in the loop, and no condition besides its bound'
    ),
    "its turns use local memory": IN_VARIABLES,
    "what follows the loop in the iteration needs a value": (
        "compute from the bound what it needs, or ask for strategy(merge)"
    ),
    "a branch beside it": "ask on the inner loop itself, or for strategy(leave) on the branch",
    **dict.fromkeys(
        (
            "its iterations may use the shared memory of a block",
            "its iterations hold what may belong to their block",
            "the loop around it lies in a loop",
            "more is done before or after the loop around it",
        ),
        "ask for strategy(refill(8)), or for none",
    ),
    "its tasks add to a reduction": "add up with an atomic operation, or ask for strategy(queue)",
}
"""The same of a strategy that does not apply, where something else was done."""
OF_KINDS = {
    "engage": 'it is for loops marked "ccc for variable"',
    "engage_block": 'it is for loops marked "ccc for variable"',
    "sub_warp": 'it is for loops marked "ccc for variable"',
    "uniform": 'it is for inner loops, marked "ccc for variable" or "ccc while"',
    "meld": 'it is for an "if" with an "else", or for a "switch"',
}
"""What strategies are for that have nothing to do with paths of other kinds."""


def advised(record: Record, kernels: list[KernelRecord], *, is_called: bool = True) -> Remark:
    """What is to be said of a record, with a way out that there is in its kernel.

    Args:
        record: of an annotation.
        kernels: the annotations of the whole kernel.
        is_called: whether it is a kernel, or one of the file may call it.
    """
    remark = replace(_in_words_of_users(record.remark), ways=_ways_of(record))
    unshared = remark.details.get("shared_out_reason")
    if unshared and not parts_of(unshared)[2] and (way_out := _find(DECLINED, unshared)):
        told = {**remark.details, "shared_out_reason": f"{unshared}; {way_out}"}
        remark = replace(remark, details=told)
    if remark.declined is not None and not parts_of(remark.declined)[2]:
        way_out = _instead(remark, remark.declined) or (None if remark.applied else ANOTHER)
        declined = "; ".join(filter(None, [remark.declined, way_out]))
        remark = replace(remark, declined=declined)
    if remark.advice is not None and not parts_of(remark.advice)[2]:
        way_out = _way_out_of(record, kernels, remark.advice)
        return replace(remark, advice="; ".join(filter(None, [remark.advice, way_out])))
    if remark.reason is None:
        return remark
    head, separator, tail = parts_of(remark.reason)
    if isinstance(record, PathRecord) and _is_in_blocks(record, kernels):
        is_told = tail.startswith(AS_WHILE) or LEAVE_IT in tail
        other = None if is_told else _find(BLOCKS, remark.reason)
        tail = tail if other is None else _in_blocks(other, tail)
    if remark.reason == NOT_INLINED and not is_called:
        tail = UNCALLED
    elif remark.reason.startswith(UNIFORM):
        tail = "remove the annotation"
    elif _is_full(record):
        tail = FULL
    elif not tail or tail.startswith(_ANOTHER):
        tail = _before(_find(ADVICE, remark.reason) or "", tail)
    return replace(remark, reason=f"{head}; {tail}" if tail else f"{head}{separator}")


def _ways_of(record: Record) -> list[Reannotated]:
    """What annotations there would be if what is advised of a path that is left were done."""
    path = record.path if isinstance(record, PathRecord) else None
    return [one.reannotated for one in path.ways] if isinstance(path, LeftPath) else []


def _instead(remark: Remark, declined: str) -> str | None:
    """What can be done about a strategy that does not apply."""
    if declined == OF_ANOTHER_KIND:
        return OF_KINDS.get(str(remark.asked).partition("(")[0])
    way_out = _find(DECLINED, declined)
    return IF_FROM_COUNTER if way_out == FROM_COUNTER else way_out


def _way_out_of(record: Record, kernels: list[KernelRecord], told: str) -> str | None:
    """What can be done about what was not worth it, if anything can."""
    in_blocks = isinstance(record, PathRecord) and _is_in_blocks(record, kernels)
    return (_find(BLOCKS, told) if in_blocks else None) or _find(ADVICE, told)


def _in_words_of_users(remark: Remark) -> Remark:
    """With the names of functions that reasons speak of as users know them."""

    def named(text: str | None) -> str | None:
        return text and _CALLED.sub(lambda m: _CALLS.get(m[0]) or demangle(m[0]), text)

    return replace(remark, reason=named(remark.reason), declined=named(remark.declined))


def _is_full(record: Record) -> bool:
    """Whether it is of a loop that would gain nothing."""
    path = record.path if isinstance(record, PathRecord) else None
    return isinstance(path, LeftPath) and path.is_full


def _is_in_blocks(record: PathRecord, kernels: list[KernelRecord]) -> bool:
    """Whether the annotated loop around a path is that over blocks."""
    loop = record.path.loop
    return loop is not None and any(
        one.marker.kind in WHOLE_KERNEL and one.marker.span == loop.marker.span for one in kernels
    )


def parts_of(reason: str) -> tuple[str, str, str]:
    """A reason without advice, and the advice; code in it has semicolons of its own."""
    places = _CODE.findall(reason)
    head, separator, tail = _CODE.sub("\0", reason).partition("; ")
    for place in places:
        if "\0" in head:
            head = head.replace("\0", place, 1)
        else:
            tail = tail.replace("\0", place, 1)
    return head, separator, tail


def with_rest(advice: str, said: str) -> str:
    """Other advice, with what was said besides of a strategy that serves."""
    _, alternative, strategy = said.partition(OTHERWISE)
    return "; ".join(filter(None, [advice, alternative + strategy]))


def _in_blocks(advice: str, said: str) -> str:
    """Advice that serves a loop over blocks, in place of what was said, or of what of that does not
    serve one."""
    if SPLIT in said and said.startswith((TOLD_FIRST, "annotate ", "remove ", SPLIT)):
        return said.replace(SPLIT, advice)
    return _before(advice, said)


def _before(advice: str, said: str) -> str:
    """Advice in place of what was said, or before it, if that is another way out."""
    is_another = said.startswith(_ANOTHER)
    return "; ".join(filter(None, [advice, said])) if is_another else with_rest(advice, said)


def _find(table: dict[str, str], reason: str) -> str | None:
    return next((text for words, text in table.items() if reason.startswith(words)), None)
