"""Work: what code takes of the pipes of a multiprocessor, in warp instructions.

Code lasts as long as the pipe that is busy longest: what is added to one that is not costs nothing.
Waiting for memory is not modelled: nothing in PTX tells what lies in a cache.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ccc.analysis.facts import Facts
from ccc.ir.nodes import Instruction
from ccc.passes.thresholds import UNKNOWN_SHARE, UNKNOWN_TURNS
from ccc.ptx.opcodes import Effect, Unit
from ccc.ptx.throughput import Pipe, slots_of
from ccc.ptx.types import TYPES

_LONG = frozenset({"div", "rem", "sqrt", "rcp", "rsqrt"})
"""Those that are many instructions on a GPU, unless they are approximate."""
_FLOAT_INSTRUCTIONS = 10
"""So many, about, for each 32 bits of floating-point numbers."""
_INTEGER_INSTRUCTIONS = 20
"""And of integers; with twice the bits four times as many."""
_ADDS = frozenset({"addc", "subc"})
_FREE_SPACES = frozenset({"param", "const"})
"""What is loaded from there is an operand of the instruction that needs it."""
_PIPES = tuple(Pipe)


@dataclass(frozen=True, slots=True)
class Work:
    """Warp instructions by pipe, in the order of ``Pipe``; those of ``ISSUE`` are all of them."""

    amounts: tuple[float, ...] = (0.0,) * len(_PIPES)

    @staticmethod
    def of(pipe: Pipe, instructions: float) -> Work:
        """So many instructions of one pipe."""
        return Work(tuple(instructions * (one in (Pipe.ISSUE, pipe)) for one in _PIPES))

    def __add__(self, other: Work) -> Work:
        return Work(tuple(a + b for a, b in zip(self.amounts, other.amounts, strict=True)))

    def __mul__(self, factor: float) -> Work:
        return Work(tuple(factor * amount for amount in self.amounts))

    @property
    def instructions(self) -> float:
        """All of them."""
        return self.amounts[_PIPES.index(Pipe.ISSUE)]

    def scaled_to(self, instructions: float | None) -> Work:
        """The same mixture, of so many instructions; as it is where that is not known."""
        mine = self.instructions
        return self if instructions is None or not mine else self * (instructions / mine)

    def slots(self, arch: str) -> float:
        """The issue slots in which it is done, where other warps hide its latencies."""
        return max(n * slots_of(p, arch) for p, n in zip(_PIPES, self.amounts, strict=True))


def total(works: Iterable[Work]) -> Work:
    """The sum."""
    found = Work()
    for work in works:
        found += work
    return found


def work_of(instruction: Instruction) -> Work:
    """What one instruction of PTX takes, about."""
    name, unit = instruction.name, instruction.unit
    kinds = [TYPES[one] for one in instruction.types]
    widest = max([1, *(kind.bits // 32 for kind in kinds)])
    floats = [kind for kind in kinds if kind.kind == "f"]
    if name in ("mov", "cvta") or unit == Unit.NOTHING:
        return Work()
    if unit in (Unit.LSU, Unit.TEX):
        is_free = instruction.space in _FREE_SPACES and not instruction.effects & Effect.WRITE
        return Work() if is_free else Work.of(Pipe.MEMORY, widest)
    if name in _LONG and "approx" not in instruction.modifiers:
        if not floats:
            return Work.of(Pipe.ISSUE, _INTEGER_INSTRUCTIONS * widest**2)
        pipe = Pipe.DOUBLE if widest > 1 else Pipe.FLOAT
        return Work.of(pipe, _FLOAT_INSTRUCTIONS * widest)
    if unit == Unit.SFU or (name == "cvt" and floats and widest > 1):
        return Work.of(Pipe.SPECIAL, widest)
    if unit == Unit.BRANCH:
        return Work.of(Pipe.LOGIC, 1)
    if any(kind.bits == 64 for kind in floats):
        return Work.of(Pipe.DOUBLE, 1)
    if unit == Unit.FMA and floats:
        return Work.of(Pipe.FLOAT, 1)
    return Work.of(Pipe.ISSUE if unit == Unit.FMA or name in _ADDS else Pipe.LOGIC, widest)


def work_of_blocks(labels: Collection[str], facts: Facts, entry: str, once: str = "") -> Work:
    """What a warp takes that goes through some blocks.

    Of two ways it takes each one time in two; a loop is gone round ``UNKNOWN_TURNS`` times.

    Args:
        labels: the blocks.
        facts: the function's analyses.
        entry: the block that they begin with.
        once: the header of a loop of which one turn is meant, if there is such.
    """
    within = frozenset(labels)
    inner = [one for one in facts.loops if one.blocks <= within and one.header != once]
    always = {entry, *facts.post_dominators.chain(entry)}

    def times(label: str) -> float:
        around = [loop for loop in inner if label in loop.blocks]
        turns = float(UNKNOWN_TURNS ** len(around))
        is_certain = label in always or any(
            facts.post_dominators.dominates(label, loop.header) for loop in around
        )
        return turns if is_certain else UNKNOWN_SHARE * turns

    return total(
        work_of(instruction) * times(label)
        for label in sorted(within)
        for instruction in facts.blocks[label].instructions
    )
