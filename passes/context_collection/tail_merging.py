"""Blocks that end alike go on together (no pass; batches use it; tail merging, as compilers do it).

A lane that gave its task away goes on by a copy of the iteration's rest that does no more than
count. Where the loop ends by asking whether there is another iteration, both ways ask that, and may
leave. So if more iterations follow before members meet, no block lies on all ways before that, and
lanes that parted at the path run all these iterations in parts: each part waits for its own loads.

        add.s32 %i, %i, %n;                     add.s32 %i, %i, %n;
        setp.lt.s32 %p, %i, %end;               setp.lt.s32 %p, %i, %end;
        @%p bra NEXT;                           @%p bra NEXT;
        bra LEAVE;                              bra LEAVE;

What both end with stands once, behind a label to which both lead, and there ptxas has lanes meet.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import takewhile

from ccc.ir.edit import jump
from ccc.ir.nodes import Block, Function, Statement


def merge_tails(function: Function, blocks: Sequence[Block]) -> None:
    """Have the blocks that end with the same branches share as much of their ends as is the same.

    Args:
        function: the function; what is shared is put into it.
        blocks: those that are meant; all their ways are explicit jumps.
    """
    alike: dict[tuple[str, ...], list[Block]] = defaultdict(list)
    for block in blocks:
        branches = tuple(str(one) for one in block.instructions if one.is_terminator)
        if len(branches) > 1:
            alike[branches].append(block)
    for ending in alike.values():
        if len(ending) > 1:
            rows = zip(*(reversed(block.statements) for block in ending), strict=False)
            shared = sum(1 for _ in takewhile(_are_the_same, rows))
            tail = Block(function.fresh_label("tail"), ending[0].statements[-shared:], named=False)
            for block in ending:
                block.statements[-shared:] = [jump(tail.label)]
            function.blocks.insert(function.blocks.index(ending[0]) + 1, tail)


def _are_the_same(statements: tuple[Statement, ...]) -> bool:
    return len({str(one) for one in statements}) == 1
