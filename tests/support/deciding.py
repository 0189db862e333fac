"""Kernels of golden files, and what the policy decides of them."""

from __future__ import annotations

from dataclasses import replace

from folders import GOLDEN

from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import Path
from ccc.options import COLLECT, Options
from ccc.parse import parse_function, parse_module
from ccc.passes.policy import decide
from ccc.passes.strategies.long_tasks import LONG_TASKS
from ccc.passes.strategies.registry import (
    COLLECTING,
    SHARING,
)
from ccc.passes.strategies.strategy import Collectable, Decision
from ccc.pipeline import Kernel

CONTEXT_COLLECTION = GOLDEN / "context-collection"


def golden(name: str) -> Kernel:
    """The kernel of a golden file, as it was before."""
    text = CONTEXT_COLLECTION.joinpath(f"{name}.ptx").read_text().partition("// %%% after %%%")[0]
    function = parse_function(next(iter(parse_module(text, name).functions)))
    return Kernel(function, Facts(function), Options(strategy=COLLECT))


def decided(kernel: Kernel, wanted: str = COLLECT) -> Decision:
    """What is decided of a kernel with one loop."""
    chosen = [Collectable(r, r.path) for r in kernel.records if isinstance(r.path, Path)]
    loops = [(chosen[0].path.loop, chosen)]
    kernel.options = replace(kernel.options, strategy=wanted)
    (decision,) = decide(loops, kernel, COLLECTING, LONG_TASKS, SHARING)
    return decision
