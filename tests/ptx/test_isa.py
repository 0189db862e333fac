"""Every instruction of PTX ISA 9.0 has a row, under the manual's section."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ccc.ir.nodes import Instruction
from ccc.ptx.opcodes import MANUAL, OPCODES

_LINES = (Path(__file__).parent / "isa.txt").read_text().splitlines()
SECTIONS: list[tuple[str, str, str]] = [
    (number, anchor + re.sub(r"\W|_", "-", word) if anchor.endswith("-") else anchor, word)
    for number, anchor, *words in map(str.split, _LINES)
    for word in words
]
"""The manual's section, its anchor and the instruction, in the manual's order."""

SHARED = {
    "add.cc": "add", "sub.cc": "sub", "mad.cc": "mad", "shfl": "shfl", "vote": "vote",
    "ld.global.nc": "ld", "tcgen05.wait::ld": "tcgen05.wait", "tcgen05.wait::st": "tcgen05.wait",
    "bar.warp.sync": "bar", "rcp.approx.ftz.f64": "rcp", "rsqrt.approx.ftz.f64": "rsqrt",
}  # fmt: skip
"""Instructions whose section is not their row's: another form is, which shares the row."""


@pytest.mark.parametrize(("number", "anchor", "word"), SECTIONS)
def test_every_instruction_has_a_row(number: str, anchor: str, word: str) -> None:
    row = Instruction(word).row
    assert row is not None, f"{word} of section {number} has no row"
    if word in SHARED:
        assert row.name == SHARED[word]
    elif not _belongs_to_numbers(number):
        assert row.doc == f"{MANUAL}#{anchor}"


def _belongs_to_numbers(section: str) -> bool:
    """Whether instructions of the same names work on integers, too, and share their rows."""
    return section in ("9.7.3", "9.7.4", "9.7.5", "9.7.7")


def test_every_row_is_an_instruction_of_the_manual() -> None:
    rows = {row.name for _, _, word in SECTIONS if (row := Instruction(word).row)}
    extra = {"mbarrier.arrive.expect_tx", "mbarrier.arrive_drop.expect_tx", "tcgen05.ld.red"}
    assert set(OPCODES) == rows | extra, "a row is no instruction of the manual, or a section lacks"
