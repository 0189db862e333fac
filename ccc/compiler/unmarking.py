"""PTX of which some markers are taken out, where that is as good as compiling without them."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from ccc.analysis.facts import Facts
from ccc.analysis.idle_markers import all_idle
from ccc.errors import CccError
from ccc.ir.comparisons import separate_comparisons
from ccc.ir.markers import ARMS
from ccc.ir.nodes import Function, FunctionText
from ccc.parse import parse_function, parse_module


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


def _markers(left: Collection[int]) -> re.Pattern[str]:
    """The lines of the markers of some annotations; the group is the kind."""
    numbers = "|".join(map(str, sorted(left)))
    return re.compile(rf"^[ \t]*// ccc\.(\w+) (?:{numbers}) [^\n]*\n", re.MULTILINE)
