"""The functions of a PTX module as kernels, on which passes can be run."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from ccc.analysis.callees import Callees, callee
from ccc.analysis.cfg import control_flow_graph
from ccc.analysis.facts import Facts
from ccc.compiler.calls import Calls
from ccc.errors import CccError, short
from ccc.ir.comparisons import separate_comparisons
from ccc.ir.edit import drop_unreached
from ccc.ir.names import Names
from ccc.ir.nodes import Function, FunctionText, Instruction, Module, Variable
from ccc.ir.reannotated import Reannotated
from ccc.ir.verify import verify
from ccc.options import Options
from ccc.parse import NotRepresentable, parse_files, parse_function, parse_variables
from ccc.passes.launch_shape import leave_room_for_blocks
from ccc.pipeline import Kernel, Withdrawn
from ccc.ptx.occupancy import KB, limits
from ccc.ptx.opcodes import TYPED, Effect
from ccc.ptx.system_calls import SYSTEM_CALLS
from ccc.ptx.types import DEFAULT_SHARED_BYTES

if TYPE_CHECKING:
    from ccc.decisions import MatchedDecisions
    from ccc.profile.known import Knowledge

DEBUG = (
    "the code is compiled for the debugger (-G), whose tables describe it as it is, so no "
    "annotation is followed"
)

IN_REGISTERS = "this function takes parameters in registers (.reg)"

UNTYPED = "{} names no type that ccc knows, as .u32 is one"

WITHOUT_SHARED_MEMORY = (
    *SYSTEM_CALLS,
    "__cudaCDP2GetParameterBufferV2",
    "__cudaCDP2LaunchDeviceV2",
)
"""Functions of the driver, and those of the device runtime that a launch in a kernel becomes:
nvlink 13.0 gives a kernel that calls them no shared memory for it."""


DEVICE_LAUNCH = re.compile(
    r"cuda(?:(?<=\b__cuda)CDP2LaunchDevice|(?<=\bcuda)(?:LaunchDevice|GraphLaunch))"
)
"""What a launch in a kernel becomes."""

_OWN_NAMES = ("ccc_", "_ccc")
"""What is part of every name that is put into PTX."""
_LITERAL = re.compile(r"\$str(?:\$\d+)?")
"""What nvcc calls a string literal,"""
_BYTES = re.compile(r"\d+(?:\s*,\s*\d+)*")
"""and how it writes it."""

DYNAMIC_SIZE = "%dynamic_smem_size"


class ModuleContext:
    """What all kernels of a module share.

    Args:
        module: the PTX.
        options: what is asked for.
        registers: how many a thread of each kernel takes, by name, as far as that is known.
        tried: the same of the original, and of what was chosen when that was tried.
        trying: the kernels in which it is to be tried what would gain anything.
        keeping: those that are to have the warps that they had where they hide what memory takes.
        crowded: why a kernel had better be left alone where nobody insists, by name.
        knowledge: what profiles say of the module's paths.
        tuned: what was measured to be best for them.
        promised: the functions of which something is promised.
        reannotated: other annotations of kernels than those that they have, by name.

    Attributes:
        is_debugged: whether the module is compiled for the debugger.
    """

    def __init__(
        self,
        module: Module,
        options: Options,
        registers: Mapping[str, int],
        tried: Mapping[str, tuple[int, int]],
        trying: Collection[str],
        keeping: Collection[str],
        crowded: Mapping[str, str],
        knowledge: Knowledge | None,
        tuned: MatchedDecisions | None,
        promised: Collection[str] = (),
        reannotated: Mapping[str, Reannotated] = MappingProxyType({}),
    ):
        self._names = Names(module.text)
        self._texts = {piece.name: piece for piece in module.functions}
        self._calls = Calls(module)
        self._loaded: dict[str, Function | None] = {}
        self._obstacle: CccError | None = None
        try:
            variables = parse_variables(module)
        except CccError as obstacle:  # whatever they are, no function is changed then
            variables, self._obstacle = [], obstacle
        self._shared = {v.name: v for v in variables if v.space == "shared"}
        unsized = {name for name, variable in self._shared.items() if variable.bytes is None}
        self._callees = Callees(self.load, promised, literals(variables), unsized)
        self._files = parse_files(module.text)
        self._options = options
        self._tuned = tuned
        self._registers = registers
        self._tried = tried
        self._trying = trying
        self._keeping = keeping
        self._crowded = crowded
        self._knowledge = knowledge
        self._reannotated = reannotated
        self._launches = DEVICE_LAUNCH.search(module.text) is not None
        self._surroundings = self._find_surroundings(module)
        target = re.search(r"^\s*\.target\s+(\w+)([^\n]*)", module.text, re.MULTILINE)
        self._arch, others = target.groups() if target else ("", "")
        self.is_debugged = re.search(r"\bdebug\b", others) is not None

    def _find_surroundings(self, module: Module) -> Hashable:
        """All that kernels may depend on outside of functions; the whole module where files tell of
        its annotations, or it has names such as are put into it."""
        told = self._options.use or self._options.decisions
        text = module.text
        if told or any(name in text for name in _OWN_NAMES):
            return text
        around = "".join(piece for piece in module.pieces if isinstance(piece, str))
        return self._launches, self._callees.promised, around

    def key(self, piece: FunctionText) -> Hashable:
        """All that it depends on what becomes of a kernel."""
        name = piece.name
        known = self._registers.get(name), self._tried.get(name), self._crowded.get(name)
        mode = name in self._trying, name in self._keeping, self._reannotated.get(name)
        return self._surroundings, known, mode, self._calls.texts(name)

    def is_called(self, function: Function) -> bool:
        """Whether it is a kernel, or one of the module may call it."""
        kernels = (name for name, piece in self._texts.items() if piece.kind == "entry")
        return function.kind == "entry" or any(
            function.name in self._calls.reached(name) for name in kernels
        )

    def load(self, name: str) -> Function | None:
        """The IR of a function as nvcc made it; None if the module lacks it, or it has none."""
        if name not in self._loaded:
            text = self._texts.get(name)
            try:
                self._loaded[name] = self._parsed(text) if text else None
            except CccError:
                self._loaded[name] = None
        return self._loaded[name]

    def prepare(
        self,
        piece: FunctionText,
        not_inlined: frozenset[int],
        withdrawn: Withdrawn,
        blocks_stay: bool = False,
    ) -> Kernel:
        """A kernel of its own, which passes may change.

        Args:
            piece: the function.
            not_inlined: the lines of calls that are to stay calls.
            withdrawn: what was asked for and does not apply.
            blocks_stay: whether each launched block runs its own where a loop over them is made.

        Raises:
            NotRepresentable: it cannot be read, and is left alone.
        """
        function = self._read(piece)
        if other := self._reannotated.get(function.name):
            function.blocks = other.blocks_of(function)
        verify(function)
        facts = Facts(function, self._callees, self._files)
        kernel = Kernel(function, facts, self._options, arch=self._arch, load=self.load)
        kernel.tuned = self._tuned
        kernel.registers = self._registers.get(function.name)
        kernel.tried = self._tried.get(function.name)
        kernel.trying = function.name in self._trying
        kernel.keeping = function.name in self._keeping
        kernel.crowded = self._crowded.get(function.name)
        kernel.blocks_stay = blocks_stay
        kernel.not_inlined = not_inlined
        kernel.knowledge = self._knowledge
        kernel.withdrawn = withdrawn
        self._find_shared(kernel)
        if self.is_debugged:
            _refuse_all(kernel, DEBUG)
        return kernel

    def _read(self, piece: FunctionText) -> Function:
        """The IR of a function that can be changed."""
        try:
            if self._obstacle:
                raise self._obstacle
            function = self._parsed(piece)
        except CccError as obstacle:
            line = obstacle.source_line
            raise NotRepresentable(obstacle.message, obstacle.span, line) from obstacle
        passed = (*function.parameters, *function.results)
        if any(v.space == "reg" or v.is_vector_register for v in passed):
            raise NotRepresentable(IN_REGISTERS, piece.span)
        return function

    def _parsed(self, piece: FunctionText) -> Function:
        """The IR of a function, with one predicate for each comparison, and without what control
        never comes to.

        Raises:
            CccError: it cannot be read, or an instruction names no type.
        """
        function = parse_function(piece, self._names)
        untyped = next(filter(_is_untyped, function.instructions), None)
        if untyped is not None:
            raise NotRepresentable(UNTYPED.format(short(untyped.opcode)), untyped.span)
        separate_comparisons(function)
        drop_unreached(function, control_flow_graph(function))
        return function

    def _find_shared(self, kernel: Kernel) -> None:
        """What shared memory a kernel uses: each has what it names, itself or in what it calls."""
        functions, unseen = self._called(kernel.function)
        kernel.calls_unseen = not SYSTEM_CALLS.keys() >= {*unseen}
        shared = (name for name in unseen if not self._has_none_shared(name))
        kernel.unseen_callee = next((one or "a function through a pointer" for one in shared), "")
        instructions = [i for function in functions for i in function.instructions]
        named = {symbol.name for i in instructions for symbol in i.symbols()}
        used = [variable for name, variable in self._shared.items() if name in named]
        for function in functions[1:]:
            used += [v for v in function.variables if v.space == "shared"]
        kernel.shared = tuple(used)
        if any(variable.bytes is None for variable in used):
            kernel.dynamic_shared_bytes = self._options.dynamic_shared
        if kernel.unseen_callee:
            kernel.callee_shared_bytes = self._options.callee_shared
        asks = any(s.name == DYNAMIC_SIZE for i in instructions for s in i.specials())
        kernel.takes_dynamic = not (asks or kernel.unseen_callee or self._launches)
        kernel.shared_limit = self._shared_limit()
        leave_room_for_blocks(kernel)
        arrays = (v.alignment for v in self._shared.values() if v.bytes is None)
        kernel.dynamic_alignment = max([kernel.dynamic_alignment, *arrays])

    def _shared_limit(self) -> int:
        """The most that a block may get."""
        wanted = self._options.shared_limit
        if wanted is None:
            return DEFAULT_SHARED_BYTES
        try:
            return min(wanted, limits(self._arch).shared_kb_block * KB)
        except CccError:  # an architecture that is not known
            return wanted

    def _called(self, function: Function) -> tuple[list[Function], list[str]]:
        """A function and all that it may come to; and the names of what cannot be looked into, of
        which that of a pointer is empty."""
        found, seen, unseen = [function], {function.name}, list[str]()
        for one in found:
            for name in (callee(i) for i in one.instructions if i.effects & Effect.CALL):
                if name in seen:
                    continue
                seen.add(name)
                if called := self.load(name):
                    found.append(called)
                else:
                    unseen.append(name)
        return found, unseen

    def _has_none_shared(self, name: str) -> bool:
        """Whether a function that is not seen is known to have no shared memory."""
        return name in WITHOUT_SHARED_MEMORY or self._callees.is_promised(name)


def literals(variables: Iterable[Variable]) -> dict[str, str]:
    """The string literals of the source, by the names that nvcc gives them. A variable may be
    called so, too: what is no string, has room for more, or may be written by other files, is
    none."""
    texts = {
        variable.name: (variable.initializer or "", variable.bytes)
        for variable in variables
        if _LITERAL.fullmatch(variable.name)
        and variable.type == "b8"
        and ".visible" not in variable.text
    }
    return {
        name: "".join(chr(int(byte)) for byte in text.split(","))
        for name, (text, size) in texts.items()
        if _BYTES.fullmatch(text) and size == text.count(",") + 2  # and the zero behind them
    }


def _is_untyped(instruction: Instruction) -> bool:
    """Whether it lacks the type on which all analyses count."""
    row = instruction.row
    return row is not None and row.name in TYPED and not instruction.types


def _refuse_all(kernel: Kernel, reason: str) -> None:
    for annotation in kernel.annotations:
        annotation.reason = reason
    for record in kernel.records:
        record.reason = reason
