"""PTX of which some markers are taken out, where that is as good as compiling without them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from ccc.analysis.facts import Facts
from ccc.analysis.idle_markers import all_idle
from ccc.analysis.rolled import kept_rolled
from ccc.errors import CccError
from ccc.parse import parse_function, parse_module
from ccc.ptx.directives import NO_UNROLL


def without_markers(ptx: str, left: Collection[int], wrapping: Collection[int] = ()) -> str | None:
    """PTX without the markers of some annotations.

    Args:
        ptx: with markers.
        left: the annotations, by ``id``.
        wrapping: the annotated loops, by ``id``, whose counters may begin anew.

    Returns:
        None if the markers may have changed the code, so that the compiler has to be asked.
    """
    try:
        every = list(_marked(ptx, left))
        return taken_out(ptx, left) if all(all_idle(one, left, wrapping) for one in every) else None
    except CccError:  # that it cannot be read is told elsewhere
        return None


def taken_out(ptx: str, left: Collection[int]) -> str:
    """PTX without the markers of some annotations, and without what keeps their loops from being
    unrolled, whatever these have changed.

    Raises:
        CccError: it cannot be read.
    """
    for facts in _marked(ptx, left):
        for header in kept_rolled(facts, left):
            kept = re.escape(header)
            ptx = re.sub(rf"^({kept}:\n)[ \t]*{re.escape(NO_UNROLL)}\n", r"\1", ptx, flags=re.M)
    return _markers(left).sub("", ptx)


def _marked(ptx: str, left: Collection[int]) -> Iterator[Facts]:
    """Of the functions with such markers."""
    marker = _markers(left)
    marked = (one for one in parse_module(ptx).functions if marker.search(one.text))
    return (Facts(parse_function(one)) for one in marked)


def _markers(left: Collection[int]) -> re.Pattern[str]:
    """The lines of the markers of some annotations; the group is the kind."""
    numbers = "|".join(map(str, sorted(left)))
    return re.compile(rf"^[ \t]*// ccc\.(\w+) (?:{numbers}) [^\n]*\n", re.MULTILINE)
