"""What programs in Python are told of their kernels: warnings, which Python shows once."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from typing import Any

from ccc.remark import STACK_THREADS, Report

_LOCATED = re.compile(r"(.+?):(\d+):(?:\d+:)? warning: (.*)", re.DOTALL)
_shown: dict[Any, Any] = {}  # Python's note of the warnings it has shown


class CccWarning(UserWarning):
    """An annotation was not followed; the code is as the compiler alone makes it."""


def warn(diagnostics: Iterable[str]) -> None:
    """Warn of what a compiler said, where that was."""
    for diagnostic in diagnostics:
        found = _LOCATED.match(diagnostic)
        file, line, message = found.groups() if found else ("<ccc>", 1, diagnostic)
        warnings.warn_explicit(message, CccWarning, file, int(line), registry=_shown)


def largest_block(report: Report) -> int | None:
    """Of how many threads a block of a kernel may be at most, if larger ones run its loops as they
    were; by the kernel's entry of the report."""
    return min((p[STACK_THREADS] for p in report["paths"] if STACK_THREADS in p), default=None)


def warn_of_large_block(name: str, threads: int, most: int) -> None:
    """Warn whoever launched a kernel that its loops run as they were."""
    warnings.warn(
        f"{name}: there are stacks of tasks for blocks of up to {most} threads, and in one of "
        f"{threads} annotated loops run as they were; say how large blocks are, by "
        f"__launch_bounds__({threads}) or the option --ccc-max-block={threads}",
        CccWarning,
        stacklevel=3,
    )
