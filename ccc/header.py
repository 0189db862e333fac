"""Where the header for users is, ``cte.cuh``, and the CMake package that finds it."""

from __future__ import annotations

import os

_HERE = os.path.dirname(os.path.abspath(__file__))


def include() -> str:
    """The folder of ``cte.cuh``, for the include path: ``options=("-I" + ccc.include(),)``."""
    return os.path.join(_HERE, "include")


def cmake() -> str:
    """The folder of ``ccc-config.cmake``, for ``ccc_DIR``."""
    return os.path.join(_HERE, "cmake")
