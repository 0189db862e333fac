"""Putting the body of a function in the place of a call."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ccc.ir.edit import remove_jumps_to_next
from ccc.ir.markers import Marker
from ccc.ir.nodes import (
    Block,
    Directive,
    Function,
    Guard,
    Instruction,
    MarkerNote,
    Statement,
    Variable,
)
from ccc.ir.operands import Operand, Register, Symbol, map_leaves
from ccc.ir.parameters import (
    CallList,
    DoesNotFit,
    ParameterRegisters,
    Part,
    accesses,
    forget,
    move_into_registers,
)
from ccc.ptx.opcodes import Effect
from ccc.ptx.types import OWN_SPACES


@dataclass(frozen=True, slots=True)
class Inlined:
    """Where a body is now: behind the block ``before`` come those with ``labels``, the first first.

    ``registers`` are those that came with it, parameters and results among them.
    """

    before: Block
    labels: tuple[str, ...]
    registers: frozenset[Register]


def inline(function: Function, call: Instruction, body: Function) -> Inlined:
    """Replace a call in ``function`` by a copy of ``body``, the function that it calls.

    Raises:
        DoesNotFit: that cannot be done; nothing is changed then.
    """
    return _Inlining(function, call, body).run()


class _Inlining:
    def __init__(self, function: Function, call: Instruction, body: Function):
        self.function = function
        self.call = call
        self.body = body
        variables = CallList.of(call, body)
        actual = (*variables.arguments, *variables.results)
        formal = [variable.name for variable in (*body.parameters, *body.results)]
        self.symbols = dict(zip(formal, actual, strict=True))
        self.registers: dict[Register, Register] = {}

    def run(self) -> Inlined:
        self._check()
        slots = {
            actual: ParameterRegisters(
                self.function.registers,
                self._accesses(formal, actual, "st"),
                self._accesses(formal, actual, "ld"),
            )
            for formal, actual in self.symbols.items()
        }
        names = list(self.symbols.values())
        self.symbols |= {v.name: self._declare(v) for v in self.body.variables}
        own = [block.label for block in self.body.blocks]
        for label in (*own, *self.body.targets):
            # Paths keep their names whichever calls stay.
            self.symbols[label] = self.function.fresh_label(f"inlined_{self.call.span.line}")
        labels = tuple(self.symbols[label] for label in own)
        for table, targets in self.body.targets.items():
            self.function.targets[self.symbols[table]] = tuple(self.symbols[t] for t in targets)
        before = self._insert()
        move_into_registers(self.function, slots)
        forget(self.function, names)
        remove_jumps_to_next(self.function)
        new = {slot.register for one in slots.values() for slot in one.slots}
        return Inlined(before, labels, frozenset(new.union(self.registers.values())))

    def _check(self) -> None:
        """Raises DoesNotFit where a copy would not do what the call does."""
        named = set(self.symbols.values())
        others = (i for i in self.function.instructions if i.name == "call" and i is not self.call)
        if any(symbol.name in named for other in others for symbol in other.symbols()):
            raise DoesNotFit  # a variable of this call serves another one, too
        if not self._foreign().isdisjoint(self._own()):
            raise DoesNotFit  # it would see another thing of that name
        if any(v.space not in OWN_SPACES for v in (*self.body.variables, *self.body.parameters)):
            raise DoesNotFit
        statements = (s for block in self.body.blocks for s in block.statements)
        if any(isinstance(s, Directive) and ": ." in s.text for s in statements):
            raise DoesNotFit  # prototypes of indirect calls have names

    def _foreign(self) -> set[str]:
        """What the copy names that is not its own."""
        symbols = {symbol.name for i in self.body.instructions for symbol in i.symbols()}
        own = {block.label for block in self.body.blocks} | self.body.targets.keys()
        return symbols - own - self.symbols.keys() - {v.name for v in self.body.variables}

    def _own(self) -> set[str]:
        """What the names in the caller are of."""
        labels = {block.label for block in self.function.blocks} | self.function.targets.keys()
        parameters = (*self.function.parameters, *self.function.results)
        return labels | {v.name for v in (*self.function.variables, *parameters)}

    def _accesses(self, formal: str, actual: str, opcode: str) -> list[Part]:
        ours = accesses(self.function.instructions, actual, opcode)
        return ours + accesses(self.body.instructions, formal, opcode)

    def _declare(self, variable: Variable) -> str:
        """The new name of a variable of the body."""
        taken = {v.name for v in self.function.variables}
        number = 0
        while (name := self.function.names.free(f"{variable.name}_ccc{number}")) in taken:
            number += 1
        old = rf"(?<![\w$%]){re.escape(variable.name)}(?![\w$])"
        text = re.sub(old, name, variable.text, count=1)
        self.function.variables.append(replace(variable, name=name, text=text))
        return name

    def _insert(self) -> Block:
        """Cut the call's block in two and put the copy between; the first half."""
        before = next(b for b in self.function.blocks if self.call in b.statements)
        at = before.statements.index(self.call)
        after = Block(self.function.fresh_label("returned"), named=False)
        if self.call.location is not None:
            file, line = self.call.location
            after.statements.append(Directive(f".loc {file} {line} 0"))
        after.statements += before.statements[at + 1 :]
        del before.statements[at:]
        copies = [
            Block(self.symbols[block.label], list(self._copies(block, after.label)), named=False)
            for block in self.body.blocks
        ]
        position = self.function.blocks.index(before) + 1
        self.function.blocks[position:position] = [*copies, after]
        return before

    def _copies(self, block: Block, after: str) -> Iterator[Statement]:
        for statement in block.statements:
            if isinstance(statement, Directive):
                yield Directive(statement.text)
            elif isinstance(statement, MarkerNote):
                yield MarkerNote(self._marker(statement.marker))
            else:
                yield self._copy(statement, after)

    def _marker(self, marker: Marker) -> Marker:
        """The same of the copy: it may name a register."""
        named = self.body.registers.find(marker.clauses.get("register", ""))
        if named is None:
            return marker
        return replace(marker, clauses={**marker.clauses, "register": self._register(named).name})

    def _copy(self, instruction: Instruction, after: str) -> Instruction:
        opcode = instruction.opcode
        operands = tuple(map_leaves(operand, self._rename) for operand in instruction.operands)
        if instruction.effects & Effect.RETURN:
            opcode, operands = "bra", (Symbol(after),)
        guard = instruction.guard
        if guard is not None:
            guard = Guard(self._register(guard.register), guard.negated)
        return Instruction(opcode, operands, guard, instruction.span, instruction.location)

    def _rename(self, leaf: Operand) -> Operand:
        if isinstance(leaf, Register):
            return self._register(leaf)
        if isinstance(leaf, Symbol):
            return Symbol(self.symbols.get(leaf.name, leaf.name), leaf.offset)
        return leaf

    def _register(self, register: Register) -> Register:
        if register not in self.registers:
            self.registers[register] = self.function.registers.fresh(register.type)
        return self.registers[register]
