"""Blocks as large as the original's can still be launched.

A kernel that does not say how large its blocks are can be launched in any for whose threads the
registers of a multiprocessor suffice. What we make of it may take more of them, and the same launch
would fail. So ptxas is asked, and where it would be so, told to take fewer (PTX ISA, ".maxnreg").

Functions that are linked, or called through pointers, take registers that nobody knows here, and
ptxas and linkers refuse a kernel that is told to take fewer than what it calls. A file with such is
told nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ccc.compiler.registers import Assembler
from ccc.ir.nodes import FunctionText, Module
from ccc.options import Options
from ccc.parse import parse_module
from ccc.passes.launch_shape import MOST_REGISTERS, SIZES
from ccc.passes.thresholds import MOST_SPILLED
from ccc.ptx.occupancy import launchable_warps, most_registers
from ccc.ptx.types import MAX_BLOCK_THREADS, WARP_SIZE
from ccc.remark import Remark
from ccc.toolkit.ptxas import Resources, is_part

_TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\{", re.DOTALL)
"""A comment, or a brace outside of one."""
_POINTER = re.compile(r"\.callprototype\b")

_SAID = tuple(f".{name}" for name in (*SIZES, MOST_REGISTERS))
"""Directives by which ptxas has been told already: what it makes can be launched so."""

SMALLER = "__launch_bounds__ or --ccc-max-block tells of smaller blocks"


@dataclass(slots=True)
class Launchable:
    """PTX of which kernels can be launched in blocks as large as before.

    Attributes:
        ptx: the module.
        bounds: how many registers a thread may take, of each kernel for which that is told now.
        crowded: why kernels had better be left alone, which spill much then, or cannot be told.
        spilling: the same of those that spill a little, unless much is gained.
    """

    ptx: str
    bounds: dict[str, int] = field(default_factory=dict)
    crowded: dict[str, str] = field(default_factory=dict)
    spilling: dict[str, str] = field(default_factory=dict)

    def told(self, remarks: Mapping[str, list[Remark]]) -> dict[str, list[Remark]]:
        """Remarks that also tell, of what was applied, how many registers a thread may take."""

        def with_bound(one: Remark, bound: int) -> Remark:
            return replace(one, details={**one.details, MOST_REGISTERS: bound})

        return {
            name: [
                with_bound(one, self.bounds[name]) if one.applied and name in self.bounds else one
                for one in mine
            ]
            for name, mine in remarks.items()
        }


def keep_launchable(
    before: str,
    after: str,
    options: Options,
    assembler: Assembler,
    original: Callable[[], str] | None = None,
) -> Launchable:
    """What is made of a module so that all its kernels can be launched in blocks as large as
    ``before``, as far as ptxas can tell.

    What has markers may take other registers than without: ``original`` makes it without them, and
    is asked where it may matter.
    """
    if after == before:
        return Launchable(after)
    module = parse_module(after)
    changed = dict(_changed(parse_module(before), module))
    warps = -(-(options.max_block or MAX_BLOCK_THREADS) // WARP_SIZE)
    made = Launchable(after)
    new = _needs(after, changed, options, assembler)
    tight = [name for name, needs in new.items() if launchable_warps(needs.registers) < warps]
    if tight and original:
        before = original()
    old = _needs(before, tight, options, assembler)
    is_open = is_part(after) or _POINTER.search(after) is not None
    for name, needs in old.items():
        wanted = min(warps, launchable_warps(needs.registers))
        if launchable_warps(new[name].registers) >= wanted:
            continue
        if is_open:
            made.crowded[name] = _reason(needs, new[name], wanted)
            continue
        made.bounds[name] = most_registers(wanted)
        changed[name].text = _bounded(changed[name].text, made.bounds[name])
    if made.bounds:
        made.ptx = module.text
        bounded = _needs(made.ptx, made.bounds, options, assembler)
        for name, needs in bounded.items():
            if more := max(0, needs.spilled - old[name].spilled):
                spilling = f", and with {made.bounds[name]} ptxas spills {more} bytes"
                warps = launchable_warps(needs.registers)
                told = made.crowded if more > MOST_SPILLED else made.spilling
                told[name] = _reason(old[name], new[name], warps, spilling)
    return made


def _reason(before: Resources, after: Resources, warps: int, spilling: str = "") -> str:
    return (
        f"{after.registers} registers of a thread instead of {before.registers} leave no room for "
        f"blocks of {warps * WARP_SIZE} threads, in which the original can be launched{spilling}; "
        f"{SMALLER}"
    )


def _changed(before: Module, after: Module) -> Iterator[tuple[str, FunctionText]]:
    """The kernels that are not what they were, and do not say how large they may be."""
    old = {piece.name: piece.text for piece in before.functions}
    for piece in after.functions:
        if piece.kind != "entry" or old.get(piece.name) == piece.text:
            continue
        head = _TOKEN.sub("", piece.text[: _body(piece.text)])
        if not any(directive in head for directive in _SAID):
            yield piece.name, piece


def _needs(
    ptx: str, names: Collection[str], options: Options, assembler: Assembler
) -> dict[str, Resources]:
    """What these kernels need, as far as ptxas tells."""
    found = assembler.resources(ptx, list(names)) if names else {}
    most = options.max_registers
    return {
        name: replace(needs, registers=min(needs.registers, most or needs.registers))
        for name, needs in found.items()
        if name in names
    }


def _body(text: str) -> int:
    """Where a kernel's body begins."""
    return next(found.start() for found in _TOKEN.finditer(text) if found[0] == "{")


def _bounded(text: str, registers: int) -> str:
    """A kernel's text with the directive."""
    body = _body(text)
    return f"{text[:body].rstrip()}\n.{MOST_REGISTERS} {registers}\n{text[body:]}"
