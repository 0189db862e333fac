"""Forms that look at other lanes (PTX ISA sections 9.7.9 shfl, and 9.7.13).

Each is run by full warps and, where that is defined, by every other lane of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from ccc.tools.agree.case import Case, spell

WARP = "9.7.13 Votes and exchanges"

_EVERYONE, _EVEN = "0xFFFFFFFF", "0x55555555"
_EVEN_LANES = """\
and.b32 %t, %lane, 1;
setp.eq.u32 %g, %t, 0;
"""


def exchanges() -> Iterator[Case]:
    """``shfl``, ``vote``, ``match``, ``redux``, ``elect``, ``activemask`` and ``barrier.red``."""
    yield from _twice("shfl.sync{.up|.down|.bfly|.idx}.b32", "%d|%q, %a, %b, %c",
                      ("b32", "even", "segment"), ("b32", "pred"))  # fmt: skip
    for opcode in spell("shfl.sync{.up|.down|.bfly|.idx}.b32"):
        body = f"{opcode} %d|%q, %a, %b, %c, {_EVERYONE};"
        form = f"{opcode}, any lane"
        yield Case(WARP, form, body, ("b32", "lane", "segment"), ("b32", "pred"))
    yield from _twice("vote.sync{.all|.any|.uni}.pred", "%d, %a", ("votes",), ("pred",))
    yield from _twice("vote.sync.ballot.b32", "%d, %a", ("votes",), ("b32",))
    yield from _twice("match.any.sync.b32", "%d, %a", ("like32",), ("b32",))
    yield from _twice("match.any.sync.b64", "%d, %a", ("like64",), ("b32",))
    yield from _twice("match.all.sync.b32", "%d|%q, %a", ("like32",), ("b32", "pred"))
    yield from _twice("match.all.sync.b64", "%d|%q, %a", ("like64",), ("b32", "pred"))
    yield from _twice("redux.sync{.add|.min|.max}.u32", "%d, %a", ("u32",), ("u32",))
    yield from _twice("redux.sync{.add|.min|.max}.s32", "%d, %a", ("s32",), ("s32",))
    yield from _twice("redux.sync{.and|.or|.xor}.b32", "%d, %a", ("b32",), ("b32",))
    yield from _twice("elect.sync", "%d|%q", (), ("b32", "pred"))
    yield Case(WARP, "activemask.b32", "activemask.b32 %d;", ("b32",), ("b32",))
    guarded = "mov.b32 %d, 0;\n@%a activemask.b32 %d;"
    yield Case(WARP, "activemask.b32, guarded", guarded, ("votes",), ("b32",))
    for opcode in spell("barrier.red.popc.u32"):
        yield Case(WARP, opcode, f"{opcode} %d, 0, %a;", ("votes",), ("u32",))
    for opcode in spell("{bar|barrier}.red{.and|.or}.pred"):
        yield Case(WARP, opcode, f"{opcode} %d, 0, %a;", ("votes",), ("pred",))


def _twice(
    row: str, operands: str, sources: tuple[str, ...], results: tuple[str, ...]
) -> Iterator[Case]:
    for opcode in spell(row):
        yield Case(WARP, opcode, f"{opcode} {operands}, {_EVERYONE};", sources, results)
        clear = "".join(
            f"setp.ne.u32 %{name}, %t, %t;\n" if kind == "pred" else f"mov.b32 %{name}, 0;\n"
            for name, kind in zip("dq", results, strict=False)
        )
        body = f"{_EVEN_LANES}{clear}@%g {opcode} {operands}, {_EVEN};"
        yield Case(WARP, f"{opcode}, even lanes", body, sources, results)
