"""What nvcc starts in place of ``cicc`` and ``cudafe++``, before anything is loaded."""

from __future__ import annotations

import gc
import os
import sys

from ccc import bytecode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def run() -> NoReturn:
    """Do what is to be done, and end at once: whatever was made ends with the process."""
    code = main()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # whoever started us may have closed it
            stream.flush()
    os._exit(code)


def main() -> int:
    """Run as NAME TOOL ARGUMENTS...: ``name`` is what nvcc asked for, ``tool`` the real one."""
    bytecode.keep_bytecode()
    name, tool, *arguments = sys.argv[1:]
    if name != "cicc":
        from ccc.nvcc import host  # noqa: PLC0415 - one of both

        return host.run(tool, arguments)
    gc.disable()  # until all is loaded
    from ccc import later  # noqa: PLC0415 - one of both

    later.load_later(*later.SELDOM)
    from ccc import dataclass_code  # noqa: PLC0415 - behind that

    with dataclass_code.kept():
        from ccc.nvcc import cicc  # noqa: PLC0415 - its classes are what takes time

        return cicc.main(tool, arguments)
