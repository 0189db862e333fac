"""Profiles: how often annotated paths ran, and how many lanes took part.

Code compiled with ``--ccc-profile=FILE`` counts in three module variables (docs/profile.md):

- ``ccc_profile_counters``: 64-bit counters, each in ``COPIES`` copies that belong together, so that
  lanes and multiprocessors do not wait for one another. Counter ``i`` is words ``i * COPIES`` and
  following.
- ``ccc_profile_table``: the name of FILE, a newline, and as JSON what each counter is.
- ``ccc_profile``: four 64-bit words: the address of the counters, how many there are, the address
  of the table, and its bytes.

Which counters there are ``ccc/profile/model.py`` tells. What is issued as often as something else
is counted has none: the table says so.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path as File
from typing import TYPE_CHECKING, Any

from ccc import files
from ccc.errors import CccError, Span
from ccc.json_files import PROFILE, refuse_other
from ccc.profile.calls import with_calls
from ccc.profile.match import checked
from ccc.profile.model import (
    FUNCTION_COUNTERS,
    PATH_COUNTERS,
    SHARED_COUNTERS,
    KernelProfile,
    PathProfile,
    add,
    add_copies,
    efficiency,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DESCRIPTOR = "ccc_profile"
COUNTERS = "ccc_profile_counters"
TABLE = "ccc_profile_table"
COPIES = 32
"""How many lanes, or multiprocessors, add to a counter without meeting, at most."""

HOST_CODE = File(__file__).with_name("host.cuh")
"""What the sources of host programs include, so that these write their profile."""

FORMAT = 3
"""Of the file."""

WANTED = "a program compiled with cccc --ccc-profile=FILE writes one"


@dataclass(frozen=True)
class Profile:
    """What was counted by all modules of a program.

    ``modules`` are in the file's form: for each a ``table``, which says what is counted, and the
    ``counters``. ``file`` is what ``--ccc-profile`` named, where a loaded module told it.
    """

    modules: list[dict[str, Any]] = field(default_factory=list)
    file: str | None = None

    @property
    def is_transformed(self) -> bool:
        """Whether any of it was counted in transformed code."""
        return any(module["table"]["transformed"] for module in self.modules)

    @property
    def kernels(self) -> list[KernelProfile]:
        """The functions, each once; what several modules or devices counted is added up."""
        found: dict[Any, KernelProfile] = {}
        for module in self.modules:
            for kernel in _kernels(module["table"]["kernels"], module["counters"]):
                key = (kernel.name, *map(_place, kernel.paths))
                found[key] = _sum(found[key], kernel) if key in found else kernel
        return list(found.values())

    def warp_execution_efficiency(self, names: Collection[str] | None = None) -> float:
        """Active lanes of an issued warp instruction, of 32; 1.0 when nothing was issued.

        Args:
            names: of kernels, mangled; what they call is counted with them. None for all.
        """
        kernels = self.kernels
        wanted = {k.name for k in kernels} if names is None else set(names)
        called = {callee for k in kernels if k.name in wanted for callee in k.calls}
        chosen = [k for k in kernels if k.name in wanted | called]
        return efficiency(
            sum(k.instructions for k in chosen), sum(k.thread_instructions for k in chosen)
        )

    def write(self, file: str | File | None = None) -> None:
        """Write a file for ``read`` and ``ccc report``; it is whole or not there.

        Args:
            file: None for the one that ``--ccc-profile`` named.

        Raises:
            CccError: it cannot be written.
        """
        content = {"format": FORMAT, "modules": self.modules}
        files.write(file or self.file or DESCRIPTOR, json.dumps(content))


def read(file: str | File) -> Profile:
    """Read what a program compiled with ``--ccc-profile`` wrote, or ``Profile.write``.

    Raises:
        CccError: it is no such file.
        OSError: it cannot be read.
    """
    try:
        content = json.loads(File(file).read_text(encoding="utf-8"))
        refuse_other(content, PROFILE, WANTED, str(file))
        if content["format"] != FORMAT:
            message = f"its format is {content['format']}, not {FORMAT}: "
            message += "another version of ccc wrote it; profile again"
            raise CccError(message, Span(str(file)))
        profile = Profile(content["modules"])
        _check(profile)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise CccError(f"this is no profile; {WANTED}", Span(str(file))) from error
    return profile


def _check(profile: Profile) -> None:
    """Whether all is there, and of the right type; ValueError and so on where it is not."""
    for module in profile.modules:
        _ = module["table"]["transformed"]
        if any(type(count) is not int or not 0 <= count < 1 << 64 for count in module["counters"]):
            raise ValueError("counters count")
    for kernel in profile.kernels:
        if not all(isinstance(name, str) for name in (kernel.name, *kernel.calls)):
            raise TypeError("functions have names")
        for path in map(checked, kernel.paths):
            if not 0 <= path.all_instructions < math.inf:
                raise ValueError("an execution has a length")
            if not 0 < path.share <= 1:
                raise ValueError("a share is one of all")


def merge(profiles: Iterable[Profile]) -> Profile:
    """What several runs counted, as one profile: of the same code it is added up.

    Args:
        profiles: of the same code, or of other code, as when a source was changed between.
    """
    found: dict[str, dict[str, Any]] = {}
    for module in (module for profile in profiles for module in profile.modules):
        table, counters = module["table"], module["counters"]
        key = json.dumps([table, len(counters)])
        mine = found.setdefault(key, {"table": table, "counters": [0] * len(counters)})
        mine["counters"] = [a + b for a, b in zip(mine["counters"], counters, strict=True)]
    return Profile(list(found.values()))


def of(module: Any) -> Profile:
    """What the kernels of a loaded module have counted since it was loaded, or ``reset``.

    Args:
        module: or a ``ccc.RawKernel``. Its ``get_global`` gives a NumPy array of bytes as that of
            ``ccc.emulator.Module`` or a pointer as that of ``cupy.RawModule``. Kernels in streams
            that do not wait for the default one must have ended.

    Raises:
        CccError: the module was compiled without ``--ccc-profile``, or it is no module.
    """
    sizes = _bytes(module, DESCRIPTOR, 32).view("u8")
    count, size = int(sizes[1]), int(sizes[3])
    counters = _bytes(module, COUNTERS, 8 * COPIES * count).view("u8")
    text = _bytes(module, TABLE, size).tobytes().decode(errors="surrogateescape")
    file, _, table = text.partition("\n")
    sums = [int(total) for total in counters.reshape(count, COPIES).sum(axis=1)]
    return Profile([{"table": json.loads(table), "counters": sums}], file)


def reset(module: Any) -> None:
    """Set the counters of a loaded module to 0; arguments and errors are those of ``of``."""
    size = 8 * COPIES * int(_bytes(module, DESCRIPTOR, 32).view("u8")[1])
    counters = module.get_global(COUNTERS)
    if hasattr(counters, "memset"):
        counters.memset(0, size)
    else:
        counters[:] = 0


def _bytes(module: Any, name: str, size: int) -> NDArray[np.uint8]:
    """A copy of a module's variable."""
    import numpy as np  # noqa: PLC0415 - the compiler, which reads profiles, does without it

    if not hasattr(module, "get_global"):
        raise CccError(
            "a profile is read from a ccc.RawModule, ccc.RawKernel, cupy.RawModule or "
            f"ccc.emulator.Module, and not from a {type(module).__name__}"
        )
    try:
        found = module.get_global(name)
    except Exception as error:
        raise CccError("this module counts nothing: compile it with --ccc-profile=FILE") from error
    content = np.empty(size, np.uint8)
    if hasattr(found, "copy_to_host"):
        found.copy_to_host(content.ctypes.data, size)
    else:
        content[:] = found[:size]
    return content


def _kernels(entries: list[dict[str, Any]], counters: list[int]) -> list[KernelProfile]:
    return with_calls([_kernel(entry, counters) for entry in entries], entries, counters)


def _kernel(entry: dict[str, Any], counters: list[int]) -> KernelProfile:
    paths = tuple(_path(path, counters) for path in entry["paths"])
    own = _issued(entry, _values(entry, FUNCTION_COUNTERS, counters), counters)
    total = {name: own[name] + sum(getattr(p, name) for p in paths) for name in FUNCTION_COUNTERS}
    return KernelProfile(entry["name"], entry["kind"], tuple(entry["calls"]), **total, paths=paths)


def _path(entry: dict[str, Any], counters: list[int]) -> PathProfile:
    known = {one.name for one in fields(PathProfile)} - {*SHARED_COUNTERS}
    told = {name: value for name, value in entry.items() if name in known}
    path = PathProfile(**told, counted=entry["counter"] is not None)
    if not path.counted:
        return path
    values = _issued(entry, _values(entry, PATH_COUNTERS, counters), counters)
    for name, lanes in SHARED_COUNTERS.items():
        if (first := entry.get(name)) is not None:
            values |= {name: counters[first], lanes: counters[first + 1]}
    return replace(path, **values)


def _issued(entry: dict[str, Any], values: dict[str, Any], counters: list[int]) -> dict[str, Any]:
    """The values with the instructions that were issued as often as something else was counted."""
    for first, *each in entry["each"]:
        for place, name in enumerate(FUNCTION_COUNTERS):
            values[name] += each[place] * counters[first + place]
    return values


def _values(entry: dict[str, Any], names: Iterable[str], counters: list[int]) -> dict[str, Any]:
    return {name: counters[entry["counter"] + place] for place, name in enumerate(names)}


def _in_source(path: PathProfile) -> tuple[int, int]:
    """Where a case stands: its line, or 0, and how many stand before it there."""
    found = re.search(r"\bline (\d+)$", path.case)
    return int(found[1]) if found else 0, path.in_line


def _place(path: PathProfile) -> tuple[Any, ...]:
    return path.place, path.arm, path.applied, path.counted


def _sum(one: KernelProfile, other: KernelProfile) -> KernelProfile:
    paths = tuple(add(pair) for pair in zip(one.paths, other.paths, strict=True))
    total = {name: getattr(one, name) + getattr(other, name) for name in FUNCTION_COUNTERS}
    return replace(one, paths=paths, **total)


def by_annotation(profile: Profile) -> list[tuple[PathProfile, int]]:
    """What was counted of each arm of each annotation, in the order of the source.

    What was transformed stands apart from what was not, and so do the cases of a switch: these are
    numbered from 1 in the order of the source, or of the PTX where their lines are not known;
    everything else is 0.
    """
    groups: dict[tuple[Any, ...], list[PathProfile]] = {}
    for kernel in profile.kernels:
        cases = Counter[Any]()
        for path in sorted(kernel.paths, key=_in_source):
            cases[_place(path)] += path.arm == "case"
            key = (path.file, *_place(path), cases[_place(path)])
            groups.setdefault(key, []).append(path)
    return [
        ((add if key[-1] else add_copies)(groups[key]), key[-1])  # cases have their own visits each
        for key in sorted(groups)
    ]
