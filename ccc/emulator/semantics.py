"""What every row of the opcode table computes; ``SEMANTICS`` is filled by the files imported here.

A row is in ``SEMANTICS``, in ``ELSEWHERE`` (named with the file that runs it), in ``NOTHING``
(it has no effect here) or in ``NOT_EMULATED``, with the reason.
"""

from __future__ import annotations

from ccc.emulator import arithmetic, convert, floating, integer, logic, warp
from ccc.emulator.forms import SEMANTICS, Form, Operation

SECTIONS = (arithmetic, convert, floating, integer, logic, warp)
"""The files that fill SEMANTICS when they are imported."""

ACCESSES = frozenset({"ld", "ldu", "st", "atom", "red"})

ELSEWHERE: dict[str, str] = {
    **dict.fromkeys(ACCESSES, "memory"),
    **dict.fromkeys(("bra", "brx", "call", "ret", "exit"), "program, simt"),
    **dict.fromkeys(("trap", "brkpt"), "codegen"),
}

NOTHING: dict[str, str] = {
    "membar": "every access is performed before the next one begins",
    "fence": "every access is performed before the next one begins",
    "nanosleep": "time does not pass",
    "pmevent": "there is no profiler",
    "prefetch": "there is no cache",
    "prefetchu": "there is no cache",
    "applypriority": "there is no cache",
}

NOT_EMULATED: dict[str, str] = {
    "discard": "it leaves memory undefined",
    "createpolicy": "there is no cache, so it has no cache policies",
    "mapa": "a cluster is one block",
    "getctarank": "a cluster is one block",
    "cp": "asynchronous copies are not modelled",
    **dict.fromkeys(("tex", "tld4", "txq"), "there are no textures"),
    **dict.fromkeys(("suq", "suld", "sust", "sured"), "there are no surfaces"),
    **dict.fromkeys(("stacksave", "stackrestore", "alloca"), "frames have a fixed size"),
}


def operation_of(form: Form) -> Operation | None:
    """The operation of an instruction that is no access and no jump; None if it does nothing.

    Raises:
        EmulatorError: it is not emulated.
    """
    row = form.instruction.row
    if row is None:
        form.refuse("is not in the opcode table")
    if row.name in NOTHING:
        return None
    if row.name not in SEMANTICS:
        form.refuse(f"is left out: {NOT_EMULATED.get(row.name, 'no semantics')}")
    return SEMANTICS[row.name](form)


__all__ = ["ACCESSES", "NOTHING", "NOT_EMULATED", "SECTIONS", "SEMANTICS", "operation_of"]
