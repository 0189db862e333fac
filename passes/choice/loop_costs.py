"""What an annotated loop may cost: as is expected, and otherwise, where nobody has told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ccc.analysis.constant_trip_count import trip_count
from ccc.analysis.likeness import likely_taken_together, turns_likely_agree
from ccc.analysis.paths.model import AnnotatedLoop, Path
from ccc.passes.choice.cost_model import LoopCost
from ccc.passes.choice.lanes import Lanes, expected_lanes
from ccc.passes.choice.work import SHORT, SHORT_LOOPS, guesses
from ccc.passes.thresholds import UNKNOWN_TURNS
from ccc.pipeline import Kernel


@dataclass(frozen=True, slots=True)
class LoopCosts:
    """The cases that are weighed.

    Args:
        expected: what is expected.
        worst: the same, with the worst case where nothing is known of the lanes.
        short: as is expected, if paths are as short as what nobody has told lets them be.
        short_at_worst: the same with nobody waiting for memory, which would hide what it takes.
        worst_if_short: loops in paths are short, with the worst case of lanes.
    """

    expected: LoopCost
    worst: LoopCost
    short: LoopCost
    short_at_worst: LoopCost
    worst_if_short: LoopCost

    @property
    def every(self) -> tuple[LoopCost, ...]:
        """All cases."""
        cases = (self.expected, self.worst, self.short, self.short_at_worst, self.worst_if_short)
        return tuple(dict.fromkeys(cases))

    @staticmethod
    def of(loop: AnnotatedLoop, paths: Sequence[Path], kernel: Kernel) -> LoopCosts:
        """Those of some paths of a loop."""
        facts = kernel.facts
        every = Counter(path.marker.identifier for path in paths)

        def worst(path: Path, around: Lanes) -> Lanes:
            return Lanes.worst(path, around, max(1, every[path.marker.identifier]))

        def usual(path: Path, around: Lanes) -> Lanes:
            if path.repeats or not likely_taken_together(
                path.entry, path.turn, facts, within_bounds=True
            ):
                return Lanes.usual(path, around)
            return Lanes.alike(path, around, max(1, every[path.marker.identifier]))

        def turns(path: Path) -> int | None:
            own = next(loop for loop in facts.loops if loop.header == path.entry)
            constant = trip_count(own, facts)
            agree = constant is None and turns_likely_agree(own, facts)
            return UNKNOWN_TURNS if agree else constant

        # Registers are weighed with what is expected: the worst case tells what lanes may cost.
        lanes = expected_lanes(paths, kernel.known, usual, turns)
        lanes_at_worst = expected_lanes(paths, kernel.known, worst, turns)
        expected = short = short_at_worst = LoopCost(loop, paths, lanes, kernel)
        if any(guesses(one.blocks, facts, one.entry * one.repeats) for one in paths):
            short = LoopCost(loop, paths, lanes, kernel, unknown=SHORT)
            short_at_worst = LoopCost(loop, paths, lanes, kernel, True, SHORT)
        at_worst = worst_if_short = LoopCost(loop, paths, lanes_at_worst, kernel, is_worst=True)
        if short is not expected:
            worst_if_short = LoopCost(loop, paths, lanes_at_worst, kernel, True, SHORT_LOOPS)
        return LoopCosts(expected, at_worst, short, short_at_worst, worst_if_short)
