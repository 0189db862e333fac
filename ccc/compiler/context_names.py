"""The variables that a task saves: those that the lines set that set its registers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ccc.remark import Remark

if TYPE_CHECKING:
    from ccc.compiler.function_texts import FunctionTexts
    from ccc.compiler.source_lines import SourceLines
    from ccc.frontend.variables import Suspects


class ContextNames:
    """Tells the variables of contexts.

    Args:
        functions: the PTX, before any pass.
        lines: where its lines come from.
        suspects: what is known of the source.
    """

    def __init__(self, functions: FunctionTexts, lines: SourceLines, suspects: Suspects):
        self._functions = functions
        self._lines = lines
        self._suspects = suspects

    def named(
        self, remark: Remark, context: Sequence[Mapping[str, Any]]
    ) -> Iterator[dict[str, Any]]:
        """The context, with variables where the lines tell that set the registers: lines of one
        variable, or of as many as registers that are set there."""
        every = [self._set_with(remark, entry) for entry in context]
        for number, (entry, names) in enumerate(zip(context, every, strict=True)):
            if len(names) == 1 or every.count(names) == len(names):
                yield {**entry, "variable": names[every[:number].count(names) % len(names)]}
            else:
                yield dict(entry)

    def _set_with(self, remark: Remark, entry: Mapping[str, Any]) -> list[str]:
        """The variables that are set on the lines that set a register."""
        numbers = self._functions.lines_setting(entry["register"], remark.kernel)
        lines = [span for span in map(self._lines.of, numbers) if span]
        rest = bool(remark.details.get("continuation"))
        return self._suspects.defined(remark.position, lines, entry["type"], with_rest=rest)
