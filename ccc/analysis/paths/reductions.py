"""Accumulators: registers that an annotated loop only ever adds to, in the sense of a reduction.

The clause ``reduction(op: variable)`` names variables; what nvcc makes of one is a *web* of
registers: the one that is carried from iteration to iteration, and all that copies and updates make
of it. If nothing else in the loop reads or writes the web, then an update may be made later, and by
another lane: the order of the updates of one accumulator does not matter (floating point: but for
rounding).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ccc.analysis.companion_search import find_companions
from ccc.analysis.companions import ORDER, Companions
from ccc.analysis.dominators import Loop
from ccc.analysis.extremes import extreme_operation
from ccc.analysis.facts import Facts
from ccc.analysis.flags import find_flag
from ccc.analysis.paths.model import Accumulator, Refused, instructions_of
from ccc.ir.markers import Marker
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Operand, Register
from ccc.ptx.operations import EXTREMES
from ccc.ptx.types import NUMBERS

SIZES = (16, 32, 64)
NARROW = 16
"""The bits of registers for what is shorter than an int: nvcc may compute it in wider ones."""
OPERATIONS = ("add", "min", "max", "and", "or", "xor")
"""Those of reductions."""
WITH = "with"
"""What is done with the companions of an extreme."""
_PLACES = {"add": (1, 2), "sub": (1,), "fma": (3,), "mad": (3,)}
"""Where an update of a sum may read the sum; other operations read it on either side."""

OWN = "%ccc_"
"""How registers begin that nvcc has not named."""
NUMBER, TAKEN_AT = "number", "taken_at"
"""What registers are named for that tell the order of what is taken: no sums of the user's."""
_ORDERS = (OWN + NUMBER, OWN + TAKEN_AT)


def declared_operations(marker: Marker) -> frozenset[str]:
    """The operations that the ``reduction`` clauses of an annotated loop name, as PTX opcodes."""
    clauses = marker.clauses.get("reduction", "")
    return frozenset(part.partition(":")[0] for part in clauses.split(";") if part)


def declared_variables(marker: Marker) -> list[str]:
    """The variables that the ``reduction`` clauses of an annotated loop name."""
    clauses = marker.clauses.get("reduction", "")
    return [name for part in clauses.split(";") for name in part.partition(":")[2].split(",")]


def find_accumulators(
    marker: Marker, loop: Loop, facts: Facts, integers: frozenset[str] = frozenset()
) -> tuple[Accumulator, ...]:
    """The accumulators of a loop, for the operations that its annotation declares.

    Of integers, also those for the operations ``integers``: their order never matters.
    """
    declared = declared_operations(marker)
    operations = declared | integers
    if not operations:
        return ()
    body = instructions_of(loop.blocks, facts)
    written = {register for instruction in body for register in instruction.defined()}
    touching = facts.once(_touching, loop)
    found: list[Accumulator] = []
    carried = facts.liveness.live_in(loop.header) & written
    for register in sorted(carried, key=lambda register: register.name):
        if not any(register in other.registers for other in found):
            accumulator = _web(register, touching, loop, facts)
            if accumulator is None or accumulator.operation not in operations:
                continue
            if any(one.name.startswith(_ORDERS) for one in accumulator.registers):
                continue
            named = accumulator.registers & named_in(marker, loop, facts, accumulator.operation)
            if accumulator.type[0] != "f" or named:
                found.append(accumulator)
    return tuple(found)


def find_sum(register: Register, loop: Loop, facts: Facts) -> Accumulator | None:
    """What a register would be, if a reduction of a loop named it: a sum, or the like, or None."""
    web = _web(register, facts.once(_touching, loop), loop, facts)
    return web if web is not None and web.operation in OPERATIONS else None


def find_sums(
    loop: Loop, facts: Facts, *, has_no_nan: bool = False, from_any: bool = False
) -> list[Accumulator]:
    """All that would be one of those, perhaps only if no NaN came, or if flags began as 0 or 1."""
    touching = facts.once(_touching, loop)
    written = {r for one in instructions_of(loop.blocks, facts) for r in one.defined()}
    found: list[Accumulator] = []
    for register in sorted(facts.liveness.live_in(loop.header) & written, key=lambda one: one.name):
        if not any(register in one.registers for one in found):
            web = _web(register, touching, loop, facts, has_no_nan=has_no_nan, from_any=from_any)
            found += [web] if web is not None and web.operation in OPERATIONS else []
    return found


def _touching(loop: Loop, facts: Facts) -> dict[Register, list[Instruction]]:
    """The instructions of a loop that read or write each register."""
    touching: dict[Register, list[Instruction]] = {}
    for instruction in instructions_of(loop.blocks, facts):
        for register in {*instruction.used(), *instruction.defined()}:
            touching.setdefault(register, []).append(instruction)
    return touching


def find_reductions(marker: Marker, loop: Loop, facts: Facts) -> tuple[Accumulator, ...]:
    """All accumulators that the annotation of a loop declares, companions among them.

    What goes with an extreme may look like a flag, where it is set to 1. It is none: whether it is
    set is for the extreme to say, and a task begins with one that takes anything.
    """
    groups = find_groups(marker, loop, facts)
    together = {register for group in groups for one in group.classes for register in one}
    found = find_accumulators(marker, loop, facts)
    alone = (one for one in found if together.isdisjoint(one.registers))
    return (*alone, *grouped(groups))


def find_groups(marker: Marker, loop: Loop, facts: Facts) -> list[Companions]:
    """The extremes with companions that the annotation of a loop declares to be reductions."""
    operations = declared_operations(marker).intersection(EXTREMES)
    if not operations:
        return []
    written = {register for i in instructions_of(loop.blocks, facts) for register in i.defined()}
    found: list[Companions] = []
    for register in sorted(facts.liveness.live_in(loop.header) & written, key=lambda r: r.name):
        group = find_companions(register, loop, facts)
        if group is None or group.operation not in operations:
            continue
        if any(not one.classes[0].isdisjoint(group.classes[0]) for one in found):
            continue
        named = named_in(marker, loop, facts, group.operation)
        if group.type[0] != "f" or group.classes[0] & named:
            found.append(group)
    return found


def grouped(groups: Iterable[Companions]) -> tuple[Accumulator, ...]:
    """The accumulators that are taken together, of those groups whose order is known."""
    found: list[Accumulator] = []
    for group in groups:
        for number, registers in enumerate(group.classes) if group.order is not None else ():
            bits = max(register.bits for register in registers)
            operation, kind = (WITH, f"b{bits}") if number else (group.operation, group.type)
            kind = ORDER if number == group.order else kind
            found.append(Accumulator(operation, kind, registers, number == 0, group, number))
    return tuple(found)


def named_in(marker: Marker, loop: Loop, facts: Facts, *operations: str) -> set[Register]:
    """The registers that hold the floating-point variables of reductions, of some operations.

    Their order matters, so that another variable must not be taken for one of them.
    """
    names = {
        note.clauses["register"]
        for label in loop.blocks
        for note in facts.blocks[label].markers
        if note.kind == "reduced" and note.identifier == marker.identifier
        if note.clauses.get("by") in operations
    }
    found = (facts.function.registers.find(name) for name in names)
    return {register for register in found if register is not None}


def _web(
    carried: Register,
    touching: Mapping[Register, list[Instruction]],
    loop: Loop,
    facts: Facts,
    *,
    has_no_nan: bool = False,
    from_any: bool = False,
) -> Accumulator | None:
    """What is made of a register in the loop; None if that is more than copies and updates.

    ``touching`` lists for each register the instructions that read or write it.
    """
    web, worklist = {carried}, [carried]
    while worklist:
        register = worklist.pop()
        for instruction in touching[register]:
            if register in instruction.used():
                made = set(instruction.defined()) - web
                web |= made
                worklist += made
    mine = dict.fromkeys(i for register in web for i in touching[register])
    kinds = {_update(instruction, web) for instruction in mine}
    if None in kinds:
        is_held = carried.bits in SIZES
        if is_held and (flag := find_flag(carried, web, mine, loop, facts, from_any=from_any)):
            by, holders = flag
            return Accumulator(by, f"b{carried.bits}", frozenset(web), holders=holders)
        extreme = extreme_operation(web, mine, loop, facts, has_no_nan=has_no_nan)
        if extreme is None:
            return None
        return Accumulator(*extreme, frozenset(web), compares=extreme[1][0] == "f")
    updates = {kind for kind in kinds if kind is not None and kind[0] != "mov"}
    if len(updates) != 1:
        return None
    operation, type_name = updates.pop()
    return Accumulator(operation, type_name, frozenset(web))


def _update(instruction: Instruction, web: set[Register]) -> tuple[str, str] | None:
    """The operation and the type of an update, ("mov", "") of a copy; None if it is neither."""
    reads = [n for n, operand in enumerate(instruction.operands) if n and operand in web]
    if instruction.guard is not None and instruction.guard.register in web:
        return None
    if instruction.name == "mov" and reads == [1]:
        return "mov", ""
    if instruction.name == "selp" and reads == [1, 2]:
        return "mov", ""
    operation = "add" if instruction.name in ("sub", "fma", "mad") else instruction.name
    plain = {"rn", "ftz", "lo", "wide", *instruction.types}
    if len(reads) != 1 or not plain.issuperset(instruction.modifiers) or flushes(instruction):
        return None
    if reads[0] not in _PLACES.get(instruction.name, (1, 2)):
        return None
    return _kind(operation, instruction.types[0], instruction.operands[0])


def updates_any(instruction: Instruction, old: set[Register]) -> bool:
    """Whether it makes a new value of one of some old ones as a reduction does."""
    kind = _update(instruction, old)
    return kind is not None and kind[0] in OPERATIONS


def flushes(instruction: Instruction) -> bool:
    """Whether it compares, and takes tiny (subnormal) numbers for zeros.

    Then it is no minimum: which of these numbers is kept, and as what, depends on the order.
    """
    return instruction.name in (*EXTREMES, "setp") and "ftz" in instruction.modifiers


def _kind(operation: str, type_name: str, target: Operand) -> tuple[str, str] | None:
    if not isinstance(target, Register) or target.bits not in SIZES:
        return None
    if operation in ("and", "or", "xor"):
        return operation, f"b{target.bits}"
    if type_name not in NUMBERS:
        return None
    if operation == "add":
        return operation, type_name if type_name[0] == "f" else f"u{target.bits}"
    return (operation, type_name) if operation in EXTREMES else None


def register_at(accumulator: Accumulator, label: str, facts: Facts) -> Register | None:
    """The register that holds an accumulator at the top of a block; None if it is not used there.

    Raises:
        Refused: there are several, so that one of them is an older value, or none that holds all.
    """
    if accumulator.group is not None:
        places = accumulator.group.places.get(label)
        return places[accumulator.number] if places else None
    live = accumulator.registers & facts.liveness.live_in(label)
    if len(live) > 1 or (accumulator.holders is not None and not live <= accumulator.holders):
        raise Refused(
            "an accumulator of a reduction is used both before and after an update: "
            + ", ".join(sorted(register.name for register in live))
        )
    return next(iter(live), None)


def kept_at(accumulators: Iterable[Accumulator], label: str, facts: Facts) -> frozenset[Register]:
    """What of accumulators is asked for at the top of a block."""
    live = facts.liveness.live_in(label)
    found: set[Register] = set()
    for accumulator in accumulators:
        if accumulator.group is None:
            found |= accumulator.registers & live
        else:
            found.update(accumulator.group.places.get(label, ()))
    return frozenset(found)


def touched(
    accumulators: Iterable[Accumulator], blocks: Iterable[str], facts: Facts
) -> tuple[Accumulator, ...]:
    """The accumulators that some blocks write, with those that are taken together with them."""
    written = {r for i in instructions_of(blocks, facts) for r in i.defined()}
    every = tuple(accumulators)
    found = [a for a in every if not written.isdisjoint(a.registers)]
    groups = [a.group for a in found if a.group is not None]
    return tuple(a for a in every if a in found or a.group in groups)
