"""Runs forms on a GPU and on the emulator, and judges what they give.

Forms go in shards: processes assemble them, this one runs them on the GPU, and processes run them
on the emulator and compare.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ccc import emulator
from ccc.device.gpu import GpuDevice
from ccc.device.images import GpuImage
from ccc.emulator.base.forms import Array
from ccc.errors import CccError
from ccc.tools.agree import bounds
from ccc.tools.agree.assembling import FormCode, assemble
from ccc.tools.agree.case import Case
from ccc.tools.agree.kernels import BLOCK, SCRATCH, columns, module
from ccc.tools.agree.operands import count_of, operands

SHARD = 50
"""Forms of a module."""
SHOWN = 16
"""How many operands of a form that differs are told."""

EQUAL, WITHIN, DIFFERS = "equal", "within", "differs"
REFUSED, LEFT_OUT, RUNS = "no form of this target", "not emulated", "runs"


@dataclass(slots=True)
class FormVerdict:
    """What became of a form.

    Args:
        form: its name.
        group: its section.
        status: one of the words above.
        operands: how many were tried.
        differing: how many of them gave other bits, or lay out of bounds.
        error: the largest error of an approximate form on the GPU, by how it is measured.
        digest: of the results of the GPU, in the first half of SHA-256.
        why: what the assembler or the emulator said.
        examples: operands, what the emulator gave, and what the GPU.
    """

    form: str
    group: str
    status: str
    operands: int = 0
    differing: int = 0
    error: dict[str, float] = field(default_factory=dict)
    digest: str = ""
    why: str = ""
    examples: list[list[list[str]]] = field(default_factory=list)


def buffers(case: Case) -> tuple[Array, Array, Array]:
    """Results to come, operands, and memory for each thread."""
    count = count_of(case.sources)
    given = np.ascontiguousarray(operands(case.sources))
    scratch = np.zeros(count * SCRATCH // 8, np.uint64)
    return np.zeros((columns(case.results), count), np.uint64), given, scratch


def launch(kernel: Any, count: int, arguments: Sequence[Any]) -> None:
    """One thread for each operand."""
    kernel((count // BLOCK,), (BLOCK,), tuple(arguments))


def on_gpu(
    device: GpuDevice, code: FormCode, tell: Callable[[str], None]
) -> Iterator[tuple[str, Array]]:
    """The results of each form of a module, except for those whose image the driver does not make.

    Args:
        device: the GPU.
        code: the module.
        tell: is told which images are not made.

    Raises:
        CccError: a form failed; the device is of no use to this process after that.
    """
    loaded = device.load_code(code.cubin)
    for number, case in enumerate(code.taken):
        out, given, scratch = buffers(case)
        there = device.put({"out": out, "given": given, "scratch": scratch})
        try:
            image = GpuImage(case.image.make(), case.image.memory) if case.image else None
        except CccError as error:
            tell(f"{case.form}: {error}\n")
            continue
        arguments = [*there.values(), *([image.handle] if image else [])]
        try:
            launch(loaded.get_function(f"form{number}"), out.shape[1], arguments)
            found = device.get({"out": there["out"]})["out"]
            if image and case.image and case.image.written:
                found = np.vstack([found, case.image.words(image.content())])
        except Exception as error:
            raise CccError(f"{case.form} fails on the GPU: {error}") from error
        yield case.form, ordered(case, found)


def on_emulator(case: Case, arch: str, version: str) -> Array:
    """The results of a form.

    Raises:
        EmulatorError: it is not emulated.
    """
    out, given, scratch = buffers(case)
    kernel = emulator.Module(module([case], arch, version)).get_function("form0")
    image = case.image.make() if case.image else None
    launch(kernel, out.shape[1], (out, given, scratch, image))
    if image and case.image and case.image.written:
        out = np.vstack([out, case.image.words(image.array)])
    return ordered(case, out)


def ordered(case: Case, found: Array) -> Array:
    """The results as they are compared: those of a block sorted where their order is open."""
    if not case.unordered:
        return found
    blocks = found.reshape(len(found), -1, BLOCK)
    return np.sort(blocks, axis=2).reshape(found.shape)


def digest(found: Array) -> str:
    """A fingerprint of results."""
    return hashlib.sha256(np.ascontiguousarray(found).tobytes()).hexdigest()[:16]


def judge(case: Case, emulated: Array, measured: Array) -> FormVerdict:
    """Compare what the emulator gave with what the GPU gave."""
    verdict = FormVerdict(case.form, case.group, EQUAL, emulated.shape[1], digest=digest(measured))
    given = operands(case.sources)
    if case.bound is None:
        wrong = (emulated != measured).any(axis=0)
        fine = EQUAL
    else:
        _, rightly, _ = bounds.errors(case.bound, case.results[0], given, emulated[0])
        errors, allowed, measures = bounds.errors(case.bound, case.results[0], given, measured[0])
        verdict.error = {measures[-1]: float(errors.max())}
        wrong = ~(rightly & allowed)
        fine = WITHIN
    verdict.differing = int(wrong.sum())
    verdict.status = DIFFERS if verdict.differing else fine
    verdict.examples = _examples(np.flatnonzero(wrong), given, emulated, measured)
    return verdict


def _examples(places: Array, *tables: Array) -> list[list[list[str]]]:
    """A few columns of tables, from all over, in hexadecimal."""
    if not len(places):
        return []
    chosen = places[np.linspace(0, len(places) - 1, SHOWN).astype(int)]
    return [[[f"{int(value):x}" for value in table[:, k]] for table in tables] for k in chosen]


def compare(
    cases: Sequence[Case],
    file: str | None,
    recorded: dict[str, FormVerdict],
    arch: str,
    version: str,
) -> list[FormVerdict]:
    """Run forms on the emulator, and judge them.

    Args:
        cases: the forms.
        file: what the GPU gave; None: there was none.
        recorded: what a GPU gave at another time.
        arch: of the target.
        version: of PTX.
    """
    measured = np.load(file) if file else {}
    return [_compared(case, arch, version, measured, recorded) for case in cases]


def _compared(
    case: Case, arch: str, version: str, measured: Any, recorded: dict[str, FormVerdict]
) -> FormVerdict:
    try:
        emulated = on_emulator(case, arch, version)
    except CccError as error:
        return _told(case, LEFT_OUT, error.message, measured)
    except Exception as error:  # one form must not stop the others
        return _told(case, DIFFERS, f"{type(error).__name__}: {error}", measured)
    if case.form in measured:
        return judge(case, emulated, measured[case.form])
    known = recorded.get(case.form)
    if known and case.bound is None:
        return _remembered(case, emulated, known)
    return FormVerdict(case.form, case.group, RUNS, emulated.shape[1])


def _remembered(case: Case, emulated: Array, known: FormVerdict) -> FormVerdict:
    """Compare with what a GPU gave at another time: all results, or some."""
    verdict = FormVerdict(case.form, case.group, EQUAL, emulated.shape[1], digest=known.digest)
    if digest(emulated) == known.digest:
        return verdict
    verdict.status = DIFFERS
    given = operands(case.sources)
    for example in known.examples:
        column = np.array([int(word, 16) for word in example[0]], np.uint64)
        (places,) = np.nonzero((given == column[:, None]).all(axis=0))
        found = [f"{int(value):x}" for value in emulated[:, places[0]]] if len(places) else []
        if found != example[-1]:
            verdict.examples.append([example[0], found, example[-1]])
    return verdict


def _told(case: Case, status: str, why: str, measured: Any) -> FormVerdict:
    """What the GPU gave for a form that the emulator did not run."""
    verdict = FormVerdict(case.form, case.group, status, why=why)
    if case.form in measured:
        found, given = measured[case.form], operands(case.sources)
        verdict.operands, verdict.digest = found.shape[1], digest(found)
        verdict.examples = _examples(np.arange(found.shape[1]), given, found)
    return verdict


@dataclass(frozen=True, slots=True)
class Setting:
    """What forms are assembled for and run on; without a device they are only emulated."""

    arch: str
    version: str
    ptxas: str | Path
    device: GpuDevice | None = None
    jobs: int = 1
    recorded: dict[str, FormVerdict] = field(default_factory=dict)
    keep: Path | None = None
    """Where the results of the GPU stay, as ``.npz`` files of a module each."""


def agree(
    cases: Sequence[Case], setting: Setting, tell: Callable[[str], None]
) -> list[FormVerdict]:
    """Try forms; a verdict for each, in no particular order.

    Args:
        cases: the forms.
        setting: where they run.
        tell: is told how far things are.

    Raises:
        CccError: there is no ptxas.
    """
    if setting.keep:
        setting.keep.mkdir(parents=True, exist_ok=True)
    shards = [cases[first : first + SHARD] for first in range(0, len(cases), SHARD)]
    context = multiprocessing.get_context("forkserver")
    verdicts: list[FormVerdict] = []
    with (
        tempfile.TemporaryDirectory(prefix="ccc-") as folder,
        ProcessPoolExecutor(setting.jobs, mp_context=context) as pool,
    ):
        work = partial(assemble, arch=setting.arch, version=setting.version, ptxas=setting.ptxas)
        measure = _Measure(setting.device, setting.keep or Path(folder), tell)
        pending = []
        for number, code in enumerate(pool.map(work, shards)):
            groups = {case.form: case.group for case in shards[number]}
            verdicts += [
                FormVerdict(form, groups[form], REFUSED, why=why)
                for form, why in code.refused.items()
            ]
            names = [case.form for case in code.taken]
            known = {name: setting.recorded[name] for name in names if name in setting.recorded}
            arguments = (code.taken, measure(code), known, setting.arch, setting.version)
            pending.append(pool.submit(compare, *arguments))
            tell(f"{number + 1} of {len(shards)} modules assembled")
        for number, future in enumerate(pending):
            verdicts += future.result()
            tell(f"{number + 1} of {len(shards)} modules compared")
    return verdicts


class _Measure:
    """Runs modules on the GPU and leaves what they give in files, until one of them fails."""

    def __init__(self, device: GpuDevice | None, folder: Path, tell: Callable[[str], None]):
        self._device = device
        self._folder = folder
        self._tell = tell
        self._count = 0

    def __call__(self, code: FormCode) -> str | None:
        """The file with the results of a module; None without a GPU."""
        if self._device is None or not code.taken:
            return None
        measured: dict[str, Array] = {}
        try:
            for form, found in on_gpu(self._device, code, self._tell):
                measured[form] = found
        except CccError as error:
            self._device = None
            self._tell(f"{error}; the forms from there on are not compared\n")
        self._count += 1
        file = self._folder / f"{self._count}.npz"
        np.savez_compressed(file, **measured)  # type: ignore[arg-type]
        return str(file)
