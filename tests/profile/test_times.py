"""Host programs compiled with ``--ccc-time``, on a stand-in for the CUDA runtime."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from breadth import one_in
from test_profile_programs import SECOND, SOURCE, TWO, cccc, folder, sources

from ccc.errors import CccError
from ccc.nvcc import command as driver
from ccc.nvcc.timed_launches import timed
from ccc.profile.times import KernelTime, read_times

__all__ = ["folder", "sources"]

pytestmark = pytest.mark.usefixtures("host_headers")

MAIN = """\
void second();
namespace { __global__ void __launch_bounds__(64) plain(int *x) { *x = 1; } }
int main(int count, char **) {
    first<<<1, 32>>>((float *)nullptr, 0);
    first<<<1, 32>>>((double *)nullptr, 0);
    for (int i = 0; i < 600; ++i) first<<<1, 32>>>((float *)nullptr, 0);
    second();
    plain<<<1, 1>>>((int *)nullptr);
#ifdef CCC_TIME
    if (count == 2) { ccc_time_write(); cudaDeviceReset(); }
#endif
    return count == 3 ? 7 : 0;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    one_in(
        3,
        [
            ["-arch=sm_90"],
            [*TWO, "-rdc=true"],
            ["-arch=sm_90", "--ccc-off"],
        ],
    ),
    ids=["one architecture", "two, separately compiled", "as it was"],
)
def test_a_host_program(folder: Path, options: list[str]) -> None:
    """Kernels are told apart by name, also where several sources launch them."""
    (folder / "timed.cu").write_text(SOURCE.format(name="first") + MAIN)
    (folder / "second.cu").write_text(SOURCE.format(name="other") + SECOND)
    strict = [
        "-Xcompiler",
        "-Wall,-Wextra,-Werror",
        "--ccc-time=t.json",
        "--ccc-strategy=collect",
        "-cudart",
        "shared",
    ]
    assert cccc(folder, "timed.cu", "second.cu", *options, *strict, "-o", "timed") == ""

    def program(*arguments: str, status: int = 0, said: str = "", **more: str) -> None:
        done = subprocess.run(
            ["./timed", *arguments],
            cwd=folder,
            env={**os.environ, "LD_LIBRARY_PATH": str(folder), **more},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout + done.stderr) == (status, said)

    (folder / "t.json").unlink(missing_ok=True)
    program("and", "fail", status=7, said="ccc: no times: the program ended with status 7\n")
    assert not (folder / "t.json").exists()
    program()
    found = read_times([folder / "t.json"])
    assert found.card == "a card"
    plain = next(name for name in found.kernels if "plain" in name)
    assert found.kernels == {
        "_Z5firstIfEvPT_i": KernelTime(601, 1 + sum(range(3, 603))),
        "_Z5firstIdEvPT_i": KernelTime(1, 2),
        "_Z5otherIfEvPT_i": KernelTime(1, 603),
        plain: KernelTime(1, 604),
    }
    (folder / "t.json").unlink()
    program(said="ccc: no times: error\n", FAKE_NO_GPU="1")
    assert not (folder / "t.json").exists()
    # By a call; in a folder, a file for each process; what goes into graphs is not timed.
    program("now", CCC_TIME="now.json")
    assert read_times([folder / "now.json"]) == found
    times = folder / "times"
    times.mkdir(exist_ok=True)
    program(CCC_TIME=str(times))
    program(CCC_TIME=str(times), FAKE_CAPTURE="1")
    both = read_times(times.iterdir()).kernels["_Z5firstIfEvPT_i"]
    assert both == KernelTime(601, 1 + sum(range(3, 603)), untimed=601)
    for file in times.iterdir():
        file.unlink()


STUB = """\
#include "crt/host_runtime.h"
static void __device_stub__Z1kPi(int *p){__cudaLaunchPrologue(1);\
__cudaLaunch(((char *)((void ( *)(int *))k)), 0U);}
static void __device_stub__Z1tPi(int *p){__cudaLaunch(((char *)((void ( *)(int *))t<1, 3, 5> )));}
static void r(void **__T6){__cudaRegisterEntry(__T6, ((void ( *)(int *))t<1, 3, 5> ), _Z1t, (-1)); \
__cudaRegisterEntry(__T6, ((void ( *)(int *))k), _Z1kPi, 128); }
"""


def test_each_launch_gets_the_name_of_its_kernel() -> None:
    text = timed(STUB, 'a "file"')
    first, second = [line for line in text.splitlines() if "ccc_timing" in line]
    assert 'ccc_timing::kernel("_Z1kPi", "a \\"file\\"")' in first
    assert 'ccc_timing::kernel("_Z1t", ' in second
    assert text.index("#define __cudaPopCallConfiguration") > text.index("#include")
    assert timed("int x;\n", "f") == "int x;\n"


def test_wrong_files(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    for text in ("", "[]", json.dumps({"format": 1, "card": ""})):
        file.write_text(text)
        with pytest.raises(CccError, match="these are no times"):
            read_times([file])
    file.write_text('{"format": 7}')
    with pytest.raises(CccError, match="its format is 7"):
        read_times([file])


def test_what_is_counted_is_not_timed() -> None:
    with pytest.raises(CccError, match="whose time"):
        driver.parse(["--ccc-time=a", "--ccc-profile=b"])
