"""Behind a loop that a pass puts an atomic operation into, lanes of a warp meet again (no pass).

Into a loop in which lanes look at what an atomic operation brings, ptxas puts a YIELD, so that one
that spins does not keep up the others for ever. It lets lanes go that wait where the ways join (at
a BSYNC): those who did not come to the loop go on, and the warp stays in parts until the next
barrier. ptxas takes it to be together, though, and keeps in one uniform register what the parts
need two of: of a loop behind, in which lanes fetch 500 tasks by an atomic addition, 512 were run
(ptxas 13.0, -O1 to -O3, H200, 2026-11-24; that the warp was in parts told ``activemask``). The
original had no such operation in the first loop. So where a pass puts one in, those who were
counted at a branch before the loop meet where its ways join:

        @%p bra $JOINED;                      // counted: those who go on to the loop
        <the loop>
    JOINED:
        bar.warp.sync -1;
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ccc.analysis.callees import waits_elsewhere
from ccc.analysis.convergence import find_join
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.errors import Span
from ccc.ir.edit import Emitter, retarget
from ccc.ir.nodes import Block, Function, Instruction
from ccc.passes.context_collection.members import CountedBranch
from ccc.ptx.barriers import is_of_block
from ccc.snippet import Snippet

MEET = Snippet("""
    .reg .b32 %counted;
        bar.warp.sync %counted;
""")
"""Where the ways of a branch join, of which some lead to the loop."""


def rejoin(
    function: Function,
    facts: Facts,
    loop: Loop,
    branches: Sequence[CountedBranch],
    old: Collection[str],
    span: Span,
) -> None:
    """Have the lanes that were counted at ``branches`` meet behind a loop, if that is called for.

    ``facts`` are those of the function before the loop was rewritten, ``old`` the labels that it
    had; all ways are explicit jumps.
    """
    new = (block for block in function.blocks if block.label not in old)
    put_in = (one for block in new for one in block.instructions if facts.is_of_pass(one))
    if not any(instruction.name == "atom" for instruction in put_in):
        return
    met: set[str] = set()
    guards = [(branch.label, branch.towards) for branch in branches]
    for number, branch in enumerate(branches):
        join = find_join(facts, guards[number:], loop)
        if join is None or join in met:
            continue
        met.add(join)
        first = next(facts.blocks[join].instructions, None)
        if first is None or first.name == "ret" or _is_meeting(first, branch, facts):
            continue
        block = Block(function.fresh_label("joined"), named=False)
        ways = facts.before_joining(branch.label)
        for way in function.blocks:
            if way.label in ways or way.label not in old:
                retarget(function, way, join, block.label)
        emit = Emitter(function, block, span)
        MEET.emit(emit, counted=branch.among)
        emit.emit("bra", join)
        function.blocks.append(block)


def _is_meeting(instruction: Instruction, branch: CountedBranch, facts: Facts) -> bool:
    """Whether those who come to a branch meet there already: at an aligned barrier of the block, or
    where they do behind another loop."""
    if facts.is_of_pass(instruction):
        told = [str(operand) for operand in instruction.operands]
        return waits_elsewhere(instruction) and told == [str(branch.among)]
    name, modifiers = instruction.name, instruction.modifiers
    return (
        instruction.guard is None
        and is_of_block(name, modifiers)
        and not waits_elsewhere(instruction)
    )
