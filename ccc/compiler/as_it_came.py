"""What is told of annotations by what became of others, where these came to something else in the
end: a file may be compiled several times, and what is told first is kept.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from ccc.analysis.paths.locate import those_on
from ccc.compiler.said import Remarks
from ccc.errors import Span
from ccc.passes.choice.chosen import REMOVE
from ccc.passes.flattening.flattening import (
    AROUND_FLATTENED,
    HOLDS_FLATTENED,
    IN_FLATTENED,
    IN_ITSELF,
)
from ccc.remark import Remark

SERVES_WITHOUT = "remove this annotation: {} serves without it"
_SERVES_WITHOUT = re.compile(SERVES_WITHOUT.replace("{}", "(that on line .*)"))
_BY_FLATTENED = re.compile(
    rf"\b(?:{'|'.join((HOLDS_FLATTENED, AROUND_FLATTENED, IN_FLATTENED))}) "
    r"\((?:that|for the loop) on line (\d+)\)"
)
_IN_ANOTHER = re.compile(rf"{IN_ITSELF} \(that on line (\d+)\)")


def as_it_came(remarks: Remarks) -> Remarks:
    """The remarks, none of which speaks of what serves without it, and does not after all, or of a
    loop that was flattened, and lies after all in another one that was."""

    def told(one: Remark, serving: Collection[Span]) -> Remark:
        found = _SERVES_WITHOUT.search(one.advice or "")
        if found is None or found[1] in {those_on([place], one.position) for place in serving}:
            return one
        return replace(one, advice=_SERVES_WITHOUT.sub(REMOVE, one.advice or ""))

    applied = {
        name: {one.position for one in mine if one.applied} for name, mine in remarks.items()
    }
    every = {name: [told(one, applied[name]) for one in mine] for name, mine in remarks.items()}
    return {name: [_by_flattened(one, mine) for one in mine] for name, mine in every.items()}


def _by_flattened(remark: Remark, beside: Iterable[Remark]) -> Remark:
    """A remark that speaks of a loop that was flattened, where that lies in another one that was in
    the end: then the annotated loop of both holds that."""
    found = ((one, _IN_ANOTHER.search(one.reason or one.advice or "")) for one in beside)
    around = {str(one.position.line): outer[1] for one, outer in found if outer}

    def told(match: re.Match[str]) -> str:
        outer = around.get(match[1])
        return f"{HOLDS_FLATTENED} (that on line {outer})" if outer else match[0]

    texts = (remark.reason, remark.advice)
    reason, advice = (text and _BY_FLATTENED.sub(told, text) for text in texts)
    return replace(remark, reason=reason, advice=advice)
