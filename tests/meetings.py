"""What happens without each of the meetings of lanes that the passes put into kernels.

    python tests/meetings.py [part of a golden's name]...

takes them out of the golden files one at a time, and prints for each place in the passes that
emits one how the faults showed: ``race`` (two accesses that nothing orders), ``memory``
(something else came out), ``deadlock``, ``error``, or ``missed``. Those are printed one by one.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goldens import Golden

from ccc.emulator import EmulatorError, Module
from ccc.emulator.run.races import Race
from ccc.harness.equivalence import difference, run
from ccc.ir import edit
from ccc.ir.nodes import Instruction

HERE = Path(__file__).parent
PASSES = HERE.parent / "passes"
MEETING = re.compile(r"(bar|barrier|vote|shfl)\.(warp\.)?sync\b")
_TOLD = re.compile(r" // at (\S+)$")


@dataclass(frozen=True)
class Meeting:
    """One meeting in a kernel: the line of the text, and the place in the passes that emits it."""

    line: int
    place: str


def places() -> set[str]:
    """Every place in the passes that emits a meeting: its file and line."""
    return {
        f"{path.name}:{number}"
        for path in PASSES.rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(r'"(bar|barrier|vote|shfl)\.[\w.]*"', line)
    }


@contextmanager
def _telling_places() -> Iterator[None]:
    """Inside, what the passes emit is printed with the place that emits it."""
    emit, text = edit.Emitter.emit, Instruction.__str__
    told: dict[int, tuple[Instruction, str]] = {}

    def emit_and_note(self: edit.Emitter, *arguments: Any, **options: Any) -> None:
        emit(self, *arguments, **options)
        frame = sys._getframe(1)
        while frame.f_back and Path(frame.f_code.co_filename).name == "edit.py":
            frame = frame.f_back
        made = self.block.statements[-1]
        assert isinstance(made, Instruction)
        if MEETING.match(made.opcode):
            file = Path(frame.f_code.co_filename).name
            told[id(made)] = made, f"{file}:{frame.f_lineno}"

    def with_place(self: Instruction) -> str:
        _, place = told.get(id(self), (None, None))
        return text(self) + (f" // at {place}" if place else "")

    edit.Emitter.emit = emit_and_note  # type: ignore[method-assign, assignment]
    Instruction.__str__ = with_place  # type: ignore[method-assign]
    try:
        yield
    finally:
        edit.Emitter.emit = emit  # type: ignore[method-assign]
        Instruction.__str__ = text  # type: ignore[method-assign]


class Trial:
    """A golden file whose meetings can be taken out."""

    def __init__(self, golden: Golden):
        self.launch = golden.launch
        with _telling_places():
            self.lines = golden.transform().ptx.splitlines()
        self.expected, _ = run(Module(golden.before), "k", self.launch)
        _, cost = run(Module(golden.after), "k", self.launch)
        self.step_limit = 40 * cost.instructions

    @property
    def meetings(self) -> list[Meeting]:
        """All meetings that the passes have put into it."""
        found = ((number, _TOLD.search(line)) for number, line in enumerate(self.lines))
        return [Meeting(number, told[1]) for number, told in found if told]

    def without(self, meeting: Meeting) -> str:
        """How it shows that a meeting is not there, in the first schedule in which it does."""
        # Without a barrier all run as before. Others count on lanes that have gone their own ways.
        is_barrier = "bar" in self.lines[meeting.line]
        schedules: Sequence[str | int] = ("lockstep", 1) if is_barrier else (1, 2, 4)
        lines = list(self.lines)
        lines[meeting.line] = _alone(lines[meeting.line])
        module = Module("\n".join(lines), step_limit=self.step_limit)
        return next(filter(None, (self._fault(module, s) for s in schedules)), "missed")

    def _fault(self, module: Module, schedule: str | int) -> str | None:
        races: list[Race] = []
        try:
            found, _ = run(module, "k", self.launch, schedule=schedule, races=races)
        except EmulatorError as error:
            return "deadlock" if "deadlock" in error.message else "error"
        if races:
            return "race"
        return "memory" if difference(self.expected, found) else None


def _alone(line: str) -> str:
    """An instruction without waiting: a barrier is none, others ask who happens to be there."""
    instruction = _TOLD.sub("", line)
    if "bar" in instruction.split(".")[0]:
        return ""
    old, _, _ = instruction.replace(".sync", "").rpartition(",")
    return f"{old};"


def main() -> None:
    """Try all of them."""
    wanted = sys.argv[1:] or [""]
    seen: dict[str, Counter[str]] = {}
    for path in sorted((HERE / "golden").glob("*/*.ptx")):
        if not any(part in path.stem for part in wanted):
            continue
        trial = Trial(Golden.read(path))
        for meeting in trial.meetings:
            how = trial.without(meeting)
            seen.setdefault(meeting.place, Counter())[how] += 1
            if how == "missed":
                print(f"{path.stem}: {trial.lines[meeting.line].strip()}", flush=True)
    for place in sorted(places() | set(seen)):
        figures = seen.get(place, Counter())
        print(place, ", ".join(f"{how} {count}" for how, count in figures.most_common()))


if __name__ == "__main__":
    main()
