"""Where the report of a command goes, and whether it can."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence

from ccc.errors import CccError, Span, in_words
from ccc.files import check_writable
from ccc.nvcc import words


def check(name: str) -> None:
    """Find out before the work whether a report could be written.

    Raises:
        CccError: it could not.
    """
    if name.endswith(os.sep):
        try:
            os.makedirs(name, exist_ok=True)
        except OSError as error:
            raise CccError(f"cannot make the folder: {in_words(error)}", Span(name)) from error
        name = os.path.join(name, "report.json")
    elif os.path.isdir(name):
        instead = f"give --ccc-report={name}{os.sep} for a report of each command in it"
        raise CccError(f"this is a folder; {instead}", Span(name))
    check_writable(name)


def place(name: str, seen: Sequence[str]) -> str:
    """The file for the report; in a folder (``name/``) one that belongs to what is compiled.

    It is called by the result, and where that is not named by the words of the command, so that
    the next build writes it again.
    """
    if not name.endswith(os.sep):
        return name
    result = words.output(seen)
    told = [os.getcwd(), *([result] if result else seen)]
    digest = hashlib.sha256("\0".join(told).encode(errors="surrogateescape")).hexdigest()[:12]
    stem = os.path.basename(result or "report")[:100]
    return os.path.join(name, f"{stem}-{digest}.json")
