"""Decisions: the strategies that ``ccc tune`` found best, in a small file to be committed.

An entry names one arm of one annotation in one kernel, and the strategy that it gets. It is asked
for with less weight than a ``strategy(...)`` clause has, and more than ``--ccc-strategy``. What
was measured stands beside it for the reader: nothing depends on that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from ccc import files
from ccc.errors import CccError, Span
from ccc.ir.markers import DIRECTIVES, Marker
from ccc.options import Request
from ccc.remark import Remark

FORMAT = 1
"""Of the file."""

_WANTED = "ccc tune writes one"
_UNNAMED_SPACE = re.compile(r"(\d+)(?=_GLOBAL__N_)")


@dataclass(frozen=True, slots=True, order=True)
class AnnotationPlace:
    """One arm of one annotation in one kernel; the attributes are those of a report's paths."""

    file: str
    line: int
    column: int
    kernel: str
    directive: str
    arm: str

    @staticmethod
    def of_marker(marker: Marker, kernel: str) -> AnnotationPlace:
        """That of a marker in a kernel."""
        at, directive = marker.span, DIRECTIVES.get(marker.kind, marker.kind)
        return AnnotationPlace(at.file, at.line, at.column, kernel, directive, marker.kind)

    @staticmethod
    def of_remark(remark: Remark) -> AnnotationPlace:
        """That which a remark tells of."""
        at = remark.position
        return AnnotationPlace(
            at.file, at.line, at.column, remark.kernel, remark.annotation, remark.arm
        )

    def is_same(self, other: AnnotationPlace) -> bool:
        """Whether both name the same, from whatever folder the files are named."""
        mine = (self.line, self.column, _name(self.kernel), self.directive, self.arm)
        theirs = (other.line, other.column, _name(other.kernel), other.directive, other.arm)
        return mine == theirs and _is_same_file(self.file, other.file)

    def __str__(self) -> str:
        arm = "" if self.arm in self.directive else f" {self.arm}"
        return f"{self.file}:{self.line}: {self.directive}{arm} in {self.kernel}"


@dataclass(frozen=True, slots=True)
class TunedPath:
    """The strategy of one place.

    Attributes:
        place: which annotation.
        strategy: as ``strategy(...)`` takes it.
        card: the GPU that it was measured on.
        date: when.
        milliseconds: of the kernel, as it was (``leave``) and with this strategy.
        ratio: of the two, how many times as fast it is.
    """

    place: AnnotationPlace
    strategy: str
    card: str = ""
    date: str = ""
    milliseconds: Mapping[str, float] = field(default_factory=dict, hash=False)
    ratio: float | None = None

    def entry(self) -> dict[str, Any]:
        """As in the file."""
        told = {"strategy": self.strategy, "card": self.card, "date": self.date}
        times = {name: float(f"{value:.4g}") for name, value in self.milliseconds.items()}
        ratio = None if self.ratio is None else round(self.ratio, 2)
        return {**asdict(self.place), **told, "milliseconds": times, "ratio": ratio}

    @staticmethod
    def read(entry: Mapping[str, Any]) -> TunedPath:
        """What ``entry`` made; what is only for the reader may be missing."""
        names = AnnotationPlace.__dataclass_fields__
        place = AnnotationPlace(**{name: entry[name] for name in names})
        if Request.read(entry["strategy"]) is None:
            raise ValueError(entry["strategy"])
        rest = {k: entry[k] for k in ("card", "date", "milliseconds", "ratio") if k in entry}
        return TunedPath(place, entry["strategy"], **rest)


@dataclass(frozen=True)
class TunedDecisions:
    """The entries of a file."""

    paths: Sequence[TunedPath] = ()

    def request(self, marker: Marker, kernel: str) -> Request | None:
        """What is asked for at a marker of a kernel, if anything.

        It insists: where what was measured does not apply any more, that is to be said.
        """
        place = AnnotationPlace.of_marker(marker, kernel)
        found = next((path for path in self.paths if path.place.is_same(place)), None)
        return None if found is None else Request.read(found.strategy, insists=True)

    def stale(
        self, kernels: Collection[str], remarks: Mapping[str, Sequence[Remark]]
    ) -> list[CccError]:
        """A warning for each entry of these kernels that no annotation answers to any more.

        Args:
            kernels: the (mangled) names of those that were compiled.
            remarks: what became of their annotations.
        """
        known = {_name(kernel) for kernel in kernels}
        places = [AnnotationPlace.of_remark(one) for mine in remarks.values() for one in mine]
        mine = (path for path in self.paths if _name(path.place.kernel) in known)
        return [
            CccError(
                f"stale decision: nothing is annotated here any more that {path.strategy} of "
                f"{path.place.directive} in {path.place.kernel} was measured for; run ccc tune",
                Span(path.place.file, path.place.line, path.place.column),
            )
            for path in mine
            if not any(path.place.is_same(place) for place in places)
        ]

    def merged(self, newer: Iterable[TunedPath], kernels: Collection[str]) -> TunedDecisions:
        """These and ``newer`` ones, which replace all that was known of their ``kernels``."""
        names = {_name(kernel) for kernel in kernels}
        kept = (path for path in self.paths if _name(path.place.kernel) not in names)
        return TunedDecisions(sorted([*kept, *newer], key=lambda path: path.place))

    def text(self) -> str:
        """The file, sorted, one entry a line, so that changes can be read."""
        lines = ",\n".join(f"  {json.dumps(path.entry())}" for path in self.paths)
        return f'{{"format": {FORMAT}, "decisions": [\n{lines}\n]}}\n'

    def write(self, file: str | Path) -> None:
        """Write the file; it is whole or as it was.

        Raises:
            CccError: it cannot be written.
        """
        files.write(file, self.text())


def read_decisions(file: str | Path) -> TunedDecisions:
    """Read a file of decisions.

    Raises:
        CccError: there is none of that name, or it is no such file.
    """
    try:
        content = json.loads(Path(file).read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise CccError(
                f"its format is {content['format']}, not {FORMAT}: another version of ccc wrote it",
                Span(str(file)),
            )
        return TunedDecisions([TunedPath.read(entry) for entry in content["decisions"]])
    except OSError as error:
        raise CccError(f"no decisions: {error.strerror}", Span(str(file))) from error
    except (ValueError, KeyError, TypeError) as error:
        raise CccError(f"this is no file of decisions; {_WANTED}", Span(str(file))) from error


def _is_same_file(one: str, other: str) -> bool:
    """Whether two names may be those of one file: one is the end of the other, part by part."""
    parts = [
        [part for part in PurePosixPath(name).parts if part not in ("..", ".", "/")]
        for name in (one, other)
    ]
    shorter, longer = sorted(parts, key=len)
    return bool(shorter) and longer[-len(shorter) :] == shorter


def _name(kernel: str) -> str:
    """A mangled name without what nvcc makes of the source's text for an unnamed namespace."""
    while found := _UNNAMED_SPACE.search(kernel):
        end = found.end() + int(found[1])
        kernel = f"{kernel[: found.start()]}<unnamed>{kernel[end:]}"
    return kernel
