"""What was counted of functions and of their annotated paths, as values that can be added up.

Counters come in pairs: of something that lanes do together, how often that was, and how many lanes
took part in all. An annotated function has one pair for what it issues outside its paths: warp
instructions, and the lanes active in them. A path has two: for how often it ran, and for what it
issues. Further pairs count how often warps came by where a path may be entered, how often inner
loops were begun, and calls.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ccc.errors import Span
from ccc.profile.match import Place

FUNCTION_COUNTERS = ("instructions", "thread_instructions")
PATH_COUNTERS = ("executions", "lanes", *FUNCTION_COUNTERS)
SHARED_COUNTERS = {
    "visits": "visiting_lanes",
    "entries": "entering_lanes",
    "starts": "starting_lanes",
}
"""Pairs that belong to a path, and perhaps to others, too."""
_SUMMED = (*PATH_COUNTERS, *SHARED_COUNTERS, *SHARED_COUNTERS.values(), "all_instructions")
_WARP = 32


def efficiency(instructions: int, thread_instructions: int) -> float:
    """Active lanes of an issued warp instruction, of 32; 1.0 when nothing was issued."""
    slots = _WARP * instructions
    return thread_instructions / slots if slots else 1.0


@dataclass(frozen=True, slots=True)
class PathProfile:
    """What was counted of one annotated path, that is of one place in the PTX.

    Attributes:
        file, line, column, directive, arm: which annotation, and which arm of it.
        function, statement: of the source: what the annotation stands in, and before; empty where
            the source was not read.
        applied: whether it was transformed; then the place is where the saved tasks run.
        case: of a case, its label and its line in the source, where the compiler knew them.
        in_line: how many cases stand before it, if it shares that line with others.
        executions: how often lanes entered it together; of an inner loop, how many turns they did.
        lanes: how many lanes took part in all executions.
        instructions: warp instructions issued in it, those in paths inside it not among them.
        thread_instructions: the lanes active in these.
        visits: how often lanes did an iteration together of the innermost loop around it; where
            there is none, a call of the function.
        visiting_lanes: how many took part in all of these.
        entries: how often lanes began it together, if it is an inner loop; else its executions.
        entering_lanes: how many took part in all of these.
        starts: how often lanes entered the annotated loop around it together; 0 where that was not
            counted.
        starting_lanes: how many took part in all of these.
        share: of the visits and starts that it has in common with copies of it, the part for which
            it stands where all are added up: one of four if its loop was unrolled by four.
        all_instructions: warp instructions of all executions, those in paths inside it among them,
            and those of what they call.
        counted: whether it is still a place of its own; a path that was left alone is not once a
            path around it was transformed, and its instructions are among that one's.
    """

    file: str
    line: int
    column: int
    directive: str
    arm: str
    applied: bool
    function: str = ""
    statement: str = ""
    case: str = ""
    in_line: int = 0
    executions: int = 0
    lanes: int = 0
    instructions: int = 0
    thread_instructions: int = 0
    visits: int = 0
    visiting_lanes: int = 0
    entries: int = 0
    entering_lanes: int = 0
    starts: int = 0
    starting_lanes: int = 0
    all_instructions: float = 0
    share: float = 1.0
    counted: bool = True

    @property
    def place(self) -> Place:
        """Where the annotation stands."""
        span = Span(self.file, self.line, self.column)
        return Place.at(span, self.directive, self.function, self.statement)

    @property
    def lanes_per_execution(self) -> float:
        """How many lanes entered together, on average; 32 where none ever did."""
        return self.lanes / self.executions if self.executions else float(_WARP)

    @property
    def warp_execution_efficiency(self) -> float:
        """Active lanes of an issued warp instruction, of 32; 1.0 when nothing was issued."""
        return efficiency(self.instructions, self.thread_instructions)

    @property
    def length(self) -> float:
        """Warp instructions of an execution, on average, all that it comes to among them."""
        return self.all_instructions / self.executions if self.executions else 0.0


@dataclass(frozen=True, slots=True)
class KernelProfile:
    """What was counted of one function with annotations, or of one that such a function calls.

    Attributes:
        name: mangled, as in the PTX.
        kind: ``entry`` for a kernel, ``func`` for a device function that nvcc did not inline.
        calls: the functions it may call, itself or through others, that are counted too.
        instructions: warp instructions issued in its body, paths among it, callees not.
        thread_instructions: the lanes active in these; a lane that a guard switches off is not.
        paths: in the order of the report.
    """

    name: str
    kind: str
    calls: tuple[str, ...]
    instructions: int
    thread_instructions: int
    paths: tuple[PathProfile, ...]

    @property
    def warp_execution_efficiency(self) -> float:
        """Active lanes of an issued warp instruction, of 32; 1.0 when nothing was issued."""
        return efficiency(self.instructions, self.thread_instructions)


def add(paths: Iterable[PathProfile]) -> PathProfile:
    """What was counted of several paths with one annotation, such as instances of a template."""
    mine = list(paths)
    return replace(mine[0], **{name: sum(getattr(path, name) for path in mine) for name in _SUMMED})


def add_copies(paths: Iterable[PathProfile]) -> PathProfile:
    """The same of copies in one function as well, which may have visits in common."""
    mine = list(paths)
    around = ("visits", "starts")
    names = [name for one in around for name in (one, SHARED_COUNTERS[one])]
    shared = {name: round(sum(one.share * getattr(one, name) for one in mine)) for name in names}
    return replace(add(mine), **shared)
