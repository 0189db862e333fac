"""Values of a path that the next iteration needs: why that is so, and how to do without.

With them it cannot be collected.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain
from typing import NoReturn

from ccc.analysis.callees import called
from ccc.analysis.cfg import EXIT
from ccc.analysis.companion_search import Misfit, find_companions, find_misfit
from ccc.analysis.facts import Facts
from ccc.analysis.fields import are_one_place
from ccc.analysis.memory import EVERY_SPACE
from ccc.analysis.paths.locate import WHOLE, needs_no_tasks
from ccc.analysis.paths.model import CheckedPath, PlacedPath, Refused, at, instructions_of
from ccc.analysis.paths.own_memory import flows_out
from ccc.analysis.paths.promises import find_promise
from ccc.analysis.paths.reductions import (
    NARROW,
    declared_operations,
    declared_variables,
    find_sum,
    flushes,
    named_in,
)
from ccc.analysis.paths.wanted_operations import (
    beginning_wanted,
    clauses_wanted,
    nan_taker,
    operation_of,
    put_first,
)
from ccc.analysis.polled import roots
from ccc.analysis.slicing import Region, slice_region
from ccc.ir.markers import Marker
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Address, Register
from ccc.ptx.opcodes import LOADS, PLAIN_ACCESSES, Effect
from ccc.ptx.operations import EXTREMES

REDUCTION_HINT = "if the loop only adds it up, say so on the loop: reduction(+: variable)"

REMOVE_THIS = "remove this annotation"
LEAVE_TO_LOOP = (
    f"{REMOVE_THIS}, so that the loop around it may be collected with all that lies in it"
)
"""Of what its turns hand on."""
BY_ATOMIC = ", or update the value in memory by an atomic"
"""What serves of an update that there is an atomic operation for."""

DEPENDENT = "iterations that need what others write are not independent"

REMOVE = f"{DEPENDENT}: remove the annotation"
READ_BEFORE = "read it before the path"
IF_LATE = (
    "if it may be seen an iteration late, as what tells others to end, read it before the path; "
    "else "
)
"""Of what is set to one value."""

ASKED_BY = ", by which the branch is taken: as it is, remove the annotation"
"""Of a comparison with what all iterations before have found."""
KEEP_OUT = "; keep that out of the loop, or remove the annotation"
"""Of what a loop does with the variable of a reduction beside its updates."""

READ_WHERE_SET = (
    ", which reads memory where that is set; set an index there in its place, and read by that "
    "behind the loop"
)
"""Of what goes with a minimum: nvcc reads there, wherever the source does."""
TO_READ_BEHIND = (
    ", and in place of what is read where that is set{} set an index, to read by that behind it"
)
"""The same of what would be one by a clause, for the place."""

SET_IN_LOOP = "declare the variable in the loop, or give it a value there"
UNINITIALISED = f"it may be uninitialised: {SET_IN_LOOP}"

AS_WHILE = 'mark that loop "ccc while"'

TOO_NARROW = "one of less than 32 bits may have to be an int"


class HandedOn(Refused):
    """The next turn of a loop needs a value of the path, which tasks could take along."""


class Needed(Refused):
    """The next iteration, or the code after the loop, needs a value of the path."""


def refuse_value_of_path(
    path: CheckedPath,
    culprit: Instruction,
    needed: Sequence[Instruction],
    reads: Sequence[Instruction],
    facts: Facts,
    is_too_much: Callable[[Sequence[Instruction]], bool],
) -> NoReturn:
    """The next iteration would need what the path computes by itself.

    ``is_too_much`` tells whether a lane cannot make what it needs of the path.

    Raises:
        Refused: always; how to do without depends on what it is.
    """
    maker = _maker(culprit, needed, path, facts, is_too_much)
    culprit = maker if culprit.is_terminator else culprit
    if path.turn is not path.loop.loop:
        _refuse_value_of_turn(path, maker, needed, facts)
    by_clause = _reduced(maker, path, facts)  # then no lane needs to read that
    if not by_clause and (hint := _read_again_hint(path, culprit, reads, facts)):
        raise Refused(
            "the next iteration needs a value that is read in the path, which may have written it"
            f"{at(culprit)}{hint}"
        )
    if (leaving := _way_out(path, culprit, facts)) is not None:
        raise Refused(
            "the annotated loop may be left behind the path, by what that computes"
            f"{at(leaving)}; skip the rest of the iteration instead of leaving the loop there, or "
            "decide before the path whether to go on"
        )
    unset = _unset_hint(path, facts)
    told, hint = unset or (
        (setter := _updater(path, maker, culprit, facts)),
        reduction_hint(path, facts, setter),
    )
    raise Needed(
        "the next iteration, or the code after the loop, needs a value that the path computes"
        f"{at(told)}; {hint}"
    )


def _refuse_value_of_turn(
    path: CheckedPath, maker: Instruction, needed: Sequence[Instruction], facts: Facts
) -> NoReturn:
    """The same of the next turn of a loop in the iteration."""
    go_there = _way_by_its_loop(path, maker, facts)
    likely = needed if maker.is_terminator else [maker]
    if read := _read_in_each_turn(likely, path, facts):
        raise Refused(
            "the next turn of the loop around it, or what follows that loop, needs a value "
            f"that is read in the path{at(read)}; if the path leaves that as it is, read it "
            f"into a variable before that loop; else {go_there}{LEAVE_TO_LOOP}"
        )
    own = ""
    if path.parent is not None and declared_operations(path.parent.marker):
        own = (
            'the reduction of that "ccc for variable" serves only updates that stand outside '
            "of what is annotated in it; "
        )
    raise HandedOn(
        "the next turn of the loop around it, or what follows that loop, needs a value that "
        f"the path computes{at(maker)}; {own}{go_there}{LEAVE_TO_LOOP}{BY_ATOMIC}"
    )


def _way_by_its_loop(path: CheckedPath, maker: Instruction, facts: Facts) -> str:
    """What could be asked for of the ``ccc for variable`` around a path, if it has one, where
    something makes a value for its next turn."""
    if path.parent is None or path.parent.marker.kind != "variable":
        return ""
    if needs_no_tasks(path.turn, path.loop.loop, facts):
        by = operation_of(maker, path.turn, facts)
        return f"{WHOLE}, with a reduction of that value by {by}; or " if by else ""
    if path.parent.keeps_first or path.parent.parent is not None:  # no tasks are taken along
        return ""
    kind = "loop" if path.repeats else "branch"
    return (
        f"{as_while(path.parent.marker)}, so that this {kind} can be collected in it, which "
        "gains only where lanes need different numbers of its turns; or "
    )


def as_while(marker: Marker) -> str:
    """How to mark a loop otherwise that may have reductions, which that kind has not."""
    return AS_WHILE + ", without the reduction" * bool(declared_operations(marker))


def _maker(
    culprit: Instruction,
    needed: Sequence[Instruction],
    path: CheckedPath,
    facts: Facts,
    is_too_much: Callable[[Sequence[Instruction]], bool],
) -> Instruction:
    """What makes the value in the end, of what is needed of the path: it stands in the line that
    sets the variable, and what it is made from need not. If there are several, what no reduction
    would be of, if the lane cannot make that, and else a floating-point one, since of that a
    reduction has to be told, and a sum rather than what is read beside it."""
    handed = _live_behind(path, facts)
    made = [one for one in needed if not handed.isdisjoint(one.defined())]
    # What the rest of the iteration needs, too, may be made on the way to it.
    carried = handed & facts.liveness.live_in(path.turn.header)
    made = [one for one in made if not carried.isdisjoint(one.defined())] or made
    sums = [one for one in made if _reduced(one, path, facts)]
    others = [one for one in made if one not in sums and one.name != "ld"]
    if sums and others:
        made = others if is_too_much(_needed_beside(sums, path, facts)) else sums
    floating = [one for one in made if one.types[-1:] in (("f32",), ("f64",))]
    told = (floating or made or [culprit])[-1]
    return sums[-1] if told.name == "ld" and sums else told


def _needed_beside(
    sums: Iterable[Instruction], path: CheckedPath, facts: Facts
) -> list[Instruction]:
    """What the next iteration would need of a path if reductions were of some sums."""
    webs = frozenset[Register]().union(
        *(one.registers for one in path.loop.accumulators),
        *(_reduced(one, path, facts) for one in sums),
    )
    needed = slice_region(
        Region(path.region, facts.graph), facts.blocks, facts.reaching_within(path.region), [],
        lambda sink: facts.liveness.live_in(sink) - webs, decide_sinks=True,
    )  # fmt: skip
    return [i for i in instructions_of(path.blocks, facts) if i in needed.instructions]


def _reduced(maker: Instruction, path: CheckedPath, facts: Facts) -> frozenset[Register]:
    """The registers that a reduction would be of, of which one is made, with those that go with
    them: the annotated loop does nothing with them but to add to them, or the like. Empty if it
    does more."""
    loop, made = path.loop.loop, set(maker.defined())
    sums = (find_sum(one, loop, facts) for one in maker.defined())
    if web := next(filter(None, sums), None):
        return web.registers
    for carried in sorted(facts.liveness.live_in(loop.header), key=by_name):
        group = find_companions(carried, loop, facts)
        registers = frozenset[Register]().union(*group.classes) if group else frozenset[Register]()
        if not made.isdisjoint(registers):
            return registers
    return frozenset()


def _live_behind(path: CheckedPath, facts: Facts) -> frozenset[Register]:
    """What some way out of the path needs."""
    graph = facts.graph
    behind = {to for label in path.blocks for to in graph.successors(label)} - path.blocks - {EXIT}
    return frozenset[Register]().union(*map(facts.liveness.live_in, behind))


def _read_in_each_turn(
    needed: Iterable[Instruction], path: CheckedPath, facts: Facts
) -> Instruction | None:
    """What reads for later turns, and the same place in all of those of the loop around a path, as
    nvcc does with a bound that the path asks for, too."""
    made = {r for one in instructions_of(path.turn.blocks, facts) for r in one.defined()}
    handed = _live_behind(path, facts)
    reads = (one for one in needed if one.name == "ld" and not handed.isdisjoint(one.defined()))
    return next((one for one in reads if made.isdisjoint(_bases(one))), None)


def _updater(
    path: CheckedPath, maker: Instruction, culprit: Instruction, facts: Facts
) -> Instruction:
    """What sets what the next iteration begins with, by what ``culprit`` makes: the ``maker`` in
    the path, or else what does in the rest of the iteration, where the variable is set then."""
    region, reaching = Region(path.region, facts.graph), facts.reaching_within(path.region)
    kept = frozenset[Register]().union(*(a.registers for a in path.loop.accumulators))
    carried = facts.liveness.live_in(path.turn.header) - kept
    if not carried.isdisjoint(maker.defined()):
        return maker
    behind = (block for block in facts.function.blocks if block.label in path.rest)
    for instruction in chain.from_iterable(block.instructions for block in behind):
        if carried.isdisjoint(instruction.defined()):
            continue
        needed = slice_region(
            region, facts.blocks, reaching, [instruction], lambda _: frozenset(), decide_sinks=False
        )
        if culprit in needed.instructions:
            return instruction
    return maker


def _way_out(path: CheckedPath, culprit: Instruction, facts: Facts) -> Instruction | None:
    """The first branch out of the loop in the rest of the iteration that an instruction decides;
    but for that at its end, which asks what the next iteration needs all the same."""
    region, reaching = Region(path.region, facts.graph), facts.reaching_within(path.region)
    leaving = (
        block.terminator
        for block in facts.function.blocks
        if block.label in path.rest.difference(path.turn.latches)
        and not path.turn.blocks.issuperset(facts.graph.successors(block.label))
    )
    for branch in filter(None, leaving):
        needed = slice_region(
            region, facts.blocks, reaching, [branch], lambda _: frozenset(), decide_sinks=False
        )
        if culprit in needed.instructions:
            return branch
    return None


def _read_again_hint(
    path: CheckedPath, culprit: Instruction, reads: Sequence[Instruction], facts: Facts
) -> str:
    """What to do about a value that is read in the path since that may have written it: where the
    path is not taken, what was read before it serves. Empty if it is none."""
    others = (one for to in culprit.defined() for one in facts.makers.get(to, ()))
    writes = facts.memory.conflict(instructions_of(path.blocks, facts), [culprit])
    is_again = culprit.name == "ld" and writes and any(one is not culprit for one in others)
    return writer_hint(path, culprit, reads, facts) if is_again else ""


def writer_hint(
    path: CheckedPath, read: Instruction, reads: Sequence[Instruction], facts: Facts
) -> str:
    """What may write what is read, of the path or of what goes with it, and what to do about it,
    and about other ``reads`` for the next iteration."""
    mine = roots(read, facts)

    def may_be_another(one: Instruction) -> bool:
        return not mine or one.name not in PLAIN_ACCESSES or roots(one, facts) != mine

    def likely(one: Instruction) -> tuple[bool, bool]:
        return not _may_be_one(one, read, facts), may_be_another(one)

    def conflict(labels: Iterable[str]) -> tuple[Instruction, Instruction] | None:
        likely_first = sorted(instructions_of(labels, facts), key=likely)
        return facts.memory.find_conflict(likely_first, [read])

    clash, who = conflict(path.blocks), "the path"
    if clash and (same := _writer_of_it(path, read, facts)):
        late = IF_LATE * _sets_flag(same, facts)
        return f", and the iteration writes it{at(same)}; {late}{REMOVE}"
    if clash is None:
        clash, who = conflict(path.rest), "what follows the path"
    if clash is None:
        return f"; {READ_BEFORE}" if read.space != "param" else ""
    if clash[0].effects & Effect.CALL:
        callee = called(clash[0])
        return (
            f", and {who} calls {callee}, which may write it; if it does not, read it "
            f"before the path; else {REMOVE}"
        )
    webs = frozenset[Register]().union(*(a.registers for a in path.loop.accumulators))
    promise = None
    # What may be the thread's own memory is not read twice, whatever is promised.
    if all(one.space in EVERY_SPACE for one in reads) or not hands_on(path, webs, facts):
        promise = find_promise(instructions_of(path.region, facts), reads, facts)
    declared = facts.memory.apart.restricting([read, *reads]) if may_be_another(clash[0]) else ""
    way_out = (
        f"{READ_BEFORE}"
        f"{f', or {declared}' if declared else ''}"
        f"{f', or promise {promise}' if promise else ''}"
    )
    if _may_be_one(clash[0], read, facts):
        way_out = f"if that is never the same place, {way_out}; else {REMOVE}"
    return f", and {who} writes{at(clash[0])}; {way_out}"


def _writer_of_it(path: CheckedPath, read: Instruction, facts: Facts) -> Instruction | None:
    """What writes to the same address for certain, in the path or, where that is the same in all
    iterations, as that of a variable in memory, anywhere in one: earlier it is something else."""
    writers = _written(path.loop.loop.blocks, facts)
    if same := next((one for one in writers if are_one_place(one, read, facts)), None):
        return same
    mine, bases = _addresses(read), _bases(read)
    if not mine or any(len(facts.makers.get(base, ())) > 1 for base in bases):
        return None
    loop = path.loop.loop.blocks
    made = (i for i in instructions_of(loop, facts) if not bases.isdisjoint(i.defined()))
    where = path.blocks if next(made, None) else loop
    return next((one for one in _written(where, facts) if _addresses(one) == mine), None)


def _written(labels: Iterable[str], facts: Facts) -> list[Instruction]:
    """What may write in some blocks: of those that order accesses no volatile load does."""
    ordering = facts.memory.writers(instructions_of(labels, facts))
    return [one for one in ordering if one.name not in LOADS]


def _sets_flag(writer: Instruction, facts: Facts) -> bool:
    """Whether something writes nothing but one value, whatever was there."""
    is_swap = writer.name == "atom" and "exch" in writer.modifiers
    if not is_swap and writer.name != "st":
        return False
    return facts.literal_in(writer, writer.operands[1 + is_swap]) is not None


def _may_be_one(writer: Instruction, read: Instruction, facts: Facts) -> bool:
    """Whether two accesses may meet though all pointers that have different names are apart."""
    origins = facts.memory.apart.origins
    mine, others = origins.of_access(read), origins.of_access(writer)
    if mine is None or others is None:
        return True
    return not {one.place for one in mine}.isdisjoint(one.place for one in others)


def _addresses(instruction: Instruction) -> set[Address]:
    return {one for one in instruction.operands if isinstance(one, Address)}


def _bases(instruction: Instruction) -> set[Register]:
    return {one.base for one in _addresses(instruction) if isinstance(one.base, Register)}


def reduction_hint(path: CheckedPath, facts: Facts, setter: Instruction | None = None) -> str:
    """What clause would serve for a value that is carried, and that ``setter`` makes, or why one
    that is there does not."""
    declared = declared_operations(path.loop.marker)
    taker = nan_taker(path, setter, facts) if setter is not None else None
    if not declared or (taker and taker.operation not in declared):
        if setter is not None and (wanted := clauses_wanted(path, setter, facts, taker)):
            return wanted
        misfit = _misfit(path, facts)
        read = TO_READ_BEHIND.format(at(misfit.instruction)) if misfit and misfit.is_read else ""
        return REDUCTION_HINT + read
    if setter is not None and (begin := beginning_wanted(path, setter, facts)):
        return begin
    names = " or ".join(declared_variables(path.loop.marker))
    hint = (
        f"the variable of a reduction ({names}) may only be updated in the loop, by that operation"
    )
    if declared.intersection(EXTREMES):
        hint += "; what goes with it may only be set where it is, and not be read"
        if taker is not None:
            hint += f"; {put_first(taker)}"
        elif (misfit := _misfit(path, facts)) is not None:
            asks = _only_asks(misfit.instruction, path, facts)
            way_out = ASKED_BY if asks else READ_WHERE_SET if misfit.is_read else KEEP_OUT
            hint += f"; in the way is{at(misfit.instruction)}{way_out}"
        carried = facts.liveness.live_in(path.loop.loop.header)
        if any(one.bits == NARROW for one in written_in(path, facts) & carried):
            hint += f"; {TOO_NARROW}"
    if declared.intersection(EXTREMES) and any(
        map(flushes, instructions_of(path.loop.loop.blocks, facts))
    ):
        hint += "; minima and maxima of floats are none under -ftz=true and -use_fast_math"
    return hint


def _misfit(path: CheckedPath, facts: Facts) -> Misfit | None:
    """What keeps the first minimum or maximum that iterations hand on from being one: of
    floating-point numbers one that the loop names, if it names any."""
    loop, marker = path.loop.loop, path.loop.marker
    carried = sorted(facts.liveness.live_in(loop.header), key=by_name)
    named = named_in(marker, loop, facts, *declared_operations(marker))
    every = filter(None, (find_misfit(one, loop, facts) for one in carried))
    return next((one for one in every if not _is_unnamed(one.registers, named)), None)


def _is_unnamed(web: frozenset[Register], named: Collection[Register]) -> bool:
    """Whether registers hold a floating-point variable, and others those that are named."""
    is_float = any(one.type[0] == "f" for one in web)
    return bool(named) and is_float and web.isdisjoint(named)


def _only_asks(setp: Instruction, path: CheckedPath, facts: Facts) -> bool:
    """Whether a path is taken by a comparison, and does another one with the same value of earlier
    iterations."""
    value = facts.liveness.live_in(path.loop.loop.header).intersection(setp.used())
    before = (facts.blocks[label].terminator for label in facts.graph.predecessors(path.entry))
    guards = {one.guard.register for one in before if one is not None and one.guard is not None}
    inside = (one for one in instructions_of(path.blocks, facts) if one.name == "setp")
    again = any(not value.isdisjoint(one.used()) for one in inside if one is not setp)
    return setp.name == "setp" and again and not guards.isdisjoint(setp.defined())


def _unset_hint(path: CheckedPath, facts: Facts) -> tuple[Instruction, str] | None:
    """Where the path writes what an iteration may read, but nothing before the loop does, and what
    to do.

    It may be a variable that is set on some ways only, or one that lives from one iteration to the
    next: PTX is the same.
    """
    loop = path.loop.loop
    written = written_in(path, facts)
    before = [p for p in facts.graph.predecessors(loop.header) if p not in loop.blocks]
    for register in sorted(written & facts.liveness.live_in(loop.header), key=lambda r: r.name):
        if not any(facts.reaching.bottom_mask(label, register) for label in before):
            writes = [i for i in instructions_of(path.blocks, facts) if register in i.defined()]
            return writes[-1], UNINITIALISED
    return None


def hands_on(path: PlacedPath, webs: frozenset[Register], facts: Facts) -> bool:
    """Whether the rest of the iteration needs what the path makes, but for what reductions hold and
    for what others may read."""
    live = written_in(path, facts) - webs
    if path.join is None or live & facts.liveness.live_in(path.join):
        return True
    return bool(flows_out(path, facts) & facts.local.reads(path.rest))


def written_in(path: PlacedPath, facts: Facts) -> frozenset[Register]:
    """The registers that a path writes."""
    return frozenset(r for i in instructions_of(path.blocks, facts) for r in i.defined())


def by_name(register: Register) -> tuple[str, int]:
    """What to sort registers by, so that numbers are in their order."""
    name = register.name
    prefix = name.rstrip("0123456789")
    return prefix, int(name[len(prefix) :] or 0)
