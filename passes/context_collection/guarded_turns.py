"""Turns in one piece, which a lane may not have (no pass; short lists use it).

A turn is run under a flag: without it nothing is loaded, and what goes from turn to turn stays.
Turns in a row then need no branch, and what they load is under way at the same time. All else is
computed in any case, since nobody asks for it. A part that the turn skips has a flag of its own.

    before: ld %x, [%p];           after: mov %x, 0;
            setp %skips, %x, 7;           @%has ld %x, [%p];
            @%skips bra ON;               setp %skips, %x, 7;
            ld %x, [%q];                  %runs = not %skips and %has;
        ON: add %sum, %sum, %x;           @%runs ld %x, [%q];
                                          @%has add %sum, %sum, %x;
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ccc.analysis.paths.fetches import has_side_effect
from ccc.ir.edit import Emitter, substitute
from ccc.ir.nodes import Block, Guard, Instruction
from ccc.ir.operands import Register
from ccc.snippet import Snippet

RUNS = Snippet("""
    .reg .pred %skips, %runs;
        mov.pred %runs, %skips;
""")
"""Who branches to what is behind the next branch runs this part of a turn,"""

RUNS_ON = Snippet("""
    .reg .pred %skips, %runs;
        not.pred %runs, %skips;
""")
"""or who does not;"""

RUNS_WITHIN = Snippet("""
    .reg .pred %runs, %within;
        and.pred %runs, %runs, %within;
""")
"""of those that run what is around it."""


class GuardedTurns:
    """Copies of a turn under flags.

    Args:
        turn: its blocks, in the order in which control goes through them.
        stay: what goes from turn to turn, or is needed behind the last one.
    """

    def __init__(self, turn: Sequence[Block], stay: Collection[Register]) -> None:
        self.turn, self.stay = turn, frozenset(stay)
        self.ends: dict[str, tuple[Guard, str]] = {}
        self.possible = self._only_loads() and self._only_skips()

    def _only_loads(self) -> bool:
        """Whether it does nothing but load and compute, under no flag of its own."""
        plain = [i for block in self.turn for i in block.instructions if not i.is_terminator]
        return not any(one.guard or has_side_effect(one) for one in plain)

    def _only_skips(self) -> bool:
        """Whether its blocks, but for the last, go on or skip some, one such part in another."""
        labels = [block.label for block in self.turn]
        around = [labels[-1]]
        for block, following in zip(self.turn, labels[1:], strict=False):
            while around[-1] == block.label:
                around.pop()
            *skips, last = [one for one in block.instructions if one.is_terminator]
            if last.guard or last.target != following or len(skips) > 1:
                return False
            for one in skips:
                end = one.target
                if end not in labels[labels.index(following) + 1 : labels.index(around[-1]) + 1]:
                    return False
                assert one.guard is not None
                self.ends[block.label] = one.guard, end
                around.append(end)
        return True

    def emit(self, emit: Emitter, flag: Register | None) -> None:
        """Emit one of which lanes without the flag have nothing."""
        around: list[tuple[str, Register | None]] = [("", flag)]
        for block in self.turn:
            while around[-1][0] == block.label:
                around.pop()
            runs = around[-1][1]
            for one in block.instructions:
                if not one.is_terminator:
                    self._emit(emit, one, runs, len(around) > 1)
            if block.label in self.ends:
                guard, end = self.ends[block.label]
                around.append((end, self._inner(emit, guard, runs)))

    def _emit(self, emit: Emitter, one: Instruction, runs: Register | None, inside: bool) -> None:
        """Emit one instruction, under a flag if it does something that may not be done without."""
        copy = substitute(one, {}, {})
        # In a turn that a lane does not have an address is no good. What defines nothing brings
        # near what is loaded later.
        loads = one.loads or not one.defined()
        stays = inside or not self.stay.isdisjoint(one.defined())
        if runs and (stays or loads):
            if not stays:  # what was loaded in another turn is not needed
                emit.clear(set(one.defined()).difference(one.used()))
            copy.guard = Guard(runs)
        emit.block.statements.append(copy)

    def _inner(self, emit: Emitter, skips: Guard, runs: Register | None) -> Register:
        """Who runs a part that others skip."""
        which = RUNS if skips.negated else RUNS_ON
        inner = which.emit(emit, skips=skips.register)["runs"]
        if runs:
            RUNS_WITHIN.emit(emit, runs=inner, within=runs)
        return inner
