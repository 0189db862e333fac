"""What compilers made is remembered only as long as nothing that they read is another."""

from __future__ import annotations

from pathlib import Path

import pytest
import remembered
from device_code import device_code
from emulating import needs_nvcc

pytestmark = [needs_nvcc, pytest.mark.usefixtures("few_headers")]

KERNEL = "__global__ void k(int *p) { p[0] = %s; }\n"


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "kept"
    folder.mkdir()
    monkeypatch.setattr(remembered, "folder", folder)
    return folder


def made(source: Path, *options: str) -> str:
    return device_code(source, "-arch=sm_90", *options)


@pytest.mark.parametrize("where", ["more.cuh", "../../more.cuh", "more.cu"])
def test_a_header_that_was_changed_is_read_again(where: str, tmp_path: Path) -> None:
    source = tmp_path / "one" / "two" / "k.cu"
    source.parent.mkdir(parents=True)
    source.write_text(f'#include "{where}"\n' + KERNEL % "MORE")
    for number in (1234, 5678):
        (source.parent / where).write_text(f"#define MORE {number}\n")
        assert f", {number};" in made(source)


def test_text_and_options_are_told_apart_and_folders_are_not(tmp_path: Path, kept: Path) -> None:
    found = []
    for name in ("one", "two"):
        source = tmp_path / name / "k.cu"
        source.parent.mkdir()
        source.write_text(KERNEL % "MORE")
        found += [made(source, "-lineinfo", f"-DMORE={number}") for number in (1234, 5678)]
        assert all(str(source) in one for one in found[-2:])
        source.write_text(KERNEL % 91011)
        assert ", 91011;" in made(source)
    assert [", 1234;" in one for one in found] == [True, False] * 2
    assert len(list(kept.iterdir())) == 3


def test_what_is_damaged_is_made_again(tmp_path: Path, kept: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text(KERNEL % 7)
    before = made(source)
    (file,) = kept.iterdir()
    for damaged in (b"", b"no code", file.read_bytes()[:20]):
        file.write_bytes(damaged)
        assert made(source) == before
