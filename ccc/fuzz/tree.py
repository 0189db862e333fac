"""Random kernels as trees, so that a failing one can be made smaller; printed as CUDA.

Expressions and statements are templates. ``$0`` stands for the first expression, ``@0`` for the
first block, with its braces. Each node names the variables it uses, and statements those they
declare, so that it is known without a compiler whether a smaller kernel still makes sense.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from ccc.equivalence import Launch

TYPES = {
    "u": "unsigned",
    "i": "int",
    "l": "unsigned long long",
    "h": "unsigned short",
    "b": "bool",
    "f": "float",
    "d": "double",
}
"""The types of expressions, by the letter that the generator uses."""

TRIPS = 8
"""The most iterations of a loop whose count does not depend on ``n``."""

LOOPS = 3
"""The most annotated loops of a kernel: each has slots of its own in the outputs."""

_HOLE = re.compile(r"([$@])(\d)")


@dataclass(frozen=True, slots=True)
class Expr:
    """An expression of one of :data:`TYPES`; ``names`` are the variables in ``form`` itself."""

    type: str
    form: str
    parts: tuple[Expr, ...] = ()
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return _HOLE.sub(lambda hole: str(self.parts[int(hole[2])]), self.form)

    def closed(self, visible: frozenset[str]) -> bool:
        """Whether all variables are among the visible ones."""
        return visible.issuperset(self.names) and all(p.closed(visible) for p in self.parts)


@dataclass(frozen=True, slots=True)
class Stmt:
    """A statement, with its pragma. It ``declares`` for what follows, ``binds`` for its bodies."""

    form: str
    exprs: tuple[Expr, ...] = ()
    bodies: tuple[Block, ...] = ()
    names: tuple[str, ...] = ()
    declares: tuple[str, ...] = ()
    binds: tuple[str, ...] = ()

    def __str__(self) -> str:
        def fill(hole: re.Match[str]) -> str:
            number = int(hole[2])
            return str(self.exprs[number]) if hole[1] == "$" else braces(self.bodies[number])

        return _HOLE.sub(fill, self.form)

    def closed(self, visible: frozenset[str]) -> bool:
        """Whether all variables are among the visible ones."""
        inner = visible.union(self.binds)
        return (
            inner.issuperset(self.names)
            and all(e.closed(inner) for e in self.exprs)
            and all(closed(body, inner) for body in self.bodies)
        )


Block = tuple[Stmt, ...]


def closed(block: Block, visible: frozenset[str]) -> bool:
    """Whether every variable of a block is declared before it is used."""
    for statement in block:
        if not statement.closed(visible):
            return False
        visible = visible.union(statement.declares)
    return True


def braces(block: Iterable[Stmt]) -> str:
    """A block as text, indented; pragmas stay in the first column."""
    text = "\n".join(map(str, block))
    lines = [line if line.startswith("#") else f"    {line}" for line in text.splitlines()]
    return "\n".join(["{", *lines, "}"])


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel and how it is launched. ``high`` bounds the values of its input."""

    body: Block
    grid: int
    block: tuple[int, int, int]
    n: int
    bounded: bool = True
    restrict: bool = False
    high: int = 100

    @property
    def threads(self) -> int:
        """The threads of a block."""
        return math.prod(self.block)

    @property
    def slots(self) -> int:
        """How many iterations an annotated loop may have, over all threads."""
        return max(self.n, TRIPS * self.threads * self.grid)

    def closed(self) -> bool:
        """Whether every variable is declared before it is used."""
        return closed(self.body, frozenset(BUILT_IN))

    def run_line(self) -> str:
        """The launch, as :mod:`ccc.equivalence` reads it."""
        slots, threads = self.slots, self.threads * self.grid
        shape = ",".join(map(str, self.block))
        return (
            f"grid={self.grid} block=({shape}) shared={4 * DYNAMIC_WORDS} "
            f"args=s32:{self.n} s32:{slots} u32[256]~0:{self.high} f32[256]~-2:2 "
            f"u32[{3 * LOOPS * slots}]=7 u64[{LOOPS * slots}]=0 f32[{LOOPS * slots}]=0 "
            f"u32[{4 * threads}]=0 u32[16]=0 u64[4]=0"
        )

    def launch(self) -> Launch:
        """The same, read."""
        return Launch.parse(self.run_line())

    def cuda(self, name: str) -> str:
        """The kernel's text, without the functions that it calls."""
        limit = f"__launch_bounds__({self.threads}) " if self.bounded else ""
        text = f'extern "C" __global__ void {limit}{name}(\n    {PARAMETERS}) '
        text = text.replace("*", "*__restrict__ " if self.restrict else "*")
        return text + braces([Stmt(PREAMBLE), *self.body])


DYNAMIC_WORDS = 32

PARAMETERS = """int n, int slots, const unsigned *a, const float *b,
    unsigned *y, unsigned long long *z, float *w, unsigned *t, unsigned *counters,
    unsigned long long *sums"""

PREAMBLE = """\
const int size = blockDim.x * blockDim.y * blockDim.z, total = size * gridDim.x;
const int l = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
const int g = l + size * blockIdx.x;"""

BUILT_IN = ("n", "slots", "size", "total", "l", "g")
"""The variables that every kernel has."""

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
}
"""Device functions that kernels may call."""

HEAD = "extern __shared__ unsigned dynamic[];\n"


def source(kernels: Iterable[tuple[str, Kernel]]) -> str:
    """One file of several kernels under the names given.

    Each has functions of its own: what nvcc makes of a function depends on all who call it.
    """
    texts = [_with_functions(name, kernel) for name, kernel in kernels]
    head = [HEAD] if any("dynamic[" in text for text in texts) else []
    return "\n".join([*head, *texts])


def _with_functions(name: str, kernel: Kernel) -> str:
    text = kernel.cuda(name)
    called = [body for function, body in FUNCTIONS.items() if f"{function}(" in text]
    whole = "".join(f"{part}\n" for part in (*called, text))
    return re.sub(r"\bf_(\w+)\(", rf"{name}_\1(", whole)


def case(kernel: Kernel, remark: str = "") -> str:
    """A kernel as a file of its own, with its launch in the first line, like tests/cases."""
    said = "".join(f"// {line}\n" for line in remark.splitlines())
    return f"// run: {kernel.run_line()}\n{said}{source([('k', kernel)])}"
