"""Which promise about pointers would let a path be collected that may write what is read behind it.

All accesses are named at once that stand in the way, so that to follow the advice once is enough;
and no promise is spoken of that would not help.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from ccc.analysis.facts import Facts
from ccc.analysis.memory import NOTHING
from ccc.ir.nodes import Instruction

RESTRICT_BOTH = 'declare them "__restrict__"'
NOALIAS_BOTH = "promise noalias of them"


def find_promise(
    writes: Iterable[Instruction], reads: Sequence[Instruction], facts: Facts
) -> str | None:
    """A promise that lets reads be made before writes, in words; None if there is none that would.

    The lines are those of the PTX; :mod:`ccc.compiler.pointers` makes names of the source of them.
    """
    memory = facts.memory
    pairs = [
        (write, read) for write in writes for read in reads if memory.find_conflict([write], [read])
    ]
    if not pairs or not all(memory.apart.could_be(write, read) for write, read in pairs):
        return None
    written, read = (_lines(each) for each in zip(*pairs, strict=True))
    return f"noalias(a, b) of the pointers read in PTX line {read} and written in {written}"


def find_clashes(
    first: Iterable[Instruction], second: Sequence[Instruction], facts: Facts
) -> list[tuple[Instruction, Instruction]]:
    """The instructions of two groups whose order may matter, two and two; first those that no
    promise could tell apart."""
    memory = facts.memory
    first, second = (  # of thousands, perhaps, only few use memory
        [one for one in group if memory.touch(one) != NOTHING] for group in (first, second)
    )
    if not memory.conflict(first, second):
        return []
    ours = [one for one in first if memory.conflict([one], second)]
    others = [one for one in second if memory.conflict(ours, [one])]
    pairs = ((one, other) for one in ours for other in others)
    found = [pair for one, other in pairs if (pair := memory.find_conflict([one], [other]))]
    return sorted(found, key=lambda pair: memory.apart.could_be(*pair))


def apart_hint(clashes: Sequence[tuple[Instruction, Instruction]], facts: Facts) -> str:
    """What to say about pointers, if that would tell all of some accesses apart."""
    apart = facts.memory.apart
    if not all(apart.could_be(*pair) for pair in clashes):
        return ""
    said = NOALIAS_BOTH
    if all(any(map(apart.may_be_restricted, pair)) for pair in clashes):
        said = RESTRICT_BOTH
    elif not all(map(apart.can_be_named, chain.from_iterable(clashes))):
        return ""
    return f"; or, if the pointers of both never lead to the same memory, {said}"


def _lines(instructions: Iterable[Instruction]) -> str:
    numbers = sorted({one.span.line for one in instructions})
    return ", ".join(map(str, numbers))
