"""What a user asks for, from the command line to the passes."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass

_VARIABLE = "CCC_OPTIONS"

AUTO = "auto"
"""Asks for what the cost model expects to be fastest, which may be to leave the code as it is."""
COLLECT = "collect"
"""Asks for a strategy wherever one applies, whatever is to be gained."""

KEEPING = ("tile",)
"""Strategies in which the rest of an iteration stays with its lane, whatever tasks do: they serve
paths that no other one can."""

_REQUEST = re.compile(r"\s*(\w+)\s*(?:\(\s*(\d+)\s*\)|:(\d+))?\s*", re.ASCII)
_BYTES = re.compile(r"(\d+) ?(?:(k)b?)?", re.ASCII | re.IGNORECASE)


def read_bytes(text: str) -> int:
    """Read a number of bytes, or of KB.

    >>> read_bytes("65536"), read_bytes("64K"), read_bytes("64KB")
    (65536, 65536, 65536)

    Raises:
        ValueError: it is none.
    """
    match = _BYTES.fullmatch(text)
    if match is None:
        raise ValueError("a number of bytes is wanted, or of KB, such as 64K")
    return int(match[1]) * (1024 if match[2] else 1)


@dataclass(frozen=True, slots=True)
class Request:
    """A strategy that is asked for, with its number if it takes one.

    ``insists`` is whether an annotation asks for it, and not only the option for all of them: then
    it is to be said where it does not apply.
    """

    name: str
    number: int | None = None
    insists: bool = False

    @staticmethod
    def read(text: str, insists: bool = False) -> Request | None:
        """Read ``queue``, ``sub_warp(16)`` or, where a shell reads along, ``sub_warp:16``.

        None if the text has another shape.

        >>> str(Request.read("sub_warp:16"))
        'sub_warp(16)'
        """
        match = _REQUEST.fullmatch(text)
        if match is None:
            return None
        number = match[2] or match[3]
        return Request(match[1], int(number) if number else None, insists)

    def is_met_by(self, strategy: str | None) -> bool:
        """Whether a strategy is what is asked for; without a number it may have any.

        >>> Request("adaptive").is_met_by("adaptive(3)"), Request("tile", 3).is_met_by("tile(5)")
        (True, False)
        """
        found = Request.read(strategy or "")
        return found is not None and found.name == self.name and self.number in (None, found.number)

    def __str__(self) -> str:
        return self.name if self.number is None else f"{self.name}({self.number})"


@dataclass(frozen=True, slots=True)
class Options:
    """Everything that can be asked for; one object, handed on whole.

    Flags, keyword arguments and golden files all come to one of these. From a command to what nvcc
    starts it travels in one environment variable.
    """

    off: bool = False
    """Run no pass: the code is what the compiler alone makes of it."""

    mark_only: bool = False
    """Leave the markers in the PTX, and transform nothing."""

    strict: bool = False
    """An annotation that is not followed is an error."""

    measure: bool = False
    """Have ptxas tell how many registers kernels take before and after, for the report."""

    max_block: int | None = None
    """The most threads that a block will have, if the kernel does not say; None: not known."""

    max_registers: int | None = None
    """The most registers that ptxas will be let give a thread, as by nvcc's ``-maxrregcount``;
    None: as many as it likes."""

    dynamic_shared: int | None = None
    """The most bytes of dynamic shared memory that a launch asks for, where a kernel uses any.

    None: not known. Such kernels are left alone then: with the stack they might have more than a
    launch gets."""

    callee_shared: int | None = None
    """The most bytes of static shared memory that functions take which a kernel calls and its file
    does not show; None: not known, and kernels that call such are left alone."""

    shared_limit: int | None = None
    """The most bytes of shared memory that a block may get; None: what each gets, 48 KB.

    More than that is dynamic: launches must add what the PTX says (``ccc/ptx/dynamic_stack.py``),
    and allow it."""

    multiprocessors: int | None = None
    """How many the device has; None: kernels ask the device."""

    strategy: str = AUTO
    """What is done with paths where it applies, and whose annotation asks for nothing else: a name
    that the registry of strategies has, with its number where it takes one; ``auto``: what the
    policy chooses."""

    profile: str | None = None
    """Make the original code count what it runs, for a profile in the file of this name."""

    profile_transformed: bool = False
    """Make that the transformed code."""

    use: tuple[str, ...] = ()
    """Files of profiles of the original, by which the policy may choose."""

    decisions: str | None = None
    """A file with the strategies that ``ccc tune`` found best; what it says of an annotation goes
    before ``strategy``, and a clause before that."""

    alternatives: bool = False
    """Have the report tell which strategies apply to each annotation."""

    time: str | None = None
    """Have host programs time their kernels, and write that to the file of this name."""

    print_after: tuple[str, ...] = ()
    """The passes after which the PTX is printed."""

    folder: str | None = None
    """Where each device pass leaves what it has to say; None: it speaks on stderr itself."""

    @property
    def plain(self) -> bool:
        """Whether the code is what the compiler alone makes of it, annotations ignored."""
        return self.off and not self.profile and not self.time

    @property
    def transforms(self) -> bool:
        """Whether any pass is to be run."""
        return not self.off and (not self.profile or self.profile_transformed)

    def environment(self) -> dict[str, str]:
        """The variable that carries these options."""
        return {_VARIABLE: json.dumps(asdict(self))}

    @staticmethod
    def received() -> Options:
        """The options of the surrounding command, or the default ones."""
        values = json.loads(os.environ.get(_VARIABLE, "{}"))
        for name in ("print_after", "use"):
            values[name] = tuple(values.get(name, ()))
        return Options(**values)
