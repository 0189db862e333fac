"""What is known of a launch: sizes, a thread's number in its block, shared memory (no pass)."""

from __future__ import annotations

from ccc.ir.edit import Emitter
from ccc.ir.nodes import Function
from ccc.ir.operands import Register, Special
from ccc.pipeline import Kernel
from ccc.ptx.types import MAX_BLOCK_THREADS

ALIGNMENT = 16
"""Of a warp's share of shared memory, in bytes."""


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


def known_block_size(function: Function, promised: int | None) -> int:
    """The most threads a block of this kernel can have, as far as that is known."""
    known = [_product(function.limits[k]) for k in ("reqntid", "maxntid") if k in function.limits]
    known += [promised] if promised else []
    return min([*known, MAX_BLOCK_THREADS])


def _product(sizes: tuple[int, ...]) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product


def shared_bytes(kernel: Kernel) -> int | None:
    """The bytes of shared memory that the kernel has already; None where that is not known.

    The order of variables is the assembler's, or the linker's. If each takes whole units of the
    largest alignment, ours included, there is room for them in any.
    """
    if kernel.dynamic_shared_bytes is None or kernel.callee_shared_bytes is None:
        return None
    own = [v for v in kernel.function.variables if v.space == "shared"]
    variables = [*kernel.shared, *own]
    unit = max([ALIGNMENT, *(variable.alignment for variable in variables)])
    sizes = [kernel.callee_shared_bytes, *(variable.bytes or 0 for variable in variables)]
    return sum(-(-size // unit) * unit for size in sizes) + kernel.dynamic_shared_bytes
