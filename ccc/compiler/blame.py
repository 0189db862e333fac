"""What a reason says of PTX, said of the source: the line at fault, and the variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ccc.compiler.cases import SourceCases
from ccc.compiler.context_names import ContextNames
from ccc.compiler.differing_copies import with_copies_in_mind
from ccc.compiler.function_texts import FunctionTexts
from ccc.compiler.lines import LineTable
from ccc.compiler.loops_left import loops_around, with_ways_out
from ccc.compiler.other_arms import with_others_in_mind
from ccc.compiler.reasons.inquiry import Inquiry
from ccc.compiler.reasons.reason import Reason
from ccc.compiler.reasons.steps import told, told_of_gain
from ccc.compiler.source_lines import SourceLines
from ccc.errors import Span
from ccc.frontend.marking import Marked
from ccc.remark import CALLS, NOTED, Remark

_TEXTS = ("reason", "declined")
_MORE_TEXTS = ("shared_out_reason", *(key for key, _ in NOTED))


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
        self._suspects = marked.suspects
        self._functions = FunctionTexts(ptx)
        self._lines = SourceLines(table, marked.files)
        self.cases = SourceCases(marked, self._lines.of)

    def tell(self, remarks: Mapping[str, Sequence[Remark]]) -> dict[str, list[Remark]]:
        """The remarks, with what is known of the source in what they say."""
        told = {kernel: self._all_told(mine) for kernel, mine in remarks.items()}
        suspects = self._suspects
        return with_copies_in_mind(told, suspects.reductions_around) if suspects else told

    def _all_told(self, remarks: Sequence[Remark]) -> list[Remark]:
        """Those of a kernel; what a reason says of the loop around a path is about that loop."""
        mine = self.cases.in_order(remarks)
        loops = loops_around(mine)
        both = zip(mine, loops, strict=True)
        told = [self._told(remark, (loop or remark).position) for remark, loop in both]
        outer = [loop and told[mine.index(loop)] for loop in loops]
        return with_others_in_mind(with_ways_out(told, outer))

    def _told(self, remark: Remark, meant: Span) -> Remark:
        """A remark, with what is known of the source in it; its reason is about a path there."""
        if self._suspects is None:
            return remark
        about = replace(remark, position=meant)
        texts = {key: text for key in _TEXTS if (text := getattr(remark, key))}
        asked = {key: self._inquiry(about, text) for key, text in texts.items()}
        details = dict(remark.details)
        for key in _MORE_TEXTS:
            if more := details.get(key):
                details[key] = told(self._inquiry(remark, more))
        shown = (one for each in asked.values() for one in each.reason.shown)
        if spans := list(filter(None, (self._lines.of(one.line) for one in shown))):
            details["culprits"] = [
                {"file": span.file, "line": span.line, "column": span.column} for span in spans
            ]
        if remark.reason and (calls := self._suspects.calls(meant)) > 1:
            details[CALLS] = calls
        if "case" in details:
            details["case"] = self.cases.name(remark)
        if context := details.get("context"):
            names = ContextNames(self._functions, self._lines, self._suspects)
            details["context"] = list(names.named(remark, context))
        new: dict[str, Any] = {key: told(one) for key, one in asked.items()}
        if remark.advice:
            new["advice"] = told_of_gain(self._inquiry(remark, remark.advice))
        return replace(remark, details=details, **new)

    def _inquiry(self, remark: Remark, text: str) -> Inquiry:
        """What is known of a text that a remark says."""
        assert self._suspects is not None
        case = self.cases.begin(remark)
        reason = Reason.read(text)
        return Inquiry(reason, remark, self._suspects, self._lines, self._functions, case)
