"""Whether stacks have room in shared memory, and what is said where they have none.

No pass; the policy and the choice ask it.
"""

from __future__ import annotations

from dataclasses import replace

from ccc.analysis.paths.carried_values import LEAVE_TO_LOOP
from ccc.analysis.paths.locate import copies
from ccc.errors import CccError
from ccc.passes.context_collection.layout import Plan, on_paper
from ccc.passes.launch_shape import (
    LEAST_BLOCKS,
    SIZES,
    is_block_size_known,
    known_block_size,
    share_of_each,
    shared_bytes,
    shared_room,
    stack_warps,
)
from ccc.passes.strategies.strategy import WORD_BYTES, Choice
from ccc.pipeline import Kernel, PathRecord
from ccc.ptx.dynamic_stack import added
from ccc.ptx.occupancy import occupancy
from ccc.ptx.types import DEFAULT_SHARED_BYTES, WARP_SIZE
from ccc.remark import IN_SHARED_MEMORY, OF_ALL_PATHS

ABOUT_AS_MANY = "and about as many by __launch_bounds__, with which nvcc makes other code"
UNLESS = ", unless nvcc makes other code for them"
"""What is compiled for blocks of another size may have other contexts."""
ONE_COPY = (
    "nvcc has made {} copies of it, of which each takes room: mark the loop around it that was "
    'unrolled "ccc while", if no "#pragma unroll" of yours asks for them'
)
DYNAMIC = (
    "the kernel has dynamic shared memory, and with the stack it might be more than a launch gets; "
    "say with --ccc-dynamic-shared=N how many bytes a launch asks for at most"
)


def resident(kernel: Kernel, share: int) -> int:
    """How many blocks a multiprocessor holds if each warp has a share of so many bytes."""
    block = known_block_size(kernel.function, kernel.options.max_block)
    needed = _used(kernel) + added(share, block)
    try:
        return occupancy(kernel.arch, kernel.registers or 0, needed, block).blocks
    except CccError:  # an architecture that is not known
        return 0


def why_no_stacks(kernel: Kernel) -> str | None:
    """Why no stack can be put beside the shared memory of the kernel, if none can."""
    if kernel.dynamic_shared_bytes is None:
        return DYNAMIC
    if kernel.callee_shared_bytes is None:
        return (
            f"the kernel calls {kernel.unseen_callee}, whose shared memory is not seen here, "
            "and with the stack it might be more than a block gets; say with "
            "--ccc-callee-shared=N how many bytes such functions take at most"
        )
    return None


def _used(kernel: Kernel) -> int:
    return shared_bytes(kernel) or 0


def room_of(kernel: Kernel) -> int:
    """The bytes that a warp can have: none where the kernel has more than a block gets already."""
    return max(shared_room(kernel), 0) // stack_warps(kernel)


def first_without_room(choice: Choice, kernel: Kernel, room: int) -> tuple[PathRecord, str]:
    """The first path that does not fit behind those that get stacks before it, and what to do
    about it. Without the loop around them, paths that carry its tasks can do nothing."""
    ranked = sorted(
        choice.decision.paths,
        key=lambda one: (one.path.carries_parent, kernel.ranks.get(one.path.key, 0)),
    )
    decision = replace(choice.decision, paths=tuple(ranked))
    layout = on_paper(replace(choice, decision=decision))
    header = decision.paths[0].path.loop.loop.header
    every = kernel.wanted_room.setdefault(header, layout.share)  # before any is left
    for plan in layout.plans:
        if plan.stack.entries and plan.end > room:
            return plan.record, _too_large(kernel, plan, every)
    told = f"a warp would take {layout.share} bytes of shared memory, and gets {room}"
    fits = _what_fits(kernel, layout.share)
    return layout.plans[0].record, told + fits  # sums alone are too large


def _too_large(kernel: Kernel, plan: Plan, every: int) -> str:
    """What is said of a path without room, where ``every`` one of its loop would take so many bytes
    a warp."""
    block = stack_warps(kernel) * WARP_SIZE
    used = _used(kernel) + plan.stack.offset * stack_warps(kernel)
    needed = plan.end
    entry = (plan.end - plan.stack.offset) // plan.stack.entries
    total = _used(kernel) + needed * stack_warps(kernel)
    if plan.path.marker.kind == "case" and every > shared_room(kernel):
        way_out = _room_for_some(plan, block)
    else:
        alike = len(copies(plan.path.marker, kernel.facts))
        way_out = _what_fits(kernel, needed, _smaller_context(kernel, plan), every, alike)
    return (
        f"its context of {entry} bytes a task does not {IN_SHARED_MEMORY} for "
        f"blocks of {block} threads beside the {used} bytes in use (a block would have {total} and "
        f"gets {_gets(kernel)}){way_out}"
    )


def _room_for_some(plan: Plan, block: int) -> str:
    """What to do about a case where not even blocks of one warp have room for all of them."""
    if plan.path.parent is not None:
        return f"; no block has room for all of the cases: {LEAVE_TO_LOOP}"
    return "; let blocks be smaller, so that more of the cases have room" * (block > WARP_SIZE)


def _gets(kernel: Kernel) -> str:
    """The bytes that a block gets, and why if it could have more."""
    is_shared_out = share_of_each(kernel) == kernel.shared_limit < DEFAULT_SHARED_BYTES
    blocks = kernel.function.limits[LEAST_BLOCKS][0] if is_shared_out else 0
    gets = f"{_used(kernel) + shared_room(kernel)}"
    return gets + (f", as {blocks} are to have room at once" if is_shared_out else "")


def _smaller_context(kernel: Kernel, plan: Plan) -> str:
    """How large a context there would be room for, if for any."""
    words = (room_of(kernel) - plan.stack.offset) // plan.stack.entries // WORD_BYTES
    return f"a context of {words * WORD_BYTES} bytes has room" if words > 0 else ""


def no_room(kernel: Kernel, share: int) -> str:
    """What is said of strategies whose stacks, of so many bytes a warp, are too large."""
    used = _used(kernel)
    beside = f" beside the {used} bytes in use" if used else ""
    return f"its stacks do not {IN_SHARED_MEMORY}{beside}{_what_fits(kernel, share)}"


def _what_fits(
    kernel: Kernel, share: int, smaller_context: str = "", every: int = 0, alike: int = 1
) -> str:
    """What would make room for so many bytes a warp, or for those of ``every`` path if that can be:
    smaller blocks, a smaller context, or launches that ask for more shared memory; nothing where
    none would. Of so many paths ``alike`` each would take something else: there had better be one.
    """
    room, of_all = max(shared_room(kernel), 0), ""
    if share < every <= room:
        share, of_all, smaller_context = every, OF_ALL_PATHS, ""
    elif every > room and alike > 1:
        return f"; {ONE_COPY.format(alike)}"
    fits = room // share * WARP_SIZE
    may_grow = kernel.takes_dynamic and kernel.shared_limit == DEFAULT_SHARED_BYTES
    limit = _used(kernel) + share * stack_warps(kernel) + kernel.dynamic_alignment
    is_compiled_for = any(one in kernel.function.limits for one in SIZES)
    unless = UNLESS if is_compiled_for else ""
    ways = [f"blocks of {fits} threads have room{of_all}{unless}" if fits else "", smaller_context]
    if fits and not is_block_size_known(kernel):
        say = "say how large its blocks are"
        ways = [f"{say}: {fits} fit{of_all} by --ccc-max-block, {ABOUT_AS_MANY}"]
    if may_grow and resident(kernel, share):
        more = f"--ccc-shared-limit={limit}, and the host adds what the report says to launches"
        ways.append(f"or {more}" if any(ways) else f"say {more}")
    return "".join(f"; {way}" for way in ways if way)
