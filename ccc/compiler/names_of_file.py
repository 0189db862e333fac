"""The names of what one file alone knows, such as a kernel in an unnamed namespace.

nvcc makes them of the file: ``_ZN50_GLOBAL__N__76415de6_4_a_cu_b01e98e1_13280``, where the number
at the end is that of the process if nothing in the file has a name that others may know. Then they
differ each time that the file is compiled.
"""

from __future__ import annotations

import re

_KINDS = ("_GLOBAL__N__", "_INTERNAL_")
_STATIC = "__nv_static_"
_LENGTH = re.compile(rf"(?<={_STATIC})\d+_(?=_)|\d+(?={'|'.join(_KINDS)})")
"""How long such a part of a name is; its digits may stand behind those of another."""
_PART = re.compile(rf"(?:{'|'.join(_KINDS)}|_)([0-9a-f]{{8}}_\d+_\w+_[0-9a-f]{{8}}(?:_\d+)?)")


def as_in(first: str, ptx: str) -> str:
    """PTX with the names that another compilation of the file has made for the same."""
    new, old = _file_in(first), _file_in(ptx)
    if new is None or old is None or new == old:
        return ptx
    for kind in _KINDS:
        before, after = f"{kind}{old}", f"{kind}{new}"
        ptx = ptx.replace(f"{len(before)}{before}", f"{len(after)}{after}")
    return ptx.replace(_static(old), _static(new))


def _static(file: str) -> str:
    """How the name of a static kernel begins that is linked."""
    return f"{_STATIC}{len(file) + 1}__{file}_"


def _file_in(ptx: str) -> str | None:
    """What stands for the file in such names, if there are any."""
    for found in _LENGTH.finditer(ptx):
        number = found[0].rstrip("_")
        for digits in range(1, len(number) + 1):
            length = int(number[-digits:])
            if part := _PART.fullmatch(ptx, found.end(), min(found.end() + length, len(ptx))):
                return part[1]
    return None
