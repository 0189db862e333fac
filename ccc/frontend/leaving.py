"""Where code leaves the loop around it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from ccc.frontend.switches import cases_of, is_left_at_its_end
from ccc.frontend.syntax import LOOPS, every_node

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_JUMPS = ("return_statement", "goto_statement")
_SEQUENCES = ("compound_statement", "case_statement")


def jump_out_of(
    loop: Node, statement: Node, is_meant: Callable[[Node], bool] | None = None
) -> Node | None:
    """The first place that ends a loop around a statement, or leads out by a label: in that, or of
    a ``switch`` in the case that is meant; or else the only one in what follows.

    Args:
        loop: the loop.
        statement: the statement.
        is_meant: whether it is the case that begins with a colon; None if all are meant.
    """
    run = [statement] if is_meant is None else cases_run(statement, is_meant)
    first = next(_jumps(loop, run), None)
    later = list(_jumps(loop, _behind(statement, loop)))
    return later[0] if first is None and len(later) == 1 else first


def cases_run(switch: Node, is_meant: Callable[[Node], bool]) -> Iterator[Node]:
    """The cases of a ``switch`` that are meant by their colons, and those that they go on in."""
    goes_on = False
    for _, colon in cases_of(switch):
        case = colon.parent
        if case is not None and (goes_on or is_meant(colon)):
            yield case
            goes_on = not is_left_at_its_end(case)


def is_only_jump(branch: Node) -> bool:
    """Whether the one arm of a branch is a jump that stands alone, and hands nothing on."""
    body = branch.child_by_field_name("consequence")
    while body is not None and body.type == "compound_statement" and body.named_child_count == 1:
        body = body.named_children[0]
    is_jump = body is not None and body.type in ("break_statement", *_JUMPS)
    return is_jump and branch.child_by_field_name("alternative") is None


def _behind(statement: Node, loop: Node) -> Iterator[Node]:
    """What follows a statement in a loop, innermost first."""
    around = statement.parent
    while around is not None and statement != loop:
        if around.type in _SEQUENCES:
            yield from (one for one in around.children if one.start_byte >= statement.end_byte)
        statement, around = around, around.parent


def _jumps(loop: Node, statements: Iterable[Node]) -> Iterator[Node]:
    """The places in some statements that end a loop around them, or lead out by a label."""

    def leaves(node: Node) -> bool:
        around = node.parent
        while around is not None and around.type not in (*LOOPS, "switch_statement"):
            around = around.parent
        return node.type in _JUMPS or (node.type == "break_statement" and around == loop)

    nodes = (node for statement in statements for node in every_node(statement))
    return filter(leaves, nodes)
