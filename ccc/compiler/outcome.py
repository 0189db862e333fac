"""What became of one function; and what became of all, while a source is compiled several times.

What comes of a kernel depends on its own text, on that of the module outside of kernels, and on
what is known of its registers. So as long as these stay what they are it is not transformed again,
wherever in the file it stands now.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any

from ccc.ir.markers import Marker
from ccc.ir.nodes import FunctionText
from ccc.pipeline import Kernel
from ccc.remark import Remark

_LINE = re.compile(r"\bPTX line (\d+)")


@dataclass(frozen=True, slots=True)
class FunctionOutcome:
    """What became of one function.

    Attributes:
        name: the function's.
        is_kernel: whether it is one.
        text: its new text; None: it is as it was.
        declarations: the PTX that the module needs before it.
        printed: the code after the passes that were to be shown.
        told: its annotations, with what is to be said of each.
        inlined: the names of functions that became a part of it.
        block: the most threads that a block of it may have, as far as that is known.
        kernel: itself, as long as somebody needs more than that.
    """

    name: str
    is_kernel: bool
    text: str | None
    declarations: tuple[str, ...]
    printed: str
    told: tuple[tuple[Marker, Remark], ...]
    inlined: frozenset[str]
    block: int
    kernel: Kernel | None = field(default=None, compare=False)


class Outcomes:
    """Those of kernels that may come again."""

    def __init__(self) -> None:
        self._known: dict[Hashable, tuple[FunctionText, FunctionOutcome]] = {}

    def find(self, key: Hashable, piece: FunctionText) -> FunctionOutcome | None:
        """What became of a kernel, if that is known; ``key`` is all that it depends on."""
        if key not in self._known:
            return None
        before, outcome = self._known[key]
        told = [(marker, _moved(remark, before, piece)) for marker, remark in outcome.told]
        sure = tuple((marker, remark) for marker, remark in told if remark is not None)
        return replace(outcome, told=sure) if len(sure) == len(told) else None

    def keep(self, key: Hashable, piece: FunctionText, outcome: FunctionOutcome) -> None:
        """Remember what became of a kernel whose text was that of ``piece``."""
        self._known[key] = replace(piece, module=None), replace(outcome, kernel=None)


def _moved(remark: Remark, before: FunctionText, now: FunctionText) -> Remark | None:
    """The same of a kernel that stands elsewhere; None where it speaks of another function."""
    begin = before.span.line
    lines = range(begin, begin + before.text.count("\n") + 1)
    if any(int(found[1]) not in lines for found in _LINE.finditer(repr(remark))):
        return None

    def at_home(found: re.Match[str]) -> str:
        return f"PTX line {int(found[1]) - begin + now.span.line}"

    def moved(value: Any) -> Any:
        return _LINE.sub(at_home, value) if isinstance(value, str) else value

    details = {key: moved(value) for key, value in remark.details.items()}
    if _LINE.search(repr([one for one in details.values() if not isinstance(one, str)])):
        return None
    texts = {key: moved(getattr(remark, key)) for key in ("reason", "declined", "advice")}
    return replace(remark, details=details, **texts)
