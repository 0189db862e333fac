"""ccc removes warp divergence from CUDA kernels by Collaborative Context Collection.

    ccc.compile("kernel.cu").ptx       # annotated CUDA to PTX, through nvcc
    ccc.transform(ptx).ptx             # marked PTX to PTX
    ccc.RawKernel(code, "name")        # what cupy.RawKernel is, compiled through ccc
    ccc.profile.of(kernel)             # what a kernel has counted
    ccc.emulator.Module(ptx)           # PTX on the CPU
    ccc.include()                      # the folder of cte.cuh

What a user imports is loaded when it is first asked for, so that the tools start quickly.
"""

from __future__ import annotations

from ccc.version import VERSION as __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ccc import emulator, profile
    from ccc.compiler.transform import Transformed, transform
    from ccc.errors import CccError
    from ccc.header import include
    from ccc.jit.raw import RawKernel, RawModule
    from ccc.jit.telling import CccWarning
    from ccc.nvcc.run import Compiled, compile  # noqa: A004 - the design's name
    from ccc.options import Options
    from ccc.profile import instrument as counting

_HOMES = {
    "CccError": "ccc.errors",
    "compile": "ccc.nvcc.run",
    "include": "ccc.header",
    "Compiled": "ccc.nvcc.run",
    "Options": "ccc.options",
    "transform": "ccc.compiler.transform",
    "Transformed": "ccc.compiler.transform",
    "RawModule": "ccc.jit.raw",
    "RawKernel": "ccc.jit.raw",
    "CccWarning": "ccc.jit.telling",
}
_MODULES = {
    "counting": "ccc.profile.instrument",
    "emulator": "ccc.emulator",
    "profile": "ccc.profile",
}


def __getattr__(name: str) -> Any:
    import importlib  # noqa: PLC0415 - cccc, which imports this, does without it

    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name not in _HOMES:
        raise AttributeError(f"module 'ccc' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_HOMES, *_MODULES]


__all__ = [
    "CccError",
    "CccWarning",
    "Compiled",
    "Options",
    "RawKernel",
    "RawModule",
    "Transformed",
    "__version__",
    "compile",
    "counting",
    "emulator",
    "include",
    "profile",
    "transform",
]
