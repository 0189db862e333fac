"""What is to be said of an annotation: one object, which warnings, report and tools all print."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from ccc.demangle import demangle
from ccc.errors import CccError, Span, render
from ccc.ir.markers import DIRECTIVES, LABEL, WHOLE_KERNEL, Marker
from ccc.likewise import copies, likewise, with_copy
from ccc.options import COLLECT, Request
from ccc.version import VERSION

Report = dict[str, Any]
"""JSON, as docs/annotations.md describes it."""
VANISHED = (
    "no loop is left here",
    "no annotated loop is left around it",
    "no branch is left here",
    "nothing leads to this branch",
    "all lanes of a warp take the branch together",
    "it is in a device function that was not inlined",
)
"""How the reasons begin for which one copy of an annotation is left, where others serve: the
compiler took a turn out of a loop, made several loops of one, or inlined a function into a kernel
that is not annotated."""
OF_ALL = ("the code is compiled for the debugger",)
"""Words of reasons that are told at the first annotation only, since they are of all."""
BY_ITS_CODE = "by its code"
"""How long a path is where nobody has counted: of two ways each is taken one time in two, and loops
turn as often as is usual."""
COUNTED = "counted"
"""The same where a profile tells it: what warps ran, in the mean."""
_LEFT = " left as it was: "
DECLINED = ") does not apply: "
"""What follows a strategy that does not apply where that is said."""
ASKED_IN = "asked_in"
"""What the report calls the file of decisions that asks for what does not apply."""
_MOST_NAMED = 3
_MOST_CASES = 12
PLACE = re.compile(r"PTX line \d+: .*?;\)")
"""Where in the PTX something is, which is not the same in copies of it."""
_SITE = re.compile(rf"(?:[^\s(),\"]+:\d+, )?{PLACE.pattern}")
"""The same with the place in the source, which is not the same in cases of a switch."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What became of one copy of an annotation, as LLVM's optimization remarks tell of loops.

    It is made when that is settled, and does not change any more.

    Attributes:
        kind: whether the code was transformed.
        position: where the annotation stands.
        kernel: the function, by its (mangled) name.
        annotation: its directive.
        arm: the kind of its marker, which tells the arms of one branch apart.
        strategy: what was done; None where nothing was.
        reason: why nothing could be done; None where something was, or nothing was to be done.
        advice: why nothing was worth doing, in figures, and how to insist.
        asked: the strategy that was asked for, if any.
        declined: why that was not taken; None where the reason says it.
        is_wish: whether only the command line asked, for all paths: then nobody is warned.
        details: what else the report says, by key.
    """

    kind: Literal["applied", "missed"]
    position: Span
    kernel: str
    annotation: str
    arm: str
    strategy: str | None = None
    reason: str | None = None
    asked: str | None = None
    declined: str | None = None
    advice: str | None = None
    is_wish: bool = False
    details: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @staticmethod
    def applied_to(
        marker: Marker, kernel: str, strategy: str, details: Mapping[str, Any]
    ) -> Remark:
        """Of an annotation whose code was transformed."""
        told = {**_case(marker), **details}
        return Remark("applied", *_place(marker, kernel), strategy, details=told)

    @staticmethod
    def missed_at(
        marker: Marker,
        kernel: str,
        reason: str | None,
        details: Mapping[str, Any] = MappingProxyType({}),
    ) -> Remark:
        """Of an annotation whose code is as it was."""
        told = {**_case(marker), **details}
        return Remark("missed", *_place(marker, kernel), reason=reason, details=told)

    @staticmethod
    def left_by_request(marker: Marker, kernel: str, strategy: str) -> Remark:
        """Of an annotation whose code is as it was because the user asked for that."""
        return Remark("missed", *_place(marker, kernel), strategy, details=_case(marker))

    @staticmethod
    def not_worth_it(
        marker: Marker, kernel: str, advice: str, details: Mapping[str, Any]
    ) -> Remark:
        """Of an annotation whose code is as it was because nothing would be gained."""
        told = {**_case(marker), **details}
        return Remark("missed", *_place(marker, kernel), "leave", advice=advice, details=told)

    @property
    def applied(self) -> bool:
        """Whether the code was transformed."""
        return self.kind == "applied"

    def follows(self, request: Request) -> bool:
        """Whether what was done is what was asked for."""
        return request.name == COLLECT or request.is_met_by(self.strategy)

    @property
    def is_asked(self) -> bool:
        """Whether somebody asked for what was done; else it was chosen."""
        request = None if self.asked is None else Request.read(self.asked)
        return request is not None and self.follows(request)

    @property
    def refusal(self) -> CccError | None:
        """The warning, or with ``--ccc-strict`` the error, that tells the user of a reason."""
        if self.reason is None:
            return None
        return CccError(f"{self._what}{_LEFT}{self.reason}", self.position)

    @property
    def denial(self) -> CccError | None:
        """The same of a strategy that was asked for and does not apply."""
        if self.declined is None or self.is_wish:
            return None
        done = f"; {self.strategy} is done instead" if self.applied else ""
        file = f"{self.details[ASKED_IN]}: " if ASKED_IN in self.details else ""
        message = f"{file}strategy({self.asked}{DECLINED}{self.declined}{done}"
        return CccError(message, self.position)

    @property
    def complaint(self) -> CccError | None:
        """What there is to complain of first."""
        return self.denial or self.refusal

    @property
    def note(self) -> CccError | None:
        """What a user may want to know who is not to be warned."""
        if self.advice is None:
            return None
        return CccError(f"{self._what}{_LEFT}{self.advice}", self.position)

    @property
    def arm_name(self) -> str:
        """Which arm of the annotation it is of, as users are told; empty where there is one."""
        arm = "" if self.arm in self.annotation else self.arm
        return str(self.details.get("case", arm))

    @property
    def _what(self) -> str:
        """What was left: of several cases at one place, or of two arms, which one."""
        if self.arm in WHOLE_KERNEL:
            return "kernel"
        if self.arm == "else":
            return "path (else)"
        return f"path ({self.details['case']})" if "case" in self.details else "path"

    def entry(self) -> dict[str, Any]:
        """What the report says of it among the paths of its kernel."""
        return {
            "file": self.position.file,
            "line": self.position.line,
            "column": self.position.column,
            "directive": self.annotation,
            "arm": self.arm,
            "applied": self.applied,
            "reason": self.reason,
            "strategy": self.strategy,
            "asked": self.asked,
            "declined": self.declined,
            "advice": self.advice,
            **({"is_wish": True} if self.is_wish else {}),
            **self.details,
        }

    @property
    def has_vanished(self) -> bool:
        """Whether this copy is left since the compiler made something else of its code."""
        return self.reason is not None and self.reason.startswith(VANISHED)

    @staticmethod
    def read(entry: Mapping[str, Any], kernel: str = "") -> Remark:
        """The remark that an entry of a report, perhaps of an earlier version, was made of."""
        told = dict(entry)
        position = Span(told.pop("file"), told.pop("line"), told.pop("column", 0))
        return Remark(
            "applied" if told.pop("applied") else "missed",
            position,
            kernel,
            told.pop("directive"),
            told.pop("arm", ""),
            told.pop("strategy", told.get("discipline")),
            told.pop("reason", None),
            told.pop("asked", None),
            told.pop("declined", None),
            told.pop("advice", None),
            told.pop("is_wish", False),
            told,
        )


_Told = tuple[Remark, CccError]
"""A remark, and what a user is told of it."""


def report(remarks: Mapping[str, Sequence[Remark]]) -> Report:
    """The report of remarks by kernel."""
    kernels = [
        {"name": name, "paths": [remark.entry() for remark in mine]}
        for name, mine in remarks.items()
    ]
    return {"version": VERSION, "kernels": kernels}


def read_report(report: Mapping[str, Any]) -> dict[str, list[Remark]]:
    """The remarks of a report, by kernel."""
    found: dict[str, list[Remark]] = {}
    for kernel in report["kernels"]:
        name = kernel["name"]
        found.setdefault(name, []).extend(Remark.read(entry, name) for entry in kernel["paths"])
    return found


def architectures(report: Report) -> list[str]:
    """Those for which its kernels were compiled; an empty name where nobody told that."""
    return list(dict.fromkeys(kernel.get("arch", "") for kernel in report["kernels"]))


def complaints(remarks: Mapping[str, Sequence[Remark]]) -> list[CccError]:
    """What a user is to be warned of: each annotation once, with the kernels that it is in.

    An annotation is applied if any copy of it in the kernel is. One whose code vanished is silent
    where another copy did not, in whatever kernel.
    """
    every = [remark for mine in remarks.values() for remark in mine]
    served = {(*of_arm(one), one.kernel) for one in every if one.applied}
    seen = {of_arm(one) for one in every if not one.has_vanished}

    def is_refused(one: Remark) -> bool:
        serves = (*of_arm(one), one.kernel) in served
        return not (serves or (one.has_vanished and of_arm(one) in seen))

    denied = _in_short((one, one.denial) for one in every)
    refused = _in_short((one, one.refusal) for one in every if is_refused(one))
    return _by_kernel([*denied, *refused])


def notes(report: Report) -> list[str]:
    """A line for each annotation that was left because nothing would be gained, and for each of its
    cases, arms and copies."""
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
    every = (mine for kernel in apart for mine in kernel.values())
    told = _by_kernel(
        one for mine in every for one in _in_short((remark, remark.note) for remark in mine)
    )
    return [render("remark", one.message, one.span) for one in told]


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


def in_instructions(length: float) -> str:
    """A length in words; all that a path does may be in paths inside it.

    Profiles count instructions of PTX, of which some become many.

    >>> in_instructions(0.9), in_instructions(12.2), in_instructions(0)
    ('1 machine instruction', '12 machine instructions', 'no instruction of its own')
    """
    number = round(length)
    many = f"{number} machine instruction{'s' * (number != 1)}"
    return many if number else "no instruction of its own"


def span_of(worst: float, usual: float, missed: Collection[float] = ()) -> str:
    """What is expected where not all is known; lanes that agree may be the better case.

    What was ``missed`` is not told as if it had been reached, as two digits alone would:

    >>> span_of(0.9471, 3.09), span_of(0.9471, 3.09, missed=[0.95]), span_of(1, 1)
    ('0.95 to 3.09', '0.947 to 3.09', '1.00')
    """

    def shown(ratio: float) -> str:
        digits = 2
        while any(ratio < least <= round(ratio, digits) for least in missed):
            digits += 1
        return f"{ratio:.{digits}f}"

    low, high = map(shown, sorted((worst, usual)))
    return low if low == high else f"{low} to {high}"


def saved(context: Iterable[Mapping[str, str]]) -> list[str]:
    """What a task saves, in words: variables where they are known, and how many values more."""
    values = list(context)
    names = list(dict.fromkeys(one["variable"] for one in values if "variable" in one))
    others = sum("variable" not in one for one in values)
    more = f"{others} value{'s' * (others != 1)}{' more' if names else ''}"
    return [*names, more] if others else names


def of_arm(remark: Remark) -> tuple[Span, str, str]:
    """What copies of one arm of an annotation have in common; each case is an arm."""
    return remark.position, remark.arm, remark.details.get("case", "")


def _in_short(told: Iterable[tuple[Remark, CccError | None]]) -> Iterator[tuple[str, CccError]]:
    """What is said of each kernel: of the cases, arms and copies of one annotation in full of the
    first only, so that each has a line that can be read, and once of cases that are alike."""
    arms: dict[Hashable, list[_Told]] = {}
    beside: dict[Hashable, list[tuple[Hashable, str]]] = {}
    for one, said in told:
        text = _SITE.sub("", said.message) if said else ""
        beside.setdefault((one.kernel, one.position), []).append((of_arm(one), text))
        if said is not None:
            arms.setdefault((one.kernel, *of_arm(one)), []).append((one, said))
    firsts: dict[Hashable, tuple[str, str]] = {}
    for copy, same in _same_cases(arms.values()):
        one, error = same[0]
        cases = [remark.details["case"] for remark, _ in same if "case" in remark.details]
        head, left, text = error.message.partition(_LEFT)
        first = firsts.get((one.kernel, one.position)) if left else None
        if first is not None:
            text = likewise(first[0], text, first[1])
        elif left:
            case = _label(cases[0]) if len(cases) > 1 else "".join(cases)
            name = case or copy.partition(" of ")[0] or "the other arm"
            firsts[one.kernel, one.position] = text, name
        if left and len(cases) > 1:
            head = f"path ({_listed(list(map(_label, cases)), _MOST_CASES)})"
        head = with_copy(head, copy) if left else head
        here = beside[one.kernel, one.position]
        if not left and min(len({two[part] for two in here}) for part in (0, 1)) > 1:
            names = cases if len(cases) == 1 else list(map(_label, cases))
            head = f"path ({_listed(names, _MOST_CASES) or one.arm}): {head}"
        yield one.kernel, CccError(f"{head}{left}{text}", error.span)


def _same_cases(arms: Iterable[Sequence[_Told]]) -> list[tuple[str, list[_Told]]]:
    """What is said of arms and copies, by which copy it is said of; of the cases of one switch
    together where the same is said of all their copies, wherever in the code that is."""
    found: dict[Hashable, tuple[str, list[_Told]]] = {}
    for arm in arms:
        for copy, (one, said) in _differing(arm).items():
            key: Hashable = (*of_arm(one), one.kernel, copy)
            if "case" in one.details and not copy:
                text = said.message.partition(_LEFT)[2] or said.message
                key = one.kernel, one.position, _SITE.sub("", text)
            found.setdefault(key, (copy, []))[1].append((one, said))
    return list(found.values())


def _label(case: str) -> str:
    """A case by its label alone, or by its line if it has none.

    >>> _label("case 3, line 9"), _label("case, line 9")
    ('case 3', 'case on line 9')
    """
    label, _, line = case.partition(", ")
    return f"case on {line}" if label == "case" else label


def _differing(arm: Sequence[_Told]) -> dict[str, _Told]:
    """What is said of the copies of an arm, each thing once, by the copies that it is said of."""
    found: dict[str, _Told] = {}
    for copy, one in zip(
        copies([PLACE.sub("", said.message) for _, said in arm]), arm, strict=True
    ):
        found.setdefault(copy, one)
    return found


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
            kernels.setdefault(key, {})[demangle(kernel).removeprefix("{anonymous}::")] = None
    return [
        CccError(f"{one.message} [in {_listed(list(kernels[key]))}]", one.span)
        for key, one in firsts.items()
    ]


def _listed(names: Sequence[str], most: int = _MOST_NAMED) -> str:
    """Names in a row, the first few of many."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _case(marker: Marker) -> dict[str, Any]:
    """Where a case of a switch begins, whose pragma stands at one place for all of them."""
    if marker.kind != "case":
        return {}
    return {"case": f"{marker.clauses.get(LABEL, 'case')}, PTX line {marker.line}"}


def _place(marker: Marker, kernel: str) -> tuple[Span, str, str, str]:
    """Position, kernel, annotation and arm."""
    return marker.span, kernel, DIRECTIVES.get(marker.kind, marker.kind), marker.kind
