"""Host programs compiled with ``--ccc-profile``, on a stand-in for the CUDA runtime."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from breadth import one_in
from folders import TESTS

from ccc import emulator, profile
from ccc.errors import CccError
from ccc.toolkit import find as toolchain

pytestmark = pytest.mark.usefixtures("host_headers")

FAKE_CUDART = TESTS / "support" / "fake_cudart.c"

SOURCE = """\
template <class T> __global__ void {name}(T *x, int n) {{
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {{
        T v = x[i];
        #pragma ccc if
        if (v > T(0)) {{
            for (int j = 0; j < 100; j++) v = v * v + T(3);
            x[i] = v;
        }}
    }}
}}
"""
MAIN = """\
void second();
int main(int count, char **) {
    first<<<1, 32>>>((float *)nullptr, 0);
    first<<<1, 32>>>((double *)nullptr, 0);
    second();
#ifdef CCC_PROFILE
    if (count > 1) { ccc_profile_write(); cudaDeviceReset(); }
#endif
    if (count > 2) cudaDeviceReset();
    return 0;
}
"""
TWO = ("-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90")
SECOND = "void second() { other<<<1, 32>>>((float *)nullptr, 0); }\n"


def bytes_of_table(ptx: str) -> str:
    line = next(line for line in ptx.splitlines() if profile.TABLE in line)
    return bytes(map(int, line.partition("{")[2].partition("}")[0].split(","))).decode()


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two sources, and nvcc to compile them."""
    try:
        toolchain.find()
    except CccError as error:
        pytest.skip(error.message)
    place = tmp_path_factory.mktemp("program")
    (place / "main.cu").write_text(SOURCE.format(name="first") + MAIN)
    (place / "second.cu").write_text(SOURCE.format(name="other") + SECOND)
    (place / "map").write_text("libcudart.so.13 { global: *; };\n")
    fake = ["gcc", "-shared", "-fPIC", "-o", "libcudart.so.13", str(FAKE_CUDART)]
    fake += ["-Wl,-soname,libcudart.so.13", "-Wl,--version-script=map"]
    subprocess.run(fake, cwd=place, check=True)
    return place


@pytest.fixture
def folder(sources: Path, shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That folder, and the cache folder that all workers share."""
    monkeypatch.setenv("CCC_CACHE_DIR", str(shared_cache))
    return sources


def cccc(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-c", "import sys; from ccc.cli import cccc; sys.exit(cccc())"]
    done = subprocess.run(
        [*command, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    one_in(2, [["-arch=sm_90"], [*TWO, "-rdc=true"]]),
    ids=["one architecture", "two, separately compiled"],
)
def test_a_host_program(folder: Path, options: list[str]) -> None:
    """It runs on a stand-in for the CUDA runtime, which knows the counters' contents."""
    strict = ["-Xcompiler", "-Wall,-Werror", "--ccc-profile=p.json", "-cudart", "shared"]
    assert cccc(folder, "main.cu", "second.cu", *options, *strict, "-o", "program") == ""
    cccc(folder, "main.cu", "-arch=sm_90", "--ccc-profile=p.json", "-o", "main.ptx")
    table = bytes_of_table((folder / "main.ptx").read_text())

    def program(*arguments: str, **more: str) -> str:
        environment = {"FAKE_TABLE": table, "FAKE_COUNTS": "24", "LD_LIBRARY_PATH": str(folder)}
        done = subprocess.run(
            ["./program", *arguments],
            cwd=folder,
            env={**os.environ, **environment, **more},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout + done.stderr

    # At the program's end, both sources in one file; each counter i holds 32 (i + 1).
    assert program() == ""
    found = profile.read(folder / "p.json")
    assert len(found.modules) == 2
    one, two = found.kernels
    assert {one.name, two.name} == {"_Z5firstIfEvPT_i", "_Z5firstIdEvPT_i"}
    assert (one.paths[0].executions, one.paths[0].lanes) == (2 * 32, 2 * 64)
    kernel = json.loads(table.partition("\n")[2])["kernels"][0]
    (path,) = kernel["paths"]
    each = [*path["each"], *kernel["each"]]
    warps = sum(issued * (counter + 1) for counter, issued, _ in each)
    lanes = sum(run * (counter + 2) for counter, _, run in each)
    assert one.instructions == 2 * 32 * (3 + 5 + warps)
    assert one.thread_instructions == 2 * 32 * (4 + 6 + lanes)
    assert one.paths[0].visits == 2 * 32 * (path["visits"] + 1)
    assert one.paths[0].place.function == "first"
    assert one.paths[0].place.statement == "if (v > T(0))"
    assert one.paths[0].line == two.paths[0].line == 5
    # By a call, after which the counters may go; elsewhere.
    assert program("now", CCC_PROFILE="q.json") == ""
    assert profile.read(folder / "q.json").kernels == found.kernels
    left = sorted(path.name for path in folder.glob("[pq].json*"))
    assert left == ["p.json", "q.json"]
    # A symbolic link stays one, and a pipe is written into.
    (folder / "link").unlink(missing_ok=True)
    (folder / "link").symlink_to("q.json")
    (folder / "q.json").write_text("old")
    assert program(CCC_PROFILE="link") == ""
    assert (folder / "link").is_symlink()
    assert profile.read(folder / "q.json").kernels == found.kernels
    reading = "mkfifo pipe.$$ && (cat pipe.$$ > piped & CCC_PROFILE=pipe.$$ ./program; wait)"
    environment = {"FAKE_TABLE": table, "FAKE_COUNTS": "24", "LD_LIBRARY_PATH": str(folder)}
    subprocess.run(["sh", "-c", reading], cwd=folder, env={**os.environ, **environment}, check=True)
    assert profile.read(folder / "piped").kernels == found.kernels


@pytest.mark.slow
def test_counters_that_are_gone(folder: Path) -> None:
    (folder / "reset.cu").write_text(
        SOURCE.format(name="first")
        + "int main() { first<<<1, 32>>>((float *)0, 0); cudaDeviceReset(); }\n"
    )
    options = ["-arch=sm_90", "--ccc-profile=r.json", "-cudart", "shared"]
    cccc(folder, "reset.cu", *options, "-o", "reset")
    done = subprocess.run(
        ["./reset"],
        cwd=folder,
        env={
            **os.environ,
            "FAKE_TABLE": "r.json\n{}",
            "FAKE_COUNTS": "2",
            "LD_LIBRARY_PATH": str(folder),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert "call ccc_profile_write() before that" in done.stderr
    assert not list(folder.glob("r.json*"))


@pytest.mark.slow
def test_the_original_is_profiled_with_markers_and_without_passes(folder: Path) -> None:
    said = cccc(folder, "main.cu", "-arch=sm_90", "--ccc-profile=p", "-o", "off.ptx")
    assert said == ""
    table = json.loads(bytes_of_table((folder / "off.ptx").read_text()).partition("\n")[2])
    assert table["transformed"] is False
    assert [p["applied"] for kernel in table["kernels"] for p in kernel["paths"]] == [False, False]
    cccc(folder, "main.cu", "-arch=sm_90", "--ccc-profile=p", "--ccc-off", "-o", "too.ptx")
    assert (folder / "too.ptx").read_text() == (folder / "off.ptx").read_text()
    counting = ("--ccc-profile=p", "--ccc-profile-transformed", "--ccc-strategy=collect")
    cccc(folder, "main.cu", "-arch=sm_90", *counting, "-o", "on.ptx")
    table = json.loads(bytes_of_table((folder / "on.ptx").read_text()).partition("\n")[2])
    assert table["transformed"] is True
    assert [p["applied"] for kernel in table["kernels"] for p in kernel["paths"]] == [True, True]
    assert {p["visits"] for kernel in table["kernels"] for p in kernel["paths"]} == {None}


NEWTON = """\
__global__ void newton(const float *x, float *y, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v = x[i];
        #pragma ccc if prob(0.2)
        if (v > 1.0f) {
            float g = v;
            for (int k = 0; k < 8; ++k) g = (g + v / g) / 2;
            y[i] = g;
        }
    }
}
"""


@pytest.mark.slow
def test_the_registers_of_counters_decide_nothing(folder: Path) -> None:
    """What is counted is the program that is built, of which the counters are no part."""
    (folder / "newton.cu").write_text(NEWTON)
    options = ["newton.cu", "-arch=sm_90", "--ccc-report=newton.json", "-o", "newton.ptx"]
    counting = ["--ccc-profile=p", "--ccc-profile-transformed"]
    assert cccc(folder, *options) == cccc(folder, *options, *counting) == ""
    table = json.loads(bytes_of_table((folder / "newton.ptx").read_text()).partition("\n")[2])
    assert [p["applied"] for kernel in table["kernels"] for p in kernel["paths"]] == [True]


@pytest.mark.slow
def test_three_commands(folder: Path) -> None:
    """Count, run, use: the stand-in for the runtime knows what the counters hold."""
    (folder / "three.cu").write_text(
        SOURCE.format(name="first") + MAIN + SECOND.replace("other", "first")
    )
    options = ["-arch=sm_90", "-cudart", "shared"]
    cccc(folder, "three.cu", *options, "--ccc-profile=three.json", "-o", "three")
    cccc(folder, "three.cu", *options, "--ccc-profile=three.json", "-o", "three.ptx")
    environment = {
        "FAKE_TABLE": bytes_of_table((folder / "three.ptx").read_text()),
        "FAKE_COUNTS": "24",
        "LD_LIBRARY_PATH": str(folder),
    }
    subprocess.run(["./three"], cwd=folder, env={**os.environ, **environment}, check=True)
    used = ["--ccc-use=three.json", "--ccc-strategy=collect", "-o", "used.ptx"]
    assert cccc(folder, "three.cu", *options, *used, "--ccc-strict") == ""
    # Two lines more before the kernel, another condition: still the same annotation.
    source = "//\n//\n" + (folder / "three.cu").read_text().replace("v > T(0)", "v > T(1)")
    (folder / "three.cu").write_text(source)
    assert cccc(folder, "three.cu", *options, *used) == ""
    # Another annotation in its place.
    (folder / "three.cu").write_text(
        source.replace("ccc if", "ccc while").replace("if (v > T(1))", "while (v > T(1))")
    )
    assert (
        "three.json: warning: line 5 of three.cu, `ccc if`, is not in the source any more: "
        "profile again\n"
    ) in cccc(folder, "three.cu", *options, *used)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("every", "pays"), one_in(2, [(32, True), (1, False)]), ids=["few lanes", "all"]
)
def test_what_is_counted_decides(folder: Path, every: int, pays: bool) -> None:
    (folder / "run.cu").write_text(
        SOURCE.format(name="first") + MAIN + SECOND.replace("other", "first")
    )
    options = ["run.cu", "-arch=sm_90"]
    cccc(folder, *options, "--ccc-profile=run.json", "-o", "run.ptx")
    module = emulator.Module((folder / "run.ptx").read_text())
    values = np.where(np.arange(4096) % every == 0, 1, -1).astype(np.float32)
    module.get_function("_Z5firstIfEvPT_i")((1,), (64,), (values, np.int32(values.size)))
    profile.of(module).write(folder / "run.json")
    cccc(folder, *options, "--ccc-use=run.json", "--ccc-report=report.json", "-o", "used.ptx")
    kernels = json.loads((folder / "report.json").read_text())["kernels"]
    # The instance for double never ran: that for float speaks for it.
    assert [path["applied"] for kernel in kernels for path in kernel["paths"]] == [pays, pays]
    assert all(
        path["expected_from"].startswith("a profile of")
        for kernel in kernels
        for path in kernel["paths"]
    )
