"""Branch prioritisation, and the choice of a strategy (dissertation section 4.1.3).

The costliest branches, by length times rarity, get stacks first; others only as long as the whole
loop is expected to become faster by it, with the warps that then have room. What would not gain
stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ccc.analysis.likeness import likely_taken_together
from ccc.analysis.paths.induction import (
    BEFORE_IT,
    COUNT_TURNS,
    IN_VARIABLES,
    LOCAL,
    STRICT,
    SUMS_HINT,
    TO_SHARE,
)
from ccc.analysis.paths.model import AnnotatedLoop, Path, instructions_of
from ccc.ir.markers import Marker
from ccc.passes.choice.beside import know_others
from ccc.passes.choice.chosen import LEAVE, MARK_BRANCH, MARK_REST, TOO_SHORT, Chosen
from ccc.passes.choice.exchange import ADAPTIVE
from ccc.passes.choice.inner_loops import SHARED_OUT
from ccc.passes.choice.nesting import paths_around, why_no_path
from ccc.passes.choice.search import StrategySearch
from ccc.passes.choice.skipped import may_gain
from ccc.passes.launch_shape import warps_bound
from ccc.passes.strategies.batch import MEETS
from ccc.passes.strategies.engage import why_not
from ccc.passes.strategies.strategy import Collectable, Hints, instruction_count
from ccc.passes.thresholds import (
    FEW_ITERATIONS,
    MUCH_GAINED,
    OF_A_JUMP,
    SHORT_LOOP_LENGTH,
)
from ccc.pipeline import Kernel


def choose(paths: Sequence[Collectable], kernel: Kernel) -> None:
    """Say of each path for which nothing is asked what serves it, and leave what would not gain.

    Args:
        paths: those of a kernel that can be collected.
        kernel: takes what was chosen, and which paths get stacks first.
    """
    every = [one.path for one in paths if one.record.is_open]
    loops: dict[AnnotatedLoop, list[Collectable]] = {}
    for one in paths:
        is_free = one.record.is_open and kernel.request_of(one.path) is None
        reason = kernel.crowded or why_no_path(one.path, every, kernel) if is_free else None
        if reason is not None:
            one.record.leave_alone(reason)
        if one.record.is_open:
            loops.setdefault(one.path.loop, []).append(one)
    searches: dict[Path, StrategySearch] = {}
    found: dict[Path, Chosen] = {}
    sharing: set[Path] = set()
    for loop, mine in loops.items():
        search = _search(loop, [one.path for one in mine], kernel)
        kernel.ranks |= {path.key: rank for rank, path in enumerate(search.order)}
        served = search.best()
        for one in mine:
            searches[one.path] = search
            chosen = found[one.path] = search.chosen(one.path, served)
            if chosen.strategy == LEAVE and search.would_share(one.path, served):
                sharing.add(one.path)
            if chosen.strategy != LEAVE and not search.is_asked(one.path):
                kernel.chosen[one.path.key] = chosen.strategy
        if _is_for_few(search, served, kernel):
            kernel.few[loop.loop.header] = FEW_ITERATIONS
    know_others(found, kernel)
    kernel.informing = _informing(found, searches)
    for one in (one for mine in loops.values() for one in mine):
        is_asked = searches[one.path].is_asked(one.path)
        _tell(one, found[one.path], kernel, is_asked=is_asked, would_share=one.path in sharing)


def _informing(
    found: Mapping[Path, Chosen], searches: Mapping[Path, StrategySearch]
) -> dict[Marker, set[Marker]]:
    """The markers of branches by whose share it was chosen what serves paths inside, and of
    these."""
    inside: dict[Marker, set[Marker]] = {}
    for path, one in found.items():
        if one.strategy == LEAVE or searches[path].is_asked(path):
            continue
        for branch in paths_around(path):
            if Hints.of(branch.marker).prob is not None:
                inside.setdefault(branch.marker, set()).add(path.marker)
    return inside


def _tell(
    one: Collectable, chosen: Chosen, kernel: Kernel, *, is_asked: bool, would_share: bool
) -> None:
    """Let the report say what was chosen for a path, and why it is left, if it is."""
    one.record.choice = chosen.details
    if is_asked or chosen.strategy != LEAVE:
        return
    unshared = why_unshared(one.path, kernel)
    one.record.choice |= {"shared_out_reason": unshared} if unshared else {}
    is_worth = would_share and TOO_SHORT not in chosen.reason(kernel)
    hint = "" if chosen.cost.lanes.agree else _to_share_out(unshared, is_worth=is_worth)
    chosen.is_wanted |= bool(hint)
    if chosen.cost.lanes.agree and _stands_in_a_branch(one.path, kernel):
        chosen.instead = MARK_BRANCH
    elif (
        chosen.is_little
        and chosen.cost.own.instructions <= OF_A_JUMP
        and may_gain(one.path, kernel)
    ):
        chosen.instead = MARK_REST
    one.record.leave_alone(chosen.reason(kernel) + hint)


def _stands_in_a_branch(path: Path, kernel: Kernel) -> bool:
    """Whether lanes of a warp that have an iteration likely begin a loop without others."""
    around, facts = path.loop.loop, kernel.facts
    is_outermost = path.repeats and path.parent is None  # else what is around it is marked already
    return is_outermost and not likely_taken_together(path.entry, around, facts, within_bounds=True)


def _search(loop: AnnotatedLoop, paths: Sequence[Path], kernel: Kernel) -> StrategySearch:
    """The search for what serves some paths of a loop: with all warps of the original, where that
    may be, they hide what memory takes, and little would be gained with fewer; or else nobody tells
    what is gained, and the loop may be one that has nothing to gain."""
    search = StrategySearch.of(loop, paths, kernel)
    if not kernel.keeping or warps_bound(kernel) is None or kernel.keeps_warps:
        return search
    served = search.best()
    hides = search.cost.idles_for_memory and search.gain(served) < MUCH_GAINED
    if not hides and not _may_be_in_vain(search, served):
        return search
    kernel.keeps_warps = True
    return StrategySearch.of(loop, paths, kernel)


def _may_be_in_vain(search: StrategySearch, served: Mapping[Path, str]) -> bool:
    """Whether nobody tells that anything is gained by what serves the paths of a loop, none of
    which is shared out."""
    chosen = {path: name for path, name in served.items() if name != LEAVE}
    known = any(search.cost.paths[path].lanes.is_known for path in chosen)
    return bool(chosen) and not known and not {*chosen.values()} & {*SHARED_OUT}


def _is_for_few(search: StrategySearch, served: Mapping[Path, str], kernel: Kernel) -> bool:
    """Whether a loop had better be there as it was, too, for launches in which threads have few
    iterations: where nobody asked for what serves it, nor told how many there are."""
    names = {name for name in served.values() if name != LEAVE}
    if any(map(search.is_asked, search.order)) or search.cost.iterations is not None:
        return False
    if names <= {*SHARED_OUT} or names & {*ADAPTIVE}:
        return False  # which needs no more than one, or looks by itself
    (labels, *_) = (path.loop.loop.blocks for path in served)
    return not any(i.effects & MEETS for i in instructions_of(labels, kernel.facts)) and (
        instruction_count(labels, kernel.facts) <= SHORT_LOOP_LENGTH
    )


def why_unshared(path: Path, kernel: Kernel) -> str | None:
    """Why the turns of a loop cannot be shared out, though its annotation says that they are
    independent; None of other paths."""
    return why_not(path, kernel.facts) if path.marker.kind == "variable" else None


def _to_share_out(unshared: str | None, *, is_worth: bool) -> str:
    """What would let lanes share the turns of a loop, if anything is known to; nothing that makes
    turns longer that then would be left all the same."""
    if unshared is None:
        return ""
    if unshared.endswith(SUMS_HINT):
        return f"; {TO_SHARE}"
    hints = (BEFORE_IT, *([COUNT_TURNS] if is_worth else []), STRICT)
    found = next((hint for hint in hints if hint in unshared), None)
    if unshared.startswith(LOCAL):
        found = IN_VARIABLES
    return f"; to let lanes share its turns, {found}" if found else ""
