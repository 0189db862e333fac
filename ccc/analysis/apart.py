"""Accesses that never meet, since the source says that their pointers lead to different memory.

A ``__restrict__`` parameter of a kernel leads to memory that nothing else leads to, as far as any
of it is written. A clause ``noalias(a, s.b)`` says so of its pointers, two and two, in its loop.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ccc.analysis.cfg import EXIT
from ccc.analysis.origins import Origins, Pointer
from ccc.analysis.stray_markers import is_stray
from ccc.ir.nodes import Instruction
from ccc.ptx.opcodes import PLAIN_ACCESSES, Effect
from ccc.ptx.types import TYPES

if TYPE_CHECKING:
    from ccc.analysis.facts import Facts

RESTRICT = 'declare what is only read "const __restrict__"'
"""What a user can do who may be taken to write what is read; parameters alone are declared so."""
RESTRICT_ALL = 'declare parameters {} "const __restrict__", as far as they are only read'
"""The same where several parameters have to be declared so, which are told by their numbers."""
_POINTERS = ("u64", "b64")
"""The types of parameters that are pointers; structures are arrays of bytes."""
_PARTS = (2, 4)
"""The bytes that are written where no pointer is, nor a byte of one."""
_ORDERED = Effect.FENCE | Effect.OPAQUE | Effect.CALL


@dataclass(frozen=True, slots=True)
class Promise:
    """Pointers that lead to memory of their own in some blocks; ``group`` tells the clause, and
    which copy of it."""

    group: tuple[int, str, str, int]
    pointer: Pointer
    labels: Collection[str]

    def covers(self, pointer: Pointer, homes: Mapping[Instruction, str]) -> bool:
        """Whether it is made for a pointer: for one that lay in memory, only if that was found
        there by the same load, or both in the loop. What lay there before may be any other."""
        return pointer.place == self.pointer.place and all(
            load is own or {homes[load], homes[own]}.issubset(self.labels)
            for load, own in zip(pointer.loads, self.pointer.loads, strict=True)
        )


class Apart:
    """Which accesses of a function are told apart by a promise."""

    def __init__(self, facts: Facts):
        self.facts = facts
        self.origins = Origins(facts, through_memory=True)

    @property
    def promised(self) -> bool:
        """Whether anything is promised."""
        return bool(self._restricted or self._promises)

    def are(self, first: Instruction, second: Instruction) -> bool:
        """Whether two accesses surely go to different memory, and order no others."""
        return _is_plain(first) and _is_plain(second) and self.lead_apart(first, second)

    def lead_apart(self, first: Instruction, second: Instruction) -> bool:
        """Whether two accesses surely go to different memory, whatever they order."""
        if not {first.name, second.name} <= PLAIN_ACCESSES:
            return False
        mine, others = self.origins.of_access(first), self.origins.of_access(second)
        if mine is None or others is None:
            return False
        homes = {self.facts.homes.get(first), self.facts.homes.get(second)}
        known = [one for one in self._promises if homes.issubset(one.labels)]
        return all(self._differ(one, other, known) for one in mine for other in others)

    def could_be(self, first: Instruction, second: Instruction) -> bool:
        """Whether a promise could tell two accesses apart: what they begin with is known, and not
        the same for both."""
        if not (_is_plain(first) and _is_plain(second)):
            return False
        mine, others = self.origins.of_access(first), self.origins.of_access(second)
        places = [{pointer.place for pointer in one or ()} for one in (mine, others)]
        return bool(mine and others and places[0].isdisjoint(places[1]))

    def may_be_restricted(self, access: Instruction) -> bool:
        """Whether ``__restrict__`` can be said of what an access begins with: of parameters of the
        kernel that are pointers, and not of members, of variables, or of what was loaded; and
        whether that is all there is to say, since it reads no address that others begin with."""
        function = self.facts.function
        kinds = function.parameters if function.kind == "entry" else []
        known = {Pointer(one.name, 0) for one in kinds if one.type in _POINTERS}
        pointers = self.origins.of_access(access)
        if not pointers or not known.issuperset(pointers):
            return False
        read = {f"[{one.name}+{one.offset}]" for one in pointers}
        found = map(self.origins.of_access, function.instructions)
        begins = (one for pointers in found for one in pointers or ())
        return not any(one.is_loaded and one.name in read for one in begins)

    def can_be_named(self, access: Instruction) -> bool:
        """Whether it is one pointer that an access begins with: beside another one it may be but a
        number, as a row's length in bytes, which no clause names."""
        return len(self.origins.of_access(access) or ()) == 1

    def restricting(self, accesses: Iterable[Instruction]) -> str:
        """What a user can declare so that nobody may be taken to write what some accesses read, all
        of it; empty if it cannot be declared."""
        every = {*accesses}
        if not all(map(self.may_be_restricted, every)):
            return ""
        pointers = {one for each in every for one in self.origins.of_access(each) or ()}
        names = {one.name for one in pointers - self._restricted}
        known = self.facts.function.parameters
        numbers = [str(at) for at, one in enumerate(known, 1) if one.name in names]
        return RESTRICT_ALL.format(" and ".join(numbers)) if numbers[1:] else RESTRICT

    def supposed(self, *accesses: Instruction) -> Facts | None:
        """What there would be to say if all that accesses begin with were ``__restrict__`` that can
        be; None if that is so, or is supposed already."""
        found = map(self.origins.of_access, filter(self.may_be_restricted, accesses))
        pointers = frozenset[Pointer]().union(*(one or () for one in found))
        if self.facts.supposed or pointers <= self._restricted:
            return None
        return self.facts.supposing(pointers)

    def _differ(self, one: Pointer, other: Pointer, known: list[Promise]) -> bool:
        if one.place == other.place:
            return False
        direct = not (one.is_loaded or other.is_loaded)  # else it may be a copy of the other one
        if direct and (one in self._restricted or other in self._restricted):
            return True
        homes = self.facts.homes
        groups = [{p.group for p in known if p.covers(pointer, homes)} for pointer in (one, other)]
        if groups[0].isdisjoint(groups[1]):
            return False
        return not any(_may_change(load, self.facts) for load in (*one.loads, *other.loads))

    @cached_property
    def _restricted(self) -> frozenset[Pointer]:
        """The parameters of a kernel that are ``__restrict__``."""
        function = self.facts.function
        every = [marker.clauses for block in function.blocks for marker in block.markers]
        counted = str(len(function.parameters))
        told = [one for one in every if "restrict" in one and one.get("of", counted) == counted]
        numbers = {int(number) for one in told for number in one["restrict"].split(",")}
        parameters = function.parameters if function.kind == "entry" else []
        declared = (
            Pointer(parameter.name, 0)
            for number, parameter in enumerate(parameters)
            if number in numbers
        )
        return self.facts.supposed.union(declared)

    @cached_property
    def _promises(self) -> list[Promise]:
        """What the clauses of annotated loops say.

        Addresses tell what they were made from, and not by which of several steps. So a promise for
        what was stepped, ``a = x + 100``, is none: it does not hold for all that ``x`` leads to.
        Nor is one of a loop that nvcc unrolled: it does not hold for the loop around. Where it put
        iterations in a row, each has a promise of its own, which begins behind another marker.
        """
        facts, found = self.facts, []
        for label in facts.graph:
            copy = 0
            for marker in facts.blocks[label].markers if label != EXIT else ():
                copy += marker.kind != "apart"
                name = marker.clauses.get("register") if marker.kind == "apart" else None
                register = facts.function.registers.find(name) if name else None
                loop = next((one for one in facts.loops if label in one.blocks), None)
                pointer = self.origins.exactly(register) if register else None
                if loop and pointer is not None and not is_stray(facts, loop, marker):
                    group = marker.identifier, marker.clauses["group"], label, copy
                    found.append(Promise(group, pointer, loop.blocks))
        return found


def _may_change(load: Instruction, facts: Facts) -> bool:
    """Whether a load may find another pointer each time: whether something in the loops around it
    may write there."""
    home = facts.homes[load]
    labels = {label for one in facts.loops if home in one.blocks for label in one.blocks}
    inside = (one for label in labels for one in facts.blocks[label].instructions)
    return any(_may_write(one, load, facts) for one in inside)


def _may_write(instruction: Instruction, load: Instruction, facts: Facts) -> bool:
    """Whether it may write a pointer that is loaded elsewhere, or have others write it.

    That is written as a whole, alone or with what lies beside it, or by bytes (C++ standard,
    [basic.lval]; nvcc writes a structure as a vector of whatever fits), or returned.
    """
    effects = instruction.effects
    if effects & Effect.CALL:
        own = load.space in ("local", "generic")  # what is written there is not told of calls
        return own or _returns(instruction, load) or bool(facts.memory.touch(instruction).writes)
    if effects & _ORDERED:
        return True
    spaces = {instruction.space, load.space}
    if not effects & Effect.WRITE or (len(spaces) == 2 and "generic" not in spaces):
        return False
    has_bytes = any(TYPES[name].bytes == 1 for name in instruction.types)
    return has_bytes or instruction.accessed_bytes not in _PARTS


def _returns(call: Instruction, load: Instruction) -> bool:
    """Whether what is loaded is what a call has returned."""
    named, found = ({one.name for one in each.symbols()} for each in (call, load))
    return not named.isdisjoint(found)


def _is_plain(instruction: Instruction) -> bool:
    """Whether it is an access that orders no others."""
    return instruction.name in PLAIN_ACCESSES and not instruction.effects & _ORDERED
