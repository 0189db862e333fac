"""THE opcode table: what each PTX instruction reads, writes and may do.

One row an instruction, under the sections of the PTX ISA manual. ``form`` is written as the manual
writes it, with optional operands in braces; ``roles`` says for each operand whether it is defined
(``def``), read (``use``), an address that is read through or written through (``addr``), a branch
target (``label``) or a part of a call (``call``: results, callee and arguments); ``?`` marks an
operand that may be missing. The parser checks operand counts against it; def-use and liveness read the roles, divergence and the passes the
effects, the cost model the unit, and the emulator has one function a row. An opcode that is not
here is never guessed at: the function that holds it is left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, Flag, auto

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


NONE, READ, WRITE = Effect.NONE, Effect.READ, Effect.WRITE
ATOMIC = READ | WRITE
PINNED = ATOMIC | Effect.OPAQUE


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

_CARRY_WRITERS = frozenset({"add", "sub", "mad", "addc", "subc", "madc"})


def op(
    names: str, form: str, roles: str, effects: Effect = NONE, unit: Unit = Unit.ALU, doc: str = ""
) -> None:
    """Add one row for each of the ``names``; they share everything else."""
    operands = tuple(roles.split())
    required = sum(not role.endswith("?") for role in operands)
    operands = tuple(role.rstrip("?") for role in operands)
    for name in names.split():
        anchor = f"{MANUAL}#{doc or 'integer-arithmetic-instructions-' + name}"
        OPCODES[name] = Opcode(name, form, operands, required, effects, unit, anchor)


# 9.7.1 Integer arithmetic (the floating-point instructions of the same name share the row)
op("add sub mul min max", "d, a, b{, c}", "def use use use?", unit=Unit.FMA)
op("mad fma", "d, a, b, c", "def use use use", unit=Unit.FMA)
op("mul24", "d, a, b", "def use use", unit=Unit.FMA)
op("mad24 sad", "d, a, b, c", "def use use use", unit=Unit.FMA)
op("div rem", "d, a, b", "def use use", unit=Unit.SFU)
op("abs neg", "d, a", "def use")
op("popc clz bfind brev", "d, a", "def use", unit=Unit.SFU)
op("fns", "d, mask, base, offset", "def use use use", unit=Unit.SFU)
op("bfe", "d, a, b, c", "def use use use")
op("bfi", "d, a, b, c, e", "def use use use use")
op("bmsk szext", "d, a, b", "def use use")
op("dp4a dp2a", "d, a, b, c", "def use use use", unit=Unit.FMA)
# 9.7.2 Extended precision: CC.CF travels between neighbouring instructions
_EXTENDED = "extended-precision-arithmetic-instructions-"
op("addc subc", "d, a, b", "def use use", Effect.READS_CARRY, doc=_EXTENDED + "addc")
op("madc", "d, a, b, c", "def use use use", Effect.READS_CARRY, Unit.FMA, _EXTENDED + "madc")
# 9.7.3 Floating point
_FLOAT = "floating-point-instructions-"
op("testp", "p, a", "def use", doc=_FLOAT + "testp")
op("copysign", "d, a, b", "def use use", doc=_FLOAT + "copysign")
op("rcp sqrt rsqrt sin cos lg2 ex2 tanh", "d, a", "def use", unit=Unit.SFU, doc=_FLOAT + "rcp")
# 9.7.6 Comparison and selection
_COMPARE = "comparison-and-selection-instructions-"
op("set", "d, a, b{, c}", "def use use use?", doc=_COMPARE + "set")
op("setp", "p|q, a, b{, c}", "def use use use?", doc=_COMPARE + "setp")
op("selp slct", "d, a, b, c", "def use use use", doc=_COMPARE + "selp")
# 9.7.8 Logic and shift
_LOGIC = "logic-and-shift-instructions-"
op("and or xor", "d, a, b", "def use use", doc=_LOGIC + "and")
op("not cnot", "d, a", "def use", doc=_LOGIC + "not")
op("lop3", "d|p, a, b, c, lut{, q}", "def use use use use use?", doc=_LOGIC + "lop3")
op("shf", "d, a, b, c", "def use use use", doc=_LOGIC + "shf")
op("shl shr", "d, a, b", "def use use", doc=_LOGIC + "shl")
# 9.7.9 Data movement and conversion
_MOVE = "data-movement-and-conversion-instructions-"
op("mov", "d, a", "def use", doc=_MOVE + "mov")
op("prmt", "d, a, b, c", "def use use use", doc=_MOVE + "prmt")
op("cvt cvta", "d, a{, b}{, c}", "def use use? use?", doc=_MOVE + "cvt")
op("isspacep", "p, a", "def use", doc=_MOVE + "isspacep")
op("ld ldu", "d, [a]{, policy}", "def addr use?", READ, Unit.LSU, _MOVE + "ld")
op("st", "[a], b{, policy}", "addr use use?", WRITE, Unit.LSU, _MOVE + "st")
op("prefetch prefetchu discard applypriority", "[a]{, size}", "addr use?", NONE, Unit.LSU,
   _MOVE + "prefetch")  # fmt: skip
op("createpolicy", "d, a{, b}{, c}", "def use use? use?", doc=_MOVE + "createpolicy")
op("shfl", "d|p, a, b, c{, mask}", "def use use use use?", Effect.COLLECTIVE, Unit.LSU,
   _MOVE + "shfl-sync")  # fmt: skip
op("mapa getctarank", "d, a{, b}", "def use use?", doc=_MOVE + "mapa")
op("cp", "[d], [a]{, b}{, c}{, e}{, f}", "addr addr use? use? use? use?", PINNED, Unit.LSU,
   _MOVE + "cp-async")  # fmt: skip
# 9.7.10, 9.7.11 Texture and surface
op("tex tld4", "d, [t, c]{, e}{, f}", "def addr use? use?", READ, Unit.TEX,
   doc="texture-instructions-tex")  # fmt: skip
op("txq suq", "d, [a]", "def addr", READ, Unit.TEX, "texture-instructions-txq")
op("suld", "d, [a, b]", "def addr", READ, Unit.TEX, "surface-instructions-suld")
op("sust sured", "[a, b], c", "addr use", WRITE, Unit.TEX, "surface-instructions-sust")
# 9.7.12 Control flow
_CONTROL = "control-flow-instructions-"
op("bra", "target", "label", Effect.BRANCH, Unit.BRANCH, _CONTROL + "bra")
op("brx", "index, targets", "use label", Effect.BRANCH, Unit.BRANCH, _CONTROL + "brx-idx")
op("call", "{(ret),} f{, (a)}{, proto}", "call call? call? call?", Effect.CALL | PINNED,
   Unit.BRANCH, _CONTROL + "call")  # fmt: skip
op("ret", "", "", Effect.RETURN, Unit.BRANCH, _CONTROL + "ret")
op("exit", "", "", Effect.EXIT, Unit.BRANCH, _CONTROL + "exit")
# 9.7.13 Parallel synchronization and communication
_SYNC = "parallel-synchronization-and-communication-instructions-"
op("bar barrier", "a{, b}{, c}{, e}", "use use? use? use?",
   Effect.BARRIER | Effect.COLLECTIVE | Effect.FENCE, Unit.BRANCH, _SYNC + "bar")  # fmt: skip
op("bar.red barrier.red", "d, a{, b}{, p}", "def use use? use?",
   Effect.BARRIER | Effect.COLLECTIVE | Effect.FENCE, Unit.BRANCH, _SYNC + "bar")  # fmt: skip
op("membar fence", "{[a]}{, size}", "addr? use?", Effect.FENCE, Unit.LSU, _SYNC + "membar")
op("atom", "d, [a], b{, c}{, policy}", "def addr use use? use?", ATOMIC, Unit.LSU, _SYNC + "atom")
op("red", "[a], b{, policy}", "addr use use?", ATOMIC, Unit.LSU, _SYNC + "red")
op("vote", "d, p{, mask}", "def use use?", Effect.COLLECTIVE, doc=_SYNC + "vote-sync")
op("match", "d|p, a, mask", "def use use", Effect.COLLECTIVE, doc=_SYNC + "match-sync")
op("activemask", "d", "def", Effect.COLLECTIVE, doc=_SYNC + "activemask")
op("redux", "d, a, mask", "def use use", Effect.COLLECTIVE, doc=_SYNC + "redux-sync")
op("elect", "d|p, mask", "def use", Effect.COLLECTIVE, doc=_SYNC + "elect-sync")
# 9.7.19 Stack manipulation, 9.7.20 miscellaneous
_MISC = "miscellaneous-instructions-"
op("nanosleep", "t", "use", Effect.OPAQUE, doc=_MISC + "nanosleep")
op("trap brkpt", "", "", PINNED, Unit.BRANCH, _MISC + "trap")
op("pmevent", "a", "use", Effect.OPAQUE, doc=_MISC + "pmevent")
op("stacksave", "d", "def", Effect.OPAQUE, doc="stack-manipulation-instructions-stacksave")
op("stackrestore", "a", "use", Effect.OPAQUE, doc="stack-manipulation-instructions-stackrestore")
op("alloca", "d, size{, align}", "def use use?", Effect.OPAQUE,
   doc="stack-manipulation-instructions-alloca")  # fmt: skip


def find_opcode(name: str, modifiers: tuple[str, ...]) -> Opcode | None:
    """The row for an instruction; None for an opcode that the table does not know."""
    if name in ("bar", "barrier") and "red" in modifiers:
        return OPCODES[f"{name}.red"]
    return OPCODES.get(name)


def effects_of(row: Opcode, modifiers: tuple[str, ...]) -> Effect:
    """The effects of one instruction: its row's, as its modifiers change them.

    A load through the read-only path, from ``.param`` or from ``.const`` reads nothing that the
    kernel can write; ``bar.warp`` concerns the warp only; ``.cc`` writes the carry; a ``volatile``
    or ordered access also orders others (PTX ISA section 8, memory consistency model).
    """
    name, effects = row.name, row.effects
    if name in ("ld", "ldu") and not {"param", "const", "nc"}.isdisjoint(modifiers):
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
