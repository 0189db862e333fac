"""From what was counted per segment and instruction to :class:`Counters`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ccc.emulator.run.counters import Counters, Line
from ccc.emulator.run.simt import Tally
from ccc.emulator.translate.codegen import CompiledProgram
from ccc.emulator.translate.program import Program, Segment
from ccc.ir.nodes import Instruction


def counters_of(
    program: Program, compiled: CompiledProgram, tally: Tally, files: dict[int, str]
) -> Counters:
    """Add up a launch, by source line and in all.

    Args:
        program: what ran.
        compiled: its slots.
        tally: the raw counts.
        files: the names of the ``.file`` directives.
    """
    lines: dict[Line, Counters] = {}
    for segment in program.segments:
        warps = tally.warps[segment.number]
        if not warps:
            continue
        if segment.number not in compiled.lines:
            compiled.lines[segment.number] = list(_by_line(segment, compiled, files))
        for part in compiled.lines[segment.number]:
            counts = lines.get(part.line)
            if counts is None:
                counts = lines[part.line] = Counters()
            counts.instructions += warps * part.instructions
            counts.thread_instructions += part.unguarded * tally.lanes[segment.number]
            for slot in part.guarded:
                counts.thread_instructions += tally.guarded[slot]
            for slot in part.effects:
                counts.global_load_transactions += tally.costs.loads[slot]
                counts.global_store_transactions += tally.costs.stores[slot]
                counts.shared_bank_conflicts += tally.costs.conflicts[slot]
            counts.branches += warps * part.branches
            counts.divergent_branches += tally.divergent[segment.number] * part.branches
    return Counters.total(lines)


@dataclass(slots=True)
class _LineOfSegment:
    """The instructions of a segment that are of one source line: how many there are, and the slots
    of those that cost more than that."""

    line: Line
    instructions: int = 0
    unguarded: int = 0
    branches: int = 0
    guarded: list[int] = field(default_factory=list)
    effects: list[int] = field(default_factory=list)


def _by_line(
    segment: Segment, compiled: CompiledProgram, files: dict[int, str]
) -> Iterable[_LineOfSegment]:
    parts: dict[Line, _LineOfSegment] = {}
    for slot in compiled.segment_slots[segment.number]:
        instruction = compiled.slots[slot]
        if instruction is segment.uncounted:
            continue
        line = _line(instruction, files)
        part = parts.setdefault(line, _LineOfSegment(line))
        is_branch = instruction.name in ("bra", "brx")
        part.instructions += 1
        part.branches += is_branch
        if instruction.guard and not is_branch:
            part.guarded.append(slot)
        else:
            part.unguarded += 1
        if instruction.effects or instruction.loads:
            part.effects.append(slot)
    return parts.values()


def _line(instruction: Instruction, files: dict[int, str]) -> Line:
    if instruction.location:
        number, line = instruction.location
        return files.get(number, f"<file {number}>"), line
    return instruction.span.file, instruction.span.line
