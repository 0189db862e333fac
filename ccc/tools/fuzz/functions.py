"""Device functions that random kernels call."""

from __future__ import annotations

import re

FUNCTIONS = {
    "f_mix": "__device__ __noinline__ unsigned f_mix(unsigned p, unsigned q) {\n"
    "    for (unsigned j = 0; j < (q & 7); ++j) p = p * 1664525u + (q >> j);\n"
    "    return p ^ q;\n}",
    "f_fold": "__device__ __forceinline__ unsigned f_fold(unsigned p, unsigned q) {\n"
    "    return p > q ? p - q : (p ^ (q >> 3));\n}",
    "f_root": "__device__ __noinline__ float f_root(float p, unsigned times) {\n"
    "    float r = 1.0f;\n"
    "    for (unsigned j = 0; j < times % 5; ++j) r = 0.5f * (r + fabsf(p) / r);\n"
    "    return r;\n}",
    "f_pick": "__device__ __noinline__ unsigned f_pick(unsigned p, unsigned q) {\n"
    "    unsigned kept[6];\n"
    "    for (unsigned j = 0; j < 6; ++j) kept[j] = p * j + q;\n"
    "    return kept[(p ^ q) % 6];\n}",
    "f_fill": "__device__ __noinline__ void f_fill(unsigned *p, unsigned q) {\n"
    "    for (unsigned j = 0; j < 4; ++j) p[j] = p[j] * 3 + (q >> j);\n}",
    "f_new": "__device__ __noinline__ void f_new(unsigned *p, unsigned q) {\n"
    "    for (unsigned j = 0; j < 4; ++j) p[j] = q * 8 + j;\n}",
    "f_total": "__device__ __noinline__ unsigned f_total(const unsigned *p) {\n"
    "    unsigned r = 0;\n    for (unsigned j = 0; j < 4; ++j) r = r * 5 + p[j];\n"
    "    return r;\n}",
    "f_at": "__device__ __noinline__ unsigned *f_at(unsigned *p, unsigned q) {\n"
    "    return p + (q & 3);\n}",
    "f_keep": "__device__ __noinline__ void f_keep(unsigned **p, unsigned *q, unsigned s) {\n"
    "    *p = q + (s & 3);\n}",
    "f_two": "__device__ __noinline__ void f_two(unsigned p, unsigned *q, unsigned *r) {\n"
    "    *q = p * 7;\n    *r ^= p >> 3;\n}",
    "f_own": "__device__ __noinline__ unsigned f_own(unsigned p, unsigned q) {\n"
    "    unsigned kept[8];\n"
    "    for (unsigned j = 0; j < 8; ++j) kept[j] = p + j * q;\n"
    "    for (unsigned j = 0; j < (q & 7); ++j) kept[kept[j] & 7] ^= p >> j;\n"
    "    return kept[p & 7];\n}",
    "f_scratch": "__device__ __noinline__ unsigned f_scratch(unsigned p, unsigned q) {\n"
    "    unsigned *kept = (unsigned *)__builtin_alloca(4 * (2 + (q & 7)));\n"
    "    for (unsigned j = 0; j < 2 + (q & 7); ++j) kept[j] = p * j + q;\n"
    "    return kept[p % (2 + (q & 7))];\n}",
    "f_put": "__device__ __noinline__ void f_put(unsigned *p, unsigned q) { *p += q * 3; }",
    "f_who": "__device__ __noinline__ unsigned f_who(unsigned p) { return p + threadIdx.x; }",
    "f_lane": "__device__ __forceinline__ unsigned f_lane() {\n"
    '    unsigned r;\n    asm volatile("mov.u32 %0, %%laneid;" : "=r"(r));\n    return r;\n}',
    "f_below": "__device__ __forceinline__ unsigned f_below() {\n"
    '    unsigned r;\n    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r));\n    return r;\n}',
    "f_carry": "__device__ __forceinline__ unsigned f_carry(unsigned p, unsigned q) {\n"
    "    unsigned r;\n"
    '    asm("{ .reg .u32 c; add.cc.u32 c, %1, %2; addc.u32 %0, c, %2; }"\n'
    '        : "=r"(r) : "r"(p), "r"(q));\n    return r;\n}',
    "f_leave": "__device__ __noinline__ unsigned f_leave(unsigned p) {\n"
    '    if (p % 7 == 1) asm volatile("exit;" ::: "memory");\n    return p * 3;\n}',
    "f_named": "__device__ __forceinline__ unsigned f_named(unsigned p, unsigned q) {\n"
    "    unsigned r;\n"
    '    asm("{ .reg .b32 %%ccc_b32_0; add.u32 %%ccc_b32_0, %1, %2; "\n'
    '        "xor.b32 %0, %%ccc_b32_0, 77; }" : "=r"(r) : "r"(p), "r"(q));\n    return r;\n}',
    "f_wait": "__device__ __forceinline__ void f_wait(unsigned p) {\n"
    "    const unsigned start = clock();\n"
    "    while ((unsigned)clock() - start < 20u + p % 16) {}\n}",
    "f_pause": "__device__ __noinline__ void f_pause(unsigned p) {\n"
    "    const long long end = clock64() + p % 32;\n    while (clock64() < end) {}\n}",
    "f_ticks": "__device__ __forceinline__ bool f_ticks(unsigned p) {\n"
    "    unsigned long long one, two;\n"
    '    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(one));\n'
    '    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(two));\n'
    "    return two - one < (1ull << 60) + p;\n}",
    "f_locked": "__device__ __noinline__ void f_locked(unsigned *p, unsigned q) {\n"
    "    while (atomicCAS(p, 0u, 1u)) {}\n    __threadfence();\n"
    "    *(volatile unsigned *)(p + 1) += q;\n    __threadfence();\n"
    "    atomicExch(p, 0u);\n}",
    "f_any": "template <typename T> __device__ __forceinline__ T f_any(T p, T q) {\n"
    "    return p < q ? q - p : p * q + T(1);\n}",
}
"""By name; each is free of undefined behaviour whatever it is given."""

_CALL = re.compile(r"\bf_(\w+)([(<])")


def called(text: str) -> list[str]:
    """The functions above that a text calls."""
    return [body for name, body in FUNCTIONS.items() if re.search(rf"\b{name}[(<]", text)]


def own(text: str, name: str) -> str:
    """A text with the functions in it named after its kernel.

    What nvcc makes of a function depends on all who call it, so no two kernels share one.
    """
    return _CALL.sub(rf"{name}_\1\2", text)
