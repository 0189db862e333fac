"""From what was counted per segment and instruction to :class:`Counters`."""

from __future__ import annotations

from ccc.emulator.run.counters import Counters, Line
from ccc.emulator.run.simt import Tally
from ccc.emulator.translate.codegen import CompiledProgram
from ccc.emulator.translate.program import Program
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
        for slot in compiled.segment_slots[segment.number]:
            instruction = compiled.slots[slot]
            if instruction is segment.uncounted:
                continue
            counts = lines.get(line := _line(instruction, files))
            if counts is None:
                counts = lines[line] = Counters()
            predicated = instruction.guard and instruction.name not in ("bra", "brx")
            counts.instructions += warps
            counts.thread_instructions += (
                tally.guarded[slot] if predicated else tally.lanes[segment.number]
            )
            counts.global_load_transactions += tally.costs.loads[slot]
            counts.global_store_transactions += tally.costs.stores[slot]
            counts.shared_bank_conflicts += tally.costs.conflicts[slot]
            if instruction.name in ("bra", "brx"):
                counts.branches += warps
                counts.divergent_branches += tally.divergent[segment.number]
    return Counters.total(lines)


def _line(instruction: Instruction, files: dict[int, str]) -> Line:
    if instruction.location:
        number, line = instruction.location
        return files.get(number, f"<file {number}>"), line
    return instruction.span.file, instruction.span.line
