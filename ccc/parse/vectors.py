"""Registers that are vectors as parameters, results and arguments (PTX ISA section 7.1).

The parts of such a register are registers of their own in the IR. Where all of it is handed over,
it is a variable in the IR, of state space ``.param``, and its parts go there by ``st.param`` and
come from there by ``ld.param``; both are printed as the ``mov`` that PTX has for that.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ccc.ir.nodes import Function, Instruction, Variable
from ccc.ir.operands import Address, Arguments, Operand, Register, Symbol, Vector
from ccc.parse.scopes import Scopes
from ccc.parse.source import NotRepresentable
from ccc.ptx.types import TYPES, VECTORS

_WIDTHS = (16, 32, 64)
"""Of a part, in bits: a ``mov`` takes it."""


@dataclass(slots=True)
class VectorPassing:
    """What a function does first, last, and around its calls for the vectors that it passes."""

    function: Function
    scopes: Scopes
    parts: dict[str, Vector] = field(default_factory=dict)

    def declare(self, formal: Variable) -> None:
        """Declare a parameter or a result: its name stands for its parts."""
        lanes = next(word for word in formal.qualifiers if word in VECTORS)
        self.scopes.declare_register(formal.name, formal.type, lanes)
        parts = self.scopes.words.find(formal.name)
        assert isinstance(parts, Vector)
        self.parts[formal.name] = parts

    def taken(self) -> list[Instruction]:
        """What reads the parameters' parts, when the function is entered."""
        formals = (v for v in self.function.parameters if v.name in self.parts)
        return [_move("ld", v.name, self.parts[v.name]) for v in formals]

    def left(self) -> list[Instruction]:
        """What writes the results' parts, when the function is left."""
        formals = (v for v in self.function.results if v.name in self.parts)
        return [_move("st", v.name, self.parts[v.name]) for v in formals]

    def around(self, call: Instruction) -> tuple[list[Instruction], list[Instruction]]:
        """Put variables in the place of a call's vectors; what is to stand before it and after.

        Raises:
            NotRepresentable: a vector that a guarded call may write, or one of odd parts.
        """
        listed = (one.elements for one in call.operands if isinstance(one, Arguments))
        if not any(Vector in map(type, elements) for elements in listed):
            return [], []
        moves: dict[str, list[Instruction]] = {"ld": [], "st": []}
        operands: list[Operand] = []
        for number, operand in enumerate(call.operands):
            opcode = "st" if number else "ld"  # the results stand first
            if isinstance(operand, Arguments):
                operands.append(self._passed(operand, opcode, moves[opcode]))
            else:
                operands.append(operand)
        if moves["ld"] and call.guard:
            raise NotRepresentable("a guarded call whose result is a vector is not supported")
        call.operands = tuple(operands)
        return moves["st"], moves["ld"]

    def _passed(self, listed: Arguments, opcode: str, moves: list[Instruction]) -> Arguments:
        elements = list(listed.elements)
        for number, element in enumerate(elements):
            if isinstance(element, Vector):
                elements[number] = name = self._variable(element)
                moves.append(_move(opcode, name.name, element))
        return Arguments(tuple(elements))

    def _variable(self, parts: Vector) -> Symbol:
        """A new variable, of a vector's size."""
        count, bits = len(parts.elements), _bits(parts)
        name = self.scopes.fresh("vector")
        size, kind = count * bits // 8, f"b{bits}"
        variable = Variable(name, "reg", kind, size, size, f".reg .v{count} .{kind} {name}")
        self.function.variables.append(as_variable(variable))
        return Symbol(name)


def as_variable(register: Variable) -> Variable:
    """A register that is a vector as the variable that the IR has for it.

    Raises:
        NotRepresentable: its parts are odd.
    """
    _checked(TYPES[register.type].bits)
    return replace(register, space="param", qualifiers=("reg", *register.qualifiers))


def _move(opcode: str, name: str, parts: Vector) -> Instruction:
    place = Address(Symbol(name))
    operands = (parts, place) if opcode == "ld" else (place, parts)
    form = f"{opcode}.param.v{len(parts.elements)}.b{_bits(parts)}"
    return Instruction(form, operands)


def _bits(parts: Vector) -> int:
    first = parts.elements[0]
    return _checked(TYPES[first.type].bits if isinstance(first, Register) else 0)


def _checked(bits: int) -> int:
    if bits not in _WIDTHS:
        raise NotRepresentable("a vector that is passed has parts of 16, 32 or 64 bits")
    return bits
