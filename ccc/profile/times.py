"""Times of kernels: reading what a program compiled with ``--ccc-time=FILE`` wrote."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ccc.errors import CccError, Span

HOST_CODE = Path(__file__).with_name("timer.cuh")
"""What the sources of host programs include, so that these time their kernels."""
FORMAT = 1
"""Of the file."""


@dataclass(frozen=True, slots=True)
class KernelTime:
    """All launches of one kernel in a run.

    Attributes:
        launches: how many were timed.
        milliseconds: of these, together.
        untimed: how many went into graphs, which are not timed.
    """

    launches: int = 0
    milliseconds: float = 0.0
    untimed: int = 0

    def __add__(self, other: KernelTime) -> KernelTime:
        return KernelTime(
            self.launches + other.launches,
            self.milliseconds + other.milliseconds,
            self.untimed + other.untimed,
        )


@dataclass(frozen=True, slots=True)
class RunTimes:
    """The kernels of a run by their (mangled) names, and the card."""

    kernels: dict[str, KernelTime]
    card: str


def read_times(files: Iterable[str | Path]) -> RunTimes:
    """Read the files of a run; what several processes wrote is added up.

    Raises:
        CccError: one is no such file.
    """
    kernels: dict[str, KernelTime] = {}
    card = ""
    for file in files:
        try:
            content = json.loads(Path(file).read_text(encoding="utf-8"))
            if content["format"] != FORMAT:
                raise CccError(
                    f"its format is {content['format']}, not {FORMAT}: it is of another version",
                    Span(str(file)),
                )
            card = content["card"] or card
            for one in content["kernels"]:
                spent = KernelTime(one["launches"], one["milliseconds"], one["untimed"])
                kernels[one["name"]] = kernels.get(one["name"], KernelTime()) + spent
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CccError(
                "these are no times; a program compiled with cccc --ccc-time=FILE writes them",
                Span(str(file)),
            ) from error
    return RunTimes(kernels, card)
