"""How many lane-instructions a second the emulator runs.

    CCC_EMULATOR=native python tests/support/emulation_speed.py

prints a row for each instruction: at few lanes and at many, the best of some launches, in the
processor time of this process. A lane-instruction is one instruction executed by one lane. Half
of ``mixed`` are accesses, and a quarter of its lanes go another way in each turn.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

from ccc.emulator import Module

LANES = (1024, 65536)
BODIES = {
    "fma.rn.f32": "fma.rn.f32 %f2, %f2, %f1, %f0;",
    "fma.rn.f64": "fma.rn.f64 %d2, %d2, %d1, %d0;",
    "mad.lo.s32": "mad.lo.s32 %r5, %r5, %r4, %r3;",
    "setp, selp": "setp.lt.s32 %q1, %r5, %r4; selp.b32 %r5, %r3, %r4, %q1;",
    "cvt.rzi.s32.f32": "cvt.rzi.s32.f32 %r5, %f0;",
    "ld.global.u32": "ld.global.u32 %r5, [%x2];",
    "st.global.u32": "st.global.u32 [%x2], %r5;",
    "ld.shared.u32": "ld.shared.u32 %r5, [%r6];",
}
TOGETHER = 32
"""Instructions in a row, in a loop."""
MIXED = """
xor.b32 %r7, %r3, %r9; and.b32 %r7, %r7, 3; setp.eq.u32 %q1, %r7, 0; @%q1 bra rare;
ld.global.u32 %r5, [%x2]; add.s32 %r5, %r5, %r3; st.global.u32 [%x2], %r5; bra both;
rare: ld.shared.u32 %r8, [%r6]; mad.lo.s32 %r8, %r8, %r4, %r3; st.shared.u32 [%r6], %r8;
both:
"""
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 turns) {{
.reg .b32 %r<20>; .reg .f32 %f<9>; .reg .f64 %d<9>; .reg .b64 %x<9>; .reg .pred %q<9>;
.shared .align 4 .b8 words[1024];
mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;
mad.lo.s32 %r3, %r1, %r2, %r0;
cvt.rn.f32.u32 %f0, %r3; mov.f32 %f1, 0f3F000000; mov.f32 %f2, %f0;
cvt.rn.f64.u32 %d0, %r3; mov.f64 %d1, 0d3FE0000000000000; mov.f64 %d2, %d0;
mov.u32 %r4, 3; mov.u32 %r5, %r3;
mov.u32 %r6, words; shl.b32 %r7, %r0, 2; add.s32 %r6, %r6, %r7; st.shared.u32 [%r6], %r3;
ld.param.u64 %x0, [p]; ld.param.u32 %r10, [turns];
mul.wide.u32 %x1, %r3, 4; add.u64 %x2, %x0, %x1; mov.u32 %r9, 0;
loop:
{body}
add.s32 %r9, %r9, 1; setp.lt.s32 %q0, %r9, %r10; @%q0 bra loop;
cvt.rzi.s32.f32 %r11, %f2; cvt.rzi.s32.f64 %r12, %d2;
add.s32 %r11, %r11, %r12; add.s32 %r11, %r11, %r5; st.global.u32 [%x2], %r11;
ret;
}}
"""


def speed(body: str, lanes: int, work: int, repeat: int) -> float:
    """Lane-instructions a second, the best of some launches.

    Args:
        body: PTX of the loop.
        lanes: of the launch, a multiple of 256.
        work: about so many lane-instructions are run in each launch.
        repeat: launches, after one that makes everything.
    """
    kernel = Module(KERNEL.format(body=body)).get_function("k")
    turns = max(work // (lanes * TOGETHER), 1)
    found = 0.0
    for _ in range(repeat + 1):
        arguments = np.zeros(lanes, np.int32), np.uint32(turns)
        start = time.process_time()
        counters = kernel((lanes // 256,), (256,), arguments)
        found = max(found, counters.thread_instructions / (time.process_time() - start))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=int, default=30_000_000, help="lane-instructions a launch")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    print(f"CCC_EMULATOR={os.environ.get('CCC_EMULATOR', '')}, M lane-instructions/s")
    print(f"{'':16}" + "".join(f"{lanes:>12,} lanes" for lanes in LANES))
    bodies = {name: f"{body}\n" * TOGETHER for name, body in BODIES.items()}
    for name, body in (bodies | {"mixed": MIXED}).items():
        found = [speed(body, lanes, arguments.work, arguments.repeat) for lanes in LANES]
        print(f"{name:16}" + "".join(f"{one / 1e6:>18,.0f}" for one in found), flush=True)


if __name__ == "__main__":
    main()
