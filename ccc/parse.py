"""PTX text to IR.

A module is first cut into functions and the text between them; a function is parsed only when
somebody asks for its IR. PTX repeats itself, so each *shape* of statement (its text with the digits
replaced) goes through Lark once, and later statements of that shape fill their numbers in.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import Any

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput

from ccc.errors import CccError, Span
from ccc.ir.markers import parse_marker
from ccc.ir.nodes import (
    Address,
    Arguments,
    Block,
    Directive,
    Discard,
    Function,
    FunctionText,
    Guard,
    Immediate,
    Instruction,
    MarkerNote,
    Module,
    Negated,
    Operand,
    Pair,
    Register,
    RegisterFile,
    Special,
    Symbol,
    TupleAddress,
    Variable,
    Vector,
)
from ccc.ptx.types import SPECIAL_REGISTERS, STATE_SPACES, TYPES, parse_integer

_DIGITS = re.compile(r"\d+")
_PIECE = re.compile(r'//[^\n]*|/\*.*?\*/|"[^"\n]*"|[{};]', re.S)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_FUNCTION = re.compile(r"(?:\.(?:visible|weak|extern|common)\s+)*\.(entry|func)\b")
_STATEMENT = re.compile(
    r"""\s*(?: (?P<comment>//[^\n]*|/\*.*?\*/)
             | (?P<brace>[{}])
             | (?P<line>\.(?:loc|file|section)\b[^\n]*)
             | (?P<pragma>\.pragma\b[^;]*;)
             | (?P<label>[\w$%]+)\s*:(?!:)
             | (?P<statement>[^;{}"]+(?:\{[^{}]*\}[^;{}]*)*;)
             | (?P<end>$)
             | (?P<other>\S[^\n]*) )""",
    re.X | re.S,
)


@functools.cache
def _lark(start: str) -> Lark:
    grammar = resources.files("ccc.grammars").joinpath("ptx.lark").read_text()
    return Lark(grammar, parser="lalr", start=start, maybe_placeholders=False)


@dataclass(frozen=True, slots=True)
class _Shape:
    """A parsed statement with holes: each leaf of ``tree`` is an index into ``leaves``.

    A leaf is its literal text parts with a group of digits between each two.
    """

    tree: Tree[Any]
    leaves: list[tuple[tuple[str, ...], int]]

    def fill(self, numbers: list[str]) -> list[str]:
        """The leaves' texts in a statement with these groups of digits."""
        texts = []
        for parts, first in self.leaves:
            text = parts[0]
            for offset, part in enumerate(parts[1:]):
                text += numbers[first + offset] + part
            texts.append(text)
        return texts


_shapes: dict[tuple[str, str], _Shape] = {}


def _shape_of(start: str, text: str) -> _Shape:
    key = (start, _DIGITS.sub("0", text))
    shape = _shapes.get(key)
    if shape is None:
        shape = _shapes[key] = _parse_shape(start, text)
    return shape


def _parse_shape(start: str, text: str) -> _Shape:
    tree = _lark(start).parse(text)
    starts = [match.start() for match in _DIGITS.finditer(text)]
    leaves: list[tuple[tuple[str, ...], int]] = []

    def index(token: Token) -> Token:
        assert token.start_pos is not None
        leaves.append((tuple(_DIGITS.split(token)), bisect_right(starts, token.start_pos - 1)))
        return Token(token.type, str(len(leaves) - 1))

    def visit(node: Tree[Any]) -> Tree[Any]:
        children = [index(c) if isinstance(c, Token) else visit(c) for c in node.children]
        return Tree(node.data, children)

    return _Shape(visit(tree), leaves)


def _read(start: str, text: str) -> tuple[Tree[Any], list[str]]:
    """The tree of a statement, and its leaves' texts; a leaf token holds an index into them."""
    shape = _shape_of(start, text)
    return shape.tree, shape.fill(_DIGITS.findall(text))


def _index(leaf: Any) -> int:
    """Which of the statement's leaves a token in a shape's tree stands for."""
    return int(leaf)


def parse_module(text: str, file: str = "<ptx>") -> Module:
    """Cut a PTX file into its functions and the text around them.

    Raises:
        CccError: braces do not match, or the file is no PTX.
    """
    if ".version" not in text:
        raise CccError("this is no PTX: there is no .version directive", Span(file, 1))
    pieces: list[str | FunctionText] = []
    begin = open_at = depth = line = position = 0
    for match in _PIECE.finditer(text):
        token = match[0]
        if token == "{":
            depth += 1
            if depth == 1:
                open_at = match.start()
        elif token == "}":
            depth -= 1
            line += text.count("\n", position, match.start())
            position = match.start()
            if depth < 0:
                raise CccError('a "}" without its "{"', Span(file, line + 1))
            head = _function_start(text, begin, open_at) if depth == 0 else None
            if head is not None:
                kind, start = head
                span = Span(file, text.count("\n", 0, start) + 1, 1)
                if start > begin:
                    pieces.append(text[begin:start])
                name = _function_name(text[start:open_at], span)
                pieces.append(FunctionText(name, kind, text[start : match.end()], span))
                begin = match.end()
        elif token == ";" and depth == 0 and not pieces:
            continue
    if depth:
        opened = text.count("\n", 0, open_at) + 1
        raise CccError('the "{" here is never closed', Span(file, opened))
    if begin < len(text):
        pieces.append(text[begin:])
    return Module(pieces, file)


def _function_start(text: str, begin: int, end: int) -> tuple[str, int] | None:
    """Where the function whose body opens at ``end`` begins; None if that brace is no body."""
    clean = _COMMENT.sub(lambda m: " " * len(m[0]), text[begin:end])
    last = max(clean.rfind(";"), clean.rfind("}")) + 1
    match = _FUNCTION.search(clean, last)
    return (match[1], begin + match.start()) if match else None


def _function_name(header: str, span: Span) -> str:
    tree, leaves = _header(header, span)
    return leaves[int(next(c for c in tree.children if isinstance(c, Token)))]


def _header(header: str, span: Span) -> tuple[Tree[Any], list[str]]:
    clean = _COMMENT.sub(" ", header)
    try:
        return _read("header", clean)
    except UnexpectedInput as error:
        raise CccError("this function header is not understood", span, _line(header)) from error


def parse_function(piece: FunctionText) -> Function:
    """The IR of one function.

    Raises:
        CccError: a statement is not PTX, a register is not declared, or an opcode has the wrong
            number of operands; the error carries the position in the file.
    """
    open_at = piece.text.index("{", _parameters_end(piece.text))
    tree, leaves = _header(piece.text[:open_at], piece.span)
    function = Function(piece.name, piece.kind, piece.text[:open_at], [], span=piece.span)
    _read_header(function, tree, leaves)
    return _BodyParser(function, piece, open_at + 1).run()


def _parameters_end(text: str) -> int:
    """Where to look for the body's brace: a header holds none, but a comment in it may."""
    match = re.compile(r"(?://[^\n]*|/\*.*?\*/|[^{/])*", re.S).match(text)
    return match.end() if match else 0


def _read_header(function: Function, tree: Tree[Any], leaves: list[str]) -> None:
    named = False
    for child in tree.children:
        if isinstance(child, Token):
            named = True
        elif child.data == "parameters":
            found = [_variable(part, leaves, default_space="param") for part in child.children]
            (function.parameters if named else function.results).extend(found)
        elif child.data == "limit":
            word, *values = (leaves[_index(token)] for token in child.children)
            numbers = [parse_integer(value) for value in values]
            function.limits[word.lstrip(".")] = tuple(n for n in numbers if n is not None)


def _variable(tree: Tree[Any], leaves: list[str], default_space: str = "global") -> Variable:
    """A declaration such as ``.shared .align 4 .b8 name[512]``."""
    qualifiers: list[str] = []
    alignment = None
    name, space, type_name = "", default_space, "b8"
    lanes, count, sized = 1, 1, True
    initializer = None
    for child in tree.children:
        if isinstance(child, Token):
            name = leaves[_index(child)]
        elif child.data == "qualifier":
            word = leaves[_index(child.children[0])].lstrip(".")
            value = leaves[_index(child.children[1])] if len(child.children) > 1 else None
            qualifiers.append(word)
            if word == "align" and value:
                alignment = parse_integer(value)
            elif word in STATE_SPACES and "ptr" not in qualifiers:
                space = word
            elif word in TYPES or word in ("texref", "surfref", "samplerref"):
                type_name = word
            elif word in ("v2", "v4"):
                lanes = int(word[1:])
        elif child.data == "dimension":
            size = parse_integer(leaves[_index(child.children[0])]) if child.children else None
            sized = sized and size is not None
            count *= size or 0
        else:
            initializer = _flat(child, leaves)
    size_of = TYPES[type_name].bytes if type_name in TYPES else 8
    return Variable(
        name, space, type_name, size_of * lanes * count if sized else None,
        alignment or size_of * lanes, "", initializer, tuple(qualifiers),
    )  # fmt: skip


def _flat(tree: Tree[Any] | Token, leaves: list[str]) -> str:
    """An initializer as one comma-separated list of its values."""
    if isinstance(tree, Token):
        return leaves[_index(tree)]
    if tree.data == "value":
        return " ".join(_flat(child, leaves) for child in tree.children)
    return ", ".join(_flat(child, leaves) for child in tree.children)


def parse_variables(module: Module) -> list[Variable]:
    """The module-level variables, in order.

    Raises:
        CccError: a declaration is not understood.
    """
    found = []
    for piece in module.pieces:
        if isinstance(piece, str):
            clean = _COMMENT.sub(" ", piece)
            clean = re.sub(r"\.section\s+\S+\s*\{.*?\n\s*\}", "", clean, flags=re.S)
            clean = re.sub(
                r"^\s*\.(version|target|address_size|file|loc)\b[^\n]*", "", clean, flags=re.M
            )
            for declaration in clean.split(";"):
                text = declaration.strip()
                if not text or _FUNCTION.match(text) or text.startswith(".alias"):
                    continue
                found.append(_declaration(text, Span(module.file)))
    return found


def _declaration(text: str, span: Span) -> Variable:
    try:
        tree, leaves = _read("variable", text)
    except UnexpectedInput as error:
        raise CccError("this declaration is not understood", span, _line(text)) from error
    variable = _variable(tree, leaves)
    return Variable(**{**_fields(variable), "text": text})


def _fields(variable: Variable) -> dict[str, Any]:
    return {name: getattr(variable, name) for name in Variable.__slots__}


def _line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "")


class _BodyParser:
    """Reads a function's body: statements into blocks, nested scopes into unique names."""

    def __init__(self, function: Function, piece: FunctionText, start: int):
        self.function = function
        self.text = piece.text
        self.file = piece.span.file
        self.position = start
        self.newlines = [match.start() for match in re.finditer("\n", piece.text)]
        self.first_line = piece.span.line
        self.scopes: list[dict[str, str]] = []
        self.depth = 0
        self.taken: set[str] = set()
        self.location: tuple[int, int] | None = None
        self.pending: list[tuple[int, Instruction, dict[str, str]]] = []
        self.block = Block("$ccc_entry", named=False)
        function.blocks.append(self.block)

    def span(self, position: int) -> Span:
        """Line and column of a place in the function's text."""
        row = bisect_right(self.newlines, position - 1)
        column = position - (self.newlines[row - 1] + 1 if row else 0) + 1
        return Span(self.file, self.first_line + row, column)

    def fail(self, message: str, position: int) -> CccError:
        """An error at a place in the function's text, with its line."""
        begin = self.text.rfind("\n", 0, position) + 1
        end = self.text.find("\n", position)
        line = self.text[begin : end if end >= 0 else None]
        return CccError(message, self.span(position), line)

    def run(self) -> Function:
        """Read up to the body's closing brace."""
        self.scopes.append({})
        end = len(self.text) - 1
        while self.position < end:
            match = _STATEMENT.match(self.text, self.position, end)
            assert match is not None
            self.position = match.end()
            kind = match.lastgroup
            assert kind is not None
            self.take(kind, match[kind], match.start(kind))
        self.resolve_labels()
        return self.function

    def take(self, kind: str, text: str, position: int) -> None:
        """Handle one item of the body."""
        match kind:
            case "comment":
                marker = parse_marker(text)
                if marker:
                    self.block.statements.append(MarkerNote(marker))
            case "brace" if text == "{":
                self.scopes.append({})
            case "brace":
                self.scopes.pop()
            case "line" | "pragma":
                self.directive(text)
            case "label":
                self.label(text, position)
            case "statement":
                self.statement(_COMMENT.sub(" ", text[:-1]).strip(), position)
            case "other":
                raise self.fail("this statement is not understood", position)

    def directive(self, text: str) -> None:
        words = text.split()
        if words[0] == ".loc":
            self.location = (int(words[1]), int(words[2]))
        self.block.statements.append(Directive(text.strip()))

    def label(self, name: str, position: int) -> None:
        """Begin a block, or read the ``.branchtargets`` table or call prototype of this name."""
        match = _STATEMENT.match(self.text, self.position)
        following = match["statement"] if match else None
        if match and following and following.startswith((".branchtargets", ".callprototype")):
            self.position = match.end()
            if following.startswith(".callprototype"):
                self.block.statements.append(Directive(f"{name}: {following}"))
                return
            tree, leaves = _read("statement", _COMMENT.sub(" ", following[:-1]))
            labels = tuple(leaves[_index(token)] for token in tree.children)
            self.function.targets[name] = labels
            return
        unique = self.unique(name)
        self.scopes[-1][name] = unique
        self.start_block(unique, named=True)

    def start_block(self, label: str, named: bool) -> None:
        if not self.block.statements and not self.block.named and len(self.function.blocks) > 1:
            self.function.blocks.pop()
        self.block = Block(label, named=named)
        self.function.blocks.append(self.block)

    def unique(self, name: str) -> str:
        """``name``, changed if an earlier scope already used it."""
        candidate, number = name, 1
        while candidate in self.taken:
            candidate, number = f"{name}_s{number}", number + 1
        self.taken.add(candidate)
        return candidate

    def statement(self, text: str, position: int) -> None:
        try:
            tree, leaves = _read("statement", text)
        except UnexpectedInput as error:
            raise self.fail("this statement is not understood", position) from error
        if tree.data == "registers":
            self.declare_registers(tree, leaves)
        elif tree.data == "instruction":
            self.instruction(tree, leaves, position)
        else:
            self.declare_variable(tree.children[0], leaves, text)

    def declare_registers(self, tree: Tree[Any], leaves: list[str]) -> None:
        words = [leaves[_index(c)].lstrip(".") for c in tree.children if isinstance(c, Token)]
        type_name = words[-1]
        for child in tree.children:
            if isinstance(child, Token):
                continue
            name = leaves[_index(child.children[0])]
            count = int(leaves[_index(child.children[1])]) if len(child.children) > 1 else None
            unique = self.unique(name) if count is None else self.unique_range(name)
            self.scopes[-1][name if count is None else f"{name}<>"] = unique
            self.function.registers.declare(unique, type_name, count)

    def unique_range(self, name: str) -> str:
        """``name`` as the prefix of a range, changed if an earlier scope already used it."""
        candidate, number = name, 1
        while f"{candidate}<>" in self.taken:
            candidate, number = f"{name}s{number}_", number + 1
        self.taken.add(f"{candidate}<>")
        return candidate

    def declare_variable(self, tree: Tree[Any], leaves: list[str], text: str) -> None:
        found = _variable(tree, leaves)
        name = self.unique(found.name)
        self.scopes[-1][found.name] = name
        if name != found.name:
            text = re.sub(rf"(?<![\w$%]){re.escape(found.name)}(?![\w$])", name, text, count=1)
        fields = {**_fields(found), "name": name, "text": " ".join(text.split())}
        self.function.variables.append(Variable(**fields))

    def instruction(self, tree: Tree[Any], leaves: list[str], position: int) -> None:
        children = list(tree.children)
        guard = None
        if isinstance(children[0], Tree) and children[0].data == "guard":
            tokens = children.pop(0).children
            register = self.register(leaves[_index(tokens[-1])], position)
            guard = Guard(register, negated=len(tokens) > 1)
        opcode = leaves[_index(children[0])]
        build = _OperandBuilder(leaves, self.lookup)
        operands = tuple(build(child) for child in children[1:])
        instruction = Instruction(opcode, operands, guard, self.span(position), self.location)
        row = instruction.row
        if row is not None and not row.accepts(len(operands)):
            form = f"{row.name} {row.form}"
            raise self.fail(f"{opcode} has {len(operands)} operands; its form is: {form}", position)
        self.block.statements.append(instruction)
        if instruction.is_terminator:
            if instruction.name in ("bra", "brx"):
                self.pending.append((position, instruction, self.scope_now()))
            self.start_block(self.function_label(), named=False)

    def function_label(self) -> str:
        return self.unique(f"$ccc_block_{len(self.function.blocks)}")

    def scope_now(self) -> dict[str, str]:
        return self.scopes[-1]

    def lookup(self, name: str) -> Register | str:
        """The register of that name in the innermost scope, or the unique name of another thing."""
        for scope in reversed(self.scopes):
            if name in scope:
                unique = scope[name]
                return self.function.registers.find(unique) or unique
            prefix = name.rstrip("0123456789")
            if prefix != name and f"{prefix}<>" in scope:
                found = self.function.registers.find(scope[f"{prefix}<>"] + name[len(prefix) :])
                if found:
                    return found
        return name

    def register(self, name: str, position: int) -> Register:
        found = self.lookup(name)
        if not isinstance(found, Register):
            raise self.fail(f"register {name} is not declared", position)
        return found

    def resolve_labels(self) -> None:
        """Point branches at unique label names, now that all labels are known; drop empty tails."""
        last = self.function.blocks[-1]
        if not last.statements and not last.named and len(self.function.blocks) > 1:
            self.function.blocks.pop()
        labels = {block.label for block in self.function.blocks} | set(self.function.targets)
        for position, instruction, scope in self.pending:
            target = instruction.operands[-1]
            if not isinstance(target, Symbol):
                raise self.fail("a branch target is no label", position)
            name = scope.get(target.name, target.name)
            if name not in labels:
                raise self.fail(f"there is no label {target.name}", position)
            instruction.operands = (*instruction.operands[:-1], Symbol(name))


class _OperandBuilder:
    """Makes operands from the tree of one statement."""

    def __init__(self, leaves: list[str], lookup: Callable[[str], Register | str]):
        self.leaves = leaves
        self.lookup = lookup

    def __call__(self, tree: Tree[Any]) -> Operand:
        children = tree.children
        match tree.data:
            case "name":
                return self.name(self.leaves[_index(children[0])])
            case "literal":
                return Immediate(self.leaves[_index(children[0])].replace(" ", ""))
            case "offset_name":
                found = self.name(self.leaves[_index(children[0])])
                offset = parse_integer(self.leaves[_index(children[1])].replace(" ", "")) or 0
                return self.with_offset(found, offset)
            case "address":
                inner = self(children[0])
                if isinstance(inner, Address):
                    return inner
                if isinstance(inner, Symbol):
                    return Address(Symbol(inner.name), inner.offset)
                assert isinstance(inner, (Register, Immediate))
                return Address(inner)
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

    def name(self, text: str) -> Operand:
        if text == "_":
            return Discard()
        if text in SPECIAL_REGISTERS:
            return Special(text)
        found = self.lookup(text)
        return found if isinstance(found, Register) else Symbol(found)

    @staticmethod
    def with_offset(found: Operand, offset: int) -> Operand:
        if isinstance(found, Register):
            return Address(found, offset)
        assert isinstance(found, Symbol)
        return Symbol(found.name, offset)


__all__ = ["RegisterFile", "parse_function", "parse_module", "parse_variables"]
