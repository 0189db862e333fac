"""Calls through registers: which functions of a module they may enter, and where those lie."""

from __future__ import annotations

import re
from collections.abc import Callable

from ccc.emulator.memory.spaces import CODE
from ccc.ir.nodes import Directive, Function, Instruction, Module
from ccc.ir.operands import Arguments, Operand, Register, Symbol

_NAMED_ONLY = re.compile(r"//[^\n]*|/\*.*?\*/|\.(?:func|entry)\b[^;{]*|\bcall\b[^;]*;", re.S)
_WORD = re.compile(r"[\w$%]+")
_TARGETS = re.compile(r"(\S+): \.calltargets (.*);")


def called(call: Instruction) -> Operand:
    """What a call names as its callee: a symbol, or a register that holds an address."""
    return next(operand for operand in call.operands if not isinstance(operand, Arguments))


def argument_lists(call: Instruction) -> tuple[tuple[Operand, ...], tuple[Operand, ...]]:
    """The results and the arguments of a call."""
    returns = isinstance(call.operands[0], Arguments)
    lists = [operand.elements for operand in call.operands if isinstance(operand, Arguments)]
    results = lists.pop(0) if returns else ()
    return results, lists[0] if lists else ()


class FunctionPointers:
    """The addresses of a module's functions.

    Args:
        module: the PTX.
        find: the IR of a function by name; None where it has no body.
    """

    def __init__(self, module: Module, find: Callable[[str], Function | None]):
        self.module = module
        self.find = find
        self.addresses = {
            piece.name: CODE + 16 * number for number, piece in enumerate(module.functions, 1)
        }
        self._taken: frozenset[str] | None = None

    @property
    def taken(self) -> frozenset[str]:
        """The functions that are named elsewhere than in calls."""
        if self._taken is None:
            words: set[str] = set()
            for piece in self.module.pieces:
                text = piece if isinstance(piece, str) else piece.text
                words.update(_WORD.findall(_NAMED_ONLY.sub(" ", text)))
            kinds = {piece.name for piece in self.module.functions if piece.kind == "func"}
            self._taken = frozenset(words & kinds)
        return self._taken

    def entered(self, call: Instruction, caller: Function) -> dict[int, Function]:
        """The functions that a call through a register may enter, by address.

        Those that its ``.calltargets`` name, or else those whose address is taken; and of them
        those that have as many parameters and results.
        """
        names = self._listed(call, caller) or self.taken
        results, arguments = argument_lists(call)
        shape = len(results), len(arguments)
        found = {}
        for name in sorted(names):
            function = self.find(name)
            if function and (len(function.results), len(function.parameters)) == shape:
                found[self.addresses[name]] = function
        return found

    @staticmethod
    def _listed(call: Instruction, caller: Function) -> list[str]:
        last = call.operands[-1]
        if not isinstance(called(call), Register) or not isinstance(last, Symbol):
            return []
        for block in caller.blocks:
            for statement in block.statements:
                match = isinstance(statement, Directive) and _TARGETS.match(statement.text)
                if match and match[1] == last.name:
                    return [word.strip() for word in match[2].split(",")]
        return []
