"""Where a lane keeps what it has counted, and the code that increases and delivers it.

Counts come in pairs: of the first, one lane counts for all that are there, of the second each lane
for itself. Where a loop has many places that count, what is counted there is kept in short counts,
both halves of one register of 32 bits, so that one addition does:

    selp.b32 %more, 0x70007, 7, %last;       // seven instructions, of which each lane runs seven
    add.u32  %both, %both, %more;

How much a turn adds at most is known, so that the loop only has to count its turns, and to deliver
short counts to the counters in global memory before a half can be full. Elsewhere the counts of a
pair are kept apart and have 64 bits, which cannot overflow.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.ir.edit import Emitter, add_block, jump, retarget
from ccc.ir.nodes import Block, Function, Guard, Statement, Variable
from ccc.ir.operands import Address, Register, Special, Symbol
from ccc.profile.data import COPIES, COUNTERS
from ccc.snippet import Snippet

HALF = 16
"""Bits of each of the two counts in a register."""

MANY = 8
"""From so many additions in a loop on short counts gain more than the check of its turns costs."""

_REGISTERS = 20
"""How many registers of 32 bits a lane keeps counts in, those of inner loops first."""

_STEP = 8 * COPIES
"""Bytes from one counter to the next."""

LAST = Snippet("""
    .reg .pred %last;
    .reg .b32 %here, %upto;
        activemask.b32 %here;
        setp.le.u32 %last, %here, %upto;      // no lane above this one is here
""")
"""Is this the lane that counts for all?"""

CHOOSE = Snippet(
    """
    .reg .pred %condition;
    .reg .BITS %more, %then, %otherwise;
        selp.BITS %more, %then, %otherwise, %condition;
    """,
    "BITS",
)
"""How much a lane adds. Were the addition guarded, ptxas would keep both values in registers."""

TURN = Snippet("""
    .reg .pred %full;
    .reg .b32 %turns, %limit;
        add.u32 %turns, %turns, 1;
        setp.gt.u32 %full, %turns, %limit;
        @%full bra DELIVER;
        bra HEADER;
""")
"""Whenever a loop with short counts is entered or begins anew: could a half of them be full?"""

COPY = Snippet(
    """
    .reg .b32 %lane, %processor, %either, %copy;
    .reg .b64 %counters, %base;
        mov.u32 %lane, %laneid;
        mov.u32 %processor, %smid;
        add.u32 %either, %lane, %processor;
        and.b32 %copy, %either, LAST_COPY;
        mov.u64 %counters, COUNTERS;
        mad.wide.u32 %base, %copy, 8, %counters;
    """,
    LAST_COPY=COPIES - 1,
    COUNTERS=COUNTERS,
)
"""Before counts are delivered: lanes of a warp, and first lanes of several multiprocessors, use
different copies of the counters in global memory."""

HALVES = Snippet("""
    .reg .b32 %both, %half, %ones, %upper, %lower;
    .reg .b64 %first, %second;
        shr.u32 %upper, %both, %half;
        and.b32 %lower, %both, %ones;
        cvt.u64.u32 %first, %upper;
        cvt.u64.u32 %second, %lower;
""")
"""The two counts of a register."""

DELIVER = Snippet("""
    .reg .pred %some;
    .reg .b64 %value, %counter;
        setp.ne.s64 %some, %value, 0;
        @%some red.global.add.u64 [%counter], %value;
""")


@dataclass
class Site:
    """A place in the code that counts.

    Attributes:
        loop: the innermost one that it is in.
        amounts: how much it counts, by the number of a pair's first counter: what one lane counts
            for all, and what each counts for itself.
        guard: only lanes in which it holds count.
    """

    loop: Loop | None
    amounts: dict[int, tuple[int, int]] = field(default_factory=dict)
    guard: Guard | None = None

    def add(self, pair: int, for_all: int, for_each: int) -> None:
        """Count so much, if anything."""
        if for_all or for_each:
            self.amounts[pair] = for_all, for_each


@dataclass(eq=False)
class _Count:
    """What is kept in one place: one counter (64 bits), or that and the next (32 bits)."""

    counter: int
    bits: int
    held_in: Register | Address | None = None

    def read(self, emit: Emitter) -> Register:
        """The count, in a register."""
        if isinstance(self.held_in, Address):
            return emit.define(f"ld.local.u{self.bits}", f"b{self.bits}", self.held_in)
        assert self.held_in is not None
        return self.held_in

    def write(self, emit: Emitter, value: Register | int) -> None:
        """Make it ``value``."""
        assert self.held_in is not None
        in_memory = isinstance(self.held_in, Address)
        opcode = f"st.local.u{self.bits}" if in_memory else f"mov.b{self.bits}"
        emit.emit(opcode, self.held_in, value)

    def increase(self, emit: Emitter, more: Register | int) -> None:
        """Add ``more``."""
        old = self.read(emit)
        if isinstance(self.held_in, Register):
            emit.emit(f"add.u{self.bits}", old, old, more)
        else:
            self.write(emit, emit.define(f"add.u{self.bits}", f"b{self.bits}", old, more))


@dataclass(eq=False)
class _Turns:
    """The short counts of a loop, and how many turns they are good for."""

    loop: Loop
    limit: int
    counts: dict[int, _Count]
    register: Register


class Counts:
    """All that the lanes of a function count.

    Args:
        function: it gets registers, a variable and blocks.
        facts: of the function.
        sites: all of them.
    """

    def __init__(self, function: Function, facts: Facts, sites: Sequence[Site]):
        self.function = function
        self.facts = facts
        self.upto = function.registers.fresh("b32", "upto")
        self.turns: dict[Loop, _Turns] = {}
        for loop in facts.loops if facts.is_reducible else ():
            self._shorten(loop, sites)
        self.long: dict[int, _Count] = {}
        self._place(sites)

    def _shorten(self, loop: Loop, sites: Sequence[Site]) -> None:
        """Use short counts in a loop if that gains. What is counted once may go there, too."""
        here = [site.amounts for site in sites if site.loop == loop]
        once = [site.amounts for site in sites if site.loop is None]
        pairs = dict.fromkeys(pair for amounts in here for pair in amounts)
        totals = [
            sum(amounts.get(pair, (0, 0))[half] for amounts in here + once)
            for pair in pairs
            for half in (0, 1)
        ]
        limit = ((1 << HALF) - 1) // max(totals, default=1)
        if sum(map(len, here)) >= MANY and limit:
            counts = {pair: _Count(pair, 32) for pair in pairs}
            turns = self.function.registers.fresh("b32", "turns")
            self.turns[loop] = _Turns(loop, limit, counts, turns)

    def _short(self, site: Site, pair: int) -> _Count | None:
        """The short count for a pair at a site; None if there its counts have 64 bits."""
        loops = [site.loop] if site.loop else list(self.turns)
        found = [self.turns[loop].counts.get(pair) for loop in loops if loop in self.turns]
        return next(filter(None, found), None)

    def _place(self, sites: Sequence[Site]) -> None:
        """Find registers for the counts, and places in the thread's own memory for the others."""
        name = self.function.names.free("ccc_profile_counts")  # in the thread's own memory
        used = len(self.turns)
        offset = 0
        for count in self._in_order(sites):
            words = count.bits // 32
            if used + words <= _REGISTERS:
                count.held_in = self.function.registers.fresh(f"b{count.bits}", "count")
                used += words
            else:
                offset = -(-offset // words) * words
                count.held_in = Address(Symbol(name), 4 * offset)
                offset += words
        if offset:
            size = 8 * -(-offset // 2)
            text = f".local .align 8 .b8 {name}[{size}]"
            self.function.variables.append(Variable(name, "local", "b8", size, 8, text))

    def _in_order(self, sites: Sequence[Site]) -> Iterable[_Count]:
        """The counts of all sites, those in inner loops first."""
        found: dict[_Count, None] = {}
        for site in sorted(sites, key=self._depth, reverse=True):
            for pair, amounts in site.amounts.items():
                if short := self._short(site, pair):
                    found[short] = None
                    continue
                for counter, amount in enumerate(amounts, pair):
                    if amount:
                        found[self.long.setdefault(counter, _Count(counter, 64))] = None
        return found

    def _depth(self, site: Site) -> int:
        """How many loops a site is in."""
        return sum(loop.blocks >= site.loop.blocks for loop in self.facts.loops) if site.loop else 0

    # -- counting -------------------------------------------------------------------------------

    def code(self, site: Site) -> list[Statement]:
        """The code that counts at a site."""
        emit = self._emitter()
        last = None
        if any(for_all for for_all, _ in site.amounts.values()):
            last = LAST.emit(emit, upto=self.upto)["last"]
        for pair, (for_all, for_each) in site.amounts.items():
            if short := self._short(site, pair):
                by_last = (for_all << HALF) + for_each
                short.increase(emit, _chosen(emit, 32, site.guard, last, by_last, for_each))
                continue
            for counter, by_last, by_others in ((pair, for_all, 0), (pair + 1, for_each, for_each)):
                if by_last:
                    more = _chosen(emit, 64, site.guard, last, by_last, by_others)
                    self.long[counter].increase(emit, more)
        return emit.block.statements

    # -- ways in and out ------------------------------------------------------------------------

    def start(self) -> None:
        """A first block, in which all counts of a lane become 0."""
        block = Block(self.function.fresh_label("start"), named=False)
        emit = Emitter(self.function, block, self.function.span)
        emit.emit("mov.u32", self.upto, Special("%lanemask_le"))
        for turns in self.turns.values():
            emit.emit("mov.b32", turns.register, 0)
        for count in self._all():
            count.write(emit, 0)
        emit.emit("bra", self.facts.entry)
        self.function.blocks.insert(0, block)

    def deliver(self) -> list[Statement]:
        """Code that adds what this lane has counted to the counters."""
        return self._deliver(self._all()).block.statements

    def check_turns(self) -> None:
        """Wherever a loop is entered or begins anew, see whether its short counts may be full."""
        for turns in self.turns.values():
            check = add_block(self.function, "turn")
            full = add_block(self.function, "deliver")
            header = turns.loop.header
            for block in self.function.blocks:
                retarget(self.function, block, header, check.label)
            emit = Emitter(self.function, check, self.function.span)
            TURN.emit(
                emit, turns=turns.register, limit=turns.limit, DELIVER=full.label, HEADER=header
            )
            emit = self._deliver(turns.counts.values())
            for count in turns.counts.values():
                count.write(emit, 0)
            emit.emit("mov.b32", turns.register, 1)
            full.statements = [*emit.block.statements, jump(header)]

    def _all(self) -> list[_Count]:
        short = [count for turns in self.turns.values() for count in turns.counts.values()]
        return [*short, *self.long.values()]

    def _emitter(self) -> Emitter:
        return Emitter(self.function, Block(""), self.function.span)

    def _deliver(self, counts: Iterable[_Count]) -> Emitter:
        emit = self._emitter()
        base = COPY.emit(emit)["base"]
        for count in counts:
            value = count.read(emit)
            values = [value]
            if count.bits == 32:
                halves = HALVES.emit(emit, both=value, half=HALF, ones=(1 << HALF) - 1)
                values = [halves["first"], halves["second"]]
            for counter, part in enumerate(values, count.counter):
                DELIVER.emit(emit, value=part, counter=Address(base, counter * _STEP))
        return emit


def _chosen(
    emit: Emitter,
    bits: int,
    guard: Guard | None,
    last: Register | None,
    by_last: int,
    by_others: int,
) -> Register | int:
    """How much this lane adds, a literal where that is the same for all."""
    if guard is not None:
        values = (0, by_others) if guard.negated else (by_others, 0)
        condition, then, otherwise = guard.register, *values
    elif last is None or by_last == by_others:
        return by_others
    else:
        condition, then, otherwise = last, by_last, by_others
    choose = CHOOSE.of(BITS=f"b{bits}")
    return choose.emit(emit, condition=condition, then=then, otherwise=otherwise)["more"]
