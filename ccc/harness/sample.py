"""Samples: folders with a kernel and what it takes to run it and to check what it did.

A sample is a folder with ``kernel.cu`` and ``sample.py``, which defines

- ``inputs(size, seed) -> dict`` of NumPy arrays and scalars, perhaps with ``graph=None``;
- ``run(module, inputs) -> dict`` of outputs: launches ``module.get_function(name)(grid, block,
  args, shared_mem=0)``, where ``module.resident_blocks(name, block)`` tells a grid that fills the
  device. The arrays are NumPy's or CuPy's; they are fresh copies each time;
- ``check(inputs, outputs)``, on NumPy's arrays: raises when the outputs are wrong;
- perhaps ``picture(outputs)``: (height, width, 3), uint8, what ``ccc compare --png`` writes;
- perhaps ``SIZES = {"gpu": .., "emulator": ..}``, the sizes taken where none is asked for, and
  for ``ccc bench`` perhaps ``"paper"``, without which that is the size on a GPU, and ``"quick"``,
  that of ``--quick`` on the emulator;
- perhaps ``OPTIONS = ("-fmad=false",)``, options for nvcc, the same for all versions;
- perhaps ``INPUTS = ("balanced", "uniform")``, kinds of inputs; ``inputs`` then takes ``kind``, the
  first being the default.

And what its figures are compared with:

- ``RIVALS = {"sub-warp 4": ("rivals/sub_warp.cu", ("-DWIDTH=4",)), ..}``: what else can be done
  about divergence, written by hand. By label, a source inside the folder and options for nvcc, on
  top of ``OPTIONS``;
- ``BOUND = ("kernel.cu", ())``, in the same form: as much work without divergence, as fast as a
  rewritten kernel could be. Either the lanes of a warp get inputs with which they do not part, or
  an option makes the kernel do one task in all of them, one of their 32. ``bound_inputs(inputs) ->
  dict`` makes the inputs, on NumPy's arrays; what it adds may tell ``check`` what to expect;
- ``LIBRARIES = {"cuSPARSE": ("spmv", multiply)}``: whose library does the work of a kernel, which
  is tried on a GPU only: by label, the kernel and a function that is called with its arguments,
  CuPy's arrays among them, and returns a function that does what it does, whose time counts;
- ``BLOCKS = (64, 128, 256)``: the sizes of a block in which ``kernel.cu`` may be launched instead.
  ``run`` then launches in one dimension, and no kernel expects blocks of a certain size;
- ``PAPER = 2.72``: how many times as fast the kernel became in the paper.

Rivals and the bound are compiled by plain nvcc, have the kernels of ``kernel.cu`` with the same
names and parameters, and run in the same launches, those of ``run``. So a rival strides over the
grid by a unit of work of its own, say a sub-warp's, has its shared memory in static arrays, and
leaves a ``__device__`` counter of its own at 0 for the next launch. Its sums may be in another
order: ``check`` decides whether it is right. A ``run`` that launches the least of
``resident_blocks`` and what there is to do can be given a module that answers with any number.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccc.errors import CccError, Span, UsageError

SIZES = {"gpu": 20, "emulator": 10}
"""The sizes of a sample that names none."""

_WANTED = (
    "a sample is a folder with kernel.cu and sample.py, which defines inputs(size, seed), "
    "run(module, inputs) and check(inputs, outputs); docs/bench.md has one to start from"
)


def _names_work(row: Any) -> bool:
    """Whether this is a kernel and what does its work."""
    return isinstance(row, tuple) and len(row) == 2 and isinstance(row[0], str) and callable(row[1])


def find_samples(folder: Path) -> dict[str, Path]:
    """The samples in a folder and in the folders there, by name: ``bfs``, ``patterns/collatz``."""
    found = sorted([*folder.glob("*/sample.py"), *folder.glob("*/*/sample.py")])
    return {path.parent.relative_to(folder).as_posix(): path.parent for path in found}


@dataclass(frozen=True, slots=True)
class Version:
    """Another source with the kernels of a sample, and all options that nvcc is to compile it with.

    Like ``Sample.kernel`` with ``Sample.options``.
    """

    source: Path
    options: tuple[str, ...]


class Sample:
    """A sample's folder, loaded.

    Raises:
        CccError: a file or a function is missing, or ``sample.py`` does not load. The methods
            raise it when the sample's function raises anything, with its line in ``sample.py``.
    """

    def __init__(self, folder: Path):
        self.kernel = folder / "kernel.cu"
        self._path = folder / "sample.py"
        if folder.is_file():
            raise CccError(f"this is a file; {_WANTED}", Span(str(folder)))
        for path in (self.kernel, self._path):
            if not path.is_file():
                raise CccError(f"no {path.name} here; {_WANTED}", Span(str(folder)))
        self._module = self._load()
        self.options: tuple[str, ...] = self._strings(
            "OPTIONS", getattr(self._module, "OPTIONS", ())
        )
        self.sizes: dict[str, int] = {**SIZES, **getattr(self._module, "SIZES", {})}
        self.sizes = {"paper": self.sizes["gpu"], "quick": self.sizes["emulator"], **self.sizes}

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of inputs that it offers, its default first; empty where there is one only."""
        return self._strings("INPUTS", getattr(self._module, "INPUTS", ()))

    @property
    def blocks(self) -> tuple[int, ...]:
        """The sizes of a block in which the kernels may be launched; empty for their own only.

        Raises:
            CccError: ``BLOCKS`` is no tuple of such sizes.
        """
        sizes = getattr(self._module, "BLOCKS", ())
        if not isinstance(sizes, tuple) or not all(
            isinstance(size, int) and 1 <= size <= 1024 for size in sizes
        ):
            raise self._error(f"BLOCKS must be a tuple of numbers from 1 to 1024, not {sizes!r}")
        return sizes

    @property
    def rivals(self) -> dict[str, Version]:
        """What the kernels are compared with, by label, in the sample's order; empty without any.

        Raises:
            CccError: ``RIVALS`` does not have the form above, or a file is missing.
        """
        table = getattr(self._module, "RIVALS", {})
        if not isinstance(table, dict) or not all(isinstance(label, str) for label in table):
            raise self._error(f"RIVALS must be a dict by label, not {table!r}")
        return {label: self._version(f"RIVALS[{label!r}]", row) for label, row in table.items()}

    @property
    def libraries(self) -> dict[str, tuple[str, Callable[..., Callable[[], object]]]]:
        """What does the work of one kernel on a GPU instead of it, by label; mostly empty.

        Raises:
            CccError: ``LIBRARIES`` does not have the form above.
        """
        table = getattr(self._module, "LIBRARIES", {})
        if not isinstance(table, dict) or not all(map(_names_work, table.values())):
            raise self._error(f"LIBRARIES must be a dict of kernels and functions, not {table!r}")
        return table

    @property
    def bound(self) -> Version | None:
        """The same work without divergence, to be run on ``bound_inputs``, or None.

        Raises:
            CccError: ``BOUND`` does not have the form above, or its file is missing.
        """
        row = getattr(self._module, "BOUND", None)
        return None if row is None else self._version("BOUND", row)

    @property
    def paper(self) -> float | None:
        """How many times as fast the kernel became in the paper; None where it is not in there.

        Raises:
            CccError: ``PAPER`` is no number above 0.
        """
        ratio = getattr(self._module, "PAPER", None)
        if ratio is None:
            return None
        if isinstance(ratio, bool) or not isinstance(ratio, (int, float)) or not ratio > 0:
            raise self._error(f"PAPER must be a number above 0, not {ratio!r}")
        return float(ratio)

    def _version(self, name: str, row: Any) -> Version:
        if not isinstance(row, tuple) or len(row) != 2 or not isinstance(row[0], str):
            raise self._error(f"{name} must be a file and a tuple of options, not {row!r}")
        folder = self._path.parent
        source = folder / row[0]
        if not source.resolve().is_relative_to(folder.resolve()) or not source.is_file():
            raise self._error(f"{name}: there is no file {row[0]} in the folder")
        return Version(source, (*self.options, *self._strings(f"the options of {name}", row[1])))

    def _strings(self, name: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, tuple) or not all(isinstance(one, str) for one in value):
            raise self._error(f"{name} must be a tuple of strings, not {value!r}")
        return value

    def _error(self, message: str) -> CccError:
        return CccError(message, Span(str(self._path)))

    def _load(self) -> Any:
        # Under a name of its own in sys.modules: dataclasses, for one, look their module up there.
        name = f"ccc_sample_{self._path.parent.resolve().name}"
        spec = importlib.util.spec_from_file_location(name, self._path)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        with self._blamed("loading it"):
            spec.loader.exec_module(module)
        for name in ("inputs", "run", "check"):
            if not callable(getattr(module, name, None)):
                raise self._error(f"it defines no function {name}")
        return module

    @property
    def takes_graph(self) -> bool:
        """Whether it can be run on a graph from a file."""
        return "graph" in inspect.signature(self._module.inputs).parameters

    def check_choice(self, graph: Path | None, kind: str | None) -> None:
        """Complain of inputs that the sample cannot make, before anything else is done.

        Raises:
            UsageError: it takes no graph, there is no such file, or it offers no such kind.
        """
        here = Span(str(self._path))
        if graph is not None and not self.takes_graph:
            raise UsageError("this sample takes no --graph", here)
        if graph is not None and not graph.exists():
            raise UsageError("there is no such file", Span(str(graph)))
        if kind is not None and kind not in self.kinds:
            offered = ", ".join(self.kinds) or "none"
            raise UsageError(f"this sample has no inputs {kind!r}; there are {offered}", here)

    def inputs(
        self, size: int, seed: int, graph: Path | None = None, kind: str | None = None
    ) -> dict[str, Any]:
        """What the sample runs on: NumPy arrays and scalars by name."""
        self.check_choice(graph, kind)
        chosen = {"graph": graph, "kind": kind}
        extra = {name: value for name, value in chosen.items() if value is not None}
        with self._blamed("inputs"):
            return self._dictionary("inputs", self._module.inputs(size, seed, **extra))

    def bound_inputs(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """What the bound runs on instead of some inputs: these where the sample makes no others."""
        function = getattr(self._module, "bound_inputs", None)
        if function is None:
            return inputs
        with self._blamed("bound_inputs"):
            return self._dictionary("bound_inputs", function(inputs))

    def run(self, module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        """The outputs, on whatever device the inputs are on."""
        with self._blamed("run"):
            return self._dictionary("run", self._module.run(module, inputs))

    def check(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> str | None:
        """What the sample finds wrong with outputs, if anything."""
        try:
            with self._blamed("check"):
                self._module.check(inputs, outputs)
        except CccError as error:
            return f"{error.message} ({error.span})" if error.span else error.message
        return None

    @property
    def draws(self) -> bool:
        """Whether there is a picture to be had."""
        return hasattr(self._module, "picture")

    def picture(self, outputs: dict[str, Any]) -> NDArray[np.uint8]:
        """The outputs as a picture, (height, width, 3); only where the sample ``draws``."""
        with self._blamed("picture"):
            return np.asarray(self._module.picture(outputs))

    def _dictionary(self, name: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._error(f"{name} must return a dict, not {type(value).__name__}")
        return value

    @contextlib.contextmanager
    def _blamed(self, what: str) -> Iterator[None]:
        """Turn what the sample raises into a message at the sample's line."""
        try:
            yield
        except CccError:
            raise
        except SyntaxError as error:
            where = Span(error.filename or str(self._path), error.lineno or 0)
            raise CccError(error.msg, where, error.text) from error
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            here = str(self._path.absolute())
            own = [frame for frame in frames if frame.filename == here]
            line, text = (own[-1].lineno or 0, own[-1].line) if own else (0, None)
            message = f"{what} raised {type(error).__name__}: {error}".rstrip(": ")
            raise CccError(message, Span(str(self._path), line), text) from error
