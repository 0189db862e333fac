"""What is said of paths in kernels of libraries, which are written in no file of the user's."""

from __future__ import annotations

from ccc.compiler.reasons.inquiry import REMOVE, Inquiry
from ccc.demangle import demangle


def in_a_library(asked: Inquiry) -> str | None:
    """What to do where what may be marked around a path is no user's code: thrust has a kernel of
    its own call a functor."""
    name = demangle(asked.remark.kernel).partition("<")[0].rpartition("::")[2]
    if asked.suspects.speaks_of(name):
        return None
    return (
        f'write a kernel with an annotated loop in place of "{name}", which is a library\'s; '
        f"else {REMOVE}"
    )
