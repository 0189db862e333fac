"""What one device pass has to say, handed to the command that started nvcc."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field

from ccc.files import put_text, read_text
from ccc.remark import Remark, read_report, report

SEVERITIES = ("warning", "error")
"""Of what is not as it was asked for; the latter if the options are strict."""
Remarks = dict[str, list[Remark]]
"""By kernel."""


@dataclass(slots=True)
class DevicePass:
    """What one device pass has to say; ``unit`` names its source and architecture.

    ``hints`` are warnings that no annotation is to blame for: ``strict`` lets them pass.
    ``original`` is the PTX of the source without annotations, if that was asked for.
    """

    unit: tuple[str, str] = ("", "")
    remarks: Remarks = field(default_factory=dict)
    diagnostics: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    printed: str = ""
    error: str | None = None
    original: str = ""

    def save(self, folder: str, said: str = "") -> None:
        """Leave this for the command that started nvcc, and beside it what there is to be ``said``
        if nothing else is asked."""
        name = os.path.join(folder, f"{os.getpid()}-{os.urandom(6).hex()}.json")
        put_text(name, json.dumps({**asdict(self), "remarks": report(self.remarks)}))
        put_text(f"{name}.said", said)

    def take(self, other: DevicePass) -> None:
        """Say what ``other`` says."""
        self.remarks, self.diagnostics = other.remarks, other.diagnostics
        self.hints, self.printed = other.hints, other.printed

    @staticmethod
    def load(folder: str) -> list[DevicePass]:
        """All passes left in a folder, by source and architecture, whatever ran first."""
        names = [name for name in os.listdir(folder) if name.endswith(".json")]
        told = [json.loads(read_text(os.path.join(folder, name))) for name in names]
        passes = [
            DevicePass(
                **{**one, "unit": tuple(one["unit"]), "remarks": read_report(one["remarks"])}
            )
            for one in told
        ]
        return sorted(passes, key=lambda one: one.unit)
