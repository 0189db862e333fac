"""THE opcode table: what each PTX instruction reads, writes and may do.

One row an instruction, under the sections of the PTX ISA manual. ``form`` is written as the manual
writes it, with optional operands in braces; ``roles`` says for each operand whether it is defined
(``def``), read (``use``), both (``both``), an address that is read through or written through
(``addr``), a branch target (``label``) or a part of a call (``call``: results, callee and
arguments); ``?`` marks an operand that may be missing. The parser checks operand counts against
it; def-use and liveness read the roles, divergence and the passes the effects, the cost model the
unit, and the emulator has one function a row. An opcode that is not here is never guessed at: the
function that holds it is left alone.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from enum import Enum, Flag, auto

from ccc.ptx.types import ALL_LANES, TYPES, WARP_SIZE

MANUAL = "https://docs.nvidia.com/cuda/parallel-thread-execution/"


class Effect(Flag):
    """What an instruction does besides computing its destination from its operands."""

    NONE = 0
    READ = auto()  # reads memory
    WRITE = auto()  # writes memory
    FENCE = auto()  # orders memory accesses
    BARRIER = auto()  # waits for threads of other warps
    COLLECTIVE = auto()  # exchanges values with, or depends on, other lanes of the warp
    BRANCH = auto()  # transfers control inside the function
    RETURN = auto()  # leaves the function
    EXIT = auto()  # ends the thread
    CALL = auto()  # enters another function
    OPAQUE = auto()  # has an effect that no analysis models; never moved, copied or dropped
    SETS_CARRY = auto()  # writes the condition code CC.CF
    READS_CARRY = auto()  # reads the condition code CC.CF

    # All analyses ask for effects, and Python's own operators take four times as long.
    def __and__(self, other: Effect) -> Effect:
        return _effect(self._value_ & other._value_)

    def __or__(self, other: Effect) -> Effect:
        return _effect(self._value_ | other._value_)


_effect = functools.cache(Effect)


class Unit(Enum):
    """The pipe that executes an instruction, for the cost model."""

    ALU = "alu"
    FMA = "fma"
    FP64 = "fp64"
    SFU = "sfu"
    LSU = "lsu"
    TEX = "tex"
    BRANCH = "branch"
    NOTHING = "nothing"


CHEAP = (Unit.ALU, Unit.FMA)
"""The pipes whose work costs so little that it may be done again."""
NONE, READ, WRITE = Effect.NONE, Effect.READ, Effect.WRITE
ATOMIC = READ | WRITE
PINNED = ATOMIC | Effect.OPAQUE
MEETING = Effect.BARRIER | Effect.COLLECTIVE | Effect.FENCE
ASYNC = PINNED | Effect.BARRIER | Effect.FENCE
"""Begins, counts or awaits asynchronous work. That belongs to the thread that began it, so another
lane cannot take it over: to whoever moves work between lanes it is like a barrier."""
TOGETHER = ASYNC | Effect.COLLECTIVE
"""Such work of a warp or of several of them."""


@dataclass(frozen=True, slots=True)
class Opcode:
    """One row of the table; see the module's docstring for the fields."""

    name: str
    form: str
    roles: tuple[str, ...]
    required: int
    effects: Effect
    unit: Unit
    doc: str

    def accepts(self, count: int) -> bool:
        """Whether an instruction of this opcode may have ``count`` operands."""
        return self.required <= count <= len(self.roles)


OPCODES: dict[str, Opcode] = {}

_VARIANTS: dict[str, list[tuple[frozenset[str], Opcode]]] = {}
"""For the first word of a row's name, its other words and the row; those with most words first."""

_INTEGER = "integer-arithmetic-instructions-"
_CARRY_WRITERS = frozenset({"add", "sub", "mad", "addc", "subc", "madc"})


def op(
    names: str, form: str, roles: str, effects: Effect = NONE, unit: Unit = Unit.ALU, doc: str = ""
) -> None:
    """Add one row for each of the ``names``; they share everything else.

    A dotted name, such as ``bar.red``, is the row of those instructions only that have its words
    among their modifiers. ``doc`` is the section's anchor; if it ends with "-", the name follows.
    """
    operands = tuple(roles.split())
    required = sum(not role.endswith("?") for role in operands)
    operands = tuple(role.rstrip("?") for role in operands)
    for name in names.split():
        anchor = doc or _INTEGER
        anchor += re.sub(r"\W|_", "-", name) if anchor.endswith("-") else ""
        row = Opcode(name, form, operands, required, effects, unit, f"{MANUAL}#{anchor}")
        OPCODES[name] = row
        first, *words = name.split(".")
        variants = _VARIANTS.setdefault(first, [])
        variants.append((frozenset(words), row))
        variants.sort(key=lambda variant: -len(variant[0]))


# 9.7.1 Integer arithmetic (the floating-point instructions of the same name share the row)
op("add sub mul", "d, a, b", "def use use", unit=Unit.FMA)
op("min max", "d, a, b{, c}", "def use use use?", unit=Unit.FMA)
op("mad", "d, a, b, c", "def use use use", unit=Unit.FMA)
op("mul24", "d, a, b", "def use use", unit=Unit.FMA)
op("mad24 sad", "d, a, b, c", "def use use use", unit=Unit.FMA)
op("div rem", "d, a, b", "def use use", unit=Unit.SFU)
op("abs neg", "d, a", "def use")
op("popc clz bfind brev", "d, a", "def use", unit=Unit.SFU)
op("fns", "d, mask, base, offset", "def use use use", unit=Unit.SFU)
op("bfe", "d, a, b, c", "def use use use")
op("bfi", "f, a, b, c, d", "def use use use use")
op("bmsk szext", "d, a, b", "def use use")
op("dp4a dp2a", "d, a, b, c", "def use use use", unit=Unit.FMA)
# 9.7.2 Extended precision: CC.CF travels between neighbouring instructions
_EXTENDED = "extended-precision-arithmetic-instructions-"
op("addc subc", "d, a, b", "def use use", Effect.READS_CARRY, doc=_EXTENDED)
op("madc", "d, a, b, c", "def use use use", Effect.READS_CARRY, Unit.FMA, _EXTENDED)
# 9.7.3 Floating point
_FLOAT = "floating-point-instructions-"
op("testp", "p, a", "def use", doc=_FLOAT)
op("copysign", "d, a, b", "def use use", doc=_FLOAT)
op("fma", "d, a, b, c", "def use use use", unit=Unit.FMA, doc=_FLOAT)
op("rcp sqrt rsqrt sin cos lg2 ex2 tanh", "d, a", "def use", unit=Unit.SFU, doc=_FLOAT)
# 9.7.6 Comparison and selection
_COMPARE = "comparison-and-selection-instructions-"
op("set", "d, a, b{, c}", "def use use use?", doc=_COMPARE)
op("setp", "p|q, a, b{, c}", "def use use use?", doc=_COMPARE)
op("selp slct", "d, a, b, c", "def use use use", doc=_COMPARE)
# 9.7.8 Logic and shift
_LOGIC = "logic-and-shift-instructions-"
op("and or xor", "d, a, b", "def use use", doc=_LOGIC)
op("not cnot", "d, a", "def use", doc=_LOGIC)
op("lop3", "d|p, a, b, c, lut{, q}", "def use use use use use?", doc=_LOGIC)
op("shf", "d, a, b, c", "def use use use", doc=_LOGIC)
op("shl shr", "d, a, b", "def use use", doc=_LOGIC)
# 9.7.9 Data movement and conversion
_MOVE = "data-movement-and-conversion-instructions-"
op("mov", "d, a", "def use", doc=_MOVE)
op("prmt", "d, a, b, c", "def use use use", doc=_MOVE)
op("cvt", "d, a{, b}{, c}", "def use use? use?", doc=_MOVE)
op("cvt.pack", "d, a, b{, c}", "def use use use?", doc=_MOVE)
op("cvta", "d, a", "def use", doc=_MOVE)
op("isspacep", "p, a", "def use", doc=_MOVE)
op("ld ldu", "d, [a]{, policy}", "def addr use?", READ, Unit.LSU, _MOVE)
op("st", "[a], b{, policy}", "addr use use?", WRITE, Unit.LSU, _MOVE)
op("st.bulk", "[a], size, value", "addr use use", WRITE, Unit.LSU, _MOVE)
_MULTIMEM = _MOVE + "multimem"
op("multimem.ld_reduce", "d, [a]", "def addr", READ, Unit.LSU, _MULTIMEM)
op("multimem.st multimem.red", "[a], b", "addr use", ATOMIC, Unit.LSU, _MULTIMEM)
op("prefetch prefetchu", "[a]", "addr", NONE, Unit.LSU, _MOVE + "prefetch-prefetchu")
op("applypriority", "[a], size", "addr use", NONE, Unit.LSU, _MOVE)
op("discard", "[a], size", "addr use", WRITE, Unit.LSU, _MOVE)
op("createpolicy", "d{, a}{, b}{, c}", "def use? use? use?", doc=_MOVE)
op("shfl", "d|p, a, b, c{, mask}", "def use use use use?", Effect.COLLECTIVE, Unit.LSU,
   _MOVE + "shfl-sync")  # fmt: skip
op("mapa", "d, a, b", "def use use", doc=_MOVE)
op("getctarank", "d, a", "def use", doc=_MOVE)
op("tensormap.replace", "[a]{, index}, b", "addr use use?", PINNED, Unit.LSU, _MOVE)
op("cp.async", "[d], [a], size{, b}{, c}", "addr addr use use? use?", ASYNC, Unit.LSU, _MOVE)
op("cp.async.commit_group", "", "", ASYNC, Unit.LSU, _MOVE)
op("cp.async.wait_all", "", "", ASYNC, Unit.LSU, _MOVE + "cp-async-wait-group")
op("cp.async.wait_group", "n", "use", ASYNC, Unit.LSU, _MOVE)
op("cp.async.bulk", "[d], [a], size{, [mbar]}{, b}{, c}", "addr addr use use? use? use?", ASYNC,
   Unit.LSU, _MOVE)  # fmt: skip
op("cp.reduce.async.bulk", "[d], [a], size{, b}{, c}", "addr addr use use? use?", ASYNC, Unit.LSU,
   _MOVE)  # fmt: skip
op("cp.async.bulk.prefetch", "[a], size{, policy}", "addr use use?", ASYNC, Unit.LSU, _MOVE)
op("cp.async.bulk.tensor cp.reduce.async.bulk.tensor", "[d], [a]{, b}{, c}{, e}{, f}",
   "addr addr use? use? use? use?", ASYNC, Unit.LSU, _MOVE)  # fmt: skip
op("cp.async.bulk.prefetch.tensor", "[a]{, b}{, c}", "addr use? use?", ASYNC, Unit.LSU, _MOVE)
op("cp.async.bulk.commit_group", "", "", ASYNC, Unit.LSU, _MOVE)
op("cp.async.bulk.wait_group", "n", "use", ASYNC, Unit.LSU, _MOVE)
op("st.async", "[a], b{, [mbar]}", "addr use addr?", ASYNC, Unit.LSU, _MOVE)
# 9.7.10, 9.7.11 Texture and surface
_TEXTURE, _SURFACE = "texture-instructions-", "surface-instructions-"
op("tex", "d|p, [t, c]{, b}{, e}{, f}{, g}", "def addr use? use? use? use?", READ, Unit.TEX,
   _TEXTURE)  # fmt: skip
op("tld4", "d|p, [t, c]{, e}{, f}", "def addr use? use?", READ, Unit.TEX, _TEXTURE)
op("txq", "d, [a]{, lod}", "def addr use?", READ, Unit.TEX, _TEXTURE)
op("istypep", "p, a", "def use", READ, Unit.TEX, _TEXTURE)
op("suq", "d, [a]", "def addr", READ, Unit.TEX, _SURFACE)
op("suld", "d, [a, b]", "def addr", READ, Unit.TEX, _SURFACE)
op("sust", "[a, b], c", "addr use", WRITE, Unit.TEX, _SURFACE)
op("sured", "[a, b], c", "addr use", ATOMIC, Unit.TEX, _SURFACE)
# 9.7.12 Control flow
_CONTROL = "control-flow-instructions-"
op("bra", "target", "label", Effect.BRANCH, Unit.BRANCH, _CONTROL)
op("brx", "index, targets", "use label", Effect.BRANCH, Unit.BRANCH, _CONTROL + "brx-idx")
op("call", "{(ret),} f{, (a)}{, proto}", "call call? call? call?", Effect.CALL | PINNED,
   Unit.BRANCH, _CONTROL)  # fmt: skip
op("ret", "", "", Effect.RETURN, Unit.BRANCH, _CONTROL)
op("exit", "", "", Effect.EXIT, Unit.BRANCH, _CONTROL)
# 9.7.13 Parallel synchronization and communication
_SYNC = "parallel-synchronization-and-communication-instructions-"
op("bar barrier", "a{, b}", "use use?", MEETING, Unit.BRANCH, _SYNC + "bar")
op("bar.red barrier.red", "d, a{, b}, p", "def use use use?", MEETING, Unit.BRANCH,
   _SYNC + "bar")  # fmt: skip
op("barrier.cluster", "", "", MEETING, Unit.BRANCH, _SYNC)
op("membar fence", "{[a]}{, size}", "addr? use?", Effect.FENCE, Unit.LSU, _SYNC + "membar")
op("atom", "d, [a], b{, c}{, policy}", "def addr use use? use?", ATOMIC, Unit.LSU, _SYNC)
op("red", "[a], b{, policy}", "addr use use?", ATOMIC, Unit.LSU, _SYNC)
op("red.async", "[a], b{, [mbar]}", "addr use addr?", ASYNC, Unit.LSU, _SYNC)
op("vote", "d, p{, mask}", "def use use?", Effect.COLLECTIVE, doc=_SYNC + "vote-sync")
op("match", "d|p, a, mask", "def use use", Effect.COLLECTIVE, doc=_SYNC + "match-sync")
op("activemask", "d", "def", Effect.COLLECTIVE, doc=_SYNC)
op("redux", "d, a, mask", "def use use", Effect.COLLECTIVE, doc=_SYNC + "redux-sync")
op("elect", "d|p, mask", "def use", Effect.COLLECTIVE, doc=_SYNC + "elect-sync")
op("griddepcontrol", "", "", MEETING, Unit.BRANCH, _SYNC)
op("mbarrier.init", "[a], count", "addr use", ASYNC, Unit.LSU, _SYNC)
op("mbarrier.inval", "[a]", "addr", ASYNC, Unit.LSU, _SYNC)
op("mbarrier.expect_tx mbarrier.complete_tx", "[a], count", "addr use", ASYNC, Unit.LSU, _SYNC)
op("mbarrier.arrive mbarrier.arrive_drop", "state, [a]{, count}", "def addr use?", ASYNC, Unit.LSU,
   _SYNC)  # fmt: skip
op("mbarrier.arrive.expect_tx mbarrier.arrive_drop.expect_tx", "state, [a], count",
   "def addr use", ASYNC, Unit.LSU, _SYNC + "mbarrier-arrive")  # fmt: skip
op("cp.async.mbarrier.arrive", "[a]", "addr", ASYNC, Unit.LSU, _SYNC)
op("mbarrier.test_wait mbarrier.try_wait", "p, [a], b{, time}", "def addr use use?", ASYNC,
   Unit.LSU, _SYNC + "mbarrier-test-wait-try-wait")  # fmt: skip
op("mbarrier.pending_count", "d, state", "def use", doc=_SYNC)
op("tensormap.cp_fenceproxy", "[d], [a], size", "addr addr use", ASYNC | Effect.COLLECTIVE,
   Unit.LSU, _SYNC)  # fmt: skip
op("clusterlaunchcontrol.try_cancel", "[a], [mbar]", "addr addr", ASYNC, Unit.LSU, _SYNC)
op("clusterlaunchcontrol.query_cancel", "d, response", "def use", doc=_SYNC)
# 9.7.14 Warp-level matrices
_MATRIX = "warp-level-matrix-instructions-"
op("wmma.load", "d, [a]{, stride}", "def addr use?", READ | Effect.COLLECTIVE, Unit.LSU,
   _MATRIX + "wmma-ld")  # fmt: skip
op("wmma.store", "[a], d{, stride}", "addr use use?", WRITE | Effect.COLLECTIVE, Unit.LSU,
   _MATRIX + "wmma-st")  # fmt: skip
op("wmma.mma", "d, a, b, c", "def use use use", Effect.COLLECTIVE, Unit.FMA, _MATRIX)
op("mma", "d, a, b, c{, e}{, f}{, g}{, h}", "def use use use use? use? use? use?",
   Effect.COLLECTIVE, Unit.FMA, _MATRIX)  # fmt: skip
op("mma.sp", "d, a, b, c, e, f{, g}{, h}{, i}{, j}",
   "def use use use use use use? use? use? use?", Effect.COLLECTIVE, Unit.FMA,
   _MATRIX + "sparse-mma")  # fmt: skip
op("ldmatrix", "r, [a]", "def addr", READ | Effect.COLLECTIVE, Unit.LSU, _MATRIX)
op("stmatrix", "[a], r", "addr use", WRITE | Effect.COLLECTIVE, Unit.LSU, _MATRIX)
op("movmatrix", "d, a", "def use", Effect.COLLECTIVE, Unit.LSU, _MATRIX)
# 9.7.15 Matrices of a warpgroup, asynchronous: what they add up is not there until a wait
_GROUP = "asynchronous-warpgroup-level-matrix-instructions-"
op("wgmma.mma_async", "d, a, b, scale{, e}{, f}{, g}{, h}", "both use use use use? use? use? use?",
   TOGETHER, Unit.FMA, _GROUP + "wgmma-mma")  # fmt: skip
op("wgmma.mma_async.sp", "d, a, b, meta, sel, scale{, e}{, f}{, g}{, h}",
   "both use use use use use use? use? use? use?", TOGETHER, Unit.FMA,
   _GROUP + "wgmma-mma-sp")  # fmt: skip
op("wgmma.fence wgmma.commit_group", "", "", TOGETHER, Unit.BRANCH, _GROUP)
op("wgmma.wait_group", "n", "use", TOGETHER, Unit.BRANCH, _GROUP)
# 9.7.16 Tensor cores of the 5th generation; their addresses are of tensor memory
_TENSOR, _TENSOR_MMA = "tcgen05-instructions-", "tcgen05-mma-instructions-"
_ALLOCATE = _TENSOR + "tcgen05-alloc-dealloc-relinquish-alloc-permit"
op("tcgen05.alloc", "[a], columns", "addr use", TOGETHER, Unit.LSU, _ALLOCATE)
op("tcgen05.dealloc", "taddr, columns", "use use", TOGETHER, Unit.LSU, _ALLOCATE)
op("tcgen05.relinquish_alloc_permit", "", "", TOGETHER, Unit.LSU, _ALLOCATE)
op("tcgen05.ld", "r, [taddr]{, split}", "def addr use?", TOGETHER, Unit.LSU, _TENSOR)
op("tcgen05.ld.red", "r, red, [taddr]{, split}", "def def addr use?", TOGETHER, Unit.LSU,
   _TENSOR + "tcgen05-ld")  # fmt: skip
op("tcgen05.st", "[taddr], a{, b}", "addr use use?", TOGETHER, Unit.LSU, _TENSOR)
op("tcgen05.wait", "", "", TOGETHER, Unit.LSU, _TENSOR)
op("tcgen05.cp", "[taddr], desc", "addr use", TOGETHER, Unit.LSU, _TENSOR)
op("tcgen05.shift", "[taddr]", "addr", TOGETHER, Unit.LSU, _TENSOR)
op("tcgen05.mma", "[d], a, b, desc, e{, f}{, g}{, h}", "addr use use use use use? use? use?",
   TOGETHER, Unit.FMA, _TENSOR_MMA + "mma")  # fmt: skip
op("tcgen05.mma.sp", "[d], a, b, [meta], desc, e{, f}{, g}{, h}",
   "addr use use addr use use use? use? use?", TOGETHER, Unit.FMA,
   _TENSOR_MMA + "mma-sp")  # fmt: skip
op("tcgen05.mma.ws", "[d], a, b, desc, enable{, mask}", "addr use use use use use?", TOGETHER,
   Unit.FMA, _TENSOR_MMA + "mma-ws")  # fmt: skip
op("tcgen05.mma.ws.sp", "[d], a, b, [meta], desc, enable{, mask}",
   "addr use use addr use use use?", TOGETHER, Unit.FMA, _TENSOR_MMA + "mma-ws-sp")  # fmt: skip
op("tcgen05.fence", "", "", TOGETHER, Unit.BRANCH, "tcgen05-special-sync-operations-fence")
op("tcgen05.commit", "[mbar]{, mask}", "addr use?", TOGETHER, Unit.LSU,
   "tcgen-async-sync-operations-commit")  # fmt: skip
# 9.7.17 Stack manipulation
_STACK = "stack-manipulation-instructions-"
op("stacksave", "d", "def", Effect.OPAQUE, doc=_STACK)
op("stackrestore", "a", "use", Effect.OPAQUE, doc=_STACK)
op("alloca", "d, size{, align}", "def use use?", Effect.OPAQUE, doc=_STACK)
# 9.7.18 Video
_SCALAR, _SIMD = "scalar-video-instructions-", "simd-video-instructions-"
op("vadd vsub vabsdiff vmin vmax", "d, a, b{, c}", "def use use use?",
   doc=_SCALAR + "vadd-vsub-vabsdiff-vmin-vmax")  # fmt: skip
op("vshl vshr", "d, a, b{, c}", "def use use use?", doc=_SCALAR + "vshl-vshr")
op("vmad", "d, a, b, c", "def use use use", doc=_SCALAR)
op("vset", "d, a, b{, c}", "def use use use?", doc=_SCALAR)
op("vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2", "d, a, b, c", "def use use use",
   doc=_SIMD + "vadd2-vsub2-vavrg2-vabsdiff2-vmin2-vmax2")  # fmt: skip
op("vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4", "d, a, b, c", "def use use use",
   doc=_SIMD + "vadd4-vsub4-vavrg4-vabsdiff4-vmin4-vmax4")  # fmt: skip
op("vset2 vset4", "d, a, b, c", "def use use use", doc=_SIMD)
# 9.7.19 Miscellaneous
_MISC = "miscellaneous-instructions-"
op("nanosleep", "t", "use", Effect.OPAQUE, doc=_MISC)
op("trap brkpt", "", "", PINNED, Unit.BRANCH, _MISC)
op("pmevent", "a", "use", Effect.OPAQUE, doc=_MISC)
op("setmaxnreg", "n", "use", Effect.COLLECTIVE | Effect.OPAQUE, doc=_MISC)

LOADS = frozenset({"ld", "ldu"})
ATOMICS = frozenset({"atom", "red"})
"""Atomic operations on what one address leads to."""
PLAIN_ACCESSES = ATOMICS | {"ld", "st"}
"""Those that access what one address leads to, and nothing else."""
_COMPUTING = tuple(f"{MANUAL}#{one}" for one in (_INTEGER, _EXTENDED, _FLOAT, _COMPARE, _LOGIC))
TYPED = (
    frozenset({"mov", "prmt", "cvt"})
    | LOADS
    | PLAIN_ACCESSES
    | {name for name, row in OPCODES.items() if row.doc.startswith(_COMPUTING)}
)
"""Those that always name the type of what they compute with or access; all analyses count on it."""
INTEGER_ARITHMETIC = frozenset(
    name
    for name, row in OPCODES.items()
    if row.doc.startswith(tuple(f"{MANUAL}#{one}" for one in (_INTEGER, _EXTENDED, _LOGIC)))
)
"""What computes integers, unless its type is one of floating-point numbers."""
STACK_OPERATIONS = frozenset({"alloca", "stacksave", "stackrestore"})
"""Those by which a function's stack grows while it runs."""
DIVISIONS = frozenset({"div", "rem"})
LONG = DIVISIONS | {"sqrt", "rcp", "rsqrt"}
"""Those that are many instructions on a GPU, unless they are approximate."""
RENAMES = frozenset({"mov", "cvta"})
"""Those that give what they read another name, also one in another space; mostly they are no
instruction on a GPU, where addresses of all spaces are alike."""
CARRIES_ON = RENAMES | {"cvt"}
"""What makes no other number of a whole number that fits."""
TAKES_NAMES = RENAMES | {"isspacep", "call", "bra", "brx", "istypep", "mapa", "getctarank"}
"""Those that take the address of a thing by its bare name."""
ASKS_ABOUT_HANDLES = frozenset({"createpolicy", "istypep", "txq", "suq", "mapa", "getctarank"})
"""What asks about textures, caches or clusters, and may not take any operand."""
BEYOND_THE_BLOCK = frozenset({"mapa", "getctarank", "clusterlaunchcontrol"})
"""What has to do with other blocks of the launch."""
READ_ONLY = frozenset({"const", "nc"})
"""The modifiers of loads from memory that nobody writes while the kernel runs."""
OPERAND_SPACES = frozenset({"param", "const"})
"""What is loaded from there is an operand of the instruction that needs it."""
ADDS_WITH_CARRY = frozenset({"addc", "subc"})

ALL_LANES_MASKS = (ALL_LANES, 0xFFFFFFFF)
EXCHANGES = ("vote", "redux", "shfl", "match")
"""The collectives that exchange values and do nothing else; their last operand is the mask."""
BROADCASTS: dict[str, tuple[tuple[int, ...] | None, ...]] = {
    "vote": (ALL_LANES_MASKS,),
    "redux": (ALL_LANES_MASKS,),
    "shfl": (None, (WARP_SIZE - 1,), ALL_LANES_MASKS),
}
"""What the last operands of a collective must be for all lanes to get the same; None: any literal.
(PTX ISA sections 9.7.9 and 9.7.13)"""

KEEPS_BY = {
    (operation, f"{kind}{bits}"): number % (1 << bits)
    for bits in (32, 64)
    for operation, kind, number in (
        ("add", "u", 0), ("add", "s", 0), ("or", "b", 0), ("xor", "b", 0), ("and", "b", -1),
        ("max", "u", 0), ("max", "s", 1 << (bits - 1)),
        ("min", "u", -1), ("min", "s", (1 << (bits - 1)) - 1),
    )
}  # fmt: skip
"""The number, without a sign, that leaves what an atomic operation on integers of a type finds."""
MOVES_ON = frozenset({"add", "inc", "dec"})
"""The atomic operations that leave another value each time, unless they add nothing."""
IDEMPOTENT = frozenset({"and", "max", "min", "or"})
"""The atomic operations that find what they have left if they are done again."""
KEEPING = frozenset({"max", "min", "or", "selp", "slct"})
"""What may leave a number as it was, whatever else it is given."""
STAYING = frozenset({"and", "bfe", "div", "max", "min", "rem", "selp", "shr", "slct"})
"""What makes the same of several numbers that follow one another, or that come later."""


def extends_sign(name: str, modifiers: tuple[str, ...]) -> bool:
    """Whether it makes an integer of more bits, and a negative one stays that: a conversion, or a
    product that is wider than its factors (PTX ISA sections 9.7.1 and 9.7.9)."""
    types = [TYPES[one] for one in modifiers if one in TYPES]
    if not types or types[-1].kind != "s":
        return False
    made = types[0]
    return "wide" in modifiers or (
        name == "cvt" and made.kind in ("s", "u", "b") and made.bits > types[-1].bits
    )


def find_opcode(name: str, modifiers: tuple[str, ...]) -> Opcode | None:
    """The row for an instruction; None for an opcode that the table does not know."""
    words = set(modifiers)
    return next((row for needed, row in _VARIANTS.get(name, ()) if needed <= words), None)


def effects_of(row: Opcode, modifiers: tuple[str, ...]) -> Effect:
    """The effects of one instruction: its row's, as its modifiers change them.

    A load through the read-only path, from ``.param`` or from ``.const`` reads nothing that the
    kernel can write; ``bar.warp`` concerns the warp only; ``.cc`` writes the carry; a ``volatile``
    or ordered access also orders others (PTX ISA section 8, memory consistency model).
    """
    name, effects = row.name, row.effects
    if name in ("ld", "ldu") and not (READ_ONLY | {"param"}).isdisjoint(modifiers):
        return effects & ~READ
    if name == "st" and "param" in modifiers:
        return effects & ~WRITE
    if name == "bar" and "warp" in modifiers:
        return Effect.COLLECTIVE | Effect.FENCE
    if "cc" in modifiers and name in _CARRY_WRITERS:
        effects |= Effect.SETS_CARRY
    if not {"volatile", "acquire", "release", "acq_rel", "mmio"}.isdisjoint(modifiers):
        effects |= Effect.FENCE
    return effects
