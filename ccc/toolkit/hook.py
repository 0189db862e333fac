"""The door into nvcc.

nvcc reads ``nvcc.profile`` in the folder of the name it was started by. :func:`hook` makes a
folder that looks like the toolkit's ``bin``, with one profile changed so that ``cicc`` (CUDA to
PTX) and ``cudafe++`` (CUDA to host C++) are first looked for in a folder of ours, which the
variable ``CCC_SHIMS`` names: a tool that is told by nvcc what to run, and runs that itself, finds
there all that was asked for.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from ccc import files as cache
from ccc import header
from ccc.toolkit.find import Toolkit, identity
from ccc.toolkit.places import SHIMS
from ccc.toolkit.ptxas import PTXAS

# Without one of our pragmas in its input a shim is the real tool, and no Python is started. What
# looks like one, as "#pragma CCC for", is told by frontend/misspelt.py; "#pragma GCC" never is.
_SHIM = """\
#!/bin/sh
for argument; do case $argument in *.ii) input=$argument ;; esac; done
if LC_ALL=C grep -qiE '^[[:space:]]*#[[:space:]]*pragma[[:space:]]+[a-fh-z]?c[a-z]?c' \\
    -- "${{input-/dev/null}}"; then
    {variable}={ptxas} exec {python} {launcher} {name} {tool} "$@"
fi
exec {tool} "$@"
"""
_LAUNCHER = """\
import _signal  # of which signal takes time to load
import sys

if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # it ends us, and Python does not tell where

sys.path += {folders!a}

from ccc.nvcc.shim import run

run()
"""
_NEEDED = ("lark", "pycparser", "tree_sitter", "tree_sitter_cuda")
"""The packages that a shim may load."""


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


def told(nvcc: Path, settings: str) -> Path:
    """A folder of shims for the hooked ``nvcc`` that do what the variables in ``settings`` say.

    ``settings`` are lines of a shell. So the file itself differs where something else is asked for,
    by which a tool that keeps results tells compilers apart.

    Raises:
        CccError: the cache folder cannot be written.
    """
    home = nvcc.parent.parent
    digest = hashlib.sha256(settings.encode(errors="surrogateescape")).hexdigest()[:16]
    folder = home / "told" / digest
    for shim in sorted((home / "shims").iterdir()):
        text = cache.read_text(str(shim)).replace("\n", f"\n{settings}", 1)
        place = folder / shim.name
        if not place.exists():
            cache.keep(place, text.encode(errors="surrogateescape"), mode=0o755)
    return folder


def _folders() -> list[str]:
    """Where ccc and the packages that it needs lie; none where Python alone can tell."""
    found = [importlib.util.find_spec(name) for name in _NEEDED]
    origins = [Path(spec.origin) for spec in found if spec is not None and spec.origin]
    if len(origins) < len(found) or not all(path.name == "__init__.py" for path in origins):
        return []
    ours = Path(__file__).parents[2]
    return list(dict.fromkeys(map(str, [ours, *(path.parents[1] for path in origins)])))


def _launcher() -> str:
    return _LAUNCHER.format(folders=_folders())


def _python() -> str:
    """How a shim starts Python, which needs not look for packages if that is known."""
    return f"{shlex.quote(sys.executable)}{' -S' if _folders() else ''} -X utf8"


def _shims(toolkit: Toolkit, home: Path) -> dict[str, str]:
    tools = {"cicc": toolkit.cicc / "cicc", "cudafe++": toolkit.program("cudafe++")}
    return {
        name: _SHIM.format(
            python=_python(),
            launcher=shlex.quote(str(home / "launch.py")),
            name=name,
            tool=shlex.quote(str(tool)),
            variable=PTXAS,
            ptxas=shlex.quote(str(toolkit.program("ptxas"))),
        )
        for name, tool in tools.items()
    }


def _profile(toolkit: Toolkit) -> str:
    """The toolkit's profile, its paths fixed to the toolkit, ``CICC_PATH`` to ours, and `cte.cuh`.

    nvcc puts the variable's value there, also where it only shows what it would run.
    """
    text = (toolkit.bin / "nvcc.profile").read_text()
    text = text.replace("$(_HERE_)", str(toolkit.bin))
    text, count = re.subn(r"^CICC_PATH\b.*$", f"CICC_PATH = $({SHIMS})", text, flags=re.MULTILINE)
    if not count:  # nvcc of CUDA 12 looks for its programs in PATH, which "+=" puts this before
        text += f"\nPATH += $({SHIMS}):\n"
    text += f'\nINCLUDES += $(_SPACE_) "-I{header.include()}" $(_SPACE_)\n'
    libraries = toolkit.bin.parent / "lib"
    if not libraries.with_name("lib64").exists():  # the wheels have lib, the profile says lib64
        text += f'\nLIBRARIES =+ $(_SPACE_) "-L{libraries}/stubs" "-L{libraries}"\n'
    return text


def _key(toolkit: Toolkit) -> str:
    """A name for the hooked folder: whatever it is made of changes it."""
    here = Path("HOME")
    parts = [*identity(toolkit), _launcher()]
    parts += [_profile(toolkit), *_shims(toolkit, here).values()]
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
    (made / "bin" / "nvcc.profile").write_text(_profile(toolkit))
    (made / "launch.py").write_text(_launcher())
    for name, text in _shims(toolkit, home).items():
        path = made / "shims" / name
        path.write_text(text)
        path.chmod(0o755)
