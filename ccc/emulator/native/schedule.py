"""The orders of schedule.py, with the steps chosen and run by the C library."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from ccc.emulator.base.forms import Array
from ccc.emulator.lanes.groups import Group
from ccc.emulator.native.wave import (
    DRAW,
    FINISHED,
    FRAME,
    LIMIT,
    PAUSE,
    STEP,
    NativeWave,
    address_of,
)
from ccc.emulator.run.schedule import Lockstep, Shuffled, check_limit
from ccc.emulator.run.simt import WAITING, Wave


def _native(wave: NativeWave, run: Callable[[Any], int], others: Callable[[int], None]) -> None:
    """Let the library run steps until all have ended; ``others`` does what it leaves to Python."""
    context = wave.context
    while True:
        context.steps, context.parked = wave.tally.steps, wave.parked
        status = run(wave.pointer)
        wave.tally.steps, wave.parked = context.steps, context.parked
        if status == FINISHED:
            break
        if status == FRAME:
            wave.make_frame(context.depth)
        elif status != PAUSE:
            others(status)
    if wave.parked:
        wave.fail_deadlock()


def _source(random: np.random.Generator) -> tuple[int, int]:
    """Where the function is that draws a number from 0 to 1, and what it takes."""
    source: Any = random.bit_generator.ctypes
    return ctypes.cast(source.next_double, ctypes.c_void_p).value or 0, source.state_address


class NativeLockstep(Lockstep):
    """As of :class:`Lockstep`."""

    def run(self, wave: Wave, limit: int) -> None:
        """Run all lanes until they have ended."""
        assert isinstance(wave, NativeWave)
        self.home = wave.home
        self._queue(wave, np.arange(len(wave.alive)))
        _native(wave, wave.compiled.library.lockstep, lambda status: self._do(wave, status, limit))

    def _do(self, wave: NativeWave, status: int, limit: int) -> None:
        context = wave.context
        if status in (STEP, LIMIT):
            warps = np.flatnonzero(self.home == context.code)
            self._step(wave, context.code, warps, limit)
            return
        group = wave.group
        wave.finish_step(status, group)
        context.pending = 0
        self._queue(wave, group.warps)
        while wave.released:
            freed, lanes = wave.released.pop()
            group = Group(lanes, wave.depth_of(freed), wave.block_of_lane)
            wave.execute(freed, group)
            self._queue(wave, group.warps)

    def _push(self, code: int, warps: Array) -> None:
        self.home[warps] = code


class NativeShuffled(Shuffled):
    """As of :class:`Shuffled`, with the same numbers drawn in the same order."""

    def run(self, wave: Wave, limit: int) -> None:
        """Run all lanes until they have ended."""
        assert isinstance(wave, NativeWave)
        context, favoured = wave.context, self.favoured
        context.next_double, context.random_state = _source(self.random)
        context.favour_double, context.favour_state = _source(favoured.random)
        context.splits = struct.unpack("q", struct.pack("d", self.splits))[0]
        context.favour = ("nobody", "starved", "ahead").index(favoured.how)
        context.first, context.favour_steps = favoured.first, favoured.steps
        if len(favoured.last) == wave.geometry.lanes:
            self._starve(wave)
        _native(wave, wave.compiled.library.shuffled, lambda status: self._do(wave, status, limit))
        favoured.first, favoured.steps = context.first, context.favour_steps

    def _do(self, wave: NativeWave, status: int, limit: int) -> None:
        if status == DRAW:
            running = (wave.pc < WAITING).nonzero()[0]
            self.favoured.draw_starving(running, wave.geometry.lanes)
            self._starve(wave)
            return
        group, code = wave.group, wave.context.code
        if status == LIMIT:
            check_limit(wave, limit, code, group)
        elif status == STEP:
            if wave.parked and wave.segment_of(code).waits == "warp":
                group = self._with_waiting(wave, code, group)
            wave.run_or_wait(code, group)
        else:
            wave.finish_step(status, group)
        while wave.released:
            freed, lanes = wave.released.pop()
            wave.execute(freed, self._group(wave, freed, lanes))

    def _starve(self, wave: NativeWave) -> None:
        wave.context.starving = address_of(self.favoured.last)
