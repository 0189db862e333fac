"""Textures and surfaces on a GPU, made after those of the emulator."""

from __future__ import annotations

from typing import Any

import numpy as np

from ccc.device import gpu
from ccc.emulator.base.forms import Array
from ccc.emulator.memory.images import Surface, Texture
from ccc.errors import CccError

ARRAY, LINEAR, PITCH = "array", "linear", "pitch"
"""Where elements lie: in a CUDA array, or in memory, in one row or in several."""

_PITCH = 32
"""Rows of a texture in memory begin at multiples of so many bytes."""
_LOAD_STORE, _GATHER = 2, 8
"""``cudaArraySurfaceLoadStore`` and ``cudaArrayTextureGather``, which CuPy does not name."""


class GpuImage:
    """A copy of a texture or surface on CuPy's current device.

    Args:
        image: as the emulator has it.
        memory: where its elements lie.

    Raises:
        CccError: the driver makes no such image.
    """

    def __init__(self, image: Surface, memory: str = ARRAY):
        self._cupy = gpu.require()
        self._made = gpu.texture_module()
        self._image = image
        try:
            resource = self._array() if memory == ARRAY else self._in_memory(memory)
            self._object = self._bound(resource)
        except (self._cupy.cuda.runtime.CUDARuntimeError, ValueError) as error:
            raise CccError(f"the driver makes no such image: {error}") from error
        self.handle = np.uint64(self._object.ptr)
        """What a kernel is given."""

    def content(self) -> Array:
        """The elements of an image in a CUDA array, as they are now."""
        found = np.empty_like(self._rows())
        self._cuda_array.copy_to(found)
        self._cupy.cuda.get_current_stream().synchronize()
        return found.reshape(self._image.array.shape)

    def _rows(self) -> Array:
        """The elements with the channels as part of each row."""
        array = np.ascontiguousarray(self._image.array)
        many = self._image.channels > 1
        return array.reshape(*array.shape[:-2], -1) if many else array

    def _format(self) -> Any:
        runtime, dtype = self._cupy.cuda.runtime, self._image.array.dtype
        kinds = {
            "u": runtime.cudaChannelFormatKindUnsigned,
            "i": runtime.cudaChannelFormatKindSigned,
            "f": runtime.cudaChannelFormatKindFloat,
        }
        bits = [8 * dtype.itemsize * (k < self._image.channels) for k in range(4)]
        return self._made.ChannelFormatDescriptor(*bits, kinds[dtype.kind])

    def _array(self) -> Any:
        image = self._image
        flags = 0 if isinstance(image, Texture) else _LOAD_STORE
        if isinstance(image, Texture) and len(image.sizes) == 2:
            flags = _GATHER
        self._cuda_array = self._made.CUDAarray(self._format(), *image.sizes, flags=flags)
        self._cuda_array.copy_from(self._rows())
        kind = self._cupy.cuda.runtime.cudaResourceTypeArray
        return self._made.ResourceDescriptor(kind, cuArr=self._cuda_array)

    def _in_memory(self, memory: str) -> Any:
        runtime, rows = self._cupy.cuda.runtime, self._rows()
        if memory == LINEAR:
            there = self._cupy.array(rows)
            return self._made.ResourceDescriptor(
                runtime.cudaResourceTypeLinear, arr=there, chDesc=self._format(),
                sizeInBytes=rows.nbytes,
            )  # fmt: skip
        length = rows.shape[1] * rows.itemsize
        pitch = -(-length // _PITCH) * _PITCH
        padded = np.zeros((rows.shape[0], pitch), np.uint8)
        padded[:, :length] = rows.view(np.uint8)
        width, height = self._image.sizes
        return self._made.ResourceDescriptor(
            runtime.cudaResourceTypePitch2D, arr=self._cupy.array(padded), chDesc=self._format(),
            width=width, height=height, pitchInBytes=pitch,
        )  # fmt: skip

    def _bound(self, resource: Any) -> Any:
        image, runtime = self._image, self._cupy.cuda.runtime
        if not isinstance(image, Texture):
            return self._made.SurfaceObject(resource)
        beyond = {
            "clamp": runtime.cudaAddressModeClamp,
            "border": runtime.cudaAddressModeBorder,
            "wrap": runtime.cudaAddressModeWrap,
            "mirror": runtime.cudaAddressModeMirror,
        }
        filters = (runtime.cudaFilterModePoint, runtime.cudaFilterModeLinear)
        reads = (runtime.cudaReadModeElementType, runtime.cudaReadModeNormalizedFloat)
        descriptor = self._made.TextureDescriptor(
            addressModes=(beyond[image.addressing],) * 3,
            filterMode=filters[image.linear],
            readMode=reads[image.as_float],
            normalizedCoords=int(image.normalized),
        )
        return self._made.TextureObject(resource, descriptor)
