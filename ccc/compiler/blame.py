"""What a reason says of PTX, said of the source: the line at fault, and the variable."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ccc.analysis.paths.array_hints import ANOTHER_LOOP, IN_PATH
from ccc.analysis.paths.carried_values import KEEP_OUT, REDUCTION_HINT
from ccc.analysis.paths.find import LOOP_LEFT
from ccc.analysis.paths.induction import LAST_TURN, SUMS, TO_SHARE
from ccc.analysis.paths.own_columns import OWN_COLUMNS
from ccc.analysis.paths.seen_late import SEEN_LATE
from ccc.compiler.advice import parts_of, with_rest
from ccc.compiler.cases import SourceCases
from ccc.compiler.context_names import ContextNames
from ccc.compiler.function_texts import FunctionTexts
from ccc.compiler.handing_on import REMOVE, elsewhere, hindrance, is_for_tiles, way_out, with_atomic
from ccc.compiler.lacking_clauses import (
    ALL_OWN,
    KEEPS,
    MISUSED_AT,
    SEVERAL,
    clauses_of,
    kept_otherwise,
    lacking,
    lacking_behind,
    served_of,
    with_clauses,
    with_extreme,
)
from ccc.compiler.lines import LineTable
from ccc.compiler.of_loops import (
    ON_LOOP,
    with_arrays,
    with_bound,
    with_goto,
    with_jump,
    with_loop,
    with_parting,
    with_skipped,
    with_what_ends,
)
from ccc.compiler.of_members import with_members
from ccc.compiler.recursive import Recursive
from ccc.compiler.respelled import FLUSHED, MISUSED, flags, respelled
from ccc.compiler.source_lines import SourceLines
from ccc.compiler.unset_told import names_of_unset, read_outside, with_whole
from ccc.errors import Span
from ccc.frontend.marking import Marked
from ccc.frontend.pragmas import BY_NO_REDUCTION, REDUCTIONS
from ccc.frontend.uses import INTEGER
from ccc.remark import ENDS_LATER, MAY_LOSE, Remark

UNINITIALISED = "may be uninitialised"
_IN_PTX = re.compile(r"\(PTX line (\d+): ")
_IN_CALL = re.compile(r"PTX line \d+: call\b")
_SHARED = re.compile(r"PTX line \d+: [^\s;]*\.shared\b")
_ATOMIC = re.compile(r"PTX line \d+: (?:atom|red)\b")
_COPY = re.compile(r"PTX line \d+: mov\b")
_PREDICATE = re.compile(r"PTX line \d+: [^\s;]*\.pred\b")
_FLOATING = re.compile(r"PTX line \d+: (?:@!?%p\d+ )?\S+ %f(d?)\d")
_INTEGER = re.compile(
    r"PTX line \d+: (?:@!?%p\d+ )?(?:add|sub|mul|mad|and|or|xor|shl|shr)\.(?:\S+\.)?[bsu]\d+ %rd?\d"
)
_PLACE = re.compile(r"\((?=[^()]*PTX line)")
ARRAY = "(an array of the thread's own)"
_ABOUT = {
    UNINITIALISED: "uninitialised",
    "needs a value that the path computes": "carried",
    "needs what its iterations make": "carried",
    "needs a clock or counter": "carried",
    "an iteration hands a value": "carried",
    "its turns hand on a value": "handed",
    LAST_TURN: "handed",
    "its lane computes all of it": "carried",
    "an accumulator of a reduction is set in the path": "carried",
    "needs a value that is read after the path": "accessed",
    "needs a value that is read in the path": "accessed",
    SEEN_LATE: "accessed",
    OWN_COLUMNS: "accessed",
    "use the same memory": "written",
    "may access the same memory": "accessed",
    "may use the shared memory": "accessed",
    "a lock may ": "accessed",
    "its turns look at what others may write": "accessed",
    "its turns may wait for one another": "accessed",
    "lanes may wait ": "accessed",
    "lanes wait ": "accessed",
    "lanes have iterations until ": "accessed",
    "threads may wait for one another": "accessed",
    "what a lane waits for": "accessed",
    f"local memory {ARRAY}": "arrays",
}
"""What a reason is about, by words of it; the first counts."""
OWN = "declare it in the loop"
SEEDED = f"as of random numbers, {OWN}, and seed it there"
ELEMENTS = (
    "if the loop only updates its elements, have a variable for each of them in its place, and say "
    "so on the loop: reduction({}: variables)"
)
NO_REDUCTION = (
    "; no reduction serves a variable with which the loop does more than to update it ({}:{})"
)
COLUMNS = (
    "if the loop only updates its elements, keep them in __shared__ memory, in a column for each "
    "thread, and update them by {}(&{}[threadIdx.x], ...)"
)
"""Where a variable for each would have to be found by a number."""
_ATOMICS = {"+": "atomicAdd", "&": "atomicAnd", "|": "atomicOr", "^": "atomicXor"}
_TEXTS = ("reason", "declined")
_MORE_TEXTS = ("shared_out_reason", ENDS_LATER, MAY_LOSE)
_PROMISE = re.compile(
    r"(, or promise )noalias\(a, b\) of the pointers read in PTX line ([\d, ]+) "
    r"and written in (\d+(?:, \d+)*)"
)
_MOST_NAMED = 3
"""Of more variables, each is as likely to be none that is meant."""


class Blame:
    """Tells users of their own code.

    Args:
        table: the places that PTX was made of.
        marked: the source.
        ptx: the PTX, before any pass.

    Attributes:
        cases: tells of those of the source.
    """

    def __init__(self, table: LineTable, marked: Marked, ptx: str):
        self._marked = marked
        self._functions = FunctionTexts(ptx)
        self._recursive = Recursive(self._functions)
        self._lines = SourceLines(table, marked.files)
        self._context = ContextNames(self._functions, self._lines, marked.suspects)
        self.cases = SourceCases(marked, self._lines.of)

    def tell(self, remarks: Mapping[str, Sequence[Remark]]) -> dict[str, list[Remark]]:
        """The remarks, with what is known of the source in what they say."""
        return {
            kernel: [
                self._told(remark, _place_of(remark, mine)) for remark in self.cases.in_order(mine)
            ]
            for kernel, mine in remarks.items()
        }

    def _told(self, remark: Remark, meant: Span) -> Remark:
        """A remark, with what is known of the source in it; its reason is about a path there."""
        texts = {key: text for key in _TEXTS if (text := getattr(remark, key))}
        details = dict(remark.details)
        for key in _MORE_TEXTS:
            if more := details.get(key):
                details[key] = self._text(remark, more)
        places = [match for text in texts.values() for match in _IN_PTX.finditer(text)]
        if spans := list(filter(None, map(self._span, places))):
            details["culprits"] = [
                {"file": span.file, "line": span.line, "column": span.column} for span in spans
            ]
        if "case" in details:
            details["case"] = self.cases.name(remark)
        if context := details.get("context"):
            details["context"] = list(self._context.named(remark, context))
        about = replace(remark, position=meant)
        new: dict[str, Any] = {key: self._text(about, text) for key, text in texts.items()}
        if remark.advice:
            new["advice"] = self._advice(remark, remark.advice)
        return replace(remark, details=details, **new)

    def _text(self, remark: Remark, text: str) -> str:
        """A reason with the names of variables, and the place before each instruction."""
        first, suspects, at = _IN_PTX.search(text), self._marked.suspects, remark.position
        text = self._recursive.told(remark.kernel, self._with_promise(remark, text))
        text = with_bound(suspects, at, with_arrays(suspects, at, text))
        places = self._lines.every(int(first[1])) if first else []
        names = self._names(remark, text, places)
        text = elsewhere(suspects, at, text)
        if not names and _about(text) == "arrays":
            text, names = self._with_variables(remark, text, places)
        text = with_whole(suspects, at, respelled(suspects, at, text, names), names)
        text = self._with_misused(remark, with_members(suspects, at, text, names), names)
        text, names = self._with_no_reduction(remark, text, names)
        if behind := lacking_behind(suspects, at, text, names):
            text, names = with_clauses(text, behind), []
        is_of_several = len(names) > 1 and _about(text) == "carried"
        unnamed = lacking(suspects if is_of_several else None, at, text, names)
        if unnamed:
            names = [name for _, name in unnamed]
            text = with_clauses(text, unnamed)
        text = self._with_elements(remark, self._with_choice(remark, text, names), names)
        extreme = suspects.extreme(at) if suspects else None
        if extreme and extreme[1] in names:
            text = with_extreme(text, *extreme)
        elif len(names) == 1:
            text = self._with_operation(remark, text, names[0])
        elif names:
            text = self._with_several(remark, text, names)
        elif REDUCTION_HINT in text and suspects:
            behind = suspects.unnamed(at, around=True)
            text = with_clauses(text, behind) if behind else text.replace(REDUCTION_HINT, ALL_OWN)
        text = self._with_copy(remark, with_atomic(suspects, at, text, names), names, places)
        places_told = list(map(self._span, _IN_PTX.finditer(text)))
        text = with_parting(suspects, at, text, places_told[-1] if places_told else None)
        text = with_jump(suspects, at, text, self.cases.begin(remark))
        text = with_goto(suspects, at, with_loop(suspects, at, text))
        named = names if len(names) <= _MOST_NAMED else []
        quoted = " or ".join(f'"{name}"' for name in named)
        if quoted and first is None:
            head, separator, tail = text.partition(";")
            return f"{head} ({quoted}){separator}{tail}"
        told = _IN_PTX.sub(self._place, text)
        return _PLACE.sub(f"({quoted}, ", told, count=1) if quoted else told

    def _with_variables(
        self, remark: Remark, text: str, places: Sequence[Span]
    ) -> tuple[str, list[str]]:
        """What is said of arrays where there are none, said of variables, and their names: they lie
        in memory since a function that stays one gets their addresses."""
        suspects = self._marked.suspects
        found = suspects.handed(remark.position, places) if suspects else []
        called = self._functions.called_in(remark.kernel)
        kept = [one for one in found if any(_is_called(one[1], by) for by in called)]
        if not kept:
            return text, []
        name = kept[0][1]
        own = [by for by in called if _is_called(name, by)]
        text = text.replace(ARRAY, f"(a variable of the thread's own, whose address {name} gets)")
        head, _, tail = parts_of(text)
        advice = f"declare {name} __forceinline__, or let it return what it makes of it"
        if any(map(self._functions.calls_itself, own)):
            advice = f"let {name} return what it makes of it"
        return f"{head}; {with_rest(advice, tail)}", [one for one, by in kept if by == name]

    def _with_no_reduction(
        self, remark: Remark, text: str, names: list[str]
    ) -> tuple[str, list[str]]:
        """A reason that would offer reductions, and whom it means, where the loop does more with
        some than to update them: nothing serves as long as it does."""
        suspects, at = self._marked.suspects, remark.position
        if suspects is None or REDUCTION_HINT not in text or _about(text) != "carried":
            return text, names
        if made := next((n for n in names if hindrance(suspects, at, n)), None):
            by = hindrance(suspects, at, made) or ""
            whole = f'"{by}", from which "{made}" is made,'
            own = self._own(remark, by).replace(f'"{by}"', whole, 1)
            return text.replace(REDUCTION_HINT, own + self._way_out(remark, text, by, made)), [made]
        found = {name: suspects.no_reduction(at, name) for name in names}
        found = {one: use for one, use in found.items() if use and not suspects.ends_loop(at, one)}
        name, use = next(iter(found.items()), ("", None))
        if use is None or suspects.is_stepped(at, name):
            return text, names
        more = NO_REDUCTION.format(use.file, use.line)
        own = self._own(remark, name) + more + self._way_out(remark, text, name)
        return text.replace(REDUCTION_HINT, own), [name]

    def _with_copy(
        self, remark: Remark, text: str, names: Sequence[str], places: Sequence[Span]
    ) -> str:
        """A reason that tells where a variable is set, if that is not the line at fault."""
        suspects, found = self._marked.suspects, text
        for name in names if suspects and places else ():
            span = suspects.set_behind(remark.position, name) if suspects else None
            if span and span.line != places[0].line:
                needed = f'needs "{name}"'
                found = found.replace(needed, f"{needed} (set in {span.file}:{span.line})")
        return found

    def _with_choice(self, remark: Remark, text: str, names: Sequence[str]) -> str:
        """What is chosen beside a minimum goes with it where one branch sets both."""
        suspects = self._marked.suspects
        found = suspects.chosen_beside(remark.position) if suspects else None
        if found is None or _about(text) != "carried" or not {*found[:2]} & {*names}:
            return text
        chosen, best, by, branch = found
        hint = f'set "{chosen}" where "{best}" is, "{branch}", and {ON_LOOP}: '
        head, _, tail = parts_of(text)
        return f"{head}; {with_rest(f'{hint}reduction({by}: {best})', tail)}"

    def _with_misused(self, remark: Remark, text: str, names: Sequence[str]) -> str:
        """What is said of reductions speaks of those with which the loop does more than that; where
        there is none, and something else may be at fault, that is one, or has to be no more."""
        suspects, match = self._marked.suspects, MISUSED.search(text)
        if suspects is None or match is None or MISUSED_AT in text or FLUSHED in text:
            return text
        if any(suspects.ends_loop(remark.position, name) for name in names):
            return text.replace(match[0], REDUCTION_HINT)
        if wrong := suspects.misused(remark.position):
            if kept := kept_otherwise(suspects, remark.position, wrong):
                return text.replace(match[0], kept)
            uses = dict.fromkeys(f"{use.file}:{use.line}" for use in wrong.values() if use)
            more = f"{MISUSED_AT} what it does in {' and '.join(uses)}{KEEP_OUT}" if uses else ""
            named = match[0].replace(f"({match[1]})", f"({' or '.join(wrong)})", 1)
            return text.replace(match[0], named + more)
        declared = set(match[1].split(" or "))
        extreme = suspects.extreme(remark.position)
        is_served = set(names) <= declared or (
            extreme is not None and extreme[1] in declared.intersection(names)
        )
        return text if is_served else text.replace(match[0], REDUCTION_HINT)

    def _with_several(self, remark: Remark, text: str, names: Sequence[str]) -> str:
        """A hint at reductions of several variables says of which, if it is known of all but one,
        and what to do about that."""
        suspects, at = self._marked.suspects, remark.position
        clauses, rest = served_of(suspects, at, names) if suspects else ("", names)
        if len(rest) != 1 or not clauses:
            return text.replace(REDUCTION_HINT, SEVERAL)
        own, more = self._own(remark, rest[0]), self._way_out(remark, text, rest[0])
        hint = f"{own}, and if the loop only updates the rest, {ON_LOOP}: {clauses}{more}"
        return text.replace(REDUCTION_HINT, hint)

    def _with_elements(self, remark: Remark, text: str, names: Sequence[str]) -> str:
        """What is said of an array that is added up is of use: a reduction is of variables."""
        suspects = self._marked.suspects
        is_one = suspects is not None and len(names) == 1
        found = suspects.adds_up(remark.position, names[0]) if suspects and is_one else None
        if found is None:
            return text
        by, element = found
        hint = COLUMNS.format(_ATOMICS[by], element) if element else ELEMENTS.format(by)
        if ANOTHER_LOOP in text:
            head, _, tail = parts_of(text)
            return f"{head}; {with_rest(hint, tail)}"
        return MISUSED.sub(hint, text.replace(REDUCTION_HINT, hint).replace(IN_PATH, hint))

    def _with_promise(self, remark: Remark, text: str) -> str:
        """A hint at a promise says of which pointers, if the lines of all accesses tell."""
        match, suspects = _PROMISE.search(text), self._marked.suspects
        if match is None or suspects is None:
            return text
        listed = ([int(number) for number in one.split(", ")] for one in match.groups()[1:])
        reads, writes = (list(map(self._lines.of, each)) for each in listed)
        known = [[span for span in each if span] for each in (reads, writes)]
        clauses = None
        if known == [reads, writes]:
            clauses = suspects.promise(remark.position, *known)
        return text.replace(match[0], f"{match[1]}{clauses}" if clauses else "")

    def _with_operation(self, remark: Remark, text: str, name: str) -> str:
        """A hint at a reduction says which, or something else where it cannot be one."""
        suspects = self._marked.suspects
        operation = suspects.operation(remark.position, name) if suspects else None
        if suspects and operation is None:
            behind = suspects.unnamed(remark.position, around=True)
            operation = next((by for by, one in behind if one == name and by in KEEPS), None)
        if suspects and suspects.ends_loop(remark.position, name):
            return with_what_ends(suspects, remark.position, text, name)
        if (
            operation not in (None, *REDUCTIONS)
            and suspects
            and suspects.is_branch(remark.position)
        ):
            serves = REMOVE if is_for_tiles(remark.asked) else BY_NO_REDUCTION
            return text.replace(REDUCTION_HINT, serves)
        if operation not in REDUCTIONS or (suspects and suspects.is_index(remark.position, name)):
            own = self._own(remark, name) + self._way_out(remark, text, name)
            return text.replace(REDUCTION_HINT, own)
        if operation in KEEPS:
            return with_extreme(text, operation, name)
        if operation != "+" and REDUCTION_HINT in text:
            return with_clauses(text, [(operation, name)])
        return text.replace(SUMS, f"reduction({operation}: {name})")

    def _own(self, remark: Remark, name: str) -> str:
        """What to do about a variable of which there is no reduction."""
        suspects = self._marked.suspects
        if suspects is None or not suspects.is_stepped(remark.position, name):
            return f'if no iteration needs "{name}" of another, {OWN}'
        counter = suspects.counter(remark.position)
        seeded = f' from "{counter}"' if counter else ", from what the iteration is of"
        return f'if no iteration needs "{name}" of another, {SEEDED}{seeded}'

    def _way_out(self, remark: Remark, text: str, *names: str) -> str:
        """How a branch can be collected all the same where iterations hand on a variable, and
        others that are made from it, for the end of advice; and what else, if nothing follows."""
        suspects, first = self._marked.suspects, _IN_PTX.search(text)
        behind = suspects.set_behind(remark.position, names[0]) if suspects else None
        made = self._span(first) if first else None
        is_elsewhere = behind is not None and made is not None and behind.line != made.line
        is_in_path = is_elsewhere and not _is_first(_COPY, text)
        asked = is_for_tiles(remark.asked)
        found = way_out(suspects, remark.position, names, is_in_path=is_in_path, is_asked=asked)
        return found + f"; else {REMOVE}" * text.endswith(REDUCTION_HINT)

    def _advice(self, remark: Remark, text: str) -> str:
        """What would be gained, with the names of what is spoken of."""
        suspects = self._marked.suspects
        if suspects and SUMS in text:
            clauses = clauses_of(suspects.unnamed(remark.position))
            text = text.replace(SUMS, clauses) if clauses else text.replace(f"; {TO_SHARE}", "")
        text = with_skipped(suspects, remark.position, text)
        text = with_arrays(suspects, remark.position, text)
        return with_bound(suspects, remark.position, text)

    def _place(self, match: re.Match[str]) -> str:
        span = self._span(match)
        return f"({span.file}:{span.line}, PTX line {match[1]}: " if span else match[0]

    def _span(self, match: re.Match[str]) -> Span | None:
        return self._lines.of(int(match[1]))

    def _names(self, remark: Remark, text: str, places: Sequence[Span]) -> list[str]:
        """The variables that may be meant."""
        about = _about(text)
        in_memory = about in ("accessed", "written")
        if in_memory and _IN_CALL.search(text):
            return []  # it is the function's
        suspects = self._marked.suspects
        if about is None or suspects is None:
            return []
        if in_memory and _SHARED.search(text):
            about = "shared"
        elif in_memory and _is_first(_ATOMIC, text):
            about = "atomic"
        made = _FLOATING.search(text)
        kind = ("f64" if made[1] else "f32") if made else INTEGER if _INTEGER.search(text) else ""
        names = suspects.names(remark.position, about, places, kind, remark.arm)
        if about == "handed" and _PREDICATE.search(text):
            names = flags(suspects, remark.position) or names
        if LAST_TURN in text:
            names = read_outside(suspects, remark.position, names, kind)
        if not names and about == "uninitialised":
            names = names_of_unset(suspects, remark.position, places, kind)
        return names


def _place_of(remark: Remark, remarks: Sequence[Remark]) -> Span:
    """Where the path is of which a reason tells: that of the loop around it, if it is left for
    what is said of that."""
    head, *_ = parts_of(remark.reason or "")
    if not head.startswith(LOOP_LEFT):
        return remark.position
    reason = head.removeprefix(LOOP_LEFT)
    others = (one for one in remarks if parts_of(one.reason or "")[0] == reason)
    return next((one.position for one in others), remark.position)


def _is_called(name: str, callee: str) -> bool:
    """Whether a function of PTX is one of that name, which C++ mangles."""
    return callee == name or f"{len(name)}{name}" in callee


def _is_first(words: re.Pattern[str], text: str) -> bool:
    """Whether the first instruction that a text shows is such a one."""
    first, found = _IN_PTX.search(text), words.search(text)
    return first is not None and found is not None and found.start() == first.start() + 1


def _about(text: str) -> str | None:
    """What a reason is about."""
    return next((about for words, about in _ABOUT.items() if words in text), None)
