"""Markers of annotated loops that nvcc unrolled, or that are left after one turn.

They fall into the loop around, of which they say nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccc.analysis.dominators import Loop
from ccc.ir.markers import Marker

if TYPE_CHECKING:
    from ccc.analysis.facts import Facts


def is_stray(facts: Facts, loop: Loop, marker: Marker) -> bool:
    """Whether the annotated loop is gone and its marker fell into the loop around it.

    The ``loop`` marker stands before the annotated loop: inside ``loop`` only if that is another.
    """
    return any(
        other.kind == "loop" and other.identifier == marker.identifier
        for label in loop.blocks
        for other in facts.blocks[label].markers
    )
