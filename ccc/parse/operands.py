"""Operands from the tree of one statement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lark import Tree

from ccc.errors import CccError
from ccc.ir.operands import (
    Address,
    Arguments,
    Immediate,
    Negated,
    Operand,
    Pair,
    Register,
    Symbol,
    TupleAddress,
    Vector,
)
from ccc.parse.shapes import index
from ccc.ptx.types import parse_integer


class BadOperand(Exception):
    """An operand that makes no sense; ``kind`` is the error it leads to."""

    def __init__(self, message: str, kind: type[CccError] = CccError):
        super().__init__(message)
        self.kind = kind


class OperandBuilder:
    """Makes operands; ``name`` gives the operand that a name stands for."""

    def __init__(self, leaves: list[str], name: Callable[[str], Operand]):
        self.leaves = leaves
        self.name = name

    def __call__(self, tree: Tree[Any]) -> Operand:
        """The operand of a subtree.

        Raises:
            BadOperand: it is none.
        """
        children = tree.children
        match tree.data:
            case "name":
                return self.name(self.leaves[index(children[0])])
            case "literal":
                return Immediate(self.leaves[index(children[0])].replace(" ", ""))
            case "offset_name":
                return self._offset(self.name(self.leaves[index(children[0])]), children[1])
            case "address":
                return self._address(self(children[0]))
            case "negated":
                return Negated(self(children[0]))
            case "pair":
                return Pair(self(children[0]), self(children[1]))
            case "vector":
                return Vector(tuple(self(child) for child in children))
            case "arguments":
                return Arguments(tuple(self(child) for child in children))
            case _:
                assert tree.data == "tuple_address"
                return TupleAddress(tuple(self(child) for child in children))

    def _offset(self, base: Operand, number: Any) -> Operand:
        text = "".join(self.leaves[index(number)].split())
        offset = parse_integer(text)
        if offset is None:
            raise BadOperand(f"{text} is no offset; write an integer")
        if isinstance(base, Register):
            return Address(base, offset)
        if isinstance(base, Symbol):
            return Symbol(base.name, offset)
        raise BadOperand(f"{base} has no address to add {text} to")

    @staticmethod
    def _address(inner: Operand) -> Address:
        if isinstance(inner, Address):
            return inner
        if isinstance(inner, Symbol):
            return Address(Symbol(inner.name), inner.offset)
        if isinstance(inner, (Register, Immediate)):
            return Address(inner)
        raise BadOperand(f"{inner} is no address; copy it into a register first")
