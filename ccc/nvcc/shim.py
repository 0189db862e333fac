"""What nvcc starts in place of ``cicc`` and ``cudafe++``, before anything is loaded."""

from __future__ import annotations

import gc
import sys

from ccc import bytecode


def main() -> int:
    """Run as NAME TOOL ARGUMENTS...: ``name`` is what nvcc asked for, ``tool`` the real one."""
    bytecode.keep_bytecode()
    name, tool, *arguments = sys.argv[1:]
    if name != "cicc":
        from ccc.nvcc import host  # noqa: PLC0415 - one of both

        return host.run(tool, arguments)
    gc.disable()  # until all is loaded
    from ccc import dataclass_code  # noqa: PLC0415 - one of both

    with dataclass_code.kept():
        from ccc.nvcc import cicc  # noqa: PLC0415 - its classes are what takes time

        return cicc.main(tool, arguments)
