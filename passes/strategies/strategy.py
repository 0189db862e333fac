"""What a strategy is: something that can be done with annotated paths (no pass).

A strategy says of some paths whether it can serve them and what that would cost, and it does it. It
does not say whether it should be done: :mod:`ccc.passes.policy` decides that, for all paths of a
kernel at once, and hands each strategy its part as a :class:`Choice`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ccc.analysis.facts import Facts
from ccc.analysis.paths.induction import Induction
from ccc.analysis.paths.model import Accumulator, AnnotatedLoop, Path, at, instructions_of
from ccc.analysis.paths.split_iteration import ReturningPath
from ccc.ir.markers import Marker
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Register, Special
from ccc.options import Request
from ccc.pipeline import Kernel, PathRecord
from ccc.ptx.opcodes import Unit
from ccc.ptx.types import TYPES

if TYPE_CHECKING:
    from ccc.passes.context_collection.engagement import Engagement
    from ccc.passes.context_collection.sequential_dispatch import SequentialDispatch
    from ccc.passes.context_collection.sequential_node import SequentialNode
    from ccc.passes.context_collection.shared_tasks import SharedTasks

WORD_BYTES = 4
COUNTS = 8
"""Bytes of the counts of a warp's joined list, where the whole block goes through it: how many
items there are, and how many of them are taken."""
WITH_ARRAY = (
    "its tasks take an array of the thread's own along, which must be saved before the lane begins "
    "another iteration"
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a strategy makes of some paths, as far as their PTX tells.

    An instruction of PTX counts as one issue slot, as most are one on sm_70 and later.

    Args:
        run_slots: in which a warp runs each of the paths once, however many lanes take part; a loop
            inside a path counts as one turn.
        exchange_slots: which are added for a warp whose lanes have one task of each path: copies of
            the contexts, and their way to other lanes. What does not depend on the paths, such as
            votes, is not counted.
    """

    run_slots: int
    exchange_slots: int


@dataclass(frozen=True, slots=True)
class Hints:
    """What the user said of a path: the share of lanes that take it, and its rank."""

    prob: float | None
    priority: int | None

    @staticmethod
    def of(marker: Marker) -> Hints:
        """Those of a marker."""
        prob, priority = marker.clauses.get("prob"), marker.clauses.get("priority")
        return Hints(
            None if prob is None else float(prob), None if priority is None else int(priority)
        )


@dataclass(frozen=True, slots=True)
class Collectable:
    """A path that can be collected, and its record."""

    record: PathRecord
    path: Path


@dataclass(frozen=True, slots=True)
class PathDecision:
    """What is decided of one path.

    Args:
        record: the path's.
        path: the path.
        hints: what the user said of it.
        own: what serves it whatever serves the other paths of its loop, if anything.
        request: what was asked for, if anything.
        last_apart: whether the last tasks may have a copy of the path, behind the loop.
        counter: the counter that a loop ends with, if it does.
        returning: the path without the rest of its iteration, where a strategy is asked for that
            gives back what tasks make.
        engage: what shares out its tasks, all or the long ones, if they are shared out.
        turns: how many of a loop's turns a task does before members meet.
        unshared: why no tasks of a loop are shared out, if none are.
    """

    record: PathRecord
    path: Path
    hints: Hints
    own: Serving | None
    engage: Sharing | None
    turns: int = 1
    request: Request | None = None
    unshared: str | None = None
    last_apart: bool = False
    counter: Induction | None = None
    returning: ReturningPath | None = None

    def served_by(self, strategy: LoopStrategy) -> Serving:
        """What serves the path where ``strategy`` serves its loop."""
        return self.own or strategy


@dataclass(frozen=True, slots=True)
class Decision:
    """What is decided of one loop: the first of ``strategies`` whose stacks fit serves ``paths``.

    The paths stand in the order in which they are served.
    """

    loop: AnnotatedLoop
    paths: tuple[PathDecision, ...]
    strategies: tuple[LoopStrategy, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The strategy that a loop gets, and the first byte of a warp's share that is free for it.

    ``reasons`` says of records why their paths are left alone.
    """

    decision: Decision
    strategy: LoopStrategy
    start: int
    reasons: tuple[tuple[PathRecord, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A loop that was rewritten.

    Args:
        enter: the label that it is entered at.
        base: the instruction that computes the base of the warp's share, if it has one.
        share: the byte of that share behind those that it uses.
        users: further instructions that compute with the size of a share, as that does.
    """

    enter: str
    base: Instruction | None
    share: int
    users: tuple[Instruction, ...] = ()


class Strategy(Protocol):
    """Something that can be done with paths."""

    @property
    def name(self) -> str:
        """As the command line and the report spell it."""

    def applies(self, paths: Sequence[Path], facts: Facts) -> str | None:
        """Why it cannot serve the paths, all of them of one loop; None if it can."""

    def cost(self, paths: Sequence[Path], facts: Facts) -> Estimate:
        """What it would cost; the paths are such that it applies to."""


class Serving(Strategy, Protocol):
    """What can serve one path: so many ``entries`` has its room in shared memory."""

    @property
    def entries(self) -> int:
        """The entries of a path's stack."""


class LoopStrategy(Serving, Protocol):
    """What can be done with all paths of a loop.

    ``together``: it serves the paths at the same time, from registers that they share; otherwise
    one after the other. ``mixes``: it can serve some of the paths while another such strategy
    serves the others. ``entries``: so many tasks are saved on the stack of each path.
    ``iterations``: so many of a lane's are run before members meet. ``returns``: what a task makes
    goes back to the lane that it came from, which runs the rest of the iteration.
    """

    @property
    def together(self) -> bool:
        """Whether the paths share registers."""

    @property
    def mixes(self) -> bool:
        """Whether others may serve other paths of the loop."""

    @property
    def entries(self) -> int:
        """The entries of a path's stack."""

    @property
    def iterations(self) -> int:
        """The iterations between two exchanges."""

    @property
    def returns(self) -> bool:
        """Whether tasks give back what they make."""

    def rewrite(self, kernel: Kernel, choice: Choice) -> Rewritten | None:
        """Do it; None if the loop stays as it is."""


class Sharing(Protocol):
    """How the tasks of one path are shared out.

    ``shares_all``: nothing else serves the path, else it is done with long tasks beside what does.
    ``entries`` are the tasks that lie in shared memory, where all are shared out, and ``counts``
    bytes in front of them;
    ``sent`` are the registers and special registers of the context that others get to know, where
    all tasks are shared out, and ``sums`` what their turns add up for what follows the loop.
    """

    @property
    def shares_all(self) -> bool:
        """Whether short tasks are shared out, too."""

    @property
    def entries(self) -> int:
        """How many tasks lie in shared memory."""

    @property
    def counts(self) -> int:
        """Bytes in front of that."""

    @property
    def sent(self) -> tuple[Register | Special, ...]:
        """What others get to know."""

    @property
    def sums(self) -> tuple[Accumulator, ...]:
        """What turns add up."""

    def rewrite(
        self, collector: SequentialDispatch, node: SequentialNode
    ) -> Engagement | SharedTasks:
        """Do it, for one of the paths of a collector."""


class PathStrategy(Serving, Protocol):
    """What can be done with one path, whatever serves the others of its loop.

    It is asked whether it ``applies`` to that path and, behind it, those that lie in it. ``alone``:
    there must be no other path in the loop.
    """

    @property
    def alone(self) -> bool:
        """Whether it bears no other path beside it."""

    def of(self, path: Path, facts: Facts) -> Sharing | None:
        """How it is done; None if it does not apply."""


def why_not_single(paths: Sequence[Path]) -> str | None:
    """Why the paths are not one branch alone in its loop; None if they are."""
    if len(paths) > 1:
        return "there are several paths"
    if paths[0].repeats or paths[0].parent is not None:
        return "the path is an inner loop, or lies in another path"
    return None


def why_not_exclusive(paths: Sequence[Path], facts: Facts | None = None) -> str | None:
    """Why an iteration may come to several of the paths, or again to one; None if it may not.

    With ``facts`` it is told where a case begins that goes on in another one.
    """
    entries = Counter(path.entry for path in paths)
    for path in paths:
        if path.parent is not None or path.repeats:
            return "a path is an inner loop, or lies in another path"
        met = entries.keys() & (path.blocks | path.rest)
        if any(entries[entry] > (entry == path.entry) for entry in met):
            is_case = path.marker.kind == "case" and path.join in entries
            first = next(iter(facts.blocks[path.entry].instructions), None) if facts else None
            if is_case and first is not None:
                return f"a case goes on in the next one{at(first)}"
            return "an iteration may come to several of the paths"
    return None


def why_at_once(paths: Iterable[Path]) -> str | None:
    """Why tasks must be saved at the end of the iteration that they were found in, on the stack of
    the warp; None if they need not."""
    return WITH_ARRAY if any(path.frame for path in paths) else None


def context_words(path: Path) -> int:
    """The 32-bit words of a task's context."""
    types = [r.type for r in path.context] + [s.register.type for s in path.specials]
    return sum(max(1, TYPES[name].bits // 32) for name in types) + len(path.frame)


def instruction_count(labels: Iterable[str], facts: Facts) -> int:
    """The instructions in some blocks."""
    return sum(i.unit != Unit.NOTHING for i in instructions_of(labels, facts))


def run_slots(paths: Sequence[Path], facts: Facts, as_tasks: bool) -> int:
    """The issue slots in which each of the paths runs once.

    Args:
        paths: the paths; what lies in one that lies in another counts once.
        facts: the function's analyses.
        as_tasks: whether the rest of the iteration goes with the paths that need it.
    """
    found = 0
    for path in paths:
        inner = (other.blocks for other in paths if other.parent is path)
        own = (path.region if as_tasks else path.blocks).difference(*inner)
        found += instruction_count(own, facts)
    return found


def collecting_cost(paths: Sequence[Path], facts: Facts) -> Estimate:
    """What it costs to save tasks, and to fetch them.

    Each word of a context is copied when the lane comes to the path, stored, and loaded.
    """
    words = sum(map(context_words, paths))
    again = sum(len(path.recomputed) for path in paths)
    return Estimate(
        run_slots=run_slots(paths, facts, as_tasks=True) + again,
        exchange_slots=3 * words,
    )
