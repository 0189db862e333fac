"""What a comparison gave, as a file."""

from __future__ import annotations

import datetime
import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ccc.errors import CccError
from ccc.tools.agree.running import DIFFERS, LEFT_OUT, REFUSED, FormVerdict, Setting
from ccc.version import VERSION


@dataclass(frozen=True, slots=True)
class Agreement:
    """Where forms ran, and what became of each."""

    setting: dict[str, Any]
    verdicts: list[FormVerdict]

    @property
    def measured(self) -> dict[str, FormVerdict]:
        """The forms that ran on a GPU, by name."""
        return {one.form: one for one in self.verdicts if one.digest}


def provenance(setting: Setting, seconds: float) -> dict[str, Any]:
    """The device and the software of a comparison."""
    told = subprocess.run(
        [str(setting.ptxas), "--version"], capture_output=True, text=True, check=False
    ).stdout
    return {
        "ccc": VERSION,
        "date": datetime.date.today().isoformat(),
        "arch": setting.arch,
        "ptx": setting.version,
        "ptxas": next((line for line in told.splitlines() if "release" in line), "").strip(),
        "device": setting.device.describe() if setting.device else None,
        "seconds": round(seconds, 1),
    }


def write(record: Agreement, path: Path) -> None:
    """One form a line, so that a change shows which ones it concerns."""
    groups: dict[str, list[str]] = {}
    for one in record.verdicts:
        fields = {k: v for k, v in asdict(one).items() if v and k not in ("form", "group")}
        line = f"{json.dumps(one.form)}: {json.dumps(fields)}"
        groups.setdefault(one.group, []).append(line)
    forms = ",\n".join(
        f"{json.dumps(group)}: {{\n" + ",\n".join(sorted(lines)) + "\n}"
        for group, lines in sorted(groups.items())
    )
    setting = json.dumps(record.setting)
    path.write_text(f'{{"setting": {setting},\n"forms": {{\n{forms}\n}}}}\n', encoding="utf-8")


def read(path: Path) -> Agreement:
    """A record that was written before.

    Raises:
        CccError: it is none.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        verdicts = [
            FormVerdict(form, group, **fields)
            for group, forms in content["forms"].items()
            for form, fields in forms.items()
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CccError(f"{path} is no record of ccc agree: {error}") from error
    return Agreement(content["setting"], verdicts)


def summary(record: Agreement) -> str:
    """How many forms there are of each status, and those that differ."""
    found = Counter(one.status for one in record.verdicts)
    lines = [f"{count:6} {status}" for status, count in sorted(found.items())]
    for status in (DIFFERS, LEFT_OUT, REFUSED):
        lines += _listed(status, (one for one in record.verdicts if one.status == status))
    return "\n".join(lines)


def row_of(form: str) -> str:
    """The name of the (first) instruction of a form."""
    return re.split(r"[.,;\s]", form)[0]


def _listed(status: str, verdicts: Iterable[FormVerdict]) -> list[str]:
    """Forms of one status, those with the same name and reason together."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for one in verdicts:
        why = re.sub(r"^\S+ is not emulated: |, thread .*", "", one.why.partition("\n")[0])
        reasons.setdefault((row_of(one.form), why), []).append(one.form)
    return [
        f"{status}: {name}: {len(forms)} forms, such as {forms[0]}{f': {why}' if why else ''}"
        for (name, why), forms in reasons.items()
    ]
