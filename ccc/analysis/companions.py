"""Companions: what is set where a minimum or maximum is, as the index of the least in ``argmin``.

    setp.lt.f32 %p1, %f2, %f1;           // if (x < best)
    selp.f32 %f1, %f2, %f1, %p1;         //     best = x,
    selp.b32 %r1, %r2, %r1, %p1;         //     at = i;

or a branch round copies, or for integers ``min.s32`` in the place of the first ``selp``. All of it
is taken together or stays together, so that what there is in the end was taken at one place: the
first of the least, in the order of iterations, or the last where equals are taken, too. So the
order must be known to whoever runs iterations in another one. It is one more companion: a number
that grows from each place where something is taken to all that may come later.

Values are compared as the loop does it, so that zeros of either sign, and what a comparison takes
for zero, are as good as each other, and what is no number is neither taken nor replaced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.graphs import FlowGraph, topological
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Immediate, Operand, Register
from ccc.ptx.operations import SOUGHT

ORDER = "u64"
"""The type of numbers that tell the order."""


@dataclass(frozen=True, eq=False)
class ComparedValue:
    """What holds of a new value and the old one where a predicate does, and where it does not;
    None: nothing that matters."""

    setp: Instruction
    new: Operand
    old: Register
    ways: Mapping[bool, str | None]

    @property
    def kind(self) -> tuple[str, ...]:
        """As what they are compared."""
        return self.setp.modifiers[1:]


@dataclass(frozen=True, eq=False)
class Replacement:
    """One place where a value may be taken, and its companions with it.

    By ``instruction`` in the block ``label`` it is taken if ``predicate`` is ``way``; or that is a
    branch, which leads to the block ``arm`` then. ``taken`` is what goes to each companion; to
    those that are ``grown``, only if it is more than before.
    """

    label: str
    instruction: Instruction
    comparison: ComparedValue
    predicate: Register
    way: bool
    arm: str | None = None
    taken: dict[int, Operand] = field(default_factory=dict)
    grown: set[int] = field(default_factory=set)

    @property
    def relation(self) -> str:
        """What the new value has to the old one then."""
        return self.comparison.ways[self.way] or ""


@dataclass(frozen=True, eq=False)
class Companions:
    """A value with its companions.

    A new value is taken that has the ``relation`` to the old one, as PTX's ``setp`` says it with
    ``kind``. ``classes`` are the registers of the value, and of each companion; ``places`` says
    where each of them is at the top of a block, as long as one of them is still asked for.
    """

    relation: str
    kind: tuple[str, ...]
    classes: tuple[frozenset[Register], ...]
    updates: tuple[Replacement, ...]
    places: Mapping[str, tuple[Register, ...]]
    loop: Loop
    facts: Facts

    @property
    def operation(self) -> str:
        """``min`` or ``max``."""
        return SOUGHT[self.relation]

    @property
    def type(self) -> str:
        """The type of the value."""
        return self.kind[-1]

    @cached_property
    def ranks(self) -> dict[Replacement, int]:
        """Which updates of one iteration come before others, from 0 on; those that one inner loop
        comes to again and again have the same rank."""
        inner = [one for one in self.facts.loops if one.blocks < self.loop.blocks]
        outermost = [one for one in inner if not any(one.blocks < other.blocks for other in inner)]
        home = {label: one.header for one in outermost for label in one.blocks}
        sequence = self._sequence(home)
        found: dict[Replacement, tuple[int, int]] = {}
        for update in self.updates:
            own = list(self.facts.blocks[update.label].instructions)
            within = 0 if update.label in home else own.index(update.instruction)
            found[update] = sequence.index(home.get(update.label, update.label)), within
        distinct = sorted(set(found.values()))
        return {update: distinct.index(place) for update, place in found.items()}

    def _sequence(self, home: Mapping[str, str]) -> list[str]:
        """The blocks of an iteration in an order in which control may come to them; an inner loop
        is one of them."""
        order = FlowGraph()
        order.add_nodes(home.get(label, label) for label in self.loop.blocks)
        for label in self.loop.blocks:
            for after in self.facts.graph.successors(label):
                ends = home.get(label, label), home.get(after, after)
                if after in self.loop.blocks - {self.loop.header} and ends[0] != ends[1]:
                    order.add_edge(*ends)
        return topological(order)

    @property
    def steps(self) -> int:
        """How many numbers that tell the order each iteration takes."""
        return max(self.ranks.values()) + 1

    @cached_property
    def order(self) -> int | None:
        """The number of the companion that tells the order; None if none does."""
        return next((n for n in range(1, len(self.classes)) if self._tells_order(n)), None)

    def _tells_order(self, number: int) -> bool:
        """Whether a companion is given numbers that grow from update to update."""
        sums = {update: self._sum(update.taken[number]) for update in self.updates}
        if any(
            update.taken[number] in self._live_in(update) for update, (_, n) in sums.items() if n
        ):
            return False
        counters = {counter for counter, _ in sums.values()}
        counter = next(iter(counters))
        if len(counters) != 1 or not isinstance(counter, Register) or counter.bits != 64:
            return False
        if any(more != self.ranks[update] for update, (_, more) in sums.items()):
            return False
        body = {i for b in self.loop.blocks for i in self.facts.blocks[b].instructions}
        registers = (counter, *self.classes[number])
        begins = [i for r in registers for i in self.facts.makers.get(r, ()) if i not in body]
        steps = [i for i in self.facts.makers.get(counter, ()) if i in body]
        header = list(self.facts.blocks[self.loop.header].instructions)
        if len(steps) != 1 or steps[0] not in header:
            return False
        before = header[: header.index(steps[0])]
        return (
            all(i.name == "mov" and _integer(i.operands[1]) == 0 for i in begins)
            and not any(counter in i.used() for i in before)
            and steps[0].operands[1] == counter
            and self._sum(counter, steps)[1] == self.steps
        )

    def _live_in(self, update: Replacement) -> frozenset[Register]:
        return self.facts.liveness.live_in(update.arm or update.label)

    def _sum(
        self, value: Operand, made: Sequence[Instruction] | None = None
    ) -> tuple[Operand, int | None]:
        """The register to which a number was added, and the number."""
        if made is None:
            made = self.facts.makers.get(value, ()) if isinstance(value, Register) else ()
        if len(made) == 1 and made[0].opcode == "add.s64" and made[0].guard is None:
            return made[0].operands[1], _integer(made[0].operands[2])
        return value, 0


def _integer(operand: Operand) -> int | None:
    return operand.integer if isinstance(operand, Immediate) else None
