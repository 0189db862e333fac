"""Counting what runs: the code, the variables and the table of one PTX module.

docs/profile.md says what is counted, and ``ccc.profile`` how the counters are laid out and read.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ccc.analysis.callees import callee
from ccc.errors import CccError, Span, render
from ccc.ir.names import Names
from ccc.ir.nodes import Function, FunctionText, Module
from ccc.ir.printer import print_function
from ccc.ir.verify import verify
from ccc.parse import NotRepresentable, parse_function, parse_module
from ccc.pipeline import PathRecord
from ccc.profile.data import COPIES, COUNTERS, DESCRIPTOR, TABLE
from ccc.profile.instrument.instrument import CountedFunction, instrument
from ccc.profile.instrument.places import CountedRegion
from ccc.profile.match import Place
from ccc.ptx.opcodes import Effect
from ccc.remark import Remark
from ccc.version import VERSION

_DECLARED = re.compile(rf"^\.global \.align 8 \.b8 (\w*{DESCRIPTOR})\[32\];\n", re.MULTILINE)
_OUR_NAMES = re.compile(rf"(?<![\w$%])(?:{COUNTERS}|{TABLE}|{DESCRIPTOR})(?![\w$])")
_LEAST_VERSION = (6, 2)
"""Of PTX: the first that has ``activemask`` (PTX ISA section 9.7.13)."""


def count(ptx: str, kernels: Collection[str] | None = None, *, filename: str = "<ptx>") -> str:
    """PTX whose kernels count all that they issue, annotated or not, but no paths.

    Args:
        ptx: the text of a PTX file.
        kernels: the (mangled) names of those that are to count; None for all.
        filename: what to call the text in messages.

    Raises:
        CccError: it is not valid PTX, or a kernel cannot be counted.
    """
    module = parse_module(ptx, filename)
    pieces = {piece.name: piece for piece in module.functions}
    names = Names(ptx)

    @functools.cache
    def load(name: str) -> Function | None:
        return parse_function(pieces[name], names) if name in pieces else None

    counting = Counting(module, load, DESCRIPTOR, transformed=False)
    for name, piece in pieces.items():
        if piece.kind == "entry" and (kernels is None or name in kernels):
            counting.add(parse_function(piece, names), ())
    warnings = counting.finish()
    if warnings:
        raise CccError("\n".join(render("warning", w.message, w.span) for w in warnings))
    return module.text


class Counting:
    """What is counted in one module.

    Args:
        module: the PTX; ``finish`` changes it.
        load: the IR of a function that was not transformed, None where the module lacks it.
        file: where a host program, or ``ccc.profile``, is to write the profile.
        transformed: whether passes were run, or the code is as nvcc made it.
        places: what is known of the annotations, by identifier, where the source was read.
        case_told: tells how users know a case, and how many stand before it on its line, likewise.

    Raises:
        CccError: the module is such that nothing can be counted in it.
    """

    def __init__(
        self,
        module: Module,
        load: Callable[[str], Function | None],
        file: str,
        *,
        transformed: bool,
        places: Mapping[int, Place] = MappingProxyType({}),
        case_told: Callable[[Remark], tuple[str, int]] | None = None,
    ):
        _check(module)
        self.module = module
        self.load = load
        self.file = file
        self.transformed = transformed
        self.places = places
        self.case_told = case_told
        self.functions: dict[str, tuple[Function, Sequence[PathRecord]]] = {}
        self.counters = 0

    def add(self, function: Function, records: Sequence[PathRecord]) -> None:
        """Count in this function, with its paths, when it is time to ``finish``."""
        self.functions[function.name] = function, records

    def finish(self) -> list[CccError]:
        """Put the code into the functions and those they call, and declare the variables.

        Returns:
            Warnings: functions that cannot be counted.
        """
        pieces = {piece.name: piece for piece in self.module.functions}
        calls = {name: self._called(function) for name, (function, _) in self.functions.items()}
        for called in [called for names in calls.values() for called in names]:
            if (function := self._loaded(called)) and called not in self.functions:
                self.functions[called] = function, ()
        has_paths = any(records for _, records in self.functions.values())
        around = has_paths and not self.transformed
        kernels: list[dict[str, Any]] = []
        warnings: list[CccError] = []
        for name, (function, records) in self.functions.items():
            unknown = next((i for i in function.instructions if i.row is None), None)
            if unknown is not None:
                message = f"{name} is not counted: {unknown.opcode} is not known to ccc"
                warnings.append(CccError(message, unknown.span))
                continue
            apart = self.functions if around else None
            made = instrument(function, records, self._take, apart)
            verify(function)
            pieces[name].text = print_function(function)
            head = {"name": name, "kind": function.kind, "calls": calls.get(name, [])}
            kernels.append({**head, **self._entry(records, made)})
        self._declare(kernels)
        return warnings

    def _entry(self, records: Sequence[PathRecord], made: CountedFunction) -> dict[str, Any]:
        """What the table says of a function."""
        numbers = {region: n for n, region in enumerate(made.paths) if region is not None}
        calls = [
            {
                "callee": one.callee,
                "counter": one.counter,
                "path": numbers.get(one.region),
                "visits": one.visits,
            }
            for one in made.calls
        ]
        paths = []
        for record, region in zip(records, made.paths, strict=True):
            place = Place.of(record.marker, self.places)
            told: dict[str, Any] = {"function": place.function, "statement": place.statement}
            if "case" in record.remark.details and self.case_told:
                told["case"], told["in_line"] = self.case_told(record.remark)
            paths.append({**_said(record), **told, **_counted(region, numbers)})
        return {
            "counter": made.root.counter,
            "each": made.root.each,
            "entered": made.entered,
            "sites": calls,
            "paths": paths,
        }

    def _take(self, count: int) -> int:
        first = self.counters
        self.counters += count
        return first

    def _loaded(self, name: str) -> Function | None:
        try:
            return self.load(name)
        except NotRepresentable:
            return None

    def _called(self, function: Function) -> list[str]:
        """The functions with a body here that a function may call, itself or through others."""
        seen, worklist = {"": None, function.name: None}, [function]
        while worklist:
            for instruction in worklist.pop().instructions:
                name = callee(instruction) if instruction.effects & Effect.CALL else ""
                if name not in seen and (called := self._loaded(name)):
                    seen[name] = None
                    worklist.append(called)
        return list(seen)[2:]

    def _declare(self, kernels: list[dict[str, Any]]) -> None:
        """Before the first function, or instead of what the host's code declares."""
        table = {"version": VERSION, "transformed": self.transformed, "kernels": kernels}
        text = f"{self.file}\n{json.dumps(table)}".encode(errors="surrogateescape")
        words = max(self.counters, 1) * COPIES
        bytes_ = ", ".join(map(str, text))
        head = (
            f".global .align 8 .u64 {COUNTERS}[{words}];\n"
            f".global .align 1 .b8 {TABLE}[{len(text)}] = {{{bytes_}}};\n"
        )
        values = f"{{{COUNTERS}, {self.counters}, {TABLE}, {len(text)}}}"

        def described(name: str) -> str:
            return f"{head}.global .align 8 .u64 {name}[4] = {values};\n"

        pieces = self.module.pieces
        for position, piece in enumerate(pieces):
            if isinstance(piece, str) and _DECLARED.search(piece):
                pieces[position] = _DECLARED.sub(lambda m: described(m[1]), piece)
                return
        functions = [k for k, piece in enumerate(pieces) if isinstance(piece, FunctionText)]
        pieces.insert(functions[0] if functions else len(pieces), f"{described(DESCRIPTOR)}\n")


def _said(record: PathRecord) -> dict[str, Any]:
    """What the report says of a path, and the table, too."""
    said = record.remark.entry()
    return {key: said[key] for key in ("file", "line", "column", "directive", "arm", "applied")}


def _counted(region: CountedRegion | None, numbers: Mapping[CountedRegion, int]) -> dict[str, Any]:
    """Where the counters of a path are, and the number of the path around it."""
    if region is None:
        return {
            "counter": None,
            "each": [],
            "visits": None,
            "entries": None,
            "starts": None,
            "share": 1.0,
            "inside": None,
        }
    larger = [o for o in numbers if region.blocks < o.blocks]
    inside = min(larger, key=lambda other: len(other.blocks), default=None)
    return {
        "counter": region.counter,
        "each": region.each,
        "visits": region.visits,
        "entries": region.begun,
        "starts": region.starts,
        "share": region.share,
        "inside": inside and numbers[inside],
    }


def _check(module: Module) -> None:
    found = re.search(r"^\s*\.version\s+(\d+)\.(\d+)", module.text, re.MULTILINE)
    if found is None or (int(found[1]), int(found[2])) < _LEAST_VERSION:
        raise CccError(
            "counting takes PTX 6.2 or later, which has activemask: use a newer nvcc",
            Span(module.file),
        )
    if re.search(r"^\s*\.target\b[^\n]*\bdebug\b", module.text, re.MULTILINE):
        raise CccError("nothing can be counted in code for the debugger: leave -G out")
    if re.search(rf"\.u64 {COUNTERS}\[", module.text):
        raise CccError("this PTX counts already", Span(module.file))
    names = set(_OUR_NAMES.findall(_DECLARED.sub("", module.text)))
    if names:
        raise CccError(f"what counts is called {min(names)}: rename that", Span(module.file))
