"""What markers cost: the script that measures it over all sources, on a few of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulating import needs_nvcc
from folders import ROOT, TESTS
from marker_cost import Shape, main, shapes

pytestmark = pytest.mark.usefixtures("few_headers")

PTX = """.entry k()
{
	mov.u32 	%r1, 0;  // a comment; with words
$L__BB0_1:
	@%p1 bra 	$L__BB0_2;
	add.s32 	%r1, %r1, 1;
	bra.uni 	$L__BB0_1;
$L__BB0_2:
	ret;
}
"""


def test_a_shape_is_instructions_and_loops() -> None:
    shape = Shape.of(PTX)
    assert shape.opcodes == {"mov.u32": 1, "bra": 1, "add.s32": 1, "bra.uni": 1, "ret": 1}
    assert (shape.instructions, shape.loops) == (5, 1)


@pytest.mark.slow
@needs_nvcc
@pytest.mark.parametrize("case", ["continuation", "any_match"])
def test_a_marker_of_an_arm_costs_no_instruction(case: str, tmp_path: Path) -> None:
    plain, marked = shapes(TESTS / "cases" / f"{case}.cu", tmp_path)
    assert plain == marked


@pytest.mark.slow
@needs_nvcc
def test_the_script_tells_what_differs(capsys: pytest.CaptureFixture[str]) -> None:
    main([str(ROOT / "tests" / "cases" / "uniform_turns.cu"), "nowhere.cu"])
    first, second, last = capsys.readouterr().out.splitlines()
    assert first.startswith("cases/uniform_turns: instructions 93 -> 91, loops 3 -> 3; more ")
    assert second.startswith("nowhere.cu: ")
    assert last == "0 alike, 1 not"
