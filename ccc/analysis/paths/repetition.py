"""Whether the threads of a kernel may run several of its blocks, one after the other.

In the original, a thread that returns is gone: it does not count at barriers, and no
warp-collective waits for it. A thread that goes on with the next block instead is still there. So
where threads wait for one another, all of them must surely come. And nothing may depend on which
block of the hardware it runs in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ccc.analysis.callees import allocates, callee
from ccc.analysis.cfg import reachable
from ccc.analysis.facts import Facts
from ccc.analysis.paths.followers import PATHS
from ccc.analysis.paths.locate import annotated_loops
from ccc.analysis.paths.model import Refused, at
from ccc.analysis.paths.parting import ONE_BY_ONE, ONE_BY_ONE_ALL, between_barriers
from ccc.ir.nodes import Function, Instruction
from ccc.ir.operands import Special
from ccc.ptx.barriers import BARRIERS
from ccc.ptx.opcodes import BEYOND_THE_BLOCK, Effect
from ccc.ptx.system_calls import SYSTEM_CALLS

_TOGETHER = (
    "let every thread come to it, and guard what only some are to do; else remove the annotation"
)
Load = Callable[[str], Function | None]


def check_repetition(facts: Facts, load: Load) -> None:
    """What must hold for a kernel whose threads are to run several blocks.

    Args:
        facts: the kernel's analyses.
        load: gives another function of the file, None if the file lacks it.

    Raises:
        Refused: with the reason.
    """
    for instruction in facts.function.instructions:
        _check_instruction(instruction)
    for name, function in _called(facts.function, load):
        if not facts.callees.is_promised(name):
            _check_callee(name, function)
    _check_meetings(facts, load)


def needs_block_barrier(facts: Facts, load: Load) -> Instruction | None:
    """An instruction for whose sake the threads of a block must meet before the next block begins.

    It uses shared memory, which the next block would overwrite, or is a barrier.
    """
    functions = [facts.function, *(function for _, function in _called(facts.function, load))]
    instructions = (i for function in functions if function for i in function.instructions)
    return next((i for i in instructions if _is_barrier(i) or "shared" in i.modifiers), None)


def needs_warp_barrier(facts: Facts) -> Instruction | None:
    """A warp-collective: the lanes that it finds must all be in the same block."""
    instructions = facts.function.instructions
    return next((i for i in instructions if i.effects & Effect.COLLECTIVE), None)


def _is_barrier(instruction: Instruction) -> bool:
    return bool(instruction.effects & Effect.BARRIER)


def _check_instruction(instruction: Instruction) -> None:
    name, modifiers = instruction.name, instruction.modifiers
    if instruction.row is None:
        raise Refused(f"the opcode {instruction.opcode} is not known to ccc{at(instruction)}")
    if allocates(instruction):
        raise Refused(f"the kernel allocates on the thread's stack{at(instruction)}")
    if _is_barrier(instruction) and {"cluster", "arrive"} & set(modifiers):
        raise Refused(
            "the kernel has a barrier that other blocks take part in, or at which threads do not "
            f"wait{at(instruction)}"
        )
    if name in BEYOND_THE_BLOCK or (_is_barrier(instruction) and name not in BARRIERS):
        raise Refused(
            "the kernel works asynchronously, or with blocks of the hardware, which virtual blocks "
            f"are not{at(instruction)}"
        )
    halved = name == "mov" and {"u16", "b16", "s16"} & set(modifiers)
    if halved and any(_block_numbers(instruction)):
        raise Refused(f"the kernel reads the block's number in 16 bits{at(instruction)}")
    if special := _hardware_special(instruction):
        named = f"{special}, as this_grid() does" if "envreg" in special.name else special
        raise Refused(
            f"the kernel reads {named}: it means blocks of the hardware, which virtual blocks "
            f"are not{at(instruction)}; write the loop over what threads have to do, with ccc for"
        )


def _block_numbers(instruction: Instruction) -> Iterator[Special]:
    return (s for s in instruction.specials() if s.name.startswith("%ctaid"))


def _hardware_special(instruction: Instruction) -> Special | None:
    """A special register it reads that belongs to a cluster, or to a cooperative launch."""
    named = (s for s in instruction.specials() if "cluster" in s.name or "envreg" in s.name)
    return next(named, None)


def _called(function: Function, load: Load) -> Iterator[tuple[str, Function | None]]:
    """The functions it may call, itself or through others; None for one that is not known."""
    seen = {name for name in SYSTEM_CALLS if load(name) is None}
    worklist = [function]
    while worklist:
        for instruction in worklist.pop().instructions:
            name = callee(instruction)
            if instruction.effects & Effect.CALL and name not in seen:
                seen.add(name)
                found = load(name)
                yield name, found
                worklist += [found] if found else []


def _check_callee(name: str, function: Function | None) -> None:
    """A called function must not know its block, and neither wait for others nor end the thread."""
    if not name:
        raise Refused("the kernel calls a function through a pointer, which may do anything")
    if function is None:
        raise Refused(f"the kernel calls {name}, which is not in this file and may do anything")
    for instruction in function.instructions:
        if allocates(instruction):
            raise Refused(
                f"the kernel calls {name}, which allocates on the thread's stack{at(instruction)}; "
                "declare an array there, or let the caller hand one over"
            )
        special = next(_block_numbers(instruction), _hardware_special(instruction))
        waits_or_ends = Effect.BARRIER | Effect.COLLECTIVE | Effect.EXIT
        if instruction.row is None or special or instruction.effects & waits_or_ends:
            raise Refused(
                f"the kernel calls {name}, which reads the block's number, waits for other "
                f"threads, or ends the thread{at(instruction)}; declare it __forceinline__"
            )


def _check_meetings(facts: Facts, load: Load) -> None:
    """Every thread must come to every barrier, and every lane to every warp-collective."""
    for label in sorted(facts.blocks.keys() & facts.graph):
        for waiting in filter(_waits, facts.blocks[label].instructions):
            deciding = reachable(facts.controllers.__getitem__, facts.controllers[label])
            parting = deciding & facts.divergence.divergent_branches
            if parting or waiting.guard:
                first = next((one for one in facts.function.blocks if one.label in parting), None)
                branch = first.terminator if first else None
                known = "since, as far as is known, they part at a branch"
                raise Refused(
                    "some threads may return, or go another way, while the others wait for all"
                    f"{at(waiting)}"
                    + (f", {known}{at(branch)}" if branch else "")
                    + f"; {_way_out(waiting, label, facts, load)}"
                )
            if _is_barrier(waiting):
                _check_warp_numbers(facts)


def _way_out(waiting: Instruction, label: str, facts: Facts, load: Load) -> str:
    """What to do about it. Paths that lie in no loop but that over blocks may be left for what lets
    threads meet in it, also if every thread came to it."""
    every = {one.label: {marker.kind for marker in one.markers} for one in facts.function.blocks}
    within = frozenset[str]().union(*(one.loop.blocks for one in annotated_loops(facts)))
    own = set[str]().union(*(kinds for where, kinds in every.items() if where not in within))
    if own.isdisjoint(PATHS):
        return _TOGETHER
    behind = reachable(facts.graph.successors, [label])
    later = set[str]().union(*(every.get(one, set()) for one in behind))
    is_vain = not _is_barrier(waiting) and later.isdisjoint(PATHS)
    if (meeting := needs_block_barrier(facts, load)) is None:
        return ONE_BY_ONE if is_vain else _TOGETHER
    meeting = next(filter(_is_barrier, facts.function.instructions), meeting)
    return ONE_BY_ONE_ALL.format(at(meeting)) if is_vain else between_barriers(meeting)


def _waits(instruction: Instruction) -> bool:
    meeting = Effect.BARRIER | Effect.COLLECTIVE
    return bool(instruction.effects & meeting) and instruction.name != "activemask"


def _check_warp_numbers(facts: Facts) -> None:
    """Within a warp ``%warpid`` is the same, so that divergence says nothing of it."""
    for instruction in facts.function.instructions:
        if any(special.name == "%warpid" for special in instruction.specials()):
            raise Refused(
                f"who comes to a barrier may depend on %warpid{at(instruction)}; "
                "number warps by threadIdx"
            )
