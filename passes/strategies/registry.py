"""The strategies that there are; the command line, the fuzzer and the docs read their names here.

A new one gets a file beside this one, and a place in a list below.
"""

from __future__ import annotations

from collections.abc import Sequence

from ccc.errors import nearest
from ccc.options import AUTO, COLLECT, Request
from ccc.passes.strategies.batch import BATCHES
from ccc.passes.strategies.cases import CASES
from ccc.passes.strategies.engage import ENGAGE
from ccc.passes.strategies.leave import LEAVE
from ccc.passes.strategies.long_tasks import LONG_TASKS
from ccc.passes.strategies.merge import MERGE
from ccc.passes.strategies.queue import QUEUE
from ccc.passes.strategies.strategy import LoopStrategy, PathStrategy, Strategy
from ccc.passes.strategies.sub_warp import LANES, SUB_WARPS
from ccc.ptx.types import WARP_SIZE

COLLECTING: tuple[LoopStrategy, ...] = (CASES, *BATCHES, QUEUE, MERGE)
"""What collects the tasks of a loop, from the one that is preferred on; ``auto`` takes one."""
SHARING: tuple[PathStrategy, ...] = (ENGAGE, *SUB_WARPS)
"""What shares out all turns of an inner loop where that is asked for, whatever serves the paths
around it."""
STRATEGIES: tuple[Strategy, ...] = (LEAVE, *COLLECTING, *SHARING, LONG_TASKS)
"""All."""
FLATTENING = ("flatten", "refill")
"""What :mod:`ccc.passes.flattening` does with inner loops."""
BEFORE = ("meld", *FLATTENING)
"""What passes of their own do before paths are collected. Nothing need be promised for that, and no
loop around need be annotated."""
NUMBERED: dict[str, Sequence[int]] = {"sub_warp": LANES, "refill": range(1, WARP_SIZE + 1)}
"""The numbers that a name takes."""
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
    return [f"{name}({_numbers(name)})" if name in NUMBERED else name for name in STRATEGY_NAMES]


def read_request(text: str) -> Request:
    """Read the name of a strategy, with its number if it takes one.

    Raises:
        ValueError: there is none of that name, or the number is missing, or none that it takes.
    """
    request = Request.read(text)
    if request is None or request.name not in STRATEGY_NAMES:
        name = text.strip() if request is None else request.name
        raise ValueError(f"it is {' or '.join(spellings())}{nearest(name, STRATEGY_NAMES)}")
    if request.name not in NUMBERED:
        if request.number is not None:
            raise ValueError(f"{request.name} takes no number")
    elif request.number not in NUMBERED[request.name]:
        raise ValueError(f"{request.name} takes a number, {_numbers(request.name)}")
    return request


def _numbers(name: str) -> str:
    """The numbers that a name takes, as text: those of a range by its ends."""
    numbers = NUMBERED[name]
    if isinstance(numbers, range):
        return f"{numbers[0]}..{numbers[-1]}"
    return "|".join(map(str, numbers))
