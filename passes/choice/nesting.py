"""Which paths stand or fall with one another: what serves one of them says what may serve others.

A path in the turns of an inner loop can be collected only if the tasks of that loop are handed on,
and so can one whose tasks go on as tasks of another loop. Where the turns of a loop are all shared
out, what is annotated in them is no path any more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ccc.analysis.paths.model import Path
from ccc.options import COLLECT, Request
from ccc.passes.choice.inner_loops import SHARED_OUT
from ccc.passes.choice.path_cost import PathCost
from ccc.passes.policy import HANDED_TO_SHARED, IN_SHARED, NEEDS_LEFT, REPEATING, is_asked
from ccc.passes.strategies.engage import SPLIT
from ccc.passes.strategies.leave import LEAVE
from ccc.passes.strategies.registry import COLLECTING, SHARING
from ccc.passes.strategies.uniform import UNIFORM
from ccc.pipeline import Kernel


def paths_around(path: Path) -> Iterator[Path]:
    """The paths around it, from the innermost on."""
    while path.parent is not None:
        path = path.parent
        yield path


def loops_around(path: Path) -> tuple[Path, ...]:
    """Those of them that are inner loops."""
    return tuple(one for one in paths_around(path) if one.repeats)


def outermost_first(paths: Iterable[Path], costs: Mapping[Path, PathCost]) -> list[Path]:
    """Paths before those in their turns; and before a loop round which lanes go as often the branch
    that it stands in, since all that differs is who begins it."""

    def depth(path: Path) -> int:
        is_even = path.repeats and path.parent is not None and costs[path].lanes.agree
        return len(loops_around(path)) + is_even

    return sorted(paths, key=depth)


def needed(path: Path) -> tuple[Path, ...]:
    """The loops that have to be handed on for it to be collected."""
    return (*loops_around(path), *path.followers)


def needed_of(path: Path, among: Iterable[Path]) -> list[Path]:
    """The same, of some that were found."""
    keys = [one.key for one in needed(path)]
    if not keys:  # as most have: a loop may have hundreds
        return []
    return sorted((one for one in among if one.key in keys), key=lambda one: keys.index(one.key))


def with_path(
    served: Mapping[Path, str], path: Path, name: str, free: Collection[Path]
) -> dict[Path, str]:
    """What serves all paths if ``name`` serves one of them, too; of others, those ``free`` may be
    served otherwise then."""
    return with_paths(served, (path,), name, free)


def with_paths(
    served: Mapping[Path, str], paths: Iterable[Path], name: str, free: Collection[Path]
) -> dict[Path, str]:
    """The same for several of them, one after the other."""
    found = dict(served)
    for path in paths:
        if name in SHARED_OUT:
            found = {one: other for one, other in found.items() if path not in loops_around(one)}
        if name != LEAVE.name:
            found |= dict.fromkeys(needed_of(path, free), REPEATING)
        found[path] = name
    return found


def forced_by(asked: Mapping[Path, Request], paths: Sequence[Path]) -> dict[Path, str]:
    """What serves the loops that nobody asks anything of, but without which what is asked for
    inside them could not be."""
    found: dict[Path, str] = {}
    for path, request in asked.items():
        collects = any(is_asked(request, one) for one in (*COLLECTING, *SHARING))
        if collects or request.name == COLLECT:
            loops = (one for one in needed_of(path, paths) if one not in asked)
            found |= dict.fromkeys(loops, REPEATING)
    return found


def why_no_path(path: Path, open_paths: Sequence[Path], kernel: Kernel) -> str | None:
    """Why a path cannot be collected because of what the user asks of the loops around it, or that
    its tasks come to; None if it can."""
    mine = needed_of(path, open_paths)
    if len(mine) < len(needed(path)):
        return NEEDS_LEFT
    for loop in mine:
        request = kernel.request_of(loop)
        sharing = next((one for one in SHARING if one.name == str(request)), UNIFORM)
        if sharing is not UNIFORM and sharing.applies([loop], kernel.facts) is None:
            if loop in loops_around(path):
                return f"{IN_SHARED}; strategy({REPEATING}) there keeps it a path"
            return f"{HANDED_TO_SHARED}; {SPLIT}"
    return None
