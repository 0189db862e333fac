"""What is chosen for a path, and what is said of one that is left: why, and how to insist."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from ccc.analysis.callees import callee
from ccc.analysis.constant_trip_count import trip_count
from ccc.analysis.paths.carried_values import LEAVE_TO_LOOP
from ccc.analysis.paths.locate import INNER_LOOPS
from ccc.analysis.paths.model import instructions_of
from ccc.demangle import demangle
from ccc.passes.choice.path_cost import PathCost
from ccc.passes.room import no_room, why_no_stacks
from ccc.passes.strategies.strategy import Hints
from ccc.passes.thresholds import FEW_COUNTED, GAIN, LONG_PATH, LOSS, UNKNOWN_TURNS
from ccc.pipeline import Kernel
from ccc.ptx.opcodes import Effect
from ccc.ptx.system_calls import SYSTEM_CALLS
from ccc.ptx.throughput import Pipe, slots_of
from ccc.ptx.types import WARP_SIZE
from ccc.remark import in_instructions, span_of

LEAVE = "leave"
TOO_SHORT = "too short to gain"
COSTS = "since collecting takes more than it saves"
APART = "since its tasks would access apart what lanes access together"
MEMORY = "since the loop waits for memory"
TOO_MANY = "since so many lanes take it"
AGREE = "and by its code all lanes that begin it go round as often"
TOGETHER = "and by its code the lanes of a warp take it together"
BY_POINTER = "a function called by a pointer"
SO_FAR = "as far as is known"
"""Where nobody has told lanes or turns: what is expected of two cases is no bound."""
REMOVE = "remove the annotation"
GATHERED = f"{REMOVE}: all that differs from lane to lane is who takes the branch on {{}}"
MARK_REST = (
    'it is the rest of the iteration that is long: put that into a branch "if (!(...))", and the '
    "annotation before it"
)
MARK_BRANCH = f'mark the branch that it stands in "ccc if" in its place, or {REMOVE}'
MARK_FOR = 'mark it "ccc for", if its turns are independent'
"""What serves an annotated loop round which all lanes go as often, and that holds annotations."""
ANYWAY = "does it all the same"
LOSES = f"{ANYWAY}, and would be slower"
TELL = "tell with prob(share) or a profile"
TELL_TURNS = "tell with a profile (--ccc-profile)"
"""What serves where the turns of a loop are not known, of which a share tells nothing."""

ROLL = 'remove the "#pragma unroll" of the annotated loop, which makes {} paths of one'

USUAL_RUN = "if that is fewer than usual, profile a run of the usual size"

FIGURES = 4
"""Digits behind the point of what is expected, in the report and wherever else it is told: what is
shown with fewer of them must not be rounded from one number here and from another there."""

WANTED = (LOSS, GAIN)
"""What one of the figures of a path that is left may have missed."""


@dataclass
class Chosen:
    """What is chosen for a path, or was asked for.

    Args:
        cost: what is known of it.
        strategy: the name.
        considered: by name, how many times as fast as the original the loop would be expected with
            it, the other paths being served as they are chosen to be; of a path that is left, how
            many times as fast as without it.
        at_worst: the same if all lanes agree, where nothing is known of them or of their turns, or
            if its loops go round seldom, where that is not known.
        too_large: those of which the stacks do not fit into shared memory, with what they take in
            each warp.
        fewer_warps: those that take registers which others need, and what that means.
        missing: what is missing for those that would gain to be taken.
        with_it: of a path that is left, which loop would have to be handed on with it, and is not.
        by_itself: the most that is expected of each if that is done with the loop in any case.
        is_alone: whether the annotation marks no other path.
        common: those that may serve all paths of the annotation, whose clause is for all of them.
        of_all: the most that is expected of each that serves all paths of the annotation.
        sharing: what is advised for a loop around it that shares its turns out, in which the path
            would be none any more.
        copies: how many there are in one loop of paths of its annotation, if that is since the
            source has nvcc unroll it.
        crowded: the strategies whose stacks do not fit for some path of the annotation, with the
            most that they take in each warp.
        is_wanted: whether the annotation serves all the same, since something else is told to be
            missing, or since another path needs it, or is worth it.
        serves: whether the annotation may gain with other paths.
        instead: what is to be done where nothing is gained.
        if_wanted: the same where others need it.
        gathers: the line of the branch around a loop that all who begin it go round as often.
        waits: whether the loop as it was waits for memory, and not for lanes.
        iterations: those that a profile counted for a thread, in the mean.
        if_short: the same if loops in it go round seldom; empty if its length is no guess.
    """

    cost: PathCost
    strategy: str
    considered: dict[str, float]
    at_worst: dict[str, float]
    too_large: dict[str, int]
    fewer_warps: dict[str, str]
    missing: dict[str, str]
    with_it: str = ""
    by_itself: Mapping[str, float] = field(default_factory=dict)
    is_alone: bool = True
    common: Collection[str] = ()
    of_all: Mapping[str, float] = field(default_factory=dict)
    sharing: str = ""
    copies: int = 1
    crowded: Mapping[str, int] = field(default_factory=dict)
    is_wanted: bool = False
    serves: bool = False
    instead: str = REMOVE
    if_wanted: str = ""
    gathers: str = ""
    waits: bool = False
    iterations: float | None = None
    if_short: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_known(self) -> bool:
        """Whether anybody has told all of it."""
        return self.cost.lanes.is_known and not self.if_short

    @property
    def expected(self) -> float | None:
        """How many times as fast as the original the loop is expected, as far as that is known."""
        return self.considered.get(self.strategy, 1.0 if self.strategy == LEAVE else None)

    @property
    def details(self) -> dict[str, Any]:
        """What the report says."""
        lanes = self.cost.lanes
        return {
            "expected": None if self.expected is None else round(self.expected, FIGURES),
            "expected_lanes": lanes.told,
            "expected_from": lanes.source,
            "path_instructions": round(self.cost.own.instructions),
            "instructions_from": lanes.length_from,
            "considered": {name: round(one, FIGURES) for name, one in self.considered.items()},
            "at_worst": {name: round(one, FIGURES) for name, one in self.at_worst.items()},
            "does_not_fit": list(self.too_large),
        }

    def reason(self, kernel: Kernel) -> str:
        """Why the path is left, in figures, and what to do."""
        per_turn = " a turn" if self.cost.path.repeats else ""
        from_ = self.cost.lanes.length_from
        length = f"{in_instructions(self.cost.own.instructions)}{per_turn} {from_}"
        marked = self._marked_loops(kernel)
        if marked:
            several = len({identifier for identifier, _ in marked}) > 1
            length = f"{length} besides the {'loops that are' if several else 'loop'} marked in it"
        if self.if_short:
            length = f"{length}{',' * bool(marked)} {self._supposed(kernel, marked)}"
        if unseen := self._unseen(kernel):
            length = f"{length} without {unseen}, which is in no code of this file"
        if not self.considered:
            return f"{length}: no strategy that might gain applies"
        best, has_room = self._best
        low, high = (round(one, FIGURES) for one in self._range(best))
        span = span_of(low, high, WANTED)
        against = "" if self.is_alone else " as without it"
        fast = f"{span} times as fast{against}{self.with_it}"
        told = f"{length}, {self._known} expected {fast}"
        if best in self.fewer_warps:
            told = f"{told}, since {self.fewer_warps[best]}"
        obstacle = why_no_stacks(kernel) or (
            "" if has_room else no_room(kernel, self._stacks[best])
        )
        if obstacle and not self._gains_nothing(best) and self._range(best)[1] >= GAIN:
            return self._without_room(told, best, obstacle)
        told += self._lacks(best, obstacle)
        why = "" if unseen else self._why_not(best, kernel.arch)
        if why and high >= GAIN:  # it is others that would gain so much
            told = f"{length}, {self._known} {why}"
        else:
            told = f"{told}, {why}" if why else told
        way_out = "" if obstacle and self.is_known else self._way_out(best, bool(obstacle))
        if self.copies > 1 and self.cost.lanes.executions and not self._is_empty:
            way_out = ", or ".join(filter(None, [ROLL.format(self.copies), way_out]))
        if unseen and not self.is_known:
            way_out = f"{TELL_TURNS}, or strategy({best}) insists, if that takes long"
        return "; ".join(filter(None, [told, self._few_counted(why), way_out]))

    def advised(self, kernel: Kernel) -> str:
        """The strategy that is advised to be insisted on, if one is."""
        if self.strategy != LEAVE or not self.considered or self.is_little:
            return ""
        best, has_room = self._best
        able = has_room and not why_no_stacks(kernel)
        return best if able and not self._gains_nothing(best) and self._serves_all(best) else ""

    @property
    def _stacks(self) -> dict[str, int]:
        """The strategies whose stacks do not fit, and what they take in each warp."""
        return {**self.too_large, **self.crowded}

    @property
    def _best(self) -> tuple[str, bool]:
        """What serves all paths of the annotation best, of what has room if anything has."""
        names = [name for name in self.considered if name in self.common] or [*self.considered]
        able = [name for name in names if name not in self._stacks]
        expected = self.considered if self.is_alone else {**self.considered, **self.of_all}
        return max(able or names, key=lambda name: expected[name]), bool(able)

    def _serves_all(self, name: str) -> bool:
        """Whether a strategy may gain with all paths of the annotation, for which the clause is."""
        return self.is_alone or round(self.of_all.get(name, 1.0), 2) >= 1

    def _without_room(self, told: str, name: str, obstacle: str) -> str:
        """What is said of stacks without room: what would make it, and what else is missing, where
        this alone would gain nothing."""
        head, _, ways = obstacle.partition("; ")
        if not ways and self.cost.path.parent is not None:
            return f"{told}, but {obstacle}; {LEAVE_TO_LOOP}"
        if name not in self.missing or not ways:
            return f"{told}, but {obstacle}"
        tell = f"strategy({name}) insists" if self.is_known else self._to_tell(name)
        return f"{told}{self._lacks(name, head)}; {tell}; and {ways}"

    def _lacks(self, name: str, obstacle: str) -> str:
        """What is missing for what may be faster; not how there would be room, which for a little
        is not worth making."""
        if self._gains_nothing(name):
            return ""
        is_missing = name in self.missing and self._range(name)[0] >= LOSS
        more = f", and {self.missing[name]}" if is_missing else ""
        head = obstacle.partition("; ")[0]
        return f"{more}, {'and' if more else 'but'} {head}" if head else more

    def _supposed(self, kernel: Kernel, marked: Collection[tuple[int, str]]) -> str:
        """What its length hangs on that nobody has told; not the loops that are counted by
        themselves."""
        path, facts = self.cost.path, kernel.facts
        inner = [one for one in facts.loops if one.blocks <= path.blocks]
        loops = [one for one in inner if not path.repeats or one.header != path.entry]
        for _, label in marked:
            around = [one for one in loops if label in one.blocks]
            apart = min(around, key=lambda one: len(one.blocks)).blocks if around else ()
            loops = [one for one in loops if one.header not in apart]
        if any(trip_count(one, facts) is None for one in loops):
            return f"with {UNKNOWN_TURNS} turns of its {'other ' * bool(marked)}loops"
        return "with each way in it taken one time in two"

    def _marked_loops(self, kernel: Kernel) -> list[tuple[int, str]]:
        """The other annotated loops in the path, which are counted by themselves: by number, and a
        block of each copy."""
        own, blocks = self.cost.path.marker, kernel.facts.blocks
        markers = ((one, at) for at in self.cost.path.blocks for one in blocks[at].markers)
        return [
            (one.identifier, at) for one, at in markers if one.kind in INNER_LOOPS and one != own
        ]

    def _unseen(self, kernel: Kernel) -> str:
        """A function that the path calls and whose length nobody knows, if there is one."""
        if self.cost.lanes.length is not None:
            return ""
        calls = (
            callee(one)
            for one in instructions_of(self.cost.path.blocks, kernel.facts)
            if one.effects & Effect.CALL
        )
        names = (name for name in calls if name not in SYSTEM_CALLS)
        unseen = next((name for name in names if not name or kernel.load(name) is None), None)
        return "" if unseen is None else demangle(unseen) if unseen else BY_POINTER

    def _few_counted(self, why: str) -> str:
        """That the profile may be of a small run, in which there is less to gain than usual."""
        if self.iterations is None or self.iterations >= FEW_COUNTED or not self.cost.lanes.lanes:
            return ""
        if any(reason in why for reason in (TOO_SHORT, TOO_MANY, MEMORY)):
            return ""  # whatever the iterations are
        return f"the profile saw {self.iterations:.1f} iterations a thread: {USUAL_RUN}"

    @property
    def _known(self) -> str:
        """What is known of its lanes, or turns, or is supposed of these: what follows hangs on
        that."""
        lanes = self.cost.lanes
        if lanes.is_told:
            return f"{lanes.in_words} ({lanes.source}):"
        if lanes.agree:
            return f"{AGREE if self.cost.path.repeats else TOGETHER}:"
        if not self.cost.path.repeats:
            return "and nothing is known of its lanes:"
        is_said = Hints.of(self.cost.path.marker).prob is not None
        known = f"and nothing is known of its turns{', which prob does not tell' * is_said}"
        return f"{known}: with {UNKNOWN_TURNS} of a lane,"

    def _range(self, name: str) -> tuple[float, float]:
        """The least and the most that is expected of a strategy."""
        found = self.considered[name]
        worst = self.at_worst.get(name, found)
        return min(worst, found), max(worst, found)

    @property
    def is_little(self) -> bool:
        """Whether no more is expected of anything, by itself or with all paths of the annotation,
        than would be done unasked."""
        of_all = {} if self.is_alone else self.of_all
        most = [*map(self._most, self.considered)]
        return max([*most, *(min(of_all[one], self._bound(one)) for one in of_all)]) < GAIN

    @property
    def is_in_vain(self) -> bool:
        """Whether all lanes that begin a loop go round as often, by its code, and nobody knows of
        anything that would be faster."""
        most = max(map(self._most, self.considered), default=1.0)
        return self.cost.path.repeats and self.cost.lanes.agree and round(most, 2) <= 1

    def _bound(self, name: str) -> float:
        """The most that a strategy can gain with a short path, whatever the loop around gains."""
        return self.by_itself.get(name, math.inf) if self._is_short else math.inf

    @property
    def _is_short(self) -> bool:
        return self.cost.own.instructions < LONG_PATH

    def _most(self, name: str) -> float:
        """The most that is expected of a strategy, and not of what it needs besides."""
        return min(self._range(name)[1], self._bound(name))

    def _gains_nothing(self, name: str) -> bool:
        """Whether a strategy would not be faster, whatever the lanes do."""
        most = round(self._most(name), 2)
        never = not self.cost.lanes.executions
        is_poor = self._is_empty or self.waits or (self._is_short and not self.is_known)
        return most < 1 or never or (is_poor and most < GAIN)

    @property
    def _is_empty(self) -> bool:
        """Whether it does nothing itself."""
        return not round(self.cost.own.instructions)

    def _way_out(self, name: str, is_barred: bool) -> str:
        """How to have it done; what would not be faster, or has no room, is not recommended."""
        if self.gathers:
            return GATHERED.format(self.gathers)
        beside = f", in place of {self.sharing} on the loop around it" if self.sharing else ""
        insist = f"strategy({name}) insists{beside}"
        loses = is_barred or self._gains_nothing(name) or not self._serves_all(name)
        loses |= self.is_little and not self.is_known
        instead = self.if_wanted if self.is_wanted else self.instead
        if loses and self._is_empty:
            return instead or self._if_nothing_else
        if not (loses and self.is_known):
            tell = "" if self.is_known else self._to_tell(name)
            ways = [instead if self.is_little else "", tell, "" if loses else insist]
            return ", or ".join(filter(None, ways)) or self._if_nothing_else
        slower = round(self.considered[name], 2) < 1 or not self._serves_all(name)
        return f"strategy({name}) {LOSES if slower else ANYWAY}"

    @property
    def _if_nothing_else(self) -> str:
        """What is told where nothing would help, unless the annotation serves other paths."""
        return "" if self.serves else self.instead

    def _to_tell(self, name: str) -> str:
        """How to tell what is not known, if that may help: for what gains nothing with a few lanes
        there is no share with which it would, unless another path is served by it, nor for what
        lanes take together. A short one gains with none, and one that is long tells of itself."""
        is_short = self.if_short.get(name, LOSS) < LOSS
        if self.cost.lanes.is_told or self.cost.path.repeats or is_short:
            return TELL_TURNS
        is_for_others = (self.is_wanted or not self.is_alone) and not self._is_short
        if not self.cost.lanes.agree and (round(self._most(name), 2) > 1 or is_for_others):
            return TELL
        return TELL_TURNS if self.if_short else ""

    def _why_not(self, name: str, arch: str) -> str:
        """Why nothing can be gained, if that is so and not told already."""
        lanes = self.cost.lanes
        is_told = not lanes.executions or (name in self.fewer_warps and lanes.is_told)
        if is_told or not self._gains_nothing(name):
            return ""
        why = self._obstacle(name, arch)
        return why if self.is_known else f"{why} {SO_FAR}"

    def _obstacle(self, name: str, arch: str) -> str:
        """What speaks most against it."""
        cost, lanes = self.cost, self.cost.lanes
        if self.waits:
            return f"and {MEMORY}" if name in self.fewer_warps else MEMORY
        if lanes.is_told and 2 * lanes.together > WARP_SIZE:
            return TOO_MANY
        if self._is_short:
            return TOO_SHORT
        apart = cost.parted(lanes.entered) * slots_of(Pipe.SECTORS, arch)
        is_most = 2 * apart > cost.saving  # collecting takes as much as it saves, or more
        return APART if is_most else COSTS
