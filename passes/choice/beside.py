"""What is told of a path depends on others: of its annotation, and that need it.

One clause asks for all paths of an annotation, and one line takes all of them away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from ccc.analysis.paths.locate import on_line
from ccc.analysis.paths.model import Path
from ccc.ir.markers import UNROLLS
from ccc.passes.choice.chosen import LEAVE, MARK_FOR, REMOVE, Chosen
from ccc.passes.choice.inner_loops import SHARED_OUT
from ccc.passes.choice.nesting import loops_around, needed
from ccc.pipeline import Kernel


def know_others(every: Mapping[Path, Chosen], kernel: Kernel) -> None:
    """Let what is chosen for the paths of a kernel know what else there is to tell: which
    strategies may serve all of an annotation, of which annotation something else is missing, and
    what is advised of others, whose figures are of the code with all annotations as they are."""
    arms: dict[int, list[Chosen]] = {}
    for path, chosen in every.items():
        arms.setdefault(path.marker.identifier, []).append(chosen)
    copies = _unrolled(every)
    for mine in arms.values():
        common = set.intersection(*(set(chosen.considered) for chosen in mine))
        serves = len(mine) > 1 and any(map(_is_worth_it, mine))
        names = {name for chosen in mine for name in chosen.too_large}
        crowded = {name: max(chosen.too_large.get(name, 0) for chosen in mine) for name in names}
        for chosen in mine:
            chosen.common = common
            chosen.crowded = crowded
            chosen.is_wanted = chosen.serves = serves
    missed = [one for one in kernel.records if one.reason and not one.remark.has_vanished]
    refused = {one.marker.identifier for one in missed}
    entries = {one.path.entry for one in missed}
    wanted = {loop.key for path in every for loop in needed(path)}
    advised = {
        path.key: name
        for path, chosen in every.items()
        if kernel.request_of(path) is None and (name := chosen.advised(kernel))
    }
    for path, chosen in every.items():
        around = (advised.get(loop.key, "") for loop in loops_around(path))
        chosen.sharing = next((name for name in around if name in SHARED_OUT), "")
        is_around = path.repeats and not entries.isdisjoint(path.blocks - {path.entry})
        chosen.gathers = _line_of_gathering(path, every)
        chosen.copies = copies.get(path.marker.identifier, 1)
        chosen.is_wanted |= is_around or path.key in wanted or path.marker.identifier in refused
        chosen.if_wanted = _if_wanted(path, every, is_around=is_around)


def _line_of_gathering(path: Path, every: Mapping[Path, Chosen]) -> str:
    """That of a branch around a loop, all lanes of which go round as often: what differs is who
    begins it."""
    around = every.get(path.parent) if path.parent else None
    if around is None or not (path.repeats and every[path].cost.lanes.agree):
        return ""
    branch = around.cost.path
    is_even = branch.repeats or around.cost.lanes.agree
    return "" if is_even else on_line(branch.marker.span, path.marker.span)


def _if_wanted(path: Path, every: Mapping[Path, Chosen], *, is_around: bool) -> str:
    """What is to be done about a loop that others need, but that gains nothing whatever they do:
    those in it may be collected without tasks of its own, and none other may need it."""
    chosen = every[path]
    others = [one for one in every if path.key in {loop.key for loop in needed(one)}]
    if path.parent or chosen.serves or not (chosen.is_in_vain and (is_around or others)):
        return ""
    is_held = is_around or any(path in loops_around(one) for one in others)
    ways = [MARK_FOR] if is_held else []
    if all(map(_is_little, (every[one] for one in others))):
        ways.append(REMOVE)
    return ", or ".join(ways)


def _unrolled(every: Iterable[Path]) -> dict[int, int]:
    """How many paths of an annotation there are at most in one loop of which the source says that
    nvcc is to unroll it, by its number."""
    asked = (path for path in every if UNROLLS.items() <= path.loop.marker.clauses.items())
    copies = Counter((one.marker, one.loop.loop.header, one.parent) for one in asked)
    found: dict[int, int] = {}
    for (marker, *_), count in copies.items():
        found[marker.identifier] = max(count, found.get(marker.identifier, 1))
    return found


def _is_worth_it(chosen: Chosen) -> bool:
    """Whether something is done about a path, or might gain there."""
    return chosen.strategy != LEAVE or not _is_little(chosen)


def _is_little(chosen: Chosen) -> bool:
    return not chosen.considered or chosen.is_little
