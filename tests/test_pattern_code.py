"""Patterns that come from the cache are what they are without it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ccc import kept_code, pattern_code

PATTERNS = [
    (r"(?P<name>[a-z]\w*)(?:\s*=\s*(?P<value>\d+|\"[^\"]*\"))?", 0),
    (r"^\s*#\s*(if|else)\b.*$", re.MULTILINE),
    (r"(?i:STRASSE|[À-Ü]+) (?# no more)", re.VERBOSE),
    (r"(?s)a.b|[^\W\d_]{2,3}?x(?<=xx)(?!y)", re.ASCII | re.IGNORECASE),
]
TEXTS = ['count = 12 name="x"', "  # if A\nb\n#else", "straße ÄÖÜ", "A\nB aaxx zzxxy", ""]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CCC_CACHE_DIR", str(tmp_path))
    return tmp_path / "patterns"


def compiled() -> list[re.Pattern[str]]:
    re.purge()
    return [re.compile(pattern, flags) for pattern, flags in PATTERNS]


def described(pattern: re.Pattern[str]) -> tuple[Any, ...]:
    found = [[one.groupdict() or one.groups() for one in pattern.finditer(t)] for t in TEXTS]
    return pattern.pattern, pattern.flags, pattern.groups, dict(pattern.groupindex), found


def test_they_are_compiled_once(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = compiled()
    with pattern_code.kept():
        assert compiled() == expected
    (file,) = kept.iterdir()
    written = file.stat().st_mtime_ns

    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("compiled again")

    compiler = pattern_code._compiler()
    assert compiler is not None
    with pattern_code.kept():
        monkeypatch.setattr(compiler, "_code", fail)
        again = compiled()
        monkeypatch.undo()
    assert again == expected
    assert [*map(described, again)] == [*map(described, expected)]
    assert file.stat().st_mtime_ns == written


def test_afterwards_all_is_as_before(kept: Path) -> None:
    compiler = pattern_code._compiler()
    before = dict(vars(compiler))
    with pattern_code.kept():
        compiled()
        with pytest.raises(re.error, match="unterminated"):
            re.compile("(unterminated")
        assert re.compile(b"[a-f]+").findall(b"xbad") == [b"bad"]
    assert vars(compiler) == before
    assert kept.exists()


def test_a_damaged_file_is_made_again(kept: Path) -> None:
    with pattern_code.kept():
        expected = compiled()
    (file,) = kept.iterdir()
    whole = file.read_bytes()
    for damaged in (b"", b"no marshal", whole[: len(whole) // 2]):
        file.write_bytes(damaged)
        with pattern_code.kept():
            assert compiled() == expected
        assert len(file.read_bytes()) >= len(whole)


def test_a_python_that_compiles_otherwise(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern_code, "_compiler", lambda: None)
    with pattern_code.kept():
        compiled()
    assert not kept.exists()


def test_of_many_those_that_are_used_stay(kept: Path) -> None:
    for number in range(4):
        code = kept_code.KeptCode("patterns", 3)
        assert code.of(f"{number}", lambda number=number: number) == number  # type: ignore[misc]
        code.save()
    (file,) = kept.iterdir()
    assert kept_code._load(str(file)).keys() == {"2", "3"}
