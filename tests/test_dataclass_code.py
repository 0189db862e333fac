"""Dataclasses whose methods come from the cache are what they are without it."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ccc import dataclass_code


def make() -> type[Any]:
    @dataclasses.dataclass(frozen=True, slots=True, order=True)
    class Point:
        x: int
        y: list[int] = dataclasses.field(default_factory=list)

    return Point


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CCC_CACHE_DIR", str(tmp_path))
    return tmp_path / "dataclasses"


def check(point: type[Any]) -> None:
    one, other = point(1, [2]), point(1, [2])
    assert one == other
    assert point(1) < point(2)
    assert repr(point(3)).endswith("Point(x=3, y=[])")
    assert point(1).y is not point(1).y
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.x = 2
    with pytest.raises(TypeError, match="unexpected keyword"):
        point(z=1)


def test_methods_are_compiled_once(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with dataclass_code.kept():
        check(make())
    assert "exec" not in vars(dataclasses)
    (file,) = kept.iterdir()
    written = file.stat().st_mtime_ns

    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("compiled again")

    with dataclass_code.kept():
        monkeypatch.setattr(dataclass_code, "compile", fail, raising=False)
        check(make())
    assert file.stat().st_mtime_ns == written


def test_a_damaged_file_is_made_again(kept: Path) -> None:
    with dataclass_code.kept():
        make()
    (file,) = kept.iterdir()
    whole = file.read_bytes()
    for damaged in (b"", b"no marshal", whole[: len(whole) // 2]):
        file.write_bytes(damaged)
        with dataclass_code.kept():
            check(make())
        assert len(file.read_bytes()) >= len(whole)


def test_a_cache_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCC_CACHE_DIR", "/dev/null/cache")
    with dataclass_code.kept():
        check(make())


def test_a_process_of_ours_finds_its_packages(tmp_path: Path) -> None:
    """Where Python looks for none itself, as a shim has it."""
    from ccc.toolkit import hook

    folders = hook._folders()
    assert folders
    code = f"import sys; sys.path += {folders}; import ccc.nvcc.device_pass"
    told = {"CCC_CACHE_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    subprocess.run([sys.executable, "-S", "-X", "utf8", "-c", code], check=True, env=told)
