"""The cost model: in how many issue slots a warp does an iteration of an annotated loop.

As it is, an iteration takes what stands around its paths, and each path as often as at least one
lane of a warp takes it, or as many turns as the lane with most. Collected, a path is run by full
warps: as often as 32 lanes have taken it; and each iteration pays for the exchange. What the user
saves is the difference.

The slots are those of the pipe that is busiest (:mod:`ccc.passes.choice.work`), over a power of the
share of warps that the multiprocessor has room for.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ccc.analysis.paths.legality import holds_the_kernel
from ccc.analysis.paths.model import AnnotatedLoop, Path
from ccc.passes.choice.exchange import (
    ADAPTIVE,
    ARMS,
    BEGIN,
    BLOCK_LEAVES,
    LEFT,
    SAMPLED,
    WEIGHED,
    WORD,
    exchange,
)
from ccc.passes.choice.inner_loops import SHARED_OUT, InnerLoops
from ccc.passes.choice.lanes import Lanes
from ccc.passes.choice.path_cost import PathCost
from ccc.passes.choice.stacks import share_of
from ccc.passes.choice.streams import reads_apart, streams
from ccc.passes.choice.warps import block_size, cache_beside, share_of_warps, speed_of
from ccc.passes.choice.work import USUAL, Guess, Work, work_of_blocks
from ccc.passes.launch_shape import shared_room, stack_warps
from ccc.passes.strategies.leave import LEAVE
from ccc.passes.strategies.registry import COLLECTING
from ccc.passes.thresholds import SHARE_EXCHANGE
from ccc.pipeline import Kernel
from ccc.ptx.occupancy import likely_limits, likely_multiprocessors
from ccc.ptx.opcodes import Effect
from ccc.ptx.throughput import Pipe
from ccc.ptx.types import WARP_SIZE

Assignment = Mapping[Path, str]
"""The strategy of each path, by name."""

TOGETHER = tuple(one.name for one in COLLECTING if one.together)
"""What serves several branches with one exchange."""


class LoopCost:
    """What an annotated loop costs, by what serves its paths.

    Args:
        loop: the loop.
        paths: those of its paths that can be collected.
        lanes: what is expected of each.
        kernel: the kernel.
        is_worst: whether it is the worst case that is counted, in which nobody waits for memory,
            which would hide what a strategy takes. Else it counts what registers cost, too, as far
            as it is known how many there will be.
        unknown: what is supposed of ways and turns in a path of which nothing is known.
    """

    def __init__(
        self,
        loop: AnnotatedLoop,
        paths: Sequence[Path],
        lanes: Mapping[Path, Lanes],
        kernel: Kernel,
        is_worst: bool = False,
        unknown: Guess = USUAL,
    ):
        self._kernel = kernel
        self._is_worst = is_worst
        facts = kernel.facts
        self._known: dict[frozenset[tuple[Path, str]], float] = {}
        self._children = {path: [one for one in paths if one.parent is path] for path in paths}
        own = {path: self._alone(path, lanes) for path in paths}
        self.paths = {
            path: PathCost.of(path, own[path], self._children[path], facts, unknown)
            for path in paths
        }
        self._tops = [path for path in paths if path.parent not in self.paths]
        self._itself = functools.cache(self._without_inner)
        self._stacks = functools.cache(self._share)
        around = loop.loop.blocks.difference(*(path.blocks for path in self._tops))
        self._loop = loop
        self._is_of_blocks = holds_the_kernel(loop, facts)
        self.iterations = self._counted_iterations()
        header = loop.loop.header
        self.around = work_of_blocks(around, facts, header, header)
        if not is_worst:
            every = streams(around, facts, loop.loop, header, header)
            read = sum(one.together(WARP_SIZE) for one in every)
            self.around += Work.sectors(read)
        self._inner_loops = InnerLoops(facts, kernel.arch, self.iterations, waits=not is_worst)

    def _alone(self, path: Path, lanes: Mapping[Path, Lanes]) -> Lanes:
        """What is expected of a path, of whose length that of those inside it is no part."""
        mine = lanes[path]
        if mine.length is None or not mine.executions:
            return mine
        inner = (lanes[one] for one in self._children[path])
        inside = sum((one.length or 0.0) * one.executions for one in inner) / mine.executions
        return replace(mine, length=max(1.0, mine.length - inside))

    def _counted_iterations(self) -> float | None:
        """Those that a warp does once it has entered the loop, where a profile counted them; of a
        loop over blocks, each warp of which made one, as if they had been those of one launch."""
        lanes = [self.paths[path].lanes for path in self._tops]
        counted = next((one.iterations for one in lanes if one.iterations), None)
        every = next((one.visits for one in lanes if one.visits), None)
        resident = self._occupancy({}) * likely_limits(self.arch).threads / WARP_SIZE
        if counted or not every or not self._is_of_blocks or not resident:
            return counted
        multiprocessors = self._kernel.options.multiprocessors or likely_multiprocessors(self.arch)
        return max(1.0, every / (multiprocessors * resident))

    @functools.cached_property
    def is_of_a_round(self) -> bool:
        """Whether the loop lies in another one in which the block meets: it goes through a row
        together, most likely, of which each thread has hardly an element."""
        facts, header = self._kernel.facts, self._loop.loop.header
        around = [one for one in facts.loops if header in one.blocks and one.header != header]
        return any(
            instruction.effects & Effect.BARRIER
            for one in around
            for label in one.blocks
            for instruction in facts.blocks[label].instructions
        )

    @property
    def arch(self) -> str:
        """What the kernel is compiled for."""
        return self._kernel.arch

    def slots(self, served: Assignment) -> float:
        """Issue slots of an iteration, where what is not ``served`` stays as it is."""
        key = frozenset(served.items())
        if key not in self._known:  # the same comes again where others are tried beside it
            self._known[key] = self._slots(served)
        return self._known[key]

    def _busy(self, work: Work) -> float:
        """The slots of an iteration; in the worst case no busy pipe hides what is done besides."""
        slots = work.slots(self._kernel.arch)
        if not self._is_worst:
            return slots
        more = work.instructions - self._plain.instructions
        return max(slots, self._plain.slots(self._kernel.arch) + more)

    @functools.cached_property
    def _plain(self) -> Work:
        """What an iteration takes as it is."""
        return self._work({})

    @property
    def waits_for_memory(self) -> bool:
        """Whether that is what the loop takes longest for as it is."""
        return self._plain.waits_for(self._kernel.arch) is Pipe.SECTORS

    @property
    def idles_for_memory(self) -> bool:
        """Whether that is so where no lane takes any of its paths."""
        return self.around.waits_for(self._kernel.arch) is Pipe.SECTORS

    @property
    def memory(self) -> float:
        """The share of its time in which the loop as it is has memory busy."""
        busy = self._plain.busy(self._kernel.arch)
        return busy[Pipe.SECTORS] / max(1.0, *busy.values())

    def _work(self, served: Assignment) -> Work:
        work = self.around
        sharing = {name: _sharing(name, served) for name in {*served.values()}}
        for path in self._tops:
            work += self._path(path, served, sharing, comes=1.0, gathered=False)
        return work

    def _slots(self, served: Assignment) -> float:
        work = self._work(served)
        names = set(served.values()) - {LEAVE.name}
        if self.iterations and names:
            work += exchange(BEGIN / self.iterations)
        slots = self._busy(work) / self._speed(served)
        stays = self._kernel.may_keep_blocks and names <= {*SHARED_OUT}
        if names and self._is_of_blocks and not stays:
            slots += BLOCK_LEAVES * WARP_SIZE / block_size(self._kernel)
        return slots

    def _path(
        self,
        path: Path,
        served: Assignment,
        sharing: Mapping[str, int],
        comes: float,
        gathered: bool,
    ) -> Work:
        """What a path takes, and those in it.

        Args:
            path: the path.
            served: by what.
            sharing: how many branches share an exchange, by what serves them.
            comes: how often a warp comes to it in an iteration of the annotated loop.
            gathered: whether the lanes that come were collected.
        """
        name = served.get(path, LEAVE.name)
        executions, work = self._itself(path, name, sharing.get(name, 1), comes, gathered)
        inside = name != LEAVE.name or gathered
        for child in self._children[path]:
            work += self._path(child, served, sharing, executions, inside)
        return work

    def _without_inner(
        self, path: Path, name: str, sharing: int, comes: float, gathered: bool
    ) -> tuple[float, Work]:
        """How often a path is run, and what that takes, without those in it."""
        one = self.paths[path]
        lanes = one.lanes
        entered = min(comes, lanes.lanes) if gathered else lanes.entered
        if one.path.repeats:
            executions, work = self._inner_loops.of(one, name, entered, gathered)
        elif name == LEAVE.name:
            executions, work = entered, one.taken(entered) + self._memory(one.memory(entered))
        else:
            executions = self._rounds(lanes.lanes / WARP_SIZE, entered)
            work = self._arm(one, ADAPTIVE.get(name, name), executions, comes, comes / sharing)
            if name in ADAPTIVE:
                work = self._weighed(one.taken(entered), work + exchange(WEIGHED) * comes)
            work += self._memory(one.memory(one.lanes.entered) + one.parted(one.lanes.entered))
        return executions, work

    def _arm(
        self, one: PathCost, name: str, executions: float, comes: float, visits: float
    ) -> Work:
        """What it takes to collect the tasks of a branch, and to run them in so many executions.

        ``visits`` are less than a warp ``comes`` where several branches share an exchange.
        """
        task = one.own + one.rest + exchange(ARMS[name].task) + WORD * one.words
        work = task * executions + exchange(ARMS[name].visit) * visits
        # A lane that passes by runs the rest itself, unless all are known to take the path.
        return work + one.rest * -comes if one.lanes.take_all and one.lanes.is_known else work

    def _memory(self, sectors: float) -> Work:
        """So many of them, as far as anybody waits for them."""
        return Work.sectors(0.0 if self._is_worst else sectors)

    def _weighed(self, plain: Work, collected: Work) -> Work:
        """The lesser of both; where that is the plain loop, a round collects now and then."""
        arch = self._kernel.arch
        if collected.slots(arch) < plain.slots(arch):
            return collected
        return plain * (1 - SAMPLED) + collected * SAMPLED

    def share(self, served: Assignment) -> int:
        """The bytes of shared memory that each warp takes."""
        names = ((path, served.get(path, LEAVE.name)) for path in self.paths)
        return self._stacks(tuple(one for one in names if one[1] != LEAVE.name))

    def _share(self, served: tuple[tuple[Path, str], ...]) -> int:
        return share_of(self._loop, dict(served), self._kernel.facts) if served else 0

    def fits(self, served: Assignment) -> bool:
        """Whether a block has room for the stacks of its warps."""
        return self.share(served) <= shared_room(self._kernel) // stack_warps(self._kernel)

    def _rounds(self, full: float, entered: float) -> float:
        """How often a warp runs tasks in an iteration that fill ``full`` warps, and of which it ran
        some ``entered`` times before: what is left when the loop ends takes a round, too."""
        if self.iterations is None:
            return full
        most = entered * self.iterations
        return min(most, max(min(1.0, most), full * self.iterations + LEFT)) / self.iterations

    def _speed(self, served: Assignment) -> float:
        """What is left of a kernel's speed by the warps that have room beside the stacks, and with
        the registers that it takes as far as these are known."""
        return speed_of(self._occupancy(served), self._occupancy({}))

    def speed_of_registers(self, served: Assignment) -> float:
        """What is left of it by the registers alone."""
        few = self._occupancy(served, self._registers({}))
        return speed_of(self._occupancy(served), few)

    @functools.cached_property
    def reads_apart(self) -> bool:
        """Whether its lanes read at addresses that have nothing to do with one another."""
        return reads_apart(self._loop.loop.blocks, self._kernel.facts)

    def cache(self, served: Assignment) -> int:
        """The KB of first level cache beside the stacks; 0 where that is not known."""
        return cache_beside(self._kernel, self._registers(served), self.share(served))

    def fewer_warps(self, served: Assignment) -> str | None:
        """What registers cost, in words; None where that is nothing, or not known.

        Those before are of the code with its markers, which nvcc may give others than the source.
        """
        before, after = self._registers({}), self._registers(served)
        warps = self._occupancy({}), self._occupancy(served)
        if before == after or warps[0] <= warps[1]:
            return None
        return (
            f"{after} registers leave room for {warps[1]:.0%} of the warps, and the {before} of "
            f"the marked code for {warps[0]:.0%}"
        )

    def _registers(self, served: Assignment) -> int:
        """Those of a thread; 0 where nobody has told.

        What was tried is one strategy: that it takes fewer than the original is no merit of others.
        """
        if self._kernel.tried is None or self._is_worst:
            return self._kernel.registers or 0
        before, after = self._kernel.tried
        if not set(served.values()) - {LEAVE.name} or self._kernel.keeps_warps:
            return before
        return max(before, after)

    def _occupancy(self, served: Assignment, registers: int | None = None) -> float:
        """The share of warps that there are, with those ``registers`` if not with its own."""
        registers = self._registers(served) if registers is None else registers
        return share_of_warps(self._kernel, registers, self.share(served))


def _sharing(name: str, served: Assignment) -> int:
    """How many branches share an exchange, where they are served together, and are many."""
    count = sum(other == name for other in served.values()) if name in TOGETHER else 1
    return count if count >= SHARE_EXCHANGE else 1
