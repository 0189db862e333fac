"""Decisions: the strategies that ``ccc tune`` found best, in a small file to be committed.

An entry names one arm of one annotation in one kernel, and the strategy that it gets. It is asked
for with less weight than a ``strategy(...)`` clause has, and more than ``--ccc-strategy``. What
was measured stands beside it for the reader: nothing depends on that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ccc import files
from ccc.errors import CccError, Span, in_words
from ccc.ir.markers import Marker
from ccc.json_files import DECISIONS, refuse_other
from ccc.options import Request
from ccc.profile.match import Place, checked, match, stale
from ccc.remark import Remark

FORMAT = 1
"""Of the file."""

WANTED = "ccc tune writes one"
_STRATEGY = re.compile(r'"strategy"\s*:')
_UNNAMED_SPACE = re.compile(r"(\d+)(?=_GLOBAL__N_)")


@dataclass(frozen=True, slots=True, order=True)
class AnnotationPlace:
    """One arm of one annotation in one kernel; the attributes are those of a report's paths.

    ``function`` and ``statement`` are what it stands in and before, as of
    :class:`ccc.profile.match.Place`, by which it is found again in a source that was edited.
    """

    file: str
    line: int
    column: int
    kernel: str
    directive: str
    arm: str
    function: str = field(default="", compare=False)
    statement: str = field(default="", compare=False)

    @staticmethod
    def of_remark(remark: Remark) -> AnnotationPlace:
        """That which a remark tells of."""
        at, told = remark.position, remark.details
        return AnnotationPlace(
            at.file,
            at.line,
            at.column,
            remark.kernel,
            remark.annotation,
            remark.arm,
            told.get("function", ""),
            told.get("statement", ""),
        )

    @property
    def place(self) -> Place:
        """That of the annotation, which all its arms and copies share."""
        span = Span(self.file, self.line, self.column)
        return Place.at(span, self.directive, self.function, self.statement)

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
        place = checked(AnnotationPlace(**{name: entry[name] for name in names if name in entry}))
        if not isinstance(entry["strategy"], str):
            raise TypeError(f"strategy is {entry['strategy']!r}")
        rest = {k: entry[k] for k in ("card", "date", "milliseconds", "ratio") if k in entry}
        return TunedPath(place, entry["strategy"], **rest)


@dataclass(frozen=True)
class TunedDecisions:
    """The entries of a file."""

    paths: Sequence[TunedPath] = ()

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


class MatchedDecisions:
    """What a file of decisions says of one module.

    Args:
        file: its name.
        places: of the annotations of the source, by identifier, if it was read.
        markers: those that the module has.
        functions: those that the module has, by their (mangled) names.
        read: reads the name of a strategy; it raises ``ValueError`` for what is none.

    Attributes:
        warnings: of annotations that the file speaks of and the source lacks.

    Raises:
        CccError: the file is none of decisions.
    """

    def __init__(
        self,
        file: str,
        places: Mapping[int, Place],
        markers: Iterable[Marker],
        functions: Iterable[str],
        read: Callable[[str], object] = str,
    ):
        self._source = places
        paths = read_decisions(file, read).paths
        self._functions = {_name(function) for function in functions}
        there = {*places.values(), *(Place.of(marker, places) for marker in markers)}
        now = match((path.place.place for path in paths), there)
        self._found: dict[tuple[Place | None, str], list[TunedPath]] = {}
        for path in paths:
            self._found.setdefault((now.get(path.place.place), path.place.arm), []).append(path)
        here = [path for path in paths if _name(path.place.kernel) in self._functions]
        self.warnings = stale(
            file,
            "file of decisions",
            "run ccc tune",
            {path.place.place for path in here},
            there,
            now,
        )

    def request(self, kernel: str, marker: Marker) -> Request | None:
        """What is asked for at a marker of a kernel, if anything.

        What was measured of the kernel counts; if nothing was, then of one that is no more, which
        may have been renamed. It insists: where it does not apply any more, that is to be said.
        """
        mine = self._found.get((Place.of(marker, self._source), marker.kind), [])
        own = [path for path in mine if _name(path.place.kernel) == _name(kernel)]
        gone = [path for path in mine if _name(path.place.kernel) not in self._functions]
        found = next(iter([*own, *gone]), None)
        return None if found is None else Request.read(found.strategy, insists=True)


def read_decisions(file: str | Path, read: Callable[[str], object] = str) -> TunedDecisions:
    """Read a file of decisions.

    Args:
        file: the file.
        read: reads the name of a strategy; it raises ``ValueError`` for what is none.

    Raises:
        CccError: there is none of that name, it is no such file, or there is no such strategy.
    """
    try:
        text = Path(file).read_text(encoding="utf-8")
        content = json.loads(text)
        refuse_other(content, DECISIONS, WANTED, str(file))
        if content["format"] != FORMAT:
            raise CccError(
                f"its format is {content['format']}, not {FORMAT}: another version of ccc wrote it",
                Span(str(file)),
            )
        paths = [TunedPath.read(entry) for entry in content["decisions"]]
    except OSError as error:
        raise CccError(f"no decisions: {in_words(error)}", Span(str(file))) from error
    except json.JSONDecodeError as error:
        at = Span(str(file), error.lineno, error.colno)
        lines = error.doc.splitlines()
        line = lines[error.lineno - 1] if error.lineno <= len(lines) else None
        raise CccError(f"this is no JSON: {error.msg}; {WANTED}", at, line) from error
    except (ValueError, KeyError, TypeError) as error:
        raise CccError(f"this is no file of decisions; {WANTED}", Span(str(file))) from error
    _check_strategies(paths, str(file), text, read)
    return TunedDecisions(paths)


def _check_strategies(
    paths: Sequence[TunedPath], file: str, text: str, read: Callable[[str], object]
) -> None:
    """Refuse names of strategies that there are not, at their line of the file."""
    places = [found.start() for found in _STRATEGY.finditer(text)]
    for path, place in zip(paths, places, strict=False):
        try:
            read(path.strategy)
        except ValueError as error:
            line = text.count("\n", 0, place) + 1
            message = f"{path.place}: {path.strategy}: {error}"
            raise CccError(message, Span(file, line)) from None


def _name(kernel: str) -> str:
    """A mangled name without what nvcc makes of the source's text for an unnamed namespace."""
    while found := _UNNAMED_SPACE.search(kernel):
        end = found.end() + int(found[1])
        kernel = f"{kernel[: found.start()]}<unnamed>{kernel[end:]}"
    return kernel
