"""What was learnt of shapes is kept between runs, and Lark is asked for new ones only."""

from __future__ import annotations

from pathlib import Path

import pytest

from ccc.parse import keep_shapes, shapes

TEXTS = [
    ("statement", "add.s32 %r1, %r2, 5"),
    ("statement", "@!%p1 ld.global.v2.u32 {%r1, %r2}, [%rd3+-16]"),
    ("statement", "mov.u32 %r1, ((128>>4)<<16)+-8"),
    ("variables", ".global .align 4 .u32 x[2] = {1, generic(y)+4}"),
    ("header", ".visible .entry k(.param .u64 p) .maxntid 256, 1, 1"),
]


def start(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a process that knows nothing."""
    monkeypatch.setattr(shapes, "_shapes", shapes._Shapes())


def told() -> list[str]:
    """All texts, read."""
    return [f"{tree} {leaves}" for tree, leaves in (shapes.read(*one) for one in TEXTS)]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CCC_CACHE_DIR", str(tmp_path))
    start(monkeypatch)
    return tmp_path / "shapes"


def test_later_processes_need_no_grammar(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = told()
    keep_shapes()
    (file,) = kept.iterdir()
    written = file.stat().st_mtime_ns

    def fail() -> None:
        raise AssertionError("the grammar is loaded")

    start(monkeypatch)
    with monkeypatch.context() as later:
        later.setattr(shapes, "load_grammar", fail)
        assert told() == first
        numbers = shapes.read("statement", "add.s32 %r7, %r80, 900")[1]
        assert sorted(numbers) == ["%r7", "%r80", "900", "add.s32"]
        keep_shapes()
        assert file.stat().st_mtime_ns == written
        with pytest.raises(AssertionError, match="grammar"):
            shapes.read("statement", "sub.s32 %r1, %r2, 5")
    shapes.read("statement", "sub.s32 %r1, %r2, 5")
    keep_shapes()
    assert file.stat().st_mtime_ns > written


@pytest.mark.parametrize("content", [b"", b"no marshal", b"i\x05\x00\x00\x00"])
def test_a_damaged_file_is_made_again(
    kept: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = told()
    keep_shapes()
    (file,) = kept.iterdir()
    whole = file.stat().st_size
    file.write_bytes(content)
    start(monkeypatch)
    assert told() == first
    keep_shapes()
    assert file.stat().st_size == whole


def test_what_fits_no_rule_has_a_position(kept: Path) -> None:
    with pytest.raises(shapes.NoShape) as wrong:
        shapes.read("statement", "add.s32 %r1, , 5")
    assert wrong.value.position == len("add.s32 %r1, ")
    keep_shapes()
    assert not kept.exists()


@pytest.mark.parametrize(
    ("known", "other"),
    [
        ("mov.b32 %r1, -1", "mov.b32 %r1, -0f3F800000"),
        ("ld.local.b32 %r1, [a+4]", "ld.local.b32 %r1, [a+0f00000004]"),
        ("mov.b64 %rd1, 1+2", "mov.b64 %rd1, 1+0d3FF0000000000000"),
        (".reg .b32 %r<5>", ".reg .b32 %r<0f3F800000>"),
        ("mov.b32 %r1, 0b1", "mov.b32 %r1, 0b2"),
        ("mov.f32 %f1, 1.5", "mov.f32 %f1, 1.0x1f"),
        ("mov.f32 %f1, 1.5", "mov.f32 %f1, 0x1.5"),
        ("mov.f32 %f1, 1e5", "mov.f32 %f1, 0b1e5"),
    ],
)
@pytest.mark.usefixtures("kept")
def test_numbers_stand_where_the_grammar_allows_them(known: str, other: str) -> None:
    shapes.read("statement", known)
    with pytest.raises(shapes.NoShape):
        shapes.read("statement", other)
