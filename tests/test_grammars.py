"""The tables of the grammars, which are kept between runs."""

from __future__ import annotations

import io
from pathlib import Path

import lark
import pytest

from ccc import grammars

TEXT = "for reduction(+: sum)"


def load() -> lark.Lark:
    return grammars.load("pragma.lark", propagate_positions=True)


def words(parser: lark.Lark) -> list[tuple[str, int | None]]:
    tokens = parser.parse(TEXT).scan_values(lambda value: isinstance(value, lark.Token))
    return [(str(token), token.start_pos) for token in tokens]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CCC_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "grammars"


def test_tables_are_made_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = load()
    assert len(list(cache.iterdir())) == 1

    def fails(*_: object, **__: object) -> None:
        raise AssertionError("the tables are made again")

    monkeypatch.setattr(lark.Lark, "__init__", fails)
    assert words(load()) == words(first)
    assert words(first)


@pytest.mark.parametrize("content", [b"", b"\x80\x04.", b"no tables"])
def test_damaged_tables_are_made_again(cache: Path, content: bytes) -> None:
    expected = words(load())
    (kept,) = cache.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(content or whole[: len(whole) // 2])
    assert words(load()) == expected
    assert words(lark.Lark.load(io.BytesIO(kept.read_bytes()))) == expected


def test_a_cache_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCC_CACHE_DIR", "/dev/null/cache")
    assert words(load())


def test_each_grammar_and_its_options_have_tables_of_their_own(cache: Path) -> None:
    load()
    grammars.load("pragma.lark")
    grammars.load("ptx.lark", start=["header", "statement", "variable"])
    assert len(list(cache.iterdir())) == 3
