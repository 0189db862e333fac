"""IR nodes: PTX as objects, one class a construct.

Operands are immutable values, compared by content; instructions and blocks are mutable and compared
by identity, since analyses speak of *this* instruction. Names are unique in a function: the parser
resolves nested ``{...}`` scopes, so one name is one register, one label or one variable.
A guarded instruction defines its destination only where the guard holds: it reads it, too.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import TypeAlias

from ccc.errors import Span
from ccc.ir.markers import Marker
from ccc.ir.names import Names
from ccc.ir.operands import (
    CARRY,
    Arguments,
    Immediate,
    Operand,
    Register,
    Special,
    Symbol,
    leaves,
    registers,
)
from ccc.ir.registers import RegisterFile
from ccc.ptx.opcodes import Effect, Opcode, Unit, effects_of, find_opcode
from ccc.ptx.types import GENERIC, STATE_SPACES, TIME, TYPES, VECTORS

_NOWHERE = Span()


@dataclass(frozen=True, slots=True)
class Guard:
    """``@p`` or ``@!p`` before an instruction."""

    register: Register
    negated: bool = False

    def __str__(self) -> str:
        return f"@{'!' if self.negated else ''}{self.register}"

    def inverted(self) -> Guard:
        """The opposite condition."""
        return Guard(self.register, not self.negated)


@dataclass(frozen=True, slots=True)
class Decoded:
    """What the spelling of an opcode says."""

    name: str
    modifiers: tuple[str, ...]
    row: Opcode | None
    effects: Effect
    is_terminator: bool
    is_branch: bool
    is_control: bool
    sets_carry: bool
    reads_carry: bool
    types: tuple[str, ...]
    space: str


@functools.lru_cache(maxsize=4096)
def decode(opcode: str) -> Decoded:
    """What the spelling ``ld.global.u32`` says; the same few come again and again."""
    name, *rest = opcode.split(".")
    modifiers = tuple(word for part in rest for word in part.split("::")[:1])
    row = find_opcode(name, modifiers)
    effects = effects_of(row, modifiers) if row else Effect.OPAQUE
    ends = bool(effects & (Effect.BRANCH | Effect.RETURN | Effect.EXIT))
    branches = bool(effects & Effect.BRANCH)
    control = ends or bool(effects & Effect.CALL)
    sets, reads = bool(effects & Effect.SETS_CARRY), bool(effects & Effect.READS_CARRY)
    types = tuple(word for word in modifiers if word in TYPES)
    space = next((word for word in modifiers if word in STATE_SPACES), GENERIC)
    return Decoded(
        name, modifiers, row, effects, ends, branches, control, sets, reads, types, space
    )


@dataclass(slots=True, eq=False)
class _Accesses:
    """What an instruction writes and reads, as long as it is spelt like that."""

    opcode: str
    operands: tuple[Operand, ...]
    guard: Guard | None
    defined: tuple[Register, ...]
    used: tuple[Register, ...]
    specials: tuple[Special, ...]


@dataclass(slots=True, eq=False)
class Instruction:
    """One instruction. ``opcode`` is the whole spelling: ``ld.global.u32``.

    ``location`` is the (file index, line) of the ``.loc`` directive that governs it, if any.
    """

    opcode: str
    operands: tuple[Operand, ...] = ()
    guard: Guard | None = None
    span: Span = _NOWHERE
    location: tuple[int, int] | None = None
    _accesses: _Accesses | None = field(default=None, init=False, repr=False)
    _verified: tuple[object, ...] = field(default=(), init=False, repr=False)

    def __str__(self) -> str:
        guard = f"{self.guard} " if self.guard else ""
        operands = ", ".join(map(str, self.operands))
        return f"{guard}{self.opcode} {operands};" if operands else f"{guard}{self.opcode};"

    @property
    def name(self) -> str:
        """The opcode without modifiers: ``ld``."""
        return decode(self.opcode).name

    @property
    def modifiers(self) -> tuple[str, ...]:
        """The modifiers in order: ``("global", "u32")``; of ``shared::cta`` the first word."""
        return decode(self.opcode).modifiers

    @property
    def row(self) -> Opcode | None:
        """The opcode table's row; None where the table does not know the opcode."""
        return decode(self.opcode).row

    @property
    def effects(self) -> Effect:
        """What it may do; OPAQUE where the table does not know the opcode."""
        return decode(self.opcode).effects

    @property
    def loads(self) -> bool:
        """Whether it reads memory, whoever may write that: of memory that the kernel cannot write,
        ``effects`` says nothing."""
        row = decode(self.opcode).row
        return row is not None and bool(row.effects & Effect.READ)

    @property
    def unit(self) -> Unit:
        """The pipe that runs it."""
        row = decode(self.opcode).row
        return row.unit if row else Unit.NOTHING

    @property
    def types(self) -> tuple[str, ...]:
        """The type modifiers in order: ``("s64", "s32")`` of ``cvt.s64.s32``."""
        return decode(self.opcode).types

    @property
    def space(self) -> str:
        """The state space of a memory access; ``generic`` where none is named."""
        return decode(self.opcode).space

    @property
    def accessed_bytes(self) -> int:
        """How many bytes a lane reads or writes of memory; 1 where no type tells."""
        types, modifiers = decode(self.opcode).types, decode(self.opcode).modifiers
        count = next((VECTORS[word] for word in modifiers if word in VECTORS), 1)
        return TYPES[types[-1]].bytes * count if types else 1

    @property
    def is_terminator(self) -> bool:
        """Whether control never, or not always, goes on to the next instruction."""
        return decode(self.opcode).is_terminator

    @property
    def is_branch(self) -> bool:
        """Whether it goes to a label, always or if its guard holds."""
        return decode(self.opcode).is_branch

    @property
    def target(self) -> str | None:
        """The label that a branch goes to, or its table of labels; None of what is no branch."""
        last = self.operands[-1] if self.is_branch else None
        return last.name if isinstance(last, Symbol) else None

    @target.setter
    def target(self, name: str) -> None:
        self.operands = (*self.operands[:-1], Symbol(name))

    def roles(self) -> Iterator[tuple[Operand, str]]:
        """Each operand with its role; of a call, ``def`` for results and ``use`` otherwise."""
        decoded = decode(self.opcode)
        if decoded.row is None:
            return zip(self.operands, repeat("use"), strict=False)
        if decoded.name == "call":
            returns = len(self.operands) > 1 and isinstance(self.operands[0], Arguments)
            return zip(
                self.operands, chain(["def" if returns else "use"], repeat("use")), strict=False
            )
        return zip(self.operands, decoded.row.roles, strict=False)

    def defined(self) -> tuple[Register, ...]:
        """The registers it writes, CC.CF included."""
        return self._known_accesses().defined

    def used(self) -> tuple[Register, ...]:
        """The registers it reads: operands, guard, CC.CF, and its destinations if it is guarded."""
        return self._known_accesses().used

    def is_verified(self, registers: RegisterFile) -> bool:
        """Whether it was found to be valid among these registers, as it is now."""
        known = self._verified
        return (
            bool(known)
            and known[0] is registers
            and known[1] is self.opcode
            and known[2] is self.operands
            and known[3] is self.guard
        )

    def set_verified(self, registers: RegisterFile, is_control: bool) -> None:
        """Remember that it is valid among these registers, which may only become more; and whether
        it may transfer control."""
        self._verified = registers, self.opcode, self.operands, self.guard, is_control

    def _known_accesses(self) -> _Accesses:
        """Found once, since every analysis asks, and again when the instruction was changed."""
        known = self._accesses
        if (
            known is None
            or known.opcode is not self.opcode
            or known.operands is not self.operands
            or known.guard is not self.guard
        ):
            known = self._accesses = self._find_accesses()
        return known

    def _find_accesses(self) -> _Accesses:
        defined: list[Register] = []
        used: list[Register] = []
        specials: list[Special] = []
        for operand in self.operands:
            if not isinstance(operand, (Register, Immediate)):
                specials += (leaf for leaf in leaves(operand) if isinstance(leaf, Special))
        for operand, role in self.roles():
            if isinstance(operand, Immediate):
                continue
            found = (operand,) if isinstance(operand, Register) else tuple(registers(operand))
            if role in ("def", "both"):
                defined += found
            if role != "def":
                used += found
        decoded = decode(self.opcode)
        if decoded.sets_carry:
            defined.append(CARRY)
        if decoded.reads_carry:
            used.append(CARRY)
        if self.guard:
            used += [self.guard.register, *defined]
        accesses = tuple(defined), tuple(used), tuple(specials)
        return _Accesses(self.opcode, self.operands, self.guard, *accesses)

    def specials(self) -> tuple[Special, ...]:
        """The special registers it reads."""
        return self._known_accesses().specials

    @property
    def reads_time(self) -> bool:
        """Whether it reads a clock or a counter, which says something else every time."""
        return any(special.register.varies == TIME for special in self.specials())

    def symbols(self) -> Iterator[Symbol]:
        """The variables, parameters, functions and labels it names."""
        for operand in self.operands:
            yield from (leaf for leaf in leaves(operand) if isinstance(leaf, Symbol))


@dataclass(slots=True, eq=False)
class Directive:
    """A line inside a function that is no instruction: ``.loc``, ``.pragma``, a comment, ..."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(slots=True, eq=False)
class MarkerNote:
    """The place where a marker stands."""

    marker: Marker

    def __str__(self) -> str:
        return self.marker.text()


Statement: TypeAlias = Instruction | Directive | MarkerNote


@dataclass(slots=True, eq=False)
class Block:
    """A basic block: control enters at the top and leaves at the bottom.

    Only the last instruction is a terminator. A block without an unguarded terminator falls through
    to the next one in its function. ``named`` says that the label stood in the source.
    """

    label: str
    statements: list[Statement] = field(default_factory=list)
    named: bool = True

    def __repr__(self) -> str:
        return f"Block({self.label})"

    @property
    def instructions(self) -> Iterator[Instruction]:
        """Its instructions, without directives and markers."""
        return iter([s for s in self.statements if isinstance(s, Instruction)])

    @property
    def markers(self) -> Iterator[Marker]:
        """Its markers, in order."""
        return (s.marker for s in self.statements if isinstance(s, MarkerNote))

    @property
    def terminator(self) -> Instruction | None:
        """Its last instruction, if that transfers control."""
        last = next((s for s in reversed(self.statements) if isinstance(s, Instruction)), None)
        return last if last is not None and last.is_terminator else None


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable or parameter (PTX ISA section 5.4).

    ``bytes`` is the whole size, None for an array of unknown size (``extern .shared x[]``).
    ``initializer`` is a list of values, each as written or worked out. ``series`` is the name and
    the number of the variables with which it was declared at once, as ``x<4>``.
    """

    name: str
    space: str
    type: str
    bytes: int | None
    alignment: int
    text: str
    initializer: str | None = None
    qualifiers: tuple[str, ...] = ()
    series: tuple[str, int] | None = None

    @property
    def is_vector_register(self) -> bool:
        """Whether it is a register of several parts, which is ``.param`` here when it is passed."""
        return self.space == "param" and "reg" in self.qualifiers


@dataclass(slots=True, eq=False)
class Function:
    """A kernel (``entry``) or device function (``func``) with its body.

    ``header`` is its text up to the opening brace. ``limits`` holds the performance directives,
    such as ``{"maxntid": (256, 1, 1)}``. ``targets`` are the ``.branchtargets`` tables. ``names``
    are those that may be put into it. ``implied_return`` is the ``ret`` at its end where the source
    has none.
    """

    name: str
    kind: str
    header: str
    parameters: list[Variable]
    results: list[Variable] = field(default_factory=list)
    limits: dict[str, tuple[int, ...]] = field(default_factory=dict)
    registers: RegisterFile = field(default_factory=RegisterFile)
    variables: list[Variable] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    targets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    span: Span = field(default_factory=Span)
    names: Names = field(default_factory=Names)
    implied_return: Instruction | None = None
    _labels: set[str] = field(default_factory=set, init=False, repr=False)
    _fresh: dict[str, int] = field(default_factory=dict, init=False, repr=False)

    @property
    def instructions(self) -> Iterator[Instruction]:
        """All instructions, in order."""
        return (instruction for block in self.blocks for instruction in block.instructions)

    def block(self, label: str) -> Block:
        """The block of that label."""
        return next(block for block in self.blocks if block.label == label)

    def fresh_label(self, hint: str) -> str:
        """A label that the function does not have, nor was given before."""
        if not self._labels:  # from now on, all that are new come from here
            self._labels = {block.label for block in self.blocks} | set(self.targets)
        number = self._fresh.get(hint, 0)
        prefix = self.names.free("$ccc", "_")
        while (label := f"{prefix}{hint}_{number}") in self._labels:
            number += 1
        self._fresh[hint] = number + 1
        self._labels.add(label)
        return label


def to_verify(function: Function) -> Iterator[tuple[Block, Instruction]]:
    """The instructions that were not found to be valid, and those that may transfer control.

    Most were read in a known form; no more is asked of these than is asked here.
    """
    registers = function.registers
    for block in function.blocks:
        for one in block.statements:
            if isinstance(one, Instruction):
                known = one._verified
                if not (
                    known
                    and known[0] is registers
                    and known[1] is one.opcode
                    and known[2] is one.operands
                    and known[3] is one.guard
                    and not known[4]
                ):
                    yield block, one


@dataclass(slots=True)
class FunctionText:
    """A function of a module, as text until somebody asks for its IR.

    ``module`` is where it stands, if anywhere, whose variables it may name.
    """

    name: str
    kind: str
    text: str
    span: Span
    module: Module | None = field(default=None, repr=False, compare=False)

    @property
    def is_marked(self) -> bool:
        """Whether an annotation reached it."""
        return "// ccc." in self.text


@dataclass(slots=True)
class Module:
    """A PTX file: text, with its functions cut out so that they can be replaced one by one.

    ``pieces`` in order give back the whole file, byte for byte.
    """

    pieces: list[str | FunctionText]
    file: str = "<ptx>"

    @property
    def functions(self) -> Iterator[FunctionText]:
        """Its functions with bodies, in order."""
        return (piece for piece in self.pieces if isinstance(piece, FunctionText))

    @property
    def text(self) -> str:
        """The whole file."""
        return "".join(p if isinstance(p, str) else p.text for p in self.pieces)
