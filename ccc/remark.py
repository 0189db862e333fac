"""What is to be said of an annotation: one object, which warnings, report and tools all print."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from ccc.errors import CccError, Span
from ccc.ir.markers import DIRECTIVES, LABEL, WHOLE_KERNEL, Marker
from ccc.options import COLLECT, Request
from ccc.version import VERSION

if TYPE_CHECKING:
    from ccc.ir.reannotated import Reannotated

Report = dict[str, Any]
"""JSON, as docs/annotations.md describes it."""
OUTSIDE = "no annotated loop is left around it"
_NO_LOOP = "no loop is left here"
VANISHED = (
    _NO_LOOP,
    OUTSIDE,
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
LEFT = " left as it was: "
"""What a remark says of what it is of."""
LATER = " lets its loop end later: "
"""The same where it is only that, as the loop may be left by what tasks do."""
ENDS_LATER = "ends_later"
"""What the report calls the reason of that."""
LOSES = " may lose what it writes: "
"""The same where several tasks may change one place at the same time."""
MAY_LOSE = "may_lose"
"""What the report calls the reason of that."""
TIMES = " takes the time that it waits: "
"""The same where clocks are read around that."""
TIMES_WAITING = "times_waiting"
"""What the report calls the reason of that."""
NOTED = ((MAY_LOSE, LOSES), (ENDS_LATER, LATER), (TIMES_WAITING, TIMES))
"""What is told of paths that were transformed, by the key of the reason; the first counts."""
SERVES = "since the annotation serves"
"""Words of a reason by which an arm may stay as it is: its annotation serves others."""
DECLINED = ") does not apply: "
"""What follows a strategy that does not apply where that is said."""
ASKED_IN = "asked_in"
"""What the report calls the file of decisions that asks for what does not apply."""
CALLS = "calls"
"""What the report calls in how many places the function of an annotation is called, if in several.
"""
STACK_THREADS = "stack_threads"
"""What the report calls for how many threads of a block there are stacks, if there may be more."""
IN_SHARED_MEMORY = "fit into shared memory"
"""Words of what is said of stacks that have no room."""
OF_ALL_PATHS = " for all paths of the loop"
"""Words of what is said of sizes of blocks in which all have room that were marked."""
PLACE = re.compile(r"PTX line \d+: .*?;\)")
"""Where in the PTX something is, which is not the same in copies of it."""


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
        ways: what annotations there would be if what is advised were done.
        serves_alone: whether it would be transformed without others that are left.
        informs: whether what is told of it, as the share of lanes that take it, is why something
            inside is transformed.
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
    ways: Sequence[Reannotated] = field(default=(), compare=False)
    serves_alone: bool = field(default=False, compare=False)
    informs: bool = field(default=False, compare=False)

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
    def may_gain(self) -> bool:
        """Whether what is left, though it could be transformed, may be expected to gain."""
        return self.advice is not None and round(self.most_expected, 2) > 1

    @property
    def gains_nothing(self) -> bool:
        """Whether nothing is expected to be gained by what could be done."""
        return self.advice is not None and not self.may_gain

    @property
    def most_expected(self) -> float:
        """How many times as fast as the original, at best, its loop may become; more than is usual
        where nobody knows."""
        expected: Mapping[str, float] = self.details.get("considered") or {}
        return max(expected.values(), default=2.0)

    @property
    def refusal(self) -> CccError | None:
        """The warning, or with ``--ccc-strict`` the error, that tells the user of a reason."""
        if self.reason is None:
            return None
        return CccError(f"{self.what}{LEFT}{self.reason}", self.position)

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
        """What a user may want to know who is not to be warned: of want of room a warning tells."""
        for key, verb in NOTED:
            if self.applied and key in self.details:
                return CccError(f"{self.what}{verb}{self.details[key]}", self.position)
        warned = "" if self.denial is None else str(self.declined)
        if self.advice is None or all(IN_SHARED_MEMORY in one for one in (warned, self.advice)):
            return None
        return CccError(f"{self.what}{LEFT}{self.advice}", self.position)

    @property
    def arm_name(self) -> str:
        """Which arm of the annotation it is of, as users are told; empty where there is one."""
        arm = "" if self.arm in self.annotation else self.arm
        return str(self.details.get("case", arm))

    @property
    def what(self) -> str:
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

    @property
    def lies_outside(self) -> bool:
        """Whether this copy is left since it lies in no loop: what unrolling left over, say."""
        return self.reason is not None and self.reason.startswith(OUTSIDE)

    @property
    def is_no_loop(self) -> bool:
        """Whether this copy is left since the compiler made no loop of it, or a turn before it."""
        return self.reason is not None and self.reason.startswith(_NO_LOOP)

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

    What was ``missed`` is not told as if it had been reached, as two digits alone would; both ends
    have as many.

    >>> span_of(0.9471, 3.09), span_of(0.9471, 3.09, missed=[0.95]), span_of(1, 1)
    ('0.95 to 3.09', '0.947 to 3.090', '1.00')
    """

    def digits(ratio: float) -> int:
        number = 2
        while any(ratio < least <= round(ratio, number) for least in missed):
            number += 1
        return number

    most = max(digits(worst), digits(usual))
    low, high = (f"{ratio:.{most}f}" for ratio in sorted((worst, usual)))
    return low if low == high else f"{low} to {high}"


def saved(context: Iterable[Mapping[str, str]]) -> list[str]:
    """What a task saves, in words: variables where they are known, and how many values more."""
    values = list(context)
    names = list(dict.fromkeys(one["variable"] for one in values if "variable" in one))
    others = sum("variable" not in one for one in values)
    more = f"{others} value{'s' * (others != 1)}{' more' if names else ''}"
    return [*names, more] if others else names


def silent_among(every: Collection[Remark]) -> Callable[[Remark], bool]:
    """Of which copies nothing is said among others: of code that vanished where another copy did
    not, or another case of the switch, of what lies in no loop where another does, and of a turn
    that was taken out of a loop where that lies in none."""

    def arms(one: Remark) -> set[Hashable]:
        return {of_arm(one), *([one.position] if one.arm == "case" else [])}

    seen = {arm for one in every if not one.has_vanished for arm in arms(one)}
    outside = {of_arm(one) for one in every if one.lies_outside}
    inside = {of_arm(one) for one in every if not (one.lies_outside or one.is_no_loop)}
    return lambda one: (
        (one.has_vanished and not seen.isdisjoint(arms(one)))
        or (one.lies_outside and of_arm(one) in inside)
        or (one.is_no_loop and of_arm(one) in outside)
    )


def of_arm(remark: Remark) -> tuple[Span, str, str]:
    """What copies of one arm of an annotation have in common; each case is an arm."""
    return remark.position, remark.arm, remark.details.get("case", "")


def _case(marker: Marker) -> dict[str, Any]:
    """Where a case of a switch begins, whose pragma stands at one place for all of them."""
    if marker.kind != "case":
        return {}
    return {"case": f"{marker.clauses.get(LABEL, 'case')}, PTX line {marker.line}"}


def _place(marker: Marker, kernel: str) -> tuple[Span, str, str, str]:
    """Position, kernel, annotation and arm."""
    return marker.span, kernel, DIRECTIVES.get(marker.kind, marker.kind), marker.kind
