"""What kernels need of a multiprocessor, asked of ptxas for no more of them than somebody wants."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ccc.compiler.calls import Calls
from ccc.errors import CccError
from ccc.ir.markers import MARKER_PREFIX
from ccc.ir.nodes import Module
from ccc.parse import parse_module
from ccc.toolkit.ptxas import Resources, assemble_all, program

_MARKERS = re.compile(rf"^[ \t]*{re.escape(MARKER_PREFIX)}[^\n]*\n", re.MULTILINE)
_TARGET = re.compile(r"^\s*\.target\s+(\w+)", re.MULTILINE)


class Assembler:
    """ptxas, which is not asked twice for one kernel in the same surroundings."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Resources] = {}

    def resources(self, ptx: str, names: Collection[str]) -> Mapping[str, Resources]:
        """What these kernels of a PTX file need; nothing where ptxas alone cannot tell."""
        return self.resources_in([ptx], names)[0]

    def resources_in(
        self, texts: Sequence[str], names: Collection[str]
    ) -> list[Mapping[str, Resources]]:
        """The same of several PTX files that all have these kernels, which are assembled at the
        same time."""
        asked = [_AskedKernels.of(text, names) for text in texts]
        left = [one for one in asked if not self._known.keys() >= set(one.keys.values())]
        made = resources_of(*(one.without(self._known) for one in left)) if left else []
        for one, found in zip(left, made, strict=False):  # nothing is made where one is refused
            self._known.update({one.keys[name]: found[name] for name in names if name in found})
        return [
            {name: self._known[key] for name, key in one.keys.items() if key in self._known}
            for one in asked
        ]


@dataclass(frozen=True, slots=True)
class _AskedKernels:
    """Kernels of a module that somebody asks about, each with all that its needs depend on."""

    module: Module
    calls: Calls
    keys: dict[str, Hashable]

    @staticmethod
    def of(ptx: str, names: Collection[str]) -> _AskedKernels:
        module = parse_module(_MARKERS.sub("", ptx))  # by which alone kernels may differ
        calls = Calls(module)
        around = "".join(piece for piece in module.pieces if isinstance(piece, str))
        return _AskedKernels(module, calls, {name: (around, calls.texts(name)) for name in names})

    def without(self, known: Collection[Hashable]) -> str:
        """The module without kernels that matter to none whose needs are not ``known``."""
        left = [name for name, key in self.keys.items() if key not in known]
        return "".join(_pieces(self.module, self.calls.together(left)))


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
    """What all kernels of PTX files for one architecture need, by name; nothing where ptxas alone
    cannot tell."""
    try:
        made = assemble_all(texts, target_of(texts[0]), program())
    except CccError:
        return []
    return [one.resources for one in made]
