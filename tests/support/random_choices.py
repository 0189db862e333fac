"""Random kernels, in which what serves each path is drawn among what the choice may come to.

    python tests/support/random_choices.py SALT [ARGUMENTS OF ccc fuzz ...]

``ccc fuzz`` asks for a strategy for whole files, so that all paths of a loop have the same, and
what is only chosen, as a loop that is there as it was for launches with few iterations, hardly
comes up.
Here nothing is asked for but by clauses, and what the model expects is noise. ``SALT`` is any word:
the same one, and the same kernels, give the same code.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from ccc.analysis.paths.model import Path
from ccc.cli import main
from ccc.options import AUTO
from ccc.passes.choice.cost_model import LoopCost
from ccc.passes.choice.search import StrategySearch
from ccc.tools import fuzz

ONE_IS_LEFT_OF = 5


@contextmanager
def at_random(salt: str) -> Iterator[None]:
    """Meanwhile any way to serve paths may be the fastest, and most paths are to be served."""
    slots = StrategySearch._slots

    def number(*words: object) -> int:
        return zlib.crc32(repr((salt, *words)).encode())

    def noise(search: StrategySearch, served: Mapping[Path, str], cost: LoopCost) -> float:
        names = sorted((path.entry, name) for path, name in served.items())
        return slots(search, served, cost) * (0.3 + number(names) % 1000 / 700)

    def missing(
        _: StrategySearch, path: Path, after: Mapping[Path, str], before: Mapping[Path, str]
    ) -> str | None:
        is_left = number(path.entry, after[path], len(before)) % ONE_IS_LEFT_OF == 0
        return "it is left" if is_left else None

    with patch.multiple(StrategySearch, _slots=noise, _missing=missing):
        yield


@contextmanager
def nothing_asked() -> Iterator[None]:
    """Meanwhile files of random kernels ask for nothing as a whole."""
    with patch.object(fuzz, "request_of_file", lambda _: AUTO):
        yield


def run(salt: str, arguments: list[str]) -> int:
    """Do what ``ccc fuzz`` does, in this process; its status."""
    with at_random(salt), nothing_asked():
        return main(["fuzz", "--jobs", "1", *arguments])


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:]))
if __name__ == "__mp_main__":  # which begins a process for one of several jobs
    meanwhile = ExitStack()
    meanwhile.enter_context(at_random(sys.argv[1]))
    meanwhile.enter_context(nothing_asked())
