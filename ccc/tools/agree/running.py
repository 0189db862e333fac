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
from ccc.emulator.base.forms import Array
from ccc.errors import CccError
from ccc.tools.agree import bounds
from ccc.tools.agree.assembling import Code, assemble
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
class Verdict:
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


def on_gpu(device: GpuDevice, code: Code) -> Iterator[tuple[str, Array]]:
    """The results of each form of a module.

    Raises:
        CccError: a form failed; the device is of no use to this process after that.
    """
    loaded = device.load_code(code.cubin)
    for number, case in enumerate(code.taken):
        out, given, scratch = buffers(case)
        there = device.put({"out": out, "given": given, "scratch": scratch})
        try:
            launch(loaded.get_function(f"form{number}"), out.shape[1], list(there.values()))
            found = device.get({"out": there["out"]})["out"]
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
    launch(kernel, out.shape[1], (out, given, scratch))
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


def judge(case: Case, emulated: Array, measured: Array) -> Verdict:
    """Compare what the emulator gave with what the GPU gave."""
    verdict = Verdict(case.form, case.group, EQUAL, emulated.shape[1], digest=digest(measured))
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
    part: tuple[Code, str | None], arch: str, version: str, recorded: dict[str, str]
) -> list[Verdict]:
    """Run a module's forms on the emulator, and judge them.

    Args:
        part: the forms, and the file with what the GPU gave; None: there was no GPU.
        arch: of the target.
        version: of PTX.
        recorded: digests of what a GPU gave at another time.
    """
    code, file = part
    measured = np.load(file) if file else {}
    return [_compared(case, arch, version, measured, recorded) for case in code.taken]


def _compared(
    case: Case, arch: str, version: str, measured: Any, recorded: dict[str, str]
) -> Verdict:
    try:
        emulated = on_emulator(case, arch, version)
    except CccError as error:
        return _told(case, LEFT_OUT, error.message, measured)
    except Exception as error:  # noqa: BLE001 - one form must not stop the others
        return _told(case, DIFFERS, f"{type(error).__name__}: {error}", measured)
    if case.form in measured:
        return judge(case, emulated, measured[case.form])
    known = recorded.get(case.form)
    status = RUNS
    if known and case.bound is None:
        status = EQUAL if known == digest(emulated) else DIFFERS
    return Verdict(case.form, case.group, status, emulated.shape[1], digest=known or "")


def _told(case: Case, status: str, why: str, measured: Any) -> Verdict:
    """What the GPU gave for a form that the emulator did not run."""
    verdict = Verdict(case.form, case.group, status, why=why)
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
    recorded: dict[str, str] = field(default_factory=dict)


def agree(cases: Sequence[Case], setting: Setting, tell: Callable[[str], None]) -> list[Verdict]:
    """Try forms; a verdict for each, in no particular order.

    Args:
        cases: the forms.
        setting: where they run.
        tell: is told how far things are.

    Raises:
        CccError: there is no ptxas.
    """
    shards = [cases[first : first + SHARD] for first in range(0, len(cases), SHARD)]
    context = multiprocessing.get_context("forkserver")
    verdicts: list[Verdict] = []
    device = setting.device
    with (
        tempfile.TemporaryDirectory(prefix="ccc-") as folder,
        ProcessPoolExecutor(setting.jobs, mp_context=context) as pool,
    ):
        work = partial(
            assemble, arch=setting.arch, version=setting.version, ptxas=setting.ptxas
        )
        pending = []
        judging = partial(
            compare, arch=setting.arch, version=setting.version, recorded=setting.recorded
        )
        for number, code in enumerate(pool.map(work, shards)):
            groups = {case.form: case.group for case in shards[number]}
            verdicts += [
                Verdict(form, groups[form], REFUSED, why=why)
                for form, why in code.refused.items()
            ]
            file = None
            if device and code.taken:
                file = str(Path(folder, f"{number}.npz"))
                measured: dict[str, Array] = {}
                try:
                    for form, found in on_gpu(device, code):
                        measured[form] = found
                except CccError as error:
                    device = None
                    tell(f"{error}; the forms from there on are not compared\n")
                np.savez(file, **measured)
            code.cubin = b""
            pending.append(pool.submit(judging, (code, file)))
            tell(f"{number + 1} of {len(shards)} modules assembled")
        for number, future in enumerate(pending):
            verdicts += future.result()
            tell(f"{number + 1} of {len(shards)} modules compared")
    return verdicts
