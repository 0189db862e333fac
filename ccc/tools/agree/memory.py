"""Forms that access memory (PTX ISA sections 9.7.9, ld and st, and 9.7.13, atom and red).

A thread has 32 bytes of its own at ``%m``: in global memory, or where the space says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ccc.ptx.types import TYPES, VECTORS
from ccc.tools.agree.case import RESULTS, SOURCES, Case, kind_of, spell, types_of

ACCESS = "9.7.9 ld and st"
ATOMIC = "9.7.13 atom and red"

SHARED = ".shared .align 32 .b8 cells[4096];\n"
PLACES = {
    "": "",
    ".global": "",
    ".shared": "mul.lo.u32 %t, %thread, 32;\ncvt.u64.u32 %m, %t;\nmov.u64 %x, cells;\n"
    "add.u64 %m, %m, %x;\n",
    ".local": "mov.u64 %m, spot;\n",
}
"""How a thread's place in a space is found."""

_TYPES = "{.b8|.b16|.b32|.b64|.u8|.u16|.u32|.u64|.s8|.s16|.s32|.s64|.f32|.f64}"
_LOADS = (
    "ld{.volatile|.relaxed.cta|.relaxed.gpu|.relaxed.sys|.weak}.global.b32",
    "ld.global{.ca|.cg|.cs|.lu|.cv|.nc}.b32",
    "ld.global{.L1::evict_first|.L1::no_allocate|.L2::128B|.nc.L1::evict_last}.b32",
    "ld.acquire{.cta|.gpu|.sys}.global.b32",
    "ldu.global{.b32|.u64|.v2.f32}",
    "ld.mmio.relaxed.sys.global.u32",
)
_STORES = (
    "st{.volatile|.relaxed.cta|.relaxed.gpu|.relaxed.sys|.weak}.global.b32",
    "st.global{.wb|.cg|.cs|.wt|.L1::evict_first|.L1::no_allocate}.b32",
    "st.release{.cta|.gpu|.sys}.global.b32",
    "st.mmio.relaxed.sys.global.u32",
)


def _vector(names: Sequence[str], opcode: str) -> tuple[str, int]:
    """The operand of an access, and how many elements it has."""
    count = next((VECTORS[word] for word in opcode.split(".") if word in VECTORS), 1)
    registers = [f"%{name}" for name in names[:count]]
    return (f"{{{', '.join(registers)}}}" if count > 1 else registers[0]), count


def _declared(space: str) -> str:
    return SHARED if space == ".shared" else ""


def _filled(space: str, count: int) -> str:
    """The sources of a case as 64-bit words at the thread's place."""
    words = "".join(
        f"st{space}.b64 [%m+{8 * k}], %{name};\n" for k, name in enumerate(SOURCES[:count])
    )
    return PLACES[space] + words


def accesses() -> Iterator[Case]:
    """Loads and stores of all widths."""
    for space in PLACES:
        for vector in ("", ".v2", ".v4"):
            for opcode in spell(f"ld{space}{vector}{_TYPES}"):
                if _fits(opcode):
                    yield _load(space, opcode)
            for opcode in spell(f"st{space}{vector}{_TYPES}"):
                if _fits(opcode):
                    yield _store(space, opcode)
    for row in _LOADS:
        for opcode in spell(row):
            yield _load(".global", opcode)
    for row in _STORES:
        for opcode in spell(row):
            yield _store(".global", opcode)
    for opcode in spell("ld.global{.u8|.s8|.b8|.u16|.s16|.b16|.u32|.s32|.b32}"):
        case = _load(".global", opcode)
        form = f"{opcode} to a wider register"
        yield Case(ACCESS, form, case.body, case.sources, ("b64",))


def _fits(opcode: str) -> bool:
    _, count = _vector("dqrs", opcode)
    return count * TYPES[types_of(opcode)[-1]].bits <= 128


def _load(space: str, opcode: str) -> Case:
    target, count = _vector(RESULTS, opcode)
    kind = types_of(opcode)[-1]
    body = f"{_filled(space, 2)}{opcode} {target}, [%m];"
    if ".nc" in opcode or opcode.startswith(
        "ldu"
    ):  # what it reads must not be written by the kernel
        body = f"{opcode} {target}, [%i];"
    return Case(
        ACCESS, opcode, body, ("b64", "b64"), (kind,) * count, declarations=_declared(space)
    )


def _store(space: str, opcode: str) -> Case:
    source, count = _vector(SOURCES, opcode)
    kind = types_of(opcode)[-1]
    zeros = "".join(f"st{space}.b64 [%m+{8 * k}], 0x0123456789abcdef;\n" for k in range(2))
    back = "".join(f"ld{space}.b64 %{RESULTS[k]}, [%m+{8 * k}];\n" for k in range(2))
    body = f"{PLACES[space]}{zeros}{opcode} [%m], {source};\n{back}"
    return Case(
        ACCESS, opcode, body, (kind,) * count, ("b64", "b64"), declarations=_declared(space)
    )


ATOMICS = (
    ("{and|or|xor}{.b32|.b64}", 1),
    ("exch{.b32|.b64|.b128}", 1),
    ("cas{.b16|.b32|.b64|.b128}", 2),
    ("add{.u32|.s32|.u64|.f32|.f64}", 1),
    ("add.noftz{.f16|.f16x2|.bf16|.bf16x2}", 1),
    ("{inc|dec}.u32", 1),
    ("{min|max}{.u32|.s32|.u64|.s64}", 1),
)
_VECTORS = (
    ("add{.v2|.v4}.f32", 1),
    ("{add|min|max}.noftz{.v2|.v4|.v8}{.f16|.bf16}", 1),
    ("{add|min|max}.noftz{.v2|.v4}{.f16x2|.bf16x2}", 1),
)
"""Those that there are for global memory only."""
_SPACES = ("", ".global", ".shared")


def atomics() -> Iterator[Case]:
    """Atomic operations, each thread at its own address, then all of a block at one."""
    for space in _SPACES:
        for row, values in ATOMICS + (() if space == ".shared" else _VECTORS):
            for words in spell(row):
                yield _apart("atom", space, words, values)
                if not words.startswith(("exch", "cas")):
                    yield _apart("red", space, words, values)
    for opcode in spell("atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.gpu|.sys}.global.add.u32"):
        case = _apart("atom", ".global", "add.u32", 1)
        yield Case(ATOMIC, opcode, case.body.replace("atom.global.add.u32", opcode), case.sources,
                   case.results)  # fmt: skip
    yield from _together()


def _apart(name: str, space: str, words: str, values: int) -> Case:
    """On the thread's own cell, whose content is the first source."""
    opcode = f"{name}{space}.{words}"
    kind = kind_of("T", opcode)
    target, count = _vector(RESULTS, opcode)
    cells = _vector(SOURCES, opcode)[0]
    given = _vector(SOURCES[count:], opcode)[0]
    more = f", %{SOURCES[2 * count]}" if values == 2 else ""
    bits = f"b{TYPES[kind].bits}"
    vector = f".v{count}" if count > 1 else ""
    back, _ = _vector(RESULTS[count if name == "atom" else 0 :], opcode)
    into = f"{target}, " if name == "atom" else ""
    body = (
        f"{PLACES[space]}{_moved('st', space, vector, bits, count, cells)}"
        f"{opcode} {into}[%m], {given}{more};\n{_moved('ld', space, vector, bits, count, back)}"
    )
    sources = (kind,) * (count * (1 + values))
    results = (kind,) * (count * (2 if name == "atom" else 1))
    return Case(ATOMIC, opcode, body, sources, results, declarations=_declared(space))


def _moved(name: str, space: str, vector: str, bits: str, count: int, operand: str) -> str:
    """A thread's cell, read or written; vectors of eight in two accesses."""
    if count < 8:
        places = ["[%m]"]
        operands = [operand]
    else:
        names = operand.strip("{}").split(", ")
        vector, places = ".v4", ["[%m]", f"[%m+{4 * int(bits[1:]) // 8}]"]
        operands = [f"{{{', '.join(names[k : k + 4])}}}" for k in (0, 4)]
    lines = []
    for place, registers in zip(places, operands, strict=True):
        both = f"{place}, {registers}" if name == "st" else f"{registers}, {place}"
        lines.append(f"{name}{space}{vector}.{bits} {both};\n")
    return "".join(lines)


_ONE_CELL = {
    ".global": "mul.wide.u32 %x, %thread, 32;\nsub.u64 %m, %m, %x;\n",
    ".shared": "mov.u64 %m, cells;\n",
}
_SAME = (
    ("{add}{.u32|.s32|.u64}", "0", "{b}"),
    ("{min|max}{.u32|.s32|.u64|.s64}", "7", "{b}"),
    ("{and|or|xor}{.b32|.b64}", "-3", "{b}"),
)
_PERMUTED = (("add{.u32|.s32|.u64}", "0", "3"), ("inc.u32", "0", "50"), ("dec.u32", "0", "50"))


def _together() -> Iterator[Case]:
    """On one cell a block: what is left of ``red``, and what all threads together find."""
    for space, place in _ONE_CELL.items():
        for row, first, value in _SAME:
            for words in spell(row):
                yield _one_cell("red", space, place, words, first, value.format(b="%a"))
        for row, first, value in _PERMUTED:
            for words in spell(row):
                yield _one_cell("atom", space, place, words, first, value)


def _one_cell(name: str, space: str, place: str, words: str, first: str, value: str) -> Case:
    opcode = f"{name}{space}.{words}"
    kind = kind_of("T", opcode)
    bits = f"b{TYPES[kind].bits}"
    into = "%d, " if name == "atom" else ""
    left = "%q" if name == "atom" else "%d"
    body = (
        f"{place}setp.eq.u32 %g, %thread, 0;\n@%g st{space}.{bits} [%m], {first};\nbar.sync 0;\n"
        f"{opcode} {into}[%m], {value};\nbar.sync 0;\nld.volatile{space}.{bits} {left}, [%m];"
    )
    results = (kind,) * (2 if name == "atom" else 1)
    return Case(
        ATOMIC, f"{opcode}, one cell", body, (kind,), results, unordered=name == "atom",
        declarations=_declared(space),
    )  # fmt: skip
