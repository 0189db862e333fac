"""The instructions that reasons show, and what their opcodes say."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ccc.frontend.uses import INTEGER
from ccc.ir.nodes import Decoded, decode
from ccc.ptx.opcodes import INTEGER_ARITHMETIC
from ccc.ptx.types import TYPES

SHOWN = r"\(PTX line (\d+): (.*?;)\)"
"""How a text shows one, as ``at`` of a path's model words it."""
_INSTRUCTION = re.compile(r"(?:@\S+ )?([^\s;]+)(?: ([^\s,;]*))?")
_FLOATS = ("f32", "f64")
_COPIES = ("mov", "selp")
_WHOLE = re.compile(r"%rd?\d")
_FLOATING = re.compile(r"%f(d?)\d")


@dataclass(frozen=True, slots=True)
class Shown:
    """An instruction of a line of PTX."""

    line: int
    text: str
    opcode: Decoded = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "opcode", decode(self._parts[0]))

    def __str__(self) -> str:
        return f"(PTX line {self.line}: {self.text})"

    @property
    def made(self) -> str:
        """The PTX type of what it makes, if that is of floating point, or ``INTEGER``; empty where
        a register may hold either."""
        types, row = self.opcode.types, self.opcode.row
        if not types or row is None or not row.form.startswith("d"):
            return ""
        if types[0] in _FLOATS:
            return types[0]
        if match := _FLOATING.match(self._parts[1]):  # of which bits are copied
            return _FLOATS[bool(match[1])]
        if self.opcode.name in _COPIES and _WHOLE.match(self._parts[1]) and "%f" not in self.text:
            return INTEGER
        is_whole = self.opcode.name in INTEGER_ARITHMETIC and TYPES[types[-1]].kind in "bsu"
        return INTEGER if is_whole else ""

    @property
    def is_sum(self) -> bool:
        """Whether it adds something to what is there, ``add.f32 %f1, %f1, %f2;``."""
        return self.opcode.name in ("add", "sub", "mad", "fma") and self._keeps

    @property
    def is_product(self) -> bool:
        """Whether it multiplies what is there by something, ``mul.f32 %f1, %f2, %f1;``."""
        return self.opcode.name == "mul" and self._keeps

    @property
    def is_wide_sum(self) -> bool:
        """Whether it adds integers of 64 bits, or addresses."""
        return self.opcode.name in ("add", "sub") and self.opcode.types[-1:] in (("s64",), ("u64",))

    @property
    def target(self) -> str:
        """Its first operand, which it sets if it sets a register."""
        return self._parts[1]

    @property
    def _keeps(self) -> bool:
        """Whether it makes the new value of a register of the old one."""
        _, target = self._parts
        _, *sources = re.split(r", *", self.text.rstrip(";"))
        return target in sources

    @property
    def _parts(self) -> tuple[str, str]:
        """Its opcode and its first operand."""
        match = _INSTRUCTION.match(self.text)
        return (match[1], match[2] or "") if match else ("", "")
