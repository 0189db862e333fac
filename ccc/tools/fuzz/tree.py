"""Random kernels as trees, so that a failing one can be made smaller; printed as CUDA.

Expressions and statements are templates. ``$0`` stands for the first expression, ``@0`` for the
first block, with its braces. Each node names the variables it uses, and statements those they
declare, so that it is known without a compiler whether a smaller kernel still makes sense.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import TypeVar

from ccc.harness.equivalence import Launch
from ccc.tools.fuzz.functions import called, own
from ccc.tools.fuzz.symbols import named

T = TypeVar("T")
TYPES = {
    "u": "unsigned",
    "i": "int",
    "l": "unsigned long long",
    "q": "long long",
    "h": "unsigned short",
    "s": "short",
    "c": "unsigned char",
    "b": "bool",
    "f": "float",
    "d": "double",
}
"""The types of expressions, by the letter that the generator uses."""

TRIPS = 8
"""The most iterations of a loop whose count does not depend on ``n``."""

LOOPS = 3
"""The most annotated loops of a kernel: each has slots of its own in the outputs."""

BLOCKS = (
    (32, 1, 1), (33, 1, 1), (1, 1, 1), (64, 1, 1), (100, 1, 1), (96, 1, 1), (128, 1, 1),
    (256, 1, 1), (16, 6, 1), (5, 4, 3), (8, 8, 2), (64, 1, 1), (128, 1, 1),
)  # fmt: skip

HOLE = re.compile(r"([$@])(\d+)")
"""Where a template holds one of its parts."""


@dataclass(frozen=True, slots=True)
class Expr:
    """An expression of one of :data:`TYPES`; ``names`` are the variables in ``form`` itself."""

    type: str
    form: str
    parts: tuple[Expr, ...] = ()
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return HOLE.sub(lambda hole: str(self.parts[int(hole[2])]), self.form)

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

        return HOLE.sub(fill, self.form)

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


def walk(block: Block) -> Iterator[Stmt]:
    """All statements of a block and of what is in them."""
    for statement in block:
        yield statement
        for body in statement.bodies:
            yield from walk(body)


def put(items: tuple[T, ...], place: int, *others: T) -> tuple[T, ...]:
    """The same with others, any number of them, instead of one."""
    return (*items[:place], *others, *items[place + 1 :])


def in_bodies(
    block: Block, place: int, change: Callable[[Block], Iterator[Block]]
) -> Iterator[Block]:
    """The block with each change of a body of one of its statements."""
    statement = block[place]
    for number, body in enumerate(statement.bodies):
        for other in change(body):
            bodies = put(statement.bodies, number, other)
            yield put(block, place, replace(statement, bodies=bodies))


def braces(block: Iterable[Stmt]) -> str:
    """A block as text, indented; pragmas stay in the first column."""
    text = "\n".join(map(str, block))
    lines = [line if line.startswith("#") else f"    {line}" for line in text.splitlines()]
    return "\n".join(["{", *lines, "}"])


@dataclass(frozen=True, slots=True)
class RandomKernel:
    """A kernel and how it is launched.

    ``functions`` are device functions of its own. ``bound`` is the most threads that a block may
    have, 0 if it does not say. ``high`` bounds the values of its input, ``data`` chooses them. With
    ``template`` the body is a function template that is called twice. ``pragma`` stands before the
    kernel; with ``one_task`` each thread has one task there, so that the grid must hold them all.
    Where it ``spins``, threads wait for one another, so that lanes in lockstep might never end.
    """

    body: Block
    grid: int
    block: tuple[int, int, int]
    n: int
    functions: Block = ()
    bound: int = 0
    restrict: bool = False
    template: bool = False
    pragma: str = ""
    one_task: bool = False
    spins: bool = False
    high: int = 100
    data: int = 0

    @property
    def threads(self) -> int:
        """The threads of a block."""
        return math.prod(self.block)

    @property
    def slots(self) -> int:
        """How many iterations an annotated loop may have, over all threads."""
        return max(self.n, TRIPS * self.threads * self.grid)

    @property
    def dynamic_bytes(self) -> int:
        """The dynamic shared memory of a launch."""
        return DYNAMIC_BYTES if "dynamic[" in self.cuda("k") else 0

    def closed(self) -> bool:
        """Whether every variable is declared before it is used."""
        functions = [name for function in self.functions for name in function.declares]
        visible = frozenset((*BUILT_IN, *functions))
        return closed(self.functions, frozenset(PARAMETERS)) and closed(self.body, visible)

    def run_line(self) -> str:
        """The launch, as :mod:`ccc.harness.equivalence` reads it."""
        slots, threads = self.slots, self.threads * self.grid
        places = LOOPS * slots * (2 if self.template else 1)
        shape = ",".join(map(str, self.block))
        return (
            f"grid={self.grid} block=({shape}) shared={self.dynamic_bytes} "
            f"args=s32:{self.n} s32:{slots} u32[256]~0:{self.high} f32[256]~-2:2 "
            f"u32[{3 * places}]=7 u64[{places}]=0 f32[{places}]=0 f64[{places}]=0 "
            f"u16[{places}]=0 u32[{4 * threads}]=0 u32[16]=0 u64[16]=0 f64[4]=0 u32[64]=0"
        )

    def launch(self) -> Launch:
        """The same, read."""
        return Launch.parse(self.run_line())

    def variant(self, number: int) -> RandomKernel:
        """The same code in another launch; number 0 is the kernel itself."""
        if number == 0:
            return self
        random = Random(f"{number}/{self.block}/{self.n}")
        most = self.bound or 1024
        shapes = [shape for shape in (*BLOCKS, (512, 1, 1)) if math.prod(shape) <= most]
        block = shapes[random.randrange(len(shapes))] if shapes else self.block
        grid = (1, 2, 5, 12)[random.randrange(4)]
        n = (31, 100, 500, 1500, 4000)[random.randrange(5)]
        if self.spins:  # waiting takes long
            n = min(n, 100)
        if self.one_task:
            grid = -(-n // math.prod(block))
        return replace(self, block=block, grid=grid, n=n, data=self.data + 10_007 * number)

    def cuda(self, name: str) -> str:
        """The kernel's text, without the functions of :mod:`ccc.tools.fuzz.functions`."""
        parts = [str(function) for function in self.functions]
        limit = f"__launch_bounds__({self.bound}) " if self.bound else ""
        head = f'{self.pragma}extern "C" __global__ void {limit}{name}(\n    {self.formal}) '
        body = braces([Stmt(PREAMBLE), *self.body])
        if not self.template and re.search(r"\b(MODE|T)\b", body):
            body = braces([Stmt(TEMPLATE_WORDS), Stmt(PREAMBLE), *self.body])
        if self.template:
            template = "template <int MODE, typename T> __device__ __forceinline__ void "
            parts.append(f"{template}f_body(\n    {self.formal}) {body}")
            calls = ("0, unsigned", "1, unsigned long long")
            body = braces(Stmt(f"f_body<{words}>({ARGUMENTS});") for words in calls)
        return "\n".join([*parts, head + body])

    @property
    def formal(self) -> str:
        """The parameters, as they are declared."""
        text = FORMAL_PARAMETERS
        return text.replace("*", "*__restrict__ ") if self.restrict else text


DYNAMIC_WORDS = 32
DYNAMIC_BYTES = 4 * DYNAMIC_WORDS

FORMAL_PARAMETERS = """int n, int slots, const unsigned *a, const float *b,
    unsigned *y, unsigned long long *z, float *w, double *e, unsigned short *o,
    unsigned *t, unsigned *counters, unsigned long long *sums, double *totals, unsigned *work"""

PARAMETERS = tuple(re.findall(r"(\w+)(?=,|$)", FORMAL_PARAMETERS))
"""The names of the kernel's parameters."""

ARGUMENTS = ", ".join(PARAMETERS)

PREAMBLE = """\
const int size = blockDim.x * blockDim.y * blockDim.z, total = size * gridDim.x;
const int l = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
const int g = l + size * blockIdx.x;"""

TEMPLATE_WORDS = "constexpr int MODE = 0;\nusing T = unsigned;"
"""What stands for the template's arguments where there is no template any more."""

BUILT_IN = (*PARAMETERS, "size", "total", "l", "g")
"""The variables that every kernel has."""

HEAD = "extern __shared__ unsigned dynamic[];\n"


def source(kernels: Iterable[tuple[str, RandomKernel]]) -> str:
    """One file of several kernels under the names given."""
    texts = []
    head: dict[str, None] = {}
    for name, kernel in kernels:
        text = kernel.cuda(name)
        head |= dict.fromkeys(said.replace("KERNEL", name) + "\n" for said in named(text))
        text = text.replace("KERNEL", name)
        texts.append(own("".join(f"{part}\n" for part in (*called(text), text)), name))
    if any("dynamic[" in text for text in texts):
        head[HEAD] = None
    return "\n".join([*head, *texts])


def case(kernel: RandomKernel, remark: str = "") -> str:
    """A kernel as a file of its own, with its launch in the first line, like tests/cases."""
    said = "".join(f"// {line}\n" for line in remark.splitlines())
    if kernel.spins:
        said += "// Threads wait for one another: not for lanes in lockstep.\n"
    return f"// run: {kernel.run_line()}\n{said}{source([('k', kernel)])}"
