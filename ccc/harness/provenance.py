"""Records of measurements: where and when they were made, by what command; and writing them."""

from __future__ import annotations

import datetime
import os
import platform
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ccc.device.choose import Device
from ccc.errors import CccError, Span


def date() -> str:
    """Now, in UTC, as ISO 8601 writes it, to the second."""
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def command() -> str:
    """The ``ccc`` command that runs."""
    return shlex.join(["ccc", *sys.argv[1:]])


def machine(device: Device) -> dict[str, Any]:
    """The machine and the device."""
    return {
        "system": platform.platform(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        **device.describe(),
    }


def write(path: Path, data: bytes | str) -> None:
    """Write beside, then rename: whoever reads finds the old file or the whole new one.

    Raises:
        CccError: the file cannot be written.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(data.encode() if isinstance(data, str) else data)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise CccError(f"cannot write the file: {error.strerror}", Span(str(path))) from error
