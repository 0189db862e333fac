"""What of a cubin is machine code, to compare two that were assembled of different text."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

from ccc.errors import CccError
from ccc.toolkit import find as toolchain

_PARTS = (".text", ".nv.constant", ".nv.global", ".nv.shared", ".nv.local", ".nv.info", ".rel")
_DEBUG = ("debug",)
_NO_BITS = 8


def sections(cubin: bytes) -> dict[str, bytes]:
    """The sections of an ELF file of 64 bits by name; of one without content, its size."""
    (at,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, at + i * size) for i in range(count)]
    strings = headers[names][4]
    found = {}
    for name, kind, _, _, offset, length, *_ in headers:
        begin = strings + name
        text = cubin[begin : cubin.index(b"\0", begin)].decode()
        content = cubin[offset : offset + length]
        found[text] = str(length).encode() if kind == _NO_BITS else content
    return found


def code_of(cubin: bytes) -> dict[str, bytes]:
    """The sections that a launch depends on: code, constants, variables, what they refer to."""
    return {
        name: content
        for name, content in sections(cubin).items()
        if name.startswith(_PARTS) and not any(word in name for word in _DEBUG)
    }


def ptxas() -> Path:
    """The assembler; without one the test is skipped."""
    try:
        return toolchain.find().program("ptxas")
    except CccError as error:
        pytest.skip(error.message)


def assemble(text: str, arch: str, folder: Path, *options: str) -> bytes:
    """The cubin of a PTX file; the test fails where ptxas refuses it."""
    source, target = folder / "k.ptx", folder / "k.cubin"
    source.write_text(text, encoding="utf-8")
    command = [str(ptxas()), f"-arch={arch}", *options, str(source), "-o", str(target)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert not done.returncode, done.stdout + done.stderr
    return target.read_bytes()
