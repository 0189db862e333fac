"""Lists that are about as long as one another, each run by its own lane (no pass).

Sharing out turns gains where lanes would wait for the one with the longest list, and costs a search
for each turn. So lanes ask first: they add up their lists, and find the longest. Where all would be
done sooner each by itself, each lane runs its own list, in order, as it was. nvcc unrolls short
loops four times, and ptxas those once more, so that many loads are under way at a time; the loop
that is marked it leaves as it is. So that is done here.

    MEET:     would the longest list take less than sharing out all of them?
    OWN:
    MANY:     as many turns left as stand in a row? else to SOME
              <a turn>
              ...
              bra MANY;
    SOME:     half as many left? then these; and so on
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ccc.analysis.facts import Facts
from ccc.analysis.paths.fetches import has_side_effect
from ccc.analysis.paths.model import Path, instructions_of
from ccc.ir.edit import Emitter, retarget, substitute
from ccc.ir.operands import Register
from ccc.passes.choice.work import passage
from ccc.passes.context_collection.task_code import OWNER
from ccc.passes.context_collection.unrolling import kept_whole, let_unroll
from ccc.passes.thresholds import (
    OWN_AT_ONCE,
    OWN_LENGTH,
    OWN_LOAD,
    OWN_LOADS,
    OWN_LOADS_LENGTH,
    SHARED_START,
    SHARED_SUM,
    SHARED_SUM_WORD,
    SHARED_SUMS_START,
    SHARED_TURN,
    SHARED_WORD,
)
from ccc.ptx.types import WARP_SIZE
from ccc.snippet import Given, Snippet

if TYPE_CHECKING:
    from ccc.passes.context_collection.shared_tasks import SharedTasks
    from ccc.passes.strategies.strategy import Sharing

FRACTION = 16
"""In such parts of a turn the two ways are compared."""

EVEN = Snippet(
    """
    .reg .pred %even;
    .reg .b32 %count, %longest, %sum;
    .reg .b64 %own, %shared;
        redux.sync.max.u32 %longest, %count, -1;
        redux.sync.add.u32 %sum, %count, -1;
        mul.wide.u32 %own, %longest, ALL;
        mul.wide.u32 %shared, %sum, SHARED;
        add.u64 %shared, %shared, START;
        setp.le.u64 %even, %own, %shared;
    """,
    "ALL", "SHARED", "START",
)  # fmt: skip
"""Would the longest list take less than sharing out all of them? All lanes get the same answer."""

IF_EVEN = Snippet("""
    .reg .pred %even;
        @%even bra OWN;
""")

SHARES = Snippet("""
    .reg .pred %shares;
    OWN:
        @!%shares bra AFTER;
""")
"""Who has no list waits where its next iteration begins."""

MANY = Snippet(
    """
    .reg .pred %few;
    .reg .b32 %turns, %left;
        mov.b32 %left, %turns;
    MANY:
        setp.lt.u32 %few, %left, NUMBER;
        @%few bra SOME;
    """,
    "NUMBER",
)
"""As long as there are so many turns left, they are run in a row,"""

TAKE = Snippet(
    """
    .reg .b32 %left;
    TAKE:
        sub.s32 %left, %left, NUMBER;
        bra MANY;
    """,
    "NUMBER",
)
"""and one goes round."""

SOME = Snippet(
    """
    .reg .pred %none;
    .reg .b32 %turns, %bit;
    SOME:
        and.b32 %bit, %turns, NUMBER;
        setp.eq.s32 %none, %bit, 0;
        @%none bra FEWER;
    """,
    "NUMBER",
)
"""Of what is left then, half as many, and so on."""


@dataclass(frozen=True, slots=True)
class TurnSlots:
    """What a turn takes, in issue slots of a warp: of a lane's ``own`` list, and ``shared`` out,
    both with the memory that all lanes ask for; and what it takes to ``start`` with that.

    Where few lanes have a list, memory has little to do. So what it takes to start is weighed with
    the ``issued`` instructions of a turn alone.
    """

    own: float
    shared: float
    start: float
    issued: float

    @property
    def start_in_turns(self) -> float:
        """What it takes to start, in turns of a lane's own list."""
        return self.start / self.issued

    @staticmethod
    def of(path: Path, words: int, sum_words: int, facts: Facts, arch: str) -> TurnSlots:
        """Those of a path of whose task so many words are told, and so many of sums are handed
        back."""
        work = passage(path.blocks, facts, path.entry, path.entry).work
        issued = work.slots(arch)
        own = issued + OWN_LOAD * work.loads
        shared, start = own + SHARED_TURN + SHARED_WORD * words, float(SHARED_START)
        if sum_words:
            shared += SHARED_SUM + SHARED_SUM_WORD * sum_words
            start += SHARED_SUMS_START
        return TurnSlots(own, shared, start, issued)


def turn_slots(engaged: Sharing, path: Path, facts: Facts, arch: str) -> TurnSlots:
    """What lanes weigh that ask whether to share out their lists."""
    told = [one.bits if isinstance(one, Register) else 32 for one in engaged.sent if one != OWNER]
    added = sum(-(-one.bytes // 4) for one in (*path.accumulators, *engaged.sums))
    return TurnSlots.of(path, sum(-(-bits // 32) for bits in told), added, facts, arch)


def own_at_once(path: Path, facts: Facts) -> int:
    """How many turns of a list stand in a row, as nvcc and ptxas have it: a power of two."""
    body = list(instructions_of(path.blocks, facts))
    if any(loop.blocks < path.blocks for loop in facts.loops):
        return 1
    waits = len(path.blocks) > 1 or any(map(has_side_effect, body))
    most, length = (OWN_AT_ONCE, OWN_LENGTH) if waits else (OWN_LOADS, OWN_LOADS_LENGTH)
    number = 1
    while 2 * number <= min(most, length // len(body)):
        number *= 2
    return number


class OwnLists:
    """The code of lists that their own lanes run."""

    def __init__(self, tasks: SharedTasks) -> None:
        self.tasks = tasks
        self.collector, self.node, self.induction = (
            tasks.collector, tasks.node, tasks.turns.induction
        )  # fmt: skip
        self.label = self.collector.function.fresh_label("own")

    @property
    def at_once(self) -> int:
        """How many turns stand in a row."""
        return own_at_once(self.node.path, self.collector.facts)

    def ask(self, emit: Emitter, count: Register) -> None:
        """Emit what all lanes of the warp do to find out."""
        engaged = self.node.plan.engage
        assert engaged is not None
        collector = self.collector
        arch = collector.kernel.arch
        slots = turn_slots(engaged, self.node.path, collector.facts, arch)
        share, start = slots.shared / slots.own, slots.start_in_turns
        even = EVEN.of(
            ALL=FRACTION * WARP_SIZE, SHARED=round(FRACTION * share),
            START=round(FRACTION * WARP_SIZE * start),
        )  # fmt: skip
        asked = even.emit(emit, count=count)
        self.tasks.note_even(emit, asked["longest"], asked["even"])
        IF_EVEN.emit(emit, even=asked["even"], OWN=self.label)

    def emit(self, turns: Register, shares: Register, done: str, after: str) -> None:
        """Emit the lists of lanes that have one, on to ``done``; the others go on ``after``."""
        collector = self.collector
        emit = collector.here
        SHARES.emit(emit, shares=shares, OWN=self.label, AFTER=after)
        for instruction in self.node.prelude:
            emit.block.statements.append(substitute(instruction, {}, {}))
        label, number = collector.function.fresh_label, self.at_once
        many, take, some = label("many"), label("take"), label("some") if number > 1 else done
        scope: dict[str, Given] = {"turns": turns, "MANY": many, "SOME": some}
        left = MANY.of(NUMBER=number).emit(emit, scope)["left"]
        self._turns(emit, number, take, done)
        TAKE.of(NUMBER=number).emit(collector.here, left=left, MANY=many, TAKE=take)
        while number > 1:
            number //= 2
            fewer = label("some") if number > 1 else done
            emit = collector.here
            SOME.of(NUMBER=number).emit(emit, turns=turns, SOME=some, FEWER=fewer)
            self._turns(emit, number, fewer, done)
            some = fewer

    def _turns(self, emit: Emitter, number: int, onward: str, done: str) -> None:
        """Emit so many turns in a row, on to a label."""
        path = self.node.path
        row = [self.collector.fresh_labels(path.blocks, "turn") for _ in range(number)]
        heads = [labels[path.entry] for labels in row]
        emit.emit("bra", heads[0])
        for labels, following in zip(row, [*heads[1:], onward], strict=True):
            self._turn(labels, following, done)
        self.node.heads = (*self.node.heads, *heads)

    def _turn(self, labels: Mapping[str, str], onward: str, done: str) -> None:
        """A turn, which does not ask whether it is the last one."""
        function, path, copy = self.collector.function, self.node.path, self.node.copy
        assert copy is not None
        places = {**copy.labels, self.induction.exit: done, **labels}
        skips = path.task.skips if path.task else {}
        ways = {label: places[to] for label, (to, _) in skips.items() if label in labels}
        successors = self.collector.facts.graph.successors(self.induction.end)
        inside = next(label for label in successors if label in path.blocks)
        ways[self.induction.end] = labels[inside]
        headers = {path.entry, *kept_whole(self.collector.facts)}  # of turns in a row that is none
        blocks = replace(copy, labels=places, skips=ways).blocks(function, path.blocks)
        for block in blocks:
            retarget(function, block, labels[path.entry], onward)
        let_unroll(blocks, {labels[one] for one in headers & labels.keys()})
        function.blocks += blocks
