"""Ways to meld the arms of a branch, and what each would take; the cheapest is chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import Refused
from ccc.ir.nodes import Guard
from ccc.ir.operands import Register
from ccc.passes.melding.alignment import Column, align_all
from ccc.passes.melding.arms import Branch, Step
from ccc.passes.melding.cost import slots
from ccc.passes.melding.dispatch import Dispatch
from ccc.passes.melding.pairing import Pairing, may_run_anywhere
from ccc.passes.melding.renaming import Renamed, RenamedArm, rename
from ccc.passes.melding.writing import Fresh, Line, Melded, Run, Writer
from ccc.passes.policy import (
    MELD_BRANCH,
    MELD_GAP,
    MELD_LINE,
    MELD_PARTING,
    MELD_STEPS,
    MELD_TABLE,
)

Known = Mapping[frozenset[int], Guard]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way: the arms, their columns, and the literals that go to a table, by their bytes.

    ``before`` are the issue slots of the arms one after the other, ``after`` those of the melded
    code, ``aligned`` how many of all ``instructions`` stand beside another.
    """

    arms: tuple[RenamedArm, ...]
    columns: Sequence[Column[Renamed]]
    in_table: frozenset[int]
    live: frozenset[Register]
    dispatch: Dispatch
    instructions: int
    aligned: int
    selections: int
    before: int
    after: int

    def write(self, fresh: Fresh, known: Known) -> Melded:
        """The code."""
        return Writer(self.arms, fresh, known, self.in_table).write(self.columns, self.live)


def choose(branch: Branch, facts: Facts) -> Candidate:
    """The way with the fewest issue slots.

    Raises:
        Refused: none has fewer than the arms have now.
    """
    arms = tuple(rename(arm, number, facts) for number, arm in enumerate(branch.arms))
    if max(len(arm.steps) for arm in arms) > MELD_STEPS:
        raise Refused(f"one of its arms has more than {MELD_STEPS} instructions")
    pairing = Pairing(arm.steps for arm in arms)
    columns = align_all([arm.steps for arm in arms], pairing.gain, MELD_GAP)
    live = facts.liveness.live_in(branch.join)
    dispatch = Dispatch(branch, facts)
    steps = [step for arm in branch.arms for step in arm.steps]
    before = sum(_length(step, facts) for step in steps) + MELD_PARTING * (len(arms) - 1)
    instructions = sum(len(step.instructions) for step in steps if not step.blocks)
    aligned = sum(n for column in columns if (n := sum(one is not None for one in column)) > 1)

    def candidate(in_table: frozenset[int]) -> Candidate:
        writer = Writer(arms, _stand_ins(), dispatch.tell(_ANY_NUMBER).known(), in_table)
        melded = writer.write(columns, live)
        after = _price(melded, facts) + dispatch.price
        return Candidate(
            arms, columns, in_table, live, dispatch, instructions, aligned, melded.selections,
            before, after,
        )  # fmt: skip

    best = min(map(candidate, MELD_TABLE), key=lambda one: one.after)
    if best.after >= best.before:
        raise Refused(
            f"{aligned} of {instructions} instructions of its arms align; melded they would take "
            f"{best.after} issue slots instead of {best.before}"
        )
    return best


_ANY_NUMBER = {"number": Register("%%arm", "b32")}


def _stand_ins() -> Fresh:
    """Registers that only stand for others while prices are compared."""
    numbers = count()
    return lambda kind, _name: Register(f"%%%{next(numbers)}", kind)


def _length(step: Step, facts: Facts) -> int:
    """The issue slots of a step; a loop counts as one turn."""
    body = [i for label in step.blocks for i in facts.blocks[label].instructions]
    return sum(map(slots, (*step.instructions, *body)))


def _price(melded: Melded, facts: Facts) -> int:
    """The issue slots of melded code."""
    price = sum(1 if len(arms) == 1 else 3 for arms in melded.predicates)
    price += (4 + MELD_LINE * len(melded.lines)) if melded.lines else 0
    for run in melded.runs:
        price += run_length(run)
        if run.piece is not None:
            price += _length(run.piece.step, facts)
        if stands_behind_a_branch(run):
            price += MELD_PARTING
    return price


def run_length(run: Run) -> int:
    """The issue slots of a run without its piece and its table."""
    return sum(slots(one) for one in run.statements if not isinstance(one, Line))


def stands_behind_a_branch(run: Run) -> bool:
    """Whether lanes of other arms go around a run."""
    if run.guard is None:
        return False
    if run.piece is not None:
        return True
    guarded = [
        one for one in run.statements if not isinstance(one, Line) and not may_run_anywhere(one)
    ]
    return run_length(run) >= MELD_BRANCH or any(one.guard is not None for one in guarded)
