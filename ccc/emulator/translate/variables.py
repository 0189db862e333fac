"""Module-level variables: their bytes, and where everything with a name lies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from ccc.emulator.base.errors import EmulatorError
from ccc.emulator.memory.memory import Location
from ccc.emulator.translate.operands import literal_bits
from ccc.emulator.translate.program import Code, Program
from ccc.ir.nodes import Variable
from ccc.ptx.types import TYPES, parse_integer

STATIC_SHARED_LIMIT = 48 * 1024
SHARED_LIMIT = 227 * 1024

_SYMBOL = re.compile(r"(?:(0[xX][0-9a-fA-F]+|generic)\s+)?([\w$%.]+)((?:\s*[+-]?\s*\w+)*)$")
_ADDED = re.compile(r"([+-]?)\s*(\w+)")


def initial_bytes(variable: Variable, address_of: Callable[[str], int]) -> bytes:
    """The bytes that a variable begins with (PTX ISA section 5.4.4).

    Args:
        variable: a ``.global`` or ``.const`` variable.
        address_of: the address of another variable, or of a function, for initialisers that name
            one.

    Raises:
        EmulatorError: the initialiser is not understood.
    """
    size = variable.bytes or 0
    if variable.initializer is None:
        return bytes(size)
    width = TYPES[variable.type].bits if variable.type in TYPES else 64
    words = [_value(word.strip(), width, address_of) for word in variable.initializer.split(",")]
    content = b"".join(word.to_bytes(width // 8, "little") for word in words)
    return content[:size].ljust(size, b"\0")


def _value(word: str, width: int, address_of: Callable[[str], int]) -> int:
    bits = literal_bits(word.replace(" ", ""), width)
    if bits is not None:
        return bits
    match = _SYMBOL.match(word)
    if match is None:
        raise EmulatorError(f"the initialiser {word} is not emulated")
    how, name, added = match.groups()
    address = address_of(name)
    for sign, number in _ADDED.findall(added):
        offset = parse_integer(number)
        if offset is None:
            raise EmulatorError(f"the initialiser {word} is not emulated")
        address += -offset if sign == "-" else offset
    if how is not None and how != "generic":  # 0xff00(x): these bits, moved to the lowest
        mask = int(how, 16)
        address = (address & mask) // max(mask & -mask, 1)
    return address & ((1 << width) - 1)


class VariableLocations:
    """Where the variables that a program names lie.

    Args:
        program: the kernel and its callees.
        variables: the module-level variables.
        addresses: the addresses of those in global memory, and of functions.
        statics: those of variables in global memory that functions declare, by function and name.

    Raises:
        EmulatorError: static shared memory does not fit.
    """

    def __init__(
        self,
        program: Program,
        variables: Iterable[Variable],
        addresses: dict[str, int],
        statics: dict[tuple[str, str], int],
    ):
        self.locations: dict[tuple[int, str], Location] = {}
        self.shared_bytes = 0
        self.modules = {name: Location("global", at) for name, at in addresses.items()}
        used = {
            symbol.name
            for code in program.codes
            for instruction in code.function.instructions
            for symbol in instruction.symbols()
        }
        shared = [v for v in variables if v.space == "shared" and v.name in used]
        dynamic = [v for v in shared if v.bytes is None]
        for variable in shared:
            if variable.bytes is not None:
                self.modules[variable.name] = Location("shared", self._place(variable))
        for code in program.codes:
            self._read(code, statics)
        if self.shared_bytes > STATIC_SHARED_LIMIT:
            raise EmulatorError(
                f"{self.shared_bytes} bytes of static shared memory: "
                f"ptxas allows {STATIC_SHARED_LIMIT}",
                program.codes[0].function.span,
            )
        self.dynamic_start = -(-self.shared_bytes // 16) * 16
        for variable in dynamic:
            alignment = max(variable.alignment, 16)
            self.dynamic_start = -(-self.dynamic_start // alignment) * alignment
        for variable in dynamic:
            self.modules[variable.name] = Location("shared", self.dynamic_start)

    @property
    def shared(self) -> list[tuple[int, str]]:
        """The addresses of the variables in shared memory, with their names."""
        places = [(place, name) for (_, name), place in self.locations.items()]
        places += [(place, name) for name, place in self.modules.items()]
        return [(place.address, name) for place, name in places if place.space == "shared"]

    def _place(self, variable: Variable) -> int:
        alignment = max(variable.alignment, 1)
        start = -(-self.shared_bytes // alignment) * alignment
        self.shared_bytes = start + (variable.bytes or 0)
        return start

    def _read(self, code: Code, statics: dict[tuple[str, str], int]) -> None:
        for variable in code.function.variables:
            key = code.function.name, variable.name
            if variable.space == "shared" and variable.bytes is not None:
                location = Location("shared", self._place(variable))
            elif key in statics:
                location = Location("global", statics[key])
            else:
                continue
            self.locations[id(code), variable.name] = location
        for name, offset in code.frame.items():
            self.locations[id(code), name] = Location("local", offset, in_frame=True)
        if code.is_kernel:
            for name, offset in parameter_offsets(code.function.parameters).items():
                self.locations[id(code), name] = Location("param", offset)

    def find(self, code: Code, name: str) -> Location:
        """The location of a name that a function uses.

        Raises:
            EmulatorError: nothing has that name.
        """
        found = self.locations.get((id(code), name)) or self.modules.get(name)
        if found is None:
            raise EmulatorError(f"the address of {name} is not known here", code.function.span)
        return found


def parameter_offsets(parameters: list[Variable]) -> dict[str, int]:
    """The place of each kernel parameter in the parameter buffer."""
    offsets = {}
    at = 0
    for parameter in parameters:
        alignment = max(parameter.alignment, 1)
        at = -(-at // alignment) * alignment
        offsets[parameter.name] = at
        at += parameter.bytes or 0
    return offsets
