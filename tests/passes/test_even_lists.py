"""Joined lists where they pay, and each lane its own list where these are about equally long."""

from __future__ import annotations

import numpy as np
import pytest
from collecting import transform
from deciding import golden
from folders import GOLDEN
from goldens import Golden

from ccc.analysis.paths.find import find_paths
from ccc.analysis.paths.model import Path
from ccc.compiler import transform as compiler
from ccc.emulator import Module
from ccc.options import Options
from ccc.passes.context_collection.own_lists import EVEN as QUESTION
from ccc.passes.strategies.engage import is_exact

BEFORE = Golden.read(GOLDEN / "small" / "joined_sums.ptx").before
ITERATIONS = 76
LENGTH = BEFORE[BEFORE.index("and.b32 %r7") : BEFORE.index("mov.u32 %r3")]
EVEN = "shr.u32 %r4, %r2, 5;\n\tadd.u32 %r4, %r4, 20;"
NEARLY = "rem.u32 %r4, %r2, 3;\n\tadd.u32 %r4, %r4, 20;"
ONE_LONG = """and.b32 %r8, %r2, 31;
	setp.eq.u32 %p2, %r8, 9;
	selp.u32 %r4, 199, 3, %p2;"""
SHORT = "and.b32 %r4, %r2, 3;"


def shuffles(
    lengths: str,
    threads: int,
    arch: str = "sm_90",
    strategy: str = "engage",
    told: str = "shfl.sync",
) -> int:
    """How many lanes tell one another something, in a launch that leaves what it should."""
    marked = BEFORE.replace(LENGTH, lengths).replace("sm_90", arch)
    text = transform(marked, Options(strategy=strategy), filename="k.ptx").ptx
    assert "$ccc_share_0:" in text
    found, expected = np.zeros(300, np.uint32), np.zeros(300, np.uint32)
    counted = Module(text, step_limit=20_000).get_function("k")(
        (1,), (threads,), (np.int32(ITERATIONS), found)
    )
    Module(marked, step_limit=20_000).get_function("k")(
        (1,), (threads,), (np.int32(ITERATIONS), expected)
    )
    np.testing.assert_array_equal(found, expected)
    lines = text.splitlines()
    return sum(
        counts.thread_instructions
        for (_, number), counts in counted.lines.items()
        if told in lines[number - 1]
    )


@pytest.mark.parametrize("lengths", [EVEN, NEARLY, SHORT])
def test_even_and_short_lists_are_run_by_their_own_lanes(lengths: str) -> None:
    assert shuffles(lengths, 64) == 0


@pytest.mark.parametrize("arch", ["sm_75", "sm_80"])
def test_a_long_list_among_short_ones_is_shared_out(arch: str) -> None:
    assert shuffles(ONE_LONG, 64, arch) > 0


def test_nobody_can_ask_before_lengths_can_be_added_up_at_once() -> None:
    assert shuffles(EVEN, 64, "sm_75") > 0
    assert shuffles(EVEN, 64, "sm_80") == 0


@pytest.mark.parametrize(
    ("lengths", "is_shared"), [(EVEN, False), (SHORT, False), (ONE_LONG, True)]
)
def test_a_block_shares_out_the_lists_of_warps_that_are_uneven(
    lengths: str, is_shared: bool
) -> None:
    taken = shuffles(lengths, 64, strategy="engage_block", told="shfl.sync.idx")
    asked = 64 * 3  # once each time that the block meets, whether a list has an item left
    assert (taken > asked * 4) == is_shared


def test_a_warp_without_one_of_its_lanes_shares_nothing_out() -> None:
    both, one, none = (shuffles(ONE_LONG, threads) for threads in (64, 63, 31))
    assert both > one > none == 0


ONE_LOOP = """	mov.u32 %r7, 0;
NEAR:
	mad.lo.u32 %r6, %r6, %r6, %r7;
	add.s32 %r7, %r7, 1;
	setp.lt.u32 %p2, %r7, %r4;
	@%p2 bra NEAR;
	add.s32 %r5, %r5, %r6;"""
LOOPS = f"""	mov.u32 %r8, 0;
FAR:
{ONE_LOOP}
	add.s32 %r8, %r8, 1;
	setp.lt.u32 %p2, %r8, %r4;
	@%p2 bra FAR;"""


LONG = "\tmad.lo.u32 %r6, %r6, %r6, %r6;\n" * 600 + "\tadd.s32 %r5, %r5, %r6;"
READS = ONE_LOOP.replace(
    "mad.lo.u32 %r6, %r6, %r6, %r7;",
    "mul.wide.u32 %rd2, %r6, 4;\n\tadd.s64 %rd3, %rd1, %rd2;\n\tld.global.u32 %r6, [%rd3];",
)


@pytest.mark.parametrize(
    ("turn", "expected"),
    [(LONG, "engage_block"), (ONE_LOOP, "engage"), (LOOPS, "engage"), (READS, "engage")],
)
def test_a_block_shares_out_turns_that_are_long_by_their_code_though_nobody_asks(
    turn: str, expected: str
) -> None:
    add = "\tadd.s32 %r5, %r5, %r6;"
    assert add in BEFORE
    marked = BEFORE.replace(add, turn)
    ((found,),) = compiler.transform(marked).remarks.values()
    assert (found.strategy, found.asked) == (expected, None)
    named = marked.replace("ccc.variable 2 k.cu:2:1", "ccc.variable 2 k.cu:2:1 strategy=engage")
    ((found,),) = compiler.transform(named).remarks.values()
    assert (found.strategy, found.asked) == ("engage", "engage")


@pytest.mark.parametrize(
    ("name", "expected"), [("block_lists_apart", False), ("block_lists_even", True)]
)
def test_rounded_sums_are_not_left_to_chance(name: str, expected: bool) -> None:
    kernel = golden(name)
    (path,) = (one for one in find_paths(kernel.facts) if isinstance(one, Path))
    assert is_exact(path, kernel.facts) == expected


def test_a_long_turn_is_shared_out_sooner_than_a_short_one() -> None:
    slow = "\n".join(["mul.lo.u32 %r6, %r6, %r6;"] * 40)
    lengths = "shr.u32 %r8, %r2, 3;\n\tand.b32 %r8, %r8, 1;\n\tmul.lo.u32 %r4, %r8, 40;"
    longer = lengths + "\n\tadd.u32 %r4, %r4, 20;"
    assert shuffles(longer, 64) == 0
    add = "add.s32 %r5, %r5, %r6;"
    assert add in BEFORE
    marked = BEFORE.replace(add, f"{slow}\n\t{add}").replace(LENGTH, longer)
    text = transform(marked, Options(strategy="engage"), filename="k.ptx").ptx
    share, start = _asked(text)
    assert (share, start) < _asked(transform(BEFORE, Options(strategy="engage"), filename="k").ptx)


def _asked(text: str) -> tuple[int, int]:
    """By what all lists are multiplied, and what is added, before the longest is compared."""
    line = next(one for one in text.splitlines() if "add.u64 %ccc_shared" in one)
    before = text.splitlines()[text.splitlines().index(line) - 1]
    share, start = (one.rstrip(";").split(", ")[-1] for one in (before, line))
    return int(share), int(start)


@pytest.mark.parametrize("longest", [1, 100, (1 << 23) - 1, 1 << 23, (1 << 26) - 1])
@pytest.mark.parametrize("others", [0, 1])
def test_lists_of_any_length_are_weighed(longest: int, others: int) -> None:
    """Of one long list and of 32 alike; the numbers must not begin anew at 0."""
    share, start = 52, 4632
    question = QUESTION.of(ALL=512, SHARED=share, START=start).text
    text = f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 turns, .param .u64 even)
{{
	.reg .b64 %rd<4>;
	.reg .b32 %r<2>;
	ld.param.u64 %rd1, [turns];
	ld.param.u64 %rd2, [even];
{question.replace(", %count,", ", %mine,").replace("%count", "%mine")}
	selp.u32 %r0, 1, 0, %even;
	st.global.u32 [%rd2], %r0;
	ret;
}}
"""
    where = "\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd3, %r1, 4;\n\tadd.s64 %rd3, %rd1, %rd3;\n"
    text = text.replace("        redux", f"{where}\tld.global.u32 %mine, [%rd3];\n        redux", 1)
    turns = np.full(32, longest * others, np.uint32)
    turns[9] = longest
    found = np.zeros(1, np.uint32)
    Module(text).get_function("k")((1,), (32,), (turns, found))
    assert bool(found[0]) == (longest * 512 <= int(turns.sum()) * share + start)
