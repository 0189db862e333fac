"""A sample's kernels in all forms: as they were, by ccc, by hand, and at the bound."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from ccc.errors import CccError, Span
from ccc.harness.sample import Sample
from ccc.remark import Report
from ccc.tools.bench.results import CCC, CHOSEN, ORIGINAL, PROFILED
from ccc.tools.bench.versions import Build, Versions


@dataclass(frozen=True, slots=True)
class Subject:
    """A sample, compiled and loaded.

    Args:
        sample: what is measured.
        ptx: its forms by label; the original first, then ccc's.
        modules: the same, loaded.
        report: ccc's.
        rejected: what is wrong with forms that are left out, by label.
        versions: what else ccc can make; None where nothing else is asked for.
        builds: ccc's forms, by label; here also those that are the same code as another one.
        same: forms that are the same code as another one, by label.
    """

    sample: Sample
    ptx: dict[str, str]
    modules: dict[str, Any]
    report: Report
    rejected: dict[str, str]
    versions: Versions | None = None
    builds: dict[str, Build] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)

    @property
    def kernels(self) -> frozenset[str]:
        """The annotated ones, by (mangled) name: it is their time that counts."""
        return frozenset(str(kernel["name"]) for kernel in self.report["kernels"])

    @property
    def own(self) -> list[str]:
        """The labels of what is made of the annotated source: the original, and ccc's forms."""
        return [label for label in (ORIGINAL, *CHOSEN) if label in self.modules]

    def module(self, build: Build) -> Any:
        """It, loaded."""
        assert self.versions is not None
        return self.versions.load(build.ptx)

    def add(self, label: str, build: Build) -> None:
        """Add one of ccc's forms; one that is the same code as another is not measured again.

        Raises:
            CccError: it cannot be loaded.
        """
        self.builds[label] = build
        alike = next((one for one in self.own if self.ptx[one] == build.ptx), None)
        if alike is not None:
            self.same[label] = alike
        else:
            self.ptx[label] = build.ptx
            self.modules[label] = self.module(build)

    def reject(self, label: str, reason: str) -> None:
        """Leave a form out."""
        self.rejected[label] = reason
        self.ptx.pop(label, None)
        self.modules.pop(label, None)

    def on(self, profile: str | CccError) -> Subject:
        """The same for certain inputs.

        Args:
            profile: the file of what was counted on them, or why there is none.
        """
        mine = replace(
            self,
            ptx=dict(self.ptx),
            modules=dict(self.modules),
            rejected=dict(self.rejected),
            builds=dict(self.builds),
            same=dict(self.same),
        )
        if self.versions is None:
            return mine
        try:
            if isinstance(profile, CccError):
                raise profile
            mine.add(PROFILED, self.versions.profiled(profile))
        except CccError as error:
            mine.reject(PROFILED, str(error))
        return mine


def prepare(versions: Versions) -> Subject:
    """Wait for what is compiled, and load it.

    Raises:
        CccError: the sample's own kernel is refused by nvcc, ccc or the device, or none of its
            kernels is annotated. A rival or bound that is refused is left out.
    """
    sample, load = versions.sample, versions.load
    original, default = versions.original(), versions.default()
    subject = Subject(sample, {}, {}, default.report, {}, versions)
    if not subject.kernels:
        raise CccError("no kernel of this sample is annotated", Span(str(sample.kernel)))
    subject.add(ORIGINAL, original)
    subject.add(CCC, default)
    for label, job in versions.plain.items():
        try:
            text = job.result()
            subject.modules[label] = load(text)
            subject.ptx[label] = text
        except CccError as error:
            subject.reject(label, str(error))
    subject.modules.update(versions.libraries())
    return subject
