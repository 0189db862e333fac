"""What is to be compiled for :mod:`ccc.jit`, and what compiling says."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ccc.frontend.headers import reachable
from ccc.nvcc.arguments import check_characters
from ccc.options import Options

UNNAMED = "source.cu"
"""What messages call a source that is not in a file."""

RELOCATABLE = ("--device-c", "-dc", "-rdc=true", "--relocatable-device-code=true")
"""The options that ask for code to be linked."""


@dataclass(frozen=True, slots=True)
class CompileJob:
    """What to compile, and how.

    Attributes:
        text: CUDA, or marked PTX where ``backend`` is ``ptx``.
        backend: ``nvcc``, ``nvrtc`` or ``ptx``.
        arch: the compute capability, such as ``90``.
        path: the file of ``text``, if it is in one.
        options: for the compiler; they and ``prologue`` come from CuPy and the user.
        folders: where the user's headers are, besides the source's own folder.
        names: C++ names (``func<int>``, ``&ns::variable``) whose mangled ones are wanted.
        prologue: directives that go before the source.
        ours: what our own options ask for.
    """

    text: str
    backend: str
    arch: str
    path: str | None = None
    options: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    prologue: str = ""
    ours: Options = field(default_factory=Options)

    @property
    def shown(self) -> str:
        """The name of the source in messages and in the report."""
        return self.path or UNNAMED

    @property
    def headers(self) -> dict[str, str]:
        """The text of each of the user's headers, by path."""
        own = () if self.path is None else (str(Path(self.path).parent),)
        return reachable(self.text, (*own, *self.folders))

    @property
    def relocatable(self) -> bool:
        """Whether the code must be linked before it can be loaded."""
        return any(option in RELOCATABLE for option in self.options)


def checked(code: str, backend: str) -> str:
    """A source, if it can be compiled; CuPy hands it to NVRTC in UTF-8.

    Raises:
        TypeError: it is no string.
        CccError: it holds what is no character.
    """
    if not isinstance(code, str):
        raise TypeError(f"code is a string, not {type(code).__name__}")
    check_characters(code, UNNAMED, "strict" if backend == "nvrtc" else "surrogateescape")
    return code
