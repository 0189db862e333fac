"""Markers that say where a floating-point variable is whose type only the compiler knows.

Inline assembly says by a letter what type an operand has. Where a declaration says ``T``, ``auto``
or ``real``, a function is called that there is for ``float`` and for ``double``, and for all else,
of which nothing is said. It is inlined, and what remains is the marker as in ``markers.py``. What
may be a constant calls it, too, since assembly may not stand there.
"""

from __future__ import annotations

import re

from ccc.ir.arm_markers import comment_of, name_of
from ccc.ir.markers import FLOATING_LETTERS, RUNNING, with_register

_PREFIX = "ccc_typed_"
_CALL = re.compile(rf"{_PREFIX}(\w+)::is\(")
_HEAD = "static __attribute__((host, device)) __attribute__((always_inline)) void is"


def statement(comment: str, variable: str, *, constant: bool = False) -> str:
    """The CUDA statement that puts a marker, given as a PTX comment, into the PTX, with the
    register of a variable if that is floating-point; ``constant`` as of :class:`Marker`.

    >>> statement("// ccc.reduced 3 k.cu:3:5 by=add", "sum")
    'ccc_typed_reduced_203_20k_2Ecu_3A3_3A5_20by_3Dadd::is(sum);'
    """
    return f"{RUNNING if constant else ''}{_PREFIX}{name_of(comment)}::is({variable});"


def functions(text: str) -> str:
    """What marked CUDA calls by these statements, in one line.

    They are members, since compilers warn of other functions that nobody calls.
    """
    names = dict.fromkeys(found[1] for found in _CALL.finditer(text))
    return "".join(map(_overloads, names))


def _overloads(name: str) -> str:
    each = "".join(
        f"{_HEAD}({kind} v) {{ {with_register(comment_of(name), letter, 'v')} }} "
        for kind, letter in FLOATING_LETTERS.items()
    )
    other = f"template <typename T> {_HEAD}(const volatile T &) {{}}"
    return f"struct {_PREFIX}{name} {{ {each}{other} }}; "
