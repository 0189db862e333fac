"""Inner loops whose lanes can be let go apart: each begins the next iteration around it by itself.

What a lane does stays as it was, and in its order: nothing need be known of memory, and nothing is
promised. Only, lanes wait for others now that may be in another iteration. So nobody may wait for
them there in a way of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from ccc.analysis.callees import called
from ccc.analysis.convergence import ReconvergencePoint, find_reconvergence
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.held_locks import may_end
from ccc.analysis.paths.legality import end_of_thread
from ccc.analysis.paths.locate import NO_LOOP
from ccc.analysis.paths.model import FoundPath, LeftPath, Refused, at, instructions_of
from ccc.analysis.spinning import Spin
from ccc.analysis.stray_markers import is_stray
from ccc.ptx.opcodes import Effect

SAY_INDEPENDENT = 'mark that loop "ccc for", if its iterations are independent'
KINDS = ("while", "variable")
"""The markers of inner loops that it can be."""


@dataclass(frozen=True, eq=False)
class Nest:
    """A loop and the one around it, whose members can be counted at ``reconvergence``."""

    inner: Loop
    outer: Loop
    reconvergence: ReconvergencePoint


COUNTED_TOO = (
    'let a counter end the loop, too, as in "t++ < 1000 && ...", with more than it ever turns'
)
"""What serves where lanes seem to wait that follow a list, say, which no pointer tells of."""


def find_nest(path: FoundPath, facts: Facts) -> Nest:
    """An annotated inner loop, and the innermost one around it.

    Raises:
        Refused: its lanes cannot be let go apart; the reason says why.
    """
    if path.marker.kind not in KINDS:
        raise Refused('it is no inner loop, marked "ccc while" or "ccc for variable"')
    if isinstance(path, LeftPath):
        raise Refused(path.reason)
    if facts.unknown is not None:
        raise Refused(f"the opcode {facts.unknown.opcode} is not known to ccc{at(facts.unknown)}")
    if not facts.is_reducible:
        raise Refused("the kernel jumps into the middle of a loop")
    inner = next((loop for loop in facts.loops if loop.header == path.entry), None)
    if inner is None:
        raise Refused(NO_LOOP)
    outer = next((loop for loop in facts.loops if inner.blocks < loop.blocks), None)
    if outer is None:
        raise Refused(
            "no loop is left around it whose next iteration a lane could begin; if each thread has "
            'one item, mark the kernel "#pragma ccc grid_stride"; or if the loop around it runs '
            "once at most, remove the annotation"
        )
    _check_outer(outer, facts)
    if facts.divergence.divergent_branches.isdisjoint(outer.blocks):
        raise Refused("all lanes of a warp go the same way in it, so there is nothing to fill")
    reconvergence = find_reconvergence(facts, outer)
    if isinstance(reconvergence, str):
        raise Refused(reconvergence)
    return Nest(inner, outer, reconvergence)


def _is_annotated(loop: Loop, facts: Facts) -> bool:
    """Whether it is said of a loop that its iterations wait for nobody."""
    markers = [marker for label in loop.blocks for marker in facts.blocks[label].markers]
    return any(one.kind == "for" and not is_stray(facts, loop, one) for one in markers)


def _is_ended_within(outer: Loop, spin: Spin, facts: Facts) -> bool:
    """Whether a loop does, elsewhere, what ends a wait in it, so that who waits would give up more
    often where others are in other iterations."""
    others = instructions_of(outer.blocks - spin.blocks, facts)
    return any(may_end(spin, one, facts) for one in others)


def _check_outer(outer: Loop, facts: Facts) -> None:
    """That nobody waits in a loop for lanes that may be in another iteration then.

    Raises:
        Refused: with the reason.
    """
    for instruction in instructions_of(outer.blocks, facts):
        if instruction.effects & (Effect.BARRIER | Effect.COLLECTIVE):
            raise Refused(
                f"lanes meet in the loop around it{at(instruction)}, where some would be in other "
                "iterations than the others"
            )
        if facts.callees.waits(instruction):
            raise Refused(
                f"the loop around it calls {called(instruction)}, which is not known to be free of "
                f"barriers and warp-collectives{at(instruction)}"
            )
        if facts.callees.allocates(instruction):
            raise Refused(
                f"the loop around it calls {called(instruction)}, which allocates on the thread's "
                f"stack{at(instruction)}; declare an array there, or let the caller hand one over"
            )
    exits = outer.exits(facts.graph)
    if not exits:
        raise Refused("the loop around it never ends")
    if (end := end_of_thread(exits, facts)) is not None:
        raise Refused(f"the loop around it ends the thread, by a guarded exit or return{at(end)}")
    for spin in facts.spins:
        if spin.blocks.isdisjoint(outer.blocks):
            continue
        if spin.gives_up and not _is_ended_within(outer, spin, facts):
            continue
        is_outer = spin.counts and spin.blocks == outer.blocks
        if not (is_outer and _is_annotated(outer, facts)):
            promise = f", or {SAY_INDEPENDENT}" if is_outer else ""
            raise Refused(
                f"lanes may wait for one another in the loop around it{at(spin.poll)}, for which "
                "those would have to go on that wait for them; "
                f"{spin.way_out(facts) or COUNTED_TOO}{promise}"
            )
