"""What is known of annotated loops and of the paths in them.

A *path* is a part of an annotated loop's iteration that only some lanes run: an arm of a branch, a
case of a switch, or an inner loop whose trip count differs from lane to lane. What is known of it
comes in stages, each a type: it is found at a marker, placed in its loop, checked, and given its
context; or it is left at one of them, with a reason.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ccc.analysis.companions import Companions
from ccc.analysis.convergence import ReconvergencePoint
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.local_memory import Word
from ccc.analysis.slicing import Slice
from ccc.ir.markers import Marker
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Register, Special
from ccc.ir.reannotated import Reannotated

PathKey: TypeAlias = tuple[int, str, str]
"""What identifies a path in its function: the identifier and the kind of its marker, and where it
begins."""


class Refused(Exception):
    """Why a path cannot be collected; the message completes "left as it was: ..."

    Args:
        reason: the message.
        ways: the annotations that its advice asks for.
    """

    def __init__(self, reason: str, ways: Sequence[WayOut] = ()):
        super().__init__(reason)
        self.ways = ways


@dataclass(frozen=True)
class WayOut:
    """What may be done about a path: to mark the loops with these ``headers``, and to remove the
    annotations that are ``removed``. Those of the kind ``for`` are ``entered`` from some blocks;
    ``ends`` tells where turns of the loops end, for messages."""

    text: str
    headers: Collection[str] = ()
    removed: Collection[Marker] = ()
    kind: str = "while"
    entered: Mapping[str, Collection[str]] = field(default_factory=dict, hash=False)
    ends: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def reannotated(self) -> Reannotated:
        """The annotations then."""
        removed = frozenset(one.span for one in self.removed)
        entered = self.entered if self.kind == "for" else {}
        return Reannotated(removed, dict.fromkeys(self.headers, self.kind), entered, self.ends)


@dataclass(frozen=True, slots=True)
class Accumulator:
    """A variable that an annotated loop only updates, by one operation.

    ``operation`` and ``type`` are PTX's (``add``, ``f32``); ``registers`` hold it at one place or
    another of the loop. One that ``compares`` is an extreme that is taken where it is less, or
    more, than what there is, and so never if one of them is no number. The ``holders`` of a flag
    have nothing but 0 or 1 in them, and are as wide as it; others are steps on the way.

    One with a ``group`` is taken together with others: the ``number`` of its class there, of which
    0 is what is compared. Those that only go with it have the operation ``with``.
    """

    operation: str
    type: str
    registers: frozenset[Register]
    compares: bool = False
    group: Companions | None = None
    number: int = 0
    holders: frozenset[Register] | None = None

    @property
    def bytes(self) -> int:
        """The size of a value."""
        return int(self.type[1:]) // 8


@dataclass(frozen=True, eq=False)
class FoundLoop:
    """A loop whose iterations the user declared independent, but for its ``accumulators``."""

    marker: Marker
    loop: Loop
    accumulators: tuple[Accumulator, ...]


@dataclass(frozen=True, eq=False)
class AnnotatedLoop(FoundLoop):
    """Such a loop, checked: its members can be counted at ``reconvergence``."""

    reconvergence: ReconvergencePoint


@dataclass(frozen=True, eq=False, repr=False)
class FoundPath:
    """A path at its marker; nothing more is known of it yet.

    A path that ``repeats`` is a loop: a task comes back to the collection point after some of its
    turns.
    """

    marker: Marker
    entry: str
    repeats: bool

    @property
    def key(self) -> PathKey:
        """What identifies it in its function, also after other paths were collected."""
        return self.marker.identifier, self.marker.kind, self.entry

    def __repr__(self) -> str:
        """One line: what is known of a path leads to other paths, and to all of the function."""
        return f"<{type(self).__name__} {self.marker.kind} {self.marker.span} {self.entry}>"


@dataclass(frozen=True, eq=False, repr=False)
class LeftPath(FoundPath):
    """A path that cannot be collected, with the ``reason``, the loop around it if any, and why not
    ``alone``, without the rest of its iteration, either, where that was asked. One that
    ``is_short`` does nothing but make a few values: its lane had better do that anyway. A loop that
    ``is_full`` is likely begun by all lanes of a warp or by none, which then go round as often. The
    ``ways`` are what annotations there would be if what the reason advises were done."""

    reason: str
    loop: FoundLoop | None = None
    alone: str = ""
    is_short: bool = False
    is_full: bool = False
    ways: Sequence[WayOut] = ()


@dataclass(frozen=True, eq=False, repr=False)
class PlacedPath(FoundPath):
    """A path of which it is known where it lies.

    ``turn`` is the innermost loop around it whose iterations are tasks: the annotated one, or one
    that is a path. ``blocks`` are the path's own, ``rest`` the blocks of the same turn after it;
    ``join`` is where it ends, if that is one block. A path inside another that can be collected has
    that as ``parent``; then ``rest`` ends where the parent's task ends, or its turn.
    """

    loop: AnnotatedLoop
    turn: Loop
    parent: Path | None
    blocks: frozenset[str]
    rest: frozenset[str]
    join: str | None

    @property
    def region(self) -> frozenset[str]:
        """The blocks that the task runs, as far as that is known."""
        return self.blocks

    @property
    def gives_away(self) -> bool:
        """Whether the lane that gives a task away has another turn to think of."""
        return self.parent is None or self.parent.repeats


@dataclass(frozen=True, eq=False, repr=False)
class CheckedPath(PlacedPath):
    """A path of which it is known what its tasks do.

    With a ``continuation`` the rest of the turn runs with the task: ``task`` says which
    instructions of ``blocks`` and ``rest`` that needs, ``owner`` which the lane that gave the task
    away still runs for its own next turn. ``accumulators`` are those that the task updates.

    Where the rest of the iteration could not run with the task, ``stays`` says why: then it must
    stay with its lane, and whatever serves the path brings back to it what the task has made.

    Where loops lie in what goes with the task, ``followers`` are the paths that hold them: a task
    that comes to one of these ends there, as a task of that.

    One that ``carries_parent`` has for its tasks those of the loop around it, as far as these have
    come: where it ends, the turn is finished, and they are tasks of that loop again.

    ``frame`` are the words of the thread's own memory that a task takes along. ``ends_later`` is
    what users are told where tasks decide whether the loop goes on, ``may_lose`` where two of
    them may change one place at the same time, ``turns_may_lose`` where two turns of one task may,
    and ``timed`` where they take the time that they wait for.
    """

    continuation: bool
    accumulators: tuple[Accumulator, ...]
    task: Slice | None = None
    owner: Slice | None = None
    stays: str | None = None
    followers: tuple[Path, ...] = ()
    frame: tuple[Word, ...] = ()
    carries_parent: bool = False
    ends_later: str | None = None
    may_lose: str | None = None
    turns_may_lose: str | None = None
    timed: str | None = None

    @property
    def gives_away(self) -> bool:
        """Whether the lane that gives a task away has another turn to think of."""
        return not self.carries_parent and super().gives_away

    @property
    def region(self) -> frozenset[str]:
        """The blocks that the task runs."""
        return self.blocks | self.rest if self.continuation else self.blocks

    @property
    def keeps_first(self) -> bool:
        """Whether its tasks update what keeps the first of equals, with what goes with it."""
        return any(one.group is not None for one in self.accumulators)

    def leads_to(self, other: PlacedPath) -> bool:
        """Whether tasks of this path go on as tasks of the other one."""
        return any(one.key == other.key for one in self.followers)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Path(CheckedPath):
    """A path that can be collected, with its context.

    ``context`` lists the registers, ``specials`` the special registers, that the task takes along;
    the ``recomputed`` instructions make the ``compressed`` registers of it anew where the task
    runs. ``live`` are the registers that hold something where the path begins.
    """

    live: frozenset[Register]
    context: tuple[Register, ...]
    specials: tuple[Special, ...]
    recomputed: tuple[Instruction, ...] = ()
    compressed: tuple[Register, ...] = ()


def instructions_of(labels: Iterable[str], facts: Facts) -> Iterator[Instruction]:
    """The instructions of some blocks, in a fixed order."""
    return (i for label in sorted(labels) for i in facts.blocks[label].instructions)


def at(instruction: Instruction) -> str:
    """Where a reason points to, in the PTX that was looked at."""
    return f" (PTX line {instruction.span.line}: {instruction})"


def without_places(reason: str) -> str:
    """A reason that points to no instruction, for code that was rewritten since."""
    return re.sub(r" \(PTX line \d+: [^;]*;\)", "", reason)
