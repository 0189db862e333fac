"""A kernel and the functions it calls, cut into segments and put into an order.

A segment is code that a group of lanes runs from its first to its last instruction: a basic block,
cut again before an instruction that waits for other lanes and around calls. Segment numbers are the
emulator's program counters; see ``order`` for why the lowest is run first.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from ccc.analysis.cfg import graph_of
from ccc.analysis.liveness import Liveness, reads_and_writes
from ccc.emulator.translate.order import weak_topological_order
from ccc.emulator.translate.pointers import FunctionPointers, argument_lists, called
from ccc.ir.nodes import Function, Guard, Instruction, Variable
from ccc.ir.operands import Operand, Register, Symbol
from ccc.ptx.opcodes import EXCHANGES, Effect


@dataclass(slots=True, eq=False)
class Jump:
    """Go on at ``target``."""

    target: Segment


@dataclass(slots=True, eq=False)
class Fork:
    """Lanes where ``guard`` holds go to ``taken``, the others to ``other``."""

    guard: Guard
    taken: Segment
    other: Segment


@dataclass(slots=True, eq=False)
class Table:
    """Each lane goes to the target of its ``index``."""

    index: Operand
    targets: list[Segment]


@dataclass(slots=True, eq=False)
class Call:
    """Enter ``callee``; on return, go on at ``after``."""

    callee: Code
    after: Segment
    arguments: tuple[Operand, ...]
    results: tuple[Operand, ...]


@dataclass(slots=True, eq=False)
class Through:
    """Each lane goes to the call of the function that has the address in ``pointer``."""

    pointer: Register
    targets: dict[int, Segment]


@dataclass(slots=True, eq=False)
class Return:
    """Go back to the caller; in a kernel, end the thread."""


@dataclass(slots=True, eq=False)
class Exit:
    """End the thread."""


End: TypeAlias = Jump | Fork | Table | Call | Through | Return | Exit


@dataclass(slots=True, eq=False)
class Segment:
    """Instructions, the last of which may be the branch that ``end`` tells about.

    ``waits`` says that the first instruction waits for other lanes: ``"warp"`` or ``"block"``.
    ``live_in`` and ``live_out`` are registers that carry a value in and out. ``arrived`` is the
    call that a return leads here from. ``uncounted`` is an instruction that was issued, under its
    guard, at the end of the segment before.
    """

    code: Code
    instructions: list[Instruction] = field(default_factory=list)
    end: End = field(default_factory=Exit)
    waits: str | None = None
    arrived: Call | None = None
    uncounted: Instruction | None = None
    number: int = -1
    live_in: frozenset[Register] = frozenset()
    live_out: frozenset[Register] = frozenset()

    def successors(self) -> list[Segment]:
        """The segments that may follow in the same function."""
        match self.end:
            case Jump(target):
                return [target]
            case Fork(_, taken, other):
                return [other, taken]
            case Table(_, targets):
                return list(dict.fromkeys(targets))
            case Call():
                return [self.end.after]
            case Through(_, targets):
                return list(targets.values())
            case _:
                return []


@dataclass(slots=True, eq=False)
class Code:
    """One function of a program: its segments, ordered, and its frame's layout in bytes."""

    function: Function
    segments: list[Segment] = field(default_factory=list)
    frame: dict[str, int] = field(default_factory=dict)
    frame_bytes: int = 0

    @property
    def is_kernel(self) -> bool:
        """Whether the host launches it."""
        return self.function.kind == "entry"


@dataclass(slots=True, eq=False)
class Program:
    """A kernel with all its callees; ``segments`` are numbered through.

    ``registers`` gives the place in the state of every register that lives across segments.
    ``max_depth`` bounds the number of calls that are open at once. ``allocates`` says whether
    local memory beyond the frames may be used, or where it begins is asked for.
    """

    codes: list[Code]
    segments: list[Segment]
    registers: dict[tuple[int, Register], int]
    max_depth: int
    frame_bytes: int
    allocates: bool = False


_LEAVES = Effect.CALL | Effect.RETURN | Effect.EXIT
RECURSION_LIMIT = 1000
BUILT_IN = ("__assertfail", "vprintf", "malloc", "free")
"""Functions without a body that the emulator knows."""


def waits_for(instruction: Instruction) -> str | None:
    """Whom an instruction waits for: its ``"warp"``, its ``"block"`` or nobody.

    A warp comes to a barrier as one, so an arrival waits for the rest of the warp.
    """
    if not instruction.effects & Effect.COLLECTIVE:
        return None
    words = instruction.modifiers
    if instruction.name in ("bar", "barrier") and "warp" not in words:
        if "arrive" in words:
            return None if "cluster" in words else "warp"
        return "block"
    return "warp" if "warp" in words or "sync" in words else None


def names_members(instruction: Instruction) -> bool:
    """Whether the last operand of an instruction of a warp says which lanes take part."""
    return instruction.name in (*EXCHANGES, "elect", "bar")


def is_set_apart(instruction: Instruction) -> bool:
    """Whether it is a guarded call, exit or wait, done in a segment of its own."""
    if instruction.guard is None:
        return False
    return bool(instruction.effects & _LEAVES or waits_for(instruction))


def build_program(kernel: Function, pointers: FunctionPointers, cut_after_waits: bool) -> Program:
    """Cut a kernel and everything it calls into numbered segments.

    Args:
        kernel: the entry function.
        pointers: the functions of the module.
        cut_after_waits: end a segment after an instruction that waits, too, so that the lanes
            that waited together need not go on together.
    """
    codes: dict[str, Code] = {}

    def code_of(function: Function) -> Code:
        if function.name not in codes:
            code = codes[function.name] = Code(function)
            _Cutter(code, pointers, code_of, cut_after_waits).run()
        return codes[function.name]

    code_of(kernel)
    program = Program(list(codes.values()), [], {}, _call_depth(codes[kernel.name]), 0)
    for code in program.codes:
        _order(code)
        _liveness(code)
        _lay_out_frame(code)
        for segment in code.segments:
            segment.number = len(program.segments)
            program.segments.append(segment)
            for register in sorted(segment.live_in, key=str):
                program.registers.setdefault((id(code), register), len(program.registers))
    program.frame_bytes = max(code.frame_bytes for code in program.codes)
    program.allocates = any(
        instruction.name in ("alloca", "stacksave") for segment in program.segments
        for instruction in segment.instructions
    )  # fmt: skip
    return program


def passed_in_registers(variables: list[Variable]) -> Iterator[tuple[Variable, int]]:
    """Those of a function's parameters or results that are registers, with their bytes.

    They have places in its frame, too, through which they travel.
    """
    return ((v, _bytes_of(v)) for v in variables if v.space == "reg")


def _bytes_of(variable: Variable) -> int:
    """Its bytes in a frame; a predicate has one."""
    return variable.bytes or (1 if variable.space == "reg" else 0)


def _call_depth(kernel: Code) -> int:
    """The longest chain of calls; RECURSION_LIMIT where there is recursion."""
    depths: dict[int, int] = {}
    open_calls: set[int] = set()

    def depth(code: Code) -> int:
        if id(code) in open_calls:
            return RECURSION_LIMIT
        if id(code) not in depths:
            open_calls.add(id(code))
            calls = [s.end.callee for s in code.segments if isinstance(s.end, Call)]
            depths[id(code)] = max((1 + depth(callee) for callee in calls), default=0)
            open_calls.discard(id(code))
        return depths[id(code)]

    return min(depth(kernel), RECURSION_LIMIT)


class _Cutter:
    """Cuts one function into segments."""

    def __init__(
        self,
        code: Code,
        pointers: FunctionPointers,
        code_of: Callable[[Function], Code],
        cut_after_waits: bool,
    ):
        self.code = code
        self.pointers = pointers
        self.code_of = code_of
        self.cut_after_waits = cut_after_waits
        self.at = self.new()
        self.blocks = {block.label: self.new() for block in code.function.blocks}

    def new(self) -> Segment:
        return Segment(self.code)

    def run(self) -> None:
        blocks = self.code.function.blocks
        self.code.segments.append(self.at)
        for block in blocks:
            self.go_on(self.blocks[block.label])
            for instruction in block.instructions:
                self.take(instruction)
        self.at.end = Return()

    def go_on(self, following: Segment) -> Segment:
        """Fall through into ``following``."""
        self.at.end = Jump(following)
        self.start(following)
        return following

    def start(self, segment: Segment) -> None:
        self.code.segments.append(segment)
        self.at = segment

    def take(self, instruction: Instruction) -> None:
        waits = waits_for(instruction)
        if instruction.target is not None:
            self.branch(instruction, instruction.target)
        elif instruction.effects & _LEAVES or waits:
            if instruction.guard:
                self.apart(instruction, instruction.guard, waits)
            else:
                self.special(instruction, waits)
        else:
            self.at.instructions.append(instruction)

    def apart(self, instruction: Instruction, guard: Guard, waits: str | None) -> None:
        """A guarded call, exit or wait is done in a segment that only some lanes enter.

        Where it stood, it is issued, and counted.
        """
        alone, after = self.new(), self.new()
        self.at.instructions.append(instruction)
        self.at.end = Fork(guard, alone, after)
        self.start(alone)
        alone.uncounted = dataclasses.replace(instruction, guard=None)
        self.special(alone.uncounted, waits)
        if not instruction.effects & (Effect.RETURN | Effect.EXIT):
            self.at.end = Jump(after)
        self.start(after)

    def special(self, instruction: Instruction, waits: str | None) -> None:
        effects = instruction.effects
        if waits:
            if self.at.instructions or self.at.waits:
                self.go_on(self.new())
            self.at.waits = waits
            self.at.instructions.append(instruction)
            if self.cut_after_waits:
                self.go_on(self.new())
        elif effects & Effect.CALL:
            self.call(instruction)
        else:
            self.at.instructions.append(instruction)
            self.at.end = Return() if effects & Effect.RETURN else Exit()
            self.start(self.new())

    def call(self, instruction: Instruction) -> None:
        self.at.instructions.append(instruction)
        callee = called(instruction)
        if isinstance(callee, Register):
            self.call_through(instruction, callee)
        elif isinstance(callee, Symbol):
            function = self.pointers.find(callee.name)
            if function is not None:
                self.enter(instruction, function)

    def enter(self, call: Instruction, function: Function) -> None:
        """Call a function that has a body."""
        results, arguments = argument_lists(call)
        after = self.new()
        self.at.end = Call(self.code_of(function), after, arguments, results)
        after.arrived = self.at.end
        self.start(after)

    def call_through(self, call: Instruction, pointer: Register) -> None:
        """A call for each of the functions that it may enter."""
        at, after = self.at, self.new()
        targets = {}
        for address, function in self.pointers.entered(call, self.code.function).items():
            direct = self.new()
            operands = (Symbol(function.name) if o is pointer else o for o in call.operands)
            direct.uncounted = dataclasses.replace(call, operands=tuple(operands), guard=None)
            direct.instructions.append(direct.uncounted)
            self.start(direct)
            self.enter(direct.uncounted, function)
            self.at.end = Jump(after)
            targets[address] = direct
        at.end = Through(pointer, targets)
        self.start(after)

    def branch(self, instruction: Instruction, target: str) -> None:
        self.at.instructions.append(instruction)
        at, after = self.at, self.new()
        if instruction.name == "brx":
            labels = self.code.function.targets[target]
            jump: End = Table(instruction.operands[0], [self.blocks[name] for name in labels])
        else:
            jump = Jump(self.blocks[target])
        if instruction.guard and isinstance(jump, Jump):
            at.end = Fork(instruction.guard, jump.target, after)
        elif instruction.guard:
            table = Segment(self.code, end=jump)
            at.instructions.pop()
            table.instructions.append(dataclasses.replace(instruction, guard=None))
            at.end = Fork(instruction.guard, table, after)
            self.code.segments.append(table)
        else:
            at.end = jump
        self.start(after)


def _order(code: Code) -> None:
    """Drop segments that nothing reaches and put the others into a weak topological order."""
    place = {id(segment): index for index, segment in enumerate(code.segments)}
    edges = [[place[id(t)] for t in segment.successors()] for segment in code.segments]
    code.segments = [code.segments[index] for index in weak_topological_order(edges)]


def _used_by_end(end: End, function: Function) -> Iterator[Register]:
    if isinstance(end, Fork):
        yield end.guard.register
    elif isinstance(end, Table) and isinstance(end.index, Register):
        yield end.index
    elif isinstance(end, Through):
        yield end.pointer
    elif isinstance(end, Return):
        found = (function.registers.find(v.name) for v in function.results if v.space == "reg")
        yield from (register for register in found if register is not None)


def _liveness(code: Code) -> None:
    """Tell the segments of one function what lives across them (no register outlives it)."""
    names = {segment: str(number) for number, segment in enumerate(code.segments)}
    effects = {}
    for segment, name in names.items():
        reads, writes = effects[name] = reads_and_writes(segment.instructions)
        reads.update(r for r in _used_by_end(segment.end, code.function) if r not in writes)
    following = {name: [names[s] for s in segment.successors()] for segment, name in names.items()}
    live = Liveness(effects, graph_of(following))
    for segment, name in names.items():
        segment.live_in, segment.live_out = live.live_in(name), live.live_out(name)


def _lay_out_frame(code: Code) -> None:
    """Give ``.local`` variables, ``.param`` variables and formal parameters their offsets."""
    function = code.function
    variables = [v for v in function.variables if v.space in ("local", "param")]
    if not code.is_kernel:
        variables += function.parameters + function.results
    offset = 0
    for variable in variables:
        alignment = max(variable.alignment, 1)
        offset = -(-offset // alignment) * alignment
        code.frame[variable.name] = offset
        offset += _bytes_of(variable)
    code.frame_bytes = -(-offset // 16) * 16


__all__ = ["Program", "Segment", "build_program", "waits_for"]
