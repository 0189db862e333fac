"""Forms that name other addresses, and those that copy while others compute.

(PTX ISA sections 9.7.9 and 9.7.13: cvta, isspacep, cp.async, cp.async.bulk, mbarrier.) Each thread
has a place of its own in global memory at ``%y`` and in shared memory at ``%m``, and a barrier 16
bytes after the latter.
"""

from __future__ import annotations

from collections.abc import Iterator

from ccc.tools.agree.case import Case, spell
from ccc.tools.agree.memory import PLACES, SHARED

ADDRESS = "9.7.9 Addresses"
COPY = "9.7.9 Asynchronous copies"
BARRIER = "9.7.13 mbarrier"

_SPACES = (".global", ".shared", ".local")
_WORDS = ("b64", "b64")


def addresses() -> Iterator[Case]:
    """``cvta``, ``isspacep`` and ``getctarank``."""
    for space in _SPACES:
        place = PLACES[space]
        body = (
            f"{place}st{space}.b64 [%m], %a;\ncvta{space}.u64 %x, %m;\nld.b64 %d, [%x];\n"
            f"cvta.to{space}.u64 %x, %x;\nld{space}.b64 %q, [%x];"
        )
        form = f"cvta{space}.u64; cvta.to{space}.u64"
        yield _case(ADDRESS, form, body, ("b64",), _WORDS)
        for asked in (*_SPACES, ".const", ".param", ".shared::cta", ".shared::cluster"):
            body = f"{place}cvta{space}.u64 %x, %m;\nisspacep{asked} %d, %x;"
            yield _case(ADDRESS, f"isspacep{asked}, of{space}", body, ("b64",), ("pred",))
    body = f"{PLACES['.shared']}getctarank.shared::cluster.u64 %d, %m;"
    yield _case(ADDRESS, "getctarank.shared::cluster.u64", body, ("b64",), ("b32",))
    body = (
        f"{PLACES['.shared']}st.shared.b64 [%m], %a;\nmapa.shared::cluster.u64 %x, %m, 0;\n"
        "ld.shared::cluster.b64 %d, [%x];"
    )
    yield _case(ADDRESS, "mapa.shared::cluster.u64", body, ("b64",), ("b64",))


def _case(
    group: str, form: str, body: str, sources: tuple[str, ...], results: tuple[str, ...]
) -> Case:
    return Case(group, form, body, sources, results, declarations=SHARED)


BOTH_PLACES = f"""\
.reg .b64 %y, %z;
mov.u64 %y, %m;
{PLACES[".shared"]}"""
_FILLED = "st.global.b64 [%y], %a;\nst.global.b64 [%y+8], %b;\n"
_CLEARED = "st.shared.b64 [%m], -1;\nst.shared.b64 [%m+8], -1;\n"
SHARED_READ = "ld.shared.b64 %d, [%m];\nld.shared.b64 %q, [%m+8];\n"
_ENDS = {
    "cp.async.wait_all": "cp.async.wait_all;\n",
    "cp.async.wait_group": "cp.async.commit_group;\ncp.async.wait_group 0;\n",
}
_PROXY = "fence.proxy.async;\n"
BARRIER_INIT = "add.u64 %z, %m, 16;\nmbarrier.init.shared.b64 [%z], 1;\n"
WAIT = """\
mov.b32 %t, 0;
again:
mbarrier.try_wait.shared.b64 %g, [%z], %x;
@%g bra there;
add.u32 %t, %t, 1;
setp.lt.u32 %g, %t, 1000;
@%g bra again;
there:
"""


def copies() -> Iterator[Case]:
    """``cp.async`` and ``cp.async.bulk``; a wait that takes too long is given up."""
    for end, wait in _ENDS.items():
        for opcode, size in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)):
            name = f"cp.async.{opcode}.shared.global"
            for given in ("", f", {size // 4}", ", 0"):
                line = f"{name} [%m], [%y], {size}{given};\n"
                body = f"{{\n{BOTH_PLACES}{_FILLED}{_CLEARED}{line}{wait}{SHARED_READ}}}"
                yield _case(COPY, f"{name} {size}{given}; {end}", body, _WORDS, _WORDS)
    into = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    begin = f"{BARRIER_INIT}{_PROXY}mbarrier.arrive.expect_tx.shared.b64 %x, [%z], 16;\n"
    copied = f"{into} [%m], [%y], 16, [%z];\n{WAIT}"
    body = f"{{\n{BOTH_PLACES}{_FILLED}{_CLEARED}{begin}{copied}{SHARED_READ}}}"
    yield _case(COPY, into, body, _WORDS, _WORDS)
    put = "st.shared.b64 [%m], %a;\nst.shared.b64 [%m+8], %b;\n"
    done = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
    back = "ld.global.b64 %d, [%y];\nld.global.b64 %q, [%y+8];\n"
    out = "cp.async.bulk.global.shared::cta.bulk_group"
    body = f"{{\n{BOTH_PLACES}{put}{_PROXY}{out} [%y], [%m], 16;\n{done}{back}}}"
    yield _case(COPY, out, body, _WORDS, _WORDS)
    zeros = "st.global.b64 [%y], %b;\nst.global.b64 [%y+8], %a;\n"
    for opcode in spell(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group"
        "{.add.u32|.add.u64|.add.s32|.min.u32|.max.s32|.min.s64|.and.b32|.or.b64|.xor.b32|.inc.u32}"
    ):
        line = f"{opcode} [%y], [%m], 16;\n"
        body = f"{{\n{BOTH_PLACES}{zeros}{put}{_PROXY}{line}{done}{back}}}"
        yield _case(COPY, opcode, body, _WORDS, _WORDS)


def barriers() -> Iterator[Case]:
    """``mbarrier``, with the phases and counts of a thread of its own."""
    head = f"{{\n{BOTH_PLACES}add.u64 %z, %m, 16;\nmbarrier.init.shared.b64 [%z], 3;\n"
    count = "mbarrier.pending_count.b64 %{0}, %x;\n"
    for opcode in ("mbarrier.arrive.shared.b64", "mbarrier.arrive_drop.shared.b64"):
        body = (
            f"{head}{opcode} %x, [%z];\n{count.format('d')}"
            f"mbarrier.test_wait.shared.b64 %q, [%z], %x;\n"
            f"{opcode} %x, [%z], 2;\n{count.format('r')}"
            "mbarrier.test_wait.shared.b64 %s, [%z], %x;\n"
            "mbarrier.arrive.shared.b64 %x, [%z];\n"
            f"{count.format('u')}mbarrier.inval.shared.b64 [%z];\n}}"
        )
        results: tuple[str, ...] = ("b32", "pred", "b32", "pred", "b32")
        if "drop" in opcode:  # nobody is left for the next phase
            body = body.replace("mbarrier.arrive.shared.b64 %x, [%z];\n" + count.format("u"), "")
            results = results[:4]
        yield _case(BARRIER, f"{opcode}; mbarrier.test_wait; mbarrier.pending_count", body,
                    ("b32",), results)  # fmt: skip
    body = (
        f"{head}mbarrier.expect_tx.relaxed.cta.shared.b64 [%z], 8;\n"
        "mbarrier.arrive.shared.b64 %x, [%z], 3;\nmbarrier.test_wait.shared.b64 %d, [%z], %x;\n"
        "mbarrier.complete_tx.relaxed.cta.shared.b64 [%z], 8;\n"
        "mbarrier.test_wait.shared.b64 %q, [%z], %x;\n"
        "mbarrier.test_wait.parity.shared.b64 %r, [%z], 0;\n"
        "mbarrier.test_wait.parity.shared.b64 %s, [%z], 1;\n}"
    )
    yield _case(BARRIER, "mbarrier.expect_tx; mbarrier.complete_tx; mbarrier.test_wait.parity",
                body, ("b32",), ("pred",) * 4)  # fmt: skip
    body = (
        f"{head}mbarrier.arrive_drop.expect_tx.shared.b64 %x, [%z], 8;\n{count.format('d')}"
        "mbarrier.complete_tx.relaxed.cta.shared.b64 [%z], 8;\n"
        "cp.async.mbarrier.arrive.noinc.shared.b64 [%z];\ncp.async.wait_all;\n"
        "mbarrier.arrive.shared.b64 %x, [%z];\nmbarrier.test_wait.shared.b64 %q, [%z], %x;\n"
        f"mbarrier.arrive.shared.b64 %x, [%z];\n{count.format('r')}}}"
    )
    form = "mbarrier.arrive_drop.expect_tx; cp.async.mbarrier.arrive.noinc"
    yield _case(BARRIER, form, body, ("b32",), ("b32", "pred", "b32"))
