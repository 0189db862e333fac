"""The functions of a PTX module as kernels, on which passes can be run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ccc.analysis.callees import Callees
from ccc.analysis.facts import Facts
from ccc.ir.names import Names
from ccc.ir.nodes import Function, FunctionText, Module
from ccc.ir.verify import verify
from ccc.parse import NotRepresentable, parse_files, parse_function, parse_variables
from ccc.pipeline import Kernel
from ccc.ptx.opcodes import Effect

DEBUG = "the code is compiled for the debugger (-G), whose tables describe it as it is"


class Preparation:
    """What all kernels of a module share.

    Args:
        module: the PTX.
        max_block: the most threads that a block will have, if a kernel does not say.
        dynamic_shared: the most bytes of dynamic shared memory that a launch asks for, if known.
        registers: how many a thread of each kernel takes, by name, as far as that is known.

    Attributes:
        is_debugged: whether the module is compiled for the debugger.
    """

    def __init__(
        self,
        module: Module,
        max_block: int | None,
        dynamic_shared: int | None,
        registers: Mapping[str, int],
    ):
        self._names = Names(module.text)
        self._texts = {piece.name: piece for piece in module.functions}
        self._loaded: dict[str, Function | None] = {}
        self._callees = Callees(self.load)
        self._files = parse_files(module.text)
        self._max_block = max_block
        self._dynamic_shared = dynamic_shared
        self._registers = registers
        shared = [v for v in parse_variables(module) if v.space == "shared"]
        self._open_ended = {v.name for v in shared if v.bytes is None}
        self._static_shared = sum(v.bytes or 0 for v in shared)
        target = re.search(r"^\s*\.target\s+(\w+)([^\n]*)", module.text, re.MULTILINE)
        self._arch, others = target.groups() if target else ("", "")
        self.is_debugged = re.search(r"\bdebug\b", others) is not None

    def load(self, name: str) -> Function | None:
        """The IR of a function as nvcc made it; None if the module lacks it, or it has none."""
        if name not in self._loaded:
            text = self._texts.get(name)
            try:
                self._loaded[name] = parse_function(text, self._names) if text else None
            except NotRepresentable:
                self._loaded[name] = None
        return self._loaded[name]

    def prepare(self, piece: FunctionText, not_inlined: frozenset[int]) -> Kernel:
        """A kernel of its own, which passes may change.

        Args:
            piece: the function.
            not_inlined: the lines of calls that are to stay calls.

        Raises:
            CccError: its PTX is not valid.
            NotRepresentable: it cannot be read.
        """
        function = parse_function(piece, self._names)
        verify(function)
        facts = Facts(function, self._callees, self._files)
        kernel = Kernel(
            function,
            facts,
            self._static_shared,
            max_block=self._max_block,
            arch=self._arch,
            load=self.load,
        )
        kernel.registers = self._registers.get(function.name)
        kernel.not_inlined = not_inlined
        if not self._open_ended.isdisjoint(self._symbols(function)):
            kernel.dynamic_shared_bytes = self._dynamic_shared
        if self.is_debugged:
            _refuse_all(kernel, DEBUG)
        return kernel

    def _symbols(self, function: Function) -> Iterator[str]:
        """The names of what a function uses, itself or in the functions that it calls."""
        seen, worklist = {function.name}, [function]
        while worklist:
            for instruction in worklist.pop().instructions:
                for symbol in instruction.symbols():
                    yield symbol.name
                    called = self.load(symbol.name) if instruction.effects & Effect.CALL else None
                    if called is not None and called.name not in seen:
                        seen.add(called.name)
                        worklist.append(called)


def _refuse_all(kernel: Kernel, reason: str) -> None:
    for annotation in kernel.annotations:
        annotation.reason = reason
    for record in kernel.records:
        record.path.reason = record.reason = reason
