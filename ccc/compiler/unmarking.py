"""PTX of which some markers are taken out, where that is as good as compiling without them."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from ccc.analysis.facts import Facts
from ccc.analysis.idle_markers import all_idle
from ccc.errors import CccError
from ccc.ir.comparisons import separate_comparisons
from ccc.ir.markers import ARMS, LOOPS, UNROLLS
from ccc.ir.nodes import Function, FunctionText
from ccc.parse import parse_function, parse_module
from ccc.ptx.directives import NO_UNROLL

_OWN = " ".join(f"{clause}={value}" for clause, value in UNROLLS.items())
_KEPT_ROLLED = re.compile(
    rf"^[ \t]*{re.escape(NO_UNROLL)}\n((?:[ \t]*//[^\n]*\n)*?"
    rf"[ \t]*// ccc\.(?:{'|'.join(LOOPS)}) (?![^\n]* {_OWN}\b)[^\n]*\n)",
    re.MULTILINE,
)
"""What keeps a loop from being unrolled for the sake of its annotation alone."""


@lru_cache(maxsize=1)
def without_markers(ptx: str, left: frozenset[int]) -> str | None:
    """PTX without the markers of some annotations.

    None if these may have changed the code, so that the compiler has to be asked.
    """
    marker = _markers(left)
    try:
        marked = [one for one in parse_module(ptx).functions if marker.search(one.text)]
        if any(kind not in ARMS for one in marked for kind in marker.findall(one.text)):
            return None  # which is seen before anything is read
        functions = map(_read, marked)
        return taken_out(ptx, left) if all(all_idle(Facts(f), left) for f in functions) else None
    except CccError:  # that it cannot be read is told elsewhere
        return None


def _read(piece: FunctionText) -> Function:
    function = parse_function(piece)
    separate_comparisons(function)
    return function


def taken_out(ptx: str, left: Collection[int]) -> str:
    """PTX without the markers of some annotations, whatever these have changed."""
    return _markers(left).sub("", ptx)


def free_to_unroll(function: str) -> str:
    """The text of a function of which nothing is transformed, where ptxas may unroll its annotated
    loops as it may those of the source: other copies of their annotations are applied."""
    return _KEPT_ROLLED.sub(r"\1", function)


def _markers(left: Collection[int]) -> re.Pattern[str]:
    """The lines of the markers of some annotations; the group is the kind."""
    numbers = "|".join(map(str, sorted(left)))
    return re.compile(rf"^[ \t]*// ccc\.(\w+) (?:{numbers}) [^\n]*\n", re.MULTILINE)
