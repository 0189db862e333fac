"""Where and when measurements were made, and by what command."""

from __future__ import annotations

import datetime
import platform
import shlex
import sys
from typing import Any

import numpy as np

from ccc.device.choose import Device


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
