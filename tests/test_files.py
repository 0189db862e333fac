"""Results are written whole, into whatever the user named."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ccc import files
from ccc.errors import CccError


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """A device of our own that is always full, as /dev/full is."""
    path = tmp_path / "full"
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 7))
        path.open("w").close()
    except PermissionError:
        pytest.skip("no device can be made here")
    return path


def test_a_file_is_whole_or_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "result"
    files.write(path, "first\n")
    assert path.read_text() == "first\n"

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fails)
    with pytest.raises(CccError) as caught:
        files.write(path, "second\n")
    monkeypatch.undo()
    said = f"{path}: error: cannot write the file: No space left on device"
    assert str(caught.value) == said
    assert path.read_text() == "first\n"
    assert os.listdir(tmp_path) == ["result"]


def test_a_long_name(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    files.write(path, b"\0\1")
    assert path.read_bytes() == b"\0\1"


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link"
    link.symlink_to(Path("folder", "file"))
    for text in ("not there yet", "there"):
        files.write(link, text)
        assert link.is_symlink()
        assert (tmp_path / "folder" / "file").read_text() == text
    assert os.listdir(tmp_path / "folder") == ["file"]


def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    files.check_writable(pipe)
    files.write(pipe, "through\n")
    reader.join()
    assert read == ["through\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_is_written_into(full: Path) -> None:
    files.check_writable(full)
    with pytest.raises(CccError, match=r"full: error: cannot write the file: No space left"):
        files.write(full, "text")
    assert stat.S_ISCHR(full.stat().st_mode)


def test_full_standard_output_is_named(full: Path) -> None:
    code = "import sys; from ccc.cli import cccc; sys.exit(cccc(['--ccc-help']))"
    with full.open("w") as output:
        done = subprocess.run(
            [sys.executable, "-c", code],
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "ccc: error: standard output: No space left on device\n"


def test_text_for_a_compiler_names_its_file(full: Path) -> None:
    with pytest.raises(OSError, match="full") as caught:
        files.put_text(full, "text")
    assert caught.value.filename == str(full)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("folder", "it is a folder"),
        ("none/file", "there is no such folder"),
        ("file/file", "Not a directory"),
        ("circle", "Too many levels of symbolic links"),
    ],
)
def test_what_cannot_be_written_is_told_before(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "circle").symlink_to("circle")
    path = tmp_path / name
    with pytest.raises(CccError) as caught:
        files.check_writable(path)
    assert str(caught.value) == f"{path}: error: cannot write the file: {said}"
    with pytest.raises(CccError, match=f"cannot write the file: {said}$"):
        files.write(path, "text")
    assert sorted(os.listdir(tmp_path)) == ["circle", "file", "folder"]


def test_what_can_be_written_is_left_alone(tmp_path: Path) -> None:
    for path in (tmp_path / "new", "-"):
        files.check_writable(path)
    assert os.listdir(tmp_path) == []


def test_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    files.write("-", "text\n")
    sys.stdout.flush()
    files.write("-", b"\0\1")
    sys.stdout.flush()
    assert capfdbinary.readouterr().out == b"text\n\0\1"


@pytest.fixture
def cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Folders to which the user may not write, though the tests' may be anybody, even root."""
    found: list[str] = []
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path not in found and may(path, mode))
    for name in ("CCC_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return found


@pytest.mark.usefixtures("cannot_be_written")
def test_the_cache_of_a_user_whom_nobody_knows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As in a container, where there may be no home, either."""
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 987654)
    assert str(files.folder()) in ("/.cache/ccc", f"/tmp/ccc-{os.geteuid()}")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert files.folder() == tmp_path / ".cache/ccc"


def test_who_may_not_write_his_own_cache_has_one_among_temporary_files(
    cannot_be_written: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    own = tmp_path / f"ccc-{os.geteuid()}"
    assert files.folder() == home / ".cache/ccc"
    assert not own.exists()
    cannot_be_written.append(str(tmp_path))  # the nearest folder that there is
    assert files.folder() == own
    assert own.stat().st_mode & 0o777 == 0o700
    (home / ".cache/ccc").mkdir(parents=True)
    assert files.folder() == home / ".cache/ccc"
    monkeypatch.setenv("CCC_CACHE_DIR", "elsewhere")
    assert files.folder() == Path("elsewhere").resolve()


@pytest.mark.parametrize("make", ["writable", "link", "file"])
def test_a_folder_that_somebody_else_may_write_is_no_cache(
    make: str, cannot_be_written: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home, place = tmp_path / "home", tmp_path / f"ccc-{os.geteuid()}"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    cannot_be_written.append(str(home))
    if make == "link":
        place.symlink_to(home)
    elif make == "file":
        place.touch()
    else:
        place.mkdir()
        place.chmod(0o777)
    beside = files.folder()
    assert beside.parent == tmp_path
    assert beside.name.startswith(f"ccc-{os.geteuid()}.")
    assert beside.stat().st_mode & 0o777 == 0o700
    (tmp_path / f"ccc-{os.geteuid()}.").symlink_to(home)
    assert files.folder() == beside  # in the next run, too
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    assert files.folder() == home / ".cache/ccc"
