"""Handing the blocks of a grid to the blocks that loop over them (no pass; block_loop.py uses it).

A *virtual* block is one of the launch's blocks, a *launched* block what the hardware started. They
are as many; but only some launched blocks work, and each of those runs several virtual ones.

``static``: as many launched blocks work as the device holds at once, the first ones, and virtual
blocks are dealt out to them in turn. The number of a block is kept as digits, x first, and the
number of working blocks is added to it digit by digit: no division is needed in the loop.

``launched``: each launched block runs its own, as in the original, in a loop that ends behind it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ccc.ir.edit import Emitter
from ccc.ir.operands import Register, Special
from ccc.passes.launch_shape import BLOCK_THREADS
from ccc.ptx.occupancy import KB, Limits
from ccc.snippet import Given, Snippet

X, Y, Z = Special("%ctaid.x"), Special("%ctaid.y"), Special("%ctaid.z")
NSMID = Special("%nsmid")

MAY_WORK = Snippet("""
    .reg .pred %may;
    .reg .b32 %x, %multiprocessors, %device, %blocks, %most;
        mov.u32 %x, %ctaid.x;
        mov.u32 %multiprocessors, %device;    // how many it has
        mul.lo.s32 %most, %multiprocessors, %blocks;
        setp.lt.u32 %may, %x, %most;
        @!%may bra IDLE;
""")
"""Nearly all launched blocks leave here, and where z and y are 0, at the first test."""

PLACE = Snippet("""
    .reg .pred %may;
    .reg .b32 %x, %y, %z, %row, %width, %height, %depth, %most;
    .reg .b64 %number, %wide;
        mov.u32 %y, %ctaid.y;
        mov.u32 %z, %ctaid.z;
        mov.u32 %width, %nctaid.x;
        mov.u32 %height, %nctaid.y;
        mov.u32 %depth, %nctaid.z;
        mad.lo.s32 %row, %z, %height, %y;
        cvt.u64.u32 %number, %x;
        mad.wide.u32 %number, %row, %width, %number;
        cvt.u64.u32 %wide, %most;
        setp.lt.u64 %may, %number, %wide;
        @!%may bra IDLE;
""")
"""A launched block's place in the grid, and its number."""

RESIDENT = Snippet("""
    .reg .b32 %threads, %warps, %blocks, %shared, %reserved, %step, %mask, %multiprocessors;
    .reg .b32 %of_a_block, %fits, %taken, %shares, %resident;
        add.s32 %threads, %threads, 31;
        mov.u32 %fits, %warps;
        shr.u32 %of_a_block, %threads, 5;
        div.u32 %fits, %fits, %of_a_block;
        mov.u32 %taken, %total_smem_size;
        add.s32 %taken, %taken, %reserved;    // with what rounds it up to whole steps
        and.b32 %taken, %taken, %mask;
        max.u32 %taken, %taken, %step;
        mov.u32 %shares, %shared;
        div.u32 %shares, %shares, %taken;
        min.u32 %fits, %fits, %shares;
        min.u32 %fits, %fits, %blocks;
        max.u32 %fits, %fits, 1;
        mul.lo.s32 %resident, %fits, %multiprocessors;
""")
"""How many blocks of this launch the device holds at once:

multiprocessors x min(blocks, warps / warps of a block, shared memory / that of a block)
"""

WORKS = Snippet("""
    .reg .pred %works;
    .reg .b32 %resident;
    .reg .b64 %number, %wide;
        cvt.u64.u32 %wide, %resident;
        setp.lt.u64 %works, %number, %wide;
        @!%works bra IDLE;
""")
"""The first blocks work, as many as are resident."""

ROWS = Snippet("""
    .reg .b32 %height, %depth, %rows;
        mul.lo.s32 %rows, %height, %depth;
""")

DIGIT = Snippet("""
    .reg .b32 %number, %extent, %rest, %taken, %digit;
        div.u32 %rest, %number, %extent;
        mul.lo.s32 %taken, %rest, %extent;
        sub.s32 %digit, %number, %taken;
""")
"""The lowest digit of a number, and what the higher ones say."""

ADVANCE_BY_ROWS = Snippet("""
    .reg .pred %carry, %more;
    .reg .b32 %x, %row, %width, %rows, %step_x, %step_row;
        add.s32 %x, %x, %step_x;
        add.s32 %row, %row, %step_row;
        setp.ge.u32 %carry, %x, %width;
        @%carry sub.s32 %x, %x, %width;
        @%carry add.s32 %row, %row, 1;
        setp.lt.u32 %more, %row, %rows;
        @%more bra BLOCK;
""")
"""The next virtual block is so many further as there are blocks that work."""

ADVANCE = Snippet("""
    .reg .pred %carry, %carry_y, %more;
    .reg .b32 %x, %y, %z, %width, %height, %depth, %step_x, %step_y, %step_z;
        add.s32 %x, %x, %step_x;
        add.s32 %y, %y, %step_y;
        add.s32 %z, %z, %step_z;
        setp.ge.u32 %carry, %x, %width;
        @%carry sub.s32 %x, %x, %width;
        @%carry add.s32 %y, %y, 1;
        setp.ge.u32 %carry_y, %y, %height;
        @%carry_y sub.s32 %y, %y, %height;
        @%carry_y add.s32 %z, %z, 1;
        setp.lt.u32 %more, %z, %depth;
        @%more bra BLOCK;
""")
"""The same in a kernel that reads y or z."""


@dataclass(frozen=True, slots=True)
class Room:
    """What a multiprocessor has room for.

    Args:
        multiprocessors: how many there are; None: the device is asked, ``%nsmid`` (PTX ISA 10).
        warps: of this kernel, as threads and registers allow.
        limits: what else there is.
    """

    multiprocessors: int | None
    warps: int
    limits: Limits

    def describe(self) -> dict[str, Any]:
        """For the report: what :func:`resident` computes with."""
        return {
            "multiprocessors": self.multiprocessors,
            "blocks": self.limits.blocks,
            "warps": self.warps,
            "shared_bytes": self.limits.shared_kb * KB,
            "shared_bytes_reserved": self.limits.shared_kb_reserved * KB,
            "shared_bytes_step": self.limits.shared_step,
        }


@dataclass
class Schedule(ABC):
    """Which virtual blocks a launched block runs.

    ``by_rows``: y and z need not be told apart. ``coordinates`` are the registers that hold the
    virtual block's numbers.
    """

    room: Room
    by_rows: bool
    coordinates: dict[Special, Register] = field(default_factory=dict, kw_only=True)

    @abstractmethod
    def begin(self, emit: Emitter, idle: str) -> None:
        """Go to the label ``idle`` if this launched block has nothing to do, else fall through."""

    @abstractmethod
    def next_block(self, emit: Emitter) -> None:
        """At the top of the loop: go to what :meth:`finish` emits if there are no more blocks."""

    @abstractmethod
    def advance(self, emit: Emitter, again: str) -> None:
        """At the end of the loop: go on at its top, or fall through where there is no more."""

    @abstractmethod
    def finish(self, emit: Emitter, idle: str) -> None:
        """What is done behind the loop, before control goes to ``idle`` or falls through."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """For the report."""

    def find_place(self, emit: Emitter, idle: str) -> dict[str, Register]:
        """Go to ``idle`` unless this is one of the first blocks, as many as are resident.

        Returns:
            The block's ``x``, ``y``, ``z``, ``row`` and ``number``, the grid's ``width``,
            ``height`` and ``depth``, and how many blocks are ``resident``.
        """
        given = self.room.multiprocessors
        device = NSMID if given is None else given
        place = MAY_WORK.emit(emit, device=device, blocks=self.room.limits.blocks, IDLE=idle)
        place |= PLACE.emit(emit, x=place["x"], most=place["most"], IDLE=idle)
        place["resident"] = resident(emit, self.room, place["multiprocessors"])
        WORKS.emit(emit, number=place["number"], resident=place["resident"], IDLE=idle)
        return place


@dataclass
class Static(Schedule):
    """As many launched blocks work as are resident, each on every so-many-th virtual block."""

    scope: dict[str, Given] = field(init=False)
    place: Mapping[str, Register] = field(init=False)

    def begin(self, emit: Emitter, idle: str) -> None:
        """Work if this is one of the first blocks, as many as are resident."""
        self.place = place = self.find_place(emit, idle)
        names = {"x": "width", "y": "height", "z": "depth"}
        if self.by_rows:
            place |= ROWS.emit(emit, height=place["height"], depth=place["depth"])
            names = {"x": "width", "row": "rows"}
        else:
            self.coordinates |= {Y: place["y"], Z: place["z"]}
        self.coordinates[X] = place["x"]
        steps = in_digits(emit, place["resident"], [place[size] for size in names.values()])
        self.scope = {name: place[name] for pair in names.items() for name in pair}
        self.scope |= {f"step_{name}": step for name, step in zip(names, steps, strict=True)}

    def next_block(self, emit: Emitter) -> None:
        """The end of the loop has gone on to the next one."""

    def finish(self, emit: Emitter, idle: str) -> None:
        """There is nothing left to do."""

    def advance(self, emit: Emitter, again: str) -> None:
        """Add the number of working blocks, with carries."""
        text = ADVANCE_BY_ROWS if self.by_rows else ADVANCE
        text.emit(emit, self.scope, BLOCK=again)

    def describe(self) -> dict[str, Any]:
        """What the resident blocks are counted with."""
        return {"schedule": "static", "chunk": None, "resident": self.room.describe()}


OWN = Snippet("""
    .reg .b32 %x, %y, %z, %width, %height, %depth;
        mov.u32 %x, %ctaid.x;
        mov.u32 %y, %ctaid.y;
        mov.u32 %z, %ctaid.z;
        mov.u32 %width, %nctaid.x;
        mov.u32 %height, %nctaid.y;
        mov.u32 %depth, %nctaid.z;
""")
"""A launched block's place."""

NO_OTHER = Snippet("""
    .reg .pred %more;
    .reg .b32 %x, %y, %z, %width, %height, %depth;
        add.s32 %x, %x, %width;
        add.s32 %y, %y, %height;
        add.s32 %z, %z, %depth;
        mov.pred %more, 0;
        @%more bra BLOCK;
""")
"""The next one would lie outside of the grid; ``ptxas`` drops all of this."""


@dataclass
class Launched(Schedule):
    """Each launched block runs the virtual one of its own number.

    Where nothing inside gains by further blocks: the hardware hands them out as multiprocessors are
    through with others, and none has to find out what its next one is, or to leave. For what
    rewrites loops this is one nevertheless, of iterations that differ in their place.
    """

    scope: dict[str, Given] = field(init=False)

    def begin(self, emit: Emitter, idle: str) -> None:
        """All work."""
        del idle  # so nobody goes there
        place = OWN.emit(emit)
        self.scope = {**place}
        self.coordinates |= {X: place["x"], Y: place["y"], Z: place["z"]}

    def next_block(self, emit: Emitter) -> None:
        """It is the launched one."""

    def advance(self, emit: Emitter, again: str) -> None:
        """Fall through: there is none."""
        NO_OTHER.emit(emit, self.scope, BLOCK=again)

    def finish(self, emit: Emitter, idle: str) -> None:
        """There is nothing left to do."""

    def describe(self) -> dict[str, Any]:
        """No resident blocks are counted."""
        return {"schedule": "launched", "chunk": None, "resident": None}


def resident(emit: Emitter, room: Room, multiprocessors: Register) -> Register:
    """How many blocks of this launch the device holds at once."""
    limits, step = room.limits, room.limits.shared_step
    given: Mapping[str, Given] = {
        "warps": room.warps, "blocks": limits.blocks, "shared": limits.shared_kb * KB,
        "reserved": limits.shared_kb_reserved * KB + step - 1, "step": step, "mask": -step,
        "multiprocessors": multiprocessors,
    }  # fmt: skip
    threads = BLOCK_THREADS.emit(emit)["threads"]
    return RESIDENT.emit(emit, given, threads=threads)["resident"]


def in_digits(emit: Emitter, number: Register, extents: list[Register]) -> list[Register]:
    """A number as digits; the last one takes all that is left."""
    digits = []
    for extent in extents[:-1]:
        found = DIGIT.emit(emit, number=number, extent=extent)
        digits.append(found["digit"])
        number = found["rest"]
    return [*digits, number]
