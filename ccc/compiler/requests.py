"""What is asked for and does not apply to a path is withdrawn, and all is chosen anew.

So the path gets what it would have got if nobody had asked, and so do those around it: another
strategy is weighed as any other, and it may be left. Only then there is a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ccc.options import Request
from ccc.pipeline import Kernel, PathRecord, Record

OF_ANOTHER_KIND = "it has nothing to do with a path of this kind"


@dataclass(frozen=True, slots=True)
class _Declined:
    """A request that does not apply.

    Args:
        asked: the request.
        told: why it does not; None where nobody is to be told.
        reason: why the path was left then, if it was.
    """

    asked: Request
    told: str | None
    reason: str | None


class Requests:
    """What is asked for of the paths of one function, and what of it has turned out not to apply.

    Attributes:
        withdrawn: the latter.
    """

    def __init__(self) -> None:
        self.withdrawn: dict[tuple[int, str, str], Sequence[str]] = {}
        self._first: dict[tuple[int, str, str], _Declined] = {}

    def withdraw(self, kernel: Kernel) -> bool:
        """Withdraw what did not apply when the passes ran; returns whether that was anything, so
        that they have to run again."""
        declined = _declined(kernel)
        for key, one in declined.items():
            self._first.setdefault(key, one)
            self.withdrawn[key] = (*self.withdrawn.get(key, ()), str(one.asked))
        return bool(declined)

    def answer(self, kernel: Kernel, records: Iterable[Record]) -> None:
        """Say of each path what had been asked for, and why that was not done, if it was not."""
        for record in records:
            if not isinstance(record, PathRecord):
                continue
            one = self._first.get(record.path.key)
            if one is None:
                record.answer(kernel.request_of(record.path))
            elif record.reason is not None:  # whatever is asked for
                record.reason = one.reason or record.reason
                record.answer(one.asked)
            else:
                is_done = record.remark.follows(one.asked)
                record.answer(one.asked, None if is_done else one.told)


def _declined(kernel: Kernel) -> dict[tuple[int, str, str], _Declined]:
    """The requests that do not apply, by the keys of paths."""
    found = {}
    for record in kernel.records:
        request = kernel.request_of(record.path)
        if request is not None and not record.is_open and not record.remark.follows(request):
            told = _told(request, record, kernel)
            found[record.path.key] = _Declined(request, told, record.reason)
    return found


def _told(request: Request, record: PathRecord, kernel: Kernel) -> str | None:
    """Why a request does not apply: where an annotation asks, or it is to be announced."""
    marker = record.marker
    if not request.insists and marker not in kernel.announced:
        return None
    is_own = "strategy" in marker.clauses or kernel.tuned_request(marker) is not None
    of_strategy = kernel.declined.get(marker, OF_ANOTHER_KIND if is_own else None)
    return record.reason or of_strategy
