"""What the cost model expects of all that was measured, as it is now.

    python tests/support/expectations.py PROFILES [RESULTS ...] [--sample NAME ...]

For each entry of the benches' results (those of the documentation where none are named) its
original is counted on the emulator, on inputs of the same kind that are smaller where they have to
be, in a grid that is smaller as much; what is counted is kept in the folder ``PROFILES``, which a
later call reads. With that each sample is compiled again, and a row says what is expected of each
strategy beside what was measured; the entry's row, what is chosen, beside the best that was tried.
So a change of the model shows what it does to every row, without a GPU. With ``--write`` the
results get what is expected now, where what is chosen is what was measured.
"""

from __future__ import annotations

import argparse
import functools
import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from folders import ROOT

from ccc.device.emulated import EMULATED_ARCH, EmulatedModule, Emulator
from ccc.harness.sample import Sample
from ccc.toolkit import find as toolchain
from ccc.tools.bench.predictions import Prediction, predictions
from ccc.tools.bench.results import ORIGINAL, PROFILED, Entry, Results
from ccc.tools.bench.versions import LEAVE, Versions

DOCS = (ROOT / "docs", ROOT / "docs" / "cte")
THREADS = 132 * 2048
"""Of an H200, where a kernel leaves room for all."""
COUNTED = {"synthetic": 1 << 20, "patterns/rare_branch": 1 << 22}
"""Iterations on the emulator of samples whose inputs are numbers, the ``count`` among them: of the
others some tell how often a task does more."""
POWERS = {"bfs": 18, "patterns/streams": 20, "sssp": 18}
"""Sizes that are powers of two, on the emulator; others as they are."""
COUNTS = {
    "cuckoo_hash": 400_000,
    "fractal_flame": 200_000,
    "inverse_erf": 1_000_000,
    "nested/u_list": 156_250,
    "patterns/collatz": 1 << 14,
    "patterns/escape_time": 1 << 14,
    "patterns/lookup": 1 << 16,
    "patterns/one_long_task": 1 << 16,
    "patterns/random_walk": 1 << 13,
    "quadrature_grid": 20_000,
}
"""Sizes that count what there is to do."""
SIDES = {"integral_equation": 40, "path_tracing": 96, "ray_tracing": 1536}
"""Lengths of a side of it."""


def smaller(entry: Entry) -> tuple[int, float]:
    """The size on the emulator, and the share of the work that is left."""
    sample, size = entry.sample, entry.inputs.size
    if sample in COUNTS:
        return COUNTS[sample], COUNTS[sample] / size
    if sample in SIDES:
        return SIDES[sample], (SIDES[sample] / size) ** 2
    found = min(size, POWERS.get(sample, size))
    return found, float(2.0 ** (found - size))


@dataclass
class ScaledModule(EmulatedModule):
    """A module for which the device has room for so many threads."""

    threads: Callable[[], float] = lambda: THREADS

    def resident_blocks(self, name: str, *shape: Any) -> int:
        """How many blocks of a kernel to launch."""
        self.get_function(name)
        return max(1, round(self.threads() / float(np.prod(shape[0]))))


class Scaled(Emulator):
    """The emulator, as a device with room for ``threads``."""

    threads: float = THREADS

    def load(self, ptx: str) -> ScaledModule:
        """Parse PTX text."""
        one = super().load(ptx)
        return ScaledModule(one.module, one.find_needs, one.schedule, lambda: self.threads)


@dataclass
class Expectations:
    """Recomputes what is expected of entries.

    Args:
        profiles: the folder of what was counted.
        pool: where compilers run.
    """

    profiles: Path
    pool: ThreadPoolExecutor

    def of(self, entry: Entry) -> Entry:
        """The entry with what is expected of it now."""
        versions = self._versions(entry.sample)
        name = entry.inputs.name.replace(" ", "-").replace(",", "")
        file = self.profiles / f"{entry.sample.replace('/', '-')}-{entry.inputs.size}-{name}.json"
        if not file.exists():
            self._count(entry, file)
        ran = frozenset(kernel.name for kernel in entry[ORIGINAL].kernels)
        return replace(entry, profiled=versions.profiled(str(file)).paths(ran))

    def _count(self, entry: Entry, file: Path) -> None:
        size, share = smaller(entry)
        versions = self._versions(entry.sample)
        occupancy = max(kernel.occupancy for kernel in entry[ORIGINAL].kernels)
        self._device.threads = THREADS * occupancy * share
        inputs = entry.inputs.sized(size).make(versions.sample)
        if entry.sample in COUNTED:
            count = inputs["count"]
            inputs["count"] = type(count)(COUNTED[entry.sample])
            self._device.threads *= COUNTED[entry.sample] / float(count)
        file.write_bytes(Path(versions.profile(inputs)).read_bytes())

    @functools.cached_property
    def _device(self) -> Scaled:
        return Scaled(EMULATED_ARCH, "lockstep", toolchain.find().program("ptxas"))

    @functools.cached_property
    def _versions(self) -> Any:
        return functools.cache(
            lambda name: Versions(Sample(ROOT / "samples" / name), self._device, self.pool)
        )


def best_tried(entry: Entry) -> tuple[str, float]:
    """The fastest strategy that was tried, and how many times as fast it was."""
    best = min(entry.trials, key=entry.trials.__getitem__)
    return best, entry.trials[LEAVE] / entry.trials[best]


def choice(entry: Entry) -> str:
    """What is chosen for the paths of an entry."""
    names = (path.get("strategy") or "-" for path in entry.profiled if path.get("considered"))
    return ", ".join(dict.fromkeys(names)) or LEAVE


def lines(before: Entry, after: Entry) -> Iterator[str]:
    """The rows of an entry: as the results have it, and with what is expected now."""
    old = {(one.strategy): one.predicted for one in predictions([before])}
    if after.trials:
        best, gain = best_tried(after)
        changed = "" if choice(before) == choice(after) else f" (was {choice(before)})"
        measured = f"{after.speedup(PROFILED):.2f}" if PROFILED in after else "-"
        yield f"{after.name}: {choice(after)}{changed}; was {measured}, best {best} {gain:.2f}"
    for one in predictions([after]):
        known = f"{old[one.strategy]:6.2f}" if one.strategy in old else "     -"
        yield (
            f"  {' ' if one.agrees else 'X'} {one.strategy:14} {known} {one.predicted:6.2f}"
            f"{one.measured:6.2f} {one.predicted / one.measured:6.2f}"
        )


def main() -> None:
    """Print all rows, and how many are on the right side of 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("profiles", type=Path)
    parser.add_argument("results", type=Path, nargs="*", default=DOCS)
    parser.add_argument("--sample", action="append", default=[])
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    arguments.profiles.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(2) as pool:
        expectations = Expectations(arguments.profiles, pool)
        for folder in arguments.results:
            found: list[Prediction] = []
            results = Results.load(folder)
            for entry in results.entries:
                if arguments.sample and entry.sample not in arguments.sample:
                    continue
                now = expectations.of(entry)
                found += predictions([now])
                print("\n".join(lines(entry, now)), flush=True)
                if choice(now) == choice(entry):
                    entry.profiled = now.profiled
            if arguments.write:
                results.save(folder)
            if not found:
                continue
            right = sum(one.agrees for one in found)
            off = sum(abs(math.log(one.predicted / one.measured)) for one in found)
            print(f"{folder}: {right} of {len(found)}; off by {math.exp(off / len(found)):.2f}")


if __name__ == "__main__":
    main()
