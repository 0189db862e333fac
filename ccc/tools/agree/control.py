"""Forms that branch and call, special registers, constants, and stores that tell a barrier.

(PTX ISA sections 9.7.12, 10, 5.1.3, and 9.7.9 createpolicy, st.async and red.async.)
"""

from __future__ import annotations

from collections.abc import Iterator

from ccc.ptx.types import VECTORS
from ccc.tools.agree.asynchronous import BARRIER_INIT, BOTH_PLACES, SHARED_READ, WAIT
from ccc.tools.agree.case import SOURCES, Case, spell, types_of
from ccc.tools.agree.memory import SHARED

CONTROL = "9.7.12 Control flow"
REGISTERS = "10 Special registers"
CONSTANT = "9.7.9 Constants and cache policies"
TELLING = "9.7.9 st.async and red.async"

_ALONE = "\n.explicitcluster .reqnctapercluster 1, 1, 1"
"""The block is a cluster."""
_TELLS = "shared::cluster.mbarrier::complete_tx::bytes"


def control() -> Iterator[Case]:
    """All of them."""
    yield from _branches()
    yield from _registers()
    yield from _constants()
    yield from _telling()


_FUNCTIONS = """\
.func (.param .b32 result) twice(.param .b32 given)
{
.reg .b32 %v;
ld.param.b32 %v, [given];
add.u32 %v, %v, %v;
st.param.b32 [result], %v;
ret;
}
.func (.param .b32 result) other(.param .b32 given)
{
.reg .b32 %v;
ld.param.b32 %v, [given];
xor.b32 %v, %v, -3;
st.param.b32 [result], %v;
ret;
}
"""
_CALL = """\
{{
.param .b32 given, result;
st.param.b32 [given], %a;
{call}
ld.param.b32 %d, [result];
}}"""


def _branches() -> Iterator[Case]:
    loop = (
        "mov.b32 %d, 0;\nand.b32 %t, %a, 31;\nturn:\nsetp.eq.u32 %g, %t, 0;\n@%g bra over;\n"
        "mad.lo.u32 %d, %d, 3, %t;\nsub.u32 %t, %t, 1;\nbra turn;\nover:"
    )
    yield Case(CONTROL, "bra, a loop", f"{{\n{loop}\n}}", ("b32",), ("b32",))
    table = (
        "and.b32 %t, %a, 3;\nbranches: .branchtargets zero, one, two, one;\n"
        "brx.idx %t, branches;\nzero:\nmov.b32 %d, %b;\nbra over;\none:\nadd.u32 %d, %a, %b;\n"
        "bra over;\ntwo:\nsub.u32 %d, %a, %b;\nover:"
    )
    yield Case(CONTROL, "brx.idx", f"{{\n{table}\n}}", ("b32", "b32"), ("b32",))
    through_register = (
        "kind: .callprototype (.param .b32 _) _ (.param .b32 _);\nmov.u64 %x, twice;\n"
        "mov.u64 %m, other;\nsetp.lt.s32 %g, %a, 0;\nselp.b64 %x, %x, %m, %g;\n"
        "call (result), %x, (given), kind;"
    )
    calls = {
        "call": "call (result), twice, (given);",
        "call, through a register": through_register,
    }
    for form, call in calls.items():
        body = _CALL.format(call=call)
        yield Case(CONTROL, form, body, ("b32",), ("b32",), declarations=_FUNCTIONS)
    body = "setp.lt.s32 %g, %a, 0;\nmov.b32 %d, 7;\nst.global.b32 [%o], %d;\n@%g exit;"
    yield Case(CONTROL, "exit, guarded", body, ("s32",), ("b32",))
    body = "alloca.u64 %x, 16, 16;\nst.local.b64 [%x], %a;\nld.local.b64 %d, [%x];"
    yield Case(CONTROL, "alloca.u64", body, ("b64",), ("b64",))


_SAME_ANYWHERE = (
    *(f"%{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"),
    *("%laneid", "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt"),
    *("%dynamic_smem_size", "%cluster_ctarank", "%cluster_nctarank"),
    *(f"%{name}.{axis}" for name in ("clusterid", "nclusterid") for axis in "xyz"),
    *(f"%{name}.{axis}" for name in ("cluster_ctaid", "cluster_nctaid") for axis in "xyz"),
)
"""Special registers whose values follow from the launch."""


def _registers() -> Iterator[Case]:
    for name in _SAME_ANYWHERE:
        yield Case(REGISTERS, f"mov.u32 of {name}", f"mov.u32 %d, {name};", ("b32",), ("b32",))
    name = "%is_explicit_cluster"
    yield Case(REGISTERS, f"mov.pred of {name}", f"mov.pred %d, {name};", ("b32",), ("pred",))


def _constants() -> Iterator[Case]:
    numbers = ", ".join(str(17 * k % 251) for k in range(256))
    table = f".const .align 16 .b8 constants[256] = {{{numbers}}};\n"
    for words in spell("{|.v2|.v4}{.u8|.s8|.u16|.s16|.b32|.b64}"):
        count = next((VECTORS[word] for word in words.split(".") if word in VECTORS), 1)
        kind = types_of(words)[-1]
        if count * int(kind[1:]) > 128:
            continue
        names = [f"%{name}" for name in "dqrs"[:count]]
        into = f"{{{', '.join(names)}}}" if count > 1 else "%d"
        for space in (".const", ""):
            to_generic = "" if space else "cvta.const.u64 %m, %m;\n"
            opcode = f"ld{space}{words}"
            body = (
                "and.b32 %t, %a, 240;\ncvt.u64.u32 %x, %t;\nmov.u64 %m, constants;\n"
                f"add.u64 %m, %m, %x;\n{to_generic}{opcode} {into}, [%m];"
            )
            form = opcode if space else f"{opcode} of .const"
            yield Case(CONSTANT, form, body, ("b32",), (kind,) * count, declarations=table)
    for asked in (".const", ".shared", ".local", ".param"):
        body = (
            "and.b32 %t, %a, 240;\ncvt.u64.u32 %x, %t;\nmov.u64 %m, constants;\n"
            f"add.u64 %m, %m, %x;\ncvta.const.u64 %m, %m;\nisspacep{asked} %d, %m;"
        )
        form = f"isspacep{asked}, of.const"
        yield Case(CONSTANT, form, body, ("b32",), ("pred",), declarations=table)
    for policy in spell("createpolicy.fractional{.L2::evict_last|.L2::evict_first}.b64 %x, 0.5;"):
        body = f"{policy}\nst.global.L2::cache_hint.b64 [%m], %a, %x;\n"
        body += "ld.global.L2::cache_hint.b64 %d, [%m], %x;"
        form = f"{policy.split()[0]}; st.global.L2::cache_hint; ld.global.L2::cache_hint"
        yield Case(CONSTANT, form, body, ("b64",), ("b64",))
    for opcode in ("cp.async.bulk.prefetch.L2.global [%m], 16", "prefetch.global.L1 [%m]",
                   "prefetch.global.L2 [%m]", "prefetchu.L1 [%m]"):  # fmt: skip
        body = f"st.global.b64 [%m], %a;\n{opcode};\nld.global.b64 %d, [%m];"
        yield Case(CONSTANT, f"{opcode.split()[0]}; ld", body, ("b64",), ("b64",))


def _telling() -> Iterator[Case]:
    for words in spell("{|.v2|.v4}{.b32|.b64|.u32|.s64|.f32|.f64}"):
        count = next((VECTORS[word] for word in words.split(".") if word in VECTORS), 1)
        kind = types_of(words)[-1]
        size = count * int(kind[1:]) // 8
        if size > 16:
            continue
        names = ", ".join(f"%{name}" for name in SOURCES[:count])
        value = f"{{{names}}}" if count > 1 else names
        yield _told(f"st.async.{_TELLS}{words}", value, size, (kind,) * count)
    for words in spell("{.inc|.dec|.min|.max|.add}.u32"):
        yield _told(f"red.async.relaxed.cluster.{_TELLS}{words}", "%a", 4, ("u32",))
    for words in (
        ".min.s32",
        ".max.s32",
        ".add.s32",
        ".and.b32",
        ".or.b32",
        ".xor.b32",
        ".add.u64",
    ):
        kind = types_of(words)[-1]
        opcode = f"red.async.relaxed.cluster.{_TELLS}{words}"
        yield _told(opcode, "%a", int(kind[1:]) // 8, (kind,))


def _told(opcode: str, value: str, size: int, sources: tuple[str, ...]) -> Case:
    """To the thread's own place, and its own barrier."""
    begin = f"mbarrier.arrive.expect_tx.shared.b64 %x, [%z], {size};\n"
    filled = "st.shared.b64 [%m], 0x123456789abcdef;\nst.shared.b64 [%m+8], 0x0fedcba987654321;\n"
    body = (
        f"{{\n{BOTH_PLACES}{filled}{BARRIER_INIT}{begin}{opcode} [%m], {value}, [%z];\n{WAIT}"
        f"{SHARED_READ}}}"
    )
    return Case(TELLING, opcode, body, sources, ("b64", "b64"), declarations=SHARED,
                directives=_ALONE)  # fmt: skip
