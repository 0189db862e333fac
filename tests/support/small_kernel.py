"""The smallest kernel with a path, with room for what a test puts into its PTX."""

from __future__ import annotations

_TEXT = """.version 8.0
.target sm_80
.address_size 64
@MODULE
.visible .entry k(.param .u64 k_param_0)
.maxntid 64, 1, 1
{
	.reg .pred %p<9>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<9>;
@BEFORE
	ld.param.u64 %rd1, [k_param_0];
	mov.u32 %r1, %tid.x;
	// ccc.loop 1 k.cu:1:1
EACH:
	// ccc.for 1 k.cu:1:1
	and.b32 %r2, %r1, 3;
	setp.ne.u32 %p1, %r2, 0;
	@%p1 bra JOIN;
	// ccc.then 2 k.cu:2:2
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	mov.u32 %r3, 7;
@PATH
	st.global.u32 [%rd3], %r3;
JOIN:
	add.s32 %r1, %r1, 64;
	setp.lt.u32 %p2, %r1, 640;
	@%p2 bra EACH;
	ret;
}
"""


def kernel(module: str = "", before: str = "", path: str = "") -> str:
    """The kernel ``k``, for blocks of 64 threads.

    Args:
        module: declarations before it.
        before: code and declarations before its loop.
        path: code in the path that sets ``%r3``, which the path stores.
    """
    text = _TEXT.replace("@MODULE", module).replace("@BEFORE", before)
    return text.replace("@PATH", path)
