"""The annotations of a text: where they stand, what they say, and whether that makes sense."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ccc.errors import CccError, Span
from ccc.frontend.linemap import LineMap, column_of
from ccc.frontend.misspelt import message, misspelt
from ccc.frontend.placement import PLACES, Placed, Placement
from ccc.frontend.readable import parse_readable
from ccc.frontend.stripping import GAP, REST, pragmas, without_comments
from ccc.frontend.syntax import LOOPS, Home, body_of, home_of, parse_cuda, statement_at
from ccc.frontend.variables import Suspects

if TYPE_CHECKING:
    from ccc.frontend.clause_names import WrongName
    from ccc.frontend.syntax import Node

_SPACES = bytes(byte if byte in b"\r\n" else ord(" ") for byte in range(256))
"""Of each byte what stands for it where nothing is to be read, so that lines stay."""
_UNROLL = re.compile(rb"^[ \t]*#[ \t]*pragma[ \t]+(unroll\b" + REST + rb")$", re.MULTILINE)
_LEAST_TABLE = 500
_NUMBERS = re.compile(rb"[\s{},.+\dxXa-fA-FuUlL-]{%d,}" % _LEAST_TABLE)
"""What may hold tables that nobody need understand."""
_BRACE = re.compile(rb"[{}]")
_ANY_PRAGMA = re.compile(rb"^[ \t]*#" + GAP + rb"*pragma\b" + REST + rb"$", re.MULTILINE)
_SPACE = re.compile(rb"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STATEMENT_WORD = re.compile(rb"(?:\w+\s*:\s*|\[\[[^\]]*\]\]\s*)*(?:for|while|do|if|switch)\b")
_OF_LAMBDA = re.compile(rb"(?<=\])[ \t]*(?:__attribute__\(\(\w+\)\)[ \t]*)+(?=[({])")
"""What __device__ becomes before a lambda's parameters, where the parser expects none."""
_OF_KERNEL = re.compile(rb"\b__(?:cluster_dims|block_size|maxnreg)__\s*\((?:[^()]|\([^()]*\))*\)")
"""What the parser does not know in a kernel's head, between its other words."""
CONTINUED = "; remove the backslash at the end of the line, which makes the next one a part of this"
_HEAD = 200
"""Characters of a statement that are enough to know it again."""
_REPARSED = 1 << 18  # bytes read again when the file around a statement cannot be understood


@dataclass(frozen=True, slots=True)
class Annotation:
    """One pragma that was turned into markers.

    ``loop`` is the ``id`` of the innermost ``ccc for`` around a ``ccc if``; ``home`` is the
    function that it stands in or before; ``statement`` is what it stands before, up to the body,
    in one line.
    """

    id: int
    directive: str
    span: Span
    clauses: dict[str, str]
    loop: int | None = None
    home: Home | None = None
    statement: str = ""


class Annotations:
    """The annotations of one text: ``read`` finds them."""

    def __init__(self, code: bytes, filename: str, macros: Mapping[str, str] | None):
        self.code = code
        self.lines = LineMap(code, filename)
        self.pragmas = list(pragmas(code))
        self._ranges = self.lines.user_ranges([match.start(2) for match in self.pragmas])
        self.blank = _blanked(code, self._ranges)
        self.root, self._parsed = parse_readable(self.blank, self._ranges)
        self._unrolls = [m for r in self._ranges for m in _UNROLL.finditer(code, *r)]
        self.placement = Placement(self.root, code, self.blank, macros, self._statement_line)
        self.errors: list[CccError] = []
        self.warnings: list[CccError] = []
        self._originals: dict[str, list[str]] = {}
        self._spans: dict[int, Span] = {}
        self.suspects = Suspects(self.placement, self.lines, self.span)

    def read(self) -> None:
        """Read every pragma and find its statement; fills ``errors`` and ``warnings``."""
        for number, match in enumerate(self.pragmas, 1):
            self._place(number, match)
        if self.errors:  # a pragma that cannot be read would make others seem to lack a loop
            mistakes = [*self.errors, *self._mistakes_of_their_own()]
            self.errors = [*self.misspelt, *sorted(mistakes, key=_line)]
            return
        wrongly: list[Placed] = []
        for placed in sorted(self.placement.placed, key=lambda one: one.at):
            place, names = self.placement, self.placement.names
            if error := place.misplaced(placed) or place.hidden_end(placed):
                self.errors.append(self._complaint(placed.match, error))
                wrongly.append(placed)
            elif lacking := place.lacks_loop(placed):
                if not any(other.holds(placed) for other in wrongly):  # else that is why
                    self.errors.append(self._complaint(placed.match, lacking))
                wrongly.append(placed)
            elif wrong := names.wrong(placed):
                self.errors += (self._complaint_of_name(placed, one) for one in wrong)
            elif warning := place.idle(placed):
                self.warnings.append(self._complaint(placed.match, warning))
            elif impossible := place.impossible(placed):
                self.warnings.append(self._complaint(placed.match, impossible))
            else:
                unused = (w for w in names.idle(placed) if not place.only_in_paths(placed, w.name))
                self.warnings += (self._complaint_of_name(placed, one) for one in unused)
        if self.errors and self.misspelt:  # and so would one that was taken for none
            self.errors = self.misspelt

    def _mistakes_of_their_own(self) -> Iterator[CccError]:
        """What is wrong with pragmas whatever else there is."""
        for placed in self.placement.placed:
            if error := self.placement.misplaced(placed):
                yield self._complaint(placed.match, error)
            elif wrong := self.placement.names.wrong(placed):
                yield from (self._complaint_of_name(placed, one) for one in wrong)

    @cached_property
    def misspelt(self) -> list[CccError]:
        """What is to be said of pragmas that seem to be meant for us."""
        return [CccError(message(one), *self._word(one)) for one in misspelt(self.code)]

    def _place(self, number: int, match: re.Match[bytes]) -> None:
        from ccc.frontend.pragmas import (  # noqa: PLC0415 - loads Lark
            DIRECTIVES,
            UNEXPECTED,
            PragmaError,
            parse,
        )

        words = match[3].decode(errors="replace")
        try:
            pragma = parse(without_comments(words).rstrip())
        except PragmaError as error:
            continued = self.position(match)[1].rstrip().endswith("\\")
            hint = CONTINUED if continued and error.message.endswith(UNEXPECTED) else ""
            for one in (error, *error.others):
                told = f"{one.message}{hint}"
                self.errors.append(self._complaint(match, told, words[: one.offset]))
            return
        at = _end(_SPACE, self.blank, match.end())
        known = DIRECTIVES[pragma.directive]
        statement, begin = self._statement(at) or self.root, match.start(2)
        if PLACES[pragma.directive][1] == LOOPS and (loop := self._loop_in_line(statement)):
            at = begin = loop.start_byte
            statement = loop
        whole = self.placement.names.structures(pragma, statement)
        made = Placed(number, match, pragma, known, at, statement, begin, whole)
        self.placement.placed.append(made)

    def _statement(self, at: int) -> Node | None:
        """The outermost statement that begins at ``at``."""
        found = statement_at(self.root, at)
        if (found and not found.has_error) or not _STATEMENT_WORD.match(self.blank, at):
            return found
        # Something near by confused the parser: read from the statement on, by itself.
        window = [
            (max(start, at), min(end, at + _REPARSED))
            for start, end in self._ranges
            if end > at and start < at + _REPARSED
        ]
        alone = statement_at(parse_cuda(self._parsed, window).root_node, at)
        return alone if alone and not (found and alone.has_error) else found

    def _loop_in_line(self, statement: Node) -> Node | None:
        """The loop behind declarations, in the same line: what macros such as PyTorch's
        ``CUDA_KERNEL_LOOP`` expand to."""
        node: Node | None = statement
        while node is not None and node.type == "declaration":
            node = node.next_named_sibling
        if node is None or node is statement or node.type not in LOOPS:
            return None
        return None if b"\n" in self.blank[statement.start_byte : node.start_byte] else node

    def annotation(self, placed: Placed) -> Annotation:
        """What is told of an annotation that is to be marked."""
        loops = [loop for loop in self.placement.loops_around(placed) if loop.name == "for"]
        inner = loops[-1].id if loops else None
        span = self.span(placed)
        home = home_of(self.root, placed.at, self.code)
        clauses = placed.pragma.clauses
        return Annotation(placed.id, placed.name, span, clauses, inner, home, self._head(placed))

    def _head(self, placed: Placed) -> str:
        """A statement up to its body, in one line."""
        body = body_of(placed.statement, PLACES[placed.name][0])
        end = body.start_byte if body else placed.statement.end_byte
        text = self.blank[placed.statement.start_byte : end].decode(errors="replace")
        return " ".join(text.split())[:_HEAD]

    def unrolls_at(self, at: int) -> list[re.Match[bytes]]:
        """The user's unroll pragmas of the loop that begins there."""
        return [m for m in self._unrolls if _end(_SPACE, self.blank, m.end()) == at]

    def span(self, placed: Placed) -> Span:
        """Where an annotation stands."""
        if placed.id not in self._spans:
            self._spans[placed.id] = self.position(placed.match)[0]
        return self._spans[placed.id]

    def position(self, match: re.Match[bytes], before: str | None = None) -> tuple[Span, str]:
        """Where a pragma stands, or its word after ``before``; and that line of the source."""
        file, line = self.lines.line(match.start(2))
        source = self._line_at(match.start(2))
        column = column_of(source, (match[2] + match[3]).decode(errors="replace"), before)
        return Span(file, line, column), source

    def _word(self, found: re.Match[bytes]) -> tuple[Span, str]:
        """Where the first word stands that a pattern has found, and that line of the source."""
        file, line = self.lines.line(found.start(1))
        source = self._line_at(found.start())
        return Span(file, line, source.find(found[1].decode()) + 1 or 1), source

    def _statement_line(self, offset: int) -> str:
        """The line of the source that a statement begins in, without comments."""
        source = self._line_at(offset)
        return without_comments(source).strip() or source.strip()

    def _line_at(self, offset: int) -> str:
        """The line of the source that holds a byte, as the user wrote it."""
        source = self._original_line(*self.lines.line(offset)) if self.lines.preprocessed else None
        if source is None:
            begin = self.code.rfind(b"\n", 0, offset) + 1
            source = self.code[begin:].split(b"\n", 1)[0].decode(errors="replace")
        return source

    def _original_line(self, file: str, line: int) -> str | None:
        """The line as the user wrote it: a preprocessor moves a pragma to the first column."""
        if file not in self._originals:
            try:
                with open(file, encoding="utf-8", errors="replace") as text:
                    self._originals[file] = text.read().split("\n")
            except OSError:
                self._originals[file] = []
        lines = self._originals[file]
        return lines[line - 1] if 0 < line <= len(lines) else None

    def _complaint(
        self, match: re.Match[bytes], message: str, before: str | None = None
    ) -> CccError:
        return CccError(message, *self.position(match, before))

    def _complaint_of_name(self, placed: Placed, mistake: WrongName) -> CccError:
        """One of a name in a clause, at that name."""
        from ccc.frontend.pragmas import place_of  # noqa: PLC0415 - seldom asked for

        words = placed.match[3].decode(errors="replace")
        at = place_of(without_comments(words), mistake.name)
        return self._complaint(placed.match, mistake.message, words[:at])


def _line(error: CccError) -> int:
    return error.span.line if error.span else 0


def _blanked(code: bytes, ranges: list[tuple[int, int]]) -> bytes:
    """The code with spaces, as many, for whatever is not the user's, for pragmas and for tables."""
    parts, at = [], 0
    for start, end in ranges:
        own = _ANY_PRAGMA.sub(lambda m: m[0].translate(_SPACES), code[start:end])
        own = _OF_LAMBDA.sub(lambda m: b" " * len(m[0]), own)
        own = _OF_KERNEL.sub(lambda m: m[0].translate(_SPACES), own)
        own = _NUMBERS.sub(lambda m: _without_tables(m[0]), own)
        parts += [b" " * (start - at), own]
        at = end
    return b"".join([*parts, b" " * (len(code) - at)])


def _without_tables(numbers: bytes) -> bytes:
    """Numbers with spaces for long tables: what stands in braces, with whole pairs of such."""
    opened: list[int] = []
    tables: list[tuple[int, int]] = []
    for brace in _BRACE.finditer(numbers):
        if brace[0] == b"{":
            opened.append(brace.start())
        elif opened:
            start, end = opened.pop() + 1, brace.start()
            if end - start >= _LEAST_TABLE:
                while tables and tables[-1][0] > start:  # those in this one
                    tables.pop()
                tables.append((start, end))
    parts, at = [], 0
    for start, end in tables:
        parts += [numbers[at:start], numbers[start:end].translate(_SPACES)]
        at = end
    return b"".join([*parts, numbers[at:]])


def _end(pattern: re.Pattern[bytes], code: bytes, at: int) -> int:
    match = pattern.match(code, at)
    return match.end() if match else at
