"""What addresses are made from."""

from __future__ import annotations

import pytest

from ccc.analysis.callees import Callees
from ccc.analysis.facts import Facts
from ccc.analysis.origins import Origins, Pointer
from ccc.ir.operands import Operand
from ccc.parse import parse_function, parse_module

KERNEL = """\
.version 9.0
.target sm_90
.address_size 64
.visible .global .align 4 .b8 table[64];
.visible .entry k(.param .u64 x, .param .u64 z, .param .u32 n) {
    .reg .pred %p<3>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [z];
    ld.param.u32 %r1, [n];
    cvt.s64.s32 %rd3, %r1;
    BODY
    ret;
}
"""
X, Z, TABLE = Pointer("x", 0), Pointer("z", 0), Pointer("table")


def last(body: str) -> tuple[Origins, Operand]:
    """The origins in a kernel, and what its last instruction makes."""
    (piece,) = parse_module(KERNEL.replace("BODY", body), "k.ptx").functions
    function = parse_function(piece)
    *_, instruction = (i for i in function.instructions if i.name != "ret")
    facts = Facts(function, Callees(lambda _: None))
    return Origins(facts, through_memory=True), instruction.operands[0]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("add.s64 %rd4, %rd1, %rd3;", {X}),
        ("mad.wide.s32 %rd4, %r1, 4, %rd1;", {X}),
        ("mul.lo.s64 %rd4, %rd3, 24; add.s64 %rd5, %rd1, %rd4;", {X}),
        ("selp.b64 %rd4, %rd1, %rd2, %p1;", {X, Z}),
        ("and.b64 %rd4, %rd1, -16;", {X}),
        ("mul.lo.s64 %rd4, %rd3, %rd2; add.s64 %rd5, %rd1, %rd4;", {X, Z}),
        ("mad.lo.s64 %rd4, %rd3, %rd2, %rd1;", {X, Z}),
        ("shl.b64 %rd4, %rd2, 1; add.s64 %rd5, %rd1, %rd4;", {X, Z}),
        ("xor.b64 %rd4, %rd1, %rd2;", None),
        ("or.b64 %rd4, %rd1, %rd3;", None),
        ("and.b64 %rd4, %rd3, 17179869180; add.s64 %rd5, %rd1, %rd4;", {X}),
        ("and.b64 %rd4, %rd1, -4294967296;", None),
        ("and.b64 %rd4, %rd1, 18446744069414584320;", None),
    ],
)
def test_what_an_address_is_made_from(body: str, expected: set[Pointer] | None) -> None:
    origins, made = last(body)
    assert origins.of(made) == expected


READ = "add.s64 %rd0, %rd2, %rd3; ld.global.u64 %rd5, [%rd0]; cvta.to.global.u64 %rd4, %rd1; "


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("shl.b64 %rd6, %rd5, 3; add.s64 %rd7, %rd4, %rd6;", {X}),
        ("shl.b64 %rd6, %rd5, 3; sub.s64 %rd7, %rd4, %rd6;", {X}),
        ("mul.lo.s64 %rd6, %rd5, -24; add.s64 %rd7, %rd6, %rd4;", {X}),
        ("mad.lo.s64 %rd7, %rd5, 24, %rd4;", {X}),
        ("mov.b64 %rd6, 24; mad.lo.s64 %rd7, %rd5, %rd6, %rd4;", {X}),
        ("shl.b64 %rd6, %rd5, 3; add.s64 %rd7, %rd6, 16; add.s64 %rd8, %rd4, %rd7;", {X}),
        ("shl.b64 %rd6, %rd5, 3; add.s64 %rd7, %rd6, %rd3; add.s64 %rd8, %rd4, %rd7;", {X}),
        ("shl.b64 %rd6, %rd5, 2; and.b64 %rd7, %rd6, 17179869180; add.s64 %rd8, %rd4, %rd7;", {X}),
        ("and.b64 %rd6, %rd5, 255; add.s64 %rd7, %rd4, %rd6;", {X}),
        ("add.s64 %rd6, %rd4, 8; shl.b64 %rd7, %rd5, 3; add.s64 %rd8, %rd6, %rd7;", {X}),
        ("mov.u64 %rd6, table; shl.b64 %rd7, %rd5, 2; add.s64 %rd8, %rd6, %rd7;", {TABLE}),
        ("mov.u64 %rd6, %rd4; shl.b64 %rd7, %rd5, 2; @%p1 add.s64 %rd6, %rd6, %rd7;", {X}),
        # as it was read it may be the distance to another pointer
        ("add.s64 %rd6, %rd4, %rd5;", None),
        ("mul.lo.s64 %rd6, %rd5, -1; add.s64 %rd7, %rd4, %rd6;", None),
        ("mul.lo.s64 %rd6, %rd5, %rd2; add.s64 %rd7, %rd4, %rd6;", None),
        ("and.b64 %rd6, %rd5, -16; add.s64 %rd7, %rd4, %rd6;", None),
        ("shl.b64 %rd6, %rd5, 3; add.s64 %rd7, %rd6, %rd5; add.s64 %rd8, %rd4, %rd7;", None),
        # a handle that is made a pointer, alone or with a number
        ("shl.b64 %rd6, %rd5, 4;", None),
        ("shl.b64 %rd6, %rd5, 4; add.s64 %rd7, %rd6, %rd3;", None),
        ("shl.b64 %rd6, %rd5, 4; add.s64 %rd7, %rd6, %rd2;", None),
        ("shl.b64 %rd6, %rd5, 4; selp.b64 %rd7, %rd4, %rd6, %p1;", None),
        ("shl.b64 %rd6, %rd5, 4; mov.u64 %rd7, %rd4; @%p1 mov.u64 %rd7, %rd6;", None),
        ("shl.b64 %rd6, %rd5, 4; sub.s64 %rd7, %rd6, %rd4;", None),
    ],
)
def test_an_index_is_multiplied_before_it_is_added_to_a_pointer(
    body: str, expected: set[Pointer] | None
) -> None:
    origins, made = last(READ + body)
    assert origins.of(made) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("cvta.to.global.u64 %rd4, %rd1; mov.u64 %rd5, %rd4;", X),
        ("mov.u64 %rd4, table;", Pointer("table")),
        ("add.s64 %rd4, %rd1, 4400;", None),
        ("mov.u64 %rd4, table+8;", None),
        ("mov.u64 %rd4, %rd1; @%p1 mov.u64 %rd4, %rd1;", None),
        ("selp.b64 %rd4, %rd1, %rd1, %p1;", None),
    ],
)
def test_what_is_a_copy_of_a_pointer(body: str, expected: Pointer | None) -> None:
    origins, made = last(body)
    assert origins.exactly(made) == expected


def test_what_was_loaded_is_known_by_its_place_and_the_loads_on_the_way() -> None:
    origins, made = last("ld.global.u64 %rd4, [table+8]; ld.u64 %rd5, [%rd4+16];")
    found = origins.exactly(made)
    assert found is not None
    assert found.place == ("[table+8]", 16, True)
    assert [load.space for load in found.loads] == ["global", "generic"]


@pytest.mark.parametrize(("clause", "apart"), [
    ("restrict=1", True),
    ("restrict=1 of=3", True),
    ("restrict=1 of=2", False),  # the number is that of another parameter
    ("", False),
])  # fmt: skip
def test_who_counted_other_parameters_tells_nothing_of_these(clause: str, apart: bool) -> None:
    marker = f"// ccc.apart 1 k.cu:1:1 {clause}".rstrip()
    origins, _ = last(f"{marker}\nst.global.u32 [%rd1], %r1;\nld.global.u32 %r2, [%rd2];")
    write, read = (i for i in origins.facts.function.instructions if i.space == "global")
    assert origins.facts.memory.apart.are(write, read) == apart
