"""Cutting a PTX file into functions and the text between them."""

from __future__ import annotations

import re

from ccc.errors import Span
from ccc.ir.nodes import FunctionText, Module, Variable
from ccc.parse.declarations import declaration
from ccc.parse.source import Source

# Every alternative begins with a fixed character, which makes the search several times as fast.
_INSIDE = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"[^"\n]*"|\{|\}', re.S)
_OUTSIDE = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|"[^"\n]*"|;|\{|\}|\.pragma\b|\.visible\b|\.weak\b|\.extern\b'
    r"|\.common\b|\.entry\b|\.func\b",
    re.S,
)
_NAME = re.compile(
    r"\.(?:entry|func)\b\s*"
    r"(?:\.\w+\s*(?:\((?:[^()]|\([^()]*\))*\)\s*)?)*"  # .attribute(.unified(0, 0))
    r"(?:\([^()]*\)\s*)?"
    r"([\w$%]+)"
)
_NO_DECLARATION = re.compile(
    r"\s+|\.(?:version|target|address_size|file|loc)\b[^\n]*|@@[^\n]*"
    r'|\.section\b\s*[^\s{]+\s*\{[^{}]*\}|\.pragma\b(?:"[^"]*"|[^;"])*;|\.alias\b[^;]*;'
    r"|(?:\.(?:visible|weak|extern|common)\s+)*\.(?:entry|func)\b[^;]*;|;"
)
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', re.M)
_DECLARATION = re.compile(r'(?:"[^"]*"|[^;"])*')


def parse_module(text: str, file: str = "<ptx>") -> Module:
    """Cut a PTX file into its functions and the text around them.

    Raises:
        CccError: braces do not match, or the file is no PTX.
    """
    source = Source(text, Span(file, 1, 1))
    if ".version" not in text:
        raise source.fail("this is no PTX: there is no .version directive", 0)
    pieces: list[str | FunctionText] = []
    begin = position = line = counted = 0
    start = head = -1  # where a function's linkage begins, and its ".entry" or ".func"
    in_pragma = False
    while match := _OUTSIDE.search(text, position):
        token, position = match[0], match.end()
        if token in (".entry", ".func"):
            head = match.start()
            start = head if start < 0 else start
        elif token in (".visible", ".weak", ".extern", ".common"):
            start = match.start() if start < 0 else start
        elif token == ".pragma":
            in_pragma = True
        elif token == ";":
            if not in_pragma:
                start = head = -1
            in_pragma = False
        elif token == "}":
            raise source.fail('this "}" has no "{" before it; remove it', match.start())
        elif token == "{":
            position = _closing_brace(source, match.start())
            if head >= 0:
                line += text.count("\n", counted, start)
                counted = start
                column = start - text.rfind("\n", 0, start)
                span = Span(file, line + 1, column)
                if start > begin:
                    pieces.append(text[begin:start])
                name = _function_name(Source(text[start : match.start()], span), head - start)
                kind = "entry" if text.startswith(".entry", head) else "func"
                pieces.append(FunctionText(name, kind, text[start:position], span))
                begin = position
            start = head = -1
    if begin < len(text):
        pieces.append(text[begin:])
    return Module(pieces, file)


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
        found.append(declaration(source, position, end))
        position = end + 1
    return found
