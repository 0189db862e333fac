"""Who waits for whom at a barrier."""

from __future__ import annotations

import pytest

from ccc.ir.nodes import Instruction
from ccc.ptx.barriers import brings_the_warp_together, is_of_block, number_and_counts


@pytest.mark.parametrize(
    ("opcode", "of_block"),
    [
        ("bar.sync", True),
        ("barrier.sync.aligned", True),
        ("bar.red.popc.u32", True),
        ("bar.arrive", False),
        ("bar.warp.sync", False),
        ("barrier.cluster.wait", False),
        ("mbarrier.try_wait.shared.b64", False),
        ("cp.async.wait_all", False),
    ],
)
def test_what_threads_of_a_block_wait_at(opcode: str, of_block: bool) -> None:
    one = Instruction(opcode)
    assert is_of_block(one.name, one.modifiers) == of_block


@pytest.mark.parametrize(
    ("opcode", "operands", "told"),
    [
        ("bar.sync", "0", "0"),
        ("bar.sync", "0 64", "0 64"),
        ("bar.red.or.pred", "%p1 0 %p2", "0"),
        ("bar.red.popc.u32", "%r1 0 64 %p2", "0 64"),
    ],
)
def test_which_operands_tell_the_barrier_and_the_threads(
    opcode: str, operands: str, told: str
) -> None:
    modifiers = Instruction(opcode).modifiers
    assert number_and_counts(modifiers, operands.split()) == told.split()


@pytest.mark.parametrize(
    ("opcode", "operands", "together"),
    [
        ("bar.sync", "0", True),
        ("bar.sync", "1 64", True),
        ("barrier.sync", "0", True),
        ("barrier.sync", "1 64", False),
        ("bar.arrive", "1 64", False),
        ("cp.async.wait_group", "0", False),
        ("mbarrier.try_wait.shared.b64", "%p [%r] %rd", False),
        ("griddepcontrol.launch_dependents", "", False),
    ],
)
def test_where_a_warp_comes_together(opcode: str, operands: str, together: bool) -> None:
    one = Instruction(opcode)
    assert brings_the_warp_together(one.name, one.modifiers, operands.split()) == together
