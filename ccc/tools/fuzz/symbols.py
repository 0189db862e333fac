"""Symbols of random kernels with names that the compiler gives, too."""

from __future__ import annotations

import re

SYMBOLS = {
    "ccc_context_stack": "__device__ unsigned ccc_context_stack[4] = {3, 141, 59, 26};",
    "ccc_next_block": "__constant__ unsigned ccc_next_block[4] = {5, 35, 89, 79};",
    "ccc_counters_KERNEL": "__device__ unsigned ccc_counters_KERNEL[4] = {3, 2, 38, 4};",
    "ccc_profile_counts": "__device__ unsigned ccc_profile_counts[4] = {6, 264, 3, 38};",
    "ccc_path": 'extern "C" __device__ __noinline__ unsigned ccc_path(unsigned p) {\n'
    "    return p ^ p >> 5;\n}",
    "ccc_b32_0": "__device__ unsigned ccc_b32_0[4] = {32, 7, 95, 0};",
}
"""By name; ``KERNEL`` stands for the kernel's name."""


def named(text: str) -> list[str]:
    """The declarations of the symbols above that a text uses."""
    return [said for name, said in SYMBOLS.items() if re.search(rf"\b{name}\b", text)]
