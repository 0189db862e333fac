"""A reason, and all that is known of it: of the source, and of the variables it may mean."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ccc.compiler.reasons.hints import Hint
from ccc.compiler.reasons.reason import HintSlot, Reason

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ccc.compiler.function_texts import FunctionTexts
    from ccc.compiler.source_lines import SourceLines
    from ccc.errors import Span
    from ccc.frontend.syntax import Node
    from ccc.frontend.variables import Suspects
    from ccc.remark import Remark

_OPERATION = re.compile(r"reduction\((\S+):")
ON_LOOP = "say so on the loop"
REMOVE = "remove the annotation"
"""Where nothing else serves, or what may is asked for already: why that does not is told by
itself."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """Steps make one of another, until it can be told.

    Attributes:
        reason: what is to be said, as far as it is known by now.
        remark: what it is said in, at the path that it is about.
        suspects: what is known of the source.
        lines: where lines of PTX come from.
        functions: the PTX.
        case: where the case begins that it is about, if it is one.
        names: the variables that may be meant.
        caller: the annotated loop that calls the function of the path, if they are variables there.
        is_settled: whether somebody has said what there is to say of the clauses of the loop, of
            the variables that may be meant.
    """

    reason: Reason
    remark: Remark
    suspects: Suspects
    lines: SourceLines
    functions: FunctionTexts
    case: Span | None = None
    names: tuple[str, ...] = ()
    caller: Span | None = None
    is_settled: bool = False

    @property
    def at(self) -> Span:
        """Where the annotation stands, or that of the loop of which the variables are."""
        return self.caller or self.remark.position

    @property
    def places(self) -> list[Span]:
        """The line at fault, and the calls that it is in, the innermost first."""
        return self.lines.every(self.reason.shown[0].line) if self.reason.shown else []

    @property
    def statements(self) -> tuple[Node, Node] | None:
        """The annotated statement, and the annotated loop around it, or that itself if it has
        none."""
        return self.suspects.statements(self.at)

    @property
    def proven(self) -> list[str]:
        """The operations of reductions that would serve, as clauses have them, where PTX tells;
        that of the instruction that is shown first."""
        slot = self.reason.slot(Hint.REDUCTION)
        given = slot.given[0] if slot and slot.given else None
        return _OPERATION.findall(given) if given else []

    @property
    def misused(self) -> HintSlot | None:
        """Where it says that what clauses name may only be updated."""
        return self.reason.slot(Hint.MISUSED)

    def of(self, reason: Reason) -> Inquiry:
        """The same of another reason."""
        return replace(self, reason=reason)

    def naming(self, names: Iterable[str]) -> Inquiry:
        """The same of other variables."""
        return replace(self, names=tuple(names))

    def filled(self, hint: Hint, piece: str | HintSlot) -> Inquiry:
        """The same with something else where it gives a hint."""
        return self.of(self.reason.filled(hint, piece))

    def advising(self, text: str) -> Inquiry:
        """The same with other advice."""
        return self.of(self.reason.advising(text))

    def advising_first(self, text: str) -> Inquiry:
        """The same with other advice, but for what it says of a strategy that serves."""
        return self.of(self.reason.advising_first(text))

    def with_clause(self, text: str) -> Inquiry:
        """The same with something else to say of the clauses of the loop, if it speaks of them."""
        slot = self.reason.clause
        return self if slot is None else self.filled(slot.hint, text)

    def settled(self, text: str) -> Inquiry:
        """The same, of all variables that may be meant."""
        return replace(self.with_clause(text), is_settled=True)
