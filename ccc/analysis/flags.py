"""Flags: accumulators that are 0 or 1, and that the loop sets by ``any |= x`` or ``any = true``, or
clears by ``all = all && x`` or ``all = false``.

nvcc has a ``bool`` in a register of 16 bits, and makes of an update, for example,

    cvt.u32.u16 %r1, %rs1;           // any
    or.b32 %r2, %r1, %r3;            // | x, which may be any number
    setp.ne.s32 %p1, %r2, 0;
    selp.u16 %rs1, 1, 0, %p1;

That is a disjunction as long as ``any`` is 0 or 1. In the loop each of its values is made so; that
the one from before the loop is as well has to be seen. A conjunction begins with all bits set, in a
task; what is made of that is as good as 1 where the lowest bit is kept, and where nobody asks
whether it is 1, but of that bit.
"""

from __future__ import annotations

from collections.abc import Collection

from ccc.analysis.defuse import Definition
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Immediate, Operand, Register
from ccc.ptx.operations import SETS

_BOTH = (0, 1)
_DEPTH = 4
"""Copies behind which the value before the loop is looked for."""


def find_flag(
    carried: Register,
    web: set[Register],
    mine: Collection[Instruction],
    loop: Loop,
    facts: Facts,
    *,
    from_any: bool = False,
) -> tuple[str, frozenset[Register]] | None:
    """By what a flag is updated, ``or`` or ``and``, and which registers hold it; None of a register
    that is no flag.

    Args:
        carried: the register that goes from iteration to iteration.
        web: all registers that the loop makes of it.
        mine: the instructions of the loop that read or write them.
        loop: the loop.
        facts: the function's analyses.
        from_any: whether it may be any number before the loop: then it is none, but for that.
    """
    operation = next(
        (one for one in SETS if all(_keeps_a_flag(i, web, one, facts) for i in mine)), None
    )
    exact = _exact(web, mine, facts)
    masked = {i.operands[1] for i in mine if i.name == "and" and "pred" not in i.types}
    if operation == "or" and not masked <= exact:
        return None  # a number that stands for 1 may have no bit in the mask
    holders = frozenset(register for register in exact if register.bits == carried.bits)
    ends = {loop.header, *(target for _, target in loop.exits(facts.graph))}
    held = web & frozenset[Register]().union(*map(facts.liveness.live_in, ends))
    is_flag = held <= holders and all(
        from_any or _is_zero_or_one(definition, facts, _DEPTH)
        for definition in facts.reaching.at_top(loop.header, carried)
        if definition.label not in loop.blocks
    )
    return (operation, holders) if operation and is_flag else None


def _keeps_a_flag(
    instruction: Instruction, web: set[Register], operation: str, facts: Facts
) -> bool:
    """Whether it copies a flag, tests it, or sets it, whatever it was."""
    if instruction.guard is not None or not instruction.operands:
        return False
    name, sources = instruction.name, instruction.operands[1:]
    mine = [source in web for source in sources]
    if name == "mov":
        return mine == [True] or _integer(sources[0]) == SETS[operation]
    if name == "cvt":
        return mine == [True] and all(kind[0] in "usb" for kind in instruction.types)
    if name == "and" and mine == [True, False]:
        mask = _integer(sources[1])  # of a byte
        if mask is not None:
            return bool(mask & 1)
    if name == operation:
        is_bit = operation == "or" or "pred" in instruction.types
        return sum(mine) == 1 and (is_bit or _is_a_bit(sources[mine.index(False)], facts))
    if name == "setp" and mine == [True, False]:
        asks = instruction.modifiers[0], _integer(sources[1])
        is_one = _is_a_bit if operation == "or" else _is_lowest_bit
        return asks == ("ne", 0) or (asks == ("eq", 1) and is_one(sources[0], facts))
    if name == "selp":
        return _chooses(sources, mine, SETS[operation])
    return False


def _is_lowest_bit(value: Operand, facts: Facts) -> bool:
    """Whether a value is the lowest bit of another one: 1, of one that has all bits. It is taken in
    the block that asks: what goes from block to block may be what a task begins with."""
    makers = facts.makers.get(value, ()) if isinstance(value, Register) else ()
    labels = facts.blocks.keys() & facts.graph
    goes_on = any(value in facts.liveness.live_in(label) for label in labels)
    return (
        not goes_on
        and bool(makers)
        and all(
            i.name == "and" and i.guard is None and _integer(i.operands[2]) == 1 for i in makers
        )
    )


def _is_a_bit(value: Operand, facts: Facts) -> bool:
    """Whether a value is 0 or 1 by all that makes it, and by what makes that, round loops, too."""
    seen, worklist = {value}, [value]
    while worklist:
        one = worklist.pop()
        if not isinstance(one, Register):
            if _integer(one) not in _BOTH:
                return False
            continue
        parts = [_bits_of(maker) for maker in facts.makers.get(one, ())]
        more = {operand for operands in parts for operand in operands or ()} - seen
        if not parts or None in parts:
            return False
        seen |= more
        worklist += more
    return True


def _bits_of(maker: Instruction) -> tuple[Operand, ...] | None:
    """What has to be 0 or 1 for what an instruction makes to be; None if nothing makes it so."""
    sources = maker.operands[1:]
    if maker.guard is not None or not isinstance(maker.operands[0], Register):
        return None
    if maker.name == "and" and _integer(sources[1]) in _BOTH:
        return ()
    if maker.name in ("mov", "cvt") and all(kind[0] in "usb" for kind in maker.types):
        return sources
    if maker.name in ("selp", "and", "or", "xor") and "pred" not in maker.types:
        return sources[:2]
    return None


def _chooses(sources: tuple[Operand, ...], mine: list[bool], value: int) -> bool:
    """``p ? 1 : 0`` where ``p`` is the flag, ``c ? value : flag``, or ``c ? flag : value``."""
    first, second = map(_integer, sources[:2])
    return (
        (mine == [False, False, True] and (first, second) == (1, 0))
        or (mine == [False, True, False] and first == value)
        or (mine == [True, False, False] and second == value)
    )


def _exact(web: set[Register], mine: Collection[Instruction], facts: Facts) -> set[Register]:
    """The registers that hold nothing but 0 and 1; others may hold any number for 1."""
    exact = {register for register in web if register.bits > 1}
    shrunk = True
    while shrunk:
        loose = {i.operands[0] for i in mine if _is_loose(i, web, exact, facts)}
        shrunk = not exact.isdisjoint(loose)
        exact -= loose
    return exact


def _is_loose(
    instruction: Instruction, web: set[Register], exact: set[Register], facts: Facts
) -> bool:
    """Whether what an instruction makes of a flag may be any number for 1."""
    sources = instruction.operands[1:3]
    if instruction.name == "or":
        return not all(one in exact or _is_a_bit(one, facts) for one in sources)
    is_copy = instruction.name in ("mov", "cvt", "selp")
    return is_copy and any(one in web and one not in exact for one in sources)


def _is_zero_or_one(definition: Definition, facts: Facts, depth: int) -> bool:
    """Whether a definition makes nothing else."""
    instruction = definition.instruction
    name, sources = instruction.name, instruction.operands[1:]
    if instruction.guard is not None or depth == 0:
        return False
    if name == "selp":
        return all(_integer(source) in _BOTH for source in sources[:2])
    if name == "and":
        return any(_integer(source) in _BOTH for source in sources)
    if name not in ("mov", "cvt") or not all(kind[0] in "usb" for kind in instruction.types):
        return False
    if not isinstance(sources[0], Register):
        return _integer(sources[0]) in _BOTH
    before = facts.reaching.of_uses(definition.label)[instruction, sources[0]]
    return bool(before) and all(_is_zero_or_one(one, facts, depth - 1) for one in before)


def _integer(operand: Operand) -> int | None:
    return operand.integer if isinstance(operand, Immediate) else None
