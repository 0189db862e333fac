"""Changing IR: fall-through made explicit and implicit again, copies, substitution, new code."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from ccc.errors import Span
from ccc.ir.nodes import Block, Directive, Function, Guard, Instruction, MarkerNote
from ccc.ir.operands import Immediate, Operand, Register, Special, Symbol, map_leaves
from ccc.ptx.types import TYPES


def jump(label: str) -> Instruction:
    """An unconditional branch."""
    return Instruction("bra", (Symbol(label),))


def make_explicit(function: Function) -> None:
    """End every block that falls through with a jump, so that blocks may stand in any order.

    A block then ends with a guarded branch and a jump, or with one terminator.
    """
    for block, following in zip(function.blocks, function.blocks[1:], strict=False):
        last = block.terminator
        if last is None or last.guard is not None:
            block.statements.append(jump(following.label))


def falls_off_the_end(function: Function, named: Collection[str]) -> bool:
    """Whether control may run past the last block.

    An empty one that nothing leads to is allowed there: it is a label for debuggers.

    Args:
        function: the function.
        named: the labels that its branches name.
    """
    last = function.blocks[-1]
    if last.terminator is not None:
        return last.terminator.guard is not None
    if last.statements or len(function.blocks) == 1:
        return True
    before = function.blocks[-2].terminator
    if before is None or before.guard is not None:
        return True
    tables = function.targets.values()
    return last.label in named or any(last.label in labels for labels in tables)


def remove_jumps_to_next(function: Function) -> None:
    """Undo :func:`make_explicit` where the target stands right behind."""
    for block, following in zip(function.blocks, function.blocks[1:], strict=False):
        last = block.statements[-1] if block.statements else None
        if (
            isinstance(last, Instruction)
            and last.opcode == "bra"
            and last.guard is None
            and last.operands == (Symbol(following.label),)
        ):
            block.statements.pop()


def put_behind(
    function: Function, header: str, loop: Collection[str], entrance: str, old: Collection[str]
) -> None:
    """Put the ``entrance`` of a loop before its ``header``, and what is new right behind it.

    Where the function begins stays the first block; ``old`` are the labels that it had before.
    """
    start = function.blocks[0].label
    before = [block for block in function.blocks if block.label in old]
    new = [block for block in function.blocks if block.label not in old]
    first = next(i for i, block in enumerate(before) if block.label == header)
    last = max(i for i, block in enumerate(before) if block.label in loop)
    function.blocks = [
        *(block for block in new if block.label == start),
        *before[:first],
        *(block for block in new if block.label == entrance),
        *before[first : last + 1],
        *(block for block in new if block.label not in (start, entrance)),
        *before[last + 1 :],
    ]


def keep_blocks(function: Function, labels: Collection[str]) -> None:
    """Drop the blocks whose labels are not among ``labels``."""
    function.blocks = [block for block in function.blocks if block.label in labels]


def drop_unreached(function: Function, reached: Collection[str]) -> None:
    """Drop the blocks that control never comes to, so that nobody need think of them.

    The markers in them stay, since these are told of, and so does a label for debuggers at the end.
    """
    kept, last = [], function.blocks[-1]
    for block in function.blocks:
        notes = [s for s in block.statements if isinstance(s, MarkerNote)]
        if block.label not in reached and notes:
            block.statements = [*notes, Instruction("ret")]
        if block.label in reached or notes or (block is last and not block.statements):
            kept.append(block)
    function.blocks = kept


def retarget(function: Function, block: Block, old: str, new: str) -> None:
    """Send every branch of ``block`` to ``old`` to ``new`` instead.

    A ``brx.idx`` gets a table of its own, since others may use the old one.
    """
    for instruction in block.instructions:
        target = instruction.target
        if target is None:
            continue
        if target == old:
            instruction.target = new
        elif old in function.targets.get(target, ()):
            table = function.fresh_label("targets")
            labels = function.targets[target]
            function.targets[table] = tuple(new if label == old else label for label in labels)
            instruction.target = table


def rename(function: Function, old: str, new: str) -> None:
    """Give a variable that the function names another name."""

    def change(leaf: Operand) -> Operand:
        return replace(leaf, name=new) if isinstance(leaf, Symbol) and leaf.name == old else leaf

    for one in function.instructions:
        if any(symbol.name == old for symbol in one.symbols()):
            one.operands = tuple(map_leaves(operand, change) for operand in one.operands)


def substitute(
    instruction: Instruction,
    registers: Mapping[Register, Register],
    specials: Mapping[Special, Register],
) -> Instruction:
    """A copy with registers, and special registers, replaced."""

    def change(leaf: Operand) -> Operand:
        if isinstance(leaf, Register):
            return registers.get(leaf, leaf)
        if isinstance(leaf, Special):
            return specials.get(leaf, leaf)
        return leaf

    operands = tuple(map_leaves(operand, change) for operand in instruction.operands)
    guard = instruction.guard
    if guard is not None:
        guard = Guard(registers.get(guard.register, guard.register), guard.negated)
    return Instruction(instruction.opcode, operands, guard, instruction.span, instruction.location)


def rewritten(
    instruction: Instruction,
    read: Mapping[Register, Register],
    written: Mapping[Register, Register],
) -> Instruction:
    """A copy of an instruction without a guard that reads other registers, and writes others: it
    may write one that it reads."""

    def changed(operand: Operand, role: str) -> Operand:
        new = written if role == "def" else read
        return map_leaves(
            operand, lambda leaf: new.get(leaf, leaf) if isinstance(leaf, Register) else leaf
        )

    operands = tuple(changed(*one) for one in instruction.roles())
    return Instruction(instruction.opcode, operands, None, instruction.span, instruction.location)


@dataclass
class Copy:
    """How to copy blocks: new names for labels and registers, and what to leave out.

    ``labels`` must name a target for every label that the blocks branch to. ``keep`` tells which
    instructions are wanted; ``skips`` gives, for a block whose branch is not, where to go on.
    """

    labels: Mapping[str, str]
    registers: Mapping[Register, Register] = field(default_factory=dict)
    specials: Mapping[Special, Register] = field(default_factory=dict)
    keep: Callable[[Instruction], bool] = lambda _instruction: True
    skips: Mapping[str, str] = field(default_factory=dict)

    def blocks(self, function: Function, labels: Collection[str]) -> list[Block]:
        """Copies of the function's blocks with these labels, in the function's order."""
        originals = [block for block in function.blocks if block.label in labels]
        return [self._block(function, block) for block in originals]

    def _block(self, function: Function, block: Block) -> Block:
        copy = Block(self.labels[block.label], named=False)
        for statement in block.statements:
            if isinstance(statement, Directive):
                copy.statements.append(Directive(statement.text))
            elif isinstance(statement, Instruction):
                if statement.is_terminator:
                    if block.label not in self.skips:
                        copy.statements.append(self.branch(function, statement))
                elif self.keep(statement):
                    copy.statements.append(substitute(statement, self.registers, self.specials))
        if block.label in self.skips:
            copy.statements.append(jump(self.skips[block.label]))
        return copy

    def branch(self, function: Function, branch: Instruction) -> Instruction:
        """A copy of a terminator."""
        copy = substitute(branch, self.registers, self.specials)
        # Tasks from different iterations meet in the copy: what was uniform need not be any more.
        copy.opcode = copy.opcode.replace(".uni", "")
        target = copy.target
        if target is None:
            return copy
        name = self.labels.get(target)
        if name is None:
            name = function.fresh_label("targets")
            old = function.targets[target]
            function.targets[name] = tuple(self.labels[label] for label in old)
        copy.target = name
        return copy


_ZEROS = {1: "mov.pred", 16: "mov.b16", 32: "mov.b32", 64: "mov.b64"}
"""How to set a register of so many bits to zero."""


class Emitter:
    """Appends new instructions to a block."""

    def __init__(self, function: Function, block: Block, span: Span):
        self.function = function
        self.block = block
        self.span = span

    def emit(self, opcode: str, *operands: Operand | int | str, guard: Guard | None = None) -> None:
        """Append one instruction; an int is a literal, a string a symbol or label.

        Raises:
            ValueError: a literal does not fit; ptxas would take its low bits without a word.
        """
        converted = tuple(_operand(operand) for operand in operands)
        instruction = Instruction(opcode, converted, guard, self.span)
        before = self.block.terminator
        if before is not None and not (opcode == "bra" and guard is None):
            self.start(self.function.fresh_label("then"))
        _check_literals(instruction)
        self.block.statements.append(instruction)

    def start(self, label: str) -> None:
        """Begin a new block at the end of the function, and go on there."""
        if self.is_open:
            self.emit("bra", label)
        self.block = Block(label, named=False)
        self.function.blocks.append(self.block)

    @property
    def is_open(self) -> bool:
        """Whether control can reach what is emitted next."""
        last = self.block.terminator
        return last is None or last.guard is not None

    def define(
        self, opcode: str, type_name: str, *operands: Operand | int | str, name: str = ""
    ) -> Register:
        """Append an instruction that defines a fresh register of ``type_name``; return that."""
        register = self.function.registers.fresh(type_name, name)
        self.emit(opcode, register, *operands)
        return register

    def clear(self, registers: Iterable[Register]) -> None:
        """Set them to zero where nothing has set them: what is undefined must not be carried.

        A register that some way to a reader leaves undefined else looks, in a loop, like a value
        of the iteration before.
        """
        for register in sorted(registers, key=lambda register: register.name):
            if register.bits in _ZEROS and self.function.registers.find(register.name):
                self.emit(_ZEROS[register.bits], register, 0)

    def branch(self, register: Register, then: str, otherwise: str, negated: bool = False) -> None:
        """End the block: to ``then`` if the predicate holds (or not, if negated)."""
        self.emit("bra", then, guard=Guard(register, negated))
        self.emit("bra", otherwise)


def _check_literals(instruction: Instruction) -> None:
    """Every literal must be a number of the type that the instruction reads it as.

    Where nothing depends on a sign, all bits set may be written as -1.
    """
    if not instruction.types:
        return
    kind = TYPES[instruction.types[-1]]
    is_wide = "wide" in instruction.modifiers
    for number, operand in enumerate(instruction.operands):
        if not isinstance(operand, Immediate) or operand.integer is None or kind.kind == "p":
            continue
        bits = kind.bits * 2 if is_wide and number == 3 else kind.bits
        low = 0 if kind.kind == "u" and (is_wide or instruction.name == "setp") else -1 << bits - 1
        high = 1 << bits - (kind.kind == "s")
        if not low <= operand.integer < high:
            raise ValueError(f"{operand} is no number of the type that {instruction} reads")


def _operand(operand: Operand | int | str) -> Operand:
    if isinstance(operand, int):
        return Immediate(str(operand))
    return Symbol(operand) if isinstance(operand, str) else operand


def add_block(function: Function, hint: str) -> Block:
    """A new empty block at the end of the function."""
    block = Block(function.fresh_label(hint), named=False)
    function.blocks.append(block)
    return block
