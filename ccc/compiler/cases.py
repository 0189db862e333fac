"""The cases of a switch as the source has them: nvcc tells of each only the line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ccc.errors import Span
from ccc.frontend.marking import Marked
from ccc.remark import Remark


class SourceCases:
    """The cases of the source.

    Args:
        marked: the source.
        line_of: tells the place in the source that a line of PTX was made of, if any.
    """

    def __init__(self, marked: Marked, line_of: Callable[[int], Span | None]):
        self._marked = marked
        self._line_of = line_of

    def in_order(self, remarks: Sequence[Remark]) -> list[Remark]:
        """The remarks, with the cases of each switch in the order of the source."""
        firsts: dict[Span, int] = {}

        def place(numbered: tuple[int, Remark]) -> tuple[int, int, int]:
            number, remark = numbered
            if "case" not in remark.details:
                return number, 0, 0
            span = self.begin(remark)
            line = span.line if span else 0
            return firsts.setdefault(remark.position, number), line, self.in_line(remark)

        return [remark for _, remark in sorted(enumerate(remarks), key=place)]

    def in_line(self, remark: Remark) -> int:
        """How many cases stand before one, if it shares a line with others, whose columns nvcc does
        not tell apart."""
        suspects, own = self._marked.suspects, _own_label(remark)
        labels = suspects.labels(remark.position) if suspects else []
        return labels.index(own) if own in labels else 0

    def name(self, remark: Remark) -> str:
        """The name of a case: its label and its line in the source, as far as these are known."""
        span, suspects = self.begin(remark), self._marked.suspects
        if span is None:
            return str(remark.details["case"])
        label = suspects.label(remark.position, span) if suspects else None
        return f"{label or _own_label(remark)}, line {span.line}"

    def begin(self, remark: Remark) -> Span | None:
        """Where a case begins, if it is one and that is known."""
        case = remark.details.get("case")
        return self._line_of(int(case.split()[-1])) if case else None

    def told(self, remark: Remark) -> tuple[str, int]:
        """The name of a case, and how many stand before it on its line."""
        return self.name(remark), self.in_line(remark)


def _own_label(remark: Remark) -> str:
    """What a case is called where it is marked: its label if it shares a line with others."""
    return str(remark.details["case"]).rpartition(", ")[0]
