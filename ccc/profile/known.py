"""What profiles of the original say of the paths of a module that is being compiled.

This is advice for the policy: what is wrong with it can make code slower, and never wrong.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ccc.errors import CccError, Span, in_words
from ccc.ir.markers import Marker
from ccc.profile.data import read
from ccc.profile.match import Place, match, stale
from ccc.profile.model import KernelProfile, PathProfile, add, add_copies


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of one annotated path (an ``if``, a case, an inner loop).

    Several copies of one annotation in a kernel, and the cases of a switch, are added up, and each
    has its share of that, where the profile saw another number of them.

    Attributes:
        source: what it is known from: for the explanation.
        visits: warp iterations of the innermost loop around it, which is mostly the annotated one:
            how often warps came by together.
        visiting_lanes: the lanes in these, summed.
        entries: of the visits, how often at least one lane entered the path (an inner loop: began
            it).
        entering_lanes: the lanes in these, summed.
        executions: of an inner loop the turns that warps did; of others the same as ``entries``.
        lanes: the lanes in these, summed.
        starts: how often warps entered the annotated loop around it; 0 where nobody counted.
        length: warp instructions that an execution takes, in the mean; with those of paths inside
            it, and of what it calls.
    """

    source: str
    visits: float
    visiting_lanes: float
    entries: float
    entering_lanes: float
    executions: float
    lanes: float
    starts: float
    length: float

    def shared(self, share: float) -> Known:
        """The same of one copy of several, which comes by in a share of the visits."""
        return replace(
            self,
            visits=self.visits / share,
            visiting_lanes=self.visiting_lanes / share,
            starts=self.starts / share,
        )


class Knowledge:
    """What the profiles that a command names say of one module.

    Args:
        files: of the profiles; what they counted is added up.
        places: of the annotations of the source, by identifier, if it was read.
        markers: those that the module has.
        functions: those that the module has, by their (mangled) names.

    Attributes:
        warnings: of annotations that a profile speaks of and the source lacks.

    Raises:
        CccError: a file cannot be read, is no profile, or one of transformed code.
    """

    def __init__(
        self,
        files: Sequence[str],
        places: Mapping[int, Place],
        markers: Iterable[Marker],
        functions: Iterable[str],
    ):
        self.source = " and ".join(dict.fromkeys(f"a profile of {_date(file)}" for file in files))
        self._present = places
        self.warnings: list[CccError] = []
        self._functions: dict[str, list[KernelProfile]] = {}
        self._places: dict[Place, Place] = {}
        there = {*places.values(), *(Place.of(marker, places) for marker in markers)}
        here = set(functions)
        for file in files:
            mine = _read(file)
            now = match((path.place for function in mine for path in function.paths), there)
            self._places |= now
            self.warnings += _stale(file, mine, here, there, now)
            for function in mine:
                self._functions.setdefault(function.name, []).append(function)

    def of(
        self, kernel: str, marker: Marker, nth: tuple[int, int] = (0, 0), share: float = 1.0
    ) -> Known | None:
        """What is known of a path; None if no profile saw warps come by.

        The kernel's own copies count first, then those in functions that it calls, then all
        others, such as those of another instance of a template, if only these ever ran.

        Args:
            kernel: the function that the path is in.
            marker: the path's.
            nth: which it is of how many with this marker in the kernel, in the order of the PTX:
                the cases of a switch are told apart where the profile saw as many.
            share: what part of the visits around it comes to it, by what is known of the code,
                where the profile did not see as many.
        """
        place = Place.of(marker, self._present)
        own = self._functions.get(kernel, [])
        called = [one for k in own for name in k.calls for one in self._functions.get(name, [])]
        every = [one for functions in self._functions.values() for one in functions]
        for functions in (own, called, every):
            groups = [
                [
                    path
                    for path in function.paths
                    if path.arm == marker.kind and self._places.get(path.place) == place
                ]
                for function in functions
            ]
            if functions is own:
                index, count = nth
                told = [mine[index] for mine in groups if len(mine) == count > 0]
                if any(path.visits for path in told):
                    return _known(add(told), self.source)
            paths = [path for mine in groups for path in mine]
            if any(path.visits for path in paths):
                return _known(add_copies(paths), self.source).shared(share)
        return None


def _known(path: PathProfile, source: str) -> Known:
    return Known(
        source,
        path.visits,
        path.visiting_lanes,
        path.entries,
        path.entering_lanes,
        path.executions,
        path.lanes,
        path.starts,
        path.length,
    )


def _read(file: str) -> list[KernelProfile]:
    """The functions of a profile of the original."""
    try:
        profile = read(file)
    except OSError as error:
        raise CccError(f"the profile cannot be read: {in_words(error)}", Span(file)) from error
    if profile.is_transformed:
        raise CccError(
            "this profile is of transformed code; --ccc-use wants one of the original, which "
            "--ccc-profile=FILE alone counts",
            Span(file),
        )
    return profile.kernels


def _date(file: str) -> str:
    from datetime import date  # noqa: PLC0415 - seldom asked for

    try:
        return date.fromtimestamp(os.stat(file).st_mtime).isoformat()
    except OSError:
        return "an unknown day"


def _stale(
    file: str,
    functions: Iterable[KernelProfile],
    here: set[str],
    there: Collection[Place],
    now: Mapping[Place, Place],
) -> list[CccError]:
    """A warning for each annotation of functions that are still there, if it is not; one for all of
    them where the source has another name.

    A profile also speaks of other sources of its program, of which nothing can be said.
    """
    places = {path.place for one in functions if one.name in here for path in one.paths}
    return stale(file, "profile", "profile", places, there, now)
