"""Ways to meld the arms of a branch, and what each would take; the cheapest is chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import Refused
from ccc.ir.nodes import Guard
from ccc.ir.operands import Register
from ccc.passes.melding.agreement import others_wait
from ccc.passes.melding.alignment import Column, align_all
from ccc.passes.melding.arms import Branch, Step
from ccc.passes.melding.cost import around, slots
from ccc.passes.melding.dispatch import Dispatch
from ccc.passes.melding.pairing import Pairing, may_run_anywhere
from ccc.passes.melding.renaming import Renamed, RenamedArm, rename
from ccc.passes.melding.writing import Fresh, Line, Melded, Stretch, Writer
from ccc.passes.thresholds import (
    MELD_AGREE,
    MELD_BRANCH,
    MELD_ENTRY,
    MELD_GAP,
    MELD_PARTING,
    MELD_SHARES,
    MELD_STEPS,
)

Known = Mapping[frozenset[int], Guard]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way: the arms, their columns, and the share of literals that a table holds.

    ``before`` are the issue slots of the arms one after the other, ``after`` those of the melded
    code, ``aligned`` how many of all ``instructions`` stand beside another. Where it
    ``keeps_arms``, lanes that agree take theirs as it was.
    """

    arms: tuple[RenamedArm, ...]
    columns: Sequence[Column[Renamed]]
    share: float
    live: frozenset[Register]
    dispatch: Dispatch
    aligned: int
    before: int
    after: int = 0
    selections: int = 0
    keeps_arms: bool = False

    @property
    def instructions(self) -> int:
        """How many the arms have, as far as they can be aligned."""
        return sum(not step.step.blocks for arm in self.arms for step in arm.steps)

    def with_share(self, share: float, facts: Facts, rest: int) -> Candidate:
        """The same with another share, and what it takes; ``rest`` are the issue slots around."""
        one = replace(self, share=share)
        melded = one.write(_stand_ins(), self.dispatch.tell(_ANY_NUMBER).known())
        issued = _price(melded, facts) + self.dispatch.price
        fetched = MELD_ENTRY * sum(len(line.values) for line in melded.lines) - rest
        return replace(one, after=max(issued, fetched), selections=melded.selections)

    def write(self, fresh: Fresh, known: Known) -> Melded:
        """The code."""
        return Writer(self.arms, fresh, known, self.share).write(self.columns, self.live)


def choose(branch: Branch, facts: Facts) -> Candidate:
    """The way with the fewest issue slots.

    Raises:
        Refused: none has fewer than the arms have now.
    """
    arms = tuple(rename(arm, number, facts) for number, arm in enumerate(branch.arms))
    if sum(len(arm.steps) for arm in arms) > MELD_STEPS:
        raise Refused(f"its arms have more than {MELD_STEPS} instructions")
    pairing = Pairing(arm.steps for arm in arms)
    columns = align_all([arm.steps for arm in arms], pairing.gain, MELD_GAP)
    dispatch = Dispatch(branch, facts)
    lengths = [sum(_length(step, facts) for step in arm.steps) for arm in branch.arms]
    before = sum(lengths) + MELD_PARTING * (len(arms) - 1) + dispatch.length
    aligned = sum(n for column in columns if (n := sum(one is not None for one in column)) > 1)
    live = facts.liveness.live_in(branch.join)
    first = Candidate(arms, columns, 0.0, live, dispatch, aligned, before)
    rest = around(branch, facts)
    best = min((first.with_share(share, facts, rest) for share in MELD_SHARES), key=_slots)
    if not aligned:
        raise Refused("no instruction of one of its arms is in another, too")
    if best.after >= best.before:
        raise Refused(
            f"melded, its arms would take {best.after} issue slots instead of {best.before}, as "
            f"{aligned} of {best.instructions} of their instructions align"
        )
    loss = best.after - min(lengths)
    keeps = dispatch.is_straight and loss >= MELD_AGREE and not others_wait(branch, facts)
    return replace(best, keeps_arms=keeps)


def _slots(candidate: Candidate) -> int:
    return candidate.after


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
    price += (4 + len(melded.lines)) if melded.lines else 0
    for run in melded.runs:
        price += run_length(run)
        if run.piece is not None:
            price += _length(run.piece.step, facts)
        if stands_behind_a_branch(run):
            price += MELD_PARTING
    return price


def run_length(run: Stretch) -> int:
    """The issue slots of a run without its piece and its table."""
    return sum(slots(one) for one in run.statements if not isinstance(one, Line))


def stands_behind_a_branch(run: Stretch) -> bool:
    """Whether lanes of other arms go around a run."""
    if run.guard is None:
        return False
    if run.piece is not None:
        return True
    guarded = [
        one for one in run.statements if not isinstance(one, Line) and not may_run_anywhere(one)
    ]
    return run_length(run) >= MELD_BRANCH or any(one.guard is not None for one in guarded)
