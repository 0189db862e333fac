"""Function bodies: statements into blocks, nested scopes into unique names."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from ccc.ir.edit import falls_off_the_end
from ccc.ir.markers import parse_marker
from ccc.ir.names import Names
from ccc.ir.nodes import Block, Directive, Function, FunctionText, Guard, Instruction, MarkerNote
from ccc.ir.operands import (
    Address,
    Discard,
    Immediate,
    Operand,
    Register,
    Special,
    Symbol,
    TupleAddress,
    leaves,
)
from ccc.parse.declarations import declaration, read_header
from ccc.parse.operands import BadOperand, OperandBuilder
from ccc.parse.scopes import Scopes
from ccc.parse.shapes import index, read
from ccc.parse.source import NotRepresentable, Source
from ccc.ptx.types import TYPES, parse_integer

_STATEMENT = re.compile(
    r"""\s*(?: (?P<marker>//[^\n]*)
             | (?P<brace>[{}])
             | (?P<loc>\.loc(?:\s+\d+)+
                       (?:\s*,\s*function_name\s+[^\s,]+(?:\s*\+\s*\d+)?
                          \s*,\s*inlined_at(?:\s+\d+)+)?)
             | (?P<pragma>\.pragma\b(?:"[^"]*"|[^;"])*;)
             | (?P<table>[\w$%]+\s*:\s*\.(?:branchtargets|callprototype|calltargets)\b[^;]*;)
             | (?P<label>[\w$%]+)\s*:(?!:)
             | (?P<statement>[^;{}"]+(?:\{[^{}]*\}[^;{}]*)*;)
             | (?P<end>$)
             | (?P<other>\S) )""",
    re.X | re.S,
)
_TABLE = re.compile(r"([\w$%]+)\s*:\s*\.(\w+)(.*);", re.S)
_ADDRESSES = frozenset(
    ("mov", "cvta", "isspacep", "call", "bra", "brx", "istypep", "mapa", "getctarank")
)
"""Instructions that take the address of a thing by its bare name."""
_IN_BRACKETS = (Address, TupleAddress)


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
    header = piece.text[:open_at]
    names = names or Names(piece.text)
    function = Function(piece.name, piece.kind, header, [], span=piece.span, names=names)
    function.registers.prefix = names.free("%ccc", "_")
    read_header(function, Source(header, piece.span))
    return _BodyParser(function, source, open_at + 1).run()


class _BodyParser:
    def __init__(self, function: Function, source: Source, start: int):
        self.function = function
        self.source = source
        self.position = start
        self.depth = 0
        self.scopes = Scopes(function.registers, source.text)
        for parameter in (*function.parameters, *function.results):
            self.scopes.declare(parameter.name)
        self.scopes.open()
        self.location: tuple[int, int] | None = None
        self.pending: list[tuple[int, Instruction, str, tuple[dict[str, str], ...]]] = []
        self.tables: list[tuple[int, str, list[str], tuple[dict[str, str], ...]]] = []
        self.prefix = function.names.free("$ccc", "_")
        self.block = Block(self.scopes.fresh(f"{self.prefix}entry"), named=False)
        function.blocks.append(self.block)

    def run(self) -> Function:
        """Read up to the body's closing brace."""
        code = self.source.code
        end = code.rindex("}")
        while self.position < end:
            match = _STATEMENT.match(code, self.position, end)
            assert match is not None
            self.position = match.end()
            kind = match.lastgroup
            assert kind is not None
            self.take(kind, match[kind], match.start(kind))
        if self.depth:
            raise self.source.fail('a "{" in this function is never closed', end)
        self.finish()
        return self.function

    def take(self, kind: str, text: str, position: int) -> None:
        """Handle one item of the body."""
        match kind:
            case "marker":
                marker = parse_marker(text)
                if marker:
                    self.block.statements.append(MarkerNote(marker))
            case "brace":
                self.brace(text, position)
            case "loc":
                words = text.split()
                if len(words) < 3:
                    raise self.source.fail("a .loc has a file, a line and a column", position)
                self.location = (int(words[1]), int(words[2]))
                self.block.statements.append(Directive(" ".join(words)))
            case "pragma":
                self.block.statements.append(Directive(text))
            case "table":
                self.table(text, position)
            case "label":
                self.start_block(self.declare(text, position), named=True)
            case "statement":
                self.statement(text[:-1], position)
            case "other":
                raise self.source.fail(
                    'this statement is not understood; is a ";" missing?', position
                )

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
            raise self.source.fail(f"{name} is declared twice; rename one", position)
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
        self.tables.append((position, unique, labels, self.scopes.label_view()))

    def start_block(self, label: str, named: bool) -> None:
        if not self.block.statements and not self.block.named and len(self.function.blocks) > 1:
            self.function.blocks.pop()
        self.block = Block(label, named=named)
        self.function.blocks.append(self.block)

    def statement(self, text: str, position: int) -> None:
        try:
            tree, found = read("statement", text)
        except UnexpectedInput as error:
            at = position + min(max(error.pos_in_stream or 0, 0), len(text))
            raise self.source.fail("this statement is not understood", at) from error
        if tree.data == "instruction":
            self.instruction(tree, found, position)
        elif tree.data == "registers":
            self.declare_registers(tree, found, position)
        else:
            self.declare_variable(position, position + len(text))

    def declare_registers(self, tree: Tree[Any], found: list[str], position: int) -> None:
        words = [found[index(c)].lstrip(".") for c in tree.children if isinstance(c, Token)]
        if len(words) > 1:
            raise self.source.fail(
                f"registers that are vectors (.{words[0]}) are not supported; declare scalars",
                position, NotRepresentable,
            )  # fmt: skip
        if words[0] not in TYPES:
            raise self.source.fail(f".{words[0]} is no type of register", position)
        for child in tree.children:
            if isinstance(child, Token):
                continue
            name = found[index(child.children[0])]
            if len(child.children) == 1:
                self.function.registers.declare(self.declare(name, position), words[0])
                continue
            count = parse_integer(found[index(child.children[1])])
            unique = self.scopes.declare_range(name)
            if unique is None or count is None:
                raise self.source.fail(f"{name}<...> is declared twice; rename one", position)
            self.function.registers.declare(unique, words[0], count)

    def declare_variable(self, begin: int, end: int) -> None:
        variable = declaration(self.source, begin, end)
        name = self.declare(variable.name, begin)
        text = variable.text
        if name != variable.name:
            text = re.sub(rf"(?<![\w$%]){re.escape(variable.name)}(?![\w$])", name, text, count=1)
        self.function.variables.append(replace(variable, name=name, text=text))

    def instruction(self, tree: Tree[Any], found: list[str], position: int) -> None:
        children = list(tree.children)
        build = OperandBuilder(found, self.name)
        guard = None
        span = self.source.span(position)
        try:
            if isinstance(children[0], Tree) and children[0].data == "guard":
                tokens = children.pop(0).children
                guard = Guard(self.register(found[index(tokens[-1])]), negated=len(tokens) > 1)
            operands = tuple(build(child) for child in children[1:])
        except BadOperand as error:
            raise self.source.fail(str(error), position, error.kind) from error
        opcode = "".join(found[index(children[0])].split())
        instruction = Instruction(opcode, operands, guard, span, self.location)
        self.check(instruction, position)
        self.block.statements.append(instruction)
        if instruction.is_terminator:
            if instruction.target is not None:
                view = self.scopes.label_view()
                self.pending.append((position, instruction, instruction.target, view))
            number = len(self.function.blocks)
            self.start_block(self.scopes.fresh(f"{self.prefix}block_{number}"), named=False)

    def name(self, text: str) -> Operand:
        """What a name stands for: declared here, or a symbol of the module."""
        found = self.scopes.find(text)
        if found is not None:
            return found
        base, dot, selector = text.partition(".")
        if dot and isinstance(self.scopes.find(base), Register):
            raise BadOperand(
                f"parts of registers (.{selector}) are not supported", NotRepresentable
            )
        if text.startswith("%"):
            raise BadOperand(f"register {text} is not declared; add a .reg for it")
        return Symbol(text)

    def register(self, name: str) -> Register:
        found = self.name(name)
        if not isinstance(found, Register):
            raise BadOperand(f"register {name} is not declared; add a .reg for it")
        return found

    def check(self, instruction: Instruction, position: int) -> None:
        """Complain where the opcode table and the operands do not go together."""
        row, opcode = instruction.row, instruction.opcode
        if row is None:
            return
        count = len(instruction.operands)
        if not row.accepts(count):
            form = f"{row.name} {row.form}".rstrip()
            message = f"{opcode} has {count} operands; its form is: {form}"
            raise self.source.fail(message, position)
        if instruction.name == "call":
            return
        takes_names = instruction.name in _ADDRESSES
        for operand, role in instruction.roles():
            if role == "label" and not isinstance(operand, Symbol):
                raise self.source.fail(f"{operand} is no label", position)
            if isinstance(operand, Register):
                continue
            if role in ("def", "both"):
                self.demand(operand, (Register, Discard), position)
            elif role == "use" and not (takes_names or isinstance(operand, _IN_BRACKETS)):
                self.demand(operand, (Register, Immediate, Special, Discard), position)

    def demand(self, operand: Operand, kinds: tuple[type, ...], position: int) -> None:
        """Complain about a name, or anything else that can be no operand of this role."""
        for leaf in leaves(operand):
            if not isinstance(leaf, kinds) and str(leaf) != "WARP_SZ":
                raise self.source.fail(f"{leaf} is no register; add a .reg for it", position)

    def finish(self) -> None:
        """Point branches at unique label names, now that all labels are known; end the function."""
        last = self.function.blocks[-1]
        if not last.statements and not last.named and len(self.function.blocks) > 1:
            self.function.blocks.pop()
        labels = {block.label for block in self.function.blocks}
        for position, table, names, view in self.tables:
            found = tuple(self.scopes.label(name, view) for name in names)
            for name, label in zip(names, found, strict=True):
                if label not in labels:
                    raise self.source.fail(f"there is no label {name}", position)
            self.function.targets[table] = found
        for position, instruction, target, view in self.pending:
            name = self.scopes.label(target, view)
            known = self.function.targets if instruction.name == "brx" else labels
            if name not in known:
                raise self.source.fail(f"there is no label {target}", position)
            instruction.target = name
        if falls_off_the_end(self.function):
            closing = self.source.span(self.source.code.rindex("}"))
            self.function.blocks[-1].statements.append(Instruction("ret", span=closing))
