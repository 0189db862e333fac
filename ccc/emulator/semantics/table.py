"""What every row of the opcode table computes; ``SEMANTICS`` is filled by the files imported here.

A row is in ``SEMANTICS``, in ``ELSEWHERE`` (named with the file that runs it), in ``NOTHING``
(it has no effect here) or in ``NOT_EMULATED``, with the reason.
"""

from __future__ import annotations

from ccc.emulator.base.forms import SEMANTICS, Form, Operation
from ccc.emulator.semantics import (
    arithmetic,
    asynchronous,
    convert,
    floating,
    images,
    integer,
    logic,
    matrix,
    narrow,
    video,
    warp,
    wmma,
)
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Minus, Selected

SECTIONS = (
    arithmetic, asynchronous, convert, floating, images, integer, logic, matrix,
    narrow, video, warp, wmma,
)  # fmt: skip
"""The files that fill SEMANTICS when they are imported."""

ACCESSES = frozenset({"ld", "ldu", "st", "atom", "red"})

ELSEWHERE: dict[str, str] = {
    **dict.fromkeys(ACCESSES, "memory"),
    **dict.fromkeys(("bra", "brx", "call", "ret", "exit"), "program, simt"),
    **dict.fromkeys(("trap", "brkpt"), "codegen"),
    **dict.fromkeys(("alloca", "stacksave", "stackrestore"), "codegen, simt"),
}

NOTHING: dict[str, str] = {
    "membar": "every access is performed before the next one begins",
    "fence": "every access is performed before the next one begins",
    "nanosleep": "time does not pass",
    "pmevent": "there is no profiler",
    "prefetch": "there is no cache",
    "prefetchu": "there is no cache",
    "applypriority": "there is no cache",
    "discard": "memory may keep what nobody may ask for",
    "griddepcontrol": "one grid runs at a time",
    "setmaxnreg": "registers are not counted",
    "barrier.cluster": "a cluster is one block, whose threads have waited already",
}

_TENSOR_COPIES = (
    "cp.async.bulk.tensor cp.reduce.async.bulk.tensor cp.async.bulk.prefetch.tensor "
    "tensormap.replace tensormap.cp_fenceproxy"
)
_CLUSTER = "multimem.ld_reduce multimem.st multimem.red"
_WARPGROUP = "wgmma.mma_async wgmma.mma_async.sp wgmma.fence wgmma.commit_group wgmma.wait_group"
_TENSOR = (
    "tcgen05.alloc tcgen05.dealloc tcgen05.relinquish_alloc_permit tcgen05.ld tcgen05.ld.red "
    "tcgen05.st tcgen05.wait tcgen05.cp tcgen05.shift tcgen05.mma tcgen05.mma.sp tcgen05.mma.ws "
    "tcgen05.mma.ws.sp tcgen05.fence tcgen05.commit"
)

NOT_EMULATED: dict[str, str] = {
    row: reason
    for rows, reason in {
        _TENSOR_COPIES: "descriptors of tensors are not modelled",
        _CLUSTER: "a cluster is one block of one device",
        "mma.sp": "sparse matrices are not modelled",
        _WARPGROUP: "the matrix unit of a warpgroup is not modelled",
        _TENSOR: "tensor memory is not modelled",
        "istypep": "handles have no types",
    }.items()
    for row in rows.split()
}


def _selects(instruction: Instruction) -> bool:
    return any(isinstance(operand, (Minus, Selected)) for operand in instruction.operands)


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
    if row.name not in video.ROWS and _selects(form.instruction):
        form.refuse("takes a part of a register")
    if row.name not in SEMANTICS:
        form.refuse(f"is left out: {NOT_EMULATED.get(row.name, 'no semantics')}")
    return SEMANTICS[row.name](form)


__all__ = ["ACCESSES", "NOTHING", "NOT_EMULATED", "SECTIONS", "SEMANTICS", "operation_of"]
