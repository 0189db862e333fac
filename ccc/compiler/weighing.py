"""A module is transformed, and once more with the registers that ptxas tells of what was made.

What was chosen is weighed again where it takes registers that warps need, or that blocks as large
as before would need to be launched.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ccc.compiler.followed import followed, may_serve_alone
from ccc.compiler.launchable import Launchable, keep_launchable
from ccc.compiler.registers import Assembler, resources_of, target_of
from ccc.errors import CccError
from ccc.ir.reannotated import Reannotated
from ccc.options import Options
from ccc.passes.launch_shape import BOUNDS
from ccc.passes.thresholds import (
    GAIN,
    MUCH_GAINED,
    SPILLED_FOR_MEMORY,
    SPILLED_FOR_WARPS,
    SPILLED_GAIN,
)
from ccc.ptx.dynamic_stack import added, shares
from ccc.ptx.occupancy import occupancy, registers_limit
from ccc.remark import STACK_THREADS, Remark
from ccc.toolkit.ptxas import Resources

if TYPE_CHECKING:
    from ccc.compiler.earlier import Earlier
    from ccc.compiler.transform import Transformed

Remarks = dict[str, list[Remark]]
"""By kernel."""

NOT_KNOWN = (0, 0)
"""Registers of a kernel that nobody has told."""


def weighed(
    transformed: Callable[..., Transformed],
    ptx: str,
    options: Options,
    known: Earlier,
    original: Callable[[], str] | None,
) -> Transformed:
    """What comes of a module.

    Args:
        transformed: transforms it, with what is known of its registers.
        ptx: the module, with markers.
        options: what is asked for.
        known: what is known of its kernels; grows.
        original: makes it without markers.
    """
    # What is counted is what is made without counters, whose registers say nothing of it.
    is_counted = options.profile and options.transforms
    transforms = partial(transformed, profile=None) if is_counted else transformed
    told, settled = _settled(transforms, ptx, options, known, original)

    def again(others: Mapping[str, Reannotated]) -> Remarks:
        changed = partial(transforms, reannotated=others)
        return _settled(changed, ptx, options, known.anew(), original)[0].remarks

    told.remarks = followed(told.remarks, again, told.sizes)
    if not is_counted:
        return told
    result = transformed(**settled)
    result.ptx = keep_launchable(ptx, result.ptx, options, known.assembler, original).ptx
    result.remarks = told.remarks
    return result


def _settled(
    transformed: Callable[..., Transformed],
    ptx: str,
    options: Options,
    known: Earlier,
    original: Callable[[], str] | None,
) -> tuple[Transformed, dict[str, Any]]:
    """What comes of a module, and what it was made with: all that is known of its registers."""
    assembler, tried, keeping = known.assembler, dict(known.tried), set(known.keeping)
    result = transformed(tried=tried, keeping=keeping)
    if not may_serve_alone(result.remarks):
        known.foresee(result.remarks)
    new = [name for name in result.remarks if name not in tried]
    more = _tried(ptx, result, assembler, new)
    if close := [name for name in _close(result.remarks) if name in new]:
        more |= _tried(ptx, transformed(tried=tried, trying=close), assembler, close)
    if more:  # what was chosen is weighed again, with the registers that it takes
        keeping |= _crowding(result, more, target_of(ptx))
        tried |= more
        result = transformed(tried=tried, keeping=keeping)
    # What is no more kept for memory may still be kept where lists are shared out.
    while spilling := _spilling(ptx, result, assembler, keeping):
        tried |= dict.fromkeys(spilling - keeping, NOT_KNOWN)
        keeping -= spilling
        result = transformed(tried=tried, keeping=keeping)
    registers = None
    counting = _counting_blocks(result.remarks)
    if counting and (found := assembler.resources(result.ptx, counting)):
        registers = {name: resources.registers for name, resources in found.items()}
        result = transformed(registers=registers, tried=tried, keeping=keeping)
    launchable = keep_launchable(ptx, result.ptx, options, assembler, original)
    crowded = _left_for_room(result, launchable)
    if crowded:
        result = transformed(registers=registers, tried=tried, keeping=keeping, crowded=crowded)
        launchable = keep_launchable(ptx, result.ptx, options, assembler, original)
    result.ptx, result.remarks = launchable.ptx, launchable.told(result.remarks)
    known.tried.update(tried)
    known.keeping.update(keeping)
    return result, {"registers": registers, "tried": tried, "keeping": keeping, "crowded": crowded}


def _tried(
    before: str, result: Transformed, assembler: Assembler, among: Collection[str]
) -> dict[str, tuple[int, int]]:
    """How many registers a thread takes before and after, of the kernels in which something is
    collected that nobody asked to have collected, or that are to keep their warps, and where this
    may leave it fewer; none are known where ptxas alone cannot tell.

    Only those ``among`` some are asked for.
    """
    told = {name: mine for name, mine in result.remarks.items() if name in among}
    kept = [name for name, mine in told.items() if any(map(_keeps_warps, mine))]
    chosen = [name for name, mine in told.items() if any(map(_is_chosen, mine))]
    chosen = list(dict.fromkeys([*chosen, *kept]))
    if not chosen:
        return {}
    old, new = assembler.resources_in([before, result.ptx], chosen)
    arch = target_of(before)
    pairs = {name: (old[name].registers, new[name].registers) for name in new if name in old}
    limited = {name: pair for name, pair in pairs.items() if registers_limit(arch, max(pair))}
    return {**{name: NOT_KNOWN for name in kept if name not in pairs}, **limited}


def _crowding(result: Transformed, pairs: Mapping[str, tuple[int, int]], arch: str) -> set[str]:
    """The kernels of which fewer warps have room with the registers that they take; none where the
    architecture is not known."""

    def room(name: str, registers: int) -> float:
        return _fraction(arch, Resources(registers, 0, 0), result.blocks[name], 0) or 0.0

    return {name for name, (old, new) in pairs.items() if room(name, new) < room(name, old)}


def _spilling(
    before: str, result: Transformed, assembler: Assembler, keeping: Collection[str]
) -> set[str]:
    """The kernels that are to have the warps that they had, be it for ``keeping`` what hides what
    memory takes or since lists are shared out, and of which ptxas spills too much then."""
    kept = [name for name, mine in result.remarks.items() if any(map(_keeps_warps, mine))]
    if not kept:
        return set()
    old, new = assembler.resources_in([before, result.ptx], kept)
    pairs = ((name, new[name].spilled - old[name].spilled) for name in kept if name in new)
    most = {name: _may_spill(result.remarks[name], name in keeping) for name in kept}
    return {name for name, more in pairs if more > most[name]}


def _may_spill(mine: Sequence[Remark], is_keeping: bool) -> int:
    """The bytes that ptxas may spill in a kernel so that as many warps as before have room: none
    where it is kept for what little it costs."""
    if not is_keeping:
        return SPILLED_FOR_WARPS
    much = any(_is_chosen(one) and one.details["expected"] >= MUCH_GAINED for one in mine)
    return 0 if much else SPILLED_FOR_MEMORY


def _close(remarks: Remarks) -> list[str]:
    """The kernels in which nothing is chosen, though it is known of a path that it would gain a
    little: they are tried, too, so that nobody is told of a gain which registers outweigh."""
    return [
        name
        for name, mine in remarks.items()
        if not any(one.applied for one in mine) and any(1 < _expected(one) < GAIN for one in mine)
    ]


def _expected(remark: Remark) -> float:
    """The most that is expected of a path that was left, where its lanes are known."""
    if remark.details.get("at_worst"):
        return 0.0
    return max(remark.details.get("considered", {}).values(), default=0.0)


def _left_for_room(result: Transformed, launchable: Launchable) -> dict[str, str]:
    """Why kernels are to be left alone as far as nobody asked for what was chosen in them."""
    chosen = {name: list(filter(_is_chosen, mine)) for name, mine in result.remarks.items()}
    little = {
        name: why
        for name, why in launchable.spilling.items()
        if all(one.details["expected"] < SPILLED_GAIN for one in chosen.get(name, ()))
    }
    every = {**launchable.crowded, **little}
    return {name: why for name, why in every.items() if chosen.get(name)}


def _keeps_warps(remark: Remark) -> bool:
    return not remark.details.keys().isdisjoint(BOUNDS.values())


def _is_chosen(remark: Remark) -> bool:
    return remark.applied and not remark.is_asked and "considered" in remark.details


def measured(before: str, result: Transformed, options: Options) -> Remarks:
    """Remarks that also tell what a thread of an applied path's kernel takes, and what then fits.

    These stay out where ptxas alone cannot assemble the file.
    """
    pair = resources_of(before, result.ptx)
    stacks: tuple[dict[str, int], ...] = ({}, shares(result.ptx))
    told = {}
    for name, remarks in result.remarks.items():
        found = [resources[name] for resources in pair if name in resources]
        more: dict[str, Any] = {}
        if len(found) == 2 and any(one.applied for one in remarks):
            usual = max(one.details.get(STACK_THREADS, 0) for one in remarks)
            block, dynamic = usual or result.blocks[name], options.dynamic_shared or 0
            more["block_threads"] = block
            for when, one, share in zip(("before", "after"), found, stacks, strict=True):
                total = dynamic + added(share.get(name, 0), block)
                more[f"registers_{when}"] = one.registers
                more[f"occupancy_{when}"] = _fraction(target_of(before), one, block, total)
        told[name] = [
            replace(one, details={**one.details, **more}) if one.applied else one for one in remarks
        ]
    return told


def _fraction(arch: str, needed: Resources, block: int, dynamic: int) -> float | None:
    """The share of a multiprocessor's warps that a kernel can have; None where that is unknown."""
    try:
        room = occupancy(arch, needed.registers, needed.shared + dynamic, block)
    except CccError:
        return None
    return round(room.fraction, 4)


def _counting_blocks(remarks: Remarks) -> list[str]:
    """The kernels that count how many of their blocks are resident, for which registers matter."""
    return [
        name for name, mine in remarks.items() if any(one.details.get("resident") for one in mine)
    ]
