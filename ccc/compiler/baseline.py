"""What no path of was transformed is what the compiler makes of it without annotations.

An annotation is applied if any copy of its code is: another instance of the template, another
kernel that the function is inlined in. The copies that are left alone were compiled with its
markers all the same, which may have kept a branch from becoming a select, or a loop from being
unswitched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ccc.compiler.function_texts import callees
from ccc.compiler.unmarking import free_to_unroll
from ccc.errors import CccError
from ccc.ir.markers import MARKER_PREFIX
from ccc.ir.nodes import FunctionText, Module
from ccc.parse import parse_module

_BETWEEN_WORDS = re.compile(r"//[^\n]*|\s+")
_END = re.compile(r";|\.address_size \d+")


def as_without(marked: str, after: str, original: Callable[[], str]) -> str:
    """PTX some functions of which are transformed, and all others as without annotations.

    Where that cannot be had, as where the compiler has numbered what is declared otherwise, they
    stay as marked, but ptxas may unroll their loops as it may those of the source.

    Args:
        marked: the PTX before all passes.
        after: the same after them.
        original: makes the PTX of the source without annotations; asked only where some are left.
    """
    if MARKER_PREFIX not in after:  # which is seen before anything is read
        return after
    try:
        module, before = parse_module(after), parse_module(marked)
        left = list(_left(before, module))
        bare = None
        if any(map(_is_open, left)):
            unmarked = parse_module(original())
            bare = _Bare(unmarked, module) if _declared(unmarked) <= _declared(before) else None
    except CccError:  # that it cannot be read is told elsewhere
        return after
    for piece in left:
        piece.text = (bare and bare.find(piece)) or free_to_unroll(piece.text)
    return module.text if left else after


def _left(before: Module, module: Module) -> Iterator[FunctionText]:
    """The functions that have markers and that no pass has changed."""
    old = {piece.name: piece.text for piece in before.functions}
    return (f for f in module.functions if f.is_marked and old.get(f.name) == f.text)


def _declared(module: Module) -> set[str]:
    """What stands between the functions, in any order: variables, functions of other files, and
    tables of lines."""
    text = "".join(piece for piece in module.pieces if isinstance(piece, str))
    return {one.strip() for one in _END.split(_BETWEEN_WORDS.sub(" ", text))}


class _Bare:
    """The functions of the source without annotations, as far as those around them are the same.

    What no other file calls may have been made for those that call it here: where an argument is
    not needed, callers pass anything. So such a function is none to put in, and those that call one
    are only where that is the same.
    """

    def __init__(self, bare: Module, module: Module):
        self._bare = {piece.name: piece for piece in bare.functions}
        self._now = {piece.name: piece for piece in module.functions}

    def find(self, piece: FunctionText) -> str | None:
        """What can stand for a function of which nothing is transformed."""
        bare = self._bare.get(piece.name)
        if bare is None or not _is_open(piece) or _header(bare) != _header(piece):
            return None
        called = callees(bare.text)
        serves = called <= callees(piece.text) and all(map(self._serves, called))
        return bare.text if serves else None

    def _serves(self, name: str) -> bool:
        """Whether a function that is called does what the caller was made for."""
        bare, now = self._bare.get(name), self._now.get(name)
        if bare is None or now is None:
            return bare is now  # of another file
        return bare.text == now.text or (_is_open(bare) and _header(bare) == _header(now))


def _is_open(function: FunctionText) -> bool:
    """Whether others than those of the file may call it."""
    return function.text.startswith((".visible", ".weak", ".entry"))


def _header(function: FunctionText) -> str:
    """Its linkage, results and parameters."""
    return _BETWEEN_WORDS.sub(" ", function.text.partition("{")[0])
