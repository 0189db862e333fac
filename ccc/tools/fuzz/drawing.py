"""What all writers of random kernels draw: names, choices, values, conditions."""

from __future__ import annotations

from random import Random

from ccc.tools.fuzz.expressions import Scope, expression
from ccc.tools.fuzz.requests import MANY, request
from ccc.tools.fuzz.swarm import SwarmConfig
from ccc.tools.fuzz.tree import Expr


class Drawer:
    """Draws as one swarm configuration says; ``slot`` is where an iteration's outputs are."""

    def __init__(self, random: Random, swarm: SwarmConfig):
        self.random = random
        self.swarm = swarm
        self.names = 0
        self.slot = ""
        self.slot_names: tuple[str, ...] = ()

    def below(self, bound: int) -> int:
        """A number from 0 to ``bound`` - 1."""
        return self.random.randrange(bound)

    def chance(self, share: float) -> bool:
        """Whether something of that probability happens."""
        return self.random.random() < share

    def likes(self, thing: str, share: float) -> bool:
        """Whether something happens that a kernel may be fond of."""
        return self.random.random() < self.swarm.share(thing, share)

    def pick(self, usual: dict[str, float]) -> str:
        """One of several things, by their usual weights and the kernel's features."""
        weights = [self.swarm.weight(thing, weight) for thing, weight in usual.items()]
        at = self.random.random() * sum(weights)
        for thing, weight in zip(usual, weights, strict=True):
            at -= weight
            if at < 0:
                return thing
        return next(iter(usual))

    def fresh(self, prefix: str) -> str:
        """A new name."""
        self.names += 1
        return f"{prefix}{self.names}"

    def clauses(self, prob: float = 0.15, priority: float = 0.05) -> str:
        """Clauses of a path: what is known of it, and how it is to be served."""
        text = f" prob(1.0/{2 + self.below(8)})" if self.chance(prob) else ""
        text += f" priority({self.below(9)})" if self.chance(priority) else ""
        return text + self.asked(0.15)

    def asked(self, share: float) -> str:
        """A clause that asks for a strategy, or none."""
        number = self.below(MANY)
        return f" strategy({request(number)})" if self.likes("strategies", share) else ""

    def value(self, scope: Scope, kind: str) -> Expr:
        """An expression."""
        return expression(self.random, scope, kind, (0, 1, 1, 1, 2)[self.below(5)])

    def condition(self, scope: Scope) -> Expr:
        """A condition that some lanes of a warp meet and others do not."""
        share = 1 + self.below(7)
        text = f"(($0 ^ $1) * 2654435761u >> 29) < {share}u"
        mixed = Expr("b", f"({text})", (self._datum(scope), self.value(scope, "u")))
        if self.chance(0.25):
            joined = "($0 && $1)" if self.chance(0.5) else "($0 || $1)"
            return Expr("b", joined, (mixed, self.condition(scope)))
        return self.value(scope, "b") if self.chance(0.1) else mixed

    def _datum(self, scope: Scope) -> Expr:
        """A word of the input; mostly another one in each iteration."""
        if self.slot_names and self.chance(0.7):
            index = f"{self.slot_names[0]} * {1 + 2 * self.below(6)} + {self.below(99)}"
            return Expr("u", f"a[({index}) & 255]", names=self.slot_names)
        return Expr("u", "a[$0 & 255]", (self.value(scope, "u"),))
