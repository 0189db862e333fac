"""Streams: memory that neighbouring lanes read and write side by side, in sectors.

As long as the lanes of a warp come to an access together, those that are neighbours share sectors.
Where the rest of an iteration goes with its task, the lanes that took the path come to it later,
and by themselves: each sector is asked for twice then, and written in parts. What each iteration
reads but once comes from memory, which may be what a kernel waits for whatever its lanes do. So may
it be where each lane goes along a piece of its own: it asks for a sector in each iteration, and for
one of memory when it comes to the next; or where each reads by an index, of which a part is in the
first level cache.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ccc.analysis.defuse import trace
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.lane_strides import (
    Strides,
    address_stride,
    lane_strides,
    turn_strides,
)
from ccc.analysis.memory import POINTER
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Address, Operand, Register, Symbol
from ccc.passes.choice.exchange import GATHERED, IN_PARTS, STREAMED
from ccc.passes.choice.work import times
from ccc.ptx.opcodes import LOADS, Unit
from ccc.ptx.operations import COMPUTES_ADDRESSES, SCALES
from ccc.ptx.throughput import SECTOR
from ccc.ptx.types import MAY_BE_GLOBAL, TYPES, WARP_SIZE


@dataclass(frozen=True, slots=True)
class Stream:
    """What an access asks for.

    Args:
        sectors: those that a warp asks for, all of whose lanes are there.
        stores: whether it writes them.
        often: how often a warp comes to it, and how many times as long as others it takes then.
        apart: the sectors if each lane comes by itself.
    """

    sectors: float
    stores: bool
    often: float
    apart: float = WARP_SIZE

    @property
    def shared(self) -> float:
        """The sectors more of each lane that comes by itself, as many as others take as long."""
        return self.often / STREAMED * (self.apart - self.sectors) / WARP_SIZE

    def together(self, lanes: float) -> float:
        """The sectors that so many lanes of a warp ask for."""
        return self.often * self._touched(lanes)

    def parted(self, lanes: float) -> float:
        """The sectors more, where so many lanes come later than the others."""
        parts = (lanes, WARP_SIZE - lanes)
        touched = sum(map(self._touched, parts))
        whole = sum(map(self._whole, parts))
        written = (IN_PARTS - 1) * (touched - whole) if self.stores else 0.0
        return self.often * (touched - self.sectors + written)

    def _touched(self, lanes: float) -> float:
        return self.sectors * (1 - math.pow(1 - lanes / WARP_SIZE, self._sharing))

    def _whole(self, lanes: float) -> float:
        return self.sectors * math.pow(lanes / WARP_SIZE, self._sharing)

    @property
    def _sharing(self) -> float:
        """The lanes that share a sector."""
        return WARP_SIZE / self.sectors


def streams(
    labels: Collection[str], facts: Facts, around: Loop, entry: str, once: str = ""
) -> tuple[Stream, ...]:
    """Those in some blocks of the annotated loop ``around``; the others are those of ``passage``.

    What the turns of a loop in them access again is in the cache after the first.
    """
    found = streams_by_block(labels, facts, around, entry, once)
    return tuple(one for mine in found.values() for one in mine)


def streams_by_block(
    labels: Collection[str], facts: Facts, around: Loop, entry: str, once: str = ""
) -> dict[str, list[Stream]]:
    """The same, by the blocks that they are in."""
    every: dict[str, list[Stream]] = {}
    steps = turn_strides(around, facts)
    lanes = lane_strides(facts)
    for label, often in times(labels, facts, entry, once).items():
        found = every.setdefault(label, [])
        code = list(facts.blocks[label].instructions)
        inside = [loop for loop in facts.loops if label in loop.blocks < around.blocks]
        turns = turn_strides(min(inside, key=_size), facts) if inside else {}
        for stores in (False, True):
            mine = (one for one in code if (one.name not in LOADS) == stores)
            for one in accessed(mine, lanes):
                stride, step = address_stride(one, lanes), address_stride(one, steps)
                if stride is None and step and abs(step) < SECTOR and not inside:
                    found.append(_apart(one, abs(step), stores, often))
                elif stride is None and not inside and not stores and _is_by_index(one, facts):
                    sectors = WARP_SIZE * -(-one.accessed_bytes // SECTOR)
                    found.append(Stream(sectors, stores, GATHERED * often, sectors))
                elif stride is None and inside:
                    found.extend(_listed(one, address_stride(one, turns), stores, often, facts))
                elif stride is not None:
                    is_again = inside and address_stride(one, turns) == 0
                    found.append(_stream(one, stride, stores, min(often, 1) if is_again else often))
    return every


def reads_apart(labels: Collection[str], facts: Facts) -> bool:
    """Whether lanes read at addresses in some blocks that have nothing to do with one another: as
    far as any of them come again, or near by, it is the first level cache that has them."""
    lanes = lane_strides(facts)
    code = [one for label in labels for one in facts.blocks[label].instructions]
    reads = accessed((one for one in code if one.name in LOADS), lanes)
    apart = (one for one in reads if address_stride(one, lanes) is None)
    return not all(_is_of_module(one, facts) for one in apart)


def _size(loop: Loop) -> int:
    return len(loop.blocks)


def _stream(access: Instruction, stride: int, stores: bool, often: float) -> Stream:
    apart = WARP_SIZE * -(-access.accessed_bytes // SECTOR)
    return Stream(min(apart, WARP_SIZE * abs(stride) / SECTOR), stores, STREAMED * often, apart)


def _apart(access: Instruction, step: int, stores: bool, often: float) -> Stream:
    """Of lanes that each go along a piece of memory of their own, an element in an iteration."""
    sectors = WARP_SIZE * -(-access.accessed_bytes // SECTOR)
    return Stream(sectors, stores, (1 + STREAMED * step / SECTOR) * often, sectors)


def _listed(
    access: Instruction, turn: int | None, stores: bool, often: float, facts: Facts
) -> Iterable[Stream]:
    """Of lanes that each go along a list in the turns of a loop. What is read by way of an index,
    or of a list that several may have, may lie in the first level cache; what is written never
    stays there."""
    sectors = -(-access.accessed_bytes // SECTOR)
    if turn and _is_of_one(access, facts):
        yield Stream(WARP_SIZE, stores, STREAMED * min(sectors, abs(turn) / SECTOR) * often)
    elif turn is None and stores:
        yield Stream(WARP_SIZE, stores, sectors * often)


def _is_of_one(access: Instruction, facts: Facts) -> bool:
    """Whether the list that it goes along is of one iteration alone: whatever tells where it lies
    is read side by side by neighbours, as rows of a matrix are."""
    lanes = lane_strides(facts)

    def parts(maker: Instruction, _: Register) -> Iterable[Register] | None:
        if maker.name not in LOADS:
            return maker.used()
        return None if address_stride(maker, lanes) is None else ()

    return trace(access.used(), facts.makers, parts) is not None


def _is_by_index(access: Instruction, facts: Facts) -> bool:
    """Whether a number that each lane has read tells where it reads, and not a pointer, which is
    what was read in 64 bits and is added as it is."""
    lanes = lane_strides(facts)

    def added(maker: Instruction, _: Register) -> Iterable[Operand]:
        return () if maker.name in SCALES else maker.operands[1:]

    bases = trace(_places(access), facts.makers, added) or ()

    def parts(maker: Instruction, made: Register) -> Iterable[Operand] | None:
        if maker.name not in LOADS or maker.space not in MAY_BE_GLOBAL:
            return maker.operands[1:]
        is_pointer = made in bases and TYPES[maker.types[-1]].bytes == POINTER
        return () if is_pointer or address_stride(maker, lanes) == 0 else None

    is_known = trace(_places(access), facts.makers, parts) is not None
    return not is_known and not _is_of_module(access, facts)


def _is_of_module(access: Instruction, facts: Facts) -> bool:
    """Whether it is of a variable of the module: tables there are small, and in the cache."""

    def parts(maker: Instruction, _: Register) -> Iterable[Operand]:
        return maker.operands[1:] if maker.name in COMPUTES_ADDRESSES else ()

    found = trace(_places(access), facts.makers, parts) or ()
    return any(isinstance(one, Symbol) for one in found)


def _places(access: Instruction) -> list[Operand]:
    return [one.base for one in access.operands if isinstance(one, Address)]


def accessed(code: Iterable[Instruction], lanes: Strides) -> list[Instruction]:
    """The accesses of memory in code, one of each piece, without those of all lanes at once."""
    return [one for one in _of_each_piece(code) if address_stride(one, lanes) != 0]


def read_by_all(code: Iterable[Instruction], lanes: Strides) -> list[Instruction]:
    """The others: all lanes come to one address."""
    return [one for one in _of_each_piece(code) if address_stride(one, lanes) == 0]


def _of_each_piece(code: Iterable[Instruction]) -> list[Instruction]:
    found: dict[tuple[object, int], Instruction] = {}
    for one in code:
        place = next((x for x in one.operands if isinstance(x, Address)), None)
        if one.unit != Unit.LSU or one.space not in MAY_BE_GLOBAL or place is None or not one.types:
            continue
        found.setdefault((place.base, place.offset // SECTOR), one)
    return list(found.values())
