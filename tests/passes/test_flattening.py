"""Flattening, beyond what the goldens show: what becomes of other paths, and what is declined."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from collecting import transform
from folders import ERRORS, GOLDEN
from goldens import Golden

from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import FoundPath
from ccc.analysis.paths.nests import find_nest
from ccc.compiler import transform as compiler
from ccc.compiler.advice import ADVICE
from ccc.emulator import Module
from ccc.errors import Span
from ccc.harness.equivalence import difference, run
from ccc.ir.markers import Marker
from ccc.options import Options
from ccc.parse import parse_function, parse_module
from ccc.passes.choice.before import flattening
from ccc.passes.choice.lanes import Lanes
from ccc.passes.context_collection.collection import FLATTEN
from ccc.passes.flattening.flattening import (
    AROUND_FLATTENED,
    BESIDE,
    HOLDS_FLATTENED,
    IN_FLATTENED,
    IN_ITSELF,
)
from ccc.passes.flattening.grid_pool import CHUNK
from ccc.passes.grid_stride.task_counter import LINE_BYTES, PLACES
from ccc.passes.policy import turns_apart
from ccc.passes.thresholds import MOST_TURNS_APART, TURNS_LENGTH
from ccc.pipeline import Kernel
from ccc.remark import Remark


def remarks(ptx: str, strategy: str = "auto") -> list[Remark]:
    (mine,) = transform(ptx, Options(strategy=strategy)).remarks.values()
    return mine


def chosen(ptx: str) -> list[Remark]:
    (mine,) = compiler.transform(ptx).remarks.values()
    return mine


def before(name: str) -> str:
    return Golden.read(GOLDEN / f"{name}.ptx").before


POOLED = before("small/refill_pool")
COUNTED = before("small/counter")


def test_of_two_inner_loops_one_is_flattened() -> None:
    inner = """INNER:
	// ccc.while 1 k.cu:1:1
	mad.lo.u32 %r3, %r3, 1664525, %r2;
	sub.s32 %r4, %r4, 1;
	setp.gt.s32 %p1, %r4, 0;
	@%p1 bra INNER;
"""
    marked = before("small/flatten")
    start = marked.index("INNER:")
    end = marked.index("	add.s32 %r2, %r2, 17;")
    second = inner.replace("INNER", "SECOND").replace("while 1", "while 2")
    second = f"	and.b32 %r4, %r3, 15;\n{second}"
    way_out = ADVICE["it lies in a loop that was flattened"]
    first, other = remarks(marked[:start] + inner + second + marked[end:], "flatten")
    assert {(first.strategy, first.advice), (other.strategy, other.advice)} == {
        ("flatten", None),
        ("leave", f"{IN_FLATTENED} (for the loop on line 1); {way_out}"),
    }


def test_paths_beside_a_flattened_loop_are_left() -> None:
    found = remarks(before("context-collection/nested_paths"), "flatten")
    assert not any(one.strategy == "flatten" for one in found)  # it has no inner loop
    marked = before("context-collection/path_in_variable_loop")
    flattened = remarks(re.sub(r"(// ccc\.variable .*)", r"\1 strategy=flatten", marked))
    assert {one.strategy for one in flattened} == {"flatten", "leave"}
    assert not any(one.complaint for one in flattened)  # nothing was asked of them
    way_out = ADVICE["it lies in the very loop that was flattened"]
    assert "split" not in way_out  # it would be in that loop all the same
    line = " (that on line 9)"
    around = f"{AROUND_FLATTENED}{line}; {ADVICE['it holds a loop that was flattened']}"
    assert {one.advice for one in flattened} == {None, around, f"{IN_ITSELF}{line}; {way_out}"}
    asked = re.sub(r"(// ccc\.(?:variable|then) .*)", r"\1 strategy=flatten", marked)
    for one in remarks(asked):
        said = (AROUND_FLATTENED, IN_ITSELF, HOLDS_FLATTENED)
        assert one.reason is None or one.reason.startswith(said)
        assert bool(one.complaint) != one.applied


BRANCH = """	and.b32 %r6, %r2, 3;
	setp.ne.s32 %p1, %r6, 0;
	@%p1 bra PAST;
	// ccc.then 9 k.cu:9:9
	st.global.u32 [%rd1], %r2;
PAST:
"""


def beside(asked: str, of_branch: str = "", of_loop: str = "") -> dict[str, Remark]:
    """What becomes of an inner loop and a branch beside it where the option asks for something."""
    first, last = POOLED.split("INNER:\n", 1)
    marked = first + BRANCH.replace(":9:9", f":9:9{of_branch}") + "INNER:\n" + last
    marked = re.sub(r"(// ccc\.while \d+ \S+)", rf"\1{of_loop}", marked)
    return {one.arm: one for one in remarks(marked, asked)}


@pytest.mark.parametrize("asked", ["refill(2)", "flatten"])
def test_the_option_flattens_no_loop_beside_a_branch_that_can_be_collected(asked: str) -> None:
    found = beside(asked)
    assert not any(one.applied or one.reason for one in found.values())  # as nobody asks
    assert beside("collect")["then"].applied
    assert f"strategy({asked}) does not apply: {BESIDE}; ask on" in str(found["while"].complaint)
    assert found["then"].complaint is None
    left = beside(asked, of_branch=" strategy=leave")
    for other in (left, beside("auto", of_loop=f" strategy={asked}")):
        assert other["while"].strategy == asked
        assert not other["then"].applied


def test_an_arm_cannot_be_flattened() -> None:
    marked = before("context-collection/if_else")
    asked = re.sub(r"(// ccc\.(then|else) .*)", r"\1 strategy=flatten", marked)
    for one in remarks(asked):
        assert one.applied
        why = 'it is no inner loop, marked "ccc while" or "ccc for variable"'
        assert str(one.declined).startswith(why)


def test_the_annotated_loop_may_ask_for_it() -> None:
    (first, *_) = remarks(before("flattening/refill"))
    assert (first.strategy, first.asked, first.declined) == ("refill(8)", "refill(8)", None)


@pytest.mark.parametrize("name", ["flatten", "flatten_ways_out", "flatten_in_arms"])
def test_no_branch_is_said_to_be_uniform(name: str) -> None:
    """Lanes in different iterations come to it."""
    golden = Golden.read(GOLDEN / "flattening" / f"{name}.ptx")
    (piece,) = parse_module(golden.after).functions
    function = parse_function(piece)
    around = max(Facts(function).loops, key=lambda loop: len(loop.blocks))
    inside = [block for block in function.blocks if block.label in around.blocks]
    assert not any("uni" in i.modifiers for block in inside for i in block.instructions)


def test_short_turns_are_done_in_a_row() -> None:
    assert turns_apart(1) == MOST_TURNS_APART
    assert turns_apart(TURNS_LENGTH) == turns_apart(10 * TURNS_LENGTH) == 1


@pytest.mark.parametrize(
    ("place", "instead"),
    [
        ("", ""),
        ("add.s32 %r2, %r2, 64;", "add.s32 %r2, 64, %r2;"),
        ("add.s32 %r2, %r2, 64;", "mov.b32 %r7, %r2; mad.lo.s32 %r2, %r1, 3, %r7;"),
        ("setp.lt.s32 %p2, %r2, %r1;", "setp.lt.u32 %p2, %r2, 300;"),
    ],
)
def test_lanes_take_iterations_of_one_another(place: str, instead: str) -> None:
    (found,) = remarks(POOLED.replace(place, instead), "refill(2)")
    assert found.details["pooled"]


@pytest.mark.parametrize(
    ("place", "instead", "reason"),
    [
        ("setp.lt.s32 %p2, %r2, %r1;", "setp.ne.s32 %p2, %r2, %r1;", "does not end by a compar"),
        ("add.s32 %r2, %r2, 64;", "add.s32 %r2, %r2, %r6;", "%r6;) on to the next"),
        ("add.s32 %r2, %r2, 64;", "shl.b32 %r2, %r2, 1;", "hands a value (PTX line"),
        (
            "add.s32 %r2, %r2, 64;",
            "add.s32 %r2, %r2, 64; add.s32 %r6, %r6, %r3;",
            "add.s32 %r6, %r6, %r3;) on to the next",
        ),
        ("xor.b32 %r3, %r2, %r6;", "mov.u32 %r3, %tid.x;", "use what belongs to the thread"),
        ("ret;", "st.global.u32 [%rd2], %r2; ret;", "the code after the loop needs what"),
        ("// ccc.for 1", "// ccc.loop 1", 'is not annotated "ccc for"'),
        (
            "\tmul.wide",
            "\tsetp.gt.u32 %p1, %r3, %r2;\n\t@%p1 bra OUT;\n\tmul.wide",
            "does not end by a comparison of a 32-bit counter with a bound (i < n), and it may end",
        ),
    ],
)
def test_lanes_keep_their_own_iterations(place: str, instead: str, reason: str) -> None:
    marked = POOLED.replace(place, instead).replace("\tret;", "OUT:\n\tret;")
    (found,) = remarks(marked, "refill(2)")
    assert (found.strategy, found.details["pooled"]) == ("refill(2)", False)
    assert reason in found.details["pooled_reason"]


def test_flatten_lets_lanes_keep_theirs() -> None:
    (found,) = remarks(POOLED, "flatten")
    assert not found.details["pooled"]
    assert found.details["pooled_reason"] == "flatten lets each lane keep its own iterations"


@pytest.mark.parametrize(
    ("place", "instead"),
    [
        ("", ""),
        ("setp.ge.s32 %p3, %r2, %r1;\n\t@%p3", "setp.lt.s32 %p3, %r2, %r1;\n\t@!%p3"),
        ("@%p3 bra DONE;", "@%p3 ret;"),
        ("mad.lo.s32 %r2, %r5, %r6", "mad.lo.u32 %r2, %r6, %r5"),
        ("mul.lo.s32 %r9, %r8, %r6;", "mov.u32 %r9, 128;"),
        (
            "setp.ge.s32 %p3, %r2, %r1;",
            ".reg .b32 %n;\n\tld.param.u32 %n, [n];\n\tsetp.ge.s32 %p3, %r2, %n;",
        ),
        (
            "setp.ge.s32 %p3",
            "setp.eq.s32 %p0, %r1, 7;\n\t@%p0 bra DONE;\n\tsetp.ge.s32 %p3",
        ),
    ],
)
def test_all_warps_take_iterations_from_a_counter(place: str, instead: str) -> None:
    (found,) = remarks(COUNTED.replace(place, instead), "counter(2)")
    assert (found.strategy, found.details["pooled"]) == ("counter(2)", True)


def test_numbers_that_are_taken_when_none_is_left_do_not_wrap_around() -> None:
    """Each warp takes one too many: of a block of few threads, too."""
    module = Module(transform(COUNTED, Options(strategy="counter(2)")).ptx)
    words = module.get_global("ccc_counters_k").view(np.uint32)
    lines = words[LINE_BYTES // 4 :].reshape(PLACES, 2, -1)
    lines[:, 1, 0] = (1 << 32) // CHUNK
    launch = Golden.read(GOLDEN / "small" / "counter.ptx").launch
    found, _ = run(module, "k", launch)
    assert difference(launch.arguments(), found) is None


LONG_TURNS = before("small/counter_unasked")


def test_a_counter_serves_long_turns_though_nobody_asks() -> None:
    (found,) = chosen(LONG_TURNS)
    assert (found.strategy, found.asked) == ("counter(2)", None)
    assert 0.95 <= found.details["at_worst"]["counter(2)"] < 1 < found.details["expected"]
    assert found.details["expected_from"] == "nothing is known"
    (told,) = chosen(LONG_TURNS.replace("ccc.while 2 k.cu:2:1", "ccc.while 2 k.cu:2:1 prob=1"))
    assert told.strategy == "counter(2)"
    assert told.details["expected_from"] == "prob(1)"
    assert told.details["expected"] == found.details["expected"]


@pytest.mark.parametrize(
    ("place", "instead"),
    [
        ("\t@%p1 bra FAR;\n", ""),  # a shorter turn
        ("INNER:", "\tsetp.eq.s32 %p1, %r4, 0;\n\t@%p1 bra PAST;\nINNER:"),  # none for some
        ("FAR:", "\tsetp.eq.s32 %p1, %r4, 0;\n\t@%p1 bra PAST;\nFAR:"),  # it asks first
        ("// ccc.for 1", "// ccc.loop 1"),
        ("ccc.while 2 k.cu:2:1", "ccc.while 2 k.cu:2:1 strategy=leave"),
        ("mov.u32 %r3, %r2;", "add.s32 %r3, %r2, %ctaid.x;"),
    ],
)
def test_it_serves_no_others(place: str, instead: str) -> None:
    marked = LONG_TURNS.replace("\tmul.wide", "PAST:\n\tmul.wide")
    assert place in marked
    changed = marked.replace(place, instead)
    assert all(one.strategy != "counter(2)" for one in chosen(changed))


@pytest.mark.parametrize("turns", ["mov.u32 %r4, 3;", "shr.u32 %r4, %r2, 5;"])
def test_turns_that_agree_need_no_counter(turns: str) -> None:
    alike = LONG_TURNS.replace("and.b32 %r4, %r3, 3;", turns)
    assert alike != LONG_TURNS
    assert all(one.strategy != "counter(2)" for one in chosen(alike))


IN_A_TURN = """	and.b32 %r11, %r3, 7;
	setp.ne.s32 %p1, %r11, 0;
	@%p1 bra JOIN;
	// ccc.then 3 k.cu:3:1ASKED
	mad.lo.u32 %r3, %r3, 1664525, 5;
JOIN:
FAR:
"""


@pytest.mark.parametrize("asked", ["", " prob=0.01", " strategy=merge", " strategy=leave"])
def test_nobody_has_to_give_up_a_branch_of_its_turns(asked: str) -> None:
    """Only one that is to be left stands in a loop with a counter, and nobody is warned of it."""
    found = {one.arm: one for one in chosen(
        LONG_TURNS.replace("FAR:\n", IN_A_TURN.replace("ASKED", asked))
    )}  # fmt: skip
    assert (found["while"].strategy == "counter(2)") == ("leave" in asked)
    assert found["then"].complaint is None
    assert found["then"].advice != IN_FLATTENED


@pytest.mark.parametrize("asked", ["flatten", "refill(2)"])
def test_nobody_is_warned_of_a_branch_that_is_to_be_left(asked: str) -> None:
    found = beside("auto", of_branch=" strategy=leave", of_loop=f" strategy={asked}")
    assert found["while"].strategy == asked
    assert (found["then"].strategy, found["then"].complaint) == ("leave", None)


@pytest.mark.parametrize(
    ("place", "instead", "reason"),
    [
        ("// ccc.for 1", "// ccc.loop 1", 'is not annotated "ccc for"'),
        ("mov.u32 %r7, %tid.x;", "mov.u32 %r7, %laneid;", "does not begin with blockIdx.x"),
        ("%r5, %r6, %r7;", "%r5, 64, %r7;", "does not begin with blockIdx.x"),
        ("and.b32 %r4, %r3, 31;", "and.b32 %r4, %r3, %r5;", "more than their number and what"),
        ("mov.u32 %r3, %r2;", "add.s32 %r3, %r2, %ctaid.y;", "ask for their block or warp"),
        (
            "st.global.u32 [%rd2], %r3;",
            "st.global.u32 [%rd2], %r3; nanosleep.u32 9;",
            "hold what may belong to their block",
        ),
        (
            "st.global.u32 [%rd2], %r3;",
            "st.global.u32 [%rd2], %r3; st.shared.u32 [%r4], %r3;",
            "may use the shared memory of a block",
        ),
        ("mul.lo.s32 %r9", "ld.global.u32 %r4, [%rd1];\n\tmul.lo.s32 %r9", "is done before or"),
        ("DONE:", "DONE:\n\tst.global.u32 [%rd1], %r1;", "is done before or after"),
        ("\t@%p3 bra DONE;\n", "", "begins before its bound is looked at"),
        ("@%p3 bra DONE;", "@!%p3 bra DONE;", "for other reasons than their number"),
        ("setp.ge.s32 %p3, %r2, %r1", "setp.ge.s32 %p3, %r7, %r1", "for other reasons"),
        ("setp.ge.s32 %p3, %r2, %r1", "setp.ge.s32 %p3, %r2, 99", "for other reasons"),
        ("setp.ge.s32 %p3, %r2, %r1", "setp.gt.s32 %p3, %r2, %r1", "for other reasons"),
        ("setp.ge.s32 %p3, %r2, %r1", "setp.ge.u32 %p3, %r2, %r1", "for other reasons"),
        ("add.s32 %r2, %r2, %r9;", "add.s32 %r2, %r2, %r5;", "more than their number and what"),
        (
            "@%p2 bra OUTER;",
            "@%p2 bra OUTER;\n\tsetp.lt.s32 %p0, %r1, 5;\n\t@%p0 bra AGAIN;",
            "lies in a loop",
        ),
    ],
)
def test_a_counter_needs_a_row_of_numbers(place: str, instead: str, reason: str) -> None:
    marked = re.sub(r"(// ccc.while 2 \S+)", r"\1 strategy=counter(2)", COUNTED)
    marked = marked.replace("\tmov.u32 %r5", "AGAIN:\n\tmov.u32 %r5")
    changed = marked.replace(place, instead)
    assert changed != marked
    (found,) = remarks(changed)
    assert found.strategy != "counter(2)"
    assert reason in str(found.complaint)


def lone_loops() -> Iterator[tuple[Golden, str, bool]]:
    """The refused files with one inner loop that is left, its marker, and if ``flatten`` is named.

    Nothing is asked for in them.
    """
    for path in sorted(ERRORS.glob("*.ptx")):
        golden = Golden.read(path)
        every = [one for mine in golden.transform().remarks.values() for one in mine]
        left = [one for one in every if one.arm in ("while", "variable") and one.reason]
        if len(left) == 1 and "strategy=" not in golden.before:
            yield golden, left[0].arm, FLATTEN in str(left[0].reason)


def test_flatten_is_named_where_it_would_serve_an_inner_loop_that_is_left() -> None:
    outcomes = []
    for golden, marker, is_named in lone_loops():
        asked = re.sub(rf"(// ccc\.{marker} \d+ \S+)", r"\1 strategy=flatten", golden.before)
        mine = transform(asked, golden.options).remarks.values()
        flattened = [one for some in mine for one in some if one.strategy == "flatten"]
        assert flattened or not is_named, golden.path.stem
        outcomes.append(is_named)
    assert outcomes.count(True) > 3
    assert False in outcomes


READS = "ld.global.u32 %r5, [%rd1]; add.s64 %rd1, %rd1, 4;\n\tadd.u32 %r3, %r3, %r5;\n\t"
EVERYONE = Lanes("", 1.0, 32.0, 80.0, 400.0, came=32.0)


def gain(lanes: Lanes, reads: str = "") -> float:
    """How many times as fast a nest is expected that waits for nothing, or reads in each turn."""
    text = before("small/flatten").replace("sub.s32 %r4", f"{reads}sub.s32 %r4")
    text = text.replace("add.s64 %rd1, %rd1, %rd2;\n", "", 1) if reads else text
    function = parse_function(next(iter(parse_module(text, "k.ptx").functions)))
    kernel = Kernel(function, Facts(function), arch="sm_90")
    nest = find_nest(FoundPath(Marker("while", 1, Span("k.cu", 1, 1)), "INNER", True), kernel.facts)
    return flattening(nest, lanes, kernel)


def test_lanes_that_have_left_the_outer_loop_stay_idle() -> None:
    few = replace(EVERYONE, lanes=3.0, most_turns=14.0)
    assert gain(replace(few, came=3.0)) < gain(few) / 4


def test_of_few_iterations_a_lane_may_have_the_longest() -> None:
    gains = [gain(replace(EVERYONE, iterations=number)) for number in (1.0, 4.0, 400.0)]
    assert gains[0] < gains[1] < 1 < gains[2] < gain(EVERYONE)


def test_what_all_lanes_read_at_once_each_reads_by_itself_then() -> None:
    assert gain(EVERYONE, READS) < 1 < gain(EVERYONE)
