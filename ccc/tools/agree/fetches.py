"""Forms that read textures (PTX ISA section 9.7.10): ``tex``, ``tld4`` and ``txq``."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from ccc.device.images import ARRAY, LINEAR, PITCH
from ccc.tools.agree.case import SOURCES, Case
from ccc.tools.agree.images import DTYPES, Image

TEXTURE = "9.7.10 Textures"

SIZES = (13, 8, 5)
_WIDE = (1000, 20000)
_WIDER = (*_WIDE, 4097, 16384, 8193, 16383, 16384, 16385, 32768, 32769, 65535, 65536, 100000)
_AREAS = ((7, 20000), (100, 100), (150, 150), (512, 512))
_GEOMETRIES = ("1d", "2d", "3d")
_UNNORMALIZED, _NORMALIZED = ("clamp", "border"), ("clamp", "border", "wrap", "mirror")
_INTEGERS = ("u8", "s8", "u16", "s16")
_TARGET = "{%d, %q, %r, %s}"


def fetches() -> Iterator[Case]:
    """Each geometry and memory, with each element, filter, addressing and kind of coordinates."""
    yield from _whole_numbers()
    for dimensions, memory in ((1, ARRAY), (2, ARRAY), (2, PITCH), (3, ARRAY)):
        plain = Image(SIZES[:dimensions], memory=memory)
        yield from _elements(plain)
        yield from _beyond(plain)
        yield from _weights(plain)
    for width in _WIDER:
        yield from _weights(Image((width,)))
    for width in _WIDE:
        yield from _beyond(Image((width,)))
    for sizes in _AREAS:
        yield from _weights(Image(sizes))
    yield from _levels()
    yield from _gathers()
    yield from _sizes()


def _whole_numbers() -> Iterator[Case]:
    """Coordinates that are integers: of memory, where there are no others, and of arrays.

    An array of one dimension has none: `tex1Dfetch` is for memory, and finds zeros in an array.
    """
    line = Image(SIZES[:1], memory=LINEAR)
    for element, channels in itertools.product(DTYPES, (1, 2, 4)):
        yield _tex(replace(line, element=element, channels=channels), "s32")
        if element in _INTEGERS:
            yield _tex(replace(line, element=element, channels=channels, as_float=True), "s32")
    for dimensions, memory in ((2, ARRAY), (2, PITCH), (3, ARRAY)):
        for addressing, channels in itertools.product(_UNNORMALIZED, (1, 4)):
            image = Image(SIZES[:dimensions], "u8", channels, memory=memory, addressing=addressing)
            yield _tex(image, "s32")
            yield _tex(replace(image, as_float=True, linear=True), "s32")
        for addressing in ("wrap", "mirror"):
            yield _tex(replace(image, addressing=addressing, normalized=True), "s32")


def _elements(plain: Image) -> Iterator[Case]:
    """What is in the image, read at the nearest element and between elements."""
    for element, channels in itertools.product(DTYPES, (1, 2, 4)):
        image = replace(plain, element=element, channels=channels)
        yield _tex(image)
        if element in _INTEGERS:
            yield _tex(replace(image, as_float=True))
            yield _tex(replace(image, as_float=True, linear=True))
        if element.startswith("f"):
            special = replace(image, content="special")
            yield _tex(special)
            for one in (image, special):
                yield _tex(replace(one, linear=True))
    for wanted in ("u32", "s32"):
        yield _tex(plain, wanted=wanted)
        yield _tex(replace(plain, element="f16"), wanted=wanted)
    yield _tex(replace(plain, element="u8"), wanted="f32")
    yield _tex(replace(plain, element="s16"), wanted="f32")


def _beyond(plain: Image) -> Iterator[Case]:
    """What is next to the image, by each filter."""
    for normalized, addressings in ((False, _UNNORMALIZED), (True, _NORMALIZED)):
        for addressing, linear in itertools.product(addressings, (False, True)):
            image = replace(plain, normalized=normalized, addressing=addressing, linear=linear)
            for one in (image, replace(image, element="s8", as_float=True, channels=4)):
                yield _tex(one)
            if linear:
                yield _tex(replace(image, element="f16", channels=2))


def _weights(plain: Image) -> Iterator[Case]:
    """The weights of the filter themselves."""
    for first, normalized in itertools.product((0, 4), (False, True)):
        if first == 0 or len(plain.sizes) == 3:
            image = replace(plain, content=f"weights{first}", channels=4, linear=True)
            yield _tex(replace(image, normalized=normalized, addressing="border"))
            yield _tex(replace(image, normalized=normalized))


def _tex(image: Image, given: str = "f32", wanted: str = "") -> Case:
    if not wanted:
        floats = image.element.startswith("f") or image.as_float
        wanted = "f32" if floats else f"{image.element[0]}32"
    opcode = f"tex.{_GEOMETRIES[len(image.sizes) - 1]}.v4.{wanted}.{given}"
    return _case(opcode, image, given, (wanted,) * 4)


def _case(opcode: str, image: Image, given: str, results: tuple[str, ...]) -> Case:
    kind = "index" if given == "s32" else "unit" if image.normalized else "texel"
    sources = tuple(f"{kind}{size}" for size in image.sizes)
    names = [f"%{name}" for name in SOURCES[: len(sources)]]
    place = names + names[:1] * (len(names) == 3)  # of three dimensions a fourth is not looked at
    body = f"{opcode} {_TARGET}, [%image, {{{', '.join(place)}}}];"
    form = f"{opcode}, {_told(image)}"
    return Case(TEXTURE, form, body, sources, results, image=image)


def _told(image: Image) -> str:
    """What there is to say of a texture."""
    words = [
        f"{image.element} x{image.channels}",
        "" if image.sizes == SIZES[: len(image.sizes)] else _size(image),
        "" if image.content == "random" else image.content,
        {ARRAY: "", LINEAR: "linear memory", PITCH: "pitched memory"}[image.memory],
        "as float" if image.as_float else "",
        "linear" if image.linear else "nearest",
        "normalized" if image.normalized else "",
        image.addressing,
    ]
    return ", ".join(word for word in words if word)


def _size(image: Image) -> str:
    names = zip(image.sizes, ("wide", "high"), strict=False)
    return ", ".join(f"{size:,} {name}" for size, name in names)


def _levels() -> Iterator[Case]:
    """The level of a pyramid, of which there is the first alone."""
    for dimensions in (1, 2, 3):
        plain = Image(SIZES[:dimensions], linear=True)
        case = _tex(plain)
        base = replace(case, form=f"tex.base{case.form[3:]}", body=f"tex.base{case.body[3:]}")
        yield base
        body = f"tex.level{case.body[3:-1]}, 0f00000000;"
        yield replace(case, form=f"tex.level{case.form[3:]}", body=body)


def _gathers() -> Iterator[Case]:
    for memory in (ARRAY, PITCH):
        plain = Image(SIZES[:2], channels=4, memory=memory)
        for channel in "rgba":
            yield _tld4(channel, plain)
            yield _tld4(channel, replace(plain, element="u8", as_float=True))
            yield _tld4(channel, replace(plain, element="s16"))
        for element in DTYPES:
            yield _tld4("r", replace(plain, element=element, channels=1))
        for addressing in _NORMALIZED:
            yield _tld4("g", replace(plain, normalized=True, addressing=addressing))
            yield _tld4("g", replace(plain, normalized=True, addressing=addressing, linear=True))
        yield _tld4("b", replace(plain, addressing="border"))


def _tld4(channel: str, image: Image) -> Case:
    floats = image.element.startswith("f") or image.as_float
    wanted = "f32" if floats else f"{image.element[0]}32"
    return _case(f"tld4.{channel}.2d.v4.{wanted}.f32", image, "f32", (wanted,) * 4)


def _sizes() -> Iterator[Case]:
    for dimensions, name in itertools.product((1, 2, 3), ("width", "height", "depth")):
        image = Image(SIZES[:dimensions])
        opcode = f"txq.{name}.b32"
        form = f"{opcode}, {_GEOMETRIES[dimensions - 1]}"
        yield Case(TEXTURE, form, f"{opcode} %d, [%image];", ("b32",), ("b32",), image=image)
