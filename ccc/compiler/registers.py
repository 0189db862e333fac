"""What kernels need of a multiprocessor, asked of ptxas for no more of them than somebody wants."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Mapping

from ccc.compiler.calls import Calls
from ccc.errors import CccError
from ccc.ir.nodes import Module
from ccc.parse import parse_module
from ccc.toolkit import find as toolchain
from ccc.toolkit.ptxas import Resources, resources

_TARGET = re.compile(r"^\s*\.target\s+(\w+)", re.MULTILINE)


class Assembler:
    """ptxas, which is not asked twice for one kernel in the same surroundings."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Resources] = {}

    def resources(self, ptx: str, names: Collection[str]) -> Mapping[str, Resources]:
        """What these kernels of a PTX file need; nothing where ptxas alone cannot tell."""
        module = parse_module(ptx)
        calls = Calls(module)
        around = "".join(piece for piece in module.pieces if isinstance(piece, str))
        keys = {name: (around, calls.texts(name)) for name in names}
        left = [name for name, key in keys.items() if key not in self._known]
        if left:
            kept = calls.together(left)
            for found in resources_of("".join(_pieces(module, kept))):
                self._known.update({keys[name]: found[name] for name in left if name in found})
        return {name: self._known[key] for name, key in keys.items() if key in self._known}


def _pieces(module: Module, kept: Collection[str]) -> Iterable[str]:
    """The text of a module without the kernels that are not ``kept``."""
    for piece in module.pieces:
        if isinstance(piece, str):
            yield piece
        elif piece.kind == "func" or piece.name in kept:
            yield piece.text


def target_of(ptx: str) -> str:
    """The architecture that a PTX file is for."""
    target = _TARGET.search(ptx)
    return target[1] if target else "sm_90"


def resources_of(*texts: str) -> list[Mapping[str, Resources]]:
    """What all kernels of PTX files need, by name; nothing where ptxas alone cannot tell."""
    try:
        ptxas = toolchain.find().program("ptxas")
        return [resources(text, target_of(text), ptxas) for text in texts]
    except CccError:
        return []
