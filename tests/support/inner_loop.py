"""A kernel with an annotated loop in its annotated loop, and room for what a test puts there."""

from __future__ import annotations

from ccc.analysis.facts import Facts
from ccc.parse import parse_function, parse_module
from ccc.pipeline import Kernel

_TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_0)
{
    .reg .pred %p<5>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [k_0];
    @BEFORE
LOOP:
    // ccc.for 1 k.cu:1:1
    @BEGIN
    // ccc.loop 2 k.cu:2:1
TURN:
    // ccc.@KIND 2 k.cu:2:1
    @TURN
    @%p2 bra TURN;
OUT:
    @STEP
    setp.lt.u32 %p1, %r1, 1000;
    @%p1 bra LOOP;
    ret;
}
"""
STEP = "add.u32 %r1, %r1, 32;"


def with_inner_loop(
    turn: str,
    begin: str = "",
    before: str = "",
    kind: str = "variable",
    step: str = STEP,
) -> Kernel:
    """The kernel, before any pass.

    Args:
        turn: of the inner loop, which goes on if that sets ``%p2``.
        begin: what an iteration of the outer loop does before that.
        before: what is done before the outer loop.
        kind: of the inner loop.
        step: what makes the next ``%r1``, which the outer loop counts in.
    """
    text = text_with_inner_loop(turn, begin, before, kind, step)
    function = parse_function(next(iter(parse_module(text, "k.ptx").functions)))
    return Kernel(function, Facts(function))


def text_with_inner_loop(turn: str, begin: str, before: str, kind: str, step: str = STEP) -> str:
    """The same as the text of a file."""
    text = _TEXT.replace("@BEFORE", before).replace("@BEGIN", begin)
    return text.replace("@KIND", kind).replace("@TURN", turn).replace("@STEP", step)
