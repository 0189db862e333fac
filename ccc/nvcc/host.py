"""What nvcc starts in place of ``cudafe++``, for the host's side of annotated sources.

There our pragmas would only cause warnings. Nothing is loaded that takes time.
"""

from __future__ import annotations

import sys

from ccc.frontend.stripping import stripped
from ccc.nvcc.process import end_tidily
from ccc.nvcc.tool import ToolRun, input_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def run(tool: str, arguments: Sequence[str]) -> int:
    """Run a tool on its input without our pragmas."""
    with open(input_of(arguments), "rb") as file:
        code = stripped(file.read())
    end_tidily()
    with ToolRun(tool, arguments, code) as running:
        status, said = running.wait()
    sys.stderr.buffer.write(said)
    return status
