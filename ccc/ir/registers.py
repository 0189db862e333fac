"""The registers that a function declares, and a source of fresh ones."""

from __future__ import annotations

from ccc.ir.operands import Register

DIGITS = "0123456789"
"""How the names of registers in a range end."""
_MOST_DIGITS = 12
"""Of the number of a register in a range."""


class RegisterFile:
    """All registers of a function, single ones and ranges.

    The names of fresh ones begin with ``prefix``, with which no other name begins.
    """

    def __init__(self) -> None:
        self.prefix = "%ccc_"
        self.ranges: dict[str, tuple[str, int]] = {}
        self.singles: dict[str, Register] = {}

    def declare(self, name: str, type_name: str, count: int | None = None) -> None:
        """Declare one register, or the range ``name0 .. name(count-1)``."""
        if count is None:
            self.singles[name] = Register(name, type_name)
        else:
            self.ranges[name] = (type_name, count)

    def find(self, name: str) -> Register | None:
        """The register of that name, if it is declared."""
        prefix = name.rstrip(DIGITS)
        return self.singles.get(name) or self.numbered(prefix, name[len(prefix) :])

    def numbered(self, prefix: str, number: str) -> Register | None:
        """The register of that number in a range, if there is one."""
        type_name, count = self.ranges.get(prefix, ("", 0))
        if not number or len(number) > _MOST_DIGITS or int(number) >= count:
            return None
        return Register(f"{prefix}{int(number)}", type_name)

    def fresh(self, type_name: str, name: str = "") -> Register:
        """A new register, named for what it holds: those of a name share one declared range."""
        key = f"{self.prefix}{name or type_name}_"
        if self.ranges.get(key, (type_name, 0))[0] != type_name:
            key = f"{key}{type_name}_"
        count = self.ranges.get(key, (type_name, 0))[1]
        self.ranges[key] = (type_name, count + 1)
        return Register(f"{key}{count}", type_name)
