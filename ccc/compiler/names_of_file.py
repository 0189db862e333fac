"""The names of what one file alone knows, such as a kernel in an unnamed namespace.

nvcc makes them of the file: ``_ZN50_GLOBAL__N__76415de6_4_a_cu_b01e98e1_13280``, where the number
at the end is that of the process if nothing in the file has a name that others may know. Then they
differ each time that the file is compiled.
"""

from __future__ import annotations

import re

_KINDS = ("_GLOBAL__N__", "_INTERNAL_")
_NAME = re.compile(rf"\b_ZN(\d+)({'|'.join(_KINDS)})")


def as_in(first: str, ptx: str) -> str:
    """PTX with the names that another compilation of the file has made for the same."""
    new, old = _file_in(first), _file_in(ptx)
    if new is None or old is None or new == old:
        return ptx
    for kind in _KINDS:
        before, after = f"{kind}{old}", f"{kind}{new}"
        ptx = ptx.replace(f"{len(before)}{before}", f"{len(after)}{after}")
    return ptx


def _file_in(ptx: str) -> str | None:
    """What stands for the file in such names, if there are any."""
    found = _NAME.search(ptx)
    if found is None:
        return None
    return ptx[found.end() : found.start(2) + int(found[1])]
