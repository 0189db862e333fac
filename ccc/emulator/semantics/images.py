"""Reads and writes of textures and surfaces (PTX ISA sections 9.7.10 and 9.7.11)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ccc.emulator.base.forms import ADDRESS, DTYPES, Array, Form, Operation, emulates, spread
from ccc.emulator.lanes.groups import Group
from ccc.emulator.memory import atomics
from ccc.emulator.memory.images import Surface, Texture
from ccc.ir.operands import TupleAddress, Vector

_DIMENSIONS = {"1d": 1, "2d": 2, "3d": 3}


def _dimensions(form: Form) -> int:
    geometry = form.choose(*_DIMENSIONS)
    if geometry is None:
        form.refuse("reads layers, cubes or samples")
    return _DIMENSIONS[geometry]


def _coordinates(form: Form, position: int) -> int:
    """How many numbers say where; the handle stands before them."""
    place = form.instruction.operands[position]
    if not isinstance(place, TupleAddress) or len(place.parts) != 2:
        form.refuse("names a sampler")
    last = place.parts[1]
    return len(last.elements) if isinstance(last, Vector) else 1


def _images(
    machine: Any, form: Form, group: Group, handle: Any, kind: type[Surface], dimensions: int
) -> Iterator[tuple[Any, Group, Array]]:
    """Each image that lanes name, with those lanes: their group, and a mask of all."""
    handles = spread(handle, group.n)
    for number in np.unique(handles):
        here = handles == number
        some = group.only(here)
        assert some is not None
        image = machine.memory.images.by_handle.get(int(number))
        wanted = kind.__name__.lower()
        if not isinstance(image, kind):
            machine.fault(f"{int(number):#x} is no {wanted}", form.instruction, some)
        if len(image.sizes) != dimensions:
            message = f"the {wanted} has {len(image.sizes)} dimensions, not {dimensions}"
            machine.fault(message, form.instruction, some)
        yield image, some, here


@emulates("tex")
def fetch(form: Form) -> Operation:
    """Read a texture."""
    dimensions = _dimensions(form)
    if form.has("grad") or not form.has("v4") or len(form.types) != 2:
        form.refuse("reads a texture in a way that is not modelled")
    if len(form.instruction.operands) > 2 + form.has("level"):
        form.refuse("has an offset or a value to compare with")
    wanted, given = form.types
    if wanted not in ("f32", "s32", "u32"):
        form.refuse(f"reads {wanted}")
    dtype = DTYPES[wanted]
    count = _coordinates(form, 1)

    def compute(machine: Any, group: Group, handle: Any, *places: Any) -> Any:
        found = [np.zeros(group.n, dtype) for _ in range(4)]
        where = [spread(place, group.n) for place in places[:dimensions]]
        for texture, _lanes, here in _images(machine, form, group, handle, Texture, dimensions):
            channels = texture.read([place[here] for place in where])
            for channel, values in zip(found, channels, strict=True):
                channel[here] = values.view(dtype)
        return tuple(found)

    sources = ("u64", *[given] * count)
    return Operation(compute, sources, (wanted,) * 4, group=True, machine=True)


@emulates("tld4")
def gather(form: Form) -> Operation:
    """One channel of the four elements that a linear filter would mix."""
    wanted, given = form.types
    channel = "rgba".index(form.choose("r", "g", "b", "a") or "r")
    if _dimensions(form) != 2 or given != "f32" or len(form.instruction.operands) > 2:
        form.refuse("gathers in a way that is not modelled")
    dtype = DTYPES[wanted]

    def compute(machine: Any, group: Group, handle: Any, x: Any, y: Any) -> Any:
        found = [np.zeros(group.n, dtype) for _ in range(4)]
        where = [spread(place, group.n) for place in (x, y)]
        for texture, _lanes, here in _images(machine, form, group, handle, Texture, 2):
            corners = texture.gather([place[here] for place in where], channel)
            for corner, values in zip(found, corners, strict=True):
                corner[here] = values.view(dtype)
        return tuple(found)

    sources = ("u64", *[given] * _coordinates(form, 1))
    return Operation(compute, sources, (wanted,) * 4, group=True, machine=True)


@emulates("txq", "suq")
def query(form: Form) -> Operation:
    """A size of an image."""
    names = ("width", "height", "depth")
    name = form.choose(*names)
    if name is None:
        form.refuse("asks for another thing than a size")
    at = names.index(name)

    def compute(machine: Any, group: Group, handle: Any) -> Any:
        handles = spread(handle, group.n)
        found = np.zeros(group.n, np.uint32)
        for number in np.unique(handles):
            image = machine.memory.images.by_handle.get(int(number))
            if image is None:
                machine.fault(f"{int(number):#x} is no image", form.instruction, group)
            missing = int(name == "height" and form.instruction.name == "txq")  # a single row
            found[handles == number] = image.sizes[at] if at < len(image.sizes) else missing
        return found

    return Operation(compute, (ADDRESS,), ("b32",), group=True, machine=True)


class _RowBytes:
    """Where the elements of a surface access lie: x counts bytes, y and z rows and planes."""

    def __init__(self, form: Form, position: int):
        self.form = form
        self.dimensions = _dimensions(form)
        if not form.has("b"):
            form.refuse("converts what it writes")
        self.count = _coordinates(form, position)
        self.beyond = form.choose("trap", "clamp", "zero") or "trap"

    def place(
        self, machine: Any, image: Surface, lanes: Group, where: list[Array], size: int
    ) -> tuple[list[Array], Array]:
        """The byte in its row, and the row and plane; and which lanes are inside."""
        extents = [image.sizes[0] * image.element, *image.sizes[1:]]
        steps = [size] + [1] * (self.dimensions - 1)
        inside = np.ones(lanes.n, bool)
        places = []
        for x, extent, step in zip(where, extents, steps, strict=True):
            wide = x.astype(np.int64)
            inside &= (wide >= 0) & (wide + step <= extent)
            places.append(np.clip(wide, 0, extent - step))
        if self.beyond == "trap" and not inside.all():
            message = "an access beyond the surface"
            machine.fault(message, self.form.instruction, lanes, ~inside)
        if (places[0] % size).any():
            message = f"a misaligned access of {size} bytes to a surface"
            machine.fault(message, self.form.instruction, lanes, places[0] % size != 0)
        return places, inside if self.beyond == "zero" else np.ones(lanes.n, bool)


def _rows(image: Surface, dtype: np.dtype[Any]) -> Any:
    """A view of an image as rows of another type."""
    array = image.array
    flat = array.reshape(*array.shape[:-2], -1) if image.channels > 1 else array
    return flat.view(dtype)


def _types(form: Form) -> tuple[np.dtype[Any], int]:
    """The type of an element of a surface access, and how many there are."""
    name = form.choose("b8", "b16", "b32", "b64")
    if name is None:
        form.refuse("names no type of 8 to 64 bits")
    return DTYPES[name], int((form.choose("v2", "v4") or "v1")[1:])


@emulates("suld")
def load(form: Form) -> Operation:
    """Read a surface."""
    dtype, count = _types(form)
    at = _RowBytes(form, 1)
    size = dtype.itemsize * count

    def compute(machine: Any, group: Group, handle: Any, *places: Any) -> Any:
        found = [np.zeros(group.n, dtype) for _ in range(count)]
        where = [spread(place, group.n) for place in places[: at.dimensions]]
        for image, some, here in _images(machine, form, group, handle, Surface, at.dimensions):
            (x, *others), good = at.place(machine, image, some, [w[here] for w in where], size)
            rows = _rows(image, dtype)
            for k in range(count):
                index = (*others[::-1], x // dtype.itemsize + k)
                values = rows[index]
                found[k][here] = np.where(good, values, dtype.type(0))
        return tuple(found) if count > 1 else found[0]

    name = f"b{8 * dtype.itemsize}"
    sources = ("u64", *["s32"] * at.count)
    return Operation(compute, sources, (name,) * count, group=True, machine=True)


@emulates("sust")
def store(form: Form) -> Operation:
    """Write to a surface."""
    dtype, count = _types(form)
    at = _RowBytes(form, 0)
    size = dtype.itemsize * count

    def compute(machine: Any, group: Group, handle: Any, *rest: Any) -> None:
        where = [spread(place, group.n) for place in rest[: at.dimensions]]
        values = [spread(value, group.n) for value in rest[at.count :]]
        for image, some, here in _images(machine, form, group, handle, Surface, at.dimensions):
            (x, *others), good = at.place(machine, image, some, [w[here] for w in where], size)
            rows = _rows(image, dtype)
            for k, value in enumerate(values):
                place = (*(o[good] for o in others[::-1]), x[good] // dtype.itemsize + k)
                rows[place] = value[here][good]

    sources = ("u64", *["s32"] * at.count, *[f"b{8 * dtype.itemsize}"] * count)
    return Operation(compute, sources, (), group=True, machine=True)


@emulates("sured")
def reduce(form: Form) -> Operation:
    """Combine with an element of a surface, lane after lane."""
    dtype = DTYPES[form.type]
    name = atomics.operation_name(form)
    at = _RowBytes(form, 0)

    def compute(machine: Any, group: Group, handle: Any, *rest: Any) -> None:
        where = [spread(place, group.n) for place in rest[: at.dimensions]]
        values = spread(rest[at.count], group.n)
        for image, some, here in _images(machine, form, group, handle, Surface, at.dimensions):
            (x, *others), good = at.place(
                machine, image, some, [w[here] for w in where], dtype.itemsize
            )
            rows = _rows(image, dtype)
            cells = rows.reshape(-1) if rows.flags.c_contiguous else rows.ravel()
            index = (*(o[good] for o in others[::-1]), x[good] // dtype.itemsize)
            flat = np.ravel_multi_index(index, rows.shape)
            atomics.apply(name, cells, flat, (values[here][good],))
            if not rows.flags.c_contiguous:
                rows[...] = cells.reshape(rows.shape)

    sources = ("u64", *["s32"] * at.count, form.type)
    return Operation(compute, sources, (), group=True, machine=True)
