"""Samples: folders with a kernel and what it takes to run it and to check what it did.

A sample is a folder with ``kernel.cu`` and ``sample.py``, which defines

- ``inputs(size, seed) -> dict`` of NumPy arrays and scalars, perhaps with ``graph=None``;
- ``run(module, inputs) -> dict`` of outputs: launches ``module.get_function(name)(grid, block,
  args, shared_mem=0)``, where ``module.resident_blocks(name, block)`` tells a grid that fills the
  device. The arrays are NumPy's or CuPy's; they are fresh copies each time;
- ``check(inputs, outputs)``, on NumPy's arrays: raises when the outputs are wrong;
- perhaps ``picture(outputs)``: (height, width, 3), uint8, what ``ccc compare --png`` writes;
- perhaps ``SIZES = {"gpu": .., "emulator": ..}``, the sizes taken where none is asked for;
- perhaps ``OPTIONS = ("-fmad=false",)``, options for nvcc, the same for both versions.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccc.errors import CccError, Span

SIZES = {"gpu": 20, "emulator": 10}
"""The sizes of a sample that names none."""


class Sample:
    """A sample's folder, loaded.

    Raises:
        CccError: a file or a function is missing, or ``sample.py`` does not load. The methods
            raise it when the sample's function raises anything, with its line in ``sample.py``.
    """

    def __init__(self, folder: Path):
        self.kernel = folder / "kernel.cu"
        self._path = folder / "sample.py"
        for path in (self.kernel, self._path):
            if not path.is_file():
                raise CccError(
                    f"no {path.name} here; a sample is kernel.cu and sample.py", Span(str(folder))
                )
        self._module = self._load()
        self.options: tuple[str, ...] = tuple(getattr(self._module, "OPTIONS", ()))
        self.sizes: dict[str, int] = {**SIZES, **getattr(self._module, "SIZES", {})}

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
                raise CccError(f"it defines no function {name}", Span(str(self._path)))
        return module

    def inputs(self, size: int, seed: int, graph: Path | None = None) -> dict[str, Any]:
        """What the sample runs on: NumPy arrays and scalars by name."""
        extra = {} if graph is None else {"graph": graph}
        function = self._module.inputs
        if extra and "graph" not in inspect.signature(function).parameters:
            raise CccError("this sample takes no --graph", Span(str(self._path)))
        with self._blamed("inputs"):
            return self._dictionary("inputs", function(size, seed, **extra))

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
            raise CccError(
                f"{name} must return a dict, not {type(value).__name__}", Span(str(self._path))
            )
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
