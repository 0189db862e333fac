"""To which page and part a sample belongs: programs, patterns, studies, or nested patterns."""

from __future__ import annotations

from collections.abc import Iterable

from ccc.tools.bench import sensitivity
from ccc.tools.bench.results import Entry

PATTERNS = "patterns"
"""The folder of short kernels in the shapes that users write; no means are taken of them."""

NESTED = "nested"
"""The folder of those that were made for Collaborative Task Engagement, on a page of their own."""


def patterns(entries: Iterable[Entry]) -> list[Entry]:
    """Those of samples in the folder ``PATTERNS``."""
    return [entry for entry in entries if entry.sample.startswith(f"{PATTERNS}/")]


def programs(entries: Iterable[Entry]) -> list[Entry]:
    """Those of samples that are neither patterns, nested ones or others, nor made for a study."""
    others = (sensitivity.SAMPLE, PATTERNS, NESTED)
    return [entry for entry in entries if entry.sample.partition("/")[0] not in others]
