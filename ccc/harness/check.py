"""Whether a version of a kernel computed what the original does."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ccc.errors import CccError
from ccc.harness.equivalence import differing
from ccc.harness.sample import Sample


@dataclass
class OutputChecker:
    """Says what is wrong with outputs; asks the sample only about outputs it has not seen yet.

    Args:
        sample: whose check is asked.
        original: the version whose outputs the others have to equal, bit for bit.
        inputs: of each version.
        rivals: versions that need not equal the original, but have to pass the check.
        tolerance: by how much floating-point outputs may differ from the original's, relative to
            the larger of the two; None: in half of the digits of their type.
        seen: the first outputs of versions, where those were checked.
        complaints: by version; each is in there once.
        tolerated: by version, the largest relative difference that was tolerated.
        models: the versions whose outputs others have to equal instead of the original's, by these.
    """

    sample: Sample
    original: str
    inputs: dict[str, dict[str, Any]]
    rivals: Collection[str]
    tolerance: float | None = 0.0
    seen: dict[str, dict[str, Any]] = field(default_factory=dict)
    complaints: dict[str, dict[str, None]] = field(default_factory=dict)
    tolerated: dict[str, float] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)

    @property
    def expected(self) -> dict[str, Any]:
        """The outputs of the original's first run."""
        return self.seen.get(self.original, {})

    def check(self, version: str, outputs: dict[str, Any]) -> None:
        """Check by outputs seen before, a rival's own or the original's; else by the check."""
        is_rival = version in self.rivals
        models = [version] if is_rival else []
        model = self.models.get(version, self.original)
        models += [model] if self.inputs[version] is self.inputs[model] else []
        found: list[str] = []
        for one in models:
            if one in self.seen:
                found = differences(version, self.seen[one], outputs)
                if not found:
                    if version in self.models.values():
                        self.seen.setdefault(version, outputs)
                    return
        self.seen.setdefault(version, outputs)
        reason = self.sample.check(self.inputs[version], outputs)
        found = [] if is_rival else self._beyond_tolerance(version, found, outputs)
        self.complain(version, [*found, *([f"{version} is wrong: {reason}"] if reason else [])])

    def _beyond_tolerance(
        self, version: str, found: list[str], outputs: dict[str, Any]
    ) -> list[str]:
        """What was found to differ, if that is not tolerated."""
        expected = self.seen.get(self.models.get(version, self.original), {})
        largest = apart(expected, outputs, self.tolerance) if found else None
        if largest is None:
            return found
        self.tolerated[version] = max(largest, self.tolerated.get(version, 0.0))
        return []

    def complain(self, version: str, found: Iterable[str]) -> None:
        """Keep what is wrong with a version, once."""
        if texts := dict.fromkeys(found):
            self.complaints.setdefault(version, {}).update(texts)


def differences(version: str, expected: dict[str, Any], outputs: dict[str, Any]) -> list[str]:
    """What differs, bit for bit, between the outputs of the original and of another version.

    Returns:
        A sentence for each output that differs, with the first place and both values.
    """
    names = list(dict.fromkeys([*expected, *outputs]))
    complaints = []
    for name in names:
        if name not in expected or name not in outputs:
            owner = "original" if name in expected else version
            complaints.append(f"{name}: only {owner} has it")
        elif text := _difference(version, np.asarray(expected[name]), np.asarray(outputs[name])):
            complaints.append(f"{name}{text}")
    return complaints


def apart(
    expected: dict[str, Any], outputs: dict[str, Any], tolerance: float | None
) -> float | None:
    """The largest relative difference of floating-point outputs.

    None where one is beyond the tolerance (None: half of the digits of the type), or other outputs
    differ.
    """
    largest = 0.0
    if expected.keys() != outputs.keys():
        return None
    for name, value in expected.items():
        one, other = np.asarray(value), np.asarray(outputs[name])
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            return None
        places = differing(one, other)
        if not places.size:
            continue
        if one.dtype.kind not in "fc":
            return None
        allowed = np.sqrt(np.finfo(one.dtype).eps) if tolerance is None else tolerance
        ratio = _largest_ratio(one.reshape(-1)[places], other.reshape(-1)[places])
        if not ratio <= allowed:  # also where it is not a number
            return None
        largest = max(largest, ratio)
    return largest


def _difference(version: str, one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> str | None:
    if one.dtype.hasobject or other.dtype.hasobject:
        raise CccError("outputs must be arrays of numbers, not of Python objects")
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return f": original is {one.dtype}{one.shape}, {version} is {other.dtype}{other.shape}"
    places = differing(one, other)
    if not places.size:
        return None
    first = tuple(int(i) for i in np.unravel_index(places[0], one.shape))
    where = f"[{', '.join(map(str, first))}]" if first else ""
    how = [f"{places.size} of {one.size} differ"] if one.size > 1 else []
    how += _apart(one.reshape(-1)[places], other.reshape(-1)[places])
    counts = f" ({', '.join(how)})" if how else ""
    return f"{where}: original {one[first]!s}, {version} {other[first]!s}{counts}"


def _apart(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> list[str]:
    """How far floating-point numbers are apart, in words; nothing for others."""
    if one.dtype.kind not in "fc":
        return []
    return [f"the largest relative difference is {_largest_ratio(one, other):.2g}"]


def _largest_ratio(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> float:
    """The largest relative difference; not a number where one is none, or infinite."""
    with np.errstate(all="ignore"):
        scale = np.maximum(np.abs(one), np.abs(other))
        ratios = np.where(scale == 0, 0, np.abs(one - other) / scale)
    return float(ratios.max())
