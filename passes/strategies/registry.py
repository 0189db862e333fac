"""The strategies that there are; the command line, the fuzzer and the docs read their names here.

A new one gets a file beside this one, and a place in a list below.
"""

from __future__ import annotations

from ccc.passes.policy import AUTO
from ccc.passes.strategies.batch import BATCHES
from ccc.passes.strategies.cases import CASES
from ccc.passes.strategies.engage import ENGAGE
from ccc.passes.strategies.leave import LEAVE
from ccc.passes.strategies.merge import MERGE
from ccc.passes.strategies.queue import QUEUE
from ccc.passes.strategies.strategy import LoopStrategy, Strategy

COLLECTING: tuple[LoopStrategy, ...] = (CASES, *BATCHES, QUEUE, MERGE)
"""What collects the tasks of a loop, from the one that is preferred on."""
STRATEGIES: tuple[Strategy, ...] = (LEAVE, *COLLECTING, ENGAGE)
"""All."""
STRATEGY_NAMES: tuple[str, ...] = (AUTO, *(strategy.name for strategy in COLLECTING))
"""What can be asked for; ``auto`` is the policy's choice."""
