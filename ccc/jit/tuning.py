"""A kernel that finds out while it is used which of its versions is fastest.

Calls take one version or another (:mod:`ccc.jit.chooser`), each between two events, which are read
when a later call finds that they have passed: nobody waits. What was found is kept in the cache,
for the source, the options, the card and the shape of the launch.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccc import files as cache
from ccc.device import gpu
from ccc.errors import CccError
from ccc.jit.chooser import AUTO, LEAVE, Chooser, NextCall
from ccc.passes.strategies.registry import read_request
from ccc.passes.thresholds import TUNED_VERSIONS

if TYPE_CHECKING:
    from ccc.jit.raw import RawKernel

VARIABLES = "each version would have variables of its own, such as {}"
NOTHING = "no strategy applies"
TAKEN = "its variables were asked for, of which each version has its own"

_VARIABLE = re.compile(
    r"^[ \t]*(?:\.(?:visible|weak|common|extern)[ \t]+)?\.(global|const)\b([^;=]*)(=?)",
    re.MULTILINE,
)
_NAME = re.compile(r"([\w$]+)\s*(?:\[[^\]]*\]\s*)*$")


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """Launches that are alike: as many threads a block, and up to twice as many blocks."""

    blocks: int
    threads: tuple[int, ...]
    shared_mem: int

    @staticmethod
    def of(grid: Sequence[int], block: Sequence[int], shared_mem: int) -> LaunchShape:
        """That of a launch."""
        blocks = math.prod(map(int, grid))
        threads = tuple(map(int, block))
        while len(threads) > 1 and threads[-1] == 1:
            threads = threads[:-1]
        return LaunchShape(1 << max(blocks.bit_length() - 1, 0), threads, int(shared_mem))


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A call that is timed, and perhaps not over yet."""

    chooser: Chooser
    place: Path | None
    version: str
    start: Any
    end: Any


class KernelTuning:
    """The versions of one kernel, and what is known of them.

    Args:
        kernel: as the policy makes it; it makes the other versions, too.
    """

    def __init__(self, kernel: RawKernel):
        self._kernel = kernel
        self._forget()

    def __getstate__(self) -> dict[str, Any]:
        return {"_kernel": self._kernel}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self._kernel = state["_kernel"]
        self._forget()

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._versions: dict[str, RawKernel] = {}
        self._choosers: dict[tuple[int, LaunchShape], tuple[Path | None, Chooser]] = {}
        self._pending: list[PendingCall] = []
        self._settings: dict[str, int] = {}
        self.reason: str | None = None

    def launch(
        self,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        args: tuple[Any, ...],
        shared_mem: int,
        options: Mapping[str, Any],
    ) -> None:
        """Launch a version, once; what cannot be made, or launched like that, is no version."""
        shape = LaunchShape.of(grid, block, shared_mem)
        while True:
            with self._lock:
                place, chooser, taken = self._next(shape)
                try:
                    kernel, shared = self._version(taken.version)._ready(block, shared_mem)
                except CccError:
                    if chooser.drop(taken.version):
                        continue
                    raise
            start = gpu.record_event() if taken.timed else None
            try:
                kernel(grid, block, args, shared_mem=shared, **options)
            except Exception as error:
                if gpu.cannot_launch(error):
                    with self._lock:
                        if chooser.drop(taken.version):
                            continue
                raise
            if start is not None:
                call = PendingCall(chooser, place, taken.version, start, gpu.record_event())
                with self._lock:
                    self._pending.append(call)
            return

    def _next(self, shape: LaunchShape) -> tuple[Path | None, Chooser, NextCall]:
        """What a call takes, and what chose that."""
        place, chooser = self._chooser(shape)
        captured = (self._pending or chooser.chosen is None) and gpu.is_capturing()
        if not captured:  # else events may not be asked for, either
            self._collect()
        return place, chooser, self._in_graph(chooser) if captured else chooser.next()

    def stop(self, reason: str) -> None:
        """Take what the policy chooses from now on."""
        with self._lock:
            self.reason = reason
            self._pending.clear()
            self._choosers.clear()

    def set(self, name: str, value: int) -> None:
        """Set an attribute of all versions, those to come among them."""
        self._settings[name] = value
        for kernel in self._versions.values():
            setattr(kernel, name, value)

    def report(self) -> dict[str, Any]:
        """What is known so far, for the kernel's report."""
        with self._lock:
            self._collect()
            shapes = [
                {
                    "device": device,
                    "blocks": [shape.blocks, 2 * shape.blocks - 1],
                    "threads": list(shape.threads),
                    "shared_mem": shape.shared_mem,
                    "chosen": chooser.chosen,
                    "best": chooser.best,
                    "calls": dict(chooser.calls),
                    "milliseconds": dict(chooser.milliseconds),
                }
                for (device, shape), (_, chooser) in self._choosers.items()
            ]
        return {"reason": self.reason, "shapes": shapes}

    # -- versions -------------------------------------------------------------------------------

    def _version(self, name: str) -> RawKernel:
        """A version, compiled when it is first taken."""
        if name == AUTO:
            return self._kernel
        if name not in self._versions:
            option = "--ccc-off" if name == LEAVE else f"--ccc-strategy={name}"
            made = self._versions[name] = self._kernel._version(option)
            for setting, value in self._settings.items():
                setattr(made, setting, value)
        return self._versions[name]

    def _names(self) -> list[str]:
        """The versions that there are: ``leave``, what the policy prefers, and others."""
        if self.reason is not None:
            return [AUTO]
        paths = self._kernel._entry()["paths"]
        more = list(dict.fromkeys(_others(paths)))
        preferred = [AUTO] if any(path["applied"] for path in paths) else []
        if not preferred and not more:
            self.reason = NOTHING
            return [LEAVE]
        variable = _state(self._version(LEAVE).ptx)
        if variable is not None:
            self.reason = VARIABLES.format(variable)
            return [AUTO]
        return [LEAVE, *preferred, *more][:TUNED_VERSIONS]

    # -- choosing -------------------------------------------------------------------------------

    def _chooser(self, shape: LaunchShape) -> tuple[Path | None, Chooser]:
        """What chooses for a shape, and the file for what is found."""
        key = gpu.current_device(), shape
        if key not in self._choosers:
            place = None if self.reason else self._place(shape)
            known = place and _read(place)
            self._choosers[key] = place, Chooser([known] if known else self._names())
        return self._choosers[key]

    def _in_graph(self, chooser: Chooser) -> NextCall:
        """A graph may be launched any number of times, and nothing can be loaded meanwhile."""
        loaded = [AUTO, *(name for name, one in self._versions.items() if one._kernels)]
        best = chooser.best
        taken = best in loaded or chooser.chosen or not chooser.has(AUTO)
        return NextCall(best if taken else AUTO, timed=False)

    def _collect(self) -> None:
        """Take note of the calls that have ended."""
        pending, self._pending = self._pending, []
        for call in pending:
            if not gpu.event_done(call.end):
                self._pending.append(call)
                continue
            settled = call.chooser.chosen
            call.chooser.note(call.version, gpu.elapsed(call.start, call.end))
            if settled is None and call.chooser.chosen is not None and call.place is not None:
                known = {"chosen": call.chooser.chosen, **call.chooser.milliseconds}
                cache.keep(call.place, json.dumps(known).encode())

    def _place(self, shape: LaunchShape) -> Path | None:
        """The file of the cache for what is found; None for what is no source."""
        key = self._kernel._key()
        if key is None:
            return None
        threads = list(shape.threads)
        parts = [key, self._kernel.name, gpu.card(), shape.blocks, threads, shape.shared_mem]
        name = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]
        return cache.folder() / "tuned" / f"{name}.json"


def _others(paths: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The strategies that apply besides those that the policy prefers, in turns of the paths."""
    lists = [
        [one for one in path.get("alternatives", ()) if one != path["strategy"]] for path in paths
    ]
    for turn in range(max(map(len, lists), default=0)):
        yield from (mine[turn] for mine in lists if turn < len(mine))


def _state(ptx: str) -> str | None:
    """A variable of a module that may change, if there is one."""
    for space, declared, given in _VARIABLE.findall(ptx):
        name = _NAME.search(declared)
        if name and not name[1].startswith("$") and (space == "global" or not given):
            return str(name[1])
    return None


def _read(place: Path) -> str | None:
    """What was found earlier, if anything was."""
    try:
        chosen = json.loads(place.read_bytes())["chosen"]
        return str(chosen) if chosen == LEAVE else str(read_request(chosen))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None  # there is nothing, or somebody damaged it
