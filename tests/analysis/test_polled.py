"""Atomic operations that look at memory and leave it as it is."""

from __future__ import annotations

import pytest
from test_local_memory import facts_of

from ccc.analysis.polled import changes_nothing
from ccc.ptx.opcodes import ATOMICS


@pytest.mark.parametrize(
    ("operation", "keeps"),
    [
        ("atom.global.add.u32 %r1, [%rd1], 0", True),
        ("atom.global.add.u32 %r1, [%rd1], 1", False),
        ("atom.global.add.u32 %r1, [%rd1], %r2", False),
        ("mov.b32 %r2, 0; atom.global.add.u32 %r1, [%rd1], %r2", True),
        ("atom.global.and.b32 %r1, [%rd1], -1", True),
        ("atom.global.and.b32 %r1, [%rd1], 4294967295", True),
        ("atom.global.and.b32 %r1, [%rd1], 0", False),
        ("atom.global.and.b64 %rd2, [%rd1], 4294967295", False),
        ("atom.global.max.u32 %r1, [%rd1], 0", True),
        ("atom.global.max.s32 %r1, [%rd1], 0", False),
        ("atom.global.max.s32 %r1, [%rd1], -2147483648", True),
        ("atom.global.max.s64 %rd2, [%rd1], -2147483648", False),
        ("atom.global.min.s32 %r1, [%rd1], 2147483647", True),
        ("atom.global.min.u32 %r1, [%rd1], 2147483647", False),
        ("atom.global.min.u32 %r1, [%rd1], -1", True),
        ("red.global.or.b32 [%rd1], 0", True),
        ("red.global.xor.b32 [%rd1], 1", False),
        ("atom.global.exch.b32 %r1, [%rd1], 0", False),
        ("atom.global.inc.u32 %r1, [%rd1], 0", False),
        ("atom.global.cas.b32 %r1, [%rd1], 1, 1", True),
        ("atom.global.cas.b32 %r1, [%rd1], 0, 1", False),
        # of a negative zero it makes one without a sign
        ("mov.b32 %r2, 0; atom.global.add.f32 %r1, [%rd1], %r2", False),
    ],
)
def test_what_leaves_memory_as_it_is(operation: str, keeps: bool) -> None:
    facts = facts_of(f"{operation};")
    (atomic,) = (one for one in facts.function.instructions if one.name in ATOMICS)
    assert changes_nothing(atomic, facts) == keeps
