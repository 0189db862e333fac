"""The arguments of ``ccc emulate``: what ``--arg`` says becomes what a launch takes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import MAGIC_PREFIX

from ccc.emulator import AddressOf, Structure
from ccc.errors import CccError, UsageError, choices, nearest
from ccc.ir.nodes import Variable

DTYPES = {
    "bool": np.bool_,
    **{f"{letter}{bits}": np.dtype(f"{kind}{bits}").type
       for letter, kind in (("i", "int"), ("s", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)},
    **{f"f{bits}": np.dtype(f"float{bits}").type for bits in (16, 32, 64)},
    "c64": np.complex64,
    "c128": np.complex128,
}  # fmt: skip
"""The types of scalars and fresh buffers."""

FILLED = ("zeros", "ones")
FORMS = (
    "5, i32:5, f32:1.5, null, zeros:f32:1024, in.npy, in.npy:out.npy, zeros:f32:1024:out.npy, "
    "{in.npy,i32:5} or &{in.npy,i32:5}"
)


MOST = 64
"""Structures in one argument."""


@dataclass(frozen=True, slots=True)
class Argument:
    """What is passed, and the files that content goes to afterwards."""

    value: Any
    saved: tuple[tuple[Any, Path], ...] = ()


def read_argument(text: str, parameter: Variable | None) -> Argument:
    """Read one, as :data:`FORMS` shows them.

    Args:
        text: what was written.
        parameter: which is given; None for the member of a structure, whose type PTX does not
            tell.

    Raises:
        CccError: it is not understood, or a file is not what it should be.
    """
    if text.startswith(("{", "&")):
        return _structure(text)
    if text == "null":
        return Argument(None)
    if re.search(r"\.npy(:|$)", text) and not text.startswith(tuple(f"{f}:" for f in FILLED)):
        source, out = _files(text)
        return _buffer(_loaded(source), out)
    words = text.split(":", 3)
    if words[0] in FILLED:
        return _fresh(text, words)
    if len(words) == 1 and parameter:
        return Argument(_plain(text, parameter))
    if len(words) == 2 and words[0] in DTYPES:
        return Argument(_scalar(words[1], words[0], text))
    if re.fullmatch(r"[-+]?\.?\d.*", words[0]):
        written = "f32" if re.search(r"[.ep]", text) else "i32"
        raise UsageError(f"--arg {text}: a member of a structure needs its type: {written}:{text}")
    if len(words) == 2 and re.fullmatch(r"[a-z]+\d+", words[0]):
        raise UsageError(f"--arg {text}: {_no_type(words[0])}")
    hint = nearest(words[0], [*DTYPES, *FILLED])
    raise UsageError(f"--arg {text}: not understood{hint}; write {FORMS}")


def _structure(text: str) -> Argument:
    """``{...}``, a structure by value, or ``&{...}``, its address."""
    if not re.fullmatch(r"&?\{.*\}", text):
        raise UsageError(f"--arg {text}: a structure is written {{A,B}}, and its address &{{A,B}}")
    members = [read_argument(member, None) for member in _members(text)]
    value: Any = Structure(*(member.value for member in members))
    saved = tuple(pair for member in members for pair in member.saved)
    return Argument(AddressOf(value) if text[0] == "&" else value, saved)


def _members(text: str) -> list[str]:
    """What stands between the commas of a structure that are in no structure inside."""
    members, depth = [""], 0
    for letter in text[text.index("{") + 1 : -1]:
        depth += (letter == "{") - (letter == "}")
        if depth < 0:
            break
        if letter == "," and depth == 0:
            members.append("")
        else:
            members[-1] += letter
    stripped = [member.strip() for member in members]
    wrong = {
        f"it has more than {MOST} structures": text.count("{") > MOST,
        "its braces do not match": depth != 0,
        "a member is empty": not all(stripped),
    }
    for why, is_so in wrong.items():
        if is_so:
            raise UsageError(f"--arg {text}: {why}")
    return stripped


def _buffer(array: Any, out: Path | None) -> Argument:
    return Argument(array, ((array, out),) if out else ())


def _files(text: str) -> tuple[Path, Path | None]:
    source, dot, out = text.partition(".npy")
    return Path(f"{source}{dot}"), Path(out[1:]) if out else None


def _loaded(source: Path) -> Any:
    with source.open("rb") as file:
        if file.read(len(MAGIC_PREFIX)) != MAGIC_PREFIX:
            raise CccError(f"{source} is no .npy file: it does not begin as one")
        file.seek(0)
        try:
            array = np.load(file)
        except (ValueError, EOFError) as error:
            raise CccError(f"{source} is no .npy file: {error}") from None
    # The kernel finds the bytes of a number in the order of this machine.
    return np.ascontiguousarray(array, array.dtype.newbyteorder("="))


def _no_type(name: str) -> str:
    return f"there is no type {name}{choices(name, DTYPES)}"


def _fresh(text: str, words: list[str]) -> Argument:
    if len(words) > 2 and words[1] not in DTYPES:
        raise UsageError(f"--arg {text}: {_no_type(words[1])}")
    if len(words) < 3 or not re.fullmatch(r"\d+(x\d+)*", words[2]):
        raise UsageError(f"--arg {text}: write {words[0]}:TYPE:COUNT, as {words[0]}:f32:1024")
    shape = [int(number) for number in words[2].split("x")]
    make = np.zeros if words[0] == "zeros" else np.ones
    try:
        return _buffer(make(shape, DTYPES[words[1]]), Path(words[3]) if words[3:] else None)
    except (MemoryError, ValueError) as error:
        raise CccError(f"--arg {text}: there is no memory for it ({error})") from None


def _plain(text: str, parameter: Variable) -> Any:
    """A number of the parameter's type; of bits, a float where it is written as one."""
    letter, bits = parameter.type[0], 8 * (parameter.bytes or 0)
    if letter == "b":
        letter = "u" if re.fullmatch(r"-?(0x[0-9a-fA-F]+|\d+)", text) else "f"
    if f"{letter}{bits}" not in DTYPES:
        raise UsageError(
            f"--arg {text}: the parameter {parameter.name} has {bits // 8} bytes: "
            "a structure is written {A,B}, with all its members"
        )
    return _scalar(text, f"{letter}{bits}", text)


def _scalar(text: str, type_name: str, whole: str) -> Any:
    kind = DTYPES[type_name]
    try:
        if type_name == "bool":
            return kind({"true": True, "false": False, "1": True, "0": False}[text.lower()])
        if type_name[0] == "c":
            return kind(complex(text))
        if type_name[0] == "f":
            with np.errstate(over="ignore"):  # what is too large is infinite, as in C
                return kind(float.fromhex(text) if "0x" in text else float(text))
        number, limits = int(text, 0), np.iinfo(kind)
    except (KeyError, ValueError):
        raise UsageError(f"--arg {whole}: {text} is no number of type {type_name}") from None
    except OverflowError:
        return kind(np.inf)
    least = -(1 << (limits.bits - 1))
    if not least <= number < 1 << limits.bits:
        raise UsageError(f"--arg {whole}: {text} does not fit {type_name}")
    unsigned = np.array(number & ((1 << limits.bits) - 1), f"u{limits.bits // 8}")
    return unsigned.view(kind)[()]
