"""To which collectives of a loop all lanes come, and what parts them before the others."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable

from ccc.analysis.cfg import EXIT, reachable
from ccc.analysis.defuse import trace
from ccc.analysis.divergence import meets_all_lanes
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.locate import extent, located
from ccc.analysis.paths.model import FoundPath, LeftPath, PlacedPath, at, instructions_of
from ccc.analysis.slicing import Region, slice_region
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Operand, Register
from ccc.ptx.opcodes import EXCHANGES, LOADS, Effect

TOGETHER = "let all lanes come to it in every iteration, and end the loop together"
ALONE = (
    "let each lane do by itself, as by an atomic of its own, what those of __activemask() or "
    "coalesced_threads() do together; else remove the annotation"
)
DECIDES = "instead of what decides"
BOTH_DECIDE = "instead of either side of what is compared"
BY_ONE = "__shfl_sync(0xffffffff, x, 0)"
_STORE = "store that, and do it in a loop of its own behind"
_ELSEWHERE = (
    f"it asks for what the path makes: {_STORE}, or use an atomic in its place; or remove this "
    "annotation"
)
_INSIDE = "move it out of the path, or remove this annotation"
_OF_ITS_LOOP = "let each lane decide for itself whether its loop goes on, or remove this annotation"
IN_ANOTHER_KERNEL = (
    "they ask for what the path makes: store that, and do it in another kernel, or use an atomic "
    "in their place; or remove this annotation"
)
ONE_BY_ONE = "use an atomic in its place, or remove the annotation"
"""Of what lanes do together in a path, or behind one in a loop over blocks."""
ONE_BY_ONE_ALL = (
    "use an atomic in its place, and in that of what needs barriers or shared memory{}, or remove "
    "the annotation"
)
_IN_SOURCE = {f"%tid.{axis}": f"threadIdx.{axis}" for axis in "xyz"}


def between_barriers(meeting: Instruction | None = None) -> str:
    """What to do for paths in a loop over blocks where one needs barriers, as ``meeting`` shows."""
    return (
        f"with shared memory or barriers in the kernel{at(meeting) if meeting else ''}, ccc "
        "grid_stride puts one between its blocks: have each thread do several items between two "
        "barriers, in a loop with ccc for, or remove the annotations"
    )


def meetings(loop: Loop, facts: Facts) -> set[Instruction]:
    """The collectives to which all lanes come in each iteration, whichever way they go through it.

    Lanes give tasks away at the end of an iteration, where all meet before any of them begins the
    next. So whoever comes to such a collective finds the lanes of its own iteration there: no
    branch that lanes may take differently has parted them, neither now nor by leaving the loop.
    """
    parted: set[str] = set()
    for branch in facts.divergence.divergent_branches & loop.blocks:
        parted |= _parted_by(branch, facts)
    literals = facts.divergence.literals
    together = instructions_of(loop.blocks - parted, facts)
    return {i for i in together if meets_all_lanes(i, literals)}


def hint_at_parting(exchange: Instruction, loop: Loop, path: FoundPath, facts: Facts) -> str:
    """What to do for a path about a collective that only exchanges values, to which not all lanes
    may come."""
    is_of_all = meets_all_lanes(exchange, facts.divergence.literals)
    is_of_those = not is_of_all and _is_of_those_there(exchange, facts)
    if is_of_those and is_in_a_branch(exchange, loop, facts):
        return ALONE
    if asks_for(exchange, path, loop, facts):  # whatever parts lanes: that would not help
        return _ELSEWHERE
    inside = _of_path(path, loop, facts)
    if exchange in inside:  # of a value that each turn makes anew no place before it knows
        return _ELSEWHERE if path.repeats and _is_made(exchange, inside, facts) else _INSIDE
    if not is_of_all:
        if exchange.name == "activemask":
            return f"move it out of the loop, or {TOGETHER}, with 0xffffffff in its place"
        return f"move it out of the loop, or {TOGETHER}: its mask has to be 0xffffffff"
    home = next(b.label for b in facts.function.blocks if exchange in list(b.instructions))
    every = ((_parted_by(one, facts), one) for one in facts.divergence.divergent_branches)
    around = [(len(parted), one) for parted, one in every if one in loop.blocks and home in parted]
    label = min(around)[1]
    branch = next(one for one in facts.blocks[label].instructions if one.is_terminator)
    by = _decided_by(branch, facts)
    what = BOTH_DECIDE if _both_differ(branch, label, facts) else DECIDES
    return (
        f"as far as is known, lanes may part before it{f', by {by}' if by else ''}{at(branch)}: if "
        f"they never do, ask there for {BY_ONE} {what}; else "
        f"move it out of the loop, or {TOGETHER}"
    )


def hint_at_task(collective: Instruction, path: PlacedPath, facts: Facts) -> str:
    """What to do about a collective that would have to run with the tasks of a path: only one that
    asks for nothing that the path makes can stand before it."""
    if _decides_loop(collective, path, facts):
        return _OF_ITS_LOOP
    if counts_those_there(collective, facts):
        return ONE_BY_ONE
    needed = slice_region(
        Region(path.region, facts.graph), facts.blocks, facts.reaching_within(path.region),
        [collective], lambda _: frozenset(), decide_sinks=False,
    ).instructions  # fmt: skip
    made = [one for one in instructions_of(path.blocks, facts) if one in needed]
    before = "move it before the path, or to the top of the loop"
    if all(one.name == "ld" for one in made):  # nvcc reads again in a path what stood before it
        return f"{before}; or, if it asks for what the path makes, {_STORE}" if made else before
    return _ELSEWHERE


def asks_for(exchange: Instruction, path: FoundPath, loop: Loop, facts: Facts) -> bool:
    """Whether an instruction exchanges, in no arm or copy of a path, what is made in one of these,
    other than by a load, which may be made again there of what was read before."""
    if exchange.name not in EXCHANGES:
        return False
    inside = _of_path(path, loop, facts)
    return exchange not in inside and _is_made(exchange, inside, facts)


def _is_made(exchange: Instruction, inside: Collection[Instruction], facts: Facts) -> bool:
    """Whether some instructions make what another exchanges, other than by loads."""

    def parts(maker: Instruction, _: Register) -> Iterable[Operand]:
        reads = maker.effects & Effect.READ or maker.name in LOADS
        return () if reads and maker in inside else maker.used()

    made = trace(exchange.operands[1:2], facts.makers, parts) or ()
    makers = (
        one for value in made if isinstance(value, Register) for one in facts.makers.get(value, ())
    )
    return any(one in inside and one.name not in LOADS for one in makers)


def _of_path(path: FoundPath, loop: Loop, facts: Facts) -> set[Instruction]:
    """The instructions of all arms and copies of a path in a loop."""
    marked = (one for one in located(facts) if not isinstance(one, LeftPath))
    same = (one for one in marked if one.marker.identifier == path.marker.identifier)
    blocks = (extent(one, facts) for one in same if one.entry in loop.blocks)
    return set(instructions_of(frozenset[str]().union(*blocks) & loop.blocks, facts))


def counts_those_there(exchange: Instruction, facts: Facts) -> bool:
    """Whether it asks for nothing but who comes to it."""
    asked = exchange.operands[1] if exchange.name == "vote" else None
    makers = list(facts.makers.get(asked, ())) if isinstance(asked, Register) else []
    return bool(makers) and not any(list(one.used()) or one.specials() for one in makers)


def _decides_loop(collective: Instruction, path: PlacedPath, facts: Facts) -> bool:
    """Whether a path is a loop that goes on by what a collective in it says."""
    own = [loop for loop in facts.loops if path.repeats and loop.header == path.entry]
    ends = {facts.blocks[label].terminator for loop in own for label, _ in loop.exits(facts.graph)}
    asked = [register for end in ends if end is not None for register in end.used()]
    made = trace(asked, facts.makers, lambda maker, _: maker.used()) or ()
    return any(register in made for register in collective.defined())


def is_in_a_branch(instruction: Instruction, loop: Loop, facts: Facts) -> bool:
    """Whether lanes of one iteration may part before an instruction, and meet behind it again."""
    for branch in facts.divergence.divergent_branches & loop.blocks:
        join = facts.post_dominators.immediate(branch) or EXIT
        ends = {join, loop.header}
        inside = reachable(facts.graph.successors, facts.graph.successors(branch), stops=ends)
        if join in loop.blocks and instruction in instructions_of(inside - ends, facts):
            return True
    return False


def _is_of_those_there(exchange: Instruction, facts: Facts) -> bool:
    """Whether it asks which lanes happen to come together, or its mask says so."""
    pending, seen = [exchange], {exchange}
    while pending:
        one = pending.pop()
        if one.name == "activemask":
            return True
        asked = [o for o in one.used() if one is not exchange or o == one.operands[-1]]
        makers = {maker for register in asked for maker in facts.makers.get(register, ())} - seen
        seen |= makers
        pending += makers
    return False


def _parted_by(branch: str, facts: Facts) -> set[str]:
    """The blocks to which not all lanes may come, or not together, after a branch."""
    join = facts.post_dominators.immediate(branch) or EXIT
    ways = facts.graph.successors(branch)
    return reachable(facts.graph.successors, ways, stops=[join]) - {join}


def _both_differ(branch: Instruction, label: str, facts: Facts) -> bool:
    """Whether a branch compares two values of its block neither of which all lanes have alike."""
    tests = [maker for register in branch.used() for maker in facts.makers.get(register, ())]
    if len(tests) != 1:
        return False
    sides = [one for one in tests[0].operands[1:] if isinstance(one, Register)]
    return len(sides) == 2 and all(facts.divergence.differ(label, tests[0], [o]) for o in sides)


def _decided_by(branch: Instruction, facts: Facts) -> str:
    """By what of the thread a branch is decided, as users write it; empty if not by that alone."""
    pending, seen = deque([branch]), {branch}
    found: set[str] = set()
    while pending:
        one = pending.popleft()
        names = [special.name for special in one.specials()]
        if facts.divergence.is_source(one) and _IN_SOURCE.keys().isdisjoint(names):
            return ""
        found |= {_IN_SOURCE[name] for name in names if name in _IN_SOURCE}
        for register in one.used():
            makers = [maker for maker in facts.makers.get(register, ()) if maker not in seen]
            seen.update(makers)
            pending.extend(makers)
    return " and ".join(sorted(found))
