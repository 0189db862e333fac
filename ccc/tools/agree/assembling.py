"""Which forms there are on a target: those that ptxas takes."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ccc.errors import CccError
from ccc.tools.agree.case import Case
from ccc.tools.agree.kernels import module


@dataclass(slots=True)
class FormCode:
    """Machine code of some forms; kernel ``form<k>`` is that of ``taken[k]``."""

    cubin: bytes = b""
    taken: list[Case] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    """Why ptxas does not take a form."""


def assemble(cases: Sequence[Case], arch: str, version: str, ptxas: str | Path) -> FormCode:
    """Assemble forms, leaving out what ptxas names in its messages until it has none.

    Raises:
        CccError: there is no ptxas, or it fails without naming a line.
    """
    code = FormCode(taken=list(cases))
    while code.taken:
        text = module(code.taken, arch, version)
        code.cubin, messages = _run(text, arch, ptxas)
        if code.cubin:
            break
        starts = [n for n, line in enumerate(text.splitlines(), 1) if ".visible .entry" in line]
        wrong: dict[int, str] = {}
        for line, why in re.findall(r"line (\d+); (?:error|fatal)\s*: (.*)", messages):
            number = sum(start <= int(line) for start in starts) - 1
            wrong.setdefault(number, why)
        if not wrong or -1 in wrong:
            if len(code.taken) > 1:
                return _halved(code, arch, version, ptxas)
            wrong = {0: messages.strip()}
        code.refused |= {code.taken[number].form: why for number, why in wrong.items()}
        code.taken = [case for number, case in enumerate(code.taken) if number not in wrong]
    return code


def _halved(code: FormCode, arch: str, version: str, ptxas: str | Path) -> FormCode:
    """ptxas names no line: find the form one by one, then assemble the others together."""
    fine = []
    for case in code.taken:
        alone = assemble([case], arch, version, ptxas)
        code.refused |= alone.refused
        fine += alone.taken
    if len(fine) == len(code.taken):
        raise CccError("ptxas takes each form, but not all of them together")
    rest = assemble(fine, arch, version, ptxas)
    return FormCode(rest.cubin, rest.taken, code.refused | rest.refused)


def _run(text: str, arch: str, ptxas: str | Path) -> tuple[bytes, str]:
    with tempfile.TemporaryDirectory(prefix="ccc-") as folder:
        source, target = Path(folder, "forms.ptx"), Path(folder, "forms.cubin")
        source.write_text(text, encoding="utf-8")
        command = [str(ptxas), f"-arch={arch}", str(source), "-o", str(target)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise CccError(f"cannot run ptxas ({error.strerror})") from error
        return (b"" if done.returncode else target.read_bytes()), done.stdout + done.stderr
