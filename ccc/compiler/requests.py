"""What is asked for and does not apply to a path is withdrawn, and all is chosen anew.

So the path gets what it would have got if nobody had asked, and so do those around it: another
strategy is weighed as any other, and it may be left. Only then there is a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ccc.analysis.paths.model import LeftPath, PathKey
from ccc.ir.markers import Marker
from ccc.options import Request
from ccc.passes.strategies.cases import ONE_PATH
from ccc.pipeline import Kernel, PathRecord, Record
from ccc.remark import IN_SHARED_MEMORY

OF_ANOTHER_KIND = "it has nothing to do with a path of this kind"


@dataclass(frozen=True, slots=True)
class _Declined:
    """A request that does not apply.

    Args:
        asked: the request.
        told: why it does not; None where nobody is to be told.
        reason: why the path was left then, if it was.
        is_wish: whether only the command line asks, which nobody is warned of.
        file: the file of decisions that asks, if one does.
    """

    asked: Request
    told: str | None
    reason: str | None
    is_wish: bool
    file: str | None


class Requests:
    """What is asked for of the paths of one function, and what of it has turned out not to apply.

    Attributes:
        withdrawn: the latter.
    """

    def __init__(self) -> None:
        self.withdrawn: dict[PathKey, Sequence[str]] = {}
        self._first: dict[PathKey, _Declined] = {}
        self._applied: set[PathKey] = set()
        self._lost: dict[PathKey, _Declined] = {}
        self._never: dict[PathKey, _Declined] = {}

    def withdraw(self, kernel: Kernel) -> bool:
        """Withdraw what did not apply when the passes ran; returns whether that was anything, so
        that they have to run again."""
        declined = _declined(kernel)
        for key, one in declined.items():
            self._first.setdefault(key, one)
            self.withdrawn[key] = (*self.withdrawn.get(key, ()), str(one.asked))
        return bool(declined)

    def ask_again(self, kernel: Kernel) -> None:
        """Ask for all again, since the function is another one now; ``kernel`` is what has come of
        it so far."""
        self._note_lost()
        self._applied |= _followed(kernel)
        self._withdraw_only(self._never)

    def begin_anew(self, kernel: Kernel) -> bool:
        """Whether something does not apply in the end, though it did while more calls were inlined.

        It may be why these were so in vain: nobody asks for it when all begins anew.
        """
        self._note_lost()
        lost = self._lost.keys() - self._never.keys() - _followed(kernel)
        self._never |= {key: self._lost[key] for key in lost}
        if lost:
            self._withdraw_only(self._never)
        return bool(lost)

    def _note_lost(self) -> None:
        self._lost |= {key: self._first[key] for key in self._first.keys() & self._applied}

    def _withdraw_only(self, known: Mapping[PathKey, _Declined]) -> None:
        self._first = dict(known)
        self.withdrawn = {key: (str(one.asked),) for key, one in known.items()}

    def answer(self, kernel: Kernel, records: Iterable[Record]) -> None:
        """Say of each path what had been asked for, and why that was not done, if it was not."""
        paths = [one for one in records if isinstance(one, PathRecord)]
        for record in paths:
            one = self._first.get(record.path.key)
            if one is None:
                record.answer(kernel.request_of(record.path))
                continue
            told = self._why_of_all(one.told, record.path.key, paths)
            if record.reason is not None:  # whatever is asked for
                record.reason = _of_room(told, one.reason or record.reason)
                told = None if told == record.reason else told
            elif record.remark.follows(one.asked):
                told = None
            record.answer(one.asked, told, one.is_wish and told is not None, one.file)

    def _why_of_all(
        self, told: str | None, key: PathKey, records: Iterable[PathRecord]
    ) -> str | None:
        """Why a request does not apply; of a case that is left alone since there was no room for
        the others, that."""
        if told != ONE_PATH:
            return told
        why = [one.told or "" for other, one in self._first.items() if other[:2] == key[:2]]
        why += [one.reason or "" for one in records if one.path.key[:2] == key[:2]]
        return next((one for one in why if IN_SHARED_MEMORY in one), told)


def _of_room(told: str | None, reason: str) -> str:
    """Why a path was left: if it is for want of room, that of what was asked for counts, so that
    one path is told of one size of blocks."""
    both = told is not None and all(IN_SHARED_MEMORY in one for one in (told, reason))
    return told if told is not None and both else reason


def _followed(kernel: Kernel) -> set[PathKey]:
    """The paths that got what was asked for."""
    return {
        record.path.key
        for record in kernel.records
        if (request := kernel.request_of(record.path)) and record.remark.follows(request)
    }


def _declined(kernel: Kernel) -> dict[PathKey, _Declined]:
    """The requests that do not apply, by the keys of paths."""
    found = {}
    for record in kernel.records:
        request = kernel.request_of(record.path)
        if request is not None and not record.is_open and not record.remark.follows(request):
            is_wish = not request.insists and record.marker not in kernel.announced
            told = _told(request, is_wish, record, kernel)
            file = _file_of(request, record, kernel)
            found[record.path.key] = _Declined(request, told, record.reason, is_wish, file)
    return found


def _file_of(request: Request, record: PathRecord, kernel: Kernel) -> str | None:
    """The file of decisions that asks, if one does, of which the source says nothing."""
    loop = record.path.loop
    markers = [record.marker, *([loop.marker] if loop else [])]
    is_tuned = any(kernel.tuned_request(marker) == request for marker in markers)
    in_source = any("strategy" in marker.clauses for marker in markers)
    return kernel.options.decisions if is_tuned and not in_source else None


def _told(request: Request, is_wish: bool, record: PathRecord, kernel: Kernel) -> str | None:
    """Why a request does not apply; None where the loop around it asks for its other paths."""
    marker = record.marker
    is_own = "strategy" in marker.clauses or kernel.tuned_request(marker) is not None
    is_for_others = not is_own and not is_wish and _serves_another(request, record, kernel)
    of_another = None if is_for_others else OF_ANOTHER_KIND
    alone = record.path.alone if isinstance(record.path, LeftPath) else ""
    return kernel.why_declined(marker) or alone or record.reason or of_another


def _serves_another(request: Request, record: PathRecord, kernel: Kernel) -> bool:
    """Whether a path of the same loop, of which the same is asked, gets it, or is said why not."""
    return any(
        one.remark.follows(request) or kernel.why_declined(one.marker)
        for one in kernel.records
        if one.marker != record.marker
        and _loop_of(one) == _loop_of(record)
        and kernel.request_of(one.path) == request
    )


def _loop_of(record: PathRecord) -> Marker | None:
    """The marker of the annotated loop that a path is in, if it is in one."""
    return record.path.loop.marker if record.path.loop else None
