"""Operands from the tree of one statement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ccc.errors import CccError, short
from ccc.ir.operands import (
    Address,
    Arguments,
    Immediate,
    Minus,
    Negated,
    Operand,
    Pair,
    Register,
    Symbol,
    TupleAddress,
    Vector,
)
from ccc.parse.constants import NoConstant, fold_integer, fold_literal
from ccc.parse.shapes import ParseNode
from ccc.ptx.types import parse_integer


class BadOperand(Exception):
    """An operand that makes no sense; ``kind`` is the error it leads to."""

    def __init__(self, message: str, kind: type[CccError] = CccError):
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Meanings:
    """What an operand's words stand for.

    Attributes:
        find: the operand that a name stands for.
        add: a register that holds another one plus an integer.
        element_bytes: the size of an element of a variable, for a subscript.
    """

    find: Callable[[str], Operand]
    add: Callable[[Register, int], Register]
    element_bytes: Callable[[str], int]


class OperandBuilder:
    """Makes operands of the leaves of one statement.

    Args:
        leaves: their texts.
        meanings: what names stand for.
        loads: whether an element of an array is read or written, and not its address taken.
    """

    def __init__(self, leaves: list[str], meanings: Meanings, loads: bool):
        self.leaves = leaves
        self.meanings = meanings
        self.loads = loads

    def __call__(self, tree: ParseNode) -> Operand:
        """The operand of a subtree.

        Raises:
            BadOperand: it is none.
            NoConstant: an expression in it has no value.
        """
        children = tree.children
        match tree.data:
            case "name":
                return self._name(children[0])
            case "literal" if self.leaves[children[0]] == "WARP_SZ":
                return Symbol("WARP_SZ")
            case "offset_name":
                return self._sum(tree)
            case "subscript":
                return self._element(tree)
            case "address":
                return self._address(children[0])
            case "negated":
                name = self._name(children[1])
                return Minus(name) if self.leaves[children[0]] == "-" else Negated(name)
            case "pair":
                first, _, second = children
                return Pair(
                    self._name(first) if isinstance(first, int) else self(first),
                    self._name(second),
                )
            case "vector":
                return Vector(tuple(self(child) for child in children))
            case "arguments":
                return Arguments(tuple(self(child) for child in children))
            case "tuple_address":
                return TupleAddress(tuple(self(child) for child in children))
            case _:
                return Immediate(fold_literal(tree, self.leaves))

    def _name(self, token: Any) -> Operand:
        return self.meanings.find(self.leaves[token])

    def _offset(self, tree: ParseNode) -> tuple[int, str]:
        """The integer that is added to a name, and how it is written where that is a literal."""
        _, sign, number = tree.children
        is_plus = self.leaves[sign] == "+"
        if number.data == "literal":
            text = self.leaves[number.children[0]]
            offset = parse_integer(text)
            if offset is None and text != "WARP_SZ":
                raise NoConstant(f"{short(text)} is no offset; write an integer")
            if offset is not None:
                return (offset, f"+{text}") if is_plus else (-offset, "")
        offset = fold_integer(number, self.leaves)
        return (offset if is_plus else -offset), ""

    def _sum(self, tree: ParseNode) -> Operand:
        base = self._name(tree.children[0])
        offset, written = self._offset(tree)
        if isinstance(base, Symbol):
            return Symbol(base.name, base.offset + offset, written)
        if isinstance(base, Register):
            return self.meanings.add(base, offset)
        raise BadOperand(f"{base} has no address to add {offset} to")

    def _element(self, tree: ParseNode) -> Symbol | Address:
        base = self._name(tree.children[0])
        if not isinstance(base, Symbol):
            raise BadOperand(f"{base} is no array; write an address in brackets")
        number = fold_integer(tree.children[1], self.leaves)
        offset = base.offset + number * self.meanings.element_bytes(base.name)
        return Address(Symbol(base.name), offset) if self.loads else Symbol(base.name, offset)

    def _address(self, tree: ParseNode) -> Address:
        offset, written = 0, ""
        if tree.data == "offset_name":
            inner = self._name(tree.children[0])
            offset, written = self._offset(tree)
        elif tree.data == "name":
            inner = self._name(tree.children[0])
        elif tree.data == "subscript":
            raise BadOperand("an element of an array stands without brackets: name[2]")
        else:
            inner = self(tree)
        if isinstance(inner, Symbol):
            return Address(Symbol(inner.name), inner.offset + offset, written)
        if isinstance(inner, Immediate) and inner.integer is None:
            raise BadOperand(f"{inner} is no address; write an integer")
        if isinstance(inner, (Register, Immediate)):
            return Address(inner, offset, written)
        raise BadOperand(f"{inner} is no address; copy it into a register first")
