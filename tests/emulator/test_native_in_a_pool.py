"""What stays of the C library's compiler when a process of a pool ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from test_native import compiler

IN_A_POOL = """
import multiprocessing
from ccc.emulator.native import library
def work():
    library.note_seconds(9)
    library.native_library()
if __name__ == "__main__":
    other = multiprocessing.get_context("fork").Process(target=work)
    other.start()
    other.join()
"""


def test_of_a_process_of_a_pool_nothing_stays(tmp_path: Path) -> None:
    folder = tmp_path / "tmp"
    folder.mkdir()
    path = compiler(tmp_path / "bin", "exec sleep 60")
    given = {"PATH": f"{path}:{os.environ['PATH']}", "CCC_CACHE_DIR": str(tmp_path / "cache")}
    environment = {**os.environ, **given, "TMPDIR": str(folder)}
    environment.pop("CCC_EMULATOR", None)
    subprocess.run([sys.executable, "-c", IN_A_POOL], env=environment, check=True, timeout=30)
    assert not list(folder.glob("ccc-emulator-*"))
