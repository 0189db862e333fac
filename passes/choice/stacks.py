"""The shared memory of a warp, if something serves the paths of a loop: that of the very layout
that they would get, on paper."""

from __future__ import annotations

from collections.abc import Mapping

from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import AnnotatedLoop, Path
from ccc.analysis.paths.split_iteration import returning
from ccc.passes.context_collection.layout import on_paper
from ccc.passes.strategies.merge import MERGE, merging
from ccc.passes.strategies.queue import QUEUE
from ccc.passes.strategies.registry import COLLECTING, SHARING
from ccc.passes.strategies.strategy import (
    Choice,
    Decision,
    Hints,
    LoopStrategy,
    PathDecision,
    PathStrategy,
    Serving,
)
from ccc.pipeline import PathRecord

_FOR_LOOPS: Mapping[str, LoopStrategy] = {one.name: one for one in COLLECTING}
_FOR_PATHS: Mapping[str, PathStrategy] = {one.name: one for one in SHARING}


def share_of(loop: AnnotatedLoop, served: Mapping[Path, str], facts: Facts) -> int:
    """The bytes that a warp takes for the paths that are ``served`` by what these names are of.

    What the policy takes for a path alone, as it does for a loop in an iteration, or for tasks that
    take those of the loop around them along, is taken here, too.
    """
    names = [name for path, name in served.items() if not _has_its_own(path, name)]
    whole = next((one for one in map(_FOR_LOOPS.__getitem__, names) if not one.mixes), None)
    strategy = whole or (_FOR_LOOPS[names[0]] if names else QUEUE)
    decisions = tuple(_decision(path, served, strategy, facts) for path in served)
    return on_paper(Choice(Decision(loop, decisions, (strategy,)), strategy, 0)).share


def _has_its_own(path: Path, name: str) -> bool:
    return path.repeats or path.carries_parent or name in _FOR_PATHS


def _decision(
    path: Path, served: Mapping[Path, str], strategy: LoopStrategy, facts: Facts
) -> PathDecision:
    """What one path gets."""
    name = served[path]
    by = _FOR_PATHS.get(name)
    own: Serving | None = None
    if path.carries_parent:
        own = merging(path, list(served))
    elif by is not None:
        own = by
    elif path.repeats:
        own = MERGE
    elif _FOR_LOOPS[name].mixes and strategy.mixes:
        own = _FOR_LOOPS[name]
    engage = by.of(path, facts) if by else None
    back = returning(path, facts) if strategy.returns else None
    hints = Hints.of(path.marker)
    return PathDecision(PathRecord("", path), path, hints, own, engage, returning=back)
