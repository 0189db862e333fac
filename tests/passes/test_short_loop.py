"""Launches with few iterations a thread run a loop as it was."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.typing import NDArray

from ccc.compiler.transform import Transformed, transform
from ccc.emulator import Module
from ccc.options import Options
from ccc.passes.thresholds import FEW_ITERATIONS

THREADS = 64
KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 n)
.maxntid 64, 1, 1
{
	.reg .pred %p<9>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<9>;
	ld.param.u64 %rd1, [x];
	ld.param.u32 %r2, [n];
	mov.u32 %r1, %tid.x;
	// ccc.loop 1 k.cu:1:1
	setp.ge.u32 %p3, %r1, %r2;
	@%p3 bra OVER;
EACH:
	// ccc.for 1 k.cu:1:1
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.u32 %r3, [%rd3];
	and.b32 %r4, %r3, 7;
	setp.ne.u32 %p1, %r4, 3;
	@%p1 bra JOIN;
	// ccc.then 2 k.cu:2:1 prob=0.125 CLAUSES
	WORK
	st.global.u32 [%rd3], %r3;
JOIN:
	STEP
	setp.lt.u32 %p2, %r1, %r2;
	@%p2 bra EACH;
OVER:
	ret;
}
"""
WORK = "mad.lo.s32 %r3, %r3, %r3, %r3;\n\t" * 200
STEP = "add.s32 %r1, %r1, 64;"


def text(clauses: str = "", step: str = STEP) -> str:
    return KERNEL.replace("WORK", WORK).replace("STEP", step).replace("CLAUSES", clauses)


def runs(made: Transformed | str, iterations: int) -> tuple[NDArray[np.uint32], int]:
    """What is computed, and in how many instructions."""
    ptx = made if isinstance(made, str) else made.ptx
    values = np.random.default_rng(1).integers(0, 1000, THREADS * iterations, dtype=np.uint32)
    launch = Module(ptx).get_function("k")
    counters = launch((1,), (THREADS,), (values, np.uint32(values.size)))
    return values, counters.instructions


def has_copy(made: Transformed) -> bool:
    return "$ccc_original" in made.ptx


@pytest.mark.parametrize(
    ("clause", "kept"),
    [("", ["TURN"]), (" unroll=own", ["EACH", "TURN"])],
)
def test_the_copy_may_be_unrolled_unless_the_user_wants_it_not_to_be(
    clause: str, kept: list[str]
) -> None:
    turns = "mov.u32 %r5, 0;\nTURN:\n\tWORK\n\tadd.u32 %r5, %r5, 1;\n"
    turns += "\tsetp.lt.u32 %p4, %r5, %r4;\n\t@%p4 bra TURN;"
    given = (
        text().replace(WORK, turns.replace("WORK", WORK)).replace("k.cu:1:1", f"k.cu:1:1{clause}")
    )
    for label in ("EACH", "TURN"):
        given = given.replace(f"{label}:\n", f'{label}:\n\t.pragma "nounroll";\n')
    made = transform(given)
    blocks = re.split(r"^(?=\$?\w+:$)", made.ptx, flags=re.MULTILINE)
    copies = [one for one in blocks if one.startswith("$ccc_original")]
    whole = ["TURN" if "mad.lo.s32" in one else "EACH" for one in copies if "nounroll" in one]
    assert whole == kept


@pytest.mark.parametrize("iterations", range(1, 9))
def test_few_iterations_take_what_they_took(iterations: int) -> None:
    made = transform(text())
    assert has_copy(made)
    plain, before = runs(text(), iterations)
    found, after = runs(made, iterations)
    assert (found == plain).all()
    is_plain = 0 <= after - before < 40
    assert is_plain == (iterations <= FEW_ITERATIONS)


@pytest.mark.parametrize("iterations", range(1, 9))
@pytest.mark.parametrize("is_left_if_true", [False, True])
def test_few_iterations_of_a_counter_that_comes_to_be_its_bound(
    iterations: int, is_left_if_true: bool
) -> None:
    """As nvcc's LLVM has it where the step is 1, or the last value is known: `i != end`."""
    ordered = "setp.lt.u32 %p2, %r1, %r2;\n\t@%p2 bra EACH;"
    assert ordered in KERNEL
    differs = "setp.ne.u32 %p2, %r1, %r5;\n\t@%p2 bra EACH;"
    if is_left_if_true:
        differs = "setp.eq.u32 %p2, %r5, %r1;\n\t@!%p2 bra EACH;"
    given = text().replace(ordered, differs)
    given = given.replace("EACH:", "add.u32 %r5, %r1, %r2;\nEACH:", 1)
    made = transform(given)
    assert has_copy(made)
    plain, before = runs(given, iterations)
    found, after = runs(made, iterations)
    assert (found == plain).all()
    is_plain = 0 <= after - before < 40
    assert is_plain == (iterations <= FEW_ITERATIONS)


def test_who_asks_for_a_strategy_gets_it() -> None:
    assert not has_copy(transform(text("strategy=queue")))
    assert not has_copy(transform(text(), Options(strategy="queue")))


def test_a_loop_whose_end_is_not_told_by_a_counter_has_no_copy() -> None:
    step = "add.s32 %r1, %r1, 64;\n\txor.b32 %r1, %r1, 1;"
    made = transform(text(step=step))
    assert "$ccc_collect" in made.ptx
    assert not has_copy(made)


def test_a_counter_that_does_not_step_in_each_iteration_has_no_copy() -> None:
    """Rejection sampling, say: some threads go round more often than the counter tells."""
    step = """mov.u32 %r5, %clock;
	and.b32 %r5, %r5, 1;
	setp.eq.u32 %p4, %r5, 0;
	@%p4 bra AGAIN;
	add.s32 %r1, %r1, 64;
AGAIN:"""
    made = transform(text(step=step))
    assert "$ccc_collect" in made.ptx
    assert not has_copy(made)


def test_copies_of_an_annotated_loop_are_told_apart() -> None:
    """Templates and inlining copy a loop with its marker: what one copy gets the other may not."""
    whole = text()
    begin, end = whole.index("	// ccc.loop 1"), whole.index("OVER:\n")
    other = whole[begin:end].replace("prob=0.125", "strategy=queue")
    for label in ("EACH", "JOIN", "OVER"):
        other = other.replace(label, f"{label}_2")
    other = f"\tmov.u32 %r1, %tid.x;\n{other}OVER_2:\n"
    made = transform(whole.replace("OVER:\n", f"OVER:\n{other}"))
    assert len([one for one in made.remarks["k"] if one.applied]) == 2
    alone = transform(whole)
    copied = re.compile(r"^\$ccc_original_\d+:$", re.MULTILINE)
    assert len(copied.findall(made.ptx)) == len(copied.findall(alone.ptx)) > 0
