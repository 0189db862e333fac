"""What the conditions of a loop's branches are computed from, in registers and through memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ccc.analysis.callees import all_meet_at
from ccc.analysis.cfg import reachable
from ccc.analysis.counted_ends import LoopCounters
from ccc.analysis.defuse import only_maker
from ccc.analysis.polled import changes_nothing
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Arguments, Operand, Register, Symbol
from ccc.ptx.opcodes import LOADS, Effect

if TYPE_CHECKING:
    from ccc.analysis.dominators import Loop
    from ccc.analysis.facts import Facts


class LoopConditions:
    """What a loop computes the conditions of its branches from."""

    def __init__(self, loop: Loop, facts: Facts):
        self.loop = loop
        self.facts = facts
        self.leaving = {source for source, _ in loop.exits(facts.graph)}
        self.body = [i for label in sorted(loop.blocks) for i in facts.blocks[label].instructions]
        self.makers: dict[Register | str, list[Instruction]] = {}
        self._writers: dict[Instruction, Sequence[Instruction]] = {}
        self._same_writers: dict[tuple[Instruction, ...], Sequence[Instruction]] = {}
        for label in sorted(loop.blocks):
            for instruction in facts.blocks[label].instructions:
                made: list[Register | str] = [*instruction.defined(), *_results(instruction)]
                for one in made:
                    self.makers.setdefault(one, []).append(instruction)

    @cached_property
    def each_trip(self) -> dict[Register, Instruction]:
        """The registers that one instruction alone writes, once in each trip."""
        inner = [other.blocks for other in self.facts.loops if other.blocks < self.loop.blocks]
        return {
            register: instruction
            for label in filter(self.always, self.loop.blocks.difference(*inner))
            for instruction in self.facts.blocks[label].instructions
            for register in instruction.defined()
            if instruction.guard is None and len(self.makers[register]) == 1
        }

    @cached_property
    def carried(self) -> frozenset[Register]:
        """The registers that go from trip to trip."""
        live = self.facts.liveness.live_in(self.loop.header)
        return live & {register for one in self.body for register in one.defined()}

    @cached_property
    def handed_on(self) -> set[Register | str]:
        """What the loop makes of what its last trip has left, in however many steps.

        Of calls it is variables. All of it is found at once: through memory most of a loop may be
        made of most of it.
        """
        made_of: dict[Register | str, list[Register | str]] = {}
        worklist: list[Register | str] = []
        memory: dict[int, str] = {}  # names for what is written, for many loads once

        def is_carried(instruction: Instruction) -> bool:
            return not self.carried.isdisjoint(instruction.used())

        def through(writers: Sequence[Instruction]) -> str:
            if (name := memory.get(id(writers))) is None:
                name = memory[id(writers)] = f"memory {len(memory)}"
                if any(one.effects & Effect.CALL and is_carried(one) for one in writers):
                    worklist.append(name)
                for source in self._through_memory(writers):
                    made_of.setdefault(source, []).append(name)
            return name

        for name, makers in self.makers.items():
            for maker in makers:
                if is_carried(maker):
                    worklist.append(name)
                for source in self._at_once(maker):
                    made_of.setdefault(source, []).append(name)
                if writers := self.written_for(maker):
                    made_of.setdefault(through(writers), []).append(name)
        found = set(worklist)
        while worklist:
            more = set(made_of.get(worklist.pop(), ())) - found
            found |= more
            worklist += more
        return found

    @cached_property
    def counters(self) -> LoopCounters:
        """What the loop counts by."""
        return LoopCounters(self.each_trip, self.makers, self.facts.literal, self.start)

    def start(self, operand: Operand) -> int | None:
        """The literal that a register holds whenever the loop begins, if it does."""
        begins = self.facts.begins(self.loop, operand) if isinstance(operand, Register) else None
        made = begins[0].instruction if begins and len(begins) == 1 else None
        if made is None or made.name != "mov" or made.guard is not None:
            return None
        literal = self.facts.literal(made.operands[1])
        return literal.integer if literal else None

    def copied(self, operand: Operand) -> Operand:
        """What the loop copies a value from, perhaps to a wider register and back."""
        seen: set[Operand] = set()
        while operand not in seen:
            seen.add(operand)
            maker = only_maker(operand, self.makers)
            if maker is None or not _is_copy(maker):
                break
            operand = maker.operands[1]
        return operand

    def is_same(self, operand: Operand) -> bool:
        """Whether a value is the same in each trip: the loop makes it of nothing else."""
        own = self.facts.liveness.live_in(self.loop.header) & self.makers.keys()
        made = self.behind([operand]) if isinstance(operand, Register) else set()
        used = {operand, *(register for i in made for register in i.used())}
        return (
            used.isdisjoint(own)
            and all(len(self.makers[one]) == 1 for i in made for one in i.defined())
            and not any(i.guard or i.effects or i.reads_time for i in made)
        )

    @cached_property
    def is_fenced(self) -> bool:
        """Whether loads of the loop are done anew because a fence stands between.

        Where lanes meet in each turn, all or those that a mask names, none of them goes round for
        another.
        """
        return any(
            (i.effects & Effect.FENCE and not (all_meet_at(i) or "warp" in i.modifiers))
            or self.facts.callees.fences(i)
            for i in self.body
        )

    def always(self, label: str) -> bool:
        """Whether each trip that does not leave the loop before comes to a block."""
        return all(self.facts.dominators.dominates(label, latch) for latch in self.loop.latches)

    def goes_on(self, label: str, source: str) -> bool:
        """Whether a way leads from a block on to the next trip, or to itself, past another one."""
        inside = self.loop.blocks - {source}

        def step(at: str) -> Iterable[str]:
            return (s for s in self.facts.graph.successors(at) if s in inside)

        ways = reachable(step, step(label), stops=[self.loop.header])
        return not ways.isdisjoint({self.loop.header, label})

    def leaves_if(self, source: str, comparison: Instruction, value: bool) -> bool:
        """Whether the branch at the end of a block leaves the loop if a comparison has a value."""
        return self.leaves(source, lambda setp: value if setp is comparison else None)

    def leaves(self, source: str, known: Callable[[Instruction], bool | None]) -> bool:
        """Whether the branch at the end of a block certainly leaves the loop.

        ``known`` tells the result of a comparison, as far as it is known.
        """
        ways = self.ways(source, known)
        return ways is not None and ways.isdisjoint(self.loop.blocks)

    def ways(self, source: str, known: Callable[[Instruction], bool | None]) -> set[str] | None:
        """Where a guarded branch at the end of a block leads; None if that is not known."""
        ends = (i for i in self.facts.blocks[source].instructions if i.is_terminator)
        branch = next(ends, None)
        if branch is None or branch.guard is None:
            return None
        value = self._value(branch.guard.register, known)
        if value is None:
            return None
        after = set(self.facts.graph.successors(source))
        taken = after & {branch.target}
        return taken if value != branch.guard.negated else after - taken

    def _value(
        self,
        predicate: Operand,
        known: Callable[[Instruction], bool | None],
        seen: frozenset[Operand] = frozenset(),
    ) -> bool | None:
        """What a predicate holds, as far as that is known."""
        maker = only_maker(predicate, self.makers)
        if maker is None or predicate in seen:
            return None
        if maker.name == "setp":
            return known(maker)
        values = [self._value(o, known, seen | {predicate}) for o in maker.operands[1:]]
        if maker.name in ("and", "or") and (maker.name == "or") in values:
            return maker.name == "or"
        if maker.name not in ("and", "or", "not", "mov") or None in values:
            return None
        return values[0] != (maker.name == "not")

    def leading_to(
        self, sources: Collection[str], counted: Collection[str] = ()
    ) -> set[Instruction]:
        """What decides whether the loop is left at the ends of blocks, over branches, too.

        Those at the ends of the blocks ``counted`` do not count. What a loop inside ends by counts
        only if something hangs on how often that turns.
        """

        def controllers(label: str) -> Iterable[str]:
            return self.facts.controllers[label] & self.loop.blocks

        found, before = self.of(*sources), None
        while found != before:
            before = found
            makers = found.union(*map(self.written_for, found))
            places = {*sources, *(self.facts.homes[maker] for maker in makers)}
            ways = {label for place in places for label in controllers(place)}
            found = found.union(self.of(*(reachable(controllers, ways) - set(counted))))
        return found

    def of(self, *labels: str, but: Collection[Instruction] = ()) -> set[Instruction]:
        """What decides the branches at the ends of blocks, not through some instructions."""
        used = (
            register
            for label in labels
            for instruction in self.facts.blocks[label].instructions
            if instruction.is_terminator
            for register in instruction.used()
        )
        return self.behind(used, but)

    def behind(
        self, registers: Iterable[Register | str], but: Collection[Instruction] = ()
    ) -> set[Instruction]:
        """What the loop makes some registers from."""
        found: set[Instruction] = set()
        worklist = list(registers)
        seen: set[Register | str] = set()
        written: set[int] = set()
        while worklist:
            if (one := worklist.pop()) in seen:
                continue
            seen.add(one)
            for maker in self.makers.get(one, ()):
                if maker in found or maker in but:
                    continue
                found.add(maker)
                worklist += self._at_once(maker)
                writers = self.written_for(maker)
                if id(writers) not in written:
                    written.add(id(writers))
                    found |= {one for one in writers if one.effects & Effect.CALL}
                    worklist += self._through_memory(writers)
        return found

    def sources(self, maker: Instruction) -> Iterator[Register | str]:
        """The registers, and the variables of a call, that an instruction makes its result from, be
        it through memory."""
        yield from self._at_once(maker)
        yield from self._through_memory(self.written_for(maker))

    def _at_once(self, maker: Instruction) -> Iterator[Register | str]:
        """The registers, and the variables of a call, that an instruction makes its result from."""
        yield from maker.used()
        if maker.space == "param":
            yield from (symbol.name for symbol in maker.symbols())

    def _through_memory(self, writers: Iterable[Instruction]) -> Iterator[Register | str]:
        """The same of what it reads, by what may have written that: a call was told what to write,
        or finds it in memory."""
        for writer in writers:
            yield from writer.used()
            for one in self.written_for(writer) if writer.effects & Effect.CALL else ():
                yield from one.used()

    def made_by(self, names: Collection[str], register: Register) -> set[Instruction] | None:
        """What the loop makes a register from, if it takes no other instructions than these."""
        found: set[Instruction] = set()
        worklist: list[Register] = [register]
        while worklist:
            for maker in self.makers.get(worklist.pop(), ()):
                if maker.name not in names:
                    return None
                if maker not in found:
                    found.add(maker)
                    worklist += maker.used()
        return found

    def read_by(self, user: Instruction, operand: Operand) -> set[Instruction]:
        """The instructions that may have made what one of the loop reads in an operand."""
        if not isinstance(operand, Register):
            return set()
        blocks = self.facts.blocks
        label = next(one for one in self.loop.blocks if user in blocks[one].instructions)
        found = self.facts.reaching.of_uses(label)[user, operand]
        return {definition.instruction for definition in found}

    def written_for(self, load: Instruction) -> Sequence[Instruction]:
        """What of the loop may write what a load or a call reads, which is looked for once."""
        if load not in self._writers:
            writers = tuple(self._writers_of(load))
            self._writers[load] = self._same_writers.setdefault(writers, writers)
        return self._writers[load]

    @cached_property
    def _writing(self) -> list[Instruction]:
        """What of the loop may write memory."""
        return [i for i in self.body if i.effects & (Effect.WRITE | Effect.CALL)]

    def _writers_of(self, load: Instruction) -> Sequence[Instruction]:
        """What of the loop may write what a load or a call reads, so that a value comes through
        memory."""
        if load.effects & Effect.CALL:  # its arguments, and what those may point to
            return [i for i in self.body if i.name == "st" and i.space in ("param", "local", "")]
        looks = load.name in LOADS or changes_nothing(load, self.facts)
        if not looks or "nc" in load.modifiers or load.space == "param":
            return ()
        own = load.space == "local"
        return [
            i
            for i in self._writing
            if (own and (i.space in ("local", "") or i.effects & Effect.CALL))
            or (not own and self.facts.memory.conflict([i], [load]))
        ]


def _is_copy(instruction: Instruction) -> bool:
    """Whether it hands an integer on, perhaps between registers of 32 and 64 bits."""
    types = instruction.types
    return instruction.name in ("mov", "cvt") and all(
        one[0] in "sub" and one[1:] in ("32", "64") for one in types
    )


def _results(instruction: Instruction) -> tuple[str, ...]:
    """The variables in which a call leaves its results."""
    first = instruction.operands[0] if instruction.operands else None
    if instruction.name != "call" or not isinstance(first, Arguments):
        return ()
    return tuple(leaf.name for leaf in first.elements if isinstance(leaf, Symbol))
