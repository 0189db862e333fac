"""Finding nvcc, and the door into it.

nvcc reads ``nvcc.profile`` in the folder of the name it was started by. :func:`hook` makes a
folder that looks like the toolkit's ``bin``, with one profile changed so that ``cicc`` (CUDA to
PTX) and ``cudafe++`` (CUDA to host C++) are first looked for in ours.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ccc import files as cache
from ccc.errors import CccError

INSTALL = 'pip install "cuda-toolkit[nvcc,cudart,cccl]==13.0.*"'
RESOLVING = "CCC_RESOLVING"  # set while a candidate is asked who it is: cccc itself is no answer

# Without one of our pragmas in its input a shim is the real tool, and no Python is started.
_SHIM = """\
#!/bin/sh
for argument; do case $argument in *.ii) input=$argument ;; esac; done
if LC_ALL=C grep -q '^[[:space:]]*#[[:space:]]*pragma[[:space:]][[:space:]]*ccc' \\
    -- "${{input-/dev/null}}"; then
    exec {python} {launcher} {name} {tool} "$@"
fi
exec {tool} "$@"
"""
_LAUNCHER = "from ccc.nvcc.cicc import main\n\nraise SystemExit(main())\n"


@dataclass(frozen=True, slots=True)
class Toolkit:
    """One CUDA toolkit: its ``bin`` folder, and the folder that holds ``cicc``."""

    bin: Path
    cicc: Path

    @property
    def nvcc(self) -> Path:
        """The real nvcc."""
        return self.bin / "nvcc"


def find(nvcc: str | None = None) -> Toolkit:
    """The toolkit of ``nvcc``, or the first one found.

    Looked for, in this order: ``CCC_NVCC``, ``CUDA_HOME``, ``CUDA_PATH``, ``PATH``, and the wheels
    of the running Python.

    Raises:
        CccError: there is none, or the one that was asked for cannot be used.
    """
    wanted = nvcc or os.environ.get("CCC_NVCC")
    if wanted:
        toolkit = _resolve(wanted)
        if toolkit is None:
            raise CccError(f"{wanted} is no usable nvcc; point CCC_NVCC at the nvcc of a toolkit")
        return toolkit
    for candidate in _candidates():
        toolkit = _resolve(candidate)
        if toolkit:
            return toolkit
    raise CccError(
        "nvcc was not found: set CUDA_HOME to a CUDA toolkit, put its nvcc on the PATH, "
        f"or install one with {INSTALL}"
    )


def hook(toolkit: Toolkit) -> Path:
    """The nvcc to start so that our shims run; its folder is made once and kept.

    Raises:
        CccError: the cache folder cannot be written.
    """
    home = cache.folder() / "toolchains" / _key(toolkit)
    if not home.is_dir():
        try:
            _build(toolkit, home)
        except OSError as error:
            raise cache.refused(error) from error
    return home / "bin" / "nvcc"


def _candidates() -> Iterator[str]:
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(name):
            yield os.path.join(os.environ[name], "bin", "nvcc")
    on_path = shutil.which("nvcc")
    if on_path:
        yield on_path
    for folder in sys.path:
        wheels = sorted(Path(folder, "nvidia").glob("cu[0-9]*/bin/nvcc"), reverse=True)
        yield from map(str, wheels)


def _resolve(nvcc: str) -> Toolkit | None:
    """Ask an nvcc, which may be a wrapper script or a link, where it lives."""
    command = [nvcc, "--dryrun", "-E", "-x", "cu", os.devnull]
    try:
        answer = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            env={**os.environ, RESOLVING: "1"},
            check=False,
        )
    except OSError:
        return None
    said = dict(re.findall(r"^#\$ (\w+)=(.*)$", answer.stderr, re.MULTILINE))
    if answer.returncode or "_HERE_" not in said or "CICC_PATH" not in said:
        return None
    return Toolkit(Path(said["_HERE_"]), Path(said["CICC_PATH"]))


def _shims(toolkit: Toolkit, home: Path) -> dict[str, str]:
    tools = {"cicc": toolkit.cicc / "cicc", "cudafe++": toolkit.bin / "cudafe++"}
    return {
        name: _SHIM.format(
            python=shlex.quote(sys.executable),
            launcher=shlex.quote(str(home / "launch.py")),
            name=name,
            tool=shlex.quote(str(tool)),
        )
        for name, tool in tools.items()
    }


def _profile(toolkit: Toolkit, home: Path) -> str:
    """The toolkit's profile, its paths fixed to the toolkit, and ``CICC_PATH`` to ours."""
    text = (toolkit.bin / "nvcc.profile").read_text()
    text = text.replace("$(_HERE_)", str(toolkit.bin))
    text, count = re.subn(
        r"^CICC_PATH\b.*$", lambda _: f"CICC_PATH = {home / 'shims'}", text, flags=re.MULTILINE
    )
    if not count:
        raise CccError(f"{toolkit.bin / 'nvcc.profile'} does not set CICC_PATH: unknown toolkit")
    libraries = toolkit.bin.parent / "lib"
    if not libraries.with_name("lib64").exists():  # the wheels have lib, the profile says lib64
        text += f'\nLIBRARIES =+ $(_SPACE_) "-L{libraries}/stubs" "-L{libraries}"\n'
    return text


def identity(toolkit: Toolkit) -> list[str]:
    """What tells one toolkit from another, and from a later one in the same place."""
    nvcc = toolkit.nvcc.stat()
    return [str(toolkit), str(nvcc.st_mtime_ns), str(nvcc.st_size)]


def _key(toolkit: Toolkit) -> str:
    """A name for the hooked folder: whatever it is made of changes it."""
    here = Path("HOME")
    parts = [*identity(toolkit), _LAUNCHER]
    parts += [_profile(toolkit, here), *_shims(toolkit, here).values()]
    return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()[:16]


def _build(toolkit: Toolkit, home: Path) -> None:
    """Make the folder beside its place, then move it there: parallel builds see all or nothing."""
    home.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".new-", dir=home.parent))
    try:
        made.chmod(0o755)
        _fill(toolkit, made, home)
        made.rename(home)
    except OSError:
        if not home.is_dir():  # else another build was first
            raise
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _fill(toolkit: Toolkit, made: Path, home: Path) -> None:
    for folder in ("bin", "shims"):
        (made / folder).mkdir()
    for entry in toolkit.bin.iterdir():
        if entry.name != "nvcc.profile":
            (made / "bin" / entry.name).symlink_to(entry)
    # nvcc looks for these beside its bin folder; "targets" decides how it names the libraries.
    for entry in toolkit.bin.parent.iterdir():
        if entry.name != "bin":
            (made / entry.name).symlink_to(entry)
    (made / "bin" / "nvcc.profile").write_text(_profile(toolkit, home))
    (made / "launch.py").write_text(_LAUNCHER)
    for name, text in _shims(toolkit, home).items():
        path = made / "shims" / name
        path.write_text(text)
        path.chmod(0o755)
