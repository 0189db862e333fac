"""The package ``ccc`` and the pages about its modules and kernels."""

from __future__ import annotations

import functools
import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from emulating import needs_nvcc
from folders import DOCS
from test_raw import SOURCE, device

import ccc
from ccc.device import gpu
from ccc.jit.raw import RawKernel
from ccc.nvcc import command as driver

__all__ = ["device"]

pytestmark = pytest.mark.usefixtures("few_headers", "in_process")


# The package and its page.


def test_without_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    real = importlib.import_module

    def absent(name: str, *more: Any) -> Any:
        if name.startswith("cupy"):
            raise ImportError(f"No module named '{name}'")
        return real(name, *more)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(ccc.CccError, match="pip install cupy-cuda13x"):
        ccc.RawKernel(SOURCE, "k")
    with pytest.raises(ccc.CccError, match="pip install cupy-cuda13x"):
        ccc.RawModule(code=SOURCE)


@pytest.mark.parametrize("count", [0, RuntimeError("no driver")])
def test_without_a_device(count: int | Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()

    def devices() -> int:
        if isinstance(count, Exception):
            raise count
        return count

    runtime = SimpleNamespace(getDeviceCount=devices, CUDARuntimeError=RuntimeError)
    cupy = SimpleNamespace(cuda=SimpleNamespace(runtime=runtime))
    monkeypatch.setattr(gpu, "_cupy", lambda: cupy)
    with pytest.raises(ccc.CccError, match="it takes an NVIDIA GPU and its driver"):
        ccc.RawKernel(SOURCE, "k")


@pytest.mark.slow
def test_importing_ccc_loads_little() -> None:
    script = (
        "import sys, ccc; heavy = {'numpy', 'cupy', 'lark', 'networkx'}; "
        "print(heavy & set(sys.modules)); ccc.RawKernel; print('cupy' in sys.modules); "
        "ccc.emulator.Module; ccc.profile.of; ccc.counting.count"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split("\n")[:2] == ["set()", "False"], done.stderr
    assert done.returncode == 0, done.stderr


def test_what_there_is_is_listed() -> None:
    assert set(ccc.__all__) <= set(dir(ccc))
    assert all(hasattr(ccc, name) for name in dir(ccc))


@pytest.mark.slow
@needs_nvcc
def test_the_examples_of_the_pages(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pages = [(DOCS / name).read_text() for name in ("cupy.md", "profile.md")]
    kernels, profiles = (re.findall(r"```python\n(.*?)```", page, re.DOTALL) for page in pages)
    monkeypatch.setitem(sys.modules, "cupy", np)
    monkeypatch.setattr(ccc, "RawKernel", functools.partial(RawKernel, backend="nvcc"), False)
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    for example in [*kernels[:2], *kernels[3:]]:  # the third measures, which takes a GPU
        exec(compile(example, "docs/cupy.md", "exec"), scope)
    applied, *emulated = capsys.readouterr().out.splitlines()
    assert applied == "if applied"
    assert "It prints `if applied`." in pages[0]
    said = re.findall(r"It prints ([\d,]+) and (\d+) %, then ([\d,]+) and (\d+) %", pages[0])
    (told,) = [[int(one.replace(",", "")) for one in numbers] for numbers in said]
    costs = [re.findall(r"([\d,]+) (?:warp|%)", line) for line in emulated]
    found = [int(one.replace(",", "")) for numbers in costs for one in numbers]
    assert found == pytest.approx(told, rel=0.03)  # nvcc's versions differ a little
    for example in profiles:
        exec(compile(example, "docs/profile.md", "exec"), scope)
    efficiency, path = capsys.readouterr().out.splitlines()
    assert 0.1 < float(efficiency) < 0.3  # of the original
    assert re.fullmatch(r"7 \d+ [\d.]+", path)
    assert ccc.profile.read("roots.json").kernels[0].name == "roots"


def test_the_page_names_all_options() -> None:
    page = (DOCS / "cupy.md").read_text()
    table = set(re.findall(r"`(--ccc-[a-z-]+)", page.partition("| option | for |")[2]))
    alone = {
        "--ccc-version",
        "--ccc-help",
        "--ccc-time",
        "--ccc-doctor",
        "--ccc-key",
    }  # for the command line
    assert table == set(driver.OPTIONS) - alone
