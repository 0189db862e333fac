"""What an inner loop takes, by what serves it.

Each lane runs its own list, or hands on what is left of it, or all lanes share out the lists.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import Path
from ccc.passes.choice.exchange import ASKED, DRIFT, LATENCY, STEP, TURNS, WORD, exchange
from ccc.passes.choice.lanes import most
from ccc.passes.choice.lengths import Lengths
from ccc.passes.choice.path_cost import PathCost
from ccc.passes.choice.work import Work
from ccc.passes.context_collection.own_lists import TurnSlots, turn_slots
from ccc.passes.context_collection.task_counts import reduces
from ccc.passes.strategies.engage import ENGAGE
from ccc.passes.strategies.leave import LEAVE
from ccc.passes.strategies.long_tasks import LONG_TASKS
from ccc.passes.thresholds import LONG, SHARED_START
from ccc.ptx.occupancy import likely_limits
from ccc.ptx.throughput import SCHEDULERS
from ccc.ptx.types import WARP_SIZE

SHARED_OUT = ("engage", "engage_block")


@dataclass(frozen=True, slots=True)
class InnerLoops:
    """What inner loops of one annotated loop take.

    Args:
        facts: the function's analyses.
        arch: what the kernel is compiled for.
        iterations: of the annotated loop that a warp does; None where nobody counted them.
        waits: whether lanes wait for memory.
    """

    facts: Facts
    arch: str
    iterations: float | None
    waits: bool

    def of(self, one: PathCost, name: str, entered: float, gathered: bool) -> tuple[float, Work]:
        """How many turns a warp does in an iteration of the annotated loop, and what they take.

        Args:
            one: the inner loop.
            name: what serves it.
            entered: how often a warp begins it.
            gathered: whether lanes that begin it were collected.
        """
        if name == LEAVE.name:
            return self._left(one, entered, gathered)
        if name in SHARED_OUT:
            return self._shared_out(one, name, entered)
        return self._handed_on(one, name, entered)

    def _left(self, one: PathCost, entered: float, gathered: bool) -> tuple[float, Work]:
        """Where each lane runs its own list, as nvcc makes it."""
        lanes, turns = one.lanes, one.lanes.most_turns
        if gathered and entered and not lanes.agree:
            turns = max(turns, most(lanes.turns, lanes.lanes / entered))
        executions = entered * turns
        read = one.turn.apart(lanes.together, one.turn.in_a_row, self.arch)
        return executions, one.plain * executions + self._memory(read * lanes.active)

    def _shared_out(self, one: PathCost, name: str, entered: float) -> tuple[float, Work]:
        """Where members share out their lists: they ask whether that pays, and else each runs its
        own."""
        if self._are_even(one, entered):
            executions, own = self._left(one, entered, gathered=False)
            return executions, own + exchange(ASKED) * entered
        cost, executions = TURNS[name], one.lanes.active / WARP_SIZE
        exchanged = cost.turn * executions + cost.start * entered
        slots = self.facts.once(self._turn_slots, one.path)
        if slots is not None:
            exchanged = max(exchanged, slots.start * entered)
        work = one.own * executions + exchange(exchanged)
        return executions, work + self._memory(one.turn.together * one.lanes.active)

    def _are_even(self, one: PathCost, entered: float) -> bool:
        """Whether lanes find that their lists are about as long as one another."""
        slots = self.facts.once(self._turn_slots, one.path)
        if slots is None:
            return False
        shared = slots.shared / slots.own * one.lanes.active / WARP_SIZE
        return entered * one.lanes.most_turns <= shared + slots.start_in_turns * entered

    def _turn_slots(self, path: Path, facts: Facts) -> TurnSlots | None:
        """What lanes weigh that ask that; None where they do not."""
        engaged = ENGAGE.of(path, facts)
        if engaged is None or not reduces(self.arch):
            return None
        return turn_slots(engaged, path, facts, self.arch)

    def _handed_on(self, one: PathCost, name: str, entered: float) -> tuple[float, Work]:
        """Where lanes that are through get tasks of others."""
        if LONG_TASKS.of(one.path, self.facts) is not None and entered:
            return self._long_apart(one, name, entered)
        executions, work = self._in_turn(one, name, entered)
        _, as_it_was = self._left(one, entered, gathered=False)
        slower = as_it_was * self._waiting(one, name)
        gains = work.slots(self.arch) < slower.slots(self.arch)
        if gains and self._is_longest_all(one, as_it_was):
            return executions, slower
        return executions, work

    def _in_turn(self, one: PathCost, name: str, entered: float) -> tuple[float, Work]:
        """The same without regard to single lists."""
        cost, lanes, tasks = TURNS[name], one.lanes, one.lanes.lanes / WARP_SIZE
        executions = tasks * (lanes.turns + (one.turns - 1) / 2)
        last = self._last(one, executions, entered)
        work = (one.own + exchange(cost.turn + cost.meeting / one.turns)) * executions
        work += (exchange(cost.start) + WORD * one.words) * tasks + one.plain * last
        work += one.rest * self._more_ends(one, executions, entered)
        executions += last
        together = lanes.active / executions if executions else 0.0
        turn = one.turn
        read = turn.apart(together, 1, self.arch) + turn.anywhere * (DRIFT - 1)
        read += turn.spread - turn.abreast
        sectors = read * lanes.active + one.turn.strewn * lanes.lanes
        return executions, work + self._memory(sectors)

    @staticmethod
    def _more_ends(one: PathCost, executions: float, entered: float) -> float:
        """How often more than as it was a warp does what follows the loop: now each time that lanes
        meet and some are through."""
        return max(0.0, min(executions / one.turns, one.lanes.lanes) - entered)

    def _last(self, one: PathCost, executions: float, entered: float) -> float:
        """How many turns of the last tasks a warp does when no full warp of them is left.

        They are over one after the other, and not before the longest task of all iterations is,
        which begins halfway in the mean. A warp without a task waits for none: together with the
        others, these are no more than if each lane ran its own list.
        """
        lanes = one.lanes
        if not self.iterations or not entered:
            return 0.0
        longest = _lengths(one, entered).longest(lanes.lanes * self.iterations)
        last = lanes.most_turns - lanes.turns
        last = max(last, longest - executions * (self.iterations + 1) / 2) / self.iterations
        return max(0.0, min(last, entered * lanes.most_turns - executions))

    def _long_apart(self, one: PathCost, name: str, entered: float) -> tuple[float, Work]:
        """Where all lanes go through one long task after the other, and hand on the others."""
        cost, lanes = TURNS[name], one.lanes
        share, mean = _lengths(one, entered).above(LONG)
        number = share * lanes.lanes
        rounds = number * (mean / WARP_SIZE + 1 / 2)
        work = (one.own + exchange(cost.turn)) * rounds + exchange(SHARED_START) * number
        work += self._memory(one.turn.together * number * mean)
        rest = max(0.0, lanes.active - number * mean) / max(1.0, lanes.lanes - number)
        short = replace(
            lanes, lanes=lanes.lanes - number, turns=rest, most_turns=min(LONG, lanes.most_turns)
        )
        executions, others = self._in_turn(replace(one, lanes=short), name, entered)
        return rounds + executions, work + others

    def _waiting(self, one: PathCost, name: str) -> float:
        """How many times as long a turn takes one lane that waits for memory: fewer are in a row,
        and it waits for the exchange, too."""
        cost, row = TURNS[name], one.turn.in_a_row
        exchanged = STEP * (cost.turn + cost.meeting / one.turns)
        return (LATENCY / min(row, one.turns) + exchanged) / (LATENCY / row)

    def _memory(self, sectors: float) -> Work:
        """So many of them, as far as anybody waits for them."""
        return Work.sectors(sectors if self.waits else 0.0)

    def _is_longest_all(self, one: PathCost, as_it_was: Work) -> bool:
        """Whether the longest list of a multiprocessor's warps takes longer than all that these do.

        One lane goes through it, and waits for memory once in so many turns as are in a row.
        """
        lanes, turn = one.lanes, one.turn
        if not self.waits or not self.iterations or not turn.streams or not lanes.entered:
            return False
        warps = likely_limits(self.arch).threads / WARP_SIZE
        every = lanes.lanes * self.iterations * warps
        longest = _lengths(one, lanes.entered).longest(every)
        busy = warps * self.iterations * as_it_was.slots(self.arch) / SCHEDULERS
        return longest * LATENCY / turn.in_a_row > busy


def _lengths(one: PathCost, entered: float) -> Lengths:
    lanes = one.lanes
    return Lengths.of(lanes.turns, lanes.most_turns, lanes.lanes / entered)
