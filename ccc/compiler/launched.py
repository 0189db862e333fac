"""Launches of blocks that are larger than a kernel has stacks for, where the source shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ccc.demangle import demangle
from ccc.errors import CccError
from ccc.remark import STACK_THREADS

if TYPE_CHECKING:
    from ccc.compiler.said import Remarks
    from ccc.frontend.marking import Annotated


def large_blocks(annotated: Annotated, remarks: Remarks) -> list[CccError]:
    """What is to be said of such launches, in whose blocks annotated loops run as they were.

    Args:
        annotated: the source.
        remarks: what became of its annotations, by kernel.
    """
    most = _limits(remarks)
    if not most:
        return []
    return [
        CccError(
            f'"{kernel}" is launched in blocks of {threads} threads, and has stacks of tasks for '
            f"{most[kernel]}: its annotated loops run as they were; write "
            f"__launch_bounds__({threads}) before its name, or give --ccc-max-block={threads}",
            span,
        )
        for kernel, threads, span in annotated.launches(most)
        if threads > most.get(kernel, threads)
    ]


def _limits(remarks: Remarks) -> Mapping[str, int]:
    """For how many threads of a block kernels have stacks, where blocks may be larger; by names
    without scopes, if there is one kernel of a name, which no template makes."""
    named: dict[str, set[int | None]] = {}
    for kernel, mine in remarks.items():
        told = [one.details.get(STACK_THREADS) for one in mine if one.applied]
        limit = min((threads for threads in told if threads), default=None)
        plain = demangle(kernel).rpartition("::")[2]
        named.setdefault(plain, set()).add(limit)
    single = {name: next(iter(limits)) for name, limits in named.items() if len(limits) == 1}
    return {name: limit for name, limit in single.items() if limit}
