"""``engage``: the whole warp is engaged on the joined lists of a ``for variable``; with
``engage_block``, the whole block.

It asks for an inner loop whose turns can be counted. All tasks are shared out, short ones too:
:mod:`ccc.passes.context_collection.joined_lists` and ``block_lists`` show the code. Of long tasks
alone, one after the other beside what serves the loop, :mod:`ccc.passes.strategies.long_tasks`
takes care.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ccc.analysis.block_meetings import BlockFacts, check_any_warp_may_run, check_block_meets
from ccc.analysis.facts import Facts
from ccc.analysis.paths.induction import Induction, find_induction
from ccc.analysis.paths.model import Accumulator, Path, Refused
from ccc.analysis.paths.shared_turns import SharedTurns, find_shared_turns
from ccc.ir.operands import Register, Special
from ccc.passes.context_collection.block_lists import BlockLists
from ccc.passes.context_collection.joined_lists import JoinedLists
from ccc.passes.context_collection.sequential_dispatch import SequentialDispatch
from ccc.passes.context_collection.sequential_node import SequentialNode
from ccc.passes.context_collection.shared_tasks import SharedTasks
from ccc.passes.context_collection.sub_warps import SubWarps
from ccc.passes.context_collection.task_code import OWNER
from ccc.passes.strategies.strategy import (
    COUNTS,
    Estimate,
    context_words,
    run_slots,
)
from ccc.passes.thresholds import SHUFFLED_WORDS
from ccc.ptx.types import WARP_SIZE

DEPENDENT = 'its turns are not said to be independent; that is "ccc for variable"'
OF_OTHERS = (
    "its turns add up what the rest of the iteration needs, and it lies in a path whose tasks run "
    "on other lanes than their own, which its context names"
)
CARRIES = "its tasks take those of the loop around it along"
BEFORE_A_LOOP = "what follows it in the iteration holds another annotated loop"
SPLIT = (
    "let an annotated loop or a kernel of its own do what follows, so that the turns of both are "
    "shared out, or remove this annotation"
)
"""How two loops in one iteration get what one of them has."""

IN_A_PATH = "it lies in another path, to which not all warps of the block come; ask for engage"
NOT_ALONE = (
    "warps of a block share out the turns of a loop that is the only annotated one in its iteration"
)
OF_A_WARP = "its turns set several variables by one comparison, in memory of their own warp"


@dataclass(frozen=True, slots=True)
class Engage:
    """Share out all tasks, among all lanes, among groups of so many ``lanes``, or, where it is
    ``alone`` in its loop, among the warps of the block."""

    lanes: int | None = None
    entries: int = WARP_SIZE
    alone: bool = False

    @property
    def name(self) -> str:
        """With the number of lanes."""
        if self.alone:
            return "engage_block"
        return "engage" if self.lanes is None else f"sub_warp({self.lanes})"

    def applies(self, paths: Sequence[Path], facts: Facts) -> str | None:
        """The turns of the path must be independent, and countable before the first of them."""
        path = paths[0]
        if path.followers:
            return f"{BEFORE_A_LOOP}; {SPLIT}"
        if path.carries_parent:
            return CARRIES
        why = why_not(path, facts) or is_of_others(path, facts, path.parent is not None)
        return why or (facts.once(_why_not_in_block, path) if self.alone else None)

    def of(self, path: Path, facts: Facts) -> SharedOut | None:
        """How it is done with one path; None if it cannot be done."""
        return facts.once(self._of, path)

    def _of(self, path: Path, facts: Facts) -> SharedOut | None:
        induction = None if self.applies([path], facts) else find_induction(path, facts)
        if induction is None or isinstance(induction, str):
            return None
        return SharedOut(
            self.lanes,
            find_shared_turns(path, induction, facts, in_warp=not self.alone),
            bool(path.accumulators),
            counts=COUNTS if self.alone else 0,
        )

    def cost(self, paths: Sequence[Path], facts: Facts) -> Estimate:
        """Each task is written once, and read for each of its turns."""
        words = sum(map(context_words, paths)) + len(paths)
        return Estimate(run_slots(paths, facts, as_tasks=True), 2 * words)


@dataclass(frozen=True, slots=True)
class SharedOut:
    """All tasks of one path shared out, of which it is known what a turn takes."""

    lanes: int | None
    turns: SharedTurns
    adds: bool
    shares_all: bool = True
    counts: int = 0

    @property
    def sums(self) -> tuple[Accumulator, ...]:
        """What its turns add up for what follows it."""
        return self.turns.induction.sums

    @property
    def entries(self) -> int:
        """How many tasks lie in shared memory: joined lists stay in their owners' registers, if
        what is known of each is short, or lanes add up."""
        words = sum(-(-one.bits // 32) for one in self.turns.registers) + len(self.turns.specials)
        apart = self.adds or self.sums or words <= SHUFFLED_WORDS
        is_warp = self.lanes is None and not self.counts
        return 0 if is_warp and apart else WARP_SIZE

    @property
    def sent(self) -> tuple[Register | Special, ...]:
        """What a lane must know to run a turn, and for whom it runs it."""
        known = (*self.turns.registers, *self.turns.specials)
        owner = (OWNER,) if (self.adds or self.sums) and OWNER not in known else ()
        return (*known, *owner)

    def rewrite(self, collector: SequentialDispatch, node: SequentialNode) -> SharedTasks:
        """Put it where the turns would begin."""
        if self.counts:
            return BlockLists(collector, node, self.turns)
        if self.lanes is None:
            return JoinedLists(collector, node, self.turns)
        return SubWarps(collector, node, self.turns, self.lanes)


def why_not(path: Path, facts: Facts) -> str | None:
    """Why the turns of a path cannot be shared out; None if they can."""
    if path.marker.kind != "variable":
        return DEPENDENT
    induction = find_induction(path, facts)
    return induction if isinstance(induction, str) else None


def is_of_others(path: Path, facts: Facts, in_tasks: bool) -> str | None:
    """Sums for the rest of the iteration belong to the lane that runs the task. But the context
    names the lane whose iteration it was, where that is needed for other sums, or as a number.

    Those are not the same where tasks of other paths come to it (``in_tasks``).
    """
    induction = find_induction(path, facts)
    hands_back = isinstance(induction, Induction) and bool(induction.sums)
    names_another = in_tasks and OWNER in path.specials
    return OF_OTHERS if hands_back and names_another else None


def is_exact(path: Path, facts: Facts) -> bool:
    """Whether what turns add up comes out the same, in whatever order they do."""
    induction = find_induction(path, facts)
    sums = induction.sums if isinstance(induction, Induction) else ()
    return not any(
        one.type.startswith("f") and one.operation in ("add", "mul")
        for one in (*path.accumulators, *sums)
    )


def _why_not_in_block(path: Path, facts: Facts) -> str | None:
    """Why warps of the block cannot run turns of one another's tasks; None if they can."""
    if path.parent is not None:
        return IN_A_PATH
    if any(accumulator.group is not None for accumulator in path.accumulators):
        return OF_A_WARP
    of_block = BlockFacts.of(facts)
    try:
        check_any_warp_may_run(path, facts, of_block, adds=True)
        check_block_meets(path.loop.loop, of_block)
    except Refused as refusal:
        return str(refusal)
    return None


ENGAGE = Engage()
ENGAGE_BLOCK = Engage(alone=True)
