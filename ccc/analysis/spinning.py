"""Loops in which a lane waits until others have done something.

    WAIT:   ld.volatile.global.u32 %r1, [%rd1];         // or atom.cas, atom.exch: a lock
            setp.lt.u32 %p1, %r1, 31;
            @%p1 bra WAIT;

From sm_70 on lanes of one warp may wait for one another so, since each goes on by itself. Members
of an annotated loop wait for each other as well, and whoever waits for a lane that waits for him
stands still for ever. A loop is taken to spin if a place in memory is *polled*, which means that it
may look at it again, and decides whether the loop ends; only where a counter alone ends it, it does
not. Where a counter ends it as well, whoever waits gives up after a while; but the counter has to
come to an end for certain (:mod:`ccc.analysis.counted_ends`), or this waits like any other. An
atomic that itself moves on what it reads, and so comes to the loop's end, such as
``atomicAdd(&next, 1) < n``, polls nothing. Nor does the retry of a compare-and-swap with just the
value that was found, if the loop ends as soon as one succeeds: then somebody gets on, whoever
waits. Nor does one that goes through a hash table until it has taken a free place, if nobody ever
frees any: what is taken stays so, whoever waits. Nor does one that ends whatever it has found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ccc.analysis.apart import RESTRICT
from ccc.analysis.callees import callee
from ccc.analysis.cfg import EXIT
from ccc.analysis.drawing import draws_numbers, is_taken_back
from ccc.analysis.loop_conditions import LoopConditions
from ccc.analysis.polled import is_strong, roots
from ccc.analysis.settled import is_settled, stays_taken
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Address, Immediate, Operand, Register
from ccc.ptx.opcodes import KEEPING, LOADS, STAYING, Effect
from ccc.ptx.operations import ORDERED
from ccc.ptx.types import ANEW, TYPES

if TYPE_CHECKING:
    from ccc.analysis.dominators import Loop
    from ccc.analysis.facts import Facts

_FROM_ELSEWHERE = Effect.READ | Effect.CALL
_LINEAR = frozenset({"add", "sub", "mov", "mul", "mad", "shl", "cvt", "neg"})
"""What may be made of a counter so that it still comes to its end."""


@dataclass(frozen=True, slots=True)
class Spin:
    """``blocks`` in which lanes may wait for others; ``polls`` are all that they look at.

    Nobody ``waits`` where nothing that they look at decides whether the loop ends. A loop that
    ``counts`` is to be ended by a counter as well; whoever ``gives_up`` waits for a
    while only, since it certainly is. Whoever ``seeks`` looks at another place in each trip. One
    that ``draws`` numbers is ended by these as well. With a fence in it, the loop ``is_fenced``,
    and plain loads are made anew, too.
    """

    blocks: frozenset[str]
    polls: tuple[Instruction, ...]
    counts: bool = False
    gives_up: bool = False
    seeks: bool = False
    draws: bool = False
    is_fenced: bool = False
    waits: bool = True

    @property
    def poll(self) -> Instruction:
        """The first of them."""
        return self.polls[0]

    @property
    def anew(self) -> tuple[Instruction, ...]:
        """Those of them that are certainly made anew each time."""
        return tuple(poll for poll in self.polls if self.is_fenced or is_strong(poll))

    def loop(self, facts: Facts) -> Loop | None:
        """The loop that spins; None where a function does that is called there."""
        return next((one for one in facts.loops if one.blocks == self.blocks), None)

    def way_out(self, facts: Facts) -> str:
        """What a user can do: nobody may write what a plain load reads, which has to be said, where
        it can be, and is not known to be wrong; else nothing."""
        if is_strong(self.poll):
            return "use no locks and flags there"
        if self.poll.space == "shared":
            return "fill it before a __syncthreads(), and write to no shared memory behind that"
        can_be_said = all(map(facts.memory.apart.may_be_restricted, self.polls))
        return RESTRICT if can_be_said and not self._are_written(facts) else ""

    def _are_written(self, facts: Facts) -> bool:
        """Whether the kernel writes by a parameter by which they look."""
        read = frozenset[str]().union(*(roots(poll, facts) or () for poll in self.polls))
        writes = (one for one in facts.function.instructions if one.effects & Effect.WRITE)
        return any(not read.isdisjoint(roots(one, facts) or ()) for one in writes)


def find_spins(facts: Facts) -> list[Spin]:
    """The loops that spin, and the blocks that call a function which does.

    Loops that may hold something and wait for nothing count where others wait, perhaps for that.
    """
    found = _find_looking(facts)
    return found if any(one.waits for one in found) else []


def _find_looking(facts: Facts) -> list[Spin]:
    """The loops some branch of which hangs on what they poll, and calls of such functions."""
    found = []
    for loop in facts.loops:
        spin = _spin_of(loop, facts)
        if spin is not None:
            found.append(spin)
    for label in facts.graph:
        for instruction in facts.blocks[label].instructions if label != EXIT else ():
            if instruction.name == "call" and _callee_spins(instruction, facts):
                found.append(Spin(frozenset({label}), (instruction,)))
    return found


def _callee_spins(call: Instruction, facts: Facts) -> bool:
    known = facts.callees.spinning
    name = callee(call)
    if name not in known:
        known[name] = False  # for a function that calls itself
        function = facts.callees.load(name)
        inside = type(facts)(function, facts.callees) if function is not None else None
        known[name] = inside is not None and (
            bool(_find_looking(inside)) or _jumps_back(inside) or _tries_again(name, facts)
        )
    return known[name]


def _jumps_back(facts: Facts) -> bool:
    """Whether a function looks at memory, and may go round where no loop of one entry is."""
    return not facts.is_reducible and any(map(_reads_what_may_change, facts.function.instructions))


def _tries_again(name: str, facts: Facts) -> bool:
    """Whether a function may call itself, itself or through others, for what it has looked at: that
    is a loop, too."""
    return facts.callees.reaches(name, name) and any(
        function is None
        or any(_reads_what_may_change(one) and is_strong(one) for one in function.instructions)
        for function in facts.callees.reachable(name)
    )


def _spin_of(loop: Loop, facts: Facts) -> Spin | None:
    """What a loop polls, if it spins: in it, or in a loop inside it."""
    slices = LoopConditions(loop, facts)
    body = slices.body
    polls = [i for i in body if _is_poll(i, slices, facts)]
    decided = slices.of(*loop.blocks) if polls else ()
    deciding = tuple(poll for poll in polls if poll in decided)
    if not deciding or _retries(slices):
        return None
    stepped = {r for r in slices.carried & slices.each_trip.keys() if _is_stepped(r, slices)}
    bounds = frozenset(i for i in body if _is_bounded(i, stepped, slices))
    certain = {
        source: _certain_ends(source, slices) for source in filter(slices.always, slices.leaving)
    }
    counted = {s for s in certain if certain[s] or _counts(s, stepped, bounds, slices)}
    if not counted:
        waits = not slices.leading_to(slices.leaving or loop.blocks).isdisjoint(deciding)
        draws = any(draws_numbers(one, slices) for one in body)
        return Spin(
            frozenset(loop.blocks),
            deciding,
            draws=draws,
            is_fenced=slices.is_fenced,
            waits=waits,
        )
    anew = [i for i in polls if slices.is_fenced or is_strong(i)]
    watched = set[Instruction]().union(
        *(slices.of(source, but=certain[source]) for source in counted),
        *(slices.leading_to([source], counted) for source in slices.leaving - counted),
    )
    seen = tuple(poll for poll in anew if poll in watched)
    if not seen:
        return None
    gives_up = any(certain.values())
    seeks = all(_moves(_address(poll), slices) for poll in seen)
    return Spin(
        frozenset(loop.blocks),
        seen,
        counts=True,
        gives_up=gives_up,
        seeks=seeks,
        is_fenced=slices.is_fenced,
    )


def _certain_ends(source: str, slices: LoopConditions) -> list[Instruction]:
    """The comparisons with a counter that will end the loop at the end of a block for certain."""
    made = dict.fromkeys(slices.each_trip.values())
    return [
        one
        for one in made
        for value in (False, True)
        if one.name == "setp"
        and slices.counters.end(one, value)
        and slices.leaves_if(source, one, value)
        and all(i in made for i in slices.of(source, but=(one,)) if "pred" in i.types)
    ]


def _counts(
    source: str, stepped: set[Register], bounds: frozenset[Instruction], slices: LoopConditions
) -> bool:
    """Whether a counter is to end the loop at the end of a block, whatever else the loop reads."""
    made = slices.of(source)
    if not any(i.effects & _FROM_ELSEWHERE for i in made):
        return any(stepped.intersection(i.defined()) for i in made)
    return any(slices.leaves_if(source, one, value) for one in bounds for value in (False, True))


def _is_bounded(comparison: Instruction, stepped: set[Register], slices: LoopConditions) -> bool:
    """Whether it compares a counter with a bound, which may be read anew each time."""

    def is_counter(operand: Operand) -> bool:
        made = slices.made_by(_LINEAR, operand) if isinstance(operand, Register) else None
        return made is not None and any(stepped.intersection(i.used()) for i in made)

    if comparison.name != "setp" or len(comparison.operands) != 3:
        return False
    ends = comparison.operands[1:]
    bounds = [other for one, other in zip(ends, ends[::-1], strict=True) if is_counter(one)]
    fixed = any(bound not in slices.makers for bound in bounds)
    return bool(bounds) and (fixed or comparison.modifiers[0] in ORDERED)


def _retries(slices: LoopConditions) -> bool:
    """Whether each trip tries to swap what it has found, and ends the loop if that succeeds."""
    return any(
        _ends_if_swapped(label, swap, slices)
        for label in filter(slices.always, slices.loop.blocks)
        for swap in slices.facts.blocks[label].instructions
        if swap.name == "atom" and "cas" in swap.modifiers and swap.guard is None
        if _was_found(swap, slices)
    )


def swaps_on(poll: Instruction, facts: Facts) -> bool:
    """Whether it is a compare-and-swap of what was found there, in a loop that may go on where it
    has succeeded: what is left by that may be a lock, or nothing that others wait for."""
    if poll.name != "atom" or "cas" not in poll.modifiers:
        return False
    around = [loop for loop in facts.loops if facts.homes[poll] in loop.blocks]
    inner = min(around, key=lambda loop: len(loop.blocks), default=None)
    slices = LoopConditions(inner, facts) if inner is not None else None
    return slices is not None and _was_found(poll, slices) and not _retries(slices)


def _ends_if_swapped(label: str, swap: Instruction, slices: LoopConditions) -> bool:
    """Whether the loop ends as soon as a compare-and-swap in some block succeeds.

    No way leads on from there but by the branch that ends it.
    """
    succeeds = swapping(label, swap, slices.facts)
    later = (s for s in slices.leaving if slices.facts.dominators.dominates(label, s))
    return any(
        slices.leaves(source, succeeds) and (source == label or not slices.goes_on(label, source))
        for source in later
    )


def swapping(label: str, swap: Instruction, facts: Facts) -> Callable[[Instruction], bool | None]:
    """What comparisons behind a swap in some block say if that succeeded, or an exchange did."""
    block = list(facts.blocks[label].instructions)
    behind = block[block.index(swap) + 1 :]
    return lambda comparison: _succeeds(comparison, swap, behind, facts)


def _succeeds(
    comparison: Instruction, swap: Instruction, behind: list[Instruction], facts: Facts
) -> bool | None:
    """What a comparison behind a compare-and-swap says if that succeeded, None if it depends.

    An exchange did if it has found the one number that it is compared with, or none that it has
    exchanged.
    """
    if swap.name != "atom" or not {"cas", "exch"}.intersection(swap.modifiers):
        return None
    bits = TYPES[swap.types[-1]].bits
    kind = TYPES[comparison.types[-1]]
    if comparison not in behind or kind.bits != bits or kind.kind not in "bsu":
        return None
    says = {"eq": True, "ne": False}.get(comparison.modifiers[0])
    between = behind[: behind.index(comparison)]
    compared = {swap.operands[0], swap.operands[2]}
    if any(compared.intersection(i.defined()) for i in between):
        return None
    if "exch" in swap.modifiers:
        own = facts.literal_in(swap, swap.operands[2])
        asked = _asked(comparison, swap, facts)
        if says is None or asked is None or own is None:
            return None
        if asked == own.unsigned(bits):
            return not says
        return says if _is_all_that_asks(asked, swap, facts) else None

    def number(one: Instruction, operand: Operand) -> Operand:
        literal = facts.literal_in(one, operand)
        return literal.unsigned(bits) if literal else operand

    asked_of = {number(comparison, operand) for operand in comparison.operands[1:]}
    return says if asked_of == {number(swap, operand) for operand in compared} else None


def _asked(comparison: Instruction, swap: Instruction, facts: Facts) -> Immediate | None:
    """The number, without a sign, with which a comparison compares what a swap has found."""
    if comparison.name != "setp" or len(comparison.operands) != 3:
        return None
    number = facts.literal_in(comparison, comparison.operands[2])
    is_asked = comparison.operands[1] == swap.operands[0] and number is not None
    return number.unsigned(TYPES[swap.types[-1]].bits) if is_asked and number else None


def _is_all_that_asks(number: Immediate, swap: Instruction, facts: Facts) -> bool:
    """Whether what a swap has found is only compared with one number: a lock may be free in two
    states."""
    used = (i for i in facts.function.instructions if swap.operands[0] in i.used())
    return all(_asked(one, swap, facts) == number for one in used)


def _takes_for_good(swap: Instruction, slices: LoopConditions) -> bool:
    """Whether it is a compare-and-swap that ends the loop, or finds what will not change."""
    return stays_taken(swap, slices.loop, slices.facts) and any(
        _ends_if_swapped(label, swap, slices)
        for label in slices.loop.blocks
        if swap in slices.facts.blocks[label].instructions
    )


def _is_stepped(register: Register, slices: LoopConditions) -> bool:
    """Whether each trip makes a register of what it was and of what is the same in all trips."""
    maker = slices.each_trip[register]
    if maker.name not in ("add", "sub", "mad"):
        return False
    before = 3 if maker.name == "mad" else 1
    others = [o for place, o in enumerate(maker.operands) if place not in (0, before)]
    return slices.copied(maker.operands[before]) == register and all(map(slices.is_same, others))


def _moves(operands: Iterable[Operand], slices: LoopConditions) -> bool:
    """Whether operands are something else in each trip than in any before: not where that is
    divided, begins anew by a remainder, or is only chosen by it."""
    used = {operand for operand in operands if isinstance(operand, Register)}
    moved = {register for register in slices.carried if is_moved(register, slices)}
    made = {i for i in slices.behind(used) if i.name not in STAYING}
    while more := {r for i in made if not moved.isdisjoint(i.used()) for r in i.defined()} - moved:
        moved |= more
    return not used.isdisjoint(moved)


def is_moved(register: Register, slices: LoopConditions) -> bool:
    """Whether no trip leaves a register as it was, as where only who has taken a lock goes on."""
    maker, seen = slices.each_trip.get(register), set[Operand]()
    while maker is not None and maker.name == "mov":
        source = maker.operands[1]
        if not isinstance(source, Register) or source in seen:
            return True  # a number, or what another register was
        seen.add(source)
        maker = slices.each_trip.get(source)
    if maker is None or maker.name in KEEPING:
        return False
    chosen = (slices.each_trip.get(one) for one in maker.used() if one != register)
    return not any(one is not None and one.name == "selp" for one in chosen)


def _is_poll(instruction: Instruction, slices: LoopConditions, facts: Facts) -> bool:
    """Whether it may look at the same place again in the next trip, and changes nothing itself."""
    if instruction.name == "call":
        return _callee_reads(instruction, facts)
    if not _reads_what_may_change(instruction):
        return False
    goes_on = _goes_on(_address(instruction), slices)
    if is_settled(instruction, slices.loop, facts) or (
        goes_on and _takes_for_good(instruction, slices)
    ):
        return False
    words = set(instruction.modifiers)
    if instruction.name != "atom":
        anew = bool(words & ANEW) or slices.is_fenced
        return anew or not goes_on
    return not draws_numbers(instruction, slices) or is_taken_back(instruction, slices, facts)


def _reads_what_may_change(instruction: Instruction) -> bool:
    if instruction.name not in {*LOADS, "atom"} or "nc" in instruction.modifiers:
        return False
    return instruction.space not in ("param", "local", "const")


def _address(instruction: Instruction) -> list[Operand]:
    bases = (o.base for o, role in instruction.roles() if role == "addr" and isinstance(o, Address))
    return list(bases)


def goes_on(spin: Spin, facts: Facts) -> bool:
    """Whether who waits looks at another place in the next trip, by what the last one has left."""
    loop = spin.loop(facts)
    if loop is None:
        return False
    slices = LoopConditions(loop, facts)
    return _goes_on(_address(spin.poll), slices)


def _goes_on(operands: Iterable[Operand], slices: LoopConditions) -> bool:
    """Whether operands depend on what the loop's last trip has left."""
    used = [operand for operand in operands if isinstance(operand, Register)]
    return not (slices.carried.isdisjoint(used) and slices.handed_on.isdisjoint(used))


def _was_found(swap: Instruction, slices: LoopConditions) -> bool:
    """Whether a compare-and-swap expects just what it, or a load in the loop, has found there."""
    seen: set[Operand] = set()
    worklist = [swap.operands[2]]
    found = False
    while worklist:
        operand = worklist.pop()
        if not isinstance(operand, Register):
            return False
        makers = slices.makers.get(operand, ()) if operand not in seen else ()
        seen.add(operand)
        for maker in makers:
            if maker.name == "mov":
                worklist.append(maker.operands[1])
            elif maker is not swap and not _is_of_its_place(maker, swap, slices):
                return False
            found |= maker.name != "mov"
    return found


def _is_of_its_place(load: Instruction, swap: Instruction, slices: LoopConditions) -> bool:
    """Whether a load reads what a swap may change, all of it: what lies elsewhere may be what
    others set free by."""
    place = load.operands[1] if load.name == "ld" else None
    if not isinstance(place, Address) or place != swap.operands[1]:
        return False
    if TYPES[load.types[-1]].bits != TYPES[swap.types[-1]].bits:
        return False
    made = set(slices.makers.get(place.base, ())) if isinstance(place.base, Register) else set()
    return not made or (
        len(made) == 1 and all(slices.read_by(one, place.base) == made for one in (load, swap))
    )


def _callee_reads(call: Instruction, facts: Facts) -> bool:
    """Whether the result of a call may depend on memory that changes."""
    if not callee(call):  # through a pointer
        return True
    if facts.callees.of_system(callee(call)) is not None:
        return False
    if facts.callees.is_promised(callee(call)):
        return True
    return any(
        function is None or any(map(_reads_what_may_change, function.instructions))
        for function in facts.callees.reachable(callee(call))
    )
