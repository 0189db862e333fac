"""Markers: how an annotation travels from CUDA source through nvcc into PTX.

The annotated source carries ``asm volatile("// ccc.for 3 kernel.cu:7:5");`` as the first statement
of the annotated loop's body. nvcc copies the text, a PTX comment, to the place where that statement
ended up. Inlining, templates and unrolling copy it. In an arm of a branch stands what becomes such
a comment (``arm_markers.py``). The marker alone says all that the passes need, so marked PTX can be
transformed without its source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ccc.errors import Span

MARKER_PREFIX = "// ccc."
FLOATING_LETTERS = {"float": "f", "double": "d"}
"""What inline assembly calls floating-point types."""
ARMS = ("then", "else", "case")
LOOPS = ("for", "while", "variable")
WHOLE_KERNEL = ("grid_stride",)
KINDS = (
    *LOOPS, *ARMS, *WHOLE_KERNEL, "loop", "reduced", "apart", "recursion",
)  # fmt: skip
"""``loop`` stands before an annotated loop; ``for``, ``while`` and ``variable`` first in the body
of one; ``recursion`` first in a function that calls itself; ``then`` and ``else`` in the arms of an
annotated branch, ``case`` in those of a switch. ``reduced``, in the body of an annotated loop, says
in which register a floating-point variable of a reduction is there; ``apart`` there, which pointers
lead to memory of their own. Those of ``WHOLE_KERNEL`` stand
anywhere in a kernel."""
LABEL = "label"
"""The clause of a marker that tells which case of a switch it is in, where lines do not."""
UNROLLS = {"unroll": "own"}
"""What the markers of ``LOOPS`` say beside their clauses where the user says how often a loop is
unrolled; elsewhere we say that it is not, for the sake of the annotation."""
DIRECTIVES = {"then": "if", "else": "if", "case": "switch", "variable": "for variable"}
"""The directive that makes a marker, where it has another name."""

PROMISE = "ccc_callable_"
"""How variables are called whose values are the functions that were declared ``ccc callable``."""

RUNNING = "if (!__builtin_is_constant_evaluated()) "
"""What a marker stands behind in what may be a constant: compilers allow no assembly there, and no
read when they evaluate it."""
_NUMBER = r"(\d{1,18})"
_MARKER = re.compile(
    rf"//\s*ccc\.(\w+)\s+{_NUMBER}\s+(\S*):{_NUMBER}:{_NUMBER}((?:\s+\w+=\S+)*)\s*$"
)
_ASSEMBLY = re.compile(
    rf"(?: {re.escape(RUNNING.strip())})?"
    r'(?: ?asm volatile\("// ccc\.[^"]*"(?: :: "\w"\([^()]*\))?\);'
    r'(?: _Pragma\("(?:\\.|[^"\\])*"\))*'
    r"| ?\(void\)\+ccc_marker_\w+;"
    r"| ?ccc_typed_\w+::is\([\w.]+\);)"
    r"|static __attribute__\(\(shared\)\) volatile char ccc_marker_\w+; "
)
_IDENTIFIER = re.compile(rf"{MARKER_PREFIX}\w+ (\d+) ")
_OF_CODE = re.compile(rf"{MARKER_PREFIX}(?!loop )\w+ (\d+) ")
_POINTER = re.compile(r'^ ?asm volatile\("// ccc\.apart .*:: "l"\((.*)\)\);')
_CONSTRAINT = re.compile(r"asm operand type size\(\d+\) does not match .* by constraint 'l'")
_UNSAFE = re.compile(rb"[^A-Za-z0-9_./+()-]")


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker: ``kind`` is one of :data:`KINDS`; ``identifier`` numbers the annotation.

    The two arms of one ``ccc if`` share an identifier. ``span`` is where the pragma stands, and
    ``line`` that of the PTX where the marker was read.
    """

    kind: str
    identifier: int
    span: Span
    clauses: dict[str, str] = field(default_factory=dict, hash=False)
    line: int = field(default=0, compare=False)

    def text(self) -> str:
        """The PTX comment that stands for this marker."""
        at = f"{_quote(self.span.file)}:{self.span.line}:{self.span.column}"
        words = [f"{MARKER_PREFIX}{self.kind}", str(self.identifier), at]
        words += [f"{name}={_quote(value)}" for name, value in self.clauses.items()]
        return " ".join(words)

    def statement(self, number: int | None = None, *, constant: bool = False) -> str:
        """The CUDA statement that puts this marker into the PTX.

        Arms of one kind, such as those of a switch, have a ``number`` each. What is ``constant``
        may be evaluated by the compiler.
        """
        from ccc.ir import arm_markers  # noqa: PLC0415 - who only reads markers does without it

        if constant:
            return RUNNING + arm_markers.statement(self.text(), number)
        if self.kind in ARMS:
            return arm_markers.statement(self.text(), number)
        return f'asm volatile("{self.text()}");'


def with_register(comment: str, letter: str, value: str) -> str:
    """The CUDA statement that puts a marker into the PTX with the register of a value, of which a
    letter tells inline assembly the type."""
    return f'asm volatile("{comment} register=%0" :: "{letter}"({value}));'


def parse_marker(comment: str) -> Marker | None:
    """Read a PTX comment line; None when it is not a marker.

    >>> parse_marker("// ccc.for 3 a.cu:7:1").span.line
    7
    """
    match = _MARKER.match(comment.strip())
    if match is None or match[1] not in KINDS or not comment.isascii():
        return None
    span = Span(_unquote(match[3]), int(match[4]), int(match[5]))
    pairs = (word.split("=", 1) for word in match[6].split())
    return Marker(match[1], int(match[2]), span, {name: _unquote(value) for name, value in pairs})


def identifiers(ptx: str) -> set[int]:
    """Those of all markers in PTX, as compilers write them."""
    return {int(number) for number in _IDENTIFIER.findall(ptx)}


def with_code(ptx: str) -> set[int]:
    """Those of which some code is left: the marker before a loop stays where no turn does."""
    return {int(number) for number in _OF_CODE.findall(ptx)}


def hide_markers(said: str) -> str:
    """What a compiler says of annotated source, without the markers in the lines that it shows.

    >>> print(hide_markers('{ asm volatile("// ccc.then 2 a.cu:5:9"); y = ; }\\n' + 46 * " " + "^"))
    { y = ; }
          ^
    """
    lines: list[str] = []
    shift: list[re.Match[str]] = []
    for line in said.split("\n"):
        at = len(line) - 1
        if line.strip() == "^":  # below what is wrong in the line before
            lines[-2:-1] = [_without_constraint(one, shift, at) for one in lines[-2:-1]]
            hidden = (min(m.end(), at) - m.start() for m in shift if m.start() < at)
            lines.append(" " * (at - sum(hidden)) + "^")
        else:
            shift = list(_ASSEMBLY.finditer(line))
            lines.append(_ASSEMBLY.sub("", line))
    return "\n".join(lines)


def _without_constraint(said: str, markers: Iterable[re.Match[str]], at: int) -> str:
    """What a compiler says of a name in a marker, as it is meant: only pointers stand there that
    were not seen to be none, such as one whose type a template gives."""
    here = next((m[0] for m in markers if m.start() <= at < m.end()), "")
    name = _POINTER.search(here)
    if name is None:
        return said
    told = (
        f'noalias speaks of "{name[1]}", which is no pointer; name pointers: noalias(a, s.b, t->c)'
    )
    return _CONSTRAINT.sub(told, said)


def _quote(text: str) -> str:
    """Replace every byte that an asm string, or this syntax, could mistake by ``=XX``."""
    data = text.encode(errors="surrogateescape")
    return _UNSAFE.sub(lambda m: b"=%02X" % m[0][0], data).decode()


def _unquote(text: str) -> str:
    data = re.sub(rb"=([0-9A-F]{2})", lambda m: bytes([int(m[1], 16)]), text.encode())
    return data.decode(errors="surrogateescape")
