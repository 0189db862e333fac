"""Names of architectures, as ``.target`` has them."""

from __future__ import annotations

import re


def capability(arch: str) -> int:
    """The compute capability times ten: 90 of ``sm_90`` or ``sm_90a``; 0 of anything else."""
    found = re.fullmatch(r"sm_(\d+)[af]?", arch)
    return int(found[1]) if found else 0
