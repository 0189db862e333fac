"""The arms of an annotated branch, as sequences of steps that can be aligned.

A branch in PTX may be one conditional branch, a chain of them, or a jump table; what is between it
and the arms is its *dispatch*. An arm is entered at the block with its marker and left at one
place, the *join*, which all arms share. Its *steps* are its instructions, in order, and the pieces
between with control flow of their own, loops or branches, which are entered and left at one place
each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ccc.analysis.callees import called
from ccc.analysis.cfg import EXIT, reachable
from ccc.analysis.facts import Facts
from ccc.analysis.paths.locate import extent
from ccc.analysis.paths.model import FoundPath, Refused, at, instructions_of
from ccc.ir.edit import jump
from ccc.ir.markers import ARMS, LABEL
from ccc.ir.nodes import Instruction
from ccc.ptx.opcodes import Effect


@dataclass(frozen=True, eq=False)
class Step:
    """One instruction; or ``blocks``, with the branch that leads there, left for ``exit``."""

    instructions: tuple[Instruction, ...]
    blocks: tuple[str, ...] = ()
    exit: str = ""

    @property
    def single(self) -> Instruction | None:
        """The instruction, if it is no more."""
        return None if self.blocks else self.instructions[0]


@dataclass(frozen=True, eq=False)
class Arm:
    """An arm: its path, its blocks, and its steps, in order."""

    path: FoundPath
    blocks: frozenset[str]
    steps: tuple[Step, ...]


@dataclass(frozen=True, eq=False)
class Branch:
    """A branch with its arms.

    ``head`` is the last block that leads to all arms, ``dispatch`` the blocks between it and them,
    ``join`` the block after them.
    """

    head: str
    dispatch: frozenset[str]
    arms: tuple[Arm, ...]
    join: str


def find_arms(facts: Facts) -> list[list[FoundPath]]:
    """The arms of a function, those of one branch together.

    nvcc may have copied a branch; arms of one copy go on in the same block. So do not those of a
    branch of which no two do, and nothing is there twice.
    """
    groups: dict[tuple[int, str], list[FoundPath]] = {}
    for block in facts.function.blocks:
        for marker in block.markers if block.label in facts.graph else ():
            if marker.kind in ARMS:
                path = FoundPath(marker, block.label, repeats=False)
                ways = sorted(_ways_out(path, facts))
                mine = groups.setdefault((marker.identifier, " ".join(ways)), [])
                if all(other.entry != path.entry for other in mine):
                    mine.append(path)
    every: dict[int, list[FoundPath]] = {}
    for (identifier, _), mine in groups.items():
        every.setdefault(identifier, []).extend(mine)
    apart = {number for number, mine in every.items() if _are_apart(mine, facts)}
    together = [mine for (number, _), mine in groups.items() if number not in apart]
    return [*together, *(every[number] for number in sorted(apart))]


def _are_apart(paths: Sequence[FoundPath], facts: Facts) -> bool:
    """Whether arms are those of one branch, each of which goes on elsewhere."""
    arms = {(path.marker.kind, path.marker.clauses.get(LABEL)) for path in paths}
    ways = {frozenset(_ways_out(path, facts)) for path in paths}
    return len(arms) == len(ways) == len(paths) > 1


def _ways_out(path: FoundPath, facts: Facts) -> set[str]:
    """Where control goes that leaves the arm."""
    inside = extent(path, facts)
    return {t for label in inside for t in facts.graph.successors(label) if t not in inside}


def examine(paths: Sequence[FoundPath], facts: Facts) -> Branch:
    """What is to be known of a branch whose arms are melded.

    Raises:
        Refused: they cannot be; the message says why.
    """
    if facts.unknown is not None:
        raise Refused(f"the opcode {facts.unknown.opcode} is not known to ccc{at(facts.unknown)}")
    if not facts.is_reducible:
        raise Refused("the kernel jumps into the middle of a loop")
    ways = set().union(*(_ways_out(path, facts) for path in paths))
    if len(paths) < 2:
        raise Refused(
            "its branch has no other arm that goes on at the same place, and one alone cannot be "
            "melded"
        )
    if len(ways) != 1 or EXIT in ways:
        aside = _leads_aside(paths, facts)
        where = at(aside) if aside else ""
        raise Refused(f"its arms go on at several places, or end the thread{where}")
    (join,) = ways
    blocks = [extent(path, facts) for path in paths]
    entries = [path.entry for path in paths]
    if any(not one.isdisjoint(other) for one in blocks for other in blocks if one is not other):
        raise Refused("one of its arms lies in another")
    for path, mine in zip(paths, blocks, strict=True):
        _check(path, mine, facts)
    arms = tuple(
        Arm(path, mine, tuple(_steps(path.entry, join, mine, facts)))
        for path, mine in zip(paths, blocks, strict=True)
    )
    chains = [facts.dominators.chain(entry)[1:] for entry in entries]
    head = next(label for label in chains[0] if all(label in chain for chain in chains))
    between = reachable(facts.graph.successors, [head], stops=[*entries, join])
    return Branch(head, frozenset(between.difference(entries, [head, join, EXIT])), arms, join)


def _leads_aside(paths: Sequence[FoundPath], facts: Facts) -> Instruction | None:
    """What leads out of an arm to where the others do not go on, if these have a place for that."""
    shared = set[str].intersection(*(_ways_out(path, facts) for path in paths))
    for path in paths if shared else ():
        inside = shared | extent(path, facts)
        for label in sorted(extent(path, facts)):
            block = facts.blocks[label]
            if not inside.issuperset(facts.graph.successors(label)):
                return next(
                    (i for i in block.instructions if i.is_terminator and i.span.line), None
                )
    return None


def split(paths: Sequence[FoundPath], facts: Facts) -> list[FoundPath]:
    """The arms with those that end in a branch of their own, as ``else if`` does, as several."""
    found: list[FoundPath] = []
    for path in paths:
        inner = _inner_arms(path, facts)
        found += split(inner, facts) if inner else [path]
    return found


def _inner_arms(path: FoundPath, facts: Facts) -> list[FoundPath]:
    """The arms of the branch that an arm ends in; none if it ends in no other."""
    ways, blocks = _ways_out(path, facts), extent(path, facts)
    label = path.entry
    headers = {loop.header for loop in facts.loops}
    while len(ways) == 1 and label in blocks - headers:
        (join,) = ways
        try:
            piece, onward = _piece(label, blocks, join, facts)
        except Refused:
            break
        if onward == join and piece != {label}:
            inner = [FoundPath(path.marker, way, False) for way in facts.graph.successors(label)]
            inner = [one for one in inner if one.entry != join]
            return inner if all(_ways_out(one, facts) == ways for one in inner) else []
        label = onward
    return []


def _check(path: FoundPath, blocks: frozenset[str], facts: Facts) -> None:
    """What must not be in an arm that other lanes pass together with it.

    Raises:
        Refused: it is there.
    """
    others = [m for label in blocks for m in facts.blocks[label].markers if m != path.marker]
    if others:
        raise Refused("another annotation lies in one of its arms")
    for instruction in instructions_of(blocks, facts):
        effects = instruction.effects
        if effects & (Effect.EXIT | Effect.RETURN):
            raise Refused(f"one of its arms ends the thread{at(instruction)}")
        if effects & (Effect.BARRIER | Effect.COLLECTIVE):
            raise Refused(
                f"there is a barrier or a warp-collective in one of its arms{at(instruction)}; "
                "move it out of the branch"
            )
        if effects & Effect.CALL:
            raise Refused(f"one of its arms calls {called(instruction)}{at(instruction)}")
        if effects & (Effect.SETS_CARRY | Effect.READS_CARRY):
            raise Refused(f"one of its arms adds with carry{at(instruction)}")
    for spin in facts.spins:
        if not spin.blocks.isdisjoint(blocks):
            way_out = spin.way_out(facts)
            raise Refused(
                f"lanes may wait for one another in one of its arms{at(spin.poll)}"
                f"{'; ' * bool(way_out)}{way_out}"
            )


def _steps(entry: str, join: str, blocks: frozenset[str], facts: Facts) -> Iterator[Step]:
    """The steps of an arm, from its entry to the join."""
    headers = {loop.header for loop in facts.loops}
    label = entry
    while label != join:
        if label in headers and any(p in blocks for p in facts.graph.predecessors(label)):
            piece, onward = _piece(label, blocks, join, facts)
            yield Step((jump(label),), tuple(sorted(piece)), onward)
            label = onward
            continue
        block = facts.blocks[label]
        yield from (Step((i,)) for i in block.instructions if not i.is_terminator)
        piece, onward = _piece(label, blocks, join, facts)
        piece -= {label}
        if piece:
            branch = tuple(i for i in block.instructions if i.is_terminator)
            yield Step(branch, tuple(sorted(piece)), onward)
        label = onward


def _piece(
    label: str, blocks: frozenset[str], join: str, facts: Facts
) -> tuple[frozenset[str], str]:
    """The fewest blocks from ``label`` on that are left for one block, which they alone lead to.

    Raises:
        Refused: the arm has no such.
    """
    graph = facts.graph
    for onward in facts.post_dominators.chain(label)[1:]:
        if onward != join and onward not in blocks:
            break
        piece = reachable(graph.successors, [label], stops=[onward]) - {onward}
        leading = {p for one in (piece - {label}) | {onward} for p in graph.predecessors(one)}
        if piece <= blocks and (onward == join or leading <= piece):
            return frozenset(piece), onward
    raise Refused("the control flow of one of its arms is no chain of pieces")
