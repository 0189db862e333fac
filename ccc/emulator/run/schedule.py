"""Who runs next: all warps in lockstep, or anybody at random."""

from __future__ import annotations

from bisect import bisect_right, insort
from typing import Protocol

import numpy as np

from ccc.emulator.base.errors import EmulatorError
from ccc.emulator.base.forms import Array
from ccc.emulator.lanes.groups import Group
from ccc.emulator.run.simt import WAITING, Wave

_LANES = np.arange(32)
"""The lanes of a warp."""


class Scheduler(Protocol):
    """Runs a wave to its end.

    Raises:
        EmulatorError: the program is at fault, or takes more than ``limit`` steps.
    """

    def run(self, wave: Wave, limit: int) -> None:
        """Run all lanes until they have ended."""


MORE_STEPS = "if it has an end, allow more (--steps)"
IN_LOCKSTEP = (
    "in lockstep, lanes that wait for others of their warp, as for a lock, may wait for ever: take "
    f"a random order (--schedule 1); {MORE_STEPS}"
)
"""What to do about a launch that takes too many steps."""


def check_limit(wave: Wave, limit: int, code: int, group: Group, hint: str = MORE_STEPS) -> None:
    """Raise if the launch has taken too many steps."""
    if wave.tally.steps < limit:
        return
    instruction = next(iter(wave.segment_of(code).instructions), None)
    message = f"the launch took more than {limit} steps"
    block, thread = wave.geometry.name(int(group.lanes[0]))
    span = instruction.span if instruction else None
    raise EmulatorError(message, span, block=block, thread=thread, hint=hint)


class Lockstep:
    """Each warp runs its lowest code that can run, so that its lanes meet again.

    Warps do not wait for one another: the schedule sweeps over the codes in ascending order, again
    and again, and runs at each all the warps that are there. A warp stands in one bucket at a
    time; ``home`` says in which, and entries of other buckets are stale.
    """

    def __init__(self) -> None:
        self.buckets: dict[int, list[Array]] = {}
        self.codes: list[int] = []
        self.home = np.zeros(0, np.int32)

    def run(self, wave: Wave, limit: int) -> None:
        """Run all lanes until they have ended."""
        self.home = np.full(len(wave.alive), WAITING, np.int32)
        self._queue(wave, np.arange(len(wave.alive)))
        last = -1
        while self.codes:
            place = bisect_right(self.codes, last)
            last = self.codes.pop(place if place < len(self.codes) else 0)
            warps = self._pop(last)
            if len(warps):
                self._step(wave, last, warps, limit)
        if wave.parked:
            wave.fail_deadlock()

    def _pop(self, code: int) -> Array:
        parts = self.buckets.pop(code)
        warps = parts[0] if len(parts) == 1 else np.unique(np.concatenate(parts))
        here = self.home[warps] == code
        return warps if here.all() else warps[here]

    def _step(self, wave: Wave, code: int, warps: Array, limit: int) -> None:
        group = self._lanes_at(wave, code, warps)
        check_limit(wave, limit, code, group, IN_LOCKSTEP)
        following = wave.run_or_wait(code, group)
        is_whole = group.n == 32 * len(warps) and wave.segment_of(code).waits is None
        if following is not None and is_whole:
            self._push(following, warps)
            return
        self._queue(wave, warps)
        while wave.released:
            freed, lanes = wave.released.pop()
            group = Group(lanes, wave.depth_of(freed), wave.block_of_lane)
            wave.execute(freed, group)
            self._queue(wave, group.warps)

    def _lanes_at(self, wave: Wave, code: int, warps: Array) -> Group:
        """The lanes of these warps that are at a code, or wait there for their warp."""
        rows = wave.pc.reshape(-1, 32).take(warps, axis=0)
        here = rows == code
        if wave.parked and wave.segment_of(code).waits == "warp":
            here |= (rows == WAITING) & (wave.waits_at.reshape(-1, 32)[warps] == code)
        flat = here.ravel().nonzero()[0]
        rank = flat >> 5
        lanes = (warps - np.arange(len(warps)) << 5)[rank] + flat
        group = Group(lanes, wave.depth_of(code), wave.block_of_lane)
        group.set_warps(warps, rank)
        return group

    def _queue(self, wave: Wave, warps: Array) -> None:
        """Put warps into the buckets of their lowest codes."""
        lowest = wave.pc.reshape(-1, 32).take(warps, axis=0).min(axis=1)
        while len(warps):
            code = int(lowest[0])
            same = lowest == code
            if same.all():
                self._push(code, warps)
                return
            self._push(code, warps[same])
            warps, lowest = warps[~same], lowest[~same]

    def _push(self, code: int, warps: Array) -> None:
        self.home[warps] = code
        if code >= WAITING:
            return
        bucket = self.buckets.get(code)
        if bucket is None:
            self.buckets[code] = [warps]
            insort(self.codes, code)
        else:
            bucket.append(warps)


class Shuffled:
    """Any code next, and any of the lanes there: diverged lanes do not meet by themselves.

    The next code is that of a random lane, or the lowest (who is behind goes on), or the highest
    (who is ahead goes on). How often a group is split is drawn once for a run: some runs mix up
    whole warps only, and are quick, others the lanes, too. So is who is :class:`Favoured`.
    """

    def __init__(self, random: np.random.Generator):
        self.random = random
        self.splits = float(random.choice([0.05, 0.2, 0.6]))
        self.favoured = Favoured(random.spawn(1)[0])  # takes no number of those drawn from here

    def run(self, wave: Wave, limit: int) -> None:
        """Run all lanes until they have ended."""
        pc = wave.pc
        while len(running := self.favoured.among(pc)):
            codes = pc[running]
            code = self._next(codes)
            group = self._group(wave, code, self._some(running.compress(codes == code)))
            check_limit(wave, limit, code, group)
            if wave.parked and wave.segment_of(code).waits == "warp":
                group = self._with_waiting(wave, code, group)
            wave.run_or_wait(code, group)
            while wave.released:
                freed, lanes = wave.released.pop()
                wave.execute(freed, self._group(wave, freed, lanes))
        if wave.parked:
            wave.fail_deadlock()

    @staticmethod
    def _group(wave: Wave, code: int, lanes: Array) -> Group:
        return Group(lanes, wave.depth_of(code), wave.block_of_lane)

    def _next(self, codes: Array) -> int:
        kind = self.random.random()
        if len(codes) == 1:
            return int(codes[0])
        if kind < 0.25:
            return int(np.minimum.reduce(codes))
        if kind < 0.5:
            return int(np.maximum.reduce(codes))
        return int(codes[int(kind * 2 * len(codes)) - len(codes)])

    @staticmethod
    def _with_waiting(wave: Wave, code: int, group: Group) -> Group:
        lanes = (group.warps[:, None] * 32 + _LANES).ravel()
        meet = (wave.pc.take(lanes) == WAITING) & (wave.waits_at.take(lanes) == code)
        if not np.count_nonzero(meet):
            return group
        meet[group.places] = True
        return Group(lanes.compress(meet), group.depth, group.blocks_of)

    def _some(self, lanes: Array) -> Array:
        """All of the lanes, half of the warps, or half of the lanes."""
        kind = self.random.random()
        if len(lanes) == 1 or kind > self.splits:
            return lanes
        chosen = self.random.random(len(lanes)) < 0.5
        if kind < self.splits / 3:
            warps = lanes >> 5
            chosen = chosen[warps.searchsorted(warps)]  # as the warp's first lane
        some = lanes.compress(chosen)
        return some if len(some) else lanes[:1]


class Favoured:
    """Lanes that go first, or last: somebody is far ahead of all others, or far behind.

    Most runs favour nobody. In some, a lane or a random set of lanes starves: it is run when
    nobody else can, and for one step now and then, lest those who spin for it spin for ever. In
    others, one lane runs as long as it can and then, as others may have to come first, all run for
    a while before the next one is drawn.
    """

    STARVED_FOR = 48
    """Steps of the others between two of those who starve."""

    AHEAD_FOR = 200
    """The most steps of the lane ahead alone, and of all lanes after that."""

    def __init__(self, random: np.random.Generator):
        self.random = random
        self.how = str(random.choice(["nobody", "starved", "ahead"], p=[0.6, 0.25, 0.15]))
        self.last: Array = np.zeros(0, bool)
        self.first = -1
        self.steps = 0

    def among(self, pc: Array) -> Array:
        """Those of the lanes that can run of which one is run next; none when nobody can.

        Args:
            pc: of all lanes of the wave: int32, (lanes,).

        Returns:
            Lanes, int64 of shape (n,), ascending.
        """
        if self._stays_ahead(pc):
            self.steps += 1
            return np.array([self.first])
        running: Array = (pc < WAITING).nonzero()[0]
        if not len(running) or self.how == "nobody":
            return running
        if self.how == "starved":
            return self._not_starved(running, len(pc))
        return self._ahead(running)

    def _stays_ahead(self, pc: Array) -> bool:
        """Whether the lane ahead runs on, so that nobody need look for the others."""
        chosen = 0 <= self.first < len(pc) and self.steps < self.AHEAD_FOR
        return chosen and bool(pc[self.first] < WAITING)

    def draw_starving(self, running: Array, lanes: int) -> None:
        """Draw who starves, of all lanes and at least one of those that can run."""
        share = float(self.random.choice([0.0, 0.03, 0.3]))
        self.last = self.random.random(lanes) < share
        self.last[self.random.choice(running)] = True

    def _not_starved(self, running: Array, lanes: int) -> Array:
        if len(self.last) != lanes:  # a new wave
            self.draw_starving(running, lanes)
        starving = self.last[running]
        self.steps += 1
        count = np.count_nonzero(starving)
        if count and self.steps % self.STARVED_FOR == 0:
            return running.compress(starving)
        return running if count == len(running) else running.compress(~starving)

    def _ahead(self, running: Array) -> Array:
        self.steps += 1
        if self.steps > 2 * self.AHEAD_FOR:
            self.first, self.steps = -1, 0
        if self.steps > self.AHEAD_FOR:
            return running
        place = int(running.searchsorted(self.first))
        if place == len(running) or running[place] != self.first:
            place = int(self.random.random() * len(running))
            self.first = int(running[place])
        return running[place : place + 1]
