"""What launches add for stacks in dynamic shared memory; the PTX of a module says it of its kernels.

Who loads a module adds so many bytes to what each launch of the kernel asks for, and allows the
sum: ``ccc.RawKernel``, ``ccc compare`` and the emulator do. The kernel takes the last bytes of what
it gets, wherever its own dynamic shared memory ends.
"""

from __future__ import annotations

import re

ALIGNMENT = 16
"""Of the stacks. So many bytes more are asked for, since a launch may ask for any number."""

_NOTE = re.compile(r"^// ccc_dynamic_stack ([\w$]+): (\d+) bytes$", re.MULTILINE)


def note(kernel: str, size: int) -> str:
    """The line of PTX which says that stacks of ``size`` bytes are in dynamic shared memory."""
    return f"// ccc_dynamic_stack {kernel}: {added(size)} bytes\n"


def added(size: int) -> int:
    """What launches add for stacks of ``size`` bytes."""
    return size + ALIGNMENT


def bytes_added(ptx: str) -> dict[str, int]:
    """The bytes that launches add, by kernel, of those whose stacks are in dynamic shared memory.

    >>> bytes_added(note("k", 4096))
    {'k': 4112}
    """
    return {name: int(size) for name, size in _NOTE.findall(ptx)}
