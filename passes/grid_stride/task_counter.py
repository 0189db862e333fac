"""Counters that hand out numbers to the warps, or blocks, of one launch (no pass).

virtual_grid.py uses them for ``schedule(dynamic)``. A counter in memory has to be found in order,
and launches of one kernel may overlap: so the module has a table of counters for each kernel, with
a place for each launch that can be under way. What tells launches apart is ``%gridid``, "the
temporal grid launch number for this context" (PTX ISA, section 10); all blocks of a launch read the
same, and no two launches at a time do. (Launches of a node of a CUDA graph do, one after the
other.) A device runs at most 128 grids at once (CUDA C++ Programming Guide, technical
specifications by compute capability).

A place is claimed by whoever of a launch comes first, under a lock that is held for a moment by a
thread that runs; nobody waits for blocks that have not begun. It is mostly the launch's *home*,
given by its number; ``displaced`` counts the launches that live elsewhere. While that is 0, and the
home is free, no other place needs to be looked at.

Counters go back to 0 by themselves. Each taker takes numbers until one is too large. So the counter
ends at the number of tasks plus that of takers, and who took the last of these knows that all are
through. When that is so for all counters of a place, the place is free again. No host has a part in
it, and a kernel that is launched from a graph or from the device is served alike.

The table begins with ``{u32 lock, u32 displaced}``, each place with ``{u64 launch, u32 done}``,
where ``launch`` is 0 if the place is free, and each counter is 32 bits. Every one of them lies
alone in a line of the cache, so that different memory slices serve different counters.
"""

from __future__ import annotations

from dataclasses import dataclass

from ccc.ir.edit import Emitter
from ccc.ir.nodes import Guard
from ccc.ir.operands import Address, Register, Special
from ccc.passes.grid_stride.virtual_grid import OpenBlock

PLACES = 128
LINE_BYTES = 128
DISPLACED = 4
"""Where in the table the number of displaced launches is."""
DONE = 8
"""Where in a place the number of counters is that are through."""
NO_LAUNCH_ID = -(1 << 63)
"""Turned over in ``%gridid``: launches count up from 0, or down where the device made them."""


@dataclass(frozen=True, slots=True)
class CounterTable:
    """The counters of one kernel, ``counters`` for each launch."""

    name: str
    counters: int

    @property
    def place_bytes(self) -> int:
        """The size of a place."""
        return LINE_BYTES * (1 + self.counters)

    def declaration(self) -> str:
        """The PTX of the variable."""
        size = LINE_BYTES + PLACES * self.place_bytes
        return f".global .align {LINE_BYTES} .b8 {self.name}[{size}];\n"

    def counter(self, emit: Emitter, place: Register, number: Register) -> Register:
        """The address of a counter of a place."""
        address = emit.define("mad.wide.u32", "b64", number, LINE_BYTES, place)
        emit.emit("add.s64", address, address, LINE_BYTES)
        return address

    def place(self, emit: Emitter, counter: Register, number: Register) -> Register:
        """The address of the place that a counter belongs to."""
        offset = emit.define("mul.wide.u32", "b64", number, LINE_BYTES)
        address = emit.define("sub.s64", "b64", counter, offset)
        emit.emit("sub.s64", address, address, LINE_BYTES)
        return address

    def claim(self, open_block: OpenBlock) -> tuple[Register, Emitter]:
        """Find the launch's place, claim one if it has none.

        Returns:
            The address of the place, and an emitter for the block where it is known. It must be
            given back, by who takes the last number of each counter in use.
        """
        begin, look, not_home, start, search, step, nowhere, free_lock, lock, claim, take, found = (
            open_block() for _ in range(12)
        )
        table, launch, home = self._home(begin)
        locked = begin.define("setp.ne.s32", "pred", 0, 0)

        place = look.define("mov.b64", "b64", home)
        owner = look.define("ld.relaxed.gpu.global.u64", "b64", Address(home))
        _branch(look, look.define("setp.eq.b64", "pred", owner, launch), found)

        is_free = not_home.define("setp.eq.b64", "pred", owner, 0)
        free = not_home.define("selp.b64", "b64", home, 0, is_free)
        displaced = Address(table, DISPLACED)
        state = not_home.define("ld.relaxed.gpu.global.u32", "b32", displaced)
        alone = not_home.define("setp.eq.and.b32", "pred", state, 0, is_free)
        _branch(not_home, alone, nowhere)

        start.emit("add.s64", place, table, LINE_BYTES)
        left = start.define("mov.b32", "b32", PLACES)

        search.emit("ld.relaxed.gpu.global.u64", owner, Address(place))
        _branch(search, search.define("setp.eq.b64", "pred", owner, launch), found)

        step.emit("setp.eq.b64", is_free, owner, 0)
        step.emit("setp.eq.and.b64", is_free, free, 0, is_free)
        step.emit("selp.b64", free, place, free, is_free)
        step.emit("add.s64", place, place, self.place_bytes)
        step.emit("sub.s32", left, left, 1)
        _branch(step, step.define("setp.ne.b32", "pred", left, 0), search)

        _branch(nowhere, locked, claim)
        free_lock.emit("ld.relaxed.gpu.global.u32", state, Address(table))
        _branch(free_lock, free_lock.define("setp.ne.b32", "pred", state, 0), look)
        lock.emit("atom.acquire.gpu.global.cas.b32", state, Address(table), 0, 1)
        lock.emit("setp.eq.b32", locked, state, 0)
        lock.emit("bra", look.block.label)  # once more, now that nobody else can claim

        claim.emit("mov.b64", place, free)
        # Until a launch ends: there are more than the device can run.
        _branch(claim, claim.define("setp.eq.b64", "pred", free, 0), look)
        astray = Guard(take.define("setp.ne.b64", "pred", free, home))
        take.emit("atom.relaxed.gpu.global.add.u32", state, displaced, 1, guard=astray)
        take.emit("st.release.gpu.global.u64", Address(free), launch)

        found.emit("st.release.gpu.global.u32", Address(table), 0, guard=Guard(locked))
        found.emit("fence.acq_rel.gpu")
        return place, found

    def give_back(
        self, open_block: OpenBlock, emit: Emitter, counter: Register, number: Register,
        used: Register, then: str,
    ) -> None:  # fmt: skip
        """For who took the last number of a counter, of ``used`` ones in its place.

        Control goes on to the label ``then``, or behind the blocks that are opened.
        """
        place = self.place(emit, counter, number)
        emit.emit("st.global.u32", Address(counter), 0)
        emit.emit("fence.acq_rel.gpu")
        others = emit.define("sub.s32", "b32", used, 1)
        done = Address(place, DONE)  # back to 0 at the last one
        through = emit.define("atom.relaxed.gpu.global.inc.u32", "b32", done, others)
        _branch_label(emit, emit.define("setp.ne.b32", "pred", through, others), then)
        free = open_block()
        table, _, home = self._home(free)
        free.emit("fence.acq_rel.gpu")
        free.emit("st.release.gpu.global.u64", Address(place), 0)
        astray = Guard(free.define("setp.ne.b64", "pred", place, home))
        one_less = Address(table, DISPLACED)
        free.emit("atom.release.gpu.global.add.u32", through, one_less, -1, guard=astray)

    def _home(self, emit: Emitter) -> tuple[Register, Register, Register]:
        """The table, the launch's number, and the place that it has if that is free."""
        table = emit.define("mov.u64", "b64", self.name)
        launch = emit.define("mov.u64", "b64", Special("%gridid"))
        emit.emit("xor.b64", launch, launch, NO_LAUNCH_ID)
        number = emit.define("cvt.u32.u64", "b32", launch)
        emit.emit("and.b32", number, number, PLACES - 1)
        home = emit.define("mad.wide.u32", "b64", number, self.place_bytes, table)
        emit.emit("add.s64", home, home, LINE_BYTES)
        return table, launch, home


def _branch(emit: Emitter, holds: Register, target: Emitter) -> None:
    _branch_label(emit, holds, target.block.label)


def _branch_label(emit: Emitter, holds: Register, label: str) -> None:
    emit.emit("bra", label, guard=Guard(holds))
