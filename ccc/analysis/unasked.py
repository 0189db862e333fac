"""What a compiler does not run unasked, that is, where a branch would have led round it.

What nobody needs it leaves out, whatever it is. What has an effect it never does, nor does it read
memory that may not be there. What only computes it does unasked where that is cheap; what it does
not know to be without effects it leaves, which are the intrinsics of NVVM: square roots,
exponentials, sines. A store may become one that is always done if the same place is written next to
it as well, before the branch or in another arm.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ccc.analysis.origins import Pointer
from ccc.analysis.thresholds import LONG_ROW, LONG_ROW_OF_THEIR_OWN
from ccc.ir.nodes import Block, Instruction, MarkerNote, Statement
from ccc.ir.operands import Register
from ccc.ptx.opcodes import ATOMIC, Effect
from ccc.ptx.types import MAY_BE_GLOBAL

if TYPE_CHECKING:
    from ccc.analysis.facts import Facts

_KEPT = Effect.BARRIER | Effect.COLLECTIVE | Effect.FENCE | Effect.OPAQUE
_INTRINSICS = ("sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh")
_COPIES, _OF_DIVISIONS = ("mov", "cvt"), ("mul", "shr", "sub")


def never_unasked(facts: Facts, block: Block, left: Collection[int]) -> bool:
    """Whether a compiler neither runs a block unasked nor leaves it out, if the markers of some
    annotations are gone."""
    stays = (
        sum(1 for _ in block.instructions) >= LONG_ROW
        or sum(map(_is_one_of_its_own, block.instructions)) >= LONG_ROW_OF_THEIR_OWN
        or any(_stays(facts, block, one, left) for one in block.statements)
    )
    return stays and _is_needed(facts, block, left)


def _is_one_of_its_own(one: Instruction) -> bool:
    """Whether what it computes was an instruction of its own before it became PTX: no copy, and no
    part of a division by a constant."""
    floating = one.types[-1:] in (("f32",), ("f64",))
    is_part = one.name in _OF_DIVISIONS and not floating and "lo" not in one.modifiers
    return not (one.is_branch or one.name in _COPIES or is_part)


def _is_needed(facts: Facts, block: Block, left: Collection[int]) -> bool:
    """Whether what a block does has an effect, or an effect is computed from what it makes: not if
    that only tells whether the block comes again."""
    made: set[Register] = set()
    size = -1
    pending = [one for one in block.instructions if not one.is_branch]
    while len(made) > size:
        size = len(made)
        for one in pending:
            if one.effects & (_KEPT | Effect.WRITE):
                return True
            made.update(one.defined())
        others = (one for other in facts.function.blocks for one in other.instructions)
        pending = [one for one in others if not one.is_branch and not made.isdisjoint(one.used())]
    return any(
        isinstance(one, MarkerNote) and one.marker.identifier not in left
        for one in block.statements
    )


def _stays(facts: Facts, block: Block, one: Statement, left: Collection[int]) -> bool:
    """Whether that is so of one of its statements."""
    if isinstance(one, MarkerNote):
        return one.marker.identifier not in left
    if not isinstance(one, Instruction):
        return False
    return (
        bool(one.effects & _KEPT)
        or (one.effects & ATOMIC) == ATOMIC
        or one.name in _INTRINSICS
        or (one.name == "ld" and one.space == "global" and _is_the_only(facts, block, one))
        or (one.name == "st" and _is_apart(facts, block, one))
    )


def _is_the_only(facts: Facts, block: Block, load: Instruction) -> bool:
    """Whether a load that stands in a block is needed on no other way, and its address may be none
    on others: it lies behind a pointer, and not in a variable."""
    if not _pointers(facts, load):
        return False
    address, arm = set(load.used()), _arm(facts, block)
    others = (other for other in facts.function.blocks if other.label not in arm)
    return all(address.isdisjoint(one.used()) for other in others for one in other.instructions)


def _is_apart(facts: Facts, block: Block, store: Instruction) -> bool:
    """Whether no other way of the same loop writes behind the pointer that a block's store does."""
    mine = _pointers(facts, store)
    loop = next((one.blocks for one in facts.loops if block.label in one.blocks), facts.blocks)
    others = (facts.blocks[label] for label in set(loop) - _arm(facts, block))
    stores = (one for other in others for one in other.instructions if one.name == "st")
    return bool(mine) and not any(
        one.space in MAY_BE_GLOBAL and mine & (_pointers(facts, one) or mine) for one in stores
    )


def _pointers(facts: Facts, access: Instruction) -> frozenset[Pointer]:
    """The parameters that an address is made from; none if it may be made from something else."""
    found = facts.memory.origins.of_access(access) if access.space in MAY_BE_GLOBAL else None
    known = found is not None and all(pointer.offset is not None for pointer in found)
    return found if found is not None and known else frozenset()


def _arm(facts: Facts, block: Block) -> set[str]:
    """The blocks that only a block leads to."""
    return set(facts.dominators.dominated(block.label))
