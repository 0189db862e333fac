"""A sample's kernels in all forms: as they were, by ccc, by hand, and at the bound."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ccc.device.choose import Device
from ccc.errors import CccError, Span
from ccc.harness.sample import Sample
from ccc.nvcc import run as nvcc
from ccc.tools.bench.results import BOUND, CCC, ORIGINAL


@dataclass(frozen=True, slots=True)
class Subject:
    """A sample, compiled and loaded.

    Args:
        sample: what is measured.
        ptx: its forms by label; the original first, then ccc's.
        modules: the same, loaded.
        report: ccc's.
        rejected: what is wrong with forms that are left out, by label.
    """

    sample: Sample
    ptx: dict[str, str]
    modules: dict[str, Any]
    report: dict[str, Any]
    rejected: dict[str, str]

    @property
    def kernels(self) -> frozenset[str]:
        """The annotated ones, by (mangled) name: it is their time that counts."""
        return frozenset(str(kernel["name"]) for kernel in self.report["kernels"])

    def reject(self, label: str, reason: str) -> None:
        """Leave a form out."""
        self.rejected[label] = reason
        self.ptx.pop(label, None)
        self.modules.pop(label, None)


def prepare(sample: Sample, device: Device) -> Subject:
    """Compile all forms at the same time, and load them.

    Raises:
        CccError: the sample's own kernel is refused by nvcc, ccc or the device, or none of its
            kernels is annotated. A rival or bound that is refused is left out.
    """
    others = dict(sample.rivals)
    if sample.bound is not None:
        others[BOUND] = sample.bound
    with ThreadPoolExecutor() as pool:
        own = pool.submit(
            nvcc.compile,
            sample.kernel,
            device.arch,
            sample.options,
            dynamic_shared=0,
            shared_limit=device.shared_limit,
        )
        jobs = {
            label: pool.submit(nvcc.plain, version.source, device.arch, version.options)
            for label, version in others.items()
        }
    both = own.result()
    ptx = {ORIGINAL: both.original, CCC: both.ptx}
    subject = Subject(sample, ptx, {}, both.report, {})
    if not subject.kernels:
        raise CccError("no kernel of this sample is annotated", Span(str(sample.kernel)))
    for label, text in ptx.items():
        subject.modules[label] = device.load(text)
    for label, job in jobs.items():
        try:
            text = job.result()
            subject.modules[label] = device.load(text)
            subject.ptx[label] = text
        except CccError as error:
            subject.reject(label, str(error))
    return subject
