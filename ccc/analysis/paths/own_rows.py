"""Memory of each task's own that turns change: several turns of a task may do so at once.

    #pragma ccc for variable
    for (int e = row[v]; e < end; ++e)
        h[v * 4 + kind[e]] += w[e];       // ld.global.f32 %f1, [%rd7]; add...; st.global.f32 [%rd7]

In the original code one turn follows another. Where they are shared out among lanes, two that read
the same key do this at the same time, and one change is lost. By the promise turns come to
different places. Where the address is made from what all turns of the task have and from what the
turn reads, or from what is seen to come again in other turns, users are told, as of columns of
threads; and where each turn writes what a later one reads, ``y[e + 1] = y[e] + w[e]``. So they are
where a path inside is collected, whose tasks are of several turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.callee_accesses import is_access
from ccc.analysis.paths.coming_again import comes_again, is_of_rows, is_read_later
from ccc.analysis.paths.model import CheckedPath, at, instructions_of
from ccc.analysis.paths.own_columns import (
    LOCKS,
    MOST_UPDATES,
    OWN_COLUMNS,
    address_makers,
    changes_at,
    made_of_others,
    rings,
)
from ccc.analysis.paths.same_places import same_places
from ccc.analysis.polled import roots
from ccc.ir.nodes import Instruction
from ccc.ptx.opcodes import ATOMICS, LOADS
from ccc.ptx.types import LANE, SPECIAL_REGISTERS

OF_ALL_TURNS = "what all turns of a task have"


def own_rows(path: CheckedPath, facts: Facts) -> str | None:
    """What is to be said of such memory, if there is any.

    Args:
        path: the path, which is a loop whose turns are independent, or lies in one.
        facts: the function's analyses.
    """
    loop = _of_turns(path, facts)
    if loop is None:
        return None
    region = list(instructions_of(path.region & loop.blocks, facts))
    if any(one.name in ATOMICS and not LOCKS.isdisjoint(one.modifiers) for one in region):
        return None
    writes = [one for one in region if one.name == "st" and is_access(one, facts)]
    if not writes:
        return None
    every = instructions_of(loop.blocks, facts)
    loads = [i for i in every if i.name == "ld" and is_access(i, facts)]
    met_by = same_places(path.loop.loop.blocks, facts).met_by
    updates = [one for one in writes if met_by(one, loads)]
    others = rings([one for one in writes if one not in updates], loads, facts)
    beside = [w for w, reads in others if any(_own(one, path, loop, facts) for one in reads)]
    for store in [*updates, *beside][:MOST_UPDATES]:
        if made := _own(store, path, loop, facts):
            way_out = _in_order(path)
            in_order = made_of_others(store, loads, {roots(store, facts)}, path, facts)
            if store in updates and not in_order:
                atomic = "use an atomic operation where two of them may come to one place"
                way_out = f"{atomic}, or {way_out}"
            return (
                f"{changes_at(store, OF_ALL_TURNS, made)}, and turns of one task may run at the "
                f"same time; {way_out}"
            )
    return _recurrence(writes, loads, path, loop, facts)


def _recurrence(
    writes: Sequence[Instruction],
    loads: Sequence[Instruction],
    path: CheckedPath,
    loop: Loop,
    facts: Facts,
) -> str | None:
    """What is to be said where each turn writes what a later one reads."""
    of_turns = replace(path, loop=replace(path.loop, loop=loop))
    met_by = same_places(path.loop.loop.blocks, facts).met_by
    always = [
        one
        for one in writes
        if one.guard is None
        and all(facts.dominators.dominates(facts.homes[one], latch) for latch in loop.latches)
    ]
    pairs = [(store, one) for store, reads in rings(always, loads, facts) for one in reads]
    for store, read in pairs[:MOST_UPDATES]:
        if not met_by(store, [read]) and is_read_later(store, read, of_turns, facts):
            return (
                f"it {OWN_COLUMNS} what counts its turns{at(store)}, and a later one reads there"
                f"{at(read)}; {_in_order(path)}"
            )
    return None


def _in_order(path: CheckedPath) -> str:
    around = "" if path.repeats else " around it"
    return f'mark the loop{around} "ccc while", whose turns may depend on one another'


def _of_turns(path: CheckedPath, facts: Facts) -> Loop | None:
    """The loop of which turns may run at the same time."""
    if path.marker.kind == "variable":
        return next(loop for loop in facts.loops if loop.header == path.entry)
    around = path.parent
    while around is not None and not around.repeats:
        around = around.parent
    if around is None or around.marker.kind != "variable" or path.carries_parent:
        return None
    return path.turn


def _own(access: Instruction, path: CheckedPath, loop: Loop, facts: Facts) -> str | None:
    """What an address is made from besides what is the same in all turns of a task, and not in
    those of others: what is read, or what comes again."""
    inside = set(instructions_of(loop.blocks, facts))
    iteration = set(instructions_of(path.loop.loop.blocks, facts)) - inside
    computed, given, counts = address_makers(access, loop, facts)
    mine = [maker for maker in given if maker.space != "param"]
    is_read = any(maker in inside and maker.name in LOADS for maker in mine)
    is_of_lane = any(
        SPECIAL_REGISTERS[one.name].varies == LANE for maker in computed for one in maker.specials()
    )
    is_of_task = is_of_lane or not iteration.isdisjoint(mine)
    of_turns = replace(path, loop=replace(path.loop, loop=loop))
    if not is_of_task or (counts and not comes_again(access, of_turns, facts)):
        return None
    if is_read:
        return None if is_of_rows(access, of_turns, facts) else "what is read"
    return "what comes again in other turns" if counts else None
