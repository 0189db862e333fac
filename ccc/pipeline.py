"""What a pass is, and what it is given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from ccc.analysis.facts import Facts
from ccc.analysis.paths.find import Refinement, find_paths
from ccc.analysis.paths.locate import copies
from ccc.analysis.paths.model import FoundLoop, FoundPath, LeftPath, Path, PathKey
from ccc.analysis.paths.visits import share_of_visits
from ccc.ir.markers import WHOLE_KERNEL, Marker
from ccc.ir.nodes import Function, Variable
from ccc.ir.operands import Register
from ccc.options import AUTO, KEEPING, Options, Request
from ccc.ptx.dynamic_stack import ALIGNMENT
from ccc.ptx.types import DEFAULT_SHARED_BYTES
from ccc.remark import ASKED_IN, Remark

if TYPE_CHECKING:
    from ccc.decisions import MatchedDecisions
    from ccc.profile.known import Knowledge, Known


Withdrawn = Mapping[PathKey, Sequence[str]]
"""Strategies that were asked for and do not apply, by the keys of paths."""


@dataclass
class Record(ABC):
    """One copy of an annotation, on its way through the passes until one of them settles it."""

    kernel: str
    choice: dict[str, Any] = field(default_factory=dict, init=False)
    """What the choice of a strategy rests on, for the report; nothing where none was made."""
    _settled: Remark | None = field(default=None, init=False)

    @property
    @abstractmethod
    def marker(self) -> Marker:
        """Its marker."""

    @property
    def remark(self) -> Remark:
        """What is to be said of it: that nothing was done, as long as it is not settled."""
        return self._settled or Remark.missed_at(self.marker, self.kernel, None)

    @property
    def applied(self) -> bool:
        """Whether a pass has transformed its code."""
        return self.remark.applied

    @property
    def reason(self) -> str | None:
        """Why its code stays as it is; None as long as nothing speaks against a change."""
        return self.remark.reason

    @reason.setter
    def reason(self, reason: str | None) -> None:
        if reason is not None:
            self._settled = Remark.missed_at(self.marker, self.kernel, reason, self.choice)

    @property
    def is_open(self) -> bool:
        """Whether nothing is settled of it yet."""
        return self._settled is None

    def apply(self, strategy: str, details: Mapping[str, Any]) -> None:
        """Say that its code was transformed, and how."""
        told = {**details, **self.choice}
        if strategy in told.get("considered", ()):
            told["expected"] = told["considered"][strategy]
        self._settled = Remark.applied_to(self.marker, self.kernel, strategy, told)

    def describe(self, details: Mapping[str, Any]) -> None:
        """Say more of code that was transformed."""
        if self._settled is not None and self.applied:
            self._settled = replace(self._settled, details={**self._settled.details, **details})

    def leave(self, strategy: str) -> None:
        """Say that its code stays as it is because the user wants that."""
        self._settled = Remark.left_by_request(self.marker, self.kernel, strategy)

    def leave_alone(self, advice: str) -> None:
        """Say that its code stays as it is because nothing would be gained."""
        self._settled = Remark.not_worth_it(self.marker, self.kernel, advice, self.choice)

    def answer(
        self,
        request: Request | None,
        declined: str | None = None,
        is_wish: bool = False,
        file: str | None = None,
    ) -> None:
        """Say of a settled record what had been asked for, and why it was ``declined``, if it was
        and that is to be told; without a warning of a wish. A ``file`` may have asked."""
        if request is not None and self._settled is not None:
            told = replace(self._settled, asked=str(request), declined=declined, is_wish=is_wish)
            details = {**told.details, ASKED_IN: file} if file and declined else told.details
            self._settled = replace(told, details=details)


@dataclass
class KernelRecord(Record):
    """An annotation that speaks of the whole kernel."""

    annotation: Marker

    @property
    def marker(self) -> Marker:
        """The annotation's."""
        return self.annotation


@dataclass
class PathRecord(Record):
    """One annotated path; once it is collected, ``heads`` are the blocks where its tasks begin."""

    path: Path | LeftPath
    heads: tuple[str, ...] = ()

    @property
    def marker(self) -> Marker:
        """The path's."""
        return self.path.marker


@dataclass(frozen=True)
class InlinedCall:
    """A call that became the callee's body: its line, the blocks, and all functions inlined."""

    line: int
    labels: frozenset[str]
    names: frozenset[str]


@dataclass
class Kernel:
    """One function on its way through the pipeline.

    ``options`` are what the user asks for. ``shared`` are the shared variables that it uses besides
    the function's own, itself or in what it calls; ``unseen_callee`` is what is called and cannot
    be looked into, if anything that may have shared memory, and ``callee_shared_bytes`` the most
    that such take, None if that is not known; ``calls_unseen`` if functions are called, be there a
    promise of them or not, whose registers are not known; ``dynamic_shared_bytes`` is the most that
    a launch asks for, None if that is not known. A block gets no more than ``shared_limit``, of
    which stacks may be in dynamic memory if ``takes_dynamic``; where that begins is a multiple of
    ``dynamic_alignment``. ``arch`` is what the code is for; ``registers`` how many a thread takes,
    where the assembler has told, and ``tried`` how many in the original and with what was chosen
    when that was tried; with ``trying`` whatever gains anything is chosen, so that it can be told;
    with ``keeping`` it is to have the warps that it had if they hide what memory takes; ``crowded``
    is why that had better not be done where nobody insists; with ``blocks_stay`` a loop over the
    blocks of a grid has each launched block run its own, since nothing inside needs more; ``load``
    gives another function of the file, None if the file lacks it. ``inlined`` are the calls that a
    pass replaced by what they call; it leaves those on the lines of ``not_inlined``. ``knowledge``
    is what profiles say of the module's paths, and ``tuned`` what was measured to be best for them.
    """

    function: Function
    facts: Facts
    options: Options = field(default_factory=Options)
    shared: tuple[Variable, ...] = ()
    unseen_callee: str = ""
    calls_unseen: bool = False
    callee_shared_bytes: int | None = 0
    dynamic_shared_bytes: int | None = 0
    shared_limit: int = DEFAULT_SHARED_BYTES
    takes_dynamic: bool = True
    stack_warps: int | None = None
    """For how many warps of a block there are to be stacks, if not for all; larger blocks run their
    loops as they were."""
    dynamic_alignment: int = ALIGNMENT
    arch: str = ""
    registers: int | None = None
    tried: tuple[int, int] | None = None
    trying: bool = False
    keeping: bool = False
    crowded: str | None = None
    blocks_stay: bool = False
    load: Callable[[str], Function | None] = lambda _name: None
    not_inlined: frozenset[int] = frozenset()
    knowledge: Knowledge | None = None
    tuned: MatchedDecisions | None = None
    inlined: list[InlinedCall] = field(default_factory=list)
    declarations: list[str] = field(default_factory=list)
    """PTX that the module needs before the function; what several functions need, it needs once."""
    refinements: list[Refinement] = field(default_factory=list)
    """What passes make of the paths that can be collected, whenever they are found anew."""
    numbered: dict[Marker, tuple[Register, ...]] = field(default_factory=dict)
    """What numbers the iterations of annotated loops, for the sake of their reductions."""
    settled: list[PathRecord] = field(default_factory=list)
    """Of paths that a pass has served by itself before anybody asked for the ``records``; such a
    pass takes their markers away, so that they are not found again."""
    chosen: dict[PathKey, str] = field(default_factory=dict)
    """The strategies that the policy chose where nothing was asked for, by the keys of paths."""
    grids: dict[int, Mapping[str, Register]] = field(default_factory=dict)
    """Of loops over the blocks of a grid, by the numbers of their markers: a block's ``number``,
    how many are ``resident``, and the ``width``, ``height`` and ``depth`` of the grid."""
    few: dict[str, int] = field(default_factory=dict)
    """With so many iterations a thread, or fewer, an annotated loop had better run as it was, by
    the label of its header: copies of it, which nvcc makes, have one marker."""
    keeps_warps: bool = False
    """Whether what is chosen leaves it the warps that it had."""
    ranks: dict[PathKey, int] = field(default_factory=dict)
    """Which paths of a loop get stacks first, from 0 on, by the keys of paths."""
    wanted_room: dict[str, int] = field(default_factory=dict)
    """The bytes a warp that all paths of a loop would take, of which some are left for want of
    room, by the label of its header."""
    declined: dict[tuple[Marker, int], str] = field(default_factory=dict)
    """Why the strategy that was asked for does not apply to a path, by its marker and the line of
    that: the cases of a switch, and copies, have equal ones."""
    withdrawn: Withdrawn = field(default_factory=dict)
    """What was asked for and does not apply: all is done as if nobody had."""
    announced: set[Marker] = field(default_factory=set)
    """Those to tell of also where the option asked, since the strategy could have been taken."""
    informing: dict[Marker, set[Marker]] = field(default_factory=dict)
    """By the markers of branches of which a share is told, those of paths inside of which it was
    chosen by that what serves them."""

    def request_of(self, path: Path | LeftPath) -> Request | None:
        """What is to be done with a path, if anybody says; None: what the policy chooses."""
        return self.request(path, *(() if path.loop is None else (path.loop.marker,)))

    def request(self, path: FoundPath, *around: Marker) -> Request | None:
        """The same, by the path and the markers of what is around it; without what is withdrawn."""
        gone = self.withdrawn.get(path.key, ())
        asked = self._requests(path.marker, *around)
        found = next((one for one in asked if str(one) not in gone), None)
        return None if found is None or found.name == AUTO else found

    def _requests(self, *markers: Marker) -> Iterator[Request]:
        """All that is asked for, that first which counts first: what a clause says, or what was
        measured to be best, or what the option says."""
        for marker in markers:
            if request := Request.read(marker.clauses.get("strategy", ""), insists=True):
                yield request
        yield from filter(None, map(self.tuned_request, markers))
        if request := Request.read(self.options.strategy):
            yield request

    def tuned_request(self, marker: Marker) -> Request | None:
        """What was measured to be best at this marker, if anything was."""
        return self.tuned.request(self.function.name, marker) if self.tuned else None

    def known(self, path: FoundPath) -> Known | None:
        """What is known of a path by profiles; None where there is none, or it never saw it."""
        if self.knowledge is None:
            return None
        alike = copies(path.marker, self.facts)
        index = alike.index(path.entry) if path.entry in alike else 0
        share = share_of_visits(path.entry, alike, self.facts)
        return self.knowledge.of(self.function.name, path.marker, (index, len(alike)), share)

    def wanted(self, path: Path | LeftPath) -> Request | None:
        """What is to be done with a path, by the user or else by the policy's choice."""
        found = self.request_of(path)
        if found is not None or path.key not in self.chosen:
            return found
        return Request.read(self.chosen[path.key])

    def decline(self, marker: Marker, reason: str) -> None:
        """Say why the strategy that was asked for does not apply to a path; another one may."""
        self.declined[marker, marker.line] = reason

    def why_declined(self, marker: Marker) -> str | None:
        """Why that is so, if it is."""
        return self.declined.get((marker, marker.line))

    @cached_property
    def annotations(self) -> list[KernelRecord]:
        """One record for each annotation of the whole kernel."""
        markers = [marker for block in self.function.blocks for marker in block.markers]
        found = {marker.identifier: marker for marker in markers if marker.kind in WHOLE_KERNEL}
        return [KernelRecord(self.function.name, marker) for marker in found.values()]

    @property
    def may_keep_blocks(self) -> bool:
        """Whether nobody says how a loop over the blocks of the grid hands them out."""
        return not any("schedule" in one.marker.clauses for one in self.annotations)

    @cached_property
    def records(self) -> list[PathRecord]:
        """One record for each annotated path.

        Paths are found when somebody first asks for them, so passes that make the loop around
        them visible, or refine them, come before those that ask.
        """
        found = self.find_paths()
        return [*self.settled, *(PathRecord(self.function.name, path) for path in found)]

    def find_paths(
        self, excluded: Mapping[PathKey, str] = MappingProxyType({})
    ) -> list[Path | LeftPath]:
        """The paths of the function as it is now; those ``excluded`` are left, with reasons."""
        return find_paths(self.facts, excluded, self.refinements, self._keeps_rest)

    def _keeps_rest(self, path: FoundPath, loop: FoundLoop) -> bool:
        request = self.request(path, loop.marker)
        return request is not None and request.name in KEEPING

    def changed(self) -> None:
        """Forget what was computed of the function, because a pass has changed it."""
        self.facts = Facts(self.function, self.facts.callees, self.facts.files)


class Pass(ABC):
    """A transformation of one kernel, as the kernel's options ask."""

    name: ClassVar[str]
    """As the command line and the goldens spell it."""

    @abstractmethod
    def run(self, kernel: Kernel) -> None:
        """Change ``kernel`` and its records."""
