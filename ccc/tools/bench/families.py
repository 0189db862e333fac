"""To which part of the page a sample belongs: programs, patterns, or the studies of sensitivity."""

from __future__ import annotations

from collections.abc import Iterable

from ccc.tools.bench import sensitivity
from ccc.tools.bench.results import Entry

PATTERNS = "patterns"
"""The folder of short kernels in the shapes that users write; no means are taken of them."""


def patterns(entries: Iterable[Entry]) -> list[Entry]:
    """Those of samples in the folder ``PATTERNS``."""
    return [entry for entry in entries if entry.sample.startswith(f"{PATTERNS}/")]


def programs(entries: Iterable[Entry]) -> list[Entry]:
    """Those of samples that are neither patterns nor made for a study."""
    others = (sensitivity.SAMPLE, PATTERNS)
    return [entry for entry in entries if entry.sample.partition("/")[0] not in others]
