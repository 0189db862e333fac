"""IR to PTX text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ccc.ir.nodes import Block, Function, FunctionText, Instruction, Variable
from ccc.ir.operands import Address
from ccc.ir.parameters import accessed


def print_function(function: Function) -> str:
    """The text of a function, from its first word to its closing brace.

    Labels that no branch names and that did not stand in the source are left out, and so is a
    ``ret`` at the end that the source does without.
    """
    lines = [function.header.rstrip(), "{"]
    passed = {v.name for v in (*function.parameters, *function.results) if v.space == "reg"}
    singles = (r for r in function.registers.singles.values() if r.name not in passed)
    lines += [f"\t.reg .{r.type} \t{r.name};" for r in singles]
    lines += [
        f"\t.reg .{type_name} \t{prefix}<{count}>;"
        for prefix, (type_name, count) in function.registers.ranges.items()
    ]
    lines += [f"\t{text};" for text in _declared(function.variables)]
    referenced = _referenced_labels(function)
    named = (*function.parameters, *function.results, *function.variables)
    vectors = {variable.name for variable in named if variable.is_vector_register}
    for block in function.blocks:
        if block.named or block.label in referenced:
            lines += ["", f"{block.label}:"]
        lines += _statements(block, function, vectors)
    return "\n".join([*lines, "", "}"])


def _declared(variables: list[Variable]) -> Iterator[str]:
    """The declarations of variables: of a whole series, where it is still there, one."""
    number = 0
    while number < len(variables):
        first = variables[number]
        name, count = first.series or ("", 0)
        there = [variable.name for variable in variables[number : number + count]]
        if count and there == [f"{name}{index}" for index in range(count)]:
            word = rf"(?<![\w$%]){re.escape(first.name)}(?![\w$])"
            before, after = re.split(word, first.text, maxsplit=1)
            yield f"{before}{name}<{count}>{after}"
            number += count
        else:
            yield first.text
            number += 1


def replace(piece: FunctionText, function: Function) -> None:
    """Put the printed IR in the place of a function's text."""
    piece.text = print_function(function)


def _statements(block: Block, function: Function, vectors: set[str]) -> list[str]:
    lines = []
    last = function.blocks[-1].statements[-1:]
    for statement in block.statements:
        if statement is function.implied_return and statement in last:
            continue
        table = statement.target if isinstance(statement, Instruction) else None
        if table in function.targets:
            targets = ", ".join(function.targets[table])
            lines.append(f"\t{table}: .branchtargets {targets};")
        if vectors and isinstance(statement, Instruction) and accessed(statement) in vectors:
            lines.append(f"\t{_moved(statement)}")
        else:
            lines.append(f"\t{statement}")
    return lines


def _moved(access: Instruction) -> Instruction:
    """An access to a register that is a vector, as PTX writes it."""
    opcode = re.sub(r"^(?:ld|st)\.param", "mov", access.opcode)
    operands = (o.base if isinstance(o, Address) else o for o in access.operands)
    return Instruction(opcode, tuple(operands), access.guard)


def _referenced_labels(function: Function) -> set[str]:
    found = {
        symbol.name
        for instruction in function.instructions
        if instruction.is_terminator
        for symbol in instruction.symbols()
    }
    return found.union(*function.targets.values())
