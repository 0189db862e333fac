"""The thread's own ``.local`` memory, byte by byte: who reads what whom wrote.

A task runs on another lane than the one that found it, and that lane has other local memory. So
what a task reads there it must have written itself, and nobody may miss what it writes. Where the
user has promised that iterations are independent, no value goes from one to the next.

Sets of bytes are bit sets over all objects of the function (:mod:`ccc.analysis.points_to`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import and_, or_
from typing import TYPE_CHECKING

from ccc.analysis.cfg import EXIT
from ccc.analysis.filling_loops import stores_of_loop
from ccc.analysis.points_to import Pointee, PointsTo
from ccc.analysis.print_arguments import bytes_printed
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Address, Operand
from ccc.ptx.opcodes import ATOMIC, Effect
from ccc.ptx.types import MAY_BE_LOCAL

if TYPE_CHECKING:
    from ccc.analysis.dominators import Loop
    from ccc.analysis.facts import Facts

Edge = tuple[str, str]
Word = tuple[str, int]
"""A variable, and the first byte of a word in it."""
WORD = 4
Stored = tuple[int, int, object]
"""A constant that a store leaves in memory: its first byte, how many, and the constant."""


@dataclass(frozen=True, slots=True)
class Use:
    """The bytes that an instruction may read, may write, and surely writes."""

    reads: int = 0
    writes: int = 0
    fills: int = 0


NONE = Use()


class LocalMemory:
    """What the instructions of a function do to local memory."""

    def __init__(self, facts: Facts):
        self.facts = facts
        self.points_to = PointsTo(facts.function, facts.callees, facts.makers)
        self._uses: dict[Instruction, Use] = {}
        self._of_blocks: dict[str, tuple[int, int]] = {}
        self._live: dict[tuple[frozenset[Edge], frozenset[str]], dict[str, int]] = {}

    # Instructions --------------------------------------------------------------------------------

    def use(self, instruction: Instruction) -> Use:
        """What an instruction may do to local memory."""
        if not self.points_to.size:
            return NONE
        if instruction not in self._uses:
            self._uses[instruction] = self._find_use(instruction)
        return self._uses[instruction]

    def touches(self, instruction: Instruction) -> bool:
        """Whether it may read or write local memory of this function."""
        use = self.use(instruction)
        return bool(use.reads | use.writes)

    @property
    def escaping(self) -> Instruction | None:
        """An instruction that stores an address of local memory, or hands it to a function."""
        for instruction in self.facts.function.instructions if self.points_to.size else ():
            if instruction.name == "call" and any(self.points_to.handed(instruction)):
                return instruction
        return self.points_to.keeper

    def _find_use(self, instruction: Instruction) -> Use:
        if instruction.name == "call":
            return self._find_use_of_call(instruction)
        effects = instruction.effects
        accesses = effects & ATOMIC
        if not accesses or instruction.space not in MAY_BE_LOCAL:
            return NONE
        pointees = self.points_to.address(instruction)
        size = instruction.accessed_bytes
        mask = reduce(or_, (self._mask(pointee, size) for pointee in pointees), 0)
        if not pointees and instruction.space == "local":
            mask = self.points_to.everything
        sure = len(pointees) == 1 and instruction.guard is None and instruction.name == "st"
        sure = sure and self._is_local(instruction)
        fills = mask if sure and next(iter(pointees)).offset is not None else 0
        reads = mask if effects & Effect.READ else 0
        return Use(reads, mask if effects & Effect.WRITE else 0, fills)

    def _is_local(self, store: Instruction) -> bool:
        address = store.operands[0]
        return store.space == "local" or (
            isinstance(address, Address) and self.points_to.is_certain(address.base)
        )

    def _find_use_of_call(self, call: Instruction) -> Use:
        kept = reduce(or_, (one.mask for one in self.points_to.stored), 0)
        reads = writes = kept
        printed = bytes_printed(call, self.facts)
        for manner, pointees in self.points_to.handed(call):
            mask = reduce(or_, (pointee.object.mask for pointee in pointees), 0)
            if printed is not None:
                mask &= reduce(or_, (self._placed(pointee, printed) for pointee in pointees), 0)
            reads |= mask if manner.reads else 0
            writes |= mask if manner.writes else 0
        return Use(reads, writes)

    def _mask(self, pointee: Pointee, size: int) -> int:
        """The bytes of an access; those of the whole object if it is not known where."""
        return self._placed(pointee, (1 << size) - 1)

    def _placed(self, pointee: Pointee, mask: int) -> int:
        """The bytes from where a pointer leads that the bits of a mask stand for; likewise."""
        one, offset = pointee
        if offset is None or not one.is_whole:
            return one.mask
        first = one.first + offset - one.start
        if first < 0 or first + mask.bit_length() > self.points_to.size:
            return self.points_to.everything
        return mask << first

    # Blocks --------------------------------------------------------------------------------------

    def _instructions(self, labels: Iterable[str]) -> Iterator[Instruction]:
        for label in sorted(labels) if self.points_to.size else ():
            if label != EXIT:
                yield from self.facts.blocks[label].instructions

    def reads(self, labels: Iterable[str]) -> int:
        """The bytes that some blocks may read."""
        return reduce(or_, (self.use(i).reads for i in self._instructions(labels)), 0)

    def writes(self, labels: Iterable[str]) -> int:
        """The bytes that some blocks may write."""
        return reduce(or_, (self.use(i).writes for i in self._instructions(labels)), 0)

    def first(self, labels: Iterable[str], mask: int) -> Instruction | None:
        """An instruction of these blocks that may touch some of these bytes."""
        for instruction in self._instructions(labels):
            use = self.use(instruction)
            if (use.reads | use.writes) & mask:
                return instruction
        return None

    def words(self, mask: int) -> tuple[Word, ...] | None:
        """Some bytes as words of 32 bits; None if they are none."""
        found: list[Word] = []
        variables = {variable.name: variable for variable in self.facts.function.variables}
        for one in self.points_to.variables:
            own = (mask & one.mask) >> one.first
            mask &= ~one.mask
            places = [one.start + n for n in range(one.size) if own >> n & 1]
            whole = [n for n in places if n % WORD == 0 and {*range(n, n + WORD)} <= {*places}]
            alignment = variables[one.name].alignment or 1
            if len(places) != WORD * len(whole) or (places and alignment % WORD):
                return None
            found += [(one.name, place) for place in whole]
        return None if mask else tuple(found)

    def exposed(self, region: Collection[str], entry: str) -> int:
        """The bytes that a region may read before it has surely written them, from its entry on."""
        if not self.points_to.size:
            return 0
        filled = self._filled({entry}, region)
        return reduce(or_, (self._of_block(label)[0] & ~filled[label] for label in region), 0)

    def _fills(self, label: str, skipped: frozenset[str] = frozenset()) -> int:
        """The bytes that a block surely writes."""
        return 0 if label in skipped else self._of_block(label)[1]

    def _of_block(self, label: str) -> tuple[int, int]:
        """What a block may read as it is at its top, and what it surely writes, in bytes."""
        if label not in self._of_blocks:
            exposed = filled = 0
            for instruction in self.facts.blocks[label].instructions:
                use = self.use(instruction)
                exposed |= use.reads & ~filled
                filled |= use.fills
            self._of_blocks[label] = exposed, filled
        return self._of_blocks[label]

    def _filled(
        self,
        starts: Collection[str],
        region: Collection[str],
        skipped: frozenset[str] = frozenset(),
    ) -> dict[str, int]:
        """The bytes that are surely written at the top of each block, if nothing is at starts.

        A loop at whose header it starts may be in any of its trips, and has not filled anything.
        """
        graph, everything = self.facts.graph, self.points_to.everything
        top = {label: 0 if label in starts else everything for label in region}
        pending = list(region)
        while pending:
            label = pending.pop()
            bottom = top[label] | self._fills(label, skipped)
            for after in graph.successors(label):
                if after in top and after not in starts:
                    partial = label in skipped or label in starts
                    more = 0 if partial else self._loop_fills.get((label, after), 0)
                    known = top[after] & (bottom | more)
                    if known != top[after]:
                        top[after] = known
                        pending.append(after)
        return top

    def live(self, label: str, cut: frozenset[Edge], ignored: frozenset[str]) -> int:
        """The bytes whose value at the top of a block may still be read.

        Ways over the edges in ``cut`` do not count, nor do reads in the blocks ``ignored``.
        """
        if not self.points_to.size:
            return 0
        if (cut, ignored) not in self._live:
            self._live[cut, ignored] = self._find_live(cut, ignored)
        return self._live[cut, ignored].get(label, 0)

    def _find_live(self, cut: frozenset[Edge], ignored: frozenset[str]) -> dict[str, int]:
        graph = self.facts.graph
        live = dict.fromkeys(graph, 0)
        pending = [label for label in graph if label != EXIT]
        while pending:
            label = pending.pop()
            now = 0
            for after in graph.successors(label):
                if (label, after) not in cut:
                    now |= live[after] & ~self._loop_fills.get((label, after), 0)
            exposed, filled = self._of_block(label)
            now = now & ~filled | (0 if label in ignored else exposed)
            if now != live[label]:
                live[label] = now
                pending += [before for before in graph.predecessors(label) if before != EXIT]
        return live

    # Constants -----------------------------------------------------------------------------------

    @cached_property
    def constants(self) -> int:
        """The bytes into which no other than one constant is ever written, the same in each."""
        stores: dict[int, set[Stored]] = {}
        spoilt = 0
        for instruction in self.facts.function.instructions:
            use = self.use(instruction)
            found = list(self._constants_of(instruction)) if use.fills else []
            if use.writes and not found:
                spoilt |= use.writes
            for stored in found:
                for byte in range(stored[0], stored[0] + stored[1]):
                    stores.setdefault(byte, set()).add(stored)
        good = (1 << byte for byte, values in stores.items() if len(values) == 1)
        return reduce(or_, good, 0) & ~spoilt

    def _constants_of(self, store: Instruction) -> Iterator[Stored]:
        """What a store leaves behind, nothing if one of its values is not constant."""
        first = (self.use(store).fills & -self.use(store).fills).bit_length() - 1
        values = [self.facts.literal(value) for value in _stored_values(store)]
        size = store.accessed_bytes // len(values)
        if None not in values:
            yield from ((first + size * n, size, value) for n, value in enumerate(values))

    def filled_before_meeting(self, loop: Loop, skipped: frozenset[str]) -> int:
        """The bytes that each lane has surely written itself when an iteration of a loop ends.

        What stands in the blocks ``skipped`` does not count.
        """
        if not self.points_to.size:
            return 0
        labels = [label for label in self.facts.graph if label != EXIT]
        top = self._filled({self.facts.entry}, labels, skipped)
        ends = {*loop.latches, *(source for source, _ in loop.exits(self.facts.graph))}
        bottoms = (top[label] | self._fills(label, skipped) for label in ends)
        return reduce(and_, bottoms, self.points_to.everything)

    # Loops that fill an array --------------------------------------------------------------------

    @cached_property
    def _loop_fills(self) -> dict[Edge, int]:
        """What loops of one block have surely written when they end."""
        found: dict[Edge, int] = {}
        for loop in self.facts.loops if self.points_to.size else ():
            if loop.blocks == {loop.header} and self.writes(loop.blocks):
                after = set(self.facts.graph.successors(loop.header)) - {loop.header}
                stores = stores_of_loop(loop.header, self.facts, self.points_to)
                masks = (
                    self._mask(pointee, store.accessed_bytes)
                    for store, pointee in stores
                    if self._is_local(store)
                )
                found.update(
                    dict.fromkeys(((loop.header, s) for s in after), reduce(or_, masks, 0))
                )
        return found


def _stored_values(store: Instruction) -> tuple[Operand, ...]:
    value = store.operands[1]
    return getattr(value, "elements", (value,))
