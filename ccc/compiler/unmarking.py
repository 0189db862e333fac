"""PTX of which some markers are taken out, where that is as good as compiling without them."""

from __future__ import annotations

import re
from collections.abc import Collection

from ccc.analysis.facts import Facts
from ccc.analysis.idle_markers import all_idle
from ccc.errors import CccError
from ccc.parse import parse_function, parse_module


def without_markers(ptx: str, left: Collection[int]) -> str | None:
    """PTX without the markers of some annotations.

    None if these may have changed the code, so that the compiler has to be asked.
    """
    numbers = "|".join(map(str, sorted(left)))
    marker = re.compile(rf"^[ \t]*// ccc\.\w+ (?:{numbers}) [^\n]*\n", re.MULTILINE)
    try:
        module = parse_module(ptx)
        for piece in module.functions:
            if marker.search(piece.text):
                if not all_idle(Facts(parse_function(piece)), left):
                    return None
                piece.text = marker.sub("", piece.text)
    except CccError:  # that it cannot be read is told elsewhere
        return None
    return module.text
