"""Function bodies: statements into blocks, nested scopes into unique names."""

from __future__ import annotations

import functools
import re
from dataclasses import replace

from ccc.errors import Span, short
from ccc.garbage import without_looking
from ccc.ir.edit import falls_off_the_end
from ccc.ir.markers import parse_marker
from ccc.ir.names import Names
from ccc.ir.nodes import (
    Block,
    Directive,
    Function,
    FunctionText,
    Guard,
    Instruction,
    MarkerNote,
    Variable,
    decode,
)
from ccc.ir.operands import (
    Address,
    Discard,
    Immediate,
    Operand,
    Register,
    Selected,
    Special,
    Symbol,
    TupleAddress,
    Vector,
    leaves,
)
from ccc.parse.constants import NoConstant
from ccc.parse.declarations import declarations, read_header
from ccc.parse.items import GUARD, ITEM, OPCODE, PLAIN, WORDS
from ccc.parse.operands import BadOperand, Meanings, OperandBuilder
from ccc.parse.outside import Outside, element_bytes
from ccc.parse.plain import known_forms, learn, read_operands
from ccc.parse.scopes import Scopes
from ccc.parse.shapes import NoShape, ParseNode, read
from ccc.parse.source import NotRepresentable, Source
from ccc.parse.vectors import VectorPassing
from ccc.parse.words import Words, part_of
from ccc.ptx.opcodes import TAKES_NAMES
from ccc.ptx.types import TYPES, VECTORS, parse_integer

_TABLE = re.compile(r"([\w$%]+)\s*:\s*\.(\w+)(.*);", re.S)
_MOST_DIGITS = 18
"""Of the number of a file or of a line."""
_IN_BRACKETS = (Address, TupleAddress)
_new_tuple = tuple.__new__
"""That of a named one, without its function in Python."""
_SELECTOR = re.compile(r"[bh][0-7]{1,4}")
"""What stands behind the dot of a register of which a video instruction takes a part."""


@without_looking
def parse_function(piece: FunctionText, names: Names | None = None) -> Function:
    """The IR of one function.

    Args:
        piece: its text.
        names: what may be put into the module; else what the function alone allows.

    Raises:
        CccError: a statement is not PTX, a register is not declared, or an opcode has the wrong
            number of operands; the error carries the position in the file.
        NotRepresentable: the function holds something that the IR has no place for.
    """
    source = Source(piece.text, piece.span)
    open_at = source.code.find("{")
    if open_at < 0 or not source.code.rstrip().endswith("}"):
        raise source.fail("this function has no body in braces", 0)
    names = names or Names(piece.text)
    avoided: frozenset[str] = frozenset()
    while True:
        function = _without_body(piece, piece.text[:open_at], names)
        parser = _BodyParser(function, source, open_at + 1, Outside(piece), avoided)
        parser.run()
        hidden = parser.hidden()
        if hidden <= avoided:
            return function
        avoided |= hidden


def _without_body(piece: FunctionText, header: str, names: Names) -> Function:
    function = Function(piece.name, piece.kind, header, [], span=piece.span, names=names)
    function.registers.prefix = names.free("%ccc", "_")
    read_header(function, Source(header, piece.span))
    return function


class _BodyParser:
    """Reads a body into ``function``, which gets none of the names ``avoided``."""

    def __init__(
        self,
        function: Function,
        source: Source,
        start: int,
        outside: Outside,
        avoided: frozenset[str],
    ):
        self.function = function
        self.outside = outside
        self.source = source
        self.start = start
        self.depth = 0
        self.scopes = Scopes(function.registers, source.text, avoided)
        self.sizes: dict[str, int] = {}
        self.foreign = self.scopes.words.foreign
        self.opcode = ""
        self.passing = VectorPassing(function, self.scopes)
        for parameter in (*function.parameters, *function.results):
            if parameter.is_vector_register:
                self.passing.declare(parameter)
            else:
                self.scopes.declare(parameter.name)
            self.sizes[parameter.name] = element_bytes(parameter)
        self.scopes.open()
        self.location: tuple[int, int] | None = None
        self.span = source.origin
        self.pending: list[tuple[int, Instruction, str, Words]] = []
        self.tables: list[tuple[int, str, list[str], Words]] = []
        self.prefix = function.names.free("$ccc", "_")
        self.block = Block(self.scopes.fresh(f"{self.prefix}entry"), named=False)
        self.block.statements += self.passing.taken()
        function.blocks.append(self.block)

    def run(self) -> None:
        """Read up to the body's closing brace."""
        code, registers = self.source.code, self.function.registers
        end = code.rindex("}")
        starts, row = self.source.starts, 0  # a span is found as they come, one behind the other
        file, line, _ = self.source.origin
        for match in ITEM.finditer(code, self.start, end):
            if match.lastindex != PLAIN:
                self.take(match)
                continue
            before, opcode, text = match.group(GUARD, OPCODE, WORDS)
            words = self.scopes.words
            try:
                operands = read_operands(opcode, text, words)
                guard = words.guard(before) if before else None
                form = (opcode, *map(type, operands))
                is_control = known_forms[form]
            except KeyError:  # a form to learn, or a word that needs the grammar
                self.take(match)
                continue
            position = match.start(PLAIN)
            while starts[row + 1] <= position:
                row += 1
            span = _new_tuple(Span, (file, line + row, position - starts[row] + 1))
            instruction = Instruction(opcode, operands, guard, span, self.location)
            # Its form is valid, and the rest was found declared.
            instruction.set_verified(registers, is_control)
            if is_control:
                self.append(instruction, position)
            else:
                self.block.statements.append(instruction)
        if self.depth:
            raise self.source.fail('a "{" in this function is never closed', end)
        self.finish()

    def hidden(self) -> frozenset[str]:
        """Things of the module that the function names, and that something in it hides now.

        In the source that stands in an inner scope, whose names are the whole function's here.
        """
        return frozenset(name for name in self.foreign if self.scopes.holds(name))

    def take(self, match: re.Match[str]) -> None:
        """Handle one item of the body."""
        kind = match.lastgroup
        assert kind is not None
        text, position = match[kind], match.start(kind)
        match kind:
            case "label":
                self.start_block(self.declare(text, position))
            case "marker":
                marker = parse_marker(text)
                if marker:
                    line = self.source.span(position).line
                    self.block.statements.append(MarkerNote(replace(marker, line=line)))
            case "brace":
                self.brace(text, position)
            case "loc":
                self.locate(text, position)
            case "pragma":
                self.block.statements.append(Directive(text))
            case "table":
                self.table(text, position)
            case "register" if match["type"] in TYPES:
                count = match["count"]
                number = None if count is None else int(count)
                self.declare_register(match["name"], match["type"], "", number, position)
            case "variable":
                self.declare_variables(position, position + len(text) - 1)
            case "plain" | "statement" | "register":
                instruction = self.statement(text[:-1], position)
                if kind == "plain" and instruction is not None:
                    learn(match, self.scopes.words, instruction)
            case "other":
                raise self.source.fail(
                    'this statement is not understood; is a ";" missing?', position
                )

    def locate(self, text: str, position: int) -> None:
        """A ``.loc``: what follows was made of that line."""
        found = _location(text)
        if found is None:
            raise self.source.fail("a .loc has a file, a line and a column", position)
        self.location, printed = found
        self.block.statements.append(Directive(printed))

    def brace(self, text: str, position: int) -> None:
        self.depth += 1 if text == "{" else -1
        if self.depth < 0:
            raise self.source.fail('this "}" has no "{" before it; remove it', position)
        if text == "{":
            self.scopes.open()
        else:
            self.scopes.close()

    def declare(self, name: str, position: int) -> str:
        unique = self.scopes.declare(name)
        if unique is None:
            raise self.source.fail(f"{short(name)} is declared twice; rename one", position)
        return unique

    def table(self, text: str, position: int) -> None:
        """A ``.branchtargets`` table, or the prototype or targets of indirect calls."""
        name, kind, rest = _TABLE.fullmatch(text).groups()  # type: ignore[union-attr]
        unique = self.declare(name, position)
        if kind != "branchtargets":
            self.block.statements.append(Directive(f"{unique}: .{kind} {' '.join(rest.split())};"))
            return
        labels = [word.strip() for word in rest.split(",")]
        if not all(re.fullmatch(r"[\w$%]+", label) for label in labels):
            raise self.source.fail("a .branchtargets lists labels", position)
        self.tables.append((position, unique, labels, self.scopes.words))

    def start_block(self, label: str = "") -> None:
        """Begin a block; without a label it gets one in the end, unless one follows at once."""
        last = self.block
        if not (last.label or last.statements):
            last.label, last.named = label, True
            return
        self.block = Block(label, [], bool(label))
        self.function.blocks.append(self.block)

    def statement(self, text: str, position: int) -> Instruction | None:
        """What the grammar makes of a statement; the instruction, if it is one."""
        try:
            tree, found = read("statement", text)
        except NoShape as error:
            at = position + min(max(error.position, 0), len(text))
            raise self.source.fail("this statement is not understood", at) from error
        if tree.data == "instruction":
            return self.instruction(tree, found, position)
        if tree.data == "registers":
            self.declare_registers(tree, found, position)
        else:
            self.declare_variables(position, position + len(text))
        return None

    def declare_registers(self, tree: ParseNode, found: list[str], position: int) -> None:
        words = [found[c].lstrip(".") for c in tree.children if isinstance(c, int)]
        lanes = words.pop(0) if words[0] in VECTORS else ""
        if len(words) != 1 or words[0] not in TYPES:
            told = short(" .".join([lanes, *words]).strip(" ."))
            raise self.source.fail(f".{told} is no type of register", position)
        for child in tree.children:
            if isinstance(child, int):
                continue
            name = found[child.children[0]]
            count = None
            if len(child.children) > 1:
                number = found[child.children[1].children[0]]
                count = parse_integer(number)
                if count is None:
                    raise self.source.fail(f"{short(number)} is no number", position)
            self.declare_register(name, words[0], lanes, count, position)

    def declare_register(
        self, name: str, type_name: str, lanes: str, count: int | None, position: int
    ) -> None:
        """Declare a register, or a range of so many."""
        if count is None:
            is_new = self.scopes.declare_register(name, type_name, lanes)
        else:
            is_new = self.scopes.declare_range(name, type_name, lanes, count)
        if not is_new:
            told = name if count is None else f"{name}<...>"
            raise self.source.fail(f"{short(told)} is declared twice; rename one", position)

    def declare_variables(self, begin: int, end: int) -> None:
        for variable in declarations(self.source, begin, end):
            name = self.declare(variable.name, begin)
            self.sizes[name] = element_bytes(variable)
            is_free = name == variable.name
            self.function.variables.append(variable if is_free else _renamed(variable, name))

    def instruction(self, tree: ParseNode, found: list[str], position: int) -> Instruction:
        children = list(tree.children)
        guard = None
        self.span = self.source.span(position)
        try:
            if isinstance(children[0], ParseNode) and children[0].data == "guard":
                tokens = children.pop(0).children
                guard = Guard(self.register(found[tokens[-1]]), negated=len(tokens) > 1)
            self.opcode = opcode = "".join(found[children[0]].split())
            meanings = Meanings(self.name, self.sum, self.element_bytes)
            build = OperandBuilder(found, meanings, loads=opcode.startswith(("ld.", "st.")))
            operands = tuple(build(child) for child in children[1:])
        except BadOperand as error:
            raise self.source.fail(str(error), position, error.kind) from error
        except NoConstant as error:
            raise self.source.fail(str(error), position) from error
        except NotRepresentable as error:
            raise self.source.fail(error.message, position, NotRepresentable) from error
        instruction = Instruction(opcode, operands, guard, self.span, self.location)
        self.check(instruction, position)
        self.append(instruction, position)
        return instruction

    def append(self, instruction: Instruction, position: int) -> None:
        """Add an instruction, and what moves the vectors that it passes; one that may transfer
        control ends the block."""
        decoded = decode(instruction.opcode)
        if decoded.name in ("call", "ret"):
            self.pass_vectors(instruction, position)
        else:
            self.block.statements.append(instruction)
        if decoded.is_terminator:
            target = instruction.target if decoded.is_branch else None
            if target is not None:
                self.pending.append((position, instruction, target, self.scopes.words))
            self.start_block()

    def pass_vectors(self, instruction: Instruction, position: int) -> None:
        """Add a call, or what ends one, with what moves the vectors that it passes."""
        before: list[Instruction] = []
        after: list[Instruction] = []
        try:
            if instruction.name == "call":
                before, after = self.passing.around(instruction)
            elif instruction.name == "ret":
                before = self.passing.left()
        except NotRepresentable as error:
            raise self.source.fail(error.message, position, NotRepresentable) from error
        self.block.statements += [*before, instruction, *after]

    def name(self, text: str) -> Operand:
        """What a name stands for: declared here, or a symbol of the module."""
        found = self.scopes.words.find(text)
        if found is not None:
            return found
        base, dot, selector = text.partition(".")
        if dot and (part := self.part(self.scopes.words.find(base), selector)):
            return part
        if dot:
            raise BadOperand(f"{short(text)} is not declared")
        if text.startswith("%") and not self.outside.knows(text):
            raise BadOperand(f"register {short(text)} is not declared; add a .reg for it")
        if not self.opcode.startswith(("bra", "brx")):
            self.foreign.add(text)
        return Symbol(text)

    @staticmethod
    def part(whole: Operand | None, selector: str) -> Operand | None:
        """The part of a register that a selector names."""
        if isinstance(whole, Vector):
            return part_of(whole, selector)
        if isinstance(whole, Register) and _SELECTOR.fullmatch(selector):
            return Selected(whole, selector)
        return None

    def sum(self, register: Register, number: int) -> Register:
        """A register that holds what another one does, plus a number."""
        bits = TYPES[register.type].bits
        if TYPES[register.type].kind not in "bus" or bits not in (16, 32, 64):
            raise BadOperand(f"{register} is no integer to add {number} to")
        result = self.function.registers.fresh(register.type)
        operands = (result, register, Immediate(str(number)))
        add = Instruction(f"add.s{bits}", operands, None, self.span, self.location)
        self.block.statements.append(add)
        return result

    def element_bytes(self, name: str) -> int:
        """The size of an element of a variable."""
        return self.sizes.get(name) or self.outside.element_bytes(name)

    def register(self, name: str) -> Register:
        found = self.name(name)
        if not isinstance(found, Register):
            raise BadOperand(f"register {short(name)} is not declared; add a .reg for it")
        return found

    def check(self, instruction: Instruction, position: int) -> None:
        """Complain where the opcode table and the operands do not go together."""
        row, opcode = instruction.row, instruction.opcode
        if row is None:
            return
        count = len(instruction.operands)
        if not row.accepts(count):
            form = f"{row.name} {row.form}".rstrip()
            message = f"{short(opcode)} has {count} operands; its form is: {form}"
            raise self.source.fail(message, position)
        if instruction.name == "call":
            return
        takes_names = instruction.name in TAKES_NAMES
        for operand, role in instruction.roles():
            if role == "label" and not isinstance(operand, Symbol):
                raise self.source.fail(f"{short(str(operand))} is no label", position)
            if isinstance(operand, Register):
                continue
            if role in ("def", "both"):
                self.demand(operand, (Register, Discard), position)
            elif role == "addr" and not isinstance(operand, _IN_BRACKETS):
                raise self.source.fail(f"{short(str(operand))} is no address: [...]", position)
            elif role == "use" and not (takes_names or isinstance(operand, _IN_BRACKETS)):
                self.demand(operand, (Register, Immediate, Special, Discard), position)

    def demand(self, operand: Operand, kinds: tuple[type, ...], position: int) -> None:
        """Complain about a name, or anything else that can be no operand of this role."""
        for leaf in leaves(operand):
            if not isinstance(leaf, kinds) and str(leaf) != "WARP_SZ":
                raise self.source.fail(
                    f"{short(str(leaf))} is no register; add a .reg for it", position
                )

    def finish(self) -> None:
        """Point branches at unique label names, now that all labels are known; end the function."""
        last = self.function.blocks[-1]
        if not (last.label or last.statements):
            self.function.blocks.pop()
        for number, block in enumerate(self.function.blocks):
            block.label = block.label or f"{self.prefix}block_{number}"
        labels = {block.label for block in self.function.blocks}
        for position, table, names, words in self.tables:
            found = tuple(words.label(name) for name in names)
            for name, label in zip(names, found, strict=True):
                if label not in labels:
                    raise self.source.fail(f"there is no label {short(name)}", position)
            self.function.targets[table] = found
        named = set[str]()
        for position, instruction, target, words in self.pending:
            name = words.label(target)
            known = self.function.targets if instruction.name == "brx" else labels
            if name not in known:
                raise self.source.fail(f"there is no label {short(target)}", position)
            named.add(name)
            if name != target:
                instruction.target = name
        if falls_off_the_end(self.function, named):
            closing = self.source.span(self.source.code.rindex("}"))
            self.function.implied_return = end = Instruction("ret", span=closing)
            self.function.blocks[-1].statements += [*self.passing.left(), end]


@functools.lru_cache(maxsize=4096)
def _renamed(variable: Variable, name: str) -> Variable:
    """A variable under another name, also in its declaration."""
    old = rf"(?<![\w$%]){re.escape(variable.name)}(?![\w$])"
    return replace(variable, name=name, text=re.sub(old, name, variable.text, count=1))


@functools.lru_cache(maxsize=4096)
def _location(text: str) -> tuple[tuple[int, int], str] | None:
    """The file and the line that a ``.loc`` tells, and how it is printed; lines come again."""
    words = text.split()
    if len(words) < 3 or max(map(len, words[1:3])) > _MOST_DIGITS:
        return None
    return (int(words[1]), int(words[2])), " ".join(words)
