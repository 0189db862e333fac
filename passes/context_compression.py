"""Context compression (dissertation section 4.1.3): save what the rest can be computed from.

A register of the context that cheap instructions make of other registers need not be saved if
those are at hand: the task computes it again when it is taken from the stack.

Before, the context is %rd4 and %rd5, four words:

            cvt.s64.s32 %rd4, %r24;
            mul.wide.s32 %rd10, %r24, 4;
            add.s64 %rd5, %rd1, %rd10;
            ...
            @!%p bra JOIN;
            <path, which reads %rd4 and %rd5>

After, it is %r24, one word, and the task begins with copies of the three instructions; a task that
repeats begins with them when it was fetched from the stack. %rd1 is the same for all tasks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from ccc.analysis.between import written_behind, written_between
from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import Path
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Register
from ccc.passes.context_collection.context_stack import words
from ccc.passes.thresholds import INSTRUCTIONS_A_WORD
from ccc.pipeline import Kernel, Pass
from ccc.ptx.opcodes import CHEAP, LOADS, Effect
from ccc.ptx.types import BLOCK, GRID


class ContextCompression(Pass):
    """Leave out of each context what can be computed again."""

    name: ClassVar[str] = "context-compression"

    def run(self, kernel: Kernel) -> None:
        """Have every path's context compressed whenever paths are looked at."""
        kernel.refinements.append(compress)


def compress(path: Path, facts: Facts) -> Path:
    """The path, with registers of its context replaced by fewer words that they are computed from.

    The task of an outer path might not have what the values of an inner one are made of: that keeps
    its context. Of a loop's context only what its turns leave as it is has one definition here.
    """
    if path.parent is not None:
        return path
    origins = _Origins(path, facts)
    saved = set(path.context)
    for register in sorted(path.context, key=lambda r: (-words(r), path.context.index(r))):
        choices = []
        for at_hand in _cuts(register, saved, origins):
            made = origins.of(register, at_hand)
            fewer = (saved - {register}) | origins.leaves(made)
            gain = sum(map(words, saved)) - sum(map(words, fewer))
            if made and gain > 0 and len(made) <= INSTRUCTIONS_A_WORD * gain:
                choices.append((gain, -len(made), fewer))
        if choices:
            saved = max(choices, key=lambda choice: choice[:2])[2]
    compressed = tuple(register for register in path.context if register not in saved)
    order = [*path.context, *sorted(saved - set(path.context), key=lambda r: r.name)]
    needed = (i for register in compressed for i in origins.of(register, frozenset(saved)))
    return replace(
        path,
        context=tuple(register for register in order if register in saved),
        compressed=compressed,
        recomputed=tuple(dict.fromkeys(needed)),
    )


def _cuts(
    register: Register, saved: set[Register], origins: _Origins
) -> Iterator[frozenset[Register]]:
    """Which registers to save instead of one: what it is made of in the end; what is saved anyway;
    or a narrower one on the way, since what that is made of costs more instructions."""
    yield frozenset()
    yield frozenset(saved - {register})
    for instruction in origins.of(register, frozenset()):
        for made in instruction.defined():
            if words(made) < words(register):
                yield frozenset({made})


class _Origins:
    """What registers are made of, as far as that still holds where the path begins."""

    def __init__(self, path: Path, facts: Facts):
        self.path = path
        self.facts = facts
        self.divergent = facts.divergence.divergent_at(path.entry)
        self.loop = path.loop.loop
        self.most = INSTRUCTIONS_A_WORD * sum(map(words, path.context))
        self._definitions: dict[Register, Instruction | None] = {}
        self._ways: dict[str, set[Register]] = {}

    def of(self, register: Register, at_hand: frozenset[Register]) -> list[Instruction]:
        """The instructions that make ``register``, operands before results; none if it is a leaf.

        A leaf is saved itself: it is ``at_hand`` anyway, has several definitions, an expensive one,
        or one whose operands have changed since. So is what takes more instructions than all words
        of the context are worth.
        """
        found: dict[Instruction, None] = {}
        seen = set(at_hand)
        entered: set[Instruction] = set()

        def visit(made: Register) -> None:
            if made not in seen and len(entered) <= self.most:
                seen.add(made)
                if definition := self._definition(made):
                    entered.add(definition)
                    for operand in definition.used():
                        visit(operand)
                    found[definition] = None

        visit(register)
        return list(found) if len(entered) <= self.most else []

    def leaves(self, made: list[Instruction]) -> set[Register]:
        """The registers that ``made`` needs from the context."""
        defined = {register for instruction in made for register in instruction.defined()}
        used = {register for instruction in made for register in instruction.used()}
        return {r for r in used - defined if not self._is_the_same_for_all(r)}

    def _is_the_same_for_all(self, register: Register) -> bool:
        definitions = self.facts.reaching.at_top(self.path.entry, register)
        inside = any(definition.label in self.loop.blocks for definition in definitions)
        return not inside and register not in self.divergent

    def _definition(self, register: Register) -> Instruction | None:
        """Its only definition, if that can be run again in the task."""
        if register not in self._definitions:
            self._definitions[register] = self._find_definition(register)
        return self._definitions[register]

    def _find_definition(self, register: Register) -> Instruction | None:
        if self._is_the_same_for_all(register):
            return None
        definitions = self.facts.reaching.at_top(self.path.entry, register)
        if len(definitions) != 1 or definitions[0].label in self.path.region:
            return None
        definition = definitions[0]
        instruction = definition.instruction
        if not _is_cheap(instruction) or not self.facts.dominators.dominates(
            definition.label, self.path.entry
        ):
            return None
        between = self._written_after(definition.label)
        between |= written_behind(instruction, definition.label, self.facts)
        changed = any(operand in between for operand in instruction.used())
        return None if changed else instruction

    def _written_after(self, label: str) -> set[Register]:
        """The registers written in the blocks between a block and the path."""
        if label not in self._ways:
            ends = list(self.facts.graph.predecessors(self.path.entry))
            self._ways[label] = written_between(label, ends, self.facts)
        return set(self._ways[label])


def _is_cheap(instruction: Instruction) -> bool:
    """Whether it only computes, quickly, and the same on every lane.

    Of two results one might be written again before the path.
    """
    return (
        len(list(instruction.defined())) == 1
        and instruction.guard is None
        and instruction.effects == Effect.NONE
        and instruction.unit in CHEAP
        and instruction.name not in LOADS
        and all(special.register.varies in (BLOCK, GRID) for special in instruction.specials())
    )
