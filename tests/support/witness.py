"""The emulator as a witness of the analyses: whether kernels do what is said of them.

Divergence: lanes of a warp that come to a block in the same *instance*, that is in the same
iteration of each loop around it, together or not, have the same value in each register that is
live there and not said to differ. From a block whose branch is not said to be divergent, all lanes
that are there in the same instance go the same way. A :class:`Witness` watches that in the place of
a wave.

Liveness: what is in a register that is said to be dead at the top of a block does not matter.
:func:`poisoned` writes junk there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from unittest.mock import patch

import numpy as np

from ccc.analysis.facts import Facts
from ccc.emulator.lanes.groups import Group
from ccc.emulator.run import module as emulator
from ccc.emulator.run.simt import Wave
from ccc.emulator.translate.program import Program
from ccc.ir.nodes import Block, Function, Instruction
from ccc.ir.operands import Immediate, Register
from ccc.ir.printer import replace
from ccc.parse import parse_function, parse_module

NOWHERE = 0
"""Where lanes come from that begin; blocks are numbered from 1."""

_MIX = np.int64(0x5851F42D4C957F2D)


class Contradiction(Exception):
    """The kernel did what an analysis says that it does not."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What is said of a block: ``uniform`` are registers with their places in the state.

    ``loops`` are the numbers of the loops around it, from the outermost; ``heads`` is that of the
    loop whose header it is, if any.
    """

    number: int
    label: str
    uniform: list[tuple[Register, int]]
    branch_is_uniform: bool
    loops: list[int]
    heads: int | None


class Claims:
    """What the analyses say of a kernel: by number of the segment that a block begins with."""

    def __init__(self, program: Program):
        code = program.codes[0]
        facts = Facts(code.function)
        assert facts.is_reducible, "there are loops that have no header"
        outermost_first = facts.loops[::-1]
        labels = [block.label for block in code.function.blocks if block.label in facts.graph]
        self.within = np.zeros((len(outermost_first), len(labels) + 1), bool)
        for row, loop in zip(self.within, outermost_first, strict=True):
            row[1:] = [label in loop.blocks for label in labels]
        headers = {loop.header: number for number, loop in enumerate(outermost_first)}
        begins = {
            id(one): label
            for label in labels
            for one in islice(facts.blocks[label].instructions, 1)
        }
        assert all(any(facts.blocks[label].instructions) for label in headers), "a header is empty"
        self.by_segment: dict[int, Claim] = {}
        for segment in code.segments:
            label = begins.pop(id(next(iter(segment.instructions), None)), None)
            if label is None:
                continue
            live = segment.live_in & facts.liveness.live_in(label)
            alike = sorted(live - facts.divergence.divergent_at(label), key=str)
            number = labels.index(label) + 1
            self.by_segment[segment.number] = Claim(
                number,
                label,
                [(register, program.registers[id(code), register]) for register in alike],
                label not in facts.divergence.divergent_branches,
                [int(loop) for loop in np.flatnonzero(self.within[:, number])],
                headers.get(label),
            )
        assert not begins, f"no segment begins with {', '.join(begins.values())}"
        self.uniform_branches = np.zeros(len(labels) + 1, bool)
        for claim in self.by_segment.values():
            self.uniform_branches[claim.number] = claim.branch_is_uniform


class Witness(Wave):
    """A wave that compares what lanes of a warp have and do in the same instance of a block.

    ``at`` is each lane's block, ``instance`` a number for its warp and the iterations that it is
    in, ``trips`` has these by loop. ``seen`` is what was seen first.
    """

    watched = 0
    """How many values were compared with one of another lane."""

    def __post_init__(self) -> None:
        Wave.__post_init__(self)
        lanes = self.geometry.lanes
        self.claims = _claims(self.program)
        self.at = np.full(lanes, NOWHERE)
        self.instance = np.zeros(lanes, np.int64)
        self.trips = np.zeros((len(self.claims.within), lanes), np.int64)
        self.seen: dict[tuple[int, int], bytes] = {}
        self.ways: dict[tuple[int, int], int] = {}

    def execute(self, code: int, group: Group) -> int | None:
        """As of :class:`Wave`, after a look at those who come to a block."""
        claim = self.claims.by_segment.get(code % self.segment_count)
        if claim is not None and not group.depth:
            self._check_ways(claim, group)
            self._arrive(claim, group)
            self._check_values(claim, group)
        return Wave.execute(self, code, group)

    def _arrive(self, claim: Claim, group: Group) -> None:
        """Keep the books of who is where."""
        if claim.heads is not None:
            trips = self.trips[claim.heads]
            again = self.claims.within[claim.heads][self.at[group.index]]
            trips[group.index] = np.where(again, trips[group.index] + 1, 0)
        instance = group.lanes >> 5
        for loop in claim.loops:
            instance = instance * _MIX + self.trips[loop][group.index] + 1
        self.instance[group.index] = instance
        self.at[group.index] = claim.number

    def _check_ways(self, claim: Claim, group: Group) -> None:
        came = self.at[group.index]
        told = self.claims.uniform_branches[came]
        for block in np.unique(came[told]):
            for instance in np.unique(self.instance[group.index][came == block]):
                first = self.ways.setdefault((int(block), int(instance)), claim.number)
                if first != claim.number:
                    names = {claim.number: claim.label for claim in self.claims.by_segment.values()}
                    ways = f"{names[first]} and {claim.label}"
                    raise Contradiction(f"from {names[int(block)]}, lanes go to {ways}")

    def _check_values(self, claim: Claim, group: Group) -> None:
        if not claim.uniform:
            return
        frame = self.frame(0)
        rows = np.stack([frame[place][group.index].astype(np.uint64) for _, place in claim.uniform])
        instance = self.instance[group.index]
        found, first, of_lane = np.unique(instance, return_index=True, return_inverse=True)
        Witness.watched += rows.size - rows[:, first].size
        differ = rows != rows[:, first][:, of_lane]
        for number, column in zip(found, first, strict=True):
            values = rows[:, column].tobytes()
            known = self.seen.setdefault((claim.number, int(number)), values)
            if known != values:
                differ[:, column] |= np.frombuffer(known, np.uint64) != rows[:, column]
        if differ.any():
            register, _ = claim.uniform[int(np.argmax(differ.any(axis=1)))]
            raise Contradiction(f"{register} differs between lanes in {claim.label}")


_known: dict[int, tuple[Program, Claims]] = {}


def _claims(program: Program) -> Claims:
    if id(program) not in _known:
        _known.clear()  # a launch has one program, and many waves
        _known[id(program)] = program, Claims(program)
    return _known[id(program)][1]


@contextmanager
def witnessed() -> Iterator[None]:
    """Inside, launches on the emulator, which runs on NumPy, raise :class:`Contradiction`."""
    emulator.Wave = Witness  # type: ignore[misc, attr-defined]
    try:
        with patch.dict(os.environ, CCC_EMULATOR="numpy"):
            yield
    finally:
        emulator.Wave = Wave  # type: ignore[misc, attr-defined]


Choose = Callable[[Facts, Block], Collection[Register]]
"""Which registers of a function to poison at the top of a block."""


def dead(facts: Facts, block: Block) -> set[Register]:
    """The registers that are dead there, and not already where lanes come from."""
    known: set[Register] = set()
    for before in facts.graph.predecessors(block.label):
        known |= facts.liveness.live_in(before)
        known.update(*(one.defined() for one in facts.blocks[before].instructions))
    return known - facts.liveness.live_in(block.label)


def poisoned(ptx: str, predicates: bool, choose: Choose = dead) -> str:
    """The same PTX with junk in registers at the tops of blocks; of ``predicates``, this value."""
    module = parse_module(ptx)
    for piece in module.functions:
        function = parse_function(piece)
        facts = Facts(function)
        reached = [block for block in function.blocks if block.label in facts.graph]
        chosen = {block.label: choose(facts, block) for block in reached}
        for label, registers in chosen.items():
            facts.blocks[label].statements[:0] = _junk(function, registers, predicates)
        replace(piece, function)
    return module.text


def _junk(
    function: Function, registers: Collection[Register], predicates: bool
) -> list[Instruction]:
    junk = []
    for register in sorted(registers, key=str):
        if function.registers.find(register.name) is None:
            continue  # the carry
        text = ("-1" if predicates else "0") if register.bits == 1 else "0x5A"
        kind = "pred" if register.bits == 1 else f"b{register.bits}"
        junk.append(Instruction(f"mov.{kind}", (register, Immediate(text))))
    return junk
