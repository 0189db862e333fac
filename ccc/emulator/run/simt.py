"""A wave of blocks in execution: which lane is where, and what a step does to that.

A lane's *code* is its program counter: ``(max_depth - open calls) * segments + segment``, so that
the lowest code is the deepest call and, in it, the earliest segment. Two values beyond all codes
say that a lane waits or is done.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from ccc.emulator.base.errors import EmulatorError
from ccc.emulator.base.forms import Array, register_dtype, spread
from ccc.emulator.lanes.barriers import Barriers
from ccc.emulator.lanes.geometry import Geometry
from ccc.emulator.lanes.groups import Group
from ccc.emulator.memory.memory import Costs, Memory
from ccc.emulator.translate.codegen import CompiledProgram
from ccc.emulator.translate.program import (
    Call,
    Exit,
    Fork,
    Jump,
    Program,
    Return,
    Segment,
    Table,
    Through,
)
from ccc.errors import Span
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Register

WAITING = np.iinfo(np.int32).max - 1
DONE = np.iinfo(np.int32).max

_ALL_LANES = np.uint32(0xFFFFFFFF)
_JUNK = 0xA5
"""What a register that nobody wrote holds, in every byte."""


@dataclass(slots=True)
class Tally:
    """What is counted while a launch runs: per segment, per instruction slot."""

    warps: list[int]
    lanes: list[int]
    divergent: list[int]
    guarded: list[int]
    costs: Costs
    steps: int = 0

    @classmethod
    def of(cls, compiled: CompiledProgram) -> Tally:
        """All zero."""
        segments, slots = len(compiled.run), len(compiled.slots)
        costs = Costs([0] * slots, [0] * slots, [0] * slots)
        return cls([0] * segments, [0] * segments, [0] * segments, [0] * slots, costs)


@dataclass(slots=True)
class Wave:
    """The state of a wave; the generated code knows it as ``m``.

    ``pc`` has the code of every lane; ``waits_at`` the code where a waiting lane waits: int32,
    (lanes,). ``alive`` has, for each warp, the mask of its threads that have not ended: uint32,
    (warps,). ``released`` are lanes that a barrier lets go, with their code, to be run before
    anything else. ``frames`` has the registers by depth of calls, each (lanes,) of an unsigned
    dtype or bool; ``returns`` where their calls go back to: int32, (lanes,). ``tops`` says up to
    where each lane has local memory in use, if the program allocates any: uint64, (lanes,).
    """

    program: Program
    compiled: CompiledProgram
    geometry: Geometry
    memory: Memory
    specials: dict[str, Any]
    tally: Tally
    pc: Array = field(init=False)
    waits_at: Array = field(init=False)
    alive: Array = field(init=False)
    barriers: Barriers = field(init=False)
    block_of_lane: Array = field(init=False)
    segment_count: int = field(init=False)
    guarded: list[int] = field(init=False)
    released: list[tuple[int, Array]] = field(default_factory=list)
    parked: int = 0
    frames: list[list[Array]] = field(default_factory=list)
    returns: list[Array] = field(default_factory=list)
    tops: Array = field(init=False)
    kept_tops: list[Array] = field(default_factory=list)

    def __post_init__(self) -> None:
        lanes = self.geometry.lanes
        exists = self.geometry.exists
        self.segment_count = len(self.program.segments)
        entry = self.program.max_depth * self.segment_count
        self.pc = np.where(exists, np.int32(entry), np.int32(DONE)).astype(np.int32)
        self.waits_at = np.zeros(lanes, np.int32)
        rows = exists.reshape(-1, 32)
        self.alive = np.packbits(rows, axis=1, bitorder="little").view(np.uint32).ravel()
        self.block_of_lane = self.geometry.block_of_lane
        self.barriers = Barriers(self.geometry)
        self.guarded = self.tally.guarded
        frames = (self.program.max_depth + 1) * self.program.frame_bytes
        self.tops = np.full(lanes if self.program.allocates else 0, frames, np.uint64)

    # What the generated code calls ---------------------------------------------------------------

    def frame_address(self, group: Group, offset: int) -> Any:
        """The local address of a place in the running function's frame."""
        self.memory.local.grow((group.depth + 1) * self.program.frame_bytes)
        return np.uint64(group.depth * self.program.frame_bytes + offset)

    def allocate(self, group: Group, size: Any) -> Array:
        """Local memory beyond all frames, until the running function returns.

        Args:
            group: the lanes.
            size: bytes, an unsigned array (n,) or a scalar.

        Returns:
            Its address for each lane: uint64, (n,).
        """
        found: Array = self.tops[group.index].copy()
        rounded = (np.asarray(size).astype(np.uint64) + np.uint64(15)) & ~np.uint64(15)
        self.tops[group.index] = found + rounded
        self.memory.local.grow(int(self.tops.max()))
        return found

    def time(self, name: str, dtype: Any) -> Any:
        """A clock that counts the steps of the launch."""
        high = name.endswith("_hi")
        return dtype(self.tally.steps >> 32 if high else self.tally.steps & 0xFFFFFFFF)

    # Steps ---------------------------------------------------------------------------------------

    def depth_of(self, code: int) -> int:
        """The number of open calls."""
        return self.program.max_depth - code // self.segment_count

    def segment_of(self, code: int) -> Segment:
        """The segment that a code means."""
        return self.program.segments[code % self.segment_count]

    def frame(self, depth: int) -> list[Array]:
        """The register state at a depth of calls, in the order of ``program.registers``."""
        while len(self.frames) <= depth:
            fresh = [self._register(register) for _, register in self.program.registers]
            self.frames.append(fresh)
        return self.frames[depth]

    def _register(self, register: Register) -> Array:
        if register.bits == 1:
            return np.zeros(self.geometry.lanes, bool)
        state = np.zeros(self.geometry.lanes, register_dtype(register.bits))
        if not self.frames:  # deeper frames are many, and mostly never touched
            state.view(np.uint8).fill(_JUNK)
        return state

    def execute(self, code: int, group: Group) -> int | None:
        """Run a segment and move its lanes on; returns the code where all of them are, if one."""
        segments, tally = self.program.segments, self.tally
        number = code % self.segment_count
        base = code - number
        tally.steps += 1
        tally.warps[number] += group.warp_count
        tally.lanes[number] += group.n
        decision = self.compiled.run[number](group, self, self.frame(group.depth))
        match segments[number].end:  # patterns of classes alone: others take their time
            case Fork() as end:
                taken, other = base + end.taken.number, base + end.other.number
                return self._fork(number, group, decision, taken, other)
            case Jump() as end:
                return self._move(group, base + end.target.number)
            case Table() as end:
                return self._table(number, group, decision, base, end.targets)
            case Call() as end:
                entry = end.callee.segments[0].number
                return self._call(code, group, base, entry, end.after.number)
            case Through() as end:
                return self._through(number, group, decision, base, end.targets)
            case Return() if group.depth:
                if self.program.allocates:
                    self.tops[group.index] = self.kept_tops[group.depth - 1][group.index]
                self.pc[group.index] = self.returns[group.depth - 1][group.index]
                return None
            case Return() | Exit():
                self._exit(group)
                return None
        raise AssertionError("a segment has no end")

    def _move(self, group: Group, code: int) -> int:
        self.pc[group.index] = code
        return code

    def _fork(self, number: int, group: Group, decision: Any, taken: int, other: int) -> int | None:
        if not decision.ndim:
            return self._move(group, taken if decision else other)
        count = np.count_nonzero(decision)
        if count in (0, group.n):
            return self._move(group, taken if count else other)
        self.pc[group.index] = np.where(decision, np.int32(taken), np.int32(other))
        if group.warp_count == 1:
            self.tally.divergent[number] += 1
            return None
        splits = np.zeros((2, group.warp_count), bool)
        splits[decision.view(np.uint8), group.rank] = True
        self.tally.divergent[number] += int(np.count_nonzero(splits[0] & splits[1]))
        return None

    def _table(
        self, number: int, group: Group, index: Any, base: int, targets: list[Segment]
    ) -> int | None:
        index = spread(index, group.n)
        if int(index.max()) >= len(targets):
            branch = self.program.segments[number].instructions[-1]
            self.fault("brx.idx beyond its table", branch, group, index >= len(targets))
        codes = np.array([base + t.number for t in targets], np.int32)[index]
        self.pc[group.index] = codes
        rows = group.by_warp(codes, WAITING)
        low, high = rows.min(axis=1), np.where(rows == WAITING, 0, rows).max(axis=1)
        self.tally.divergent[number] += int(np.count_nonzero(low != high))
        return None

    def _through(
        self, number: int, group: Group, pointer: Any, base: int, targets: dict[int, Segment]
    ) -> int | None:
        """Lanes call the functions whose addresses they have."""
        pointer = spread(pointer, group.n)
        codes = np.full(group.n, WAITING, np.int32)
        for address, target in targets.items():
            codes[pointer == np.uint64(address)] = base + target.number
        if (codes == WAITING).any():
            call = self.program.segments[number].instructions[-1]
            message = "this is the address of no function with such parameters"
            self.fault(message, call, group, codes == WAITING)
        self.pc[group.index] = codes
        return None

    def _call(self, code: int, group: Group, base: int, entry: int, after: int) -> int:
        count = len(self.program.segments)
        if group.depth >= self.program.max_depth:
            call = self.segment_of(code).instructions[-1]
            self.fault(f"calls are nested deeper than {group.depth}", call, group)
        while len(self.returns) <= group.depth:
            self.returns.append(np.zeros(self.geometry.lanes, np.int32))
            self.kept_tops.append(self.tops.copy())
        if self.program.allocates:
            self.kept_tops[group.depth][group.index] = self.tops[group.index]
        self.returns[group.depth][group.index] = base + after
        return self._move(group, base - count + entry)

    def _exit(self, group: Group) -> None:
        self.pc[group.index] = DONE
        self.alive[group.warps] &= ~group.active
        self.barriers.leave(group)
        if self.parked:
            self._wake(group.warps)
            self._release(np.unique(group.blocks))

    # Waiting -------------------------------------------------------------------------------------

    def run_or_wait(self, code: int, group: Group) -> int | None:
        """Run the lanes that are at a code, or as many of them as need not wait."""
        segment = self.segment_of(code)
        if segment.waits is None:
            return self.execute(code, group)
        told = self.compiled.waits[segment.number](group, self, self.frame(group.depth))
        if segment.waits == "block":
            self._enter_barrier(code, segment.instructions[0], group, *told)
            return None
        if isinstance(told, tuple):
            return self._pass_barrier(code, segment.instructions[0], group, *told)
        ready = self._meet(code, group, told)
        return self.execute(code, ready) if ready else None

    def _meet(self, code: int, group: Group, masks: Any) -> Group | None:
        """Park the lanes whose member mask is not complete; returns the others."""
        if self.parked:
            self.parked -= int(np.count_nonzero(self.pc[group.index] == WAITING))
        if masks.ndim and (group.n == 1 or np.logical_and.reduce(masks == masks[0])):
            masks = masks[0]
        if masks.ndim == 0:  # all look out for the same lanes: warp by warp
            here, alive = group.active, self.alive.take(group.warps)
            if np.count_nonzero(here & ~masks):
                self._check_members(code, group, spread(masks, group.n))
            missing = masks & alive & ~here
            if not np.count_nonzero(missing):
                return group
            missing = missing[group.rank]
        else:
            self._check_members(code, group, masks)
            missing = masks & self.alive[group.warps][group.rank] & ~_arrived(group, masks)
            if not missing.any():
                return group
        parked = group.lanes[missing != 0]
        self.pc[parked] = WAITING
        self.waits_at[parked] = code
        self.parked += len(parked)
        return group.only(missing == 0)

    def _check_members(self, code: int, group: Group, masks: Array) -> None:
        """Each lane must be in its own member mask."""
        outside = (masks >> (group.lanes & 31).astype(np.uint32) & np.uint32(1)) == 0
        if outside.any():
            first = self.segment_of(code).instructions[0]
            self.fault("the member mask does not name the lane itself", first, group, outside)

    def _wake(self, warps: Array) -> None:
        """Let lanes that wait for their warp look again: some of it has ended."""
        lanes = (warps[:, None] * 32 + np.arange(32)).ravel()
        lanes = lanes[(self.pc[lanes] == WAITING) & ~self.barriers.holds(lanes)]
        self.pc[lanes] = self.waits_at[lanes]
        self.parked -= len(lanes)

    def _enter_barrier(
        self, code: int, barrier: Instruction, group: Group, number: Any, count: Any
    ) -> None:
        """Lanes come to a barrier and wait there."""
        self._check_barrier(barrier, group, number)
        self.barriers.enter(group, number, count)
        self.pc[group.index] = WAITING
        self.waits_at[group.index] = code
        self.parked += group.n
        self._release(np.unique(group.blocks))

    def _pass_barrier(
        self, code: int, barrier: Instruction, group: Group, number: Any, count: Any
    ) -> int | None:
        """Warps come to a barrier and go on."""
        self._check_barrier(barrier, group, number)
        ready = self._meet(code, group, _ALL_LANES)
        if ready is None:
            return None
        self.barriers.announce(ready, number, count)
        self._release(np.unique(ready.blocks))
        return self.execute(code, ready)

    def _check_barrier(self, barrier: Instruction, group: Group, number: Any) -> None:
        if np.any(number > 15) and "cluster" not in barrier.modifiers:
            self.fault("a barrier's number is above 15", barrier, group)

    def _release(self, blocks: Array) -> None:
        """Let go the lanes of barriers that are complete now."""
        for lanes in self.barriers.complete(blocks):
            self.parked -= len(lanes)
            codes = self.waits_at[lanes]
            if (codes != codes[0]).any():
                self._check_aligned(lanes, codes)
            for code in np.unique(codes):
                self.released.append((int(code), lanes[codes == code]))

    def _check_aligned(self, lanes: Array, codes: Array) -> None:
        """The lanes of one warp must wait at the same ``bar.sync`` (PTX ISA, bar)."""
        group = Group(lanes, 0, self.block_of_lane)
        rows = group.by_warp(codes, WAITING)
        low, high = rows.min(axis=1), np.where(rows == WAITING, 0, rows).max(axis=1)
        for code in codes[(low != high)[group.rank]]:
            barrier = self.segment_of(int(code)).instructions[0]
            if barrier.name == "bar" or "aligned" in barrier.modifiers:
                bad = (low != high)[group.rank]
                self.fault("lanes of one warp wait at different barriers", barrier, group, bad)

    # Faults --------------------------------------------------------------------------------------

    def fault(
        self, message: str, instruction: Instruction, group: Group, bad: Array | None = None
    ) -> NoReturn:
        """Raise for the first lane of a group, or the first of ``bad``: bool, (n,)."""
        lane = int(group.lanes[0 if bad is None else int(np.argmax(bad))])
        block, thread = self.geometry.name(lane)
        raise EmulatorError(message, instruction.span, block=block, thread=thread)

    def fail_assertion(self, group: Group, arguments: list[int]) -> NoReturn:
        """Raise for the first lane of a group that calls ``__assertfail``, as the source says it.

        Args:
            group: the lanes that call it.
            arguments: where they are in the frame: expression, file, line, function, and the size
                of a character.
        """
        texts = [self.memory.text_argument(group, arguments[k]) for k in (0, 1, 3)]
        line = int(self.memory.argument(group, arguments[2], np.dtype(np.uint32)))
        expression, file, function = texts
        block, thread = self.geometry.name(int(group.lanes[0]))
        kernel = self.program.codes[0].function.name
        message = f'assertion "{expression}" failed in {function}, kernel {kernel}'
        raise EmulatorError(message, Span(file, line), block=block, thread=thread)

    def fail_deadlock(self) -> NoReturn:
        """Nobody can go on, and some lanes wait."""
        lane = int(np.argmax(self.pc == WAITING))
        waiting = self.segment_of(int(self.waits_at[lane])).instructions[0]
        message = f"deadlock: {waiting.opcode} waits for lanes that never come"
        self.fault(message, waiting, Group(np.array([lane]), 0, self.block_of_lane))


def _arrived(group: Group, masks: Array) -> Array:
    """For each lane, the lanes of its warp that are here with the same member mask."""
    rows = group.by_warp(masks, 0)
    largest = rows.max(axis=1)
    if (largest[group.rank] == masks).all():
        arrived: Array = group.active[group.rank]
        return arrived
    equal = rows[group.rank] == masks[:, None]
    return np.packbits(equal, axis=1, bitorder="little").view(np.uint32).ravel()
