"""Lanes that all want the same arm take it as it was.

Melded code takes longer than one arm alone. So the lanes that come there together ask whether they
agree, and if they do, they branch as they did. Which lanes are together is left to the hardware
(``activemask``): whoever they are, each of them comes to the ``match`` next, and both ways compute
the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from ccc.analysis.facts import Facts
from ccc.analysis.paths.locate import INNER_LOOPS
from ccc.ir.edit import Emitter
from ccc.ir.markers import ARMS
from ccc.ir.nodes import Block, Instruction
from ccc.ir.operands import Register
from ccc.passes.melding.arms import Branch
from ccc.snippet import Snippet

AGREE = Snippet(
    """
    .reg .pred %alike;
    .reg .b32 %here, %arm, %who;
        activemask.b32 %here;  // those that are together now
        match.all.sync.b32 %who|%alike, %arm, %here;
        @%alike bra ALIKE;
    """
)


def others_wait(branch: Branch, facts: Facts) -> bool:
    """Whether other paths of the function may be collected: no collective may be beside them."""
    own = {arm.path.entry for arm in branch.arms}
    return any(
        marker.kind in (*ARMS, *INNER_LOOPS)
        for label, block in facts.blocks.items()
        if label not in own
        for marker in block.markers
    )


def write_agreement(emit: Emitter, number: Register, ways: Sequence[Instruction]) -> None:
    """Send lanes whose arms have the same number the ways that they went."""
    function = emit.function
    alike = Block(function.fresh_label("alike"), list(ways), named=False)
    function.blocks.append(alike)
    AGREE.emit(emit, arm=number, ALIKE=alike.label)
    emit.start(function.fresh_label("melded"))
