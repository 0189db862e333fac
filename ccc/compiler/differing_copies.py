"""What is told of copies of one annotation, as of a template in several kernels, of which not all
can have what its text says: there is but one clause for all of them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from ccc.compiler.other_arms import LEAVE_IT
from ccc.compiler.removal import of_others_removed, without_removal
from ccc.errors import Span
from ccc.remark import Remark, of_arm

_CLAUSE = re.compile(r"reduction\((\S+): ([^()]*)\)")
_ANY = ("variable", "variables")
"""Words for such of which nobody knows the names."""
_DIFFER = "; copies of this code want different clauses: give each a loop of its own"
_LEAVE_IT = LEAVE_IT.format("other copies")
_Arm = tuple[Span, str, str]


def with_copies_in_mind(
    told: Mapping[str, Sequence[Remark]], named: Callable[[Span], Iterable[tuple[str, str]]]
) -> dict[str, list[Remark]]:
    """The remarks of all kernels, none of which offers for a copy what others cannot have.

    Args:
        told: the remarks, by kernel.
        named: the operations and variables of the clauses that code at some place has.
    """
    wanted: dict[_Arm, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    serving: dict[_Arm, set[str]] = defaultdict(set)
    for kernel, remarks in told.items():
        for one in remarks:
            arm = of_arm(one)
            serving[arm].update([kernel] if one.applied else ())
            for by, name in [*_offered(one), *(named(one.position) if one.applied else ())]:
                wanted[arm][name].add(by)

    useful = {one.position.line for one in chain(*told.values()) if one.applied}

    def kept(one: Remark, kernel: str) -> Remark:
        arm = of_arm(one)
        one = replace(one, reason=_losing(one.reason, useful))
        if serving[arm] and kernel not in serving[arm]:
            one = replace(one, reason=_served(one.reason), advice=_served(one.advice))
        if any(len(wanted[arm][name]) > 1 for _, name in _offered(one)):
            return replace(one, reason=f"{one.reason}{_DIFFER}")
        return one

    return {kernel: [kept(one, kernel) for one in remarks] for kernel, remarks in told.items()}


def _served(text: str | None) -> str | None:
    """What is said of a copy where the annotation serves others: it costs this one nothing, which
    is compiled as without it."""
    return text and without_removal(text, _LEAVE_IT)


def _losing(text: str | None, useful: Collection[int]) -> str | None:
    """What is said of another annotation that is to go says that this one serves."""

    def told(words: str, lines: set[int]) -> str:
        return words if lines.isdisjoint(useful) else f"{words}, which serves"

    return text and of_others_removed(text, told)


def _offered(remark: Remark) -> Iterator[tuple[str, str]]:
    """The operations and variables of the clauses that a reason offers."""
    for by, names in _CLAUSE.findall(remark.reason or ""):
        yield from ((by, name) for name in names.split(", ") if name not in _ANY)
