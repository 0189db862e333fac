"""What a thread can know of its launch: sizes, and its number in the block (no pass)."""

from __future__ import annotations

from ccc.ir.edit import Emitter
from ccc.ir.operands import Register, Special


def extents(emit: Emitter, name: str) -> list[Register]:
    """A size in x, y and z: ``%nctaid`` or ``%ntid``."""
    return [emit.define("mov.u32", "b32", Special(f"{name}.{axis}")) for axis in "xyz"]


def block_threads(emit: Emitter) -> Register:
    """The threads of a block."""
    width, height, depth = extents(emit, "%ntid")
    area = emit.define("mul.lo.s32", "b32", width, height)
    return emit.define("mul.lo.s32", "b32", area, depth)


def thread_number(emit: Emitter) -> Register:
    """The number of the thread in its block, counted as warps are made of threads.

    32 of them are a warp: ``%warpid`` may change (PTX ISA 10).
    """
    layer = emit.define("mov.u32", "b32", Special("%tid.z"))
    height = emit.define("mov.u32", "b32", Special("%ntid.y"))
    y = emit.define("mov.u32", "b32", Special("%tid.y"))
    row = emit.define("mad.lo.s32", "b32", layer, height, y)
    width = emit.define("mov.u32", "b32", Special("%ntid.x"))
    x = emit.define("mov.u32", "b32", Special("%tid.x"))
    return emit.define("mad.lo.s32", "b32", row, width, x)
