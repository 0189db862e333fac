"""What happens without each of the meetings of lanes that the passes put into kernels.

    python tests/support/meetings.py [part of a golden's name]...

takes them out of the golden files one at a time, and prints for each place in the passes that
emits one how the faults showed: ``race`` (two accesses that nothing orders), ``memory``
(something else came out), ``deadlock``, ``error``, or ``missed``. Those are listed in
``meetings.txt``, by golden file and number; the tests demand that all others are found.
"""

from __future__ import annotations

import functools
import re
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from folders import GOLDEN, ROOT, TESTS
from goldens import Golden

from ccc.emulator import EmulatorError, Module
from ccc.emulator.run.module import STEP_LIMIT
from ccc.emulator.run.races import Race
from ccc.harness.equivalence import Launch, difference, run
from ccc.ir import edit
from ccc.ir.nodes import Instruction
from ccc.snippet import Snippet

GOLDENS = sorted(GOLDEN.glob("*/*.ptx"))
LIST = TESTS / "meetings.txt"
PASSES = ROOT / "passes"
MEETING = re.compile(r"(bar|barrier|vote|match|shfl|redux)\.((warp|any)\.)?sync\b")
PATIENCE = 8
"""How many times as many steps a kernel may take without one of its meetings."""
SWITCH = "ccc_left_out"
"""The variable with the number of the meeting that is left out."""
NONE = 0xFFFFFFFF
_LEFT_OUT = """{{
.reg .pred %alone; .reg .b32 %left_out;
ld.const.u32 %left_out, [{switch}];
setp.eq.u32 %alone, %left_out, {number};
{either}
}}"""
_UNLESS = "@!%alone {meeting}"
_INSTEAD = """@%alone bra $alone;
{meeting}
bra.uni $met;
$alone: {alone}
$met:"""
_TOLD = re.compile(r" // at (\S+)$")


@dataclass(frozen=True)
class Meeting:
    """One meeting in a kernel: the line of the text, and the place in the passes that emits it."""

    line: int
    place: str


def places() -> set[str]:
    """Every place in the passes that emits a meeting: its file and line."""
    written = {
        f"{path.name}:{number}"
        for path in PASSES.rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(r'"(bar|barrier|vote|match|shfl|redux)\.[\w.]*"', line)
    }
    return written.union(*(places_in(snippet.source) for snippet in Snippet.known))


@functools.cache
def places_in(text: str) -> list[str]:
    """The places of the meetings of a snippet."""
    meetings = [n for n, line in enumerate(text.splitlines()) if MEETING.match(line.strip())]
    for path in PASSES.rglob("*.py"):
        source = path.read_text()
        if meetings and text in source:
            first = source[: source.index(text)].count("\n") + 1
            return [f"{path.name}:{first + line}" for line in meetings]
    return []


@contextmanager
def _telling_places() -> Iterator[None]:
    """Inside, what the passes emit is printed with the place that emits it."""
    emit, text, emit_snippet = edit.Emitter.emit, Instruction.__str__, Snippet.emit
    told: dict[int, tuple[Instruction, str]] = {}
    now: list[tuple[str, Counter[str]]] = []

    def emit_and_note(self: edit.Emitter, *arguments: Any, **options: Any) -> None:
        emit(self, *arguments, **options)
        made = self.block.statements[-1]
        assert isinstance(made, Instruction)
        if not MEETING.match(made.opcode):
            return
        if now:
            source, seen = now[-1]
            told[id(made)] = made, places_in(source)[seen["meetings"]]
            seen["meetings"] += 1
            return
        frame = sys._getframe(1)
        while frame.f_back and Path(frame.f_code.co_filename).name == "edit.py":
            frame = frame.f_back
        told[id(made)] = made, f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"

    def emit_all(self: Snippet, *arguments: Any, **given: Any) -> Any:
        now.append((self.source, Counter()))
        try:
            return emit_snippet(self, *arguments, **given)
        finally:
            now.pop()

    def with_place(self: Instruction) -> str:
        _, place = told.get(id(self), (None, None))
        return text(self) + (f" // at {place}" if place else "")

    edit.Emitter.emit = emit_and_note  # type: ignore[method-assign, assignment]
    Snippet.emit = emit_all  # type: ignore[method-assign]
    Instruction.__str__ = with_place  # type: ignore[method-assign]
    try:
        yield
    finally:
        edit.Emitter.emit = emit  # type: ignore[method-assign]
        Snippet.emit = emit_snippet  # type: ignore[method-assign]
        Instruction.__str__ = text  # type: ignore[method-assign]


class _RaceFound(Exception):
    """One is enough: the launch need not go on."""


class _FirstRace(list[Race]):
    """Where the races of a launch go that ends with the first."""

    def append(self, race: Race) -> None:
        raise _RaceFound(race)


@functools.cache
def _with_places(path: Path) -> tuple[str, ...]:
    """The lines that the passes make of a golden file, with the places that emit meetings."""
    with _telling_places():
        return tuple(Golden.read(path).transform().ptx.splitlines())


class Trial:
    """A golden file whose meetings can be taken out.

    Whether a meeting is missed hangs on how long the lanes of a warp are busy, and who has a task
    when. So there are other launches than the golden's own, as far as the kernel is right with
    them: small ones go first, and then the one that told of the meeting before.
    """

    def __init__(self, golden: Golden):
        self.golden = golden
        self.lines = _with_places(golden.path)
        self.original, self.after = Module(golden.before), Module(self._switched())
        self.left_out = self.after.get_global(SWITCH).view(np.uint32)
        own = golden.launch
        few, uneven = ([(launch, 0, "lockstep") for launch in some] for some in _unevenly(own))
        more = ((own, seed, "lockstep") for seed in (1, 2))
        random = ((own, 0, order) for order in range(1, 5))
        self.launches: list[tuple[Launch, int, str | int]] = [
            *few, (own, 0, "lockstep"), *uneven, *more, *random
        ]  # fmt: skip
        self._tried: dict[tuple[Launch, int, str | int], tuple[list[Any], int] | None] = {}
        self._expected: dict[tuple[Launch, int], list[Any] | None] = {}

    def _switched(self) -> str:
        """The kernel with a variable that says which meeting is left out, so that one module does
        for all of them."""
        lines = list(self.lines)
        for meeting in self.meetings:
            line = lines[meeting.line]
            alone = _alone(line)
            either = _INSTEAD if alone else _UNLESS
            lines[meeting.line] = _LEFT_OUT.format(
                switch=SWITCH, number=meeting.line, either=either.format(meeting=line, alone=alone)
            )
        first = next(k for k, line in enumerate(lines) if line.startswith(".address_size"))
        lines.insert(first + 1, f".const .align 4 .u32 {SWITCH};")
        return "\n".join(lines)

    @property
    def meetings(self) -> list[Meeting]:
        """All meetings that the passes have put into it."""
        found = ((number, _TOLD.search(line)) for number, line in enumerate(self.lines))
        return [Meeting(number, told[1]) for number, told in found if told]

    def without(self, meeting: Meeting) -> str:
        """How it shows that a meeting is not there, in the first launch in which it does."""
        for one in self.launches:
            if how := self._fault(meeting, *one):
                self.launches.remove(one)
                self.launches.insert(0, one)
                return how
        return "missed"

    def _fault(
        self, meeting: Meeting, launch: Launch, seed: int, schedule: str | int
    ) -> str | None:
        right = self._right(launch, seed, schedule)
        if right is None:
            return None
        expected, self.after.step_limit = right
        self.left_out[0] = meeting.line
        try:
            found, _ = run(self.after, "k", launch, seed, schedule=schedule, races=_FirstRace())
        except _RaceFound:
            return "race"
        except EmulatorError as error:
            return "deadlock" if "deadlock" in error.message else "error"
        return "memory" if difference(expected, found) else None

    def _right(
        self, launch: Launch, seed: int, schedule: str | int
    ) -> tuple[list[Any], int] | None:
        """What a launch leaves, and a limit for its steps; None where it is no launch to try."""
        key = launch, seed, schedule
        if key not in self._tried:
            expected = self._left_by_original(launch, seed)
            fits = None if expected is None else self._kept(expected, launch, seed, schedule)
            self._tried[key] = fits
        return self._tried[key]

    def _left_by_original(self, launch: Launch, seed: int) -> list[Any] | None:
        """What the original leaves in lockstep; None where it races, or fails."""
        if (launch, seed) not in self._expected:
            try:
                expected, _ = run(self.original, "k", launch, seed, races=_FirstRace())
            except (EmulatorError, _RaceFound):
                self._expected[launch, seed] = None
            else:
                self._expected[launch, seed] = expected
        return self._expected[launch, seed]

    def _kept(
        self, expected: list[Any], launch: Launch, seed: int, schedule: str | int
    ) -> tuple[list[Any], int] | None:
        """That, and a limit for the steps, if the transformed kernel leaves the same."""
        self.left_out[0], self.after.step_limit = NONE, STEP_LIMIT
        try:
            found, _ = run(self.after, "k", launch, seed, schedule=schedule, races=_FirstRace())
        except (EmulatorError, _RaceFound):
            return None
        same = difference(expected, found) is None
        return (expected, PATIENCE * self.after.steps) if same else None


def _unevenly(launch: Launch) -> tuple[list[Launch], list[Launch]]:
    """Launches like one on an array of n elements, in which lanes are done at different times:
    of one warp with two or three elements a lane, and of all."""
    count = re.search(r"[su]32:(\d+)", launch.argument_text)
    if count is None:
        return [], []
    one_warp = replace(launch, grid=(1, 1, 1), block=(32, 1, 1))

    def on(like: Launch, elements: int) -> Launch:
        text = launch.argument_text.replace(count[0], f"{count[0][:4]}{elements}", 1)
        return replace(like, argument_text=text)

    most = int(count[1])
    few = [on(one_warp, elements) for elements in (3 * 32 + 20, 2 * 32 + 1) if elements <= most]
    total = prod(launch.grid) * prod(launch.block)
    all_ = []
    for like, threads in ((launch, total), (one_warp, 32)):
        for left_over in (1, 20):
            elements = (most - left_over) // threads * threads + left_over
            all_ += [on(like, elements)] if elements > 0 else []
    return few, all_


def _alone(line: str) -> str:
    """An instruction without waiting: a barrier is none, others are among the lane itself."""
    instruction = _TOLD.sub("", line)
    if "bar" in instruction.split(".")[0]:
        return ""
    if instruction.strip().startswith("shfl"):
        target, own, *_ = instruction.split(None, 1)[1].split(",")
        target, _, found = target.partition("|")
        nobody = f" setp.ne.b32 {found}, {own}, {own};" if found else ""
        return f"mov.b32 {target}, {own};{nobody}"
    before, _, _ = instruction.rpartition(",")
    return f"{before}, %lanemask_eq;"


@dataclass(frozen=True, order=True)
class Missed:
    """A meeting that no launch of a golden shows to be needed: the ``number``-th in its text."""

    golden: str
    number: int
    opcode: str
    file: str

    def __str__(self) -> str:
        return f"{self.golden} {self.number}: {self.opcode} of {self.file}"


def known_missed() -> set[str]:
    """Those that are known, as text."""
    return set(LIST.read_text().splitlines())


def try_all(path: Path) -> list[tuple[Meeting, Missed, str]]:
    """The meetings of a golden file that are not known to be missed, and how each shows itself."""
    trial = Trial(Golden.read(path))
    return [(meeting, line, trial.without(meeting)) for meeting, line in _unknown(trial, path)]


def needed(path: Path) -> list[Meeting]:
    """The meetings of a golden file that are not known to be missed."""
    return [meeting for meeting, _ in _unknown(Trial(Golden.read(path)), path)]


def _unknown(trial: Trial, path: Path) -> Iterator[tuple[Meeting, Missed]]:
    known, name = known_missed(), f"{path.parent.name}/{path.stem}"
    for number, meeting in enumerate(trial.meetings):
        opcode = trial.lines[meeting.line].split()[0]
        line = Missed(name, number, opcode, meeting.place.partition(":")[0])
        if str(line) not in known:
            yield meeting, line


def main() -> None:
    """Try all of them, and write the list."""
    wanted = sys.argv[1:] or [""]
    paths = [p for p in GOLDENS if any(part in p.stem for part in wanted)]
    names = {f"{path.parent.name}/{path.stem}" for path in paths}
    others = {line for line in known_missed() if line.split()[0] not in names}
    LIST.write_text("".join(f"{line}\n" for line in sorted(others)))
    seen: dict[str, Counter[str]] = {}
    missed: list[Missed] = []
    with ProcessPoolExecutor() as pool:
        for meeting, line, how in chain.from_iterable(pool.map(try_all, paths)):
            seen.setdefault(meeting.place, Counter())[how] += 1
            if how == "missed":
                print(line, flush=True)
                missed.append(line)
    for place in sorted(places() | set(seen)):
        figures = seen.get(place, Counter())
        print(place, ", ".join(f"{how} {count}" for how, count in figures.most_common()))
    LIST.write_text("".join(f"{line}\n" for line in sorted(others | set(map(str, missed)))))


if __name__ == "__main__":
    main()
