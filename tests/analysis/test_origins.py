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
X, Z = Pointer("x", 0), Pointer("z", 0)


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
