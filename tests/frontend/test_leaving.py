"""Where code leaves the loop around it."""

from __future__ import annotations

import pytest

from ccc.frontend.leaving import jump_out_of
from ccc.frontend.syntax import LOOPS, every_node, parse_cuda

CODE = b"""void f() { while (x) { switch (y) {
case 0: a = 1; break;
case 1: a = 2;
case 2: if (a) goto out; break;
default: return; }
BEHIND } out:; }"""


@pytest.mark.parametrize(
    ("behind", "case", "line"),
    [
        (b"", 0, None),
        (b"", 1, 3),
        (b"", 2, 3),
        (b"", 3, 4),
        (b"if (a) break;", 0, 5),
        (b"if (a) { b = 1; } else goto out;", 0, 5),
        (b"if (a) break; if (b) break;", 0, None),
        (b"for (;;) break;", 0, None),
        (b"if (a) break;", None, 3),
    ],
)
def test_a_case_leaves_by_its_own_jump_or_by_the_only_one_behind(
    behind: bytes, case: int | None, line: int | None
) -> None:
    code = CODE.replace(b"BEHIND", behind)
    tree = parse_cuda(code, [(0, len(code))])
    every = list(every_node(tree.root_node))
    loop = next(one for one in every if one.type in LOOPS)
    switch = next(one for one in every if one.type == "switch_statement")
    is_meant = None if case is None else lambda colon: colon.start_point[0] == case + 1
    found = jump_out_of(loop, switch, is_meant)
    assert (found and found.start_point[0]) == line
