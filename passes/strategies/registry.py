"""The strategies that there are; the command line, the fuzzer and the docs read their names here.

A new one gets a file beside this one, and a place in a list below.
"""

from __future__ import annotations

from collections.abc import Sequence

from ccc.errors import did_you_mean, nearest
from ccc.options import AUTO, COLLECT, Request
from ccc.passes.strategies.adaptive import ADAPTIVE
from ccc.passes.strategies.batch import BATCHES
from ccc.passes.strategies.bins import BINS, TURNS
from ccc.passes.strategies.cases import CASES
from ccc.passes.strategies.engage import ENGAGE, ENGAGE_BLOCK
from ccc.passes.strategies.leave import LEAVE
from ccc.passes.strategies.long_tasks import LONG_TASKS
from ccc.passes.strategies.merge import MERGE
from ccc.passes.strategies.pool import POOL
from ccc.passes.strategies.queue import QUEUE
from ccc.passes.strategies.strategy import LoopStrategy, PathStrategy, Strategy
from ccc.passes.strategies.sub_warp import LANES, SUB_WARPS
from ccc.passes.strategies.tile import ITERATIONS, TILES
from ccc.passes.strategies.uniform import UNIFORM
from ccc.ptx.types import WARP_SIZE

COLLECTING: tuple[LoopStrategy, ...] = (
    CASES,
    *BATCHES,
    QUEUE,
    MERGE,
    POOL,
    *BINS,
    *TILES,
    *ADAPTIVE,
)
"""What collects the tasks of a loop, from the one that is preferred on; ``auto`` takes one, but for
those that the policy takes only if they are asked for."""
SHARING: tuple[PathStrategy, ...] = (ENGAGE, ENGAGE_BLOCK, *SUB_WARPS, UNIFORM)
"""What is done with an inner loop where that is asked for, whatever serves the paths around it: all
its turns are shared out, or each lane keeps its own."""
STRATEGIES: tuple[Strategy, ...] = (LEAVE, *COLLECTING, *SHARING, LONG_TASKS)
"""All."""
COUNTER = "counter"
FLATTENING = ("flatten", "refill", COUNTER)
"""What :mod:`ccc.passes.flattening` does with inner loops."""
BEFORE = ("meld", *FLATTENING)
"""What passes of their own do before paths are collected. Nothing need be promised for that, and no
loop around need be annotated."""
NUMBERED: dict[str, Sequence[int]] = {
    "bins": TURNS,
    "tile": ITERATIONS,
    "adaptive": tuple(one.iterations for one in ADAPTIVE),
    "sub_warp": LANES,
    "refill": range(1, WARP_SIZE + 1),
    COUNTER: range(1, WARP_SIZE + 1),
}
"""The numbers that a name takes."""
MAY_LACK = ("adaptive",)
"""Those that can be asked for without: the policy chooses then."""
STRATEGY_NAMES: tuple[str, ...] = (
    AUTO,
    LEAVE.name,
    COLLECT,
    *dict.fromkeys(one.name.partition("(")[0] for one in (*COLLECTING, *SHARING)),
    *BEFORE,
)
"""What can be asked for; ``auto`` is the policy's choice, and ``collect`` leaves to it only how."""


def spellings() -> list[str]:
    """What can be asked for, each with the numbers that it takes."""
    found: list[str] = []
    for name in STRATEGY_NAMES:
        found += [name] if name not in NUMBERED or name in MAY_LACK else []
        found += [f"{name}({_numbers(name)})"] if name in NUMBERED else []
    return found


def read_request(text: str) -> Request:
    """Read the name of a strategy, with its number if it takes one.

    Raises:
        ValueError: there is none of that name, or the number is missing, or none that it takes.
    """
    request = Request.read(text)
    if request is None or request.name not in STRATEGY_NAMES:
        name = text.strip() if request is None else request.name
        near = did_you_mean(LEAVE.name) if name == "none" else nearest(name, STRATEGY_NAMES)
        near = near.removeprefix("; ")
        if name.partition(",")[0].strip() in STRATEGY_NAMES:
            near = "there is one only; name that which is to be tried"
        raise ValueError(near or f"it is {' or '.join(spellings())}")
    lacks = request.number is None
    if request.name not in NUMBERED:
        if not lacks:
            raise ValueError(f"{request.name} takes no number")
    elif request.number not in NUMBERED[request.name] and not (lacks and request.name in MAY_LACK):
        raise ValueError(f"{request.name} takes a number, {_numbers(request.name)}")
    return request


def _numbers(name: str) -> str:
    """The numbers that a name takes, as text: those of a range by its ends."""
    numbers = NUMBERED[name]
    if isinstance(numbers, range):
        return f"{numbers[0]}..{numbers[-1]}"
    return "|".join(map(str, numbers))
