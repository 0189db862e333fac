"""What launches add for stacks in dynamic shared memory, as the PTX of a module says.

Who loads a module adds so many bytes to what each launch of the kernel asks for, and allows the
sum: ``ccc.RawKernel``, ``ccc compare`` and the emulator do. Each warp takes its share from the end
of what the block gets, wherever the kernel's own dynamic shared memory ends.
"""

from __future__ import annotations

import re

from ccc.ptx.types import WARP_SIZE

ALIGNMENT = 16
"""Of a warp's share. So many bytes more are asked for, since a launch may ask for any number."""

_NOTE = re.compile(r"^// ccc_dynamic_stack ([\w$]+): (\d+) bytes a warp$", re.MULTILINE)


def note(kernel: str, share: int) -> str:
    """The line of PTX which says that a warp has ``share`` bytes of dynamic shared memory."""
    return f"// ccc_dynamic_stack {kernel}: {share} bytes a warp\n"


def shares(ptx: str) -> dict[str, int]:
    """The bytes of a warp, by kernel, of those whose stacks are in dynamic shared memory.

    >>> shares(note("k", 512))
    {'k': 512}
    """
    return {name: int(size) for name, size in _NOTE.findall(ptx)}


def added(share: int, threads: int) -> int:
    """The bytes that a launch adds, of blocks of so many threads, for warps with such a share.

    >>> added(512, 100), added(0, 100)
    (2064, 0)
    """
    return share * -(-threads // WARP_SIZE) + ALIGNMENT if share else 0
