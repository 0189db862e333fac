"""Where to count: blocks cut to that purpose, paths found in them, and what is counted together."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from ccc.analysis.cfg import EXIT
from ccc.analysis.dominators import Dominators, is_reducible, post_dominators
from ccc.analysis.facts import Facts
from ccc.ir.edit import add_block, make_explicit, retarget, substitute
from ccc.ir.nodes import Block, Function, Guard, Instruction
from ccc.profile.model import FUNCTION_COUNTERS, PATH_COUNTERS
from ccc.ptx.opcodes import Effect


@dataclass(eq=False)
class CountedRegion:
    """What is counted apart: a path, or (without ``entries``) the function outside its paths.

    Attributes:
        counter: the first of its counters.
        entries: its first block; of a path whose code is there several times, that of each.
        blocks: all its blocks, those of paths inside it among them.
        counts_at_top: whether each run of the first block is an execution. Otherwise lanes may
            come back to that block within one.
        is_loop: whether an execution is a turn of a loop.
        each: what the counters of instructions leave out: the number of a counter, how many warp
            instructions are issued whenever that counts, and how many each of its lanes runs.
        visits: the counter of the iterations around the path; None where that is not counted.
        begun: the counter of how often the path was entered, its turns not counted; likewise.
        starts: the counter of how often the annotated loop around it was entered; likewise.
        share: what part of the visits comes to it, and not to its copies.
    """

    counter: int
    entries: tuple[str, ...]
    blocks: set[str]
    counts_at_top: bool = True
    is_loop: bool = False
    each: list[tuple[int, int, int]] = field(default_factory=list)
    visits: int | None = None
    begun: int | None = None
    starts: int | None = None
    share: float = 1.0

    @property
    def issued(self) -> int:
        """The first of the two counters of instructions."""
        return self.counter + (len(PATH_COUNTERS) - len(FUNCTION_COUNTERS) if self.entries else 0)


@dataclass(slots=True)
class Point:
    """Where lanes may have come together or parted: behind ``after``, or at the top of a block.

    ``count`` instructions follow that the same lanes run.
    """

    after: Instruction | None = None
    count: int = 0


def prepare(function: Function) -> set[Instruction]:
    """Cut blocks so that whole ones can be counted; returns the instructions that count.

    Blocks end at guarded branches, all jumps are explicit, and each way to a block that only
    returns has such a block of its own: with counting code in it, lanes that leave early would wait
    there for the others, who may wait for them to have left.
    """
    _end_blocks_at_branches(function)
    counted = set(function.instructions)
    make_explicit(function)
    return counted | _part_returns(function)


def leaves(instruction: Instruction) -> bool:
    """Whether lanes leave the function there."""
    return bool(instruction.effects & (Effect.RETURN | Effect.EXIT))


def switches_off(instruction: Instruction) -> bool:
    """Whether lanes take no part in it where its guard does not hold.

    In a branch all take part: the guard only says where they go.
    """
    return instruction.guard is not None and not instruction.effects & Effect.BRANCH


def guarded_groups(
    block: Block, counted: Collection[Instruction]
) -> dict[Instruction, tuple[Guard, int]]:
    """What the same lanes of a block are switched off in: by its first instruction, how many."""
    found: dict[Instruction, tuple[Guard, int]] = {}
    first: dict[Guard, Instruction] = {}
    for instruction in block.instructions:
        guard = instruction.guard
        if guard is not None and switches_off(instruction) and instruction in counted:
            leader = first.setdefault(guard, instruction)
            found[leader] = guard, found.get(leader, (guard, 0))[1] + 1
        for register in instruction.defined():
            first.pop(Guard(register), None)
            first.pop(Guard(register, negated=True), None)
    return found


def counted_blocks(entry: str, is_loop: bool, facts: Facts) -> tuple[set[str], bool]:
    """The blocks to count for a path, and whether they are a loop.

    They end with the turn that the path is a part of. Other than for
    :func:`ccc.analysis.paths.find.extent`, what is left of an unrolled loop counts, too.

    Args:
        entry: the path's first block.
        is_loop: whether the annotation speaks of a loop; nvcc may have unrolled it.
        facts: of the function.
    """
    around = [loop for loop in facts.loops if entry in loop.blocks]
    if is_loop and around and around[0].header == entry:
        return set(around[0].blocks), True
    tree = facts.dominators
    limits = around[0].blocks if around else set(facts.graph) - {EXIT}
    return {label for label in limits if tree.dominates(entry, label)}, False


def find_points(
    regions: Mapping[str, object], facts: Facts, counted: Collection[Instruction]
) -> dict[str, list[Point]]:
    """The points of each block that control can reach; the first is its top.

    Args:
        regions: for each of these blocks, what its instructions are counted for.
        facts: of the function.
        counted: the instructions that count.
    """
    found = {label: _points(facts.blocks[label], counted) for label in regions}
    depth = {label: len(facts.dominators.chain(label)) for label in regions}
    for label in sorted(regions, key=lambda label: -depth[label]):
        sources = list(facts.graph.predecessors(label))
        ways = list(facts.graph.successors(sources[0])) if len(sources) == 1 else []
        if len(ways) != 1 or label == facts.entry:
            continue
        if regions[sources[0]] == regions[label]:  # the same lanes run both
            found[sources[0]][-1].count += found[label][0].count
            found[label][0].count = 0
    return found


def count_for_lanes(
    regions: Mapping[str, object], facts: Facts, counted: Collection[Instruction]
) -> dict[str, int]:
    """How many instructions to count for a lane whenever it comes to a block.

    With a block are counted those of its region that a lane comes to just as often, later in the
    same iteration; for these the number is 0. Those that switch lanes off are not among them.

    Args:
        regions: for each block that control can reach, what its instructions are counted for.
        facts: of the function.
        counted: the instructions that count.
    """
    found = {
        label: sum(i in counted and not switches_off(i) for i in facts.blocks[label].instructions)
        for label in regions
    }
    tree = facts.dominators
    if not is_reducible(facts.graph, tree):
        return found
    loops = {
        label: next((loop.header for loop in facts.loops if label in loop.blocks), None)
        for label in regions
    }
    ends = _ends_of_iterations(facts)
    for label in sorted(regions, key=lambda label: -len(tree.chain(label))):
        above = tree.immediate(label)
        if (
            above is not None
            and ends.immediate(above) == label
            and loops[above] == loops[label]
            and regions[above] == regions[label]
        ):
            found[above] += found[label]
            found[label] = 0
    return found


def _ends_of_iterations(facts: Facts) -> Dominators:
    """Post-dominators, each iteration of a loop taken as a way through the function."""
    graph = facts.graph.copy()
    for loop in facts.loops:
        for latch in loop.latches:
            graph.remove_edge(latch, loop.header)
            graph.add_edge(latch, EXIT)
    return post_dominators(graph)


def _points(block: Block, counted: Collection[Instruction]) -> list[Point]:
    points = [Point()]
    for instruction in block.instructions:
        if _gathers(instruction):
            points.append(Point(instruction))
        points[-1].count += instruction in counted
    return points


def _gathers(instruction: Instruction) -> bool:
    """Whether lanes that came apart wait for one another here.

    Those that must not have come apart (``.aligned``) do not.
    """
    meets = instruction.effects & (Effect.COLLECTIVE | Effect.BARRIER)
    words = instruction.modifiers
    return bool(meets) and "sync" in words and "aligned" not in words


def _end_blocks_at_branches(function: Function) -> None:
    """A block of its own for what only those lanes run that a guarded branch leaves behind."""
    blocks = []
    for block in function.blocks:
        blocks.append(block)
        while position := _behind_first_branch(blocks[-1]):
            statements = blocks[-1].statements
            blocks.append(Block(function.fresh_label("rest"), statements[position:], named=False))
            del statements[position:]
    function.blocks = blocks


def _behind_first_branch(block: Block) -> int:
    """The position behind a branch that another instruction follows; 0 if there is none."""
    positions = [k for k, one in enumerate(block.statements) if isinstance(one, Instruction)]
    branches = [k for k, i in zip(positions, block.instructions, strict=True) if i.is_terminator]
    return branches[0] + 1 if branches and branches[0] != positions[-1] else 0


def _part_returns(function: Function) -> set[Instruction]:
    """Give each way to a block that only returns such a block of its own; returns what is new."""
    new: set[Instruction] = set()
    for block in [block for block in function.blocks if _only_returns(block)]:
        sources = [source for source in function.blocks if _leads_to(function, source, block.label)]
        for source in sources[1:]:
            copy = add_block(function, "return")
            copy.statements = [substitute(i, {}, {}) for i in block.instructions]
            new.update(copy.instructions)
            retarget(function, source, block.label, copy.label)
    return new


def _only_returns(block: Block) -> bool:
    instructions = list(block.instructions)
    return len(instructions) == 1 and leaves(instructions[0]) and instructions[0].guard is None


def _leads_to(function: Function, block: Block, label: str) -> bool:
    names = [s.name for i in block.instructions if i.is_terminator for s in i.symbols()]
    return any(label == name or label in function.targets.get(name, ()) for name in names)
