"""Where annotations stand: whether that has a meaning, and an effect."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ccc.errors import short
from ccc.frontend import updates
from ccc.frontend.clause_names import ClauseNames
from ccc.frontend.ends import end_of
from ccc.frontend.heads import conditionals, is_head_certain
from ccc.frontend.switches import cases_of, is_left_at_its_end
from ccc.frontend.syntax import (
    LOOPS,
    bodies_of,
    body_of,
    closing_brace,
    every_node,
    function_around,
    function_name,
    functions_in,
    head_end,
    identifiers_in,
    is_cut,
    is_for_device,
    is_in_kernel,
    loop_around,
    parts_of,
    pointer_to,
)
from ccc.ir.markers import PROMISE

if TYPE_CHECKING:
    from ccc.frontend.pragmas import DirectiveKind, Pragma
    from ccc.frontend.structures import DeclaredStructure
    from ccc.frontend.syntax import Node

_NOT_AT_RUN_TIME = re.compile(rb"if\s*(constexpr\b|!?\s*consteval\b)")
_ELSE = re.compile(r"(?:\}\s*)?else\b")
_LABEL = re.compile(r"(?!default\b)(\w+\s*:)(?!:)")
_LONE_LOOP = '"ccc while", in a loop marked "ccc for" or in a kernel marked "ccc grid_stride"'
"""What may serve a loop without paths in it that lies in no annotated one."""
_CHOICE = "conditional_expression"
_WITH_CONDITION = ("if_statement", "switch_statement", "while_statement", "do_statement")
_UNREAD = (
    "where the condition of this statement ends cannot be read; have a variable for it, declared "
    "before"
)
_NO_END = (
    "where this statement ends cannot be read; put what it does in braces, or in a function of its "
    "own"
)
_ROUNDED = 0.05
"""How much more than 1 the shares of cases come to that were rounded."""
PATHS = {
    "if": ("consequence", ("if_statement",)),
    "switch": ("body", ("switch_statement",)),
    "while": ("body", LOOPS),
    "for variable": ("body", LOOPS),
    "recursion": ("body", ("function_definition",)),
}
PLACES = {
    "for": ("body", LOOPS),
    "grid_stride": ("body", ("function_definition",)),
    "callable": ("type", ("declaration",)),
    **PATHS,
}


@dataclass
class Placed:
    """A pragma that was read, with the statement it stands before, or the whole text."""

    id: int
    match: re.Match[bytes]
    pragma: Pragma
    known: DirectiveKind
    at: int  # where the statement begins
    statement: Node
    begin: int  # where markers before it go: at the pragma, as long as nothing stands between
    structures: Mapping[str, DeclaredStructure] = field(default_factory=dict)
    """The variables of its reductions that are structures, of which only members can be such."""

    @property
    def reductions(self) -> list[tuple[str, str]]:
        """The operations and the variables of its reductions that can be such."""
        return [one for one in self.pragma.reductions if one[1] not in self.structures]

    @property
    def name(self) -> str:
        """Its directive."""
        return self.pragma.directive

    @property
    def repeats(self) -> bool:
        """Whether it makes an annotated loop, in which paths may stand."""
        return self.name in ("for", "grid_stride")

    @property
    def begins_apart(self) -> bool:
        """Whether it wants lanes to begin the iterations around it each by itself.

        That promises nothing of the loop around it, which need not be annotated.
        """
        if self.statement.type not in LOOPS or not self.pragma.strategy:
            return False
        from ccc.passes.strategies.registry import FLATTENING  # noqa: PLC0415 - seldom asked for

        return self.pragma.strategy in FLATTENING

    @property
    def needs_no_loop(self) -> bool:
        """Whether no loop around it need be annotated for what it asks for."""
        return self.begins_apart or self.pragma.strategy == "meld"

    @cached_property
    def body(self) -> tuple[int, int]:
        """The bytes of a loop's or a kernel's body; none of anything else."""
        body = body_of(self.statement, "body")
        if body is None:
            return 0, 0
        is_loop = self.statement.type in LOOPS
        return head_end(self.statement, body) if is_loop else body.start_byte, body.end_byte

    @property
    def is_branch(self) -> bool:
        """Whether the arms or cases of a statement are marked, and it is no loop."""
        return self.name in ("if", "switch")

    def holds(self, other: Placed) -> bool:
        """Whether another one stands in the statement of this."""
        return self.at < other.at < self.statement.end_byte

    def inside(self, loop: Placed) -> bool:
        """Whether this stands in the body of ``loop``."""
        start, end = loop.body
        return start <= self.at < end


class Placement:
    """The annotations of one text, each before its statement.

    Args:
        root: the text's syntax tree.
        code: the text.
        blank: the same with spaces for whatever is not the user's and for pragmas.
        macros: the macros that it may use, None where they are expanded.
        source: the line that holds a byte of the text, as the user wrote it.
    """

    def __init__(
        self,
        root: Node,
        code: bytes,
        blank: bytes,
        macros: Mapping[str, str] | None,
        source: Callable[[int], str],
    ):
        self.root = root
        self.code = code
        self.blank = blank
        self.macros = macros
        self.source = source
        self.placed: list[Placed] = []
        self.names = ClauseNames(root, code, blank, macros, self.functions)

    def misplaced(self, placed: Placed) -> str | None:
        """What is wrong with the place of a pragma, and what to do about it."""
        name, statement = placed.name, placed.statement
        part, types = PLACES[name]
        if statement.type not in types or body_of(statement, part) is None:
            return self._before_something_else(placed)
        if any(p.name == name and p.at == placed.at for p in self.placed if p.id < placed.id):
            return f'"ccc {name}" is given twice for one statement; remove one of them'
        if other := self._other_kind(placed):
            which = ': "ccc for" if it lies in an annotated loop, else the other'
            return (
                f'this loop is marked "ccc {other}" and "ccc {name}"; remove one of them'
                + which * ("for" in (other, name))
            )
        if of_function := self._before_wrong_function(placed):
            return of_function
        if placed.repeats or name == "callable":
            return None
        if constexpr := _NOT_AT_RUN_TIME.match(self.blank, statement.start_byte):
            word = constexpr[1].decode()
            return f'"if {word}" is no branch at run time; remove the annotation'
        return None

    def _before_something_else(self, placed: Placed) -> str:
        """What is wrong with a pragma before what is no statement of its kind."""
        name, statement = placed.name, placed.statement
        what = short(self.source(placed.at)) if self.blank[placed.at :].strip() else ""
        found = f'before "{what}"' if what else "at the end"
        if name == "if" and _ELSE.match(what):
            return (
                f'"ccc if" stands {found}, which is an arm of a branch; remove it, and put one '
                'before the first "if", which speaks of all arms'
            )
        if name == "switch" and what.startswith(("switch (", "switch(")):
            return f'"ccc switch" stands {found}, whose cases are in no braces; put them there'
        is_for_loops = PLACES[name][1] == LOOPS
        if statement.type not in LOOPS and is_for_loops and (label := _LABEL.match(what)):
            return (
                f'"ccc {name}" stands before the label "{label[1]}", and a loop of goto cannot '
                "be marked; write a for, while or do loop"
            )
        other = self._directive_of(placed)
        instead = f"write {other}, or " if other else ""
        if (fitting := next(self._fitting(placed), None)) is not None:
            instead = f'remove it, since "ccc {fitting}" stands there, too, or '
        place = f"put it on the line before {placed.known.place}"
        return f'"ccc {name}" stands {found}; {instead}{place}'

    def _before_wrong_function(self, placed: Placed) -> str | None:
        """What is wrong with a pragma that speaks of another kind of function."""
        name, statement = placed.name, placed.statement
        if name == "grid_stride" and not is_in_kernel(statement, self.blank):
            return (
                '"ccc grid_stride" stands before a function that is no kernel; '
                "put it on the line before a __global__ function"
            )
        if name == "recursion" and is_in_kernel(statement, self.blank):
            return (
                '"ccc recursion" stands before a kernel; '
                "put it on the line before a __device__ function that calls itself"
            )
        if name == "callable" and pointer_to(statement, PROMISE, self.blank) is None:
            return (
                '"ccc callable" stands before what is no declaration of one function; put it on '
                "the line before that of a __device__ function, in no class and no template"
            )
        if name == "callable" and self.macros is None and not is_for_device(statement, self.blank):
            return (
                '"ccc callable" stands before a function of the host, which no kernel can call; '
                'write "__device__" before it'
            )
        return None

    def lacks_loop(self, placed: Placed) -> str | None:
        """What is wrong with a path that stands in no annotated loop, and what to do about it."""
        name, statement = placed.name, placed.statement
        if placed.repeats or name == "callable" or placed.needs_no_loop or self._in_loop(placed):
            return None
        if not is_in_kernel(statement, self.blank):
            return None
        is_outermost = statement.type in LOOPS and loop_around(self.root, placed.at) is None
        if is_outermost and any(placed.holds(other) for other in self.placed):
            return (
                f'"ccc {name}" is for a loop inside an annotated one, and there is none around; '
                'write "ccc for", if the iterations of this one are independent, or mark the '
                'kernel, if its threads are, "#pragma ccc grid_stride"'
            )
        return (
            f'"ccc {name}" must stand inside a loop marked "#pragma ccc for"; '
            "mark the loop whose iterations are independent, "
            'or the kernel, if its threads are, "#pragma ccc grid_stride"'
            + self._way_without(placed)
        )

    def _other_kind(self, placed: Placed) -> str | None:
        """How a loop is marked in another annotation of it, before this one."""
        is_loop = placed.statement.type in LOOPS
        return next(self._fitting(placed, placed.id), None) if is_loop else None

    def _fitting(self, placed: Placed, before: int | None = None) -> Iterator[str]:
        """The other directives before the same statement that are for such, before a pragma."""
        same = (p for p in self.placed if p.at == placed.at and p is not placed)
        fitting = (p for p in same if placed.statement.type in PLACES[p.name][1])
        return (p.name for p in fitting if before is None or p.id < before)

    def _way_without(self, placed: Placed) -> str:
        """What a loop in another one can ask for, whether or not that may be marked."""
        if placed.statement.type not in LOOPS or loop_around(self.root, placed.at) is None:
            return ""
        return f'; write "ccc {placed.name} strategy(flatten)" if they depend on one another'

    def _directive_of(self, placed: Placed) -> str | None:
        """What to write, if anything: the directive that speaks of the statement before which
        another one stands, or that statement in another way."""
        kind = placed.statement.type
        if kind in PLACES[placed.name][1]:
            return None  # it is the body that is missing
        if kind == "function_definition":
            return '"ccc grid_stride"' if is_in_kernel(placed.statement, self.blank) else None
        if kind in LOOPS and not self._in_loop(placed):
            is_around = placed.repeats or any(map(placed.holds, self.placed))
            return '"ccc for"' if is_around else _LONE_LOOP
        names = (name for name, (_, types) in PATHS.items() if kind in types)
        if (found := next(names, None)) is not None:
            return f'"ccc {found}"'
        nodes = every_node(placed.statement) if placed.name == "if" else ()
        return 'the "?:" as an "if"' if any(one.type == _CHOICE for one in nodes) else None

    def hidden_end(self, placed: Placed) -> str | None:
        """Why the end of a statement, or of an arm, cannot be told from plain text.

        Braces show it, whatever stands between them. Without them, it is where the parser thinks,
        and a macro may end elsewhere.
        """
        statement = placed.statement
        is_run = statement.type in (*LOOPS, *_WITH_CONDITION)
        if self.macros is None:
            is_asked = statement.type in _WITH_CONDITION
            condition = statement.child_by_field_name("condition") if is_asked else None
            is_unread = condition is not None and is_cut(condition, self.blank)
            is_over = not is_run or self._is_end_read(placed)
            return _UNREAD if is_unread else None if is_over else _NO_END
        bodies = bodies_of(statement, PLACES[placed.name][0])
        cause = None
        for body in bodies:
            used = {self.code[n.start_byte : n.end_byte].decode() for n in identifiers_in(body)}
            hiding = sorted(used.intersection(self.macros))
            if body.type == "compound_statement":
                if closing_brace(self.blank, body.start_byte) != body.end_byte:
                    cause = "its braces do not match"
            elif hiding or body.has_error:
                known = f'"{hiding[0]}" is a macro' if hiding else "the rest cannot be read"
                cause = f"it has no braces, and {known}"
            elif is_run and end_of(self.blank, body.start_byte, self.macros) != body.end_byte:
                cause = "it has no braces, and what follows it may be a part of it"
        text = self.code[statement.start_byte : statement.end_byte]
        if statement.has_error and conditionals(text):
            cause = "#if cuts through it"
        if placed.name == "switch" and statement.has_error:
            cause = "its cases cannot be read"
        if any(part.has_error for part in parts_of(statement) if part not in bodies):
            cause = "its head cannot be read"
        return cause and (
            f"no preprocessor has read this text, and where the statement after "
            f'"ccc {placed.name}" ends is unclear: {cause}; use braces and no #if that cuts '
            "through them, or compile it with nvcc, which runs one"
        )

    def _is_end_read(self, placed: Placed) -> bool:
        """Whether a statement, and what it does, ends where the parser has it."""
        bodies = bodies_of(placed.statement, PLACES[placed.name][0])
        without_braces = (one for one in bodies if one.type != "compound_statement")
        return all(
            end_of(self.blank, one.start_byte) == one.end_byte
            for one in (placed.statement, *without_braces)
        )

    def is_head_certain(self, placed: Placed) -> bool:
        """Whether the head of the function around is what is compiled with its body."""
        function = function_around(placed.statement)
        if self.macros is None or function is None:
            return True
        return is_head_certain(function, placed.at, self.code, self.macros)

    def around(self, placed: Placed) -> Node | None:
        """The innermost annotated loop, or kernel, whose iterations hold a path."""
        loops = [p for p in self.placed if p.statement.type in (*LOOPS, "function_definition")]
        found = [loop for loop in loops if loop.id != placed.id and placed.inside(loop)]
        return max(found, key=lambda loop: loop.at).statement if found else None

    def loops_around(self, placed: Placed) -> list[Placed]:
        """The annotated loops, and kernels, in whose bodies an annotation stands, outer first."""
        return self._around[placed.id]

    @cached_property
    def _around(self) -> dict[int, list[Placed]]:
        """The same of all annotations, once all are placed."""
        found: dict[int, list[Placed]] = {}
        opened: list[Placed] = []
        for placed in sorted(self.placed, key=lambda one: one.at):
            opened = [loop for loop in opened if placed.at < loop.body[1]]
            found[placed.id] = [loop for loop in opened if placed.inside(loop)]
            opened += [placed] if placed.repeats else []
        return found

    def _in_loop(self, placed: Placed) -> bool:
        return bool(self.loops_around(placed))

    def only_in_paths(self, placed: Placed, name: str) -> bool:
        """Whether turns of a ``for variable`` change a variable in nothing but what is annotated in
        it, which its reductions do not serve: of that is told there."""
        inside = [one.statement for one in self.placed if one.inside(placed)]
        base = name.partition(".")[0].encode()
        changed = [one for one in updates.changed(placed.statement) if one.text == base]
        are_inside = all(
            any(path.start_byte <= one.start_byte < path.end_byte for path in inside)
            for one in changed
        )
        return placed.name == "for variable" and bool(changed) and are_inside

    def idle(self, placed: Placed) -> str | None:
        """Why a pragma in its right place has no effect."""
        if placed.name == "recursion" and not self._calls_itself(placed):
            return (
                "this function does not call itself, so that there is nothing to collect; "
                "annotate the loop or the branch in it"
            )
        if not placed.repeats or self._has_paths(placed):
            return None
        if any(one.name == "for" and one.inside(placed) for one in self.placed):
            return None  # it is told of that one
        if placed.name == "for" and self._in_loop(placed):
            return (
                '"ccc for" makes no path of a loop inside an annotated one; remove it if all lanes '
                'go round as often; did you mean "ccc for variable", if its turns are '
                'independent, or else "ccc while"?'
            )
        what = "loop" if placed.name == "for" else "kernel"
        return (
            f"no annotated path stands inside this {what}, so that there is nothing to collect; "
            "mark a branch or a loop in it, or remove this"
        )

    def impossible(self, placed: Placed) -> str | None:
        """Why what a pragma says of lanes cannot be: a lane comes to one case of a switch."""
        share = float(placed.pragma.clauses.get("prob", 0)) if placed.name == "switch" else 0.0
        number = self._cases_apart(placed.statement) if share else 0
        if share * number <= 1 + _ROUNDED:
            return None
        return (
            f"prob({share:g}) is the share of the lanes that come to each case, and {number} cases "
            f"have {share * number:.3g} together; write prob(1.0/{number}) if all are as frequent"
        )

    @staticmethod
    def _cases_apart(statement: Node) -> int:
        """How many cases of a switch no lane comes to from the one before."""
        cases = [colon.parent for _, colon in cases_of(statement)]
        return 1 + sum(one is not None and is_left_at_its_end(one) for one in cases[:-1])

    def is_active(self, placed: Placed) -> bool:
        """Whether a pragma is marked: paths, kernels, and loops that hold paths.

        A path in a device function may be inlined into any annotated loop of the file.
        """
        if placed.name == "recursion":
            return self._calls_itself(placed)
        if placed.name == "callable":
            return False
        return placed.name != "for" or self._has_paths(placed)

    def _has_paths(self, placed: Placed) -> bool:
        return placed.id in self._with_paths or None in self._with_paths

    @cached_property
    def _with_paths(self) -> set[int | None]:
        """The loops that hold paths; None where a path stands in no loop."""
        paths = [path for path in self.placed if path.name in PATHS]
        found: set[int | None] = set()
        for path in paths:
            found.update(loop.id for loop in self.loops_around(path))
            found |= set() if self._in_loop(path) else {None}
        return found

    def _calls_itself(self, placed: Placed) -> bool:
        """Whether a function names itself, perhaps in functions that it names; macros may."""
        own = function_name(placed.statement)
        named = self._all_named(placed.statement)
        macros = {macro.encode() for macro in self.macros or ()}
        return not own or own in named or not named.isdisjoint(macros)

    @cached_property
    def _functions(self) -> dict[bytes, set[bytes]]:
        """The names in the bodies of all functions, by the function's own."""
        return {
            name: set().union(*map(self._named, functions))
            for name, functions in self._definitions.items()
        }

    @cached_property
    def _definitions(self) -> dict[bytes, list[Node]]:
        """All functions by their names."""
        found: dict[bytes, list[Node]] = {}
        for function in functions_in(self.root):
            found.setdefault(function_name(function), []).append(function)
        return found

    def functions(self, name: bytes) -> list[Node]:
        """The functions of the text that have a plain name."""
        return self._definitions.get(name, [])

    def run_by(self, placed: Placed) -> list[Node]:
        """The statement of a pragma, and the other functions whose names stand in what it runs."""
        named = self._all_named(placed.statement)
        called = (one for name in named for one in self._definitions.get(name, ()))
        at = placed.statement.start_byte
        outside = (f for f in called if not f.start_byte <= at < f.end_byte)
        return [placed.statement, *outside]

    def _all_named(self, statement: Node) -> set[bytes]:
        """The names in the body of a statement, and in those of the functions among them."""
        named = set(self._named(statement))
        while more := {n for name in named for n in self._functions.get(name, ())} - named:
            named |= more
        return named

    def _named(self, function: Node) -> set[bytes]:
        body = body_of(function, "body")
        return {n.text or b"" for n in identifiers_in(body)} if body is not None else set()
