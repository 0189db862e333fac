"""Whether kernels do the same with and without ``ccc``: build, run, compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ccc.emulator import Module, Race
from ccc.emulator.run.module import STEP_LIMIT
from ccc.emulator.run.races import new_races
from ccc.errors import CccError
from ccc.harness.equivalence import Launch, difference, run
from ccc.remark import Remark
from ccc.tools.fuzz import device
from ccc.tools.fuzz.build import Broken, BuiltKernels, Failure, assemble, build, name_of
from ccc.tools.fuzz.functions import called
from ccc.tools.fuzz.tree import RandomKernel

STEPS, STEPS_FOR_ONE = 500_000, 60
"""After how many steps a launch hangs: so many, and so many for each instruction that the original
issues. A random order, in which the lanes of a warp seldom meet, takes a tenth of it; but of loops
without an effect the original may have nothing left, where the markers keep them."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How to compare: in how many launches, and there in how many ``schedules`` of the emulator.

    ``options`` are for nvcc, ``only`` is the one schedule to use, and ``gpu`` stands in the
    emulator's place.
    """

    arch: str = "sm_90"
    strategy: str = "queue"
    options: tuple[str, ...] = ()
    schedules: int = 2
    only: str | int | None = None
    launches: int = 1
    gpu: bool = False

    def orders(self, kernel: RandomKernel) -> tuple[str | int, ...]:
        """The schedules for a kernel: lockstep and random ones; of one only, kernels take turns.

        Where threads wait for one another, random ones alone.
        """
        if self.only is not None:
            return (self.only,)
        if kernel.spins:
            return tuple(range(kernel.data + 1, kernel.data + self.schedules + 1))
        first = kernel.data % 2 if self.schedules == 1 else 0
        seeds = range(kernel.data + 1, kernel.data + self.schedules + 1)
        return ("lockstep", *seeds)[first : first + self.schedules]


@dataclass(slots=True)
class Verdict:
    """What became of one kernel and its paths; ``table``: nvcc made a jump table."""

    failure: Failure | None = None
    remarks: list[Remark] = field(default_factory=list)
    table: bool = False

    @property
    def applied(self) -> bool:
        """Whether any path was collected."""
        return any(remark.applied for remark in self.remarks)


def check(kernels: Sequence[RandomKernel], how: Comparison) -> list[Verdict]:
    """Compare both versions of each kernel; all are compiled as one file."""
    if not kernels:
        return []
    try:
        built = build(kernels, how.arch, how.strategy, how.options)
        assemble(built.transformed, how.arch, how.strategy)
    except Broken as broken:
        if len(kernels) == 1:
            return [Verdict(broken.failure)]
        half = len(kernels) // 2
        return check(kernels[:half], how) + check(kernels[half:], how)
    verdicts = [Verdict(remarks=built.remarks.get(name_of(n), [])) for n in range(len(kernels))]
    tables = _with_tables(built.original)
    run_all = _on_gpu if how.gpu else _on_emulator
    failures = run_all(built, kernels, verdicts, how)
    for number, (verdict, ran) in enumerate(zip(verdicts, failures, strict=True)):
        name = name_of(number)
        verdict.table = name in tables
        failure = built.failures.get(name, ran)
        verdict.failure = failure and replace(failure, strategy=how.strategy)
    return verdicts


def _with_tables(ptx: str) -> set[str]:
    """The kernels that jump by a table."""
    pieces = ptx.split(".entry ")[1:]
    return {piece.partition("(")[0] for piece in pieces if "brx.idx" in piece}


def _on_gpu(
    built: BuiltKernels, kernels: Sequence[RandomKernel], _: Sequence[Verdict], how: Comparison
) -> list[Failure | None]:
    """Kernels that allocate on the stack are for the emulator: of those, two compilations without
    any transformation came out differently (H200, ptxas 13.0, 2026-11-22), or outgrew the stack."""
    variants = [
        [kernel.variant(n) for n in range(0 if _allocates(kernel) else how.launches)]
        for kernel in kernels
    ]
    return device.failures(built, variants)


def _allocates(kernel: RandomKernel) -> bool:
    """Whether it allocates on the stack, or a function that it calls does."""
    text = kernel.cuda("k")
    return any("alloca" in one for one in (text, *called(text)))


def _on_emulator(
    built: BuiltKernels,
    kernels: Sequence[RandomKernel],
    verdicts: Sequence[Verdict],
    how: Comparison,
) -> list[Failure | None]:
    pair = _Pair(Module(built.original), Module(built.transformed))
    found: list[Failure | None] = []
    for number, (kernel, verdict) in enumerate(zip(kernels, verdicts, strict=True)):
        failure = None
        for launch in range(how.launches):
            variant = kernel.variant(launch)
            orders = how.orders(variant)
            if not verdict.applied:  # nothing was done to the code: it needs no second schedule
                orders = orders[:1] if kernel.spins else ("lockstep",)
            failure = pair.failure(name_of(number), variant, orders)
            if failure is not None:
                failure = replace(failure, variant=launch)
                break
        found.append(failure)
    return found


@dataclass(frozen=True, slots=True)
class _Pair:
    """Both versions of a file on the emulator."""

    original: Module
    transformed: Module

    def failure(
        self, name: str, kernel: RandomKernel, schedules: Sequence[str | int]
    ) -> Failure | None:
        """Compare one launch in several schedules; None if all agree."""
        launch = kernel.launch()
        try:
            first = 0 if kernel.spins else "lockstep"
            self.original.step_limit = 4 * STEPS if kernel.spins else STEP_LIMIT
            expected, counters = run(self.original, name, launch, kernel.data, schedule=first)
        except (CccError, ValueError) as error:
            return Failure("generator: the original fails", str(error))
        self.transformed.step_limit = STEPS + STEPS_FOR_ONE * counters.instructions
        if kernel.spins:  # the original ran in a random order, too
            self.transformed.step_limit //= 4
        for schedule in schedules:
            # Races mostly show in any order, so looking for them in one of them is enough.
            races: list[Race] | None = [] if schedule == schedules[0] else None
            failure = self._compare(name, launch, kernel.data, schedule, expected, races)
            if failure is not None:
                if self._depends_on_order(name, launch, kernel.data, expected):
                    return Failure("generator: the original depends on the order", str(failure))
                return replace(failure, schedule=schedule)
        return None

    def _compare(
        self, name: str, launch: Launch, data: int, schedule: str | int, expected: list[Any],
        races: list[Race] | None,
    ) -> Failure | None:  # fmt: skip
        try:
            found = _memory(self.transformed, name, launch, data, schedule, races)
        except CccError as error:
            words = " ".join(error.message.split(",")[0].split()[:3])
            return Failure(f"run: {words}", str(error))
        except Exception as error:
            return Failure(f"run: {type(error).__name__}", str(error))
        said = difference(expected, found)
        if said:
            return Failure("memory", said)
        return self._race(name, launch, data, races) if races else None

    def _race(self, name: str, launch: Launch, data: int, races: list[Race]) -> Failure | None:
        before: list[Race] = []
        for schedule in (1, 2, 3):
            _memory(self.original, name, launch, data, schedule, before)
        new = new_races(before, races)
        return Failure("race", str(new[0])) if new else None

    def _depends_on_order(self, name: str, launch: Launch, data: int, expected: list[Any]) -> bool:
        return any(
            difference(expected, _memory(self.original, name, launch, data, schedule))
            for schedule in (1, 2, 3, 4)
        )


def _memory(
    module: Module, name: str, launch: Launch, data: int, schedule: str | int,
    races: list[Race] | None = None,
) -> list[Any]:  # fmt: skip
    return run(module, name, launch, data, schedule=schedule, races=races)[0]
