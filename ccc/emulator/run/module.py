"""A PTX module on the emulator, with CuPy's interface."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from ccc.emulator.base.errors import EmulatorError, Index3
from ccc.emulator.base.forms import Array
from ccc.emulator.lanes.geometry import Geometry
from ccc.emulator.lanes.special import special_registers
from ccc.emulator.memory.images import Images, Surface
from ccc.emulator.memory.memory import Memory
from ccc.emulator.memory.spaces import IMAGES, Arena, Local, Shared, Uniform
from ccc.emulator.native.library import native_library, note_seconds
from ccc.emulator.native.schedule import NativeLockstep, NativeShuffled
from ccc.emulator.native.watched import WatchedNativeWave
from ccc.emulator.native.wave import NativeProgram, NativeWave, compile_native
from ccc.emulator.run.arguments import Buffers, by_value, pack_parameters
from ccc.emulator.run.counters import Counters
from ccc.emulator.run.races import Legend, Race, RaceDetector
from ccc.emulator.run.schedule import Lockstep, Scheduler, Shuffled
from ccc.emulator.run.simt import Tally, Wave
from ccc.emulator.run.tally import counters_of
from ccc.emulator.run.watched import WatchedMemory, WatchedWave
from ccc.emulator.translate.codegen import CompiledProgram, compile_program
from ccc.emulator.translate.pointers import FunctionPointers
from ccc.emulator.translate.program import Program, build_program
from ccc.emulator.translate.variables import SHARED_LIMIT, VariableLocations, initial_bytes
from ccc.errors import CccError, nearest
from ccc.ir.nodes import Function, Variable
from ccc.parse import parse_files, parse_function, parse_module, parse_variables
from ccc.ptx.dynamic_stack import added, shares

M = TypeVar("M", bound=Memory)

STEP_LIMIT = 50_000_000
_WAVE_LANES = 1 << 17
_WAVE_BYTES = 1 << 29


class LoadedModule:
    """A PTX file, ready to run.

    Its ``.global`` and ``.const`` variables keep their values from one launch to the next.

    Args:
        ptx: the text.
        file: its name in messages.
        step_limit: the number of steps after which a launch is taken to be without end; a step
            runs one segment for all lanes that are there.

    Raises:
        CccError: the text is no PTX.
    """

    def __init__(self, ptx: str, file: str = "<ptx>", *, step_limit: int = STEP_LIMIT):
        self.file = file
        self.module = parse_module(ptx, file)
        self.step_limit = step_limit
        self.steps = 0
        """How many the last launch took."""
        self.launches = 0
        """How many there have been, also those that failed: what tells a launch from these."""
        self.lines = ptx.splitlines()
        self.files = parse_files(ptx)
        self.pieces = {piece.name: piece for piece in self.module.functions}
        self.variables = parse_variables(self.module)
        self.shares = shares(ptx)
        self._functions: dict[str, Function] = {}
        self._kernels: dict[str, LoadedKernel] = {}
        self._place_variables()

    def _place_variables(self) -> None:
        stored = [v for v in self.variables if v.space in ("global", "const") and v.bytes]
        self.arena = Arena([variable.bytes or 0 for variable in stored])
        self.addresses = {v.name: self.arena.address(k) for k, v in enumerate(stored)}
        self.pointers = FunctionPointers(self.module, self.function_ir)
        self.statics: dict[tuple[str, str], int] = {}
        self.constants = [self._extent(v, self.addresses[v.name]) for v in stored
                          if v.space == "const"]  # fmt: skip
        self.images = Images(IMAGES)
        for index, variable in enumerate(stored):
            content = initial_bytes(variable, self._address_of)
            self.arena.bytes_of(index)[:] = np.frombuffer(content, np.uint8)

    def _address_of(self, name: str, function: str = "") -> int:
        """The address of a variable or of a function, as one function sees the name."""
        if (function, name) in self.statics:
            return self.statics[function, name]
        for addresses in (self.addresses, self.pointers.addresses):
            if name in addresses:
                return addresses[name]
        raise EmulatorError(f"an initialiser names {name}, which has no address here")

    @staticmethod
    def _extent(variable: Variable, at: int) -> tuple[int, int]:
        return at, at + (variable.bytes or 0)

    def place_statics(self, function: Function) -> None:
        """Find places for the variables in global memory that a function declares."""
        fresh = [
            variable for variable in function.variables
            if variable.space in ("global", "const") and variable.bytes
            and (function.name, variable.name) not in self.statics
        ]  # fmt: skip
        for variable in fresh:
            at = self.arena.allocate(variable.bytes or 0)
            self.statics[function.name, variable.name] = at
            if variable.space == "const":
                self.constants.append(self._extent(variable, at))
        for index, variable in enumerate(fresh, len(self.arena.starts) - len(fresh)):
            content = initial_bytes(
                variable, functools.partial(self._address_of, function=function.name)
            )
            self.arena.bytes_of(index)[:] = np.frombuffer(content, np.uint8)

    def get_global(self, name: str) -> Array:
        """The bytes of a ``.global`` or ``.const`` variable; writing to them changes it.

        Raises:
            EmulatorError: there is no such variable.
        """
        if name not in self.addresses:
            raise EmulatorError(f"there is no variable {name}{nearest(name, self.addresses)}")
        return self.arena.bytes_of(list(self.addresses).index(name))

    def bind(self, name: str, image: Surface) -> None:
        """Make an image what a ``.texref`` or ``.surfref`` variable stands for.

        Raises:
            EmulatorError: there is no such variable.
        """
        if name not in self.addresses:
            raise EmulatorError(f"there is no variable {name}{nearest(name, self.addresses)}")
        self.images.by_handle[self.addresses[name]] = image

    @contextmanager
    def showing_lines(self) -> Iterator[None]:
        """Errors raised inside show the PTX line that they are about."""
        try:
            yield
        except CccError as error:
            span = error.span
            known = error.source_line is not None or span is None or span.file != self.file
            if span and not known and 0 < span.line <= len(self.lines):
                error.source_line = self.lines[span.line - 1]
            raise

    def function_ir(self, name: str) -> Function | None:
        """The IR of a function; None where it has no body here."""
        if name not in self._functions and name in self.pieces:
            self._functions[name] = parse_function(self.pieces[name])
        return self._functions.get(name)

    def get_function(self, name: str) -> LoadedKernel:
        """The kernel of that name, mangled or, where only one fits, as in the source.

        Raises:
            EmulatorError: there is no such kernel.
        """
        kernels = [piece.name for piece in self.module.functions if piece.kind == "entry"]
        fitting = [k for k in kernels if k == name] or [
            k for k in kernels if k.startswith(f"_Z{len(name)}{name}")
        ]
        if len(fitting) != 1:
            known = ", ".join(fitting or kernels)
            hint = (not fitting and nearest(name, kernels)) or (known and f", only {known}")
            raise EmulatorError(f"there is no kernel {name}{hint}")
        return self._kernels.setdefault(fitting[0], LoadedKernel(self, fitting[0]))


class LoadedKernel:
    """A kernel of a module; call it to launch it."""

    def __init__(self, module: LoadedModule, name: str):
        self.module = module
        self.name = name
        self._compiled: dict[object, tuple[Program, VariableLocations, CompiledProgram]] = {}

    def __call__(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[Any],
        *,
        shared_mem: int = 0,
        schedule: str | int = "lockstep",
        races: list[Race] | None = None,
    ) -> Counters:
        """Launch.

        Args:
            grid: blocks in x, y and z; missing ones are 1.
            block: threads in x, y and z.
            args: NumPy arrays are device pointers and are changed in place, also when the launch
                fails; NumPy and Python scalars, ``bytes`` and ``np.void`` are passed by value, and
                so is an array that is as large as the structure that a parameter is; textures and
                surfaces as handles; a structure of pointers and numbers is a ``Structure``, its
                address an ``AddressOf``. More than there are parameters are ignored, as CuPy does.
            shared_mem: bytes of dynamic shared memory, besides those of stacks that ``ccc`` put
                there.
            schedule: ``"lockstep"``, or the seed of a random order.
            races: where to put the races between lanes of a warp that were found, also when the
                launch fails (see :mod:`ccc.emulator.run.races`); None: nobody looks for any.

        Raises:
            EmulatorError: the kernel is at fault, or needs what is not emulated.
        """
        with self.module.showing_lines():
            library = native_library()
            program, names, compiled = self._code(schedule != "lockstep", library)
        grid3, block3 = _three(grid), _three(block)
        shared_mem += added(self.module.shares.get(self.name, 0), math.prod(block3))
        shared_bytes = self._check_sizes(grid3, block3, names, shared_mem)
        launch = _Launch(self.module, program, compiled, tuple(args), names, races)
        started = time.process_time()
        scheduler: Scheduler = NativeLockstep() if library else Lockstep()
        shuffle = None
        if not isinstance(schedule, str):
            random = np.random.default_rng(schedule)
            scheduler = NativeShuffled(random) if library else Shuffled(random)
            shuffle = random.permutation
        elif schedule != "lockstep":
            raise EmulatorError(f'the schedule is "lockstep" or an integer, not {schedule!r}')
        try:
            with np.errstate(all="ignore"), self.module.showing_lines():
                for wave in launch.waves(grid3, block3, shared_bytes, shared_mem, shuffle):
                    limit = self.module.step_limit
                    if isinstance(wave, NativeWave):
                        wave.start(limit)
                    scheduler.run(wave, limit)
                    if isinstance(wave, NativeWave):
                        wave.close()
        finally:
            launch.finish()
            if library is None:
                note_seconds(time.process_time() - started)
            self.module.steps = launch.tally.steps
        return counters_of(program, compiled, launch.tally, self.module.files)

    def _code(
        self, cut_after_waits: bool, library: Any
    ) -> tuple[Program, VariableLocations, CompiledProgram]:
        key = cut_after_waits, library is not None
        if key not in self._compiled:
            module = self.module
            kernel = module.function_ir(self.name)
            assert kernel is not None
            program = build_program(kernel, module.pointers, cut_after_waits)
            for code in program.codes:
                module.place_statics(code.function)
            addresses = module.pointers.addresses | module.addresses
            names = VariableLocations(program, module.variables, addresses, module.statics)
            compiled = (
                compile_native(program, names.find, library)
                if library
                else compile_program(program, names.find)
            )
            self._compiled[key] = program, names, compiled
        return self._compiled[key]

    def _limits(self) -> dict[str, tuple[int, ...]]:
        kernel = self.module.function_ir(self.name)
        return kernel.limits if kernel else {}

    def _check_sizes(
        self, grid: Index3, block: Index3, names: VariableLocations, dynamic: int
    ) -> int:
        """Bytes of shared memory of a block."""
        threads = block[0] * block[1] * block[2]
        if not 0 < threads <= 1024 or min(grid) < 1:
            raise EmulatorError(f"a grid of {grid} blocks of {block} threads cannot be launched")
        limits = self._limits()
        required, allowed = limits.get("reqntid"), limits.get("maxntid")
        if (required and _three(required) != block) or (allowed and threads > math.prod(allowed)):
            raise EmulatorError(
                f"{self.name} was compiled for blocks of {required or allowed}, not {block}"
            )
        total = names.dynamic_start + dynamic if dynamic else names.shared_bytes
        if total > SHARED_LIMIT:
            raise EmulatorError(f"{total} bytes of shared memory: a block has {SHARED_LIMIT}")
        return total


def _three(size: Sequence[int]) -> Index3:
    if isinstance(size, int):
        size = (size,)
    x, y, z = (*map(int, size), 1, 1)[:3]
    return x, y, z


class _Launch:
    """The memory and the counters of one launch."""

    def __init__(
        self, module: LoadedModule, program: Program, compiled: CompiledProgram,
        args: tuple[Any, ...], names: VariableLocations, races: list[Race] | None,
    ):  # fmt: skip
        self.races = races
        self.module = module
        self.program = program
        self.compiled = compiled
        self.names = names
        parameters = program.codes[0].function.parameters
        args = args[: len(parameters)]
        pairs = zip(parameters, args, strict=False)
        self.buffers = Buffers(tuple(a for parameter, a in pairs if not by_value(parameter, a)))
        self.first = len(module.arena.starts)
        self.arena = module.arena.copy()
        for size in self.buffers.sizes:
            self.arena.allocate(size)
        self.buffers.upload(self.arena, self.first)
        self.parameters = pack_parameters(program.codes[0].function, args, self._address)
        self.tally = Tally.of(compiled)

    def _address(self, array: Any) -> int:
        if isinstance(array, Surface):
            return self.module.images.handle(array)
        return self.buffers.address(self.arena, self.first, array)

    def finish(self) -> None:
        """Give everything that the kernel wrote back; what it got of ``malloc`` stays."""
        self.module.launches += 1
        self.buffers.download(self.arena, self.first)
        self.module.arena.take_back(self.arena, len(self.buffers.sizes))

    def waves(
        self, grid: Index3, block: Index3, shared_bytes: int, dynamic: int, shuffle: Any
    ) -> Any:
        """The blocks of the grid, as many at once as memory allows."""
        blocks = grid[0] * grid[1] * grid[2]
        lanes = Geometry(grid, block, 0, 1).lanes_per_block
        depth = min(self.program.max_depth, 16) + 1
        per_lane = depth * (2 * self.program.frame_bytes + 8 * len(self.program.registers))
        per_block = 2 * shared_bytes + lanes * per_lane + 1
        at_once = max(1, min(_WAVE_LANES // lanes, _WAVE_BYTES // per_block))
        for first in range(0, blocks, at_once):
            geometry = Geometry(grid, block, first, min(at_once, blocks - first))
            specials = special_registers(geometry, shared_bytes, dynamic)
            specials["%gridid"] = np.uint64(self.module.launches)
            parts = self.program, self.compiled, geometry
            is_native = isinstance(self.compiled, NativeProgram)
            if self.races is None:
                memory = self._memory(Memory, geometry, shared_bytes, shuffle)
                kind = NativeWave if is_native else Wave
                yield kind(*parts, memory, specials, self.tally)
                continue
            names = Legend(self.compiled.slots, geometry.name, self.names.shared)
            detector = RaceDetector(geometry.lanes, names, self.races)
            watched = self._memory(WatchedMemory, geometry, shared_bytes, shuffle)
            watched.watch(detector)
            watching = WatchedNativeWave if is_native else WatchedWave
            wave = watching(*parts, watched, specials, self.tally)
            wave.watch(detector)
            yield wave

    def _memory(self, kind: type[M], geometry: Geometry, shared_bytes: int, shuffle: Any) -> M:
        frame = self.program.frame_bytes
        limit = frame * (self.program.max_depth + 1)
        memory = kind(
            self.arena,
            Shared(geometry.count, shared_bytes),
            Local(geometry.lanes, frame, limit),
            Uniform(self.parameters),
            self.tally.costs,
            frame,
            geometry.name,
            shuffle,
        )
        memory.images = self.module.images
        memory.constants = self.module.constants
        return memory
