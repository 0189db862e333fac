"""A sample's kernel as ccc makes it in several ways: compiled side by side, and each way once."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ccc import profile
from ccc.device.choose import Device
from ccc.device.gpu import GpuDevice
from ccc.device.library import LibraryModule
from ccc.harness.launch_config import OWN
from ccc.harness.measure import Recorder
from ccc.harness.sample import Sample
from ccc.ir.markers import WHOLE_KERNEL
from ccc.nvcc import run as nvcc
from ccc.options import COLLECT, Options
from ccc.remark import Report
from ccc.tools.bench.results import BOUND

LEAVE = "leave"
_COUNTED = "counted.json"


@dataclass(frozen=True, slots=True)
class Build:
    """What nvcc made with our pass inside."""

    ptx: str
    report: Report

    @property
    def kernels(self) -> frozenset[str]:
        """The annotated ones, by (mangled) name."""
        return frozenset(str(kernel["name"]) for kernel in self.report["kernels"])

    def paths(self, kernels: frozenset[str]) -> list[dict[str, Any]]:
        """What became of the annotations of these kernels."""
        mine = [one for one in self.report["kernels"] if one["name"] in kernels]
        return [path for kernel in mine for path in kernel["paths"]]

    def alternatives(self) -> list[str]:
        """What to ask for besides, where the build was to tell: each strategy that applies to some
        annotation, and the one that is preferred at each."""
        paths = [path for path in self.paths(self.kernels) if path["arm"] not in WHOLE_KERNEL]
        names = dict.fromkeys(name for path in paths for name in path.get("alternatives", ()))
        return [*names, COLLECT] if names else []


class Versions:
    """The versions of one sample, for one device.

    Args:
        sample: whose kernel it is.
        device: what it is for.
        pool: where compilers run.
    """

    def __init__(self, sample: Sample, device: Device, pool: ThreadPoolExecutor):
        self.sample = sample
        self._device = device
        self._pool = pool
        self._ours = Options(measure=True, dynamic_shared=0, shared_limit=device.shared_limit)
        self._builds: dict[Options, Future[Build]] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="ccc-")
        self._profiles = 0
        self._default = {"alternatives": device.kind == "gpu"}

    def begin(self) -> None:
        """Have all those compiled that do not depend on inputs."""
        self._start(**self._default).add_done_callback(self._begin_strategies)
        for asked in ({"off": True}, {"profile": _COUNTED}):
            self._start(**asked)
        _ = self.plain

    def _begin_strategies(self, default: Future[Build]) -> None:
        if not default.cancelled() and default.exception() is None:
            for name in default.result().alternatives():
                self._start(strategy=name)

    def original(self) -> Build:
        """As nvcc alone makes it.

        Raises:
            CccError: nvcc refuses it. All below raise it, too.
        """
        return self._start(off=True).result()

    def default(self) -> Build:
        """What the policy makes of it where nothing is known."""
        return self._start(**self._default).result()

    def strategies(self) -> Iterator[tuple[str, Build]]:
        """The original, and what asking for each of the alternatives makes, by name."""
        yield LEAVE, self.original()
        for name in self.default().alternatives():
            yield name, self._start(strategy=name).result()

    @functools.cached_property
    def plain(self) -> Mapping[str, Future[str]]:
        """The PTX of rivals and bound, by label."""
        others = dict(self.sample.rivals)
        if self.sample.bound is not None:
            others[BOUND] = self.sample.bound
        return {
            label: self._pool.submit(nvcc.plain, one.source, self._device.arch, one.options)
            for label, one in others.items()
        }

    def libraries(self) -> dict[str, LibraryModule]:
        """What libraries do on a GPU, by label, with the original's other kernels."""
        if not isinstance(self._device, GpuDevice):
            return {}
        rest = self.load(self.original().ptx)
        return {
            label: LibraryModule(self._device, rest, kernel, work)
            for label, (kernel, work) in self.sample.libraries.items()
        }

    def profile(self, inputs: Mapping[str, Any]) -> str:
        """Run the original with counters on some inputs; a file with what these counted.

        Raises:
            CccError: it cannot be counted, or fails.
        """
        module = self.load(self._start(profile=_COUNTED).result().ptx)
        profile.reset(module)
        self._device.get(self.sample.run(Recorder(module, OWN), self._device.put(inputs)))
        self._profiles += 1
        file = str(Path(self._folder.name, f"profile-{self._profiles}.json"))
        profile.of(module).write(file)
        self._start(use=(file,))
        return file

    def profiled(self, file: str) -> Build:
        """What the policy makes of it with a profile."""
        return self._start(use=(file,)).result()

    def load(self, ptx: str) -> Any:
        """A module on the device, each text once."""
        return self._load(ptx)

    @functools.cached_property
    def _load(self) -> Any:
        return functools.cache(self._device.load)

    def _start(self, **asked: Any) -> Future[Build]:
        options = replace(self._ours, **asked)
        if options not in self._builds:
            self._builds[options] = self._pool.submit(self._build, options)
        return self._builds[options]

    def _build(self, options: Options) -> Build:
        sample = self.sample
        return Build(*nvcc.build(sample.kernel, self._device.arch, sample.options, options))
