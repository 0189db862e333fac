"""Pictures as PNG files."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from ccc.errors import CccError

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_RGB = bytes([8, 2, 0, 0, 0])  # bits a channel, kind of colour; the only compression and filters


def encode(picture: NDArray[np.uint8]) -> bytes:
    """The bytes of a PNG file.

    Args:
        picture: (height, width, 3), uint8: red, green and blue, from the top left.

    Raises:
        CccError: the array is no such picture.
    """
    if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3 or not picture.size:
        raise CccError(
            "a picture is uint8 of shape (height, width, 3),"
            f" not {picture.dtype} of shape {picture.shape}"
        )
    height, width, _ = picture.shape
    # Each row begins with the number of the filter that it went through: 0, none.
    rows = np.zeros((height, 1 + 3 * width), np.uint8)
    rows[:, 1:] = picture.reshape(height, -1)
    chunks = [
        (b"IHDR", struct.pack(">II", width, height) + _RGB),
        (b"IDAT", zlib.compress(rows.tobytes())),
        (b"IEND", b""),
    ]
    return SIGNATURE + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
