"""Who runs next: all warps in lockstep, or anybody at random."""

from __future__ import annotations

from bisect import bisect_right, insort
from typing import Protocol

import numpy as np

from ccc.emulator.errors import EmulatorError
from ccc.emulator.forms import Array
from ccc.emulator.groups import Group
from ccc.emulator.simt import WAITING, Wave


class Schedule(Protocol):
    """Runs a wave to its end.

    Raises:
        EmulatorError: the program is at fault, or takes more than ``limit`` steps.
    """

    def run(self, wave: Wave, limit: int) -> None:
        """Run all lanes until they have ended."""


def _check_limit(wave: Wave, limit: int, code: int, group: Group) -> None:
    if wave.tally.steps >= limit:
        instruction = next(iter(wave.segment_of(code).instructions), None)
        message = f"the launch took more than {limit} steps"
        raise EmulatorError(
            message, instruction.span if instruction else None,
            block=wave.geometry.name(int(group.lanes[0]))[0],
            thread=wave.geometry.name(int(group.lanes[0]))[1],
        )  # fmt: skip


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
        _check_limit(wave, limit, code, group)
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
        flat = np.flatnonzero(here)
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

    Most of the time whole warps go, since otherwise a run would take a step for every lane.
    """

    def __init__(self, random: np.random.Generator):
        self.random = random

    def run(self, wave: Wave, limit: int) -> None:
        """Run all lanes until they have ended."""
        codes = {int(code) for code in np.unique(wave.pc) if code < WAITING}
        while codes:
            ordered = sorted(codes)
            code = ordered[int(self.random.integers(len(ordered)))]
            lanes = np.flatnonzero(wave.pc == code)
            if not len(lanes):
                codes.discard(code)
                continue
            group = Group(self._some(lanes), wave.depth_of(code), wave.block_of_lane)
            _check_limit(wave, limit, code, group)
            self._step(wave, code, group, codes)
        if wave.parked:
            wave.fail_deadlock()

    def _step(self, wave: Wave, code: int, group: Group, codes: set[int]) -> None:
        if wave.parked and wave.segment_of(code).waits == "warp":
            group = self._with_waiting(wave, code, group)
        warps = group.warps
        wave.run_or_wait(code, group)
        self._note(wave, warps, codes)
        while wave.released:
            freed, lanes = wave.released.pop()
            group = Group(lanes, wave.depth_of(freed), wave.block_of_lane)
            wave.execute(freed, group)
            self._note(wave, group.warps, codes)

    @staticmethod
    def _note(wave: Wave, warps: Array, codes: set[int]) -> None:
        """Remember the codes where lanes of these warps are now."""
        rows = wave.pc.reshape(-1, 32)[warps]
        codes.update(int(code) for code in set(rows.ravel().tolist()) if code < WAITING)

    @staticmethod
    def _with_waiting(wave: Wave, code: int, group: Group) -> Group:
        lanes = (group.warps[:, None] * 32 + np.arange(32)).ravel()
        waiting = (wave.pc[lanes] == WAITING) & (wave.waits_at[lanes] == code)
        return Group(np.union1d(group.lanes, lanes[waiting]), group.depth, group.blocks_of)

    def _some(self, lanes: Array) -> Array:
        """All of the lanes, half of the warps, or half of the lanes."""
        kind = self.random.random()
        if kind < 0.4:
            return lanes
        if kind < 0.6:
            warps = lanes >> 5
            chosen = self.random.random(int(warps[-1]) + 1) < 0.5
            some = lanes[chosen[warps]]
        else:
            some = lanes[self.random.random(len(lanes)) < 0.5]
        return some if len(some) else lanes[:1]
