"""PTX in which nothing is to be done: what it is instead of marked PTX."""

from __future__ import annotations

import re

from ccc.analysis.paths.reductions import OWN
from ccc.ir.markers import MARKER_PREFIX
from ccc.profile.data import COUNTERS

_DECLARED = re.compile(rf"^\t\.reg \.\w+ \t{re.escape(OWN)}\w*<\d+>;", re.MULTILINE)
"""How a function that was transformed declares its registers; in a user's assembly there may be
such names, too."""
NOTHING = "nothing is marked in this PTX"
INSTEAD = "cccc -ptx --ccc-mark-only makes marked PTX of annotated CUDA"


def why_not(ptx: str) -> str | None:
    """What PTX is that is not to be transformed, in words; None of marked PTX.

    >>> why_not("// ccc.loop 1 k.cu:3:1"), why_not("ret;")
    (None, 'nothing is marked in this PTX')
    """
    if f" {COUNTERS}[" in ptx:
        return "this PTX counts what it runs (--ccc-profile)"
    if _DECLARED.search(ptx):
        return "this PTX was transformed already"
    return None if MARKER_PREFIX in ptx else NOTHING
