"""What nvcc would load before a loop, if there were no marker, is loaded there."""

from __future__ import annotations

import pytest
from folders import GOLDEN
from goldens import Golden
from inner_loop import with_inner_loop

from ccc.analysis.facts import Facts
from ccc.emulator import Module
from ccc.harness.equivalence import difference, run
from ccc.parse import parse_function, parse_module
from ccc.passes.load_motion import LoadMotion
from ccc.passes.thresholds import INVARIANT_WORDS
from ccc.pipeline import Kernel

TEXT = """.version 8.0
.target sm_80
.address_size 64
.const .align 4 .b8 table[64];
.visible .entry k(.param .u64 k_0)
{{
    .reg .pred %p<6>;
    .reg .b32 %r<40>;
    .reg .b64 %rd<9>;
    .param .b32 result;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [k_0];
    mul.wide.u32 %rd7, %r1, 4;
    add.s64 %rd2, %rd1, %rd7;
    mov.u32 %r3, 0;
    mov.u32 %r9, 0;
    {before}
    // ccc.loop 1 k.cu:1:1
TURN:
    {marker}
    {header}
    setp.lt.u32 %p3, %r3, 5;
    @%p3 bra JOIN;
    {arm}
JOIN:
    {join}
    st.global.u32 [%rd2], %r4;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p2, %r3, 32;
    @%p2 bra TURN;
OUT:
    {behind}
    ret;
}}
"""
MARKER = "// ccc.for 1 k.cu:1:1"
LOAD = "ld.global.nc.u32 %r4, [%rd2];"
BOUND = "setp.eq.u32 %p1, %r1, 7;\n@%p1 bra OUT;"


def prepared(
    header: str = "",
    arm: str = "",
    join: str = "",
    marker: str = MARKER,
    before: str = BOUND,
    behind: str = "",
) -> Kernel:
    parts = {"header": header, "arm": arm, "join": join, "marker": marker}
    text = TEXT.format(**parts, before=before, behind=behind)
    function = parse_function(next(iter(parse_module(text, "k.ptx").functions)))
    return Kernel(function, Facts(function))


def moved(*text: str, **parts: str) -> list[str]:
    """The instructions that are put before the loop."""
    kernel = prepared(*text, **parts)
    old = {block.label: list(map(str, block.instructions)) for block in kernel.function.blocks}
    LoadMotion().run(kernel)
    blocks = kernel.function.blocks
    found = [str(i) for block in blocks if block.label not in old for i in block.instructions]
    kept = [str(i) for block in blocks if block.label in old for i in block.instructions]
    assert sorted(found + kept) == sorted(one for some in old.values() for one in some)
    return found


@pytest.mark.parametrize("kind", ["for", "variable", "while"])
def test_a_load_of_read_only_memory_is_moved(kind: str) -> None:
    assert moved(LOAD, marker=f"// ccc.{kind} 1 k.cu:1:1") == [LOAD]


@pytest.mark.parametrize(
    "instruction",
    [
        "ld.global.nc.L1::evict_last.u32 %r4, [%rd2];",
        "ld.global.nc.v2.u32 {%r4, %r5}, [%rd2];",
        "ld.const.u32 %r4, [%rd2];",
        "div.s32 %r4, %r1, %r1;",
        "rem.u32 %r4, 100, %r1;",
    ],
)
def test_so_is_what_else_may_fault_and_is_the_same_in_all_turns(instruction: str) -> None:
    assert moved(instruction) == [instruction]


def test_with_what_makes_its_address_and_what_is_made_of_it() -> None:
    address, load = "add.s64 %rd3, %rd2, %rd1;", "ld.global.nc.u32 %r4, [%rd3+8];"
    assert moved(f"add.s32 %r6, %r1, 1;\n{address}\n{load}\nadd.s32 %r5, %r4, 1;") == [
        address, load, "add.s32 %r5, %r4, 1;"
    ]  # fmt: skip


def test_where_each_turn_comes_to_it_but_not_out_of_an_arm() -> None:
    assert moved(join=LOAD) == [LOAD]
    assert moved(arm=LOAD) == []
    assert moved(f"{BOUND}", join=LOAD) == []  # a turn may leave before


@pytest.mark.parametrize(
    "header",
    [
        "ld.global.u32 %r4, [%rd2];",  # a turn may have written it
        "ld.volatile.global.u32 %r4, [%rd2];",
        "ld.param.u32 %r4, [result];",  # another call gave another one
        "@%p3 ld.global.nc.u32 %r4, [%rd2];",
        "mul.wide.u32 %rd3, %r3, 4;\nld.global.nc.u32 %r4, [%rd3];",
        "ld.global.nc.u32 %r4, [%rd2];\nadd.u32 %r4, %r4, 1;",
        "add.u32 %r9, %r9, 1;\nmov.u32 %r8, %r9;\nld.global.nc.u32 %r9, [%rd2];",
        "mov.u32 %r5, %laneid;\ndiv.u32 %r4, %r1, %r5;",
        "div.rn.f32 %r4, %r1, %r1;",
        "bar.sync 0;\nld.global.nc.u32 %r4, [%rd2];",
        "membar.gl;\nld.global.nc.u32 %r4, [%rd2];",
    ],
)
def test_what_differs_or_may_not_be_come_to_is_left(header: str) -> None:
    assert moved(header) == []


def test_nothing_is_moved_over_what_threads_may_wait_at() -> None:
    assert moved(f"{LOAD}\nbar.sync 0;") == [LOAD]
    assert moved(join=f"{LOAD}\nbar.sync 0;") == []


def test_a_loop_without_a_marker_is_as_nvcc_wants_it() -> None:
    assert moved(LOAD, marker="") == []


NARROWED = "cvt.u32.u64 %r4, %rd3;"


@pytest.mark.parametrize("kind", ["variable", "while"])
@pytest.mark.parametrize(
    ("step", "is_moved"),
    [
        ("add.u32 %r1, %r4, 32;", True),
        ("shl.b32 %r5, %r4, 1;\nadd.u32 %r1, %r5, 32;", True),
        ("st.global.u32 [%rd1], %r4;\nadd.u32 %r1, %r1, 32;", False),  # the task has it
    ],
)
def test_what_a_loop_makes_for_the_next_iteration_is_made_before_it(
    step: str, is_moved: bool, kind: str
) -> None:
    turn = f"{NARROWED}\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p2, %r3, %r4;"
    kernel = with_inner_loop(turn, "cvt.u64.u32 %rd3, %r1;\nmov.u32 %r3, 0;", "", kind, step)
    LoadMotion().run(kernel)
    before = [b for b in kernel.function.blocks if not any(b.markers)]
    assert any(NARROWED in map(str, block.instructions) for block in before) == is_moved
    inner = next(b for b in kernel.function.blocks if any(m.kind == kind for m in b.markers))
    assert (NARROWED in map(str, inner.instructions)) != is_moved


@pytest.mark.parametrize(
    ("kind", "copy", "is_moved"),
    [
        ("variable", "mov.u32 %r5, %r9;", True),
        ("variable", "mov.u32 %r5, 7;", True),
        ("variable", "mov.u32 %r5, %r3;", False),  # the counter
        ("variable", "add.u32 %r5, %r9, 1;", False),
        ("while", "mov.u32 %r5, %r9;", False),
    ],
)
def test_a_copy_that_is_needed_behind_independent_turns_is_made_before_them(
    kind: str, copy: str, is_moved: bool
) -> None:
    parts = {"marker": f"// ccc.{kind} 1 k.cu:1:1", "before": f"mov.u32 %r5, 1;\n{BOUND}"}
    assert moved(copy, **parts) == []
    assert moved(copy, **parts, behind="st.global.u32 [%rd2], %r5;") == [copy] * is_moved


def test_the_load_stays_behind_the_test_before_the_loop() -> None:
    kernel = prepared(LOAD)
    LoadMotion().run(kernel)
    facts = kernel.facts
    place = next(b.label for b in kernel.function.blocks if LOAD in map(str, b.instructions))
    assert list(facts.graph.successors(place)) == ["TURN"]
    assert facts.entry in facts.dominators.chain(place)
    assert "OUT" in facts.graph.successors(facts.entry)


def test_all_ways_into_the_loop_lead_over_the_load() -> None:
    kernel = prepared(
        LOAD,
        before="setp.eq.u32 %p1, %r1, 7;\n@%p1 bra TURN;\nsetp.eq.u32 %p1, %r1, 8;\n"
        "@%p1 bra OUT;\nmov.u32 %r3, 9;",
    )
    assert len(list(kernel.facts.graph.predecessors("TURN"))) == 3
    LoadMotion().run(kernel)
    (before,) = set(kernel.facts.graph.predecessors("TURN")) - {"JOIN"}
    assert next(str(i) for i in kernel.facts.blocks[before].instructions) == LOAD
    assert len(list(kernel.facts.graph.predecessors(before))) == 2


def test_a_loop_with_two_entries_is_left() -> None:
    assert moved(LOAD, before="setp.eq.u32 %p1, %r1, 7;\n@%p1 bra JOIN;") == []


def test_a_loop_where_the_kernel_begins_is_left() -> None:
    kernel = prepared(LOAD)
    blocks = kernel.function.blocks
    kernel.function.blocks = [block for block in blocks if block.label in ("TURN", "JOIN", "OUT")]
    kernel.changed()
    before = list(map(str, kernel.function.instructions))
    LoadMotion().run(kernel)
    assert list(map(str, kernel.function.instructions)) == before


def test_what_comes_from_where_all_lanes_read_costs_no_context() -> None:
    kernel = prepared("ld.global.nc.u32 %r4, [%rd1];\nld.global.nc.u32 %r5, [%rd2];")
    LoadMotion().run(kernel)
    differ = {register.name for register in kernel.facts.divergence.divergent_at("TURN")}
    assert "%r4" not in differ
    assert "%r5" in differ


def test_of_what_tasks_would_save_only_a_little_is_moved() -> None:
    def loads(count: int, base: str) -> list[str]:
        return [f"ld.global.nc.u32 %r{n + 10}, [{base}+{4 * n}];" for n in range(count)]

    few, many = loads(INVARIANT_WORDS, "%rd2"), loads(INVARIANT_WORDS + 1, "%rd2")
    of_all = loads(16, "%rd1")
    assert moved("\n".join(few)) == few
    assert moved("\n".join([*many, LOAD.replace("%rd2", "%rd1")])) == [
        LOAD.replace("%rd2", "%rd1")
    ]  # fmt: skip
    assert moved("\n".join(of_all)) == of_all


def test_each_task_loads_once_what_each_turn_loaded() -> None:
    golden = Golden.read(GOLDEN / "context-collection" / "invariant_loads.ptx")

    def ran(text: str) -> tuple[list[object], int]:
        """What is left in memory, and how often threads loaded where the list begins."""
        found, cost = run(Module(text), "k", golden.launch)
        lines = text.splitlines()
        loads = [one for (_, line), one in cost.lines.items() if "[%rd6]" in lines[line - 1]]
        return found, sum(one.thread_instructions for one in loads)

    (expected, of_turns), (found, of_tasks) = ran(golden.before), ran(golden.after)
    assert difference(expected, found) is None
    assert 0 < of_tasks <= 100 < of_turns
