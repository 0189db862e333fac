"""Swarm testing: each random kernel has some features often and others never, so that a few hundred
kernels hold every combination.

A kernel made of a little of everything seldom has much of anything. So each is fond of three
features, which it has often, and averse to four, which it does not have at all (Groce et al.,
"Swarm Testing", ISSTA 2012). The first fondness goes round in the kernels' order; the others are
drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

SWARM_FEATURES = (
    "if", "else", "else if", "switch", "while", "for variable", "recursion", "inlined",
    "nested", "branches", "jumps", "refused", "guard", "barrier", "shared", "dynamic", "bins",
    "carried", "template", "array", "wide", "narrow", "returns", "several", "outer loop",
    "own slot", "reduction", "one task", "grid_stride", "noinline",
    "table", "alloca", "nodes", "handed", "fields", "out parameters", "addresses", "callee",
    "outside", "traversal", "steps", "time", "fetching", "exits", "symbols", "mutated", "waiting",
    "locks", "arms", "guards", "returning", "outer row", "system calls",
    "strategies", "lean", "sequel", "alike", "lists", "unmarked", "in a row",
)  # fmt: skip
"""All that a kernel may be fond of."""

NOT_YET: frozenset[str] = frozenset()
"""Things that this version of the compiler cannot do, so that no kernel has them."""

FOND = 5.0
"""How much more often a kernel does what it is fond of."""

MOST = 0.85
"""The highest probability of anything."""


@dataclass(frozen=True, slots=True)
class SwarmConfig:
    """The features that one kernel has often (``fond``), and those it never has (``averse``)."""

    fond: frozenset[str] = frozenset()
    averse: frozenset[str] = frozenset()

    def weight(self, thing: str, usual: float) -> float:
        """The weight of one of :data:`SWARM_FEATURES` among others."""
        if thing in NOT_YET or thing in self.averse:
            return 0.0
        return usual * FOND if thing in self.fond else usual

    def share(self, thing: str, usual: float) -> float:
        """The probability of one of :data:`SWARM_FEATURES` by itself."""
        return min(self.weight(thing, usual), max(usual, MOST))


def swarm_config(random: Random, index: int) -> SwarmConfig:
    """The configuration of the kernel of a number."""
    features = [feature for feature in SWARM_FEATURES if feature not in NOT_YET]
    drawn = random.sample(features, 6)
    fond = {features[index % len(features)], *drawn[:2]}
    return SwarmConfig(frozenset(fond), frozenset(drawn[2:]) - fond)
