"""What all tests share: the options ``--bless`` and ``--long``, and the order of some files."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import breadth
import pytest
import remembered
from folders import FEW_HEADERS
from in_process import in_process_unless_long

from ccc import files
from ccc.compiler import registers
from ccc.device import gpu
from ccc.emulator.native import library
from ccc.errors import CccError


@functools.cache
def no_gpu() -> str | None:
    """Why the tests marked ``gpu`` cannot run here; None when they can."""
    try:
        gpu.GpuDevice()
    except CccError as error:
        return error.message
    return None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--bless",
        action="store_true",
        help="rewrite the expected halves of the golden tests instead of comparing them",
    )
    parser.addoption(
        "--long",
        action="store_true",
        help="run the tests that are marked long, too",
    )


_MAKE_LIBRARY = "from ccc.emulator.native.library import native_library; native_library('native')"
_making: list[subprocess.Popen[bytes]] = []


def pytest_configure(config: pytest.Config) -> None:
    """What tests share is made once: Python's bytecode, and the emulator's C library.

    The library is made beside the first tests. Until it is there they run on NumPy, which comes to
    the same. Tests that have a cache folder of their own use this library, too, if they do not
    start a process.
    """
    breadth.runs_long = config.getoption("--long")
    _remember(config)
    # Hundreds of processes import ccc, and need not compile all of it again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    maker = library._maker(files.folder())
    library._maker = lambda _: maker  # type: ignore[assignment, misc]
    library.WORTH_IT = float("inf")
    is_worker = hasattr(config, "workerinput")
    if maker and not is_worker and os.environ.get("CCC_EMULATOR") != "numpy" and not maker._load():
        _making.append(subprocess.Popen([sys.executable, "-c", _MAKE_LIBRARY]))


def _remember(config: pytest.Config) -> None:
    """Have tests share what compilers make, also with later runs; see ``support/remembered.py``."""
    cache = getattr(config, "cache", None)
    if cache is None or breadth.runs_long:
        return
    remembered.folder = Path(cache.mkdir("compiled"))
    registers.assemble_all = remembered.assemble_all  # type: ignore[assignment]


def pytest_unconfigure(config: pytest.Config) -> None:
    for process in _making:
        process.wait()
    if not hasattr(config, "workerinput"):
        remembered.forget_unused()


USERS_CACHE = files.folder()
SLOW = Path(__file__).with_name("slow.txt")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that are long run if that is asked for; tests that ``slow.txt`` names are slow.

    Of the values of a slow test a sample runs, too, unless all is asked for.

    Tests of a file that names a parameter in ``TOGETHER`` run value by value of it.

    So what they compute of one value need not be kept for long, nor be computed by two workers.
    """
    slow = set(SLOW.read_text().splitlines())
    for item in items:
        if item.nodeid in slow:
            item.add_marker("slow")
    if not (config.getoption("--long") or config.getoption("--bless")):
        breadth.sample(items)
        long = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("long")]
    places: dict[tuple[object, ...], int] = {}
    for place, item in enumerate(items):
        places.setdefault(_group(item), place)
    items.sort(key=lambda item: places[_group(item)])


def pytest_collection_finish() -> None:
    """What is loaded by now stays, and nobody need look through it for garbage again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(300_000, 20, 20)


def _group(item: pytest.Item) -> tuple[object, ...]:
    """The same for tests that run in a row."""
    wanted = getattr(getattr(item, "module", None), "TOGETHER", None)
    given = item.callspec.params if hasattr(item, "callspec") else {}
    return (item.path, given[wanted]) if wanted in given else (item.nodeid,)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu"):
        reason = no_gpu()
        if reason:
            pytest.skip(reason)


@pytest.fixture(scope="session")
def bless(pytestconfig: pytest.Config) -> bool:
    """Whether golden tests write what they get instead of comparing it."""
    return bool(pytestconfig.getoption("--bless"))


@pytest.fixture
def few_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    """nvcc has device code read few of its headers, which would take longer than a small kernel.

    That this changes nothing else is tested in ``nvcc/test_few_headers.py``.
    """
    monkeypatch.setenv("NVCC_PREPEND_FLAGS", f"-I{FEW_HEADERS}")


@pytest.fixture
def host_headers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for programs that call the runtime: device code sees its functions, too."""
    request.getfixturevalue("few_headers")
    monkeypatch.setenv("NVCC_PREPEND_FLAGS", f"-I{FEW_HEADERS} -DHOST_FUNCTIONS")


@pytest.fixture
def in_process() -> Iterator[None]:
    """What is compiled to PTX by a function of ours is so here; see ``support/in_process.py``."""
    with in_process_unless_long():
        yield


@pytest.fixture
def all_headers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a test that needs the rest of them, in a file whose others do not."""
    request.getfixturevalue("few_headers")
    monkeypatch.delenv("NVCC_PREPEND_FLAGS")


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder for all workers: what a first process has to make is made once.

    The emulator's C library in it is that of the user's cache folder, which is made anyway.
    """
    base = tmp_path_factory.getbasetemp()
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    folder = (base.parent if is_worker else base) / "shared-cache"
    folder.mkdir(exist_ok=True)
    with contextlib.suppress(FileExistsError):  # another worker was first
        (folder / "emulator").symlink_to(USERS_CACHE / "emulator")
    return folder


@pytest.fixture
def runs_on(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the emulator runs on in a test: ``numpy``, or ``native``, its C library."""
    monkeypatch.setenv("CCC_EMULATOR", request.param)
