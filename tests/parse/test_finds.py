"""What coverage-guided fuzzing has found (tests/support/fuzz_reader.py), a case for each."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz_reader import TARGETS, seeds

FINDS = {
    # The type is misspelt: bytes were taken for it, in which the initial values had no room.
    "emulator": ".version 9.0\n.global .fbrace64 u[2] = {1.5, 0d3FF8000000000000};",
    # There is no type at all behind how many parts a register has.
    "ptx": ".version 9.0\n.entry k() { .reg .v4 v; ret; }",
}


@pytest.mark.parametrize(("target", "text"), FINDS.items())
def test_what_was_found_is_read_or_refused(target: str, text: str) -> None:
    assert TARGETS[target](text.encode(errors="surrogateescape")) is None


@pytest.mark.parametrize("target", TARGETS)
def test_seeds_are_read(target: str, tmp_path: Path) -> None:
    seeds(target, tmp_path)
    for path in sorted(tmp_path.iterdir())[:6]:
        assert TARGETS[target](path.read_bytes()) is None
