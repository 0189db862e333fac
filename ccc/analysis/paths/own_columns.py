"""Memory of each thread's own that tasks change: several tasks of a thread may do so at once.

    h[bin(x[i])][threadIdx.x]++;      // ld.shared.u32 %r8, [%r7]; add...; st.shared.u32 [%r7], %r9;

In the original code one thread alone comes to a column, with one iteration after the other. A task
has the number of the thread that came to the branch, and so have the other tasks of that thread,
which other lanes may run at the same time: of two that come to one place, one change is lost. By
the promise iterations come to different places. Where the address is made from the thread's number
and from what is read, users are told; and where it is made from that and from what iterations
compute, and several of them are seen to come to one place, as to ``h[i & 7][threadIdx.x]``. The
iteration may read there before the path, as to decide whether it is taken: then later iterations
find what was there before the task has run. So they do where all iterations read the same places,
as those of a ring of the thread's own, of which each writes one, or where they go round in it.

What is only stored to, ``last[threadIdx.x * 8 + kind[i]] = i``, may as well be scattered, each
iteration to a place of its own. It is not where threads take iterations in turn, as many as there
are, and each has a short row for them, or where they are seen to come to one place: then the order
of tasks tells what is left there, and who reads there finds what was written too early.

Where all threads of a block, or of a warp, read one key, ``y[key[r] + threadIdx.x]`` may be a
column of a row that only this iteration has: others that read this key would come there at the same
time. It is not where the memory is the thread's own: in shared memory, or by the number of the
block, too, and at other places for a neighbour that has another key.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from ccc.analysis.cfg import reachable
from ccc.analysis.defuse import trace
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.callee_accesses import differs, is_access, operand_of
from ccc.analysis.paths.coming_again import (
    comes_again,
    has_few_places,
    is_of_rows,
    is_one_of_warps,
)
from ccc.analysis.paths.invariant_stores import InvariantStores
from ccc.analysis.paths.model import CheckedPath, at, instructions_of
from ccc.analysis.paths.same_places import same_places
from ccc.analysis.polled import roots
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Operand, Register, Special, registers
from ccc.ptx.opcodes import ATOMICS, LOADS
from ccc.ptx.types import BLOCK, LANE, SPECIAL_REGISTERS

OWN_COLUMNS = "changes what lies at an address made from"
AGAIN = "what comes again in other iterations"
READ = "what is read"
MOST_UPDATES = 8
"""So many updates of a path are looked at, which takes up to 50 ms each; one is told of."""
LOCKS = {"cas", "exch"}
"""By what a lane may take a lock that keeps others out."""


def own_columns(path: CheckedPath, stores: InvariantStores, facts: Facts) -> str | None:
    """What is to be said of such memory, if there is any.

    Args:
        path: the path.
        stores: tells of the annotated loop which addresses stay the same.
        facts: the function's analyses.
    """
    region = list(instructions_of(path.region, facts))
    if any(one.name in ATOMICS and not LOCKS.isdisjoint(one.modifiers) for one in region):
        return None
    writes = [one for one in region if one.name == "st" and is_access(one, facts)]
    if not writes:
        return None
    every = instructions_of(path.loop.loop.blocks, facts)
    loads = [i for i in every if i.name == "ld" and is_access(i, facts)]
    met_by = same_places(path.loop.loop.blocks, facts).met_by
    updates = [one for one in writes if met_by(one, loads)]
    rest = [one for one in writes if one not in updates]
    return _of_updates(updates, loads, path, facts) or _of_others(rest, loads, path, stores, facts)


def _of_updates(
    updates: Sequence[Instruction],
    loads: Sequence[Instruction],
    path: CheckedPath,
    facts: Facts,
) -> str | None:
    """What is to be said of stores to where some of the loads read."""
    met_by = same_places(path.loop.loop.blocks, facts).met_by
    for store in updates[:MOST_UPDATES]:
        own = _own(store, path, facts)
        if own is None:
            continue
        here = met_by(store, loads)
        before = reachable(
            facts.graph.predecessors, [facts.homes[store]], stops=[path.loop.loop.header]
        )
        if before.isdisjoint(facts.homes[one] for one in here):
            return _read_there(store, own, here)
        if elsewhere := made_of_others(store, loads, {roots(store, facts)}, path, facts):
            return _read_there(store, own, elsewhere)
        beside = [one for one in updates[:MOST_UPDATES] if one is not store]
        others = {roots(one, facts) for one in beside if _own(one, path, facts)} - {None}
        if made_of_others(store, loads, others, path, facts):  # two that are swapped
            return _read_there(store, own, here)
        return (
            f"{changes_at(store, *own)}, and tasks of one thread, which have its {own[0]}, may run "
            "at the same time; use an atomic operation where two of them may come to one place, or "
            "remove the annotation"
        )
    return None


def _of_others(
    writes: Sequence[Instruction],
    loads: Sequence[Instruction],
    path: CheckedPath,
    stores: InvariantStores,
    facts: Facts,
) -> str | None:
    """What is to be said of stores to where no load reads by the same address."""
    fixed = list(filter(stores.is_at_one_place, loads))
    for store, ring in rings(writes, fixed, facts)[:MOST_UPDATES]:
        met = [] if any(map(stores.goes_over_many, ring)) else ring
        if own := _own(store, path, facts, met):
            return _read_there(store, own, ring)
    moved = [one for one in loads if one not in fixed]
    pairs = [(store, [one]) for store, ring in rings(writes, moved, facts) for one in ring]
    for store, ring in pairs[:MOST_UPDATES]:
        own = _own(store, path, facts, ring)
        if own and (own[1] == AGAIN or has_few_places(store, path, facts)):
            return _read_there(store, own, ring)
    for store in writes[:MOST_UPDATES]:
        own = _own(store, path, facts)
        comes = own is not None and (own[1] == AGAIN or has_few_places(store, path, facts))
        if own and comes and _is_of_more(store, path, facts):
            return (
                f"{changes_at(store, *own)}, and tasks of one thread, which have its {own[0]}, may "
                "run in another order; remove the annotation, if the last of several values at one "
                "place is to stay there"
            )
    return None


def _is_of_more(store: Instruction, path: CheckedPath, facts: Facts) -> bool:
    """Whether iterations that store at one place may store something else there: it is made of more
    than of what decides where."""
    loop = path.loop.loop
    place_of = same_places(loop.blocks, facts).of
    _, given, _ = address_makers(store, loop, facts)
    keys = {place_of(one) for one in given if one.name in LOADS} - {None}

    def is_key(maker: Instruction) -> bool:
        return maker in given or (maker.name in LOADS and place_of(maker) in keys)

    def parts(maker: Instruction, _: Register) -> list[Register]:
        return [] if is_key(maker) else [*maker.used()]

    found = trace(registers(operand_of(store, "use")), facts.makers, parts) or frozenset()
    made = [one for one in found if isinstance(one, Register)]
    every = (maker for one in made for maker in facts.makers.get(one, ()))
    carried = facts.liveness.live_in(loop.header)
    written = {r for i in instructions_of(loop.blocks, facts) for r in i.defined()}
    return not carried.isdisjoint(written.intersection(made)) or any(
        one.name in LOADS and facts.homes[one] in loop.blocks and not is_key(one) for one in every
    )


def _read_there(store: Instruction, own: tuple[str, str], reads: Sequence[Instruction]) -> str:
    return (
        f"{changes_at(store, *own)}, and other iterations of the thread read there{at(reads[0])}, "
        "also while the task waits that writes; remove the annotation, if they need what it writes"
    )


def changes_at(store: Instruction, name: str, more: str) -> str:
    """What is said of a store, by two things that its address is made from."""
    return f"it {OWN_COLUMNS} {name} and from {more}{at(store)}"


def made_of_others(
    store: Instruction,
    loads: Sequence[Instruction],
    memory: Collection[frozenset[str] | None],
    path: CheckedPath,
    facts: Facts,
) -> list[Instruction]:
    """What a store writes is made of, or where, at other places of some memory, given by its roots:
    no atomic operation does that."""
    used = trace(store.used(), facts.makers, lambda one, _: one.used())
    read = [one for one in loads if not (used or frozenset()).isdisjoint(one.defined())]
    here = same_places(path.loop.loop.blocks, facts).met_by(store, read)
    return [one for one in read if one not in here and roots(one, facts) in memory]


def rings(
    writes: Iterable[Instruction], reads: Iterable[Instruction], facts: Facts
) -> list[tuple[Instruction, list[Instruction]]]:
    """Those stores of which some loads may read what they write in other iterations, and these
    loads."""
    loads: dict[frozenset[str] | None, list[Instruction]] = {}
    for one in reads:
        loads.setdefault(roots(one, facts), []).append(one)
    return [(one, loads[mine]) for one in writes if (mine := roots(one, facts)) and mine in loads]


def _own(
    access: Instruction, path: CheckedPath, facts: Facts, ring: Sequence[Instruction] = ()
) -> tuple[str, str] | None:
    """By which number of the thread an address is its own, in CUDA's words, and what decides
    besides: what is read, or what comes again in other iterations, where those of a ``ring`` read.
    """
    loop = path.loop.loop
    inside = set(instructions_of(loop.blocks, facts))
    computed, found, counts = address_makers(access, loop, facts)
    reads = [maker for maker in found if maker in inside]
    rows = (maker for maker in found if maker not in inside and maker.name in LOADS)
    lead = (_made_of(maker, facts) for maker in rows)  # to the thread's row, by a table of them
    names = {one.name for maker in computed for one in maker.specials()}
    names.update(one.register.name for made in lead for one in made if isinstance(one, Special))
    own = sorted(one for one in names if SPECIAL_REGISTERS[one].varies == LANE)
    if not own or (counts and not comes_again(access, path, facts, ring)):
        return None
    name = own[0].lstrip("%").replace("tid", "threadIdx")
    varies = {SPECIAL_REGISTERS[one].varies for one in names}
    is_private = access.space == "shared" or BLOCK in varies
    keys = [one for one in reads if one.name in LOADS and one.space != "param"]
    if any(is_private or _is_of_a_lane(one, path, facts) for one in keys):
        return None if is_of_rows(access, path, facts) else (name, READ)
    return (name, AGAIN) if counts else None


def address_makers(
    access: Instruction, loop: Loop, facts: Facts
) -> tuple[list[Instruction], list[Instruction], bool]:
    """What makes the address of an access: what computes it, what of it is read or otherwise not
    computed, and whether a counter of the loop goes into it, behind which nothing is looked at."""
    inside = set(instructions_of(loop.blocks, facts))
    carried = facts.liveness.live_in(loop.header)
    computed: list[Instruction] = []
    given: list[Instruction] = []
    counts = False
    worklist = [(access, one) for one in registers(operand_of(access, "addr"))]
    seen = set(worklist)
    while worklist:
        makers = list(makers_of(*worklist.pop(), facts))
        if any(maker in inside and register in carried for register, maker in makers):
            counts = True
            continue
        for _, maker in makers:
            if differs(maker) or maker.name in LOADS:
                given.append(maker)
                continue
            computed.append(maker)
            found = {(maker, one) for one in maker.used()} - seen
            seen |= found
            worklist += found
    return computed, given, counts


def makers_of(
    user: Instruction, read: Register, facts: Facts
) -> Iterator[tuple[Register, Instruction]]:
    """What may have made a register that an instruction reads, as it is there: nvcc may count in
    the register that held the number of the thread."""
    made = facts.reaching.of_uses(facts.homes[user])
    return ((read, each.instruction) for each in made.get((user, read), ()))


def _is_of_a_lane(read: Instruction, path: CheckedPath, facts: Facts) -> bool:
    """Whether each lane reads for itself: no row of a table, of which it takes a column."""
    made = _made_of(read, facts)
    if not any(isinstance(one, Special) and one.register.varies == LANE for one in made):
        return False
    makers = (
        maker for one in made if isinstance(one, Register) for maker in facts.makers.get(one, ())
    )
    is_read = any(one.name in LOADS and one.space != "param" for one in makers)
    return is_read or not is_one_of_warps(read, path, facts)


def _made_of(access: Instruction, facts: Facts) -> frozenset[Operand]:
    """What its address is made from."""
    return trace(registers(operand_of(access, "addr")), facts.makers, _parts) or frozenset()


def _parts(maker: Instruction, _: Register) -> list[Operand]:
    return [*maker.used(), *maker.specials()]
