"""PNG files, read back by hand."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import numpy as np
import pytest

from ccc.errors import CccError
from ccc.tools import png


def chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    assert data.startswith(png.SIGNATURE)
    at = len(png.SIGNATURE)
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        (checksum,) = struct.unpack_from(">I", data, at + 8 + length)
        assert checksum == zlib.crc32(kind + body)
        yield kind, body
        at += 12 + length


def test_a_picture_comes_back() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (5, 7, 3), np.uint8)
    (head, size), (data, rows), (end, nothing) = chunks(png.encode(picture))
    assert (head, data, end, nothing) == (b"IHDR", b"IDAT", b"IEND", b"")
    assert struct.unpack(">IIBBBBB", size) == (7, 5, 8, 2, 0, 0, 0)
    found = np.frombuffer(zlib.decompress(rows), np.uint8).reshape(5, 22)
    assert not found[:, 0].any()
    assert np.array_equal(found[:, 1:].reshape(5, 7, 3), picture)


WRONG = [
    np.zeros((2, 2, 3)),
    np.zeros((2, 2), np.uint8),
    np.zeros((2, 2, 4), np.uint8),
    np.zeros((0, 2, 3), np.uint8),
]


@pytest.mark.parametrize("picture", WRONG)
def test_other_arrays_are_refused(picture: np.ndarray) -> None:
    with pytest.raises(CccError, match="a picture is uint8 of shape"):
        png.encode(picture)
