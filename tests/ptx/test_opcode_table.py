"""The opcode table: which row an instruction has, and what its effects are."""

from __future__ import annotations

import re

import pytest

from ccc.ir.nodes import Instruction
from ccc.ir.operands import CARRY, Register
from ccc.ptx.opcodes import OPCODES, TYPED, Effect, extends_sign
from ccc.ptx.types import SPECIAL_REGISTERS, TYPES

A, B, C, D = (Register(f"%r{number}", "b32") for number in range(4))

SYNCHRONIZES = Effect.BARRIER | Effect.COLLECTIVE
MEMORY = Effect.READ | Effect.WRITE


@pytest.mark.parametrize("row", OPCODES.values(), ids=lambda row: row.name)
def test_rows_are_well_formed(row) -> None:  # type: ignore[no-untyped-def]
    assert OPCODES[row.name] is row
    assert set(row.roles) <= {"def", "use", "both", "addr", "label", "call"}
    assert row.required <= len(row.roles)
    assert re.fullmatch(r"https://docs\.nvidia\.com/\S+#[a-z][a-z0-9-]+[a-z0-9]", row.doc)
    form = re.sub(r"\[[^]]*\]", "[a]", row.form)
    written = [part for part in re.split(r"[,{}\s]+", form) if part]
    assert len(written) == len(row.roles), "the form shows each operand once"
    if "addr" in row.roles and row.effects & MEMORY:
        assert "[" in row.form


def test_what_computes_and_plain_accesses_name_a_type() -> None:
    named = {"add", "addc", "fma", "setp", "lop3", "mov", "cvt", "prmt", "ld", "ldu", "st", "red"}
    others = {"bra", "brx", "call", "st.bulk", "cp.async", "bar", "vote", "isspacep", "prefetch"}
    assert named < TYPED
    assert others.isdisjoint(TYPED)
    assert OPCODES.keys() > TYPED


@pytest.mark.parametrize("name", ["ld", "atom", "setp", "bar.red", "call", "cp.async", "fma"])
def test_forms_say_what_may_be_missing(name: str) -> None:
    row = OPCODES[name]
    needed = [part for part in re.sub(r"\{[^{}]*\}", "", row.form).split(",") if part.strip()]
    assert len(needed) == row.required


ROWS = {
    "bar.sync": "bar",
    "bar.red.popc.u32": "bar.red",
    "barrier.cta.red.and.pred": "barrier.red",
    "barrier.cluster.arrive.release.aligned": "barrier.cluster",
    "cp.async.ca.shared.global": "cp.async",
    "cp.async.commit_group": "cp.async.commit_group",
    "cp.async.wait_all": "cp.async.wait_all",
    "cp.async.bulk.wait_group.read": "cp.async.bulk.wait_group",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes": "cp.async.bulk",
    "cp.async.bulk.tensor.2d.shared::cluster.global.bulk_group": "cp.async.bulk.tensor",
    "cp.async.mbarrier.arrive.noinc.shared::cta.b64": "cp.async.mbarrier.arrive",
    "cp.reduce.async.bulk.tensor.1d.global.add.bulk_group": "cp.reduce.async.bulk.tensor",
    "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64": "mbarrier.arrive.expect_tx",
    "mbarrier.expect_tx.relaxed.cta.shared::cta.b64": "mbarrier.expect_tx",
    "mbarrier.try_wait.parity.shared::cta.b64": "mbarrier.try_wait",
    "red.async.relaxed.cluster.global.add.u32": "red.async",
    "red.global.add.f32": "red",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32": "st.async",
    "st.global.v4.u32": "st",
    "multimem.ld_reduce.relaxed.gpu.global.add.u32": "multimem.ld_reduce",
    "wmma.load.a.sync.aligned.row.m16n16k16.f16": "wmma.load",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32": "mma",
    "vabsdiff4.u32.u32.u32.add": "vabsdiff4",
    "mul.wide.s32": "mul",
    "cvt.pack.sat.u8.s32.b32": "cvt.pack",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32": "mma.sp",
    "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16": "wgmma.mma_async.sp",
    "tcgen05.mma.ws.sp.cta_group::1.kind::f16": "tcgen05.mma.ws.sp",
    "tcgen05.fence::before_thread_sync": "tcgen05.fence",
    "tcgen05.wait::ld.sync.aligned": "tcgen05.wait",
}


@pytest.mark.parametrize(("opcode", "name"), ROWS.items())
def test_the_row_with_most_words_in_common(opcode: str, name: str) -> None:
    row = Instruction(opcode).row
    assert row is not None
    assert row.name == name


@pytest.mark.parametrize("opcode", ["wgmma.mma.sync", "tcgen05.load", "fabricated", "cp", "wmma"])
def test_unknown_opcodes_are_opaque(opcode: str) -> None:
    instruction = Instruction(opcode, (A, B))
    assert instruction.row is None
    assert instruction.effects == Effect.OPAQUE
    assert instruction.defined() == ()
    assert instruction.used() == (A, B)


EFFECTS = {
    "ld.global.u32": Effect.READ,
    "ld.u32": Effect.READ,
    "ld.global.nc.u32": Effect.NONE,
    "ld.const.u32": Effect.NONE,
    "ld.param.u64": Effect.NONE,
    "ld.volatile.shared.u32": Effect.READ | Effect.FENCE,
    "ld.acquire.gpu.u32": Effect.READ | Effect.FENCE,
    "ld.relaxed.gpu.u32": Effect.READ,
    "st.shared.u32": Effect.WRITE,
    "st.param.b32": Effect.NONE,
    "st.release.sys.u32": Effect.WRITE | Effect.FENCE,
    "atom.global.add.u32": MEMORY,
    "atom.acq_rel.gpu.cas.b32": MEMORY | Effect.FENCE,
    "red.global.add.u32": MEMORY,
    "add.u32": Effect.NONE,
    "add.cc.u32": Effect.SETS_CARRY,
    "addc.u32": Effect.READS_CARRY,
    "addc.cc.u32": Effect.SETS_CARRY | Effect.READS_CARRY,
    "madc.lo.cc.u32": Effect.SETS_CARRY | Effect.READS_CARRY,
    "bar.warp.sync": Effect.COLLECTIVE | Effect.FENCE,
    "bra.uni": Effect.BRANCH,
    "ret.uni": Effect.RETURN,
    "exit": Effect.EXIT,
    "discard.global.L2": Effect.WRITE,
}


@pytest.mark.parametrize(("opcode", "effects"), EFFECTS.items())
def test_effects(opcode: str, effects: Effect) -> None:
    assert Instruction(opcode).effects == effects


@pytest.mark.parametrize(
    "opcode",
    [
        "bar.sync", "bar.arrive", "bar.red.popc.u32", "barrier.sync", "barrier.cluster.wait",
        "shfl.sync.idx.b32", "shfl.idx.b32", "vote.sync.any.pred", "vote.ballot.b32",
        "match.any.sync.b32", "redux.sync.add.s32", "activemask.b32", "elect.sync", "bar.warp.sync",
        "wmma.mma.sync.aligned", "mma.sync.aligned", "ldmatrix.sync.aligned", "griddepcontrol.wait",
        "mbarrier.arrive.shared.b64", "mbarrier.try_wait.shared.b64", "cp.async.wait_group",
        "cp.async.ca.shared.global", "setmaxnreg.inc.sync.aligned.u32", "st.async.b32",
    ],
)  # fmt: skip
def test_what_waits_or_speaks_to_others(opcode: str) -> None:
    assert Instruction(opcode).effects & SYNCHRONIZES


@pytest.mark.parametrize("opcode", ["cvt.s64.s32", "cvt.u64.s16", "mul.wide.s32", "mad.wide.s16"])
def test_what_extends_a_sign(opcode: str) -> None:
    assert extends_sign(*named(opcode))


@pytest.mark.parametrize(
    "opcode",
    [
        "cvt.s64.u32", "cvt.u16.s32", "cvt.s32.s32", "cvt.rn.f64.s32", "cvt.rzi.s64.f32",
        "mul.wide.u32", "mul.lo.s32", "mad.lo.s32", "add.s64", "bar.sync",
    ],
)  # fmt: skip
def test_what_extends_none(opcode: str) -> None:
    assert not extends_sign(*named(opcode))


def named(opcode: str) -> tuple[str, tuple[str, ...]]:
    one = Instruction(opcode)
    return one.name, one.modifiers


def test_the_carry_is_a_register() -> None:
    assert CARRY in Instruction("add.cc.u32", (A, B, C)).defined()
    assert CARRY in Instruction("addc.u32", (A, B, C)).used()
    assert CARRY not in Instruction("add.u32", (A, B, C)).defined()


def test_special_registers() -> None:
    for register in SPECIAL_REGISTERS.values():
        assert register.type in TYPES
        assert register.varies in ("lane", "warp", "block", "grid", "time")
    varies = {name: SPECIAL_REGISTERS[name].varies for name in ("%tid.x", "%laneid", "%clock64")}
    assert varies == {"%tid.x": "lane", "%laneid": "lane", "%clock64": "time"}
