"""What the analyses say of whole kernels holds when the emulator runs them."""

from __future__ import annotations

from pathlib import Path

import breadth
import numpy as np
import pytest
from breadth import one_in
from emulating import needs_nvcc, ptx
from emulating import run as launch
from folders import GOLDEN
from goldens import Golden
from witness import Contradiction, Witness, poisoned, witnessed

from ccc.analysis.divergence import Divergence
from ccc.analysis.facts import Facts
from ccc.emulator import Module
from ccc.harness.equivalence import difference, run
from ccc.ir.nodes import Block, Instruction
from ccc.ir.operands import Register
from ccc.tools.fuzz import kernel
from ccc.tools.fuzz.build import build, name_of

pytestmark = pytest.mark.usefixtures("few_headers")

SCHEDULES = ("lockstep", 0)
SMALL = sorted((GOLDEN / "small").glob("*.ptx"))
OTHERS = sorted({*GOLDEN.glob("*/*.ptx")} - {*SMALL})
ORIGINALS = [*SMALL, *OTHERS[::9]]
"""Code of every kind, and not so much that it takes long."""


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", one_in(11, ORIGINALS), ids=name)
def test_lanes_agree_where_divergence_says_so(path: Path) -> None:
    golden = Golden.read(path)
    module = Module(golden.before)
    with witnessed():
        for schedule in SCHEDULES:
            run(module, "k", golden.launch, schedule=schedule)


@pytest.mark.parametrize("path", one_in(10, SMALL), ids=name)
def test_lanes_agree_in_code_that_the_passes_made(path: Path) -> None:
    golden = Golden.read(path)
    with witnessed():
        run(Module(golden.after), "k", golden.launch)


@pytest.mark.parametrize("path", one_in(11, ORIGINALS), ids=name)
def test_what_liveness_calls_dead_does_not_matter(path: Path) -> None:
    golden = Golden.read(path)
    expected, _ = run(Module(golden.before), "k", golden.launch)
    for schedule, predicates in zip(SCHEDULES, (True, False), strict=True):
        module = Module(poisoned(golden.before, predicates))
        found, _ = run(module, "k", golden.launch, schedule=schedule)
        assert difference(expected, found) is None


@needs_nvcc
@pytest.mark.slow
def test_kernels_of_the_fuzzer_do_what_is_said_of_them() -> None:
    kernels = [
        one
        for one in (kernel(3, number) for number in range(6 if breadth.runs_long else 3))
        if not one.spins
    ]
    text = build(kernels, "sm_90", "queue").original
    module = Module(text)
    junk = Module(poisoned(text, True))
    for number, one in enumerate(kernels):
        with witnessed():
            expected, _ = run(module, name_of(number), one.launch())
        found, _ = run(junk, name_of(number), one.launch())
        assert difference(expected, found) is None


# A wrong analysis is found


def golden(name: str) -> Golden:
    return Golden.read(GOLDEN / "context-collection" / f"{name}.ptx")


def test_something_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Witness, "watched", 0)
    one = golden("path_in_while")
    with witnessed():
        run(Module(one.before), "k", one.launch)
    assert Witness.watched > 1_000


def contradicted(name: str) -> str:
    one = golden(name)
    with witnessed(), pytest.raises(Contradiction) as caught:
        run(Module(one.before), "k", one.launch)
    return str(caught.value)


def test_a_source_of_divergence_that_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    is_source = Divergence.is_source

    def without_tid(self: Divergence, instruction: Instruction) -> bool:
        named = {special.register.name for special in instruction.specials()}
        return is_source(self, instruction) and not any("tid" in one for one in named)

    monkeypatch.setattr(Divergence, "is_source", without_tid)
    assert "differs between lanes" in contradicted("if_else")


WRITE = "add.u64 %x1, %p0, %x0; st.global.u32 [%x1], %r1;"
JOINED = f"""
    setp.gt.u32 %q0, %r0, 5; mov.u32 %r1, 1; @%q0 bra JOIN; mov.u32 %r1, 2;
JOIN: {WRITE}"""
LEFT = f"""
    mov.u32 %r1, 0;
AGAIN: add.u32 %r1, %r1, 1; setp.lt.u32 %q0, %r1, %r0; @%q0 bra AGAIN;
    {WRITE}"""


@pytest.mark.parametrize("body", [JOINED, LEFT])
def test_joins_that_are_forgotten(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What arms set, and what lanes take out of a loop in different iterations."""
    for schedule in SCHEDULES:
        with witnessed():
            launch(ptx(body), np.zeros(32, np.uint32), schedule=schedule)
    monkeypatch.setattr(Divergence, "_add_joins", lambda *_: None)
    for schedule in SCHEDULES:
        with witnessed(), pytest.raises(Contradiction, match="%r1 differs between lanes"):
            launch(ptx(body), np.zeros(32, np.uint32), schedule=schedule)


def test_a_divergent_branch_that_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Divergence, "_is_branch_divergent", lambda *_: False)
    assert "lanes go to" in contradicted("if_else")


def test_a_live_register_that_is_called_dead() -> None:
    def live(facts: Facts, block: Block) -> frozenset[Register]:
        inside = block.label in {loop.header for loop in facts.loops}
        registers = facts.liveness.live_in(block.label) if inside else frozenset()
        return frozenset(one for one in registers if one.bits == 32)

    one = golden("if_else")
    expected, _ = run(Module(one.before), "k", one.launch)
    found, _ = run(Module(poisoned(one.before, True, live), step_limit=10_000), "k", one.launch)
    assert difference(expected, found) is not None
