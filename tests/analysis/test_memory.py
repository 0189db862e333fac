"""What instructions, and the functions that they call, do to memory that other threads see."""

from __future__ import annotations

import pytest

from ccc.analysis.callees import Callees
from ccc.analysis.facts import Facts
from ccc.analysis.memory import ANYTHING, NOTHING, Behind, MemoryUse
from ccc.parse import parse_function, parse_module

HEAD = """\
.version 9.0
.target sm_90
.address_size 64
.shared .align 4 .b8 table[64];
.visible .global .align 4 .u32 total;
"""
KERNEL = """
.visible .entry k(.param .u64 p) {
    .local .align 16 .b8 __local_depot0[32];
    .reg .b64 %SP;
    .reg .b64 %SPL;
    .reg .b32 %r<5>;
    .reg .b64 %rd<9>;
    mov.u64 %SPL, __local_depot0;
    cvta.local.u64 %SP, %SPL;
    add.u64 %rd1, %SP, 16;
    ld.param.u64 %rd2, [p];
    mul.wide.s32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.u64 %rd5, [%rd2];
    BODY
    ret;
}
"""
FUNCTION = """
.func NAME(.param .b64 NAME_0, .param .b64 NAME_1) {
    .local .align 8 .b8 __local_depot1[16];
    .reg .b64 %SP;
    .reg .b64 %SPL;
    .reg .b32 %r<5>;
    .reg .b64 %rd<9>;
    mov.u64 %SPL, __local_depot1;
    cvta.local.u64 %SP, %SPL;
    ld.param.u64 %rd1, [NAME_0];
    ld.param.u64 %rd2, [NAME_1];
    BODY
    ret;
}
"""
GLOBAL, SHARED = frozenset({"global"}), frozenset({"shared"})


def function(name: str, body: str) -> str:
    return FUNCTION.replace("NAME", name).replace("BODY", body)


def call(name: str, first: str, second: str = "%rd3", kind: str = "b64") -> str:
    return (
        "{ .param .b64 a0; .param .b64 a1; "
        f"st.param.{kind} [a0], {first}; st.param.b64 [a1], {second}; call.uni {name}, (a0, a1); }}"
    )


def touch(body: str, **others: str) -> MemoryUse:
    """What the last instruction of a kernel may do."""
    functions = "".join(function(name, body) for name, body in others.items())
    text = HEAD + functions + KERNEL.replace("BODY", body)
    known = {one.name: parse_function(one) for one in parse_module(text, "k.ptx").functions}
    facts = Facts(known["k"], Callees(known.get))
    *_, last = (i for i in known["k"].instructions if i.name != "ret")
    return facts.memory.touch(last)


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("st.global.u32 [%rd2], %r1;", MemoryUse(writes=GLOBAL)),
        ("atom.shared.add.u32 %r1, [table], %r2;", MemoryUse(SHARED, SHARED)),
        ("ld.global.nc.u32 %r1, [%rd2];", NOTHING),
        ("st.local.u32 [%rd2], %r1;", NOTHING),
        ("st.u32 [%rd1+4], %r1;", NOTHING),
        ("st.u32 [%rd4], %r1;", NOTHING),
        ("ld.u32 %r1, [%rd2];", MemoryUse(reads=ANYTHING.reads)),
        ("add.s64 %rd6, %rd1, %rd5; st.u32 [%rd6], %r1;", MemoryUse(writes=ANYTHING.writes)),
        ("selp.b64 %rd6, %rd1, %rd2, %p; st.u32 [%rd6], %r1;", MemoryUse(writes=ANYTHING.writes)),
        ("ld.volatile.global.u32 %r1, [%rd2];", ANYTHING),
        ("membar.gl;", ANYTHING),
    ],
)
def test_what_an_instruction_does(instruction: str, expected: MemoryUse) -> None:
    assert touch(".reg .pred %p; " + instruction) == expected


STORE = "st.u32 [%rd1], %r1;"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("st.local.u32 [%SPL], %r1;", NOTHING),
        ("st.u32 [%SP+8], %r1; ld.u32 %r2, [%SP];", NOTHING),
        (STORE, NOTHING),  # the kernel's own array
        ("ld.u32 %r1, [%rd2];", MemoryUse(reads=ANYTHING.reads)),
        ("st.shared.u32 [table], %r1;", MemoryUse(writes=SHARED)),
        ("red.global.add.u32 [total], 1;", MemoryUse(GLOBAL, GLOBAL)),
        ("mov.u64 %rd3, total; st.u32 [%rd3], %r1;", MemoryUse(writes=ANYTHING.writes)),
        ("ld.u64 %rd3, [%rd1]; st.u32 [%rd3], %r1;", MemoryUse(writes=ANYTHING.writes)),
        ("fence.acq_rel.gpu;", ANYTHING),
        ("trap;", ANYTHING),
        ("nanosleep.u32 1;", ANYTHING),
        ("call.uni nobody, ();", ANYTHING),
        ("{ .param .b64 a0; .param .b64 a1; call.uni f, (a0, a1); }", ANYTHING),  # itself
    ],
)
def test_what_a_function_does(body: str, expected: MemoryUse) -> None:
    assert touch(call("f", "%rd1", "%rd2"), f=body) == expected


@pytest.mark.parametrize(
    ("handed", "expected"),
    [
        (call("f", "%rd1"), NOTHING),
        (call("f", "%rd4"), NOTHING),
        (call("f", "%rd2"), MemoryUse(writes=ANYTHING.writes)),
        (call("f", "%rd5"), MemoryUse(writes=ANYTHING.writes)),
        (call("f", "%r1", kind="b32"), MemoryUse(writes=ANYTHING.writes)),
        (
            "{ .param .b64 a0; .param .b64 a1; call.uni f, (a0, a1); }",
            MemoryUse(writes=ANYTHING.writes),
        ),
    ],
)
def test_what_a_function_does_is_as_it_is_told(handed: str, expected: MemoryUse) -> None:
    assert touch(handed, f=STORE) == expected


def test_what_is_behind_a_parameter_is_known_to_the_caller() -> None:
    through = {"g": call("f", "%rd2", "%rd1"), "f": STORE}
    assert touch(call("g", "%rd2", "%rd1"), **through) == NOTHING
    assert touch(call("g", "%rd1", "%rd2"), **through) == MemoryUse(writes=ANYTHING.writes)


def test_a_function_hands_on_its_own_stack() -> None:
    through = {"g": call("f", "%SP"), "f": STORE}
    assert touch(call("g", "%rd2"), **through) == NOTHING


def test_functions_that_call_one_another_do_anything() -> None:
    through = {"f": call("g", "%rd1"), "g": call("f", "%rd1")}
    assert touch(call("f", "%rd1"), **through) == ANYTHING


def test_a_summary_names_parameters() -> None:
    text = HEAD + function("f", STORE)
    (known,) = (parse_function(one) for one in parse_module(text, "k.ptx").functions)
    facts = Facts(known, Callees({known.name: known}.get))
    assert facts.memory.of_all(known.instructions) == MemoryUse(writes=frozenset({Behind(0, 0)}))


STRONG = MemoryUse(GLOBAL, strongly=GLOBAL)


@pytest.mark.parametrize("load", ["ld.relaxed.gpu.global.u32", "ld.weak.global.u32"])
def test_of_two_looks_at_what_others_write_the_later_sees_no_older_state(load: str) -> None:
    one = touch(f"{load} %r2, [%rd2];")
    assert one == (STRONG if "relaxed" in load else MemoryUse(GLOBAL))
    assert one.conflicts(one) == ("relaxed" in load)
    assert touch(call("look", "%rd2"), look=f"{load} %r2, [%rd1];") == one
    assert not STRONG.conflicts(MemoryUse(GLOBAL))


def test_a_function_of_the_program_may_have_the_name_of_one_of_the_driver() -> None:
    assert touch(call("malloc", "%rd2")) == NOTHING
    assert touch(call("malloc", "%rd2"), malloc="st.global.u32 [total], %r1;") == WRITES_TOTAL


WRITES_TOTAL = MemoryUse(writes=GLOBAL)
