"""Annotated statements, by where their annotations stand: what leads on from them, and to them.

What is asked here is where control goes: by which loops, branches, labels and jumps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ccc.errors import Span
from ccc.frontend import updates
from ccc.frontend.classes import beside
from ccc.frontend.deciding import asks_for, compared, decides
from ccc.frontend.lambdas import LAMBDA
from ccc.frontend.leaving import is_only_jump, jump_out_of
from ccc.frontend.naming import is_index
from ccc.frontend.switches import cases_of, label_of
from ccc.frontend.syntax import (
    LOOPS,
    function_around,
    function_name,
    identifiers_in,
    is_in_kernel,
    loop_around,
)

if TYPE_CHECKING:
    from ccc.frontend.linemap import LineMap
    from ccc.frontend.placement import Placed, Placement
    from ccc.frontend.syntax import Node

_GRID = b"gridDim"
_UNROLL = re.compile(rb"(?:#\s*pragma\s+|\b_Pragma\s*\(\s*\")(?:no)?unroll\b[^;{}]*$")
_NAMED = ("template_function", "qualified_identifier", "field_expression")
"""How functions are called besides by their name alone."""


class MarkedStatements:
    """The annotated statements of a text.

    Args:
        placement: the annotations.
        lines: where the text came from.
        position: where an annotation stands.
    """

    def __init__(self, placement: Placement, lines: LineMap, position: Callable[[Placed], Span]):
        self._placement = placement
        self._lines = lines
        self._position = position

    def statements(self, at: Span) -> tuple[Node, Node] | None:
        """An annotated statement, and the annotated loop around it, or that itself if it has
        none."""
        placed = self._at(at)
        loops = self._placement.loops_around(placed) if placed else []
        return (placed.statement, (loops or [placed])[-1].statement) if placed else None

    def decides(self, at: Span, line: Span, *, of_both: bool) -> list[str]:
        """What decides a branch on a line of the annotated loop around a statement, as
        ``deciding.decides`` says."""
        placed = self._at(at)
        loops = self._placement.loops_around(placed) if placed else []
        of = (loop.statement for loop in loops[-1:])
        return next((decides(one, lambda it: self._is_on(it, line), of_both) for one in of), [])

    def jump(self, at: Span, case: Span | None) -> Span | None:
        """Where a statement, or its case on a line, first leaves the loop around it."""
        found = self._jump(at, case)
        file, line = self._line_of(found) if found else ("", 0)
        return Span(file, line) if line else None

    def jumps_in_branch(self, at: Span) -> str | None:
        """What it is marked, if it does so in an annotated branch inside; else None."""
        found, placed = self._jump(at), self._at(at)
        if found is None or placed is None:
            return None
        is_in_branch = any(
            one.is_branch
            and one != placed
            and one.inside(placed)
            and one.statement.start_byte < found.start_byte < one.statement.end_byte
            for one in self._placement.placed
        )
        return placed.name if is_in_branch else None

    def _jump(self, at: Span, case: Span | None = None) -> Node | None:
        placed = self._at(at)
        around = self._placement.around(placed) if placed else None
        is_meant = None if case is None else lambda colon: self._is_on(colon, case)
        return jump_out_of(around, placed.statement, is_meant) if placed and around else None

    def only_jumps(self, at: Span) -> bool:
        """Whether a branch has one arm, and does nothing but leave the loop around it."""
        placed = self._at(at)
        return placed is not None and is_only_jump(placed.statement)

    def loop_of_several(self, at: Span) -> Span | None:
        """Where the annotated loop around a statement is marked, if its function has others."""
        placed = self._at(at)
        loops = self._placement.loops_around(placed) if placed else []
        if placed is None or not loops or loops[-1].name != "for":
            return None
        function = function_around(placed.statement) or self._placement.root
        several = list(updates.every(function, lambda node: node.type in LOOPS))[1:]
        return self._position(loops[-1]) if several else None

    def loop_of_line(self, at: Span, line: Span, *, is_around: bool) -> Span | None:
        """Where the loop begins that a line lies in, within the annotated one around a statement:
        the innermost that ``is_around`` that, if so asked for, and else the outermost that is not.
        None if the source tells of none."""
        path, whole = self.statements(at) or (None, None)
        if path is None or whole is None or path == whole:
            return None
        every = updates.every(whole, lambda node: node.type in LOOPS and node != whole)
        meant = [
            one
            for one in every
            if (one.start_byte < path.start_byte < one.end_byte) == is_around
            and self._spans(one, line)
        ]
        meant.sort(key=lambda one: one.start_byte)
        return Span(*self._line_of(meant[-1 if is_around else 0])) if meant else None

    def turns_around(self, at: Span) -> list[int]:
        """The lines of the loops in which a statement lies in the annotated one around it, the
        outer ones first; none where it is a function that lies there."""
        path, loop = self.statements(at) or (None, None)
        node, lines = path.parent if path else None, list[int]()
        while node is not None and node != loop and node.type != LAMBDA:
            lines += [self._line_of(node)[1]] if node.type in LOOPS else []
            node = node.parent
        return lines[::-1] if node is not None and node == loop else []

    def is_branch(self, at: Span) -> bool:
        """Whether a statement is a branch, and no loop."""
        placed = self._at(at)
        return placed is not None and placed.is_branch

    def is_index(self, at: Span, name: str) -> bool:
        """Whether the annotated loop around a statement uses a variable in the index of an array,
        so that iterations need what it is."""
        loop = self._loop_of(at)
        return loop is not None and is_index(loop.statement, name.encode())

    def ends_loop(self, at: Span, name: str) -> bool:
        """Whether the condition of the annotated loop around a statement asks for a variable."""
        loop = self._loop_of(at)
        return loop is not None and asks_for(loop.statement, name.encode())

    def bound(self, at: Span) -> tuple[str, str] | None:
        """The counter of a loop, and what its condition compares that with."""
        placed = self._at(at)
        return compared(placed.statement) if placed else None

    def calls(self, at: Span) -> int:
        """In how many places the text names the function that a statement stands in, as where that
        is called; 0 if it is a kernel."""
        placed = self._at(at)
        home = function_around(placed.statement) if placed else None
        if home is None or is_in_kernel(home, self._placement.blank):
            return 0
        name = function_name(home)
        uses = (one for one in identifiers_in(self._placement.root) if one.text == name)
        body = home.child_by_field_name("body") or home
        outside = (one for one in uses if not home.start_byte <= one.start_byte < body.end_byte)
        return sum(_is_called(one) for one in outside)

    def is_called_for(self, at: Span, line: Span) -> bool:
        """Whether a statement calls a function of which a line is one."""
        placed = self._at(at)
        every = updates.every(self._placement.root, lambda one: one.type == "function_definition")
        names = {function_name(one) for one in every if self._spans(one, line)}
        inside = identifiers_in(placed.statement) if placed else ()
        return any(one.text in names and _is_called(one) for one in inside)

    def strides_by_grid(self, at: Span) -> bool:
        """Whether the loop around a statement, in a kernel that is marked as a whole, goes on by
        the size of the grid."""
        placed = self._at(at)
        loop = loop_around(self._placement.root, placed.at) if placed else None
        around = self._placement.loops_around(placed) if placed else []
        step = loop.child_by_field_name("update") if loop else None
        if placed is None or step is None or [one.name for one in around] != ["grid_stride"]:
            return False
        counters = {one.text for one in updates.changed(step)}
        by = {one.text for one in identifiers_in(step)} - counters
        return not by.isdisjoint(updates.follows_from(around[0].statement, {_GRID}))

    def label(self, at: Span, line: Span) -> str | None:
        """The label of a ``switch`` on a line, without its colon; None if there are several, or one
        is long."""
        placed = self._at(at)
        body = placed.statement.child_by_field_name("body") if placed else None
        labels = [
            label_of(case, colon, self._placement.blank)
            for case in (body.named_children if body else ())
            if case.type == "case_statement" and case.children[-1].type != ":"
            for colon in case.children
            if colon.type == ":" and self._is_on(colon, line)
        ]
        return labels[0] if len(labels) == 1 else None

    def labels(self, at: Span) -> list[str | None]:
        """The labels of a ``switch``, in the order of the source; None for one that is long."""
        placed = self._at(at)
        return [
            label_of(colon.parent, colon, self._placement.blank)
            for _, colon in (cases_of(placed.statement) if placed else ())
            if colon.parent is not None
        ]

    def may_be_unrolled(self, at: Span, places: Sequence[Span]) -> Span | None:
        """The line of the innermost loop inside a statement, or in another function, that has one
        of some lines and that no pragma tells how to unroll, of several the last ``for``.

        None of a method's loops, by which members may be meant that its constructor sets no value.
        """
        placed = self._at(at)
        if placed is None:
            return None
        path, function = placed.statement, function_around(placed.statement)
        known = [one.statement for one in self._placement.placed]
        every = list(updates.every(self._placement.root, lambda node: node.type in LOOPS))
        for line in places:
            found = [one for one in every if self._spans(one, line) and not self._is_unrolled(one)]
            found = [
                one
                for one in found
                if one not in known
                if path.start_byte <= one.start_byte < path.end_byte or _in_another(one, function)
            ]
            found = [one for one in found if one.type == "for_statement"] or found
            if found:
                return Span(*self._line_of(max(found, key=lambda one: one.start_byte)))
        return None

    def _is_unrolled(self, loop: Node) -> bool:
        """Whether a pragma tells nvcc how often to unroll a loop."""
        before = self._placement.code[: loop.start_byte].rstrip().rpartition(b"\n")[2]
        return _UNROLL.search(before) is not None

    def _loop_of(self, at: Span) -> Placed | None:
        """The annotated loop around a statement, or that itself if its iterations are meant."""
        placed = self._at(at)
        loops = self._placement.loops_around(placed) if placed else []
        own = [placed] if placed is not None and placed.name == "for" else []
        return next(iter(loops[-1:] or own), None)

    def _at(self, at: Span) -> Placed | None:
        return self._by_place.get(at)

    @cached_property
    def _by_place(self) -> dict[Span, Placed]:
        """The annotations by where they stand; of several at one place, as in macros of one line,
        the first of what may be collected, of which reasons speak, and not the loop around it."""
        backwards = self._placement.placed[::-1]
        every = sorted(backwards, key=lambda one: not one.repeats)
        return {self._position(one): one for one in every}

    def lambdas_on(self, line: Span) -> list[Node]:
        """The lambdas of which a line is one."""
        every = updates.every(self._placement.root, lambda node: node.type == LAMBDA)
        return [one for one in every if self._spans(one, line)]

    def is_on(self, node: Node, line: Span) -> bool:
        """Whether something begins on a line."""
        return self._is_on(node, line)

    def _spans(self, statement: Node, line: Span) -> bool:
        """Whether a line is one of a statement's."""
        ends = statement.start_byte, statement.end_byte - 1
        (file, first), (other, last) = map(self._lines.line, ends)
        return file == other == line.file and first <= line.line <= last

    def _is_on(self, node: Node, line: Span) -> bool:
        return self._line_of(node) == (line.file, line.line)

    def _line_of(self, node: Node) -> tuple[str, int]:
        return self._lines.line(node.start_byte)


def _is_called(name: Node) -> bool:
    """Whether a function is called where its name stands."""
    while name.parent is not None and name.parent.type in _NAMED:
        name = name.parent
    around = name.parent
    return around is not None and around.child_by_field_name("function") == name


def _in_another(loop: Node, function: Node | None) -> bool:
    """Whether a loop stands in another function than some one that is no method."""
    around = function_around(loop)
    return around is not None and around != function and not beside(around)
