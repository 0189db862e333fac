"""Cutting a PTX file into functions and the text between them."""

from __future__ import annotations

import re

from ccc.errors import Span
from ccc.ir.nodes import FunctionText, Module, Variable
from ccc.parse.declarations import declarations
from ccc.parse.source import Source

_QUOTED = r'"[^"]*"'
_LINKAGE = ("visible", "weak", "extern", "common")
_DATA = ("global", "const", "shared", "local", "tex", "file", "section", "alias")
_BEGINS = frozenset(f".{word}" for word in (*_LINKAGE, *_DATA, "entry", "func"))
"""Directives that end the header of a function before them, which then is a declaration."""

# Every alternative begins with a fixed character, which makes the search several times as fast.
_INSIDE = re.compile(rf"//[^\n]*|/\*.*?(?:\*/|\Z)|{_QUOTED}|\{{|\}}|#[^\n]*", re.S)
_OUTSIDE = re.compile(
    rf"//[^\n]*|/\*.*?(?:\*/|\Z)|{_QUOTED}|;|\{{|\}}|\(|\)|#[^\n]*|\.pragma\b"
    rf"|\.(?:{'|'.join((*_LINKAGE, *_DATA, 'entry', 'func'))})\b",
    re.S,
)
_NAME = re.compile(
    r"\.(?:entry|func)\b\s*"
    r"(?:\.\w+\s*(?:\((?:[^()]|\([^()]*\))*\)\s*)?)*"  # .attribute(.unified(0, 0))
    r"(?:\([^()]*\)\s*)?"
    r"([\w$%]+)"
)
_PARENTHESES = r"\((?:[^()]|\([^()]*\))*\)"
_PROTOTYPE = (
    rf"(?:\.(?:{'|'.join(_LINKAGE)})\s+)*\.(?:entry|func)\b"
    rf"(?:{_PARENTHESES}|{_QUOTED}|(?!{'|'.join(map(re.escape, _BEGINS))})[^();\"])*;?"
)
"""A function that is declared only; the semicolon may be missing."""
_NO_DECLARATION = re.compile(
    rf"\s+|\x1a|\.(?:version|target|address_size|loc)\b[^\n]*|\.file\b(?:[^\"\n]|{_QUOTED})*"
    rf"|@@[^\n]*|\.section\b\s*[^\s{{]+\s*\{{[^{{}}]*\}}|\.pragma\b(?:{_QUOTED}|[^;\"])*;"
    rf"|\.alias\b[^;]*;|{_PROTOTYPE}|;"
)
_FILE = re.compile(r'^\s*\.file\s+(\d{1,18})\s+"([^"]*)"', re.M)
_DECLARATION = re.compile(r'(?:"[^"]*"|[^;"]+)*')


def parse_module(text: str, file: str = "<ptx>") -> Module:
    """Cut a PTX file into its functions and the text around them.

    Raises:
        CccError: braces do not match, or the file is no PTX.
    """
    source = Source(text, Span(file, 1, 1))
    if ".version" not in text:
        raise source.fail("this is no PTX: there is no .version directive", 0)
    return _Cutting(source, Module([], file)).run()


class _Cutting:
    """Finds the functions that have bodies.

    ``start`` is where the linkage begins of what is read, and ``head`` its ``.entry`` or ``.func``;
    -1 for none.
    """

    def __init__(self, source: Source, module: Module):
        self.source = source
        self.module = module
        self.begin = self.line = self.counted = self.depth = self.opened = 0
        self.start = self.head = -1
        self.in_pragma = False

    def run(self) -> Module:
        text, position = self.source.text, 0
        while match := _OUTSIDE.search(text, position):
            token, position = match[0], match.end()
            if token == "{":
                position = _closing_brace(self.source, match.start())
                if self.head >= 0:
                    self.cut(match.start(), position)
                self.start = self.head = -1
            elif token == "}":
                raise self.source.fail('this "}" has no "{" before it; remove it', match.start())
            else:
                self.take(token, match.start())
        if self.head >= 0 and self.depth > 0:
            raise self.source.fail('this "(" is never closed; is the file complete?', self.opened)
        if self.head >= 0 and text.startswith(".entry", self.head):
            raise self.source.fail("this kernel has no body; is the file complete?", self.head)
        if self.begin < len(text):
            self.module.pieces.append(text[self.begin :])
        return self.module

    def take(self, token: str, at: int) -> None:
        """What stands outside of braces."""
        if self.head >= 0 and not self.depth and token in _BEGINS:
            self.start = self.head = -1  # what came before was declared only
        if token in (".entry", ".func"):
            self.head, self.depth = at, 0
            self.start = at if self.start < 0 else self.start
        elif token.startswith(".") and token[1:] in _LINKAGE:
            self.start = at if self.start < 0 else self.start
        elif token == ".pragma":
            self.in_pragma = True
        elif token in "()":
            self.opened = at if not self.depth else self.opened
            self.depth += 1 if token == "(" else -1
        elif token == ";":
            if not self.in_pragma:
                self.start = self.head = -1
            self.in_pragma = False

    def cut(self, opened: int, end: int) -> None:
        """A function that has a body."""
        text, start, head = self.source.text, self.start, self.head
        self.line += text.count("\n", self.counted, start)
        self.counted = start
        span = Span(self.module.file, self.line + 1, start - text.rfind("\n", 0, start))
        if start > self.begin:
            self.module.pieces.append(text[self.begin : start])
        name = _function_name(Source(text[start:opened], span), head - start)
        kind = "entry" if text.startswith(".entry", head) else "func"
        self.module.pieces.append(FunctionText(name, kind, text[start:end], span, self.module))
        self.begin = end


def _closing_brace(source: Source, opened: int) -> int:
    """Behind the brace that closes the one at ``opened``."""
    depth = 0
    for match in _INSIDE.finditer(source.text, opened):
        token = match[0]
        if token == "{":
            depth += 1
        elif token == "}":
            depth -= 1
            if depth == 0:
                return match.end()
    raise source.fail('this "{" is never closed; is the file complete?', opened)


def _function_name(header: Source, head: int) -> str:
    match = _NAME.match(header.code, head)
    if match is None:
        raise header.fail("this function header is not understood: it gives no name", head)
    return match[1]


def parse_files(text: str) -> dict[int, str]:
    """The names of the source files that ``.loc`` directives number."""
    return {int(number): name for number, name in _FILE.findall(text)}


def parse_variables(module: Module) -> list[Variable]:
    """The module-level variables, in order.

    Raises:
        CccError: a declaration is not understood.
    """
    found = []
    line, column = 1, 1
    for piece in module.pieces:
        text = piece if isinstance(piece, str) else piece.text
        if isinstance(piece, str):
            found += _variables(Source(text, Span(module.file, line, column)))
        line += text.count("\n")
        column = len(text) - text.rfind("\n") + (0 if "\n" in text else column - 1)
    return found


def _variables(source: Source) -> list[Variable]:
    found: list[Variable] = []
    position = 0
    code = source.code
    while position < len(code):
        if skipped := _NO_DECLARATION.match(code, position):
            position = skipped.end()
            continue
        match = _DECLARATION.match(code, position)
        assert match is not None
        end = match.end()
        if code[end : end + 1] != ";":
            raise source.fail('this declaration is not understood; is a ";" missing?', position)
        found += declarations(source, position, end)
        position = end + 1
    return found
