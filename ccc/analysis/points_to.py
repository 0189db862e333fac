"""Which registers may hold addresses of the thread's own local memory, and of which part of it.

An inclusion-based points-to analysis (Andersen, 1994), flow-insensitive, of ``.local`` variables
alone: nobody else has their addresses, so an address that was not made from one never leads there.
Memory is one cell: what is loaded may be any address that was ever stored or handed on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ccc.analysis.callees import Callees, Handed, callee
from ccc.analysis.defuse import Makers, makers
from ccc.ir.nodes import Function, Instruction, Variable
from ccc.ir.operands import Address, Arguments, Immediate, Operand, Register, Symbol, leaves
from ccc.ir.parameters import accessed
from ccc.ptx.opcodes import RENAMES, Effect
from ccc.ptx.types import MAY_BE_LOCAL

FRAME = "__local_depot"
"""How nvcc names the variable that holds all arrays of a function."""
MANY = 8
"""Pointees in one object from which on it is not told where in it an address points to."""


@dataclass(frozen=True, slots=True)
class Object:
    """A piece of local memory that addresses do not leave: ``size`` bytes of a variable.

    ``first`` numbers its first byte among those of all objects of the function. What ``alloca``
    makes, and what a parameter points to, counts as one byte; ``is_whole`` says that it is known to
    be written when that byte is.
    """

    name: str
    start: int
    size: int
    first: int
    is_whole: bool = True

    @property
    def mask(self) -> int:
        """The set of its bytes."""
        return ((1 << self.size) - 1) << self.first


class Pointee(NamedTuple):
    """Where an address points to; ``offset`` in the variable, None for anywhere in the object."""

    object: Object
    offset: int | None


Pointees = frozenset[Pointee]
NOWHERE: Pointees = frozenset()
_HANDS_ON = Effect.WRITE | Effect.OPAQUE


WORST = Handed(reads=True, writes=True, keeps=True, returns=True)


class PointsTo:
    """``pointees`` has what each register may point to; ``stored`` what memory may lead to.

    ``made`` are the instructions that write each register. With ``of_caller``, what the function's
    parameters point to is followed as well.
    """

    def __init__(
        self, function: Function, callees: Callees, made: Makers, *, of_caller: bool = False
    ):
        self.function = function
        self.callees = callees
        self.pointees: dict[Register, Pointees] = {}
        self.parameters: dict[str, Pointees] = {}
        self.stored: frozenset[Object] = frozenset()
        self.keeper: Instruction | None = None
        self._made = made
        self._objects = _Objects(function, made, of_caller=of_caller)
        self.size = self._objects.size
        if of_caller and _takes_address_of_parameter(function):
            self.stored = frozenset(self._objects.parameters)
        if self.size:
            self._solve()

    @property
    def everything(self) -> int:
        """The set of all bytes."""
        return (1 << self.size) - 1

    @property
    def variables(self) -> list[Object]:
        """The pieces of the function's variables."""
        return self._objects.of_variables

    def _solve(self) -> None:
        every = [(one, _may_find(one)) for one in self.function.instructions]
        grown = True
        while grown:
            before = len(self.stored)
            grown = False
            for instruction, finds in every:
                if finds or not self.pointees.keys().isdisjoint(instruction.used()):
                    grown |= self._visit(instruction)
            grown |= len(self.stored) > before

    def _visit(self, instruction: Instruction) -> bool:
        """Let an instruction hand addresses on; whether that was new."""
        if instruction.name == "call":
            return self._call(instruction)
        if instruction.space == "param" and instruction.name == "st":
            return self._store_parameter(instruction)
        if instruction.effects & _HANDS_ON:
            self._keep(instruction, self._values(_handed(instruction)))
        found = self.result(instruction)
        grown = False
        for register in instruction.defined():
            grown |= register.type != "pred" and self._add(register, found)
        return grown

    def _store_parameter(self, store: Instruction) -> bool:
        """Through a register it may go to any variable, as if it went to memory."""
        found, name = self._values(_handed(store)), accessed(store)
        if name is not None:
            return self._pass(name, found)
        self._keep(store, found)
        return False

    def result(self, instruction: Instruction) -> Pointees:
        """What an instruction's result may point to."""
        if instruction.name == "alloca":
            return frozenset({Pointee(self._objects.of(id(instruction)), None)})
        if instruction.space == "param" and instruction.name == "ld":
            names = {symbol.name for symbol in instruction.symbols()}
            if not names:  # through a register
                names = {*self.parameters, *(p.name for p in self.function.parameters)}
            return NOWHERE.union(*map(self._parameter, names))
        if instruction.effects & Effect.READ:
            return frozenset(Pointee(one, None) for one in self.stored)
        return self._computed(instruction)

    def _computed(self, instruction: Instruction) -> Pointees:
        """An address that is copied, stepped by a constant, or part of something else."""
        sources = [operand for operand, role in instruction.roles() if role != "def"]
        found = self._values(sources)
        if not found and instruction.name != "add":
            return NOWHERE
        step = _step(instruction)
        if step is None:
            return frozenset(Pointee(pointee.object, None) for pointee in found)
        if instruction.name == "add" and isinstance(sources[0], Register):
            frame = self._objects.array_of(sources[0], step)
            if frame is not None:
                return frozenset({Pointee(frame, step)})
        return frozenset(_moved(pointee, step, instruction.name) for pointee in found)

    def _values(self, operands: Iterable[Operand]) -> Pointees:
        """What some operands may point to."""
        found: Pointees = NOWHERE
        for operand in operands:
            for leaf in leaves(operand):
                if isinstance(leaf, Register):
                    found |= self.pointees.get(leaf, NOWHERE)
                elif isinstance(leaf, Symbol):
                    found |= self._objects.named(leaf.name, leaf.offset)
        return found

    @property
    def allocated(self) -> int:
        """What ``alloca`` has made: each lane has it at another address."""
        return self._objects.allocated

    def is_certain(self, operand: Operand) -> bool:
        """Whether an address surely leads to local memory, in all that the register may hold."""
        seen: set[Register] = set()
        worklist = [operand]
        while worklist:
            base = worklist.pop()
            if isinstance(base, Symbol):
                if not self._objects.named(base.name, 0):
                    return False
            elif not isinstance(base, Register):
                return False
            elif base not in seen:
                seen.add(base)
                made = self._made.get(base, ())
                if not made or any(_step(maker) is None for maker in made):
                    return False
                worklist += [maker.operands[1] for maker in made]
        return True

    def address(self, instruction: Instruction) -> Pointees:
        """What a load or store goes to."""
        found: Pointees = NOWHERE
        for operand, role in instruction.roles():
            if role == "addr" and isinstance(operand, Address):
                found |= self._behind(operand.base, operand.offset)
        return found

    def _behind(self, base: Operand, offset: int) -> Pointees:
        if isinstance(base, Symbol):
            return self._objects.named(base.name, base.offset + offset)
        if not isinstance(base, Register):
            return NOWHERE
        frame = self._objects.frames.get(base)
        if frame is not None:
            return self._objects.named(frame, offset)
        found = self.pointees.get(base, NOWHERE)
        return frozenset(_moved(pointee, offset, "add") for pointee in found)

    # Calls ---------------------------------------------------------------------------------------

    def handed(self, call: Instruction) -> Iterator[tuple[Handed, Pointees]]:
        """What a call does with each address that is handed to it."""
        lists = [operand for operand in call.operands if isinstance(operand, Arguments)]
        has_result = isinstance(call.operands[0], Arguments)
        for number, name in enumerate(lists[has_result].elements if lists[has_result:] else ()):
            found = (
                self.parameters.get(name.name, NOWHERE)
                if isinstance(name, Symbol)
                else self._values([name])
            )
            if found:
                yield self._manner(callee(call), number), found

    def _manner(self, name: str, number: int) -> Handed:
        if (effect := self.callees.of_system(name)) is not None:
            return Handed(bool(effect & Effect.READ), bool(effect & Effect.WRITE), False, False)
        if self.callees.is_promised(name):
            return Handed(reads=True, writes=True, keeps=False, returns=True)
        known = self.callees.manners
        if (name, number) not in known:
            known[name, number] = WORST  # for a function that calls itself
            function = self.callees.load(name)
            if function is not None:
                known[name, number] = parameter_manner(function, number, self.callees)
        return known[name, number]

    def _call(self, call: Instruction) -> bool:
        returned: Pointees = NOWHERE
        for manner, found in self.handed(call):
            anywhere = frozenset(Pointee(pointee.object, None) for pointee in found)
            if manner.keeps:
                self._keep(call, anywhere)
            if manner.returns:
                returned |= anywhere
        returned |= frozenset(Pointee(one, None) for one in self.stored)
        results = call.operands[0]
        if not isinstance(results, Arguments):
            return False
        grown = False
        for leaf in results.elements:
            if isinstance(leaf, Symbol):
                grown |= self._pass(leaf.name, returned)
            elif isinstance(leaf, Register):
                grown |= self._add(leaf, returned)
        return grown

    # What is known so far ------------------------------------------------------------------------

    def _parameter(self, name: str) -> Pointees:
        return self.parameters.get(name, NOWHERE) | self._objects.behind(name)

    def _pass(self, name: str, found: Pointees) -> bool:
        known = self.parameters.get(name, NOWHERE)
        self.parameters[name] = _widened(known | found)
        return self.parameters[name] != known

    def _add(self, register: Register, found: Pointees) -> bool:
        known = self.pointees.get(register, NOWHERE)
        more = _widened(known | found)
        if more:
            self.pointees[register] = more
        return more != known

    def _keep(self, instruction: Instruction, found: Pointees) -> None:
        if found and self.keeper is None:
            self.keeper = instruction
        self.stored |= {pointee.object for pointee in found}


def _may_find(instruction: Instruction) -> bool:
    """Whether an instruction may make, or hand on, an address that no register holds so far."""
    return (
        instruction.name in ("add", "alloca", "call")
        or instruction.space == "param"
        or bool(instruction.effects & (_HANDS_ON | Effect.READ))
        or any(True for _ in instruction.symbols())
    )


def parameter_manner(function: Function, number: int, callees: Callees) -> Handed:
    """What a function may do with what one of its parameters points to."""
    if number >= len(function.parameters) or function.parameters[number].space != "param":
        return WORST
    inside = PointsTo(function, callees, makers(function.instructions), of_caller=True)
    name = function.parameters[number].name
    mine = {pointee.object for pointee in inside._parameter(name)}
    reads = writes = keeps = False
    for instruction in function.instructions:
        if instruction.row is None:
            return WORST
        effects = instruction.effects
        if instruction.name == "call":
            for manner, found in inside.handed(instruction):
                if any(pointee.object in mine for pointee in found):
                    reads |= manner.reads
                    writes |= manner.writes
        elif instruction.space in MAY_BE_LOCAL and not mine.isdisjoint(
            pointee.object for pointee in inside.address(instruction)
        ):
            reads |= bool(effects & Effect.READ)
            writes |= bool(effects & Effect.WRITE)
    keeps = bool(mine & inside.stored)
    results = [inside.parameters.get(v.name, NOWHERE) for v in function.results]
    returns = any(pointee.object in mine for found in results for pointee in found)
    return Handed(reads or keeps, writes or keeps, keeps, returns)


def _takes_address_of_parameter(function: Function) -> bool:
    """Whether a parameter is named elsewhere than where it is loaded."""
    names = {parameter.name for parameter in function.parameters}
    return any(
        symbol.name in names
        for instruction in function.instructions
        if instruction.space != "param" or instruction.name not in ("ld", "st")
        for symbol in instruction.symbols()
    )


def _handed(instruction: Instruction) -> list[Operand]:
    """The operands whose values a store, an atomic or something unknown hands on."""
    return [operand for operand, role in instruction.roles() if role == "use"]


def _step(instruction: Instruction) -> int | None:
    """By how many bytes the result lies behind its only source, if that is certain."""
    name, operands = instruction.name, instruction.operands
    if instruction.guard is not None:
        return None
    if name in RENAMES and len(operands) == 2 and not isinstance(operands[0], Arguments):
        return 0 if isinstance(operands[0], Register) else None
    if name in ("add", "sub", "or") and len(operands) == 3:
        source, step = operands[1:]
        if isinstance(source, Register) and isinstance(step, Immediate):
            value = step.integer
            if value is not None:
                return -value if name == "sub" else value
    return None


def _moved(pointee: Pointee, step: int, name: str) -> Pointee:
    """A pointee some bytes on; ``or`` adds where the bits are free in an aligned address."""
    if pointee.offset is None:
        return pointee
    if name == "or" and (not 0 <= step < _ALIGNED or pointee.offset % _ALIGNED & step):
        return Pointee(pointee.object, None)
    step = (step + (1 << 63)) % (1 << 64) - (1 << 63)
    return Pointee(pointee.object, pointee.offset + step)


_ALIGNED = 4
"""What variables of arrays are aligned to, at least."""


def _widened(pointees: Pointees) -> Pointees:
    """The same, or more: of an object with many pointees it is only said that it is that object."""
    count: dict[Object, int] = {}
    for pointee in pointees:
        count[pointee.object] = count.get(pointee.object, 0) + 1
    wide = {
        pointee.object
        for pointee in pointees
        if pointee.offset is None or count[pointee.object] > MANY
    }
    if not wide:
        return pointees
    rest = (pointee for pointee in pointees if pointee.object not in wide)
    return frozenset(Pointee(one, None) for one in wide).union(rest)


class _Objects:
    """The objects of a function: its variables, its arrays in the frame, and what it allocates."""

    def __init__(self, function: Function, made: Makers, *, of_caller: bool):
        self.size = 0
        self.allocated = 0
        self._known: dict[object, Object] = {}
        self._arrays: dict[str, list[Object]] = {}
        self.frames: dict[Register, str] = {}
        for variable in function.variables:
            if variable.space == "local":
                self._add_variable(variable, function, made)
        for instruction in function.instructions:
            if instruction.name == "alloca":
                one = self._new("alloca", 0, 1, is_whole=False)
                self._known[id(instruction)] = one
                self.allocated |= one.mask
        self.parameters = [
            self._new(parameter.name, 0, 1, is_whole=False)
            for parameter in (function.parameters if of_caller else ())
        ]
        self._known.update((one.name, one) for one in self.parameters)

    def _new(self, name: str, start: int, size: int, *, is_whole: bool = True) -> Object:
        made = Object(name, start, size, self.size, is_whole)
        self.size += size
        return made

    def _add_variable(self, variable: Variable, function: Function, made: Makers) -> None:
        size = variable.bytes or 1
        cuts = [0]
        if variable.name.startswith(FRAME):
            frames = _frame_registers(variable.name, made)
            self.frames.update(dict.fromkeys(frames, variable.name))
            cuts = _cuts(frames, size, function)
        ends = [*cuts[1:], size]
        self._arrays[variable.name] = [
            self._new(variable.name, start, end - start)
            for start, end in zip(cuts, ends, strict=True)
        ]

    @property
    def of_variables(self) -> list[Object]:
        """The pieces of variables."""
        return [one for arrays in self._arrays.values() for one in arrays]

    def of(self, key: object) -> Object:
        """The object of an ``alloca``."""
        return self._known[key]

    def behind(self, parameter: str) -> Pointees:
        """What a parameter points to."""
        found = self._known.get(parameter)
        return frozenset({Pointee(found, None)}) if found else NOWHERE

    def named(self, name: str, offset: int) -> Pointees:
        """Some byte of a variable that is named."""
        for one in self._arrays.get(name, ()):
            if offset < one.start + one.size or one is self._arrays[name][-1]:
                return frozenset({Pointee(one, offset)})
        return NOWHERE

    def array_of(self, frame: Register, offset: int) -> Object | None:
        """The array that begins so far behind the frame's address."""
        arrays = self._arrays.get(self.frames.get(frame, ""), ())
        return next((one for one in arrays if one.start == offset), None)


def _frame_registers(name: str, made: Makers) -> set[Register]:
    """The registers that hold the address of the frame and nothing else."""
    found: set[Register] = set()
    for _ in range(2):  # %SPL = the frame; %SP = cvta %SPL
        found |= {
            register
            for register, (first, *others) in made.items()
            if not others and first.guard is None and first.name in RENAMES
            if first.operands[1] == Symbol(name) or first.operands[1] in found
        }
    return found


def _cuts(frames: set[Register], size: int, function: Function) -> list[int]:
    """Where the arrays in a frame begin.

    nvcc adds the offset of each to the frame's address in an instruction of its own; an address
    inside an array it makes from the array's address. So two such offsets are two arrays.
    """
    starts = {0}
    for instruction in function.instructions:
        if instruction.name == "add" and len(instruction.operands) == 3:
            _, source, step = instruction.operands
            if source in frames and isinstance(step, Immediate) and step.integer is not None:
                starts.add(step.integer)
    return sorted(start for start in starts if 0 <= start < size)
