"""What is compared: one form of an instruction, and how rows of the ISA are spelled out into forms.

A row is written as the ISA manual writes it, with alternatives in braces:
``add{|.rn|.rz}{|.ftz}.f32`` stands for six opcodes.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ccc.ptx.types import TYPES
from ccc.tools.agree.bounds import Bound
from ccc.tools.agree.images import Image

SOURCES = tuple("abcefhjk") + tuple(f"a{k}" for k in range(8, 24))
"""Source operands are called ``%a``, ``%b``, and so on."""
RESULTS = tuple("dqrsuvwz") + tuple(f"d{k}" for k in range(8, 16))
"""Results are called ``%d``, ``%q``, and so on."""


@dataclass(frozen=True, slots=True)
class Case:
    """One form: a kernel runs it with other operands in each thread.

    Args:
        group: the section of the ISA that it is in.
        form: how tables call it: its opcode, or several with a semicolon between them.
        body: PTX that reads the sources and writes the results.
        sources: what kinds of values the source operands take (``operands.py``).
        results: the types of the results.
        bound: of an approximate form, how far off the ISA lets it be.
        unordered: whether threads may find each other's results, in any order.
        declarations: variables of the module.
        directives: of the kernel, such as the size of a cluster.
        image: the texture or surface whose handle is in ``%image``.
    """

    group: str
    form: str
    body: str
    sources: tuple[str, ...]
    results: tuple[str, ...]
    bound: Bound | None = None
    unordered: bool = False
    declarations: str = ""
    directives: str = ""
    image: Image | None = None


def spell(row: str) -> Iterator[str]:
    """All opcodes that a row with alternatives stands for.

    >>> list(spell("shl{.b16|.b32}"))
    ['shl.b16', 'shl.b32']
    """
    parts = re.split(r"\{([^}]*)\}", row)
    choices = [part.split("|") if odd % 2 else [part] for odd, part in enumerate(parts)]
    return ("".join(words) for words in itertools.product(*choices))


def types_of(opcode: str) -> list[str]:
    """The types among an opcode's modifiers."""
    return [word for word in opcode.split(".") if word in TYPES]


def kind_of(name: str, opcode: str) -> str:
    """What an entry of a row's operands stands for in one opcode.

    ``T`` is the last type, ``D`` the first, ``W`` the last one twice as wide, ``B`` its bits;
    anything else is the name of a type or of a kind of operands.
    """
    types = types_of(opcode)
    match name:
        case "T":
            return types[-1]
        case "D":
            return types[0]
        case "W":
            kind = TYPES[types[-1]]
            return f"{kind.kind}{2 * kind.bits}"
        case "B":
            return f"b{TYPES[types[-1]].bits}"
        case _:
            return name


def cases(
    group: str, row: str, results: str, sources: str, operands: str = "", bound: Bound | None = None
) -> Iterator[Case]:
    """The forms of a row.

    Args:
        group: their section.
        row: the opcodes, with alternatives.
        results: the types of the results, or what ``kind_of`` knows.
        sources: likewise those of the sources.
        operands: as the instruction has them; where empty, the results, then the sources.
        bound: how exact they are.
    """
    for opcode in spell(row):
        into = tuple(kind_of(name, opcode) for name in results.split())
        given = tuple(kind_of(name, opcode) for name in sources.split())
        names = [f"%{name}" for name in (*RESULTS[: len(into)], *SOURCES[: len(given)])]
        yield Case(group, opcode, f"{opcode} {operands or ', '.join(names)};", given, into, bound)
