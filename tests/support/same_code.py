"""Whether two texts of PTX are the same code: the compiler's, up to names and to the order of what
stands in one block and does not depend on each other.

A register is known by the instructions that make it, and an instruction by its opcode, its block
and what its operands are known by, found in rounds until no round tells more apart. What writes
memory, meets other threads or has an effect that nobody knows keeps its order in its block, and so
does what reads memory among what writes it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator

from ccc.ir.nodes import Block, Function, Instruction, MarkerNote, Statement
from ccc.ir.operands import Operand, Register, Symbol, leaves, map_leaves
from ccc.parse import parse_function, parse_module
from ccc.ptx.opcodes import Effect

_STACK = re.compile(r"\b__local_depot\d+")
"""A function's stack, which bears the function's number in its module."""
_ORDERED = ~(Effect.READ | Effect.READS_CARRY)


def same_code(one: str, other: str) -> bool:
    """Whether two modules hold the same functions."""
    return known_by(one) == known_by(other)


def same_order(one: str, other: str) -> bool:
    """Whether the instructions stand in the same order, too."""
    return known_by(one, in_order=True) == known_by(other, in_order=True)


def known_by(ptx: str, *, in_order: bool = False) -> dict[str, int]:
    """What the functions of a module are known by, by name."""
    module = parse_module(_STACK.sub("__local_depot", ptx))
    functions = (parse_function(piece) for piece in module.functions)
    return {one.name: _known(one, in_order=in_order) for one in functions}


def _known(function: Function, *, in_order: bool) -> int:
    places = {block.label: number for number, block in enumerate(function.blocks)}
    spelled = list(_spelled(function, places))
    names: dict[Register, int] = {}
    apart = 0
    while True:
        blocks: list[list[int]] = [[] for _ in places]
        made: dict[Register, list[int]] = defaultdict(list)
        for number, statement, text in spelled:
            known = hash((text, tuple(names.get(one, 0) for one in _registers(statement))))
            blocks[number].append(known)
            if isinstance(statement, Instruction):
                for part, register in enumerate(statement.defined()):
                    made[register].append(hash((known, part)))
        names = {register: hash(tuple(sorted(makers))) for register, makers in made.items()}
        if len(set(names.values())) <= apart:
            return hash(tuple(tuple(one if in_order else sorted(one)) for one in blocks))
        apart = len(set(names.values()))


def _spelled(
    function: Function, places: dict[str, int]
) -> Iterator[tuple[int, Statement, Hashable]]:
    """Markers and instructions with the numbers of their blocks, and all of them but registers."""
    for number, block in enumerate(function.blocks):
        for statement, before in _with_order(block):
            if isinstance(statement, Instruction):
                operands = tuple(str(_nameless(one, places)) for one in statement.operands)
                negated = statement.guard.negated if statement.guard else None
                yield number, statement, (number, before, statement.opcode, operands, negated)
            elif isinstance(statement, MarkerNote):
                yield number, statement, (number, str(statement))


def _with_order(block: Block) -> Iterator[tuple[Statement, int]]:
    """The statements of a block, and how many before each have to stay before it."""
    before = 0
    for statement in block.statements:
        effects = statement.effects if isinstance(statement, Instruction) else Effect.NONE
        yield statement, before if effects else 0
        before += bool(effects & _ORDERED)


def _nameless(operand: Operand, places: dict[str, int]) -> Operand:
    def name(leaf: Operand) -> Operand:
        if isinstance(leaf, Register):
            return Symbol(f"%{leaf.type}")
        if isinstance(leaf, Symbol) and leaf.name in places:
            return Symbol(f"block {places[leaf.name]}")
        return leaf

    return map_leaves(operand, name)


def _registers(statement: Statement) -> list[Register]:
    """The registers that an instruction reads or writes, as they stand."""
    if not isinstance(statement, Instruction):
        return []
    guard = [statement.guard.register] if statement.guard else []
    found = (leaf for operand in statement.operands for leaf in leaves(operand))
    return [*guard, *(leaf for leaf in found if isinstance(leaf, Register))]
