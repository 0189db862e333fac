"""One segment as steps: operations on lanes, accesses, and what is left to Python."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeAlias

from ccc.emulator.base.errors import EmulatorError
from ccc.emulator.base.forms import Form
from ccc.emulator.memory.memory import Access
from ccc.emulator.native.forms import native_form
from ccc.emulator.native.operations import OPERATIONS
from ccc.emulator.native.values import NotNativeError, UniformValues, Value, temporary
from ccc.emulator.semantics.table import ACCESSES, NOTHING
from ccc.emulator.translate.operands import FindSymbol, literal_bits
from ccc.emulator.translate.program import Segment, is_set_apart
from ccc.ir.nodes import Instruction
from ccc.ir.operands import (
    Address,
    Discard,
    Immediate,
    Negated,
    Operand,
    Pair,
    Register,
    Special,
    Symbol,
    Vector,
)
from ccc.ptx.opcodes import Effect
from ccc.ptx.types import TYPES


@dataclass(slots=True)
class ComputeStep:
    """An operation of the library by name: ``target`` from ``sources``."""

    name: str
    target: Register
    sources: tuple[Value, ...]


@dataclass(slots=True)
class CountStep:
    """Counts the lanes of a guard."""

    guard: Value
    slot: int


@dataclass(slots=True)
class TouchStep:
    """A load, store or atomic of the lanes for which the guard holds."""

    access: Access
    space: str
    address: Value
    offset: int
    values: tuple[Value, ...]
    targets: tuple[Register, ...]
    guard: Register | None
    negated: bool
    instruction: Instruction
    """The same, with ``targets`` as its destinations."""


@dataclass(slots=True)
class WarpStep:
    """An instruction on whole warps, ``name``, in one of its modes.

    ``targets`` and then ``sources`` are its operands; those that are None are not there.
    ``extra`` is one more number that it needs.
    """

    name: str
    mode: int
    targets: tuple[Register | None, ...]
    sources: tuple[Value | None, ...]
    variant: int = 0
    extra: int = 0


@dataclass(slots=True)
class PythonStep:
    """An instruction that the library does not know."""

    instruction: Instruction
    slot: int


Step: TypeAlias = ComputeStep | CountStep | TouchStep | WarpStep | PythonStep


@dataclass(slots=True)
class StepWriter:
    """Reads the instructions of one segment."""

    segment: Segment
    uniforms: UniformValues
    find_symbol: FindSymbol
    steps: list[Step] = field(default_factory=list)
    temporaries: int = 0

    def instruction(self, instruction: Instruction, slot: int) -> None:
        """Take one instruction, that of a slot of the counters."""
        if instruction.is_terminator and not is_set_apart(instruction):
            return
        before = len(self.steps)
        try:
            self._take(instruction, slot)
        except (NotNativeError, EmulatorError):  # Python says what is wrong when it is reached
            del self.steps[before:]
            self.steps.append(PythonStep(instruction, slot))

    def _take(self, instruction: Instruction, slot: int) -> None:
        if instruction.guard:
            guard: Value = instruction.guard.register
            if instruction.guard.negated:
                guard = self.compute("not.pred", 1, guard)
            self.steps.append(CountStep(guard, slot))
        if is_set_apart(instruction):
            return
        if instruction.effects & Effect.CALL or instruction.row is None:
            raise NotNativeError
        if instruction.row.name in ACCESSES:
            self._access(instruction, slot)
        elif instruction.name == "mov" and any(
            isinstance(operand, Vector) for operand in instruction.operands
        ):
            self._move_parts(instruction)
        elif instruction.name in _ON_WARPS:
            self._on_warps(instruction)
        else:
            self._operation(instruction)

    # Operands ------------------------------------------------------------------------------------

    def fresh(self, bits: int) -> Register:
        """A register for what nobody but this segment needs."""
        self.temporaries += 1
        return temporary(self.temporaries, bits)

    def compute(self, name: str, bits: int, *sources: Value) -> Register:
        """A new register with the result of an operation."""
        target = self.fresh(bits)
        self.steps.append(ComputeStep(name, target, sources))
        return target

    def read(self, operand: Operand, type_name: str) -> Value:
        """An operand, cut down to a type."""
        bits = TYPES[type_name].bits
        if bits > 64:
            raise NotNativeError
        match operand:
            case Register():
                return self._cut(operand, bits)
            case Negated(inner):
                return self.compute("not.pred", 1, self.read(inner, "pred"))
            case Immediate(text):
                return self._literal(text, type_name)
            case Special(name):
                return self._cut(self.uniforms.special(name), bits)
            case Symbol("WARP_SZ"):
                return self.uniforms.value(32, bits)
            case Symbol(name, offset):
                return self._cut(self._symbol(name, offset), bits)
        raise NotNativeError

    def _cut(self, value: Value, bits: int) -> Value:
        if value.bits == bits:
            return value
        if value.bits < bits or bits == 1:
            raise NotNativeError
        return self.compute(f"cvt.u{bits}.u{value.bits}", bits, value)

    def _literal(self, text: str, type_name: str) -> Value:
        if type_name == "pred":
            return self.uniforms.value(bool(Immediate(text).integer), 1)
        bits = TYPES[type_name].bits
        number = literal_bits(text, bits)
        if number is None:
            raise NotNativeError
        return self.uniforms.value(number, bits)

    def _symbol(self, name: str, offset: int) -> Value:
        location = self.find_symbol(self.segment.code, name)
        if location.in_frame:
            return self.uniforms.of("frame", 64, location.address + offset)
        return self.uniforms.value(location.address + offset, 64)

    def write(
        self, instruction: Instruction, target: Operand, type_name: str, name: str, *sources: Value
    ) -> None:
        """ComputeStep a result of a type into a register, where the guard holds."""
        if isinstance(target, Discard):
            return
        if not isinstance(target, Register):
            raise NotNativeError
        bits, guard = TYPES[type_name].bits, instruction.guard
        widened = bits < target.bits
        if bits > target.bits:
            raise NotNativeError
        if not widened and not guard:
            self.steps.append(ComputeStep(name, target, sources))
            return
        value: Value = self.compute(name, bits, *sources)
        if widened:
            kind = "s" if TYPES[type_name].kind == "s" else "u"
            name, sources = f"cvt.{kind}{target.bits}.{kind}{bits}", (value,)
            if not guard:
                self.steps.append(ComputeStep(name, target, sources))
                return
            value = self.compute(name, target.bits, *sources)
        assert guard is not None
        pair = (target, value) if guard.negated else (value, target)
        select = f"selp.{kind_of(target)}"
        self.steps.append(ComputeStep(select, target, (*pair, guard.register)))

    # Instructions --------------------------------------------------------------------------------

    def _operation(self, instruction: Instruction) -> None:
        form = Form(instruction)
        found = native_form(form)
        if found is None:
            if _does_nothing(instruction):
                return
            raise NotNativeError
        target, *operands = instruction.operands
        sources = [
            self.read(operand, type_name)
            for operand, type_name in zip(operands, found.sources, strict=False)
        ]
        if len(sources) != len(found.sources):
            raise NotNativeError
        for number, type_name in zip(
            found.constants, _constant_types(found.name, len(sources)), strict=True
        ):
            sources.append(self.uniforms.value(number, TYPES[type_name].bits))
        if found.then:
            compared = self.compute(found.name, 1, *sources)
            sources = [compared, self.read(operands[2], "pred")]
            self.write(instruction, target, "pred", f"{found.then}.pred", *sources)
            return
        self.write(instruction, target, found.result, found.name, *sources)

    def _move_parts(self, instruction: Instruction) -> None:
        target, source = instruction.operands
        bits = Form(instruction).bits
        half = bits // 2
        if bits not in (32, 64):
            raise NotNativeError
        if isinstance(source, Vector) and len(source.elements) == 2:
            parts = [self.read(element, f"b{half}") for element in source.elements]
            self.write(instruction, target, f"b{bits}", f"pack.u{bits}", *parts)
        elif isinstance(target, Vector) and len(target.elements) == 2:
            whole = self.read(source, f"b{bits}")
            names = (f"cvt.u{half}.u{bits}", f"upper.u{bits}")
            for element, name in zip(target.elements, names, strict=True):
                self.write(instruction, element, f"b{half}", name, whole)
        else:
            raise NotNativeError

    def _on_warps(self, instruction: Instruction) -> None:
        """An instruction that looks at other lanes."""
        form, name = Form(instruction), instruction.name
        first, *operands = instruction.operands
        is_old = name in ("vote", "shfl") and not form.has("sync")
        types, modes, pair = _ON_WARPS[name]
        if name == "match":
            types = (f"b{form.bits}", "b32")
        if instruction.guard or (name == "redux" and form.kind == "f"):
            raise NotNativeError
        words = [word for word in instruction.modifiers if word in modes]
        if modes and not words:
            raise NotNativeError
        wanted = types[:-1] if is_old else types
        sources: list[Value | None] = [
            self.read(operand, kind) for operand, kind in zip(operands, wanted, strict=True)
        ]
        if is_old:
            sources.append(None)
        mode = modes.index(words[0]) if modes else 0
        parts = (first.first, first.second) if isinstance(first, Pair) else (first, None)
        widths = (1 if name == "vote" and words[0] != "ballot" else 32, 1)
        results = [self._result(part, bits) for part, bits in zip(parts, widths, strict=True)]
        step = WarpStep(name, mode, tuple(results if pair else results[:1]), tuple(sources))
        if name == "match":
            step.variant = int(form.bits == 64)
        elif name == "redux":
            step.variant = int(form.kind == "s")
            largest = 0x7FFFFFFF if step.variant else 0xFFFFFFFF
            step.extra = {"min": largest, "max": ~largest, "and": 0xFFFFFFFF}.get(words[0], 0)
            if words[0] == "max" and not step.variant:
                step.extra = 0
        self.steps.append(step)

    @staticmethod
    def _result(part: Operand | None, bits: int) -> Register | None:
        if part is None or isinstance(part, Discard):
            return None
        if not isinstance(part, Register) or part.bits != bits:
            raise NotNativeError
        return part

    # Memory --------------------------------------------------------------------------------------

    def _access(self, instruction: Instruction, slot: int) -> None:
        access = Access.of(instruction, slot)
        operands = list(instruction.operands)
        target = operands.pop(0) if instruction.name in ("ld", "ldu", "atom") else None
        place = operands.pop(0)
        if not isinstance(place, Address) or access.size > 8:
            raise NotNativeError
        targets = _parts(target) if target is not None else []
        space = access.space
        if space == "param":
            base = place.base
            if self.segment.code.is_kernel:
                self._parameter(instruction, access, targets, place)
                return
            if (
                isinstance(base, Symbol)
                and not self.find_symbol(self.segment.code, base.name).in_frame
            ):
                raise NotNativeError
            space = "local"
        elif space == "generic" and isinstance(place.base, Symbol):
            space = self.find_symbol(self.segment.code, place.base.name).space
        address, offset = self._address(place)
        values = [self.read(each, access.type) for each in self._stored(access, operands)]
        self._touch(instruction, access, space, (address, offset), tuple(values), targets)

    def _touch(
        self,
        instruction: Instruction,
        access: Access,
        space: str,
        place: tuple[Value, int],
        values: tuple[Value, ...],
        targets: list[Operand],
    ) -> None:
        if access.method in ("atomic", "reduce") and not _is_plain(access):
            raise NotNativeError
        guard, bits = instruction.guard, 8 * access.size
        fits = [isinstance(each, Register) and each.bits == bits for each in targets]
        loaded = [
            each if fit and isinstance(each, Register) else self.fresh(bits)
            for each, fit in zip(targets, fits, strict=True)
        ]
        same = instruction
        if not all(fits):
            first = Vector(tuple(loaded)) if len(loaded) > 1 else loaded[0]
            same = replace(instruction, operands=(first, *instruction.operands[1:]))
        self.steps.append(
            TouchStep(
                access, space, *place, values, tuple(loaded),
                guard.register if guard else None, bool(guard and guard.negated), same,
            )
        )  # fmt: skip
        for each, fit, register in zip(targets, fits, loaded, strict=True):
            if not fit:
                move = f"mov.u{bits}"
                self.write(instruction, each, access.type, move, register)

    @staticmethod
    def _stored(access: Access, operands: list[Operand]) -> list[Operand]:
        if access.method == "load":
            return []
        found: list[Operand] = []
        for operand in operands[: access.values]:
            found += operand.elements if isinstance(operand, Vector) else [operand]
        return found

    def _address(self, place: Address) -> tuple[Value, int]:
        base, offset = place.base, place.offset
        if isinstance(base, Symbol):
            return self._symbol(base.name, base.offset + offset), 0
        if isinstance(base, Immediate):
            return self.uniforms.value((base.integer or 0) + offset, 64), 0
        if base.bits not in (32, 64) or not -(1 << 31) <= offset < 1 << 31:
            raise NotNativeError
        return base, offset

    def _parameter(
        self, instruction: Instruction, access: Access, targets: list[Operand], place: Address
    ) -> None:
        """A kernel's parameter."""
        base = place.base
        if not isinstance(base, Symbol) or not targets:
            raise NotNativeError
        found = self.find_symbol(self.segment.code, base.name)
        if found.in_frame:
            address, offset = self._address(place)
            self._touch(instruction, access, "local", (address, offset), (), targets)
            return
        bits = 8 * access.size
        start = found.address + base.offset + place.offset
        for index, each in enumerate(targets):
            value = self.uniforms.of("param", bits, start + index * access.size)
            self.write(instruction, each, access.type, f"mov.u{bits}", value)


_ON_WARPS: dict[str, tuple[tuple[str, ...], tuple[str, ...], bool]] = {
    "activemask": ((), (), False),
    "vote": (("pred", "b32"), ("ballot", "any", "all", "uni"), False),
    "shfl": (("b32", "b32", "b32", "b32"), ("up", "down", "bfly", "idx"), True),
    "match": (("b32", "b32"), ("any", "all"), True),
    "redux": (("b32", "b32"), ("add", "min", "max", "and", "or", "xor"), False),
    "elect": (("b32",), (), True),
}
"""By name: the types of the operands, the modes in the library's order, and whether there may be
a second result, a predicate."""


def kind_of(value: Value) -> str:
    """The unsigned type of a register's width."""
    return "pred" if value.bits == 1 else f"u{value.bits}"


def _does_nothing(instruction: Instruction) -> bool:
    """Whether it has no effect, or is a barrier: then the waiting is over."""
    row = instruction.row
    return row is not None and (row.name in NOTHING or row.name in ("bar", "barrier"))


def _constant_types(name: str, after: int) -> tuple[str, ...]:
    return OPERATIONS[name].sources[after:]


def _parts(target: Operand) -> list[Operand]:
    if isinstance(target, Pair):
        raise NotNativeError
    return list(target.elements) if isinstance(target, Vector) else [target]


def _is_plain(access: Access) -> bool:
    """Whether an atomic is of one integer of 32 or 64 bits: of floats, NaNs differ by space."""
    is_one = access.size >= 4 and access.count == 1 and TYPES[access.type].kind not in "xf"
    return is_one and "." not in access.operation
