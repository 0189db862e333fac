"""Work: what code takes of the pipes of a multiprocessor, in warp instructions.

Code lasts as long as the pipe that is busy longest: what is added to one that is not costs nothing.
One of them is memory, of which the sectors are counted that turns of inner loops ask for
(:mod:`ccc.passes.choice.turns`). What lies in a cache nothing in PTX tells.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ccc.analysis.callees import callee
from ccc.analysis.constant_trip_count import trip_count
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.lane_strides import Strides, address_stride, lane_strides
from ccc.analysis.likeness import go_round_alike_in_turns
from ccc.ir.nodes import Instruction
from ccc.passes.choice.seldom import seldom
from ccc.passes.thresholds import FEW_TURNS, UNKNOWN_SHARE, UNKNOWN_TURNS
from ccc.ptx.opcodes import ATOMIC, Effect, Unit
from ccc.ptx.throughput import Pipe, machine_code, slots_of
from ccc.ptx.types import MAY_BE_GLOBAL, TYPES

_PIPES = tuple(Pipe)
MOST_CALLS = 3
"""So deep called functions are looked into."""
ONE_ADDRESS = 190
"""Sectors in the time of which a multiprocessor's turn comes at an address with which all of a GPU
do an atomic operation. On an H200 (2026-11-28), where 132 of them add to one number by one lane of
each warp, that takes 1.46 cycles each time. ptxas has one lane add for all that come together, if
what they add are whole numbers. A loop of greatest common divisors that counts some of them so took
1.4 times as long with ``merge``, and had 0.57 times as much to issue: lanes came one by one."""


@dataclass(frozen=True, slots=True)
class Work:
    """Warp instructions by pipe, in the order of ``Pipe``; those of ``ISSUE`` are all of them."""

    amounts: tuple[float, ...] = (0.0,) * len(_PIPES)

    @staticmethod
    def of(pipe: Pipe, instructions: float) -> Work:
        """So many instructions of one pipe."""
        return Work(tuple(instructions * (one in (Pipe.ISSUE, pipe)) for one in _PIPES))

    @staticmethod
    def sectors(number: float) -> Work:
        """So many sectors of memory, of instructions that are counted elsewhere."""
        return Work(tuple(number * (one is Pipe.SECTORS) for one in _PIPES))

    def __add__(self, other: Work) -> Work:
        return Work(tuple(map(operator.add, self.amounts, other.amounts)))

    def __mul__(self, factor: float) -> Work:
        return Work(tuple([factor * amount for amount in self.amounts]))

    @property
    def instructions(self) -> float:
        """All of them."""
        return self.amounts[_PIPES.index(Pipe.ISSUE)]

    @property
    def loads(self) -> float:
        """Those of memory."""
        return self.amounts[_PIPES.index(Pipe.MEMORY)]

    def slots(self, arch: str) -> float:
        """The issue slots in which it is done, where other warps hide its latencies."""
        return max(self.busy(arch).values())

    def waits_for(self, arch: str) -> Pipe:
        """The pipe that is busy longest."""
        busy = self.busy(arch)
        return max(busy, key=busy.__getitem__)

    def busy(self, arch: str) -> dict[Pipe, float]:
        """The issue slots in which each pipe is."""
        return {p: n * slots_of(p, arch) for p, n in zip(_PIPES, self.amounts, strict=True)}


def total(works: Iterable[Work]) -> Work:
    """The sum."""
    found = Work()
    for work in works:
        found += work
    return found


def work_of(instruction: Instruction) -> Work:
    """What one instruction of PTX takes, about."""
    return _work_of(instruction.opcode)


@functools.lru_cache(maxsize=4096)
def _work_of(opcode: str) -> Work:
    i = Instruction(opcode)
    return Work.of(*machine_code(i.name, i.unit, i.modifiers, i.types, i.space))


@dataclass(frozen=True, slots=True)
class Guess:
    """What is supposed where nothing is known.

    Args:
        turns: how often a loop goes round.
        share: of warps that go a way which others pass by.
        begun: the same of a loop that always has some turns.
        alike: how often a loop goes round in the turns of another one, if it does so as often for
            all lanes in all of these.
    """

    turns: int = UNKNOWN_TURNS
    share: float = UNKNOWN_SHARE
    begun: float = 1.0
    alike: int = UNKNOWN_TURNS


USUAL = Guess()
SHORT = Guess(FEW_TURNS, 0.0, 0.0, FEW_TURNS)
"""What a path takes at least, about."""
SHORT_LOOPS = Guess(FEW_TURNS)
"""The same of turns, whose loops are short."""


@dataclass(frozen=True, slots=True)
class Passage:
    """What a warp does that goes through some blocks.

    Args:
        work: what it takes.
        length: in instructions of PTX, which profiles count.
    """

    work: Work
    length: float

    def with_call(self, body: Passage, number: float) -> Passage:
        """With the body of a function that is called so often."""
        return Passage(self.work + body.work * number, self.length + body.length * number)

    def scaled_to(self, length: float | None) -> Work:
        """The work of the same mixture of so many instructions; as it is where none are known."""
        return self.work * self.scale(length)

    def scale(self, length: float | None) -> float:
        """How many times as long as that so many instructions are; 1 where none are known."""
        return length / self.length if length and self.length else 1.0


def passage(
    labels: Collection[str],
    facts: Facts,
    entry: str,
    once: str = "",
    *,
    saves: bool = False,
    all_ways: bool = False,
    unknown: Guess = USUAL,
    depth: int = 0,
) -> Passage:
    """What a warp does that goes through some blocks.

    What hardly anything takes it takes never; other ways, and loops whose turns are no constant, as
    often as is supposed of what is ``unknown``.

    Args:
        labels: the blocks.
        facts: the function's analyses.
        entry: the block that they begin with.
        once: the header of a loop of which one turn is meant, if there is such.
        all_ways: whether it takes the latter, too.
        saves: whether less of it is run if tasks are collected: then waiting for one address counts
            only where each execution does, since what is seldom, as errors are, saves nothing.
        unknown: what is supposed of that.
        depth: of calls that lead there.
    """
    often = times(labels, facts, entry, once, all_ways=all_ways, unknown=unknown)
    strides = lane_strides(facts)
    blocks = [(list(facts.blocks[label].instructions), number) for label, number in often.items()]
    work = total(work_of(instruction) * number for mine, number in blocks for instruction in mine)
    queued = sum(
        number
        for mine, number in blocks
        for one in mine
        if _queues(one, strides) and (number >= 1 or not saves)
    )
    length = sum(number * len(mine) for mine, number in blocks)
    found = Passage(work + Work.sectors(ONE_ADDRESS * queued), length)
    for name, number in _calls(blocks) if depth < MOST_CALLS else ():
        found = found.with_call(facts.once(_body, (name, depth + 1, unknown)), number)
    return found


def _calls(blocks: Iterable[tuple[list[Instruction], float]]) -> Iterable[tuple[str, float]]:
    """The functions that are called, and how often."""
    every = ((one, number) for mine, number in blocks for one in mine if number)
    return [(callee(one), number) for one, number in every if one.effects & Effect.CALL]


def _body(called: tuple[str, int, Guess], facts: Facts) -> Passage:
    """What a called function takes, at a depth of calls, if so much is supposed; nothing where the
    file lacks it."""
    name, depth, unknown = called
    function = facts.callees.load(name) if name else None
    if function is None or not function.blocks:
        return Passage(Work(), 0.0)
    own = Facts(function, facts.callees, facts.files)
    labels = [block.label for block in function.blocks]
    return passage(labels, own, own.entry, unknown=unknown, depth=depth)


def _queues(one: Instruction, strides: Strides) -> bool:
    """Whether it is an atomic operation with which all warps come to one address, one lane each."""
    is_one = address_stride(one, strides) == 0 and one.space in MAY_BE_GLOBAL
    whole = all(TYPES[name].kind in "bus" for name in one.types)
    return one.unit == Unit.LSU and one.effects & ATOMIC == ATOMIC and is_one and whole


def guesses(labels: Collection[str], facts: Facts, once: str = "") -> bool:
    """Whether ways, or turns of loops, may have to be guessed for what some blocks take."""
    inner = (one for one in facts.loops if one.blocks <= set(labels) and one.header != once)
    code = (one for label in labels for one in facts.blocks[label].instructions)
    return (
        any(len(set(facts.graph.successors(label)).intersection(labels)) > 1 for label in labels)
        or any(trip_count(one, facts) is None for one in inner)
        or any(one.effects & Effect.CALL for one in code)
    )


def times(
    labels: Collection[str],
    facts: Facts,
    entry: str,
    once: str = "",
    *,
    all_ways: bool = False,
    unknown: Guess = USUAL,
) -> dict[str, float]:
    """How often it goes through each of them; the arguments are those of ``passage``."""
    within = frozenset(labels)
    never = frozenset() if all_ways else seldom(facts)
    inner = [one for one in facts.loops if one.blocks <= within and one.header != once]
    always = {entry, *facts.post_dominators.chain(entry)}

    turns_of = {loop.header: trip_count(loop, facts) for loop in inner}

    def passes(loop: Loop, label: str) -> float:
        turns = turns_of[loop.header]
        if turns is None:
            asks = once and unknown.alike != unknown.turns
            is_alike = asks and go_round_alike_in_turns(loop, once, facts)
            return unknown.alike if is_alike else unknown.turns
        ends = {source for source, _ in loop.exits(facts.graph)} - {label}
        return turns - any(facts.dominators.dominates(end, label) for end in ends)

    def is_of_each(loop: Loop, label: str) -> bool:
        if facts.post_dominators.dominates(label, loop.header):
            return True
        counts = turns_of[loop.header] is not None
        return counts and all(facts.dominators.dominates(label, one) for one in loop.latches)

    def of(label: str) -> float:
        if label in never:
            return 0.0
        around = [loop for loop in inner if label in loop.blocks]
        turns = math.prod((passes(loop, label) for loop in around), start=1.0)
        is_certain = label in always or any(is_of_each(loop, label) for loop in around)
        counted = [loop for loop in around if turns_of[loop.header] is not None]
        if any(loop.header not in always for loop in counted):
            turns *= unknown.begun
        # Who comes to a loop of unknown turns may ask before it whether there are any.
        may_ask = len(counted) < len(around)
        return turns * (1.0 if is_certain else UNKNOWN_SHARE if may_ask else unknown.share)

    return {label: of(label) for label in sorted(within)}


def work_of_blocks(labels: Collection[str], facts: Facts, entry: str, once: str = "") -> Work:
    """What it takes; the arguments are those of ``passage``."""
    return passage(labels, facts, entry, once).work
