"""Launches that are timed: what ``--ccc-time`` adds to the host's side of them.

For each kernel nvcc writes a function of the host that launches it; the kernel's own name stands
where it is made known to the runtime:

    void __device_stub__Z3addPi(int *__par0) { __cudaLaunch(((char *)((void ( *)(int *))add))); }
    ... __cudaRegisterEntry(__T0, ((void ( *)(int *))add), _Z3addPi, (-1));

Before ``__cudaLaunch`` comes an object of ccc/profile/timer.cuh, whose life ends with the launch.
It begins when the launch is told its stream, by ``__cudaPopCallConfiguration``, which the macro
``__cudaLaunch`` calls in all versions of CUDA.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from ccc.files import put_text, read_text

_KNOWN = re.compile(r"__cudaRegisterEntry\(\w+, ([^;]*), ([\w$]+), [^,;]*\);")
_LAUNCH = re.compile(r"\b__cudaLaunch\(\(\(char \*\)")
_INCLUDED = '#include "crt/host_runtime.h"\n'
_BEGIN = """\
#define __cudaPopCallConfiguration(grid, block, shared, stream) \\
    ccc_launch.begin(__cudaPopCallConfiguration(grid, block, shared, stream), (stream))
"""


def time_launches(stubs: str, file: str) -> None:
    """Have the launches in a file that nvcc wrote timed, if there is one.

    Args:
        stubs: its name.
        file: where the program is to write the times.
    """
    if stubs and Path(stubs).exists():
        put_text(stubs, timed(read_text(stubs), file))


def timed(text: str, file: str) -> str:
    """The text of such a file with its launches timed."""
    names = dict(_KNOWN.findall(text))
    quoted = json.dumps(file, ensure_ascii=False)

    def launch(match: re.Match[str]) -> str:
        rest = text[match.end() :]
        known = [name for launched, name in names.items() if rest.startswith(f"{launched})")]
        kernel = f'ccc_timing::kernel("{known[0]}", {quoted})' if known else "0"
        return (
            f"static ccc_timing::Kernel *ccc_kernel = {kernel}; "
            f"ccc_timing::Launch ccc_launch(ccc_kernel); {match[0]}"
        )

    begun = _LAUNCH.sub(launch, text)
    return begun if begun == text else begun.replace(_INCLUDED, _INCLUDED + _BEGIN, 1)
