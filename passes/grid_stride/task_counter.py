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
from ccc.ir.operands import Register
from ccc.snippet import Given, Snippet

PLACES = 128
LINE_BYTES = 128

HOME = Snippet(
    """
    .reg .b32 %short, %place_bytes;
    .reg .b64 %table, %launch, %home;
        mov.u64 %table, TABLE;
        mov.u64 %launch, %gridid;             // counts up from 0, or down where the device
        xor.b64 %launch, %launch, 0x8000000000000000;  // made the launch: so it is never 0
        cvt.u32.u64 %short, %launch;
        and.b32 %short, %short, LAST_PLACE;
        mad.wide.u32 %home, %short, %place_bytes, %table;
        add.s64 %home, %home, LINE_BYTES;
    """,
    LAST_PLACE=PLACES - 1,
    LINE_BYTES=LINE_BYTES,
)
"""The table, the launch's number, and the place that it has if that is free."""

CLAIM = Snippet(
    """
    .reg .pred %locked, %mine, %is_free, %first, %alone, %others, %held, %full, %astray;
    .reg .b32 %state, %left, %place_bytes;
    .reg .b64 %table, %launch, %home, %place, %owner, %free;
        setp.ne.s32 %locked, 0, 0;
    LOOK:
        mov.b64 %place, %home;
        ld.relaxed.gpu.global.u64 %owner, [%home];
        setp.eq.b64 %mine, %owner, %launch;
        @%mine bra FOUND;
        setp.eq.b64 %is_free, %owner, 0;
        selp.b64 %free, %home, 0, %is_free;
        ld.relaxed.gpu.global.u32 %state, [%table+DISPLACED];
        setp.eq.and.b32 %alone, %state, 0, %is_free;
        @%alone bra NOWHERE;
        add.s64 %place, %table, LINE_BYTES;
        mov.b32 %left, PLACES;
    SEARCH:
        ld.relaxed.gpu.global.u64 %owner, [%place];
        setp.eq.b64 %mine, %owner, %launch;
        @%mine bra FOUND;
        setp.eq.b64 %is_free, %owner, 0;
        setp.eq.and.b64 %first, %free, 0, %is_free;
        selp.b64 %free, %place, %free, %first;
        add.s64 %place, %place, %place_bytes;
        sub.s32 %left, %left, 1;
        setp.ne.b32 %others, %left, 0;
        @%others bra SEARCH;
    NOWHERE:
        @%locked bra TAKE;
        ld.relaxed.gpu.global.u32 %state, [%table];
        setp.ne.b32 %held, %state, 0;
        @%held bra LOOK;
        atom.acquire.gpu.global.cas.b32 %state, [%table], 0, 1;
        setp.eq.b32 %locked, %state, 0;
        bra LOOK;                             // once more, now that nobody else can claim
    TAKE:
        mov.b64 %place, %free;
        setp.eq.b64 %full, %free, 0;
        @%full bra LOOK;                      // until a launch ends: the device runs no more
        setp.ne.b64 %astray, %free, %home;
        @%astray atom.relaxed.gpu.global.add.u32 %state, [%table+DISPLACED], 1;
        st.release.gpu.global.u64 [%free], %launch;
    FOUND:
        @%locked st.release.gpu.global.u32 [%table], 0;
        fence.acq_rel.gpu;
    """,
    DISPLACED=4,
    PLACES=PLACES,
    LINE_BYTES=LINE_BYTES,
)
"""Find the launch's place, claim one if it has none."""

COUNTER = Snippet(
    """
    .reg .b32 %number;
    .reg .b64 %place, %address;
        mad.wide.u32 %address, %number, LINE_BYTES, %place;
        add.s64 %address, %address, LINE_BYTES;
    """,
    LINE_BYTES=LINE_BYTES,
)
"""The address of a counter of a place."""

THROUGH = Snippet(
    """
    .reg .pred %early;
    .reg .b32 %number, %used, %others, %through;
    .reg .b64 %counter, %offset, %place;
        mul.wide.u32 %offset, %number, LINE_BYTES;
        sub.s64 %place, %counter, %offset;
        sub.s64 %place, %place, LINE_BYTES;
        st.global.u32 [%counter], 0;
        fence.acq_rel.gpu;
        sub.s32 %others, %used, 1;            // back to 0 at the last counter
        atom.relaxed.gpu.global.inc.u32 %through, [%place+DONE], %others;
        setp.ne.b32 %early, %through, %others;
        @%early bra THEN;
    """,
    DONE=8,
    LINE_BYTES=LINE_BYTES,
)
"""Who took the last number of a counter sets it back. Is that so for all in use of its place?"""

FREE = Snippet(
    """
    .reg .pred %astray;
    .reg .b32 %displaced;
    .reg .b64 %place, %home, %table;
        fence.acq_rel.gpu;
        st.release.gpu.global.u64 [%place], 0;
        setp.ne.b64 %astray, %place, %home;
        @%astray atom.release.gpu.global.add.u32 %displaced, [%table+DISPLACED], -1;
    """,
    DISPLACED=4,
)
"""Then the place is free again."""


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

    def claim(self, emit: Emitter, number: Register) -> Register:
        """The address of a counter in the launch's place, which is claimed if it has none.

        The place must be given back, by who takes the last number of each counter in use.
        """
        place = CLAIM.emit(emit, self._home(emit))["place"]
        return COUNTER.emit(emit, place=place, number=number)["address"]

    def give_back(
        self, emit: Emitter, counter: Register, number: Register, used: Register, then: str
    ) -> None:
        """For who took the last number of a counter, of ``used`` ones in its place.

        Control goes on to the label ``then``, or falls through.
        """
        place = THROUGH.emit(emit, counter=counter, number=number, used=used, THEN=then)["place"]
        FREE.emit(emit, self._home(emit), place=place)

    def _home(self, emit: Emitter) -> dict[str, Given]:
        found = HOME.emit(emit, place_bytes=self.place_bytes, TABLE=self.name)
        return {**found, "place_bytes": self.place_bytes}
