"""What users are told: of each annotation that something is to be said of, one line for each arm.

The copies of an arm, which the compiler made, are told of together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ccc.demangle import demangle, in_short
from ccc.errors import CccError, Span, render
from ccc.likewise import joined, likewise, with_copy, with_room_for_all, without_room
from ccc.remark import (
    CALLS,
    LEFT,
    NOTED,
    OF_ALL,
    PLACE,
    SERVES,
    Remark,
    Report,
    architectures,
    of_arm,
    read_report,
    silent_among,
)

_MOST_NAMED = 3
_MOST_CASES = 12
_NOTED = tuple(verb for _, verb in NOTED)
_VERB = re.compile("|".join([LEFT, *_NOTED, " does not apply: "]))
_SITE = re.compile(rf"(?:[^\s(),\"]+:\d+, )?{PLACE.pattern}")
"""A place with that in the source, which is not the same in cases of a switch."""

_ONE_COPY = (
    'if nvcc unrolled a loop around it, "#pragma unroll 1" there leaves one copy, or "ccc for" '
    "where that lies in the annotated one"
)
_ONE_EACH = "each of the {} calls of its function has a copy"
_ONE_COPY_SERVES = ("unroll", "shared memory", "go round as often: mark")
"""Words of what says how there would be one copy, or that there is room for all."""

_Told = Iterable[tuple[Remark, CccError | None]]
"""Remarks, and what a user is to be told of each, if anything."""


@dataclass(frozen=True, slots=True)
class _Said:
    """What is said of an arm: of some copies of it, what was done or not, and why.

    ``cases`` are those of which it is said, if the arm is a case.
    """

    remark: Remark
    head: str
    verb: str
    text: str
    copy: str
    cases: tuple[str, ...]

    @property
    def line(self) -> tuple[str, CccError]:
        """It, and the kernel."""
        message = f"{self.head}{self.verb}{self.text}"
        return self.remark.kernel, CccError(message, self.remark.position)

    @property
    def what(self) -> str:
        """What it is said of."""
        several = len(self.cases) > 1
        labels = _listed(list(map(_label, self.cases)), _MOST_CASES)
        return with_copy(f"path ({labels})" if several else self.remark.what, self.copy)

    @property
    def name(self) -> str:
        """The same where others are like it."""
        case = _label(self.cases[0]) if len(self.cases) > 1 else "".join(self.cases)
        return case or "the other arm"


def complaints(remarks: Mapping[str, Sequence[Remark]]) -> list[CccError]:
    """What a user is to be warned of: each annotation once, with the kernels that it is in.

    An annotation is applied if any copy of it in the kernel is. One whose code vanished is silent
    where another copy did not, in whatever kernel, and one that lies in no loop where others do.
    """
    every = [remark for mine in remarks.values() for remark in mine]
    passed, followed, is_silent = _let_pass(every), _followed(every), silent_among(every)

    def is_refused(one: Remark) -> bool:
        return not (_key(one) in passed or is_silent(one))

    denied = _in_short((one, None if _key(one) in followed else one.denial) for one in every)
    told = without_idle_copies(every)
    refused = _in_short((one, one.refusal if is_refused(one) else None) for one in told)
    return _by_kernel([*denied, *refused])


def notes(report: Report) -> list[str]:
    """A line for each annotation that was left because nothing would be gained, or of which some
    copies were left, and for each of its cases and arms."""
    kernels = report["kernels"]
    return for_architectures(
        {
            arch: _notes([one for one in kernels if one.get("arch", "") == arch])
            for arch in architectures(report)
        }
    )


def _notes(kernels: Sequence[Mapping[str, Any]]) -> list[str]:
    """The same of some kernels of a report."""
    apart = (read_report({"kernels": [kernel]}) for kernel in kernels)
    told = _by_kernel(
        said for read in apart for mine in read.values() for said in _notes_of_kernel(mine)
    )
    return [render("remark", one.message, one.span) for one in told]


def _notes_of_kernel(every: Sequence[Remark]) -> Iterator[tuple[str, CccError]]:
    """What there is to be said that is no warning."""
    passed, followed = _let_pass(every), _followed(every)

    def told(one: Remark) -> CccError | None:
        is_passed = _key(one) in passed and not one.has_vanished
        return one.note or (one.refusal if is_passed else None)

    yield from _in_short((one, one.denial if _key(one) in followed else None) for one in every)
    yield from _in_short((one, told(one)) for one in without_idle_copies(every))


def _key(one: Remark) -> Hashable:
    """What copies of one arm in one kernel have in common."""
    return one.kernel, *of_arm(one)


def _served(every: Iterable[Remark]) -> set[Hashable]:
    """The arms of which some copy was transformed."""
    return {_key(one) for one in every if one.applied}


def _let_pass(every: Sequence[Remark]) -> set[Hashable]:
    """These, and arms that may stay as they are, all copies of them, since others are served."""
    asking = {_key(one) for one in every if one.reason and SERVES not in one.reason}
    return _served(every) | ({_key(one) for one in every if one.reason} - asking)


def without_idle_copies(every: Sequence[Remark]) -> list[Remark]:
    """Without the copies that would gain nothing of arms none of which was transformed and some
    cannot be: users hear of these, and not of what unrolling or peeling left over."""
    refused = {_key(one) for one in every if one.reason is not None and not one.has_vanished}
    refused -= _served(every)
    return [one for one in every if one.advice is None or _key(one) not in refused]


def _followed(every: Iterable[Remark]) -> set[Hashable]:
    """Those of which some copy got what was asked for."""
    return {_key(one) for one in every if one.applied and one.is_asked}


def for_architectures(said: Mapping[str, Iterable[str]]) -> list[str]:
    """What is said, once each, with the architectures for which it is, where it is not for all.

    >>> for_architectures({"compute_80": ["so [in k]", "well"], "compute_90": ["well"]})
    ['so [in k, for compute_80]', 'well']
    """
    firsts: dict[str, str] = {}
    where: dict[str, dict[str, None]] = {}
    for arch, texts in said.items():
        for text in texts:
            key = PLACE.sub("", text)
            firsts.setdefault(key, text)
            where.setdefault(key, {})[arch] = None
    return [
        text if len(where[key]) == len(said) else _with_architectures(text, list(where[key]))
        for key, text in firsts.items()
    ]


def _with_architectures(text: str, archs: Sequence[str]) -> str:
    """What is said, with some architectures at the end of its first line."""
    head, newline, shown = text.partition("\n")
    names = f"for {', '.join(archs)}"
    head = f"{head[:-1]}, {names}]" if head.endswith("]") else f"{head} [{names}]"
    return f"{head}{newline}{shown}"


def _in_short(told: _Told) -> Iterator[tuple[str, CccError]]:
    """What is said of each kernel, in a line for each arm: of the cases and arms of one annotation
    in full of the first only, and once of cases that are alike."""
    arms: dict[Hashable, list[tuple[Remark, CccError | None]]] = {}
    for one, error in told:
        if error is not None or not one.has_vanished:
            arms.setdefault(_key(one), []).append((one, error))
    there_are = Counter((arm[0][0].kernel, arm[0][0].position) for arm in arms.values())
    annotations: dict[tuple[str, Span], list[_Said]] = {}
    every = _with_one_size(list(filter(None, map(_of_copies, arms.values()))))
    for said in _same_cases(every):
        annotations.setdefault((said.remark.kernel, said.remark.position), []).append(said)
    for key, mine in annotations.items():
        yield from (said.line for said in _like_the_first(mine, there_are[key]))


def _like_the_first(mine: Sequence[_Said], arms: int) -> Iterator[_Said]:
    """What is said of the arms of one annotation, which has so many; of a strategy without their
    names if it is the same of all."""
    said_of = sum(len(one.cases) or 1 for one in mine)
    first, alike = mine[0], said_of == arms and len({one.text for one in mine}) == 1
    for said in mine:
        text = said.text if said is first else likewise(first.text, said.text, first.name)
        if said.verb in (LEFT, *_NOTED):
            yield replace(said, head=said.what, text=text)
        elif alike and not said.copy:
            yield said
        else:
            what = f"path ({said.remark.arm})" if said.what == "path" else said.what
            yield replace(said, head=f"{said.head} of {what}", text=text)


def _of_copies(arm: Sequence[tuple[Remark, CccError | None]]) -> _Said | None:
    """What is said of the copies of an arm, together."""
    messages = {n: error.message for n, (_, error) in enumerate(arm, 1) if error is not None}
    if not messages:
        return None
    number = min(messages)
    first, message = arm[number - 1][0], messages[number]
    verb = _VERB.search(message)
    assert verb is not None
    texts = {number: _VERB.split(one, maxsplit=1)[1] for number, one in messages.items()}
    copy, text = joined(texts, len(arm), PLACE)
    done = [one for one, _ in arm if one.applied]
    if done and verb[0] == LEFT:
        calls = first.details.get(CALLS, 1)
        hint = _ONE_COPY if calls < len(arm) else _ONE_EACH.format(calls)
        hint = "" if any(words in text for words in _ONE_COPY_SERVES) else f"; {hint}"
        text = f"{text}{hint}; {_others(done)}"
    case = first.details.get("case")
    return _Said(first, message[: verb.start()], verb[0], text, copy, (case,) if case else ())


def _others(done: Sequence[Remark]) -> str:
    """What became of the other copies."""
    how = " or ".join(dict.fromkeys(str(one.strategy) for one in done))
    others = "other copy is" if len(done) == 1 else f"other {len(done)} copies are"
    return f"the {others} applied ({how})"


def _with_one_size(told: Sequence[_Said]) -> Iterator[_Said]:
    """What is said of arms, where those of one annotation differ by how large blocks may be with
    what has room for all of them."""

    def key(one: _Said) -> Hashable:
        of = one.remark.kernel, one.remark.position, one.verb, one.copy
        return (*of, without_room(_SITE.sub("", one.text)))

    alike: dict[Hashable, list[str]] = {}
    for one in told:
        alike.setdefault(key(one), []).append(one.text)
    for one in told:
        yield replace(one, text=with_room_for_all([one.text, *alike[key(one)]]))


def _same_cases(told: Iterable[_Said]) -> list[_Said]:
    """What is said of arms; of the cases of one switch together where the same is said, wherever in
    the code that is."""
    found: dict[Hashable, _Said] = {}
    for one in told:
        key = _key(one.remark)
        if one.cases:
            key = one.remark.kernel, one.remark.position, one.copy, _SITE.sub("", one.text)
        if before := found.get(key):
            found[key] = replace(before, cases=before.cases + one.cases)
        else:
            found[key] = one
    return list(found.values())


def _label(case: str) -> str:
    """A case by its label alone, or by its line if it has none.

    >>> _label("case 3, line 9"), _label("case, line 9")
    ('case 3', 'case on line 9')
    """
    label, _, line = case.partition(", ")
    return f"case on {line}" if label == "case" else label


def _by_kernel(said: Iterable[tuple[str, CccError]]) -> list[CccError]:
    """What was said of kernels, each thing once, with the names of these."""
    kernels: dict[tuple[Span | None, str], dict[str, None]] = {}
    whole: set[str] = set()
    firsts: dict[tuple[Span | None, str], CccError] = {}
    for kernel, one in said:
        if not any(words in one.message for words in whole):
            whole.update(words for words in OF_ALL if words in one.message)
            key = one.span, PLACE.sub("", one.message)
            firsts.setdefault(key, one)
            name = in_short(demangle(kernel).removeprefix("{anonymous}::"))
            kernels.setdefault(key, {})[name] = None
    return [
        CccError(f"{one.message} [in {_listed(list(kernels[key]))}]", one.span)
        for key, one in firsts.items()
    ]


def _listed(names: Sequence[str], most: int = _MOST_NAMED) -> str:
    """Names in a row, the first few of many."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
