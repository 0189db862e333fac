"""Python functions for what the C library leaves to Python, compiled when they are first needed."""

from __future__ import annotations

from collections.abc import Callable

from ccc.emulator.semantics.table import ACCESSES
from ccc.emulator.translate.codegen import RunSegment, SegmentWriter
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Register


class LazyFunctions:
    """Functions by number, of which each is made when it is first asked for."""

    def __init__(self, count: int, make: Callable[[int], RunSegment]):
        self.count = count
        self.make = make
        self.made: dict[int, RunSegment] = {}

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int, /) -> RunSegment:
        found = self.made.get(number)
        if found is None:
            found = self.made[number] = self.make(number)
        return found


class PartWriter(SegmentWriter):
    """Writes the function of one instruction, whose registers are all in the frame."""

    places: dict[Register, int]

    def place(self, register: Register) -> int:
        """The register's index in the frame."""
        return self.places[register]

    def part(self, instruction: Instruction) -> str:
        """The function."""
        self.lines = ["def part(g, m, R):", "    i = g.index"]
        if instruction.row and instruction.row.name in ACCESSES:  # the guard has been counted
            guard = ""
            if instruction.guard:
                name, uniform = self.condition(instruction.guard)
                guard = self.let(f"full(g, {name})" if uniform else name)
            self.attempt(instruction, self.first_slot, guard)
        else:
            self.instruction(instruction, self.first_slot)
        for register in sorted(self.written, key=str):
            self.emit(f"R[{self.place(register)}][i] = {self.current[register].name}")
        self.emit("return None")
        return "\n".join(self.lines)
