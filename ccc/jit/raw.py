"""``ccc.RawModule`` and ``ccc.RawKernel``: CuPy's classes of those names, compiled through ccc.

What is loaded is a ``cupy.RawModule`` of the file that :mod:`ccc.jit` made; whatever a module or
a kernel can do is left to it.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccc import header
from ccc.device import gpu
from ccc.errors import CccError, in_words
from ccc.files import write
from ccc.frontend import headers
from ccc.frontend.stripping import BOM
from ccc.jit.at_exit import write_at_exit
from ccc.jit.build import Built, build, key
from ccc.jit.job import CompileJob, checked
from ccc.jit.telling import largest_block, warn, warn_of_large_block
from ccc.nvcc import command as driver
from ccc.nvcc.arguments import strings
from ccc.profile import data as profile_data
from ccc.ptx.dynamic_stack import added, shares
from ccc.remark import Report

if TYPE_CHECKING:
    from ccc.jit.tuning import KernelTuning

BACKENDS = ("nvrtc", "nvcc")
UNASKED = 48 * 1024
"""Bytes of shared memory that a block gets without asking for them."""
_CUDA = (".cu", ".cuh")


class RawModule:
    """CUDA or PTX, compiled when a kernel or a variable of it is first asked for.

    The arguments are those of ``cupy.RawModule``, except that

    Args:
        code: CUDA. This or ``path`` is given.
        path: of a file: ``.cu`` is compiled, ``.ptx`` transformed if it holds markers; anything
            else is loaded as it is.
        options: for the compiler; those that begin with ``--ccc-`` are ours, as of ``cccc``.
        backend: ``nvrtc`` or ``nvcc``.
        translate_cucomplex: take CuPy's complex numbers for those of cuComplex.h.
        enable_cooperative_groups: launch kernels so that all blocks run together.
        name_expressions: C++ names, such as ``func<int>``, that ``get_function`` is to know; with
            either backend.
        jitify: not supported; CuPy gives it up, too.
        decisions: a file that ``ccc tune`` wrote.
        profile: a file. The original is compiled, and counts what it runs for a profile, which is
            written there when the program ends; the option ``--ccc-profile``.
        use: such a file, or several, by which is chosen what is done; the option ``--ccc-use``.

    Raises:
        TypeError: not one of ``code`` and ``path``, or what should be strings is none.
        ValueError: an unknown backend, or name expressions without CUDA.
        CccError: no CuPy, no device, or a wrong option of ours; when it is compiled, all that is
            wrong with the source.
    """

    def __init__(
        self,
        code: str | None = None,
        *,
        path: str | None = None,
        options: Sequence[str] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions: Sequence[str] | None = None,
        jitify: bool | None = None,
        decisions: str | Path | None = None,
        profile: str | Path | None = None,
        use: str | Path | Sequence[str | Path] = (),
    ):
        if (code is None) == (path is None):
            raise TypeError("one of code and path is to be given, and not both")
        options = strings("options", options)
        if backend not in BACKENDS:
            raise ValueError(f'the backend is {" or ".join(BACKENDS)}, not "{backend}"')
        self.code = None if code is None else checked(code, backend)
        self.file_path = None if path is None else str(path)
        self.options = (*options, *_profile_options(profile, use))
        self.backend = backend
        self.translate_cucomplex = translate_cucomplex
        self.enable_cooperative_groups = enable_cooperative_groups
        names = name_expressions
        self.name_expressions = None if names is None else strings("name_expressions", names)
        if self.name_expressions and self._suffix not in _CUDA:
            raise ValueError("name_expressions are for CUDA source")
        if jitify:
            raise CccError('jitify is not supported; backend="nvcc" finds the headers of the host')
        self._quiet = False
        self._ours = () if decisions is None else (f"--ccc-decisions={decisions}",)
        self._ask()
        gpu.require()
        self._built: dict[str, Built] = {}  # by architecture
        self._shares: dict[str, dict[str, int]] = {}  # bytes of a warp's stacks, likewise
        self._loaded: dict[int, Any] = {}  # by device

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_built": {}, "_shares": {}, "_loaded": {}}

    def _ask(self, *more: str) -> None:
        """Take these options, too; before anything is compiled."""
        self._ours = (*self._ours, *more)
        self._command = driver.parse((*self.options, *self._ours))
        if self._command.action:
            raise CccError(f"--ccc-{self._command.action} is for the command line")
        if self._command.options.time:
            raise CccError("--ccc-time is for programs; a ccc.RawKernel is timed with tune=True")

    def compile(self, log_stream: Any = None) -> None:
        """Compile and load now; ``log_stream.write`` gets what the compiler says."""
        log = self._build().log
        self.module  # noqa: B018 - loads it
        if log_stream is not None:
            log_stream.write(log)

    def get_function(self, name: str) -> RawKernel:
        """The kernel of that name, as in the PTX (mangled) or in ``name_expressions``.

        An unknown name raises CuPy's own error.
        """
        kernel = RawKernel.__new__(RawKernel)
        kernel._of(self, name)
        kernel.kernel  # noqa: B018 - an unknown name is to be told here
        return kernel

    def get_global(self, name: str) -> Any:
        """A ``cupy.cuda.MemoryPointer`` to a global variable of that (mangled) name."""
        return self._raw().get_global(self.mangled(name))

    @property
    def module(self) -> Any:
        """The ``cupy.cuda.function.Module`` on the current device."""
        return self._raw().module

    @property
    def report(self) -> Report:
        """What was done to each annotated branch, and why; see docs/annotations.md."""
        return self._build().report

    @property
    def ptx(self) -> str:
        """The PTX that is loaded, or that was assembled."""
        return self._build().ptx.read_text(encoding="utf-8", errors="replace")

    def mangled(self, name: str) -> str:
        """The name in the PTX of one of ``name_expressions``; of others, the name itself."""
        return self._build().names.get(name, name)

    @property
    def _suffix(self) -> str:
        return ".cu" if self.file_path is None else Path(self.file_path).suffix.lower()

    def _raw(self) -> Any:
        """The ``cupy.RawModule`` on the current device."""
        device = gpu.current_device()
        if device not in self._loaded:
            image = str(self._build().image)
            loaded = gpu.raw_module(image, self.enable_cooperative_groups)
            self._loaded[device] = loaded
            if self._command.options.profile and profile_data.COUNTERS in self.ptx:
                write_at_exit(self._command.options.profile, loaded)
        return self._loaded[device]

    def _build(self) -> Built:
        arch = gpu.arch()
        if arch not in self._built:
            job = self._job(arch)
            image = Path(self.file_path or "")
            built = build(job) if job else Built(image, image)
            self._tell(built)
            self._built[arch] = built
        return self._built[arch]

    def _key(self) -> str | None:
        """What the outcome depends on, as one word; None if the file is loaded as it is."""
        job = self._job(gpu.arch())
        return key(job) if job else None

    def _job(self, arch: str) -> CompileJob | None:
        """What is to be built; None if the file is loaded as it is."""
        text = self.code
        if text is None and self._suffix in (*_CUDA, ".ptx"):
            text = _read(self.file_path or "")
        ours = replace(self._command.options, measure=True)
        if ours.dynamic_shared is None:  # a launch makes room for what it asks for
            ours = replace(ours, dynamic_shared=0)
        if ours.shared_limit is None:
            ours = replace(ours, shared_limit=gpu.shared_limit())
        if self._suffix in _CUDA and text is not None:
            given = (*self._command.arguments, f"-I{header.include()}")
            return CompileJob(
                text.removeprefix(BOM),  # something may stand before it
                self.backend,
                arch,
                path=self.file_path and str(Path(self.file_path).absolute()),
                options=gpu.compiler_options(given, self.backend, self.enable_cooperative_groups),
                folders=tuple(headers.folders(given)),
                names=self.name_expressions or (),
                prologue=gpu.complex_prologue() if self.translate_cucomplex else "",
                ours=ours,
            )
        if text is None or ours.plain or "// ccc." not in text:
            return None
        return CompileJob(text, "ptx", arch, path=self.file_path, ours=ours)

    def stack_share(self, name: str) -> int:
        """The bytes that a warp of a kernel has for stacks in dynamic shared memory."""
        arch = gpu.arch()
        if arch not in self._shares:
            self._shares[arch] = shares(self.ptx)
        return self._shares[arch].get(self.mangled(name), 0)

    def _tell(self, built: Built) -> None:
        """Warn, print and report as the options ask."""
        if self._quiet:
            return
        warn(built.diagnostics)
        if self._command.explain:
            from ccc.nvcc.explain import explain  # noqa: PLC0415 - rich takes long to load

            sys.stderr.write(explain(built.report))
        sys.stdout.write(built.printed)
        if self._command.report:
            write(self._command.report, json.dumps(built.report, indent=2) + "\n")


def _profile_options(
    profile: str | Path | None, use: str | Path | Sequence[str | Path]
) -> list[str]:
    """The options that stand for two arguments."""
    files = [use] if isinstance(use, (str, Path)) else use
    counting = [] if profile is None else [f"--ccc-profile={profile}"]
    return [*counting, *(f"--ccc-use={file}" for file in files)]


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise CccError(f"{path}: {in_words(error)}") from None


def _of_module(name: str, doc: str) -> property:
    return property(lambda kernel: getattr(kernel._module, name), doc=doc)


def _of_cupy(name: str, doc: str) -> property:
    return property(lambda kernel: getattr(kernel._raw(), name), doc=doc)


def _settable(name: str, doc: str) -> property:
    def assign(kernel: RawKernel, value: int) -> None:
        setattr(kernel._raw(), name, value)
        if kernel._tuning is not None:
            kernel._tuning.set(name, value)

    return _of_cupy(name, doc).setter(assign)


def _make_room(kernel: Any, shared_mem: int) -> None:
    """Ask for dynamic shared memory; the stacks of tasks may have taken the room it had."""
    room, total = kernel.max_dynamic_shared_size_bytes, kernel.shared_size_bytes + shared_mem
    if shared_mem > room or room <= UNASKED < total:
        kernel.max_dynamic_shared_size_bytes = shared_mem


class RawKernel:
    """One kernel of a module; called as ``kernel(grid, block, args, shared_mem=0)``.

    The arguments are those of ``cupy.RawKernel``; see :class:`RawModule` for them and for what is
    raised.

    Args:
        code: CUDA.
        name: of the kernel.
        options: for the compiler.
        backend: ``nvrtc`` or ``nvcc``.
        translate_cucomplex: as of a module.
        enable_cooperative_groups: as of a module.
        jitify: not supported.
        decisions: a file that ``ccc tune`` wrote.
        tune: calls take one version of the kernel or another, until one is ahead.
    """

    _tuning: KernelTuning | None = None

    def __init__(
        self,
        code: str,
        name: str,
        options: Sequence[str] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        *,
        enable_cooperative_groups: bool = False,
        jitify: bool | None = None,
        decisions: str | Path | None = None,
        tune: bool = False,
        profile: str | Path | None = None,
        use: str | Path | Sequence[str | Path] = (),
    ):
        module = RawModule(
            code,
            options=options,
            backend=backend,
            translate_cucomplex=translate_cucomplex,
            enable_cooperative_groups=enable_cooperative_groups,
            jitify=jitify,
            decisions=decisions,
            profile=profile,
            use=use,
        )
        self._of(module, name)
        if tune:
            self._tune()

    def _tune(self) -> None:
        from ccc.jit.tuning import KernelTuning  # noqa: PLC0415 - the passes take long to load

        asked = self._module._command.options
        if asked.decisions or asked.off or asked.mark_only or asked.profile:
            raise ValueError(
                "tune=True takes one version or another; leave out decisions, --ccc-off, "
                "--ccc-mark-only and --ccc-profile, which ask for one"
            )
        self._module._ask("--ccc-alternatives")
        self._tuning = KernelTuning(self)

    def _version(self, option: str) -> RawKernel:
        """Another version of the kernel, by one more option."""
        of = self._module
        module = RawModule(
            of.code,
            options=of.options,
            backend=of.backend,
            translate_cucomplex=of.translate_cucomplex,
            enable_cooperative_groups=of.enable_cooperative_groups,
        )
        module._ask(option)
        module._quiet = True
        version = RawKernel.__new__(RawKernel)
        version._of(module, self.name)
        return version

    def _of(self, module: RawModule, name: str) -> None:
        self._module = module
        self.name = self.__name__ = name
        self._kernels: dict[int, Any] = {}  # by device

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_kernels": {}}

    def __call__(
        self,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        args: tuple[Any, ...],
        *,
        shared_mem: int = 0,
        **options: Any,
    ) -> None:
        """Launch on CuPy's current stream, and compile first if that was not done.

        Args:
            grid: blocks, in up to three dimensions.
            block: threads of a block, likewise.
            args: CuPy arrays and NumPy scalars.
            shared_mem: dynamic shared memory of a block, bytes. What stacks take there is added.
                What a kernel has to ask for, more than 48 KB together with its static shared
                memory, is asked for.
            options: whatever else ``cupy.RawKernel`` takes here.

        Raises:
            CccError: what it asks for leaves no room for its stacks.
        """
        threads = math.prod(block)
        if self._largest is not None and threads > self._largest:
            warn_of_large_block(self.name, threads, self._largest)
        if self._tuning is not None:
            self._tuning.launch(grid, block, args, shared_mem, options)
        else:
            kernel, shared_mem = self._ready(block, shared_mem)
            kernel(grid, block, args, shared_mem=shared_mem, **options)

    @cached_property
    def _largest(self) -> int | None:
        return largest_block(self._entry())

    def _check_room(self, static: int, dynamic: int, more: int) -> None:
        limit = gpu.shared_limit()
        if static + dynamic + more > limit:
            raise CccError(
                f"{self.name}: stacks of tasks take {more} bytes of shared memory besides the "
                f"{static + dynamic} that this launch asks for, and a block gets {limit}; say with "
                "--ccc-dynamic-shared=N how much dynamic shared memory launches ask for at most"
            )

    def compile(self, log_stream: Any = None) -> None:
        """Compile and load now; ``log_stream.write`` gets what the compiler says."""
        self._module.compile(log_stream)
        self._kernels.clear()
        self._raw()

    def _ready(self, block: Sequence[int], shared_mem: int) -> tuple[Any, int]:
        """The same for a launch, and the dynamic shared memory that it asks for, stacks and all."""
        kernel = self._raw()
        if share := self._module.stack_share(self.name):
            more = added(share, math.prod(block))
            self._check_room(kernel.shared_size_bytes, shared_mem, more)
            shared_mem += more
        if shared_mem:
            _make_room(kernel, shared_mem)
        return kernel, shared_mem

    def _raw(self) -> Any:
        """The ``cupy.RawKernel`` on the current device."""
        device = gpu.current_device()
        if device not in self._kernels:
            name = self._module.mangled(self.name)
            self._kernels[device] = self._module._raw().get_function(name)
        return self._kernels[device]

    @property
    def report(self) -> Report:
        """This kernel's entry of the module's report; it has no paths where none are left.

        Of a kernel that tunes itself, ``tuning`` is what is known of its versions. An unknown name
        raises CuPy's own error.
        """
        found = self._entry()
        return found if self._tuning is None else {**found, "tuning": self._tuning.report()}

    def _key(self) -> str | None:
        return self._module._key()

    def _entry(self) -> Report:
        name = self._module.mangled(self.name)
        kernels = self._module.report["kernels"]
        found: Report | None = next((k for k in kernels if k["name"] == name), None)
        if found is None:
            self._raw()  # whether there is such a kernel
            found = {"name": name, "paths": []}
        return found

    def get_global(self, name: str) -> Any:
        """A ``cupy.cuda.MemoryPointer`` to a global variable of the kernel's module.

        A kernel that tunes itself ceases to do so: its versions do not share their variables.
        """
        if self._tuning is not None:
            from ccc.jit.tuning import TAKEN  # noqa: PLC0415 - the passes take long to load

            self._tuning.stop(TAKEN)
        return self._module.get_global(name)

    code = _of_module("code", "The source, if it is not in a file.")
    file_path = _of_module("file_path", "The file, if the source is in one.")
    options = _of_module("options", "The options, ours included.")
    backend = _of_module("backend", "``nvrtc`` or ``nvcc``.")
    name_expressions = _of_module("name_expressions", "The C++ names asked for.")
    enable_cooperative_groups = _of_module("enable_cooperative_groups", "Of the launch.")
    ptx = _of_module("ptx", "The PTX of the module.")

    kernel = _of_cupy("kernel", "The ``cupy.cuda.function.Function`` on the current device.")
    attributes = _of_cupy("attributes", "The properties below as a dictionary.")
    max_threads_per_block = _of_cupy("max_threads_per_block", "Of a launch on this device.")
    shared_size_bytes = _of_cupy("shared_size_bytes", "Static shared memory of a block.")
    const_size_bytes = _of_cupy("const_size_bytes", "Constant memory.")
    local_size_bytes = _of_cupy("local_size_bytes", "Local memory of a thread.")
    num_regs = _of_cupy("num_regs", "Registers of a thread.")
    ptx_version = _of_cupy("ptx_version", "10 * major + minor of the architecture in the PTX.")
    binary_version = _of_cupy("binary_version", "10 * major + minor of that of the machine code.")
    cache_mode_ca = _of_cupy("cache_mode_ca", "Whether loads are cached in L1 by an option.")
    max_dynamic_shared_size_bytes = _settable(
        "max_dynamic_shared_size_bytes", "The most dynamic shared memory of a block; can be set."
    )
    preferred_shared_memory_carveout = _settable(
        "preferred_shared_memory_carveout", "The share of L1 that is shared memory; can be set."
    )
