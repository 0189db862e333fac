"""Operands of generated code: registers, literals, symbols and addresses as Python expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from ccc.emulator.base.errors import EmulatorError
from ccc.emulator.base.forms import DTYPES, Array
from ccc.emulator.lanes.special import PER_LANE
from ccc.emulator.memory.memory import Location
from ccc.emulator.memory.spaces import WINDOWS
from ccc.emulator.translate.program import Code, Program, Segment
from ccc.ir.operands import Address, Discard, Immediate, Negated, Operand, Register, Special, Symbol
from ccc.ptx.types import TIME, TYPES, parse_decimal

FindSymbol: TypeAlias = Callable[[Code, str], Location]


@dataclass(frozen=True, slots=True)
class Value:
    """A variable of the generated code: raw bits of each lane, or of all if it is ``uniform``.

    That is an array (n,) or a scalar, ``uint8`` to ``uint64``, or ``bool`` where ``bits`` is 1.
    """

    name: str
    bits: int
    uniform: bool = False


def _full(group: Any, value: Any) -> Array:
    """One scalar for all lanes, as an array."""
    return np.full(group.n, value)


class GlobalNames:
    """The global names of the generated code."""

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {"np": np, "full": _full}
        self.known: dict[tuple[type, Any], str] = {}
        self.count = 0

    def of(self, thing: Any, prefix: str = "f") -> str:
        """A name for an object."""
        self.count += 1
        name = f"{prefix}{self.count}_"
        self.namespace[name] = thing
        return name

    def constant(self, value: int, bits: int) -> str:
        """A name for an unsigned scalar."""
        dtype = DTYPES[f"b{bits}"].type
        value &= (1 << bits) - 1
        if (dtype, value) not in self.known:
            self.known[dtype, value] = self.of(dtype(value), "k")
        return self.known[dtype, value]

    def dtype(self, type_name: str) -> str:
        """A name for the dtype of a PTX type."""
        name = f"d_{type_name}"
        self.namespace[name] = DTYPES[type_name]
        return name


def literal_bits(text: str, bits: int) -> int | None:
    """The bits of a PTX literal in that width (PTX ISA section 4.5); None if it is no literal."""
    integer = Immediate(text).integer
    if integer is not None:
        return integer & ((1 << bits) - 1)
    negative = text.startswith("-")
    digits = text.lstrip("-")
    if digits[:2] in ("0f", "0F", "0d", "0D"):
        width = 32 if digits[1] in "fF" else 64
        found = int(digits[2:], 16) ^ (negative << (width - 1))
    else:
        width, decimal = 64, parse_decimal(digits)
        if decimal is None:
            return None
        found = int(np.float64(-decimal if negative else decimal).view("u8"))
    if width == bits or bits not in (32, 64):
        return found if found >> bits == 0 else None
    with np.errstate(all="ignore"):
        value = np.array(found, f"u{width // 8}").view(f"f{width // 8}").astype(f"f{bits // 8}")
    return int(value.view(f"u{bits // 8}"))


@dataclass(slots=True)
class CodeWriter:
    """Writes lines of one function, and knows where every register's value is by then."""

    program: Program
    segment: Segment
    names: GlobalNames
    find_symbol: FindSymbol
    first_slot: int
    lines: list[str] = field(default_factory=list)
    current: dict[Register, Value] = field(default_factory=dict)
    views: dict[tuple[str, str], str] = field(default_factory=dict)
    written: set[Register] = field(default_factory=set)
    fresh_count: int = 0

    # Text ------------------------------------------------------------------------------------

    def emit(self, line: str) -> None:
        """Add a line to the function."""
        self.lines.append(f"    {line}")

    def fresh(self) -> str:
        """A variable that nobody uses yet."""
        self.fresh_count += 1
        return f"v{self.fresh_count}"

    def let(self, expression: str) -> str:
        """A new variable with this value."""
        name = self.fresh()
        self.emit(f"{name} = {expression}")
        return name

    # Operands --------------------------------------------------------------------------------

    def place(self, register: Register) -> int:
        """The register's index in the state."""
        return self.program.registers[id(self.segment.code), register]

    def value(self, register: Register) -> Value:
        """The register's current value, gathered when it is first needed."""
        if register not in self.current:
            name = self.let(f"R[{self.place(register)}][i]")
            self.current[register] = Value(name, register.bits)
        return self.current[register]

    def read(self, operand: Operand, type_name: str) -> tuple[str, bool]:
        """An expression for an operand viewed as a type, and whether it is uniform."""
        match operand:
            case Register():
                value = self.value(operand)
                return self.typed(value, type_name), value.uniform
            case Negated(inner):
                name, uniform = self.read(inner, type_name)
                return f"~{name}", uniform
            case Immediate(text):
                return self.literal(text, type_name), True
            case Special():
                value = self.special(operand)
                return self.typed(value, type_name), value.uniform
            case Symbol("WARP_SZ"):
                return self.literal("32", type_name), True
            case Symbol(name, offset):
                value = self.symbol_address(name, offset)
                return self.typed(value, type_name), True
        raise self.refuse(f"the operand {operand} is not understood here")

    def refuse(self, why: str) -> EmulatorError:
        """An error at this segment."""
        return EmulatorError(why, self.segment.instructions[-1].span)

    def literal(self, text: str, type_name: str) -> str:
        """A literal as a scalar of a type."""
        if type_name == "pred":
            return f"np.bool_({bool(Immediate(text).integer)})"
        bits = literal_bits(text, TYPES[type_name].bits)
        if bits is None:
            raise self.refuse(f"{text} is no literal of type {type_name}")
        name = self.names.constant(bits, TYPES[type_name].bits)
        return self.typed(Value(name, TYPES[type_name].bits, True), type_name)

    def special(self, operand: Special) -> Value:
        """A special register."""
        register = operand.register
        bits = TYPES[register.type].bits
        if register.varies == TIME:
            return Value(self.let(f"m.time({operand.name!r}, np.uint{bits})"), bits, True)
        if operand.name in PER_LANE:
            return Value(self.let(f"m.specials[{operand.name!r}][i]"), bits)
        return Value(self.let(f"m.specials[{operand.name!r}]"), bits, True)

    def typed(self, value: Value, type_name: str) -> str:
        """A value's variable, viewed as (or cut down to) a type."""
        key = (value.name, type_name)
        if key not in self.views:
            self.views[key] = self.view(value, type_name)
        return self.views[key]

    def view(self, value: Value, type_name: str) -> str:
        """What :meth:`typed` remembers."""
        wanted = TYPES[type_name]
        name = value.name
        if wanted.bits == value.bits and wanted.bits in (1, 128):
            return name
        if wanted.bits > value.bits:
            raise self.refuse(f"an operand of {value.bits} bits is too narrow for {type_name}")
        if wanted.bits < value.bits:
            name = self.let(f"{name}.astype({self.names.dtype(f'b{wanted.bits}')})")
        if DTYPES[type_name].kind == "u":
            return name
        return self.let(f"{name}.view({self.names.dtype(type_name)})")

    def symbol_address(self, name: str, offset: int, is_generic: bool = False) -> Value:
        """The address of a variable in its own space, or a generic one, 64 bits wide."""
        location = self.find_symbol(self.segment.code, name)
        offset += WINDOWS.get(location.space, 0) if is_generic else 0
        if location.in_frame:
            return Value(self.let(f"m.frame_address(g, {location.address + offset})"), 64, True)
        return Value(self.names.constant(location.address + offset, 64), 64, True)

    def address(self, operand: Address, is_generic: bool) -> str:
        """The addresses of a memory operand, one uint64 a lane.

        Where no state space is named, a variable is in its own: it gets its generic address then.
        """
        offset = operand.offset
        if isinstance(operand.base, Register):
            value = self.value(operand.base)
            name = value.name
            if offset:
                name = self.let(f"{name} + {self.names.constant(offset, value.bits)}")
            if value.bits < 64:
                name = self.let(f"{name}.astype(np.uint64)")
            return self.let(f"full(g, {name})") if value.uniform else name
        if isinstance(operand.base, Symbol):
            at = operand.base.offset + offset
            name = self.symbol_address(operand.base.name, at, is_generic).name
        else:
            name = self.names.constant((operand.base.integer or 0) + offset, 64)
        return self.let(f"full(g, {name})")

    # Results ---------------------------------------------------------------------------------

    def write(self, operand: Operand, type_name: str, name: str, uniform: bool, guard: str) -> None:
        """Make ``name``, of that type, a register's value where the guard holds."""
        if isinstance(operand, Discard):
            return
        if not isinstance(operand, Register):
            raise self.refuse(f"the destination {operand} is not understood here")
        name = self.as_bits(name, type_name, operand)
        if guard:
            old = self.value(operand)
            name = self.let(f"np.where({guard}, {name}, {old.name})")
            uniform = False
        self.define(operand, name, uniform)

    def define(self, register: Register, name: str, uniform: bool) -> None:
        """Make ``name`` the register's value."""
        self.current[register] = Value(name, register.bits, uniform)
        self.written.add(register)

    def as_bits(self, name: str, type_name: str, register: Register) -> str:
        """The raw bits that a result of a type leaves in a register (PTX ISA section 9.4.1)."""
        result = TYPES[type_name]
        if result.bits > register.bits:
            raise self.refuse(f"{register} is too narrow for a result of type {type_name}")
        unsigned = f"np.uint{register.bits}"
        if result.bits == register.bits:
            is_raw = result.kind == "p" or DTYPES[type_name].kind in "uV"
            return name if is_raw else self.let(f"{name}.view({unsigned})")
        if result.kind == "s":
            return self.let(f"{name}.astype(np.int{register.bits}).view({unsigned})")
        if result.kind == "f":
            name = self.let(f"{name}.view(np.uint{result.bits})")
        return self.let(f"{name}.astype({unsigned})")
