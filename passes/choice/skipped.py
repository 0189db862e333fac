"""What would come of the rest of an iteration that a branch skips, if that were a branch itself."""

from __future__ import annotations

from dataclasses import replace

from ccc.analysis.cfg import reachable
from ccc.analysis.paths.locate import extent
from ccc.analysis.paths.model import Path
from ccc.passes.choice.chosen import LEAVE
from ccc.passes.choice.search import StrategySearch
from ccc.pipeline import Kernel


def may_gain(path: Path, kernel: Kernel) -> bool:
    """Whether the cost model would serve what a branch skips by going on to the next iteration, or
    would advise to insist on that."""
    skipped = None if path.repeats or path.join is None else _skipped(path, kernel)
    if skipped is None:
        return False
    search = StrategySearch.of(path.loop, [skipped], kernel)
    chosen = search.chosen(skipped, search.best())
    return chosen.strategy != LEAVE or bool(chosen.advised(kernel))


def _skipped(path: Path, kernel: Kernel) -> Path | None:
    """The way that lanes go which do not take a path, up to where both meet, as a path."""
    graph = kernel.facts.graph
    before = [label for label in graph.predecessors(path.entry) if label not in path.blocks]
    ways = {one for label in before for one in graph.successors(label)} - {path.entry, path.join}
    if len(before) != 1 or len(ways) != 1 or not ways <= path.turn.blocks:
        return None  # other ways lead here, too
    (entry,) = ways

    def inside(label: str) -> set[str]:
        return {*graph.successors(label)} & path.turn.blocks - {path.join, path.turn.header}

    blocks = frozenset(reachable(inside, {entry}))
    others = (one.path for one in kernel.records if one.path.entry in blocks)
    blocks = blocks.difference(*(extent(one, kernel.facts) for one in others)) | {entry}
    own = path.marker  # what is said of its share holds for the others; what is asked for, for none
    clauses = {name: text for name, text in own.clauses.items() if name != "strategy"}
    kind = "then" if own.kind == "else" else "else"
    marker = replace(own, kind=kind, clauses=clauses)
    return replace(path, entry=entry, blocks=blocks, marker=marker)
