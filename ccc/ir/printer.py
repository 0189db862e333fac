"""IR to PTX text."""

from __future__ import annotations

from ccc.ir.nodes import Block, Function, FunctionText, Instruction


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
    lines += [f"\t{variable.text};" for variable in function.variables]
    referenced = _referenced_labels(function)
    for block in function.blocks:
        if block.named or block.label in referenced:
            lines += ["", f"{block.label}:"]
        lines += _statements(block, function)
    return "\n".join([*lines, "", "}"])


def replace(piece: FunctionText, function: Function) -> None:
    """Put the printed IR in the place of a function's text."""
    piece.text = print_function(function)


def _statements(block: Block, function: Function) -> list[str]:
    lines = []
    last = function.blocks[-1].statements[-1:]
    for statement in block.statements:
        if statement is function.implied_return and statement in last:
            continue
        table = statement.target if isinstance(statement, Instruction) else None
        if table in function.targets:
            targets = ", ".join(function.targets[table])
            lines.append(f"\t{table}: .branchtargets {targets};")
        lines.append(f"\t{statement}")
    return lines


def _referenced_labels(function: Function) -> set[str]:
    found = {
        symbol.name
        for instruction in function.instructions
        if instruction.is_terminator
        for symbol in instruction.symbols()
    }
    return found.union(*function.targets.values())
