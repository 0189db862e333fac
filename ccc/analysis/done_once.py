"""What a compiler would do once, before a marker, were it not for the marker.

In a loop that is what the loop changes nothing of: a call, a division or a load that is given
nothing else. In memory it is what is read behind a marker from where it was read or written before
it, unless others may have written there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ccc.analysis.cfg import EXIT, reachable
from ccc.analysis.rolled import instructions_in, varying
from ccc.ir.nodes import Block, Instruction, Statement
from ccc.ir.operands import Address, Operand, Register
from ccc.ptx.opcodes import Effect

if TYPE_CHECKING:
    from ccc.analysis.dominators import Loop
    from ccc.analysis.facts import Facts

_DIVISIONS = ("div", "rem")
_NEVER_WRITTEN = ("param", "const")


class _Place(NamedTuple):
    """Where a statement stands: its block, and its number in that."""

    label: str
    number: int


def does_the_same(facts: Facts, loop: Loop) -> bool:
    """Whether something in a loop is the same in all its iterations, and takes time."""
    changing = varying(facts, loop)
    return any(
        changing.isdisjoint(_given(facts.blocks[label], one))
        for label in loop.blocks
        for one in facts.blocks[label].instructions
        if one.effects & Effect.CALL or one.name in _DIVISIONS or "nc" in one.modifiers
    )


def _given(block: Block, one: Instruction) -> Iterator[Register]:
    """What an instruction reads; for a call also what is stored for it to find."""
    yield from one.used()
    if one.effects & Effect.CALL:
        for other in block.instructions:
            if other.name == "st" and other.space == "param":
                yield from other.used()


def keeps_memory(facts: Facts, markers: Collection[tuple[str, int]]) -> bool:
    """Whether what is in memory might be kept in a register from before a marker to behind it.

    Args:
        facts: of the function.
        markers: for each marker its block and the number of its statement there.
    """
    accesses: dict[tuple[Operand, int], list[_Place]] = defaultdict(list)
    for label in set(facts.graph) - {EXIT} if markers else ():
        for number, one in enumerate(facts.blocks[label].statements):
            for address in (
                one.operands if isinstance(one, Instruction) and _may_change(one) else ()
            ):
                if isinstance(address, Address):
                    accesses[address.base, address.offset].append(_Place(label, number))
    return any(
        _leads(facts, first, marker, base)
        and _leads(facts, marker, second, base)
        and not _is_written(facts, second, marker)
        for (base, _), mine in accesses.items()
        for marker in map(_Place._make, markers)
        for first in mine
        for second in mine
    )


def reads_early(facts: Facts, block: Block) -> bool:
    """Whether something is read before the marker in a block, and needed behind the branch at the
    end of that block only, so that it might be read there."""
    around = next((one.blocks for one in facts.loops if block.label in one.blocks), facts.blocks)
    before = (
        one
        for label in facts.dominators.chain(block.label)
        if label in around
        for one in reversed(list(facts.blocks[label].instructions))
    )
    needed: set[Register] = set()
    early: set[Register] = set()
    for one in before:
        is_load = one.name == "ld" and one.space != "param"
        if is_load and needed.isdisjoint(one.defined()):
            early.update(one.defined())
        if one.is_branch or one.effects & ~Effect.READ or not needed.isdisjoint(one.defined()):
            needed.update(one.used())
    return bool(early)


def _addresses(one: Statement) -> Iterator[Address]:
    """Where a statement accesses memory that may change."""
    if isinstance(one, Instruction) and _may_change(one):
        yield from (operand for operand in one.operands if isinstance(operand, Address))


def _may_change(one: Instruction) -> bool:
    """Whether it accesses memory that may be written, and could be left out."""
    kept = {"nc", "volatile"}.isdisjoint(one.modifiers)
    return one.name in ("ld", "st") and one.space not in _NEVER_WRITTEN and kept


def _leads(facts: Facts, before: _Place, behind: _Place, base: Operand) -> bool:
    """Whether a way leads from one statement to another on which an address stays what it is."""
    if before.label == behind.label and before.number < behind.number:
        return True
    makers = facts.makers.get(base, ()) if isinstance(base, Register) else ()
    made = set(map(id, makers))
    stops = [
        label
        for label, block in facts.blocks.items()
        if not made.isdisjoint(map(id, block.statements))
    ]
    ways = list(facts.graph.successors(before.label))
    return behind.label not in stops and behind.label in reachable(
        facts.graph.successors, ways, stops=stops
    )


def _is_written(facts: Facts, place: _Place, marker: _Place) -> bool:
    """Whether what stands there need not be what was there before the marker; so is all that is
    written and not read."""
    access = facts.blocks[place.label].statements[place.number]
    assert isinstance(access, Instruction)
    if access.name != "ld":
        return True
    around = [one for one in facts.loops if {place.label, marker.label} <= one.blocks]
    writers = (one for loop in around[:1] for one in instructions_in(facts, loop))
    addresses = list(_addresses(access))
    others = [
        one
        for one in writers
        if one.effects & ~Effect.READ and not (one.name == "st" and one.operands[0] in addresses)
    ]
    return facts.memory.conflict([access], others)
