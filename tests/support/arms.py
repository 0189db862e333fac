"""Kernels of a loop with several arms, of which a lane takes at most one, and their remarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ccc.compiler.transform import Transformed, transform
from ccc.remark import Remark

# Lanes that are neighbours read here and there: of a stream of memory more is to be said, below.
HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 n)
.maxntid 256, 1, 1
{
	.reg .pred %p<9>;
	.reg .b32 %r<9>;
	.reg .f32 %f<99>;
	.reg .b64 %rd<9>;
	ld.param.u64 %rd1, [x];
	ld.param.u32 %r2, [n];
	mov.u32 %r1, %tid.x;
	// ccc.loop 1 k.cu:1:1
EACH:
	// ccc.for 1 k.cu:1:1
	xor.b32 %r4, %r1, 21;
	mul.wide.u32 %rd2, %r4, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.u32 %r3, [%rd3];
"""
TAIL = """JOIN:
	add.s32 %r1, %r1, 256;
	setp.lt.u32 %p2, %r1, %r2;
	@%p2 bra EACH;
	ret;
}
"""


@dataclass(frozen=True)
class Arm:
    """One of several arms of which a lane takes at most one.

    Args:
        length: instructions.
        prob: the share of lanes.
        words: that it needs of what was loaded.
        clauses: further ones, as a marker has them.
    """

    length: int
    prob: float
    words: int = 1
    clauses: str = ""

    def lines(self, number: int) -> list[str]:
        """Its code, behind the question whether a lane takes it; its marker names line 10 on."""
        steps = [
            f"fma.rn.f32 %f90, %f90, %f90, %f{step % self.words};" for step in range(self.length)
        ]
        place = f"{10 + number} k.cu:{10 + number}:1"
        return [
            f"setp.ne.u32 %p1, %r3, {number};",
            f"@%p1 bra NEXT{number};",
            f"// ccc.then {place} prob={self.prob} {self.clauses}",
            "mov.f32 %f90, 0f3F800000;",
            *steps,
            "st.global.f32 [%rd3], %f90;",
            "bra JOIN;",
            f"NEXT{number}:",
        ]


def kernel(*arms: Arm) -> str:
    words = max(arm.words for arm in arms)
    loads = [f"ld.global.f32 %f{word}, [%rd3+{4096 * (word + 1)}];" for word in range(words)]
    lines = [line for number, arm in enumerate(arms) for line in arm.lines(number)]
    return HEAD + "".join(f"\t{line}\n" for line in [*loads, *lines]) + TAIL


def remarks(ptx: str, **asked: Any) -> list[Remark]:
    """What became of the arms, in the order of the source."""
    done: Transformed = transform(ptx, **asked)
    return sorted(done.remarks["k"], key=lambda one: one.position.line)
