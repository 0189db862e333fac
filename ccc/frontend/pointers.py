"""The pointers through which lines of the source read and write, as ``noalias`` names them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ccc.frontend.syntax import body_of, declared_in, every_node, function_around

if TYPE_CHECKING:
    from ccc.frontend.placement import Placed
    from ccc.frontend.syntax import Node

_NAME = re.compile(r"(\w+)(?:(?:\.|(->))\w+)?")
"""What a clause may name: a variable, a member of one, or of what one points to."""
_ACCESSES = ("subscript_expression", "pointer_expression")
_WRITERS = re.compile(rb"atomic[A-Z]\w*|__st[a-z]{2}")
_READERS = re.compile(rb"__ld[a-z]{2}")
"""The functions of CUDA that write, or only read, where their first argument leads to."""
_MEMBER = "field_expression"


def clauses_for(
    loop: Placed, reads: Iterable[Sequence[str]], writes: Iterable[Sequence[str]]
) -> str | None:
    """The clauses of an annotated loop that tell what is read from what is written.

    Args:
        loop: the annotation, which may have such clauses.
        reads: the pointers of each line that reads.
        writes: the same of each that writes.

    Returns:
        None if a line tells of none, of the same one on both sides, or of one that the loop itself
        declares; empty if all is promised already.
    """
    read, written = (
        list(dict.fromkeys(n for one in each for n in one)) for each in (reads, writes)
    )
    matches = {name: _NAME.fullmatch(name) for name in (*read, *written)}
    if not read or not written or not set(read).isdisjoint(written) or None in matches.values():
        return None
    is_kernel = loop.name == "grid_stride"
    inside = body_of(loop.statement, "body") if is_kernel else loop.statement
    own = {name.decode(errors="replace") for name, _ in declared_in(inside)} if inside else set()
    if any(match is not None and match[1] in own for match in matches.values()):
        return None
    found = []
    for one in written:
        open_ones = [r for r in read if not any({r, one} <= set(g) for g in loop.pragma.apart)]
        named = [*open_ones, one] if open_ones else []
        homes = [m[1] for name in named if (m := matches[name]) is not None and m[2]]
        found += [f"noalias({', '.join(dict.fromkeys([*homes, *named]))})"] if named else []
    return " ".join(found)


@dataclass(frozen=True, slots=True)
class PointerUse:
    """A pointer through which an expression accesses memory: whether it may write, and whether that
    is where a loop begins."""

    name: str
    node: Node
    writes: bool
    begins: bool


def accesses_in(placed: Placed, loop: Placed) -> list[PointerUse]:
    """What the function around a path accesses, but for where the annotated loop begins, which is
    in no iteration."""
    whole = function_around(placed.statement) or placed.statement
    heads = [one.child_by_field_name("initializer") for one in every_node(whole)]
    begins = [range(one.start_byte, one.end_byte) for one in heads if one is not None]
    outside = loop.statement.child_by_field_name("initializer")
    found = []
    for node in every_node(whole):
        pointer = _pointer_of(node)
        if pointer is not None and not (outside and _is_in(node, outside)):
            name = "".join((pointer.text or b"").decode(errors="replace").split())
            begin = any(node.start_byte in one for one in begins)
            found.append(PointerUse(name, node, _is_written(node), begin))
    return found


def most_likely(accesses: Sequence[PointerUse], writes: bool, count: int) -> list[str]:
    """The names of accesses of one line, of which ``count`` write, or read; none if it is not
    known by which of them the line writes."""
    fitting = [one for one in accesses if one.writes == writes]
    if not writes:
        fitting = fitting or list(accesses)  # as of x[i] += 1, which reads as well
    names = list(dict.fromkeys(one.name for one in fitting))
    if len(names) > count:
        names = list(dict.fromkeys(one.name for one in fitting if not one.begins)) or names
    return names


def _is_in(node: Node, other: Node) -> bool:
    return other.start_byte <= node.start_byte < other.end_byte


def _pointer_of(node: Node) -> Node | None:
    """The pointer through which an expression accesses memory, if it does."""
    if node.type == "call_expression":
        return _handed_pointer(node)
    argument = node.child_by_field_name("argument")
    if node.type == "subscript_expression":
        return argument
    operators = [child.type for child in node.children]
    if node.type == "pointer_expression" and "*" in operators:
        return argument
    if node.type == _MEMBER and "->" in operators:
        around = node.parent
        if around is not None and around.type in _ACCESSES:
            return None if around.child_by_field_name("argument") == node else argument
        return argument
    return None


def _handed_pointer(call: Node) -> Node | None:
    """The pointer that a function of CUDA is given to access memory through; None if it is another
    one, or is given the address of something, which is an access by itself."""
    function, listed = (call.child_by_field_name(part) for part in ("function", "arguments"))
    name = (function.text or b"") if function is not None else b""
    if not (_WRITERS.fullmatch(name) or _READERS.fullmatch(name)):
        return None
    first = next(iter(listed.named_children), None) if listed is not None else None
    is_address = first is not None and first.type == "pointer_expression"
    return None if is_address else first


def _is_written(access: Node) -> bool:
    """Whether an access is assigned to, or its address handed to a function."""
    if access.type == "call_expression":
        function = access.child_by_field_name("function")
        return function is not None and bool(_WRITERS.fullmatch(function.text or b""))
    node, around = access, access.parent
    while around is not None and (
        around.type == "parenthesized_expression"
        or (around.type == _MEMBER and "." in [child.type for child in around.children])
    ):
        node, around = around, around.parent
    if around is None:
        return False
    if around.type == "assignment_expression":
        return around.child_by_field_name("left") == node
    return around.type == "update_expression" or (
        around.type == "pointer_expression" and "&" in [child.type for child in around.children]
    )
