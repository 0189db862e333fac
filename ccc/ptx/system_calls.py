"""Functions that the driver provides to kernels."""

from __future__ import annotations

from ccc.ptx.opcodes import Effect

SYSTEM_CALLS = {
    "__assertfail": Effect.NONE,  # stops the whole grid, or does not return
    "vprintf": Effect.READ,  # appends to a buffer that the host reads; the order of lines is open
    "malloc": Effect.NONE,  # takes memory from a heap that all threads share
    "free": Effect.READ | Effect.WRITE,  # gives it back: what was there is gone
}
"""What the driver provides to kernels (CUDA C++ Programming Guide), and what it does to memory that
the program uses. Another lane may do it, and later: none of them waits for others, or asks which
thread calls."""
