"""Blocks with more warps than there are stacks run the loop as it was, and others collect."""

from __future__ import annotations

from dataclasses import replace

import pytest
from folders import GOLDEN
from goldens import Golden

from ccc.emulator import Module
from ccc.harness.equivalence import Launch, difference, run


@pytest.mark.parametrize("block", ["256", "257", "288", "1024", "(17,17)", "(8,8,8)", "(1,300)"])
@pytest.mark.parametrize(
    ("name", "launch"),
    [
        ("small/blocks_beyond", "grid=30 block={} args=u32[32000]~0:100 s32:32000"),
        ("context-collection/blocks_without_stacks",
         "grid=2 block={} args=s32:3000 f64[96000]~0:1 f64[3000]=0"),
        ("context-collection/tiles_of_usual_blocks",
         "grid=2 block={} args=s32:3000 u32[3000]~0:100000 u32[3000]=0"),
    ],
)  # fmt: skip
def test_blocks_of_any_size_leave_the_same_memory(name: str, launch: str, block: str) -> None:
    golden = Golden.read(GOLDEN / f"{name}.ptx")
    launched = Launch.parse(f"// run: {launch.format(block)}")
    few = replace(golden, options=replace(golden.options, multiprocessors=1))
    before, after = (
        run(Module(ptx), "k", launched)[0] for ptx in (golden.before, few.transform().ptx)
    )
    assert difference(before, after) is None
