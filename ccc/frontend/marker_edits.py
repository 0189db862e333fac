"""Edits of a text that put markers into it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from ccc.frontend import unset
from ccc.frontend.annotations import Annotation, Annotations
from ccc.frontend.declared_types import floating_type
from ccc.frontend.placement import Placed
from ccc.frontend.stripping import as_operator, newlines
from ccc.frontend.switches import cases_of, crowded_labels
from ccc.frontend.syntax import (
    body_of,
    head_end,
    is_field_of_bits,
    is_number,
    loop_around,
    may_be_constant,
    pointer_to,
    restricted_parameters,
    type_of,
)
from ccc.ir import typed_markers
from ccc.ir.markers import LABEL, LOOPS, PROMISE, UNROLLS, Marker, with_register

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_IN_LOOPS = {"for": "for", "while": "while", "for variable": "variable"}


@dataclass(frozen=True, slots=True)
class Edit:
    """``text`` in place of what stands from ``start`` to ``end``."""

    start: int
    end: int
    text: bytes


class MarkerEdits:
    """What puts markers into a text.

    Args:
        found: its annotations.
    """

    def __init__(self, found: Annotations):
        self._found, self._placement, self._blank = found, found.placement, found.blank

    def write(self, without: Collection[int]) -> tuple[list[Annotation], list[Edit]]:
        """The annotations to be marked, and the edits that mark them."""
        edits = [Edit(m.start(2), m.end(), newlines(m[0])) for m in self._found.pragmas]
        annotations = []
        for placed in self._placement.placed:
            if placed.id not in without and self._placement.is_active(placed):
                annotation = self._found.annotation(placed)
                annotations.append(annotation)
                edits += self._marks(placed, annotation)
        return annotations, [*edits, *(self._promises() if annotations else ())]

    def values(self, loops: Collection[int]) -> list[Edit]:
        """The edits that give a value to what iterations of these loops declare without one."""
        marked = [one for one in self._placement.placed if one.repeats and one.id in loops]
        run = (node for loop in marked for node in self._placement.run_by(loop))
        found = dict(one for node in run for one in unset.values(node, self._placement.macros))
        return [Edit(at, at, text) for at, text in found.items()]

    def _promises(self) -> Iterator[Edit]:
        """Variables that name, in PTX, the functions of which something is promised."""
        for placed in self._placement.placed:
            if placed.name == "callable":
                text = pointer_to(placed.statement, f"{PROMISE}{placed.id}", self._blank)
                end = placed.statement.end_byte
                yield Edit(end, end, text or b"")

    def _marks(self, placed: Placed, annotation: Annotation) -> list[Edit]:
        """The edits that mark one statement."""
        statement = placed.statement
        constant = may_be_constant(statement, self._blank)
        labels = crowded_labels(statement, self._blank) if placed.name == "switch" else {}

        def marker(kind: str, number: int | None = None) -> bytes:
            more = UNROLLS if kind in LOOPS and self._found.unrolls_at(placed.at) else {}
            if number in labels:
                more = {LABEL: labels[number]}
            made = Marker(kind, annotation.id, annotation.span, {**annotation.clauses, **more})
            text = made.statement(number, constant=constant)
            return text.encode(errors="surrogateescape")

        if placed.name in _IN_LOOPS:
            inside = marker(_IN_LOOPS[placed.name]) + self._reduced(placed, annotation)
            inside += self._apart(placed, annotation)
            edits = _wrap(statement, "body", inside) + self._before(placed, marker("loop"))
            return edits + (self._keep_outer(placed) if placed.begins_apart else [])
        if placed.name in ("recursion", "grid_stride"):
            return _wrap(statement, "body", marker(placed.name) + self._apart(placed, annotation))
        if placed.name == "switch":
            return _cases(statement, partial(marker, "case"))
        edits = _wrap(statement, "consequence", marker("then"))
        otherwise = statement.child_by_field_name("alternative")
        return edits + (_wrap(otherwise, "", marker("else")) if otherwise else [])

    def _reduced(self, placed: Placed, annotation: Annotation) -> bytes:
        """Statements that say where the floating-point variables of reductions are.

        Their sums depend on the order, so that only they may be added up in another one; integers
        need no leave. What the loop itself declares is not known yet where it begins.
        """
        text, local = b"", self._placement.names.local_reductions(placed)
        constant = may_be_constant(placed.statement, self._blank)
        for operation, name in placed.pragma.reductions:
            if name in local:
                continue
            made = Marker("reduced", annotation.id, annotation.span, {"by": operation}).text()
            kind = floating_type(placed.statement, name.encode(), self._blank)
            if kind and not constant:
                words = with_register(made, kind, name)
            elif kind or not self._is_integer(placed.statement, name.encode()):
                words = typed_markers.statement(made, name, constant=constant)
            else:
                continue
            text += words.encode(errors="surrogateescape")
        return text

    def _is_integer(self, statement: Node, name: bytes) -> bool:
        """Whether a variable is seen to be one: by its type, or since it is a field of bits, which
        no reference can be had to."""
        declared = type_of(statement, name)
        return is_number(declared or b"?") or is_field_of_bits(name, self._blank)

    def _apart(self, placed: Placed, annotation: Annotation) -> bytes:
        """Statements that say which pointers lead to memory of their own.

        A kernel's parameters that are declared ``__restrict__`` are told by their numbers, and
        where macros are not expanded by how many there are.
        """
        text = b""
        for number, names in enumerate(placed.pragma.apart):
            clauses = {"group": str(number)}
            words = Marker("apart", annotation.id, annotation.span, clauses).text()
            for name in names:
                text += with_register(words, "l", name).encode(errors="surrogateescape")
        restricted, count = restricted_parameters(placed.statement, self._blank)
        is_certain = self._placement.is_head_certain(placed)
        if restricted and is_certain and placed.name in ("for", "grid_stride"):
            clauses = {"restrict": ",".join(map(str, restricted))}
            if self._placement.macros is not None:  # one may stand for several parameters
                clauses["of"] = str(count)
            made = Marker("apart", annotation.id, annotation.span, clauses).statement()
            text += made.encode(errors="surrogateescape")
        return text

    def _before(self, placed: Placed, marker: bytes) -> list[Edit]:
        """Braces around an annotated loop, with its ``loop`` marker first in them.

        Unrolled, one annotated loop would be many, so that it gets an unroll pragma; a user's own
        one stands, but must move inside the braces to remain right before the loop.
        """
        own = self._found.unrolls_at(placed.at)
        words = [m[1] for m in own] or [b"unroll 1"]
        head = b" ".join([b"{", marker, *map(as_operator, words)])
        at = placed.begin
        edits = [Edit(m.start(), m.end(), newlines(m[0])) for m in own]
        end = placed.statement.end_byte
        return [*edits, Edit(at, at, head), Edit(end, end, b" }")]

    def _keep_outer(self, placed: Placed) -> list[Edit]:
        """An unroll pragma before the loop around one whose lanes begin its iterations apart.

        Unrolled, it would be no loop any more. A user's own pragma stands, and annotated ones have
        theirs.
        """
        loop = self._around_apart[placed.id]
        first = next((n for n, other in self._around_apart.items() if other == loop), None)
        if loop is None or first != placed.id:
            return []
        at = loop.start_byte
        annotated = any(other.statement.start_byte == at for other in self._placement.placed)
        is_told = annotated or self._found.unrolls_at(at)
        return [] if is_told else [Edit(at, at, b'_Pragma("unroll 1") ')]

    @cached_property
    def _around_apart(self) -> dict[int, Node | None]:
        """The loops around those whose lanes begin their iterations apart."""
        apart = [other for other in self._placement.placed if other.begins_apart]
        return {other.id: loop_around(self._found.root, other.at) for other in apart}


def _wrap(statement: Node, name: str, marker: bytes) -> list[Edit]:
    """Make ``marker`` the first statement of a body, with braces where it has none."""
    body = body_of(statement, name)
    assert body is not None
    if body.type == "compound_statement":
        at = body.start_byte + 1
        return [Edit(at, at, b" " + marker)]
    # Right behind the head: a pragma on its own line may stand before the body.
    start, end = head_end(statement, body), body.end_byte
    return [Edit(start, start, b" { " + marker + b" "), Edit(end, end, b" }")]


def _cases(statement: Node, marker: Callable[[int], bytes]) -> list[Edit]:
    """Put a marker first in every case that has statements of its own."""
    return [
        Edit(colon.end_byte, colon.end_byte, b" " + marker(number))
        for number, colon in cases_of(statement)
    ]


def apply(code: bytes, edits: list[Edit]) -> bytes:
    """The text with all edits made."""
    parts, at = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        parts += [code[at : edit.start], edit.text]
        at = edit.end
    return b"".join([*parts, code[at:]])
