"""Calls in generated code: arguments and results travel through the callee's frame."""

from __future__ import annotations

from ccc.emulator.memory.memory import Access
from ccc.emulator.translate.operands import CodeWriter
from ccc.emulator.translate.pointers import argument_lists, called
from ccc.emulator.translate.program import BUILT_IN, Call, Through, passed_in_registers
from ccc.ir.nodes import Instruction, Variable
from ccc.ir.operands import Operand, Register, Symbol


class CallWriter(CodeWriter):
    """Writes calls, and what a function does first and last."""

    def goes_through(self, instruction: Instruction) -> bool:
        """Whether it is a call through a register, which other segments do."""
        is_last = instruction is self.segment.instructions[-1]
        return is_last and isinstance(self.segment.end, Through)

    def call(self, instruction: Instruction, slot: int) -> None:
        """Hand the arguments over; ``simt`` enters the callee.

        Raises:
            EmulatorError: there is no callee that is emulated.
        """
        end = self.segment.end
        if isinstance(end, Call) and instruction is self.segment.instructions[-1]:
            formals = end.callee.function.parameters
            if len(end.arguments) != len(formals):
                raise self.refuse(f"the callee takes {len(formals)} arguments")
            for formal, actual in zip(formals, end.arguments, strict=True):
                self.hand_over(end, formal, actual)
        elif isinstance(callee := called(instruction), Symbol) and callee.name in BUILT_IN:
            self.built_in(instruction, slot, callee.name)
        else:
            raise self.refuse(f"{callee} has no body here, and is not emulated")

    def hand_over(self, call: Call, formal: Variable, actual: Operand) -> None:
        """Put one argument into the callee's frame."""
        place = call.callee.frame[formal.name] + self.program.frame_bytes
        size = formal.bytes or 1
        if isinstance(actual, Symbol):
            outer = self.segment.code.frame[actual.name]
            self.emit(f"m.memory.copy_local(g, {outer}, {place}, {size})")
        else:
            self.put(place, size, actual, formal.type == "pred")

    def take_results(self, call: Call) -> None:
        """Take the results of a call out of the callee's frame."""
        for formal, actual in zip(call.callee.function.results, call.results, strict=True):
            place = call.callee.frame[formal.name] + self.program.frame_bytes
            size = formal.bytes or 1
            if isinstance(actual, Symbol):
                outer = self.segment.code.frame[actual.name]
                self.emit(f"m.memory.copy_local(g, {place}, {outer}, {size})")
            else:
                self.take(place, size, actual)

    def take_parameters(self) -> None:
        """Fill the parameters that are registers, when a function is entered."""
        function = self.segment.code.function
        for variable, size in passed_in_registers(function.parameters):
            register = function.registers.find(variable.name)
            if register is not None:
                self.take(self.segment.code.frame[variable.name], size, register)

    def leave_results(self) -> None:
        """Put the results that are registers into the frame, when a function is left."""
        function = self.segment.code.function
        for variable, size in passed_in_registers(function.results):
            register = function.registers.find(variable.name)
            if register is not None:
                place = self.segment.code.frame[variable.name]
                self.put(place, size, register, variable.type == "pred")

    def put(self, place: int, size: int, operand: Operand, is_predicate: bool) -> None:
        """Write an operand to a place in the frame."""
        value = self.read(operand, "pred" if is_predicate else f"b{8 * size}")[0]
        self.emit(f"m.memory.put_local(g, {place}, {value})")

    def take(self, place: int, size: int, target: Operand) -> None:
        """Read a place in the frame into a register."""
        name = self.let(f"m.memory.take_local(g, {place}, {self.names.dtype(f'b{8 * size}')})")
        if isinstance(target, Register) and target.bits == 1:
            self.write(target, "pred", self.let(f"{name} != 0"), False, "")
        else:
            self.write(target, f"b{8 * size}", name, False, "")

    def built_in(self, call: Instruction, slot: int, name: str) -> None:
        """What the driver provides."""
        access = self.names.of(Access(call, slot, "load", "generic", "b8", 1, 0), "a")
        frame = self.segment.code.frame
        results, arguments = argument_lists(call)
        places = [frame[str(variable)] for variable in arguments]
        match name:
            case "__assertfail":
                self.emit(f"m.fail_assertion(g, {places})")
            case "vprintf":
                self.emit(f"m.memory.print({access}, g, {places}, {frame[str(results[0])]})")
            case "malloc":
                self.emit(f"m.memory.allocate(g, {places[0]}, {frame[str(results[0])]})")
            case "free":
                self.emit(f"m.memory.release({access}, g, {places[0]})")
