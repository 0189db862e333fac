"""The annotation language: the text of one pragma -> directive and clauses.

``if prob(1.0/8)`` becomes ``Pragma("if", {"prob": "0.125"})``. Shapes come from
``grammars/pragma.lark``; the C expressions inside clauses are read by pycparser.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from ccc.errors import choices, closest, did_you_mean, nearest, short
from ccc.frontend.folding import IN_A_MACRO, Number, fold
from ccc.frontend.reduction_lists import as_lists, operations_in

if TYPE_CHECKING:
    from lark import Lark, Token

TOO_DEEP = "this is nested too deeply or too long; write what it comes to"
_MOST_NESTED = 32
_MOST_SIGNS = 200
_SIGNS = re.compile(r"[-+*/%~!&|^<>?.]")
"""What pycparser goes one level deeper for."""
_LIKE_A_MACRO = re.compile(r"[A-Z_][A-Z_0-9]*")


@dataclass(frozen=True, slots=True)
class DirectiveKind:
    """What the language knows of a directive; ``place`` says what it stands before."""

    place: str
    clauses: tuple[str, ...] = ()


_OF_PATHS = ("prob", "priority", "strategy")
DIRECTIVES = {
    "for": DirectiveKind("a for, while or do loop", ("reduction", "noalias", "strategy")),
    "if": DirectiveKind("an if statement", _OF_PATHS),
    "for variable": DirectiveKind("an inner loop", ("reduction", *_OF_PATHS)),
    "while": DirectiveKind("a loop", _OF_PATHS),
    "switch": DirectiveKind("a switch statement", _OF_PATHS),
    "recursion": DirectiveKind("a __device__ function that calls itself", _OF_PATHS),
    "grid_stride": DirectiveKind("a kernel with its body", ("noalias", "schedule")),
    "callable": DirectiveKind("the declaration of a __device__ function of another file"),
}

_MEANT_BY = {
    "parallel": "for", "loop": "for", "do": "while",
    "for_variable": "for variable", "forvariable": "for variable", "variable": "for variable",
    "for_const": "for const",
}  # fmt: skip
"""By words of OpenMP and C, and by misspelt ones, the directives that are meant."""
_PARTS = {"else": ("if", "arms"), "case": ("switch", "cases"), "default": ("switch", "cases")}
"""By words of C that begin a part of a statement, the directive that speaks of the whole, and what
the parts are called."""
_AT_LOOP = (
    "put it at the loop around this, if what it names is declared before that, or else remove it"
)
_STRIDES = ' That stands before a kernel without such a loop; before one, write "ccc for"'
"""For whom writes his grid-stride loop himself."""
_WITHOUT_LOOP = ("if", "switch", "while")
"""Directives of what stands in an annotated loop, and is no such itself."""
FOR_VARIANTS = ("for const", "for variable")
SCHEDULES = ("static", "dynamic")
MAX_CHUNK = 1 << 16
UNEXPECTED = " is not expected here"
"""How what is said of a word ends that fits nowhere, where nobody knows what was meant."""
BY_NO_REDUCTION = (
    'have a branch set a variable, use that behind the branch, without an "if", and ask at the '
    "branch for strategy(tile(3))"
)
"""What to do about what is updated by another operation than those of reductions."""
REDUCTIONS = {"+": "add", "min": "min", "max": "max", "&": "and", "|": "or", "^": "xor"}
"""The operations of a reduction, and what PTX calls them."""
_SUMS = ("-", "sum", "plus")
"""What is written for the operation by which values are taken away, too."""
_FLAGS = {"&&": "&", "||": "|"}
_OTHERS = ("*", "/", "%", "<<", ">>")
"""Operations of C that no reduction is by."""


@dataclass(frozen=True, slots=True)
class Pragma:
    """One pragma, read and checked; clause values are text, their constants folded."""

    directive: str
    clauses: dict[str, str]

    @property
    def apart(self) -> list[list[str]]:
        """The pointers of each clause that says that they lead to memory of their own."""
        groups = self.clauses.get("noalias", "").split(";")
        return [group.split(",") for group in groups if group]

    @property
    def reductions(self) -> list[tuple[str, str]]:
        """The operation and the name of each variable that is declared a reduction."""
        declared = [one.partition(":") for one in self.clauses.get("reduction", "").split(";")]
        return [(by, name) for by, _, names in declared for name in names.split(",") if name]

    @property
    def strategy(self) -> str:
        """The name of the strategy that it asks for, if any."""
        return self.clauses.get("strategy", "").partition("(")[0]


class PragmaError(Exception):
    """What is wrong with a pragma, and at which offset of its text; and what else is."""

    def __init__(self, message: str, offset: int):
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.others: list[PragmaError] = []


def parse(text: str) -> Pragma:
    """Read what follows ``#pragma ccc``.

    Raises:
        PragmaError: an unknown or misplaced word, or an argument that cannot be used.
    """
    text = re.sub(r"\\(?=\r?\n)", " ", text)  # which goes on in the next line
    words = " ".join(text.split())
    if words in DIRECTIVES:  # nothing behind it: for most annotations no grammar need be loaded
        return Pragma(words, {})
    if _depth(text) > _MOST_NESTED:
        raise PragmaError(TOO_DEEP, re.search(r"[(\[{]", text).start())  # type: ignore[union-attr]
    _check_begin(text)
    directive, *clauses = _tree(text).children
    name = _directive_name(directive)
    pragma = Pragma(name, _values(name, clauses, text))
    _check_reductions(pragma, text)
    return pragma


def _check_begin(text: str) -> None:
    """Refuse a clause on a line of its own."""
    found = re.match(r"\s*(\w+)", text)
    if found and found[1] in CLAUSES:
        home = next(name for name, known in DIRECTIVES.items() if found[1] in known.clauses)
        raise PragmaError(
            f'"{found[1]}" is a clause; write it behind the directive, in the same line, as in '
            f'"ccc {home} {found[1]}(...)"',
            found.start(1),
        )


def _values(directive: str, clauses: Sequence[Any], text: str) -> dict[str, str]:
    """What the clauses of a directive say; all that are wrong are told at once."""
    values: dict[str, str] = {}
    wrong: list[PragmaError] = []
    for clause, following in zip_longest(clauses, clauses[1:]):
        word, argument = _clause_parts(clause, text)
        try:
            _check_clause(word, directive, DIRECTIVES[directive].clauses)
            _check_parentheses(argument, following, text)
            if word in values and word not in REPEATABLE:
                raise PragmaError(f'clause "{short(word)}" is given twice', _offset(word))
            before = [values[word]] if word in values else []
            given = replace(argument, directive=directive)
            values[str(word)] = ";".join([*before, CLAUSES[word](given)])
        except PragmaError as error:
            wrong.append(error)
            if argument.text is None:  # what follows may be meant for its value
                break
    if wrong:
        wrong[0].others = wrong[1:]
        raise wrong[0]
    return values


def _check_reductions(pragma: Pragma, text: str) -> None:
    """Refuse a variable that is named twice, to be added up and to keep the least of, say."""
    operations: dict[str, str] = {}
    signs = {name: sign for sign, name in REDUCTIONS.items()}
    for by, name in pragma.reductions:
        other, shown = operations.get(name), short(name)
        if other is not None:
            message = f'reduction names "{shown}" twice; name it once'
            if other != by:
                message = (
                    f'"{shown}" is a reduction by {signs[other]} and by {signs[by]}; name it once'
                )
            raise PragmaError(message, place_of(text, name, 1))
        operations[name] = by


@lru_cache(maxsize=1)
def _grammar() -> Lark:
    from ccc import grammars  # noqa: PLC0415 - most annotations need none

    return grammars.load("pragma.lark", propagate_positions=True)


def _tree(text: str) -> Any:
    hyphened = re.match(r"\s*(\w+-[\w-]+)", text)
    if hyphened and (hint := nearest(hyphened[1], DIRECTIVES)):
        hint += _STRIDES if hint == did_you_mean("grid_stride") else ""
        raise PragmaError(f'unknown directive "{short(hyphened[1])}"{hint}', hyphened.start(1))
    from lark.exceptions import UnexpectedInput, UnexpectedToken  # noqa: PLC0415 - as in parse

    try:
        return _grammar().parse(text)
    except UnexpectedToken as error:
        if error.token.type != "$END":
            at = _offset(error.token)
            message = f'"{short(error.token)}"{UNEXPECTED}{_meant(text, at)}'
            raise PragmaError(message, at) from None
        if text.strip():
            raise PragmaError("a closing parenthesis is missing", len(text)) from None
        known = ", ".join(DIRECTIVES)
        raise PragmaError(f"the directive is missing; known are {known}", len(text)) from None
    except UnexpectedInput as error:
        at = error.pos_in_stream or 0
        raise PragmaError(f'"{text[at]}"{UNEXPECTED}', at) from None


def _meant(text: str, offset: int) -> str:
    """What to write in place of what is not expected, for the end of a message."""
    before, found = text[:offset].split(), re.match(r"=?\s*([\w.+-]+)", text[offset:])
    if before and before[-1] in CLAUSES and found:
        return f"; write {before[-1]}({short(found[1])})"
    if before and text[offset] == "(":
        return "; write no condition, and clauses with their names, as prob(0.1)"
    return ""


def _directive_name(tree: Any) -> str:
    if tree.data != "other":
        return "for variable" if tree.data == "for_variable" else "for"
    word = tree.children[0]
    if word not in DIRECTIVES:
        meant = _MEANT_BY.get(word.lower())
        hint = did_you_mean(meant) if meant else choices(word, DIRECTIVES)
        hint += _STRIDES if hint == did_you_mean("grid_stride") else ""
        if word in _PARTS:
            whole, parts = _PARTS[word]
            hint = f'; remove it: "ccc {whole}", before the {whole}, speaks of all its {parts}'
        raise PragmaError(f'unknown directive "{short(word)}"{hint}', _offset(word))
    return str(word)


@dataclass(frozen=True, slots=True)
class _Argument:
    """The text between a clause's parentheses (None without them), and where it begins; of which
    directive, where that matters."""

    clause: str
    text: str | None
    offset: int
    directive: str = ""

    @property
    def shown(self) -> str:
        """The text for a message."""
        return short(self.text or "")

    def error(self, message: str) -> PragmaError:
        """A complaint about this argument, at its first word."""
        text = self.text or ""
        return PragmaError(message, self.offset + len(text) - len(text.lstrip()))


def _clause_parts(clause: Any, text: str) -> tuple[Token, _Argument]:
    tokens = clause.children
    word = tokens[0]
    if len(tokens) == 1:
        return word, _Argument(word, None, _offset(word))
    begin = _offset(tokens[1]) + 1
    return word, _Argument(word, text[begin : _offset(tokens[-1])], begin)


def _check_clause(word: Token, directive: str, allowed: tuple[str, ...]) -> None:
    if word in allowed:
        return
    variants = [name.split()[1] for name in FOR_VARIANTS] if directive.startswith("for") else []
    if word in variants:
        raise PragmaError(
            f'"{word}" stands right after "for", and of "const" and "variable" there is one',
            _offset(word),
        )
    if word not in CLAUSES:
        hint = nearest(word, [*allowed, *variants]) or choices(word, allowed)
        if _LIKE_A_MACRO.fullmatch(word) and word.lower() not in allowed:
            hint = f", and macros are not expanded here; write the clause, or {IN_A_MACRO}"
        raise PragmaError(f'unknown clause "{short(word)}"{hint}', _offset(word))
    *homes, last = [f'"ccc {name}"' for name, d in DIRECTIVES.items() if word in d.clauses]
    listed = f"{', '.join(homes)} and {last}" if homes else last
    is_of_loop = word in DIRECTIVES["for"].clauses and directive in _WITHOUT_LOOP
    raise PragmaError(
        f'clause "{word}" does not belong to "ccc {directive}", but to {listed}; '
        + (_AT_LOOP if is_of_loop else "remove it"),
        _offset(word),
    )


def _check_parentheses(argument: _Argument, following: Any, text: str) -> None:
    """Refuse a value that stands behind its clause without parentheses, where it is a word."""
    if following is None or argument.text is not None:
        return
    word, value = _clause_parts(following, text)
    if word not in CLAUSES:
        given = f"({value.text})" if value.text is not None else ""
        meant = short(f"{argument.clause}({word}{given})")
        raise PragmaError(f'"{short(word)}"{UNEXPECTED}; write {meant}', _offset(word))


def _offset(token: Token) -> int:
    return token.start_pos or 0


def _probability(argument: _Argument) -> str:
    value = _constant(argument)
    if not 0 <= value <= 1:
        raise argument.error(f"{value:g} is no probability; write a number between 0 and 1")
    return repr(float(value))


def _priority(argument: _Argument) -> str:
    value = _constant(argument)
    if not isinstance(value, int):
        raise argument.error(f"{value:g} is no priority; write a whole number")
    return str(value)


def _reduction(argument: _Argument) -> str:
    sign, colon, names = (argument.text or "").partition(":")
    sign = sign.strip()
    if not colon:
        raise argument.error("a reduction is written reduction(op: variable, ...)")
    more = {*_OTHERS, *_FLAGS, *_SUMS}.intersection(operations_in(names))
    for one in (sign, *sorted(more)):
        _check_operation(one, argument)
    if instead := as_lists(argument.text or "", REDUCTIONS):
        raise argument.error(instead)
    listed = _expression(f"f({names})", argument).args
    variables = listed.exprs if listed else []
    reduced = [_variable(node) for node in variables]
    if not reduced or None in reduced:
        others = (one for one, name in zip(variables, reduced, strict=True) if name is None)
        instead = next(filter(None, map(_in_a_variable, others)), "")
        raise argument.error(f"a reduction names variables: reduction(op: variable, ...){instead}")
    return f"{REDUCTIONS[sign]}:{','.join(filter(None, reduced))}"


def _check_operation(sign: str, argument: _Argument) -> None:
    if sign not in REDUCTIONS:
        named = {name: one for one, name in REDUCTIONS.items()} | dict.fromkeys(_SUMS, "+") | _FLAGS
        meant = named.get(closest(sign, named) or "")
        known = f"; the operations are {' '.join(REDUCTIONS)}"
        serves = "remove it" if argument.directive == "for variable" else BY_NO_REDUCTION
        known += f"; for others, {serves}" if sign in _OTHERS else ""
        hint = did_you_mean(meant) if meant else known
        raise argument.error(f'unknown reduction "{short(sign)}"{hint}')


def _noalias(argument: _Argument) -> str:
    listed = _expression(f"f({argument.text or ''})", argument).args
    pointers = listed.exprs if listed else []
    if len(pointers) < 2 or not all(map(_is_member, pointers)):
        raise argument.error("noalias names pointers, two at least: noalias(a, s.b, t->c)")
    names = ["".join(name.split()) for name in (argument.text or "").split(",")]
    for name in names:
        if names.count(name) > 1:
            at = argument.offset + place_of(f"({argument.text})", name, 1) - 1
            raise PragmaError(f'noalias names "{name}" twice; name different pointers', at)
    return ",".join(names)


def place_of(text: str, name: str, number: int = 0) -> int:
    """Where the clauses in a text name a variable for the first time, or a later one."""
    words = r"\s*".join(map(re.escape, re.findall(r"\w+|\W+", name)))
    found = [match.start(1) for match in re.finditer(rf"[(,:]\s*({words})(?=\s*[,)])", text)]
    return found[number]


def _is_member(node: Any) -> bool:
    """Whether it is a variable, or a member of one, or of what one points to."""
    from pycparser import c_ast  # noqa: PLC0415 - seldom asked for

    while isinstance(node, c_ast.StructRef):
        node = node.name
    return isinstance(node, c_ast.ID)


def _variable(node: Any) -> str | None:
    """A variable, or a member of one, as it is written; None of anything else."""
    from pycparser import c_ast  # noqa: PLC0415 - seldom asked for

    if isinstance(node, c_ast.ID):
        return str(node.name)
    is_member = isinstance(node, c_ast.StructRef) and node.type == "."
    whole = _variable(node.name) if is_member else None
    return f"{whole}.{node.field.name}" if whole else None


def _in_a_variable(node: Any) -> str:
    """What to name in place of an element, or of what a pointer leads to."""
    from pycparser import c_ast  # noqa: PLC0415 - seldom asked for

    while isinstance(node, c_ast.StructRef) and node.type == ".":
        node = node.name
    if isinstance(node, c_ast.ArrayRef):
        return "; name one for each element, and have these in place of the array"
    is_member = isinstance(node, c_ast.StructRef) and _variable(node.name) != "this"
    if is_member or (isinstance(node, c_ast.UnaryOp) and node.op == "*"):
        return "; name one that keeps what the pointer leads to, and write it back behind the loop"
    return ""


def _schedule(argument: _Argument) -> str:
    """``static``, ``dynamic``, or with a chunk ``dynamic:4``."""
    kind, comma, chunk = (argument.text or "").partition(",")
    kind = kind.strip()
    if kind not in SCHEDULES:
        known = " and ".join(SCHEDULES)
        raise argument.error(f'unknown schedule "{short(kind)}"; known are {known}')
    if not comma:
        return kind
    if kind == "static":
        raise argument.error("schedule(static) takes no chunk; write schedule(dynamic, chunk)")
    size = _constant(_Argument(argument.clause, chunk, argument.offset))
    if not isinstance(size, int) or not 1 <= size <= MAX_CHUNK:
        raise argument.error(
            f"{size:g} is no chunk; write a number of blocks from 1 to {MAX_CHUNK}"
        )
    return f"{kind}:{size}"


def _strategy(argument: _Argument) -> str:
    """A name, or with a number ``sub_warp(16)``."""
    from ccc.passes.strategies.registry import read_request  # noqa: PLC0415 - seldom asked for

    try:
        return str(read_request(argument.text or ""))
    except ValueError as error:
        raise argument.error(f"strategy({argument.shown}): {error}") from None


REPEATABLE = ("reduction", "noalias")
"""Clauses that may be given several times; their values are joined by semicolons."""

CLAUSES: dict[str, Callable[[_Argument], str]] = {
    "prob": _probability,
    "priority": _priority,
    "reduction": _reduction,
    "noalias": _noalias,
    "schedule": _schedule,
    "strategy": _strategy,
}


def _constant(argument: _Argument) -> Number:
    if not (argument.text or "").strip():
        raise argument.error(f'clause "{argument.clause}" needs a value: {argument.clause}(...)')
    if decimal := re.fullmatch(r"\s*(\d+),(\d+)\s*", argument.text or ""):
        meant = f"{argument.clause}({decimal[1]}.{decimal[2]})"
        raise argument.error(f'"{argument.shown}" is no number; write {meant}')
    if several := re.match(r"\s*([^(),]*[^(),\s])\s*,", argument.text or ""):
        meant = short(f"{argument.clause}({several[1]})")
        raise argument.error(f'clause "{argument.clause}" takes one number; write {meant}')
    node = _expression(f"({argument.text})", argument)
    try:
        return fold(node)
    except (ArithmeticError, ValueError) as error:
        raise argument.error(f'"{argument.shown}" has no value: {error}') from None


def _expression(text: str, argument: _Argument) -> Any:
    from pycparser import c_parser  # noqa: PLC0415 - seldom asked for

    if len(_SIGNS.findall(text)) > _MOST_SIGNS:
        raise argument.error(TOO_DEEP)
    try:
        unit = c_parser.CParser().parse(f"int v = {text};")
    except c_parser.ParseError:
        percent = re.fullmatch(r"\s*\(?\s*(\d+(?:\.\d+)?)\s*%\s*\)?\s*", text)
        hint = f"; write {argument.clause}({float(percent[1]) / 100:g})" if percent else ""
        raise argument.error(f'"{argument.shown}" is not a C expression{hint}') from None
    except RecursionError:
        raise argument.error(TOO_DEEP) from None
    return unit.ext[0].init


def _depth(text: str) -> int:
    """How deeply the brackets of a text are nested."""
    deepest = depth = 0
    for sign in re.findall(r"[()\[\]{}]", text):
        depth = max(depth + (1 if sign in "([{" else -1), 0)
        deepest = max(deepest, depth)
    return deepest
