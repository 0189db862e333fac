"""What a random kernel is fond of, so that a few hundred kernels hold every combination.

A kernel made of a little of everything seldom has much of anything. So each is fond of three
things, which it does often, and averse to four, which it does not do at all (Groce et al., "Swarm
Testing", ISSTA 2012). The first fondness goes round in the kernels' order; the others are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

THINGS = (
    "if", "else", "else if", "switch", "while", "for variable", "recursion", "inlined",
    "nested", "branches", "jumps", "refused", "guard", "barrier", "shared", "dynamic", "bins",
    "carried", "template", "array", "wide", "narrow", "returns", "several", "outer loop",
    "own slot", "reduction", "one task", "grid_stride", "noinline",
    "table", "alloca", "nodes", "handed", "fields", "out parameters", "addresses", "callee",
    "outside", "traversal", "steps", "time", "fetching", "exits", "symbols", "mutated", "waiting",
    "locks", "arms", "guards", "returning", "outer row", "system calls",
)  # fmt: skip
"""All that a kernel may be fond of."""

NOT_YET: frozenset[str] = frozenset()
"""Things that this version of the compiler cannot do, so that no kernel has them."""

FOND = 5.0
"""How much more often a kernel does what it is fond of."""

MOST = 0.85
"""The highest probability of anything."""


@dataclass(frozen=True, slots=True)
class Taste:
    """What one kernel does often, and what never."""

    fond: frozenset[str] = frozenset()
    averse: frozenset[str] = frozenset()

    def weight(self, thing: str, usual: float) -> float:
        """The weight of one of :data:`THINGS` among others."""
        if thing in NOT_YET or thing in self.averse:
            return 0.0
        return usual * FOND if thing in self.fond else usual

    def share(self, thing: str, usual: float) -> float:
        """The probability of one of :data:`THINGS` by itself."""
        return min(self.weight(thing, usual), max(usual, MOST))


def taste(random: Random, index: int) -> Taste:
    """The taste of the kernel of a number."""
    things = [thing for thing in THINGS if thing not in NOT_YET]
    drawn = random.sample(things, 6)
    fond = {things[index % len(things)], *drawn[:2]}
    return Taste(frozenset(fond), frozenset(drawn[2:]) - fond)
