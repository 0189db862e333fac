"""What nvcc starts in place of ``cudafe++``, for the host's side of annotated sources.

There our pragmas would only cause warnings. Nothing is loaded that takes time.
"""

from __future__ import annotations

import os

from ccc.frontend.stripping import stripped
from ccc.nvcc import process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def run(tool: str, arguments: Sequence[str]) -> int:
    """Run a tool on its input without our pragmas; a file kept with ``--keep`` is not touched."""
    given = input_of(arguments)
    with open(given, "rb") as file:
        code = stripped(file.read())
    folder = _make_folder()
    changed = os.path.join(folder, os.path.basename(given))
    try:
        with open(changed, "wb") as file:
            file.write(code)
        words = (changed if word == given else word for word in arguments)
        return process.run([tool, *words], os.environ)
    finally:
        if os.path.exists(changed):
            os.unlink(changed)
        os.rmdir(folder)


def input_of(arguments: Sequence[str]) -> str:
    """The preprocessed text that a tool is to read."""
    return next(word for word in reversed(arguments) if word.endswith(".ii"))


def _make_folder() -> str:
    """A folder of our own."""
    base = os.environ.get("TMPDIR") or "/tmp"
    folder = os.path.join(base, f"ccc-{os.getpid()}-{os.urandom(6).hex()}")
    try:
        os.mkdir(folder, 0o700)
    except OSError:
        import tempfile  # noqa: PLC0415 - it knows more places, and takes long to load

        return tempfile.mkdtemp(prefix="ccc-")
    return folder
