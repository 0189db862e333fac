"""Forms that read and write surfaces (PTX ISA section 9.7.11).

What a kernel leaves in a surface is compared after it has ended, since its own reads need not see
it. So a surface that is written has an element for each thread.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from ccc.ptx.types import TYPES, VECTORS
from ccc.tools.agree.case import RESULTS, SOURCES, Case, spell, types_of
from ccc.tools.agree.images import Image

SURFACE = "9.7.11 Surfaces"

_READ = ((13,), (13, 8), (13, 8, 5))
_WRITTEN = ((8192,), (128, 64), (32, 16, 16))
_OWN = (
    "mov.b32 %y, %at;\n",
    "and.b32 %y, %at, 127;\nshr.u32 %z, %at, 7;\n",
    "and.b32 %y, %at, 31;\nshr.u32 %z, %at, 5;\nand.b32 %z, %z, 15;\nshr.u32 %w, %at, 9;\n",
)
"""The element of each thread, in each number of dimensions."""
_PLACE = (
    "[%image, {%y}]",
    "[%image, {%y, %z}]",
    "[%image, {%y, %z, %w, %w}]",
)
_TYPES = "{|.v2|.v4}{.b8|.b16|.b32|.b64}"
_BEYOND = "{.trap|.clamp|.zero}"
_REDUCTIONS = (
    "add{.1d|.2d|.3d}{.u32|.s32|.u64}",
    "{min|max}{.1d|.2d|.3d}{.u32|.s32|.u64|.s64}",
    "{and|or}{.1d|.2d|.3d}.b32",
)


def surfaces() -> Iterator[Case]:
    """``suld``, ``sust``, ``sured`` and ``suq``."""
    for dimensions, words in itertools.product((1, 2, 3), spell(_TYPES)):
        if _fits(words):
            yield from _accesses(dimensions, words)
    for row, beyond in itertools.product(_REDUCTIONS, ("clamp", "zero")):
        for words in spell(row):
            yield _reduction(words, beyond)
    for dimensions, name in itertools.product((1, 2, 3), ("width", "height", "depth")):
        image = Image(_READ[dimensions - 1], surface=True)
        form = f"suq.{name}.b32, {dimensions}d"
        body = f"suq.{name}.b32 %d, [%image];"
        yield Case(SURFACE, form, body, ("b32",), ("b32",), image=image)


def _shape(words: str) -> tuple[str, int]:
    kind = types_of(words)[-1]
    count = next((VECTORS[word] for word in words.split(".") if word in VECTORS), 1)
    return kind, count


def _fits(words: str) -> bool:
    kind, count = _shape(words)
    return TYPES[kind].bits * count <= 128


def _image(sizes: tuple[int, ...], kind: str, count: int, written: bool) -> Image:
    """An image whose elements are what one access reads."""
    element, more = (f"u{TYPES[kind].bits}", 1) if kind[1:] != "64" else ("u32", 2)
    return Image(sizes, element, count * more, surface=True, written=written)


def _scaled(size: int) -> str:
    """x counts bytes."""
    return f"shl.b32 %y, %y, {int(math.log2(size))};\n"


def _given(dimensions: int) -> str:
    names = zip("yzw"[:dimensions], SOURCES, strict=False)
    return "".join(f"mov.b32 %{name}, %{source};\n" for name, source in names)


def _accesses(dimensions: int, words: str) -> Iterator[Case]:
    kind, count = _shape(words)
    size = count * TYPES[kind].bits // 8
    place = _PLACE[dimensions - 1]
    into = ", ".join(f"%{name}" for name in RESULTS[:count])
    into = f"{{{into}}}" if count > 1 else into
    from_ = into.replace("%d", "%a").replace("%q", "%b").replace("%r", "%c").replace("%s", "%e")
    read = _image(_READ[dimensions - 1], kind, count, False)
    written = _image(_WRITTEN[dimensions - 1], kind, count, True)
    for beyond in ("clamp", "zero"):
        opcode = f"suld.b.{dimensions}d{words}.{beyond}"
        body = f"{_words()}{_given(dimensions)}{_scaled(size)}{opcode} {into}, {place};\n}}"
        sources = tuple(f"index{extent}" for extent in read.sizes)
        yield Case(SURFACE, opcode, body, sources, (kind,) * count, image=read)
        opcode = f"sust.b.{dimensions}d{words}.{beyond}"
        values = ", ".join(["%t" if kind != "b64" else "%x"] * count)
        values = f"{{{values}}}" if count > 1 else values
        if kind in ("b8", "b16"):
            values = values.replace("%t", "%k")
        fill = "mov.b32 %t, 0x5A5A5A5A;\ncvt.u16.u32 %k, %t;\nmov.b64 %x, 0x5A5A5A5A5A5A5A5A;\n"
        body = f"{_words()}{_given(dimensions)}{_scaled(size)}{fill}{opcode} {place}, {values};\n}}"
        sources = tuple(f"index{extent}" for extent in written.sizes)
        yield Case(SURFACE, f"{opcode}, one value", body, sources, (), image=written)
    for beyond in ("trap", "clamp", "zero"):
        opcode = f"sust.b.{dimensions}d{words}.{beyond}"
        body = f"{_words()}{_OWN[dimensions - 1]}{_scaled(size)}{opcode} {place}, {from_};\n}}"
        sources = (kind,) * count + ("b32",) * (count == 1)  # as many as there are elements
        yield Case(SURFACE, opcode, body, sources, (), image=written)
    opcode = f"suld.b.{dimensions}d{words}.trap"
    body = f"{_words()}{_OWN[dimensions - 1]}{_scaled(size)}{opcode} {into}, {place};\n}}"
    image = _image(_WRITTEN[dimensions - 1], kind, count, False)
    yield Case(SURFACE, opcode, body, ("b32",), (kind,) * count, image=image)


def _words() -> str:
    return "{\n.reg .b32 %y, %z, %w;\n.reg .b16 %k;\n"


def _reduction(words: str, beyond: str) -> Case:
    dimensions = int(words.split(".")[1][0])
    kind = types_of(words)[-1]
    name = SOURCES[dimensions]
    size = TYPES[kind].bits // 8
    opcode = f"sured.b.{words}.{beyond}"
    image = _image(_WRITTEN[dimensions - 1], kind, 1, True)
    body = (
        f"{_words()}{_given(dimensions)}{_scaled(size)}{opcode} {_PLACE[dimensions - 1]}, %{name};"
        "\n}"
    )
    sources = (*(f"index{extent}" for extent in image.sizes), kind)
    return Case(SURFACE, opcode, body, sources, (), image=image)
